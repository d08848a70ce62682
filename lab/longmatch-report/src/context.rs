//! The context of an experiment: its inputs, values and progress.

use longmatch::{Ipv4, Ipv6, Unsupported};
pub(crate) use longmatch_bench::WRONG;
use longmatch_bench::{
    BenchFamily, KeySource, Measurement, Mode, ROOFLINE, RunConfig, Traffic, Workload,
};

use crate::declaration::{CalledEngine, RunSpec, Skipped, TableChoice, paper};
use crate::engine_set::{EngineSet, Measured};
use crate::experiment::Experiment;
use crate::inputs::{Effort, Inputs, Named, SEED};
use crate::record::{Spread, Value};

/// Bytes in a MiB.
pub(crate) const MIB: f64 = (1 << 20) as f64;

/// The time of a brief rate as a share of the usual time, and the most passes in it.
const BRIEF: f64 = 0.5;
const BRIEF_PASSES: usize = 5;

impl Effort {
    /// Returns the estimated seconds for the rates of this many engines.
    pub(crate) fn rates(&self, engines: usize, brief: bool) -> f64 {
        let passes = (self.passes + 3) as f64 / (self.passes + 1) as f64;
        let share = if brief { BRIEF } else { 1.0 };
        engines as f64 * (self.seconds * share * passes * 1.15 + 0.03)
    }
}

/// The context in which an experiment runs.
pub(crate) struct ExperimentContext<'a> {
    /// The inputs of the report.
    pub inputs: &'a Inputs,
    /// The effort of the report.
    pub effort: Effort,
    pub experiment: &'static Experiment,
    values: Vec<Value>,
    conditions: Vec<[String; 3]>,
    /// Seconds of estimated work done.
    done: f64,
    on_step: &'a mut dyn FnMut(f64),
}

/// A function that measures on a table.
type OnTable<F> = fn(&mut ExperimentContext<'_>, Named<'_, F>) -> Result<(), Skipped>;

/// The tables of an experiment, the estimated seconds of a number of engines on one, and the function that measures.
pub(crate) type Function = (TableChoice, fn(f64, &Effort) -> f64, OnTable<Ipv4>, OnTable<Ipv6>);

/// The cell of a figure that shows a value.
#[derive(Clone, Copy, Default)]
pub(crate) struct FigureCell<'p> {
    pub figure: &'p str,
    /// The run configuration.
    pub run: &'p str,
    /// The position on the axis.
    pub x: Option<f64>,
    /// The position in words.
    pub at: &'p str,
}

impl<'a> ExperimentContext<'a> {
    /// Returns the context of one experiment; `on_step` receives the seconds of estimated work done.
    pub fn new(
        inputs: &'a Inputs,
        effort: Effort,
        experiment: &'static Experiment,
        on_step: &'a mut dyn FnMut(f64),
    ) -> Self {
        Self {
            inputs,
            effort,
            experiment,
            values: Vec::new(),
            conditions: Vec::new(),
            done: 0.0,
            on_step,
        }
    }

    /// Returns the values and the conditions of the figures.
    pub fn finish(self) -> (Vec<Value>, Vec<[String; 3]>) {
        (self.values, self.conditions)
    }

    /// Adds seconds of estimated work to the progress.
    pub fn step(&mut self, seconds: f64) {
        self.done += seconds;
        (self.on_step)(self.done);
    }

    /// Returns the settings of a measurement.
    pub fn setup(&self, run: &RunSpec) -> RunConfig {
        let Effort { seconds, passes, .. } = self.effort;
        let usual = RunConfig { seconds, passes, ..self.brief(run.mode) };
        let usual = if run.brief { self.brief(run.mode) } else { usual };
        RunConfig { batch: run.batch, generate: run.just_in_time, store: run.store, ..usual }
    }

    /// Returns the settings of a brief measurement, as for one of many points.
    pub fn brief(&self, mode: Mode) -> RunConfig {
        let Effort { seconds, passes, .. } = self.effort;
        let (seconds, passes) = (seconds * BRIEF, passes.min(BRIEF_PASSES));
        RunConfig { seconds, passes, pin: true, ..RunConfig::new(mode) }
    }

    /// Prepares a workload; `None` if the traffic has no address of the family.
    pub fn workload<F: BenchFamily>(
        &self,
        set: &EngineSet<'_, F>,
        traffic: &Traffic,
    ) -> Option<Workload<F>> {
        set.comparison.workload_of(
            traffic,
            SEED,
            F::KEYS.min(self.effort.keys),
            self.effort.checked,
        )
    }

    /// Measures all engines of a set and notes their rates.
    pub fn measure<F: BenchFamily>(
        &mut self,
        cell: FigureCell<'_>,
        set: &EngineSet<'_, F>,
        workload: &Workload<F>,
        setup: &RunConfig,
    ) -> Vec<Measured> {
        let all = measured(set, workload, setup);
        for measured in &all {
            self.note(rate_value(cell, set.table, workload, setup, measured));
            if let (Some(roofline), Some(record)) = (&measured.roofline, measured.record()) {
                self.roofline(cell, set.table, measured, roofline, record);
            }
        }
        let timed = all.iter().filter(|it| it.record().is_some()).count();
        let share = setup.seconds / self.effort.seconds;
        self.step(timed as f64 * share * self.effort.rates(1, false));
        self.conditions_of_rates(cell, set, workload, setup);
        all
    }

    /// Notes for all engines of a set why they cannot be measured with a SIMD level.
    pub fn refuse<F: BenchFamily>(
        &mut self,
        cell: FigureCell<'_>,
        set: &EngineSet<'_, F>,
        workload: &Workload<F>,
        setup: &RunConfig,
        unsupported: Unsupported,
    ) {
        for (engine, _) in &set.members {
            let result = Err(unsupported.to_string());
            let measured = Measured { engine: engine.clone(), result, roofline: None };
            let value = rate_value(cell, set.table, workload, setup, &measured);
            self.note(Value { simd: unsupported.level.name().into(), ..value });
        }
    }

    /// Notes the rate of an engine's roofline and the engine's share of it.
    fn roofline<F: BenchFamily>(
        &mut self,
        cell: FigureCell<'_>,
        table: Named<'_, F>,
        measured: &Measured,
        roofline: &Measurement,
        record: &Measurement,
    ) {
        let engine = &measured.engine.name;
        let value = Value {
            engine: format!("roofline of {engine}"),
            mode: "batch".into(),
            ..Value::default()
        };
        self.note(at(cell, table, roofline.rate(value)));
        if let Some((rate, most)) = record.mlps().zip(roofline.mlps()) {
            let name = ("share of the roofline", "%");
            self.count(cell, table, engine, name, 100.0 * rate / most);
        }
    }

    /// States the last rates, which are those of one thread, as latencies.
    pub fn state_latencies(&mut self, count: usize) {
        let first = self.values.len().saturating_sub(count);
        for value in &mut self.values[first..] {
            let ns = |mlps: Option<f64>| mlps.map(|mlps| 1e3 / mlps);
            let Spread { min, q1, q3, max, .. } = value.spread;
            (value.metric, value.unit) = ("latency".into(), "ns".into());
            value.value = ns(value.value);
            value.spread =
                Spread { min: ns(max), q1: ns(q3), q3: ns(q1), max: ns(min), ..Spread::default() };
        }
    }

    /// Records a value beside the paper's.
    pub fn note(&mut self, value: Value) {
        let value = Value { experiment: self.experiment.name.clone(), ..value };
        self.values.push(Value {
            paper: value.paper.or_else(|| paper(&self.experiment.papers, &value)),
            ..value
        });
    }

    /// Notes a quantity of an engine, or the reason why there is none.
    pub fn quantity<F: BenchFamily>(
        &mut self,
        cell: FigureCell<'_>,
        table: Named<'_, F>,
        engine: &CalledEngine,
        (metric, unit): (&str, &str),
        value: Result<f64, String>,
    ) {
        let (engine, alias) = (engine.name.clone(), engine.alias.clone());
        let (metric, unit) = (metric.into(), unit.into());
        let refused = value.as_ref().err().cloned().unwrap_or_default();
        let value =
            Value { engine, alias, metric, unit, value: value.ok(), refused, ..Value::default() };
        self.note(at(cell, table, value));
    }

    /// Notes a count of an engine, or of the table if the engine is empty.
    pub fn count<F: BenchFamily>(
        &mut self,
        cell: FigureCell<'_>,
        table: Named<'_, F>,
        engine: &str,
        name: (&str, &str),
        value: f64,
    ) {
        self.quantity(cell, table, &CalledEngine::new(engine), name, Ok(value));
    }

    /// Notes a condition of a figure, unless it is already noted.
    pub fn condition(&mut self, anchor: &str, name: &str, value: impl Into<String>) {
        let condition = [anchor.to_owned(), name.to_owned(), value.into()];
        if !self.conditions.contains(&condition) {
            self.conditions.push(condition);
        }
    }

    fn conditions_of_rates<F: BenchFamily>(
        &mut self,
        cell: FigureCell<'_>,
        set: &EngineSet<'_, F>,
        workload: &Workload<F>,
        setup: &RunConfig,
    ) {
        let anchor = anchor::<F>(cell.figure, set.table.name);
        let named = |name: &str| match cell.run {
            "" => name.to_owned(),
            run => format!("{name}, {run}"),
        };
        let mut note = |name: &str, value: String| self.condition(&anchor, name, value);
        note("table", about_table(set));
        let routed =
            format!("{}, {:.0} % with a route", workload.traffic(), workload.routed() * 100.0);
        note(&named("traffic"), format!("{routed}, seed {SEED}"));
        let keys = setup.key_source::<F>(workload.traffic());
        note(&named("lookups"), in_words(setup, keys));
        for (engine, _) in set.members.iter().filter(|it| it.0.batch.is_some() && it.0.x.is_none())
        {
            let own = format!("lookups of {}", engine.name);
            note(&named(&own), in_words(&engine.config(setup), keys));
        }
        note("passes", format!("{} of {:.0} ms, interleaved", setup.passes, pass_ms(setup)));
        note("answers checked", workload.checked().to_string());
    }
}

fn pass_ms(setup: &RunConfig) -> f64 {
    setup.seconds * 1e3 / (setup.passes + 1) as f64
}

fn in_words(setup: &RunConfig, keys: KeySource) -> String {
    let mode = match setup.mode {
        Mode::One => "one after the other; the CPU may overlap lookups".to_owned(),
        Mode::Batch => format!("in batches of {}", setup.batch),
        Mode::Dependent => "each address depends on the previous answer".to_owned(),
    };
    let keys = match keys {
        KeySource::Array => "keys from an array".to_owned(),
        KeySource::Counter => "keys from a counter in the timed loop".to_owned(),
        generator => format!("keys from a generator in the timed loop ({generator})"),
    };
    format!("{mode}; {keys}")
}

/// Describes the table of a set.
pub(crate) fn about_table<F: BenchFamily>(set: &EngineSet<'_, F>) -> String {
    let (routes, next_hops) = (set.table.rib.len(), set.comparison.next_hops());
    format!("{}: {routes} routes, {next_hops} next hops", set.table.name)
}

/// Returns the anchor of a figure: id, family and table.
pub(crate) fn anchor<F: BenchFamily>(figure: &str, table: &str) -> String {
    format!("{figure}-{}-{table}", F::NAME)
}

/// Returns the value with its position and its table.
pub(crate) fn at<F: BenchFamily>(cell: FigureCell<'_>, table: Named<'_, F>, value: Value) -> Value {
    Value {
        figure: cell.figure.into(),
        run: cell.run.into(),
        x: cell.x.or(value.x),
        at: if cell.at.is_empty() { value.at } else { cell.at.into() },
        table: table.name.into(),
        family: F::NAME.into(),
        routes: table.rib.len() as u64,
        ..value
    }
}

/// Measures a set. A member without a structure or without the mode has a reason instead of a record.
fn measured<F: BenchFamily>(
    set: &EngineSet<'_, F>,
    workload: &Workload<F>,
    setup: &RunConfig,
) -> Vec<Measured> {
    // Members that hold the table are in the order of the comparison, and so are the records of those with the mode.
    let held = set.members.iter().filter(|(_, index)| index.is_ok());
    let configs: Vec<_> = held.map(|(engine, _)| engine.config(setup)).collect();
    let run = set.comparison.run_each(workload, &configs);
    let failed = run.as_ref().err().map(ToString::to_string);
    let mut records = run.unwrap_or_default().into_iter().peekable();
    let mut result = |engine: &CalledEngine, index: usize| {
        let target = set.comparison.engine(index);
        let record = match target.supports(engine.config(setup).mode) {
            true => records.next(),
            false => None,
        };
        let roofline = records.next_if(|record| record.engine == ROOFLINE);
        match failed.clone().or_else(|| target.failure()) {
            Some(reason) => (Err(reason), roofline),
            None => (record.ok_or_else(|| no_mode(setup.mode)), roofline),
        }
    };
    let measured = |(engine, index): &(CalledEngine, Result<usize, String>)| {
        let (result, roofline) = match index {
            Ok(index) => result(engine, *index),
            Err(reason) => (Err(reason.clone()), None),
        };
        Measured { engine: engine.clone(), result, roofline }
    };
    set.members.iter().map(measured).collect()
}

/// Returns the reason why a peer has no rate in a mode.
fn no_mode(mode: Mode) -> String {
    match mode {
        Mode::Batch => "has no function for many addresses".into(),
        Mode::One => "has no function for one address".into(),
        Mode::Dependent => "has no dependent lookups".into(),
    }
}

fn rate_value<F: BenchFamily>(
    cell: FigureCell<'_>,
    table: Named<'_, F>,
    workload: &Workload<F>,
    setup: &RunConfig,
    measured: &Measured,
) -> Value {
    let (engine, setup) = (&measured.engine, measured.engine.config(setup));
    let value = Value {
        engine: engine.name.clone(),
        alias: engine.alias.clone(),
        x: engine.x,
        at: engine.at.clone(),
        traffic: workload.traffic().name().into(),
        keys: setup.key_source::<F>(workload.traffic()).name().into(),
        mode: setup.mode.name().into(),
        batch: if setup.mode == Mode::Batch { setup.batch as u64 } else { 1 },
        threads: setup.threads as u64,
        simd: setup.simd.level().name().into(),
        metric: "rate".into(),
        unit: "Mlps".into(),
        ..Value::default()
    };
    let value = at(cell, table, value);
    let variant = measured.record().map(|record| record.title().replace(' ', ":"));
    let variant = variant.filter(|variant| *variant != engine.spec).unwrap_or_default();
    let value = Value { variant, ..value };
    match &measured.result {
        Err(reason) => Value { refused: reason.clone(), ..value },
        Ok(record) => record.rate(value),
    }
}
