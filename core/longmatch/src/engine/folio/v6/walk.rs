//! A walk over a table in order of addresses, which verifies each place before it reads it.

use alloc::vec::Vec;

use super::super::pieces::Piece;
use super::compile::{FORK_PIECE, LOWER_PIECE, PAGE_PIECE, RUN_PIECE, SHARED};
use super::layout::{Block, Entry, Kind, MAX_CODES, MAX_GRAIN, MAX_RUN, Slices, home, word};
use super::leaf::{
    self, FORK_ENTRIES, FORK_KEYS, HOSTS, KEYS, LINE_WORDS, MINI_KEYS, MINI_WORDS, all_ones, bytes,
    line_code, read, run_code,
};
use crate::engine::kit::image::ArrayName;

pub(super) const ROOT: ArrayName = *b"roo";
pub(super) const PAGES: ArrayName = *b"pag";
pub(super) const CODES: ArrayName = *b"cod";
pub(super) const LINES: ArrayName = *b"lin";
pub(super) const MINIS: ArrayName = *b"min";

/// A broken invariant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Damage {
    pub array: ArrayName,
    pub what: &'static str,
    /// The first address of the block.
    pub at: u128,
}

/// The use of a walk.
pub(super) trait Visitor {
    /// Meets a piece of an array that an entry leads to. Returns whether to walk on below it.
    fn piece(&mut self, array: ArrayName, piece: Piece, block: Block) -> Result<bool, Damage>;

    /// Meets addresses from one on that have a next hop.
    fn answer(&mut self, first: u128, raw: u32) -> Result<(), Damage>;
}

/// An entry, the block of addresses that reach it, and whether it compares the lower word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reached {
    pub entry: Entry,
    pub block: Block,
    pub is_lower: bool,
}

impl Reached {
    fn damaged<T>(&self, array: ArrayName, what: &'static str) -> Result<T, Damage> {
        Err(Damage { array, what, at: self.block.first })
    }

    /// Bits of the block's addresses in the half that the entry compares.
    fn bits(&self) -> u32 {
        u32::from(self.block.bits - if self.is_lower { 64 } else { 0 })
    }

    fn word(&self) -> u64 {
        self.block.word(self.is_lower)
    }

    /// The address of a word.
    fn addr(&self, word: u64) -> u128 {
        match self.is_lower {
            true => self.block.first >> 64 << 64 | u128::from(word),
            false => u128::from(word) << 64,
        }
    }

    /// The items of a page or of codes that the block's addresses reach: the first, and log2 of
    /// their number.
    pub fn items(&self) -> Option<(usize, u8)> {
        let depth = 64 - self.entry.drop();
        let log2 = depth.checked_sub(self.bits()).filter(|log2| (1..=24).contains(log2))?;
        Some((self.entry.index(self.word()) as usize, log2 as u8))
    }

    /// The block of item `i` of a page or of codes.
    pub fn item(&self, i: usize, log2: u8) -> Block {
        let bits = self.block.bits + log2;
        Block { first: self.block.first | (i as u128) << (128 - bits), bits }
    }
}

/// A walk with its visitor.
pub(super) struct VisitingWalk<'a, V> {
    pub table: Slices<'a>,
    pub visitor: V,
}

impl<V: Visitor> VisitingWalk<'_, V> {
    /// Walks the whole table.
    pub fn root(&mut self) -> Result<(), Damage> {
        let fixed = self.table.fixed;
        let outside = Entry(self.table.root[fixed.last as usize]);
        let end = fixed.block(fixed.last).first;
        if fixed.base > 0 {
            self.visitor.answer(0, outside.0)?;
        }
        for at in 0..fixed.last {
            let entry = Entry(self.table.root[at as usize]);
            self.entry(Reached { entry, block: fixed.block(at), is_lower: false })?;
        }
        if end != 0 {
            self.visitor.answer(end, outside.0)?;
        }
        Ok(())
    }

    /// Walks all that an entry leads to.
    pub fn entry(&mut self, at: Reached) -> Result<(), Damage> {
        match at.entry.kind() {
            Kind::Answer => self.visitor.answer(at.block.first, at.entry.0),
            Kind::Codes => self.codes(at),
            Kind::Mini => self.mini(at),
            Kind::Line => self.line(at),
            Kind::Run => self.run(at),
            Kind::Lower => self.lower(at),
            Kind::Fork => self.fork(at),
            Kind::Page => self.page(at),
            Kind::Unknown => at.damaged(ROOT, "has an entry of no kind"),
        }
    }

    /// Meets a piece whose place is verified.
    fn piece(
        &mut self,
        at: Reached,
        array: ArrayName,
        (start, log2, kind): (usize, u8, u8),
        len: usize,
    ) -> Result<bool, Damage> {
        if start + (1 << log2) > len {
            return at.damaged(array, "ends before an item that an entry leads to");
        }
        self.visitor.piece(array, Piece { start: start as u32, log2, kind }, at.block)
    }

    fn page(&mut self, at: Reached) -> Result<(), Damage> {
        let Some((start, log2)) = at.items().filter(|(_, log2)| *log2 <= MAX_GRAIN) else {
            return at.damaged(PAGES, "has a page of an impossible size");
        };
        if self.piece(at, PAGES, (start, log2, PAGE_PIECE), self.table.pages.len())? {
            for i in 0..1 << log2 {
                let entry = Entry(self.table.pages[start + i]);
                self.entry(Reached { entry, block: at.item(i, log2), ..at })?;
            }
        }
        Ok(())
    }

    fn lower(&mut self, at: Reached) -> Result<(), Damage> {
        if at.is_lower || at.block.bits != 64 {
            return at.damaged(PAGES, "has a lower word's entry at a wrong length");
        }
        let place = at.entry.place() as usize;
        if self.piece(at, PAGES, (place, 0, LOWER_PIECE), self.table.pages.len())? {
            let entry = Entry(self.table.pages[place]);
            self.entry(Reached { entry, is_lower: true, ..at })?;
        }
        Ok(())
    }

    fn codes(&mut self, at: Reached) -> Result<(), Damage> {
        let fixed = self.table.fixed;
        let Some((start, log2)) = at.items().filter(|(_, log2)| *log2 <= MAX_CODES) else {
            return at.damaged(CODES, "has an impossible number of codes");
        };
        let len = self.table.codes.len() >> fixed.log2;
        if self.piece(at, CODES, (start, log2, SHARED), len)? {
            let mut before = None;
            for i in 0..1 << log2 {
                let code = read(self.table.codes, (start + i) << fixed.log2, fixed.log2);
                if before.replace(code) != Some(code) {
                    self.visitor.answer(at.item(i, log2).first, self.table.hop(code))?;
                }
            }
        }
        Ok(())
    }

    fn mini(&mut self, at: Reached) -> Result<(), Damage> {
        let shift = at.entry.mini_shift();
        if at.bits() + shift < 32 {
            return at.damaged(MINIS, "has a mini below too few bits");
        }
        let place = at.entry.place() as usize;
        let len = self.table.minis.len() / MINI_WORDS;
        if !self.piece(at, MINIS, (place, 0, SHARED), len)? {
            return Ok(());
        }
        let mini: [u8; 16] = bytes(&self.table.minis[MINI_WORDS * place..][..MINI_WORDS]);
        let keys = (0..MINI_KEYS).map(|i| u64::from(read(&mini, 4 * i, 2)));
        let segments = self.segments(at, shift, 32, keys)?;
        segments.into_iter().try_for_each(|(i, first)| {
            let code = read(&mini, 4 * MINI_KEYS + 2 * i, 1);
            self.visitor.answer(first, self.table.hop(code))
        })
    }

    fn line(&mut self, at: Reached) -> Result<(), Damage> {
        let (drop, log2) = (at.entry.drop(), self.table.fixed.log2);
        if at.bits() + drop < 48 {
            return at.damaged(LINES, "has a line below too few bits");
        }
        let place = at.entry.place() as usize;
        let len = self.table.lines.len() / LINE_WORDS;
        if !self.piece(at, LINES, (place, 0, SHARED), len)? {
            return Ok(());
        }
        let line = self.line_bytes(place);
        let keys = (0..KEYS[usize::from(log2)]).map(|i| u64::from(read(&line, 2 * i, 1)));
        let segments = self.segments(at, drop, 16, keys)?;
        segments.into_iter().try_for_each(|(i, first)| {
            let code = read(&line, line_code(log2, i), log2);
            self.visitor.answer(first, self.table.hop(code))
        })
    }

    fn line_bytes(&self, place: usize) -> [u8; 64] {
        bytes(&self.table.lines[LINE_WORDS * place..][..LINE_WORDS])
    }

    /// The segments of a block in a leaf with ascending keys of some bits of the word: the number
    /// and the first address of each.
    fn segments(
        &self,
        at: Reached,
        shift: u32,
        key_bits: u32,
        keys: impl Iterator<Item = u64>,
    ) -> Result<Vec<(usize, u128)>, Damage> {
        let ones = u64::MAX >> (64 - key_bits);
        let keys: Vec<u64> = keys.collect();
        let used = keys.iter().position(|key| *key == ones).unwrap_or(keys.len());
        let ascend = keys[..used].is_sorted_by(|a, b| a < b);
        if !ascend || keys[used..].iter().any(|key| *key != ones) {
            return at.damaged(LINES, "has keys out of order");
        }
        let last = word(at.block.last(), at.is_lower) >> shift & ones;
        let first = at.word() >> shift & ones;
        let before = keys[..used].partition_point(|key| *key < first);
        let above = at.word().checked_shr(shift + key_bits).unwrap_or(0);
        let above = above.checked_shl(shift + key_bits).unwrap_or(0);
        let mut segments = Vec::with_capacity(used + 1);
        segments.push((before, at.block.first));
        for (i, key) in keys[..used].iter().enumerate().skip(before) {
            if *key >= last {
                break;
            }
            segments.push((i + 1, at.addr(above | (key + 1) << shift)));
        }
        Ok(segments)
    }

    fn fork(&mut self, at: Reached) -> Result<(), Damage> {
        let place = at.entry.place() as usize;
        if at.bits() < 32 {
            return at.damaged(LINES, "has a fork below too few bits");
        }
        let len = self.table.lines.len() / LINE_WORDS;
        if !self.piece(at, LINES, (place, 0, FORK_PIECE), len)? {
            return Ok(());
        }
        let fork: Vec<u32> = self.table.lines[LINE_WORDS * place..][..LINE_WORDS]
            .iter()
            .map(|word| u32::from_le(*word))
            .collect();
        let keys = fork[..FORK_KEYS].iter().map(|key| u64::from(*key));
        let segments = self.segments(at, 0, 32, keys)?;
        let ends = segments.iter().skip(1).map(|(_, first)| first - 1).chain([at.block.last()]);
        for ((i, first), last) in segments.iter().copied().zip(ends) {
            let entry = Entry(fork[FORK_ENTRIES + i]);
            let block = Block::of(first, 64);
            match entry.kind() {
                Kind::Answer => self.visitor.answer(first, entry.0)?,
                Kind::Run | Kind::Lower if !at.is_lower && block.last() == last => {
                    self.entry(Reached { entry, block, ..at })?;
                }
                _ => return at.damaged(LINES, "has a fork that leads to a wrong entry"),
            }
        }
        Ok(())
    }

    fn run(&mut self, at: Reached) -> Result<(), Damage> {
        let log2_lines = at.entry.log2_lines();
        if at.block.bits < 64 || log2_lines > MAX_RUN {
            return at.damaged(LINES, "has a run of a wrong length");
        }
        let place = at.entry.place() as usize;
        let len = self.table.lines.len() / LINE_WORDS;
        if !self.piece(at, LINES, (place, log2_lines as u8, RUN_PIECE), len)? {
            return Ok(());
        }
        let Some((mut hosts, others)) = self.hosts(place, log2_lines) else {
            return at.damaged(LINES, "has hosts that are not found");
        };
        hosts.sort_unstable();
        let upper = at.block.first >> 64 << 64;
        let mut next = Some(at.block.first);
        for (host, code) in hosts {
            let addr = upper | u128::from(host);
            if !(at.block.first..=at.block.last()).contains(&addr) {
                return at.damaged(LINES, "has a host outside of its block");
            }
            if next != Some(addr) {
                self.visitor.answer(next.unwrap_or(addr), self.table.hop(others))?;
            }
            self.visitor.answer(addr, self.table.hop(code))?;
            next = addr.checked_add(1);
        }
        match next.filter(|next| *next <= at.block.last()) {
            Some(next) => self.visitor.answer(next, self.table.hop(others)),
            None => Ok(()),
        }
    }

    /// The hosts of a run whose lookups find them, and the code of all other words. `None` if a host
    /// is not found, or lines disagree on the code of others.
    pub fn hosts(&self, place: usize, log2_lines: u32) -> Option<(Vec<(u64, u32)>, u32)> {
        let log2 = self.table.fixed.log2;
        let slots = HOSTS[usize::from(log2)];
        let lines: Vec<[u8; 64]> =
            (0..1 << log2_lines).map(|i| self.line_bytes(place + i)).collect();
        let end = |line: &[u8; 64]| read(line, run_code(log2, slots), log2);
        let mut ends = lines.iter().map(end).filter(|code| *code != all_ones(log2));
        let others = ends.next()?;
        if ends.any(|code| code != others) {
            return None;
        }
        let mut hosts = Vec::new();
        for (i, line) in lines.iter().enumerate() {
            for slot in 0..slots {
                let host = leaf::read_host(line, slot);
                let code = read(line, run_code(log2, slot), log2);
                let is_first = (0..slot).all(|before| leaf::read_host(line, before) != host);
                if !is_first || code == others {
                    continue;
                }
                let mut at = home(log2_lines, host) as usize;
                while at != i {
                    let passes = end(&lines[at]) == all_ones(log2);
                    if !passes || (0..slots).any(|it| leaf::read_host(&lines[at], it) == host) {
                        return None;
                    }
                    at = (at + 1) % lines.len();
                }
                hosts.push((host, code));
            }
        }
        Some((hosts, others))
    }
}
