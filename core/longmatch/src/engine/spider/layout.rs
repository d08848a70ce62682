//! The routing table of Spider and the bits in it (paper, section III-A).
//!
//! One array of rows of 256 entries, as Algorithm 1 indexes it:
//!
//! ```text
//!  row 0            row 1 ... row 256             row 257 ...
//! +----------------+-----------------------------+--------------------------------+
//! | EoL: all zero, | direct pointing table: one  | rows of the state-jump table:  |
//! | points to      | entry for each value of the | one entry for each value of    |
//! | itself         | first two octets            | the next octet                 |
//! +----------------+-----------------------------+--------------------------------+
//! ```
//!
//! One lane of a gather reads a whole entry, four or eight bytes, and entries are aligned to their
//! size: no lane reads past the array's end, so the array has no padding.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::marker::PhantomData;

use super::Kernel;

/// Entries of a row: one for each value of an octet.
pub(super) const ROW: usize = 256;

/// Start of the direct pointing table: row 1, behind EoL.
pub(super) const DIRECT: usize = ROW;

/// Octets of the address that direct pointing consumes, and its number of entries.
pub(super) const DIRECT_OCTETS: u8 = 2;
pub(super) const DIRECT_ENTRIES: usize = 1 << (8 * DIRECT_OCTETS);

/// The number of the first row of the state-jump table.
pub(super) const FIRST_ROW: usize = 1 + DIRECT_ENTRIES / ROW;

/// An entry of a row. Sealed: `u32`, the paper's, and `u64` for tables that exceed it.
///
/// ```text
///   u32   31             16 15              0
///        +-----------------+-----------------+
///        | next-row index  | next-hop index  |
///        +-----------------+-----------------+
///   u64   63             32 31              0
/// ```
///
/// A next-hop index of 0 leaves the result of the previous rows. A next-row index of 0 is EoL: the
/// lookup has ended.
pub trait Entry: sealed::Sealed + Copy + Eq + Send + Sync + 'static {
    /// Next-hop index 0 and next-row index 0: the entries of EoL.
    const EOL: Self;
    /// The greatest next-hop index that fits.
    const MAX_NEXT_HOP: u32;
    /// The greatest next-row index. 16 bits hold 65,535. 32 bits hold more, but gathers take
    /// indices of entries as signed 32-bit numbers: 2^23 rows reach 2^31 entries, 16 GiB.
    const MAX_ROW: usize;
    /// The width in bits, the value of the option `entry=`.
    const BITS: u32;
    /// Name of the rows in the [`crate::CompileError`] for too many of them.
    const ROWS: &'static str;

    /// Builds an entry of two indices that do not exceed their maxima.
    fn new(next_hop_index: u32, next_row_index: usize) -> Self;

    /// The next hop found here, or 0.
    fn next_hop_index(self) -> u32;

    /// The row for the next octet, or 0.
    fn next_row_index(self) -> usize;
}

impl Entry for u32 {
    const EOL: Self = 0;
    const MAX_NEXT_HOP: u32 = 0xffff;
    const MAX_ROW: usize = 0xffff;
    const BITS: u32 = u32::BITS;
    const ROWS: &'static str = "state-jump rows (the option entry=64 reaches more)";

    #[inline(always)]
    fn new(next_hop_index: u32, next_row_index: usize) -> Self {
        debug_assert!(next_hop_index <= Self::MAX_NEXT_HOP && next_row_index <= Self::MAX_ROW);
        (next_row_index as u32) << 16 | next_hop_index
    }

    #[inline(always)]
    fn next_hop_index(self) -> u32 {
        self & 0xffff
    }

    #[inline(always)]
    fn next_row_index(self) -> usize {
        (self >> 16) as usize
    }
}

impl Entry for u64 {
    const EOL: Self = 0;
    const MAX_NEXT_HOP: u32 = u32::MAX;
    const MAX_ROW: usize = (1 << 23) - 1;
    const BITS: u32 = u64::BITS;
    const ROWS: &'static str = "state-jump rows";

    #[inline(always)]
    fn new(next_hop_index: u32, next_row_index: usize) -> Self {
        debug_assert!(next_row_index <= Self::MAX_ROW);
        (next_row_index as u64) << 32 | u64::from(next_hop_index)
    }

    #[inline(always)]
    fn next_hop_index(self) -> u32 {
        self as u32
    }

    #[inline(always)]
    fn next_row_index(self) -> usize {
        (self >> 32) as usize
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
}

const _: () = assert!(FIRST_ROW == 257 && DIRECT + DIRECT_ENTRIES == FIRST_ROW * ROW);
const _: () = assert!(<u32 as Entry>::MAX_ROW * ROW + ROW <= 1 << 31);
const _: () = assert!(<u64 as Entry>::MAX_ROW * ROW + ROW <= 1 << 31);

/// A compiled Spider: entries `E`.
///
/// Invariants that the unchecked reads of the lookups rely on:
/// 1. `fib` consists of whole rows: EoL, the direct pointing table, and state-jump rows,
///    whose numbers are at most [`Entry::MAX_ROW`].
/// 2. Every entry of EoL is [`Entry::EOL`].
/// 3. The next-row index of every entry is 0 or the number of a state-jump row.
/// 4. In a state-jump row it is below the row's own number, so every lookup ends; in the row of an
///    address's last octet it is 0, so no lookup reads octets past the address.
/// 5. Every state-jump row is the next row of exactly one entry.
///
/// ```
/// use longmatch::engine::spider::{Config, Spider};
/// use longmatch::{Engine, Ipv4, Lookup, NextHopId, Rib};
/// let mut rib = Rib::<Ipv4>::new();
/// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap())?;
/// let spider: Spider<Ipv4> = Spider::compile(&rib, &Config::default())?;
/// let mut hops = [None; 2];
/// spider.lookup_batch(&[0x0a01_0203, 0xc000_0201], &mut hops);
/// assert_eq!(hops, [NextHopId::new(1), None]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spider<F, E = u32> {
    pub(super) fib: Box<[E]>,
    pub(super) kernel: Kernel,
    pub(super) family: PhantomData<F>,
}

impl<F, E: Entry> Spider<F, E> {
    /// Number of state-jump rows.
    pub(super) fn rows(&self) -> usize {
        self.fib.len() / ROW - FIRST_ROW
    }
    /// Number of rows for each octet after direct pointing, down to the last with any.
    /// O(structure).
    pub(super) fn rows_by_octet(&self) -> Vec<usize> {
        let next_rows = |entries: &[E]| -> Vec<usize> {
            entries.iter().map(|entry| entry.next_row_index()).filter(|row| *row != 0).collect()
        };
        let mut counts = Vec::new();
        let mut rows = next_rows(&self.fib[DIRECT..][..DIRECT_ENTRIES]);
        while !rows.is_empty() {
            counts.push(rows.len());
            rows = rows.iter().flat_map(|row| next_rows(&self.fib[row * ROW..][..ROW])).collect();
        }
        counts
    }
}
