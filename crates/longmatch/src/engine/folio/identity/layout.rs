//! The arrays of a table of pages and the bits in them.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ptr;
use core::sync::atomic::AtomicUsize;

use super::super::book::Book;
use super::super::store::Store;
use super::codes::CodeForm;
use crate::engine::kit::Batch;
use crate::mem::{FrozenMemory, Items, LiveMemory, Memory, Readable};

/// Bits of an address.
pub(super) const WIDTH: u8 = 32;

/// An entry of the root: the page of a block of addresses.
///
/// ```text
///   31                              5 4      0
///  +---------------------------------+--------+
///  | place                           | drop   |
///  +---------------------------------+--------+
///  place  index of the page's first code in the array of pages
///  drop   number of low bits of the address that do not number the page's codes:
///         32 - drop is the depth of a code; 31 means a page of one code
/// ```
///
/// An answer for the whole block is a page of one code too. So a lookup asks nothing between its
/// two reads: the root's bits are above the other bits of the address, and a shift by 31 leaves 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub(super) struct Entry(pub u32);

/// Bits of the number of dropped bits.
pub(super) const DROP_BITS: u32 = 5;
/// Mask of the number of dropped bits; as a value the drop of a page of one code.
pub(super) const DROP: u32 = (1 << DROP_BITS) - 1;
/// The most codes in all pages together.
pub(super) const MAX_CODES: usize = 1 << (u32::BITS - DROP_BITS);
/// The fewest and the most bits of the root. One bit would make a drop of 31 ambiguous.
pub(super) const MIN_ROOT: u8 = 8;
pub(super) const MAX_ROOT: u8 = 24;
/// The greatest next hop: the top bit of an escape's value marks a block.
pub(super) const MAX_NEXT_HOP: u32 = (1 << 31) - 1;
/// The least depth of a page whose codes escape to blocks: blocks have up to 2^8 answers.
pub(super) const LEAST_DEEP: u8 = 24;

const _: () = assert!(MIN_ROOT > 1 && MAX_ROOT <= LEAST_DEEP && WIDTH - LEAST_DEEP == 8);

impl Entry {
    /// The entry of a page of codes at depth `depth`, or of one code.
    pub fn new(place: u32, depth: Option<u8>) -> Self {
        debug_assert!((place as usize) < MAX_CODES);
        let drop = depth.map_or(DROP, |depth| u32::from(WIDTH - depth));
        Self(place << DROP_BITS | drop)
    }

    #[inline(always)]
    pub fn place(self) -> u32 {
        self.0 >> DROP_BITS
    }

    #[inline(always)]
    pub fn drop(self) -> u32 {
        self.0 & DROP
    }

    /// log2 of the number of codes of the page below a root of `root_bits`. `None` if no page has
    /// such an entry.
    pub fn log2_codes(self, root_bits: u8) -> Option<u8> {
        match self.drop() {
            DROP => Some(0),
            drop => (WIDTH - drop as u8).checked_sub(root_bits).filter(|log2| *log2 > 0),
        }
    }

    /// Mask of the address bits below a code of the page.
    #[inline(always)]
    pub fn below_code(self, below_root: u32) -> u32 {
        match self.drop() {
            DROP => below_root,
            drop => (1 << drop) - 1,
        }
    }

    /// The index of an address's code in the array of pages.
    #[inline(always)]
    pub fn position(self, addr: u32, below_root: u32) -> u32 {
        self.place() + ((addr & below_root) >> self.drop())
    }
}

/// What follows from a code that says so: all ones.
///
/// ```text
///   31  30                           3 2    0
///  +---+-------------------------------------+
///  | 0 | next hop, 0 = no route              |   an answer without a code
///  +---+------------------------------+------+
///  | 1 | place                        | drop |   a block of answers
///  +---+------------------------------+------+
///  place  index of the block's first answer in the array of deep answers
///  drop   number of low bits of the address that do not number the block's answers
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub(super) struct Escape(pub u32);

/// Flag of an escape to a block.
const BLOCK: u32 = 1 << 31;
/// The most answers in all blocks together.
pub(super) const MAX_DEEP: usize = 1 << 28;

impl Escape {
    pub fn answer(raw: u32) -> Self {
        debug_assert!(raw <= MAX_NEXT_HOP);
        Self(raw)
    }

    /// A block whose answers are at depth `depth`.
    pub fn block(place: u32, depth: u8) -> Self {
        debug_assert!((place as usize) < MAX_DEEP && depth > LEAST_DEEP);
        Self(BLOCK | place << 3 | u32::from(WIDTH - depth))
    }

    #[inline(always)]
    pub fn is_block(self) -> bool {
        self.0 & BLOCK != 0
    }

    #[inline(always)]
    pub fn place(self) -> u32 {
        (self.0 & !BLOCK) >> 3
    }

    #[inline(always)]
    pub fn drop(self) -> u32 {
        self.0 & 7
    }

    /// Number of answers in the block of a code with `below` address bits below it.
    pub fn answers(self, below: u32) -> Option<usize> {
        below.checked_sub(self.drop()).filter(|log2| (1..=8).contains(log2)).map(|log2| 1 << log2)
    }
}

/// The meaning of codes other than the escape.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Decode {
    /// A code is the next hop.
    Raw,
    /// The next hops of all codes, 0 for the escape; and how vectors find them.
    Table(Box<[u32]>, Vectors),
}

/// How vectors of codes find their next hops.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Vectors {
    /// A code is the next hop, except these: codes and their next hops.
    Patches(Vec<(u32, u32)>),
    /// In registers.
    Book(Box<Book>),
    /// By a gather.
    Gather,
}

/// The most codes that are not their own next hop.
pub(super) const PATCHES: usize = 4;

/// The parts of a table that never change after compilation, even in live memory.
#[derive(Clone, Debug)]
pub(super) struct Fixed {
    /// Bits of an address that do not number the root's entries.
    pub root_shift: u32,
    /// Mask of these bits.
    pub below_root: u32,
    /// log2 of the bytes of a code.
    pub log2: u8,
    /// log2 of the number of slots of the table of escapes.
    pub escape_bits: u8,
    /// The code that escapes: all ones.
    pub escape_code: u32,
    pub decode: Decode,
}

impl Decode {
    /// The next hops of all codes; `None` if codes are next hops.
    #[inline(always)]
    pub fn hops(&self) -> Option<&[u32]> {
        match self {
            Self::Raw => None,
            Self::Table(hops, _) => Some(hops),
        }
    }
}

/// The first slot of `2^bits` in which the escape of a position may lie.
#[inline(always)]
pub(super) fn escape_slot(bits: u8, position: u32) -> usize {
    (position.wrapping_mul(0x9e37_79b1) >> (32 - u32::from(bits))) as usize
}

/// The slot of `2^bits` after another one.
#[inline(always)]
pub(super) fn next_slot(bits: u8, slot: usize) -> usize {
    (slot + 1) & ((1 << bits) - 1)
}

/// The code of `1 << log2` bytes that escapes.
pub(super) const fn escape_code(log2: u8) -> u32 {
    u32::MAX >> (32 - (8 << log2))
}

impl Fixed {
    /// The parts of a table without escapes.
    pub fn new(root_bits: u8, log2: u8, decode: Decode) -> Self {
        Self {
            root_shift: u32::from(WIDTH - root_bits),
            below_root: u32::MAX >> root_bits,
            log2,
            escape_bits: 1,
            escape_code: escape_code(log2),
            decode,
        }
    }

    /// Bits of an address that number the root's entries.
    pub fn root_bits(&self) -> u8 {
        WIDTH.saturating_sub(self.root_shift as u8)
    }

    /// [`escape_slot`] in this table.
    pub fn escape_slot(&self, position: u32) -> usize {
        escape_slot(self.escape_bits, position)
    }

    /// [`next_slot`] in this table.
    pub fn next_slot(&self, slot: usize) -> usize {
        next_slot(self.escape_bits, slot)
    }

    /// The next hop of a code that does not escape.
    pub fn decode(&self, code: u32) -> u32 {
        self.decode.hops().map_or(code, |hops| hops[code as usize])
    }
}

/// Extent of the arrays of a table. Atomic, as the writer changes it while readers use the table.
#[derive(Debug, Default)]
pub(super) struct Extent {
    pub pages: AtomicUsize,
    /// Bytes of the array of pages that have ever been used.
    pub bytes: AtomicUsize,
    /// Escapes in use.
    pub escapes: AtomicUsize,
}

/// A root and pages of codes, for IPv4.
///
/// Invariants that the unchecked reads of the lookups rely on:
/// 1. The root has `2^root_bits` entries, each of a page.
/// 2. The page of an entry with drop 31 has one code, of another `2^(32 - drop - root_bits)`. They
///    lie in the array of pages, which has 4 extra bytes, as gathers read 32 bits.
/// 3. A code of all ones has an escape: a slot of the table of escapes with its position, found
///    before an empty slot. The table has an empty slot.
/// 4. The block of an escape has `2^(d - drop)` answers in the array of deep answers, where `d` is
///    the drop of the page, or the number of bits below the root for a page of one code.
/// 5. Other codes have a next hop: they are below the length of a table of next hops.
/// 6. A page lies in one cache line, or begins with one.
/// 7. No two pages without escapes have the same bytes, and the store counts for each page the
///    entries that lead to it.
/// 8. Pages and the store's unused pieces tile the array.
/// 9. No page would fit half as many codes.
/// 10. In a live table single stores replace the root's entries; pages, escapes and blocks are
///     written before an entry leads to them, and only while no reader can reach them.
///
/// ```
/// use longmatch::engine::folio::identity::{Config, Pages};
/// use longmatch::{Engine, Lookup, NextHopId, Rib};
/// let mut rib = Rib::new();
/// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap())?;
/// let pages = Pages::compile(&rib, &Config::default())?;
/// let mut hops = [None; 2];
/// pages.lookup_batch(&[0x0a01_0203, 0xc000_0201], &mut hops);
/// assert_eq!(hops, [NextHopId::new(1), None]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Pages<M: Memory = FrozenMemory> {
    /// The root's entries.
    pub(super) root: M::Array<u32>,
    /// The codes of all pages, little-endian on every machine.
    pub(super) codes: M::Array<u8>,
    /// Pairs of a position plus one and an [`Escape`]; a first word of 0 marks an empty slot.
    pub(super) escapes: M::Array<u32>,
    /// The answers of blocks.
    pub(super) deep: M::Array<u32>,
    pub(super) fixed: Fixed,
    pub(super) form: CodeForm,
    /// How a batch is looked up.
    pub(super) batch: Batch,
    /// The account of the pages. Empty in a live table, whose writer has it.
    pub(super) store: Store,
    pub(super) extent: Extent,
}

impl<M: Memory> Pages<M> {
    /// The view that lookups read.
    #[inline(always)]
    pub(super) fn view(&self) -> View<'_, M> {
        let Fixed { root_shift, below_root, log2, escape_code, escape_bits, .. } = self.fixed;
        View {
            root: self.root.items(),
            codes: self.codes.items(),
            escapes: self.escapes.items(),
            deep: self.deep.items(),
            root_shift,
            below_root,
            log2,
            escape_code,
            escape_bits,
            hops: self.fixed.decode.hops().map_or(ptr::null(), <[u32]>::as_ptr),
            fixed: &self.fixed,
        }
    }
}

impl Pages {
    /// The arrays.
    pub(super) fn slices(&self) -> Slices<'_> {
        let Self { root, codes, escapes, deep, fixed, .. } = self;
        Slices { root, codes, escapes, deep, fixed }
    }
}

/// A table as lookups read it.
///
/// Passed by value, with copies of the numbers of [`Fixed`]: so a loop of lookups keeps all of them
/// in registers, although the compiler cannot know that stores of answers do not change them.
#[derive(Clone, Copy)]
pub(super) struct View<'a, M = LiveMemory> {
    pub root: Items<'a, u32, M>,
    pub codes: Items<'a, u8, M>,
    pub escapes: Items<'a, u32, M>,
    pub deep: Items<'a, u32, M>,
    pub root_shift: u32,
    pub below_root: u32,
    pub log2: u8,
    pub escape_code: u32,
    pub escape_bits: u8,
    /// The next hops of all codes; null if codes are next hops.
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
            codes: self.codes.shared(),
            escapes: self.escapes.shared(),
            deep: self.deep.shared(),
            root_shift: self.root_shift,
            below_root: self.below_root,
            log2: self.log2,
            escape_code: self.escape_code,
            escape_bits: self.escape_bits,
            hops: self.hops,
            fixed: self.fixed,
        }
    }
}

/// The arrays of a table that is not being changed; the input of its check.
#[derive(Clone, Copy)]
pub(super) struct Slices<'a> {
    pub root: &'a [u32],
    pub codes: &'a [u8],
    pub escapes: &'a [u32],
    pub deep: &'a [u32],
    pub fixed: &'a Fixed,
}
