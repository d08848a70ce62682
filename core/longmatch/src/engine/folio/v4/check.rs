//! Verifies the invariants of `layout.rs`, and every answer against the RIB.
//!
//! First verifies the position of everything, so that no read leaves an array; then walks the table
//! in order of addresses, and compares each change of next hop with the RIB's disjoint ranges.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use hashbrown::{HashMap, HashSet};

use super::account::Account;
use super::compile::{first_word, identity_units};
use super::layout::{
    CODES_ALIGN, Entry, MAX_PLACES, MAX_ROOT, MIN_ROOT, PATCHES, Single, Slices, Target,
    WORDS_ALIGN, code_mask,
};
use crate::engine::folio::NAME;
use crate::engine::folio::pieces::Piece;
use crate::engine::kit::{Corrupt, Expected};
use crate::mem::{Run, tile};
use crate::net::Ipv4;
use crate::rib::Rib;

/// What the writer of a live table knows of an array.
pub(super) struct Known {
    /// Pieces and the numbers of their references.
    pub pieces: Vec<(Piece, u32)>,
    /// Pieces that readers may still reach, and free ones.
    pub others: Vec<Piece>,
}

/// The writer's accounts of words and codes.
pub(super) type Accounts = [Known; 2];

/// Verifies a table; one that nothing changes has no accounts.
pub(super) fn check(
    table: Slices<'_>,
    accounts: Option<&Accounts>,
    rib: &Rib<Ipv4>,
) -> Result<(), Corrupt> {
    arrays_fit(table)?;
    let account = Account::of(table).or_else(corrupt)?;
    if table.fixed.single == Single::Plain && !account.words.is_empty() {
        return corrupt(format!("{} lists and pages in a plain table", account.words.len()));
    }
    let unit = usize::from(table.fixed.code_bytes);
    let arrays = [
        (&account.words, WORDS_ALIGN, first_word(table.fixed), table.words.len()),
        (&account.codes, CODES_ALIGN, identity_units(table.fixed), table.codes.len() / unit),
    ];
    for (i, (pieces, align, first, units)) in arrays.into_iter().enumerate() {
        let aligned = |piece: &Piece| {
            piece.start.is_multiple_of(1 << piece.log2.min(align)) && piece.start as usize >= first
        };
        if let Some((piece, _)) = pieces.values().find(|(piece, _)| !aligned(piece)) {
            return corrupt(format!("{piece:?} is at no place of its kind"));
        }
        match accounts {
            Some(accounts) => agree(pieces, &accounts[i], first, units)?,
            None => apart(pieces)?,
        }
    }
    if accounts.is_none() {
        contents_differ(table, &account)?;
    }
    let mut walk = Walk { table, expected: Expected::new(NAME, rib) };
    let bits = table.fixed.root_shift as u8;
    let mut block = 0u32;
    for alike in table.root.chunk_by(|a, b| a == b) {
        // Blocks of one answer are one range.
        let blocks = if let Target::Answer(_) = Entry(alike[0]).target() { 1 } else { alike.len() };
        for i in 0..blocks as u32 {
            walk.entry(Entry(alike[0]), (block + i) << bits, bits)?;
        }
        block += alike.len() as u32;
    }
    walk.expected.finish()
}

fn corrupt<T>(what: String) -> Result<T, Corrupt> {
    Err(Corrupt { engine: NAME, what })
}

/// Verifies the lengths of the arrays and what never changes.
fn arrays_fit(table: Slices<'_>) -> Result<(), Corrupt> {
    let Slices { root, words, codes, fixed } = table;
    let bits = fixed.root_bits();
    if !(MIN_ROOT..=MAX_ROOT).contains(&bits) || root.len() != 1 << bits {
        return corrupt(format!("{} entries of a root of {bits} bits", root.len()));
    }
    let unit = usize::from(fixed.code_bytes);
    let masks = (fixed.below_root, fixed.code_mask);
    if !(1..=4).contains(&unit) || masks != (u32::MAX >> bits, code_mask(fixed.code_bytes)) {
        return corrupt(format!("masks {masks:x?} for a root of {bits} bits and {unit} bytes"));
    }
    if !(1..=32).contains(&fixed.hop_bits) || fixed.identity == 0 {
        return corrupt(format!("next hops of {} bits in lists", fixed.hop_bits));
    }
    let units = codes.len() / unit;
    if !words.len().is_multiple_of(1 << WORDS_ALIGN) || words.len().max(units) > MAX_PLACES {
        return corrupt(format!("{} words, {units} codes", words.len()));
    }
    let identity = codes.chunks(unit).take(fixed.identity as usize);
    if let Some((code, _)) = (0..).zip(identity).find(|(code, bytes)| number(bytes) != *code) {
        return corrupt(format!("the code at place {code} is another"));
    }
    let patches = fixed.patches.pairs();
    let distinct: HashSet<u32> = patches.iter().flat_map(|(code, hop)| [*code, *hop]).collect();
    let narrow = |(code, hop): &(u32, u32)| (1..256).contains(code) && *hop > 255;
    let sound = patches.is_empty() || unit == 1 && patches.len() <= PATCHES;
    if !sound || distinct.len() != 2 * patches.len() || !patches.iter().all(narrow) {
        return corrupt(format!("patches {patches:?}"));
    }
    let hops = (0..).zip(*fixed.patches.hops());
    match { hops }.find(|(code, hop)| fixed.decode(*code) != *hop) {
        Some((code, hop)) => corrupt(format!("next hop {hop} of code {code}")),
        None => Ok(()),
    }
}

/// The number that a code's bytes are.
fn number(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// Verifies that a writer's account is right, and that it covers the array.
fn agree(
    pieces: &HashMap<u32, (Piece, u32)>,
    known: &Known,
    first: usize,
    units: usize,
) -> Result<(), Corrupt> {
    for (piece, references) in &known.pieces {
        if pieces.get(&piece.start) != Some(&(*piece, *references)) {
            let met = pieces.get(&piece.start);
            return corrupt(format!("{piece:?} with {references} references is met as {met:?}"));
        }
    }
    if pieces.len() != known.pieces.len() {
        return corrupt(format!("{} pieces, {} in the account", pieces.len(), known.pieces.len()));
    }
    let all = known.pieces.iter().map(|(piece, _)| piece).chain(&known.others);
    let run = |piece: &Piece| Run { start: piece.start, count: piece.units() as u32 };
    let mut runs: Vec<Run> = all.map(run).collect();
    runs.push(Run { start: 0, count: first as u32 });
    let tiled = tile(runs, units);
    tiled.or_else(|at| corrupt(format!("the pieces do not cover unit {at} of {units} once")))
}

/// Verifies that pieces do not overlap.
fn apart(pieces: &HashMap<u32, (Piece, u32)>) -> Result<(), Corrupt> {
    let mut pieces: Vec<Piece> = pieces.values().map(|(piece, _)| *piece).collect();
    pieces.sort_unstable();
    let overlap =
        |pair: &&[Piece]| pair[0].start as usize + pair[0].units() > pair[1].start as usize;
    match pieces.windows(2).find(overlap) {
        Some(pair) => corrupt(format!("{pair:?} overlap")),
        None => Ok(()),
    }
}

/// Verifies that no two pieces of a kind have the same content.
fn contents_differ(table: Slices<'_>, account: &Account) -> Result<(), Corrupt> {
    let unit = usize::from(table.fixed.code_bytes);
    let mut words = HashSet::new();
    for (piece, _) in account.words.values() {
        let content = &table.words[piece.start as usize..][..piece.units()];
        if !words.insert((piece.kind, content)) {
            return corrupt(format!("{piece:?} is stored twice"));
        }
    }
    let mut codes = HashSet::new();
    for (piece, _) in account.codes.values() {
        let content = &table.codes[piece.start as usize * unit..][..piece.units() * unit];
        if !codes.insert(content) {
            return corrupt(format!("{piece:?} is stored twice"));
        }
    }
    Ok(())
}

struct Walk<'a> {
    table: Slices<'a>,
    /// The RIB's ranges, read in step with the walk.
    expected: Expected<'a, Ipv4>,
}

impl Walk<'_> {
    /// Compares the answers of an entry for the block of `2^bits` addresses from `first` on.
    fn entry(&mut self, entry: Entry, first: u32, bits: u8) -> Result<(), Corrupt> {
        match entry.target() {
            Target::Answer(code) => self.expected.expect(first, self.table.fixed.decode(code)),
            Target::Codes { drop, place } => self.codes(place, first, drop, bits - drop),
            Target::Entries { cut, place } => {
                let slots = &self.table.words[place as usize..][..1 << (bits - cut)];
                for (number, slot) in (0..).zip(slots) {
                    self.entry(Entry(*slot), first | number << cut, cut)?;
                }
                Ok(())
            }
            Target::List { place, words } => self.list(place, words, first, bits),
            Target::None => corrupt(format!("{entry:x?} leads nowhere")),
        }
    }

    fn codes(&mut self, place: u32, first: u32, drop: u8, log2: u8) -> Result<(), Corrupt> {
        let unit = usize::from(self.table.fixed.code_bytes);
        let codes = &self.table.codes[place as usize * unit..][..unit << log2];
        let mut slot = 0u32;
        for alike in codes.chunks(unit).collect::<Vec<_>>().chunk_by(|a, b| a == b) {
            let hop = self.table.fixed.decode(number(alike[0]));
            self.expected.expect(first | slot << drop, hop)?;
            slot += alike.len() as u32;
        }
        Ok(())
    }

    fn list(&mut self, place: u32, words: u32, first: u32, bits: u8) -> Result<(), Corrupt> {
        let fixed = self.table.fixed;
        let list = &self.table.words[place as usize..][..words as usize];
        let refuse = |what: &str| corrupt(format!("the list at {place} {what}: {list:x?}"));
        if !fixed.lists_in(bits) {
            return refuse("has too few bits for an address");
        }
        let addr = |word: u32| word.checked_shr(fixed.hop_bits).unwrap_or(0);
        let Some(last) = list.iter().position(|word| addr(*word) == 0) else {
            return refuse("has no lowest address");
        };
        if list[last + 1..].iter().any(|word| *word != 0)
            || (last + 1).next_power_of_two().max(2) != list.len()
        {
            return refuse("has words behind its last one");
        }
        let low = ((1u64 << fixed.hop_bits) - 1) as u32;
        let mut before = None;
        for word in list[..=last].iter().rev() {
            let (at, hop) = (addr(*word), word & low);
            if before.is_some_and(|(other, _)| other >= at) || u64::from(at) >= 1 << bits {
                return refuse("does not descend");
            }
            if before.is_some_and(|(_, other)| other == hop) {
                return refuse("repeats a next hop");
            }
            before = Some((at, hop));
            self.expected.expect(first | at, hop)?;
        }
        Ok(())
    }
}
