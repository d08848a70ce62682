//! What engines share: traits, options, errors, keys in several forms, and tools for tests and
//! checks.

mod batch;
mod build;
mod descriptor;
mod error;
mod expected;
pub(crate) mod image;
pub(crate) mod in_flight;
pub(crate) mod keys;
mod options;
mod patch;
mod shape;

pub use batch::Batch;
pub(crate) use build::{Builder, Built, Request};
pub use build::{EngineVisitor, KernelVisitor, TypedOptions};
pub use descriptor::{Descriptor, Form};
pub(crate) use error::Size;
pub use error::{CompileError, Corrupt, OptionError};
pub(crate) use expected::Expected;
pub use keys::{KeyLayout, Keys};
pub(crate) use options::{Options, Variant};
pub(crate) use patch::{CannotPatch, Patch, WriteSide};
pub use patch::{LiveEngine, Replaced};
pub(crate) use shape::Shape;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Debug;

use crate::mem::MemoryUsage;
use crate::net::{Family, NextHopId};
pub(crate) use crate::net::{answers_for, capacity_for};
use crate::rib::Rib;
use crate::simd::lanes::{Lanes, LanesWork};
use crate::simd::{Simd, Work};

/// Answers longest-prefix matches. Object-safe.
///
/// Readers never lock, wait or allocate.
///
/// ```
/// use longmatch::engine::{linear::Linear, poptrie::Poptrie};
/// use longmatch::{Engine, Ipv4, Lookup, NextHopId, Rib};
///
/// /// Next hops of some addresses, from any engine.
/// fn hops(engine: &dyn Lookup<Ipv4>, addrs: [u32; 2]) -> [Option<NextHopId>; 2] {
///     let mut hops = [None; 2];
///     engine.lookup_batch(&addrs, &mut hops);
///     hops
/// }
/// let mut rib = Rib::<Ipv4>::new();
/// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap())?;
/// let poptrie: Poptrie<Ipv4> = Poptrie::compile(&rib, &Default::default())?;
/// let addrs = [0x0a01_0203, 0xc000_0201];
/// assert_eq!(hops(&poptrie, addrs), hops(&Linear::compile(&rib, &())?, addrs));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Lookup<F: Family>: Send + Sync {
    /// Returns the next hop of the longest prefix that covers an address given as an integer.
    ///
    /// This is the engine's plain algorithm, inlined into the caller and compiled with the caller's
    /// CPU features. In a baseline build (the default of Rust) use [`crate::Fib::lookup_bits`],
    /// which selects the CPU's best instructions at run time.
    fn lookup_bits(&self, addr: F::Bits) -> Option<NextHopId>;

    /// Returns the next hop of the longest prefix that covers the address.
    ///
    /// [`Lookup::lookup_bits`] of the address as an integer in host order.
    fn lookup(&self, addr: F::Addr) -> Option<NextHopId> {
        self.lookup_bits(F::bits(addr))
    }

    /// Looks up addresses one by one with [`Lookup::lookup_bits`], compiled for this CPU.
    ///
    /// This is the algorithm as the papers measure it. `out[i]` answers `addrs[i]`; entries of
    /// `out` after the last address are unchanged.
    ///
    /// # Panics
    /// When `out` is shorter than `addrs`.
    fn lookup_each(&self, simd: Simd, addrs: &[F::Bits], out: &mut [Option<NextHopId>]) {
        simd.run_scalar(Each { engine: self, addrs, out: answers_for(addrs, out) });
    }

    /// Looks up a batch with at most the given instructions.
    ///
    /// Uses the kernel that suits the structure best. Writes the same answers as
    /// [`Lookup::lookup_each`].
    ///
    /// # Panics
    /// When `out` is shorter than `addrs`.
    fn lookup_batch_with(&self, simd: Simd, addrs: &[F::Bits], out: &mut [Option<NextHopId>]) {
        self.lookup_each(simd, addrs, out);
    }

    /// Looks up a batch with the best instructions of this CPU.
    ///
    /// See [`Lookup::lookup_batch_with`].
    ///
    /// # Panics
    /// When `out` is shorter than `addrs`.
    fn lookup_batch(&self, addrs: &[F::Bits], out: &mut [Option<NextHopId>]) {
        self.lookup_batch_with(Simd::best(), addrs, out);
    }

    /// Looks up a batch in any form of [`Keys`], with at most the given instructions.
    ///
    /// Integers go to [`Lookup::lookup_batch_with`] as they are; other forms are converted in
    /// blocks, unless the engine reads them in place.
    ///
    /// ```
    /// use longmatch::simd::Simd;
    /// use longmatch::{Engine, Ipv4, Keys, Lookup, Rib, engine::poptrie::Poptrie};
    /// let poptrie: Poptrie<Ipv4> = Poptrie::compile(&Rib::new(), &Default::default())?;
    /// let mut hops = [None; 2];
    /// let packets = [[10, 1, 2, 3], [192, 0, 2, 1]];
    /// poptrie.lookup_keys(Simd::best(), Keys::from(&packets), &mut hops);
    /// assert_eq!(hops, [None, None]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// When `out` is shorter than `keys`.
    fn lookup_keys(&self, simd: Simd, keys: Keys<'_, F>, out: &mut [Option<NextHopId>]) {
        keys::in_blocks(self, simd, keys, out);
    }

    /// Returns the bytes that lookups read, by part in the paper's own terms.
    fn memory_usage(&self) -> MemoryUsage;
}

struct Each<'a, F: Family, E: ?Sized> {
    engine: &'a E,
    addrs: &'a [F::Bits],
    out: &'a mut [Option<NextHopId>],
}

impl<F: Family, E: Lookup<F> + ?Sized> Work for Each<'_, F, E> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (addr, out) in self.addrs.iter().zip(self.out) {
            *out = self.engine.lookup_bits(*addr);
        }
    }
}

/// A lookup structure, in frozen memory or in live memory.
///
/// ```
/// use longmatch::engine::poptrie::Poptrie;
/// use longmatch::{Engine, Ipv4, Rib, Structure};
///
/// /// What a report calls a table.
/// fn title<S: Structure<Ipv4>>(table: &S) -> String {
///     format!("{} {}", S::NAME, table.variant())
/// }
/// let poptrie: Poptrie<Ipv4> = Poptrie::compile(&Rib::new(), &Default::default())?;
/// assert_eq!(title(&poptrie), "poptrie s=18");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Structure<F: Family>: Lookup<F> + Sized + 'static {
    /// Name on the command line, in reports and in other languages.
    const NAME: &'static str;
    /// Whether batches have a kernel of their own. Without one, addresses are looked up one by one,
    /// and there is nothing else to verify or to measure.
    #[doc(hidden)]
    const BATCHES: bool = false;
    /// Whether a single lookup has vectors to use: [`Structure::lookup_in`] is another algorithm
    /// than [`Lookup::lookup_bits`].
    #[doc(hidden)]
    const VECTORS: bool = false;

    /// [`Lookup::lookup_bits`] with vectors.
    ///
    /// For code that is compiled for these vectors, as a [`LanesWork`] is.
    #[doc(hidden)]
    #[inline(always)]
    fn lookup_in<L: Lanes>(&self, _lanes: L, addr: F::Bits) -> Option<NextHopId> {
        self.lookup_bits(addr)
    }

    /// Looks up generated keys in iterations of `ways` addresses.
    ///
    /// For measurements: the generator of keys is compiled together with the kernel, so that keys go
    /// from one to the other in registers. `generate` makes the next eight keys, one word of each
    /// after the other; the first word of an address is the most significant, and those of IPv4 have
    /// no other. An iteration uses the first `ways` of as many keys as it needs, and writes its
    /// answers to memory. Returns the exclusive or of the last answer of each iteration, or `None` if
    /// no kernel of the engine has this number of ways.
    #[doc(hidden)]
    fn iterate(
        &self,
        _simd: Simd,
        _ways: usize,
        _lookups: usize,
        _generate: impl FnMut() -> [[u32; 8]; 4],
    ) -> Option<u32> {
        None
    }

    /// The variant as [`EngineSpec`](crate::EngineSpec) options, such as `s=18`. Empty, the default,
    /// where there is no choice.
    fn variant(&self) -> String {
        String::new()
    }
}

/// A lookup structure that can be compiled from a RIB.
///
/// ```
/// use longmatch::engine::{dir24_8::Dir24_8, poptrie::Poptrie};
/// use longmatch::{CompileError, Engine, Ipv4, NextHopId, Rib};
///
/// /// Whether an engine answers every address as the routes do.
/// fn is_sound<E: Engine<Ipv4>>(rib: &Rib<Ipv4>) -> Result<bool, CompileError> {
///     let engine = E::compile(rib, &E::Config::default())?;
///     Ok(engine.check(rib).is_ok())
/// }
/// let mut rib = Rib::<Ipv4>::new();
/// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap())?;
/// assert!(is_sound::<Poptrie<Ipv4>>(&rib)? && is_sound::<Dir24_8<Ipv4>>(&rib)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Engine<F: Family>: Structure<F> {
    /// Compile-time choices.
    type Config: Clone + Debug + Default;

    /// Builds the structure.
    ///
    /// # Errors
    /// When the table exceeds a limit of the structure; never a wrong answer instead.
    fn compile(rib: &Rib<F>, config: &Self::Config) -> Result<Self, CompileError>;

    /// Verifies every invariant of the layout, and every answer against the RIB. O(structure).
    ///
    /// # Errors
    /// The first broken invariant.
    fn check(&self, rib: &Rib<F>) -> Result<(), Corrupt>;

    /// Footprints in bytes of a typical lookup's dependent reads, in order.
    ///
    /// A table that leads on to pages has `[bytes of the table, bytes of the pages]`.
    ///
    /// These are the reads that most lookups of routed addresses make in a batch. Independent
    /// reads, of one cache line or of several, count once; rare reads are left out. Empty where the
    /// number of reads depends too much on the address.
    ///
    /// At most O(structure): measurements compare the engine with as many independent reads.
    #[doc(hidden)]
    fn reads(&self) -> Vec<usize> {
        Vec::new()
    }

    /// Converts the engine into one that [`crate::live`] changes under readers. An engine that
    /// cannot be patched is compiled again for each commit.
    #[doc(hidden)]
    fn live(self) -> LiveEngine<F> {
        LiveEngine::recompiled(self)
    }

    /// The statistics that the engine's authors report, as lines of text. Empty where
    /// [`Lookup::memory_usage`] is all.
    #[doc(hidden)]
    fn statistics(&self, _rib: &Rib<F>) -> Vec<String> {
        Vec::new()
    }
}

/// The object-safe part of [`Structure`]; every structure has it.
pub trait Compiled<F: Family>: Lookup<F> {
    /// [`Structure::NAME`].
    fn name(&self) -> &'static str;
    /// [`Structure::BATCHES`].
    fn batches(&self) -> bool;
    /// [`Structure::variant`].
    fn variant(&self) -> String;
    /// Looks up one address, compiled for the best instructions of this CPU.
    #[must_use]
    fn lookup_one(&self, addr: F::Bits) -> Option<NextHopId>;
}

impl<F: Family, S: Structure<F>> Compiled<F> for S {
    fn name(&self) -> &'static str {
        S::NAME
    }

    fn batches(&self) -> bool {
        S::BATCHES
    }

    fn variant(&self) -> String {
        Structure::variant(self)
    }

    fn lookup_one(&self, addr: F::Bits) -> Option<NextHopId> {
        struct One<'a, F: Family, S>(&'a S, F::Bits);
        impl<F: Family, S: Structure<F>> Work for One<'_, F, S> {
            type Output = Option<NextHopId>;
            #[inline(always)]
            fn run(self) -> Option<NextHopId> {
                self.0.lookup_bits(self.1)
            }
        }
        impl<F: Family, S: Structure<F>> LanesWork for One<'_, F, S> {
            type Output = Option<NextHopId>;
            #[inline(always)]
            fn run<L: Lanes>(self, lanes: L) -> Option<NextHopId> {
                self.0.lookup_in(lanes, self.1)
            }
        }
        let simd = Simd::best();
        let one = One(self, addr);
        let one = if S::VECTORS { simd.run_lanes(one) } else { Err(one) };
        one.unwrap_or_else(|one| simd.run_scalar(one))
    }
}

/// A compiled engine behind a pointer, or why there is none.
pub(crate) type Boxed<F> = Result<Box<dyn Checked<F>>, CompileError>;

/// The object-safe part of [`Engine`]; every engine has it.
pub trait Checked<F: Family>: Compiled<F> {
    /// [`Engine::reads`].
    fn reads(&self) -> Vec<usize>;
    /// [`Engine::check`].
    ///
    /// # Errors
    /// The first broken invariant.
    fn check(&self, rib: &Rib<F>) -> Result<(), Corrupt>;
    /// [`Engine::statistics`].
    fn statistics(&self, rib: &Rib<F>) -> Vec<String>;
    /// [`Engine::live`].
    fn into_live(self: Box<Self>) -> LiveEngine<F>;
}

impl<F: Family, E: Engine<F>> Checked<F> for E {
    fn reads(&self) -> Vec<usize> {
        Engine::reads(self)
    }

    fn check(&self, rib: &Rib<F>) -> Result<(), Corrupt> {
        Engine::check(self, rib)
    }

    fn statistics(&self, rib: &Rib<F>) -> Vec<String> {
        Engine::statistics(self, rib)
    }

    fn into_live(self: Box<Self>) -> LiveEngine<F> {
        Engine::live(*self)
    }
}
