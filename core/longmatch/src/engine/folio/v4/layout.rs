//! The arrays of a table and the bits in them.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::mem::MaybeUninit;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;

use super::plan::Plan;
use crate::mem::{FrozenMemory, Items, LiveMemory, Memory, Readable};

/// Bits of an address.
pub(super) const WIDTH: u8 = 32;

/// An entry: of the root, for a block of addresses, or of a page of entries, for a smaller block.
///
/// ```text
///   31        27 26                          0
///  +------------+-----------------------------+
///  | kind       | place                       |
///  +------------+-----------------------------+
/// ```
///
/// | kind | leads to | place |
/// |---|---|---|
/// | 0 to 15 | a page of codes, which ignore the low `kind` bits of an address | its first code |
/// | 16 to 21 | a page of entries, each for a block of `2^(kind - 12)` addresses | its first word |
/// | 24 | a list | its first word, plus half of its number of words |
/// | 31 | an answer | the code at this place, which is the place itself |
///
/// All kinds but pages of codes are negative as signed words, and pages of entries are the least:
/// each step of a vector asks by one comparison. Answers and lists need no case of their own where a
/// place is computed: the bits of an address below its block, shifted by 24 or 31, are 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub(super) struct Entry(pub u32);

pub(super) const PLACE_BITS: u32 = 27;
pub(super) const PLACE: u32 = (1 << PLACE_BITS) - 1;
/// The most units of an array that entries can name.
pub(super) const MAX_PLACES: usize = 1 << PLACE_BITS;
/// The most bits of an address that a page of codes ignores.
pub(super) const MAX_DROP: u8 = 15;
/// The kind of a page of entries is this number more than the bits of its blocks.
const CUT: u32 = 12;
/// The fewest and the most bits below the entries of a page.
pub(super) const MIN_CUT: u8 = 4;
pub(super) const MAX_CUT: u8 = 9;
/// As large as the bits of a block: the bits of an address, shifted by it, are 0.
const LIST: u32 = (WIDTH - MIN_ROOT) as u32;
const ANSWER: u32 = 31;
/// Every page of entries, as a signed word, is less than this word.
pub(super) const PAGES_BELOW: u32 = (CUT + MAX_CUT as u32 + 1) << PLACE_BITS;
/// Every other entry that is less than this word, signed, is a list.
pub(super) const LISTS_BELOW: u32 = (LIST + 1) << PLACE_BITS;

/// The fewest and the most bits of the root.
pub(super) const MIN_ROOT: u8 = 8;
pub(super) const MAX_ROOT: u8 = 22;
/// The most words of a list. Two cache lines.
pub(super) const LONGEST_LIST: usize = 32;
/// log2 of the alignment of pieces among the words: a list is aligned to its size.
pub(super) const WORDS_ALIGN: u8 = 5;
/// log2 of the alignment of pieces among the codes.
pub(super) const CODES_ALIGN: u8 = 6;

/// What an entry leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Target {
    /// The code, which is its own next hop but for patches.
    Answer(u32),
    /// Codes that ignore this number of bits of an address, from a place on.
    Codes { drop: u8, place: u32 },
    /// Entries with this number of bits of an address below each.
    Entries { cut: u8, place: u32 },
    /// So many descending words.
    List { place: u32, words: u32 },
    /// No entry has this kind.
    None,
}

impl Entry {
    pub fn answer(code: u32) -> Self {
        Self(ANSWER << PLACE_BITS | code)
    }

    pub fn codes(place: u32, drop: u8) -> Self {
        debug_assert!(drop <= MAX_DROP && place <= PLACE);
        Self(u32::from(drop) << PLACE_BITS | place)
    }

    pub fn entries(place: u32, cut: u8) -> Self {
        debug_assert!((MIN_CUT..=MAX_CUT).contains(&cut) && place <= PLACE);
        Self((CUT + u32::from(cut)) << PLACE_BITS | place)
    }

    pub fn list(place: u32, words: usize) -> Self {
        debug_assert!(words.is_power_of_two() && (2..=LONGEST_LIST).contains(&words));
        Self(LIST << PLACE_BITS | place | (words as u32 / 2))
    }

    pub fn target(self) -> Target {
        let (kind, place) = (self.0 >> PLACE_BITS, self.0 & PLACE);
        match kind {
            ANSWER => Target::Answer(place),
            _ if kind <= MAX_DROP.into() => Target::Codes { drop: kind as u8, place },
            _ if kind <= CUT + u32::from(MAX_CUT) => {
                Target::Entries { cut: (kind - CUT) as u8, place }
            }
            LIST if place % LONGEST_LIST as u32 != 0 => {
                let half = lowest_bit(place);
                Target::List { place: place ^ half, words: 2 * half }
            }
            _ => Target::None,
        }
    }

    #[inline(always)]
    pub fn is_page_of_entries(self) -> bool {
        (self.0 as i32) < PAGES_BELOW as i32
    }

    /// Whether the entry is a list; it is not a page of entries.
    #[inline(always)]
    pub fn is_list(self) -> bool {
        (self.0 as i32) < LISTS_BELOW as i32
    }

    #[inline(always)]
    pub fn is_answer(self) -> bool {
        self.0 >= ANSWER << PLACE_BITS
    }

    #[inline(always)]
    pub fn place(self) -> u32 {
        self.0 & PLACE
    }

    /// Number of address bits below each entry of a page of entries.
    #[inline(always)]
    pub fn cut(self) -> u32 {
        (self.0 >> PLACE_BITS).wrapping_sub(CUT)
    }

    /// The place of an address's code, where the entry is a page of codes or an answer.
    #[inline(always)]
    pub fn position(self, below: u32) -> u32 {
        self.place() + (below >> (self.0 >> PLACE_BITS))
    }
}

/// The number added to the bits below its entries in the kind of a page of entries.
pub(super) const CUT_OF_KIND: u32 = CUT;

/// The value of the lowest set bit.
#[inline(always)]
pub(super) fn lowest_bit(word: u32) -> u32 {
    word & word.wrapping_neg()
}

/// The most codes that are not their own next hop.
pub(super) const PATCHES: usize = 4;

/// The forms of a lookup of one address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Single {
    /// The root leads to answers and pages of codes only.
    Plain,
    /// With branches on the kind of an entry.
    Branches,
    /// Without a branch on pages of entries: for tables in which either way is common.
    Flat,
}

/// The parts of a table that never change after compilation, even in live memory.
#[derive(Clone, Debug)]
pub(super) struct Fixed {
    /// Bits of an address that do not number the root's entries.
    pub root_shift: u32,
    /// Mask of these bits.
    pub below_root: u32,
    /// Low bits of a word of a list that are its next hop.
    pub hop_bits: u32,
    /// Bytes of a code.
    pub code_bytes: u8,
    /// Mask of a code.
    pub code_mask: u32,
    /// Number of codes at the beginning of the array that are their own places.
    pub identity: u32,
    /// Codes that are not their own next hop, and their next hops.
    pub patches: Patches,
    pub single: Single,
    /// Whether batches prefetch lists, which lie outside of the second-level cache.
    pub ahead: bool,
}

/// Codes and their next hops.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Patches {
    pub pairs: [(u32, u32); PATCHES],
    pub count: usize,
    /// The next hops of all codes of 8 bits; `None` where every code is its own.
    pub own_hops: Option<Box<[u32; 256]>>,
}

/// Codes of 8 bits that are their own next hops; shared, because a small table is not larger.
static IDENTITY: [u32; 256] = {
    let mut hops = [0; 256];
    let mut code = 0;
    while code < hops.len() {
        hops[code] = code as u32;
        code += 1;
    }
    hops
};

impl Patches {
    pub fn new(pairs: &[(u32, u32)]) -> Self {
        let mut patches = Self { pairs: [(0, 0); PATCHES], count: pairs.len(), own_hops: None };
        patches.pairs[..pairs.len()].copy_from_slice(pairs);
        if !pairs.is_empty() {
            let mut hops = Box::new(IDENTITY);
            pairs.iter().for_each(|(code, hop)| hops[*code as usize] = *hop);
            patches.own_hops = Some(hops);
        }
        patches
    }

    /// The next hops of all codes of 8 bits.
    pub fn hops(&self) -> &[u32; 256] {
        self.own_hops.as_deref().unwrap_or(&IDENTITY)
    }

    pub fn pairs(&self) -> &[(u32, u32)] {
        &self.pairs[..self.count]
    }
}

/// The mask of a code of 1 to 4 bytes.
pub(super) const fn code_mask(code_bytes: u8) -> u32 {
    u32::MAX >> (32 - 8 * code_bytes as u32)
}

impl Fixed {
    /// Bits of an address that number the root's entries.
    pub fn root_bits(&self) -> u8 {
        WIDTH - self.root_shift as u8
    }

    /// The next hop of a code.
    pub fn decode(&self, code: u32) -> u32 {
        let patch = self.patches.pairs().iter().find(|(patched, _)| *patched == code);
        patch.map_or(code, |(_, hop)| *hop)
    }

    /// The code of a next hop; `None` if it has none.
    pub fn code(&self, hop: u32) -> Option<u32> {
        for (code, patched) in self.patches.pairs() {
            if *patched == hop {
                return Some(*code);
            }
            if *code == hop {
                return None;
            }
        }
        (hop <= self.code_mask).then_some(hop)
    }

    /// Whether a list can have the ranges of a block of `2^bits` addresses.
    pub fn lists_in(&self, bits: u8) -> bool {
        u32::from(bits) + self.hop_bits <= 32
    }
}

/// Extent of the arrays of a table. Atomic, as the writer changes it while readers use the table.
#[derive(Debug, Default)]
pub(super) struct Extent {
    /// Words and bytes of the arrays that have ever been used.
    pub words: AtomicUsize,
    pub codes: AtomicUsize,
}

/// A root, and pages of codes, lists and pages of entries below it, for IPv4.
///
/// A block's *bits* are the address bits below its entry: `root_shift` for the root's.
///
/// Invariants that the unchecked reads of the lookups rely on:
/// 1. The root has `2^root_bits` entries.
/// 2. A page of entries for a block of `b` bits has `2^(b - cut)` words, `cut < b`, of the array of
///    words. Its entries lead to no page of entries.
/// 3. A list lies in the array of words, aligned to its size: 2, 4, 8, 16 or 32 words. A word is an
///    address within the block, shifted by `hop_bits`, and a next hop; the words descend. The last
///    one, which may be followed by zero words up to the size, has address 0.
/// 4. A page of codes for a block of `b` bits has `2^(b - drop)` codes of the array of codes, which
///    has 4 more bytes. An answer is a place below `identity`; the code at that place is the place.
/// 5. Codes of one byte have a next hop each in `patches`; others are next hops.
/// 6. A piece (page or list) of at most 32 words or 64 codes is aligned to its size, others to that.
/// 7. Equal pieces are one, unless a writer has changed one of them in place.
/// 8. Pieces and free pieces tile the arrays behind the identity codes.
/// 9. In a live table single stores replace entries, and codes of 1, 2 and 4 bytes; all else is
///    written before an entry leads to it, and only while no reader can reach it.
///
/// ```
/// use longmatch::engine::folio::v4::{Config, Folio4};
/// use longmatch::{Engine, Lookup, NextHopId, Rib};
/// let mut rib = Rib::new();
/// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap())?;
/// let folio = Folio4::compile(&rib, &Config::default())?;
/// let mut hops = [None; 2];
/// folio.lookup_batch(&[0x0a01_0203, 0xc000_0201], &mut hops);
/// assert_eq!(hops, [NextHopId::new(1), None]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Folio4<M: Memory = FrozenMemory> {
    /// The root's entries.
    pub(super) root: M::Array<u32>,
    /// Lists and pages of entries.
    pub(super) words: M::Array<u32>,
    /// The identity codes and the pages of codes, little-endian on every machine.
    pub(super) codes: M::Array<u8>,
    pub(super) fixed: Arc<Fixed>,
    pub(super) extent: Extent,
    /// The options that name the variant.
    pub(super) plan: Plan,
    view: Shared,
}

/// The view of a table's own arrays, ready for the kernels of batches.
///
/// One that is built for each call would be loaded from words that were just stored, a vector at a
/// time: the CPU can do that only after all earlier instructions retire. A reference to what a table
/// owns would have to outlive a call that the table is moved into; inside of `MaybeUninit` it need not.
#[derive(Debug)]
struct Shared(MaybeUninit<View<'static>>);

// SAFETY: the view of a table that owns its arrays, which can be sent and shared.
unsafe impl Send for Shared {}
// SAFETY: the view of a table that owns its arrays, which can be sent and shared.
unsafe impl Sync for Shared {}

impl<M: Memory> Folio4<M> {
    /// A table of these arrays.
    pub(super) fn new(
        root: M::Array<u32>,
        words: M::Array<u32>,
        codes: M::Array<u8>,
        fixed: Arc<Fixed>,
        plan: Plan,
    ) -> Self {
        let extent = Extent::default();
        extent.words.store(words.count(), Relaxed);
        extent.codes.store(codes.count(), Relaxed);
        let view = view::<M>(&root, &words, &codes, &fixed).shared();
        // SAFETY: the table keeps the allocations of the arrays and of what is fixed as long as the
        // view, and lends it no longer than itself.
        let view = unsafe { core::mem::transmute::<View<'_>, View<'static>>(view) };
        let view = Shared(MaybeUninit::new(view));
        Self { root, words, codes, fixed, extent, plan, view }
    }

    /// The view for kernels.
    #[inline(always)]
    pub(super) fn shared(&self) -> &View<'_> {
        // SAFETY: `new` has initialized the view, of what the table still owns.
        unsafe { self.view.0.assume_init_ref() }
    }
}

/// The view of arrays.
#[inline(always)]
fn view<'a, M: Memory>(
    root: &'a M::Array<u32>,
    words: &'a M::Array<u32>,
    codes: &'a M::Array<u8>,
    fixed: &'a Fixed,
) -> View<'a, M> {
    let Fixed { root_shift, below_root, hop_bits, code_bytes, code_mask, .. } = *fixed;
    View {
        root: root.items(),
        words: words.items(),
        codes: codes.items(),
        root_shift,
        below_root,
        hop_bits,
        code_bytes: code_bytes.into(),
        code_mask,
        hops: fixed.patches.hops().as_ptr(),
        fixed,
    }
}

impl<M: Memory> Folio4<M> {
    /// The view that lookups read.
    #[inline(always)]
    pub(super) fn view(&self) -> View<'_, M> {
        view::<M>(&self.root, &self.words, &self.codes, &self.fixed)
    }
}

impl Folio4 {
    /// The arrays.
    pub(super) fn slices(&self) -> Slices<'_> {
        let Self { root, words, codes, fixed, .. } = self;
        Slices { root, words, codes, fixed }
    }
}

/// A table as lookups read it.
///
/// Passed by value, with copies of the numbers of [`Fixed`]: so a loop of lookups keeps all of them
/// in registers, although the compiler cannot know that stores of answers do not change them.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a, M = LiveMemory> {
    pub root: Items<'a, u32, M>,
    pub words: Items<'a, u32, M>,
    pub codes: Items<'a, u8, M>,
    pub root_shift: u32,
    pub below_root: u32,
    pub hop_bits: u32,
    pub code_bytes: usize,
    pub code_mask: u32,
    /// The next hops of codes of one byte.
    pub hops: *const u32,
    pub fixed: &'a Fixed,
}

impl<'a, M: Memory> View<'a, M> {
    /// The same table with the loads of live memory: for kernels, which are compiled once for both
    /// kinds.
    #[inline(always)]
    pub fn shared(self) -> View<'a> {
        View {
            root: self.root.shared(),
            words: self.words.shared(),
            codes: self.codes.shared(),
            root_shift: self.root_shift,
            below_root: self.below_root,
            hop_bits: self.hop_bits,
            code_bytes: self.code_bytes,
            code_mask: self.code_mask,
            hops: self.hops,
            fixed: self.fixed,
        }
    }
}

/// The arrays of a table that is not being changed; the input of its check.
#[derive(Clone, Copy)]
pub(super) struct Slices<'a> {
    pub root: &'a [u32],
    pub words: &'a [u32],
    pub codes: &'a [u8],
    pub fixed: &'a Fixed,
}

/// The low bits of an address.
#[inline]
pub(super) fn below(addr: u32, bits: u8) -> u32 {
    addr & ((1 << bits) - 1)
}
