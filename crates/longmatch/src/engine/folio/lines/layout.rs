//! The arrays of ranked lines and the bits in them.

use alloc::vec::Vec;
use core::marker::PhantomData;

use super::super::book::Book;
use super::super::layout::{Code, CodeForm};
use super::super::root::Root;
use crate::mem::{FrozenMemory, Items, Memory, Plain, Readable, Run};

/// A word that is an answer, or leads to a tree of lines. Zero is an answer: no route.
///
/// ```text
///   31    29 28                                   0
///  +--------+--------------------------------------+
///  | depth  | next hop, or number of a line        |
///  +--------+--------------------------------------+
///  depth  0: an answer, whose next hop is 0 where there is no route
///         1: the line is a leaf
///         d: the line is an inner line, whose children have depth d - 1
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub(super) struct Entry(pub u32);

/// Bits of an entry below the depth.
pub(super) const LINE_BITS: u32 = 29;
/// The most lines: entries number them.
pub(super) const MAX_LINES: usize = 1 << LINE_BITS;
/// The greatest next hop that an entry holds.
pub(super) const MAX_NEXT_HOP: u32 = (1 << LINE_BITS) - 1;
/// The greatest depth. A tree has up to 16^6 leaves, 8 codes or more in each: a table whose tree
/// does not suffice has some 10^8 routes in one block.
pub(super) const MAX_DEPTH: u32 = 7;

const _: () = assert!(MAX_DEPTH == u32::MAX >> LINE_BITS);

impl Entry {
    pub fn answer(raw: u32) -> Self {
        debug_assert!(raw <= MAX_NEXT_HOP);
        Self(raw)
    }

    pub fn line(depth: u32, line: u32) -> Self {
        debug_assert!((1..=MAX_DEPTH).contains(&depth) && line <= MAX_NEXT_HOP);
        Self(depth << LINE_BITS | line)
    }

    #[inline(always)]
    pub fn depth(self) -> u32 {
        self.0 >> LINE_BITS
    }

    /// Returns the raw next hop of an answer.
    #[inline(always)]
    pub fn raw(self) -> u32 {
        self.0
    }

    /// Returns the number of the line that this entry leads to.
    #[inline(always)]
    pub fn number(self) -> u32 {
        self.0 & ((1 << LINE_BITS) - 1)
    }
}

/// A cache line: an inner line, a leaf, or the escapes of a leaf.
///
/// ```text
///           bytes 0-27   28-39   40-47   48-59   60  61  62  63
///  inner    15 separators of 32 bits                 base, 32 bits
///  leaf     12 keys of 32 bits          | 13 codes of 8 bits |  | distance
///           10 keys            | 11 codes of 16 bits         |  | distance
///           7 keys    | 8 codes of 32 bits           | unused
///  escapes  16 entries, the first for the first code of the leaf
/// ```
/// Separators and keys are the words at which the next child or the next code begins, minus one:
/// the number of those less than the word of an address is the number of its child or code. Those
/// after the last are all ones, which no word exceeds. Unused bytes of other kinds are zero.
///
/// A code of 32 bits is an entry. A narrower one stands for a next hop; all ones is an escape,
/// whose entry is in the escapes of the leaf, as many lines after the leaf as its distance states.
///
/// Codes lie in the machine's byte order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C, align(64))]
pub(super) struct Line(pub [u32; WORDS]);

/// Words of 32 bits in a line.
pub(super) const WORDS: usize = 16;
/// Separators in an inner line.
pub(super) const SEPARATORS: usize = WORDS - 1;
/// The most children of an inner line.
pub(super) const CHILDREN: usize = SEPARATORS + 1;
/// The place of the distance in a leaf.
pub(super) const DISTANCE: usize = 63;
/// The most lines in a run: the leaves below an inner line, each with escapes.
pub(super) const LONGEST_RUN: usize = 2 * CHILDREN;

/// Keys in a leaf, by log2 of the bytes of a code.
pub(super) const KEYS: [usize; 3] = [12, 10, 7];

const _: () = {
    assert!(size_of::<Line>() == crate::mem::LINE);
    // Codes and the byte of the distance follow the keys.
    assert!(4 * KEYS[0] + KEYS[0] < DISTANCE && 4 * KEYS[1] + 2 * (KEYS[1] + 1) <= DISTANCE);
    assert!(4 * KEYS[2] + 4 * (KEYS[2] + 1) <= 4 * WORDS && LONGEST_RUN <= u8::MAX as usize);
};

// SAFETY: an array of integers; its alignment is that of a cache line.
unsafe impl Plain for Line {}

impl Line {
    /// A line without separators or keys, whose other bytes are zero.
    pub fn empty(keys: usize) -> Self {
        Self(core::array::from_fn(|i| if i < keys { u32::MAX } else { 0 }))
    }

    fn byte(&self, at: usize) -> u8 {
        self.0[at / 4].to_ne_bytes()[at % 4]
    }

    fn set_byte(&mut self, at: usize, byte: u8) {
        let mut bytes = self.0[at / 4].to_ne_bytes();
        bytes[at % 4] = byte;
        self.0[at / 4] = u32::from_ne_bytes(bytes);
    }

    /// The place of code `i` of a leaf, in bytes.
    pub fn code_offset(log2: u32, i: usize) -> usize {
        4 * KEYS[log2 as usize] + (i << log2)
    }

    /// Returns code `i` of a leaf.
    pub fn code(&self, log2: u32, i: usize) -> u32 {
        let at = Self::code_offset(log2, i);
        match log2 {
            0 => self.byte(at).into(),
            1 => u16::from_ne_bytes([self.byte(at), self.byte(at + 1)]).into(),
            _ => self.0[at / 4],
        }
    }

    /// Sets code `i` of a leaf.
    pub fn set_code(&mut self, log2: u32, i: usize, code: u32) {
        let at = Self::code_offset(log2, i);
        match log2 {
            0 => self.set_byte(at, code as u8),
            1 => {
                let [a, b] = (code as u16).to_ne_bytes();
                self.set_byte(at, a);
                self.set_byte(at + 1, b);
            }
            _ => self.0[at / 4] = code,
        }
    }

    /// Number of lines from a leaf to its escapes, 0 where it has none.
    pub fn distance(&self, log2: u32) -> usize {
        if log2 == 2 { 0 } else { self.byte(DISTANCE).into() }
    }

    pub fn set_distance(&mut self, distance: usize) {
        self.set_byte(DISTANCE, distance as u8);
    }

    /// Number of separators or keys.
    pub fn used(&self, keys: usize) -> usize {
        self.0[..keys].iter().take_while(|key| **key != u32::MAX).count()
    }

    /// The number of an inner line's first child.
    pub fn base(&self) -> u32 {
        self.0[SEPARATORS]
    }

    pub fn set_base(&mut self, base: u32) {
        self.0[SEPARATORS] = base;
    }
}

/// Bits of the address below the 32 that each stage compares. The last stage has 16 bits of its
/// own, below 16 that the stage before has compared.
pub(super) const STAGES: [u32; 4] = [80, 48, 16, 0];

/// An IPv6 table in ranked lines, with codes `C`.
///
/// Invariants that the unchecked reads of the lookups rely on:
/// 1. The root has one entry more than stored blocks, at most 2^20 + 1; the last one is an answer.
///    Its blocks have 16 or 20 bits.
/// 2. An entry of depth 1 leads to a leaf, a deeper one to an inner line. The children of an inner
///    line lie one after the other from its base on, one more than it has separators, and have one
///    depth less.
/// 3. A leaf with an escape has a distance, and that many lines after it lie its escapes.
/// 4. The root's entries lead to trees of stage 0. The entries in a leaf or in escapes of stage `s`
///    are answers or lead to trees of stage `s + 1`; those of the last stage are answers.
/// 5. Separators and keys ascend, lie inside of the block of their tree and between the separators
///    above.
/// 6. The lines below an inner line are a run: its children, then the escapes of those that are
///    leaves, in their order. The line that an entry leads to begins a run likewise. Runs and
///    the free lines tile the array.
/// 7. In a live table single stores replace the root's entries, the entries of escapes, and codes
///    by others that are no escapes either, those of 32 bits being entries. A run is written before
///    an entry leads to it, and its other bytes only while no reader can reach it.
/// 8. A next hop that has a code is no escape; codes of 8 bits stand for different next hops, and
///    without a codebook each is its own next hop.
///
/// ```
/// use longmatch::engine::folio::Lines;
/// use longmatch::{Engine, Lookup, NextHopId, Rib};
/// let mut rib = Rib::new();
/// rib.insert("2001:db8::/32".parse()?, NextHopId::new(1).unwrap())?;
/// let lines: Lines<u16> = Lines::compile(&rib, &())?;
/// assert_eq!(lines.lookup("2001:db8::1".parse()?), NextHopId::new(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Lines<C: Code, M: Memory = FrozenMemory> {
    /// The root's entries.
    pub(super) entries: M::Array<u32>,
    pub(super) lines: M::Array<Line>,
    pub(super) fixed: Fixed,
    pub(super) code: PhantomData<C>,
}

/// The parts that never change after compilation, even in live memory.
#[derive(Clone, Debug)]
pub(super) struct Fixed {
    pub root: Root,
    /// The next hops of 8-bit codes.
    pub book: Book,
}

impl<C: Code, M: Memory> Lines<C, M> {
    /// Returns the view that lookups read.
    #[inline(always)]
    pub(super) fn view(&self) -> View<'_, C> {
        let trees =
            Trees { lines: self.lines.items().shared(), fixed: &self.fixed, code: PhantomData };
        View { entries: self.entries.items().shared(), trees }
    }
}

/// A table as lookups read it, in either kind of memory.
#[derive(Clone, Copy)]
pub(super) struct View<'a, C> {
    pub entries: Items<'a, u32>,
    pub trees: Trees<'a, C>,
}

/// The lines of a table: two pointers, which calls pass in registers.
#[derive(Clone, Copy)]
pub(super) struct Trees<'a, C> {
    pub lines: Items<'a, Line>,
    pub fixed: &'a Fixed,
    code: PhantomData<C>,
}

/// The arrays of a table that is not being changed; the input of its check.
#[derive(Clone, Copy)]
pub(super) struct Slices<'a> {
    pub entries: &'a [u32],
    pub lines: &'a [Line],
    pub fixed: &'a Fixed,
    pub form: CodeForm,
}

impl Slices<'_> {
    /// The run of some lines of a depth, with the escapes behind them.
    pub fn run(&self, depth: u32, at: usize, count: usize) -> Run {
        let log2 = self.form.log2;
        let escapes = match depth {
            1 => self.lines[at..][..count].iter().filter(|leaf| leaf.distance(log2) > 0).count(),
            _ => 0,
        };
        Run { start: at as u32, count: (count + escapes) as u32 }
    }

    /// Adds the runs of the tree that an entry leads to, and of the trees below it.
    pub fn runs(&self, entry: Entry, runs: &mut Vec<Run>) {
        if entry.depth() > 0 {
            self.runs_below(entry.depth(), entry.number() as usize, 1, runs);
        }
    }

    fn runs_below(&self, depth: u32, at: usize, count: usize, runs: &mut Vec<Run>) {
        runs.push(self.run(depth, at, count));
        for line in at..at + count {
            let content = &self.lines[line];
            if depth > 1 {
                let base = content.base() as usize;
                self.runs_below(depth - 1, base, content.used(SEPARATORS) + 1, runs);
                continue;
            }
            for i in 0..=content.used(KEYS[self.form.log2 as usize]) {
                self.runs(self.entry(line, i), runs);
            }
        }
    }

    /// Returns the entry of code `i` of a leaf with a sound distance.
    pub fn entry(&self, leaf: usize, i: usize) -> Entry {
        let (log2, line) = (self.form.log2, &self.lines[leaf]);
        match line.code(log2, i) {
            entry if log2 == 2 => Entry(entry),
            code if code == escape(log2) => Entry(self.lines[leaf + line.distance(log2)].0[i]),
            code if self.form.book => Entry::answer(self.fixed.book.value(code as u8).into()),
            code => Entry::answer(code),
        }
    }
}

/// The code that is an escape, of 8 or 16 bits.
pub(super) const fn escape(log2: u32) -> u32 {
    (1 << (8 << log2)) - 1
}
