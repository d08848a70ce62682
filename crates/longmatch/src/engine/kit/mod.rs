//! What engines share: traits, options, errors, keys in several forms, and tools for tests and
//! checks.

mod batch;
mod build;
pub(crate) mod cost;
mod error;
mod expected;
pub(crate) mod in_flight;
pub(crate) mod keys;
mod options;
mod patch;
mod shape;
mod summary;

pub use batch::Batch;
pub use build::EngineVisitor;
pub(crate) use build::{Builder, Built, Descriptor, Request};
pub(crate) use cost::Candidate;
pub use error::{CompileError, Corrupt, OptionError};
pub(crate) use expected::Expected;
pub use keys::{KeyLayout, Keys};
pub(crate) use options::{Options, Variant};
pub(crate) use patch::{CannotPatch, Patch, WriteSide};
pub use patch::{LiveEngine, Replaced};
pub(crate) use shape::Shape;
pub(crate) use summary::Summary;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Debug;

use crate::mem::MemoryUsage;
use crate::net::{Family, NextHopId};
use crate::rib::Rib;
use crate::simd::{Simd, Work};

/// Answers longest-prefix matches. Object-safe.
///
/// Readers never lock, wait or allocate.
pub trait Lookup<F: Family>: Send + Sync {
    /// Returns the next hop of the longest prefix that covers the address.
    ///
    /// This is the engine's plain algorithm, inlined into the caller and compiled with the caller's
    /// CPU features. Where those are the architecture's baseline (the default of a Rust build),
    /// [`crate::Fib::lookup`] is faster: it uses all instructions that the CPU has.
    fn lookup(&self, addr: F::Bits) -> Option<NextHopId>;

    /// Looks up addresses one by one with [`Lookup::lookup`], compiled for this CPU.
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
    /// # Panics
    /// When `out` is shorter than `keys`.
    fn lookup_keys(&self, simd: Simd, keys: Keys<'_, F>, out: &mut [Option<NextHopId>]) {
        keys::in_blocks(self, simd, keys, out);
    }

    /// Returns the bytes that lookups read, by part in the paper's own terms.
    fn memory_usage(&self) -> MemoryUsage;
}

/// Cuts `out` to the length of `addrs`.
///
/// # Panics
/// When it is shorter.
pub(crate) fn answers_for<'o, A>(
    addrs: &[A],
    out: &'o mut [Option<NextHopId>],
) -> &'o mut [Option<NextHopId>] {
    capacity_for(addrs.len(), out)
}

/// Cuts `out` to as many answers as are needed.
///
/// # Panics
/// When it is shorter.
pub(crate) fn capacity_for(need: usize, out: &mut [Option<NextHopId>]) -> &mut [Option<NextHopId>] {
    let have = out.len();
    assert!(have >= need, "the output holds {have} answers, but there are {need} addresses");
    &mut out[..need]
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
            *out = self.engine.lookup(*addr);
        }
    }
}

/// A lookup structure, in frozen memory or in live memory.
pub trait Structure<F: Family>: Lookup<F> + Sized + 'static {
    /// Name on the command line, in reports and in other languages.
    const NAME: &'static str;
    /// Whether batches have a kernel of their own. Without one, addresses are looked up one by one,
    /// and there is nothing else to verify or to measure.
    const BATCHES: bool = false;

    /// The variant as [`EngineSpec`](crate::EngineSpec) options, such as `s=18`. Empty, the default,
    /// where there is no choice.
    fn variant(&self) -> String {
        String::new()
    }
}

/// A lookup structure that can be compiled from a RIB.
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
    fn reads(&self) -> Vec<usize> {
        Vec::new()
    }

    /// Converts the engine into one that [`crate::live`] changes under readers. An engine that
    /// cannot be patched is compiled again for each commit.
    fn live(self) -> LiveEngine<F> {
        LiveEngine::recompiled(self)
    }

    /// The statistics that the engine's authors report, as lines of text. Empty where
    /// [`Lookup::memory_usage`] is all.
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
        impl<F: Family, S: Lookup<F>> Work for One<'_, F, S> {
            type Output = Option<NextHopId>;
            #[inline(always)]
            fn run(self) -> Option<NextHopId> {
                self.0.lookup(self.1)
            }
        }
        Simd::best().run_scalar(One(self, addr))
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
