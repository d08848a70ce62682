//! Verifies the invariants of `layout.rs`, and every answer against the RIB.
//!
//! Walks root and trees in order of addresses: the place of each line is verified before it is
//! read, and each change of next hop compared with the RIB's disjoint ranges.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use hashbrown::HashSet;

use super::super::NAME;
use super::super::check::root_form;
use super::compile::{Block, Codes};
use super::layout::{Entry, KEYS, Line, MAX_NEXT_HOP, SEPARATORS, STAGES, Slices, escape};
use crate::engine::kit::{Corrupt, Expected};
use crate::mem::{Run, tile};
use crate::net::{Family, Ipv6};
use crate::rib::Rib;

/// Checks a table, given the runs of its array of lines that no entry leads to.
pub(super) fn check(
    table: Slices<'_>,
    unused: impl Iterator<Item = Run>,
    rib: &Rib<Ipv6>,
) -> Result<(), Corrupt> {
    let root = &table.fixed.root;
    root_form::<Ipv6>(root, table.entries)?;
    if !matches!(root.bits, 16 | 20) {
        return corrupt(format!("a root of {} bits", root.bits));
    }
    if Entry(table.entries[root.last as usize]).depth() > 0 {
        return corrupt(String::from("the root's last entry leads to a line"));
    }
    book_is_sound(table)?;
    let codes = Codes::of(&table.fixed.book, table.form);
    let runs = unused.collect();
    let mut walk = Walk { table, codes, expected: Expected::new(NAME, rib), runs };
    walk.root()?;
    walk.expected.finish()?;
    tile(walk.runs, table.lines.len())
        .or_else(|line| corrupt(format!("line {line} is in no run or in two")))
}

fn corrupt<T>(what: String) -> Result<T, Corrupt> {
    Err(Corrupt { engine: NAME, what })
}

/// Verifies that codes stand for different next hops.
fn book_is_sound(table: Slices<'_>) -> Result<(), Corrupt> {
    let mut coded = HashSet::new();
    for code in 0..=u8::MAX {
        let raw = table.fixed.book.value(code);
        if raw != 0 && (!table.form.book || u32::from(code) == escape(0) || !coded.insert(raw)) {
            return corrupt(format!("code {code} is next hop {raw}"));
        }
    }
    Ok(())
}

struct Walk<'a> {
    table: Slices<'a>,
    codes: Codes,
    /// The RIB's ranges, read in step with the walk.
    expected: Expected<'a, Ipv6>,
    /// The runs found so far.
    runs: Vec<Run>,
}

/// A line of a tree: its depth, its place, and the words of its addresses.
#[derive(Clone, Copy, Debug)]
struct Node {
    depth: u32,
    line: usize,
    first: u32,
    last: u32,
}

/// A tree: its stage and its addresses.
#[derive(Clone, Copy)]
struct Tree {
    stage: usize,
    block: Block,
}

impl Tree {
    /// The first address of a word.
    fn addr(self, word: u32) -> u128 {
        let below = STAGES[self.stage];
        let above = u128::MAX.checked_shl(below + u32::BITS).unwrap_or(0);
        self.block.first & above | u128::from(word) << below
    }
}

impl Walk<'_> {
    /// Walks the blocks of the root; blocks outside have the last entry.
    fn root(&mut self) -> Result<(), Corrupt> {
        let Slices { entries, fixed, .. } = self.table;
        let root = &fixed.root;
        let below = 128 - u32::from(root.bits);
        let outside = Entry(entries[root.last as usize]);
        let mut at = 0;
        for (index, numbers) in root.stored_ranges() {
            if at < numbers.start {
                self.answer(u128::from(at) << below, outside)?;
            }
            for (number, entry) in numbers.clone().zip(&entries[index..]) {
                let first = u128::from(number) << below;
                self.entry(0, Block::of(first, root.bits), Entry(*entry))?;
            }
            at = numbers.end;
        }
        if at < 1 << root.bits {
            self.answer(u128::from(at) << below, outside)?;
        }
        Ok(())
    }

    fn answer(&mut self, first: u128, entry: Entry) -> Result<(), Corrupt> {
        debug_assert!(entry.raw() <= MAX_NEXT_HOP);
        self.expected.expect(first, entry.raw())
    }

    /// Walks the addresses of an entry. The recursion is as deep as the stages and their trees.
    fn entry(&mut self, stage: usize, block: Block, entry: Entry) -> Result<(), Corrupt> {
        if entry.depth() == 0 {
            return self.answer(block.first, entry);
        }
        if stage == STAGES.len() {
            let addr = Ipv6::addr(block.first);
            return corrupt(format!("{addr}: {entry:x?} leads past the address's end"));
        }
        let (first, last) = block.words(stage);
        let line = entry.number() as usize;
        let node = Node { depth: entry.depth(), line, first, last };
        let tree = Tree { stage, block };
        self.run(tree, node, line, 1)?;
        self.node(tree, node)
    }

    /// Verifies the run of some nodes of a depth, which begins at a line: escapes follow leaves.
    fn run(&mut self, tree: Tree, node: Node, at: usize, count: usize) -> Result<(), Corrupt> {
        let Some(lines) = self.table.lines.get(at..at + count) else {
            return self.damaged(tree, node, "leads outside of the array");
        };
        let mut end = at + count;
        let log2 = self.table.form.log2;
        if node.depth == 1 && log2 < 2 {
            for (line, leaf) in (at..).zip(lines) {
                let codes = 0..=leaf.used(KEYS[log2 as usize]);
                let mut escapes = codes.filter(|i| leaf.code(log2, *i) == escape(log2));
                let distance = if escapes.next().is_some() { end - line } else { 0 };
                if leaf.distance(log2) != distance {
                    return self.damaged(tree, node, "has a wrong distance");
                }
                end += usize::from(distance > 0);
            }
        }
        if end > self.table.lines.len() {
            return self.damaged(tree, node, "has escapes outside of the array");
        }
        self.runs.push(Run { start: at as u32, count: (end - at) as u32 });
        Ok(())
    }

    fn damaged<T>(&self, tree: Tree, node: Node, what: &str) -> Result<T, Corrupt> {
        let addr = Ipv6::addr(tree.block.first);
        corrupt(format!("{addr}: {node:?} of stage {} {what}", tree.stage))
    }

    /// Walks a line whose run is sound.
    fn node(&mut self, tree: Tree, node: Node) -> Result<(), Corrupt> {
        let Node { depth, line, first, last } = node;
        let log2 = self.table.form.log2;
        let keys = if depth == 1 { KEYS[log2 as usize] } else { SEPARATORS };
        let content = self.table.lines[line];
        let used = content.used(keys);
        let key = &content.0[..keys];
        let ascend = key[..used].is_sorted_by(|a, b| a < b);
        let inside = key[..used].iter().all(|key| (first..last).contains(key));
        if !ascend || !inside || key[used..].iter().any(|key| *key != u32::MAX) {
            return self.damaged(tree, node, "has keys out of order");
        }
        if depth == 1 {
            return self.leaf(tree, node, &content, used);
        }
        let base = content.base() as usize;
        let child = |i: usize| Node {
            depth: depth - 1,
            line: base + i,
            first: if i == 0 { first } else { key[i - 1] + 1 },
            last: if i == used { last } else { key[i] },
        };
        self.run(tree, child(0), base, used + 1)?;
        (0..=used).try_for_each(|i| self.node(tree, child(i)))
    }

    fn leaf(&mut self, tree: Tree, node: Node, leaf: &Line, used: usize) -> Result<(), Corrupt> {
        let log2 = self.table.form.log2;
        if (used + 1..=KEYS[log2 as usize]).any(|i| leaf.code(log2, i) != 0) {
            return self.damaged(tree, node, "has codes after the last");
        }
        for i in 0..=used {
            let entry = self.table.entry(node.line, i);
            if self.codes.code(entry) != leaf.code(log2, i) {
                return self.damaged(tree, node, "has an escape for a code");
            }
            let start = if i == 0 { node.first } else { leaf.0[i - 1] + 1 };
            let last = if i == used { node.last } else { leaf.0[i] };
            let first = tree.addr(start);
            if entry.depth() > 0 && start != last {
                return self.damaged(tree, node, "leads on for more than one word");
            }
            self.entry(tree.stage + 1, Block::slot(first, tree.stage), entry)?;
        }
        Ok(())
    }
}
