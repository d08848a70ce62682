//! Memory of each engine for a table.

use std::time::Instant;

use longmatch::engine::auto::AutoGoal;
use longmatch::{EngineKind, EngineSpec, Fib, MemoryPart, Rib};
use longmatch_cli::families::CliFamily;
use longmatch_cli::progress::Progress;
use serde::Serialize;

use crate::widen::{Failure, try_wider};

/// One engine, compiled from a table or unable to hold it.
#[derive(Serialize)]
pub struct EngineNumbers {
    /// The engine, as `--engine` takes it.
    pub engine: String,
    /// The form that the engine chose; for `auto`, the chosen engine.
    pub variant: Option<String>,
    /// Whether its lookups scan the table.
    pub oracle: bool,
    /// Bytes of all parts.
    pub bytes: Option<u64>,
    pub parts: Vec<Part>,
    /// Compile time of one run, which is not a measurement.
    pub compile_seconds: Option<f64>,
    /// Statistics that the engine's authors report, in lines; of `auto` its choice before them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub statistics: Vec<String>,
    /// The reason why it cannot hold the table.
    pub error: Option<String>,
}

/// A part of an engine, in its paper's terms.
#[derive(Serialize)]
pub struct Part {
    pub name: &'static str,
    pub count: u64,
    pub bytes: u64,
}

impl From<&MemoryPart> for Part {
    fn from(part: &MemoryPart) -> Self {
        Self { name: part.name, count: part.count as u64, bytes: part.bytes as u64 }
    }
}

/// Compiles the engines one at a time, so that only one takes memory.
pub fn measure<F: CliFamily>(
    rib: &Rib<F>,
    specs: &[EngineSpec],
    named: impl Fn(&EngineSpec) -> bool,
) -> Vec<EngineNumbers> {
    let total = specs.len() as u64;
    let label = format!("compiling {} engines", F::LABEL);
    let mut progress = Progress::new(label, Some(total), "engines");
    let mut all = Vec::with_capacity(specs.len());
    for (spec, done) in specs.iter().zip(0..) {
        progress.set(done);
        all.push(measure_one(rib, spec, named(spec)));
    }
    all
}

fn measure_one<F: CliFamily>(rib: &Rib<F>, spec: &EngineSpec, named: bool) -> EngineNumbers {
    let mut numbers = EngineNumbers {
        engine: spec.to_string(),
        variant: None,
        oracle: spec.kind.is_oracle(),
        bytes: None,
        parts: Vec::new(),
        compile_seconds: None,
        statistics: Vec::new(),
        error: None,
    };
    let start = Instant::now();
    let compile = |spec: &EngineSpec| match spec.kind {
        EngineKind::Auto => Fib::choose(rib, &AutoGoal::of(spec)?)
            .map(|(choice, fib)| (vec![choice.to_string()], fib)),
        _ => Fib::compile(rib, spec.clone()).map(|fib| (Vec::new(), fib)),
    };
    match try_wider::<F, _, _>(spec, named, compile) {
        Ok(widened) => {
            let (choice, fib) = widened.report();
            numbers.compile_seconds = Some(start.elapsed().as_secs_f64());
            let usage = fib.memory_usage();
            numbers.bytes = Some(usage.bytes() as u64);
            numbers.parts = usage.parts.iter().map(Part::from).collect();
            if named {
                numbers.statistics = [choice, fib.statistics(rib)].concat();
            }
            let variant = match spec.kind {
                EngineKind::Auto => format!("{} {}", fib.name(), fib.variant()),
                _ => fib.variant(),
            };
            numbers.variant = Some(variant.trim_end().to_owned()).filter(|it| !it.is_empty());
        }
        Err(error) => numbers.error = Some(error.reason()),
    }
    numbers
}
