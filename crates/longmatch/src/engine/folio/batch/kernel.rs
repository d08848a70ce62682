//! The kernel: vectors of addresses descend level by level.

use super::super::layout::{BRANCH, Code, DROP, Level, PAGE, PLACE, View};
use super::front::{self, HOST, NETWORK, PAIRS};
use crate::engine::kit::KeyLayout;
use crate::net::Family;
use crate::simd::lanes::Lanes;

/// Any layout: a branch a group decides. Only the loads of addresses depend on the layout, so one
/// kernel serves all. IPv6 lost nothing, IPv4 up to a fifth with AVX2.
pub(super) const ANY: u8 = u8::MAX;

/// Flag in the registers of a lookup: the value was read from a page of 8-bit codes. Next hops of
/// tables with such codes leave this bit free.
const FROM_PAGE: u32 = 1 << 24;

pub(super) struct Kernel<'a, L: Lanes, F: Family, C: Code, const LAYOUT: u8> {
    lanes: L,
    /// Layout of the addresses; read where the kernel is for [`ANY`].
    layout: KeyLayout,
    folio: &'a View<'a, F, C>,
    pages: *const u8,
    /// The levels that suffice for most addresses: all but the last, and the last.
    usual: (&'a [Level], Level),
}

/// The current half of the address: its first word and its second, in each lane.
type Halves<V, const N: usize> = [[V; 2]; N];

impl<'a, L: Lanes, F: Family, C: Code, const LAYOUT: u8> Kernel<'a, L, F, C, LAYOUT> {
    #[inline(always)]
    pub fn new(lanes: L, folio: &'a View<'a, F, C>, layout: KeyLayout) -> Self {
        let fixed = folio.fixed;
        let (last, before) = (fixed.usual_levels - 1, &fixed.levels[..fixed.usual_levels - 1]);
        let usual = (before, fixed.levels[last]);
        Self { lanes, layout, folio, pages: folio.pages.as_ptr(), usual }
    }

    /// Answers `N` vectors of addresses.
    ///
    /// # Safety
    /// `from` has as many readable addresses, and `to` as many writable answers.
    #[inline(always)]
    pub unsafe fn group<const N: usize>(&self, from: *const u8, to: *mut u32) {
        let l = self.lanes;
        let mut key = [l.splat(0); N];
        let mut entry = [l.splat(0); N];
        // SAFETY: `from` has the group's addresses, as the caller promises.
        let words: Halves<L::V, N> = unsafe { self.halves(from, 0) };
        for v in 0..N {
            let [first, second] = words[v];
            self.prefetch_keys(from, v);
            entry[v] = first;
            key[v] = self.below_root(first, second);
        }
        self.root(&mut entry);
        if !self.usual(&key, &mut entry) {
            // SAFETY: `from` has the group's addresses, as the caller promises.
            unsafe { self.rest(from, &mut entry) };
        }
        self.finish(entry, to);
    }

    /// The 32 bits below those that number the root's blocks. For IPv4 the whole address.
    #[inline(always)]
    fn below_root(&self, first: L::V, second: L::V) -> L::V {
        if F::WIDTH == 32 {
            return first;
        }
        let (l, bits) = (self.lanes, u32::from(self.folio.root.bits));
        l.or(l.shl(first, l.splat(bits)), l.shr(second, l.splat(32 - bits)))
    }

    /// Descends the levels that few addresses need.
    ///
    /// Reads the addresses again, so that they need not be kept in registers.
    ///
    /// # Safety
    /// `from` has the group's addresses.
    #[inline(always)]
    unsafe fn rest<const N: usize>(&self, from: *const u8, entry: &mut [L::V; N]) {
        let from = core::hint::black_box(from);
        let levels = &self.folio.levels[self.folio.usual_levels - 1..];
        let upper = levels.partition_point(|level| level.start < 64);
        for (half, levels) in [&levels[..upper], &levels[upper..]].into_iter().enumerate() {
            if half * 64 >= usize::from(F::WIDTH) {
                return;
            }
            // SAFETY: `from` has the group's addresses, as the caller promises.
            let key: Halves<L::V, N> = unsafe { self.halves(from, half) };
            if self.descend(levels, &key, entry) {
                return;
            }
        }
    }

    /// Prefetches the addresses of a later group.
    #[inline(always)]
    fn prefetch_keys(&self, from: *const u8, v: usize) {
        front::prefetch_keys::<L, F>(from, v);
    }

    /// Reads a half of the addresses of each vector.
    ///
    /// # Safety
    /// As for [`Kernel::group`].
    #[inline(always)]
    unsafe fn halves<const N: usize>(&self, from: *const u8, half: usize) -> Halves<L::V, N> {
        if const { LAYOUT != ANY } {
            // SAFETY: `from` has the group's addresses, as the caller promises.
            return unsafe { self.halves_in::<LAYOUT, N>(from, half) };
        }
        match self.layout {
            // SAFETY: `from` has the group's addresses, as the caller promises.
            KeyLayout::Network => unsafe { self.halves_in::<NETWORK, N>(from, half) },
            KeyLayout::U64Pairs if const { F::WIDTH > 32 } => {
                // SAFETY: `from` has the group's addresses, as the caller promises.
                unsafe { self.halves_in::<PAIRS, N>(from, half) }
            }
            KeyLayout::Host | KeyLayout::U64Pairs => {
                // SAFETY: `from` has the group's addresses, as the caller promises.
                unsafe { self.halves_in::<HOST, N>(from, half) }
            }
        }
    }

    /// [`Kernel::halves`] of addresses in a layout.
    ///
    /// # Safety
    /// As for [`Kernel::group`].
    #[inline(always)]
    unsafe fn halves_in<const IN: u8, const N: usize>(
        &self,
        from: *const u8,
        half: usize,
    ) -> Halves<L::V, N> {
        let mut words = [[self.lanes.splat(0); 2]; N];
        for (v, words) in words.iter_mut().enumerate() {
            // SAFETY: `from` has the group's addresses, as the caller promises.
            *words = unsafe { self.half::<IN>(from, v, half) };
        }
        words
    }

    /// Reads a half of the addresses of vector `v`: the word first in network order, and the other.
    ///
    /// # Safety
    /// As for [`Kernel::group`].
    #[inline(always)]
    unsafe fn half<const IN: u8>(&self, from: *const u8, v: usize, half: usize) -> [L::V; 2] {
        // SAFETY: vector `v` lies in the group, whose addresses are readable, as the caller
        // promises.
        unsafe { front::half::<L, F, IN>(self.lanes, from, v, half) }
    }

    /// Replaces the first words of addresses with the root's entries.
    #[inline(always)]
    fn root<const N: usize>(&self, word: &mut [L::V; N]) {
        let (l, root) = (self.lanes, &self.folio.root);
        let shift = l.splat(32 - u32::from(root.bits));
        if F::WIDTH == 32 {
            for word in word {
                *word = self.root_entry(l.shr(*word, shift));
            }
            return;
        }
        front::replace_words(l, root, word, |index| self.root_entry(index));
    }

    #[inline(always)]
    fn root_entry(&self, index: L::V) -> L::V {
        let entries = self.folio.entries.as_ptr();
        // SAFETY: the index is at most the last one, which is below 2^31; an IPv4 root has an entry
        // for every block (invariant 1).
        unsafe { self.lanes.gather_published(entries, index) }
    }

    /// The bits of a level's window, above zeros that number the codes of a slot.
    #[inline(always)]
    fn window(&self, level: Level, [first, second]: [L::V; 2]) -> L::V {
        let l = self.lanes;
        let below = level.below();
        if F::WIDTH == 32 || below >= 32 {
            return self.cut_out(level, first, below - 32);
        }
        let joined = l.or(l.shl(first, l.splat(32 - below)), l.shr(second, l.splat(below)));
        self.cut_out(level, joined, 0)
    }

    /// The bits of a level's window, from a word with as many bits below them.
    #[inline(always)]
    fn cut_out(&self, level: Level, word: L::V, below: u32) -> L::V {
        let l = self.lanes;
        let mask = l.splat(((1 << level.width) - 1) << C::SLOT_SHIFT);
        let shifted = match below.checked_sub(C::SLOT_SHIFT) {
            Some(right) => l.shr(word, l.splat(right)),
            None => l.shl(word, l.splat(C::SLOT_SHIFT - below)),
        };
        l.and(shifted, mask)
    }

    /// Descends the usual levels; returns whether every entry is an answer.
    ///
    /// A branch is cheap when it depends on reads of a level earlier, and costs a sixth of the
    /// whole when it depends on the last gathers. So the levels before the last one run without a
    /// test; the last one too in IPv4 if nothing can follow, otherwise only if all its pages are
    /// pages of codes. (Without the test IPv6 lost up to a tenth.)
    #[inline(always)]
    fn usual<const N: usize>(&self, key: &[L::V; N], entry: &mut [L::V; N]) -> bool {
        if F::WIDTH > 32 && !self.any_page(entry) {
            return true;
        }
        let (before, last) = self.usual;
        let above = if F::WIDTH == 32 { 0 } else { self.folio.root.bits };
        for level in before {
            let below = u32::from(above + 32 - level.end());
            for v in 0..N {
                entry[v] = self.step(self.cut_out(*level, key[v], below), entry[v]);
            }
        }
        let below = u32::from(above + 32 - last.end());
        if F::WIDTH == 32 && self.folio.closed {
            for v in 0..N {
                entry[v] = self.step(self.cut_out(last, key[v], below), entry[v]);
            }
            return true;
        }
        if self.any_branch(entry) {
            return false;
        }
        for v in 0..N {
            entry[v] = self.last_step(self.cut_out(last, key[v], below), entry[v]);
        }
        true
    }

    /// Descends while an entry leads on; returns whether every entry is an answer.
    #[inline(always)]
    fn descend<const N: usize>(
        &self,
        levels: &[Level],
        key: &Halves<L::V, N>,
        entry: &mut [L::V; N],
    ) -> bool {
        for level in levels {
            if !self.any_page(entry) {
                return true;
            }
            for v in 0..N {
                entry[v] = self.step(self.window(*level, key[v]), entry[v]);
            }
        }
        !self.any_page(entry)
    }

    #[inline(always)]
    fn any_page<const N: usize>(&self, entry: &[L::V; N]) -> bool {
        let l = self.lanes;
        let mut all = l.splat(0);
        for entry in entry {
            all = l.or(all, *entry);
        }
        l.any(l.negative(all))
    }

    #[inline(always)]
    fn any_branch<const N: usize>(&self, entry: &[L::V; N]) -> bool {
        let l = self.lanes;
        let mut both = l.splat(0);
        for entry in entry {
            both = l.or(both, l.and(*entry, l.add(*entry, *entry)));
        }
        const { assert!(BRANCH << 1 == PAGE) };
        l.any(l.negative(both))
    }

    /// Descends one level: pages of codes answer, branch pages lead on.
    #[inline(always)]
    fn step(&self, window: L::V, entry: L::V) -> L::V {
        let l = self.lanes;
        // SAFETY: `window` is that of the level of the pages to which the lanes lead.
        let read = unsafe { self.read::<false>(window, entry) };
        if C::MASK == u32::MAX {
            return read;
        }
        l.select(l.less(entry, l.splat(PAGE | BRANCH)), self.code(read), read)
    }

    /// Descends one level whose pages are all pages of codes.
    #[inline(always)]
    fn last_step(&self, window: L::V, entry: L::V) -> L::V {
        let l = self.lanes;
        // SAFETY: `window` is that of the level of the pages to which the lanes lead.
        let read = unsafe { self.read::<true>(window, entry) };
        if C::MASK == u32::MAX { read } else { l.select(l.negative(entry), self.code(read), read) }
    }

    /// Reads the slots, with other bits above a code; answers are unchanged.
    ///
    /// # Safety
    /// The pages to which the lanes lead are of the window's level, and with `CODES` all are pages
    /// of codes.
    #[inline(always)]
    unsafe fn read<const CODES: bool>(&self, window: L::V, entry: L::V) -> L::V {
        let l = self.lanes;
        let slot = l.shr(window, l.and(entry, l.splat(DROP)));
        let at = l.add(l.and(entry, l.splat(PLACE)), slot);
        let (page, base) = (l.negative(entry), self.pages);
        match (C::LOG2, CODES) {
            // SAFETY: the chosen lanes name slots of pages (invariant 2), at places below 2^30.
            (0, true) => unsafe { l.gather_codes_where::<1>(page, base, at, entry) },
            // SAFETY: the chosen lanes name slots of pages (invariant 2), at places below 2^30.
            (1, true) => unsafe { l.gather_codes_where::<2>(page, base, at, entry) },
            // SAFETY: the chosen lanes name slots of pages (invariant 2), at places below 2^30.
            (0, false) => unsafe { l.gather_where::<1>(page, base, at, entry) },
            // SAFETY: the chosen lanes name slots of pages (invariant 2), at places below 2^30.
            (1, false) => unsafe { l.gather_where::<2>(page, base, at, entry) },
            // SAFETY: the chosen lanes name slots of pages (invariant 2), and a code is as long as
            // an entry.
            _ => unsafe { l.gather_where::<4>(page, base, at, entry) },
        }
    }

    /// Masks the code out of the bits that were read.
    #[inline(always)]
    fn code(&self, read: L::V) -> L::V {
        let l = self.lanes;
        let code = l.and(read, l.splat(C::MASK));
        if C::LOG2 == 0 { l.or(code, l.splat(FROM_PAGE)) } else { code }
    }

    /// Writes the answers.
    #[inline(always)]
    fn finish<const N: usize>(&self, mut entry: [L::V; N], to: *mut u32) {
        let l = self.lanes;
        if C::BOOK {
            let mut v = 0;
            while v < N {
                let w = (v + 1).min(N - 1);
                let codes = [l.and(entry[v], l.splat(C::MASK)), l.and(entry[w], l.splat(C::MASK))];
                let [a, b] = l.look_up_u16(self.folio.book.table(), codes);
                let [from_a, from_b] = [self.is_code(entry[v]), self.is_code(entry[w])];
                entry[w] = l.select(from_b, b, entry[w]);
                entry[v] = l.select(from_a, a, entry[v]);
                v += 2;
            }
        } else if C::LOG2 == 0 {
            for (code, raw) in &self.folio.patches {
                let code = l.splat(FROM_PAGE | u32::from(*code));
                for entry in &mut entry {
                    let patched = l.equal(*entry, code);
                    *entry = l.select(patched, l.splat((*raw).into()), *entry);
                }
            }
            for entry in &mut entry {
                *entry = l.and(*entry, l.splat(FROM_PAGE - 1));
            }
        }
        if F::WIDTH > 32 {
            for entry in &mut entry {
                *entry = l.in_order(*entry);
            }
        }
        for (v, entry) in entry.into_iter().enumerate() {
            // SAFETY: `to` has capacity for the group's answers, as the caller of `group` promises.
            unsafe { l.store(to.wrapping_add(v * L::COUNT), entry) };
        }
    }

    /// The lanes that have reached a code.
    #[inline(always)]
    fn is_code(&self, entry: L::V) -> L::M {
        let l = self.lanes;
        l.negative(l.shl(entry, l.splat(31 - FROM_PAGE.ilog2())))
    }
}
