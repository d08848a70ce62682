//! The binary radix tree: one bit a level. See the README beside this file.
//!
//! | | |
//! |---|---|
//! | lookup | O(binary radix depth): at most 32 or 128 dependent reads |
//! | compile | O(routes x width) |
//! | memory | 12 bytes a node, one node a distinct leading bit string |

mod batch;
mod check;
mod compile;
mod cost;
mod layout;
mod lookup;

pub use layout::Radix;

use crate::engine::kit::{
    Builder, Built, CompileError, Corrupt, Descriptor, Engine, EngineVisitor, Lookup, Request,
    Shape, Structure, answers_for,
};
use crate::mem::{MemoryPart, MemoryUsage};
use crate::net::{Family, NextHopId};
use crate::rib::Rib;
use crate::simd::Simd;

pub(super) const NAME: &str = "radix";

/// The registry's entry.
pub(crate) const DESCRIPTOR: Descriptor =
    Descriptor { oracle: false, wider: &[], candidates: cost::CANDIDATES };

impl<F: Family> Lookup<F> for Radix<F> {
    #[inline(always)]
    fn lookup_bits(&self, addr: F::Bits) -> Option<NextHopId> {
        lookup::lookup(self, addr)
    }

    fn lookup_batch_with(&self, simd: Simd, addrs: &[F::Bits], out: &mut [Option<NextHopId>]) {
        batch::lookup_batch(self, simd, addrs, answers_for(addrs, out));
    }

    fn memory_usage(&self) -> MemoryUsage {
        [MemoryPart::of_slice("nodes", &self.nodes)].into()
    }
}

impl<F: Family> Structure<F> for Radix<F> {
    const NAME: &'static str = NAME;
    const BATCHES: bool = true;
}

impl<F: Family> Engine<F> for Radix<F> {
    type Config = ();

    fn compile(rib: &Rib<F>, (): &()) -> Result<Self, CompileError> {
        compile::compile(rib)
    }

    fn check(&self, rib: &Rib<F>) -> Result<(), Corrupt> {
        check::check(self, rib)
    }
}

/// Builder for the registry.
pub(crate) struct Build;

impl<F: Family> Builder<F> for Build {
    fn build<V: EngineVisitor<F>>(request: &Request<'_, F>, visitor: V) -> Built<F, V> {
        request.without_options()?;
        request.admit(|| compile::estimate(&Shape::of(request.rib)))?;
        Ok(visitor.visit(Radix::compile(request.rib, &())?))
    }
}
