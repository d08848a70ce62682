//! Ranked lines: IPv6 tables as sorted cache lines below a small root.
//!
//! See the README beside this file.

mod batch;
mod bounds;
mod check;
mod compile;
mod image;
mod layout;
mod lookup;
#[cfg(test)]
mod tests;
mod update;

pub use layout::Lines;

use alloc::string::String;

use self::layout::{Line, Slices};
use super::compile::Admit;
use super::layout::{Code, CodeForm};
use super::survey::Survey;
use super::{Byte, Coded, NAME};
use crate::engine::kit::{
    Built, CompileError, Corrupt, Engine, EngineVisitor, Keys, LiveEngine, Lookup, OptionError,
    Options, Request, Structure, Variant, capacity_for,
};
use crate::mem::{Memory, MemoryPart, MemoryUsage, Readable};
use crate::net::{Ipv6, NextHopId};
use crate::rib::Rib;
use crate::simd::Simd;
use crate::simd::lanes::{Lanes, Portable};

/// Option that selects this form of a table.
pub(super) const OPTION: &str = "lines";

impl<C: Code, M: Memory> Lookup<Ipv6> for Lines<C, M> {
    #[inline(always)]
    fn lookup_bits(&self, addr: u128) -> Option<NextHopId> {
        lookup::lookup(Portable, self.view(), addr)
    }

    fn lookup_each(&self, simd: Simd, addrs: &[u128], out: &mut [Option<NextHopId>]) {
        let out = capacity_for(addrs.len(), out);
        batch::lookup_each(self.view(), simd, Keys::host(addrs), out);
    }

    fn lookup_batch_with(&self, simd: Simd, addrs: &[u128], out: &mut [Option<NextHopId>]) {
        self.lookup_keys(simd, Keys::host(addrs), out);
    }

    fn lookup_keys(&self, simd: Simd, keys: Keys<'_, Ipv6>, out: &mut [Option<NextHopId>]) {
        batch::lookup_batch(self.view(), simd, keys, capacity_for(keys.len(), out));
    }

    fn memory_usage(&self) -> MemoryUsage {
        let (entries, lines) = (self.entries.count(), self.lines.count());
        [
            MemoryPart { name: "root entries", count: entries, bytes: size_of::<u32>() * entries },
            MemoryPart { name: "lines", count: lines, bytes: size_of::<Line>() * lines },
        ]
        .into()
    }
}

impl<C: Code, M: Memory> Structure<Ipv6> for Lines<C, M> {
    const NAME: &'static str = NAME;
    const BATCHES: bool = true;
    const VECTORS: bool = true;

    #[inline(always)]
    fn lookup_in<L: Lanes>(&self, lanes: L, addr: u128) -> Option<NextHopId> {
        lookup::lookup(lanes, self.view(), addr)
    }

    fn variant(&self) -> String {
        Variant::new().option(OPTION).value("codes", C::NAME).finish()
    }
}

impl<C: Code> Engine<Ipv6> for Lines<C> {
    type Config = ();

    fn compile(rib: &Rib<Ipv6>, (): &()) -> Result<Self, CompileError> {
        compile::compile(&Survey::of(rib), &|_| Ok(()))
    }

    fn live(self) -> LiveEngine<Ipv6> {
        update::live(self)
    }

    fn check(&self, rib: &Rib<Ipv6>) -> Result<(), Corrupt> {
        let Self { entries, lines, fixed, .. } = self;
        let form = CodeForm::of::<C>();
        check::check(Slices { entries, lines, fixed, form }, core::iter::empty(), rib)
    }
}

/// Builds the form with the narrowest fitting codes, or those of the options.
pub(super) fn build<V: EngineVisitor<Ipv6>>(
    request: &Request<'_, Ipv6>,
    mut options: Options<'_>,
    visitor: V,
) -> Built<Ipv6, V> {
    let codes = super::codes(&mut options);
    options.finish().map_err(|error| OptionError { expected: EXPECTED, ..error })?;
    let survey = Survey::of(request.rib);
    let admit: Admit<'_> = &|bytes| request.admit(|| bytes);
    Ok(match codes.unwrap_or_else(|| compile::codes(&survey)) {
        Byte::NAME => visitor.visit(compile::compile::<Byte>(&survey, admit)?),
        Coded::NAME => visitor.visit(compile::compile::<Coded>(&survey, admit)?),
        <u16 as Code>::NAME => visitor.visit(compile::compile::<u16>(&survey, admit)?),
        _ => visitor.visit(compile::compile::<u32>(&survey, admit)?),
    })
}

const EXPECTED: &str = "codes=8, codes=book, codes=16 or codes=32; lines, pages or v6";
