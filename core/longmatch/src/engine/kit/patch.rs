//! The interface through which an engine changes while readers use it.

use alloc::boxed::Box;
use alloc::sync::Arc;

use crate::engine::kit::{Checked, Compiled, Corrupt, Engine};
use crate::mem::MemoryUsage;
use crate::net::{Family, Prefix};
use crate::rib::Rib;

/// An engine in use by readers; returned by [`Engine::live`].
///
/// ```
/// use longmatch::engine::LiveEngine;
/// use longmatch::{CompileError, EngineKind, Engines, Ipv4, Rib};
/// // `Writer::new` makes one of these; a failure is its failure.
/// let live: Result<LiveEngine<Ipv4>, CompileError> =
///     Ipv4::build_live(&EngineKind::Folio.into(), &Rib::new());
/// assert!(live.is_ok());
/// ```
pub struct LiveEngine<F: Family> {
    /// The structure that readers use.
    pub(crate) engine: Arc<dyn Compiled<F>>,
    /// The means of changing it.
    pub(crate) write: WriteSide<F>,
}

/// How an engine in use by readers is changed.
pub(crate) enum WriteSide<F: Family> {
    /// In place, by its owner.
    Patched(Box<dyn Patch<F>>),
    /// Not at all: each commit compiles it again.
    Recompiled(Arc<dyn Checked<F>>),
}

impl<F: Family> LiveEngine<F> {
    /// Wraps an engine that each commit compiles again.
    pub(crate) fn recompiled<E: Engine<F>>(engine: E) -> Self {
        let engine: Arc<dyn Checked<F>> = Arc::new(engine);
        Self { engine: engine.clone(), write: WriteSide::Recompiled(engine) }
    }

    /// Joins a structure and its write side.
    pub(crate) fn patched(engine: Arc<dyn Compiled<F>>, patch: impl Patch<F> + 'static) -> Self {
        Self { engine, write: WriteSide::Patched(Box::new(patch)) }
    }
}

impl<F: Family> WriteSide<F> {
    /// The owner of a patched engine; `None` for one that is compiled again.
    pub fn patch(&self) -> Option<&dyn Patch<F>> {
        match self {
            Self::Patched(patch) => Some(&**patch),
            Self::Recompiled(_) => None,
        }
    }

    /// Verifies the structure, against its routes too, and the owner's accounts.
    ///
    /// # Errors
    /// The first broken invariant.
    pub fn check(&self, rib: &Rib<F>) -> Result<(), Corrupt> {
        match self {
            Self::Patched(patch) => patch.check(rib),
            Self::Recompiled(engine) => engine.check(rib),
        }
    }

    /// Returns the bytes that lookups read, by part.
    pub fn memory_usage(&self) -> MemoryUsage {
        match self {
            Self::Patched(patch) => patch.memory_usage(),
            Self::Recompiled(engine) => engine.memory_usage(),
        }
    }
}

/// The write side of an engine: state that readers do not need, and the right to store.
pub(crate) trait Patch<F: Family>: Send {
    /// Brings the engine up to date with a RIB.
    ///
    /// Since the last patch only routes of the `changed` prefixes may differ. New objects are built
    /// aside; then one store replaces each entry that leads to them. Objects no longer needed go
    /// into the retire list.
    ///
    /// # Errors
    /// When the structure cannot hold the change. It is unchanged then, for readers and for the
    /// next patch.
    fn patch(&mut self, rib: &Rib<F>, changed: &[Prefix<F>]) -> Result<Replaced, CannotPatch>;

    /// Stamps the objects retired since the last call with the epoch of their removal.
    fn seal(&mut self, epoch: u64);

    /// Makes objects reusable that were removed before an epoch.
    fn reclaim(&mut self, oldest: u64);

    /// Bytes in the retire list.
    fn retired_bytes(&self) -> usize;

    /// Bytes of the arrays that have ever been used, and the free ones among them that only a fresh
    /// compile reclaims.
    fn used_and_unused(&self) -> (usize, usize);

    /// The bytes that lookups read, and the unused bytes between them.
    fn memory_usage(&self) -> MemoryUsage;

    /// Runs [`Engine::check`] and verifies the accounts.
    ///
    /// # Errors
    /// The first broken invariant.
    fn check(&self, rib: &Rib<F>) -> Result<(), Corrupt>;
}

/// Error: the structure cannot hold a change. A fresh compile can, or reports why not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CannotPatch;

/// Numbers of objects that a commit replaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Replaced {
    /// Entries of the first table: direct pointing, a root, a direct table.
    pub entries: u64,
    /// Nodes below it that lead on.
    pub nodes: u64,
    /// Objects below it that hold next hops: leaves, pages of codes.
    pub leaves: u64,
}
