//! Folio for IPv4: a root of entries that lead to answers, pages of codes, lists and pages of
//! entries.
//!
//! A lookup reads 3 words at most: an entry, one more for each page of entries, then a code; or 2 and
//! a list of one or two cache lines. See the README beside this file.

mod account;
mod batch;
mod blocks;
mod bounds;
mod check;
mod compile;
mod image;
mod layout;
mod lookup;
mod model;
mod plan;
#[cfg(test)]
mod tests;
mod update;

pub use layout::Folio4;

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::sync::atomic::Ordering::Relaxed;

use self::batch::InPlace;
use self::compile::compile;
use self::layout::{Extent, MAX_ROOT, MIN_ROOT, Single};
use self::model::Machine;
use super::NAME;
use super::admit::SizeLimit;
use crate::engine::kit::{
    Built, CompileError, Corrupt, Engine, EngineVisitor, Keys, LiveEngine, Lookup, Request,
    Structure, TypedOptions, Variant, answers_for, capacity_for,
};
use crate::mem::{Memory, MemoryPart, MemoryUsage, Readable, parse_bytes};
use crate::net::{Ipv4, NextHopId};
use crate::rib::Rib;
use crate::simd::Simd;
use crate::simd::lanes::{Lanes, Portable};

/// Compile-time choices. By default the table and the CPU decide.
///
/// ```
/// use longmatch::engine::folio::v4::{Config, Folio4};
/// use longmatch::{Engine, Rib, Structure};
/// let config = Config { root_bits: Some(16), ..Config::default() };
/// let folio = Folio4::compile(&Rib::new(), &config)?;
/// assert!(folio.variant().starts_with("codes=8:s=16"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Bytes of a code, 1 to 4: not less than the table needs.
    pub code_bytes: Option<u8>,
    /// Bits of an address that number the root's entries: 8 to 22.
    pub root_bits: Option<u8>,
    /// Bytes that the table may take on top of the smallest plan; 2 MiB by default, for which even a small table has a
    /// large root. With less, thousands of small tables are small.
    pub spare: Option<u32>,
    /// Bytes that a change of next hop may cost to spare a list.
    pub lists: Option<u32>,
    /// Bytes that a change of next hop may cost to spare a page of entries.
    pub entries: Option<u32>,
    /// Whether single lookups read pages of entries without a branch.
    pub flat: Option<bool>,
    /// Whether batches prefetch lists.
    pub ahead: Option<bool>,
}

impl TypedOptions for Config {
    const ENGINE: &'static str = NAME;

    fn options(&self) -> Variant {
        let worth = |bytes: u32| match bytes {
            plan::NONE.. => String::from("none"),
            bytes => bytes.to_string(),
        };
        let yes = |it: bool| if it { "yes" } else { "no" };
        let codes = Variant::new().some("codes", self.code_bytes.map(|bytes| 8 * bytes));
        let codes = codes.some("s", self.root_bits).some("spare", self.spare);
        let blocks = codes.some("lists", self.lists.map(worth));
        let blocks = blocks.some("entries", self.entries.map(worth));
        blocks.some("flat", self.flat.map(yes)).some("ahead", self.ahead.map(yes))
    }
}

const EXPECTED: &str = "codes=8, 16, 24 or 32, s= and 8 to 22, spare= and bytes such as 4K, lists= and entries= and a number of \
     bytes or 'none', flat=yes or no, ahead=yes or no";

/// Builds the form. Takes the options of its configuration.
pub(super) fn build<V: EngineVisitor<Ipv4>>(
    request: &Request<'_, Ipv4>,
    visitor: V,
) -> Built<Ipv4, V> {
    let mut options = request.parse(EXPECTED);
    let codes = options.value("codes", |bits| {
        [(1, "8"), (2, "16"), (3, "24"), (4, "32")].iter().find(|it| it.1 == bits).map(|it| it.0)
    });
    let worth = |text: &str| match text {
        "none" => Some(plan::NONE),
        number => number.parse().ok(),
    };
    let yes = |text: &str| match text {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    };
    let config = Config {
        code_bytes: codes,
        root_bits: options.number("s", MIN_ROOT..=MAX_ROOT),
        spare: options.value("spare", |bytes| u32::try_from(parse_bytes(bytes)?).ok()),
        lists: options.value("lists", worth),
        entries: options.value("entries", worth),
        flat: options.value("flat", yes),
        ahead: options.value("ahead", yes),
    };
    options.finish()?;
    let admit: SizeLimit<'_> = &|bytes| request.admit(|| bytes);
    let machine = if request.any_cpu { Machine::any() } else { Machine::here() };
    Ok(visitor.visit(compile(&machine, request.rib, &config, admit)?))
}

impl<M: Memory> Folio4<M> {
    /// Looks up a batch. Inlined where the layout of the addresses is known.
    #[inline(always)]
    fn answer(&self, simd: Simd, keys: Keys<'_, Ipv4>, out: &mut [Option<NextHopId>]) {
        batch::lookup_batch(self, simd, keys, capacity_for(keys.len(), out));
    }
}

impl<M: Memory> Lookup<Ipv4> for Folio4<M> {
    #[inline(always)]
    fn lookup_bits(&self, addr: u32) -> Option<NextHopId> {
        lookup::lookup(Portable, self.view(), addr)
    }

    fn lookup_each(&self, simd: Simd, addrs: &[u32], out: &mut [Option<NextHopId>]) {
        let keys = InPlace { from: addrs.as_ptr().cast(), swap: false };
        batch::lookup_each(self.view(), simd, keys, answers_for(addrs, out));
    }

    fn lookup_batch_with(&self, simd: Simd, addrs: &[u32], out: &mut [Option<NextHopId>]) {
        self.answer(simd, Keys::host(addrs), out);
    }

    fn lookup_keys(&self, simd: Simd, keys: Keys<'_, Ipv4>, out: &mut [Option<NextHopId>]) {
        self.answer(simd, keys, out);
    }

    fn memory_usage(&self) -> MemoryUsage {
        let Extent { words, codes } = &self.extent;
        let (words, codes) = (words.load(Relaxed), codes.load(Relaxed));
        let name = |plain, huge, is_huge| if is_huge { huge } else { plain };
        let root = self.root.count();
        let part = |name, count, bytes| MemoryPart { name, count, bytes };
        [
            part("root entries", root, size_of::<u32>() * root),
            part(
                name("words", "words, in huge pages", self.words.is_huge()),
                words,
                size_of::<u32>() * words,
            ),
            part(
                name("codes", "codes, in huge pages", self.codes.is_huge()),
                codes / usize::from(self.fixed.code_bytes),
                codes,
            ),
        ]
        .into()
    }
}

impl<M: Memory> Structure<Ipv4> for Folio4<M> {
    const NAME: &'static str = NAME;
    const BATCHES: bool = true;
    const VECTORS: bool = true;

    #[inline(always)]
    fn lookup_in<L: Lanes>(&self, lanes: L, addr: u32) -> Option<NextHopId> {
        lookup::lookup(lanes, self.view(), addr)
    }

    fn variant(&self) -> String {
        let config = Config {
            code_bytes: Some(self.fixed.code_bytes),
            root_bits: Some(self.fixed.root_bits()),
            spare: None,
            lists: Some(self.plan.lists),
            entries: Some(self.plan.entries),
            flat: Some(self.fixed.single == Single::Flat),
            ahead: Some(self.fixed.ahead),
        };
        config.options().finish()
    }
}

impl Engine<Ipv4> for Folio4 {
    type Config = Config;

    fn compile(rib: &Rib<Ipv4>, config: &Config) -> Result<Self, CompileError> {
        compile(&Machine::here(), rib, config, &|_| Ok(()))
    }

    /// The root, the words and the codes.
    fn reads(&self) -> Vec<usize> {
        let usage = self.memory_usage();
        usage.parts.iter().map(|part| part.bytes).filter(|bytes| *bytes > 0).collect()
    }

    fn live(self) -> LiveEngine<Ipv4> {
        update::live(self)
    }

    fn check(&self, rib: &Rib<Ipv4>) -> Result<(), Corrupt> {
        check::check(self.slices(), None, rib)
    }
}
