//! Compiles a RIB to a tree: each route's bits, one node a bit.

use alloc::vec::Vec;
use core::marker::PhantomData;

use super::NAME;
use super::layout::{MAX_NODES, NONE, Node, Radix};
use crate::engine::kit::{CompileError, Shape};
use crate::net::{Bits, Family, Route};
use crate::rib::Rib;

pub(super) fn compile<F: Family>(rib: &Rib<F>) -> Result<Radix<F>, CompileError> {
    let mut nodes = alloc::vec![Node::default()];
    for route in rib.iter() {
        insert(&mut nodes, route)?;
    }
    nodes.shrink_to_fit();
    Ok(Radix { nodes, family: PhantomData })
}

/// Upper bound on the bytes of a tree: a node for the root, one for every block that routes divide,
/// and one where each route ends.
pub(crate) fn estimate(shape: &Shape) -> u64 {
    (1 + shape.blocks_from(0, 1) + shape.routes) * size_of::<Node>() as u64
}

/// Adds a route. Routes come in order, so a parent's index is lower than its child's, and nodes on
/// one path tend to lie together.
fn insert<F: Family>(nodes: &mut Vec<Node>, route: Route<F>) -> Result<(), CompileError> {
    let mut at = 0;
    for depth in 0..route.prefix.len() {
        let side = route.prefix.bits().bit(depth);
        let mut child = nodes[at].children[side];
        if child == NONE {
            if nodes.len() >= MAX_NODES {
                let limit = MAX_NODES as u64;
                return Err(CompileError::TooMany { engine: NAME, what: "nodes", limit });
            }
            if nodes.try_reserve(1).is_err() {
                let bytes = (nodes.len() + 1) as u64 * size_of::<Node>() as u64;
                return Err(CompileError::Allocation { engine: NAME, bytes });
            }
            child = nodes.len() as u32;
            nodes.push(Node::default());
            nodes[at].children[side] = child;
        }
        at = child as usize;
    }
    nodes[at].next_hop = Some(route.next_hop);
    Ok(())
}
