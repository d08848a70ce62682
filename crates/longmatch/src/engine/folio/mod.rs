//! Folio: identity pages for IPv4 ([`identity`]), ranked lines for IPv6 ([`Lines`]), and pages with
//! cuts for both ([`Folio`], the option `pages`).
//!
//! See the README beside this file.

mod batch;
mod book;
mod check;
mod compile;
mod cost;
pub mod identity;
mod layout;
mod lines;
mod lookup;
mod numbers;
mod pieces;
mod plan;
mod root;
mod store;
mod survey;
#[cfg(test)]
mod tests;
mod update;
pub mod v4;
pub mod v6;

pub use layout::{Byte, Code, Coded, Folio};
pub use lines::Lines;
pub use plan::RootForm;

use alloc::string::String;
use alloc::vec::Vec;
use core::iter::once;
use core::sync::atomic::Ordering::Relaxed;

use self::compile::Admit;
use self::layout::{CodeForm, Extent, Fixed, Slices};
use self::root::RootLayout;
use self::store::{Kind, Page};
use self::survey::Survey;
use crate::engine::kit::{
    Builder, Built, CompileError, Corrupt, Descriptor, Engine, EngineVisitor, Keys, LiveEngine,
    Lookup, OptionError, Options, Request, Structure, Variant, capacity_for,
};
use crate::mem::{Memory, MemoryPart, MemoryUsage, Readable};
use crate::net::{Family, Ipv4, Ipv6, NextHopId};
use crate::rib::Rib;
use crate::simd::Simd;

pub(super) const NAME: &str = "folio";

/// The registry's entry.
pub(crate) const DESCRIPTOR: Descriptor = Descriptor { oracle: false, wider: &[PAGES] };

/// Compile-time choices besides the type of codes. By default the table decides.
///
/// ```
/// use longmatch::engine::folio::{Config, Folio};
/// use longmatch::{Engine, Ipv4, Rib, Structure};
/// let config = Config { cuts: vec![16, 24], ..Config::default() };
/// let folio: Folio<Ipv4, u16> = Folio::compile(&Rib::new(), &config)?;
/// assert_eq!(Structure::variant(&folio), "pages:codes=16:cuts=16-24-32");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Config {
    /// The first cuts of addresses; the model chooses the rest.
    pub cuts: Vec<u8>,
    /// The form of the first table.
    pub root: Option<RootForm>,
    /// Whether to request huge pages from the system.
    pub huge: bool,
}

impl Config {
    /// Returns the error of cuts that are impossible, alone or with the requested root.
    fn impossible<F: Family>(&self) -> OptionError {
        let cuts = Variant::new().numbers("cuts", self.cuts.iter().copied());
        let option = cuts.option(self.root.map_or("", RootForm::name)).finish();
        let expected = match F::WIDTH {
            32 => "a dense root; increasing cuts, the first 8 to 24, at most 14 bits apart",
            _ => {
                "rising cuts from 8 to 24 on (of a sparse root to 30; with regions from 12 to 30, and \
                 at most 18 regions), at most 14 bits from one to the next, and none across bit 64"
            }
        };
        OptionError { engine: NAME, option, expected }
    }
}

impl<F: Family, C: Code, M: Memory> Lookup<F> for Folio<F, C, M> {
    #[inline(always)]
    fn lookup_bits(&self, addr: F::Bits) -> Option<NextHopId> {
        lookup::lookup(self.view(), addr)
    }

    fn lookup_batch_with(&self, simd: Simd, addrs: &[F::Bits], out: &mut [Option<NextHopId>]) {
        self.lookup_keys(simd, Keys::host(addrs), out);
    }

    fn lookup_keys(&self, simd: Simd, keys: Keys<'_, F>, out: &mut [Option<NextHopId>]) {
        batch::lookup_batch(self.view(), simd, keys, capacity_for(keys.len(), out));
    }

    fn memory_usage(&self) -> MemoryUsage {
        let bytes = match self.fixed.root.layout {
            RootLayout::Span { sparse: true, .. } | RootLayout::Regions(_) => {
                // SAFETY: single stores replace the root's entries (invariant 8), so they can be
                // read meanwhile.
                unsafe { self.entries.touched_bytes() }
            }
            _ => size_of::<u32>() * self.entries.count(),
        };
        let Extent { pages, bytes: page_bytes } = &self.extent;
        let (pages, page_bytes) = (pages.load(Relaxed), page_bytes.load(Relaxed));
        let name = if self.pages.is_huge() { "pages, in huge pages" } else { "pages" };
        [
            MemoryPart { name: "root entries", count: self.entries.count(), bytes },
            MemoryPart { name, count: pages, bytes: page_bytes },
        ]
        .into()
    }
}

impl<F: Family, C: Code, M: Memory> Structure<F> for Folio<F, C, M> {
    const NAME: &'static str = NAME;
    const BATCHES: bool = true;

    fn variant(&self) -> String {
        let Fixed { root, levels, .. } = &self.fixed;
        let form = match &root.layout {
            RootLayout::Span { sparse: true, .. } => RootForm::Sparse.name(),
            RootLayout::Regions(_) => RootForm::Regions.name(),
            RootLayout::Span { .. } => "",
        };
        let cuts = once(root.bits).chain(levels.iter().map(|level| level.end()));
        let variant = Variant::new().option(PAGES).value("codes", C::NAME).numbers("cuts", cuts);
        variant.option(form).flag("huge", self.pages.is_huge()).finish()
    }
}

impl<F: Family, C: Code> Engine<F> for Folio<F, C> {
    type Config = Config;

    fn compile(rib: &Rib<F>, config: &Config) -> Result<Self, CompileError> {
        compile::compile(&Survey::of(rib), config, &|_| Ok(()))
    }

    /// The root, the branch pages of usual levels but the last, the pages of codes.
    fn reads(&self) -> Vec<usize> {
        let root = self.memory_usage().part("root entries").map_or(0, |part| part.bytes);
        let kinds = (0..self.fixed.usual_levels - 1).map(|level| Kind::Branch(level as u8));
        let of_kind = |kind: Kind| {
            let pages = self.store.pages().filter(|page| page.kind == kind);
            pages.map(Page::bytes).sum()
        };
        let pages = kinds.chain([Kind::Codes]).map(of_kind);
        [root].into_iter().chain(pages).filter(|bytes| *bytes > 0).collect()
    }

    fn live(self) -> LiveEngine<F> {
        update::live(self)
    }

    fn check(&self, rib: &Rib<F>) -> Result<(), Corrupt> {
        let Self { entries, pages, fixed, store, .. } = self;
        let form = CodeForm::of::<C>();
        check::check(Slices { entries, pages, fixed }, form, &store.account(), rib)
    }
}

const EXPECTED: &str = "codes=8, codes=book, codes=16 or codes=32; with pages: s= and the first cut, \
     cuts= and the first cuts joined by '-', sparse, dense or regions, huge";

/// Builds the default form of the family, or the form of the options.
pub(crate) struct Build;

/// Option that selects pages with cuts, the form that both families have.
const PAGES: &str = "pages";

impl Builder<Ipv4> for Build {
    fn build<V: EngineVisitor<Ipv4>>(request: &Request<'_, Ipv4>, visitor: V) -> Built<Ipv4, V> {
        let mut options = request.parse(EXPECTED);
        match options.choice(&[(identity::OPTION, false), (PAGES, true)]) {
            Some(true) => pages(request, options, visitor),
            Some(false) => identity::build(request, options, visitor),
            None => v4::build(request, options, visitor),
        }
    }
}

impl Builder<Ipv6> for Build {
    fn build<V: EngineVisitor<Ipv6>>(request: &Request<'_, Ipv6>, visitor: V) -> Built<Ipv6, V> {
        let mut options = request.parse(EXPECTED);
        match options.choice(&[
            (lines::OPTION, lines::OPTION),
            (PAGES, PAGES),
        ]) {
            Some(PAGES) => pages(request, options, visitor),
            Some(lines::OPTION) => lines::build(request, options, visitor),
            _ => v6::build(request, options, visitor),
        }
    }
}

/// Takes the option that names the codes.
fn codes(options: &mut Options<'_>) -> Option<&'static str> {
    let names = [Byte::NAME, Coded::NAME, u16::NAME, u32::NAME];
    options.value("codes", |name| names.into_iter().find(|known| *known == name))
}

/// Builds pages. Takes the options of their configuration.
fn pages<F: Family, V: EngineVisitor<F>>(
    request: &Request<'_, F>,
    mut options: Options<'_>,
    visitor: V,
) -> Built<F, V> {
    let codes = codes(&mut options);
    let cuts = |option: &str| {
        let cuts = option.strip_prefix("cuts=").or_else(|| option.strip_prefix("s="))?;
        cuts.split('-').map(|cut| cut.parse().ok()).collect()
    };
    let form = |name: &str| RootForm::ALL.into_iter().find(|form| form.name() == name);
    let config = Config {
        cuts: options.read(cuts).unwrap_or_default(),
        root: options.read(form),
        huge: options.flag("huge"),
    };
    options.finish()?;
    let survey = Survey::of(request.rib);
    let admit: Admit<'_> = &|bytes| request.admit(|| bytes);
    Ok(match codes.unwrap_or_else(|| survey.codes()) {
        Byte::NAME => visitor.visit(compile::compile::<F, Byte>(&survey, &config, admit)?),
        Coded::NAME => visitor.visit(compile::compile::<F, Coded>(&survey, &config, admit)?),
        <u16 as Code>::NAME => visitor.visit(compile::compile::<F, u16>(&survey, &config, admit)?),
        _ => visitor.visit(compile::compile::<F, u32>(&survey, &config, admit)?),
    })
}
