//! The arrays of an IPv6 table, and the bits in them.

use crate::mem::{FrozenMemory, Items, Memory, Readable};

/// A word of the root, of a page or of a fork. Zero is an answer: no route.
///
/// ```text
///   31  30 29    24 23                0
///  +------+--------+-------------------+
///  | kind |  drop  |       place       |
///  +------+--------+-------------------+
///   0  answer  a next hop of 30 bits, 0 where there is no route
///   1  codes   drop 0-47: the answer is that of code (place + (word >> drop)) mod 2^24
///      mini    drop 48-50: mini number `place`, which compares (word >> 16 (drop - 48)) mod 2^32
///   2  line    drop 0-47: line number `place`, which compares (word >> drop) mod 2^16
///      run     drop 48-59: 2^(drop - 48) lines, one chosen by the hash of the lower word
///      lower   drop 60: from here on the word is the lower one; its entry is at `place` of the pages
///      fork    drop 62: line number `place`, which compares word mod 2^32 and leads to entries
///   3  page    the next entry is at (place + (word >> drop)) mod 2^24 of the pages
/// ```
/// A word is the upper or the lower half of an address. The place of codes and of pages is that of
/// their first item minus the bits of the word above them, so that one step serves every grain and
/// every position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub(super) struct Entry(pub u32);

pub(super) const CODES: u32 = 1 << 30;
pub(super) const MINI: u32 = CODES | FIRST_SPECIAL << DROP_AT;
pub(super) const LINE: u32 = 2 << 30;
pub(super) const RUN: u32 = LINE | FIRST_SPECIAL << DROP_AT;
pub(super) const LOWER: u32 = LINE | 60 << DROP_AT;
pub(super) const FORK: u32 = LINE | 62 << DROP_AT;
pub(super) const PAGE: u32 = 3 << 30;

const DROP_AT: u32 = 24;
/// The drops from this one on are those of minis, runs, `LOWER` and forks.
const FIRST_SPECIAL: u32 = 48;
/// The greatest drop of codes and of lines.
pub(super) const MAX_DROP: u32 = FIRST_SPECIAL - 1;
/// The places of an array, and the mask of a place.
pub(super) const PLACES: usize = 1 << DROP_AT;
pub(super) const PLACE: u32 = PLACES as u32 - 1;
/// The greatest next hop.
pub(super) const MAX_NEXT_HOP: u32 = CODES - 1;
/// log2 of the most lines of a run.
pub(super) const MAX_RUN: u32 = 11;
/// log2 of the most entries of a page, and of the most codes below one entry.
pub(super) const MAX_GRAIN: u8 = 12;
pub(super) const MAX_CODES: u8 = 14;
/// Steps through pages that every address makes. Deeper pages are rare.
pub(super) const MAX_STEPS: u8 = 3;

/// The kind of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Answer,
    Codes,
    Mini,
    Line,
    Run,
    Lower,
    Fork,
    Page,
    /// Bits that no entry has.
    Unknown,
}

impl Entry {
    pub fn answer(raw: u32) -> Self {
        debug_assert!(raw <= MAX_NEXT_HOP);
        Self(raw)
    }

    /// An entry with a place: its lower 24 bits count.
    pub fn new(kind: u32, drop: u32, place: u32) -> Self {
        Self(kind | drop << DROP_AT | place & PLACE)
    }

    pub fn kind(self) -> Kind {
        match (self.0 >> 30, self.drop()) {
            (0, _) => Kind::Answer,
            (3, _) => Kind::Page,
            (1, 0..=MAX_DROP) => Kind::Codes,
            (1, 48..=50) => Kind::Mini,
            (2, 0..=MAX_DROP) => Kind::Line,
            (2, 48..=59) => Kind::Run,
            (2, 60) => Kind::Lower,
            (2, 62) => Kind::Fork,
            _ => Kind::Unknown,
        }
    }

    #[inline(always)]
    pub fn drop(self) -> u32 {
        self.0 >> DROP_AT & 63
    }

    #[inline(always)]
    pub fn place(self) -> u32 {
        self.0 & PLACE
    }

    /// The index of the next entry, or of the code, of a word.
    #[inline(always)]
    pub fn index(self, word: u64) -> u32 {
        self.0.wrapping_add((word >> self.drop()) as u32) & PLACE
    }

    /// log2 of the lines of a run.
    #[inline(always)]
    pub fn log2_lines(self) -> u32 {
        self.drop() - FIRST_SPECIAL
    }

    /// Bits of the word below those that a mini compares.
    #[inline(always)]
    pub fn mini_shift(self) -> u32 {
        16 * (self.drop() - FIRST_SPECIAL)
    }
}

/// The entry of a run.
pub(super) fn run(log2_lines: u32, place: u32) -> Entry {
    Entry::new(LINE, FIRST_SPECIAL + log2_lines, place)
}

/// The line of a run in which the search for a lower word begins.
#[inline(always)]
pub(super) fn home(log2_lines: u32, word: u64) -> u32 {
    // Odd, and no bit of the word is without influence on the upper bits of the product.
    let hash = word.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((hash >> 32) >> (32 - log2_lines)) as u32
}

/// Addresses that share their first bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Block {
    pub first: u128,
    pub bits: u8,
}

impl Block {
    /// The addresses that share the first `bits` bits with one of them.
    pub fn of(addr: u128, bits: u8) -> Self {
        Self { first: addr & !below(bits), bits }
    }

    pub fn last(self) -> u128 {
        self.first | below(self.bits)
    }

    /// The first word of the block's addresses in a half.
    pub fn word(self, is_lower: bool) -> u64 {
        word(self.first, is_lower)
    }
}

/// The bits of an address below its first `bits`.
pub(super) fn below(bits: u8) -> u128 {
    u128::MAX.checked_shr(bits.into()).unwrap_or(0)
}

/// A half of an address.
#[inline(always)]
pub(super) fn word(addr: u128, is_lower: bool) -> u64 {
    if is_lower { addr as u64 } else { (addr >> 64) as u64 }
}

/// An IPv6 table as a root, pages of entries, and leaves.
///
/// ```text
/// e = root[min((upper - base) >> shift, last)]
/// while e is a page: e = pages[(place + (word >> drop)) mod 2^24]
/// ```
/// Numbers in leaves are little-endian; codes have 8, 16 or 32 bits everywhere. A code is a next
/// hop, or the position of one in the list.
///
/// Invariants that the unchecked reads of the lookups rely on:
/// 1. The root has `last + 1` entries, the last of them an answer. Its blocks have 12 to 48 bits,
///    `base` is the beginning of one; of 2^32 words where blocks are smaller.
/// 2. Every index of a page's entry, of a code, of a mini and of a line that an address can reach
///    lies inside of its array. The pieces that entries lead to, and the free ones, do not overlap.
/// 3. Each page, fork, run and lower entry has one entry that leads to it. So a lookup never comes
///    to an entry twice. Codes, minis and lines with equal contents may be shared.
/// 4. Entries below `lower` compare the lower word and are no `lower` entries. Those of a fork are
///    answers, or in the upper half `lower` entries and runs, which begin at bit 64.
/// 5. The list of next hops has 2^8 or 2^16 entries, or none where a code is a next hop.
/// 6. In a live table single stores replace entries of the root, of pages and of forks, and codes
///    of runs. Other words are written only while no reader can reach them.
/// 7. Keys ascend and are those of the last words of their segments; the keys after the last one
///    are all ones. A line may hold segments of several neighbouring blocks.
/// 8. All ones is the code of no next hop: at the end of a run's line it says that the search goes
///    on in the next line. Some line of each run says otherwise.
///
/// ```
/// use longmatch::engine::folio::v6::{Config, Folio6};
/// use longmatch::{Engine, Lookup, NextHopId, Rib};
/// let mut rib = Rib::new();
/// rib.insert("2001:db8::/32".parse()?, NextHopId::new(1).unwrap())?;
/// let folio = Folio6::compile(&rib, &Config::default())?;
/// assert_eq!(folio.lookup("2001:db8::1".parse()?), NextHopId::new(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Folio6<M: Memory = FrozenMemory> {
    pub(super) root: M::Array<u32>,
    /// The entries of pages, and those that `lower` entries lead to.
    pub(super) pages: M::Array<u32>,
    pub(super) codes: M::Array<u8>,
    pub(super) lines: M::Array<u32>,
    pub(super) minis: M::Array<u32>,
    /// The next hop of each code. Empty where a code is a next hop.
    pub(super) hops: M::Array<u32>,
    pub(super) fixed: Fixed,
    /// The name of the plan; empty if an image does not say.
    pub(super) leaves: &'static str,
}

/// The parts that never change after compilation, even in live memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Fixed {
    /// The upper half of the first address of the root's first block.
    pub base: u64,
    /// Bits of the upper half below a block of the root.
    pub shift: u8,
    /// The index of the root's last entry.
    pub last: u32,
    /// Steps through pages that every address makes.
    pub steps: u8,
    /// log2 of the bytes of a code.
    pub log2: u8,
    /// Whether codes are positions in the list of next hops.
    pub is_list: bool,
}

impl Fixed {
    /// The bits of the addresses that share a block of the root.
    pub fn bits(&self) -> u8 {
        64 - self.shift
    }

    /// The index of the root's entry for an upper half.
    #[inline(always)]
    pub fn index(&self, upper: u64) -> usize {
        (upper.wrapping_sub(self.base) >> self.shift).min(self.last.into()) as usize
    }

    /// A block of the root.
    pub fn block(&self, index: u32) -> Block {
        let upper = self.base.wrapping_add(u64::from(index) << self.shift);
        Block { first: u128::from(upper) << 64, bits: self.bits() }
    }
}

/// A table as lookups read it.
#[derive(Clone, Copy)]
pub(super) struct View<'a, M> {
    pub root: Items<'a, u32, M>,
    pub pages: Items<'a, u32, M>,
    pub codes: Items<'a, u8, M>,
    pub lines: Items<'a, u32, M>,
    pub minis: Items<'a, u32, M>,
    pub hops: Items<'a, u32, M>,
    pub fixed: &'a Fixed,
}

impl<'a, M: Memory> View<'a, M> {
    /// The same table with the loads of live memory, for kernels.
    #[inline(always)]
    pub fn shared(self) -> View<'a, crate::mem::LiveMemory> {
        View {
            root: self.root.shared(),
            pages: self.pages.shared(),
            codes: self.codes.shared(),
            lines: self.lines.shared(),
            minis: self.minis.shared(),
            hops: self.hops.shared(),
            fixed: self.fixed,
        }
    }
}

impl<M: Memory> Folio6<M> {
    /// Returns the view that lookups read.
    #[inline(always)]
    pub(super) fn view(&self) -> View<'_, M> {
        View {
            root: self.root.items(),
            pages: self.pages.items(),
            codes: self.codes.items(),
            lines: self.lines.items(),
            minis: self.minis.items(),
            hops: self.hops.items(),
            fixed: &self.fixed,
        }
    }
}

/// The arrays of a table that is not being changed.
#[derive(Clone, Copy)]
pub(super) struct Slices<'a> {
    pub root: &'a [u32],
    pub pages: &'a [u32],
    pub codes: &'a [u8],
    pub lines: &'a [u32],
    pub minis: &'a [u32],
    pub hops: &'a [u32],
    pub fixed: &'a Fixed,
}

impl Slices<'_> {
    /// The next hop of a code; none for one that the list does not have.
    pub fn hop(&self, code: u32) -> u32 {
        match self.fixed.is_list {
            true => self.hops.get(code as usize).copied().unwrap_or(0),
            false => code,
        }
    }
}
