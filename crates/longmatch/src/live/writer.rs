//! The write side.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::reader::Reader;
use super::reclaim::{Domain, HasDomain};
use super::shared::{Retired, Shared};
use crate::engine::{CompileError, Corrupt};
use crate::engine::{EngineSpec, Engines};
use crate::engine::{LiveEngine, Patch, Replaced, WriteSide};
use crate::fib::LiveFib;
use crate::live::UpdateError;
use crate::mem::MemoryUsage;
use crate::mem::RetireList;
use crate::net::{Change, NextHopId, Outcome, Prefix, Route};
use crate::rib::{Rib, RibFull};

/// Retired bytes with which a commit is refused, unless [`Writer::set_retired_limit`] says
/// otherwise.
pub(crate) const RETIRED_LIMIT: usize = 256 << 20;

/// Changes after which a table is compiled again, beside as many as it has routes.
const PATCHED_AT_LEAST: usize = 1 << 16;

/// Bytes of a patched table that may always lie unused, and beside them one of so many that have
/// been used.
const UNUSED_BYTES: usize = 1 << 16;
const UNUSED_PART: usize = 16;

/// Changes a table under the eyes of its readers: see [`crate::live`].
///
/// It owns the routes. [`Writer::apply`] changes them, [`Writer::commit`] makes what was changed
/// visible, all at once or address by address as the engine can.
pub struct Writer<F: Engines> {
    rib: Rib<F>,
    spec: EngineSpec,
    shared: Arc<Shared<LiveFib<F>>>,
    write: WriteSide<F>,
    /// The prefixes that were changed since the last commit, and their next hops before.
    changed: Vec<(Prefix<F>, Option<NextHopId>)>,
    /// The same without the next hops, for the engine; kept to be used again.
    prefixes: Vec<Prefix<F>>,
    /// Tables that were replaced, by their bytes.
    tables: RetireList<Retired<LiveFib<F>>>,
    /// Bytes of the current table.
    bytes: usize,
    /// Changes by which it was patched.
    patched: usize,
    retired_limit: usize,
}

/// What a commit did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Commit {
    /// Objects that were replaced, where the engine was patched.
    pub replaced: Replaced,
    /// Whether the table was compiled again and replaced whole.
    pub recompiled: bool,
}

impl<F: Engines> Writer<F> {
    /// Compiles a table to be changed. O(routes), as [`Fib::compile`].
    ///
    /// # Errors
    /// Those of [`Fib::compile`].
    pub fn new(rib: Rib<F>, engine: impl Into<EngineSpec>) -> Result<Self, CompileError> {
        Self::in_domain(rib, engine.into(), Arc::new(Domain::new()))
    }

    /// A table whose readers read others at the same time.
    pub(crate) fn in_domain(
        rib: Rib<F>,
        spec: EngineSpec,
        domain: Arc<Domain>,
    ) -> Result<Self, CompileError> {
        let LiveEngine { engine, write } = F::build_live(&spec, &rib)?;
        let bytes = engine.memory_usage().bytes();
        Ok(Self {
            rib,
            spec,
            shared: Shared::new(Box::new(LiveFib::shared(engine)), domain),
            write,
            changed: Vec::new(),
            prefixes: Vec::new(),
            tables: RetireList::default(),
            bytes,
            patched: 0,
            retired_limit: RETIRED_LIMIT,
        })
    }

    /// Sets the number of retired bytes from which on a commit is refused, since a reader stalls:
    /// 256 MiB unless it is set.
    pub fn set_retired_limit(&mut self, bytes: usize) {
        self.retired_limit = bytes;
    }

    pub(crate) fn shared(&self) -> &Arc<Shared<LiveFib<F>>> {
        &self.shared
    }

    /// Another reader.
    pub fn reader(&self) -> Reader<F> {
        Reader::new(self.shared.clone())
    }

    /// The routes, with the changes that are not committed yet.
    pub fn rib(&self) -> &Rib<F> {
        &self.rib
    }

    /// Changes the routes. Readers see it after [`Writer::commit`]. Announcing the same route again
    /// or withdrawing an unknown one does nothing, and costs nothing when it is committed.
    ///
    /// # Errors
    /// When the routes are as many as their limit allows. Nothing has changed then.
    pub fn apply(&mut self, change: Change<F>) -> Result<Outcome, UpdateError> {
        Ok(self.change(change)?)
    }

    /// The same, with the one error that there can be.
    pub(crate) fn change(&mut self, change: Change<F>) -> Result<Outcome, RibFull> {
        let outcome = self.rib.apply(change)?;
        let prefix = match change {
            Change::Announce(Route { prefix, .. }) | Change::Withdraw(prefix) => prefix,
        };
        match outcome {
            Outcome::New => self.changed.push((prefix, None)),
            Outcome::Replaced(old) | Outcome::Withdrawn(old) => {
                self.changed.push((prefix, Some(old)));
            }
            Outcome::Same | Outcome::Unknown => {}
        }
        Ok(outcome)
    }

    /// Makes all changes since the last commit visible: a lookup that begins after it returns
    /// answers by them.
    ///
    /// # Errors
    /// When the engine cannot hold the table any more, or readers keep too much memory that was
    /// taken out of it. All changes since the last commit are taken back then: routes and table are
    /// as after that.
    pub fn commit(&mut self) -> Result<Commit, UpdateError> {
        if self.changed.is_empty() {
            return Ok(Commit::default());
        }
        let committed = self.try_commit();
        match committed {
            Ok(_) => self.changed.clear(),
            Err(_) => self.roll_back(),
        }
        committed
    }

    /// Takes back all changes since the last commit.
    pub fn roll_back(&mut self) {
        for (prefix, before) in self.changed.drain(..).rev() {
            match before {
                // Whatever was removed since left its place.
                Some(next_hop) => drop(self.rib.insert(prefix, next_hop)),
                None => drop(self.rib.remove(prefix)),
            }
        }
    }

    fn try_commit(&mut self) -> Result<Commit, UpdateError> {
        self.room_for_retired()?;
        let WriteSide::Patched(patch) = &mut self.write else { return self.recompile() };
        self.prefixes.clear();
        self.prefixes.extend(self.changed.iter().map(|(prefix, _)| *prefix));
        let Ok(replaced) = patch.patch(&self.rib, &self.prefixes) else { return self.recompile() };
        patch.seal(self.shared.domain().advance());
        self.patched += self.prefixes.len();
        // A reader that stalls for a moment leaves much unused, which the next changes will use: only
        // what stays unused is a waste. After as many changes as it has routes the table may be
        // another than it was planned for.
        let wasteful = self.patched > self.rib.len() / 8 && {
            let (used, unused) = patch.used_and_unused();
            unused > UNUSED_BYTES + used / UNUSED_PART
        };
        if wasteful || self.patched > self.rib.len() + PATCHED_AT_LEAST {
            // The change is visible. A table that cannot be compiled stays as it is.
            self.patched = 0;
            let recompiled = self.recompile().is_ok();
            return Ok(Commit { replaced, recompiled });
        }
        Ok(Commit { replaced, recompiled: false })
    }

    /// # Errors
    /// When readers hold more than the limit allows.
    fn room_for_retired(&mut self) -> Result<(), UpdateError> {
        let retired = self.reclaim();
        if retired > self.retired_limit {
            return Err(UpdateError::Retired { bytes: retired, limit: self.retired_limit });
        }
        Ok(())
    }

    fn recompile(&mut self) -> Result<Commit, UpdateError> {
        let live = F::build_live(&self.spec, &self.rib)?;
        self.publish(live);
        Ok(Commit { replaced: Replaced::default(), recompiled: true })
    }

    fn publish(&mut self, LiveEngine { engine, write }: LiveEngine<F>) {
        let retired = self.write.patch().map_or(0, Patch::retired_bytes);
        let bytes = engine.memory_usage().bytes();
        let before = self.shared.replace(Box::new(LiveFib::shared(engine)));
        // What the old one has in the retire list is in the table that goes into the retire list whole.
        self.write = write;
        self.patched = 0;
        self.tables.push(before, core::mem::replace(&mut self.bytes, bytes) + retired);
        self.tables.seal(self.shared.domain().advance());
        self.reclaim();
    }

    /// Replaces all routes. The new table is compiled aside and becomes current with one store.
    /// Changes that were not committed are replaced too.
    ///
    /// # Errors
    /// Those of [`Writer::commit`]; the routes are as after the last commit then.
    pub fn replace(&mut self, rib: Rib<F>) -> Result<(), UpdateError> {
        let live = self.build(&rib)?;
        self.install(rib, live);
        Ok(())
    }

    /// Takes back all changes since the last commit, and compiles another table aside.
    ///
    /// # Errors
    /// Those of [`Writer::commit`].
    pub(crate) fn build(&mut self, rib: &Rib<F>) -> Result<LiveEngine<F>, UpdateError> {
        self.roll_back();
        self.room_for_retired()?;
        Ok(F::build_live(&self.spec, rib)?)
    }

    /// Makes a table that was built aside the current one.
    pub(crate) fn install(&mut self, rib: Rib<F>, live: LiveEngine<F>) {
        self.publish(live);
        self.rib = rib;
    }

    /// Uses again, or gives back, what no reader can reach any more; the bytes that are left. Each
    /// commit does it too, before it needs memory.
    pub fn reclaim(&mut self) -> usize {
        let oldest = self.shared.domain().oldest();
        while self.tables.pop(oldest).is_some() {}
        if let WriteSide::Patched(patch) = &mut self.write {
            patch.reclaim(oldest);
        }
        self.retired_bytes()
    }

    /// The bytes that were taken out of the table and that readers may still be in.
    pub fn retired_bytes(&self) -> usize {
        self.tables.bytes() + self.write.patch().map_or(0, Patch::retired_bytes)
    }

    /// The bytes of the current table, by part.
    pub fn memory_usage(&self) -> MemoryUsage {
        self.write.memory_usage()
    }

    /// Verifies the current table against its own invariants and the routes. To be called when
    /// every change is committed.
    ///
    /// # Errors
    /// The first broken invariant.
    pub fn check(&self) -> Result<(), Corrupt> {
        self.write.check(&self.rib)
    }
}

impl<F: Engines> Drop for Writer<F> {
    /// Readers go on with the table as it is.
    fn drop(&mut self) {
        if self.reclaim() > 0 {
            self.shared.left.leave(core::mem::take(&mut self.tables));
        }
    }
}

impl<F: Engines> fmt::Debug for Writer<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Writer");
        debug.field("engine", &self.spec).field("routes", &self.rib.len());
        debug.field("changed", &self.changed.len()).field("retired", &self.retired_bytes());
        debug.finish()
    }
}
