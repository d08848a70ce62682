//! The internal nodes and the leaves of a path-compressed tree, each in one array.
//!
//! A *link* leads from a node to a child: the index of an internal node, or [`LEAF`] and the index
//! of a leaf.

use alloc::vec::Vec;

use crate::net::{Bits, Family, NextHopId};
use crate::rib::MAX_ROUTES;

/// Flag of a link: to a leaf.
pub(super) const LEAF: u32 = 1 << 31;

/// Value in `parent`: none. No node has this index, so that the way up ends where the node array
/// has no such node.
pub(super) const NONE: u32 = u32::MAX;

// Indices of leaves have 31 bits, and a tree has fewer internal nodes than leaves.
const _: () = assert!(MAX_ROUTES < LEAF as usize);

/// An internal node, which tests one bit of the address.
///
/// ```text
///  bytes  0        4        8        12       16    17         18  20
///        +--------+--------+--------+--------+-----+----------+---+
///        | low    | high   | parent | list   | bit | list_len |   |
///        +--------+--------+--------+--------+-----+----------+---+
///  low, high  links for a tested bit of 0 and of 1
///  parent     index of the internal node above
///  list       index of the first leaf in the mask list; 0 if the list is empty
///  bit        the tested bit, 0 = the first of the address
///  list_len   number of leaves in the mask list
/// ```
///
/// The mask list has the routes that apply to every leaf below the node but not to every leaf below
/// its parent. They are neighbours in the leaf array: all have the key of the lowest leaf below the
/// node, because each key has only zeros after its mask.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Node {
    pub children: [u32; 2],
    pub parent: u32,
    pub list: u32,
    pub bit: u8,
    pub list_len: u8,
}

const _: () = assert!(size_of::<Node>() == 20);

/// A leaf: one route.
///
/// ```text
///  bytes  0        4        8          12    13     14  16
///        +--------+--------+----------+-----+------+---+
///        | key    | parent | next_hop | len | more |   |
///        +--------+--------+----------+-----+------+---+
///  key       the bits of the prefix
///  parent    index of the internal node above
///  next_hop  next hop of the route
///  len       length of the prefix: the mask
///  more      whether the next leaf has the same key
/// ```
///
/// An IPv6 key has 16 bytes, so that a leaf has 32, the last 6 of them unused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Leaf<B> {
    pub key: B,
    pub parent: u32,
    pub next_hop: NextHopId,
    pub len: u8,
    pub more: bool,
}

const _: () = assert!(size_of::<Leaf<u32>>() == 16 && size_of::<Leaf<u128>>() == 32);

/// The path-compressed radix tree of BSD (K. Sklower, USENIX Winter 1991).
///
/// It tests only the bits in which keys differ. A lookup is O(levels): down to a leaf, where it
/// compares the address with a key, and up to a route that is short enough.
///
/// Invariants:
///
/// - The leaves are the routes in ascending order of keys. Those with the same key are a *chain*,
///   longest mask first; `more` is set in all but the last.
/// - The leaves of a chain are one place in the tree: a link leads to the first of them. They have
///   the same parent.
/// - An internal node has leaves below both links. Their keys agree before the tested bit, and in
///   it they have the value of the link.
/// - Internal nodes are in pre-order: node 0 is the root, and a low child follows its parent. A
///   tree of one key has no internal node, and leaf 0 is its root.
/// - A node's mask list has those leaves of the first chain below the node whose masks are longer
///   than the index of the bit that the parent tests, and not longer than that of the node's own.
///
/// ```
/// use longmatch::engine::radix::PathCompressed;
/// use longmatch::{Engine, Ipv4, Lookup, NextHopId, Rib};
/// let mut rib = Rib::<Ipv4>::new();
/// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap())?;
/// rib.insert("10.1.2.0/24".parse()?, NextHopId::new(2).unwrap())?;
/// let tree = PathCompressed::compile(&rib, &())?;
/// let mut hops = [None; 3];
/// tree.lookup_batch(&[0x0a01_0203, 0x0a01_0303, 0xc000_0201], &mut hops);
/// assert_eq!(hops, [NextHopId::new(2), NextHopId::new(1), None]);
/// // One node tests the first bit in which the two keys differ.
/// let count = |part| tree.memory_usage().part(part).map(|part| part.count);
/// assert_eq!([count("internal nodes"), count("leaves")], [Some(1), Some(2)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PathCompressed<F: Family> {
    pub(super) nodes: Vec<Node>,
    pub(super) leaves: Vec<Leaf<F::Bits>>,
}

impl<F: Family> PathCompressed<F> {
    /// The link to the root. In a tree without routes it leads to a leaf that does not exist.
    #[inline(always)]
    pub(super) fn root(&self) -> u32 {
        if self.nodes.is_empty() { LEAF } else { 0 }
    }

    /// The link that an address follows at a node.
    #[inline(always)]
    pub(super) fn child(&self, node: u32, addr: F::Bits) -> u32 {
        let node = &self.nodes[node as usize];
        node.children[addr.bit(node.bit)]
    }

    /// A node's mask list, longest mask first.
    #[inline(always)]
    pub(super) fn list(&self, node: &Node) -> &[Leaf<F::Bits>] {
        &self.leaves[node.list as usize..][..usize::from(node.list_len)]
    }
}
