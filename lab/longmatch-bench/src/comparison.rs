//! Measurement of several engines in one run.
//!
//! All answers are checked before any rate is measured. The passes of the engines are interleaved,
//! so that other load on the machine affects all of them.

use longmatch::{CompileError, Engine, EngineSpec, KeyLayout, Rib};

use crate::engine_loops::BenchFamily;
use crate::engine_under_test::EngineUnderTest;
use crate::family::TrafficFamily;
use crate::measurement::{AutoChoice, Measurement, ROOFLINE};
use crate::oracle::Oracle;
use crate::passes::{PassResults, TimedWork, measure};
use crate::peer::PeerEngine;
use crate::record::Value;
use crate::roofline::Roofline;
use crate::run_config::RunConfig;
use crate::runner::TimedEngine;
use crate::stats::Stats;
use crate::target::{BenchTarget, EngineTarget};
use crate::threads::ThreadError;
use crate::traffic::Traffic;
use crate::workload::{CHECKED, Workload};

/// Milliseconds above which a compilation is timed once instead of three times.
const SLOW_BUILD_MS: f64 = 1000.0;

/// Engines compiled from one table, to be measured together.
pub struct Comparison<'r, F: TrafficFamily> {
    rib: &'r Rib<F>,
    oracle: Oracle<F>,
    next_hops: usize,
    engines: Vec<EngineUnderTest<F>>,
}

impl<'r, F: TrafficFamily> Comparison<'r, F> {
    /// A comparison without engines. O(routes).
    pub fn new(rib: &'r Rib<F>) -> Self {
        let mut ids: Vec<_> = rib.iter().map(|route| route.next_hop).collect();
        ids.sort_unstable();
        ids.dedup();
        Self { rib, oracle: Oracle::new(rib), next_hops: ids.len(), engines: Vec::new() }
    }

    /// The table.
    pub fn rib(&self) -> &'r Rib<F> {
        self.rib
    }

    /// Number of different next hops in the table.
    pub fn next_hops(&self) -> usize {
        self.next_hops
    }

    /// Number of engines.
    pub fn len(&self) -> usize {
        self.engines.len()
    }

    /// Whether the comparison has no engine.
    pub fn is_empty(&self) -> bool {
        self.engines.is_empty()
    }

    /// The choices of `auto`, each with the title and the bytes of the chosen engine.
    pub fn choices(&self) -> impl Iterator<Item = (&AutoChoice, String, usize)> {
        self.engines.iter().flat_map(|engine| {
            let (title, bytes) = (engine.title(), engine.target.memory().bytes());
            engine.choices.iter().map(move |choice| (choice, title.clone(), bytes))
        })
    }

    /// Adds a compiled engine.
    pub fn add_engine<E: Engine<F>>(&mut self, engine: E, build_ms: f64) {
        self.engines.push(EngineUnderTest::named(Box::new(EngineTarget(engine)), build_ms));
    }

    /// Adds a peer that has built its structure.
    pub fn add_peer(&mut self, peer: PeerEngine<F>) {
        let build_ms = peer.build_ms();
        self.engines.push(EngineUnderTest::named(Box::new(peer), build_ms));
    }

    /// The engine with this index, in the order of addition.
    ///
    /// # Panics
    /// If `index` is not below [`Comparison::len`].
    pub fn engine(&self, index: usize) -> &dyn BenchTarget<F> {
        &*self.engines[index].target
    }

    /// Prepares traffic of the usual size; `None` if it has no address of this family.
    pub fn workload(&self, traffic: &Traffic, seed: u64) -> Option<Workload<F>> {
        self.workload_of(traffic, seed, F::KEYS, CHECKED)
    }

    /// Prepares traffic of `keys` addresses; `checked` of them are checked.
    ///
    /// Returns `None` if the traffic has no address of this family.
    pub fn workload_of(
        &self,
        traffic: &Traffic,
        seed: u64,
        keys: usize,
        checked: usize,
    ) -> Option<Workload<F>> {
        let keys = traffic.keys(self.rib, keys, seed);
        (!keys.is_empty()).then(|| {
            let leads = traffic.leads(self.rib);
            Workload::new(traffic, seed, keys, leads, &self.oracle, checked)
        })
    }

    /// Checks all answers, then measures every engine without a wrong answer.
    ///
    /// Returns the records in the order in which the engines were added; the record of a roofline
    /// follows that of its engine. A peer that lacks the mode has no record.
    ///
    /// # Errors
    /// If the system does not start all threads.
    pub fn run(
        &self,
        workload: &Workload<F>,
        config: &RunConfig,
    ) -> Result<Vec<Measurement>, ThreadError> {
        self.run_each(workload, &vec![*config; self.len()])
    }

    /// [`Comparison::run`] with settings for each engine, in the order of addition.
    ///
    /// All engines take turns, although they may differ in their loops. The duration, the passes,
    /// the threads and their pinning are those of the first engine.
    ///
    /// # Errors
    /// If the system does not start all threads.
    ///
    /// # Panics
    /// If there is not one setting for each engine.
    pub fn run_each(
        &self,
        workload: &Workload<F>,
        configs: &[RunConfig],
    ) -> Result<Vec<Measurement>, ThreadError> {
        assert_eq!(configs.len(), self.len(), "each engine has its settings");
        let Some(first) = configs.first() else { return Ok(Vec::new()) };
        let engines =
            || self.engines.iter().zip(configs).filter(|it| it.0.target.supports(it.1.mode));
        let rooflines: Vec<_> =
            engines().map(|(it, config)| Roofline::of(&*it.target, workload, config)).collect();
        let subjects = engines().zip(&rooflines).flat_map(|((engine, config), roofline)| {
            let subject = |roofline| TimedEngine { engine, workload, config, roofline };
            core::iter::once(subject(None)).chain(roofline.as_ref().map(|it| subject(Some(it))))
        });
        let subjects: Vec<_> = subjects.collect();
        let wrong: Vec<u64> = subjects.iter().map(|it| it.mismatches(&self.oracle)).collect();
        let right = subjects.iter().zip(&wrong).filter(|(_, wrong)| **wrong == 0);
        let works: Vec<_> = right.map(|(it, _)| it as &dyn TimedWork).collect();
        let mut results = measure(&works, first)?.into_iter();
        let mut records: Vec<Measurement> = Vec::new();
        for (subject, wrong) in subjects.iter().zip(wrong) {
            let result = if wrong == 0 { results.next() } else { None }.unwrap_or_default();
            let record = self.record(subject, wrong, result);
            if let (Some(_), Some(engine)) = (subject.roofline, records.last_mut()) {
                let rates = engine.mlps().zip(record.mlps());
                engine.roofline_ratio = rates.map(|(engine, roofline)| roofline / engine);
            }
            records.push(record);
        }
        compare_with_best(&mut records);
        Ok(records)
    }

    fn record(
        &self,
        subject: &TimedEngine<'_, F>,
        mismatches: u64,
        passes: PassResults,
    ) -> Measurement {
        let TimedEngine { engine, workload, config, roofline } = *subject;
        let (target, spec) = (&engine.target, engine.title().replace(' ', ":"));
        let traffic = workload.traffic().name().to_owned();
        let keys = config.key_source::<F>(workload.traffic());
        let about = Value {
            family: F::NAME.into(),
            routes: self.rib.len() as u64,
            engine: spec.clone(),
            run: traffic.clone(),
            traffic,
            keys: match workload.layout(config.mode) {
                KeyLayout::Host => keys.name().into(),
                layout => format!("{keys}, {}", layout.name()),
            },
            mode: config.mode.name().into(),
            batch: config.mode.batch(config.batch) as u64,
            threads: config.threads as u64,
            simd: config.simd.level().name().into(),
            ..Value::default()
        };
        let own = Measurement {
            engine: target.name().into(),
            variant: target.variant(),
            about,
            passes,
            bytes: target.memory().bytes(),
            build_ms: engine.build_ms,
            mismatches,
            roofline_ratio: None,
            auto: engine.choices.clone(),
        };
        let Some(roofline) = roofline else { return own };
        Measurement {
            engine: ROOFLINE.into(),
            variant: format!("of {}", engine.title()),
            about: Value { engine: format!("{ROOFLINE} of {spec}"), ..own.about },
            bytes: roofline.bytes(),
            build_ms: 0.0,
            auto: Vec::new(),
            ..own
        }
    }
}

impl<F: BenchFamily> Comparison<'_, F> {
    /// Compiles an engine and adds it.
    ///
    /// The build time is the median of three compilations, or that of one if it takes longer than a
    /// second. An engine that is both named and chosen by `auto` is added only once.
    ///
    /// # Errors
    /// If the engine does not exist with these options or cannot hold the table.
    pub fn add(&mut self, spec: &EngineSpec) -> Result<(), CompileError> {
        let mut engine = F::compile_target(spec, self.rib)?;
        if engine.build_ms <= SLOW_BUILD_MS {
            let again = || F::compile_target(spec, self.rib).map(|engine| engine.build_ms);
            let times = [engine.build_ms, again()?, again()?];
            engine.build_ms = Stats::of(&times).map_or(engine.build_ms, |stats| stats.median);
        }
        let title = engine.title();
        match self.engines.iter_mut().find(|present| present.title() == title) {
            Some(present) if !engine.named => present.choices.append(&mut engine.choices),
            Some(present) if !present.named => {
                // The build time of a named engine excludes the time of the choice.
                (present.named, present.build_ms) = (true, engine.build_ms);
            }
            _ => self.engines.push(engine),
        }
        Ok(())
    }

    /// Compiles an engine once and adds it, even if it is already present.
    ///
    /// This allows comparing two copies that differ only in the memory that holds them.
    ///
    /// # Errors
    /// The same as for [`Comparison::add`].
    pub fn add_duplicate(&mut self, spec: &EngineSpec) -> Result<(), CompileError> {
        self.engines.push(F::compile_target(spec, self.rib)?);
        Ok(())
    }
}

/// The settings by which engines are comparable.
fn settings(record: &Measurement) -> (&str, u64, &str) {
    (&record.about.mode, record.about.batch, &record.about.simd)
}

/// Compares the choices in the records of one run with the best engine of the same settings.
fn compare_with_best(records: &mut [Measurement]) {
    for i in 0..records.len() {
        let rivals = records
            .iter()
            .filter(|it| it.engine != ROOFLINE && settings(it) == settings(&records[i]));
        let rates = rivals.filter_map(|record| Some((record.mlps()?, record.title())));
        let Some((best, title)) = rates.max_by(|(a, _), (b, _)| a.total_cmp(b)) else { continue };
        let share = records[i].mlps().map(|mlps| mlps / best);
        for choice in &mut records[i].auto {
            choice.best = share.map(|share| (share, title.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generator::KeySource;
    use crate::mode::Mode;
    use crate::testing::{WrongEngine, table4, table6};
    use longmatch::simd::{Level, Simd};
    use longmatch::{Ipv4, Ipv6, engine::radix::Radix};

    fn compared<'r, F: BenchFamily>(rib: &'r Rib<F>, specs: &[&str]) -> Comparison<'r, F> {
        let mut comparison = Comparison::new(rib);
        specs.iter().for_each(|spec| comparison.add(&spec.parse().unwrap()).unwrap());
        comparison
    }

    fn quick(mode: Mode) -> RunConfig {
        RunConfig { seconds: 0.01, passes: 5, ..RunConfig::new(mode) }
    }

    #[test]
    fn records_have_the_settings_and_consistent_rates() {
        let rib = table6();
        let comparison = compared(&rib, &["radix", "poptrie:s=16"]);
        assert_eq!((comparison.len(), comparison.next_hops()), (2, 5));
        let workload = comparison.workload_of(&Traffic::Routed, 1, 5000, CHECKED).unwrap();
        assert_eq!((workload.checked(), workload.routed()), (5000, 1.0));
        for mode in Mode::ALL {
            let records = comparison
                .run(&workload, &RunConfig { threads: 2, batch: 100, ..quick(mode) })
                .unwrap();
            assert_eq!(records.len(), 2);
            assert_eq!(records[0].title(), "radix");
            assert!(records[1].title().starts_with("poptrie s=16"));
            for record in records {
                let about = &record.about;
                assert_eq!((&*about.family, about.routes), ("ipv6", rib.len() as u64));
                let wanted = (mode.name(), "routed", "routed", "array");
                assert_eq!((&*about.mode, &*about.run, &*about.traffic, &*about.keys), wanted);
                assert_eq!(about.batch, if mode == Mode::Batch { 100 } else { 1 });
                assert_eq!(
                    (about.threads, record.passes.rates.len(), record.mismatches),
                    (2, 5, 0)
                );
                let stats = record.passes.stats().unwrap();
                assert!(0.0 < stats.min && Some(stats.median) == record.mlps());
                let ns = record.ns_per_lookup().unwrap();
                assert!((ns * stats.median / 2000.0 - 1.0).abs() < 1e-9);
            }
        }
    }

    /// One run measures engines in different loops, and compares those in the same loop.
    #[test]
    fn each_engine_has_its_settings() {
        let rib = table6();
        let comparison = compared(&rib, &["spider:lanes=16", "auto", "radix"]);
        let workload = comparison.workload_of(&Traffic::Routed, 1, 5000, CHECKED).unwrap();
        let batches = RunConfig { batch: 16, ..quick(Mode::Batch) };
        let portable = Simd::forced(Level::Portable).unwrap();
        let configs = [batches, quick(Mode::One), RunConfig { simd: portable, ..quick(Mode::One) }];
        let records = comparison.run_each(&workload, &configs).unwrap();
        let best = Simd::best().level().name();
        let wanted = [("batch", 16, best), ("one", 1, best), ("one", 1, "portable")];
        for (record, wanted) in records.iter().zip(wanted) {
            assert_eq!(settings(record), wanted);
            assert_eq!((record.passes.rates.len(), record.mismatches), (5, 0));
        }
        let share = records[1].auto[0].best.as_ref().map(|(share, _)| *share);
        assert!(best == "portable" || share == Some(1.0), "{:?}", records[1].auto);
        assert!(Comparison::<Ipv6>::new(&rib).run_each(&workload, &[]).unwrap().is_empty());
    }

    /// Only engines that state their reads have a roofline, and only in mode batch.
    #[test]
    fn rooflines_follow_their_engines() {
        let rib = table6();
        let comparison = compared(&rib, &["spider", "radix", "spider:lanes=16"]);
        let workload = comparison.workload_of(&Traffic::Zipf, 1, 5000, CHECKED).unwrap();
        let workload = workload.encoded_as(KeyLayout::U64Pairs);
        let config = RunConfig { roofline: true, batch: 100, threads: 2, ..quick(Mode::Batch) };
        let records = comparison.run(&workload, &config).unwrap();
        let titles: Vec<_> = records.iter().map(Measurement::title).collect();
        let [spider, lanes] = ["spider flight=4", "spider lanes=16"];
        let roofline = |of: &str| format!("roofline of {of}");
        assert_eq!(titles, [spider, &roofline(spider), "radix", lanes, &roofline(lanes)]);
        for (record, next) in records.iter().zip(records.iter().skip(1)) {
            assert_eq!((record.mismatches, record.passes.rates.len()), (0, 5));
            assert_eq!(record.about.keys, "array, pairs");
            if next.engine == ROOFLINE {
                let ratio = next.mlps().unwrap() / record.mlps().unwrap();
                assert_eq!(record.roofline_ratio, Some(ratio));
                assert_eq!(next.about.engine, roofline(&record.about.engine));
                assert!(next.bytes > 0);
            } else {
                assert_eq!(record.roofline_ratio, None);
            }
        }
        for mode in [Mode::One, Mode::Dependent] {
            let records =
                comparison.run(&workload, &RunConfig { roofline: true, ..quick(mode) }).unwrap();
            assert_eq!(records.len(), 3);
            assert!(records.iter().all(|record| record.about.keys == "array"));
        }
    }

    /// An engine that `auto` chooses is measured once and compared with the best.
    #[test]
    fn choices_are_compared_with_the_best() {
        let rib = table6();
        for order in [["auto", "folio", "auto:try=1ms"], ["radix", "auto", "auto:memory=1K"]] {
            let mut comparison = Comparison::<Ipv6>::new(&rib);
            let added = order.map(|spec| comparison.add(&spec.parse().unwrap()).is_ok());
            let choices: Vec<_> =
                comparison.choices().map(|(choice, title, _)| (choice, title)).collect();
            let by_auto = order.iter().zip(added).filter(|(it, ok)| it.starts_with("auto") && *ok);
            assert_eq!(choices.len(), by_auto.count(), "{choices:?}");
            for (choice, title) in &choices {
                assert!(title.starts_with(choice.choice.spec.kind.name()), "{title}");
            }
            let mut titles: Vec<_> =
                comparison.engines.iter().map(EngineUnderTest::title).collect();
            titles.sort();
            titles.dedup();
            assert_eq!(titles.len(), comparison.len(), "an engine occurs twice");
            let workload = comparison.workload_of(&Traffic::Routed, 1, 5000, CHECKED).unwrap();
            let records = comparison
                .run(&workload, &RunConfig { roofline: true, ..quick(Mode::Batch) })
                .unwrap();
            let engines = records.iter().filter(|record| record.engine != ROOFLINE);
            let best = engines.filter_map(Measurement::mlps).fold(0.0, f64::max);
            for record in &records {
                for choice in &record.auto {
                    let (share, title) = choice.best.as_ref().unwrap();
                    assert_eq!(Some(*share), record.mlps().map(|mlps| mlps / best));
                    let first = records.iter().find(|record| record.title() == *title).unwrap();
                    assert_eq!(first.mlps(), Some(best));
                }
                assert!(record.engine != ROOFLINE || record.auto.is_empty());
            }
            assert_eq!(records.iter().map(|it| it.auto.len()).sum::<usize>(), choices.len());
        }
    }

    #[test]
    fn keys_are_generated_where_the_traffic_has_a_rule() {
        let rib = table4();
        let comparison = compared(&rib, &["radix"]);
        for (traffic, mode, keys) in [
            (Traffic::Random, Mode::One, KeySource::Xorshift),
            (Traffic::Random, Mode::Batch, KeySource::Xorshift),
            (Traffic::Sequential, Mode::One, KeySource::Counter),
            (Traffic::SpiderRandom, Mode::Batch, KeySource::Lcg),
            (Traffic::Zipf, Mode::One, KeySource::Array),
        ] {
            let workload = comparison.workload_of(&traffic, 1, 5000, CHECKED).unwrap();
            let records =
                comparison.run(&workload, &RunConfig { generate: true, ..quick(mode) }).unwrap();
            assert_eq!(records[0].about.keys, keys.name());
            assert!(records[0].mlps().is_some());
        }
    }

    /// The key with the wrong answer is generated, but not among the checked keys of the array.
    #[test]
    fn a_wrong_answer_for_a_generated_key_is_found() {
        let rib = table4();
        let mut comparison = Comparison::<Ipv4>::new(&rib);
        let at = Traffic::Random.keys(&rib, 5001, 1)[5000];
        let engine = Radix::<Ipv4>::compile(&rib, &()).unwrap();
        comparison.add_engine(WrongEngine { engine, at, batch_only: false }, 1.0);
        let workload = comparison.workload_of(&Traffic::Random, 1, 3000, CHECKED).unwrap();
        for (mode, generate) in [(Mode::One, false), (Mode::One, true), (Mode::Dependent, true)] {
            let config = RunConfig { generate, ..quick(mode) };
            let records = comparison.run(&workload, &config).unwrap();
            assert_eq!(records[0].mismatches, u64::from(generate), "{mode}");
        }
    }

    /// Every mode rejects engines with one or two wrong kernels, and no others.
    #[test]
    fn a_wrong_engine_gets_no_rate() {
        let rib = table4();
        let keys = Traffic::Random.keys(&rib, 3000, 5);
        for (batch_only, wrong) in [(false, 2), (true, 1)] {
            let mut comparison = Comparison::<Ipv4>::new(&rib);
            let radix = || Radix::<Ipv4>::compile(&rib, &()).unwrap();
            comparison.add_engine(WrongEngine { engine: radix(), at: keys[1234], batch_only }, 1.0);
            comparison.add_engine(radix(), 1.0);
            let workload = comparison
                .workload_of(&Traffic::Random, 5, 3000, CHECKED)
                .unwrap()
                .encoded_as(KeyLayout::Network);
            for mode in Mode::ALL {
                let records = comparison.run(&workload, &quick(mode)).unwrap();
                assert!(records[0].mismatches >= wrong, "{records:?}");
                assert_eq!(records[0].passes, PassResults::default());
                assert_eq!(records[1].mismatches, 0);
                assert!(records[1].mlps().is_some());
            }
        }
    }

    #[test]
    fn traffic_without_addresses_of_the_family_has_no_workload() {
        let rib = table6();
        let comparison = Comparison::<Ipv6>::new(&rib);
        assert!(comparison.is_empty());
        assert!(comparison.workload(&Traffic::File(Default::default()), 1).is_none());
    }

    #[test]
    fn checked_keys_come_from_all_parts_of_the_traffic() {
        let rib = table4();
        let comparison = Comparison::<Ipv4>::new(&rib);
        let workload = comparison.workload_of(&Traffic::Sequential, 1, 1 << 21, CHECKED).unwrap();
        assert_eq!(workload.checked(), CHECKED);
        assert!(workload.checked_keys().0.iter().any(|key| *key > 0xf000_0000));
    }
}
