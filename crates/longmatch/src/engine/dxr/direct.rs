//! The direct table: `2^K` entries, one a chunk, in one level (2012) or in two (2017).

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::layout::{MAX_K, MIN_K};
use super::{EXPECTED, NAME};
use crate::engine::kit::{CompileError, OptionError};
use crate::mem::{Array, MemoryPart, Plain};

/// The greatest number of bits that the first of two levels takes: its entries have 16 bits, and at
/// worst each refers to a block of its own.
pub const MAX_SPLIT_D: u8 = 16;

/// Blocks that elements of the first level can name.
const MOST_BLOCKS: usize = 1 << 16;
/// Room for blocks beside as many again as there are.
const SPARE_BLOCKS: usize = 16;

/// A direct table. Sealed: [`Single`] and [`Split`].
pub trait Direct: Sealed + Clone + PartialEq + Send + Sync + 'static {
    /// Builds the table of `2^(d + x)` entries.
    ///
    /// # Errors
    /// When this form does not exist for `d` and `x`.
    fn build(entries: Vec<u32>, d: u8, x: u8) -> Result<Self, CompileError>;

    /// The entry of chunk `index`.
    ///
    /// # Safety
    /// `index` is less than `2^K`.
    unsafe fn entry(&self, index: usize) -> u32;

    /// Asks for the cache line where the way to the entry of chunk `index` begins.
    fn prefetch(&self, index: usize);

    /// Checks the table's own invariants for `2^k` chunks; of two levels, with blocks that are not
    /// used.
    ///
    /// # Errors
    /// The first that is broken.
    fn check(&self, k: u8, unused: &[u32]) -> Result<(), String>;

    /// The bits of the second level, 0 if there is none.
    fn x(&self) -> u8;

    /// The memory of each level.
    fn memory(&self) -> Vec<MemoryPart>;

    /// Where gathers find the entries.
    fn tables(&self) -> Tables;

    /// Which form it is.
    fn levels(&self) -> Levels<'_>;

    /// The same with room for more blocks of the second level, if there is one; `None` when there is
    /// not as much memory.
    fn with_room(&self) -> Option<Self>;
}

/// The arrays of a direct table, for kernels: addresses, as elements may be replaced meanwhile.
#[derive(Clone, Copy)]
pub struct Tables {
    /// First level of two, if there are two.
    pub first: *const u16,
    /// The entries.
    pub entries: *const u32,
    /// Bits of the second level.
    pub x: u8,
}

/// A direct table by its form.
#[derive(Clone, Copy)]
pub enum Levels<'a> {
    /// One level.
    Single(&'a Single),
    /// Two levels.
    Split(&'a Split),
}

/// One level: an array of `2^K` entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Single {
    pub(super) entries: Array<u32>,
}

/// Two levels, `DdXxR` in the paper of 2017: `K = d + x`.
///
/// ```text
///  first[2^d + 1]  16 bits: index of a block; one more, 0, since gathers read 32 bits
///  entries         blocks of 2^x entries, equal blocks once
///  the entry of chunk i:  entries[first[i >> x] << x | i & (2^x - 1)]
/// ```
///
/// Invariants: `first` has `2^d + 1` elements and each is the index of a block in `entries`; every
/// block has a reference, but for those that are unused in a table that changes under readers; no
/// two are equal. Under readers, elements of `first` are replaced by one store, and blocks are
/// written only where no element leads that a reader may have read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    pub(super) first: Array<u16>,
    pub(super) entries: Array<u32>,
    pub(super) x: u8,
}

fn no_such(d: u8, x: u8) -> CompileError {
    let option = if x == 0 { format!("d={d}") } else { format!("d={d}:x={x}") };
    OptionError { engine: NAME, option, expected: EXPECTED }.into()
}

impl Direct for Single {
    fn build(entries: Vec<u32>, d: u8, x: u8) -> Result<Self, CompileError> {
        if x != 0 || !(MIN_K..=MAX_K).contains(&d) {
            return Err(no_such(d, x));
        }
        Ok(Self { entries: (*entries).into() })
    }

    #[inline(always)]
    unsafe fn entry(&self, index: usize) -> u32 {
        // SAFETY: there are 2^K entries (invariant 2), and the caller has an index of K bits.
        unsafe { self.entries.load(index, 0) }
    }

    #[inline(always)]
    fn prefetch(&self, index: usize) {
        self.entries.prefetch(index);
    }

    fn check(&self, k: u8, _: &[u32]) -> Result<(), String> {
        if self.entries.len() == 1 << k {
            Ok(())
        } else {
            Err(format!("{} direct entries for K = {k}", self.entries.len()))
        }
    }

    #[inline(always)]
    fn x(&self) -> u8 {
        0
    }

    fn memory(&self) -> Vec<MemoryPart> {
        [part("direct entries", &self.entries)].into()
    }

    #[inline(always)]
    fn tables(&self) -> Tables {
        Tables { first: core::ptr::null(), entries: self.entries.as_ptr(), x: 0 }
    }

    fn levels(&self) -> Levels<'_> {
        Levels::Single(self)
    }

    fn with_room(&self) -> Option<Self> {
        Some(Self { entries: Array::with_room(&self.entries, 0)? })
    }
}

impl Direct for Split {
    fn build(entries: Vec<u32>, d: u8, x: u8) -> Result<Self, CompileError> {
        let k = d.saturating_add(x);
        if x == 0 || d == 0 || d > MAX_SPLIT_D || !(MIN_K..=MAX_K).contains(&k) {
            return Err(no_such(d, x));
        }
        let hasher = DefaultHashBuilder::default();
        let hash = |block: &[u32]| core::hash::BuildHasher::hash_one(&hasher, block);
        let mut first = Vec::with_capacity((1 << d) + 1);
        let mut kept: Vec<u32> = Vec::new();
        let mut seen: HashTable<u16> = HashTable::new();
        let at = |index: u16| usize::from(index) << x;
        for block in entries.chunks_exact(1 << x) {
            let same = |i: &u16| kept[at(*i)..][..1 << x] == *block;
            let index = match seen.find(hash(block), same) {
                Some(index) => *index,
                None => {
                    let index = (kept.len() >> x) as u16;
                    kept.extend_from_slice(block);
                    seen.insert_unique(hash(block), index, |i| hash(&kept[at(*i)..][..1 << x]));
                    index
                }
            };
            first.push(index);
        }
        first.push(0);
        Ok(Self { first: (*first).into(), entries: (*kept).into(), x })
    }

    #[inline(always)]
    unsafe fn entry(&self, index: usize) -> u32 {
        // SAFETY: `first` has 2^d elements and one, and `index` K bits, of which d remain.
        let block = usize::from(unsafe { self.first.load_item(index >> self.x) });
        let i = block << self.x | index & ((1 << self.x) - 1);
        // SAFETY: `first` refers to blocks in `entries`, and a block has 2^x entries. Blocks that
        // readers come to are not written.
        unsafe { self.entries.read(i) }
    }

    #[inline(always)]
    fn prefetch(&self, index: usize) {
        self.first.prefetch(index >> self.x);
    }

    fn check(&self, k: u8, unused: &[u32]) -> Result<(), String> {
        let Self { first, entries, x } = self;
        if *x == 0 || *x >= k || k - x > MAX_SPLIT_D {
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

    #[inline(always)]
    fn x(&self) -> u8 {
        self.x
    }

    fn memory(&self) -> Vec<MemoryPart> {
        [
            part("direct entries of the first level", &self.first),
            part("direct entries of the second level", &self.entries),
        ]
        .into()
    }

    #[inline(always)]
    fn tables(&self) -> Tables {
        Tables { first: self.first.as_ptr(), entries: self.entries.as_ptr(), x: self.x }
    }

    fn levels(&self) -> Levels<'_> {
        Levels::Split(self)
    }

    fn with_room(&self) -> Option<Self> {
        let Self { first, entries, x } = self;
        let room = 2 * entries.len() + (SPARE_BLOCKS << x);
        let entries = Array::with_room(entries, room.min(MOST_BLOCKS << x))?;
        Some(Self { first: Array::with_room(first, 0)?, entries, x: *x })
    }
}

/// Without a slice, as the array may be one that changes.
pub(super) fn part<T: Plain>(name: &'static str, array: &Array<T>) -> MemoryPart {
    MemoryPart { name, count: array.len(), bytes: array.len() * size_of::<T>() }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Single {}
    impl Sealed for super::Split {}
}
use sealed::Sealed;
