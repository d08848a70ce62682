//! The direct table: `2^K` entries, one a chunk, in one level (2012) or in two (2017).

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::layout::{MAX_K, MIN_K};
use super::{Config, EXPECTED, NAME};
use crate::engine::kit::{CompileError, OptionError, Variant};
use crate::mem::{
    Frozen, FrozenMemory, Items, Live, LiveMemory, Memory, MemoryPart, Owner, Readable,
};

/// The most bits of the first of two levels: its entries have 16 bits, and at worst each refers to
/// a block of its own.
pub(super) const MAX_SPLIT_D: u8 = 16;

/// The most blocks that elements of the first level can name.
const MAX_BLOCKS: usize = 1 << 16;
/// Spare blocks on top of twice the blocks in use.
const SPARE_BLOCKS: usize = 16;

/// A direct table in memory of either kind. Sealed: [`Single`] and [`Split`].
pub trait Direct: Sealed + Send + Sync + 'static {
    /// The kind of memory.
    type Memory: Memory;
    /// The view that lookups read.
    type View<'a>: DirectView;

    /// Returns the view that lookups read.
    fn view(&self) -> Self::View<'_>;

    /// The bits of the second level, 0 if there is none.
    fn x(&self) -> u8;

    /// The memory of each level.
    fn memory(&self) -> Vec<MemoryPart>;
}

/// A direct table in frozen memory.
pub trait FrozenDirect: Direct<Memory = FrozenMemory> + Clone {
    /// The same form in live memory.
    type Live: Direct<Memory = LiveMemory>;

    /// Builds the table of `2^(d + x)` entries.
    ///
    /// # Errors
    /// When this form does not exist for `d` and `x`, or memory runs out.
    fn build(entries: Vec<u32>, d: u8, x: u8) -> Result<Self, CompileError>;

    /// The entries, by the table's form.
    fn levels(&self) -> Levels<'_>;

    /// Returns a live copy with capacity for more second-level blocks, and its owner. `None` when
    /// memory runs out.
    fn live(&self) -> Option<(Self::Live, DirectOwner)>;
}

/// A direct table as lookups read it.
pub trait DirectView: Copy {
    /// The view that kernels take.
    type Shared: DirectView;

    /// Returns the view that kernels take: its loads are those of live memory.
    fn shared(self) -> Self::Shared;

    /// Reads the entry of chunk `index`.
    ///
    /// # Safety
    /// `index` is less than `2^K`.
    unsafe fn entry(self, index: usize) -> u32;

    /// Prefetches the cache line of the first read for chunk `index`.
    fn prefetch(self, index: usize);

    /// The arrays that gathers read.
    fn tables(self) -> Tables;
}

/// The arrays of a direct table, for kernels. Raw pointers, as elements may be replaced meanwhile.
#[derive(Clone, Copy)]
pub struct Tables {
    /// First level of two, if there are two.
    pub first: *const u16,
    /// The entries.
    pub entries: *const u32,
    /// Bits of the second level.
    pub x: u8,
}

/// The entries of a direct table that is not being changed, by its form.
#[derive(Clone, Copy, Debug)]
pub enum Levels<'a> {
    /// One level.
    Single(&'a [u32]),
    /// Two levels.
    Split {
        /// The first level.
        first: &'a [u16],
        /// The blocks of the second level.
        entries: &'a [u32],
        /// Bits of the second level.
        x: u8,
    },
}

/// The write side of a direct table.
pub enum DirectOwner {
    /// One level.
    Single(Owner<u32>),
    /// Two levels.
    Split(SplitOwner),
}

/// The write side of a direct table in two levels.
pub struct SplitOwner {
    /// The first level.
    pub(super) first: Owner<u16>,
    /// The blocks of the second level.
    pub(super) entries: Owner<u32>,
    /// Bits of the second level.
    pub(super) x: u8,
}

/// One level: an array of `2^K` entries.
#[derive(Debug)]
pub struct Single<M: Memory = FrozenMemory> {
    pub(super) entries: M::Array<u32>,
}

/// Two levels, `DdXxR` in the paper of 2017: `K = d + x`.
///
/// ```text
///  first[2^d + 1]  16 bits: index of a block; one more, 0, since gathers read 32 bits
///  entries         blocks of 2^x entries, equal blocks once
///  the entry of chunk i:  entries[first[i >> x] << x | i & (2^x - 1)]
/// ```
///
/// Invariants: `first` has `2^d + 1` elements, each the index of a block in `entries`; every block
/// has a reference, except unused ones in a live table; no two blocks are equal. In a live table
/// one store replaces an element of `first`, and a block is written only while no element that a
/// reader may have read names it.
#[derive(Debug)]
pub struct Split<M: Memory = FrozenMemory> {
    pub(super) first: M::Array<u16>,
    pub(super) entries: M::Array<u32>,
    pub(super) x: u8,
}

/// The options of one level, where `x` is 0, or of two.
pub(super) fn levels(d: u8, x: u8) -> Variant {
    let d = Variant::new().value("d", d);
    if x == 0 { d } else { d.value("x", x) }
}

/// Refuses levels that do not exist, with the options as they were given.
pub(super) fn check_levels(d: Option<u8>, x: Option<u8>) -> Result<(), OptionError> {
    let Config { d: default, .. } = Config::default();
    let (first, second) = (d.unwrap_or(default), x.unwrap_or(0));
    let split = second == 0 || (1..=MAX_SPLIT_D).contains(&first);
    if split && (MIN_K..=MAX_K).contains(&first.saturating_add(second)) {
        return Ok(());
    }
    let given = [("d", d), ("x", x)].into_iter().filter_map(|(key, bits)| Some((key, bits?)));
    let option = given.fold(Variant::new(), |all, (key, bits)| all.value(key, bits)).finish();
    Err(OptionError { engine: NAME, option, expected: EXPECTED })
}

fn unsupported(d: u8, x: u8) -> CompileError {
    let option = levels(d, x).finish();
    OptionError { engine: NAME, option, expected: EXPECTED }.into()
}

impl<M: Memory> Direct for Single<M> {
    type Memory = M;
    type View<'a> = Items<'a, u32, M>;

    #[inline(always)]
    fn view(&self) -> Items<'_, u32, M> {
        self.entries.items()
    }

    fn x(&self) -> u8 {
        0
    }

    fn memory(&self) -> Vec<MemoryPart> {
        [MemoryPart::of_array("direct entries", &self.entries)].into()
    }
}

impl<'a, M: Memory> DirectView for Items<'a, u32, M> {
    type Shared = Items<'a, u32>;

    #[inline(always)]
    fn shared(self) -> Items<'a, u32> {
        Items::shared(self)
    }

    #[inline(always)]
    unsafe fn entry(self, index: usize) -> u32 {
        // SAFETY: there are 2^K entries (invariant 2), and `index` has K bits, as the trait
        // requires.
        unsafe { self.load(index) }
    }

    #[inline(always)]
    fn prefetch(self, index: usize) {
        Items::prefetch(self, index);
    }

    #[inline(always)]
    fn tables(self) -> Tables {
        Tables { first: core::ptr::null(), entries: self.as_ptr(), x: 0 }
    }
}

impl Clone for Single {
    fn clone(&self) -> Self {
        Self { entries: self.entries.clone() }
    }
}

impl FrozenDirect for Single {
    type Live = Single<LiveMemory>;

    fn build(entries: Vec<u32>, d: u8, x: u8) -> Result<Self, CompileError> {
        if x != 0 || !(MIN_K..=MAX_K).contains(&d) {
            return Err(unsupported(d, x));
        }
        Ok(Self { entries: Frozen::of(&entries).map_err(CompileError::memory(NAME))? })
    }

    fn levels(&self) -> Levels<'_> {
        Levels::Single(&self.entries)
    }

    fn live(&self) -> Option<(Single<LiveMemory>, DirectOwner)> {
        let (entries, owner) = Live::with_capacity(&self.entries, 0)?;
        Some((Single { entries }, DirectOwner::Single(owner)))
    }
}

/// Two levels as lookups read them.
#[derive(Clone, Copy, Debug)]
pub struct SplitView<'a, M = LiveMemory> {
    first: Items<'a, u16, M>,
    entries: Items<'a, u32, M>,
    x: u8,
}

impl<M: Memory> Direct for Split<M> {
    type Memory = M;
    type View<'a> = SplitView<'a, M>;

    #[inline(always)]
    fn view(&self) -> SplitView<'_, M> {
        SplitView { first: self.first.items(), entries: self.entries.items(), x: self.x }
    }

    fn x(&self) -> u8 {
        self.x
    }

    fn memory(&self) -> Vec<MemoryPart> {
        [
            MemoryPart::of_array("direct entries of the first level", &self.first),
            MemoryPart::of_array("direct entries of the second level", &self.entries),
        ]
        .into()
    }
}

impl<'a, M: Memory> DirectView for SplitView<'a, M> {
    type Shared = SplitView<'a>;

    #[inline(always)]
    fn shared(self) -> SplitView<'a> {
        SplitView { first: self.first.shared(), entries: self.entries.shared(), x: self.x }
    }

    #[inline(always)]
    unsafe fn entry(self, index: usize) -> u32 {
        // SAFETY: `first` has 2^d + 1 elements, and `index` has K bits, of which d remain after the
        // shift.
        let block = usize::from(unsafe { self.first.load(index >> self.x) });
        let i = block << self.x | index & ((1 << self.x) - 1);
        // SAFETY: `first` names blocks in `entries`, and a block has 2^x entries. Blocks that
        // readers can reach are not written.
        unsafe { self.entries.read(i) }
    }

    #[inline(always)]
    fn prefetch(self, index: usize) {
        self.first.prefetch(index >> self.x);
    }

    #[inline(always)]
    fn tables(self) -> Tables {
        Tables { first: self.first.as_ptr(), entries: self.entries.as_ptr(), x: self.x }
    }
}

impl Clone for Split {
    fn clone(&self) -> Self {
        Self { first: self.first.clone(), entries: self.entries.clone(), x: self.x }
    }
}

impl FrozenDirect for Split {
    type Live = Split<LiveMemory>;

    fn build(entries: Vec<u32>, d: u8, x: u8) -> Result<Self, CompileError> {
        let k = d.saturating_add(x);
        if x == 0 || d == 0 || d > MAX_SPLIT_D || !(MIN_K..=MAX_K).contains(&k) {
            return Err(unsupported(d, x));
        }
        let hasher = DefaultHashBuilder::default();
        let hash = |block: &[u32]| core::hash::BuildHasher::hash_one(&hasher, block);
        let mut first = Vec::with_capacity((1 << d) + 1);
        let mut kept: Vec<u32> = Vec::new();
        let mut known: HashTable<u16> = HashTable::new();
        let at = |index: u16| usize::from(index) << x;
        for block in entries.chunks_exact(1 << x) {
            let same = |i: &u16| kept[at(*i)..][..1 << x] == *block;
            let index = match known.find(hash(block), same) {
                Some(index) => *index,
                None => {
                    let index = (kept.len() >> x) as u16;
                    kept.extend_from_slice(block);
                    known.insert_unique(hash(block), index, |i| hash(&kept[at(*i)..][..1 << x]));
                    index
                }
            };
            first.push(index);
        }
        first.push(0);
        let first = Frozen::of(&first).map_err(CompileError::memory(NAME))?;
        Ok(Self { first, entries: Frozen::of(&kept).map_err(CompileError::memory(NAME))?, x })
    }

    fn levels(&self) -> Levels<'_> {
        let Self { first, entries, x } = self;
        Levels::Split { first, entries, x: *x }
    }

    fn live(&self) -> Option<(Split<LiveMemory>, DirectOwner)> {
        let x = self.x;
        let capacity = 2 * self.entries.len() + (SPARE_BLOCKS << x);
        let (first, first_owner) = Live::with_capacity(&self.first, 0)?;
        let (entries, entry_owner) =
            Live::with_capacity(&self.entries, capacity.min(MAX_BLOCKS << x))?;
        let owner = SplitOwner { first: first_owner, entries: entry_owner, x };
        Some((Split { first, entries, x }, DirectOwner::Split(owner)))
    }
}

impl DirectOwner {
    /// The entries, by the table's form.
    pub(super) fn levels(&self) -> Levels<'_> {
        match self {
            Self::Single(entries) => Levels::Single(entries),
            Self::Split(split) => split.levels(),
        }
    }
}

impl SplitOwner {
    /// [`DirectOwner::levels`].
    pub(super) fn levels(&self) -> Levels<'_> {
        let Self { first, entries, x } = self;
        Levels::Split { first, entries, x: *x }
    }
}

impl<'a> Levels<'a> {
    /// Returns the bits of the second level, 0 if there is none.
    pub(super) fn x(self) -> u8 {
        match self {
            Self::Single(_) => 0,
            Self::Split { x, .. } => x,
        }
    }

    /// Returns the entry of chunk `index`.
    ///
    /// # Panics
    /// When there is none.
    pub(super) fn entry(self, index: usize) -> u32 {
        match self {
            Self::Single(entries) => entries[index],
            Self::Split { first, entries, x } => {
                entries[usize::from(first[index >> x]) << x | index & ((1 << x) - 1)]
            }
        }
    }

    /// Returns block `block` of the second level.
    ///
    /// # Panics
    /// When there is no such block.
    pub(super) fn block(self, block: u32) -> &'a [u32] {
        match self {
            Self::Single(_) => &[],
            Self::Split { entries, x, .. } => &entries[(block as usize) << x..][..1 << x],
        }
    }

    /// Checks the table's own invariants, given `2^k` chunks and the unused blocks.
    ///
    /// # Errors
    /// The first broken invariant.
    pub(super) fn check(self, k: u8, unused: &[u32]) -> Result<(), String> {
        let (first, entries, x) = match self {
            Self::Single(entries) if entries.len() == 1 << k => return Ok(()),
            Self::Single(entries) => {
                return Err(format!("{} direct entries for K = {k}", entries.len()));
            }
            Self::Split { first, entries, x } => (first, entries, x),
        };
        if x == 0 || x >= k || k - x > MAX_SPLIT_D {
            return Err(format!("x = {x} for K = {k}"));
        }
        if first.len() != (1 << (k - x)) + 1 || first.last() != Some(&0) {
            return Err(format!("{} elements in the first level, d = {}", first.len(), k - x));
        }
        let blocks: Vec<&[u32]> = entries.chunks(1 << x).collect();
        if blocks.iter().any(|block| block.len() != 1 << x) {
            return Err("the last block is cut off".into());
        }
        let elements = &first[..first.len() - 1];
        let used: BTreeSet<u32> = elements.iter().map(|block| (*block).into()).collect();
        let either = used.union(&unused.iter().copied().collect()).count();
        let last = used.iter().chain(unused).max();
        if last.is_some_and(|last| *last as usize >= blocks.len()) {
            return Err(format!("block {last:?} of {}", blocks.len()));
        }
        let distinct: BTreeSet<&[u32]> = used.iter().map(|block| blocks[*block as usize]).collect();
        if used.len() != distinct.len()
            || either != blocks.len()
            || used.len() + unused.len() != either
        {
            return Err(format!(
                "{} blocks: {} used, {} distinct, {} unused",
                blocks.len(),
                used.len(),
                distinct.len(),
                unused.len()
            ));
        }
        Ok(())
    }
}

mod sealed {
    use crate::mem::Memory;

    pub trait Sealed {}
    impl<M: Memory> Sealed for super::Single<M> {}
    impl<M: Memory> Sealed for super::Split<M> {}
}
use sealed::Sealed;
