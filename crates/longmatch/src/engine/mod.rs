//! The lookup engines, what they have in common, and the table that lists them.
//!
//! An engine is derived from a RIB: addresses in, next-hop ids out. Engines do not know each other,
//! nor files, threads or user values; they meet here, in [`crate::Fib`] and in the one test suite.
//! A new engine is a folder beside the others, a variant of [`EngineKind`] and a line in each
//! family's [`Engines::build`].

pub mod linear;
pub mod poptrie;
pub mod radix;
pub mod spider;

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Debug};
use core::str::FromStr;

use crate::addr::{Family, Ipv4, Ipv6};
use crate::error::{CompileError, Corrupt, OptionError, UnknownEngine};
use crate::memory::MemoryUsage;
use crate::next_hop::NextHopId;
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
    let (have, need) = (out.len(), addrs.len());
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

/// A lookup structure that can be compiled from a RIB.
pub trait Engine<F: Family>: Lookup<F> + Sized + 'static {
    /// The name in the command line, the reports and the other languages.
    const NAME: &'static str;
    /// What can be chosen when compiling.
    type Config: Clone + Debug + Default;

    /// Builds the structure.
    ///
    /// # Errors
    /// When the table exceeds a limit of the structure; never a wrong answer instead.
    fn compile(rib: &Rib<F>, config: &Self::Config) -> Result<Self, CompileError>;

    /// The choices made, in the form of [`EngineSpec`] options, such as `s=18`; empty where there
    /// is nothing to choose.
    fn variant(&self) -> String;

    /// Verifies every invariant that the layout states, and that the structure says what the RIB
    /// says. O(structure).
    ///
    /// # Errors
    /// The first broken invariant.
    fn check(&self, rib: &Rib<F>) -> Result<(), Corrupt>;
}

/// The object-safe part of [`Engine`]; every engine has it.
pub trait Compiled<F: Family>: Lookup<F> {
    /// [`Engine::NAME`].
    fn name(&self) -> &'static str;
    /// [`Engine::variant`].
    fn variant(&self) -> String;
    /// [`Engine::check`].
    ///
    /// # Errors
    /// The first broken invariant.
    fn check(&self, rib: &Rib<F>) -> Result<(), Corrupt>;
    /// One address, compiled for the best instructions that the CPU has.
    fn lookup_one(&self, addr: F::Bits) -> Option<NextHopId>;
}

impl<F: Family, E: Engine<F>> Compiled<F> for E {
    fn name(&self) -> &'static str {
        E::NAME
    }

    fn variant(&self) -> String {
        Engine::variant(self)
    }

    fn check(&self, rib: &Rib<F>) -> Result<(), Corrupt> {
        Engine::check(self, rib)
    }

    fn lookup_one(&self, addr: F::Bits) -> Option<NextHopId> {
        struct One<'a, F: Family, E>(&'a E, F::Bits);
        impl<F: Family, E: Lookup<F>> Work for One<'_, F, E> {
            type Output = Option<NextHopId>;
            #[inline(always)]
            fn run(self) -> Option<NextHopId> {
                self.0.lookup(self.1)
            }
        }
        Simd::best().run(One(self, addr))
    }
}

/// The engines there are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum EngineKind {
    /// [`linear::Linear`].
    Linear,
    /// [`radix::Radix`].
    Radix,
    /// [`poptrie::Poptrie`].
    Poptrie,
    /// [`spider::Spider`].
    Spider,
}

impl EngineKind {
    /// Every engine, the oracle first.
    pub const ALL: [Self; 4] = [Self::Linear, Self::Radix, Self::Poptrie, Self::Spider];

    /// The name in the command line, the reports and the other languages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linear => linear::NAME,
            Self::Radix => radix::NAME,
            Self::Poptrie => poptrie::NAME,
            Self::Spider => spider::NAME,
        }
    }

    /// Whether a lookup takes time in proportion to the table. Such an engine is an oracle for
    /// small tables, not something to measure or to sweep a large table with.
    pub const fn is_oracle(self) -> bool {
        matches!(self, Self::Linear)
    }
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for EngineKind {
    type Err = UnknownEngine;

    fn from_str(name: &str) -> Result<Self, UnknownEngine> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| UnknownEngine { name: name.into() })
    }
}

/// An engine with options: `name` or `name:option:option`, for example `poptrie:s=16:basic`.
///
/// What the options mean is the engine's business; an unknown one shows when it is built.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct EngineSpec {
    /// The engine.
    pub kind: EngineKind,
    /// Its options; none means the engine's defaults.
    pub options: Vec<String>,
}

impl From<EngineKind> for EngineSpec {
    fn from(kind: EngineKind) -> Self {
        Self { kind, options: Vec::new() }
    }
}

impl FromStr for EngineSpec {
    type Err = UnknownEngine;

    fn from_str(text: &str) -> Result<Self, UnknownEngine> {
        let mut parts = text.split(':');
        let kind = parts.next().unwrap_or_default().parse()?;
        Ok(Self { kind, options: parts.map(String::from).collect() })
    }
}

impl fmt::Display for EngineSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.kind, f)?;
        self.options.iter().try_for_each(|option| write!(f, ":{option}"))
    }
}

/// Receives a compiled engine as its own type, so that loops around its lookup are compiled
/// for it alone.
pub trait EngineVisitor<F: Family> {
    /// What comes out.
    type Output;

    /// Takes the engine.
    fn visit<E: Engine<F>>(self, engine: E) -> Self::Output;
}

/// A family with its engines: the table of engines.
pub trait Engines: Family {
    /// Whether the engine exists for this family.
    fn has(kind: EngineKind) -> bool;

    /// Compiles the engine that is asked for and hands it to the visitor.
    ///
    /// # Errors
    /// When the family has no such engine, the engine no such option, or the table exceeds a limit
    /// of it.
    fn build<V: EngineVisitor<Self>>(
        spec: &EngineSpec,
        rib: &Rib<Self>,
        visitor: V,
    ) -> Result<V::Output, CompileError>;
}

/// Builds an engine that exists for every family.
fn build_common<F: Family, V: EngineVisitor<F>>(
    spec: &EngineSpec,
    rib: &Rib<F>,
    visitor: V,
) -> Result<V::Output, CompileError> {
    match spec.kind {
        EngineKind::Linear => build_plain::<F, linear::Linear<F>, V>(spec, rib, visitor),
        EngineKind::Radix => build_plain::<F, radix::Radix<F>, V>(spec, rib, visitor),
        EngineKind::Poptrie => poptrie::build(&spec.options, rib, visitor),
        EngineKind::Spider => spider::build(&spec.options, rib, visitor),
    }
}

impl Engines for Ipv4 {
    fn has(_: EngineKind) -> bool {
        true
    }

    fn build<V: EngineVisitor<Self>>(
        spec: &EngineSpec,
        rib: &Rib<Self>,
        visitor: V,
    ) -> Result<V::Output, CompileError> {
        build_common(spec, rib, visitor)
    }
}

impl Engines for Ipv6 {
    fn has(_: EngineKind) -> bool {
        true
    }

    fn build<V: EngineVisitor<Self>>(
        spec: &EngineSpec,
        rib: &Rib<Self>,
        visitor: V,
    ) -> Result<V::Output, CompileError> {
        build_common(spec, rib, visitor)
    }
}

/// Builds an engine that has no options.
fn build_plain<F: Family, E: Engine<F>, V: EngineVisitor<F>>(
    spec: &EngineSpec,
    rib: &Rib<F>,
    visitor: V,
) -> Result<V::Output, CompileError> {
    if let Some(option) = spec.options.first() {
        let expected = "none: this engine has no options";
        return Err(OptionError { engine: E::NAME, option: option.clone(), expected }.into());
    }
    Ok(visitor.visit(E::compile(rib, &E::Config::default())?))
}
