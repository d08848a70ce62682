//! Compiles a RIB to Poptrie: block by block, children before their parent.

use alloc::vec::Vec;
use core::marker::PhantomData;

use super::layout::{
    BasicNode, DIRECT_LEAF, K, Leaf, LeafvecNode, MAX_DIRECT_BITS, MAX_DIRECT_NEXT_HOP, Node,
    Poptrie, SLOTS,
};
use super::{Config, EXPECTED, MODES, NAME};
use crate::engine::kit::{CompileError, OptionError, Shape};
use crate::mem::{FallibleVec, Frozen};
use crate::net::{Family, NextHopId};
use crate::rib::{Block, Rib};

pub(super) fn compile<F: Family, N: Node, L: Leaf>(
    rib: &Rib<F>,
    config: &Config,
) -> Result<Poptrie<F, N, L>, CompileError> {
    let Config { s, aggregate, batch } = *config;
    if s > MAX_DIRECT_BITS {
        let option = alloc::format!("s={s}");
        return Err(OptionError { engine: NAME, option, expected: EXPECTED }.into());
    }
    let batch = batch.among(MODES, NAME, EXPECTED)?;
    let limit = max_next_hop::<L>(s);
    let id = rib.max_next_hop();
    if id > limit {
        return Err(CompileError::NextHopTooLarge { engine: NAME, id, limit });
    }
    let arrays = Arrays { nodes: FallibleVec::new(), leaves: FallibleVec::new() };
    let mut compiler = Compiler { place: arrays, built: Vec::new(), aggregate };
    let direct = if s == 0 {
        alloc::vec![compiler.root(rib.root_block())]
    } else {
        compiler.direct(rib.root_block(), s)
    };
    let Arrays { nodes, leaves } = compiler.place;
    let (nodes, leaves) = (
        nodes.finish().map_err(CompileError::memory(NAME))?,
        leaves.finish().map_err(CompileError::memory(NAME))?,
    );
    within("internal nodes", nodes.len(), DIRECT_LEAF.into())?;
    within("leaves", leaves.len(), u32::MAX.into())?;
    Ok(Poptrie {
        direct: Frozen::of(&direct).map_err(CompileError::memory(NAME))?,
        nodes: Frozen::of(&nodes).map_err(CompileError::memory(NAME))?,
        leaves: Frozen::of(&leaves).map_err(CompileError::memory(NAME))?,
        s,
        aggregate,
        batch,
        family: PhantomData,
    })
}

/// Upper bound on the bytes of a Poptrie.
///
/// A node for every block that routes divide, a leaf for each node, and one more leaf wherever a
/// range of equal answers begins.
pub(super) fn estimate(shape: &Shape, s: u8, leafvec: bool, wide: bool) -> u64 {
    let nodes = shape.blocks_from(s, K) + 1;
    let slots = SLOTS as u64 * nodes;
    let leaves = if leafvec { slots.min(nodes + shape.ranges()) } else { slots };
    let node = if leafvec { size_of::<LeafvecNode>() } else { size_of::<BasicNode>() };
    let leaf = if wide { size_of::<u32>() } else { size_of::<u16>() };
    let direct = (size_of::<u32>() as u64) << s;
    direct + nodes * node as u64 + leaves * leaf as u64
}

/// The greatest raw next hop that fits.
pub(super) fn max_next_hop<L: Leaf>(s: u8) -> u32 {
    if s > 0 { MAX_DIRECT_NEXT_HOP.min(L::MAX) } else { L::MAX }
}

fn within(what: &'static str, count: usize, limit: u64) -> Result<(), CompileError> {
    if count as u64 <= limit {
        Ok(())
    } else {
        Err(CompileError::TooMany { engine: NAME, what, limit })
    }
}

/// Placement of nodes and leaves.
pub(super) trait Placement<N, L> {
    /// Places some nodes contiguously; returns the index of the first.
    fn nodes(&mut self, nodes: &[N]) -> u32;

    /// Places some leaves contiguously; returns the index of the first.
    fn leaves(&mut self, leaves: &[L]) -> u32;
}

/// The arrays of a frozen table.
struct Arrays<N, L> {
    nodes: FallibleVec<N>,
    leaves: FallibleVec<L>,
}

impl<N: Node, L: Leaf> Placement<N, L> for Arrays<N, L> {
    fn nodes(&mut self, nodes: &[N]) -> u32 {
        self.nodes.extend(nodes) as u32
    }

    fn leaves(&mut self, leaves: &[L]) -> u32 {
        self.leaves.extend(leaves) as u32
    }
}

pub(super) struct Compiler<N, P> {
    pub place: P,
    /// Nodes without a place yet: a node's children can be placed, contiguously, only when all of
    /// them are complete. A stack, as the blocks nest.
    pub built: Vec<N>,
    pub aggregate: bool,
}

/// Result of building a block.
pub(super) enum Built<N> {
    /// All its addresses have this raw next hop.
    Leaf(u32),
    Node(N),
}

impl<N: Node, P> Compiler<N, P> {
    /// Builds the trie without direct pointing and returns the index of its root. The root is a
    /// node even where one leaf would suffice.
    fn root<F: Family, L: Leaf>(&mut self, block: Block<'_, F>) -> u32
    where
        P: Placement<N, L>,
    {
        let root = match self.block(block) {
            Built::Node(node) => node,
            Built::Leaf(raw) => self.uniform(raw),
        };
        self.place.nodes(&[root])
    }

    /// Builds a node whose slots are all the same leaf.
    pub fn uniform<L: Leaf>(&mut self, raw: u32) -> N
    where
        P: Placement<N, L>,
    {
        self.node(0, &[raw; SLOTS], self.built.len())
    }

    /// Builds the direct index over the first `s` bits (section 3.4).
    fn direct<F: Family, L: Leaf>(&mut self, block: Block<'_, F>, s: u8) -> Vec<u32>
    where
        P: Placement<N, L>,
    {
        let mut direct = Vec::with_capacity(1 << s);
        block.for_each_slots(s, |slots| {
            let entry = match slots.below.map(|below| self.block(below)) {
                None => DIRECT_LEAF | NextHopId::to_raw(slots.next_hop),
                Some(Built::Leaf(raw)) => DIRECT_LEAF | raw,
                Some(Built::Node(node)) => self.place.nodes(&[node]),
            };
            direct.resize(direct.len() + slots.count, entry);
        });
        direct
    }

    /// Builds a block that a route longer than its depth lies in.
    pub fn block<F: Family, L: Leaf>(&mut self, block: Block<'_, F>) -> Built<N>
    where
        P: Placement<N, L>,
    {
        let mut vector = 0u64;
        let mut raw = [0u32; SLOTS];
        let first_child = self.built.len();
        block.for_each_slots(K, |slots| match slots.below.map(|below| self.block(below)) {
            None => {
                let leaf = NextHopId::to_raw(slots.next_hop);
                raw[slots.first..slots.first + slots.count].fill(leaf);
            }
            Some(Built::Leaf(leaf)) => raw[slots.first] = leaf,
            Some(Built::Node(node)) => {
                vector |= 1 << slots.first;
                self.built.push(node);
            }
        });
        if self.aggregate && vector == 0 && raw == [raw[0]; SLOTS] {
            return Built::Leaf(raw[0]);
        }
        Built::Node(self.node(vector, &raw, first_child))
    }

    /// Places a node's leaves, and its children from `first_child` on in `built`.
    fn node<L: Leaf>(&mut self, vector: u64, raw: &[u32; SLOTS], first_child: usize) -> N
    where
        P: Placement<N, L>,
    {
        let base1 = self.place.nodes(&self.built[first_child..]);
        self.built.truncate(first_child);
        let leaves = Leaves::<L>::of::<N>(vector, raw);
        let base0 = self.place.leaves(leaves.stored());
        N::new(vector, leaves.leafvec, base0, base1)
    }
}

/// The leaves that are stored for a node.
pub(super) struct Leaves<L> {
    pub leafvec: u64,
    leaves: [L; SLOTS],
    count: usize,
}

impl<L: Leaf> Leaves<L> {
    /// Computes the leaves of a node with some raw next hops. The slots of children are ignored
    /// among the leaves, so that leaves on either side of a child can be one ("hole punching",
    /// section 3.3).
    pub fn of<N: Node>(vector: u64, raw: &[u32; SLOTS]) -> Self {
        let mut leaves = Self { leafvec: 0, leaves: [L::from_raw(0); SLOTS], count: 0 };
        let mut last = None;
        for (slot, leaf) in raw.iter().enumerate() {
            if vector >> slot & 1 == 1 || (N::LEAFVEC && last == Some(leaf)) {
                continue;
            }
            leaves.leafvec |= 1 << slot;
            last = Some(leaf);
            leaves.leaves[leaves.count] = L::from_raw(*leaf);
            leaves.count += 1;
        }
        leaves
    }

    pub fn stored(&self) -> &[L] {
        &self.leaves[..self.count]
    }
}
