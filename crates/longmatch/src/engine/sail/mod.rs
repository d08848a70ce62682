//! SAIL_L (Yang et al., SIGCOMM 2014) for IPv4.
//!
//! Routes are pushed to the levels 16, 24 and 32, each level an array. See the README beside this
//! file.
//!
//! | | |
//! |---|---|
//! | lookup | 1, 2 or 4 reads: BCN16; BN24; C24 and N32 |
//! | compile | O(routes + entries) |
//! | memory | 128 KiB, 1.5 KiB a chunk of level 24, 512 bytes a chunk of level 32 |

mod batch;
mod check;
mod compile;
mod layout;
mod lookup;

pub use layout::{MAX_CHUNKS_24, MAX_CHUNKS_32, MAX_NEXT_HOP, Sail};

use alloc::string::String;

use crate::engine::kit::Shape;
use crate::engine::kit::{
    Builder, CompileError, Corrupt, Descriptor, Engine, EngineVisitor, Lookup, OptionError,
    Request, Structure, answers_for,
};
use crate::mem::{MemoryPart, MemoryUsage};
use crate::net::{Family, Ipv4, Ipv6, NextHopId};
use crate::rib::Rib;
use crate::simd::Simd;

pub(super) const NAME: &str = "sail";

/// The registry's entry.
pub(crate) const DESCRIPTOR: Descriptor = Descriptor { name: NAME, oracle: false, wider: &[] };

/// Compile-time choices.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Config {
    /// How a batch is looked up.
    pub batch: Batch,
}

/// How a batch is looked up. All give the same answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Batch {
    /// The fastest for the level.
    #[default]
    Auto,
    /// One address at a time, as in the paper.
    Each,
    /// Several addresses in flight, level by level, without vectors.
    Flight,
}

impl Lookup<Ipv4> for Sail {
    #[inline(always)]
    fn lookup(&self, addr: u32) -> Option<NextHopId> {
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
        match self.batch {
            Batch::Auto => String::new(),
            Batch::Each => "batch=each".into(),
            Batch::Flight => "batch=flight".into(),
        }
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
    fn build<V: EngineVisitor<Ipv4>>(
        request: &Request<'_>,
        rib: &Rib<Ipv4>,
        visitor: V,
    ) -> Result<V::Output, CompileError> {
        let mut config = Config::default();
        for option in request.options {
            config.batch = match option.as_str() {
                "batch=auto" => Batch::Auto,
                "batch=each" => Batch::Each,
                "batch=flight" => Batch::Flight,
                _ => {
                    let expected = "batch=each or batch=flight";
                    return Err(
                        OptionError { engine: NAME, option: option.clone(), expected }.into()
                    );
                }
            };
        }
        request.admit(|| compile::estimate(&Shape::of(rib)))?;
        Ok(visitor.visit(Sail::compile(rib, &config)?))
    }
}

impl Builder<Ipv6> for Build {
    const EXISTS: bool = false;

    fn build<V: EngineVisitor<Ipv6>>(
        request: &Request<'_>,
        _: &Rib<Ipv6>,
        _: V,
    ) -> Result<V::Output, CompileError> {
        Err(CompileError::Family { engine: request.engine, family: Ipv6::NAME })
    }
}

#[cfg(test)]
mod tests;
