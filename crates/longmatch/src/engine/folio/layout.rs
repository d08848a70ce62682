//! The arrays of a Folio and the bits in them.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::marker::PhantomData;
use core::ops::Deref;
use core::sync::atomic::AtomicUsize;

use super::book::Book;
use super::root::Root;
use super::store::Store;
use crate::mem::{FrozenMemory, Items, Memory, Readable};
use crate::net::Family;

/// A slot of the root or of a branch page. Zero is an answer: no route.
///
/// ```text
///   31  30  29                               4 3      0
///  +---+---------------------------------------------+
///  | 0 | next hop, 0 = no route                      |   an answer
///  +---+---+--------------------------------+--------+
///  | 1 | 0 | place                          | drop   |   a page of codes
///  +---+---+--------------------------------+--------+
///  | 1 | 1 | place                          | 0      |   a branch page
///  +---+---+--------------------------------+--------+
///  place  where the page begins in the array of pages, in units of a code. Pages begin at
///         multiples of 16 codes, so the field is the place itself, its low bits masked off.
///  drop   how many low bits of the window, with the bits of a slot of a branch page below it,
///         are dropped to number the codes: see `Level`.
/// ```
///
/// As signed numbers, pages of codes are least, then branch pages, then answers: one comparison
/// tells them apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub(super) struct Entry(pub u32);

/// Flag of an entry that leads to a page.
pub(super) const PAGE: u32 = 1 << 31;
/// Flag of an entry that leads to a branch page.
pub(super) const BRANCH: u32 = 1 << 30;
/// Mask of a page's place in an entry.
pub(super) const PLACE: u32 = BRANCH - PLACE_UNIT as u32;
/// Mask of the number of dropped bits of the window in an entry.
pub(super) const DROP: u32 = PLACE_UNIT as u32 - 1;
/// Codes in the unit of alignment of pages.
pub(super) const PLACE_UNIT: usize = 16;
/// The most codes in all pages together.
pub(super) const MAX_CODES: usize = 1 << 30;
/// The greatest next hop that an entry holds.
pub(super) const MAX_NEXT_HOP: u32 = PAGE - 1;
/// The greatest width of a window: `drop` is at most 2 + width - 1.
pub(super) const MAX_WIDTH: u8 = 14;

const _: () = assert!(PLACE | DROP | BRANCH | PAGE == u32::MAX && MAX_WIDTH < DROP as u8);

impl Entry {
    pub fn answer(raw: u32) -> Self {
        debug_assert!(raw <= MAX_NEXT_HOP);
        Self(raw)
    }

    pub fn page_of_codes(place: u32, drop: u8) -> Self {
        debug_assert!(place & !PLACE == 0 && u32::from(drop) <= DROP);
        Self(PAGE | place | u32::from(drop))
    }

    pub fn branch_page(place: u32) -> Self {
        debug_assert!(place & !PLACE == 0);
        Self(PAGE | BRANCH | place)
    }

    #[inline(always)]
    pub fn is_page(self) -> bool {
        self.0 & PAGE != 0
    }

    /// Whether a page is a branch page.
    #[inline(always)]
    pub fn is_branch(self) -> bool {
        self.0 & BRANCH != 0
    }

    /// Returns the raw next hop of an answer.
    #[inline(always)]
    pub fn raw(self) -> u32 {
        self.0
    }

    #[inline(always)]
    pub fn place(self) -> u32 {
        self.0 & PLACE
    }

    #[inline(always)]
    pub fn drop(self) -> u32 {
        self.0 & DROP
    }
}

/// A slot of a page of codes: a next hop in as few bytes as the table allows.
///
/// Sealed: [`Byte`], [`Coded`], `u16` and `u32`.
///
/// ```
/// use longmatch::engine::folio::{Code, Config, Folio};
/// use longmatch::{CompileError, Engine, Ipv4, Lookup, Rib};
///
/// /// Bytes of a table with codes of a given type.
/// fn bytes<C: Code>(rib: &Rib<Ipv4>) -> Result<usize, CompileError> {
///     let folio: Folio<Ipv4, C> = Folio::compile(rib, &Config::default())?;
///     Ok(folio.memory_usage().bytes())
/// }
/// assert!(bytes::<u16>(&Rib::new())? > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Code: sealed::Sealed + Copy + Send + Sync + 'static {
    /// log2 of the bytes of a code.
    const LOG2: u32;
    /// log2 of the codes in a slot of a branch page, which has 4 bytes.
    const SLOT_SHIFT: u32 = 2 - Self::LOG2;
    /// The bits of a code.
    const MASK: u32 = u32::MAX >> (32 - (8 << Self::LOG2));
    /// Whether a codebook translates codes. Otherwise they are raw next hops, except `PATCHES` of
    /// them.
    const BOOK: bool;
    /// The most codes, without a codebook, that are not their own next hop.
    const PATCHES: usize = 0;
    /// The greatest next hop of a table.
    const MAX: u32;
    /// Name among the options: bits of a code, or `book` for a codebook.
    const NAME: &'static str;
}

/// 8-bit codes that are next hops, for tables with few or none above 255. The few take free codes,
/// or those of the next hops with the fewest starts.
///
/// ```
/// use longmatch::engine::folio::{Byte, Config, Folio};
/// use longmatch::{Engine, Ipv6, Rib, Structure};
/// let folio: Folio<Ipv6, Byte> = Folio::compile(&Rib::new(), &Config::default())?;
/// assert!(Structure::variant(&folio).starts_with("pages:codes=8:"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Byte;

/// 8-bit codes with a codebook, for 256 different next hops of up to 16 bits.
///
/// ```
/// use longmatch::engine::folio::{Coded, Config, Folio};
/// use longmatch::{Engine, Ipv4, Lookup, NextHopId, Rib};
/// let mut rib = Rib::<Ipv4>::new();
/// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(65_000).unwrap())?;
/// let folio: Folio<Ipv4, Coded> = Folio::compile(&rib, &Config::default())?;
/// let mut hops = [None; 1];
/// folio.lookup_batch(&[0x0a01_0203], &mut hops);
/// assert_eq!(hops, [NextHopId::new(65_000)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Coded;

impl Code for Byte {
    const LOG2: u32 = 0;
    const BOOK: bool = false;
    const PATCHES: usize = 4;
    const MAX: u32 = u16::MAX as u32;
    const NAME: &'static str = "8";
}

impl Code for Coded {
    const LOG2: u32 = 0;
    const BOOK: bool = true;
    const MAX: u32 = u16::MAX as u32;
    const NAME: &'static str = "book";
}

impl Code for u16 {
    const LOG2: u32 = 1;
    const BOOK: bool = false;
    const MAX: u32 = u16::MAX as u32;
    const NAME: &'static str = "16";
}

impl Code for u32 {
    const LOG2: u32 = 2;
    const BOOK: bool = false;
    const MAX: u32 = MAX_NEXT_HOP;
    const NAME: &'static str = "32";
}

/// The constants of a [`Code`] as values: what reads no address is compiled once for all codes.
#[derive(Clone, Copy, Debug)]
pub(super) struct CodeForm {
    /// [`Code::LOG2`].
    pub log2: u32,
    /// [`Code::SLOT_SHIFT`].
    pub slot_shift: u32,
    /// [`Code::BOOK`].
    pub book: bool,
    /// [`Code::PATCHES`].
    pub patches: usize,
    /// [`Code::MAX`].
    pub max: u32,
    /// [`Code::NAME`].
    pub name: &'static str,
}

impl CodeForm {
    /// The constants of a code.
    pub const fn of<C: Code>() -> Self {
        let (log2, slot_shift) = (C::LOG2, C::SLOT_SHIFT);
        Self { log2, slot_shift, book: C::BOOK, patches: C::PATCHES, max: C::MAX, name: C::NAME }
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Byte {}
    impl Sealed for super::Coded {}
    impl Sealed for u16 {}
    impl Sealed for u32 {}
}

/// The bits of the address that number the slots of a page: from one cut to the next.
///
/// A slot of a branch page is as long as `1 << SLOT_SHIFT` codes. So the window is read with that
/// many zeros below it, which makes it the place of a branch page's slot in units of a code; for a
/// page of codes an entry gives the number of low bits to drop, which includes the zeros.
///
/// Addresses are read in halves of 64 bits, left-aligned: an IPv4 address is one half, an IPv6
/// address two. No window lies in both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Level {
    /// Bits of the address above the window.
    pub start: u8,
    /// Bits in the window.
    pub width: u8,
}

impl Level {
    pub fn end(self) -> u8 {
        self.start + self.width
    }

    /// Bits of the half below the window.
    #[inline(always)]
    pub fn below(self) -> u32 {
        63 - u32::from(self.start + self.width - 1) % 64
    }

    /// Index of the half.
    #[inline(always)]
    pub fn half(self) -> u8 {
        self.start / 64
    }
}

/// Extent of a Folio's store. Atomic, as the writer changes it while readers use the table.
#[derive(Debug, Default)]
pub(super) struct Extent {
    pub pages: AtomicUsize,
    /// Bytes of the array of pages that have ever been used.
    pub bytes: AtomicUsize,
}

/// A compiled Folio with codes `C`.
///
/// Invariants that the unchecked reads of the lookups rely on:
/// 1. The root has one entry more than stored blocks, at most 2^30 + 1; the last one is an answer.
///    An IPv4 root stores all blocks.
/// 2. A branch page of level `l` has `2^width` slots, a page of codes `2^(width + SLOT_SHIFT -
///    drop)`. They lie in the array of pages, which has 4 extra bytes, as gathers read 32 bits.
/// 3. An entry in the root is an answer or a page of level 0, one in a branch page of level `l` an
///    answer or a page of level `l + 1`. The last level ends where the address does.
///    There are no pages of levels after the usual ones where the table is closed.
/// 4. A page of up to 64 bytes lies in one cache line, a larger one begins with one.
/// 5. No two pages of a kind have the same bytes, and the store counts for each page the entries
///    that lead to it.
/// 6. Pages and the store's unused pieces tile the array. The bytes of a page behind its slots are
///    zero.
/// 7. No page is redundant: a page of codes would not fit half as many slots, and the slots of a
///    branch page are not all the same answer.
/// 8. In a live Folio single stores replace the root's entries; a page is written before an entry
///    leads to it, and only while no reader can reach it.
/// 9. Answers are at most `C::MAX`. 8-bit codes stand for different next hops; without a codebook
///    each is its own next hop, except those in `patches`.
///
/// ```
/// use longmatch::engine::folio::{Config, Folio};
/// use longmatch::{Engine, Ipv4, Lookup, NextHopId, Rib};
/// let mut rib = Rib::<Ipv4>::new();
/// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap())?;
/// let folio: Folio<Ipv4, u16> = Folio::compile(&rib, &Config::default())?;
/// let mut hops = [None; 2];
/// folio.lookup_batch(&[0x0a01_0203, 0xc000_0201], &mut hops);
/// assert_eq!(hops, [NextHopId::new(1), None]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Folio<F: Family, C: Code, M: Memory = FrozenMemory> {
    /// The root's entries.
    pub(super) entries: M::Array<u32>,
    /// Pages of both kinds. Their codes and entries are little-endian on every machine.
    pub(super) pages: M::Array<u8>,
    pub(super) fixed: Fixed,
    /// The account of the pages. Empty in a live Folio, whose writer has it.
    pub(super) store: Store,
    pub(super) extent: Extent,
    pub(super) family: PhantomData<(F, C)>,
}

/// The parts of a Folio that never change after compilation, even in live memory.
#[derive(Clone, Debug)]
pub(super) struct Fixed {
    pub root: Root,
    pub levels: Box<[Level]>,
    /// Number of levels that suffice for most addresses: at least one, and none that ends more than
    /// 32 bits below the root.
    pub usual_levels: usize,
    /// Whether these levels suffice for every address.
    pub closed: bool,
    /// The next hops of 8-bit codes.
    pub book: Book,
    /// Codes that are not the next hop itself, and their next hops. Empty if `C` has a codebook.
    pub patches: Vec<(u8, u16)>,
}

impl<F: Family, C: Code, M: Memory> Folio<F, C, M> {
    /// Returns the view that lookups read.
    #[inline(always)]
    pub(super) fn view(&self) -> View<'_, F, C> {
        View {
            entries: self.entries.items().shared(),
            pages: self.pages.items().shared(),
            fixed: &self.fixed,
            family: PhantomData,
        }
    }
}

/// A Folio as lookups read it, in either kind of memory. Passed by value, so that loops keep the
/// arrays' addresses in registers.
#[derive(Clone, Copy)]
pub(super) struct View<'a, F, C> {
    pub entries: Items<'a, u32>,
    pub pages: Items<'a, u8>,
    pub fixed: &'a Fixed,
    family: PhantomData<(F, C)>,
}

impl<F, C> Deref for View<'_, F, C> {
    type Target = Fixed;

    #[inline(always)]
    fn deref(&self) -> &Fixed {
        self.fixed
    }
}

/// The arrays of a Folio that is not being changed; the input of its check.
#[derive(Clone, Copy)]
pub(super) struct Slices<'a> {
    pub entries: &'a [u32],
    pub pages: &'a [u8],
    pub fixed: &'a Fixed,
}

impl Deref for Slices<'_> {
    type Target = Fixed;

    fn deref(&self) -> &Fixed {
        self.fixed
    }
}

impl Fixed {
    /// Returns the raw next hop of a code, given its bytes.
    pub fn next_hop(&self, code: &[u8]) -> u32 {
        match *code {
            [code] => self.book.value(code).into(),
            [a, b] => u16::from_le_bytes([a, b]).into(),
            [a, b, c, d] => u32::from_le_bytes([a, b, c, d]),
            _ => unreachable!("codes have 1, 2 or 4 bytes"),
        }
    }
}
