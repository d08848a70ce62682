//! The kernel in vectors.

use core::mem::MaybeUninit;

use crate::engine::folio::v4::batch::InPlace;
use crate::engine::folio::v4::layout::{
    CUT_OF_KIND, LISTS_BELOW, PAGES_BELOW, PLACE, PLACE_BITS, View,
};
use crate::engine::folio::v4::lookup::ranked;
use crate::simd::lanes::Lanes;
use crate::simd::{Kernel, Simd, prefetch_bytes};

/// Addresses whose lists are answered together.
const CHUNK: usize = 1024;
/// The most lanes of a vector.
const MOST_LANES: usize = 16;
/// Batches of fewer addresses are looked up by single vectors.
const FEW: usize = 64;
/// Prefetch distance of addresses, in bytes: the hardware's prefetching stops at the end of a
/// memory page.
const KEYS_AHEAD: usize = 4096;

/// Answers `count` addresses, if that fills a vector of the level.
///
/// # Safety
/// As [`Kernel::run`].
#[inline(always)]
pub(super) unsafe fn run(
    simd: Simd,
    table: &View<'_>,
    keys: *const u8,
    to: *mut u32,
    count: usize,
    swap: bool,
) -> bool {
    // The kernel ends before the borrow does.
    let table = core::ptr::from_ref(table).cast::<View<'static>>();
    // SAFETY: a view of arrays that outlive this call.
    let table = unsafe { &*table };
    match table.code_bytes {
        // SAFETY: this function's contract.
        1 => unsafe { simd.run_kernel::<Chunks<1>>(table, keys, to, count, swap) },
        // SAFETY: this function's contract.
        2 => unsafe { simd.run_kernel::<Chunks<2>>(table, keys, to, count, swap) },
        // SAFETY: this function's contract.
        3 => unsafe { simd.run_kernel::<Chunks<3>>(table, keys, to, count, swap) },
        // SAFETY: this function's contract.
        _ => unsafe { simd.run_kernel::<Chunks<4>>(table, keys, to, count, swap) },
    }
}

/// The kernel for codes of `BYTES` bytes.
struct Chunks<const BYTES: usize>;

impl<const BYTES: usize> Kernel for Chunks<BYTES> {
    type Table = View<'static>;

    #[inline(always)]
    unsafe fn run<L: Lanes>(
        lanes: L,
        table: &View<'static>,
        keys: *const u8,
        to: *mut u32,
        count: usize,
        swap: bool,
    ) {
        let keys = InPlace { from: keys, swap };
        let steps = Steps::<L, BYTES> { lanes, table: *table, keys, to };
        if count < FEW {
            let (mut at, wide) = (0, 2 * L::COUNT);
            if L::COUNT < MOST_LANES && count >= wide {
                while at < count {
                    // SAFETY: whole vectors; the last ones answer some addresses again.
                    unsafe { steps.few::<2>(at.min(count - wide)) };
                    at += wide;
                }
                return;
            }
            while at < count {
                // SAFETY: whole vectors; the last one answers some addresses again.
                unsafe { steps.few::<1>(at.min(count - L::COUNT)) };
                at += L::COUNT;
            }
            return;
        }
        let mut lists = Lists::new();
        let mut at = 0;
        while at < count {
            let end = count.min(at + CHUNK);
            // SAFETY: the addresses from `at` to `end` are in the batch, which has a vector.
            unsafe { steps.chunk(at, end, &mut lists) };
            at = end;
        }
    }
}

/// The keys of lists of a chunk, and which addresses have one.
struct Lists {
    keys: [MaybeUninit<u32>; CHUNK],
    /// A bit for each address.
    masks: [u32; CHUNK / 32],
}

impl Lists {
    fn new() -> Self {
        Self { keys: [const { MaybeUninit::uninit() }; _], masks: [0; _] }
    }
}

/// A table, addresses and their writable answers.
struct Steps<'a, L, const BYTES: usize> {
    lanes: L,
    table: View<'a>,
    keys: InPlace,
    to: *mut u32,
}

impl<L: Lanes, const BYTES: usize> Steps<'_, L, BYTES> {
    /// Answers the addresses from `at` to `end`.
    ///
    /// # Safety
    /// They are in the batch, and so is the vector before `end`.
    #[inline(always)]
    unsafe fn chunk(&self, at: usize, end: usize, lists: &mut Lists) {
        let (mut first, mut words) = (at, 0);
        let mut any = 0;
        if L::COUNT == MOST_LANES {
            while first + 8 * L::COUNT <= end {
                // SAFETY: the vectors are in the batch, and their keys in the chunk.
                let masks = unsafe { self.group::<8, 4>(first, first - at, lists) };
                lists.masks[words..words + 4].copy_from_slice(&masks);
                any |= masks.iter().fold(0, |all, mask| all | mask);
                words += 4;
                first += 8 * L::COUNT;
            }
        }
        while first + 32 <= end {
            let [mask] = match L::COUNT {
                // SAFETY: the vectors are in the batch, and their keys in the chunk.
                MOST_LANES => unsafe { self.group::<2, 1>(first, first - at, lists) },
                // SAFETY: the vectors are in the batch, and their keys in the chunk.
                _ => unsafe { self.group::<4, 1>(first, first - at, lists) },
            };
            lists.masks[words] = mask;
            any |= mask;
            words += 1;
            first += 32;
        }
        if any != 0 {
            // SAFETY: the masks are those of the chunk's addresses.
            unsafe { self.settle(at, &lists.masks[..words], lists) };
        }
        while first < end {
            // SAFETY: the vector is in the batch.
            unsafe { self.few::<1>(first.min(end - L::COUNT)) };
            first += L::COUNT;
        }
    }

    /// Answers `N` vectors of at most 32 addresses.
    ///
    /// # Safety
    /// They are in the batch.
    #[inline(always)]
    unsafe fn few<const N: usize>(&self, at: usize) {
        let mut lists = [MaybeUninit::uninit(); MOST_LANES];
        // SAFETY: the vectors are in the batch; there is a key for each of their addresses.
        let [mut mask] = unsafe { self.answers::<N, 1>(at, lists.as_mut_ptr().cast()) };
        while mask != 0 {
            let i = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            // SAFETY: the key of an address with a list was stored.
            let key = unsafe { lists[i].assume_init() };
            // SAFETY: the answer of address `i` is the place of its list.
            unsafe { self.list(at + i, key) };
        }
    }

    /// Answers `N` vectors but for those with lists, whose places and keys it stores.
    ///
    /// # Safety
    /// The vectors' addresses, from `at` on, are in the batch, and `key` is their first in the chunk.
    #[inline(always)]
    unsafe fn group<const N: usize, const W: usize>(
        &self,
        at: usize,
        key: usize,
        lists: &mut Lists,
    ) -> [u32; W] {
        let keys = lists.keys[key..][..N * L::COUNT].as_mut_ptr().cast();
        // SAFETY: the vectors are in the batch; there is a key for each of their addresses.
        let masks = unsafe { self.answers::<N, W>(at, keys) };
        if self.table.fixed.ahead {
            for (first, mask) in (at..).step_by(32).zip(masks) {
                let mut mask = mask;
                while mask != 0 {
                    let i = first + mask.trailing_zeros() as usize;
                    mask &= mask - 1;
                    // SAFETY: the place of a list was stored as the answer.
                    let place = unsafe { self.to.wrapping_add(i).read() };
                    self.prefetch(place);
                }
            }
        }
        masks
    }

    /// Prefetches a list.
    #[inline(always)]
    fn prefetch(&self, place: u32) {
        let words = self.table.words.as_ptr();
        let line = words.wrapping_add((place & !15) as usize);
        prefetch_bytes(line.cast());
        // A list of two lines has its place in the second.
        let half = place & place.wrapping_neg();
        prefetch_bytes(line.wrapping_sub((half & 16) as usize).cast());
    }

    /// The steps before the lists. Returns the addresses with lists as bits; their answers are the
    /// places of the lists.
    ///
    /// # Safety
    /// The vectors' addresses, from `at` on, are in the batch; `list_keys` has a writable word for
    /// each.
    #[inline(always)]
    unsafe fn answers<const N: usize, const W: usize>(
        &self,
        at: usize,
        list_keys: *mut u32,
    ) -> [u32; W] {
        let l = self.lanes;
        let table = &self.table;
        let zero = l.splat(0);
        let (mut entry, mut below) = ([zero; N], [zero; N]);
        let mut pages = [l.less(zero, zero); N];
        let mut any = false;
        for v in 0..N {
            // SAFETY: the vector is in the batch.
            let key = unsafe { self.key(at + v * L::COUNT) };
            let block = l.shr(key, l.splat(table.root_shift));
            // SAFETY: the root has an entry for every block (invariant 1).
            entry[v] = unsafe { l.gather_published(table.root.as_ptr(), block) };
            below[v] = l.and(key, l.splat(table.below_root));
            pages[v] = l.less(entry[v], l.splat(PAGES_BELOW));
        }
        for pages in pages {
            any |= l.any(pages);
        }
        if any {
            for v in 0..N {
                // SAFETY: the lanes are entries of the root and what is below them.
                (entry[v], below[v]) = unsafe { self.inner(pages[v], entry[v], below[v]) };
            }
        }
        let mut masks = [0; W];
        for v in 0..N {
            let is_list = l.less(entry[v], l.splat(LISTS_BELOW));
            let bits = l.bits(is_list);
            masks[v * L::COUNT / 32] |= bits << (v * L::COUNT % 32);
            let coded = l.less(l.splat(u32::MAX), entry[v]);
            let place = l.and(entry[v], l.splat(PLACE));
            let position = l.add(place, l.shr(below[v], l.shr(entry[v], l.splat(PLACE_BITS))));
            // SAFETY: the chosen lanes are pages of codes.
            entry[v] = unsafe { self.codes(coded, position) };
        }
        self.patch(&mut entry);
        for (v, answers) in entry.into_iter().enumerate() {
            // SAFETY: the vector's answers are writable.
            unsafe { l.store(self.to.wrapping_add(at + v * L::COUNT), answers) };
        }
        if masks.iter().any(|mask| *mask != 0) {
            let bits = table.hop_bits;
            let low = l.splat(((1u64 << bits) - 1) as u32);
            for (v, below) in below.into_iter().enumerate() {
                let key = l.or(l.shl(below, l.splat(bits)), low);
                // SAFETY: there is a word for each address.
                unsafe { l.store(list_keys.wrapping_add(v * L::COUNT), key) };
            }
        }
        masks
    }

    /// Reads a vector of addresses.
    ///
    /// # Safety
    /// It is in the batch.
    #[inline(always)]
    unsafe fn key(&self, at: usize) -> L::V {
        let from = self.keys.from.wrapping_add(4 * at);
        prefetch_bytes(from.wrapping_add(KEYS_AHEAD));
        // SAFETY: the vector's addresses are readable.
        let key = unsafe { self.lanes.load(from) };
        if self.keys.swap { self.lanes.swap_bytes(key) } else { key }
    }

    /// Replaces entries that lead to pages of entries, and the bits below them.
    ///
    /// # Safety
    /// These are entries of the root, and address bits below them; `pages` are the lanes with pages
    /// of entries.
    #[inline(always)]
    unsafe fn inner(&self, pages: L::M, entry: L::V, below: L::V) -> (L::V, L::V) {
        let l = self.lanes;
        let cut = l.sub(l.shr(entry, l.splat(PLACE_BITS)), l.splat(CUT_OF_KIND));
        let at = l.add(l.and(entry, l.splat(PLACE)), l.shr(below, cut));
        let words = self.table.words.as_ptr().cast();
        // SAFETY: a page has an entry for every block (invariant 2).
        let inner = unsafe { l.gather_where::<4>(pages, words, at, entry) };
        let mask = l.shl(l.splat(u32::MAX), cut);
        (inner, l.select(pages, l.without(below, mask), below))
    }

    /// The codes at positions; other lanes keep their positions.
    ///
    /// # Safety
    /// The chosen lanes are positions of codes of pages that the root leads to.
    #[inline(always)]
    unsafe fn codes(&self, chosen: L::M, position: L::V) -> L::V {
        let l = self.lanes;
        let codes = self.table.codes.as_ptr();
        let read = match BYTES {
            // SAFETY: codes have 4 readable bytes (invariant 4).
            1 => unsafe { l.gather_where::<1>(chosen, codes, position, position) },
            // SAFETY: codes have 4 readable bytes (invariant 4).
            2 => unsafe { l.gather_where::<2>(chosen, codes, position, position) },
            3 => {
                let bytes = l.add(position, l.add(position, position));
                // SAFETY: codes have 4 readable bytes (invariant 4).
                unsafe { l.gather_where::<1>(chosen, codes, bytes, position) }
            }
            // SAFETY: codes have 4 readable bytes (invariant 4).
            _ => return unsafe { l.gather_where::<4>(chosen, codes, position, position) },
        };
        let mask = l.splat(u32::MAX >> (32 - 8 * BYTES as u32));
        l.select(chosen, l.and(read, mask), position)
    }

    /// Replaces codes of one byte that are not their own next hop.
    #[inline(always)]
    fn patch<const N: usize>(&self, codes: &mut [L::V; N]) {
        if BYTES > 1 {
            return;
        }
        let l = self.lanes;
        let patches = &self.table.fixed.patches;
        for i in 0..patches.count {
            let (code, hop) = patches.pairs[i];
            let (code, hop) = (l.splat(code), l.splat(hop));
            for codes in &mut *codes {
                *codes = l.select(l.equal(*codes, code), hop, *codes);
            }
        }
    }

    /// Answers the addresses with lists of a chunk that begins at `at`.
    ///
    /// # Safety
    /// The masks choose addresses whose answers are places of lists, and whose keys were stored.
    #[inline(always)]
    unsafe fn settle(&self, at: usize, masks: &[u32], lists: &Lists) {
        for (first, mask) in (0..).step_by(32).zip(masks) {
            let mut mask = *mask;
            while mask != 0 {
                let i = first + mask.trailing_zeros() as usize;
                mask &= mask - 1;
                // SAFETY: the key of an address with a list was stored.
                let key = unsafe { lists.keys[i].assume_init() };
                // SAFETY: the answer of address `i` of the chunk is the place of its list.
                unsafe { self.list(at + i, key) };
            }
        }
    }

    /// Answers address `i` of the batch from its list.
    ///
    /// # Safety
    /// Its answer is the place of its list.
    #[inline(always)]
    unsafe fn list(&self, i: usize, key: u32) {
        let to = self.to.wrapping_add(i);
        // SAFETY: the batch has an answer `i`, which is the place of a list.
        let place = unsafe { to.read() };
        // SAFETY: `place` is that of a list.
        let word = unsafe { ranked(self.lanes, self.table.words.as_ptr(), place, key) };
        let low = (1u64 << self.table.hop_bits) as u32;
        // SAFETY: the batch has a writable answer `i`.
        unsafe { to.write(word & low.wrapping_sub(1)) };
    }
}
