//! The account of the pieces of a table, derived from its entries.
//!
//! A compiled table keeps none: only its check and the conversion to a live table need it.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use hashbrown::HashMap;

use super::compile::{CODES, ENTRIES, LIST};
use super::layout::{Entry, Slices, Target};
use crate::engine::folio::pieces::Piece;

/// Pieces and the numbers of entries that lead to them.
#[derive(Debug, Default)]
pub(super) struct Account {
    pub words: HashMap<u32, (Piece, u32)>,
    pub codes: HashMap<u32, (Piece, u32)>,
}

impl Account {
    /// Derives the account of a table. O(entries).
    ///
    /// # Errors
    /// An entry that no table has, in words.
    pub fn of(table: Slices<'_>) -> Result<Self, String> {
        let mut account = Self::default();
        let bits = table.fixed.root_shift as u8;
        let mut pages = Vec::new();
        for alike in table.root.chunk_by(|a, b| a == b) {
            let (entry, count) = (Entry(alike[0]), alike.len() as u32);
            if account.count(table, entry, bits, count)?
                && let Target::Entries { cut, place } = entry.target()
            {
                pages.push((place, cut));
            }
        }
        for (place, cut) in pages {
            let Some((piece, _)) = account.words.get(&place).copied() else { continue };
            let slots = &table.words[place as usize..][..piece.units()];
            for alike in slots.chunk_by(|a, b| a == b) {
                let (entry, count) = (Entry(alike[0]), alike.len() as u32);
                if entry.is_page_of_entries() {
                    return Err(format!("{entry:x?} in a page of entries"));
                }
                account.count(table, entry, cut, count)?;
            }
        }
        Ok(account)
    }

    /// Counts entries of blocks of `2^bits` addresses; whether their piece is new.
    fn count(
        &mut self,
        table: Slices<'_>,
        entry: Entry,
        bits: u8,
        count: u32,
    ) -> Result<bool, String> {
        let refuse = || Err(format!("{entry:x?} for a block of 2^{bits} addresses"));
        let (start, log2, kind) = match entry.target() {
            Target::Answer(code) if code < table.fixed.identity => return Ok(false),
            Target::Answer(_) | Target::None => return refuse(),
            Target::Codes { drop, place } if drop <= bits => (place, bits - drop, CODES),
            Target::Entries { cut, place } if cut < bits => (place, bits - cut, ENTRIES),
            Target::List { place, words } => (place, words.ilog2() as u8, LIST),
            Target::Codes { .. } | Target::Entries { .. } => return refuse(),
        };
        let piece = Piece { start, log2, kind };
        let (pieces, units) = match kind {
            CODES => (&mut self.codes, table.codes.len() / usize::from(table.fixed.code_bytes)),
            _ => (&mut self.words, table.words.len()),
        };
        if start as usize + piece.units() > units {
            return Err(format!("{entry:x?} leads past the end of {units} units"));
        }
        let known = pieces.entry(start).or_insert((piece, 0));
        if known.0 != piece {
            return Err(format!("{piece:?} and {:?}", known.0));
        }
        known.1 += count;
        Ok(known.1 == count)
    }
}
