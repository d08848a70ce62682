//! Poptrie (Asai and Ohara, SIGCOMM 2015): a 64-ary trie with population counts.
//!
//! Two bit vectors in a node locate its children and leaves. See the README beside this file.
//!
//! | | |
//! |---|---|
//! | lookup | at most 1 + (width - s) / 6 node reads, and one leaf |
//! | compile | O(routes + 2^s + 64 x nodes) |
//! | update | the nodes on the path to a change and those below it, or a range of direct entries |
//! | words read by a lookup | a direct entry, a node for each 6 bits below, a leaf: 5 with s = 18; IPv6: 21 |
//! | memory | 4 x 2^s bytes, 24 (or 16) bytes a node, 2 (or 4) bytes a leaf |

mod batch;
mod check;
mod compile;
mod layout;
mod lookup;
mod update;

pub use layout::Poptrie;
// The types that a variant is made of. Programs name a variant by a spec.
#[doc(hidden)]
pub use layout::{BasicNode, Leaf, LeafvecNode, Node};

use alloc::string::String;

use self::check::Unused;
use self::layout::{MAX_DIRECT_BITS, Slices};
use crate::engine::kit::Shape;
use crate::engine::kit::{
    Batch, Builder, Built, CompileError, Corrupt, Descriptor, Engine, EngineVisitor, Form,
    KernelVisitor, LiveEngine, Lookup, Request, Structure, TypedOptions, Variant, answers_for,
};
use crate::mem::{Memory, MemoryPart, MemoryUsage};
use crate::net::{Family, NextHopId};
use crate::rib::Rib;
use crate::simd::Simd;

pub(super) const NAME: &str = "poptrie";

/// The registry's entry.
pub(crate) const DESCRIPTOR: Descriptor = Descriptor {
    title: "Poptrie",
    year: "2015",
    summary: "a 64-ary trie with population counts",
    hue: ["#0067a5", "#4aa3e0"],
    order: Some(2),
    variants: [
        &[
            "s=0",
            "s=0:basic:unaggregated",
            "s=1:unaggregated",
            "s=13:leaf=32",
            "s=16:basic",
            "s=16:unaggregated:leaf=32",
            "s=18:basic:unaggregated:leaf=32",
            "batch=each",
            "s=17:batch=flight",
            "s=7:basic:batch=gather",
        ],
        &[],
        &[],
    ],
    forms: &[Form {
        paper: "Asai, Ohara, SIGCOMM 2015",
        reads: "1 + one for each 6 bits below s, and the leaf",
        structure: "2^s entries, 24 bytes a node",
        changes: "the nodes on the way to a change",
        limit: ["16-bit leaves: 65,535 next hops", "takes 32-bit leaves by itself"],
        ..Form::NEW
    }],
    ..Descriptor::NEW
};

/// Compile-time choices besides the types of nodes and leaves.
///
/// ```
/// use longmatch::engine::poptrie::{Config, Poptrie};
/// use longmatch::{Engine, Ipv4, Rib, Structure};
/// let config = Config { s: 16, aggregate: false, ..Config::default() };
/// let poptrie: Poptrie<Ipv4> = Poptrie::compile(&Rib::new(), &config)?;
/// assert_eq!(Structure::variant(&poptrie), "s=16:unaggregated");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Bits that direct pointing consumes (section 3.4): from 0, no direct pointing, to
    /// 24.
    pub s: u8,
    /// Route aggregation when compiling (section 3): a node whose addresses all have one next hop
    /// becomes a leaf of its parent.
    pub aggregate: bool,
    /// How a batch is looked up; the structure does not depend on it. [`Batch::Auto`],
    /// [`Batch::Each`], [`Batch::Flight`], or [`Batch::Gather`] with AVX-512.
    #[doc(hidden)]
    pub batch: Batch,
}

impl Default for Config {
    /// The paper's best: s = 18, with aggregation.
    fn default() -> Self {
        Self { s: 18, aggregate: true, batch: Batch::default() }
    }
}

/// The modes of batches that the engine has.
const MODES: &[Batch] = &[Batch::Auto, Batch::Each, Batch::Flight, Batch::Gather];

impl<F: Family, N: Node, L: Leaf, M: Memory> Lookup<F> for Poptrie<F, N, L, M> {
    #[inline(always)]
    fn lookup_bits(&self, addr: F::Bits) -> Option<NextHopId> {
        lookup::lookup(self.view(), addr)
    }

    fn lookup_batch_with(&self, simd: Simd, addrs: &[F::Bits], out: &mut [Option<NextHopId>]) {
        match self.batch {
            Batch::Each => self.lookup_each(simd, addrs, out),
            _ => batch::lookup_batch(&self.view().shared(), simd, addrs, answers_for(addrs, out)),
        }
    }

    fn memory_usage(&self) -> MemoryUsage {
        [
            MemoryPart::of_array("direct entries", &self.direct),
            MemoryPart::of_array("internal nodes", &self.nodes),
            MemoryPart::of_array("leaves", &self.leaves),
        ]
        .into()
    }
}

impl<F: Family, N: Node, L: Leaf, M: Memory> Structure<F> for Poptrie<F, N, L, M> {
    const NAME: &'static str = NAME;
    const BATCHES: bool = true;

    fn variant(&self) -> String {
        let s = Variant::new().value("s", self.s);
        let nodes = s.flag("basic", !N::LEAFVEC).flag("unaggregated", !self.aggregate);
        nodes.flag("leaf=32", size_of::<L>() == 4).batch(self.batch).finish()
    }
}

impl<F: Family, N: Node, L: Leaf> Engine<F> for Poptrie<F, N, L> {
    type Config = Config;

    fn compile(rib: &Rib<F>, config: &Config) -> Result<Self, CompileError> {
        compile::compile(rib, config)
    }

    fn live(self) -> LiveEngine<F> {
        update::live(self)
    }

    fn check(&self, rib: &Rib<F>) -> Result<(), Corrupt> {
        let Self { direct, nodes, leaves, s, .. } = self;
        check::check(Slices { direct, nodes, leaves, s: *s }, Unused::default(), rib)
    }
}

impl TypedOptions for Config {
    const ENGINE: &'static str = NAME;

    /// Nodes are the default ones; leaves have 32 bits where next hops need them.
    fn options(&self) -> Variant {
        let s = Variant::new().number("s", self.s, Self::default().s);
        s.flag("unaggregated", !self.aggregate).batch(self.batch)
    }
}

const EXPECTED: &str = "s=0 to s=24, basic (no leafvec), unaggregated, leaf=32, or batch=each, flight \
                        or gather";

/// Builds the variant that the options name. Leaves have 32 bits where the table's next hops need
/// them.
pub(crate) struct Build;

impl<F: Family> Builder<F> for Build {
    fn build<V: EngineVisitor<F>>(request: &Request<'_, F>, visitor: V) -> Built<F, V> {
        let rib = request.rib;
        let mut options = request.parse(EXPECTED);
        let config = Config {
            s: options.number("s", 0..=MAX_DIRECT_BITS).unwrap_or(Config::default().s),
            aggregate: !options.flag("unaggregated"),
            batch: options.batch(MODES),
        };
        let leafvec = !options.flag("basic");
        let wide = options.flag("leaf=32") || rib.max_next_hop() > <u16 as Leaf>::MAX;
        options.finish()?;
        request.admit(|| compile::estimate(&Shape::of(rib), config.s, leafvec, wide))?;
        Ok(match (leafvec, wide) {
            (true, false) => visitor.visit(Poptrie::<F, LeafvecNode, u16>::compile(rib, &config)?),
            (true, true) => visitor.visit(Poptrie::<F, LeafvecNode, u32>::compile(rib, &config)?),
            (false, false) => visitor.visit(Poptrie::<F, BasicNode, u16>::compile(rib, &config)?),
            (false, true) => visitor.visit(Poptrie::<F, BasicNode, u32>::compile(rib, &config)?),
        })
    }

    fn kernels(visitor: &mut impl KernelVisitor<F>) {
        visitor.visit::<Poptrie<F>>();
    }
}

#[cfg(test)]
mod tests;
