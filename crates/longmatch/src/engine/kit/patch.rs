//! What an engine does to be changed under readers.

use alloc::boxed::Box;
use alloc::sync::Arc;

use crate::engine::kit::{Checked, Compiled, Corrupt, Engine, Structure};
use crate::mem::MemoryUsage;
use crate::net::{Family, Prefix};
use crate::rib::Rib;

/// An engine under readers; made by [`Engine::live`].
pub struct LiveEngine<F: Family> {
    /// What readers see.
    pub(crate) engine: Arc<dyn Compiled<F>>,
    /// How it is changed.
    pub(crate) write: WriteSide<F>,
}

/// How an engine under readers is changed.
pub(crate) enum WriteSide<F: Family> {
    /// In place, by its owner.
    Patched(Box<dyn Patch<F>>),
    /// Not at all: it is compiled again for each commit.
    Recompiled(Arc<dyn Checked<F>>),
}

impl<F: Family> LiveEngine<F> {
    /// An engine that is compiled again for each commit.
    pub(crate) fn recompiled<E: Engine<F>>(engine: E) -> Self {
        let engine: Arc<dyn Checked<F>> = Arc::new(engine);
        Self { engine: engine.clone(), write: WriteSide::Recompiled(engine) }
    }

    /// A structure and its write side.
    pub(crate) fn patched<S: Structure<F>>(engine: Arc<S>, patch: impl Patch<F> + 'static) -> Self {
        Self { engine, write: WriteSide::Patched(Box::new(patch)) }
    }
}

impl<F: Family> WriteSide<F> {
    /// The owner of an engine that is patched.
    pub fn patch(&self) -> Option<&dyn Patch<F>> {
        match self {
            Self::Patched(patch) => Some(&**patch),
            Self::Recompiled(_) => None,
        }
    }

    /// Verifies the structure against its invariants and the routes, and the accounts.
    ///
    /// # Errors
    /// The first broken invariant.
    pub fn check(&self, rib: &Rib<F>) -> Result<(), Corrupt> {
        match self {
            Self::Patched(patch) => patch.check(rib),
            Self::Recompiled(engine) => engine.check(rib),
        }
    }

    /// The bytes that lookups read, by part.
    pub fn memory_usage(&self) -> MemoryUsage {
        match self {
            Self::Patched(patch) => patch.memory_usage(),
            Self::Recompiled(engine) => engine.memory_usage(),
        }
    }
}

/// The write side of an engine: what readers do not need, and the right to change what they do.
pub(crate) trait Patch<F: Family>: Send {
    /// Brings the engine up to date with a RIB of which only the routes of the `changed` prefixes
    /// are others since they last agreed. What is new is built aside; then each entry that leads to
    /// it is replaced by one store. What is not needed any more goes into the retire list.
    ///
    /// # Errors
    /// When the structure cannot take the change in. It is as before then, for readers and for the
    /// next patch.
    fn patch(&mut self, rib: &Rib<F>, changed: &[Prefix<F>]) -> Result<Replaced, CannotPatch>;

    /// What was put into the retire list since the last call was taken out in this epoch.
    fn seal(&mut self, epoch: u64);

    /// Uses again what was taken out before an epoch.
    fn reclaim(&mut self, oldest: u64);

    /// Bytes in the retire list.
    fn retired_bytes(&self) -> usize;

    /// The bytes of its arrays that have been used, and those of them that can be used again now.
    fn used_and_unused(&self) -> (usize, usize);

    /// The bytes that lookups read, and what lies unused between them.
    fn memory_usage(&self) -> MemoryUsage;

    /// [`Engine::check`], and the accounts.
    ///
    /// # Errors
    /// The first broken invariant.
    fn check(&self, rib: &Rib<F>) -> Result<(), Corrupt>;
}

/// The structure cannot take a change in; a fresh compile can, or says why not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CannotPatch;

/// How many objects of a structure a commit has replaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Replaced {
    /// Entries of the first table: of direct pointing, of a root, of a direct table.
    pub entries: u64,
    /// Nodes further down, which lead on.
    pub nodes: u64,
    /// What says next hops further down: leaves, pages of codes.
    pub leaves: u64,
}
