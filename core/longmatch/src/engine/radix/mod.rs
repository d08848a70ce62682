//! The binary radix trees that the papers compare with.
//!
//! [`Radix`] has one bit a level (the Poptrie paper's baseline), [`PathCompressed`] only the bits in
//! which keys differ (BSD's routing table; K. Sklower, USENIX Winter 1991). See the README beside
//! this file.
//!
//! | | one bit a level | path-compressed |
//! |---|---|---|
//! | lookup | O(binary radix depth): at most 32 or 128 dependent reads | O(levels): at most 32 or 128 nodes down, a leaf, and the same nodes up |
//! | compile | O(routes x width) | O(routes x log routes) |
//! | memory | 12 bytes a node, one node a distinct leading bit string | 16 bytes a route (IPv6: 32), 20 bytes for each key but one |

mod batch;
mod check;
mod compile;
mod layout;
mod lookup;
mod path_compressed;

pub use layout::Radix;
pub use path_compressed::PathCompressed;

use crate::engine::kit::{
    Builder, Built, CompileError, Corrupt, Descriptor, Engine, EngineVisitor, Form, Lookup,
    Request, Shape, Structure, TypedOptions, Variant, answers_for,
};
use crate::mem::{MemoryPart, MemoryUsage};
use crate::net::{Family, NextHopId};
use crate::rib::Rib;
use crate::simd::Simd;

pub(super) const NAME: &str = "radix";

/// The option that selects [`PathCompressed`].
const OPTION: &str = "path-compressed";

/// The choice of an [`EngineSpec`](crate::EngineSpec).
///
/// [`Radix`] and [`PathCompressed`] themselves have none.
///
/// ```
/// use longmatch::engine::radix;
/// use longmatch::{Fib, Ipv4, Rib};
/// let config = radix::Config { path_compressed: true };
/// let fib = Fib::compile(&Rib::<Ipv4>::new(), config)?;
/// assert_eq!(fib.variant(), "path-compressed");
/// # Ok::<(), longmatch::CompileError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Config {
    /// Whether the tree is [`PathCompressed`], as BSD's; otherwise it is [`Radix`], with one bit a
    /// level.
    pub path_compressed: bool,
}

/// The registry's entry.
pub(crate) const DESCRIPTOR: Descriptor = Descriptor {
    title: "Radix tree",
    summary: "the binary trees that the papers compare with",
    hue: ["#6d7278", "#9aa0a8"],
    order: Some(8),
    variants: [&["path-compressed"], &[], &[]],
    forms: &[
        Form {
            paper: "the papers' baseline",
            reads: "one a bit, up to the binary radix depth",
            structure: "12 bytes a node",
            ..Form::NEW
        },
        Form {
            name: OPTION,
            paper: "Sklower, USENIX Winter 1991: BSD's tree, the baseline of DXR",
            reads: "one a bit in which keys differ, the leaf, and back up to a shorter mask",
            structure: "16 (IPv6: 32) bytes a route, 20 a key",
            ..Form::NEW
        },
    ],
    ..Descriptor::NEW
};

impl TypedOptions for Config {
    const ENGINE: &'static str = NAME;

    fn options(&self) -> Variant {
        Variant::new().flag(OPTION, self.path_compressed)
    }
}

impl<F: Family> Lookup<F> for Radix<F> {
    #[inline(always)]
    fn lookup_bits(&self, addr: F::Bits) -> Option<NextHopId> {
        lookup::lookup(self, addr)
    }

    fn lookup_batch_with(&self, simd: Simd, addrs: &[F::Bits], out: &mut [Option<NextHopId>]) {
        batch::lookup_batch(self, simd, addrs, answers_for(addrs, out));
    }

    fn memory_usage(&self) -> MemoryUsage {
        [MemoryPart::of_slice("nodes", &self.nodes)].into()
    }
}

impl<F: Family> Structure<F> for Radix<F> {
    const NAME: &'static str = NAME;
    const BATCHES: bool = true;
}

impl<F: Family> Engine<F> for Radix<F> {
    type Config = ();

    fn compile(rib: &Rib<F>, (): &()) -> Result<Self, CompileError> {
        compile::compile(rib)
    }

    fn check(&self, rib: &Rib<F>) -> Result<(), Corrupt> {
        check::check(self, rib)
    }
}

/// Builds the tree that the options name. One bit a level by default.
pub(crate) struct Build;

impl<F: Family> Builder<F> for Build {
    fn build<V: EngineVisitor<F>>(request: &Request<'_, F>, visitor: V) -> Built<F, V> {
        let rib = request.rib;
        let mut options = request.parse(OPTION);
        let path_compressed = options.flag(OPTION);
        options.finish()?;
        if path_compressed {
            request.admit(|| path_compressed::estimate(rib))?;
            return Ok(visitor.visit(PathCompressed::compile(rib, &())?));
        }
        request.admit(|| compile::estimate(&Shape::of(rib)))?;
        Ok(visitor.visit(Radix::compile(rib, &())?))
    }
}
