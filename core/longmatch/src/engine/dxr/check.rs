//! Verifies the invariants of `layout.rs` and `direct.rs`, and all answers.
//!
//! First verifies the position of everything, so that no read leaves an array; then walks the
//! chunks in order of addresses and compares each range with the RIB's.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::NAME;
use super::chunk::chunk_words;
use super::layout::{Chunk, Format, HOP_BITS, MAX_K, MIN_K, Slices, Word};
use crate::engine::kit::Corrupt;
use crate::engine::kit::Expected;
use crate::mem::{Run, tile};
use crate::net::{Bits, Family};
use crate::rib::Rib;

/// Memory that no chunk and no used block occupies.
#[derive(Default)]
pub(super) struct Unused {
    /// Words of the range table.
    pub words: Vec<Run>,
    /// Blocks of the second level.
    pub blocks: Vec<u32>,
}

pub(super) fn check<E: Format>(
    dxr: &Slices<'_, E>,
    unused: Unused,
    rib: &Rib<E::Family>,
) -> Result<(), Corrupt> {
    let Slices { direct, k, hop_bits, .. } = *dxr;
    if !(MIN_K..=MAX_K).contains(&k) || (hop_bits != HOP_BITS && hop_bits != k) {
        return corrupt(format!("K = {k} and next hops of {hop_bits} bits"));
    }
    direct.check(k, &unused.blocks).or_else(corrupt)?;
    physical_chunks(dxr, unused.words)?;
    let mut expected = Expected::new(NAME, rib);
    for (i, entry) in dxr.entries().enumerate() {
        let first = E::Word::from_u128((i as u128) << (E::Family::WIDTH - k));
        if E::size_field(entry) == 0 {
            if E::is_short(entry) {
                return corrupt(format!("chunk {i} is a next hop, and short"));
            }
            expected.expect(first, E::base(entry))?;
            continue;
        }
        walk(dxr, entry, first, &mut expected)?;
    }
    expected.finish()
}

pub(super) fn corrupt<T>(what: String) -> Result<T, Corrupt> {
    Err(Corrupt { engine: NAME, what })
}

/// Verifies that chunks and unused runs tile the range table; chunks must differ.
fn physical_chunks<E: Format>(dxr: &Slices<'_, E>, mut words_of: Vec<Run>) -> Result<(), Corrupt> {
    let end = dxr.ranges.len();
    let mut chunks: BTreeMap<usize, u32> = BTreeMap::new();
    for entry in dxr.entries().filter(|entry| E::size_field(*entry) != 0) {
        let base = E::base(entry) as usize;
        if *chunks.entry(base).or_insert(entry) != entry {
            return corrupt(format!("two entries disagree on the chunk at {base}"));
        }
    }
    let mut distinct = BTreeSet::new();
    for (base, entry) in chunks {
        // The size of the chunk may be in its first word, so that word must exist.
        if base >= end {
            return corrupt(format!("a chunk at {base} of {end}"));
        }
        let words = chunk_words::<E>(dxr.ranges, entry);
        if words > end - base {
            return corrupt(format!("the chunk at {base} has {words} words of {}", end - base));
        }
        words_of.push(Run { start: base as u32, count: words as u32 });
        let format = entry ^ E::entry(E::base(entry), false, 0);
        if !distinct.insert((format, &dxr.ranges[base..][..words])) {
            return corrupt(format!("the chunk at {base} is stored twice"));
        }
    }
    tile(words_of, end)
        .or_else(|word| corrupt(format!("word {word} of {end} is lost, or is in two places")))
}

/// Compares a chunk's ranges with the RIB's. Its addresses begin at `first`; positions are already
/// verified.
fn walk<E: Format>(
    dxr: &Slices<'_, E>,
    entry: u32,
    first: E::Word,
    expected: &mut Expected<'_, E::Family>,
) -> Result<(), Corrupt> {
    let chunk = dxr.chunk(entry);
    if E::XL && E::size_field(entry) == E::XL_MARK && chunk.size <= E::MAX_SIZE {
        return corrupt(format!(
            "{chunk:?} has its size in front, but its size field could hold it"
        ));
    }
    let mut before: Option<(u128, u32)> = None;
    for i in 0..chunk.size {
        let (start, hop) = range(dxr, chunk, i);
        let first_or_later = match before {
            None => start == 0,
            Some((earlier, other)) => start > earlier && hop != other,
        };
        if !first_or_later || start >> (E::Family::WIDTH - dxr.k) != 0 {
            return corrupt(format!(
                "range {i} of {chunk:?}: {start:x} -> {hop} after {before:x?}"
            ));
        }
        before = Some((start, hop));
        expected.expect(first | E::Word::from_u128(start), hop)?;
    }
    let halves = E::Word::halves(dxr.ranges);
    if chunk.short && chunk.size % 2 == 1 && halves[chunk.first + chunk.size] != 0 {
        return corrupt(format!("{chunk:?} is not filled up with zeros"));
    }
    Ok(())
}

/// Returns the start and next hop of a range.
fn range<E: Format>(dxr: &Slices<'_, E>, chunk: Chunk, i: usize) -> (u128, u32) {
    if chunk.short {
        let short = E::Word::halves(dxr.ranges)[chunk.first + i];
        ((short & 0xff00).into(), (short & 0xff).into())
    } else {
        let long = dxr.ranges[chunk.first + i];
        (long.to_u128() >> dxr.hop_bits, long.hop(dxr.hop_bits))
    }
}
