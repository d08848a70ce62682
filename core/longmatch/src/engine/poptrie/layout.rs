//! The arrays of a Poptrie and the bits in them (paper, sections 3.1, 3.3 and 3.4).

use core::marker::PhantomData;
use core::mem::offset_of;

use super::Batch;
use crate::mem::{FrozenMemory, Items, LiveMemory, Memory, Plain, Readable};
use crate::net::NextHopId;

/// Bits of the address that a node consumes: `k` in the paper. With 6 a register holds a bit for
/// each of a node's 64 slots.
pub(super) const K: u8 = 6;
/// Slots of a node.
pub(super) const SLOTS: usize = 1 << K;

/// The greatest `s`, the number of bits that direct pointing consumes. 24 makes 64 MiB.
pub(super) const MAX_DIRECT_BITS: u8 = 24;

/// Flag in an entry of the direct index: the rest is a next hop, not a node.
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

/// The greatest next hop that an entry of the direct index holds.
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

    /// Builds a node; without the leafvec extension that word is dropped.
    fn new(vector: u64, leafvec: u64, base0: u32, base1: u32) -> Self;

    /// Bit `n` is set where slot `n` is an internal node.
    fn vector(&self) -> u64;

    /// Bit `n` is set where slot `n` is a leaf that is stored.
    fn stored_leaves(&self) -> u64;

    /// Index of this node's first leaf in the leaf array.
    fn base0(&self) -> u32;

    /// Index of this node's first child in the node array.
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

/// A node in the array. Its bases may be replaced meanwhile: each access loads them. The vectors
/// of a node that readers can reach never change.
#[derive(Clone, Copy)]
pub(super) struct NodeAt<'a, N: Node, M = LiveMemory> {
    nodes: Items<'a, N, M>,
    index: usize,
}

impl<'a, N: Node, M: Memory> NodeAt<'a, N, M> {
    /// Refers to the node of an index.
    ///
    /// # Safety
    /// The array has a node of this index.
    #[inline(always)]
    pub unsafe fn new(nodes: Items<'a, N, M>, index: u32) -> Self {
        Self { nodes, index: index as usize }
    }

    /// Returns its address.
    #[inline(always)]
    pub fn as_ptr(self) -> *const N {
        self.nodes.as_ptr().wrapping_add(self.index)
    }

    /// [`Node::vector`].
    #[inline(always)]
    pub fn vector(self) -> u64 {
        // SAFETY: the first 64 bits of a node of the array, which never change (invariant 6).
        unsafe { self.as_ptr().cast::<u64>().read() }
    }

    /// [`Node::stored_leaves`].
    #[inline(always)]
    pub fn stored_leaves(self) -> u64 {
        if !N::LEAFVEC {
            return !self.vector();
        }
        let leafvec = self.as_ptr().cast::<u64>().wrapping_add(1);
        // SAFETY: the next 64 bits of a node with a leafvec, which never change (invariant 6).
        unsafe { leafvec.read() }
    }

    /// [`Node::base0`].
    #[inline(always)]
    pub fn base0(self) -> u32 {
        // SAFETY: a node of the array, and the offset of an aligned word in it.
        unsafe { self.nodes.load_word(self.index, N::BASE0) }
    }

    /// [`Node::base1`].
    #[inline(always)]
    pub fn base1(self) -> u32 {
        // SAFETY: a node of the array, and the offset of an aligned word in it.
        unsafe { self.nodes.load_word(self.index, N::BASE1) }
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
///
/// ```
/// use longmatch::engine::poptrie::{Config, LeafvecNode, Poptrie};
/// use longmatch::{Engine, Ipv4, Rib, Structure};
/// // `Poptrie<Ipv4>` is the same type.
/// let poptrie = Poptrie::<Ipv4, LeafvecNode, u16>::compile(&Rib::new(), &Config::default())?;
/// assert_eq!(Structure::variant(&poptrie), "s=18");
/// # Ok::<(), Box<dyn std::error::Error>>(())
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

/// A node of the basic structure (section 3.1): a leaf for every slot that is not an internal node.
///
/// ```text
///  bytes  0                8        12       16
///        +----------------+--------+--------+
///        | vector         | base0  | base1  |
///        +----------------+--------+--------+
/// ```
///
/// ```
/// use longmatch::engine::poptrie::{BasicNode, Config, Poptrie};
/// use longmatch::{Engine, Ipv4, Rib, Structure};
/// let poptrie = Poptrie::<Ipv4, BasicNode, u16>::compile(&Rib::new(), &Config::default())?;
/// assert_eq!(Structure::variant(&poptrie), "s=18:basic");
/// # Ok::<(), Box<dyn std::error::Error>>(())
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

/// The members that both kinds of nodes have in common.
macro_rules! words {
    () => {
        const BASE0: usize = offset_of!(Self, base0);
        const BASE1: usize = offset_of!(Self, base1);

        #[inline(always)]
        fn vector(&self) -> u64 {
            self.vector
        }

        #[inline(always)]
        fn base0(&self) -> u32 {
            self.base0
        }

        #[inline(always)]
        fn base1(&self) -> u32 {
            self.base1
        }
    };
}

impl Node for LeafvecNode {
    const LEAFVEC: bool = true;

    words!();

    fn new(vector: u64, leafvec: u64, base0: u32, base1: u32) -> Self {
        Self { vector, leafvec, base0, base1 }
    }

    #[inline(always)]
    fn stored_leaves(&self) -> u64 {
        self.leafvec
    }
}

impl Node for BasicNode {
    const LEAFVEC: bool = false;

    words!();

    fn new(vector: u64, _: u64, base0: u32, base1: u32) -> Self {
        Self { vector, base0, base1 }
    }

    #[inline(always)]
    fn stored_leaves(&self) -> u64 {
        !self.vector
    }
}

/// A leaf: a next hop, 0 = no route. Sealed: `u16` as in the paper, and `u32` for tables with more
/// next hops (section 5, "Structural scalability").
pub trait Leaf: Plain + Copy + Eq + Send + Sync + 'static {
    /// The greatest next hop that fits.
    const MAX: u32;

    /// Builds the leaf of a raw next hop that is at most [`Leaf::MAX`].
    fn from_raw(raw: u32) -> Self;

    /// Returns the raw next hop.
    fn to_raw(self) -> u32;

    /// Returns the next hop.
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

// SAFETY: integers of 8, 8, 4 and 4 bytes fill the 24 bytes, so there is no padding.
unsafe impl Plain for LeafvecNode {}
// SAFETY: integers of 8, 4 and 4 bytes fill the 16 bytes, so there is no padding.
unsafe impl Plain for BasicNode {}

/// A compiled Poptrie: nodes `N`, leaves `L`.
///
/// Invariants that the unchecked reads of the lookups rely on:
/// 1. `direct` has `2^s` entries; one without its top bit is the index of a node.
/// 2. When `s` is 0, its one entry is the index of the root, which is a node.
/// 3. For every node, [`Node::child`] of each slot whose vector bit is set is the index of a
///    node, and [`Node::leaf`] of each other slot the index of a leaf.
/// 4. No path is longer than the address: a node at depth `d` has children only if
///    `d + 6 < width`.
/// 5. Every node but the direct ones is the child of exactly one node, and every leaf belongs to
///    exactly one node. In a live table the rest is free, or in the retire list.
/// 6. In a live table memory that readers can reach is not written, except direct entries, `base0`
///    and `base1`, each of which one store replaces; memory that they have led to is reused only
///    when no reader can be in it.
///
/// ```
/// use longmatch::engine::poptrie::{Config, Poptrie};
/// use longmatch::{Engine, Ipv4, Lookup, NextHopId, Rib};
/// let mut rib = Rib::<Ipv4>::new();
/// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap())?;
/// let poptrie: Poptrie<Ipv4> = Poptrie::compile(&rib, &Config::default())?;
/// let mut hops = [None; 2];
/// poptrie.lookup_batch(&[0x0a01_0203, 0xc000_0201], &mut hops);
/// assert_eq!(hops, [NextHopId::new(1), None]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Poptrie<F, N: Node = LeafvecNode, L: Leaf = u16, M: Memory = FrozenMemory> {
    pub(super) direct: M::Array<u32>,
    pub(super) nodes: M::Array<N>,
    pub(super) leaves: M::Array<L>,
    pub(super) s: u8,
    pub(super) aggregate: bool,
    pub(super) batch: Batch,
    pub(super) family: PhantomData<F>,
}

impl<F, N: Node, L: Leaf> Clone for Poptrie<F, N, L> {
    fn clone(&self) -> Self {
        let Self { direct, nodes, leaves, s, aggregate, batch, family } = self;
        let (direct, nodes, leaves) = (direct.clone(), nodes.clone(), leaves.clone());
        let (s, aggregate, batch, family) = (*s, *aggregate, *batch, *family);
        Self { direct, nodes, leaves, s, aggregate, batch, family }
    }
}

impl<F, N: Node, L: Leaf, M: Memory> Poptrie<F, N, L, M> {
    /// Returns the view that lookups read.
    #[inline(always)]
    pub(super) fn view(&self) -> View<'_, F, N, L, M> {
        View {
            direct: self.direct.items(),
            nodes: self.nodes.items(),
            leaves: self.leaves.items(),
            s: self.s,
            batch: self.batch,
            family: PhantomData,
        }
    }
}

/// A Poptrie as lookups read it, in either kind of memory. Passed by value, so that loops keep the
/// arrays' addresses in registers.
#[derive(Clone, Copy)]
pub(super) struct View<'a, F, N: Node, L: Leaf, M = LiveMemory> {
    pub direct: Items<'a, u32, M>,
    pub nodes: Items<'a, N, M>,
    pub leaves: Items<'a, L, M>,
    pub s: u8,
    pub batch: Batch,
    family: PhantomData<F>,
}

impl<'a, F, N: Node, L: Leaf, M: Memory> View<'a, F, N, L, M> {
    /// The view that kernels take: see [`Items::shared`].
    #[inline(always)]
    pub fn shared(self) -> View<'a, F, N, L> {
        View {
            direct: self.direct.shared(),
            nodes: self.nodes.shared(),
            leaves: self.leaves.shared(),
            s: self.s,
            batch: self.batch,
            family: PhantomData,
        }
    }
}

/// The items of a Poptrie that is not being changed; the input of its check.
#[derive(Clone, Copy)]
pub(super) struct Slices<'a, N: Node, L: Leaf> {
    pub direct: &'a [u32],
    pub nodes: &'a [N],
    pub leaves: &'a [L],
    pub s: u8,
}
