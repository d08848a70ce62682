//! The write side of live tables.

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
use crate::fib::{LiveFib, Widen};
use crate::live::UpdateError;
use crate::mem::MemoryUsage;
use crate::mem::RetireList;
use crate::net::{Change, NextHopId, Outcome, Prefix, Route};
use crate::rib::{Rib, RibFull};

/// Default of [`Writer::set_retired_limit`], in bytes.
pub(crate) const RETIRED_LIMIT: usize = 256 << 20;

/// Changes, beyond the number of routes, after which a table is compiled again.
const PATCHED_AT_LEAST: usize = 1 << 16;

/// Unused bytes that a patched table may always have.
///
/// It may also have one unused byte per `UNUSED_PART` used ones.
const UNUSED_BYTES: usize = 1 << 16;
const UNUSED_PART: usize = 8;

/// Updates a table while readers use it; see [`crate::live`].
///
/// It owns the routes. [`Writer::apply`] changes them; [`Writer::commit`] makes the changes
/// visible, all at once or address by address, depending on the engine.
pub struct Writer<F: Engines> {
    rib: Rib<F>,
    spec: EngineSpec,
    /// Set for one family of a table of both.
    family: Option<Widen>,
    shared: Arc<Shared<LiveFib<F>>>,
    write: WriteSide<F>,
    /// The prefixes changed since the last commit, with their previous next hops.
    changed: Vec<(Prefix<F>, Option<NextHopId>)>,
    /// The same prefixes alone, for the engine; kept for its allocation.
    prefixes: Vec<Prefix<F>>,
    /// Replaced tables, with their bytes.
    tables: RetireList<Retired<LiveFib<F>>>,
    /// Bytes of the current table.
    bytes: usize,
    /// Changes patched into the current table.
    patched: usize,
    retired_limit: usize,
}

/// The effect of a commit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Commit {
    /// Objects replaced by patching.
    pub replaced: Replaced,
    /// Whether the table was compiled again and replaced as a whole.
    pub recompiled: bool,
}

impl<F: Engines> Writer<F> {
    /// Compiles a table for updates. O(routes), as [`Fib::compile`](crate::Fib::compile).
    ///
    /// # Errors
    /// Those of [`Fib::compile`](crate::Fib::compile).
    pub fn new(rib: Rib<F>, engine: impl Into<EngineSpec>) -> Result<Self, CompileError> {
        Self::in_domain(rib, engine.into(), None, Arc::new(Domain::new()))
    }

    /// Compiles one family of a table of both families; the families share a domain.
    ///
    /// Without routes the engine need not exist for the family.
    pub(crate) fn of_family(
        rib: Rib<F>,
        spec: EngineSpec,
        widen: Widen,
        domain: Arc<Domain>,
    ) -> Result<Self, CompileError> {
        Self::in_domain(rib, spec, Some(widen), domain)
    }

    fn in_domain(
        rib: Rib<F>,
        mut spec: EngineSpec,
        family: Option<Widen>,
        domain: Arc<Domain>,
    ) -> Result<Self, CompileError> {
        let LiveEngine { engine, write } = compile(&rib, &mut spec, family)?;
        let bytes = engine.memory_usage().bytes();
        Ok(Self {
            rib,
            spec,
            family,
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

    /// Sets the retired bytes above which commits are refused: 256 MiB by default.
    ///
    /// Retired memory grows while a reader stalls.
    pub fn set_retired_limit(&mut self, bytes: usize) {
        self.retired_limit = bytes;
    }

    /// The engine's name if it does not exist for the family; the family then has no routes.
    pub(crate) fn lacking_engine(&self) -> Option<&'static str> {
        (!F::has(self.spec.kind)).then_some(self.spec.kind.name())
    }

    pub(crate) fn shared(&self) -> &Arc<Shared<LiveFib<F>>> {
        &self.shared
    }

    /// Makes another reader.
    #[must_use]
    pub fn reader(&self) -> Reader<F> {
        Reader::new(self.shared.clone())
    }

    /// The routes, including changes that are not committed yet.
    pub fn rib(&self) -> &Rib<F> {
        &self.rib
    }

    /// Changes the routes; readers see the change after [`Writer::commit`].
    ///
    /// Announcing a known route again or withdrawing an unknown one changes nothing and adds no
    /// work to the commit.
    ///
    /// # Errors
    /// When the table holds as many routes as its limit allows. Nothing changes then.
    pub fn apply(&mut self, change: Change<F>) -> Result<Outcome, UpdateError> {
        Ok(self.change(change)?)
    }

    /// Does the same with the one possible error.
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

    /// Makes all changes since the last commit visible to lookups that begin later.
    ///
    /// # Errors
    /// When the engine cannot hold the table any more, or readers keep too much retired memory from
    /// reuse. All changes since the last commit are then undone: routes and table are as after that
    /// commit.
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

    /// Undoes all changes since the last commit.
    pub fn roll_back(&mut self) {
        for (prefix, before) in self.changed.drain(..).rev() {
            match before {
                // The RIB has capacity: later routes have been removed again.
                Some(next_hop) => drop(self.rib.insert(prefix, next_hop)),
                None => drop(self.rib.remove(prefix)),
            }
        }
    }

    fn try_commit(&mut self) -> Result<Commit, UpdateError> {
        self.check_retired_limit()?;
        let WriteSide::Patched(patch) = &mut self.write else { return self.recompile() };
        self.prefixes.clear();
        self.prefixes.extend(self.changed.iter().map(|(prefix, _)| *prefix));
        let Ok(replaced) = patch.patch(&self.rib, &self.prefixes) else { return self.recompile() };
        patch.seal(self.shared.domain().advance());
        self.patched += self.prefixes.len();
        // A stalled reader leaves much memory unused for a while; later changes reuse it, so memory counts as wasted
        // only after many changes. After as many changes as routes the plan may no longer
        // fit the table.
        let wasteful = self.patched > self.rib.len() / 8 && {
            let (used, unused) = patch.used_and_unused();
            unused > UNUSED_BYTES + used / UNUSED_PART
        };
        if wasteful || self.patched > self.rib.len() + PATCHED_AT_LEAST {
            // The change is visible. If the compilation fails, the patched table remains current.
            self.patched = 0;
            let recompiled = self.recompile().is_ok();
            return Ok(Commit { replaced, recompiled });
        }
        Ok(Commit { replaced, recompiled: false })
    }

    /// Reclaims memory and checks the retired limit.
    ///
    /// # Errors
    /// When readers keep more than the limit from reuse.
    fn check_retired_limit(&mut self) -> Result<(), UpdateError> {
        let retired = self.reclaim();
        if retired > self.retired_limit {
            return Err(UpdateError::Retired { bytes: retired, limit: self.retired_limit });
        }
        Ok(())
    }

    fn recompile(&mut self) -> Result<Commit, UpdateError> {
        let live = compile(&self.rib, &mut self.spec, self.family)?;
        self.publish(live);
        Ok(Commit { replaced: Replaced::default(), recompiled: true })
    }

    fn publish(&mut self, LiveEngine { engine, write }: LiveEngine<F>) {
        let retired = self.write.patch().map_or(0, Patch::retired_bytes);
        let bytes = engine.memory_usage().bytes();
        let before = self.shared.replace(Box::new(LiveFib::shared(engine)));
        // The old table's own retire list is retired with the table as a whole.
        self.write = write;
        self.patched = 0;
        self.tables.push(before, core::mem::replace(&mut self.bytes, bytes) + retired);
        self.tables.seal(self.shared.domain().advance());
        self.reclaim();
    }

    /// Replaces all routes, including changes that were not committed.
    ///
    /// The new table is compiled first and becomes current with one store.
    ///
    /// # Errors
    /// Those of [`Writer::commit`]; the routes are then as after the last commit.
    pub fn replace(&mut self, rib: Rib<F>) -> Result<(), UpdateError> {
        let live = self.build(&rib)?;
        self.install(rib, live);
        Ok(())
    }

    /// Undoes uncommitted changes and compiles another table without publishing it.
    ///
    /// # Errors
    /// Those of [`Writer::commit`].
    pub(crate) fn build(&mut self, rib: &Rib<F>) -> Result<LiveEngine<F>, UpdateError> {
        self.roll_back();
        self.check_retired_limit()?;
        Ok(compile(rib, &mut self.spec, self.family)?)
    }

    /// Makes a table from [`Writer::build`] current.
    pub(crate) fn install(&mut self, rib: Rib<F>, live: LiveEngine<F>) {
        self.publish(live);
        self.rib = rib;
    }

    /// Reuses or frees memory that no reader can reach.
    ///
    /// Returns the retired bytes that remain.
    ///
    /// Each commit calls it before it allocates.
    pub fn reclaim(&mut self) -> usize {
        let oldest = self.shared.domain().oldest();
        while self.tables.pop(oldest).is_some() {}
        if let WriteSide::Patched(patch) = &mut self.write {
            patch.reclaim(oldest);
        }
        self.retired_bytes()
    }

    /// The retired bytes that readers may still be reading.
    pub fn retired_bytes(&self) -> usize {
        self.tables.bytes() + self.write.patch().map_or(0, Patch::retired_bytes)
    }

    /// The memory of the current table, in bytes by part.
    pub fn memory_usage(&self) -> MemoryUsage {
        self.write.memory_usage()
    }

    /// Verifies the current table against its own invariants and the routes.
    ///
    /// Call it when every change is committed.
    ///
    /// # Errors
    /// The first broken invariant.
    pub fn check(&self) -> Result<(), Corrupt> {
        self.write.check(&self.rib)
    }
}

/// Compiles the table of a [`Writer`].
fn compile<F: Engines>(
    rib: &Rib<F>,
    spec: &mut EngineSpec,
    family: Option<Widen>,
) -> Result<LiveEngine<F>, CompileError> {
    match family {
        Some(widen) => LiveFib::live_of_family(rib, spec, widen),
        None => F::build_live(spec, rib),
    }
}

impl<F: Engines> Drop for Writer<F> {
    /// Readers keep the table as it is.
    fn drop(&mut self) {
        if self.reclaim() > 0 {
            self.shared.orphaned.keep(core::mem::take(&mut self.tables));
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
