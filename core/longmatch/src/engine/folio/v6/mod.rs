//! Graded pages: IPv6 tables as a small root, pages of entries at any bits, and five kinds of leaf.
//!
//! A lookup reads 4 words and a line at most, and the lines of hosts that share a hash, which are
//! rare. See the README beside this file.

mod batch;
mod bounds;
mod check;
mod codes;
mod compile;
mod image;
mod layout;
mod leaf;
mod lookup;
mod outline;
mod plan;
#[cfg(test)]
mod tests;
mod update;
mod walk;

pub use layout::Folio6;

use alloc::string::String;
use alloc::vec::Vec;

use self::codes::{FORMS, Form};
use self::layout::{MAX_STEPS, Slices};
use self::plan::Costs;
use super::NAME;
use super::admit::SizeLimit;
use crate::engine::kit::{
    Built, CompileError, Corrupt, Engine, EngineVisitor, Keys, LiveEngine, Lookup, OptionError,
    Request, Structure, TypedOptions, Variant, capacity_for,
};
use crate::mem::{Memory, MemoryPart, MemoryUsage, Readable};
use crate::net::{Ipv6, NextHopId};
use crate::rib::Rib;
use crate::simd::Simd;
use crate::simd::lanes::{Lanes, Portable};

/// Compile-time choices. By default the table decides.
///
/// ```
/// use longmatch::engine::folio::v6::{Config, Folio6};
/// use longmatch::{Engine, Rib, Structure};
/// let config = Config { codes: Some("16"), steps: Some(2), leaves: Some("lines") };
/// let folio = Folio6::compile(&Rib::new(), &config)?;
/// assert_eq!(Structure::variant(&folio), "codes=16:steps=2:leaves=lines");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The codes of next hops: `8`, `16` or `32` bits; `book` or `list`, positions of 8 or 16 bits in
    /// a list of next hops.
    pub codes: Option<&'static str>,
    /// Steps through pages that every address makes: 1 to 3.
    pub steps: Option<u8>,
    /// The kind of leaf that a plan prefers: `codes`, `lines` or `minis`.
    pub leaves: Option<&'static str>,
}

impl TypedOptions for Config {
    const ENGINE: &'static str = NAME;

    fn options(&self) -> Variant {
        let codes = Variant::new().some("codes", self.codes);
        codes.some("steps", self.steps).some("leaves", self.leaves)
    }
}

const EXPECTED: &str = "codes=8, codes=book, codes=16, codes=list or codes=32, steps= and 1 to 3, \
     leaves=lines, leaves=codes or leaves=minis";

/// A configuration that has been checked.
struct Choices {
    form: Option<Form>,
    steps: Option<u8>,
    leaves: Option<&'static str>,
}

impl Config {
    fn choices(&self) -> Result<Choices, OptionError> {
        let refused = |option: Variant| {
            Err(OptionError { engine: NAME, option: option.finish(), expected: EXPECTED })
        };
        let form = FORMS.into_iter().find(|form| Some(form.name) == self.codes);
        if let (Some(codes), None) = (self.codes, form) {
            return refused(Variant::new().value("codes", codes));
        }
        if let Some(steps) = self.steps.filter(|steps| !(1..=MAX_STEPS).contains(steps)) {
            return refused(Variant::new().value("steps", steps));
        }
        let leaves = Costs::ALL.into_iter().find(|(name, _)| Some(*name) == self.leaves);
        if let (Some(leaves), None) = (self.leaves, leaves) {
            return refused(Variant::new().value("leaves", leaves));
        }
        Ok(Choices { form, steps: self.steps, leaves: self.leaves })
    }
}

impl<M: Memory> Lookup<Ipv6> for Folio6<M> {
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
        let words = |name, count: usize, words: usize| MemoryPart {
            name,
            count: count / words,
            bytes: size_of::<u32>() * count,
        };
        let codes = self.codes.count();
        [
            words("root entries", self.root.count(), 1),
            words("entries of pages", self.pages.count(), 1),
            MemoryPart { name: "codes", count: codes >> self.fixed.log2, bytes: codes },
            words("lines", self.lines.count(), leaf::LINE_WORDS),
            words("minis", self.minis.count(), leaf::MINI_WORDS),
            words("listed next hops", self.hops.count(), 1),
        ]
        .into()
    }
}

impl<M: Memory> Structure<Ipv6> for Folio6<M> {
    const NAME: &'static str = NAME;
    const BATCHES: bool = true;
    const VECTORS: bool = true;

    #[inline(always)]
    fn lookup_in<L: Lanes>(&self, lanes: L, addr: u128) -> Option<NextHopId> {
        lookup::lookup(lanes, self.view(), addr)
    }

    fn variant(&self) -> String {
        let form = Form::of(self.fixed.log2, self.fixed.is_list).map_or("", |form| form.name);
        let variant = Variant::new().value("codes", form);
        let variant = variant.value("steps", self.fixed.steps);
        match self.leaves {
            "" => variant.finish(),
            leaves => variant.value("leaves", leaves).finish(),
        }
    }
}

impl Folio6 {
    fn slices(&self) -> Slices<'_> {
        let Self { root, pages, codes, lines, minis, hops, fixed, .. } = self;
        Slices { root, pages, codes, lines, minis, hops, fixed }
    }
}

impl Engine<Ipv6> for Folio6 {
    type Config = Config;

    fn compile(rib: &Rib<Ipv6>, config: &Config) -> Result<Self, CompileError> {
        compile::compile(rib, config, &|_| Ok(()))
    }

    /// The root, the pages for each usual step, and the leaves.
    fn reads(&self) -> Vec<usize> {
        let pages = size_of_val(&self.pages[..]) / usize::from(self.fixed.steps);
        let lines = size_of_val(&self.lines[..]) + size_of_val(&self.minis[..]);
        let steps = core::iter::repeat_n(pages, self.fixed.steps.into());
        let reads = [size_of_val(&self.root[..])].into_iter().chain(steps);
        reads.chain([self.codes.len() + lines]).filter(|bytes| *bytes > 0).collect()
    }

    fn live(self) -> LiveEngine<Ipv6> {
        update::live(self)
    }

    fn check(&self, rib: &Rib<Ipv6>) -> Result<(), Corrupt> {
        check::check(self.slices(), None, rib)
    }
}

/// Builds the form with the codes and steps that suit the table best, or those of the options.
pub(super) fn build<V: EngineVisitor<Ipv6>>(
    request: &Request<'_, Ipv6>,
    visitor: V,
) -> Built<Ipv6, V> {
    let mut options = request.parse(EXPECTED);
    let names = FORMS.map(|form| form.name);
    let codes = options.value("codes", |name| names.into_iter().find(|known| *known == name));
    let steps = options.number("steps", 1..=MAX_STEPS);
    let plans = Costs::ALL.map(|(name, _)| name);
    let leaves = options.value("leaves", |name| plans.into_iter().find(|known| *known == name));
    options.finish()?;
    let config = Config { codes, steps, leaves };
    let admit: SizeLimit<'_> = &|bytes| request.admit(|| bytes);
    Ok(visitor.visit(compile::compile(request.rib, &config, admit)?))
}
