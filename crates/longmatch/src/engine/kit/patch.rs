//! What an engine does to be changed under readers.

use alloc::boxed::Box;
use alloc::sync::Arc;

use crate::engine::kit::{Compiled, Corrupt, Engine};
use crate::mem::MemoryUsage;
use crate::net::{Family, Prefix};
use crate::rib::Rib;

/// An engine under readers; made by [`Engine::live`].
pub struct LiveEngine<F: Family> {
    /// What readers see.
    pub(crate) engine: Arc<dyn Compiled<F>>,
    /// Who changes it. Without it the engine is compiled again for each commit.
    pub(crate) patch: Option<Box<dyn Patch<F>>>,
}

impl<F: Family> LiveEngine<F> {
    /// An engine that is compiled again for each commit.
    pub(crate) fn recompiled<E: Engine<F>>(engine: E) -> Self {
        Self { engine: Arc::new(engine), patch: None }
    }

    /// An engine and who changes it.
    pub(crate) fn patched<E: Engine<F>>(engine: Arc<E>, patch: impl Patch<F> + 'static) -> Self {
        Self { engine, patch: Some(Box::new(patch)) }
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
