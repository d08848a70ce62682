//! Compiles a RIB: a survey of the table, a plan, then a page for each block of the root.

use alloc::vec::Vec;
use core::ops::Range;
use core::sync::atomic::Ordering::Relaxed;

use super::super::NAME;
use super::super::compile::Admit;
use super::super::store::{Full, Kind, Lines, Store, Stored};
use super::super::survey::{Start, Survey};
use super::codes::{Codes, Frequencies};
use super::layout::{
    Entry, Escape, Extent, Fixed, LEAST_DEEP, MAX_CODES, MAX_DEEP, MAX_NEXT_HOP, MAX_ROOT,
    MIN_ROOT, Pages, WIDTH,
};
use super::{Config, EXPECTED, plan};
use crate::engine::kit::{CompileError, OptionError, Variant};
use crate::mem::Frozen;
use crate::net::Bits;

/// Bytes that an escape costs besides its block, its two words and as many empty ones: what a
/// lookup that needs it is worth.
const ESCAPE: usize = 64;

pub(super) fn compile(
    survey: &Survey<u32>,
    config: &Config,
    admit: Admit<'_>,
) -> Result<Pages, CompileError> {
    let (id, limit) = (survey.max_next_hop(), MAX_NEXT_HOP);
    if id > limit {
        return Err(CompileError::NextHopTooLarge { engine: NAME, id, limit });
    }
    let frequencies = Frequencies::of(survey);
    let form = config.codes.unwrap_or_else(|| frequencies.form());
    let wanted = config.root_bits.filter(|bits| !(MIN_ROOT..=MAX_ROOT).contains(bits));
    if let Some(bits) = wanted {
        let option = Variant::new().numbers("s", [bits]).finish();
        return Err(OptionError { engine: NAME, option, expected: EXPECTED }.into());
    }
    let root_bits = config.root_bits.unwrap_or_else(|| plan::root_bits(survey, form.log2()));
    let estimate = plan::estimate(survey, root_bits, form.log2());
    admit(estimate)?;
    let decode = frequencies.decode(form);
    let mut fixed = Fixed::new(root_bits, form.log2(), decode);
    let codes = Codes::of(&fixed);
    let missing = |_| CompileError::Allocation { engine: NAME, bytes: estimate };
    let mut root = Frozen::zeroed(1 << root_bits).map_err(missing)?;
    let mut store = Store::default();
    let mut found = Found::default();
    let mut builder = Builder::new(root_bits, &codes, &mut store, &mut found);
    builder.root(survey, &mut root).map_err(|full| match full {
        Full::Places => CompileError::TooMany {
            engine: NAME,
            what: "codes in pages, or answers in blocks",
            limit: MAX_CODES as u64,
        },
        Full::Memory => CompileError::Allocation { engine: NAME, bytes: estimate },
    })?;
    let Found { escapes, answers } = found;
    fixed.escape_bits = slots_for(escapes.len());
    let mut slots = Frozen::zeroed(2 << fixed.escape_bits).map_err(missing)?;
    for (position, escape) in &escapes {
        let slot = free_slot(&fixed, &slots, *position);
        slots[2 * slot..][..2].copy_from_slice(&[position + 1, escape.0]);
    }
    let bytes = store.take_bytes();
    let pages = if config.huge { Frozen::huge(bytes.len()) } else { Frozen::zeroed(bytes.len()) };
    let mut pages = pages.map_err(missing)?;
    pages.copy_from_slice(&bytes);
    let deep = Frozen::of(&answers).map_err(missing)?;
    let extent = Extent::default();
    extent.pages.store(store.page_count(), Relaxed);
    extent.bytes.store(pages.len(), Relaxed);
    extent.escapes.store(escapes.len(), Relaxed);
    let batch = config.batch;
    Ok(Pages { root, codes: pages, escapes: slots, deep, fixed, form, batch, store, extent })
}

/// log2 of the slots of a table of so many escapes: at most half of them are used, and there are
/// two more.
pub(super) fn slots_for(escapes: usize) -> u8 {
    (2 * escapes + 2).next_power_of_two().ilog2() as u8
}

/// The first empty slot for a position.
pub(super) fn free_slot(fixed: &Fixed, slots: &[u32], position: u32) -> usize {
    let mut slot = fixed.escape_slot(position);
    while slots[2 * slot] != 0 {
        slot = fixed.next_slot(slot);
    }
    slot
}

/// Where a builder puts escapes and blocks.
pub(super) trait Escapes {
    /// Adds a block of answers and returns its place.
    fn block(&mut self, answers: &[u32]) -> Result<u32, Full>;

    /// Takes back a block that nothing leads to yet.
    fn discard(&mut self, place: u32, answers: usize);

    /// Adds the escapes of a page with its first code at `place`.
    fn insert(&mut self, place: u32, escapes: &[(u32, Escape)]) -> Result<(), Full>;
}

/// The escapes of a table that is being compiled.
#[derive(Default)]
struct Found {
    escapes: Vec<(u32, Escape)>,
    answers: Vec<u32>,
}

impl Escapes for Found {
    fn block(&mut self, answers: &[u32]) -> Result<u32, Full> {
        let place = self.answers.len();
        if place + answers.len() > MAX_DEEP {
            return Err(Full::Places);
        }
        self.answers.try_reserve(answers.len()).map_err(|_| Full::Memory)?;
        self.answers.extend(answers);
        u32::try_from(place).map_err(|_| Full::Places)
    }

    /// The compiler gives up, and with it the blocks.
    fn discard(&mut self, _: u32, _: usize) {}

    fn insert(&mut self, place: u32, escapes: &[(u32, Escape)]) -> Result<(), Full> {
        self.escapes.try_reserve(escapes.len()).map_err(|_| Full::Memory)?;
        self.escapes.extend(escapes.iter().map(|(slot, escape)| (place + slot, *escape)));
        Ok(())
    }
}

/// An entry, and the position in the store of the page that it leads to.
#[derive(Clone, Copy, Debug)]
pub(super) struct New {
    pub entry: Entry,
    pub page: u32,
}

/// Builds pages, and the entries that lead to them.
pub(super) struct Builder<'a, L, E> {
    root_bits: u8,
    codes: &'a Codes,
    store: &'a mut Store<L>,
    escapes: &'a mut E,
    /// The page under construction.
    page: Vec<u8>,
    /// Its slots that escape.
    escaping: Vec<(u32, Escape)>,
    /// The block under construction.
    answers: Vec<u32>,
    /// Number of new pages.
    pub leaves: u64,
}

impl<'a, L: Lines, E: Escapes> Builder<'a, L, E> {
    pub fn new(
        root_bits: u8,
        codes: &'a Codes,
        store: &'a mut Store<L>,
        escapes: &'a mut E,
    ) -> Self {
        let (page, escaping, answers) = (Vec::new(), Vec::new(), Vec::new());
        Self { root_bits, codes, store, escapes, page, escaping, answers, leaves: 0 }
    }

    /// Fills in the entries of a root.
    fn root(&mut self, survey: &Survey<u32>, entries: &mut [u32]) -> Result<(), Full> {
        let bits = self.root_bits;
        let number = |start: &Start<u32>| start.at.extract(0, bits);
        let mut raw = survey.lowest;
        let mut filled = 0;
        for block in survey.starts.chunk_by(|a, b| number(a) == number(b)) {
            let at = number(&block[0]);
            self.fill(&mut entries[filled..at], raw)?;
            entries[at] = self.block(&mut raw, block)?.entry.0;
            filled = at + 1;
        }
        self.fill(&mut entries[filled..], raw)
    }

    /// Fills entries with one answer.
    fn fill(&mut self, entries: &mut [u32], raw: u32) -> Result<(), Full> {
        if entries.is_empty() {
            return Ok(());
        }
        let New { entry, page } = self.page(raw, &[])?;
        self.store.retain(page, entries.len() as u32 - 1);
        entries.fill(entry.0);
        Ok(())
    }

    /// Builds the entry of a block of the root.
    ///
    /// One of the starts may be the beginning of the block. `raw` is the next hop before the block,
    /// and on return the one at its end.
    pub fn block(&mut self, raw: &mut u32, starts: &[Start<u32>]) -> Result<New, Full> {
        let (first, inside) = match starts.split_first() {
            Some((first, inside)) if first.depth() <= self.root_bits => (first.raw, inside),
            _ => (*raw, starts),
        };
        *raw = starts.last().map_or(*raw, |start| start.raw);
        self.page(first, inside)
    }

    /// Builds the entry of a block whose addresses begin with `raw` and change at `starts`.
    pub fn page(&mut self, raw: u32, starts: &[Start<u32>]) -> Result<New, Full> {
        let depth = self.depth(starts);
        let width = depth - self.root_bits;
        self.escaping.clear();
        self.page.clear();
        self.page.resize(1usize << (width + self.codes.log2), 0);
        let stored = self.write(depth, raw, starts).and_then(|()| self.insert());
        let stored = match stored {
            Ok(stored) => stored,
            Err(full) => {
                self.discard_blocks(depth);
                return Err(full);
            }
        };
        let place = stored.start >> self.codes.log2;
        Ok(New { entry: Entry::new(place, (width > 0).then_some(depth)), page: stored.at })
    }

    /// Inserts the page under construction and its escapes.
    fn insert(&mut self) -> Result<Stored, Full> {
        let log2 = self.codes.log2;
        if self.escaping.is_empty() {
            let stored = self.store.insert_within(Kind::Codes, &self.page, MAX_CODES << log2)?;
            self.leaves += u64::from(!stored.known);
            return Ok(stored);
        }
        let stored = self.store.insert_escaping(&self.page, MAX_CODES << log2)?;
        if let Err(full) = self.escapes.insert(stored.start >> log2, &self.escaping) {
            let page = self.store.release_or_remove(stored.at);
            page.into_iter().for_each(|page| self.store.free(&page));
            return Err(full);
        }
        self.leaves += 1;
        Ok(stored)
    }

    fn discard_blocks(&mut self, depth: u8) {
        for (_, escape) in self.escaping.drain(..) {
            let answers = escape.answers(u32::from(WIDTH - depth));
            if let Some(answers) = answers.filter(|_| escape.is_block()) {
                self.escapes.discard(escape.place(), answers);
            }
        }
    }

    /// The depth of the codes of a page: that of its deepest start, unless escapes of deeper starts
    /// take less memory.
    fn depth(&self, starts: &[Start<u32>]) -> u8 {
        let deepest = starts.iter().map(Start::depth).max().unwrap_or(self.root_bits);
        if deepest <= LEAST_DEEP {
            return deepest;
        }
        let bytes = |depth: u8| {
            let number = |start: &Start<u32>| start.at.extract(0, depth);
            let slots = starts.chunk_by(|a, b| number(a) == number(b));
            let blocks = slots.map(|slot| slot.iter().map(Start::depth).max().unwrap_or(0));
            let escapes: usize = blocks
                .filter(|deepest| *deepest > depth)
                .map(|deepest| ESCAPE + (4 << (deepest - depth)))
                .sum();
            escapes + (1usize << (depth - self.root_bits + self.codes.log2))
        };
        (LEAST_DEEP..=deepest).min_by_key(|depth| bytes(*depth)).unwrap_or(deepest)
    }

    /// Writes the codes of a page.
    fn write(&mut self, depth: u8, raw: u32, starts: &[Start<u32>]) -> Result<(), Full> {
        let (start, width) = (self.root_bits, depth - self.root_bits);
        let number = |at: u32| if width == 0 { 0 } else { at.extract(start, width) };
        let mut raw = raw;
        let mut from = 0;
        for slot in starts.chunk_by(|a, b| number(a.at) == number(b.at)) {
            let at = number(slot[0].at);
            self.fill_slots(from..at, raw);
            from = at;
            if slot.iter().any(|start| start.depth() > depth) {
                let escape = self.deep_slot(depth, raw, slot)?;
                self.write_codes(at..at + 1, self.codes.escape());
                self.escaping.push((at as u32, escape));
                from += 1;
            }
            raw = slot[slot.len() - 1].raw;
        }
        self.fill_slots(from..1 << width, raw);
        Ok(())
    }

    /// Fills slots with an answer, or with escapes to it.
    fn fill_slots(&mut self, slots: Range<usize>, raw: u32) {
        match self.codes.code(raw) {
            Some(code) => self.write_codes(slots, code),
            None => {
                let escape = Escape::answer(raw);
                self.escaping.extend(slots.clone().map(|slot| (slot as u32, escape)));
                self.write_codes(slots, self.codes.escape());
            }
        }
    }

    fn write_codes(&mut self, slots: Range<usize>, code: u32) {
        let log2 = self.codes.log2;
        fill_codes(&mut self.page[slots.start << log2..slots.end << log2], log2, code);
    }

    /// Adds the block of a slot in which starts are deeper than `depth`.
    fn deep_slot(&mut self, depth: u8, raw: u32, slot: &[Start<u32>]) -> Result<Escape, Full> {
        let deepest = slot.iter().map(Start::depth).max().unwrap_or(WIDTH);
        self.answers.clear();
        let mut raw = raw;
        for start in slot {
            self.answers.resize(start.at.extract(depth, deepest - depth), raw);
            raw = start.raw;
        }
        self.answers.resize(1 << (deepest - depth), raw);
        let place = self.escapes.block(&self.answers)?;
        Ok(Escape::block(place, deepest))
    }
}

/// Fills a piece of a page with a code of `1 << log2` bytes.
pub(super) fn fill_codes(bytes: &mut [u8], log2: u8, code: u32) {
    match log2 {
        0 => bytes.fill(code as u8),
        1 => bytes.as_chunks_mut().0.fill((code as u16).to_le_bytes()),
        _ => bytes.as_chunks_mut().0.fill(code.to_le_bytes()),
    }
}
