//! One change in one block of the root.
//!
//! The page that the changed prefix lies in is replaced, and the branch pages above it by copies
//! with one slot changed.
//!
//! A copy leads to the same pages as its original, in all slots but one. Usually the original has
//! no other reference and is removed: then the copy takes over its references, and those pages are
//! not visited.

use alloc::vec::Vec;

use super::super::compile::{Builder, fill_codes};
use super::super::layout::{Entry, Level, PLACE_UNIT};
use super::super::store::{Kind, Page, Stored};
use super::{Patcher, slot, slots};
use crate::engine::kit::{CannotPatch, Replaced};
use crate::net::{Bits, Family, Prefix};
use crate::rib::Rib;

/// A branch page to be replaced by a copy with one slot changed.
pub(super) struct Step {
    /// Its position.
    old: u32,
    /// The slot.
    slot: usize,
    /// Its replacement.
    copy: Option<Copied>,
}

#[derive(Clone, Copy)]
struct Copied {
    at: u32,
    /// Whether it existed already, with its own references to the pages below.
    known: bool,
}

/// An entry, and the position of the page that it leads to.
#[derive(Clone, Copy)]
struct New {
    entry: Entry,
    page: Option<u32>,
}

impl New {
    fn answer(raw: u32) -> Self {
        Self { entry: Entry::answer(raw), page: None }
    }
}

/// The lower end of a path: the position of the old page, if there was one, and its replacement.
#[derive(Clone, Copy)]
struct Bottom {
    old: Option<u32>,
    new: New,
}

impl<F: Family> Patcher<F> {
    /// Applies the change of a prefix longer than the root's blocks.
    pub(super) fn change_path(
        &mut self,
        rib: &Rib<F>,
        prefix: Prefix<F>,
    ) -> Result<Replaced, CannotPatch> {
        let index = self.fixed.root.index((prefix.bits().half(0) >> 32) as u32);
        if index >= self.fixed.root.last {
            return Err(CannotPatch);
        }
        self.built = Replaced::default();
        let root = Entry(self.entries[index as usize]);
        let (level, entry) = self.descend(root, prefix)?;
        let old = self.page(level, entry);
        let new = self.bottom(rib, prefix, level, entry, old)?;
        let bottom = Bottom { old, new };
        let (bottom, top) = self.copy_path(rib, prefix, bottom)?;
        self.replace_path(index, root, top, bottom);
        Ok(core::mem::take(&mut self.built))
    }

    /// Records the branch pages of which one slot contains the prefix. Returns the level and the
    /// entry below them.
    fn descend(&mut self, root: Entry, prefix: Prefix<F>) -> Result<(usize, Entry), CannotPatch> {
        self.path.clear();
        let (mut level, mut entry) = (0, root);
        while entry.is_page() && entry.is_branch() {
            let window = self.fixed.levels[level];
            if prefix.len() < window.end() {
                break;
            }
            let old = self.page(level, entry).ok_or(CannotPatch)?;
            let slot = prefix.bits().extract(window.start, window.width);
            entry = self::slot(self.store.content(self.store.page(old)), slot);
            self.path.push(Step { old, slot, copy: None });
            level += 1;
        }
        Ok((level, entry))
    }

    /// Builds the replacement of the entry below the branch pages.
    fn bottom(
        &mut self,
        rib: &Rib<F>,
        prefix: Prefix<F>,
        level: usize,
        entry: Entry,
        old: Option<u32>,
    ) -> Result<New, CannotPatch> {
        let Some(window) = self.fixed.levels.get(level).copied() else {
            // A slot of the last level is one address.
            return Ok(New::answer(self.read(rib, prefix)?));
        };
        if let Some(old) = old
            && !entry.is_branch()
        {
            let depth = window.end() + self.codes.form.slot_shift as u8 - entry.drop() as u8;
            if prefix.len() <= depth {
                let lowest = self.read(rib, prefix)?;
                if let Some(new) = self.change_codes(window, depth, old, prefix, lowest)? {
                    return Ok(new);
                }
            }
        }
        self.rebuild(rib, prefix, level)
    }

    /// Builds the whole block of a level that contains the prefix from the RIB.
    fn rebuild(
        &mut self,
        rib: &Rib<F>,
        prefix: Prefix<F>,
        level: usize,
    ) -> Result<New, CannotPatch> {
        let start = self.fixed.levels[level].start;
        let lowest = self.read(rib, Prefix::from_bits_masked(prefix.bits(), start))?;
        let fixed = self.fixed.clone();
        let Self { store, codes, starts, .. } = self;
        let mut builder = Builder::<F::Bits, _>::new(&fixed.levels, codes, store);
        let built = builder.page(level, lowest, starts);
        let too_deep = fixed.closed && builder.levels_used > fixed.usual_levels;
        self.built.nodes += builder.branches;
        self.built.leaves += builder.leaves;
        let mut pages = builder.children;
        match built {
            Ok(entry) if !too_deep => Ok(New { entry, page: pages.pop() }),
            _ => {
                self.release_unseen(pages);
                Err(CannotPatch)
            }
        }
    }

    /// Copies a page of codes with a prefix's slots changed, as coarse as possible. `None` if codes
    /// of this grain cannot represent it.
    fn change_codes(
        &mut self,
        window: Level,
        depth: u8,
        old: u32,
        prefix: Prefix<F>,
        lowest: u32,
    ) -> Result<Option<New>, CannotPatch> {
        let unit = 1usize << self.codes.form.log2;
        let width = depth - window.start;
        let mut page = core::mem::take(&mut self.scratch);
        page.clear();
        page.extend(&self.store.content(self.store.page(old))[..unit << width]);
        let changed = self.write_slots(&mut page, window, depth, prefix, lowest);
        let new = match changed {
            true => self.insert_codes(window, &mut page),
            false => Ok(None),
        };
        self.scratch = page;
        new
    }

    /// Writes the slots of a prefix. Returns whether all its next hops have codes, and all its
    /// starts lie on slots.
    fn write_slots(
        &self,
        page: &mut [u8],
        window: Level,
        depth: u8,
        prefix: Prefix<F>,
        lowest: u32,
    ) -> bool {
        let unit = 1usize << self.codes.form.log2;
        let number = |at: F::Bits| at.extract(window.start, depth - window.start);
        let mut raw = lowest;
        let mut from = number(prefix.first());
        let end = number(prefix.last()) + 1;
        let ends = self.starts.iter().map(|start| (number(start.at), start));
        for (to, start) in ends {
            let Some(code) = self.codes.code(raw) else { return false };
            if start.depth() > depth {
                return false;
            }
            fill_codes(&mut page[from * unit..to * unit], unit, code);
            (raw, from) = (start.raw, to);
        }
        let Some(code) = self.codes.code(raw) else { return false };
        fill_codes(&mut page[from * unit..end * unit], unit, code);
        true
    }

    /// Inserts a page of codes, as coarse as possible.
    fn insert_codes(
        &mut self,
        window: Level,
        page: &mut Vec<u8>,
    ) -> Result<Option<New>, CannotPatch> {
        let unit = 1usize << self.codes.form.log2;
        while page.len() > unit && halves(page, unit) {}
        if page.len() == unit {
            return Ok(Some(New::answer(self.fixed.next_hop(page))));
        }
        let width = (page.len() >> self.codes.form.log2).ilog2();
        let drop = u32::from(window.width) - width + self.codes.form.slot_shift;
        let stored = self.insert(Kind::Codes, page).ok_or(CannotPatch)?;
        let entry = Entry::page_of_codes(stored.start >> self.codes.form.log2, drop as u8);
        self.built.leaves += u64::from(!stored.known);
        Ok(Some(New { entry, page: Some(stored.at) }))
    }

    fn insert(&mut self, kind: Kind, page: &mut Vec<u8>) -> Option<Stored> {
        if page.len() < PLACE_UNIT << self.codes.form.log2 {
            page.resize(PLACE_UNIT << self.codes.form.log2, 0);
        }
        self.store.insert(kind, page, 1 << self.codes.form.log2).ok()
    }

    /// Copies the branch pages of the path, lowest first.
    ///
    /// The path ends above a branch page that only has answers left. Returns the bottom, and the
    /// root's new entry.
    fn copy_path(
        &mut self,
        rib: &Rib<F>,
        prefix: Prefix<F>,
        mut bottom: Bottom,
    ) -> Result<(Bottom, New), CannotPatch> {
        let mut new = bottom.new;
        for level in (0..self.path.len()).rev() {
            let mut page = core::mem::take(&mut self.scratch);
            let step = &self.path[level];
            let old = step.old;
            page.clear();
            page.extend(self.store.content(self.store.page(old)));
            page[4 * step.slot..][..4].copy_from_slice(&new.entry.0.to_le_bytes());
            let copied = if slots(&page).any(Entry::is_page) {
                self.copy_branch(level, &mut page, new)
            } else {
                // No page below, so `new` has no page either.
                self.path.truncate(level);
                self.collapsed(rib, prefix, level, &page).inspect(|new| {
                    bottom = Bottom { old: Some(old), new: *new };
                })
            };
            self.scratch = page;
            match copied {
                Ok(copied) => new = copied,
                Err(CannotPatch) => {
                    self.forget_path(level + 1, bottom);
                    return Err(CannotPatch);
                }
            }
        }
        Ok((bottom, new))
    }

    /// Inserts the copy of a branch page.
    fn copy_branch(
        &mut self,
        level: usize,
        page: &mut Vec<u8>,
        below: New,
    ) -> Result<New, CannotPatch> {
        let stored = self.insert(Kind::Branch(level as u8), page).ok_or(CannotPatch)?;
        self.path[level].copy = Some(Copied { at: stored.at, known: stored.known });
        if stored.known {
            // The existing page already counts its reference to the page below.
            below.page.into_iter().for_each(|page| self.store.release(page));
        } else {
            self.built.nodes += 1;
        }
        let entry = Entry::branch_page(stored.start >> self.codes.form.log2);
        Ok(New { entry, page: Some(stored.at) })
    }

    /// Returns the replacement of a branch page whose slots are all answers.
    fn collapsed(
        &mut self,
        rib: &Rib<F>,
        prefix: Prefix<F>,
        level: usize,
        page: &[u8],
    ) -> Result<New, CannotPatch> {
        let first = slot(page, 0);
        if slots(page).take(1 << self.fixed.levels[level].width).all(|slot| slot == first) {
            return Ok(New { entry: first, page: None });
        }
        self.rebuild(rib, prefix, level)
    }

    /// Removes the copies from a level on, and the page below them.
    fn forget_path(&mut self, from: usize, bottom: Bottom) {
        let path = core::mem::take(&mut self.path);
        let mut whole = true;
        for copy in path.iter().skip(from).filter_map(|step| step.copy) {
            if copy.known {
                // The existing page keeps its reference to the page below.
                self.store.release(copy.at);
                whole = false;
                break;
            }
            // References to pages beside the path were never counted.
            let page = self.store.release_or_remove(copy.at);
            page.into_iter().for_each(|page| self.store.free(&page));
        }
        self.path = path;
        if whole {
            self.release_unseen(bottom.new.page.into_iter().collect());
        }
    }

    /// Stores the root's entry and updates the references.
    fn replace_path(&mut self, index: u32, before: Entry, top: New, bottom: Bottom) {
        if before == top.entry {
            // The new entry leads to the same page: count one reference, not two.
            top.page.into_iter().for_each(|page| self.store.release(page));
            return;
        }
        self.entries.publish(index as usize, top.entry.0);
        self.built.entries += 1;
        let mut gone = Vec::new();
        self.leave_path(bottom, &mut gone);
        self.retire(gone);
    }

    /// Removes a reference to the first page, and downwards while it was the last. Below the first
    /// page with other references, the copies share the pages of their originals.
    fn leave_path(&mut self, bottom: Bottom, gone: &mut Vec<Page>) {
        let path = core::mem::take(&mut self.path);
        let mut leaving = true;
        for (level, step) in path.iter().enumerate() {
            let heir = step.copy.filter(|copy| !copy.known);
            if leaving && let Some(page) = self.store.release_or_remove(step.old) {
                gone.push(page);
                if heir.is_none() {
                    self.release_below(&page, gone);
                    leaving = false;
                    break;
                }
                continue;
            }
            leaving = false;
            match heir {
                Some(copy) => self.count_below(level, copy.at, step.slot),
                None => break,
            }
        }
        self.path = path;
        if leaving && let Some(old) = bottom.old {
            self.release(old, gone);
        }
    }

    /// Adds a reference to each page below a copy, except in the slot that differs.
    fn count_below(&mut self, level: usize, copy: u32, but: usize) {
        let entries = slots(self.store.content(self.store.page(copy))).enumerate();
        let others = entries.filter(|(slot, _)| *slot != but);
        let pages: Vec<u32> = others.filter_map(|(_, entry)| self.page(level + 1, entry)).collect();
        pages.into_iter().for_each(|page| self.store.retain(page, 1));
    }
}

/// Halves a page of codes if each pair is equal; returns whether it did.
pub(in super::super) fn halves(page: &mut Vec<u8>, unit: usize) -> bool {
    if page.chunks_exact(2 * unit).any(|pair| pair[..unit] != pair[unit..]) {
        return false;
    }
    let half = page.len() / 2;
    for at in (unit..half).step_by(unit) {
        page.copy_within(2 * at..2 * at + unit, at);
    }
    page.truncate(half);
    true
}
