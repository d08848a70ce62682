//! The nodes of the tree, in one array.

use alloc::vec::Vec;
use core::marker::PhantomData;

use crate::net::NextHopId;

/// A node, which represents the bits on the path from the root to it.
///
/// ```text
///  bytes  0        4        8        12
///        +--------+--------+--------+
///        | low    | high   | next   |   children for a next bit of 0 and 1: indices, 0 = none
///        | child  | child  | hop    |   (the root, index 0, is not a child); next hop: 0 = none
///        +--------+--------+--------+
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Node {
    pub children: [u32; 2],
    pub next_hop: Option<NextHopId>,
}

const _: () = assert!(size_of::<Node>() == 12);

/// Value in `children`: no child.
pub(super) const NONE: u32 = 0;

/// Nodes that a `u32` can index.
pub(super) const MAX_NODES: usize = u32::MAX as usize;

/// A binary radix tree.
///
/// Invariants: node 0 is the root; every other node is the child of exactly one node, whose index
/// is lower; no node is deeper than the address is wide; a node without children has a next hop
/// (except a root alone).
///
/// ```
/// use longmatch::engine::radix::Radix;
/// use longmatch::{Engine, Ipv4, Lookup, NextHopId, Rib};
/// let mut rib = Rib::<Ipv4>::new();
/// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap())?;
/// let radix = Radix::compile(&rib, &())?;
/// let mut hops = [None; 2];
/// radix.lookup_batch(&[0x0a01_0203, 0xc000_0201], &mut hops);
/// assert_eq!(hops, [NextHopId::new(1), None]);
/// // The root and a node for each bit of the prefix.
/// assert_eq!(radix.memory_usage().part("nodes").map(|part| part.count), Some(9));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Radix<F> {
    pub(super) nodes: Vec<Node>,
    pub(super) family: PhantomData<F>,
}
