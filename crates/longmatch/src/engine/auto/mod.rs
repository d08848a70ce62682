//! Chooses an engine by a model of the cost of each for a table, a CPU and a use.
//!
//! See the README beside this file. [`EngineKind::Auto`] is no engine: compiling it yields the
//! chosen engine, with its own type, name and variant. Its options:
//!
//! | option | meaning |
//! |---|---|
//! | `use=batch` | many addresses a call: the default |
//! | `use=one` | one address a call, each answer awaited before the next call |
//! | `memory=4M` | limit on the bytes of the table (K, M, G: binary) |
//! | `simd=avx2` | choose for CPUs with at most these instructions, instead of this CPU |

use alloc::string::String;
use alloc::vec::Vec;
use core::iter::once;

pub use crate::engine::kit::cost::Usage;

use crate::engine::kit::{
    Boxed, CompileError, Engine, EngineVisitor, OptionError, Options, Summary,
};
use crate::engine::registry::{AUTO as NAME, EngineKind, EngineSpec, NamedEngines};
use crate::mem::parse_bytes;
use crate::rib::Rib;
use crate::simd::{Level, Simd};

/// Requirements on the engine to choose.
///
/// ```
/// use longmatch::engine::auto::{AutoGoal, Usage, rank};
/// use longmatch::{Ipv4, Rib};
/// let goal = AutoGoal { usage: Usage::One, memory: Some(4 << 20), ..AutoGoal::default() };
/// let ranking = rank(&Rib::<Ipv4>::new(), &goal);
/// assert!(ranking[0].bytes <= 4 << 20);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AutoGoal {
    /// How lookups will be made.
    pub usage: Usage,
    /// Limit on the bytes of one family's structure. Counted as in
    /// [`MemoryUsage`](crate::MemoryUsage), without temporary memory of compiling.
    pub memory: Option<u64>,
    /// The instructions that lookups will use; `None` for the best that this CPU has.
    pub level: Option<Level>,
}

const EXPECTED: &str = "use=batch, use=one, memory= and bytes with K, M or G behind, simd= and a \
     level";

impl AutoGoal {
    /// Reads the options of an [`EngineSpec`]; the last of each kind counts.
    ///
    /// ```
    /// use longmatch::engine::auto::AutoGoal;
    /// let goal = AutoGoal::parse(&["use=one".into(), "memory=4M".into()])?;
    /// assert_eq!(goal.memory, Some(4 << 20));
    /// assert!(AutoGoal::parse(&["use=often".into()]).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When an option is not in the table [above](self).
    pub fn parse(options: &[String]) -> Result<Self, OptionError> {
        let mut options = Options::new(NAME, options, EXPECTED);
        let usage = options.choice(&[("use=batch", Usage::Batch), ("use=one", Usage::One)]);
        let memory = options.value("memory", parse_bytes);
        let level = options.value("simd", |level| level.parse().ok());
        options.finish()?;
        Ok(Self { usage: usage.unwrap_or_default(), memory, level })
    }

    fn level(&self) -> Level {
        self.level.unwrap_or_else(|| Simd::best().level())
    }
}

/// The model's prediction for one engine.
///
/// ```
/// use longmatch::engine::auto::{AutoGoal, rank};
/// use longmatch::{Fib, Ipv4, Rib};
/// let rib = Rib::<Ipv4>::new();
/// let best = rank(&rib, &AutoGoal::default()).remove(0);
/// println!("{}: about {} bytes", best.spec, best.bytes);
/// assert_eq!(Fib::compile(&rib, best.spec.clone())?.name(), best.spec.kind.name());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Prediction {
    /// The engine with the proposed options.
    pub spec: EngineSpec,
    /// Cycles a lookup on the fitted CPU; meaningful only in comparisons.
    pub cycles: f64,
    /// Bytes of the structure.
    pub bytes: u64,
}

/// Ranks the engines that may be chosen for a table. O(routes).
///
/// Sorted by cycles; engines predicted to exceed the memory limit come last, smallest first.
/// Whether an engine can hold the table shows when it is compiled.
///
/// ```
/// use longmatch::engine::auto::{AutoGoal, rank};
/// use longmatch::{Ipv4, NextHopId, Rib};
/// let mut rib = Rib::<Ipv4>::new();
/// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap())?;
/// let ranking = rank(&rib, &AutoGoal::default());
/// assert!(ranking.is_sorted_by(|a, b| a.cycles <= b.cycles));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn rank<F: NamedEngines>(rib: &Rib<F>, goal: &AutoGoal) -> Vec<Prediction> {
    let table = Summary::of(rib);
    // Newest first: the newer of two engines with equal predictions wins.
    let kinds = EngineKind::ALL.into_iter().rev().filter(|kind| F::has_named(*kind));
    let mut ranking = Vec::new();
    for (kind, engine) in kinds.filter_map(|kind| Some((kind, kind.descriptor()?))) {
        for candidate in engine.candidates {
            let (cycles, bytes) = candidate.estimate(&table, goal.usage, goal.level());
            let options = candidate.options.iter().copied().map(String::from).collect();
            let spec = EngineSpec { kind, options, memory: None };
            insert(&mut ranking, Prediction { spec, cycles, bytes: bytes as u64 }, goal.memory);
        }
    }
    ranking
}

/// Inserts a prediction behind those that are as good.
fn insert(ranking: &mut Vec<Prediction>, new: Prediction, memory: Option<u64>) {
    let excess = |it: &Prediction| match memory {
        Some(memory) if it.bytes > memory => it.bytes,
        _ => 0,
    };
    let order = |a: &Prediction, b: &Prediction| {
        excess(a).cmp(&excess(b)).then(a.cycles.total_cmp(&b.cycles)).then(a.bytes.cmp(&b.bytes))
    };
    let at = ranking.partition_point(|it| order(it, &new).is_le());
    ranking.insert(at, new);
}

/// Bound on the factor by which the model's bytes are wrong. An engine predicted to exceed the memory
/// limit by this factor is not compiled.
const MAX_MODEL_ERROR: u64 = 8;

/// Compiles the first engine of the [ranking](rank) that fits.
///
/// Returns the visitor's output with the engine's prediction. Where an engine refuses the table,
/// its [wider](EngineSpec::wider) variants are tried, then the next engine. O(routes), and one
/// compilation for each engine tried, usually one.
///
/// ```
/// use longmatch::engine::auto::{AutoGoal, compile};
/// use longmatch::{Engine, EngineVisitor, Ipv4, Rib};
/// struct Bytes;
/// impl EngineVisitor<Ipv4> for Bytes {
///     type Output = usize;
///
///     fn visit<E: Engine<Ipv4>>(self, engine: E) -> usize {
///         engine.memory_usage().bytes()
///     }
/// }
/// let goal = AutoGoal { memory: Some(4 << 20), ..AutoGoal::default() };
/// let (chosen, bytes) = compile(&Rib::new(), &goal, Bytes)?;
/// assert!(bytes <= 4 << 20, "{}", chosen.spec);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`CompileError::Memory`] when no engine fits the memory limit. Without a limit, when every
/// engine refuses the table: the error of the first. [`CompileError::NoEngine`] when none is
/// compiled in for the family.
pub fn compile<F: NamedEngines, V: EngineVisitor<F>>(
    rib: &Rib<F>,
    goal: &AutoGoal,
    visitor: V,
) -> Result<(Prediction, V::Output), CompileError> {
    let (mut visitor, limit) = (Some(visitor), goal.memory.unwrap_or(u64::MAX));
    let mut output = None;
    let prediction = search(rank(rib, goal), F::NAME, limit, &mut |spec| {
        let fit = F::build_named(spec, rib, FitVisitor { visitor: &mut visitor, limit })?;
        Ok(fit.map(|fitting| output = Some(fitting)))
    })?;
    Ok((prediction, output.expect("the search ends with an engine")))
}

/// The result of an attempt to compile an engine: its bytes where they exceed the limit.
type Fit = Result<Result<(), u64>, CompileError>;

/// Makes attempts in the order of a ranking until one fits; returns its prediction.
fn search(
    ranking: Vec<Prediction>,
    family: &'static str,
    limit: u64,
    attempt: &mut dyn FnMut(&EngineSpec) -> Fit,
) -> Result<Prediction, CompileError> {
    let mut smallest: Option<(u64, EngineKind)> = None;
    let mut refusal = None;
    for Prediction { spec, cycles, bytes } in ranking {
        let mut taken = bytes;
        if bytes / MAX_MODEL_ERROR <= limit {
            match first_fit(&spec, attempt) {
                Ok(spec) => return Ok(Prediction { spec, cycles, bytes }),
                Err(Misfit::Bytes(bytes)) => taken = bytes,
                Err(Misfit::Refused(error)) => {
                    refusal.get_or_insert(error);
                    continue;
                }
            }
        }
        if smallest.is_none_or(|(bytes, _)| taken < bytes) {
            smallest = Some((taken, spec.kind));
        }
    }
    Err(match smallest {
        Some((bytes, kind)) => CompileError::Memory { limit, smallest: kind.name(), bytes },
        None => refusal.unwrap_or(CompileError::NoEngine { family }),
    })
}

/// Why a candidate does not fit.
enum Misfit {
    /// It takes this many bytes.
    Bytes(u64),
    /// It cannot hold the table.
    Refused(CompileError),
}

/// A candidate, then its wider variants. Those exist for the engine's default options only.
fn attempts(spec: &EngineSpec) -> impl Iterator<Item = EngineSpec> {
    let wider = if spec.options.is_empty() { spec.wider() } else { Vec::new() };
    once(spec.clone()).chain(wider)
}

/// Compiles the first attempt that holds the table. The error is the candidate's own.
fn first_fit(
    spec: &EngineSpec,
    attempt: &mut dyn FnMut(&EngineSpec) -> Fit,
) -> Result<EngineSpec, Misfit> {
    let mut refusal = None;
    for spec in attempts(spec) {
        match attempt(&spec) {
            Ok(fit) => return fit.map(|()| spec).map_err(Misfit::Bytes),
            Err(error) => refusal = refusal.or(Some(Misfit::Refused(error))),
        }
    }
    Err(refusal.expect("the engine itself was tried"))
}

/// Passes an engine on to a visitor that can be consumed once. An engine that is too large is not
/// passed on; its bytes are returned instead.
struct FitVisitor<'v, V> {
    visitor: &'v mut Option<V>,
    limit: u64,
}

impl<F: NamedEngines, V: EngineVisitor<F>> EngineVisitor<F> for FitVisitor<'_, V> {
    type Output = Result<V::Output, u64>;

    fn visit<E: Engine<F>>(self, engine: E) -> Self::Output {
        let bytes = engine.memory_usage().bytes() as u64;
        if bytes > self.limit {
            return Err(bytes);
        }
        let visitor = self.visitor.take().expect("the first accepted engine ends the search");
        Ok(visitor.visit(engine))
    }
}

/// Reads the options of `auto`, with the lower of both memory limits.
fn goal_of(spec: &EngineSpec) -> Result<AutoGoal, OptionError> {
    let mut goal = AutoGoal::parse(&spec.options)?;
    goal.memory = goal.memory.into_iter().chain(spec.memory).min();
    Ok(goal)
}

/// Builds the engine that the options of `auto` choose, within both memory limits.
pub(super) fn build<F: NamedEngines, V: EngineVisitor<F>>(
    spec: &EngineSpec,
    rib: &Rib<F>,
    visitor: V,
) -> Result<V::Output, CompileError> {
    let (_, output) = compile(rib, &goal_of(spec)?, visitor)?;
    Ok(output)
}

/// [`build`], where `named` builds the other engines.
pub(super) fn build_boxed<F: NamedEngines>(
    spec: &EngineSpec,
    rib: &Rib<F>,
    named: fn(&EngineSpec, &Rib<F>) -> Boxed<F>,
) -> Boxed<F> {
    let goal = goal_of(spec)?;
    let limit = goal.memory.unwrap_or(u64::MAX);
    let mut fitting = None;
    search(rank(rib, &goal), F::NAME, limit, &mut |spec| {
        let engine = named(spec, rib)?;
        let bytes = engine.memory_usage().bytes() as u64;
        if bytes > limit {
            return Ok(Err(bytes));
        }
        fitting = Some(engine);
        Ok(Ok(()))
    })?;
    Ok(fitting.expect("the search ends with an engine"))
}

#[cfg(test)]
mod tests;
