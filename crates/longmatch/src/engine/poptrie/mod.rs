//! Poptrie (Asai and Ohara, SIGCOMM 2015): a 64-ary trie with population counts.
//!
//! Two bit vectors in a node locate its children and leaves. See the README beside this file.
//!
//! | | |
//! |---|---|
//! | lookup | at most 1 + (width - s) / 6 node reads, and one leaf |
//! | compile | O(routes + 2^s + 64 x nodes) |
//! | update | the nodes on the path to a change and those below it, or a range of direct entries |
//! | memory | 4 x 2^s bytes, 24 (or 16) bytes a node, 2 (or 4) bytes a leaf |

mod batch;
mod check;
mod compile;
mod layout;
mod lookup;
mod update;

pub use layout::{BasicNode, Leaf, LeafvecNode, MAX_DIRECT_BITS, Node, Poptrie};

use alloc::format;
use alloc::string::String;

use self::check::Unused;
use self::layout::Slices;
use crate::engine::kit::Shape;
use crate::engine::kit::{
    Builder, CompileError, Corrupt, Descriptor, Engine, EngineVisitor, LiveEngine, Lookup,
    OptionError, Request, Structure, answers_for,
};
use crate::mem::{Memory, MemoryPart, MemoryUsage};
use crate::net::{Family, NextHopId};
use crate::rib::Rib;
use crate::simd::Simd;

pub(super) const NAME: &str = "poptrie";

/// The registry's entry.
pub(crate) const DESCRIPTOR: Descriptor = Descriptor { name: NAME, oracle: false, wider: &[] };

/// Compile-time choices besides the types of nodes and leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Bits that direct pointing consumes (section 3.4): from 0, no direct pointing, to
    /// [`MAX_DIRECT_BITS`].
    pub s: u8,
    /// Route aggregation when compiling (section 3): a node whose addresses all have one next hop
    /// becomes a leaf of its parent.
    pub aggregate: bool,
    /// How a batch is looked up; the structure does not depend on it.
    pub batch: Batch,
}

impl Default for Config {
    /// The paper's best: s = 18, with aggregation.
    fn default() -> Self {
        Self { s: 18, aggregate: true, batch: Batch::default() }
    }
}

/// How a batch is looked up. All give the same answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Batch {
    /// The fastest for the level: [`Batch::Gather`] where it exists, else [`Batch::Flight`].
    #[default]
    Auto,
    /// One address at a time, as in the paper.
    Each,
    /// Several lookups in flight, without vectors.
    Flight,
    /// Lookups in vector lanes, with AVX-512; below it [`Batch::Flight`].
    Gather,
}

impl Batch {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Auto, "auto"),
        (Self::Each, "each"),
        (Self::Flight, "flight"),
        (Self::Gather, "gather"),
    ];
}

impl<F: Family, N: Node, L: Leaf, M: Memory> Lookup<F> for Poptrie<F, N, L, M> {
    #[inline(always)]
    fn lookup(&self, addr: F::Bits) -> Option<NextHopId> {
        lookup::lookup(self.view(), addr)
    }

    fn lookup_batch_with(&self, simd: Simd, addrs: &[F::Bits], out: &mut [Option<NextHopId>]) {
        batch::lookup_batch(self.view(), simd, addrs, answers_for(addrs, out));
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
        let basic = if N::LEAFVEC { "" } else { ":basic" };
        let aggregate = if self.aggregate { "" } else { ":unaggregated" };
        let leaf = if size_of::<L>() == 2 { "" } else { ":leaf=32" };
        let batch = Batch::ALL.iter().find(|(batch, _)| *batch == self.batch);
        let batch = match batch {
            None | Some((Batch::Auto, _)) => String::new(),
            Some((_, name)) => format!(":batch={name}"),
        };
        format!("s={}{basic}{aggregate}{leaf}{batch}", self.s)
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

/// Run-time choices of [`build`]: [`Config`], and the types.
struct Options {
    config: Config,
    leafvec: bool,
    wide_leaves: bool,
}

const EXPECTED: &str = "s=0 to s=24, basic (no leafvec), unaggregated, leaf=32, or batch=each, flight \
                        or gather";

impl Options {
    fn parse(options: &[String]) -> Result<Self, OptionError> {
        let mut parsed = Self { config: Config::default(), leafvec: true, wide_leaves: false };
        for option in options {
            let error = || OptionError { engine: NAME, option: option.clone(), expected: EXPECTED };
            match option.split_once('=') {
                None if option == "basic" => parsed.leafvec = false,
                None if option == "unaggregated" => parsed.config.aggregate = false,
                Some(("leaf", "32")) => parsed.wide_leaves = true,
                Some(("s", bits)) => {
                    let s = bits.parse().ok().filter(|s| *s <= MAX_DIRECT_BITS);
                    parsed.config.s = s.ok_or_else(error)?;
                }
                Some(("batch", name)) => {
                    let found = Batch::ALL.into_iter().find(|(_, known)| *known == name);
                    parsed.config.batch = found.ok_or_else(error)?.0;
                }
                _ => return Err(error()),
            }
        }
        Ok(parsed)
    }
}

/// Builds the variant that the options name. Leaves have 32 bits where the table's next hops need
/// them.
pub(crate) struct Build;

impl<F: Family> Builder<F> for Build {
    fn build<V: EngineVisitor<F>>(
        request: &Request<'_>,
        rib: &Rib<F>,
        visitor: V,
    ) -> Result<V::Output, CompileError> {
        let Options { config, leafvec, wide_leaves } = Options::parse(request.options)?;
        let wide = wide_leaves || rib.max_next_hop() > <u16 as Leaf>::MAX;
        request.admit(|| compile::estimate(&Shape::of(rib), config.s, leafvec, wide))?;
        Ok(match (leafvec, wide) {
            (true, false) => visitor.visit(Poptrie::<F, LeafvecNode, u16>::compile(rib, &config)?),
            (true, true) => visitor.visit(Poptrie::<F, LeafvecNode, u32>::compile(rib, &config)?),
            (false, false) => visitor.visit(Poptrie::<F, BasicNode, u16>::compile(rib, &config)?),
            (false, true) => visitor.visit(Poptrie::<F, BasicNode, u32>::compile(rib, &config)?),
        })
    }
}

#[cfg(test)]
mod tests;
