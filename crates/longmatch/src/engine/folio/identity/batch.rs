//! Batches: kernels that find positions and codes, and one pass that turns codes into answers.
//!
//! | mode | root | codes | levels |
//! |---|---|---|---|
//! | `gather` | gathers of 6 vectors in flight | gathers | `avx512`, `avx2` |
//! | `ring` | gathers, 6 vectors ahead; then the pages are prefetched | gathers | `avx512`, `avx2` |
//! | `ring-loads` | the same | scalar loads | `avx512`, `avx2` |
//! | `flight` | scalar loads, 64 addresses ahead; then the pages are prefetched | scalar loads | all |
//!
//! A kernel answers chunks of at most 1024 addresses: it writes the position of each address's code
//! and the code itself. The pass after it translates codes and collects the addresses whose code
//! escapes, which are looked up one by one at the end of the chunk. (Answering each where it was
//! found dragged routed addresses down.)

use core::mem::MaybeUninit;
use core::ops::Range;

use super::layout::{DROP, DROP_BITS, Decode, Entry, Vectors, View};
use super::lookup::{self, InPlace};
use crate::engine::kit::{Batch, KeyLayout, Keys};
use crate::net::{Ipv4, NextHopId};
use crate::simd::lanes::Lanes;
use crate::simd::{Simd, Work, prefetch_bytes};

/// Addresses in a chunk: their positions fit the first-level cache.
const CHUNK: usize = 1024;
/// The most lanes of a vector.
const MOST_LANES: usize = 16;
/// Vectors between the root's gather and the read of codes, and between the prefetch and the read.
const ROOT_AHEAD: usize = 6;
const PAGES_AHEAD: usize = 5;
/// Addresses between the two reads of the scalar kernel.
const FLIGHT_AHEAD: usize = 64;
/// The fewest addresses for which a ring is worth its start.
const RING: usize = 192;
/// Ways in which vectors find next hops: [`Decode::Raw`] and [`Vectors`] as constants.
const RAW: u8 = 0;
const PATCHES: u8 = 1;
const BOOK: u8 = 2;
const GATHER: u8 = 3;
/// Prefetch distance of addresses, in bytes: the hardware's prefetching stops at the end of a
/// memory page.
const KEYS_AHEAD: usize = 4096;

/// Answers `keys` into `out`, which has the same length.
pub(super) fn lookup_batch(
    table: View<'_>,
    simd: Simd,
    mode: Batch,
    keys: Keys<'_, Ipv4>,
    out: &mut [Option<NextHopId>],
) {
    // Separate values, not `keys`: the struct would be loaded a vector at a time right after it was
    // stored word by word. The CPU can do that only after all earlier instructions retire.
    let swap = keys.layout() == KeyLayout::Network && cfg!(target_endian = "little");
    let (table, keys) = (&table, InPlace { from: keys.as_ptr(), swap });
    let mode = match mode {
        Batch::Ring | Batch::RingLoads if out.len() < RING => Batch::Gather,
        Batch::Auto if out.len() < RING => Batch::Gather,
        Batch::Auto => Batch::Ring,
        mode => mode,
    };
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    {
        use crate::simd::lanes::{Avx2, Avx512};
        let vectors = !matches!(mode, Batch::Each | Batch::Flight);
        if let Some(lanes) = Avx512::new(simd)
            && vectors
            && out.len() >= Avx512::COUNT
        {
            return lanes.run(Chunks { lanes, table, keys, mode, out });
        }
        if let Some(lanes) = Avx2::new(simd)
            && vectors
            && out.len() >= Avx2::COUNT
        {
            return lanes.run(Chunks { lanes, table, keys, mode, out });
        }
    }
    simd.run_scalar(Scalar { table, keys, mode, out });
}

/// A batch without vectors. There are as many keys as answers.
struct Scalar<'a> {
    table: &'a View<'a>,
    keys: InPlace,
    mode: Batch,
    out: &'a mut [Option<NextHopId>],
}

impl Work for Scalar<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        if self.mode == Batch::Each || self.out.len() < FLIGHT_AHEAD {
            for (i, out) in self.out.iter_mut().enumerate() {
                // SAFETY: there are as many keys as answers.
                *out = lookup::lookup(*self.table, unsafe { self.keys.get(i) });
            }
            return;
        }
        match self.table.log2 {
            0 => self.flight::<0>(),
            1 => self.flight::<1>(),
            _ => self.flight::<2>(),
        }
    }
}

impl Scalar<'_> {
    /// Looks up all addresses, each some addresses after its root entry was read.
    #[inline(always)]
    fn flight<const LOG2: u8>(self) {
        let len = self.out.len();
        let mut positions = [0u32; FLIGHT_AHEAD];
        for (i, position) in positions.iter_mut().enumerate() {
            *position = self.position::<LOG2>(i);
        }
        for i in 0..len {
            let position = &mut positions[i % FLIGHT_AHEAD];
            // SAFETY: `position` is that of the code of address `i`.
            let code = unsafe { lookup::code::<_, LOG2>(*self.table, *position) };
            self.out[i] = match code == self.table.escape_code() {
                // SAFETY: there are as many keys as answers.
                true => lookup::lookup(*self.table, unsafe { self.keys.get(i) }),
                false => NextHopId::new(self.table.decode(code)),
            };
            if i + FLIGHT_AHEAD < len {
                *position = self.position::<LOG2>(i + FLIGHT_AHEAD);
            }
        }
    }

    /// Reads the root and prefetches the code of an address, whose position it returns.
    #[inline(always)]
    fn position<const LOG2: u8>(&self, i: usize) -> u32 {
        let table = self.table;
        debug_assert!(i < self.out.len());
        // SAFETY: there are as many keys as answers.
        let addr = unsafe { self.keys.get(i) };
        // SAFETY: the root has an entry for every block (invariant 1).
        let entry = unsafe { table.root.load((addr >> table.root_shift) as usize) };
        let position = Entry(entry).position(addr, table.below_root);
        prefetch_bytes(table.codes.as_ptr().wrapping_add((position as usize) << LOG2));
        position
    }
}

/// A batch that fills at least one vector. There are as many keys as answers.
struct Chunks<'a, L> {
    lanes: L,
    table: &'a View<'a>,
    keys: InPlace,
    mode: Batch,
    out: &'a mut [Option<NextHopId>],
}

impl<L: Lanes> Work for Chunks<'_, L> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        match self.table.log2 {
            0 => self.chunks::<0>(),
            1 => self.chunks::<1>(),
            _ => self.chunks::<2>(),
        }
    }
}

impl<L: Lanes> Chunks<'_, L> {
    /// Answers all chunks. A last one of less than a vector answers some addresses again.
    #[inline(always)]
    fn chunks<const LOG2: u8>(self) {
        let Self { lanes, table, keys, mode, out } = self;
        let mut start = 0;
        while start < out.len() {
            let first = start.min(out.len() - L::COUNT);
            let len = (out.len() - first).min(CHUNK);
            let out = &mut out[first..][..len];
            let keys = InPlace { from: keys.from.wrapping_add(4 * first), ..keys };
            Chunk::<_, LOG2> { lanes, table, keys, to: out.as_mut_ptr().cast(), len }.run(mode);
            start = first + len;
        }
    }
}

/// From one vector to [`CHUNK`] addresses: there are `len` keys, and `to` has as many writable
/// answers.
struct Chunk<'a, L, const LOG2: u8> {
    lanes: L,
    table: &'a View<'a>,
    keys: InPlace,
    to: *mut u32,
    len: usize,
}

type Words = [MaybeUninit<u32>; CHUNK + 2 * MOST_LANES];

impl<L: Lanes, const LOG2: u8> Chunk<'_, L, LOG2> {
    #[inline(always)]
    fn run(self, mode: Batch) {
        let mut words: Words = [const { MaybeUninit::uninit() }; _];
        match mode {
            Batch::Ring => self.ring::<false>(&mut words),
            Batch::RingLoads => self.ring::<true>(&mut words),
            _ => self.gather(),
        }
        let escaped = match &self.table.decode {
            Decode::Raw => self.decode::<RAW>(&mut words),
            Decode::Table(_, Vectors::Patches(_)) => self.decode::<PATCHES>(&mut words),
            Decode::Table(_, Vectors::Book(_)) => self.decode::<BOOK>(&mut words),
            Decode::Table(_, Vectors::Gather) => self.decode::<GATHER>(&mut words),
        };
        for i in &words[..escaped] {
            // SAFETY: `decode` has initialised as many numbers of answers.
            let i = unsafe { i.assume_init() } as usize;
            // SAFETY: `i` is below `len`.
            let addr = unsafe { self.keys.get(i) };
            let hop = NextHopId::to_raw(lookup::lookup(*self.table, addr));
            // SAFETY: `i` is below `len`.
            unsafe { self.to.wrapping_add(i).write(hop) };
        }
    }

    /// The first addresses of the vectors: of all whole ones, and of the last addresses.
    #[inline(always)]
    fn vectors(&self) -> usize {
        self.len.div_ceil(L::COUNT)
    }

    /// The first address of a vector. The last vector ends with the chunk.
    #[inline(always)]
    fn first(&self, vector: usize) -> usize {
        (vector * L::COUNT).min(self.len - L::COUNT)
    }

    /// Reads the root: the positions of the codes of a vector of addresses.
    ///
    /// # Safety
    /// `at` is the first address of a vector in the chunk.
    #[inline(always)]
    unsafe fn positions(&self, at: usize) -> L::V {
        let (l, table) = (self.lanes, self.table);
        let from = self.keys.from.wrapping_add(4 * at);
        prefetch_bytes(from.wrapping_add(KEYS_AHEAD));
        // SAFETY: the vector's addresses are readable.
        let key = unsafe { l.load(from) };
        let key = if self.keys.swap { l.swap_bytes(key) } else { key };
        let block = l.shr(key, l.splat(table.root_shift));
        // SAFETY: the root has an entry for every block (invariant 1).
        let entry = unsafe { l.gather_published(table.root.as_ptr(), block) };
        let below = l.and(key, l.splat(table.below_root));
        let slot = l.shr(below, l.and(entry, l.splat(DROP)));
        l.add(l.shr(entry, l.splat(DROP_BITS)), slot)
    }

    /// Gathers codes.
    ///
    /// # Safety
    /// The lanes are positions of codes of pages that the root leads to.
    #[inline(always)]
    unsafe fn codes(&self, positions: L::V) -> L::V {
        let (l, base) = (self.lanes, self.table.codes.as_ptr());
        let read = match LOG2 {
            // SAFETY: positions are those of codes (invariant 2), below 2^27.
            0 => unsafe { l.gather::<1>(base, positions) },
            // SAFETY: positions are those of codes (invariant 2), below 2^27.
            1 => unsafe { l.gather::<2>(base, positions) },
            // SAFETY: positions are those of codes (invariant 2), below 2^27.
            _ => return unsafe { l.gather::<4>(base, positions) },
        };
        l.and(read, l.splat(self.table.escape_code()))
    }

    /// Stores a vector of codes as answers.
    ///
    /// # Safety
    /// `at` is the first address of a vector in the chunk.
    #[inline(always)]
    unsafe fn store(&self, at: usize, codes: L::V) {
        // SAFETY: the vector's answers are writable.
        unsafe { self.lanes.store(self.to.wrapping_add(at), codes) };
    }

    /// The kernel `gather`.
    #[inline(always)]
    fn gather(&self) {
        let mut vector = 0;
        while vector + 6 <= self.vectors() {
            self.group::<6>(vector);
            vector += 6;
        }
        while vector + 2 <= self.vectors() {
            self.group::<2>(vector);
            vector += 2;
        }
        if vector < self.vectors() {
            self.group::<1>(vector);
        }
    }

    /// Reads the codes of `N` vectors, whose gathers overlap.
    #[inline(always)]
    fn group<const N: usize>(&self, vector: usize) {
        let mut lanes = [self.lanes.splat(0); N];
        for (v, lanes) in lanes.iter_mut().enumerate() {
            // SAFETY: the vector is one of the chunk's.
            *lanes = unsafe { self.positions(self.first(vector + v)) };
        }
        for (v, lanes) in lanes.into_iter().enumerate() {
            // SAFETY: these are positions, read just before.
            let codes = unsafe { self.codes(lanes) };
            // SAFETY: the vector is one of the chunk's.
            unsafe { self.store(self.first(vector + v), codes) };
        }
    }

    /// The kernels `ring` and, with `LOADS`, `ring-loads`.
    #[inline(always)]
    fn ring<const LOADS: bool>(&self, words: &mut Words) {
        let count = self.vectors();
        let words = words.as_mut_ptr().cast::<u32>();
        for vector in 0..count + ROOT_AHEAD {
            if vector < count {
                let at = self.first(vector);
                // SAFETY: the vector is one of the chunk's.
                let positions = unsafe { self.positions(at) };
                // SAFETY: there is a word for each address of a chunk.
                unsafe { self.lanes.store(words.wrapping_add(at), positions) };
            }
            if let Some(vector) = vector.checked_sub(ROOT_AHEAD - PAGES_AHEAD)
                && vector < count
            {
                let at = self.first(vector);
                for i in at..at + L::COUNT {
                    // SAFETY: the positions of this vector are stored.
                    let position = unsafe { words.wrapping_add(i).read() } as usize;
                    prefetch_bytes(self.table.codes.as_ptr().wrapping_add(position << LOG2));
                }
            }
            if let Some(vector) = vector.checked_sub(ROOT_AHEAD) {
                let at = self.first(vector);
                match LOADS {
                    true => self.load_codes(words, at..at + L::COUNT),
                    false => {
                        // SAFETY: the positions of this vector are stored.
                        let positions = unsafe { self.lanes.load(words.wrapping_add(at).cast()) };
                        // SAFETY: these are positions.
                        let codes = unsafe { self.codes(positions) };
                        // SAFETY: the vector is one of the chunk's.
                        unsafe { self.store(at, codes) };
                    }
                }
            }
        }
    }

    /// Reads the codes of a vector one by one.
    #[inline(always)]
    fn load_codes(&self, words: *const u32, addresses: Range<usize>) {
        for i in addresses {
            // SAFETY: the positions of this vector are stored.
            let position = unsafe { words.wrapping_add(i).read() };
            // SAFETY: it is a position of a code of a page that the root leads to.
            let code = unsafe { lookup::code::<_, LOG2>(*self.table, position) };
            // SAFETY: `i` is an address of the chunk.
            unsafe { self.to.wrapping_add(i).write(code) };
        }
    }

    /// The next hops of two vectors of codes, in the way `HOW`.
    #[inline(always)]
    fn next_hops<const HOW: u8>(&self, codes: [L::V; 2]) -> [L::V; 2] {
        let l = self.lanes;
        match &self.table.fixed.decode {
            Decode::Table(_, Vectors::Patches(patches)) if HOW == PATCHES => {
                let mut hops = codes;
                for (code, raw) in patches {
                    let (code, raw) = (l.splat((*code).into()), l.splat((*raw).into()));
                    hops[0] = l.select(l.equal(codes[0], code), raw, hops[0]);
                    hops[1] = l.select(l.equal(codes[1], code), raw, hops[1]);
                }
                hops
            }
            Decode::Table(_, Vectors::Book(book)) if HOW == BOOK => {
                l.look_up_u16(book.table(), codes)
            }
            Decode::Table(hops, _) if HOW == GATHER => {
                let at = hops.as_ptr().cast();
                // SAFETY: the table has a next hop for every code, the escape among them.
                let first = unsafe { l.gather::<4>(at, codes[0]) };
                // SAFETY: as for the first vector.
                [first, unsafe { l.gather::<4>(at, codes[1]) }]
            }
            _ => codes,
        }
    }

    /// Writes the numbers of a vector's addresses whose code escapes to `words`, and returns how
    /// many there are.
    ///
    /// # Safety
    /// `words` has at least a vector's writable words.
    #[inline(always)]
    unsafe fn escaping(&self, at: usize, codes: L::V, words: *mut u32) -> usize {
        let l = self.lanes;
        let chosen = l.equal(codes, l.splat(self.table.escape_code()));
        // SAFETY: this method's contract is that of `store_numbers`.
        unsafe { l.store_numbers(chosen, at as u32, words) }
    }

    /// Loads a vector of codes.
    ///
    /// # Safety
    /// `at` is the first address of a vector in the chunk, whose codes are stored.
    #[inline(always)]
    unsafe fn load(&self, at: usize) -> L::V {
        // SAFETY: the vector's codes are stored.
        unsafe { self.lanes.load(self.to.wrapping_add(at).cast()) }
    }

    /// Turns the codes into next hops. Writes the numbers of the addresses whose code escapes to
    /// `words` and returns how many there are.
    ///
    /// No closures: the compiler does not inline all of them, and a vector instruction outside of
    /// the code that is compiled for it is a call.
    #[inline(always)]
    fn decode<const HOW: u8>(&self, words: &mut Words) -> usize {
        let words = words.as_mut_ptr().cast::<u32>();
        let mut escaped = 0;
        // The last vector overlaps the one before: read before that one is written.
        let (whole, last) = (self.len / L::COUNT, self.len - L::COUNT);
        // SAFETY: a chunk has at least a vector's addresses.
        let last_codes = unsafe { self.load(last) };
        let mut vector = 0;
        while vector < whole {
            let (a, b) = (vector * L::COUNT, (vector + 1).min(whole - 1) * L::COUNT);
            // SAFETY: `a` is the first address of a whole vector of the chunk.
            let first = unsafe { self.load(a) };
            // SAFETY: `b` is the first address of a whole vector of the chunk.
            let codes = [first, unsafe { self.load(b) }];
            // SAFETY: all vectors together have less than `CHUNK` and a vector's lanes, and there
            // are a vector's lanes more.
            escaped += unsafe { self.escaping(a, codes[0], words.wrapping_add(escaped)) };
            if a != b {
                // SAFETY: as for the first vector.
                escaped += unsafe { self.escaping(b, codes[1], words.wrapping_add(escaped)) };
            }
            let hops = self.next_hops::<HOW>(codes);
            // SAFETY: as for their codes.
            unsafe { self.store(a, hops[0]) };
            // SAFETY: as for their codes.
            unsafe { self.store(b, hops[1]) };
            vector += 2;
        }
        if whole * L::COUNT < self.len {
            // SAFETY: as for the whole vectors.
            escaped += unsafe { self.escaping(last, last_codes, words.wrapping_add(escaped)) };
            let [hops, _] = self.next_hops::<HOW>([last_codes; 2]);
            // SAFETY: the vector is the chunk's last one.
            unsafe { self.store(last, hops) };
        }
        escaped
    }
}
