//! DIR-24-8-BASIC (Gupta, Lin and McKeown, INFOCOM 1998).
//!
//! A table of all 2^24 first-24-bit values, and groups of 256 entries for longer routes. See the
//! README beside this file.
//!
//! | | |
//! |---|---|
//! | lookup | one read, one more for each 8 bits of the longest route in the address's /24 (IPv4: two at most) |
//! | compile | O(routes + 2^24) |
//! | update | O(entries that the prefix covers + routes inside it) |
//! | words read by a lookup | 2; IPv6: 14 |
//! | memory | 2 (or 4) bytes x (2^24 + 256 x groups) |

mod batch;
mod check;
mod compile;
mod layout;
mod lookup;
mod update;

pub use layout::Dir24_8;
#[doc(hidden)]
pub use layout::Entry;

use alloc::string::String;
use alloc::vec::Vec;

use self::layout::{FIRST_SLOTS, GROUP_SLOTS};
use crate::engine::kit::Shape;
use crate::engine::kit::{
    Builder, Built, CompileError, Corrupt, Descriptor, Engine, EngineVisitor, Form, KernelVisitor,
    LiveEngine, Lookup, Request, Structure, TypedOptions, Variant, answers_for,
};
use crate::mem::{Memory, MemoryPart, MemoryUsage};
use crate::net::{Family, Ipv4, Ipv6, NextHopId};
use crate::rib::Rib;
use crate::simd::Simd;

pub(super) const NAME: &str = "dir24_8";

/// The choices of an [`EngineSpec`](crate::EngineSpec).
///
/// [`Dir24_8`] itself has none besides the type of its entries.
///
/// ```
/// use longmatch::engine::dir24_8;
/// use longmatch::{Fib, Ipv4, Rib};
/// let fib = Fib::compile(&Rib::<Ipv4>::new(), dir24_8::Config { entry: Some(32) })?;
/// assert_eq!(fib.variant(), "entry=32");
/// # Ok::<(), longmatch::CompileError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Config {
    /// Bits of an entry, 16 or 32; `None` for 16 where the table fits them.
    pub entry: Option<u8>,
}

/// The registry's entry.
pub(crate) const DESCRIPTOR: Descriptor = Descriptor {
    title: "DIR-24-8",
    year: "1998",
    summary: "a table of 2^24 entries, and groups of 256",
    hue: ["#00805c", "#2fbf94"],
    order: Some(5),
    slow: true,
    variants: [&["entry=32"], &[], &[]],
    forms: &[Form {
        paper: "Gupta, Lin, McKeown, INFOCOM 1998",
        reads: "1 or 2; IPv6: 1 + one for each 8 bits below /24",
        structure: "2^24 entries, groups of 256",
        changes: "the entries that a prefix covers",
        limit: [
            "16-bit entries: 32,767 next hops, 32,768 groups",
            "takes 32-bit entries by itself; `entry=16` forces an error",
        ],
        ..Form::NEW
    }],
    ..Descriptor::NEW
};

impl TypedOptions for Config {
    const ENGINE: &'static str = NAME;

    fn options(&self) -> Variant {
        Variant::new().some("entry", self.entry)
    }
}

impl<F: Family, E: Entry, M: Memory> Lookup<F> for Dir24_8<F, E, M> {
    #[inline(always)]
    fn lookup_bits(&self, addr: F::Bits) -> Option<NextHopId> {
        self.view().lookup(addr)
    }

    fn lookup_batch_with(&self, simd: Simd, addrs: &[F::Bits], out: &mut [Option<NextHopId>]) {
        batch::lookup_batch(&self.view(), simd, addrs, answers_for(addrs, out));
    }

    fn memory_usage(&self) -> MemoryUsage {
        let part = |name, count, size| MemoryPart { name, count, bytes: count * size };
        [
            part("tbl24 entries", FIRST_SLOTS, size_of::<E>()),
            part("tbl8 groups", self.groups(), GROUP_SLOTS * size_of::<E>()),
        ]
        .into()
    }
}

impl<F: Family, E: Entry, M: Memory> Structure<F> for Dir24_8<F, E, M> {
    const NAME: &'static str = NAME;
    const BATCHES: bool = true;

    fn variant(&self) -> String {
        Variant::new().value("entry", E::BITS).finish()
    }
}

impl<F: Family, E: Entry> Engine<F> for Dir24_8<F, E> {
    type Config = ();

    fn compile(rib: &Rib<F>, (): &()) -> Result<Self, CompileError> {
        compile::compile(rib)
    }

    /// Few IPv4 addresses continue to `tbl8`. The number of groups that an IPv6 address goes
    /// through depends on the address.
    fn reads(&self) -> Vec<usize> {
        if F::WIDTH == 32 { alloc::vec![FIRST_SLOTS * size_of::<E>()] } else { Vec::new() }
    }

    fn live(self) -> LiveEngine<F> {
        update::live(self)
    }

    fn check(&self, rib: &Rib<F>) -> Result<(), Corrupt> {
        check::check([&self.tbl24, &self.tbl8], Vec::new(), rib)
    }
}

/// Builder for the registry.
pub(crate) struct Build;

impl Builder<Ipv4> for Build {
    fn build<V: EngineVisitor<Ipv4>>(request: &Request<'_, Ipv4>, visitor: V) -> Built<Ipv4, V> {
        build(request, visitor)
    }

    fn kernels(visitor: &mut impl KernelVisitor<Ipv4>) {
        visitor.visit::<Dir24_8<Ipv4, u16>>();
    }
}

impl Builder<Ipv6> for Build {
    fn build<V: EngineVisitor<Ipv6>>(request: &Request<'_, Ipv6>, visitor: V) -> Built<Ipv6, V> {
        build(request, visitor)
    }

    fn kernels(visitor: &mut impl KernelVisitor<Ipv6>) {
        visitor.visit::<Dir24_8<Ipv6, u32>>();
    }
}

/// Builds the variant that the options name.
///
/// Without options, 16-bit entries where they hold the table and 32-bit entries otherwise.
fn build<F: Family, V: EngineVisitor<F>>(request: &Request<'_, F>, visitor: V) -> Built<F, V> {
    let rib = request.rib;
    let mut options = request.parse("entry=16 or entry=32");
    let narrow = options.choice(&[("entry=16", true), ("entry=32", false)]);
    options.finish()?;
    let shape = Shape::of(rib);
    let narrow = narrow.unwrap_or_else(|| compile::fits::<F, u16>(rib, &shape).is_ok());
    let entry = if narrow { size_of::<u16>() } else { size_of::<u32>() };
    request.admit(|| compile::estimate(&shape, entry))?;
    Ok(if narrow {
        visitor.visit(Dir24_8::<F, u16>::compile(rib, &())?)
    } else {
        visitor.visit(Dir24_8::<F, u32>::compile(rib, &())?)
    })
}

#[cfg(test)]
mod tests;
