//! What engines share: the traits, their options and errors, keys in several forms, and what their
//! tests and checks go by.

mod build;
mod error;
mod expected;
pub(crate) mod keys;
mod patch;
mod shape;

pub use build::EngineVisitor;
pub(crate) use build::{Builder, Descriptor, Request};
pub use error::{CompileError, Corrupt, OptionError};
pub(crate) use expected::Expected;
pub use keys::{Form, Keys};
pub(crate) use patch::{CannotPatch, Patch, WriteSide};
pub use patch::{LiveEngine, Replaced};
pub(crate) use shape::Shape;

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
    /// The next hop of the longest prefix that covers the address.
    ///
    /// This is the engine's plain algorithm, inlined into the caller and compiled with the caller's
    /// CPU features. Where those are the oldest ones of the architecture (the default of a Rust
    /// build), [`crate::Fib::lookup`] is faster: it uses what the CPU has.
    fn lookup(&self, addr: F::Bits) -> Option<NextHopId>;

    /// Many addresses, one after the other with [`Lookup::lookup`], compiled for what the CPU has:
    /// the algorithm as the papers measure it. `out[i]` answers `addrs[i]`; entries of `out` after
    /// the last address stay as they are.
    ///
    /// # Panics
    /// When `out` is shorter than `addrs`.
    fn lookup_each(&self, simd: Simd, addrs: &[F::Bits], out: &mut [Option<NextHopId>]) {
        simd.run(Each { engine: self, addrs, out: answers_for(addrs, out) });
    }

    /// Many addresses at once, in the way that suits the structure best, with no more than the
    /// given instructions. Writes the same answers as [`Lookup::lookup_each`].
    ///
    /// # Panics
    /// When `out` is shorter than `addrs`.
    fn lookup_batch_with(&self, simd: Simd, addrs: &[F::Bits], out: &mut [Option<NextHopId>]) {
        self.lookup_each(simd, addrs, out);
    }

    /// Many addresses at once: [`Lookup::lookup_batch_with`] with the best instructions that the
    /// CPU has.
    ///
    /// # Panics
    /// When `out` is shorter than `addrs`.
    fn lookup_batch(&self, addrs: &[F::Bits], out: &mut [Option<NextHopId>]) {
        self.lookup_batch_with(Simd::best(), addrs, out);
    }

    /// Many addresses in any of the forms of [`Keys`], with no more than the given instructions.
    ///
    /// Integers go to [`Lookup::lookup_batch_with`] as they are; other forms are converted in
    /// blocks, unless the engine reads them in place.
    ///
    /// # Panics
    /// When `out` is shorter than `keys`.
    fn lookup_keys(&self, simd: Simd, keys: Keys<'_, F>, out: &mut [Option<NextHopId>]) {
        keys::in_blocks(self, simd, keys, out);
    }

    /// The bytes that lookups read, by part in the paper's own terms.
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
    room_for(addrs.len(), out)
}

/// Cuts `out` to as many answers as are needed.
///
/// # Panics
/// When it is shorter.
pub(crate) fn room_for(need: usize, out: &mut [Option<NextHopId>]) -> &mut [Option<NextHopId>] {
    let have = out.len();
    assert!(have >= need, "room for {have} answers, but {need} addresses");
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

/// A lookup structure, whether it stays as it was compiled or changes under its readers.
pub trait Structure<F: Family>: Lookup<F> + Sized + 'static {
    /// The name in the command line, the reports and the other languages.
    const NAME: &'static str;
    /// Whether batches have a kernel of their own. Without one they are looked up one address after
    /// the other, and there is nothing else to verify or to measure.
    const BATCHES: bool = false;

    /// The choices made, in the form of [`EngineSpec`](crate::EngineSpec) options, such as `s=18`;
    /// empty where there is nothing to choose.
    fn variant(&self) -> String;
}

/// A lookup structure that can be compiled from a RIB.
pub trait Engine<F: Family>: Structure<F> {
    /// What can be chosen when compiling.
    type Config: Clone + Debug + Default;

    /// Builds the structure.
    ///
    /// # Errors
    /// When the table exceeds a limit of the structure; never a wrong answer instead.
    fn compile(rib: &Rib<F>, config: &Self::Config) -> Result<Self, CompileError>;

    /// Verifies every invariant that the layout states, and that the structure says what the RIB
    /// says. O(structure).
    ///
    /// # Errors
    /// The first broken invariant.
    fn check(&self, rib: &Rib<F>) -> Result<(), Corrupt>;

    /// The reads of a lookup that wait for each other, in order: for each the bytes of what it
    /// reads from. `[bytes of the table, bytes of the pages]` for a table that leads on to pages.
    ///
    /// They are those that most lookups of routed addresses make in a batch. Reads beside each
    /// other, of one cache line or of several, count once; those that few lookups make are left
    /// out. Empty where the engine does not say, as how many there are depends on the address too
    /// much.
    ///
    /// At most O(structure): it is for measurements, which compare the engine with as many reads
    /// of which none waits.
    fn reads(&self) -> Vec<usize> {
        Vec::new()
    }

    /// The engine to be changed under readers by [`crate::live`]. One that cannot be patched is
    /// compiled again for each commit.
    fn live(self) -> LiveEngine<F> {
        LiveEngine::recompiled(self)
    }

    /// What the engine's authors report of a compiled structure, in lines of text; empty where
    /// [`Lookup::memory_usage`] says it all.
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
    /// One address, compiled for the best instructions that the CPU has.
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
        Simd::best().run(One(self, addr))
    }
}

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
}
