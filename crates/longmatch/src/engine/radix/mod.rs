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
mod layout;
mod lookup;

pub(super) use compile::estimate;
pub use layout::Radix;

use alloc::string::String;

use super::{Engine, Lookup};
use crate::addr::Family;
use crate::error::{CompileError, Corrupt};
use crate::memory::{MemoryPart, MemoryUsage};
use crate::next_hop::NextHopId;
use crate::rib::Rib;
use crate::simd::Simd;

pub(super) const NAME: &str = "radix";

impl<F: Family> Lookup<F> for Radix<F> {
    #[inline(always)]
    fn lookup(&self, addr: F::Bits) -> Option<NextHopId> {
        lookup::lookup(self, addr)
    }

    fn lookup_batch_with(&self, simd: Simd, addrs: &[F::Bits], out: &mut [Option<NextHopId>]) {
        batch::lookup_batch(self, simd, addrs, super::answers_for(addrs, out));
    }

    fn memory_usage(&self) -> MemoryUsage {
        [MemoryPart::of_slice("nodes", &self.nodes)].into()
    }
}

impl<F: Family> Engine<F> for Radix<F> {
    const NAME: &'static str = NAME;
    const BATCHES: bool = true;
    type Config = ();

    fn compile(rib: &Rib<F>, (): &()) -> Result<Self, CompileError> {
        compile::compile(rib)
    }

    fn variant(&self) -> String {
        String::new()
    }

    fn check(&self, rib: &Rib<F>) -> Result<(), Corrupt> {
        check::check(self, rib)
    }
}
