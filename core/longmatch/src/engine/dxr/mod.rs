//! DXR (Zec, Rizzo and Mikuc, CCR 2012; Zec and Mikuc, SoftCOM 2017).
//!
//! A direct table over the first `K` bits, and below it sorted ranges for a binary search. See the
//! README beside this file.
//!
//! | | |
//! |---|---|
//! | lookup | one direct entry (two in two levels), then log2(ranges of the chunk) range entries, with `search=paper` up to twice as many |
//! | words read by a lookup | a direct entry or two, one for each halving of its chunk: 14; IPv6: 16 and more (`xl`) |
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

// The types that a variant is made of, and counts: for experiments. Programs name a variant by a spec.
#[doc(hidden)]
pub use direct::{Direct, FrozenDirect, Single, Split};
pub use layout::Dxr;
#[doc(hidden)]
pub use layout::{Format, Long, Original, Wide, Xl};
#[doc(hidden)]
pub use lookup::{BranchFree, Paper, Search};
#[doc(hidden)]
pub use statistics::{ChunkLengths, Counts, Statistics, chunk_lengths, published_statistics};

use alloc::string::String;
use alloc::vec::Vec;
use core::marker::PhantomData;

use crate::engine::kit::Shape;
use crate::engine::kit::{
    Batch, Builder, Built, CompileError, Corrupt, Descriptor, Engine, EngineVisitor, Form,
    KernelVisitor, LiveEngine, Lookup, OptionError, Request, Structure, TypedOptions, Variant,
    answers_for,
};
use crate::mem::{MemoryPart, MemoryUsage};
use crate::net::{Ipv4, Ipv6, NextHopId};
use crate::rib::Rib;
use crate::simd::Simd;

pub(super) const NAME: &str = "dxr";

/// The registry's entry.
pub(crate) const DESCRIPTOR: Descriptor = Descriptor {
    title: "DXR",
    year: "2012, 2017",
    summary: "a direct table, and ranges for a binary search",
    hue: ["#a86f00", "#e0a52a"],
    order: Some(3),
    slow: true,
    wider: &["xl", "hops=k", "hops=k:xl", "wide", "d=22:wide", "d=22:hops=k:wide"],
    variants: [
        &[
            "d=16:batch=each",
            "d=19:hops=k",
            "d=17:batch=flight",
            "d=10:x=6",
            "d=9:x=8:batch=gather",
            "d=17:hops=k:batch=gather",
            "d=16:batch=line",
            "d=17:search=paper",
        ],
        &["d=16:wide", "d=12:x=5:wide:hops=k", "wide:hops=k:search=paper"],
        &["d=16:xl", "d=12:x=5:xl:hops=k", "xl:hops=k:search=paper:batch=each"],
    ],
    forms: &[Form {
        paper: "Zec, Rizzo, Mikuc, CCR 2012; SoftCOM 2017",
        reads: "1 + a binary search in one chunk",
        structure: "2^K entries, sorted ranges",
        changes: "the chunks that a prefix covers",
        limit: [
            "65,535 next hops; 2^19 range-table words; 4,096 ranges a chunk (IPv6: 8,192)",
            "an error; `hops=k`, `wide` (IPv4) and `xl` (IPv6) reach further",
        ],
        ..Form::NEW
    }],
    ..Descriptor::NEW
};

/// Compile-time choices besides the types of format, direct table and search.
///
/// ```
/// use longmatch::engine::dxr::{Config, Dxr, Original, Split};
/// use longmatch::{Engine, Ipv4, Rib, Structure};
/// // D15X5R of the paper of 2017: K = 20 in two levels.
/// let config = Config { d: 15, x: 5, ..Config::default() };
/// let dxr = Dxr::<Original, Split>::compile(&Rib::<Ipv4>::new(), &config)?;
/// assert_eq!(Structure::variant(&dxr), "d=15:x=5");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Bits that the direct table resolves, or its first level if there are two.
    pub d: u8,
    /// Bits that the second level of the direct table resolves, 0 for one level.
    pub x: u8,
    /// Whether next hops of ranges have the start's spare `K` bits instead of 16.
    pub hops_k: bool,
    /// How a batch is looked up: every mode. [`Batch::Gather`] exists from AVX2 on, for IPv6 with
    /// AVX-512; [`Batch::Line`] for IPv4 with AVX-512. [`Batch::Auto`] is, for IPv4 with AVX-512,
    /// group by group [`Batch::Line`] where few addresses have ranges, else [`Batch::Gather`].
    #[doc(hidden)]
    pub batch: Batch,
}

impl Default for Config {
    /// D18R.
    fn default() -> Self {
        Self { d: 18, x: 0, hops_k: false, batch: Batch::default() }
    }
}

/// The modes of batches that the engine has: all.
const MODES: &[Batch] = &[Batch::Auto, Batch::Each, Batch::Flight, Batch::Gather, Batch::Line];

impl<E: Format, T: Direct, S: Search> Lookup<E::Family> for Dxr<E, T, S> {
    #[inline(always)]
    fn lookup_bits(&self, addr: E::Word) -> Option<NextHopId> {
        lookup::lookup::<_, _, S>(self.view(), addr)
    }

    fn lookup_batch_with(&self, simd: Simd, addrs: &[E::Word], out: &mut [Option<NextHopId>]) {
        if S::BATCHES && self.batch != Batch::Each {
            batch::lookup_batch(&self.view().shared(), simd, addrs, answers_for(addrs, out));
        } else {
            self.lookup_each(simd, addrs, out);
        }
    }

    fn memory_usage(&self) -> MemoryUsage {
        let mut parts = self.direct.memory();
        parts.push(MemoryPart::of_array("words of the range table", &self.ranges));
        MemoryUsage { parts }
    }
}

impl<E: Format, T: Direct, S: Search> Structure<E::Family> for Dxr<E, T, S> {
    const NAME: &'static str = NAME;
    const BATCHES: bool = S::BATCHES;

    fn variant(&self) -> String {
        let x = self.direct.x();
        let format = direct::levels(self.k - x, x).option(E::OPTION);
        let hops_k = self.hop_bits != layout::HOP_BITS;
        format.flag("hops=k", hops_k).option(S::OPTION).batch(self.batch).finish()
    }
}

impl<E: Format, T: FrozenDirect, S: Search> Engine<E::Family> for Dxr<E, T, S> {
    type Config = Config;

    fn compile(rib: &Rib<E::Family>, config: &Config) -> Result<Self, CompileError> {
        if !S::BATCHES {
            config.batch.among(&[Batch::Auto, Batch::Each], NAME, PAPER_EXPECTED)?;
        }
        // The structure is that of every search, so it is compiled by the same code.
        let Dxr { direct, ranges, k, hop_bits, batch, .. } = compile::compile::<E, T>(rib, config)?;
        Ok(Self { direct, ranges, k, hop_bits, batch, types: PhantomData })
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

impl TypedOptions for Config {
    const ENGINE: &'static str = NAME;

    /// The format is the default one.
    fn options(&self) -> Variant {
        let default = Self::default();
        let levels = Variant::new().number("d", self.d, default.d).number("x", self.x, default.x);
        levels.flag("hops=k", self.hops_k).batch(self.batch)
    }
}

const EXPECTED: &str = "d=16 to d=22; or two levels d=4 to d=16 and x=1 to x=18, together 16 to \
                        22; wide (IPv4); xl (IPv6); hops=k; batch=each, flight, gather or line; \
                        search=paper";
const PAPER_EXPECTED: &str = "wide (IPv4); xl (IPv6); hops=k; batch=each; and d=16 to d=22 in one \
                              level, because search=paper looks up one address at a time, and \
                              in one level only";

/// Builder for the registry.
pub(crate) struct Build;

/// Implements [`Builder`] for a family: its first format, and the one that an option chooses. A
/// function generic over the formats would make rustc 1.95 panic when it optimises.
macro_rules! builder {
    ($family:ident, $first:ty, $other:ty) => {
        impl Builder<$family> for Build {
            fn build<V: EngineVisitor<$family>>(
                request: &Request<'_, $family>,
                visitor: V,
            ) -> Built<$family, V> {
                let rib = request.rib;
                let mut options = request.parse(EXPECTED);
                let default = Config::default();
                let [d, x] = ["d", "x"].map(|key| options.number(key, 0..=u8::MAX));
                let config = Config {
                    d: d.unwrap_or(default.d),
                    x: x.unwrap_or(default.x),
                    hops_k: options.flag("hops=k"),
                    batch: options.batch(MODES),
                };
                let other = options.flag(<$other>::OPTION);
                let paper = options.flag(Paper::OPTION);
                options.finish()?;
                direct::check_levels(d, x)?;
                if paper && config.x != 0 {
                    let option = Variant::new().value("x", config.x).finish();
                    return Err(
                        OptionError { engine: NAME, option, expected: PAPER_EXPECTED }.into()
                    );
                }
                request.admit(|| compile::estimate::<$family>(&Shape::of(rib), &config))?;
                macro_rules! visit {
                    ($format:ty) => {
                        match (paper, config.x) {
                            (true, _) => {
                                visitor.visit(Dxr::<$format, Single, Paper>::compile(rib, &config)?)
                            }
                            (_, 0) => visitor.visit(Dxr::<$format>::compile(rib, &config)?),
                            _ => visitor.visit(Dxr::<$format, Split>::compile(rib, &config)?),
                        }
                    };
                }
                Ok(if other { visit!($other) } else { visit!($first) })
            }

            fn kernels(visitor: &mut impl KernelVisitor<$family>) {
                visitor.visit::<Dxr<$first>>();
            }
        }
    };
}

builder!(Ipv4, Original, Wide);
builder!(Ipv6, Long, Xl);

#[cfg(test)]
mod tests;
