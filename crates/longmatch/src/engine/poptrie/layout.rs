//! The arrays of a Poptrie and the bits in them (paper, sections 3.1, 3.3 and 3.4).

use core::marker::PhantomData;
use core::mem::offset_of;

use super::Batch;
use crate::array::{Array, Plain};
use crate::buffer;
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
pub trait Node: Plain + Copy + Send + Sync + 'static {
    /// Whether equal neighbouring leaves are stored once.
    const LEAFVEC: bool;
    /// Bytes before `base0`.
    const BASE0: usize;
    /// Bytes before `base1`.
    const BASE1: usize;

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

    /// The index of the child in slot `n`, which is an internal node.
    fn child(&self, n: u64) -> u32 {
        child(self.vector(), self.base1(), n)
    }

    /// The index of the leaf of slot `n`, which is not an internal node.
    fn leaf(&self, n: u64) -> u32 {
        leaf(self.stored_leaves(), self.base0(), n)
    }
}

/// The index of the child in slot `n` (Algorithm 1, lines 6 to 8).
#[inline(always)]
fn child(vector: u64, base1: u32, n: u64) -> u32 {
    let below = vector & ((1 << n) - 1);
    base1.wrapping_add(below.count_ones())
}

/// The index of the leaf of slot `n` (Algorithm 1, lines 13 and 14; Algorithm 2).
#[inline(always)]
fn leaf(stored_leaves: u64, base0: u32, n: u64) -> u32 {
    let up_to = stored_leaves & (2u64 << n).wrapping_sub(1);
    base0.wrapping_add(up_to.count_ones()).wrapping_sub(1)
}

/// A node where it lies, of which the bases may be replaced meanwhile: each is loaded when it is
/// asked for. The vectors of a node that readers can come to stay as they are.
#[derive(Clone, Copy)]
pub(super) struct NodeAt<'a, N: Node> {
    at: *const N,
    array: PhantomData<&'a Array<N>>,
}

impl<N: Node> NodeAt<'_, N> {
    /// The node at an address.
    ///
    /// # Safety
    /// A node lies there, in an array that is borrowed as long as this.
    #[inline(always)]
    pub unsafe fn new(at: *const N) -> Self {
        Self { at, array: PhantomData }
    }

    /// Where it lies, for loads of vectors.
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    #[inline(always)]
    pub fn as_ptr(self) -> *const N {
        self.at
    }

    /// [`Node::vector`].
    #[inline(always)]
    pub fn vector(self) -> u64 {
        // SAFETY: the first 64 bits of a node, which are not replaced.
        unsafe { self.at.cast::<u64>().read() }
    }

    /// [`Node::stored_leaves`].
    #[inline(always)]
    pub fn stored_leaves(self) -> u64 {
        if !N::LEAFVEC {
            return !self.vector();
        }
        let leafvec = self.at.cast::<u64>().wrapping_add(1);
        // SAFETY: the next 64 bits of such a node, which are not replaced.
        unsafe { leafvec.read() }
    }

    /// [`Node::base0`].
    #[inline(always)]
    pub fn base0(self) -> u32 {
        // SAFETY: a word of the node, and so of the array's buffer.
        unsafe { buffer::load(self.at.wrapping_byte_add(N::BASE0).cast()) }
    }

    /// [`Node::base1`].
    #[inline(always)]
    pub fn base1(self) -> u32 {
        // SAFETY: as above.
        unsafe { buffer::load(self.at.wrapping_byte_add(N::BASE1).cast()) }
    }

    /// [`Node::child`].
    #[inline(always)]
    pub fn child(self, n: u64) -> u32 {
        child(self.vector(), self.base1(), n)
    }

    /// [`Node::leaf`].
    #[inline(always)]
    pub fn leaf(self, n: u64) -> u32 {
        leaf(self.stored_leaves(), self.base0(), n)
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
    const BASE0: usize = offset_of!(Self, base0);
    const BASE1: usize = offset_of!(Self, base1);

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
    const BASE0: usize = offset_of!(Self, base0);
    const BASE1: usize = offset_of!(Self, base1);

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
pub trait Leaf: Plain + Copy + Eq + Send + Sync + 'static {
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

// SAFETY: integers of 8, 8, 4 and 4 bytes, which are the 24 of the whole.
unsafe impl Plain for LeafvecNode {}
// SAFETY: integers of 8, 4 and 4 bytes, which are the 16 of the whole.
unsafe impl Plain for BasicNode {}

/// A compiled Poptrie: nodes `N`, leaves `L`.
///
/// Invariants, on which the unchecked reads of the lookups rest:
/// 1. `direct` has `2^s` entries; one without its top bit is the index of a node.
/// 2. When `s` is 0, its one entry is the index of the root, which is a node.
/// 3. For every node, [`Node::child`] of each slot whose vector bit is set is the index of a
///    node, and [`Node::leaf`] of each other slot the index of a leaf.
/// 4. No path is longer than the address: a node at depth `d` has children only if
///    `d + 6 < width`.
/// 5. Every node but the direct ones is the child of exactly one node, and every leaf belongs to
///    exactly one node. In a table that changes, what remains is free, or in limbo.
/// 6. In a table that changes, what readers can come to is not written, but for direct entries,
///    `base0` and `base1`, each of which is replaced with one store; and what they have led to is
///    not used again as long as a reader can be in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Poptrie<F, N: Node = LeafvecNode, L: Leaf = u16> {
    pub(super) direct: Array<u32>,
    pub(super) nodes: Array<N>,
    pub(super) leaves: Array<L>,
    pub(super) s: u8,
    pub(super) aggregate: bool,
    pub(super) batch: Batch,
    /// Whether it changes under readers.
    pub(super) live: bool,
    pub(super) family: PhantomData<F>,
}
