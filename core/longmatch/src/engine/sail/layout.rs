//! The arrays of SAIL_L and the bits in them.

use alloc::boxed::Box;

/// Entries of a chunk of level 24 or 32: 8 bits of the address.
pub(super) const CHUNK: usize = 256;

/// Flag bit in an entry of `BCN16` or `BN24`: the bitmap of the level, B16 or B24. Set where the
/// search continues, so that an entry without it is the next hop itself.
///
/// ```text
///  BCN16   15  14            0
///         +---+---------------+
///         | 0 | N16        15 |   the next hop of the /16, 0 = no route
///         +---+---------------+
///         | 1 | C16        15 |   the number of its chunk of level 24
///         +---+---------------+
///  BN24    15  14            0
///         +---+---------------+
///         | 0 | N24        15 |   the next hop of the /24, 0 = no route
///         +---+---------------+
///         | 1 | 0          15 |   look at level 32: the chunk's number is in C24
///         +---+---------------+
///  C24     31                0
///         +-------------------+
///         | C24            32 |   the number of the /24's chunk of level 32, 0 where it has none
///         +-------------------+
///  N32     15                0
///         +-------------------+
///         | N32            16 |   the next hop of the address, 0 = no route
///         +-------------------+
/// ```
pub(super) const LONGER: u16 = 1 << 15;

/// The greatest next hop: N16 and N24 have 15 bits.
pub(super) const MAX_NEXT_HOP: u32 = LONGER as u32 - 1;

/// The most chunks of level 24: C16 has 15 bits and numbers from 0.
pub(super) const MAX_CHUNKS_24: usize = LONGER as usize;

/// The most chunks of level 32: vector kernels index their entries with 31 bits.
pub(super) const MAX_CHUNKS_32: usize = (1 << 31) / CHUNK;

/// Extra entries at the end of an array of 16-bit entries: a gather reads 32 bits.
pub(super) const PADDING: usize = 1;

// A next hop and the number of a chunk have the bits beside the flag, and the next hop all of them.
const _: () = assert!(
    MAX_NEXT_HOP | LONGER as u32 == u16::MAX as u32
        && MAX_NEXT_HOP & LONGER as u32 == 0
        && (MAX_CHUNKS_24 - 1) & LONGER as usize == 0
);
// Indices of entries fit the 31 bits of a gather; so a chunk's number fits an entry of C24.
const _: () = assert!(
    MAX_CHUNKS_24 * CHUNK <= 1 << 31
        && MAX_CHUNKS_32 * CHUNK <= 1 << 31
        && (1 + PADDING) * size_of::<u16>() >= size_of::<u32>()
);

/// A compiled SAIL_L.
///
/// Invariants that the unchecked reads of the lookups rely on:
/// 1. `bcn16` has `2^16` entries, then `PADDING` entries that are 0.
/// 2. `bn24` has 256 entries a chunk and the padding, `c24` 256 a chunk; a C16 is the number of a
///    chunk in both.
/// 3. `n32` has 256 entries a chunk and the padding; where BN24 refers to level 32, C24 is the number
///    of a chunk in it. Elsewhere C24 is 0.
/// 4. Chunks are numbered in the order of their addresses, and each belongs to one entry.
/// 5. N24 of an entry that refers to level 32 is 0; every next hop has 15 bits.
///
/// ```
/// use longmatch::engine::sail::{Config, Sail};
/// use longmatch::{Engine, Lookup, NextHopId, Rib};
/// let mut rib = Rib::new();
/// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap())?;
/// let sail = Sail::compile(&rib, &Config::default())?;
/// let mut hops = [None; 2];
/// sail.lookup_batch(&[0x0a01_0203, 0xc000_0201], &mut hops);
/// assert_eq!(hops, [NextHopId::new(1), None]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sail {
    pub(super) bcn16: Box<[u16]>,
    pub(super) bn24: Box<[u16]>,
    pub(super) c24: Box<[u32]>,
    pub(super) n32: Box<[u16]>,
    pub(super) batch: super::Batch,
}
