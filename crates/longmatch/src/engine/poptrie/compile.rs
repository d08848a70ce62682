//! RIB to Poptrie: block by block, children before their parent.

use alloc::vec::Vec;
use core::marker::PhantomData;

use super::layout::{
    DIRECT_LEAF, K, Leaf, MAX_DIRECT_BITS, MAX_DIRECT_NEXT_HOP, Node, Poptrie, SLOTS,
};
use super::{Config, EXPECTED, NAME};
use crate::addr::Family;
use crate::error::{CompileError, OptionError};
use crate::next_hop::NextHopId;
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
    let limit = if s > 0 { MAX_DIRECT_NEXT_HOP.min(L::MAX) } else { L::MAX };
    let id = rib.max_next_hop();
    if id > limit {
        return Err(CompileError::NextHopTooLarge { engine: NAME, id, limit });
    }
    let mut compiler =
        Compiler { nodes: Vec::new(), leaves: Vec::new(), built: Vec::new(), aggregate };
    let direct = if s == 0 {
        compiler.root(rib.root_block());
        Vec::new()
    } else {
        compiler.direct(rib.root_block(), s)
    };
    let Compiler { nodes, leaves, .. } = compiler;
    within("internal nodes", nodes.len(), DIRECT_LEAF.into())?;
    within("leaves", leaves.len(), u32::MAX.into())?;
    Ok(Poptrie {
        direct: direct.into(),
        nodes: nodes.into(),
        leaves: leaves.into(),
        s,
        aggregate,
        batch,
        family: PhantomData,
    })
}

fn within(what: &'static str, count: usize, limit: u64) -> Result<(), CompileError> {
    if count as u64 <= limit {
        Ok(())
    } else {
        Err(CompileError::TooMany { engine: NAME, what, limit })
    }
}

struct Compiler<N, L> {
    nodes: Vec<N>,
    leaves: Vec<L>,
    /// Nodes whose place is not known yet: a node's children can be placed, side by side, only
    /// when all of them are complete. A stack, as the blocks nest.
    built: Vec<N>,
    aggregate: bool,
}

/// What a block became.
enum Built<N> {
    /// All its addresses have this raw next hop.
    Leaf(u32),
    Node(N),
}

impl<N: Node, L: Leaf> Compiler<N, L> {
    /// The trie without direct pointing: the root has its place first, and is a node even where one
    /// leaf would do.
    fn root<F: Family>(&mut self, block: Block<'_, F>) {
        self.nodes.push(N::new(0, 0, 0, 0));
        self.nodes[0] = match self.block(block) {
            Built::Node(node) => node,
            Built::Leaf(raw) => self.node(0, &[raw; SLOTS], 0),
        };
    }

    /// The direct index over the first `s` bits (section 3.4).
    fn direct<F: Family>(&mut self, block: Block<'_, F>, s: u8) -> Vec<u32> {
        let mut direct = Vec::with_capacity(1 << s);
        block.for_each_slots(s, |slots| {
            let entry = match slots.below.map(|below| self.block(below)) {
                None => DIRECT_LEAF | NextHopId::to_raw(slots.next_hop),
                Some(Built::Leaf(raw)) => DIRECT_LEAF | raw,
                Some(Built::Node(node)) => {
                    self.nodes.push(node);
                    (self.nodes.len() - 1) as u32
                }
            };
            direct.resize(direct.len() + slots.count, entry);
        });
        direct
    }

    /// A block that some route longer than its depth lies in.
    fn block<F: Family>(&mut self, block: Block<'_, F>) -> Built<N> {
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

    /// Places a node's children, which are `built` from `first_child` on, and its leaves. The slots
    /// of children count for nothing among the leaves, so that leaves on either side of a child
    /// can be one ("hole punching", section 3.3).
    fn node(&mut self, vector: u64, raw: &[u32; SLOTS], first_child: usize) -> N {
        let base1 = self.nodes.len() as u32;
        self.nodes.extend(self.built.drain(first_child..));
        let base0 = self.leaves.len() as u32;
        let mut leafvec = 0u64;
        let mut last = None;
        for (slot, leaf) in raw.iter().enumerate() {
            if vector >> slot & 1 == 1 || (N::LEAFVEC && last == Some(leaf)) {
                continue;
            }
            leafvec |= 1 << slot;
            last = Some(leaf);
            self.leaves.push(L::from_raw(*leaf));
        }
        N::new(vector, leafvec, base0, base1)
    }
}
