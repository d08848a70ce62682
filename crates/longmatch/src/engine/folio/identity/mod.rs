//! Identity pages: IPv4 tables as a root and pages of codes, in which an answer is a page too.
//!
//! A lookup makes two reads and asks nothing between them. What codes cannot say escapes to a hash
//! table: routes longer than /24 where they are few, and rare next hops.
//!
//! See the README beside this file.

mod batch;
mod bounds;
mod check;
mod codes;
mod compile;
mod image;
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

use self::compile::compile;
use self::layout::Extent;
use super::NAME;
use super::compile::Admit;
use super::survey::Survey;
use crate::engine::kit::{
    Batch, Built, CompileError, Corrupt, Engine, EngineVisitor, Keys, LiveEngine, Lookup,
    OptionError, Options, Request, Structure, Variant, capacity_for,
};
use crate::mem::{Memory, MemoryPart, MemoryUsage, Readable};
use crate::net::{Ipv4, NextHopId};
use crate::rib::Rib;
use crate::simd::Simd;

/// Option that selects this form of a table.
pub(super) const OPTION: &str = "identity";

/// The modes of batches.
const MODES: &[Batch] =
    &[Batch::Auto, Batch::Each, Batch::Flight, Batch::Gather, Batch::Ring, Batch::RingLoads];

/// Compile-time choices. By default the table decides.
///
/// ```
/// use longmatch::engine::folio::identity::{Config, Pages};
/// use longmatch::{Engine, Rib, Structure};
/// let config = Config { root_bits: Some(16), ..Config::default() };
/// let pages = Pages::compile(&Rib::new(), &config)?;
/// assert_eq!(pages.variant(), "identity:codes=8:s=16");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Config {
    /// The form of codes.
    pub codes: Option<CodeForm>,
    /// Bits of an address that number the root's entries: 8 to 24.
    pub root_bits: Option<u8>,
    /// How a batch is looked up: every mode but [`Batch::Line`].
    pub batch: Batch,
    /// Whether to request huge pages from the system.
    pub huge: bool,
}

const EXPECTED: &str = "codes=8, codes=book, codes=16 or codes=32, s= and 8 to 24, huge, batch= \
     and each, flight, gather, ring or ring-loads; identity, pages or v4";

/// Builds the form. Takes the options of its configuration.
pub(super) fn build<V: EngineVisitor<Ipv4>>(
    request: &Request<'_, Ipv4>,
    mut options: Options<'_>,
    visitor: V,
) -> Built<Ipv4, V> {
    let codes = |name: &str| CodeForm::ALL.into_iter().find(|codes| codes.name() == name);
    let config = Config {
        codes: options.value("codes", codes),
        root_bits: options.number("s", layout::MIN_ROOT..=layout::MAX_ROOT),
        batch: options.batch(MODES),
        huge: options.flag("huge"),
    };
    options.finish().map_err(|error| OptionError { expected: EXPECTED, ..error })?;
    let admit: Admit<'_> = &|bytes| request.admit(|| bytes);
    Ok(visitor.visit(compile(&Survey::of(request.rib), &config, admit)?))
}

impl<M: Memory> Pages<M> {
    /// Looks up a batch. Inlined where the layout of the addresses is known.
    #[inline(always)]
    fn answer(&self, simd: Simd, keys: Keys<'_, Ipv4>, out: &mut [Option<NextHopId>]) {
        batch::lookup_batch(self, simd, keys, capacity_for(keys.len(), out));
    }
}

impl<M: Memory> Lookup<Ipv4> for Pages<M> {
    #[inline(always)]
    fn lookup_bits(&self, addr: u32) -> Option<NextHopId> {
        lookup::lookup(self.view(), addr)
    }

    fn lookup_batch_with(&self, simd: Simd, addrs: &[u32], out: &mut [Option<NextHopId>]) {
        self.answer(simd, Keys::host(addrs), out);
    }

    fn lookup_keys(&self, simd: Simd, keys: Keys<'_, Ipv4>, out: &mut [Option<NextHopId>]) {
        self.answer(simd, keys, out);
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
        let variant = Variant::new().option(OPTION).value("codes", self.form.name());
        let variant = variant.numbers("s", [self.fixed.root_bits()]);
        variant.batch(self.batch).flag("huge", self.codes.is_huge()).finish()
    }
}

impl Engine<Ipv4> for Pages {
    type Config = Config;

    fn compile(rib: &Rib<Ipv4>, config: &Config) -> Result<Self, CompileError> {
        config.batch.among(MODES, NAME, EXPECTED)?;
        compile(&Survey::of(rib), config, &|_| Ok(()))
    }

    /// The root and the pages.
    fn reads(&self) -> Vec<usize> {
        let usage = self.memory_usage();
        let bytes = usage.parts.iter().take(2).map(|part| part.bytes);
        bytes.filter(|bytes| *bytes > 0).collect()
    }

    fn live(self) -> LiveEngine<Ipv4> {
        // A table over an image has no account of its pages.
        if self.codes.is_lent() {
            return LiveEngine::recompiled(self);
        }
        update::live(self)
    }

    fn check(&self, rib: &Rib<Ipv4>) -> Result<(), Corrupt> {
        let account =
            if self.codes.is_lent() { image::account(self.slices()) } else { self.store.account() };
        check::check(self.slices(), &account, check::Spare::default(), rib)
    }
}
