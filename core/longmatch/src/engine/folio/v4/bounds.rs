//! Verifies that every place in the arrays of an image stays inside of them: invariants 1 to 4 of
//! `layout.rs`, as far as the memory safety of lookups depends on them.
//!
//! One pass over the root and over the pages of entries that it leads to. Codes and lists are not
//! read: a damaged one gives a wrong answer, from inside of the arrays or of the slack behind them.

use alloc::vec;

use super::compile::first_word;
use super::layout::{Entry, LONGEST_LIST, MAX_PLACES, Single, Slices, Target, WORDS_ALIGN};
use crate::engine::kit::image::{DamagedImage, SLACK};

// A list without a word that is at most the key makes a lookup read the word 32 words after its
// beginning: inside of the slack.
const _: () = assert!(2 * LONGEST_LIST * size_of::<u32>() <= SLACK);

fn damaged<T>(array: [u8; 3], what: &'static str) -> Result<T, DamagedImage> {
    Err(DamagedImage { array, what })
}

/// Verifies the arrays of a table with sound parameters.
pub(super) fn verify(table: Slices<'_>) -> Result<(), DamagedImage> {
    let Slices { root, words, codes, fixed } = table;
    let units = codes.len() / usize::from(fixed.code_bytes);
    if root.len() != 1 << fixed.root_bits() {
        return damaged(*b"roo", "has another length than its bits say");
    }
    if words.len() > MAX_PLACES || !words.len().is_multiple_of(1 << WORDS_ALIGN) {
        return damaged(*b"wor", "has a length that no table has");
    }
    if units > MAX_PLACES || units < fixed.identity as usize {
        return damaged(*b"cod", "has a length that no table has");
    }
    // Lookups of a plain table read codes only; and a place that is a patched code is replaced.
    let only_codes = fixed.single == Single::Plain;
    let limits = Limits { words: words.len(), codes: units, first: first_word(fixed), only_codes };
    let bits = fixed.root_shift as u8;
    // Each page of entries is verified once for each number of bits below its slots.
    let mut met = vec![0u8; words.len()];
    for entry in root.iter().map(|entry| Entry(*entry)) {
        if !limits.hold(entry, bits) {
            return damaged(*b"roo", "leads past the last word or code");
        }
        let Target::Entries { cut, place } = entry.target() else { continue };
        let (bit, cuts) = (1 << (cut % 8), &mut met[place as usize]);
        if *cuts & bit != 0 {
            continue;
        }
        *cuts |= bit;
        let slots = words[place as usize..][..1 << (bits - cut)].iter().map(|slot| Entry(*slot));
        if { slots }.any(|slot| slot.is_page_of_entries() || !limits.hold(slot, cut)) {
            return damaged(*b"wor", "leads past the last word or code");
        }
    }
    Ok(())
}

struct Limits {
    words: usize,
    codes: usize,
    /// The first word of a list.
    first: usize,
    only_codes: bool,
}

impl Limits {
    /// Whether what the entry of a block of `2^bits` addresses leads to lies inside of the arrays.
    fn hold(&self, entry: Entry, bits: u8) -> bool {
        let fits = |place: u32, units: usize, all: usize| place as usize + units <= all;
        match entry.target() {
            Target::Answer(code) => fits(code, 1, self.codes),
            Target::Codes { drop, place } => {
                fits(place, 1 << bits.saturating_sub(drop), self.codes)
            }
            Target::Entries { .. } | Target::List { .. } if self.only_codes => false,
            Target::Entries { cut, place } => {
                cut < bits && fits(place, 1 << (bits - cut), self.words)
            }
            Target::List { place, words } => {
                place as usize >= self.first && fits(place, words as usize, self.words)
            }
            Target::None => false,
        }
    }
}
