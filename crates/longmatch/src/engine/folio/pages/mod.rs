//! Folio for IPv4: a root, and pages of codes, each of the depth that it needs.

mod batch;
mod check;
mod codes;
mod compile;
mod layout;
mod lookup;
mod plan;
#[cfg(test)]
mod tests;
mod update;

pub use codes::CodeForm;
pub use layout::Pages;

use alloc::string::String;
use alloc::vec::Vec;
use core::sync::atomic::Ordering::Relaxed;

pub(in crate::engine::folio) use self::compile::compile;
use self::layout::{Extent, Slices};
use super::survey::Survey;
use super::{Config, NAME};
use crate::engine::kit::{
    Batch, CompileError, Corrupt, Engine, Keys, LiveEngine, Lookup, OptionError, Structure,
    Variant, answers_for, capacity_for,
};
use crate::mem::{Memory, MemoryPart, MemoryUsage, Readable};
use crate::net::{Ipv4, NextHopId};
use crate::rib::Rib;
use crate::simd::Simd;

/// The modes of batches.
pub(super) const MODES: &[Batch] =
    &[Batch::Auto, Batch::Each, Batch::Flight, Batch::Gather, Batch::Ring, Batch::RingLoads];

impl Config {
    /// The bits of the root that the cuts ask for.
    fn root_bits(&self) -> Option<u8> {
        self.cuts.first().copied()
    }

    /// The error of cuts or a root that IPv4 does not have.
    fn refused_by_ipv4(&self) -> OptionError {
        let cuts = Variant::new().numbers("cuts", self.cuts.iter().copied());
        let option = cuts.option(self.root.map_or("", super::RootForm::name)).finish();
        OptionError {
            engine: NAME,
            option,
            expected: "a dense root of 8 to 24 bits, and no other cut",
        }
    }
}

impl<M: Memory> Lookup<Ipv4> for Pages<M> {
    #[inline(always)]
    fn lookup_bits(&self, addr: u32) -> Option<NextHopId> {
        lookup::lookup(self.view(), addr)
    }

    fn lookup_batch_with(&self, simd: Simd, addrs: &[u32], out: &mut [Option<NextHopId>]) {
        let out = answers_for(addrs, out);
        batch::lookup_batch(self.view().shared(), simd, self.batch, Keys::host(addrs), out);
    }

    fn lookup_keys(&self, simd: Simd, keys: Keys<'_, Ipv4>, out: &mut [Option<NextHopId>]) {
        batch::lookup_batch(
            self.view().shared(),
            simd,
            self.batch,
            keys,
            capacity_for(keys.len(), out),
        );
    }

    fn memory_usage(&self) -> MemoryUsage {
        let Extent { pages, bytes, escapes } = &self.extent;
        let words = |array: &M::Array<u32>| size_of::<u32>() * array.count();
        let name = if self.codes.is_huge() { "pages, in huge pages" } else { "pages" };
        let part = |name, count, bytes| MemoryPart { name, count, bytes };
        [
            part("root entries", self.root.count(), words(&self.root)),
            part(name, pages.load(Relaxed), bytes.load(Relaxed)),
            part("escapes", escapes.load(Relaxed), words(&self.escapes)),
            part("deep answers", self.deep.count(), words(&self.deep)),
        ]
        .into()
    }
}

impl<M: Memory> Structure<Ipv4> for Pages<M> {
    const NAME: &'static str = NAME;
    const BATCHES: bool = true;

    fn variant(&self) -> String {
        let variant = Variant::new().value("codes", self.form.name());
        let variant = variant.numbers("s", [self.fixed.root_bits]);
        variant.batch(self.batch).flag("huge", self.codes.is_huge()).finish()
    }
}

impl Engine<Ipv4> for Pages {
    type Config = Config;

    fn compile(rib: &Rib<Ipv4>, config: &Config) -> Result<Self, CompileError> {
        compile(&Survey::of(rib), config, &|_| Ok(()))
    }

    /// The root and the pages.
    fn reads(&self) -> Vec<usize> {
        let usage = self.memory_usage();
        let bytes = usage.parts.iter().take(2).map(|part| part.bytes);
        bytes.filter(|bytes| *bytes > 0).collect()
    }

    fn live(self) -> LiveEngine<Ipv4> {
        update::live(self)
    }

    fn check(&self, rib: &Rib<Ipv4>) -> Result<(), Corrupt> {
        let Self { root, codes, escapes, deep, fixed, store, .. } = self;
        let tables = Slices { root, codes, escapes, deep, fixed };
        check::check(tables, &store.account(), check::Spare::default(), rib)
    }
}
