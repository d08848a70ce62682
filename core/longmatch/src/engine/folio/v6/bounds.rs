//! Verifies that every index in the arrays of an image stays inside of them: invariants 1 to 5 of
//! `layout.rs`, as far as memory safety and the end of lookups depend on them.
//!
//! Pages, forks, runs and lower entries are met at most once, so the walk ends, and takes no longer
//! than the table is large.

use hashbrown::HashSet;

use super::super::pieces::Piece;
use super::compile::{MAX_ROOT, MIN_ROOT, SHARED};
use super::layout::{Block, Entry, Kind, MAX_NEXT_HOP, MAX_STEPS, PLACES, Slices};
use super::leaf::{LINE_WORDS, MINI_KEYS, MINI_WORDS};
use super::walk::{CODES, Damage, LINES, MINIS, PAGES, ROOT, VisitingWalk, Visitor};
use crate::engine::kit::image::{ArrayName, DamagedImage};

/// The list of next hops.
pub(super) const HOPS: ArrayName = *b"hop";

fn damaged<T>(array: ArrayName, what: &'static str) -> Result<T, DamagedImage> {
    Err(DamagedImage { array, what })
}

/// Verifies the arrays of a table.
pub(super) fn verify(table: Slices<'_>) -> Result<(), DamagedImage> {
    let fixed = table.fixed;
    let refuse = |what| Err(DamagedImage::parameters(what));
    if !(64 - MAX_ROOT..=64 - MIN_ROOT).contains(&fixed.shift) {
        return refuse("has a root of impossible blocks");
    }
    let end = u128::from(fixed.base) + (u128::from(fixed.last) << fixed.shift);
    if end > 1 << 64 || !fixed.base.is_multiple_of(1 << fixed.shift.max(32)) {
        return refuse("has a root outside of the addresses");
    }
    if !(1..=MAX_STEPS).contains(&fixed.steps) || fixed.log2 > 2 {
        return refuse("has an impossible number of steps or width of codes");
    }
    if table.root.len() != fixed.last as usize + 1 {
        return damaged(ROOT, "has another length than the parameters say");
    }
    if Entry(table.root[fixed.last as usize]).kind() != Kind::Answer {
        return damaged(ROOT, "leads on outside of its blocks");
    }
    let list = if fixed.is_list { 1 << (8 << fixed.log2) } else { 0 };
    if table.hops.len() != list || fixed.is_list && fixed.log2 > 1 {
        return damaged(HOPS, "has another length than codes");
    }
    if table.hops.iter().any(|raw| *raw > MAX_NEXT_HOP) {
        return damaged(HOPS, "has a next hop that is too large");
    }
    for (array, items) in [
        (PAGES, table.pages.len()),
        (CODES, table.codes.len() >> fixed.log2),
        (LINES, table.lines.len() / LINE_WORDS),
        (MINIS, table.minis.len() / MINI_WORDS),
    ] {
        if items > PLACES {
            return damaged(array, "is longer than entries can number");
        }
    }
    // Codes in minis have 16 bits whatever the width.
    let codes = table.minis.as_chunks::<MINI_WORDS>().0.iter().flat_map(|mini| {
        mini[MINI_KEYS..]
            .iter()
            .map(|word| u32::from_le(*word))
            .flat_map(|it| [it & 0xffff, it >> 16])
    });
    if fixed.is_list && codes.max().is_some_and(|code| code as usize >= list) {
        return damaged(MINIS, "has a code that the list does not have");
    }
    let mut walk = VisitingWalk { table, visitor: Bounds { met: HashSet::new() } };
    walk.root().map_err(|Damage { array, what, .. }| DamagedImage { array, what })
}

struct Bounds {
    /// Pieces of pages and lines that only one entry may lead to.
    met: HashSet<(ArrayName, u32)>,
}

impl Visitor for Bounds {
    fn piece(&mut self, array: ArrayName, piece: Piece, block: Block) -> Result<bool, Damage> {
        if piece.kind == SHARED {
            return Ok(false);
        }
        let mut units = piece.start..piece.start + (1 << piece.log2);
        match units.all(|unit| self.met.insert((array, unit))) {
            true => Ok(piece.kind != super::compile::RUN_PIECE),
            false => Err(Damage { array, what: "has two entries to one piece", at: block.first }),
        }
    }

    fn answer(&mut self, _first: u128, _raw: u32) -> Result<(), Damage> {
        Ok(())
    }
}
