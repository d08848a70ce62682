//! The first table: an entry for each block of addresses that share their first bits.
//!
//! An IPv6 table uses little of the address space, so not every block is stored. All addresses
//! outside the stored blocks have the same answer: the table's last entry.

use alloc::vec::Vec;
use core::ops::Range;

use super::layout::Entry;
use super::survey::sorted_by_key;

/// The blocks that the first table stores.
#[derive(Clone, Debug)]
pub(super) struct Root {
    /// The last index: the entry shared by all blocks that are not stored.
    pub last: u32,
    /// Bits of the address that number the blocks, at most 30.
    pub bits: u8,
    pub layout: RootLayout,
}

/// Choice and position of the stored blocks.
#[derive(Clone, Debug)]
pub(super) enum RootLayout {
    /// All blocks from `first` on, one for each entry but the last.
    ///
    /// With many bits most of the table is never written: it takes address space, but no memory
    /// where the system provides memory on the first write.
    Span { first: u32, sparse: bool },
    /// The blocks of some regions, one region after the other.
    Regions(Regions),
}

/// Bits of the address that number the regions.
pub(super) const REGION_BITS: u8 = 12;
/// Places for regions: as many as one permutation of two vector registers looks up.
pub(super) const PLACES: usize = 32;
/// The most regions for which a multiplier is sought.
pub(super) const MAX_REGIONS: usize = 18;
/// Multipliers to try.
const TRIES: u32 = 200_000;

/// Regions found by hashing: `number * multiplier >> 27` is the place of a region.
///
/// ```text
///   31                 20 19           5 4     0
///  +---------------------+--------------+-------+
///  | number of a region  | 0            | index |   a place
///  +---------------------+--------------+-------+
///  index  position of its blocks in the table, in regions
/// ```
/// A place without a region holds a region of another place, so that it matches no address.
#[derive(Clone, PartialEq, Eq, Debug)]
#[repr(align(64))]
pub(super) struct Regions {
    pub places: [u32; PLACES],
    pub multiplier: u32,
    /// Bits of the address that number the blocks of a region.
    pub block_bits: u8,
}

impl Regions {
    /// Finds a multiplier for ascending region numbers. `None` when there is no multiplier, no
    /// region, or too many regions.
    pub fn new(numbers: &[u32], root_bits: u8) -> Option<Self> {
        let block_bits = root_bits.checked_sub(REGION_BITS)?;
        if numbers.is_empty() || numbers.len() > MAX_REGIONS {
            return None;
        }
        let distinct = |multiplier: &u32| {
            let place = |number: &u32| 1u32 << place(*number, *multiplier);
            let taken = numbers.iter().map(place).fold(0, |taken, place| taken | place);
            taken.count_ones() as usize == numbers.len()
        };
        // Odd numbers that differ in many bits.
        let multiplier = (0..TRIES).map(|i| i.wrapping_mul(0x9e37_79b9) << 1 | 1).find(distinct)?;
        let first_place = place(numbers[0], multiplier);
        // The first region fills all free places: outside its own place it matches nothing, since
        // no address of that region hashes there.
        let mut places = [numbers[0] << (32 - REGION_BITS); PLACES];
        debug_assert_eq!(places[first_place], numbers[0] << (32 - REGION_BITS));
        for (index, number) in numbers.iter().enumerate() {
            places[place(*number, multiplier)] = number << (32 - REGION_BITS) | index as u32;
        }
        Some(Self { places, multiplier, block_bits })
    }

    /// Returns the numbers of the regions in the order of the table.
    pub fn numbers(&self) -> Vec<u32> {
        let index = |place| place % (1 << (32 - REGION_BITS));
        let mut places = sorted_by_key(self.places, index);
        places.dedup();
        places.into_iter().map(|place| place >> (32 - REGION_BITS)).collect()
    }
}

#[inline(always)]
fn place(number: u32, multiplier: u32) -> usize {
    (number.wrapping_mul(multiplier) >> (32 - PLACES.ilog2())) as usize
}

impl Root {
    /// Returns the index of an address's block, from the first 32 bits of the address.
    #[inline(always)]
    pub fn index(&self, word: u32) -> u32 {
        let number = word >> (32 - u32::from(self.bits));
        match &self.layout {
            RootLayout::Span { first, .. } => number.wrapping_sub(*first).min(self.last),
            RootLayout::Regions(regions) => {
                let region = word >> (32 - REGION_BITS);
                let place = regions.places[place(region, regions.multiplier)];
                if place >> (32 - REGION_BITS) != region {
                    return self.last;
                }
                let mask = (1 << regions.block_bits) - 1;
                (place % PLACES as u32) << regions.block_bits | number & mask
            }
        }
    }

    /// Returns the stored blocks in ascending order: their positions in the table, and their
    /// numbers.
    pub fn stored_ranges(&self) -> Vec<(usize, Range<u32>)> {
        match &self.layout {
            RootLayout::Span { first, .. } => alloc::vec![(0, *first..*first + self.last)],
            RootLayout::Regions(regions) => {
                let bits = regions.block_bits;
                let range = |number: u32| number << bits..(number + 1) << bits;
                let numbers = regions.numbers().into_iter().enumerate();
                numbers.map(|(index, number)| (index << bits, range(number))).collect()
            }
        }
    }
}

/// Stores an entry for a range of blocks, as far as they are stored.
pub(super) fn fill(
    entries: &mut [u32],
    stored_ranges: &[(usize, Range<u32>)],
    blocks: Range<u32>,
    entry: Entry,
) {
    // Fresh memory is zero already, and writing zeros would allocate memory of a sparse table.
    if entry.0 == 0 {
        return;
    }
    for (start, numbers) in stored_ranges {
        let (low, high) = (blocks.start.max(numbers.start), blocks.end.min(numbers.end));
        if low < high {
            let range = start + (low - numbers.start) as usize..;
            entries[range][..(high - low) as usize].fill(entry.0);
        }
    }
}
