//! The kernels for many addresses: `gather`, `ring` and `ring-loads`.

use core::mem::MaybeUninit;

use super::steps::Steps;
use crate::engine::folio::identity::layout::{View, escape_slot};
use crate::engine::folio::identity::lookup::{self, InPlace};
use crate::engine::kit::Batch;
use crate::net::NextHopId;
use crate::simd::Work;
use crate::simd::lanes::Lanes;

/// Addresses in a chunk: their numbers fit a word.
const CHUNK: usize = 1 << 20;
/// The most lanes of a vector.
const MOST_LANES: usize = 16;
/// The most vectors in flight in `gather`.
const GROUP: usize = 8;
/// Addresses between the root's gather and the read of codes, and between the prefetch and the
/// read.
const ROOT_AHEAD: usize = 96;
const PAGES_AHEAD: usize = 80;
/// Vectors of positions in a ring: more than are ahead, a power of two.
const RING_VECTORS: usize = 16;
/// The number of collected addresses whose codes escape at which they are answered.
const ESCAPED: usize = 64;
/// The numbers of lanes.
const NUMBERS: [u32; MOST_LANES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// A batch that fills at least one vector. There are as many keys as answers.
pub(super) struct Chunks<'a, L> {
    pub lanes: L,
    pub table: &'a View<'a>,
    pub keys: InPlace,
    pub mode: Batch,
    pub out: &'a mut [Option<NextHopId>],
}

impl<L: Lanes> Work for Chunks<'_, L> {
    type Output = ();

    /// Answers all chunks. A last one of less than a vector answers some addresses again.
    #[inline(always)]
    fn run(self) {
        let Self { lanes, table, keys, mode, out } = self;
        let mut start = 0;
        while start < out.len() {
            let first = start.min(out.len() - L::COUNT);
            let len = (out.len() - first).min(CHUNK);
            let out = &mut out[first..][..len];
            let keys = InPlace { from: keys.from.wrapping_add(4 * first), ..keys };
            let (root, codes, fixed) = (table.root.as_ptr(), table.codes.as_ptr(), table.fixed);
            let to = out.as_mut_ptr().cast();
            let steps = Steps { lanes, root, codes, fixed, keys, to };
            Chunk { steps, table, len }.run(mode);
            start = first + len;
        }
    }
}

/// Addresses whose codes escape, to be answered together.
struct Escaped {
    /// Their numbers in the chunk. A group's numbers fit behind `ESCAPED - 1` others.
    numbers: [u32; ESCAPED + GROUP * MOST_LANES],
    /// The positions of their codes.
    positions: [u32; ESCAPED + GROUP * MOST_LANES],
    count: usize,
}

/// The positions of some vectors of addresses.
#[repr(align(64))]
struct Ring([MaybeUninit<u32>; RING_VECTORS * MOST_LANES]);

impl Ring {
    #[inline(always)]
    fn vector<L: Lanes>(&mut self, vector: usize) -> *mut u32 {
        const { assert!(ROOT_AHEAD < RING_VECTORS * L::COUNT && L::COUNT <= MOST_LANES) };
        self.0.as_mut_ptr().cast::<u32>().wrapping_add(vector % RING_VECTORS * L::COUNT)
    }
}

/// From one vector to [`CHUNK`] addresses: there are `len` keys, and as many writable answers.
struct Chunk<'a, L> {
    steps: Steps<'a, L>,
    table: &'a View<'a>,
    len: usize,
}

impl<L: Lanes> Chunk<'_, L> {
    #[inline(always)]
    fn run(self, mode: Batch) {
        let mut escaped = Escaped { numbers: [0; _], positions: [0; _], count: 0 };
        match mode {
            Batch::Ring => self.ring::<false>(&mut escaped),
            Batch::RingLoads => self.ring::<true>(&mut escaped),
            _ => self.gather(&mut escaped),
        }
        if !self.len.is_multiple_of(L::COUNT) {
            // SAFETY: the chunk has at least a vector of addresses.
            unsafe { self.group::<1>(self.len - L::COUNT, &mut escaped) };
        }
        if escaped.count > 0 {
            self.settle(&mut escaped);
        }
    }

    /// The kernel `gather`, for all whole vectors.
    #[inline(always)]
    fn gather(&self, escaped: &mut Escaped) {
        let (mut at, whole) = (0, self.len - self.len % L::COUNT);
        // As many vectors as registers hold.
        if L::COUNT == MOST_LANES {
            at = self.groups::<GROUP>(at, whole, escaped);
        }
        at = self.groups::<4>(at, whole, escaped);
        self.groups::<1>(at, whole, escaped);
    }

    /// Answers groups of `N` vectors up to the address `end`; returns the first address after them.
    #[inline(always)]
    fn groups<const N: usize>(&self, mut at: usize, end: usize, escaped: &mut Escaped) -> usize {
        while at + N * L::COUNT <= end {
            // SAFETY: the addresses before `end` are in the chunk.
            unsafe { self.group::<N>(at, escaped) };
            at += N * L::COUNT;
        }
        at
    }

    /// Answers `N` vectors of addresses, whose gathers overlap.
    ///
    /// # Safety
    /// The vectors' addresses, from `at` on, are in the chunk.
    #[inline(always)]
    unsafe fn group<const N: usize>(&self, at: usize, escaped: &mut Escaped) {
        let mut positions = [self.steps.lanes.splat(0); N];
        for (v, positions) in positions.iter_mut().enumerate() {
            // SAFETY: the vector is in the chunk, as the caller promises.
            *positions = unsafe { self.steps.positions(at + v * L::COUNT) };
        }
        let mut codes = positions;
        for codes in &mut codes {
            // SAFETY: these are positions, read just before.
            *codes = unsafe { self.steps.codes(*codes) };
        }
        // SAFETY: the vectors are in the chunk, as the caller promises.
        unsafe { self.answer(at, positions, codes, escaped) };
    }

    /// Turns the codes of `N` vectors into answers, and collects the addresses whose code escapes.
    ///
    /// # Safety
    /// The vectors' addresses, from `at` on, are in the chunk.
    #[inline(always)]
    unsafe fn answer<const N: usize>(
        &self,
        at: usize,
        positions: [L::V; N],
        mut codes: [L::V; N],
        escaped: &mut Escaped,
    ) {
        const { assert!(N <= GROUP) };
        let Steps { lanes: l, fixed, to, .. } = self.steps;
        let all_ones = l.splat(fixed.escape_code);
        // SAFETY: there are as many numbers as lanes of the widest vector.
        let lanes = unsafe { l.load(NUMBERS.as_ptr().cast()) };
        // No branch asks whether any address escapes. Where one in a hundred does, the CPU
        // mispredicts it, and notices only when the codes arrive: it took a third of the rate.
        for v in 0..N {
            let numbers = l.add(lanes, l.splat((at + v * L::COUNT) as u32));
            let (chosen, count) = (l.equal(codes[v], all_ones), escaped.count);
            l.store_chosen(chosen, numbers, &mut escaped.numbers[count..]);
            escaped.count += l.store_chosen(chosen, positions[v], &mut escaped.positions[count..]);
        }
        self.steps.decode(&mut codes);
        for (v, hops) in codes.into_iter().enumerate() {
            // SAFETY: the vector's answers are writable.
            unsafe { l.store(to.wrapping_add(at + v * L::COUNT), hops) };
        }
        if escaped.count >= ESCAPED {
            self.settle(escaped);
        }
    }

    /// The kernels `ring` and, with `LOADS`, `ring-loads`, for all whole vectors.
    #[inline(always)]
    fn ring<const LOADS: bool>(&self, escaped: &mut Escaped) {
        let mut ring = Ring([const { MaybeUninit::uninit() }; _]);
        let count = self.len / L::COUNT;
        let (root_ahead, pages_ahead) = (ROOT_AHEAD / L::COUNT, PAGES_AHEAD / L::COUNT);
        for vector in 0..count + root_ahead {
            if vector < count {
                // SAFETY: the vector is one of the chunk's.
                let positions = unsafe { self.steps.positions(vector * L::COUNT) };
                // SAFETY: the ring has a vector's words there.
                unsafe { self.steps.lanes.store(ring.vector::<L>(vector), positions) };
            }
            if let Some(vector) = vector.checked_sub(root_ahead - pages_ahead)
                && vector < count
            {
                // SAFETY: the positions of this vector are in the ring.
                unsafe { self.steps.prefetch_pages(ring.vector::<L>(vector)) };
            }
            if let Some(vector) = vector.checked_sub(root_ahead) {
                let from = ring.vector::<L>(vector);
                // SAFETY: the positions of this vector are in the ring.
                let positions = unsafe { self.steps.lanes.load(from.cast()) };
                // SAFETY: the positions of this vector are in the ring.
                let codes = unsafe { self.steps.codes_at::<LOADS>(from) };
                // SAFETY: the vector is one of the chunk's.
                unsafe { self.answer(vector * L::COUNT, [positions], [codes], escaped) };
            }
        }
    }

    /// Answers the addresses that were collected.
    #[inline(always)]
    fn settle(&self, escaped: &mut Escaped) {
        // SAFETY: the numbers are those of addresses of the chunk, with the positions of their codes.
        unsafe { answer_escaped(self.table, self.steps.keys, self.steps.to, escaped) };
        escaped.count = 0;
    }
}

/// Answers addresses whose codes escape.
///
/// # Safety
/// There is a key and a writable answer with each number, and the codes at the positions are all
/// ones.
#[inline(never)]
unsafe fn answer_escaped(table: &View<'_>, keys: InPlace, to: *mut u32, escaped: &Escaped) {
    let [numbers, positions] =
        [&escaped.numbers, &escaped.positions].map(|words| &words[..escaped.count]);
    for position in positions {
        table.escapes.prefetch(2 * escape_slot(table.escape_bits, *position));
    }
    for (i, position) in numbers.iter().zip(positions) {
        let i = *i as usize;
        // SAFETY: the code at the position is all ones.
        let escape = unsafe { lookup::escape(table.escapes, table.escape_bits, *position) };
        let hop = if escape.is_block() {
            // SAFETY: there is a key with this number.
            NextHopId::to_raw(lookup::lookup(*table, unsafe { keys.get(i) }))
        } else {
            escape.0
        };
        // SAFETY: there is a writable answer with this number.
        unsafe { to.wrapping_add(i).write(hop) };
    }
}
