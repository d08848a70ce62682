//! SAIL_L (Yang et al., SIGCOMM 2014) for IPv4.
//!
//! Routes are pushed to the levels 16, 24 and 32, each level an array. See the README beside this
//! file.
//!
//! | | |
//! |---|---|
//! | lookup | 1, 2 or 4 words read: BCN16; BN24; C24 and N32 |
//! | compile | O(routes + entries) |
//! | memory | 128 KiB, 1.5 KiB a chunk of level 24, 512 bytes a chunk of level 32 |

mod batch;
mod check;
mod compile;
mod layout;
mod lookup;

pub use layout::Sail;

use alloc::string::String;

use crate::engine::kit::Shape;
use crate::engine::kit::{
    Batch, Builder, Built, CompileError, Corrupt, Descriptor, Engine, EngineVisitor, Form,
    KernelVisitor, Lookup, Request, Structure, TypedOptions, Variant, answers_for,
};
use crate::mem::{MemoryPart, MemoryUsage};
use crate::net::{Ipv4, Ipv6, NextHopId};
use crate::rib::Rib;
use crate::simd::Simd;

pub(super) const NAME: &str = "sail";

/// The registry's entry.
pub(crate) const DESCRIPTOR: Descriptor = Descriptor {
    title: "SAIL",
    year: "2014",
    summary: "arrays at 16, 24 and 32 bits, IPv4 only",
    hue: ["#2a8cc2", "#7fd0f5"],
    order: Some(6),
    variants: [&["batch=each", "batch=flight"], &[], &[]],
    forms: &[Form {
        paper: "Yang et al., SIGCOMM 2014 (SAIL_L)",
        families: "IPv4",
        reads: "1, 2 or 3",
        structure: "arrays at 16, 24 and 32 bits",
        limit: ["32,767 next hops and 32,768 chunks a level", "an error; no wider form exists"],
        ..Form::NEW
    }],
    ..Descriptor::NEW
};

/// Compile-time choices.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Config {
    /// How a batch is looked up: [`Batch::Auto`], gathers where the level has them; [`Batch::Each`];
    /// or [`Batch::Flight`].
    pub batch: Batch,
}

/// The modes of batches that the engine has.
const MODES: &[Batch] = &[Batch::Auto, Batch::Each, Batch::Flight];

impl TypedOptions for Config {
    const ENGINE: &'static str = NAME;

    fn options(&self) -> Variant {
        Variant::new().batch(self.batch)
    }
}

const EXPECTED: &str = "batch=each or batch=flight";

impl Lookup<Ipv4> for Sail {
    #[inline(always)]
    fn lookup_bits(&self, addr: u32) -> Option<NextHopId> {
        lookup::lookup(self, addr)
    }

    fn lookup_batch_with(&self, simd: Simd, addrs: &[u32], out: &mut [Option<NextHopId>]) {
        batch::lookup_batch(self, simd, addrs, answers_for(addrs, out));
    }

    fn memory_usage(&self) -> MemoryUsage {
        [
            MemoryPart::of_slice("entries of BCN16", &self.bcn16),
            MemoryPart::of_slice("entries of BN24", &self.bn24),
            MemoryPart::of_slice("entries of C24", &self.c24),
            MemoryPart::of_slice("entries of N32", &self.n32),
        ]
        .into()
    }
}

impl Structure<Ipv4> for Sail {
    const NAME: &'static str = NAME;
    const BATCHES: bool = true;

    fn variant(&self) -> String {
        Variant::new().batch(self.batch).finish()
    }
}

impl Engine<Ipv4> for Sail {
    type Config = Config;

    fn compile(rib: &Rib<Ipv4>, config: &Config) -> Result<Self, CompileError> {
        compile::compile(rib, config)
    }

    fn check(&self, rib: &Rib<Ipv4>) -> Result<(), Corrupt> {
        check::check(self, rib)
    }
}

/// Builder for the registry.
pub(crate) struct Build;

impl Builder<Ipv4> for Build {
    fn build<V: EngineVisitor<Ipv4>>(request: &Request<'_, Ipv4>, visitor: V) -> Built<Ipv4, V> {
        let mut options = request.parse(EXPECTED);
        let config = Config { batch: options.batch(MODES) };
        options.finish()?;
        request.admit(|| compile::estimate(&Shape::of(request.rib)))?;
        Ok(visitor.visit(Sail::compile(request.rib, &config)?))
    }

    fn kernels(visitor: &mut impl KernelVisitor<Ipv4>) {
        visitor.visit::<Sail>();
    }
}

impl Builder<Ipv6> for Build {
    const EXISTS: bool = false;
}

#[cfg(test)]
mod tests;
