//! The direct table: `2^K` entries, one a chunk, in one level (2012) or in two (2017).

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::layout::{MAX_K, MIN_K};
use super::{EXPECTED, NAME};
use crate::error::{CompileError, OptionError};
use crate::memory::MemoryPart;
use crate::simd::prefetch;

/// The greatest number of bits that the first of two levels takes: its entries have 16 bits, and at
/// worst each refers to a block of its own.
pub const MAX_SPLIT_D: u8 = 16;

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

    /// Checks the table's own invariants for `2^k` chunks.
    ///
    /// # Errors
    /// The first that is broken.
    fn check(&self, k: u8) -> Result<(), String>;

    /// The bits of the second level, 0 if there is none.
    fn x(&self) -> u8;

    /// The memory of each level.
    fn memory(&self) -> Vec<MemoryPart>;

    /// Where gathers find the entries.
    fn tables(&self) -> Tables<'_>;
}

/// The arrays of a direct table, for kernels.
#[derive(Clone, Copy)]
pub struct Tables<'a> {
    /// First level of two; empty if there is one only.
    pub first: &'a [u16],
    /// The entries.
    pub entries: &'a [u32],
    /// Bits of the second level.
    pub x: u8,
}

/// One level: an array of `2^K` entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Single {
    pub(super) entries: Box<[u32]>,
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
/// block has a reference; no two are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    pub(super) first: Box<[u16]>,
    pub(super) entries: Box<[u32]>,
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
        Ok(Self { entries: entries.into() })
    }

    #[inline(always)]
    unsafe fn entry(&self, index: usize) -> u32 {
        debug_assert!(index < self.entries.len());
        // SAFETY: there are 2^K entries (invariant 2), and the caller has an index of K bits.
        unsafe { *self.entries.get_unchecked(index) }
    }

    #[inline(always)]
    fn prefetch(&self, index: usize) {
        prefetch(&self.entries, index);
    }

    fn check(&self, k: u8) -> Result<(), String> {
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
        [MemoryPart::of_slice("direct entries", &self.entries)].into()
    }

    #[inline(always)]
    fn tables(&self) -> Tables<'_> {
        Tables { first: &[], entries: &self.entries, x: 0 }
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
        Ok(Self { first: first.into(), entries: kept.into(), x })
    }

    #[inline(always)]
    unsafe fn entry(&self, index: usize) -> u32 {
        let d = index >> self.x;
        debug_assert!(d + 1 < self.first.len());
        // SAFETY: `first` has 2^d elements and one, and `index` K bits, of which d remain.
        let block = usize::from(unsafe { *self.first.get_unchecked(d) });
        let i = block << self.x | index & ((1 << self.x) - 1);
        debug_assert!(i < self.entries.len());
        // SAFETY: `first` refers to blocks in `entries`, and a block has 2^x entries.
        unsafe { *self.entries.get_unchecked(i) }
    }

    #[inline(always)]
    fn prefetch(&self, index: usize) {
        prefetch(&self.first, index >> self.x);
    }

    fn check(&self, k: u8) -> Result<(), String> {
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
        let used: alloc::collections::BTreeSet<u16> = first.iter().copied().collect();
        if used.last().is_some_and(|last| usize::from(*last) >= blocks.len()) {
            return Err(format!("block {:?} of {}", used.last(), blocks.len()));
        }
        let distinct: alloc::collections::BTreeSet<&[u32]> = blocks.iter().copied().collect();
        if used.len() != blocks.len() || distinct.len() != blocks.len() {
            return Err(format!(
                "{} blocks: {} used, {} distinct",
                blocks.len(),
                used.len(),
                distinct.len()
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
            MemoryPart::of_slice("direct entries of the first level", &self.first),
            MemoryPart::of_slice("direct entries of the second level", &self.entries),
        ]
        .into()
    }

    #[inline(always)]
    fn tables(&self) -> Tables<'_> {
        Tables { first: &self.first, entries: &self.entries, x: self.x }
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Single {}
    impl Sealed for super::Split {}
}
use sealed::Sealed;
