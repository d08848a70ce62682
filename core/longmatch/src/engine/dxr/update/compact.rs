//! Moves chunks into gaps, so that the end of the range table becomes free.
//!
//! A commit moves the chunks of one window: of the end of the table if the last chunk fits a gap,
//! else of the place where the fewest words are in the way of a gap that the last chunk fits. A
//! chunk moves as it changes: its copy is written aside, one store replaces each direct entry, and
//! the old words wait for readers. All work spends credit that changes earn by the ranges they
//! write, so moves at most double what changes write.

use alloc::vec::Vec;
use core::ops::Range;

use super::super::chunk::chunk;
use super::super::direct::DirectOwner;
use super::super::layout::Format;
use super::{Patcher, run_of};

/// Free bytes of the range table that cause no moves.
///
/// Another byte per `FREE_PART` of the table may be free.
const FREE_BYTES: usize = 1 << 16;
const FREE_PART: usize = 8;
/// A window has at least one of `WINDOWS` parts of the table.
const WINDOWS: usize = 32;
/// Direct entries whose comparison costs as much as the copy of a word.
const COMPARED: usize = 8;

impl<E: Format> Patcher<E> {
    /// Moves some chunks if much of the range table is free.
    pub(super) fn compact(&mut self) {
        let (len, free) = (self.ranges.len(), self.free.items());
        let most = len + (1 << self.k) / COMPARED;
        self.credit = most.min(self.credit + self.written.leaves as usize);
        if free > FREE_BYTES / size_of::<E::Word>() + len / FREE_PART {
            self.close_gaps();
        }
    }

    /// Moves the chunks of one window as far as the credit allows.
    pub(in super::super) fn close_gaps(&mut self) {
        let Some(window) = self.window() else { return };
        let inside = self.chunks.from(E::entry(window.start as u32, false, 0));
        let inside = inside.take_while(|entry| (E::base(*entry) as usize) < window.end);
        let inside: Vec<u32> = inside.take(self.credit).collect();
        self.credit -= inside.len();
        for entry in inside {
            self.relocate(entry, &window);
        }
        if self.pending.is_empty() {
            return;
        }
        match self.stage() {
            Ok(()) => self.publish(),
            Err(_) => self.forget(),
        }
    }

    /// Chooses the words to free. `None` if there is no chunk, or no credit for the choice.
    fn window(&mut self) -> Option<Range<usize>> {
        let last = run_of::<E>(&self.ranges, self.chunks.from(0).next_back()?);
        let (len, size) = (self.ranges.len(), last.count as usize);
        let least = len / WINDOWS;
        if self.free.longest() >= size {
            return Some((len - least).min(last.start as usize)..len);
        }
        self.credit = self.credit.checked_sub(self.chunks.len())?;
        let size = least.max(size);
        let runs = || self.chunks.from(0).map(|entry| run_of::<E>(&self.ranges, entry));
        let mut ahead = runs().take_while(|run| *run != last).peekable();
        let (mut best, mut used, mut start) = (None, 0, 0);
        for run in runs() {
            // Words that wait for readers will be a gap.
            if run.start as usize >= start + size {
                return None;
            }
            // Counts the words of all chunks that begin in the window.
            while let Some(next) = ahead.next_if(|next| (next.start as usize) < start + size) {
                used += next.count as usize;
            }
            // The window must end before the last chunk.
            if ahead.peek().is_none() {
                break;
            }
            if best.is_none_or(|(least, _)| used < least) {
                best = Some((used, start));
            }
            used -= run.count as usize;
            start = run.end() as usize;
        }
        best.map(|(_, start)| start..start + size)
    }

    /// Copies a chunk out of the window, if it fits a gap and the credit suffices.
    fn relocate(&mut self, entry: u32, window: &Range<usize>) {
        let (k, x) = (self.k, self.direct.levels().x());
        let only = self.only_index(entry);
        let count = run_of::<E>(&self.ranges, entry).count as usize;
        // The copy, the block, and the search for entries.
        let search = if only.is_none() { (1 << k) / COMPARED } else { 0 };
        let cost = count + (1 << x) + search;
        let (Some(hash), Some(rest)) = (self.chunks.hash_of(entry), self.credit.checked_sub(cost))
        else {
            return;
        };
        let reach = 1 << E::BASE_BITS;
        let Some(start) = self.free.take_outside(count, window, reach) else { return };
        self.credit = rest;
        let words = chunk::<E>(&self.ranges, entry).to_vec();
        // SAFETY: the run was free, so no entry that readers may have read leads into it (invariant
        // 7).
        unsafe { self.ranges.write(start as usize, &words) };
        let moved = E::entry(start, E::is_short(entry), E::size_field(entry));
        self.chunks.insert(moved, hash);
        self.added.push(moved);
        self.written.leaves += count as u64;
        let levels = self.direct.levels();
        match only {
            Some(index) => drop(self.pending.insert(index, moved)),
            None => {
                let same = (0..1 << k).filter(|index| levels.entry(*index) == entry);
                self.pending.extend(same.map(|index| (index, moved)));
            }
        }
    }

    /// The only chunk of the address space with this direct entry, if the accounts show it.
    fn only_index(&self, entry: u32) -> Option<usize> {
        let place = self.chunks.only_place(entry)?;
        let index = match (&self.direct, &self.blocks) {
            (DirectOwner::Split(split), Some(blocks)) => blocks.index_of(split, place)?,
            _ => place as usize,
        };
        (self.direct.levels().entry(index) == entry).then_some(index)
    }
}
