//! Measures engines side by side: first their answers, then their rates, pass by pass in turn, so
//! that whatever else the machine does meets all of them alike.

use std::time::Instant;

use longmatch::engine::auto::{self, AutoGoal};
use longmatch::simd::Simd;
use longmatch::{CompileError, Engine, EngineKind, EngineSpec, EngineVisitor, NextHopId, Rib};

use crate::choice::{self, Choice};
use crate::family::BenchFamily;
use crate::kernel::Kernel;
use crate::oracle::Oracle;
use crate::peer::PeerEngine;
use crate::record::{KeySource, ROOFLINE, Record};
use crate::roofline::Roofline;
use crate::runner::{Passes, Runner};
use crate::stats::Stats;
use crate::target::{BenchTarget, Concrete, Mode, Pass};
use crate::threads::ThreadError;
use crate::traffic::Traffic;
use crate::workload::{CHECKED, Workload};

/// Compiling is timed once if it takes longer than this, three times otherwise.
const SLOW_BUILD_MS: f64 = 1000.0;

/// How to measure.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Setup {
    /// How lookups are done.
    pub mode: Mode,
    /// Keys in a batch. Answers are checked in batches of this size whatever the mode.
    pub batch: usize,
    /// Threads that look up at the same time.
    pub threads: usize,
    /// The instructions to use.
    pub simd: Simd,
    /// About how long each engine is measured, all passes together.
    pub seconds: f64,
    /// Passes that count, after one that does not.
    pub passes: usize,
    /// Makes random keys just before each lookup. Only random traffic in mode one can; anything
    /// else uses its array, and the record says so.
    pub generate: bool,
    /// Keeps each thread on a CPU of its own while it is measured.
    pub pin: bool,
    /// In mode batch, also measures the roofline of each engine that states its reads: as many that
    /// do not wait for each other, from as much memory.
    pub roofline: bool,
}

impl Setup {
    /// The usual: 5 passes of a second together, batches of 256, one thread, the best
    /// instructions there are.
    pub fn new(mode: Mode) -> Self {
        let simd = Simd::best();
        let (generate, pin, roofline) = (false, false, false);
        Self {
            mode,
            batch: 256,
            threads: 1,
            simd,
            seconds: 1.0,
            passes: 5,
            generate,
            pin,
            roofline,
        }
    }

    /// The source of the keys under this kind of traffic.
    pub fn key_source(&self, traffic: &Traffic) -> KeySource {
        let generated = self.generate && self.mode == Mode::One && *traffic == Traffic::Random;
        if generated { KeySource::Xorshift } else { KeySource::Array }
    }
}

/// Engines compiled from one table, to be measured together.
pub struct Comparison<'r, F: BenchFamily> {
    rib: &'r Rib<F>,
    oracle: Oracle<F>,
    next_hops: usize,
    entries: Vec<Entry<F>>,
}

/// An engine of a comparison.
pub struct Entry<F: BenchFamily> {
    engine: Box<dyn BenchTarget<F>>,
    build_ms: f64,
    /// The choices that led to it.
    choices: Vec<Choice>,
    /// Whether it was also asked for by name.
    named: bool,
}

impl<F: BenchFamily> Entry<F> {
    /// The engine with its variant.
    fn title(&self) -> String {
        title(&*self.engine)
    }
}

fn title<F: BenchFamily>(engine: &dyn BenchTarget<F>) -> String {
    format!("{} {}", engine.name(), engine.variant()).trim_end().to_owned()
}

/// Notes how long compiling took.
struct Timed {
    started: Instant,
}

impl<F: BenchFamily> EngineVisitor<F> for Timed {
    type Output = Entry<F>;

    fn visit<E: Engine<F>>(self, engine: E) -> Entry<F> {
        let build_ms = self.started.elapsed().as_secs_f64() * 1e3;
        let engine = Box::new(Concrete(engine));
        Entry { engine, build_ms, choices: Vec::new(), named: true }
    }
}

/// Compiles an engine, or what `auto` chooses.
pub fn compile<F: BenchFamily>(spec: &EngineSpec, rib: &Rib<F>) -> Result<Entry<F>, CompileError> {
    let enter = Timed { started: Instant::now() };
    if spec.kind != EngineKind::Auto {
        return F::build(spec, rib, enter);
    }
    let goal = AutoGoal::parse(&spec.options)?;
    let (prediction, entry) = auto::compile(rib, &goal, enter)?;
    let choices = vec![Choice::new(spec.to_string(), &prediction)];
    Ok(Entry { choices, named: false, ..entry })
}

impl<'r, F: BenchFamily> Comparison<'r, F> {
    /// No engines yet. O(routes).
    pub fn new(rib: &'r Rib<F>) -> Self {
        let mut ids: Vec<_> = rib.iter().map(|route| route.next_hop).collect();
        ids.sort_unstable();
        ids.dedup();
        Self { rib, oracle: Oracle::new(rib), next_hops: ids.len(), entries: Vec::new() }
    }

    /// The table.
    pub fn rib(&self) -> &'r Rib<F> {
        self.rib
    }

    /// Different next hops in the table.
    pub fn next_hops(&self) -> usize {
        self.next_hops
    }

    /// The number of engines.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no engine.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Compiles an engine, three times unless that takes long, and adds it. What `auto` chooses is
    /// not added a second time beside the same engine asked for by name, nor the other way round.
    ///
    /// # Errors
    /// When the engine cannot hold the table, or does not exist like this.
    pub fn add(&mut self, spec: &EngineSpec) -> Result<(), CompileError> {
        let mut entry = F::add(spec, self.rib)?;
        if entry.build_ms <= SLOW_BUILD_MS {
            let [first, again] =
                [F::add(spec, self.rib)?.build_ms, F::add(spec, self.rib)?.build_ms];
            let median = Stats::of(&[entry.build_ms, first, again]).map(|stats| stats.median);
            entry.build_ms = median.unwrap_or(entry.build_ms);
        }
        let title = entry.title();
        match self.entries.iter_mut().find(|known| known.title() == title) {
            Some(known) if !entry.named => known.choices.append(&mut entry.choices),
            Some(known) if !known.named => {
                // Without the time that choosing took.
                (known.named, known.build_ms) = (true, entry.build_ms);
            }
            _ => self.entries.push(entry),
        }
        Ok(())
    }

    /// Compiles an engine once and adds it, whatever is there already: to compare two that differ
    /// in where their memory lies.
    ///
    /// # Errors
    /// As [`Comparison::add`].
    pub fn add_apart(&mut self, spec: &EngineSpec) -> Result<(), CompileError> {
        let entry = F::add(spec, self.rib)?;
        self.entries.push(entry);
        Ok(())
    }

    /// What `auto` chose, each time with the title of the engine and its bytes.
    pub fn choices(&self) -> impl Iterator<Item = (&Choice, String, usize)> {
        let of = |entry: &Entry<F>| (entry.title(), entry.engine.memory().bytes());
        self.entries.iter().flat_map(move |entry| {
            let (title, bytes) = of(entry);
            entry.choices.iter().map(move |choice| (choice, title.clone(), bytes))
        })
    }

    /// Adds an engine that is compiled already.
    pub fn add_engine<E: Engine<F>>(&mut self, engine: E, build_ms: f64) {
        let engine = Box::new(Concrete(engine));
        self.entries.push(Entry { engine, build_ms, choices: Vec::new(), named: true });
    }

    /// An engine, in the order in which they were entered.
    ///
    /// # Panics
    /// When there are not as many.
    pub fn engine(&self, place: usize) -> &dyn BenchTarget<F> {
        &*self.entries[place].engine
    }

    /// Makes traffic ready. `None` when it has no keys of this family.
    pub fn workload(&self, traffic: &Traffic, seed: u64) -> Option<Workload<F>> {
        self.workload_of(traffic, seed, F::KEYS, CHECKED)
    }

    /// With so many keys, of which so many are checked.
    pub fn workload_of(
        &self,
        traffic: &Traffic,
        seed: u64,
        keys: usize,
        checked: usize,
    ) -> Option<Workload<F>> {
        let keys = traffic.keys(self.rib, keys, seed);
        (!keys.is_empty()).then(|| Workload::new(traffic, seed, keys, &self.oracle, checked))
    }

    /// Adds a peer that has the table.
    pub fn add_peer(&mut self, peer: PeerEngine<F>) {
        let build_ms = peer.build_ms();
        let engine = Box::new(peer);
        self.entries.push(Entry { engine, build_ms, choices: Vec::new(), named: true });
    }

    /// Checks answers, then measures every engine that gave none wrong. The records are in the
    /// order in which the engines were entered, that of its roofline behind that of an engine; peers
    /// that do not have the mode have no record.
    ///
    /// # Errors
    /// When the system does not start all threads.
    pub fn run(&self, workload: &Workload<F>, setup: &Setup) -> Result<Vec<Record>, ThreadError> {
        let entries = || self.entries.iter().filter(|entry| entry.engine.has(setup.mode));
        let rooflines: Vec<_> =
            entries().map(|entry| Roofline::of(&*entry.engine, workload, setup)).collect();
        let starters = entries().zip(&rooflines).flat_map(|(entry, roofline)| {
            let engine = Starter { entry, roofline: None };
            [
                Some(engine),
                roofline.as_ref().map(|roofline| Starter { entry, roofline: Some(roofline) }),
            ]
        });
        let starters: Vec<_> = starters.flatten().collect();
        let wrong: Vec<u64> = starters.iter().map(|it| it.mismatches(workload, setup)).collect();
        let fit = starters.iter().zip(&wrong).filter(|(_, wrong)| **wrong == 0);
        let runners = fit.map(|(it, _)| Runner::warmed_up(it.pass(), workload, setup));
        let mut runners = runners.collect::<Result<Vec<_>, _>>()?;
        for pass in 0..setup.passes.max(1) {
            for i in 0..runners.len() {
                let best = runners.iter().map(Runner::best_ghz).fold(0.0, f64::max);
                runners[i].pass(workload, setup, pass, best)?;
            }
        }
        let mut passes = runners.into_iter().map(Runner::end);
        let mut records = Vec::new();
        for (it, wrong) in starters.iter().zip(wrong) {
            let own = if wrong == 0 { passes.next() } else { None }.unwrap_or_default();
            let record = self.record(it, workload, setup, wrong, &own);
            if let (Some(_), Some(engine)) = (it.roofline, records.last_mut()) {
                compare(engine, &record);
            }
            records.push(record);
        }
        choice::compare(&mut records);
        Ok(records)
    }

    fn record(
        &self,
        starter: &Starter<'_, F>,
        workload: &Workload<F>,
        setup: &Setup,
        mismatches: u64,
        passes: &Passes,
    ) -> Record {
        let rates = Stats::of(&passes.rates);
        let mlps = |of: fn(&Stats) -> f64| rates.as_ref().map(of);
        let engine = &starter.entry.engine;
        let (name, variant, bytes, build_ms) = match starter.roofline {
            None => {
                (engine.name(), engine.variant(), engine.memory().bytes(), starter.entry.build_ms)
            }
            Some(roofline) => {
                (ROOFLINE, format!("of {}", starter.entry.title()), roofline.bytes(), 0.0)
            }
        };
        Record {
            engine: name.into(),
            variant,
            family: F::NAME,
            routes: self.rib.len(),
            next_hops: self.next_hops,
            traffic: workload.traffic().name().into(),
            mode: setup.mode.name(),
            batch: if setup.mode == Mode::Batch { setup.batch } else { 1 },
            threads: setup.threads,
            simd: setup.simd.level().name(),
            mlps: mlps(|it| it.median),
            mlps_min: mlps(|it| it.min),
            mlps_q1: mlps(|it| it.q1),
            mlps_q3: mlps(|it| it.q3),
            mlps_max: mlps(|it| it.max),
            mlps_mean: mlps(|it| it.mean),
            mlps_sd: mlps(|it| it.std_dev),
            ns_per_lookup: rates.map(|it| setup.threads as f64 * 1e3 / it.median),
            bytes,
            build_ms,
            mismatches,
            keys: setup.key_source(workload.traffic()),
            passes: passes.rates.len(),
            repeated: passes.repeated,
            disturbed: passes.disturbed,
            ghz: Stats::of(&passes.ghz).map(|it| it.median),
            form: workload.form(setup.mode).name(),
            reads: engine.reads(),
            roofline_ratio: None,
            auto: match starter.roofline {
                None => starter.entry.choices.clone(),
                Some(_) => Vec::new(),
            },
        }
    }
}

/// What is measured: an engine, or its roofline.
struct Starter<'a, F: BenchFamily> {
    entry: &'a Entry<F>,
    roofline: Option<&'a Roofline>,
}

impl<'a, F: BenchFamily> Starter<'a, F> {
    fn pass(&self) -> &'a dyn Pass<F> {
        match self.roofline {
            Some(roofline) => roofline,
            None => &*self.entry.engine,
        }
    }

    fn mismatches(&self, workload: &Workload<F>, setup: &Setup) -> u64 {
        match self.roofline {
            Some(roofline) => roofline.mismatches(workload, setup),
            None => mismatches(&*self.entry.engine, workload, setup),
        }
    }
}

/// Notes in an engine's record how far it is from its roofline.
fn compare(engine: &mut Record, roofline: &Record) {
    engine.roofline_ratio =
        engine.mlps.zip(roofline.mlps).map(|(engine, roofline)| roofline / engine);
}

/// Wrong answers of both kernels and of keys in another form; and the loop that is going to be
/// timed has to come to the same sum as the right answers.
fn mismatches<F: BenchFamily>(
    engine: &dyn BenchTarget<F>,
    workload: &Workload<F>,
    setup: &Setup,
) -> u64 {
    let (simd, batch) = (setup.simd, setup.batch);
    let (keys, answers) = workload.cases();
    let count = |got: Vec<Option<NextHopId>>| {
        got.iter().zip(answers).filter(|(got, right)| got != right).count() as u64
    };
    let mut wrong = 0;
    for kernel in Kernel::ALL {
        wrong += count(engine.answers(kernel, simd, batch, keys));
    }
    if let Some(keys) = workload.encoded_cases() {
        wrong += count(engine.answers_to(simd, batch, keys));
    }
    let sum = engine.pass(setup.mode, simd, batch, workload.stream_of_cases(setup.mode));
    let every = if setup.mode == Mode::Batch { batch } else { 1 };
    let summed = answers.chunks(every).map(|batch| NextHopId::to_raw(batch[batch.len() - 1]));
    wrong + u64::from(sum != summed.fold(0, |sum, answer| sum ^ answer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Wrong, table4, table6};
    use longmatch::{EngineKind, Ipv4, Ipv6, KeyLayout, engine::radix::Radix};

    fn quick(mode: Mode) -> Setup {
        Setup { seconds: 0.01, passes: 5, ..Setup::new(mode) }
    }

    #[test]
    fn records_say_what_was_measured() {
        let rib = table6();
        let mut comparison = Comparison::<Ipv6>::new(&rib);
        comparison.add(&EngineKind::Radix.into()).unwrap();
        comparison.add(&"poptrie:s=16".parse().unwrap()).unwrap();
        assert_eq!((comparison.len(), comparison.next_hops()), (2, 5));
        let workload = comparison.workload_of(&Traffic::Routed, 1, 5000, CHECKED).unwrap();
        assert_eq!((workload.checked(), workload.routed()), (5000, 1.0));
        for mode in Mode::ALL {
            let records = comparison
                .run(&workload, &Setup { threads: 2, batch: 100, ..quick(mode) })
                .unwrap();
            assert_eq!(records.len(), 2);
            assert_eq!(records[0].title(), "radix");
            assert!(records[1].title().starts_with("poptrie s=16"));
            for record in records {
                assert_eq!((record.family, record.routes), ("ipv6", rib.len()));
                assert_eq!((record.mode, record.traffic.as_str()), (mode.name(), "routed"));
                assert_eq!(record.batch, if mode == Mode::Batch { 100 } else { 1 });
                assert_eq!((record.threads, record.passes, record.mismatches), (2, 5, 0));
                assert_eq!(record.keys, KeySource::Array);
                let (min, max) = (record.mlps_min.unwrap(), record.mlps_max.unwrap());
                let median = record.mlps.unwrap();
                assert!(0.0 < min && min <= median && median <= max);
                let ns = record.ns_per_lookup.unwrap();
                assert!((ns * median / 2000.0 - 1.0).abs() < 1e-9);
            }
        }
    }

    /// Engines that state their reads have a roofline behind them, in mode batch only.
    #[test]
    fn limits_stand_behind_their_engines() {
        let rib = table6();
        let mut comparison = Comparison::<Ipv6>::new(&rib);
        for spec in ["spider", "radix", "spider:lanes=16"] {
            comparison.add(&spec.parse().unwrap()).unwrap();
        }
        let workload = comparison.workload_of(&Traffic::Zipf, 1, 5000, CHECKED).unwrap();
        let workload = workload.encoded_as(KeyLayout::U64Pairs);
        let setup = Setup { roofline: true, batch: 100, threads: 2, ..quick(Mode::Batch) };
        let records = comparison.run(&workload, &setup).unwrap();
        let titles: Vec<_> = records.iter().map(Record::title).collect();
        let [spider, lanes] = ["spider flight=4", "spider lanes=16"];
        let roofline = |of: &str| format!("roofline of {of}");
        assert_eq!(titles, [spider, &roofline(spider), "radix", lanes, &roofline(lanes)]);
        for (record, next) in records.iter().zip(records.iter().skip(1)) {
            assert_eq!((record.mismatches, record.passes, record.form), (0, 5, "pairs"));
            if next.engine == ROOFLINE {
                assert_eq!(record.roofline_ratio, next.mlps.zip(record.mlps).map(|(a, b)| a / b));
                assert!(record.roofline_ratio.is_some() && record.reads == next.reads);
                assert_eq!(next.bytes, next.reads.iter().sum::<usize>());
            } else {
                assert_eq!(record.roofline_ratio, None);
            }
        }
        for mode in [Mode::One, Mode::Dependent] {
            let records =
                comparison.run(&workload, &Setup { roofline: true, ..quick(mode) }).unwrap();
            assert_eq!(records.len(), 3);
            assert!(records.iter().all(|record| record.form == "host"));
        }
    }

    /// What `auto` chooses is measured once, and compared with the best of the run.
    #[test]
    fn choices_are_compared_with_the_best() {
        let rib = table6();
        for order in [["auto", "folio", "auto:use=one"], ["radix", "auto", "auto:memory=1K"]] {
            let mut comparison = Comparison::<Ipv6>::new(&rib);
            let entered = order.map(|spec| comparison.add(&spec.parse().unwrap()).is_ok());
            let choices: Vec<_> = comparison.choices().map(|(it, title, _)| (it, title)).collect();
            let asked = order.iter().zip(entered).filter(|(it, ok)| it.starts_with("auto") && *ok);
            assert_eq!(choices.len(), asked.count(), "{choices:?}");
            for (choice, title) in &choices {
                let name = choice.chosen.split(':').next().unwrap();
                assert!(title.starts_with(name) && choice.cycles > 0.0, "{title}: {choice:?}");
            }
            let mut titles: Vec<_> = comparison.entries.iter().map(Entry::title).collect();
            titles.sort();
            titles.dedup();
            assert_eq!(titles.len(), comparison.len(), "no engine twice");
            let workload = comparison.workload_of(&Traffic::Routed, 1, 5000, CHECKED).unwrap();
            let records =
                comparison.run(&workload, &Setup { roofline: true, ..quick(Mode::Batch) }).unwrap();
            let engines = records.iter().filter(|record| record.engine != ROOFLINE);
            let best = engines.filter_map(|record| record.mlps).fold(0.0, f64::max);
            for record in &records {
                for choice in &record.auto {
                    assert_eq!(choice.of_best, record.mlps.map(|mlps| mlps / best));
                    let title = choice.best.as_deref().unwrap();
                    let first = records.iter().find(|record| record.title() == title).unwrap();
                    assert_eq!(first.mlps, Some(best));
                }
                assert!(record.engine != ROOFLINE || record.auto.is_empty());
            }
            assert_eq!(records.iter().map(|it| it.auto.len()).sum::<usize>(), choices.len());
        }
    }

    #[test]
    fn only_random_traffic_one_by_one_is_generated() {
        let rib = table4();
        let mut comparison = Comparison::<Ipv4>::new(&rib);
        comparison.add(&EngineKind::Radix.into()).unwrap();
        for (traffic, mode, keys) in [
            (Traffic::Random, Mode::One, KeySource::Xorshift),
            (Traffic::Random, Mode::Batch, KeySource::Array),
            (Traffic::Zipf, Mode::One, KeySource::Array),
        ] {
            let workload = comparison.workload_of(&traffic, 1, 5000, CHECKED).unwrap();
            let records =
                comparison.run(&workload, &Setup { generate: true, ..quick(mode) }).unwrap();
            assert_eq!(records[0].keys, keys);
        }
    }

    /// Every mode refuses both an engine that is wrong everywhere and one with a wrong kernel, and
    /// measures the right one beside them.
    #[test]
    fn a_wrong_engine_gets_no_rate() {
        let rib = table4();
        let keys = Traffic::Random.keys(&rib, 3000, 5);
        for (batch_only, wrong) in [(false, 2), (true, 1)] {
            let mut comparison = Comparison::<Ipv4>::new(&rib);
            let radix = || Radix::<Ipv4>::compile(&rib, &()).unwrap();
            comparison.add_engine(Wrong { engine: radix(), at: keys[1234], batch_only }, 1.0);
            comparison.add_engine(radix(), 1.0);
            let workload = comparison
                .workload_of(&Traffic::Random, 5, 3000, CHECKED)
                .unwrap()
                .encoded_as(KeyLayout::Network);
            for mode in Mode::ALL {
                let records = comparison.run(&workload, &quick(mode)).unwrap();
                assert!(records[0].mismatches >= wrong, "{records:?}");
                assert_eq!((records[0].mlps, records[0].passes), (None, 0));
                assert_eq!(records[1].mismatches, 0);
                assert!(records[1].mlps.is_some());
            }
        }
    }

    #[test]
    fn traffic_of_the_other_family_is_no_traffic() {
        let rib = table6();
        let comparison = Comparison::<Ipv6>::new(&rib);
        assert!(comparison.is_empty());
        assert!(comparison.workload(&Traffic::File(Default::default()), 1).is_none());
    }

    #[test]
    fn checked_keys_are_spread_over_the_traffic() {
        let rib = table4();
        let comparison = Comparison::<Ipv4>::new(&rib);
        let workload = comparison.workload_of(&Traffic::Sequential, 1, 1 << 21, CHECKED).unwrap();
        assert_eq!(workload.checked(), CHECKED);
        assert!(workload.cases().0.iter().any(|key| *key > 0xf000_0000));
    }
}
