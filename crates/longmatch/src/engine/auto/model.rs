//! The cost model: memory and time of each engine, from the summary of a table.
//!
//! A lookup costs its fixed work, and for each dependent read the work of a step and an access to
//! as many bytes as the read may hit. Nothing else is modelled. The README beside this file has the
//! source of the constants and their error.

use super::summary::Summary;
use super::{AutoGoal, Usage};
use crate::engine::registry::EngineKind;
use crate::simd::Level;

/// One choice of engine and parameters.
pub(super) struct Candidate {
    pub kind: EngineKind,
    pub options: &'static [&'static str],
    costs: &'static Costs,
    lookup: fn(&Summary, &mut Lookup),
}

/// The engines to choose among. Oracles are left out: their lookups take time in proportion to the
/// table.
pub(super) const CANDIDATES: [Candidate; 12] = [
    candidate(EngineKind::Folio, &[], &FOLIO, folio),
    candidate(EngineKind::Poptrie, &[], &POPTRIE, |table, lookup| poptrie(table, 18, lookup)),
    candidate(EngineKind::Poptrie, &["s=16"], &POPTRIE, |table, it| poptrie(table, 16, it)),
    candidate(EngineKind::Poptrie, &["s=12"], &POPTRIE, |table, it| poptrie(table, 12, it)),
    candidate(EngineKind::Dxr, &["d=16"], &DXR, |table, lookup| dxr(table, 16, lookup)),
    candidate(EngineKind::Dxr, &[], &DXR, |table, lookup| dxr(table, 18, lookup)),
    candidate(EngineKind::Dxr, &["d=20"], &DXR, |table, lookup| dxr(table, 20, lookup)),
    candidate(EngineKind::Spider, &[], &SPIDER, spider),
    candidate(EngineKind::Sail, &[], &SAIL, sail),
    candidate(EngineKind::Dir24_8, &[], &DIR24_8, dir24_8),
    candidate(EngineKind::TreeBitmap, &[], &TREE_BITMAP, tree_bitmap),
    candidate(EngineKind::Radix, &[], &RADIX, radix),
];

const fn candidate(
    kind: EngineKind,
    options: &'static [&'static str],
    costs: &'static Costs,
    lookup: fn(&Summary, &mut Lookup),
) -> Candidate {
    Candidate { kind, options, costs, lookup }
}

impl Candidate {
    /// Predicts the cycles of a lookup and the bytes.
    pub fn estimate(&self, table: &Summary, goal: &AutoGoal) -> (f64, f64) {
        let costs = self.costs;
        let (work, step) = match goal.usage {
            Usage::One => costs.one,
            Usage::Batch => match goal.level() {
                Level::Portable | Level::Scalar => costs.scalar,
                Level::Avx2 => costs.avx2,
                Level::Avx512 => costs.avx512,
            },
        };
        let access = match goal.usage {
            Usage::One => LATENCY,
            Usage::Batch => THROUGHPUT,
        };
        let step = if table.width == 128 { step * WIDE } else { step };
        let mut lookup = Lookup { step, access, cycles: work, bytes: 0.0 };
        (self.lookup)(table, &mut lookup);
        (lookup.cycles + lookup.bytes * PER_BYTE, lookup.bytes)
    }
}

/// Cycles of an engine without its memory accesses: `(of a lookup, of each step)`.
struct Costs {
    /// In batches, by level.
    scalar: (f64, f64),
    avx2: (f64, f64),
    avx512: (f64, f64),
    /// One address at a time.
    one: (f64, f64),
}

const FOLIO: Costs =
    Costs { scalar: (1.0, 3.5), avx2: (0.3, 0.5), avx512: (0.3, 0.2), one: (15.0, 14.0) };
const POPTRIE: Costs =
    Costs { scalar: (0.0, 3.5), avx2: (0.0, 3.5), avx512: (0.0, 2.0), one: (20.0, 14.0) };
const DXR: Costs =
    Costs { scalar: (4.0, 4.0), avx2: (1.0, 2.0), avx512: (1.0, 1.2), one: (25.0, 9.0) };
const SPIDER: Costs =
    Costs { scalar: (2.0, 5.0), avx2: (0.5, 0.3), avx512: (0.5, 0.3), one: (50.0, 25.0) };
const SAIL: Costs =
    Costs { scalar: (3.0, 2.0), avx2: (2.0, 1.0), avx512: (1.5, 0.5), one: (20.0, 20.0) };
const DIR24_8: Costs =
    Costs { scalar: (1.0, 2.0), avx2: (0.5, 1.0), avx512: (0.5, 0.5), one: (0.0, 5.0) };
const TREE_BITMAP: Costs =
    Costs { scalar: (0.0, 16.0), avx2: (0.0, 16.0), avx512: (0.0, 16.0), one: (0.0, 14.0) };
const RADIX: Costs =
    Costs { scalar: (0.0, 8.0), avx2: (0.0, 8.0), avx512: (0.0, 8.0), one: (0.0, 4.0) };

/// Factor of a step's cost with addresses of 128 bits.
const WIDE: f64 = 1.5;
/// Cycles that each byte costs a lookup by displacing other cached data.
const PER_BYTE: f64 = 0.06 / MIB;

const KIB: f64 = 1024.0;
const MIB: f64 = 1024.0 * KIB;

/// Cycles of one of many independent reads, by the bytes they spread over.
const THROUGHPUT: &[(f64, f64)] = &[
    (512.0 * KIB, 1.25),
    (MIB, 1.45),
    (2.0 * MIB, 1.8),
    (8.0 * MIB, 2.0),
    (16.0 * MIB, 2.65),
    (32.0 * MIB, 12.0),
    (128.0 * MIB, 16.0),
    (1024.0 * MIB, 40.0),
];
/// Cycles of a read that the next read depends on, by the bytes it may hit.
const LATENCY: &[(f64, f64)] = &[
    (32.0 * KIB, 5.0),
    (512.0 * KIB, 14.0),
    (MIB, 16.0),
    (4.0 * MIB, 32.0),
    (8.0 * MIB, 48.0),
    (16.0 * MIB, 70.0),
    (32.0 * MIB, 130.0),
    (128.0 * MIB, 350.0),
    (1024.0 * MIB, 450.0),
];

/// Returns the cycles for a number of bytes, interpolated between two entries.
fn along(table: &[(f64, f64)], bytes: f64) -> f64 {
    let mut before = (0.0, table[0].1);
    for (limit, cycles) in table.iter().copied() {
        if bytes <= limit {
            return before.1 + (cycles - before.1) * (bytes - before.0) / (limit - before.0);
        }
        before = (limit, cycles);
    }
    before.1
}

/// Sum over the reads of a typical lookup of a routed address.
pub(super) struct Lookup {
    step: f64,
    access: &'static [(f64, f64)],
    cycles: f64,
    bytes: f64,
}

impl Lookup {
    /// Adds `times` dependent reads of an array.
    fn reads(&mut self, times: f64, bytes: f64) {
        self.bytes += bytes;
        self.cycles += times * (self.step + along(self.access, bytes));
    }

    /// Adds steps that only read memory that was read before.
    fn steps(&mut self, times: f64) {
        self.cycles += times * (self.step + self.access[0].1);
    }
}

fn power(bits: u8) -> f64 {
    (1u64 << bits) as f64
}

/// The cuts from `from` on in steps of `stride`, as long as any start is deeper.
fn cuts(table: &Summary, from: u8, stride: u8) -> impl Iterator<Item = u8> {
    (from..table.width).step_by(stride.into()).take_while(|cut| table.deeper(*cut) > 0)
}

/// A root, then pages down to /24 in IPv4; in IPv6 branch pages before them. The cuts are those
/// that Folio chose for tables of such sizes; its grain saves half of a page's slots.
fn folio(table: &Summary, lookup: &mut Lookup) {
    let code = match table.max_next_hop {
        0..=255 => 1.0,
        256..=0xffff => 2.0,
        _ => 4.0,
    };
    let page = |cut: u8, end: u8| table.inner(cut) * power(end - cut) * code / 2.0;
    let branches = |cut: u8, end: u8| table.inner(cut) * power(end - cut) * 4.0;
    if table.width == 32 {
        let root = 12 + table.routes.max(1).ilog10().min(5) as u8;
        lookup.reads(1.0, power(root) * 4.0);
        lookup.reads(table.share_deeper(root), page(root, 24));
        lookup.reads(table.share_deeper(24), branches(24, 32));
    } else {
        let (first, others): (u8, &[u8]) = match table.starts {
            0..100 => (22, &[34]),
            100..20_000 => (30, &[38]),
            _ => (29, &[34, 39]),
        };
        lookup.reads(1.0, (table.inner(18) * 16.0 * KIB).min(2.0 * MIB));
        let mut cut = first;
        for end in others {
            lookup.reads(table.share_deeper(cut), branches(cut, *end));
            cut = *end;
        }
        lookup.reads(table.share_deeper(cut), page(cut, 48));
        for cut in cuts(table, 48, 8) {
            lookup.reads(table.share_deeper(cut), branches(cut, cut + 8));
        }
    }
}

/// Direct pointing, internal nodes of 24 bytes, and a leaf for nearly every start.
fn poptrie(table: &Summary, s: u8, lookup: &mut Lookup) {
    lookup.reads(1.0, power(s) * 4.0);
    for cut in cuts(table, s, 6) {
        lookup.reads(table.share_deeper(cut), table.inner(cut) * 24.0);
    }
    let leaves = f64::from(table.deeper(s)) * table.hop_bytes(0xffff);
    lookup.reads(table.share_deeper(s), leaves);
}

/// The direct table, then the binary search of a chunk of typical length. Once one cache line is
/// left, the steps read that line only.
fn dxr(table: &Summary, d: u8, lookup: &mut Lookup) {
    lookup.reads(1.0, power(d) * 4.0);
    let range = match (table.width, table.max_next_hop) {
        (32, 0..=SHORT_HOPS) => 2.0,
        (32, _) => 4.0,
        _ => 16.0,
    };
    let (ranges, chunks) = (f64::from(table.deeper(d)), table.inner(d));
    let usual = ranges / chunks.max(1.0);
    let lines = halvings(usual * range / LINE);
    let share = table.share_deeper(d);
    lookup.reads((lines + 1.0) * share, (ranges + chunks) * range);
    lookup.steps((halvings(usual) - lines) * share);
}

/// Up to this next hop most of DXR's chunks are short, with none above 255.
const SHORT_HOPS: u32 = 511;
/// Bytes of a cache line.
const LINE: f64 = 64.0;

/// Number of halvings until one is left.
fn halvings(of: f64) -> f64 {
    f64::from((of as u32).max(1).ilog2())
}

/// Direct pointing, then a row of 256 entries for each octet.
fn spider(table: &Summary, lookup: &mut Lookup) {
    let rows: f64 = cuts(table, 16, 8).map(|cut| table.inner(cut)).sum();
    let entry = if table.max_next_hop <= 0xffff && rows <= 65_279.0 { 4.0 } else { 8.0 };
    lookup.reads(1.0, power(16) * entry);
    for cut in cuts(table, 16, 8) {
        lookup.reads(table.share_deeper(cut), table.inner(cut) * 256.0 * entry);
    }
}

/// BCN16, then BN24 with C24 beside it, which only routes below /24 need, then N32.
fn sail(table: &Summary, lookup: &mut Lookup) {
    lookup.reads(1.0, power(16) * 2.0);
    lookup.reads(table.share_deeper(16), table.inner(16) * 256.0 * 2.0);
    lookup.reads(table.share_deeper(24), table.inner(16) * 256.0 * 4.0);
    lookup.reads(table.share_deeper(24), table.inner(24) * 256.0 * 2.0);
}

/// `tbl24`, then groups of 256 entries.
fn dir24_8(table: &Summary, lookup: &mut Lookup) {
    let groups: f64 = cuts(table, 24, 8).map(|cut| table.inner(cut)).sum();
    let entry = if groups <= 32_768.0 { table.hop_bytes(32_767) } else { 4.0 };
    lookup.reads(1.0, power(24) * entry);
    for cut in cuts(table, 24, 8) {
        lookup.reads(table.share_deeper(cut), table.inner(cut) * 256.0 * entry);
    }
}

/// Nodes of 24 bytes that each consume 6 bits, and a result for each route.
fn tree_bitmap(table: &Summary, lookup: &mut Lookup) {
    for cut in cuts(table, 0, 6) {
        lookup.reads(table.share_deeper(cut), table.inner(cut) * 24.0);
    }
    lookup.reads(1.0, table.routes as f64 * table.hop_bytes(0xffff));
}

/// Nodes of 12 bytes: one for each bit of a path, all in one array.
fn radix(table: &Summary, lookup: &mut Lookup) {
    let (mut nodes, mut depth) = (table.routes as f64, 1.0);
    for cut in cuts(table, 0, 1) {
        nodes += table.inner(cut);
        depth += table.share_deeper(cut);
    }
    lookup.reads(depth, nodes * 12.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_cost_more_with_more_bytes() {
        for access in [THROUGHPUT, LATENCY] {
            let sizes = (0..36).map(|log2| (1u64 << log2) as f64);
            let cycles: Vec<f64> = sizes.map(|bytes| along(access, bytes)).collect();
            assert!(cycles.is_sorted() && cycles[0] > 0.0, "{cycles:?}");
            for (bytes, cycles) in access.iter().copied() {
                assert!((along(access, bytes) - cycles).abs() < 1e-9);
            }
        }
        let between = along(THROUGHPUT, 24.0 * MIB);
        assert!((between - (2.65 + 12.0) / 2.0).abs() < 1e-9, "{between}");
    }
}
