//! The path-compressed tree of BSD (K. Sklower, USENIX Winter 1991).
//!
//! See the README one directory up.

mod batch;
mod check;
mod compile;
mod layout;
mod lookup;

pub(super) use compile::estimate;
pub use layout::PathCompressed;

use alloc::string::String;

use super::{NAME, OPTION};
use crate::engine::kit::{
    CompileError, Corrupt, Engine, Lookup, Structure, Variant, answers_for, in_flight,
};
use crate::mem::{MemoryPart, MemoryUsage};
use crate::net::{Family, NextHopId};
use crate::rib::Rib;
use crate::simd::Simd;

impl<F: Family> Lookup<F> for PathCompressed<F> {
    #[inline(always)]
    fn lookup_bits(&self, addr: F::Bits) -> Option<NextHopId> {
        lookup::lookup(self, addr)
    }

    fn lookup_batch_with(&self, simd: Simd, addrs: &[F::Bits], out: &mut [Option<NextHopId>]) {
        in_flight::run(self, simd, addrs, answers_for(addrs, out));
    }

    fn memory_usage(&self) -> MemoryUsage {
        [
            MemoryPart::of_slice("internal nodes", &self.nodes),
            MemoryPart::of_slice("leaves", &self.leaves),
        ]
        .into()
    }
}

impl<F: Family> Structure<F> for PathCompressed<F> {
    const NAME: &'static str = NAME;
    const BATCHES: bool = true;

    fn variant(&self) -> String {
        Variant::new().option(OPTION).finish()
    }
}

impl<F: Family> Engine<F> for PathCompressed<F> {
    type Config = ();

    fn compile(rib: &Rib<F>, (): &()) -> Result<Self, CompileError> {
        compile::compile(rib)
    }

    fn check(&self, rib: &Rib<F>) -> Result<(), Corrupt> {
        check::check(self, rib)
    }
}

#[cfg(test)]
mod tests;
