//! Where an experiment is carried out: its inputs, what it notes, and how far it is.

use core::time::Duration;
use std::path::Path;

use longmatch::{CompileError, EngineSpec, Rib};

use super::inputs::{Effort, Inputs, Named};
use super::model::{Cell, Row};
use longmatch_bench::BenchFamily;
use longmatch_bench::Traffic;
use longmatch_bench::Workload;
use longmatch_bench::{BenchTarget, Mode};
use longmatch_bench::{Comparison, RunConfig};
use longmatch_bench::{PeerCommand, PeerEngine};
use longmatch_bench::{ROOFLINE, Record};

/// The seed of all traffic: two reports look up the same addresses.
pub const SEED: u64 = 1;

/// How the reason ends for which an engine that gave wrong answers has no value.
pub(crate) const WRONG: &str = "wrong answers";

/// The share of the usual seconds that values of a long series are measured.
const BRIEF: f64 = 0.5;

/// Seconds that it takes about to measure an engine for so many seconds.
fn per_engine(seconds: f64, passes: usize) -> f64 {
    let passes = (passes + 3) as f64 / (passes + 1) as f64;
    seconds * passes * 1.15 + 0.03
}

impl Effort {
    /// Seconds that it takes about to measure so many engines as [`Desk::setup`] has it.
    pub(crate) fn usual(&self, engines: usize) -> f64 {
        engines as f64 * per_engine(self.seconds, self.passes)
    }

    /// As [`Desk::brief`] has it.
    pub(crate) fn brief(&self, engines: usize) -> f64 {
        engines as f64 * per_engine(self.seconds * BRIEF, self.passes)
    }
}

/// Where an experiment is carried out.
pub(crate) struct Desk<'a> {
    /// What it is about.
    pub inputs: &'a Inputs,
    /// How thorough it is.
    pub effort: Effort,
    /// Its name.
    experiment: &'static str,
    /// What was noted.
    rows: Vec<Row>,
    /// Seconds of estimated work that are done.
    done: f64,
    /// Is told them.
    on_step: &'a mut dyn FnMut(f64),
}

/// An engine that takes part: as it is given to `--engine`, and what the paper calls it and says
/// of it.
#[derive(Clone, Debug)]
pub(crate) struct Entrant {
    /// The engine with its options.
    pub spec: String,
    /// The paper's name for it; empty where it has none.
    pub alias: String,
    /// The paper's value.
    pub paper: Option<f64>,
    /// What the records say is varied where they say nothing else, such as `pages=huge`.
    pub mark: &'static str,
}

impl Entrant {
    /// An engine of which no paper gives a value here.
    pub fn new(spec: impl Into<String>, alias: impl Into<String>) -> Self {
        Self { spec: spec.into(), alias: alias.into(), paper: None, mark: "" }
    }

    /// Engines for which no paper has a name or a value.
    pub fn all(specs: &[&str]) -> Vec<Self> {
        specs.iter().map(|spec| Self::new(*spec, "")).collect()
    }
}

/// What became of an entrant.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    /// Who it is.
    pub entrant: Entrant,
    /// What was measured, or why the engine cannot hold the table.
    pub result: Result<Record, String>,
    /// What the machine can do at best for it, where that was asked for.
    pub limit: Option<Record>,
}

impl Measured {
    /// The median rate in million lookups a second; nothing when there is none.
    pub fn rate(&self) -> Option<f64> {
        self.result.as_ref().ok()?.mlps
    }

    /// The record, if the engine holds the table.
    pub fn record(&self) -> Option<&Record> {
        self.result.as_ref().ok()
    }
}

/// Engines compiled from one table.
pub(crate) struct Field<'r, F: BenchFamily> {
    /// The name of the table.
    pub table: &'r str,
    /// The engines that hold it.
    pub race: Comparison<'r, F>,
    /// All that were to take part: the number of the engine in the race, or why it is not there.
    entrants: Vec<(Entrant, Result<usize, String>)>,
}

impl<'r, F: BenchFamily> Field<'r, F> {
    /// Compiles engines. One that cannot hold the table takes no part, which is shown; where it has
    /// a wider variant that can, that one takes part behind it.
    ///
    /// # Panics
    /// When an entrant is written wrongly, or two are the same engine: the experiment is to be
    /// corrected then.
    pub fn new(table: Named<'r, F>, entrants: &[Entrant]) -> Self {
        Self::entered(table, entrants, |race, _, spec| race.add(spec))
    }

    /// The same, each compiled once only: where the time of compiling is not asked for. Nothing is
    /// said against the same engine twice.
    ///
    /// # Panics
    /// When an entrant is written wrongly.
    pub fn apart(table: Named<'r, F>, entrants: &[Entrant]) -> Self {
        Self::entered(table, entrants, |race, _, spec| race.add_duplicate(spec))
    }

    /// The same with another way to enter an engine in the race, which adds one or fails.
    ///
    /// # Panics
    /// As [`Field::new`].
    pub fn entered(
        table: Named<'r, F>,
        entrants: &[Entrant],
        mut enter: impl FnMut(&mut Comparison<'r, F>, &Entrant, &EngineSpec) -> Result<(), CompileError>,
    ) -> Self {
        let mut it =
            Self { table: table.name, race: Comparison::new(table.rib), entrants: Vec::new() };
        for entrant in entrants {
            let mut spec: EngineSpec = entrant.spec.parse().expect("the name of an engine");
            spec.memory = table.memory;
            let Err(why) = it.enter(entrant, &spec, &mut enter) else { continue };
            it.entrants.push((entrant.clone(), Err(why)));
            let alias = match &entrant.alias[..] {
                "" => String::new(),
                alias => format!("{alias}, modified"),
            };
            for wider in spec.wider() {
                let mark = entrant.mark;
                let modified = Entrant { mark, ..Entrant::new(wider.to_string(), &alias[..]) };
                if it.enter(&modified, &wider, &mut enter).is_ok() {
                    break;
                }
            }
        }
        it
    }

    fn enter(
        &mut self,
        entrant: &Entrant,
        spec: &EngineSpec,
        mut enter: impl FnMut(&mut Comparison<'r, F>, &Entrant, &EngineSpec) -> Result<(), CompileError>,
    ) -> Result<(), String> {
        let place = self.race.len();
        enter(&mut self.race, entrant, spec).map_err(|error| error.to_string())?;
        assert!(self.race.len() > place, "{spec} is there twice");
        self.entrants.push((entrant.clone(), Ok(place)));
        Ok(())
    }

    /// Starts a peer, which takes part behind the others if it can hold the table; what it says
    /// that it is.
    pub fn enter_peer(
        &mut self,
        command: &PeerCommand,
        dir: &Path,
        limit: Duration,
    ) -> Option<String> {
        let entrant = Entrant::new(&command.name[..], "");
        match PeerEngine::new(command, dir, limit, self.race.rib()) {
            Ok(peer) => {
                let about = peer.about().to_owned();
                self.entrants.push((entrant, Ok(self.race.len())));
                self.race.add_peer(peer);
                Some(about)
            }
            Err(error) => {
                self.leave_out(entrant, error.to_string());
                None
            }
        }
    }

    /// An entrant that takes no part, and why.
    pub fn leave_out(&mut self, entrant: Entrant, why: String) {
        self.entrants.push((entrant, Err(why)));
    }

    /// Why an engine cannot hold the table, if so.
    pub fn refusal(&self, spec: &str) -> Option<String> {
        let found = self.entrants.iter().find(|(entrant, _)| entrant.spec == spec);
        found.and_then(|(_, place)| place.clone().err())
    }

    /// From now on these are the paper's values of the engines.
    pub fn set_papers(&mut self, papers: &[(&str, f64)]) {
        for (entrant, _) in &mut self.entrants {
            let own = papers.iter().find(|(spec, _)| *spec == entrant.spec);
            entrant.paper = own.map(|(_, value)| *value);
        }
    }

    /// Every entrant with its engine; none where it cannot hold the table.
    pub fn engines(&self) -> impl Iterator<Item = (&Entrant, Option<&dyn BenchTarget<F>>)> {
        self.entrants.iter().map(|(entrant, place)| {
            (entrant, place.as_ref().ok().map(|place| self.race.engine(*place)))
        })
    }
}

impl<'a> Desk<'a> {
    /// For one experiment.
    pub fn new(
        inputs: &'a Inputs,
        effort: Effort,
        experiment: &'static str,
        on_step: &'a mut dyn FnMut(f64),
    ) -> Self {
        Self { inputs, effort, experiment, rows: Vec::new(), done: 0.0, on_step }
    }

    /// What was noted.
    pub fn into_rows(self) -> Vec<Row> {
        self.rows
    }

    /// So many seconds of estimated work are done.
    pub fn step(&mut self, seconds: f64) {
        self.done += seconds;
        (self.on_step)(self.done);
    }

    /// How to measure.
    pub fn setup(&self, mode: Mode) -> RunConfig {
        let Effort { seconds, passes, .. } = self.effort;
        RunConfig { seconds, passes, pin: true, ..RunConfig::new(mode) }
    }

    /// How to measure where many values make one line: half as long as usual.
    pub fn brief(&self, mode: Mode) -> RunConfig {
        RunConfig { seconds: self.effort.seconds * BRIEF, ..self.setup(mode) }
    }

    /// Keys in an array of traffic.
    pub fn keys<F: BenchFamily>(&self) -> usize {
        F::KEYS.min(self.effort.keys)
    }

    /// How to measure as the Poptrie paper does: one address after the other, random ones made
    /// just before.
    pub fn just_in_time(&self) -> RunConfig {
        RunConfig { generate: true, ..self.setup(Mode::One) }
    }

    /// Makes traffic ready. `None` when it has no keys of this family.
    pub fn heat<F: BenchFamily>(
        &self,
        race: &Comparison<'_, F>,
        traffic: &Traffic,
    ) -> Option<Workload<F>> {
        race.workload_of(traffic, SEED, self.keys::<F>(), self.effort.checked)
    }

    /// Measures all engines of a field, and notes their rates for a figure. `at` says what is
    /// varied, if anything.
    pub fn measure<F: BenchFamily>(
        &mut self,
        figure: &str,
        field: &Field<'_, F>,
        heat: &Workload<F>,
        setup: &RunConfig,
        at: &str,
    ) -> Vec<Measured> {
        let run = field.race.run(heat, setup);
        let not_run = run.as_ref().err().map(ToString::to_string);
        let mut records = run.unwrap_or_default().into_iter().peekable();
        let mut engines = 0;
        // Records come in the order of the race, a limit behind its engine.
        let mut own = Vec::new();
        for place in 0..field.race.len() {
            own.push(match field.race.engine(place).supports(setup.mode) {
                true => (records.next(), records.next_if(|record| record.engine == ROOFLINE)),
                false => (None, None),
            });
            engines += usize::from(own[place].0.is_some());
        }
        let measured = |(entrant, place): &(Entrant, Result<usize, String>)| {
            let (result, limit) = match place {
                Err(why) => (Err(why.clone()), None),
                Ok(place) => {
                    let (record, limit) = std::mem::take(&mut own[*place]);
                    let failed = not_run.clone();
                    let failed = failed.or_else(|| field.race.engine(*place).failure());
                    (failed.map_or_else(|| record.ok_or_else(|| no_mode(setup.mode)), Err), limit)
                }
            };
            Measured { entrant: entrant.clone(), result, limit }
        };
        let all: Vec<_> = field.entrants.iter().map(measured).collect();
        for measured in &all {
            let row = self.rate_row(figure, field, heat, setup, at, measured);
            self.note(row);
        }
        self.step(engines as f64 * per_engine(setup.seconds, setup.passes));
        all
    }

    fn rate_row<F: BenchFamily>(
        &self,
        figure: &str,
        field: &Field<'_, F>,
        heat: &Workload<F>,
        setup: &RunConfig,
        at: &str,
        measured: &Measured,
    ) -> Row {
        let batch = if setup.mode == Mode::Batch { setup.batch as u64 } else { 1 };
        let row = Row {
            figure: figure.into(),
            engine: measured.entrant.spec.clone(),
            traffic: heat.traffic().name().into(),
            keys: setup.key_source(heat.traffic()).name().into(),
            mode: setup.mode.name().into(),
            batch,
            threads: setup.threads as u64,
            simd: setup.simd.level().name().into(),
            at: if at.is_empty() { measured.entrant.mark } else { at }.into(),
            metric: "rate".into(),
            unit: "Mlps".into(),
            paper: measured.entrant.paper,
            ..row_about(field.table, field.race.rib())
        };
        match &measured.result {
            Err(why) => Row { refused: why.clone(), ..row },
            Ok(record) if record.mismatches > 0 => {
                Row { refused: format!("{} {WRONG}", record.mismatches), ..row }
            }
            Ok(record) => with_rate(record, row),
        }
    }

    /// Notes a value.
    pub fn note(&mut self, row: Row) {
        self.rows.push(Row { experiment: self.experiment.into(), ..row });
    }

    /// Says where a paper has its values from: all that were noted and do not say so yet.
    pub fn cite(&mut self, paper_of: &str) {
        let uncited = |row: &&mut Row| row.paper.is_some() && row.paper_of.is_empty();
        self.rows.iter_mut().filter(uncited).for_each(|row| row.paper_of = paper_of.into());
    }

    /// Notes something that was counted, for an engine or, where its name is empty, for a table.
    pub fn count<F: BenchFamily>(
        &mut self,
        figure: &str,
        table: Named<'_, F>,
        engine: &str,
        (metric, unit): (&str, &str),
        value: f64,
        paper: Option<f64>,
    ) {
        self.note(Row {
            figure: figure.into(),
            engine: engine.into(),
            metric: metric.into(),
            unit: unit.into(),
            value: Some(value),
            paper,
            ..row_about(table.name, table.rib)
        });
    }
}

/// A row with the rate that was measured.
pub(crate) fn with_rate(record: &Record, row: Row) -> Row {
    Row {
        value: record.mlps,
        min: record.mlps_min,
        q1: record.mlps_q1,
        q3: record.mlps_q3,
        max: record.mlps_max,
        mean: record.mlps_mean,
        std_dev: record.mlps_sd,
        passes: record.passes as u64,
        repeated: record.repeated as u64,
        disturbed: record.disturbed as u64,
        ..row
    }
}

/// Why a peer has no rate in a mode.
fn no_mode(mode: Mode) -> String {
    match mode {
        Mode::Batch => "has no call for many addresses".into(),
        _ => "has no call for one address".into(),
    }
}

/// A row that says which table it is about, and nothing else.
pub(crate) fn row_about<F: BenchFamily>(table: &str, rib: &Rib<F>) -> Row {
    let (table, family) = (table.to_owned(), F::NAME.to_owned());
    Row { table, family, routes: rib.len() as u64, ..Row::default() }
}

/// A rate as a cell: the median with its quartiles, or why there is none.
pub(crate) fn rate_cell(measured: &Measured) -> Cell {
    match &measured.result {
        Err(why) => Cell::Refused(why.clone()),
        Ok(record) => match (record.mlps, record.mlps_q1, record.mlps_q3) {
            (Some(mlps), Some(q1), Some(q3)) => Cell::Spread(mlps, [q1, q3], 1),
            _ => Cell::Refused(format!("{} {WRONG}", record.mismatches)),
        },
    }
}
