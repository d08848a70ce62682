//! Chooses the engine: Folio, unless a memory limit refuses it; then the smallest that fits.
//!
//! See the README beside this file. [`EngineKind::Auto`] is not an engine: compiling it yields the
//! chosen engine, with its own type, name and variant. Its options:
//!
//! | option | meaning |
//! |---|---|
//! | `memory=4M` | limit on the bytes of the table (K, M, G: binary) |
//! | `try=50ms` | measure the first three that hold the table for so long (1ms to 10s), and choose the fastest |
//! | `use=batch` | of a trial: many addresses a call, the default |
//! | `use=one` | of a trial: one address a call, each answer awaited before the next call |
//! | `traffic=spread` | of a trial: destinations are spread over the routes, the default |
//! | `traffic=few` | of a trial: few destinations take most of the traffic, as by Zipf's law |
//! | `simd=avx2` | of a trial: with at most these instructions |
//!
//! The order is that of the [table of engines](crate#the-engines) without the oracle: about from the
//! fastest to the slowest, of those that are compiled in and exist for the family. The first that can
//! hold the table is chosen. A frozen IPv4 table of at most 64 routes takes a few KiB
//! (`folio:spare=1K`), as a program may have thousands of them.
//!
//! `try` needs the feature `std`. Its time covers the measurement; compiling the three comes on top,
//! and they exist at the same time.

mod goal;
#[cfg(feature = "std")]
mod trial;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

#[doc(hidden)]
pub use goal::{AutoGoal, Locality, Trial, Usage};

use crate::engine::kit::{Boxed, Checked, CompileError, Engine, EngineVisitor, Size};
use crate::engine::registry::{AUTO as NAME, EngineKind, EngineSpec, NamedEngines};
use crate::net::{Family, Ipv4};
use crate::rib::Rib;

/// The engines that may be chosen, in the order of their descriptors: ours, then about from the
/// fastest to the slowest.
fn order() -> impl Iterator<Item = EngineKind> {
    let is_placed = |kind: &EngineKind| kind.descriptor().is_some_and(|it| it.order.is_some());
    EngineKind::in_order().into_iter().filter(is_placed)
}

/// The most routes of a table that are few.
const FEW: usize = 64;
/// The memory of a table of few routes on top of the least: a program may have thousands of them.
const SPARE: &str = "spare=1K";

/// The life of a table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    /// Its routes never change.
    Frozen,
    /// It may grow, from few routes to many.
    Live,
}

/// The chosen engine, and why: see [`compile`].
#[doc(hidden)]
#[derive(Clone, PartialEq, Debug)]
pub struct Choice {
    /// The engine with its options, and the memory limit.
    pub spec: EngineSpec,
    /// Bytes of its structure.
    pub bytes: u64,
    /// Why the first engine of the order cannot be chosen, if it cannot.
    pub refusal: Option<CompileError>,
    /// The engines that were measured, in their order; empty without a [trial](Trial), if only one
    /// fits, and if no address has a route.
    pub tried: Vec<Tried>,
}

impl fmt::Display for Choice {
    /// The chosen engine and why, in one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { spec, bytes, refusal, tried } = self;
        write!(f, "{NAME}: ")?;
        match refusal {
            Some(CompileError::TooLarge { engine, bytes, limit }) => {
                let (bytes, limit) = (Size(*bytes), Size(*limit));
                write!(f, "{engine} may take {bytes}, more than the limit of {limit}; ")?;
            }
            Some(refusal) => write!(f, "{refusal}; ")?,
            None => {}
        }
        write!(f, "{spec}")?;
        if refusal.is_some() {
            write!(f, " takes {}", Size(*bytes))?;
        }
        for (i, Tried { spec, nanoseconds }) in tried.iter().enumerate() {
            let before = if i == 0 { ", the fastest of" } else { "," };
            write!(f, "{before} {spec} ({nanoseconds:.1} ns)")?;
        }
        Ok(())
    }
}

/// A measured engine.
#[doc(hidden)]
#[derive(Clone, PartialEq, Debug)]
pub struct Tried {
    /// The engine with its options.
    pub spec: EngineSpec,
    /// Median time of a lookup.
    pub nanoseconds: f64,
}

/// Compiles the engine that a goal chooses.
///
/// Returns the visitor's output with the choice. The first engine of the [order](self) is chosen.
/// One that cannot hold the table is passed over, after its [wider](EngineSpec::wider) variants. If
/// the memory limit refuses the first that could hold it, every later engine whose estimate keeps
/// the limit is compiled, one at a time, and the smallest is compiled once more. Without a limit that
/// is one compilation.
///
/// With a [trial](Trial) the first three that fit are compiled and look up routed addresses
/// in turns. The fastest is chosen and compiled once more, for the visitor. Meanwhile the three
/// tables exist together; the memory limit holds for each.
///
/// # Errors
/// [`CompileError::Memory`] when no engine fits the memory limit. When every engine refuses the table
/// for another reason: the error of the first. [`CompileError::NoEngine`] when none is
/// compiled in for the family. [`CompileError::Option`] when the trial is not possible.
#[doc(hidden)]
pub fn compile<F: NamedEngines, V: EngineVisitor<F>>(
    rib: &Rib<F>,
    goal: &AutoGoal,
    visitor: V,
) -> Result<(Choice, V::Output), CompileError> {
    let mut visitor = Some(visitor);
    let mut build =
        |spec: &EngineSpec| F::build_named(spec, rib, FitVisitor { spec, visitor: &mut visitor })?;
    match tried(rib, goal)? {
        Some((choice, _)) => {
            let (_, output) = build(&choice.spec)?;
            Ok((choice, output))
        }
        // The visitor may let the table change.
        None => choose(rib, goal.memory, Life::Live, &mut build),
    }
}

/// A choice with its engine.
type Chosen<F> = (Choice, Box<dyn Checked<F>>);

/// [`compile`], behind a pointer.
pub(crate) fn compile_boxed<F: NamedEngines>(
    rib: &Rib<F>,
    goal: &AutoGoal,
    life: Life,
) -> Result<Chosen<F>, CompileError> {
    match tried(rib, goal)? {
        Some(chosen) => Ok(chosen),
        None => choose(rib, goal.memory, life, &mut |spec| boxed(spec, rib)),
    }
}

/// Builds the engine that the options of `auto` choose.
pub(super) fn build<F: NamedEngines, V: EngineVisitor<F>>(
    spec: &EngineSpec,
    rib: &Rib<F>,
    visitor: V,
) -> Result<V::Output, CompileError> {
    let (_, output) = compile(rib, &AutoGoal::of(spec)?, visitor)?;
    Ok(output)
}

/// [`build`], behind a pointer.
pub(super) fn build_boxed<F: NamedEngines>(
    spec: &EngineSpec,
    rib: &Rib<F>,
    life: Life,
) -> Boxed<F> {
    let (_, engine) = compile_boxed(rib, &AutoGoal::of(spec)?, life)?;
    Ok(engine)
}

/// The choice of the trial, if the goal has one.
#[cfg(feature = "std")]
fn tried<F: NamedEngines>(
    rib: &Rib<F>,
    goal: &AutoGoal,
) -> Result<Option<Chosen<F>>, CompileError> {
    let Some(trial) = &goal.trial else { return Ok(None) };
    trial.check()?;
    trial::run(rib, goal.memory, trial).map(Some)
}

/// Refuses a trial: without a clock none is possible.
#[cfg(not(feature = "std"))]
fn tried<F: NamedEngines>(_: &Rib<F>, goal: &AutoGoal) -> Result<Option<Chosen<F>>, CompileError> {
    goal.trial.iter().try_for_each(Trial::check)?;
    Ok(None)
}

/// The engines of the [`order`] that the family has, with a memory limit.
fn candidates<F: NamedEngines>(memory: Option<u64>) -> impl Iterator<Item = EngineSpec> {
    let kinds = order().filter(|kind| F::has_named(*kind));
    kinds.map(move |kind| EngineSpec { memory, ..kind.into() })
}

/// Compiles a spec: its bytes, and whatever is made of the engine. The error is
/// [`CompileError::TooLarge`] if the structure exceeds the limit of the spec.
type Build<'b, T> = &'b mut dyn FnMut(&EngineSpec) -> Result<(u64, T), CompileError>;

/// Chooses by the order and the memory limit: see [`compile`].
fn choose<F: NamedEngines, T>(
    rib: &Rib<F>,
    memory: Option<u64>,
    life: Life,
    build: Build<'_, T>,
) -> Result<(Choice, T), CompileError> {
    let mut refusals = Vec::new();
    let few = life == Life::Frozen && rib.len() <= FEW && F::WIDTH == Ipv4::WIDTH;
    let mut candidates = candidates::<F>(memory).map(|spec| match spec.kind {
        EngineKind::Folio if few => spec.option(SPARE),
        _ => spec,
    });
    for spec in candidates.by_ref() {
        match try_wider(spec, build) {
            Ok((spec, bytes, it)) => return Ok((Choice::of(spec, bytes, refusals), it)),
            Err(refusal) => refusals.push(refusal),
        }
        if let Some(CompileError::TooLarge { .. }) = refusals.last() {
            break;
        }
    }
    // One at a time, so that two tables never exist together.
    let mut measure = |spec: &EngineSpec| Ok((boxed(spec, rib)?.0, ()));
    let mut smallest: Option<(EngineSpec, u64)> = None;
    for spec in candidates {
        match try_wider(spec, &mut measure) {
            Ok((spec, bytes, ())) => {
                if smallest.as_ref().is_none_or(|(_, least)| bytes < *least) {
                    smallest = Some((spec, bytes));
                }
            }
            Err(refusal) => refusals.push(refusal),
        }
    }
    let Some((spec, _)) = smallest else { return Err(none_fits(refusals, F::NAME)) };
    let (bytes, it) = build(&spec)?;
    Ok((Choice::of(spec, bytes, refusals), it))
}

impl Choice {
    /// A choice without a trial, after refusals of other engines in their order.
    fn of(spec: EngineSpec, bytes: u64, refusals: Vec<CompileError>) -> Self {
        Self { spec, bytes, refusal: refusals.into_iter().next(), tried: Vec::new() }
    }
}

/// Compiles an engine, or the narrowest of its wider variants that holds the table. The error is the
/// engine's own. A wider variant is not smaller, so none is tried against a memory limit.
fn try_wider<T>(
    spec: EngineSpec,
    build: Build<'_, T>,
) -> Result<(EngineSpec, u64, T), CompileError> {
    let refusal = match build(&spec) {
        Ok((bytes, it)) => return Ok((spec, bytes, it)),
        Err(refusal @ CompileError::TooLarge { .. }) => return Err(refusal),
        Err(refusal) => refusal,
    };
    let mut wider = spec.wider().into_iter();
    let fit = wider.find_map(|spec| build(&spec).ok().map(|(bytes, it)| (spec, bytes, it)));
    fit.ok_or(refusal)
}

/// The error where every engine refuses the table.
fn none_fits(refusals: Vec<CompileError>, family: &'static str) -> CompileError {
    let smallest = refusals.iter().filter_map(|refusal| match *refusal {
        CompileError::TooLarge { engine, bytes, limit } => Some((bytes, engine, limit)),
        _ => None,
    });
    match smallest.min() {
        Some((bytes, smallest, limit)) => CompileError::Memory { limit, smallest, bytes },
        None => refusals.into_iter().next().unwrap_or(CompileError::NoEngine { family }),
    }
}

/// Compiles a spec behind a pointer.
fn boxed<F: NamedEngines>(
    spec: &EngineSpec,
    rib: &Rib<F>,
) -> Result<(u64, Box<dyn Checked<F>>), CompileError> {
    let engine = F::build_boxed(spec, rib)?;
    Ok((admit(spec, engine.memory_usage().bytes() as u64)?, engine))
}

/// Refuses a structure that exceeds the limit of its spec, although the estimate did not.
fn admit(spec: &EngineSpec, bytes: u64) -> Result<u64, CompileError> {
    match spec.memory {
        Some(limit) if bytes > limit => {
            Err(CompileError::TooLarge { engine: spec.kind.name(), bytes, limit })
        }
        _ => Ok(bytes),
    }
}

/// Passes an engine that fits on to a visitor that can be consumed once.
struct FitVisitor<'v, V> {
    spec: &'v EngineSpec,
    visitor: &'v mut Option<V>,
}

impl<F: NamedEngines, V: EngineVisitor<F>> EngineVisitor<F> for FitVisitor<'_, V> {
    type Output = Result<(u64, V::Output), CompileError>;

    fn visit<E: Engine<F>>(self, engine: E) -> Self::Output {
        let bytes = admit(self.spec, engine.memory_usage().bytes() as u64)?;
        let visitor = self.visitor.take().expect("the first accepted engine ends the choice");
        Ok((bytes, visitor.visit(engine)))
    }
}

#[cfg(test)]
mod tests;
