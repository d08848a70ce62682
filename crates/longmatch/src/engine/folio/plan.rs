//! Chooses the cuts that divide addresses into windows, by a cost model of lookups.
//!
//! A gather costs more the more bytes it may hit (measured on a Zen 5 core, in cycles an address);
//! the model needs to get only the order of plans right. If some address of a group needs a level,
//! the whole group descends it.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::layout::{Level, MAX_WIDTH, PLACE_UNIT};
use super::root::{MAX_REGIONS, Regions};
use super::survey::{MIN_CUT, Survey};
use crate::mem::LINE;
use crate::net::Bits;

/// The cuts, and the form of the root.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Plan {
    /// Bits that number the root's blocks.
    pub root_bits: u8,
    pub root: RootForm,
    pub levels: Box<[Level]>,
    /// Number of levels that suffice for most addresses.
    pub usual_levels: usize,
}

/// Properties of a plan that the options request.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Constraints {
    /// The first cuts; the model chooses those after them.
    pub cuts: Vec<u8>,
    /// The form of the root; `None` lets the model choose.
    pub root: Option<RootForm>,
}

/// Forms of the first table. IPv4 has only the dense one.
///
/// ```
/// use longmatch::engine::folio::{Config, Folio, RootForm};
/// use longmatch::{Engine, Ipv6, NextHopId, Rib, Structure};
/// let mut rib = Rib::<Ipv6>::new();
/// rib.insert("2001:db8::/32".parse()?, NextHopId::new(1).unwrap())?;
/// let config = Config { root: Some(RootForm::Regions), ..Config::default() };
/// let folio: Folio<Ipv6, u16> = Folio::compile(&rib, &config)?;
/// assert!(Structure::variant(&folio).ends_with("regions"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RootForm {
    /// An entry for every block from the first with routes to the last.
    Dense,
    /// As dense, but unwritten where no route is: address space, but hardly memory.
    Sparse,
    /// Entries for the blocks of those /12 that have routes, found by hashing. Another form is used
    /// where there are none or too many.
    Regions,
}

impl RootForm {
    pub(super) const ALL: [Self; 3] = [Self::Dense, Self::Sparse, Self::Regions];

    /// Name among the options.
    ///
    /// ```
    /// use longmatch::engine::folio::RootForm;
    /// assert_eq!(RootForm::Sparse.name(), "sparse");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dense => "dense",
            Self::Sparse => "sparse",
            Self::Regions => "regions",
        }
    }
}

/// Cycles of a gather by the bytes it may hit, as (log2 of the bytes, cycles).
const GATHER: [(f64, f64); 9] = [
    (14.0, 1.2),
    (19.0, 1.3),
    (20.0, 1.45),
    (21.0, 1.8),
    (22.0, 1.95),
    (23.0, 2.0),
    (24.0, 2.65),
    (25.0, 12.0),
    (27.0, 16.0),
];
/// Cycles that each MiB costs a lookup, as it displaces other cached data.
const PER_BYTE: f64 = 0.1 / (1 << 20) as f64;
/// Cycles for a level that hardly any address needs.
const PER_LEVEL: f64 = 1e-4;
/// The share of starts below which a level is expected to be unused.
const RARE: f64 = 0.002;
/// Addresses that descend together.
const GROUP: i32 = 64;
/// The most bits of a fully written root, and of a sparse one.
const MAX_ROOT: u8 = 24;
const MAX_SPARSE_ROOT: u8 = 30;
/// The most entries of a root that is not requested by name. For routes at both ends of the address
/// space a larger one takes GiBs of address space and a long walk.
const MAX_ENTRIES: usize = 1 << 27;
/// Bits of the address within a cache line of the root, and within a memory page.
const LINE_BITS: u8 = 4;
const MEMORY_PAGE_BITS: u8 = 10;
/// Cycles that a sparse root costs for the extra memory pages it is spread over.
const SPARSE: f64 = 0.7;
/// Cycles of finding a region.
const REGIONS: f64 = 0.4;

impl Plan {
    /// Returns the best plan by the model; `None` if no plan satisfies the constraints.
    pub fn new<B: Bits>(
        survey: &Survey<B>,
        constraints: &Constraints,
        code_bytes: usize,
    ) -> Option<Self> {
        let width = usize::from(B::WIDTH);
        // The cheapest way to have a cut at each depth: its cost, and the previous cut.
        let mut best = vec![(f64::INFINITY, 0u8, RootForm::Dense); width + 1];
        let wanted = &constraints.cuts;
        // Regions need at least one, and not too many.
        let fit = (1..=MAX_REGIONS).contains(&survey.regions().len());
        let root = constraints.root.filter(|root| *root != RootForm::Regions || fit);
        for bits in MIN_CUT..=MAX_SPARSE_ROOT.min(B::WIDTH - 1) {
            if wanted.first().is_some_and(|wanted| *wanted != bits) {
                continue;
            }
            for form in RootForm::ALL {
                let cost = root_cost(survey, bits, form);
                let refused = root.is_some_and(|root| root != form)
                    || (wanted.is_empty()
                        && form != RootForm::Regions
                        && survey.span(bits).len() > MAX_ENTRIES);
                if !refused && cost < best[usize::from(bits)].0 {
                    best[usize::from(bits)] = (cost, 0, form);
                }
            }
        }
        for end in MIN_CUT + 1..=B::WIDTH {
            for start in MIN_CUT.max(end.saturating_sub(MAX_WIDTH))..end {
                if !allowed(wanted, start, end) || (start < 64 && end > 64) {
                    continue;
                }
                let cost = best[usize::from(start)].0 + level_cost(survey, start, end, code_bytes);
                if cost < best[usize::from(end)].0 {
                    best[usize::from(end)] = (cost, start, RootForm::Dense);
                }
            }
        }
        // Cuts out of order could be mistaken for rising ones.
        if best[width].0.is_infinite() || !wanted.is_sorted_by(|a, b| a < b) {
            return None;
        }
        let mut levels = Vec::new();
        let mut end = B::WIDTH;
        loop {
            let (_, start, root) = best[usize::from(end)];
            if start == 0 {
                levels.reverse();
                let reach = if B::WIDTH == 32 { 32 } else { end + 32 };
                let usual =
                    |level: &Level| level.end() <= reach && survey.deeper(level.start) > RARE;
                let usual_levels = levels.iter().filter(|level| usual(level)).count().max(1);
                let levels = levels.into();
                return Some(Self { root_bits: end, root, levels, usual_levels });
            }
            levels.push(Level { start, width: end - start });
            end = start;
        }
    }
}

impl Plan {
    /// Upper bound on the bytes of root and pages, unless many next hops have no code.
    pub fn estimate<B: Bits>(&self, survey: &Survey<B>, code_bytes: usize) -> u64 {
        let entries = match self.root {
            RootForm::Regions => Regions::new(survey.regions(), self.root_bits)
                .map_or(0, |regions| survey.regions().len() << regions.block_bits),
            RootForm::Dense | RootForm::Sparse => survey.span(self.root_bits).len(),
        };
        let levels = self.levels.iter();
        let pages =
            levels.map(|it| level_bytes(survey, it.start, it.end(), code_bytes)).sum::<u64>();
        // The root has one extra entry, and the array of pages an extra cache line.
        4 * (entries as u64 + 1) + pages + LINE as u64
    }
}

/// Whether a window from one cut to the next skips none of the requested cuts.
fn allowed(wanted: &[u8], start: u8, end: u8) -> bool {
    let last = wanted.last().copied().unwrap_or(0);
    let is_cut = |cut: u8| cut >= last || wanted.contains(&cut);
    is_cut(start) && is_cut(end) && !wanted.iter().any(|cut| start < *cut && *cut < end)
}

fn root_cost<B: Bits>(survey: &Survey<B>, bits: u8, form: RootForm) -> f64 {
    let all = survey.span(bits).len() as f64 * 4.0;
    // Entries that differ from their neighbours occupy whole units: cache lines, memory pages.
    let touched = |unit_bits: u8| match bits.checked_sub(unit_bits) {
        Some(cut) if cut >= MIN_CUT => {
            let blocks: u32 = survey.blocks(cut).iter().sum();
            f64::from(blocks) * (4u64 << unit_bits) as f64
        }
        _ => all,
    };
    let written = (touched(MEMORY_PAGE_BITS) + survey.covered(bits) * 4.0).min(all);
    match form {
        // IPv4 addresses may be anywhere; few IPv6 addresses are outside the routes.
        RootForm::Dense if bits > MAX_ROOT => f64::INFINITY,
        RootForm::Dense if B::WIDTH == 32 => gather(all) + all * PER_BYTE,
        RootForm::Dense => gather(touched(LINE_BITS)) + all * PER_BYTE,
        _ if B::WIDTH == 32 => f64::INFINITY,
        RootForm::Sparse => gather(written) + SPARSE + written * PER_BYTE,
        RootForm::Regions => match Regions::new(survey.regions(), bits) {
            None => f64::INFINITY,
            Some(_) => gather(touched(LINE_BITS)) + REGIONS + written * PER_BYTE,
        },
    }
}

/// The bytes of a level's pages, without sharing, if all next hops have codes.
fn level_bytes<B: Bits>(survey: &Survey<B>, start: u8, end: u8, code_bytes: usize) -> u64 {
    let page = |depth: u8| match depth {
        depth if depth <= start => 0,
        depth if depth <= end => (1 << (depth - start)).max(PLACE_UNIT) * code_bytes,
        _ => 4 << (end - start),
    };
    let blocks = (0..).zip(survey.blocks(start));
    blocks.map(|(depth, blocks)| u64::from(*blocks) * page(depth) as u64).sum()
}

fn level_cost<B: Bits>(survey: &Survey<B>, start: u8, end: u8, code_bytes: usize) -> f64 {
    let bytes = level_bytes(survey, start, end, code_bytes) as f64;
    // As if there were always a page: later routes may need one.
    let spare = (4u64 << (end - start)) as f64;
    let needed = reached(survey.deeper(start));
    needed * gather(bytes) + (bytes + spare) * PER_BYTE + PER_LEVEL
}

/// Probability that some address of a group belongs to a share of all addresses.
fn reached(share: f64) -> f64 {
    let mut none = 1.0;
    for _ in 0..GROUP {
        none *= 1.0 - share;
    }
    1.0 - none
}

/// Cycles of a gather from a table of this many bytes.
pub(super) fn gather(bytes: f64) -> f64 {
    let mut before = GATHER[0];
    for (log2, cycles) in GATHER {
        let limit = (1u64 << log2 as u32) as f64;
        if bytes <= limit {
            let from = (1u64 << before.0 as u32) as f64;
            let along = if limit > from { ((bytes - from) / (limit - from)).max(0.0) } else { 0.0 };
            return before.1 + (cycles - before.1) * along;
        }
        before = (log2, cycles);
    }
    before.1 + bytes * 1e-7
}
