//! The plan of a table: the bits of its root, and the bytes that the reads of a list or of a page of
//! entries are worth.
//!
//! A survey of a sample counts what each candidate would read and take; a model of the caches turns
//! the counts into cycles.

use alloc::vec::Vec;

use super::blocks::{Block, Copies, Form, Ranges, Shaper};
use super::layout::{Fixed, MAX_CUT, MAX_ROOT, MIN_CUT, MIN_ROOT, Single, WIDTH};
use super::model::{Machine, ReadCounts};
use crate::engine::folio::numbers::ln;
use crate::mem::LINE;

/// What the builder follows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Plan {
    /// Bits of an address that number the root's entries.
    pub root: u8,
    /// Bytes that a change of next hop may cost to spare a list.
    pub lists: u32,
    /// Bytes that a change of next hop may cost to spare a page of entries.
    pub entries: u32,
    /// log2 of the most codes of a page.
    pub page: u8,
    pub single: Single,
    /// Whether batches prefetch lists.
    pub ahead: bool,
}

/// No list, or no page of entries, where another form is possible.
pub(super) const NONE: u32 = 1_000_000;
/// log2 of the most codes of a page; in larger pages a change would copy too much.
pub(super) const PAGE: u8 = 14;

/// The candidates: what a list and a page of entries are worth.
const WORTH: [(u32, u32); 9] =
    [(0, 4), (4, 4), (8, 8), (32, 4), (64, 0), (128, 16), (NONE, 16), (NONE, 0), (NONE, NONE)];
/// The roots at which all worths are tried.
const FIRST_ROOTS: [u8; 2] = [16, 19];
/// Worths that are tried at every root.
const FINALISTS: usize = 2;
/// The bits of roots of small tables and of all.
const SMALL_ROOTS: [u8; 3] = [8, 10, 12];
const ROOTS: [u8; 7] = [14, 16, 17, 18, 19, 20, 21];
/// Bytes that a plan may take on top of the smallest one.
const SPARE: u32 = 2 << 20;
/// Ranges from which on a table is not small.
const SMALL: usize = 1 << 12;
/// Ranges in a sample.
const SAMPLE: usize = 4 << 10;
/// Bits below the parts of a sample: those of the least root in `ROOTS`, and of larger ones for
/// tables that are dense.
const UNITS: [u8; 3] = [WIDTH - ROOTS[0], WIDTH - ROOTS[1], WIDTH - ROOTS[3]];
/// The fewest parts of a sample of a table that is not dense.
const LEAST_PARTS: usize = 8;

/// What a user has requested.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Request {
    pub root: Option<u8>,
    /// Bytes that the plan may take on top of the smallest one.
    pub spare: Option<u32>,
    pub lists: Option<u32>,
    pub entries: Option<u32>,
    pub flat: Option<bool>,
    pub ahead: Option<bool>,
}

impl Request {
    fn admits(&self, plan: &Plan) -> bool {
        self.root.is_none_or(|root| root == plan.root)
            && self.lists.is_none_or(|lists| lists == plan.lists)
            && self.entries.is_none_or(|entries| entries == plan.entries)
    }

    /// The most bytes of a plan: 1.1 times those of the smallest so far, and some to spare.
    fn most_bytes(&self, tried: &[Scored]) -> f64 {
        let least = tried.iter().map(|it| it.bytes).fold(f64::INFINITY, f64::min);
        1.1 * least + f64::from(self.spare.unwrap_or(SPARE))
    }

    fn worths(&self) -> Vec<(u32, u32)> {
        let mut worths = WORTH.to_vec();
        if let Some(lists) = self.lists {
            worths.iter_mut().for_each(|worth| worth.0 = lists);
        }
        if let Some(entries) = self.entries {
            worths.iter_mut().for_each(|worth| worth.1 = entries);
        }
        worths.sort_unstable();
        worths.dedup();
        worths
    }
}

/// The sizes of blocks whose contents are counted.
pub(super) fn sizes() -> impl Iterator<Item = u8> {
    MIN_CUT..=WIDTH - ROOTS[0]
}

/// A part of a table, in proportion to which it counts.
struct Part<'a> {
    block: Block<'a>,
    weight: f64,
}

/// A candidate and its costs.
#[derive(Clone, Copy)]
struct Scored {
    plan: Plan,
    score: f64,
    bytes: f64,
}

/// Plans tables.
pub(super) struct Planner<'a> {
    pub fixed: Fixed,
    pub all_coded: bool,
    pub copies: &'a Copies,
    pub machine: &'a Machine,
    /// Bytes of the identity codes.
    pub identity_bytes: f64,
}

impl Planner<'_> {
    /// Chooses the plan, and estimates the bytes of the table.
    pub fn plan(&mut self, ranges: &Ranges, request: Request) -> (Plan, u64) {
        let small = ranges.starts.len() < SMALL;
        let (parts, unit) = sample(ranges, small);
        let roots = SMALL_ROOTS.into_iter().filter(|_| small).chain(ROOTS);
        let roots = roots.filter(|root| WIDTH - root <= unit);
        // Where little is spared, only the smallest root may do.
        let least = (small && request.spare.is_some()).then_some(MIN_ROOT);
        let first = least.into_iter().chain(FIRST_ROOTS).filter(|root| WIDTH - root <= unit);
        let only = request.root.map(|root| alloc::vec![root]);
        let roots: Vec<u8> = only.clone().unwrap_or_else(|| roots.collect());
        let first: Vec<u8> = only.unwrap_or_else(|| first.collect());
        let mut tried: Vec<Scored> = Vec::new();
        for root in &first {
            for (lists, entries) in request.worths() {
                self.attempt(&mut tried, request, &parts, (*root, lists, entries));
            }
        }
        let mut worths: Vec<(f64, (u32, u32))> = Vec::new();
        for it in &tried {
            let worth = (it.plan.lists, it.plan.entries);
            match worths.iter_mut().find(|known| known.1 == worth) {
                Some(known) => known.0 = known.0.min(it.score),
                None => worths.push((it.score, worth)),
            }
        }
        worths.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (_, (lists, entries)) in worths.into_iter().take(FINALISTS) {
            for root in roots.iter().filter(|root| !first.contains(root)) {
                self.attempt(&mut tried, request, &parts, (*root, lists, entries));
            }
        }
        let most = request.most_bytes(&tried);
        let fits =
            |it: &&Scored| it.bytes.is_finite() && it.bytes <= most && request.admits(&it.plan);
        let fit = tried.iter().filter(fits);
        let best = fit.min_by(|a, b| a.score.total_cmp(&b.score));
        let bytes = best.map_or(u64::MAX, |it| it.bytes as u64);
        let mut plan = best.map_or_else(|| self.fallback(request), |it| it.plan);
        plan.single = match (plan.single, request.flat) {
            (Single::Branches | Single::Flat, Some(true)) => Single::Flat,
            (Single::Branches | Single::Flat, Some(false)) => Single::Branches,
            (single, _) => single,
        };
        plan.ahead = request.ahead.unwrap_or(plan.ahead);
        (plan, bytes)
    }

    /// Scores a candidate, root and worths, unless its root alone takes too many bytes.
    fn attempt(
        &mut self,
        tried: &mut Vec<Scored>,
        request: Request,
        parts: &[Part<'_>],
        (root, lists, entries): (u8, u32, u32),
    ) {
        if f64::from(4u32 << root) <= request.most_bytes(tried) {
            tried.push(self.score(parts, root, lists, entries));
        }
    }

    /// The plan where no candidate is possible.
    fn fallback(&self, request: Request) -> Plan {
        Plan {
            root: request.root.unwrap_or(MAX_ROOT),
            lists: request.lists.unwrap_or(0),
            entries: request.entries.unwrap_or(4),
            page: PAGE,
            single: Single::Branches,
            ahead: false,
        }
    }

    fn score(&mut self, parts: &[Part<'_>], root: u8, lists: u32, entries: u32) -> Scored {
        debug_assert!((MIN_ROOT..=MAX_ROOT).contains(&root));
        let single = Single::Branches;
        let mut plan = Plan { root, lists, entries, page: PAGE, single, ahead: false };
        self.fixed.root_shift = u32::from(WIDTH - root);
        let shaper = Shaper {
            fixed: &self.fixed,
            plan: &plan,
            copies: self.copies,
            all_coded: self.all_coded,
        };
        let Some(tally) = survey(&shaper, parts) else {
            return Scored { plan, score: f64::INFINITY, bytes: f64::INFINITY };
        };
        let cost = tally.cost(self.machine);
        (plan.single, plan.ahead) = (cost.single, cost.ahead);
        let bytes = tally.bytes() + self.identity_bytes;
        let mib = (bytes / f64::from(1 << 20)).max(1.0);
        let score = ln(cost.batch) + 0.5 * ln(cost.one) + 0.3 * ln(cost.random) + 0.2 * ln(mib);
        Scored { plan, score, bytes }
    }
}

/// A sample of about [`SAMPLE`] ranges, all of a small table; and the bits below its parts, which
/// are the blocks of the least root that it serves.
fn sample(ranges: &Ranges, small: bool) -> (Vec<Part<'_>>, u8) {
    if small {
        let unit = WIDTH - MIN_ROOT;
        return (sample_of(ranges, unit, 1).0, unit);
    }
    let mut unit = UNITS[0];
    let mut step = 1;
    loop {
        let (parts, met) = sample_of(ranges, unit, step);
        let few = parts.len() < LEAST_PARTS;
        if met <= 2 * SAMPLE || few && unit == UNITS[UNITS.len() - 1] {
            return (parts, unit);
        }
        match UNITS.iter().find(|finer| few && **finer < unit) {
            Some(finer) => (unit, step) = (*finer, 1),
            None => step *= (met / SAMPLE).max(2),
        }
    }
}

/// The parts of `2^unit` addresses that each `step`-th start meets, and the number of their starts.
/// Stops when they are too many.
fn sample_of(ranges: &Ranges, unit: u8, step: usize) -> (Vec<Part<'_>>, usize) {
    let starts = &ranges.starts;
    let (mut parts, mut met, mut at) = (Vec::new(), 0, 0);
    // Where a sample ends early, its number of starts is scaled to the whole.
    let most = 16 * SAMPLE;
    while at < starts.len() {
        if met > most {
            return (parts, met * (starts.len() / at).max(1));
        }
        let number = starts[at].at >> unit;
        let from = starts.partition_point(|start| start.at >> unit < number);
        let to = starts.partition_point(|start| start.at >> unit <= number);
        let raw = from.checked_sub(1).map_or(ranges.lowest, |before| starts[before].raw);
        let whole = Block { bits: WIDTH, first: raw, starts: &starts[from..to] };
        // A part is met with a chance of its starts in `step`.
        let weight = (step as f64 / (to - from) as f64).max(1.0);
        parts.extend(whole.parts(unit).map(|(_, block)| Part { block, weight }));
        met += to - from;
        at = to.max(at + 1).next_multiple_of(step);
    }
    (parts, met)
}

/// Counts what a plan would read and take; `None` if it cannot represent the table.
fn survey(shaper: &Shaper<'_>, parts: &[Part<'_>]) -> Option<ReadCounts> {
    let shift = WIDTH - shaper.plan.root;
    let mut tally =
        ReadCounts { root: f64::from(4u32 << shaper.plan.root), ..ReadCounts::default() };
    for Part { block, weight } in parts {
        let mut line = u32::MAX;
        for (number, part) in block.parts(shift.min(block.bits)) {
            let lookups = part.ranges() as f64 * weight;
            if number / 16 != line {
                line = number / 16;
                tally.root_lines += weight;
            }
            tally.lookups += lookups;
            let (_, form) = shaper.best(&part);
            match form? {
                Form::Entries(cut) => {
                    tally.entries += f64::from(4u32 << (part.bits - cut)) * weight;
                    tally.entry_lookups += lookups;
                    tally.entry_lines += lines(&part, cut + 4) * weight;
                    for (_, inner) in part.parts(cut) {
                        let (_, form) = shaper.leaf(&inner);
                        tally.leaf(shaper, &inner, form?, *weight);
                    }
                }
                form => tally.leaf(shaper, &part, form, *weight),
            }
        }
    }
    Some(tally)
}

/// The blocks of `2^bits` addresses that changes are in.
fn lines(block: &Block<'_>, bits: u8) -> f64 {
    let chunks = block.starts.chunk_by(|a, b| a.at >> bits == b.at >> bits);
    chunks.count().max(1) as f64
}

impl ReadCounts {
    fn leaf(&mut self, shaper: &Shaper<'_>, block: &Block<'_>, form: Form, weight: f64) {
        let copies = f64::from(shaper.copies.of_block(block));
        let lookups = block.ranges() as f64 * weight;
        let weight = weight / copies;
        match form {
            Form::Answer | Form::Entries(_) => {}
            Form::Codes(drop) => {
                let bytes = usize::from(shaper.fixed.code_bytes);
                self.codes += (bytes << (block.bits - drop)) as f64 * weight;
                let in_line = (LINE / bytes).ilog2() as u8;
                self.code_lines += lines(block, (drop + in_line).min(31)) * weight;
                self.code_lookups += lookups;
            }
            Form::List => {
                self.lists += 4.0 * block.ranges().next_power_of_two().max(2) as f64 * weight;
                self.list_lookups += lookups;
            }
        }
    }
}

const _: () = assert!(UNITS[2] > MAX_CUT);
