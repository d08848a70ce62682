//! Verifies that every index in the arrays of an image stays inside of them: invariants 1 to 4 of
//! `layout.rs`, as far as the memory safety of lookups depends on them.
//!
//! Each line that an entry leads to is read once, as an inner line or as a leaf, never as both.

use alloc::vec;
use alloc::vec::Vec;

use super::super::root::{PLACES, RootLayout};
use super::layout::{Entry, KEYS, Line, MAX_LINES, SEPARATORS, Slices, escape};
use crate::engine::kit::image::DamagedImage;

/// Mark of lines that no entry leads to. Other marks are depths.
const UNUSED: u8 = 0;

fn damaged<T>(array: [u8; 3], what: &'static str) -> Result<T, DamagedImage> {
    Err(DamagedImage { array, what })
}

/// Verifies the arrays of a table.
pub(super) fn verify(table: Slices<'_>) -> Result<(), DamagedImage> {
    let root = &table.fixed.root;
    if root.last as usize + 1 != table.entries.len() || !matches!(root.bits, 16 | 20) {
        return damaged(*b"roo", "has another length than the parameters say");
    }
    if let RootLayout::Regions(regions) = &root.layout {
        let bits = u32::from(regions.block_bits);
        let most = |place: &u32| (place % PLACES as u32) << bits | ((1 << bits) - 1);
        if regions.places.iter().map(most).max() >= Some(root.last) {
            return damaged(*b"par", "has a region outside of the root");
        }
    }
    if table.lines.len() > MAX_LINES {
        return damaged(*b"lin", "is longer than entries can number");
    }
    depths(table).map(drop)
}

/// The depth of each line that entries lead to: 1 for a leaf. Others, and lines of escapes, have 0.
pub(super) fn depths(table: Slices<'_>) -> Result<Vec<u8>, DamagedImage> {
    let mut walk = Walk { table, depths: vec![UNUSED; table.lines.len()], left: Vec::new() };
    for entry in table.entries {
        walk.entry(Entry(*entry))?;
        walk.finish()?;
    }
    Ok(walk.depths)
}

struct Walk<'a> {
    table: Slices<'a>,
    depths: Vec<u8>,
    /// Lines with a depth that are still to be read.
    left: Vec<u32>,
}

impl Walk<'_> {
    fn entry(&mut self, entry: Entry) -> Result<(), DamagedImage> {
        match entry.depth() {
            0 => Ok(()),
            depth => self.line(depth as u8, entry.number() as usize),
        }
    }

    /// Meets a line of a depth.
    #[inline]
    fn line(&mut self, depth: u8, line: usize) -> Result<(), DamagedImage> {
        match self.depths.get_mut(line) {
            Some(known) if *known == depth => Ok(()),
            Some(known) if *known == UNUSED => {
                *known = depth;
                self.left.push(line as u32);
                Ok(())
            }
            Some(_) => damaged(*b"lin", "has a line of two depths"),
            None => damaged(*b"lin", "ends before a line that an entry leads to"),
        }
    }

    /// Reads the lines that are left.
    fn finish(&mut self) -> Result<(), DamagedImage> {
        while let Some(line) = self.left.pop() {
            let (at, depth) = (line as usize, self.depths[line as usize]);
            let content = self.table.lines[at];
            if depth == 1 {
                self.leaf(at, &content)?;
                continue;
            }
            // A rank counts the separators less than a word, so it never counts one of all ones.
            let base = content.base() as usize;
            for child in base..=base + less_than_ones(&content, SEPARATORS) {
                self.line(depth - 1, child)?;
            }
        }
        Ok(())
    }

    fn leaf(&mut self, at: usize, leaf: &Line) -> Result<(), DamagedImage> {
        let log2 = self.table.form.log2;
        let last = less_than_ones(leaf, KEYS[log2 as usize]);
        let mut codes = (0..=last).map(|i| (i, leaf.code(log2, i)));
        if log2 == 2 {
            return codes.try_for_each(|(_, code)| self.entry(Entry(code)));
        }
        let mut escapes = None;
        for (i, _) in codes.filter(|(_, code)| *code == escape(log2)) {
            let line = match escapes {
                Some(line) => line,
                None => match self.table.lines.get(at + leaf.distance(log2)) {
                    Some(line) => *escapes.insert(*line),
                    None => return damaged(*b"lin", "ends before the escapes of a leaf"),
                },
            };
            self.entry(Entry(line.0[i]))?;
        }
        Ok(())
    }
}

/// Number of keys that are not all ones.
#[inline]
fn less_than_ones(line: &Line, keys: usize) -> usize {
    line.0[..keys].iter().filter(|key| **key != u32::MAX).count()
}
