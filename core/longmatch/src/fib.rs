//! One type for a compiled table of one family, whichever engine compiled it.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use crate::engine::auto::{self, AutoGoal, Choice};
use crate::engine::{Checked, Compiled, EngineSpec, Engines};
use crate::engine::{CompileError, Corrupt, Engine, Keys, LiveEngine, Lookup, Structure};
use crate::mem::MemoryUsage;
use crate::net::{Family, NextHopId};
use crate::rib::Rib;
use crate::simd::Simd;

/// The forwarding information base: routes of one family, compiled for lookups.
///
/// The engine is chosen at run time: by name, or from the table with
/// [`EngineKind::Auto`](crate::EngineKind::Auto).
///
/// A call costs one indirect jump more than a call of the engine's own type; a batch costs one in
/// all.
///
/// ```
/// use longmatch::{EngineKind, Fib, Ipv4, NextHopId, Rib};
/// let mut rib = Rib::<Ipv4>::new();
/// rib.insert("192.0.2.0/24".parse()?, NextHopId::new(5).unwrap())?;
/// let fib = Fib::compile(&rib, EngineKind::Auto)?;
/// assert_eq!(fib.lookup("192.0.2.9".parse()?), NextHopId::new(5));
///
/// let addrs = [0xc000_0201, 0x0a00_0001];
/// let mut hops = [None; 2];
/// fib.lookup_batch(&addrs, &mut hops);
/// assert_eq!(hops, [NextHopId::new(5), None]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Fib<F: Family, E: ?Sized = dyn Checked<F>> {
    engine: Arc<E>,
    family: PhantomData<F>,
}

/// A compiled table that a writer updates while readers use it.
///
/// From [`TableView::ipv4`](crate::TableView::ipv4) and [`TableView::ipv6`](crate::TableView::ipv6).
///
/// ```
/// use longmatch::{EngineKind, Ipv4, LiveFib, Table};
/// let writer = Table::<u32>::new().live(EngineKind::Folio)?;
/// let mut reader = writer.reader();
/// let guard = reader.pin();
/// let fib: &LiveFib<Ipv4> = guard.ipv4();
/// assert_eq!(fib.lookup("10.1.2.3".parse()?), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type LiveFib<F> = Fib<F, dyn Compiled<F>>;

impl<F: Engines> Fib<F> {
    /// Compiles a table. O(routes), plus the time for the engine's structure.
    ///
    /// # Errors
    /// When the family has no such engine, the engine has no such option, or the table exceeds one
    /// of the engine's limits.
    pub fn compile(rib: &Rib<F>, engine: impl Into<EngineSpec>) -> Result<Self, CompileError> {
        Ok(Self { engine: F::build_shared(&engine.into(), rib)?, family: PhantomData })
    }

    /// Compiles a table with the engine that [`EngineKind::Auto`](crate::EngineKind::Auto) chooses,
    /// and says why.
    ///
    /// # Errors
    /// Those of [`auto::compile`].
    #[doc(hidden)]
    pub fn choose(rib: &Rib<F>, goal: &AutoGoal) -> Result<(Choice, Self), CompileError> {
        let (choice, engine) = auto::compile_boxed(rib, goal, auto::Life::Frozen)?;
        Ok((choice, Self { engine: Arc::from(engine), family: PhantomData }))
    }
}

/// Whether a table may take a wider variant of its engine than the one named.
///
/// See [`EngineSpec::wider`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Widen {
    No,
    /// When ids or objects exceed the limits of a narrower variant.
    IfNeeded,
}

impl<F: Engines> Fib<F> {
    /// Compiles one family of a table of both.
    ///
    /// An engine that does not exist for the family is replaced by [`Empty`] if there is no route.
    pub(crate) fn of_family(
        rib: &Rib<F>,
        spec: &EngineSpec,
        widen: Widen,
    ) -> Result<Self, CompileError> {
        let build = |spec: &EngineSpec| F::build_shared(spec, rib);
        let engine = match first_to_hold(spec, widen, build) {
            Err(CompileError::Family { .. }) if rib.is_empty() => Arc::new(Empty),
            built => built?.0,
        };
        Ok(Self { engine, family: PhantomData })
    }
}

impl<F: Engines> LiveFib<F> {
    /// Does the same for updates; a wider variant replaces `spec`.
    pub(crate) fn live_of_family(
        rib: &Rib<F>,
        spec: &mut EngineSpec,
        widen: Widen,
    ) -> Result<LiveEngine<F>, CompileError> {
        match first_to_hold(spec, widen, |spec| F::build_live(spec, rib)) {
            Err(CompileError::Family { .. }) if rib.is_empty() => Ok(LiveEngine::recompiled(Empty)),
            built => {
                let (engine, wide) = built?;
                *spec = wide;
                Ok(engine)
            }
        }
    }
}

/// Builds an engine, or the narrowest of its wider variants that holds the table.
fn first_to_hold<B>(
    spec: &EngineSpec,
    widen: Widen,
    build: impl Fn(&EngineSpec) -> Result<B, CompileError>,
) -> Result<(B, EngineSpec), CompileError> {
    let narrow = |error: &CompileError| {
        matches!(error, CompileError::NextHopTooLarge { .. } | CompileError::TooMany { .. })
    };
    let error = match build(spec) {
        Ok(built) => return Ok((built, spec.clone())),
        Err(error) => error,
    };
    if widen == Widen::No || !narrow(&error) {
        return Err(error);
    }
    let mut wider = spec.wider().into_iter();
    wider.find_map(|wider| Some((build(&wider).ok()?, wider))).ok_or(error)
}

/// The structure of a family without routes, where the engine does not exist for the family.
struct Empty;

impl<F: Family> Lookup<F> for Empty {
    fn lookup_bits(&self, _addr: F::Bits) -> Option<NextHopId> {
        None
    }

    fn memory_usage(&self) -> MemoryUsage {
        MemoryUsage::default()
    }
}

impl<F: Family> Structure<F> for Empty {
    const NAME: &'static str = "empty";
}

impl<F: Family> Engine<F> for Empty {
    type Config = ();

    fn compile(rib: &Rib<F>, _config: &()) -> Result<Self, CompileError> {
        let lacks = CompileError::Family { engine: <Self as Structure<F>>::NAME, family: F::NAME };
        rib.is_empty().then_some(Self).ok_or(lacks)
    }

    fn check(&self, rib: &Rib<F>) -> Result<(), Corrupt> {
        Self::compile(rib, &()).map(drop).map_err(|_| Corrupt {
            engine: <Self as Structure<F>>::NAME,
            what: String::from("there are routes"),
        })
    }
}

impl<F: Family> Clone for Fib<F> {
    /// Both share the compiled table.
    fn clone(&self) -> Self {
        Self { engine: self.engine.clone(), family: PhantomData }
    }
}

impl<F: Family> LiveFib<F> {
    /// The readers' handle on an engine that a writer updates.
    pub(crate) fn shared(engine: Arc<dyn Compiled<F>>) -> Self {
        Self { engine, family: PhantomData }
    }

    /// A weak reference, to test when the engine is dropped.
    #[cfg(test)]
    pub(crate) fn watch(&self) -> alloc::sync::Weak<dyn Compiled<F>> {
        Arc::downgrade(&self.engine)
    }
}

impl<F: Family, E: Compiled<F> + ?Sized> Fib<F, E> {
    /// The next hop of the longest prefix that covers the address.
    pub fn lookup(&self, addr: F::Addr) -> Option<NextHopId> {
        self.lookup_bits(F::bits(addr))
    }

    /// The next hop of the longest prefix that covers an address given as an integer.
    ///
    /// The integer is in host order.
    ///
    /// ```
    /// use longmatch::{EngineKind, Fib, Ipv4, NextHopId, Rib};
    /// let mut rib = Rib::<Ipv4>::new();
    /// rib.insert("192.0.2.0/24".parse()?, NextHopId::new(5).unwrap())?;
    /// let fib = Fib::compile(&rib, EngineKind::Folio)?;
    /// assert_eq!(fib.lookup_bits(0xc000_0209), NextHopId::new(5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lookup_bits(&self, addr: F::Bits) -> Option<NextHopId> {
        self.engine.lookup_one(addr)
    }

    /// Looks up addresses given as integers in host order: `out[i]` answers `addrs[i]`.
    ///
    /// # Panics
    /// When `out` is shorter than `addrs`.
    pub fn lookup_batch(&self, addrs: &[F::Bits], out: &mut [Option<NextHopId>]) {
        self.engine.lookup_batch(addrs, out);
    }

    /// Does the same with a chosen instruction set.
    ///
    /// # Panics
    /// When `out` is shorter than `addrs`.
    pub fn lookup_batch_with(&self, simd: Simd, addrs: &[F::Bits], out: &mut [Option<NextHopId>]) {
        self.engine.lookup_batch_with(simd, addrs, out);
    }

    /// Looks up addresses in any of the layouts of [`Keys`].
    ///
    /// These are slices of integers, of bytes in network order, and of halves of IPv6 addresses.
    /// `out[i]` answers address `i`; entries of `out` after the last address keep their values.
    ///
    /// # Panics
    /// When `out` is shorter than `keys`.
    pub fn lookup_keys<'a>(&self, keys: impl Into<Keys<'a, F>>, out: &mut [Option<NextHopId>]) {
        self.lookup_keys_with(Simd::best(), keys, out);
    }

    /// Does the same with a chosen instruction set.
    ///
    /// # Panics
    /// When `out` is shorter than `keys`.
    pub fn lookup_keys_with<'a>(
        &self,
        simd: Simd,
        keys: impl Into<Keys<'a, F>>,
        out: &mut [Option<NextHopId>],
    ) {
        self.engine.lookup_keys(simd, keys.into(), out);
    }

    /// Looks up addresses one after the other, by the engine's scalar algorithm.
    ///
    /// # Panics
    /// When `out` is shorter than `addrs`.
    #[doc(hidden)]
    pub fn lookup_each(&self, simd: Simd, addrs: &[F::Bits], out: &mut [Option<NextHopId>]) {
        self.engine.lookup_each(simd, addrs, out);
    }

    /// The engine's name.
    pub fn name(&self) -> &'static str {
        self.engine.name()
    }

    /// The options chosen at compile time, such as `s=18`.
    pub fn variant(&self) -> String {
        self.engine.variant()
    }

    /// The memory that lookups read, in bytes by part.
    pub fn memory_usage(&self) -> MemoryUsage {
        self.engine.memory_usage()
    }
}

impl<F: Family> Fib<F> {
    /// A table that exists already: over an image in a file.
    #[cfg(feature = "file")]
    pub(crate) fn of_engine(engine: Arc<dyn Checked<F>>) -> Self {
        Self { engine, family: PhantomData }
    }

    /// The size in bytes of the memory behind each of a lookup's dependent reads.
    ///
    /// Empty for engines that do not report it. See
    /// [`Engine::reads`](crate::engine::Engine::reads).
    #[doc(hidden)]
    pub fn reads(&self) -> Vec<usize> {
        self.engine.reads()
    }

    /// Verifies the structure against its own invariants and the compiled RIB.
    ///
    /// # Errors
    /// The first broken invariant.
    pub fn check(&self, rib: &Rib<F>) -> Result<(), Corrupt> {
        self.engine.check(rib)
    }

    /// The statistics that the engine's paper reports of a structure, in lines of text.
    ///
    /// Empty for engines for which [`Fib::memory_usage`] is complete. `rib` is the compiled RIB.
    #[doc(hidden)]
    pub fn statistics(&self, rib: &Rib<F>) -> Vec<String> {
        self.engine.statistics(rib)
    }
}

impl<F: Family, E: Compiled<F> + ?Sized> fmt::Debug for Fib<F, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fib({} {}, {})", self.name(), self.variant(), self.memory_usage())
    }
}
