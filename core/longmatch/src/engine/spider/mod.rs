//! Spider (Ueno, Nakamura, Kuga and Esaki, IEEE Access 2020).
//!
//! A state-jump table, one row of 256 entries a trie node, designed for gather instructions. See the
//! README beside this file.
//!
//! | | |
//! |---|---|
//! | lookup | 1 + (width - 16) / 8 entry reads at most, no other work; 16 and more addresses at once |
//! | words read by a lookup | 3; IPv6: 15 |
//! | compile | O(routes + 2^16 + 256 x rows) |
//! | memory | 257 KiB + 1 KiB a row (twice that with 64-bit entries) |
//!
//! A frozen table is updated the paper's way, in batches (section III-C): compile again aside, then
//! swap the tables.

mod batch;
mod check;
mod compile;
mod layout;
mod lookup;

#[doc(hidden)]
pub use layout::Entry;
pub use layout::Spider;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

use crate::engine::kit::Shape;
use crate::engine::kit::{
    Builder, Built, CompileError, Corrupt, Descriptor, Engine, EngineVisitor, Form, KernelVisitor,
    Lookup, Request, Structure, TypedOptions, Variant, answers_for,
};
use crate::mem::{MemoryPart, MemoryUsage};
use crate::net::{Family, NextHopId};
use crate::rib::Rib;
use crate::simd::Simd;
use layout::{DIRECT, DIRECT_ENTRIES, ROW};

pub(super) const NAME: &str = "spider";

/// The registry's entry.
pub(crate) const DESCRIPTOR: Descriptor = Descriptor {
    title: "Spider",
    year: "2020",
    summary: "rows of 256 entries, for gather instructions",
    hue: ["#a8488a", "#d982bd"],
    order: Some(4),
    wider: &["entry=64"],
    variants: [
        &[
            "ahead",
            "flight=4:entry=64",
            "lanes=5:entry=64",
            "lanes=16:entry=64",
            "ahead:entry=64",
            "lanes=1",
            "lanes=2",
            "lanes=3",
            "lanes=4",
            "lanes=5",
            "lanes=6",
            "lanes=7",
            "lanes=8",
            "lanes=9",
            "lanes=10",
            "lanes=11",
            "lanes=12",
            "lanes=13",
            "lanes=14",
            "lanes=15",
            "lanes=16",
        ],
        &[],
        &[],
    ],
    forms: &[Form {
        paper: "Ueno et al., IEEE Access 2020",
        reads: "one for each 8 bits below /16",
        structure: "rows of 256 entries",
        limit: ["65,535 next hops, 65,279 rows", "an error; `entry=64` reaches further"],
        ..Form::NEW
    }],
    ..Descriptor::NEW
};

/// The kernel that answers a batch. All give the same answers.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Kernel {
    /// The paper's with this many ways, 1 to 16: addresses at a time, each in a lane of AVX2. Up to
    /// eight are one vector (Algorithms 1 and 2), more are two fused loops (section III-B); 16 are
    /// the paper's best, Spider_16w. Without AVX2 the scalar loop.
    Lanes(u8),
    /// Ours: four fused loops, 32 addresses. Below AVX2 groups of 16 without vectors.
    Flight4,
    /// Ours: groups of 512 addresses (AVX2: 256) descend together, and each level's entries are
    /// prefetched before the first is read. Below AVX2 as `Flight4`.
    Ahead,
}

impl Kernel {
    /// The numbers of ways that the paper has.
    const WAYS: RangeInclusive<u8> = 1..=16;

    /// Returns the option that chooses it.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Lanes(ways) => format!("lanes={ways}"),
            Self::Flight4 => "flight=4".into(),
            Self::Ahead => "ahead".into(),
        }
    }

    /// Returns the kernel that an option chooses.
    fn named(option: &str) -> Option<Self> {
        match option {
            "flight=4" => Some(Self::Flight4),
            "ahead" => Some(Self::Ahead),
            _ => {
                let ways = option.strip_prefix("lanes=")?.parse().ok()?;
                Self::WAYS.contains(&ways).then_some(Self::Lanes(ways))
            }
        }
    }

    /// Returns the fastest kernel for a table of this many bytes.
    const fn best(bytes: usize) -> Self {
        if bytes <= CACHED { Self::Flight4 } else { Self::Ahead }
    }
}

/// Largest table, in bytes, for which prefetching does not pay. At 1 MiB it is 30 % slower, at 12
/// MiB equal, at 24 MiB up to twice as fast (Zen 5, L2 cache of 1 MiB).
const CACHED: usize = 8 << 20;

/// Compile-time choices besides the type of the entries.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Config {
    /// The kernel for batches; the structure does not depend on it. `None` for the fastest at the
    /// table's size.
    pub kernel: Option<Kernel>,
}

impl<F: Family, E: Entry> Lookup<F> for Spider<F, E> {
    #[inline(always)]
    fn lookup_bits(&self, addr: F::Bits) -> Option<NextHopId> {
        lookup::lookup(self, addr)
    }

    fn lookup_batch_with(&self, simd: Simd, addrs: &[F::Bits], out: &mut [Option<NextHopId>]) {
        batch::lookup_batch(self, simd, addrs, answers_for(addrs, out));
    }

    fn memory_usage(&self) -> MemoryUsage {
        let rows = &self.fib[DIRECT + DIRECT_ENTRIES..];
        [
            MemoryPart { name: "EoL row", count: 1, bytes: size_of_val(&self.fib[..ROW]) },
            MemoryPart::of_slice("direct pointing entries", &self.fib[DIRECT..][..DIRECT_ENTRIES]),
            MemoryPart { name: "state-jump rows", count: self.rows(), bytes: size_of_val(rows) },
        ]
        .into()
    }
}

impl<F: Family, E: Entry> Structure<F> for Spider<F, E> {
    const NAME: &'static str = NAME;
    const BATCHES: bool = true;

    fn iterate(
        &self,
        simd: Simd,
        ways: usize,
        lookups: usize,
        generate: impl FnMut() -> [[u32; 8]; 4],
    ) -> Option<u32> {
        let has = matches!(self.kernel, Kernel::Lanes(own) if usize::from(own) == ways);
        has.then(|| batch::iterate(self, simd, ways, lookups, generate))
    }

    fn variant(&self) -> String {
        Variant::new().option(&self.kernel.name()).flag("entry=64", E::BITS == 64).finish()
    }
}

impl<F: Family, E: Entry> Engine<F> for Spider<F, E> {
    type Config = Config;

    fn compile(rib: &Rib<F>, config: &Config) -> Result<Self, CompileError> {
        compile::compile(rib, config)
    }

    /// Direct pointing, then each octet's rows, until these are half of all rows. Addresses of
    /// longer routes go further.
    fn reads(&self) -> Vec<usize> {
        let mut reads = alloc::vec![DIRECT_ENTRIES * size_of::<E>()];
        let mut above = 0;
        for rows in self.rows_by_octet() {
            if 2 * above >= self.rows() {
                break;
            }
            above += rows;
            reads.push(rows * size_of::<[E; ROW]>());
        }
        reads
    }

    fn check(&self, rib: &Rib<F>) -> Result<(), Corrupt> {
        check::check(self, rib)
    }
}

impl TypedOptions for Config {
    const ENGINE: &'static str = NAME;

    /// Entries have 32 bits.
    fn options(&self) -> Variant {
        Variant::new().option(&self.kernel.map(Kernel::name).unwrap_or_default())
    }
}

const EXPECTED: &str = "lanes=1 to lanes=16, flight=4, ahead, entry=32 or entry=64";

/// Builds the variant that the options name.
///
/// Entries are 32 bits wide unless the options ask for 64: a table that exceeds the paper's entry
/// is refused, not silently held in a larger one.
pub(crate) struct Build;

impl<F: Family> Builder<F> for Build {
    fn build<V: EngineVisitor<F>>(request: &Request<'_, F>, visitor: V) -> Built<F, V> {
        let rib = request.rib;
        let mut options = request.parse(EXPECTED);
        let config = Config { kernel: options.read(Kernel::named) };
        let wide = options.choice(&[("entry=32", false), ("entry=64", true)]).unwrap_or(false);
        options.finish()?;
        let entry = if wide { size_of::<u64>() } else { size_of::<u32>() };
        request.admit(|| compile::estimate(&Shape::of(rib), entry))?;
        Ok(if wide {
            visitor.visit(Spider::<F, u64>::compile(rib, &config)?)
        } else {
            visitor.visit(Spider::<F, u32>::compile(rib, &config)?)
        })
    }

    fn kernels(visitor: &mut impl KernelVisitor<F>) {
        visitor.visit::<Spider<F>>();
    }
}

#[cfg(test)]
mod tests;
