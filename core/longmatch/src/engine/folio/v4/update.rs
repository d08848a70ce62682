//! A table that changes under readers.
//!
//! The unit of a change is the block of a slot of a page of entries, or of the root. Its content is
//! copied with some codes changed, or built from the RIB with the builder that compiles a table.
//! Everything new is written where no reader can be; one store of an entry, or of a code, publishes
//! it. Removed pieces wait until no reader can be in them.
//!
//! The arrays have capacity to grow in place. When one is used up, or a block has no form, the table
//! cannot be patched, and is compiled again.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::sync::atomic::Ordering::Relaxed;

use super::account::Account;
use super::blocks::{Block, Copies, Shaper};
use super::check::{self, Known};
use super::compile::{Builder, CODES, ENTRIES, first_word, identity_units, position};
use super::layout::{
    CODES_ALIGN, Entry, Extent, Fixed, Folio4, MAX_PLACES, Single, Slices, Target, WIDTH,
    WORDS_ALIGN, below,
};
use super::plan::Plan;
use crate::engine::folio::pieces::{Full, Piece, Pieces, fill_codes};
use crate::engine::folio::survey::{Start, read_within};
use crate::engine::kit::{CannotPatch, Corrupt, LiveEngine, Lookup, Patch, Replaced};
use crate::mem::{Live, LiveMemory, MemoryUsage, Owner, Plain, Readable, RetireList};
use crate::net::{Ipv4, Prefix};
use crate::rib::Rib;

/// The most blocks of the root to change in place; beyond, a fresh compile takes no more work.
const MAX_BLOCKS: u64 = 1 << 16;
/// A page with at most this number of changes of entry is built again when a slot becomes an answer: its
/// block may have a smaller form.
const FEW_SLOTS: usize = 8;
/// Spare words and codes, on top of twice those in use: a table that has outgrown them is planned
/// again.
const SPARE_WORDS: usize = 1 << 20;
const SPARE_CODES: usize = 1 << 22;

pub(super) struct Patcher {
    words: Pieces<u32, Owner<u32>>,
    codes: Pieces<u8, Owner<u8>>,
    root: Owner<u32>,
    table: Arc<Folio4<LiveMemory>>,
    fixed: Arc<Fixed>,
    plan: Plan,
    /// No block is known to have copies: to ask would take longer than to store it again.
    copies: Copies,
    /// Removed pieces.
    retire_list: RetireList<Piece>,
    starts: Vec<Start<u32>>,
    /// New entries of the root, with their numbers.
    prepared: Vec<(u32, Entry)>,
    /// A page under construction.
    page: Vec<u8>,
    slots: Vec<u32>,
    replaced: Replaced,
}

/// Moves a table into arrays with capacity to grow, and makes its write side.
pub(super) fn live(folio: Folio4) -> LiveEngine<Ipv4> {
    match patcher(&folio) {
        Some(patcher) => LiveEngine::patched(patcher.table.clone(), patcher),
        None => LiveEngine::recompiled(folio),
    }
}

/// The array of readers and its owner's account.
fn array<T: Plain>(items: &[T], spare: usize, is_huge: bool) -> Option<(Live<T>, Owner<T>)> {
    let capacity = items.len().saturating_mul(2).saturating_add(spare);
    if is_huge { Live::huge(items, capacity) } else { Live::with_capacity(items, capacity) }
}

pub(super) fn patcher(folio: &Folio4) -> Option<Patcher> {
    let Account { words: lists, codes: pages } = Account::of(folio.slices()).ok()?;
    let Folio4 { fixed, plan, .. } = folio;
    let mut fixed = Fixed::clone(fixed);
    if fixed.single == Single::Plain {
        fixed.single = Single::Branches;
    }
    let (root, root_owner) = Live::with_capacity(&folio.root, 0)?;
    let (words, word_owner) = array(&folio.words, SPARE_WORDS, folio.words.is_huge())?;
    let (codes, code_owner) =
        array(&folio.codes, SPARE_CODES * usize::from(fixed.code_bytes), folio.codes.is_huge())?;
    let unit = usize::from(fixed.code_bytes);
    let (first, identity) = (first_word(&fixed), identity_units(&fixed));
    let fixed = Arc::new(fixed);
    let table = Arc::new(Folio4::new(root, words, codes, fixed.clone(), *plan));
    let words = Pieces::new(word_owner, 1, WORDS_ALIGN, MAX_PLACES);
    let codes = Pieces::new(code_owner, unit, CODES_ALIGN, MAX_PLACES);
    let patcher = Patcher {
        words: words.with(first as u32, lists.into_values().collect()),
        codes: codes.with(identity as u32, pages.into_values().collect()),
        root: root_owner,
        table,
        fixed,
        plan: *plan,
        copies: Copies::default(),
        retire_list: RetireList::default(),
        starts: Vec::new(),
        prepared: Vec::new(),
        page: Vec::new(),
        slots: Vec::new(),
        replaced: Replaced::default(),
    };
    patcher.state_extent();
    Some(patcher)
}

/// A block that a change replaces.
#[derive(Clone, Copy)]
struct Unit {
    /// Number of the root's entry.
    index: u32,
    /// The block's entry.
    entry: Entry,
    /// log2 of its addresses.
    bits: u8,
    /// The slot of the page of entries that the root's entry leads to, if the unit is one.
    slot: Option<u32>,
}

impl Patcher {
    /// Publishes the extent of the arrays.
    fn state_extent(&self) {
        let Extent { words, codes } = &self.table.extent;
        words.store(self.words.array().len(), Relaxed);
        codes.store(self.codes.array().len(), Relaxed);
    }

    /// Builds the entry of a block from the RIB.
    fn build(
        &mut self,
        rib: &Rib<Ipv4>,
        prefix: Prefix<Ipv4>,
        is_slot: bool,
    ) -> Result<Entry, CannotPatch> {
        let lowest = read_within(rib, prefix, u32::MAX, &mut self.starts).ok_or(CannotPatch)?;
        let starts = core::mem::take(&mut self.starts);
        let block = Block { bits: WIDTH - prefix.len(), first: lowest, starts: &starts };
        let built = self.with_builder(|builder| match is_slot {
            true => builder.inner(&block),
            false => builder.block(&block),
        });
        self.starts = starts;
        built
    }

    fn with_builder<R>(
        &mut self,
        build: impl FnOnce(&mut Builder<'_, Owner<u32>, Owner<u8>>) -> Result<R, Full>,
    ) -> Result<R, CannotPatch> {
        let Self { words, codes, fixed, plan, copies, replaced, .. } = self;
        let shaper = Shaper { fixed, plan, copies, all_coded: false };
        let mut builder = Builder::new(shaper, words, codes);
        let built = build(&mut builder);
        replaced.nodes += builder.nodes;
        replaced.leaves += builder.leaves;
        built.map_err(|_| CannotPatch)
    }

    /// The least block that has an entry and contains a prefix.
    fn unit(&self, prefix: Prefix<Ipv4>) -> Unit {
        let bits = self.fixed.root_shift as u8;
        let index = prefix.bits() >> bits;
        let entry = Entry(self.root[index as usize]);
        match entry.target() {
            Target::Entries { cut, place } if prefix.len() >= WIDTH - cut => {
                let slot = below(prefix.bits(), bits) >> cut;
                let entry = Entry(self.words.array()[(place + slot) as usize]);
                Unit { index, entry, bits: cut, slot: Some(slot) }
            }
            _ => Unit { index, entry, bits, slot: None },
        }
    }

    /// Applies the change of a prefix longer than those of the root's blocks.
    fn change(&mut self, rib: &Rib<Ipv4>, prefix: Prefix<Ipv4>) -> Result<(), CannotPatch> {
        let unit = self.unit(prefix);
        let block = |bits: u8| Prefix::from_bits_masked(prefix.bits(), WIDTH - bits);
        if self.codes_changed(rib, prefix, unit)? {
            return Ok(());
        }
        if unit.slot.is_some()
            && let Ok(entry) = self.build(rib, block(unit.bits), true)
        {
            return self.replace_unit(rib, unit, entry);
        }
        let entry = self.build(rib, block(self.fixed.root_shift as u8), false)?;
        self.replace(unit.index, entry);
        Ok(())
    }

    /// Publishes the new entry of a unit. A block of few ranges that lost some is built again.
    fn replace_unit(
        &mut self,
        rib: &Rib<Ipv4>,
        unit: Unit,
        entry: Entry,
    ) -> Result<(), CannotPatch> {
        if unit.slot.is_none() {
            self.replace(unit.index, entry);
            return Ok(());
        }
        self.replace_slot(unit, entry)?;
        if !matches!(entry.target(), Target::Answer(_)) || !self.is_sparse(unit.index) {
            return Ok(());
        }
        let bits = self.fixed.root_shift;
        let block = Prefix::from_bits_masked(unit.index << bits, WIDTH - bits as u8);
        // Without memory for it, the table remains as it is.
        if let Ok(entry) = self.build(rib, block, false) {
            self.replace(unit.index, entry);
        }
        Ok(())
    }

    /// Whether the root's entry leads to a page of entries with few changes of entry.
    fn is_sparse(&self, index: u32) -> bool {
        let Target::Entries { place, .. } = Entry(self.root[index as usize]).target() else {
            return false;
        };
        let Some(at) = self.words.find(place) else { return false };
        let slots = self.words.content(self.words.piece(at));
        let changes = slots.windows(2).filter(|pair| pair[0] != pair[1]);
        changes.take(FEW_SLOTS + 1).count() <= FEW_SLOTS
    }

    /// Changes the codes of a prefix in a page, or in a copy of it. Returns whether codes of its
    /// grain can represent the change.
    fn codes_changed(
        &mut self,
        rib: &Rib<Ipv4>,
        prefix: Prefix<Ipv4>,
        unit: Unit,
    ) -> Result<bool, CannotPatch> {
        let Target::Codes { drop, place } = unit.entry.target() else { return Ok(false) };
        if prefix.len() > WIDTH - drop {
            return Ok(false);
        }
        let lowest = read_within(rib, prefix, u32::MAX, &mut self.starts).ok_or(CannotPatch)?;
        let at = self.codes.find(place).ok_or(CannotPatch)?;
        let (width, log2) = (usize::from(self.fixed.code_bytes), unit.bits - drop);
        let number = |addr: u32| (below(addr, unit.bits) >> drop) as usize;
        let mut page = core::mem::take(&mut self.page);
        page.clear();
        page.extend_from_slice(self.codes.content(self.codes.piece(at)));
        let (mut from, mut hop) = (number(prefix.first()), lowest);
        let end = number(prefix.last()) + 1;
        let only = (end - from == 1).then_some(from);
        let ends = self.starts.iter().map(|start| (start.at, Some(start.raw)));
        let mut fits = true;
        for (at, next) in ends.chain([(prefix.last(), None)]) {
            let to = if next.is_some() { number(at) } else { end };
            fits &= next.is_none() || at.trailing_zeros() >= u32::from(drop);
            match self.fixed.code(hop).filter(|_| fits) {
                Some(code) => fill_codes(&mut page[from * width..to * width], width, code),
                None => {
                    self.page = page;
                    return Ok(false);
                }
            }
            (from, hop) = (to, next.unwrap_or(0));
        }
        if let Some(slot) = only.filter(|_| log2 > 0 && !self.is_shared(unit))
            && self.store_code(at, &page, slot)
        {
            self.page = page;
            self.replaced.leaves += 1;
            return Ok(true);
        }
        let stored = self.store_page(&mut page, drop, unit.bits);
        self.page = page;
        self.replace_unit(rib, unit, stored?)?;
        Ok(true)
    }

    /// Whether a unit is a slot of a page of entries that other blocks have too.
    fn is_shared(&self, unit: Unit) -> bool {
        let root = Entry(self.root[unit.index as usize]);
        let page = unit.slot.and_then(|_| position(&self.words, &self.codes, root));
        page.is_some_and(|(_, at)| self.words.references(at) > 1)
    }

    /// Stores the code of a slot in place, if no other entry leads to the page and no coarser page
    /// could hold the codes.
    fn store_code(&mut self, at: u32, page: &[u8], slot: usize) -> bool {
        let width = usize::from(self.fixed.code_bytes);
        let code = &page[slot * width..][..width];
        let alike = code == &page[(slot ^ 1) * width..][..width];
        if alike || self.codes.references(at) > 1 || width == 3 {
            return false;
        }
        self.codes.forget_content(at);
        let place = self.codes.piece(at).start as usize * width + slot * width;
        let codes = self.codes.array_mut();
        match *code {
            [a] => codes.publish(place, a),
            [a, b] => codes.publish_number(place, u16::from_ne_bytes([a, b])),
            [a, b, c, d] => codes.publish_number(place, u32::from_ne_bytes([a, b, c, d])),
            _ => return false,
        }
        true
    }

    /// Stores a page of codes at the coarsest grain that holds them.
    fn store_page(&mut self, page: &mut Vec<u8>, drop: u8, bits: u8) -> Result<Entry, CannotPatch> {
        let width = usize::from(self.fixed.code_bytes);
        let mut drop = drop;
        while drop < bits.min(super::layout::MAX_DROP) && halves(page, width) {
            drop += 1;
        }
        let first = page[..width].iter().rev().fold(0, |all, byte| all << 8 | u32::from(*byte));
        if first < self.fixed.identity && page.chunks(width).all(|code| *code == page[..width]) {
            return Ok(Entry::answer(first));
        }
        let stored = self.codes.insert(CODES, page).map_err(|_| CannotPatch)?;
        self.replaced.leaves += u64::from(!stored.is_known);
        Ok(Entry::codes(stored.piece.start, drop))
    }

    /// Publishes the new entry of a slot of a page of entries.
    fn replace_slot(&mut self, unit: Unit, entry: Entry) -> Result<(), CannotPatch> {
        let root = Entry(self.root[unit.index as usize]);
        let (Target::Entries { cut, place }, Some(slot)) = (root.target(), unit.slot) else {
            return Err(CannotPatch);
        };
        if entry == unit.entry {
            self.release(entry);
            return Ok(());
        }
        let at = self.words.find(place).ok_or(CannotPatch)?;
        if self.words.references(at) == 1 {
            self.words.forget_content(at);
            self.words.array_mut().publish((place + slot) as usize, entry.0);
            self.release(unit.entry);
            self.replaced.nodes += 1;
            return Ok(());
        }
        let mut slots = core::mem::take(&mut self.slots);
        slots.clear();
        slots.extend_from_slice(self.words.content(self.words.piece(at)));
        slots[slot as usize] = entry.0;
        let stored = self.words.insert(ENTRIES, &slots);
        if let Ok(stored) = &stored
            && !stored.is_known
        {
            self.replaced.nodes += 1;
            for (other, entry) in (0..).zip(&slots) {
                // The new entry has its reference already.
                if other != slot {
                    self.retain(Entry(*entry));
                }
            }
        }
        self.slots = slots;
        match stored {
            Ok(stored) => {
                if stored.is_known {
                    self.release(entry);
                }
                self.replace(unit.index, Entry::entries(stored.piece.start, cut));
                Ok(())
            }
            Err(_) => {
                self.release(entry);
                Err(CannotPatch)
            }
        }
    }

    /// Publishes an entry of the root.
    fn replace(&mut self, index: u32, entry: Entry) {
        let before = Entry(self.root[index as usize]);
        if before != entry {
            self.root.publish(index as usize, entry.0);
            self.replaced.entries += 1;
        }
        self.release(before);
    }

    fn retain(&mut self, entry: Entry) {
        match position(&self.words, &self.codes, entry) {
            Some((true, at)) => self.words.retain(at, 1),
            Some((false, at)) => self.codes.retain(at, 1),
            None => {}
        }
    }

    /// Removes a reference to what an entry leads to; pieces without one are retired.
    fn release(&mut self, entry: Entry) {
        let removed = match position(&self.words, &self.codes, entry) {
            Some((true, at)) => self.words.release(at),
            Some((false, at)) => self.codes.release(at),
            None => None,
        };
        let Some(piece) = removed else { return };
        let unit = if piece.kind == CODES { usize::from(self.fixed.code_bytes) } else { 4 };
        self.retire_list.push(piece, piece.units() * unit);
        if piece.kind == ENTRIES {
            for slot in 0..piece.units() {
                self.release(Entry(self.words.content(piece)[slot]));
            }
        }
    }

    /// Prepares the root's blocks of a prefix that is at most as long as theirs.
    fn prepare(&mut self, rib: &Rib<Ipv4>, prefix: Prefix<Ipv4>) -> Result<(), CannotPatch> {
        let bits = self.fixed.root_shift as u8;
        let count = 1u64 << (WIDTH - bits - prefix.len());
        if count > MAX_BLOCKS {
            return Err(CannotPatch);
        }
        let lowest = read_within(rib, prefix, u32::MAX, &mut self.starts).ok_or(CannotPatch)?;
        let starts = core::mem::take(&mut self.starts);
        let first = prefix.bits() >> bits;
        let end = u64::from(first) + count;
        let all = Block { bits: WIDTH, first: lowest, starts: &starts };
        let (mut at, mut hop) = (u64::from(first), lowest);
        let mut built = Ok(());
        for (number, block) in all.parts(bits) {
            built = self.prepare_alike(at..number.into(), hop).and_then(|()| {
                let entry = self.with_builder(|builder| builder.block(&block))?;
                self.prepared.push((number, entry));
                Ok(())
            });
            if built.is_err() {
                break;
            }
            (at, hop) = (u64::from(number) + 1, block.last());
        }
        self.starts = starts;
        built?;
        self.prepare_alike(at..end, hop)
    }

    /// Prepares blocks of one next hop.
    fn prepare_alike(
        &mut self,
        blocks: core::ops::Range<u64>,
        hop: u32,
    ) -> Result<(), CannotPatch> {
        if blocks.is_empty() {
            return Ok(());
        }
        let (bits, more) = (self.fixed.root_shift as u8, (blocks.end - blocks.start) as u32 - 1);
        let entry = self.with_builder(|builder| {
            let entry = builder.uniform(bits, hop)?;
            builder.retain(entry, more);
            Ok(entry)
        })?;
        self.prepared.extend(blocks.map(|block| (block as u32, entry)));
        Ok(())
    }

    /// Applies changes of several prefixes, by whole blocks of the root.
    fn change_blocks(
        &mut self,
        rib: &Rib<Ipv4>,
        changed: &[Prefix<Ipv4>],
    ) -> Result<(), CannotPatch> {
        let bits = self.fixed.root_bits();
        let masked = |prefix: &Prefix<Ipv4>| {
            Prefix::<Ipv4>::from_bits_masked(prefix.bits(), prefix.len().min(bits))
        };
        let mut blocks: Vec<Prefix<Ipv4>> = changed.iter().map(masked).collect();
        // In their order a prefix comes before those that it covers.
        blocks.sort_unstable();
        let mut last: Option<Prefix<Ipv4>> = None;
        for prefix in blocks {
            if last.is_some_and(|last| last.covers(prefix)) {
                continue;
            }
            last = Some(prefix);
            if let Err(CannotPatch) = self.prepare(rib, prefix) {
                let prepared = core::mem::take(&mut self.prepared);
                prepared.into_iter().for_each(|(_, entry)| self.release(entry));
                return Err(CannotPatch);
            }
        }
        let mut prepared = core::mem::take(&mut self.prepared);
        prepared.drain(..).for_each(|(index, entry)| self.replace(index, entry));
        self.prepared = prepared;
        Ok(())
    }
}

#[cfg(test)]
impl Patcher {
    /// Numbers of lists and pages of entries, and of pages of codes.
    pub fn pieces(&self) -> [usize; 2] {
        [self.words.count(), self.codes.count()]
    }

    pub fn reader(&self) -> &Folio4<LiveMemory> {
        &self.table
    }
}

impl Patch<Ipv4> for Patcher {
    fn patch(
        &mut self,
        rib: &Rib<Ipv4>,
        changed: &[Prefix<Ipv4>],
    ) -> Result<Replaced, CannotPatch> {
        self.replaced = Replaced::default();
        let patched = match changed {
            [prefix] if prefix.len() > self.fixed.root_bits() => self.change(rib, *prefix),
            _ => self.change_blocks(rib, changed),
        };
        self.state_extent();
        patched.map(|()| self.replaced)
    }

    fn seal(&mut self, epoch: u64) {
        self.retire_list.seal(epoch);
    }

    fn reclaim(&mut self, oldest: u64) {
        while let Some(piece) = self.retire_list.pop(oldest) {
            match piece.kind {
                CODES => self.codes.free(piece),
                _ => self.words.free(piece),
            }
        }
    }

    fn retired_bytes(&self) -> usize {
        self.retire_list.bytes()
    }

    fn used_and_unused(&self) -> (usize, usize) {
        let (words, codes) = (self.words.used_and_unused(), self.codes.used_and_unused());
        (words.0 + codes.0, words.1 + codes.1)
    }

    fn memory_usage(&self) -> MemoryUsage {
        self.table.memory_usage()
    }

    fn check(&self, rib: &Rib<Ipv4>) -> Result<(), Corrupt> {
        let (words, codes) = (self.words.array(), self.codes.array());
        let table = Slices { root: &self.root, words, codes, fixed: &self.fixed };
        let retired = |of_codes: bool| {
            let of_array = move |piece: &&Piece| (piece.kind == CODES) == of_codes;
            self.retire_list.iter().filter(of_array).copied()
        };
        let accounts = [
            Known {
                pieces: self.words.iter().collect(),
                others: self.words.unused().chain(retired(false)).collect(),
            },
            Known {
                pieces: self.codes.iter().collect(),
                others: self.codes.unused().chain(retired(true)).collect(),
            },
        ];
        check::check(table, Some(&accounts), rib)
    }
}

/// Halves a page in which each pair of codes is equal; returns whether it is one.
fn halves(page: &mut Vec<u8>, unit: usize) -> bool {
    let half = page.len() / 2;
    if half < unit || page.chunks_exact(2 * unit).any(|pair| pair[..unit] != pair[unit..]) {
        return false;
    }
    for at in (unit..half).step_by(unit) {
        page.copy_within(2 * at..2 * at + unit, at);
    }
    page.truncate(half);
    true
}
