//! Verifies the invariants of `layout.rs`, and every answer against the RIB.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use hashbrown::{HashMap, HashSet};

use super::super::NAME;
use super::super::pieces::Piece;
use super::bounds;
use super::compile::SHARED;
use super::layout::{Block, MAX_NEXT_HOP, Slices};
use super::leaf::{LINE_WORDS, MINI_WORDS};
use super::walk::{CODES, Damage, LINES, MINIS, PAGES, VisitingWalk, Visitor};
use crate::engine::kit::image::ArrayName;
use crate::engine::kit::{Corrupt, Expected};
use crate::mem::{Run, tile};
use crate::net::{Family, Ipv6};
use crate::rib::Rib;

/// What the write side of a table knows of an array: its pieces with their numbers of references,
/// and those that no entry leads to.
pub(super) struct Account {
    pub array: ArrayName,
    pub pieces: Vec<(Piece, u32)>,
    pub unused: Vec<Piece>,
}

fn corrupt<T>(what: String) -> Result<T, Corrupt> {
    Err(Corrupt { engine: NAME, what })
}

/// Verifies a table, and the accounts of its write side if there is one.
pub(super) fn check(
    table: Slices<'_>,
    accounts: Option<&[Account]>,
    rib: &Rib<Ipv6>,
) -> Result<(), Corrupt> {
    if let Err(damage) = bounds::verify(table) {
        return corrupt(format!("{damage}"));
    }
    let mut raws: Vec<u32> = table.hops.iter().copied().filter(|raw| *raw != 0).collect();
    raws.sort_unstable();
    if raws.windows(2).any(|pair| pair[0] == pair[1]) || raws.last() > Some(&MAX_NEXT_HOP) {
        return corrupt("the list has a next hop twice, or one that is too large".into());
    }
    let visitor = Check { expected: Expected::new(NAME, rib), met: HashMap::new(), wrong: None };
    let mut walk = VisitingWalk { table, visitor };
    let walked = walk.root();
    let Check { mut expected, met, wrong } = walk.visitor;
    if let Err(Damage { array, what, at }) = walked {
        let array = array.escape_ascii();
        let what = || format!("{}: the array '{array}' {what}", Ipv6::addr(at));
        return wrong.map_or_else(|| corrupt(what()), Err);
    }
    expected.finish()?;
    contents_differ(table, &met)?;
    match accounts {
        Some(accounts) => accounts.iter().try_for_each(|account| agree(table, &met, account)),
        None => [PAGES, CODES, LINES, MINIS].into_iter().try_for_each(|array| apart(&met, array)),
    }
}

/// The pieces of each array that entries lead to, and the number of these entries.
type Met = HashMap<(ArrayName, Piece), u32>;

struct Check<'r> {
    expected: Expected<'r, Ipv6>,
    met: Met,
    wrong: Option<Corrupt>,
}

impl Visitor for Check<'_> {
    fn piece(&mut self, array: ArrayName, piece: Piece, _block: Block) -> Result<bool, Damage> {
        *self.met.entry((array, piece)).or_default() += 1;
        Ok(true)
    }

    fn answer(&mut self, first: u128, raw: u32) -> Result<(), Damage> {
        self.expected.expect(first, raw).map_err(|corrupt| {
            self.wrong = Some(corrupt);
            Damage { array: *b"   ", what: "has a wrong answer", at: first }
        })
    }
}

/// The items of a piece that is shared, in bytes.
fn content(table: Slices<'_>, array: ArrayName, piece: Piece) -> Vec<u8> {
    let words = |words: &[u32], unit: usize| {
        let words = &words[unit * piece.start as usize..][..unit << piece.log2];
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    };
    match array {
        LINES => words(table.lines, LINE_WORDS),
        MINIS => words(table.minis, MINI_WORDS),
        _ => {
            let log2 = table.fixed.log2;
            table.codes[(piece.start as usize) << log2..][..1 << piece.log2 << log2].to_vec()
        }
    }
}

/// Verifies that no two shared pieces have the same content.
fn contents_differ(table: Slices<'_>, met: &Met) -> Result<(), Corrupt> {
    let mut contents = HashSet::new();
    for (array, piece) in met.keys().filter(|(_, piece)| piece.kind == SHARED) {
        if !contents.insert((*array, content(table, *array, *piece))) {
            return corrupt(format!("{piece:?} of '{}' is stored twice", array.escape_ascii()));
        }
    }
    Ok(())
}

/// The units of pieces.
fn runs(pieces: impl Iterator<Item = Piece>) -> Vec<Run> {
    pieces.map(|piece| Run { start: piece.start, count: 1 << piece.log2 }).collect()
}

/// Verifies that the pieces of an array do not overlap.
fn apart(met: &Met, array: ArrayName) -> Result<(), Corrupt> {
    let mut runs = runs(met.keys().filter(|(of, _)| *of == array).map(|(_, piece)| *piece));
    runs.sort_unstable();
    match runs.windows(2).find(|pair| pair[0].end() > pair[1].start.into()) {
        Some(pair) => corrupt(format!("{pair:?} of '{}' overlap", array.escape_ascii())),
        None => Ok(()),
    }
}

/// Verifies that an account has the pieces that entries lead to, and that these and the unused ones
/// tile the array.
fn agree(table: Slices<'_>, met: &Met, account: &Account) -> Result<(), Corrupt> {
    let Account { array, pieces, unused } = account;
    let name = array.escape_ascii();
    let count = met.keys().filter(|(of, _)| of == array).count();
    if count != pieces.len() {
        return corrupt(format!("{} pieces of '{name}', entries lead to {count}", pieces.len()));
    }
    for (piece, references) in pieces {
        let found = met.get(&(*array, *piece)).copied().unwrap_or(0);
        if found != *references {
            return corrupt(format!("{piece:?} of '{name}': {references} entries, not {found}"));
        }
    }
    let len = match *array {
        PAGES => table.pages.len(),
        CODES => table.codes.len() >> table.fixed.log2,
        LINES => table.lines.len() / LINE_WORDS,
        _ => table.minis.len() / MINI_WORDS,
    };
    let all = pieces.iter().map(|(piece, _)| *piece).chain(unused.iter().copied());
    let tiled = tile(runs(all), len);
    tiled.or_else(|at| corrupt(format!("the pieces of '{name}' do not cover {at} once")))
}
