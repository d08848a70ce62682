//! The nodes of a Tree Bitmap and the bits in them (paper, section 3).

use core::marker::PhantomData;

use crate::mem::{FrozenMemory, Items, Memory, Plain, Readable};
use crate::net::NextHopId;

/// Bit of the internal bitmap for a prefix of `len` bits and this value.
///
/// `*` is bit 0, `0*` and `1*` are bits 1 and 2, `00*` to `11*` bits 3 to 6, and so on.
///
/// ```text
///   bit   0   1   2   3   4   5   6   7    8    9 ...
///         *   0*  1*  00* 01* 10* 11* 000* 001* 010* ...
/// ```
#[inline(always)]
pub(super) const fn internal_bit(len: u8, value: u64) -> u32 {
    (1 << len) - 1 + value as u32
}

/// A node, for the next `STRIDE` bits of the address. Sealed: [`Node16`] and [`Node64`].
///
/// There are two kinds. An ordinary node has children, and holds the prefixes of 0 to `STRIDE` - 1
/// bits. An *end node* has none; its external bitmap holds the prefixes of `STRIDE` bits.
pub trait Node: sealed::Sealed + Plain + Send + Sync + 'static {
    /// Bits of the address that a node consumes: `k` in the paper.
    const STRIDE: u8;
    /// An end node without prefixes.
    const EMPTY: Self;

    /// Builds a node from its parts.
    fn new(bitmaps: Bitmaps, children: u32, results: u32) -> Self;

    /// The internal bitmap: the prefixes of 0 to `STRIDE` - 1 bits that the node holds.
    fn internal(&self) -> u64;

    /// The external bitmap. Bit `v` of an ordinary node: there is a child for the next bits `v`. Of
    /// an end node: it holds the prefix `v` of `STRIDE` bits.
    fn external(&self) -> u64;

    /// Whether this is an end node.
    fn is_end(&self) -> bool;

    /// Index of an ordinary node's first child; children are contiguous.
    fn children(&self) -> u32;

    /// Index of the node's first result. Results are contiguous, in the order of the internal
    /// bitmap, then, in an end node, of the external one.
    fn results(&self) -> u32;

    /// Returns all bits together.
    #[inline]
    fn bitmaps(&self) -> Bitmaps {
        Bitmaps { internal: self.internal(), external: self.external(), end: self.is_end() }
    }

    /// Number of external bits before bit `v`.
    #[inline(always)]
    fn external_before(&self, v: u64) -> u32 {
        (self.external() & ((1 << v) - 1)).count_ones()
    }

    /// Index of an ordinary node's child for the next bits `v`, whose bit must be set.
    #[inline(always)]
    fn child(&self, v: u64) -> u32 {
        self.children().wrapping_add(self.external_before(v))
    }

    /// Index of the result of a set bit of the internal bitmap.
    #[inline(always)]
    fn result(&self, bit: u32) -> u32 {
        let before = (self.internal() & ((1 << bit) - 1)).count_ones();
        self.results().wrapping_add(before)
    }

    /// Index of the result of the prefix `v` of an end node, whose bit must be set.
    #[inline(always)]
    fn end_result(&self, v: u64) -> u32 {
        let before = self.internal().count_ones() + self.external_before(v);
        self.results().wrapping_add(before)
    }
}

/// The bits of a node, independent of their storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bitmaps {
    /// [`Node::internal`].
    pub internal: u64,
    /// [`Node::external`].
    pub external: u64,
    /// [`Node::is_end`].
    pub end: bool,
}

impl Bitmaps {
    /// Number of children of a node with these bits.
    pub(super) fn children(self) -> usize {
        if self.end { 0 } else { self.external.count_ones() as usize }
    }

    /// Number of results.
    pub(super) fn results(self) -> usize {
        let more = if self.end { self.external.count_ones() } else { 0 };
        (self.internal.count_ones() + more) as usize
    }

    /// Whether the node holds a prefix of these bits. It has at most `stride` bits, in an ordinary
    /// node fewer.
    pub(super) fn holds(self, stride: u8, len: u8, value: u64) -> bool {
        if len == stride {
            self.external >> value & 1 == 1
        } else {
            self.internal >> internal_bit(len, value) & 1 == 1
        }
    }

    /// Number of results before that of the prefix.
    pub(super) fn results_before(self, stride: u8, len: u8, value: u64) -> usize {
        let below = |bit: u64| (1 << bit) - 1;
        let before = if len == stride {
            self.internal.count_ones() + (self.external & below(value)).count_ones()
        } else {
            (self.internal & below(internal_bit(len, value).into())).count_ones()
        };
        before as usize
    }

    /// Whether the node holds nothing, or only the prefix of no bits.
    pub(super) fn is_trivial(self) -> bool {
        self.end && self.external == 0 && self.internal <= 1
    }
}

/// A node of the paper's own stride 4: 16-ary.
///
/// ```text
///  bytes  0          2          4          8         12
///        +----------+----------+----------+----------+
///        | internal | external | children | results  |
///        +----------+----------+----------+----------+
///  internal  bits 0 to 14: the 15 prefixes of 0 to 3 bits; bit 15: this is an end node
///  external  bit v: there is a child for the next 4 bits v; in an end node: the prefix v of 4 bits
///  children  index of the first child in the node array; 0 in an end node
///  results   index of the first result in the result array
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node16 {
    internal: u16,
    external: u16,
    children: u32,
    results: u32,
}

/// A node of stride 6, as wide as a register allows: 64-ary.
///
/// ```text
///  bytes  0                8                16         20         24
///        +----------------+----------------+----------+----------+
///        | internal       | external       | children | results  |
///        +----------------+----------------+----------+----------+
///  internal  bits 0 to 62: the 63 prefixes of 0 to 5 bits; bit 63: this is an end node
///  external  bit v: there is a child for the next 6 bits v; in an end node: the prefix v of 6 bits
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node64 {
    internal: u64,
    external: u64,
    children: u32,
    results: u32,
}

const _: () = assert!(size_of::<Node16>() == 12 && size_of::<Node64>() == 24);

macro_rules! impl_node {
    ($node:ty, $bitmap:ty, $stride:literal) => {
        impl $node {
            /// Flag in the internal bitmap: this is an end node.
            const END: $bitmap = 1 << ((1 << $stride) - 1);
        }

        impl Node for $node {
            const STRIDE: u8 = $stride;
            const EMPTY: Self = Self { internal: Self::END, external: 0, children: 0, results: 0 };

            #[inline]
            fn new(bitmaps: Bitmaps, children: u32, results: u32) -> Self {
                let internal = bitmaps.internal as $bitmap;
                debug_assert!(internal & Self::END == 0);
                let end = if bitmaps.end { Self::END } else { 0 };
                let external = bitmaps.external as $bitmap;
                Self { internal: internal | end, external, children, results }
            }

            #[inline(always)]
            fn internal(&self) -> u64 {
                (self.internal & !Self::END).into()
            }

            #[inline(always)]
            fn external(&self) -> u64 {
                self.external.into()
            }

            #[inline(always)]
            fn is_end(&self) -> bool {
                self.internal & Self::END != 0
            }

            #[inline(always)]
            fn children(&self) -> u32 {
                self.children
            }

            #[inline(always)]
            fn results(&self) -> u32 {
                self.results
            }
        }
    };
}

impl_node!(Node16, u16, 4);
impl_node!(Node64, u64, 6);

// SAFETY: integers of 2, 2, 4 and 4 bytes fill the 12 bytes, so there is no padding.
unsafe impl Plain for Node16 {}
// SAFETY: integers of 8, 8, 4 and 4 bytes fill the 24 bytes, so there is no padding.
unsafe impl Plain for Node64 {}

/// A result: the next hop of a route, 0 = no route. Sealed: `u16` and `u32`.
pub trait NodeResult: sealed::Sealed + Plain + Default + Send + Sync + 'static {
    /// The greatest next hop that fits.
    const MAX: u32;

    /// Builds the result of a raw next hop that is at most [`NodeResult::MAX`].
    fn from_raw(raw: u32) -> Self;

    /// Returns the raw next hop.
    fn to_raw(self) -> u32;

    /// Returns the next hop.
    #[inline(always)]
    fn next_hop(self) -> Option<NextHopId> {
        NextHopId::new(self.to_raw())
    }
}

macro_rules! impl_result {
    ($int:ty) => {
        impl NodeResult for $int {
            const MAX: u32 = <$int>::MAX as u32;

            #[inline]
            fn from_raw(raw: u32) -> Self {
                debug_assert!(raw <= <Self as NodeResult>::MAX);
                raw as Self
            }

            #[inline(always)]
            fn to_raw(self) -> u32 {
                self.into()
            }
        }
    };
}

impl_result!(u16);
impl_result!(u32);

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Node16 {}
    impl Sealed for super::Node64 {}
    impl Sealed for u16 {}
    impl Sealed for u32 {}
}

/// Index of the result for addresses without a match.
pub(super) const NO_RESULT: u32 = 0;

/// A Tree Bitmap: nodes `N`, results `R`.
///
/// Invariants that the unchecked reads of the lookups rely on:
/// 1. `root` has one item, the index of the root, which is a node; result 0 is 0, no route.
/// 2. For every ordinary node, [`Node::child`] of each set bit of its external bitmap is the index
///    of a node; for every end node, [`Node::end_result`] of each is the index of a result. For
///    every node, [`Node::result`] of each set bit of its internal bitmap is the index of a result.
/// 3. No prefix ends past the address's end, and no node begins there: an ordinary node at depth
///    `d` has children only if `d + STRIDE < width`. Where the address ends inside a node, the bits
///    past its end count as zero.
///
/// Invariants of the accounting:
/// 4. Every node but the root is the child of exactly one node, every result but the first belongs
///    to exactly one node. In a live tree the rest is free, or in the retire list.
/// 5. Every node but the root has a child or a result, and a node is an end node exactly where no
///    prefix inside it is longer than `d + STRIDE`. So the nodes depend on the RIB alone, not on
///    its history.
/// 6. The prefixes in the nodes are the RIB's routes, with their next hops.
/// 7. In a live tree one store replaces `root`, and nothing else that readers can reach is written;
///    memory that it has led to is reused only when no reader can be in it.
///
/// ```
/// use longmatch::engine::tree_bitmap::TreeBitmap;
/// use longmatch::{Engine, Ipv4, Lookup, NextHopId, Rib};
/// let mut rib = Rib::<Ipv4>::new();
/// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap())?;
/// let tree: TreeBitmap<Ipv4> = TreeBitmap::compile(&rib, &())?;
/// let mut hops = [None; 2];
/// tree.lookup_batch(&[0x0a01_0203, 0xc000_0201], &mut hops);
/// assert_eq!(hops, [NextHopId::new(1), None]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TreeBitmap<F, N: Node = Node64, R: NodeResult = u16, M: Memory = FrozenMemory> {
    pub(super) nodes: M::Array<N>,
    pub(super) results: M::Array<R>,
    /// Array of one item: the index of the root.
    pub(super) root: M::Array<u32>,
    pub(super) family: PhantomData<F>,
}

impl<F, N: Node, R: NodeResult> Clone for TreeBitmap<F, N, R> {
    fn clone(&self) -> Self {
        let Self { nodes, results, root, family } = self;
        let (nodes, results, root) = (nodes.clone(), results.clone(), root.clone());
        Self { nodes, results, root, family: *family }
    }
}

impl<F, N: Node, R: NodeResult, M: Memory> TreeBitmap<F, N, R, M> {
    /// Returns the view that lookups read.
    #[inline(always)]
    pub(super) fn view(&self) -> View<'_, F, N, R> {
        View {
            nodes: self.nodes.items().shared(),
            results: self.results.items().shared(),
            root: self.root.items().shared(),
            family: PhantomData,
        }
    }
}

/// A tree as lookups read it, in either kind of memory. Passed by value, so that loops keep the
/// arrays' addresses in registers.
#[derive(Clone, Copy)]
pub(super) struct View<'a, F, N: Node, R: NodeResult> {
    pub nodes: Items<'a, N>,
    pub results: Items<'a, R>,
    pub root: Items<'a, u32>,
    family: PhantomData<F>,
}

/// The items of a tree that is not being changed; the input of its check.
#[derive(Clone, Copy)]
pub(super) struct Slices<'a, N, R> {
    pub nodes: &'a [N],
    pub results: &'a [R],
    pub root: &'a [u32],
}
