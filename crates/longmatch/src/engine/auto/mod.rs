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
//! | `traffic=spread` | destinations are spread over the routes: the default |
//! | `traffic=few` | few destinations take most of the traffic, as by Zipf's law |
//! | `cpu=zen4` | plan for the usual CPU of a [`Microarch`], instead of this CPU |
//! | `calibrate=off` | never measure this CPU, even if the model does not know it |
//! | `try=50ms` | measure the best three for so long (1ms to 10s), and choose the fastest |
//!
//! `try` needs the feature `std`. Its time covers the measurement; compiling the three comes on top,
//! and they exist at the same time.

#[cfg(feature = "std")]
mod trial;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::iter::once;
use core::time::Duration;

pub use crate::engine::kit::cost::{Locality, Usage};

use crate::engine::kit::cost::{Conditions, CpuModel};
use crate::engine::kit::{
    Boxed, CompileError, Engine, EngineVisitor, OptionError, Options, Summary,
};
use crate::engine::registry::{AUTO as NAME, EngineKind, EngineSpec, NamedEngines};
use crate::mem::parse_bytes;
use crate::rib::Rib;
use crate::simd::{Level, Microarch, Simd};

/// The CPU to plan for.
///
/// ```
/// use longmatch::engine::auto::{AutoGoal, PlannedCpu, rank};
/// use longmatch::{Ipv4, Rib};
/// let goal = AutoGoal::parse(&["cpu=zen4".into(), "simd=avx512".into()])?;
/// assert!(matches!(goal.cpu, PlannedCpu::Typical(_)));
/// // The same on every machine.
/// let ranking = rank(&Rib::<Ipv4>::new(), &goal);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PlannedCpu {
    /// This CPU. If its microarchitecture is unknown, the first plan of a process measures it, in at
    /// most 10 ms; never without the feature `std`.
    #[default]
    Here,
    /// This CPU, which is not measured.
    Uncalibrated,
    /// The usual CPU of a microarchitecture.
    Typical(Microarch),
}

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
    /// How often destinations repeat.
    pub traffic: Locality,
    /// The CPU whose caches and costs count.
    pub cpu: PlannedCpu,
    /// Time to measure the best three engines for; `None` to trust the model. From 1 ms to 10 s, and
    /// only with the feature `std`.
    pub trial: Option<Duration>,
}

const EXPECTED: &str = "use=batch, use=one, memory= and bytes with K, M or G behind, simd= and a \
     level, traffic=spread, traffic=few, cpu= and a microarchitecture, calibrate=off, try= and a \
     time such as 50ms";
const EXPECTED_TRIAL: &str = "try= from 1ms to 10s, in a build with the feature std, and beside it no \
     simd= that this CPU lacks";

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
        let traffic =
            options.choice(&[("traffic=spread", Locality::Spread), ("traffic=few", Locality::Few)]);
        let cpu = options.read(|option| match option {
            "calibrate=off" => Some(PlannedCpu::Uncalibrated),
            _ => Microarch::from_name(option.strip_prefix("cpu=")?).map(PlannedCpu::Typical),
        });
        let trial = options.value("try", parse_time);
        options.finish()?;
        let (usage, traffic) = (usage.unwrap_or_default(), traffic.unwrap_or_default());
        let goal = Self { usage, memory, level, traffic, cpu: cpu.unwrap_or_default(), trial };
        goal.check_trial().map(|()| goal)
    }

    /// Checks that the trial is possible, if there is one.
    fn check_trial(&self) -> Result<(), OptionError> {
        let Some(time) = self.trial else { return Ok(()) };
        let level = self.level.is_none_or(|level| Simd::forced(level).is_ok());
        let bounds = Duration::from_millis(1)..=Duration::from_secs(10);
        if cfg!(feature = "std") && level && bounds.contains(&time) {
            return Ok(());
        }
        let option = format!("try={}ms", time.as_millis());
        Err(OptionError { engine: NAME, option, expected: EXPECTED_TRIAL })
    }

    fn conditions(&self) -> Conditions {
        let cpu = match self.cpu {
            PlannedCpu::Here => CpuModel::here(true),
            PlannedCpu::Uncalibrated => CpuModel::here(false),
            PlannedCpu::Typical(microarch) => CpuModel::typical(microarch),
        };
        let level = self.level.unwrap_or_else(|| Simd::best().level());
        Conditions { usage: self.usage, level, traffic: self.traffic, cpu }
    }
}

/// Reads a time such as `50ms` or `2s`.
fn parse_time(text: &str) -> Option<Duration> {
    let (digits, unit) = match text.strip_suffix("ms") {
        Some(digits) => (digits, 1),
        None => (text.strip_suffix('s')?, 1000),
    };
    let number: u64 = digits.parse().ok().filter(|_| !digits.starts_with('+'))?;
    number.checked_mul(unit).map(Duration::from_millis)
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
    /// Cycles a lookup on the planned CPU; meaningful only in comparisons.
    pub cycles: f64,
    /// Bytes of the structure.
    pub bytes: u64,
}

/// Ranks the engines that may be chosen for a table. O(routes).
///
/// Sorted by cycles; engines predicted to exceed the memory limit come last, smallest first.
/// Whether an engine can hold the table shows when it is compiled. The ranking follows from the table,
/// the goal and the [CPU](PlannedCpu) alone; nothing is tried.
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
    ranked::<F>(&Summary::of(rib), goal.memory, &goal.conditions())
}

/// Ranks the engines for the summary of a table.
fn ranked<F: NamedEngines>(
    table: &Summary,
    memory: Option<u64>,
    conditions: &Conditions,
) -> Vec<Prediction> {
    // Newest first: the newer of two engines with equal predictions wins.
    let kinds = EngineKind::ALL.into_iter().rev().filter(|kind| F::has_named(*kind));
    let mut ranking = Vec::new();
    for (kind, engine) in kinds.filter_map(|kind| Some((kind, kind.descriptor()?))) {
        for candidate in engine.candidates {
            let (cycles, bytes) = candidate.estimate(table, conditions);
            let options = candidate.options.iter().copied().map(String::from).collect();
            let spec = EngineSpec { kind, options, memory: None };
            insert(&mut ranking, Prediction { spec, cycles, bytes: bytes as u64 }, memory);
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

/// The chosen engine, and what was tried: see [`compile`].
///
/// ```
/// use longmatch::engine::auto::Choice;
///
/// /// What a report says about a choice.
/// fn reason(choice: &Choice) -> &'static str {
///     if choice.tried.is_empty() { "the model" } else { "a trial" }
/// }
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Choice {
    /// The model's prediction for the chosen engine.
    pub prediction: Prediction,
    /// The engines that were measured, in the order of the model; empty without a
    /// [trial](AutoGoal::trial), or if no address has a route.
    pub tried: Vec<Tried>,
}

/// A measured engine.
///
/// ```
/// use longmatch::EngineKind;
/// use longmatch::engine::auto::Tried;
/// let tried = Tried { spec: EngineKind::Poptrie.into(), nanoseconds: 2.5 };
/// assert_eq!(format!("{}: {} ns", tried.spec, tried.nanoseconds), "poptrie: 2.5 ns");
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Tried {
    /// The engine with its options.
    pub spec: EngineSpec,
    /// Median time of a lookup.
    pub nanoseconds: f64,
}

/// Compiles the first engine of the [ranking](rank) that fits.
///
/// Returns the visitor's output with the choice. Where an engine refuses the table,
/// its [wider](EngineSpec::wider) variants are tried, then the next engine. O(routes), and one
/// compilation for each engine tried, usually one.
///
/// With a [trial](AutoGoal::trial) the best three that fit are compiled and look up routed addresses
/// in turns, in batches or one by one as the goal says. The fastest is chosen and compiled once more,
/// for the visitor. Meanwhile the three tables exist together; the memory limit holds for each.
///
/// ```
/// use longmatch::engine::auto::{AutoGoal, compile};
/// use longmatch::{Engine, EngineVisitor, Ipv4, NextHopId, Rib};
/// struct Bytes;
/// impl EngineVisitor<Ipv4> for Bytes {
///     type Output = usize;
///
///     fn visit<E: Engine<Ipv4>>(self, engine: E) -> usize {
///         engine.memory_usage().bytes()
///     }
/// }
/// let mut rib = Rib::new();
/// rib.insert("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap())?;
/// let goal = AutoGoal { memory: Some(4 << 20), ..AutoGoal::default() };
/// let (choice, bytes) = compile(&rib, &goal, Bytes)?;
/// assert!(bytes <= 4 << 20 && choice.tried.is_empty());
///
/// // `auto:memory=4M:try=1ms`
/// # #[cfg(feature = "std")] {
/// let goal = AutoGoal { trial: Some(std::time::Duration::from_millis(1)), ..goal };
/// let (choice, _) = compile(&rib, &goal, Bytes)?;
/// for tried in choice.tried {
///     println!("{}: {:.1} ns", tried.spec, tried.nanoseconds);
/// }
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`CompileError::Memory`] when no engine fits the memory limit. Without a limit, when every
/// engine refuses the table: the error of the first. [`CompileError::NoEngine`] when none is
/// compiled in for the family. [`CompileError::Option`] when the trial is not possible.
pub fn compile<F: NamedEngines, V: EngineVisitor<F>>(
    rib: &Rib<F>,
    goal: &AutoGoal,
    visitor: V,
) -> Result<(Choice, V::Output), CompileError> {
    goal.check_trial()?;
    let (mut visitor, limit) = (Some(visitor), goal.memory.unwrap_or(u64::MAX));
    let (ranking, tried) = match goal.trial {
        #[cfg(feature = "std")]
        Some(budget) => {
            let (choice, _) = trial::run(rib, goal, budget)?;
            (alloc::vec![choice.prediction], choice.tried)
        }
        _ => (rank(rib, goal), Vec::new()),
    };
    let mut output = None;
    let mut fitting = search(ranking, F::NAME, limit, 1, &mut |spec| {
        let fit = F::build_named(spec, rib, FitVisitor { visitor: &mut visitor, limit })?;
        Ok(fit.map(|fitting| output = Some(fitting)))
    })?;
    let choice = Choice { prediction: fitting.remove(0), tried };
    Ok((choice, output.expect("the search ends with an engine")))
}

/// The result of an attempt to compile an engine: its bytes where they exceed the limit.
type Fit = Result<Result<(), u64>, CompileError>;

/// Makes attempts in the order of a ranking until `count` fit; returns their predictions, at least
/// one.
fn search(
    ranking: Vec<Prediction>,
    family: &'static str,
    limit: u64,
    count: usize,
    attempt: &mut dyn FnMut(&EngineSpec) -> Fit,
) -> Result<Vec<Prediction>, CompileError> {
    let mut smallest: Option<(u64, EngineKind)> = None;
    let (mut refusal, mut fitting) = (None, Vec::new());
    for Prediction { spec, cycles, bytes } in ranking {
        let mut taken = bytes;
        if bytes / MAX_MODEL_ERROR <= limit {
            match first_fit(&spec, attempt) {
                Ok(spec) => {
                    fitting.push(Prediction { spec, cycles, bytes });
                    if fitting.len() == count {
                        break;
                    }
                    continue;
                }
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
    match smallest {
        _ if !fitting.is_empty() => Ok(fitting),
        Some((bytes, kind)) => Err(CompileError::Memory { limit, smallest: kind.name(), bytes }),
        None => Err(refusal.unwrap_or(CompileError::NoEngine { family })),
    }
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

/// [`build`], behind a pointer.
pub(super) fn build_boxed<F: NamedEngines>(spec: &EngineSpec, rib: &Rib<F>) -> Boxed<F> {
    let goal = goal_of(spec)?;
    let limit = goal.memory.unwrap_or(u64::MAX);
    #[cfg(feature = "std")]
    if let Some(budget) = goal.trial {
        return trial::run(rib, &goal, budget).map(|(_, engine)| engine);
    }
    let mut fitting = None;
    search(rank(rib, &goal), F::NAME, limit, 1, &mut |spec| {
        let engine = F::build_boxed(spec, rib)?;
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
