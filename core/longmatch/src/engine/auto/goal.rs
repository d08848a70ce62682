//! What is required of the engine, and how it reads as options.

use alloc::format;
use core::time::Duration;

use crate::engine::kit::{OptionError, Options, TypedOptions, Variant};
use crate::engine::registry::{AUTO as NAME, EngineSpec};
use crate::mem::parse_bytes;
use crate::simd::{Level, Simd};

/// Whether there is a clock. WebAssembly without a system has none, and the standard library's panics there.
const CLOCK: bool =
    cfg!(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))));

/// How a [trial](Trial) looks addresses up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Usage {
    /// Many addresses a call.
    #[default]
    Batch,
    /// One address a call, each answer awaited before the next call.
    One,
}

/// How often the destinations of a [trial](Trial) repeat.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Locality {
    /// Destinations are spread over the routes.
    #[default]
    Spread,
    /// Few destinations take most of the traffic, as by Zipf's law.
    Few,
}

/// A measurement of the first three engines that hold the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trial {
    /// How long it takes, beside compiling: from 1 ms to 10 s.
    pub time: Duration,
    /// How lookups are made.
    pub usage: Usage,
    /// How often destinations repeat.
    pub traffic: Locality,
    /// The instructions that lookups use; `None` for the best that this CPU has.
    pub level: Option<Level>,
}

impl Default for Trial {
    /// 50 ms of batches.
    fn default() -> Self {
        let (usage, traffic) = (Usage::default(), Locality::default());
        Self { time: Duration::from_millis(50), usage, traffic, level: None }
    }
}

impl Trial {
    /// Checks that the trial is possible: it needs a clock, and the CPU its instructions.
    pub(super) fn check(&self) -> Result<(), OptionError> {
        let level = self.level.is_none_or(|level| Simd::forced(level).is_ok());
        let bounds = Duration::from_millis(1)..=Duration::from_secs(10);
        if CLOCK && level && bounds.contains(&self.time) {
            return Ok(());
        }
        let option = format!("try={}ms", self.time.as_millis());
        Err(OptionError { engine: NAME, option, expected: EXPECTED_TRIAL })
    }
}

/// Requirements on the engine to choose.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AutoGoal {
    /// Limit on the bytes of one family's structure, as [`EngineSpec::memory`]: engines estimate
    /// them before they allocate, without temporary memory of compiling.
    pub memory: Option<u64>,
    /// The measurement that chooses; `None` for the order of the engines alone.
    pub trial: Option<Trial>,
}

const EXPECTED: &str = "memory= and bytes with K, M or G behind, try= and a time such as 50ms; beside \
     try= also use=batch, use=one, traffic=spread, traffic=few, simd= and a level";
const EXPECTED_TRIAL: &str = "try= from 1ms to 10s, in a build with the feature std and a clock, and beside it no \
     simd= that this CPU lacks";

impl TypedOptions for AutoGoal {
    const ENGINE: &'static str = NAME;

    fn options(&self) -> Variant {
        let memory = Variant::new().some("memory", self.memory);
        let Some(trial) = self.trial else { return memory };
        let time = memory.option(&format!("try={}ms", trial.time.as_millis()));
        let usage = time.flag("use=one", trial.usage == Usage::One);
        let traffic = usage.flag("traffic=few", trial.traffic == Locality::Few);
        traffic.some("simd", trial.level.map(Level::name))
    }
}

impl AutoGoal {
    /// Reads the options of a spec and its memory limit; the last option of each kind counts, and
    /// the lower limit.
    ///
    /// # Errors
    /// When an option is not in the table [of options](super), or needs a trial and there is none.
    pub fn of(spec: &EngineSpec) -> Result<Self, OptionError> {
        let mut options = Options::new(NAME, &spec.options, EXPECTED);
        let memory = options.value("memory", parse_bytes);
        let time = options.value("try", parse_time);
        let trial = time.map(|time| {
            let usage = options.choice(&[("use=batch", Usage::Batch), ("use=one", Usage::One)]);
            let traffic = options
                .choice(&[("traffic=spread", Locality::Spread), ("traffic=few", Locality::Few)]);
            let level = options.value("simd", |level| level.parse().ok());
            let (usage, traffic) = (usage.unwrap_or_default(), traffic.unwrap_or_default());
            Trial { time, usage, traffic, level }
        });
        options.finish()?;
        trial.iter().try_for_each(Trial::check)?;
        Ok(Self { memory: memory.into_iter().chain(spec.memory).min(), trial })
    }
}

/// Reads a time such as `50ms` or `2s`.
pub(super) fn parse_time(text: &str) -> Option<Duration> {
    let (digits, unit) = match text.strip_suffix("ms") {
        Some(digits) => (digits, 1),
        None => (text.strip_suffix('s')?, 1000),
    };
    let number: u64 = digits.parse().ok().filter(|_| !digits.starts_with('+'))?;
    number.checked_mul(unit).map(Duration::from_millis)
}
