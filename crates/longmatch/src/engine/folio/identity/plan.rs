//! Chooses the number of bits of the root by a cost model of lookups.

use super::super::plan::gather;
use super::super::survey::Survey;
use super::layout::{LEAST_DEEP, MAX_ROOT, MIN_ROOT};
use crate::mem::LINE;

/// Cycles that each MiB costs a lookup, as it displaces other cached data.
const PER_BYTE: f64 = 0.1 / (1 << 20) as f64;

/// The most bytes of a slot that escapes to a block, as the builder counts them.
const DEEP_SLOT: u64 = 64 + 4 * 256;

/// The bits of the root that cost least.
pub(super) fn root_bits(survey: &Survey<u32>, log2: u8) -> u8 {
    let cost = |bits: &u8| {
        let (root, pages) = (root_bytes(*bits) as f64, page_bytes(survey, *bits, log2) as f64);
        gather(root) + gather(pages) + (root + pages) * PER_BYTE
    };
    let best = (MIN_ROOT..=MAX_ROOT).min_by(|a, b| cost(a).total_cmp(&cost(b)));
    best.unwrap_or(MAX_ROOT)
}

/// Upper bound on the bytes of root and pages, unless many next hops have no code.
pub(super) fn estimate(survey: &Survey<u32>, bits: u8, log2: u8) -> u64 {
    root_bytes(bits) + page_bytes(survey, bits, log2) + 4 * LINE as u64
}

fn root_bytes(bits: u8) -> u64 {
    4 << bits
}

/// The bytes of the pages without sharing.
fn page_bytes(survey: &Survey<u32>, bits: u8, log2: u8) -> u64 {
    let page = |depth: u8| match depth.checked_sub(bits) {
        None | Some(0) => 0,
        Some(_) => 1u64 << (depth.min(LEAST_DEEP) - bits + log2),
    };
    // Starts deeper than that have escapes, with blocks of at most 2^8 answers.
    let deeper: u32 = survey.blocks(LEAST_DEEP).iter().skip(usize::from(LEAST_DEEP) + 1).sum();
    let blocks = (0..).zip(survey.blocks(bits));
    let pages = blocks.map(|(depth, blocks)| u64::from(*blocks) * page(depth)).sum::<u64>();
    // Answers of whole blocks have pages of one code.
    pages
        + (1u64 << (bits + log2)).min(survey.starts.len() as u64 + 1)
        + u64::from(deeper) * DEEP_SLOT
}
