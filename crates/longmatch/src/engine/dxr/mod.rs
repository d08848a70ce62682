//! DXR (Zec, Rizzo and Mikuc, CCR 2012; Zec and Mikuc, SoftCOM 2017).
//!
//! A direct table over the first `K` bits, and below it sorted ranges for a binary search. See the
//! README beside this file.
//!
//! | | |
//! |---|---|
//! | lookup | one direct entry (two in two levels), then log2(ranges of the chunk) range entries |
//! | compile | O(routes + 2^K) |
//! | update | rebuilds the chunks that the prefix covers, or the one that it lies in |
//! | memory | 4 x 2^K bytes (less in two levels), 2 or 4 bytes a range, 16 for IPv6 |

mod batch;
mod check;
mod chunk;
mod compile;
mod direct;
mod layout;
mod lookup;
mod statistics;
mod update;

pub use direct::{Direct, DirectView, FrozenDirect, Levels, MAX_SPLIT_D, Single, Split, Tables};
pub use layout::{Dxr, Format, Long, MAX_K, MIN_K, Original, Wide, Word, Xl};
pub use statistics::{ChunkLengths, Counts, Statistics, chunk_lengths};

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::engine::kit::Shape;
use crate::engine::kit::{
    Builder, CompileError, Corrupt, Descriptor, Engine, EngineVisitor, LiveEngine, Lookup,
    OptionError, Request, Structure, answers_for,
};
use crate::mem::{MemoryPart, MemoryUsage};
use crate::net::{Ipv4, Ipv6, NextHopId};
use crate::rib::Rib;
use crate::simd::Simd;

pub(super) const NAME: &str = "dxr";

/// The registry's entry.
pub(crate) const DESCRIPTOR: Descriptor = Descriptor {
    name: NAME,
    oracle: false,
    wider: &["xl", "hops=k", "hops=k:xl", "wide", "d=22:wide", "d=22:hops=k:wide"],
};

/// Compile-time choices besides the types of format and direct table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Bits that the direct table resolves, or its first level if there are two.
    pub d: u8,
    /// Bits that the second level of the direct table resolves, 0 for one level.
    pub x: u8,
    /// Whether next hops of ranges have the start's spare `K` bits instead of 16.
    pub hops_k: bool,
    /// How a batch is looked up.
    pub batch: Batch,
}

impl Default for Config {
    /// D18R.
    fn default() -> Self {
        Self { d: 18, x: 0, hops_k: false, batch: Batch::default() }
    }
}

/// How a batch is looked up. All give the same answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Batch {
    /// The fastest for the level. For IPv4 with AVX-512, group by group: [`Batch::Line`] where few
    /// addresses have ranges, else [`Batch::Gather`]; otherwise [`Batch::Gather`] where it exists,
    /// and [`Batch::Flight`].
    #[default]
    Auto,
    /// One address at a time, as in the papers.
    Each,
    /// Several binary searches in flight, without vectors.
    Flight,
    /// Binary searches in vector lanes, one gather for each step. From AVX2 on; for IPv6 with
    /// AVX-512.
    Gather,
    /// Gathers for the direct table; then halving down to a cache line of ranges. Those are
    /// compared at once. IPv4 with AVX-512.
    Line,
}

impl Batch {
    const ALL: [(Self, &'static str); 5] = [
        (Self::Auto, "auto"),
        (Self::Each, "each"),
        (Self::Flight, "flight"),
        (Self::Gather, "gather"),
        (Self::Line, "line"),
    ];
}

impl<E: Format, T: Direct> Lookup<E::Family> for Dxr<E, T> {
    #[inline(always)]
    fn lookup(&self, addr: E::Word) -> Option<NextHopId> {
        lookup::lookup(self.view(), addr)
    }

    fn lookup_batch_with(&self, simd: Simd, addrs: &[E::Word], out: &mut [Option<NextHopId>]) {
        batch::lookup_batch(self.view(), simd, addrs, answers_for(addrs, out));
    }

    fn memory_usage(&self) -> MemoryUsage {
        let mut parts = self.direct.memory();
        parts.push(MemoryPart::of_array("words of the range table", &self.ranges));
        MemoryUsage { parts }
    }
}

impl<E: Format, T: Direct> Structure<E::Family> for Dxr<E, T> {
    const NAME: &'static str = NAME;
    const BATCHES: bool = true;

    fn variant(&self) -> String {
        let x = self.direct.x();
        let split = if x == 0 { String::new() } else { format!(":x={x}") };
        let hops = if self.hop_bits == layout::HOP_BITS { "" } else { ":hops=k" };
        let batch = Batch::ALL.iter().find(|(batch, _)| *batch == self.batch);
        let batch = match batch {
            None | Some((Batch::Auto, _)) => String::new(),
            Some((_, name)) => format!(":batch={name}"),
        };
        format!("d={}{split}{}{hops}{batch}", self.k - x, E::OPTION)
    }
}

impl<E: Format, T: FrozenDirect> Engine<E::Family> for Dxr<E, T> {
    type Config = Config;

    fn compile(rib: &Rib<E::Family>, config: &Config) -> Result<Self, CompileError> {
        compile::compile(rib, config)
    }

    fn live(self) -> LiveEngine<E::Family> {
        update::live(self)
    }

    fn check(&self, rib: &Rib<E::Family>) -> Result<(), Corrupt> {
        check::check(&self.slices(), check::Unused::default(), rib)
    }

    fn statistics(&self, rib: &Rib<E::Family>) -> Vec<String> {
        self.report(rib)
    }
}

/// Run-time choices of [`build_ipv4`] and [`build_ipv6`]: [`Config`], and the format.
struct Options {
    config: Config,
    /// `wide` or `xl`: the other format of the family.
    other_format: bool,
}

const EXPECTED: &str = "d=16 to d=22; or two levels d=4 to d=16 and x=1 to x=18, together 16 to \
                        22; wide (IPv4); xl (IPv6); hops=k; batch=each, flight, gather or line";

impl Options {
    fn parse(options: &[String], other_format: &str) -> Result<Self, OptionError> {
        let mut parsed = Self { config: Config::default(), other_format: false };
        let Config { d, x, hops_k, batch } = &mut parsed.config;
        for option in options {
            let error = || OptionError { engine: NAME, option: option.clone(), expected: EXPECTED };
            match option.split_once('=') {
                Some(("d", bits)) => *d = bits.parse().map_err(|_| error())?,
                Some(("x", bits)) => *x = bits.parse().map_err(|_| error())?,
                Some(("hops", "k")) => *hops_k = true,
                Some(("batch", name)) => {
                    let found = Batch::ALL.into_iter().find(|(_, known)| *known == name);
                    *batch = found.ok_or_else(error)?.0;
                }
                None if option == other_format => parsed.other_format = true,
                _ => return Err(error()),
            }
        }
        Ok(parsed)
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
        let Options { config, other_format } = Options::parse(request.options, "wide")?;
        request.admit(|| compile::estimate::<Ipv4>(&Shape::of(rib), &config))?;
        Ok(match (other_format, config.x) {
            (false, 0) => visitor.visit(Dxr::<Original, Single>::compile(rib, &config)?),
            (false, _) => visitor.visit(Dxr::<Original, Split>::compile(rib, &config)?),
            (true, 0) => visitor.visit(Dxr::<Wide, Single>::compile(rib, &config)?),
            (true, _) => visitor.visit(Dxr::<Wide, Split>::compile(rib, &config)?),
        })
    }
}

impl Builder<Ipv6> for Build {
    fn build<V: EngineVisitor<Ipv6>>(
        request: &Request<'_>,
        rib: &Rib<Ipv6>,
        visitor: V,
    ) -> Result<V::Output, CompileError> {
        let Options { config, other_format } = Options::parse(request.options, "xl")?;
        request.admit(|| compile::estimate::<Ipv6>(&Shape::of(rib), &config))?;
        Ok(match (other_format, config.x) {
            (false, 0) => visitor.visit(Dxr::<Long, Single>::compile(rib, &config)?),
            (false, _) => visitor.visit(Dxr::<Long, Split>::compile(rib, &config)?),
            (true, 0) => visitor.visit(Dxr::<Xl, Single>::compile(rib, &config)?),
            (true, _) => visitor.visit(Dxr::<Xl, Split>::compile(rib, &config)?),
        })
    }
}

#[cfg(test)]
mod tests;
