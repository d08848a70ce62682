//! Tree Bitmap (Eatherton, Varghese and Dittia, CCR 2004): a multiway trie.
//!
//! In each node one bitmap has the prefixes that end there, another the children. See the README
//! beside this file.
//!
//! | | |
//! |---|---|
//! | lookup | O(width / stride) nodes, in each O(stride) for the longest prefix; one result at the end |
//! | compile | O(routes x width / stride) |
//! | update | copies the nodes on the path to a change and their siblings |
//! | words read by a lookup | the pointer to the root, a node for each stride, a result: 8 with stride 6; IPv6: 24 |
//! | memory | 12 bytes (stride 4) or 24 (stride 6) a node, 2 (or 4) bytes a route |

mod batch;
mod check;
mod compile;
mod layout;
mod lookup;
mod update;

pub use layout::TreeBitmap;
// The types that a variant is made of. Programs name a variant by a spec.
#[doc(hidden)]
pub use layout::{Node, Node16, Node64, NodeResult};

use alloc::string::String;

use self::check::Unused;
use self::layout::Slices;
use crate::engine::kit::Shape;
use crate::engine::kit::{
    Builder, Built, CompileError, Corrupt, Descriptor, Engine, EngineVisitor, Form, KernelVisitor,
    LiveEngine, Lookup, Request, Structure, TypedOptions, Variant, answers_for,
};
use crate::mem::{Memory, MemoryPart, MemoryUsage};
use crate::net::{Family, NextHopId};
use crate::rib::Rib;
use crate::simd::Simd;

pub(super) const NAME: &str = "tree_bitmap";

/// The choices of an [`EngineSpec`](crate::EngineSpec).
///
/// [`TreeBitmap`] itself has none besides its types of nodes and results.
///
/// ```
/// use longmatch::engine::tree_bitmap;
/// use longmatch::{Fib, Ipv4, Rib};
/// let config = tree_bitmap::Config { stride: 4, wide_results: true };
/// let fib = Fib::compile(&Rib::<Ipv4>::new(), config)?;
/// assert_eq!(fib.variant(), "stride=4:result=32");
/// # Ok::<(), longmatch::CompileError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Bits of the address that a node consumes, 4 or 6.
    pub stride: u8,
    /// Whether results have 32 bits also where 16 hold the next hops.
    pub wide_results: bool,
}

impl Default for Config {
    /// Stride 6, and results as narrow as possible.
    fn default() -> Self {
        Self { stride: 6, wide_results: false }
    }
}

/// The registry's entry.
pub(crate) const DESCRIPTOR: Descriptor = Descriptor {
    title: "Tree Bitmap",
    year: "2004",
    summary: "a multiway trie with bitmaps",
    hue: ["#757500", "#bdbd3f"],
    order: Some(7),
    variants: [&["stride=4", "stride=4:result=32", "result=32"], &[], &[]],
    forms: &[Form {
        paper: "Eatherton, Varghese, Dittia, CCR 2004",
        reads: "one for each 6 (or 4) bits, and the result",
        structure: "two bitmaps a node",
        changes: "the way from the root to a change is copied",
        limit: ["16-bit results: 65,535 next hops", "takes 32-bit results by itself"],
        ..Form::NEW
    }],
    ..Descriptor::NEW
};

impl TypedOptions for Config {
    const ENGINE: &'static str = NAME;

    fn options(&self) -> Variant {
        let stride = Variant::new().number("stride", self.stride, Self::default().stride);
        stride.flag("result=32", self.wide_results)
    }
}

impl<F: Family, N: Node, R: NodeResult, M: Memory> Lookup<F> for TreeBitmap<F, N, R, M> {
    #[inline(always)]
    fn lookup_bits(&self, addr: F::Bits) -> Option<NextHopId> {
        lookup::lookup(self.view(), addr)
    }

    fn lookup_batch_with(&self, simd: Simd, addrs: &[F::Bits], out: &mut [Option<NextHopId>]) {
        batch::lookup_batch(&self.view(), simd, addrs, answers_for(addrs, out));
    }

    fn memory_usage(&self) -> MemoryUsage {
        [MemoryPart::of_array("nodes", &self.nodes), MemoryPart::of_array("results", &self.results)]
            .into()
    }
}

impl<F: Family, N: Node, R: NodeResult, M: Memory> Structure<F> for TreeBitmap<F, N, R, M> {
    const NAME: &'static str = NAME;
    const BATCHES: bool = true;

    fn variant(&self) -> String {
        let stride = Variant::new().value("stride", N::STRIDE);
        stride.flag("result=32", size_of::<R>() == 4).finish()
    }
}

impl<F: Family, N: Node, R: NodeResult> Engine<F> for TreeBitmap<F, N, R> {
    type Config = ();

    fn compile(rib: &Rib<F>, (): &()) -> Result<Self, CompileError> {
        compile::compile(rib)
    }

    fn live(self) -> LiveEngine<F> {
        update::live(self)
    }

    fn check(&self, rib: &Rib<F>) -> Result<(), Corrupt> {
        let Self { nodes, results, root, .. } = self;
        check::check(Slices { nodes, results, root }, Unused::default(), rib)
    }
}

const EXPECTED: &str = "stride=4, stride=6, or result=32";

/// Builds the variant that the options name.
///
/// Stride 6 by default, and 32-bit results where the table's next hops need them.
pub(crate) struct Build;

impl<F: Family> Builder<F> for Build {
    fn build<V: EngineVisitor<F>>(request: &Request<'_, F>, visitor: V) -> Built<F, V> {
        let rib = request.rib;
        let mut options = request.parse(EXPECTED);
        let stride = options.choice(&[("stride=4", 4), ("stride=6", 6)]).unwrap_or(6);
        let wide = options.flag("result=32") || rib.max_next_hop() > <u16 as NodeResult>::MAX;
        options.finish()?;
        request.admit(|| compile::estimate(&Shape::of(rib), stride, wide))?;
        Ok(match (stride, wide) {
            (4, false) => visitor.visit(TreeBitmap::<F, Node16, u16>::compile(rib, &())?),
            (4, true) => visitor.visit(TreeBitmap::<F, Node16, u32>::compile(rib, &())?),
            (_, false) => visitor.visit(TreeBitmap::<F, Node64, u16>::compile(rib, &())?),
            (_, true) => visitor.visit(TreeBitmap::<F, Node64, u32>::compile(rib, &())?),
        })
    }

    fn kernels(visitor: &mut impl KernelVisitor<F>) {
        visitor.visit::<TreeBitmap<F>>();
    }
}

#[cfg(test)]
mod tests;
