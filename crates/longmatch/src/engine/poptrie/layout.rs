//! The arrays of a Poptrie and the bits in them (paper, sections 3.1, 3.3 and 3.4).

use alloc::boxed::Box;
use core::marker::PhantomData;

use super::Batch;
use crate::next_hop::NextHopId;

/// Bits of the address that a node consumes: `k` in the paper. 6 makes a node's 64 slots fit the
/// bits of a register.
pub(super) const K: u8 = 6;
/// Slots of a node.
pub(super) const SLOTS: usize = 1 << K;

/// The greatest `s`, the number of bits that direct pointing consumes. 24 makes 64 MiB.
pub const MAX_DIRECT_BITS: u8 = 24;

/// In an entry of the direct index: the rest is a next hop, not a node.
///
/// ```text
///   31  30                                0
///  +---+-----------------------------------+
///  | 1 | next hop, 0 = no route            |   a leaf
///  +---+-----------------------------------+
///  | 0 | index of an internal node         |
///  +---+-----------------------------------+
/// ```
pub(super) const DIRECT_LEAF: u32 = 1 << 31;

/// The greatest next hop that an entry of the direct index holds beside its top bit.
pub(super) const MAX_DIRECT_NEXT_HOP: u32 = DIRECT_LEAF - 1;

/// An internal node. Slot `n` of a node belongs to the addresses whose next 6 bits are `n`.
/// Sealed: [`LeafvecNode`] and [`BasicNode`].
pub trait Node: sealed::Sealed + Copy + Send + Sync + 'static {
    /// Whether equal neighbouring leaves are stored once.
    const LEAFVEC: bool;

    /// Puts a node together; without the leafvec extension that word is not kept.
    fn new(vector: u64, leafvec: u64, base0: u32, base1: u32) -> Self;

    /// Bit `n` is set where slot `n` is an internal node.
    fn vector(&self) -> u64;

    /// Bit `n` is set where slot `n` is a leaf and one is stored for it.
    fn stored_leaves(&self) -> u64;

    /// Where this node's leaves begin in the leaf array.
    fn base0(&self) -> u32;

    /// Where this node's children begin in the node array.
    fn base1(&self) -> u32;

    /// The index of the child in slot `n`, which is an internal node (Algorithm 1, lines 6 to 8).
    #[inline(always)]
    fn child(&self, n: u64) -> u32 {
        let below = self.vector() & ((1 << n) - 1);
        self.base1().wrapping_add(below.count_ones())
    }

    /// The index of the leaf of slot `n`, which is not an internal node (Algorithm 1, lines 13 and
    /// 14; Algorithm 2).
    #[inline(always)]
    fn leaf(&self, n: u64) -> u32 {
        let up_to = self.stored_leaves() & (2u64 << n).wrapping_sub(1);
        self.base0().wrapping_add(up_to.count_ones()).wrapping_sub(1)
    }
}

/// A node with the leafvec extension (section 3.3).
///
/// ```text
///  bytes  0                8                16       20       24
///        +----------------+----------------+--------+--------+
///        | vector         | leafvec        | base0  | base1  |
///        +----------------+----------------+--------+--------+
///  vector   bit n: slot n is an internal node
///  leafvec  bit n: slot n is a leaf, and differs from the leaf slot before it
///  base0    index of the node's first leaf     (children and leaves of a node are contiguous,
///  base1    index of the node's first child     in the order of their slots)
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
// Vector kernels load the words in this order.
#[repr(C)]
pub struct LeafvecNode {
    vector: u64,
    leafvec: u64,
    base0: u32,
    base1: u32,
}

/// A node of the basic structure (section 3.1): a leaf for every slot that is no internal node.
///
/// ```text
///  bytes  0                8        12       16
///        +----------------+--------+--------+
///        | vector         | base0  | base1  |
///        +----------------+--------+--------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
// Vector kernels load the words in this order.
#[repr(C)]
pub struct BasicNode {
    vector: u64,
    base0: u32,
    base1: u32,
}

const _: () = assert!(size_of::<LeafvecNode>() == 24 && size_of::<BasicNode>() == 16);

impl Node for LeafvecNode {
    const LEAFVEC: bool = true;

    fn new(vector: u64, leafvec: u64, base0: u32, base1: u32) -> Self {
        Self { vector, leafvec, base0, base1 }
    }

    #[inline(always)]
    fn vector(&self) -> u64 {
        self.vector
    }

    #[inline(always)]
    fn stored_leaves(&self) -> u64 {
        self.leafvec
    }

    #[inline(always)]
    fn base0(&self) -> u32 {
        self.base0
    }

    #[inline(always)]
    fn base1(&self) -> u32 {
        self.base1
    }
}

impl Node for BasicNode {
    const LEAFVEC: bool = false;

    fn new(vector: u64, _: u64, base0: u32, base1: u32) -> Self {
        Self { vector, base0, base1 }
    }

    #[inline(always)]
    fn vector(&self) -> u64 {
        self.vector
    }

    #[inline(always)]
    fn stored_leaves(&self) -> u64 {
        !self.vector
    }

    #[inline(always)]
    fn base0(&self) -> u32 {
        self.base0
    }

    #[inline(always)]
    fn base1(&self) -> u32 {
        self.base1
    }
}

/// A leaf: a next hop, 0 = no route. Sealed: `u16` as in the paper, and `u32` for tables with more
/// next hops (section 5, "Structural scalability").
pub trait Leaf: sealed::Sealed + Copy + Eq + Send + Sync + 'static {
    /// The greatest next hop that fits.
    const MAX: u32;

    /// The leaf of a raw next hop that is at most [`Leaf::MAX`].
    fn from_raw(raw: u32) -> Self;

    /// The raw next hop.
    fn to_raw(self) -> u32;

    /// The next hop.
    #[inline(always)]
    fn next_hop(self) -> Option<NextHopId> {
        NextHopId::new(self.to_raw())
    }
}

impl Leaf for u16 {
    const MAX: u32 = u16::MAX as u32;

    fn from_raw(raw: u32) -> Self {
        debug_assert!(raw <= <Self as Leaf>::MAX);
        raw as Self
    }

    #[inline(always)]
    fn to_raw(self) -> u32 {
        self.into()
    }
}

impl Leaf for u32 {
    const MAX: u32 = u32::MAX;

    fn from_raw(raw: u32) -> Self {
        raw
    }

    #[inline(always)]
    fn to_raw(self) -> u32 {
        self
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::LeafvecNode {}
    impl Sealed for super::BasicNode {}
    impl Sealed for u16 {}
    impl Sealed for u32 {}
}

/// A compiled Poptrie: nodes `N`, leaves `L`.
///
/// Invariants, on which the unchecked reads of the lookups rest:
/// 1. `direct` has `2^s` entries, or none when `s` is 0; an entry without its top bit is the index
///    of a node.
/// 2. When `s` is 0, node 0 is the root.
/// 3. For every node, [`Node::child`] of each slot whose vector bit is set is the index of a node,
///    and [`Node::leaf`] of each other slot the index of a leaf.
/// 4. No path is longer than the address: a node at depth `d` has children only if
///    `d + 6 < width`.
/// 5. Every node but the direct ones and the root is the child of exactly one node, and every leaf
///    belongs to exactly one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Poptrie<F, N = LeafvecNode, L = u16> {
    pub(super) direct: Box<[u32]>,
    pub(super) nodes: Box<[N]>,
    pub(super) leaves: Box<[L]>,
    pub(super) s: u8,
    pub(super) aggregate: bool,
    pub(super) batch: Batch,
    pub(super) family: PhantomData<F>,
}
