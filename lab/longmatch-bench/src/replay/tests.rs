use super::*;
use crate::testing::{table4, table6};
use crate::threads::testing::refusing;
use longmatch::{EngineKind, Ipv4, Ipv6, NextHopId, Prefix, Route};

fn announce<F: TrafficFamily>(prefix: &str, hop: u32) -> Change<F> {
    let Ok(prefix) = prefix.parse::<Prefix<F>>() else { panic!("{prefix}") };
    Change::Announce(Route { prefix, next_hop: NextHopId::new(hop).unwrap() })
}

fn withdraw<F: TrafficFamily>(prefix: &str) -> Change<F> {
    let Ok(prefix) = prefix.parse::<Prefix<F>>() else { panic!("{prefix}") };
    Change::Withdraw(prefix)
}

/// Updates of every kind, counted in [`COUNTS`].
fn changes() -> Vec<Change<Ipv4>> {
    vec![
        announce("10.2.0.0/16", 4),
        announce("10.2.0.0/16", 4),
        announce("10.2.0.0/16", 5),
        withdraw("10.1.0.0/16"),
        withdraw("10.1.0.0/16"),
        announce("0.0.0.0/0", 9),
        announce("10.0.0.0/8", 7),
        withdraw("10.0.0.0/9"),
    ]
}

const COUNTS: UpdateCounts = UpdateCounts { new: 2, same: 1, changed: 2, withdrawn: 2, unknown: 1 };

fn run<F: TrafficFamily>(replay: &Replay<'_, F>, engine: &str) -> ReplayRecord {
    replay.run(&engine.parse().unwrap(), &mut |_| ()).unwrap()
}

#[test]
fn updates_are_counted_by_their_effect() {
    let (rib, changes) = (table4(), changes());
    for (engine, batch) in [("folio", 1), ("folio", 3), ("radix", 1), ("radix", 3)] {
        let record = run(&Replay { batch, ..Replay::new(&rib, &changes) }, engine);
        assert_eq!((record.updates, record.counts, record.batch), (8, COUNTS, batch));
        assert_eq!((record.routes, record.routes_after), (12, 12));
        assert!(record.is_right(), "{record:?}");
        assert_eq!((record.engine, record.checkpoints), (engine, 1));
        assert!(record.checked > 2 * 12 && record.readers == 0);
        assert!(record.mean_us > 0.0 && record.mean_effective_us.unwrap() > 0.0);
        let times = [record.p50_us, record.p99_us, record.p999_us, record.max_us];
        assert!(times.is_sorted() && times[0] > 0.0, "{times:?}");
        assert_eq!((record.reader_mlps_idle, record.reader_p9999_ns_churn), (None, None));
        // Six of eight commits, or all three, have a change. A patched engine may recompile some.
        let commits = if batch == 1 { 6 } else { 3 };
        assert!(record.recompiled < commits || engine == "radix" && record.recompiled == commits);
        assert!(engine == "radix" || record.entries_replaced > 0.0);
        assert!(record.bytes_before > 0 && record.bytes_after > 0);
    }
}

#[test]
fn bytes_fresh_are_those_of_a_compiled_table() {
    let (rib, changes) = (table4(), changes());
    let record = run(&Replay::new(&rib, &changes), "poptrie:s=16:batch=each");
    let after: Rib<Ipv4> = {
        let mut rib = rib.clone();
        for change in &changes {
            rib.apply(*change).unwrap();
        }
        rib.iter().collect()
    };
    let bytes = |rib: &Rib<Ipv4>| {
        let spec: EngineSpec = "poptrie:s=16:batch=each".parse().unwrap();
        Fib::compile(rib, spec).unwrap().memory_usage().bytes()
    };
    assert_eq!(record.bytes_fresh, bytes(&after));
    assert!(record.variant.contains("s=16"), "{}", record.title());
}

#[test]
fn replays_without_changes_have_no_mean_of_changes() {
    let rib = table6();
    let record = run(&Replay::<Ipv6>::new(&rib, &[]), "folio");
    assert_eq!((record.updates, record.mean_us, record.mean_effective_us), (0, 0.0, None));
    assert!(record.is_right() && record.checkpoints == 1);
    let same = [announce::<Ipv6>("::/128", 1)];
    let record = run(&Replay::new(&rib, &same), "folio");
    assert_eq!((record.counts.same, record.mean_effective_us), (1, None));
}

#[test]
fn readers_are_measured_in_both_phases() {
    let (rib, changes) = (table6(), [announce::<Ipv6>("2001:db8::/33", 3)]);
    let keys = Traffic::Routed.keys(&rib, 1000, 1);
    for idle_after in [false, true] {
        let idle = Duration::from_millis(5);
        let replay = Replay::new(&rib, &changes);
        let record = run(&Replay { readers: 2, keys: &keys, idle, idle_after, ..replay }, "folio");
        assert!(record.is_right() && record.readers == 2);
        assert!(record.reader_mlps_idle.unwrap() > 0.0);
        assert!(record.reader_mlps_churn.unwrap() > 0.0);
        for (median, slow) in [
            (record.reader_p50_ns_idle, record.reader_p9999_ns_idle),
            (record.reader_p50_ns_churn, record.reader_p9999_ns_churn),
        ] {
            assert!(median > Some(0) && slow >= median, "{record:?}");
        }
    }
}

#[test]
fn checkpoints_and_steps_occur_when_due() {
    let rib = table6();
    let changes: Vec<_> = (0..10).map(|i| announce::<Ipv6>("2001:db8::/33", 1 + i % 2)).collect();
    for (batch, every, checkpoints) in [(1, 3, 4), (4, 3, 3), (4, 5, 2), (1, 10, 1), (1, 1, 10)] {
        let replay = Replay { batch, verify_every: Some(every), ..Replay::new(&rib, &changes) };
        assert_eq!(run(&replay, "folio").checkpoints, checkpoints, "{batch} {every}");
    }
    let spec = EngineKind::Radix.into();
    let mut steps = Vec::new();
    let replay = Replay { batch: 4, ..Replay::new(&rib, &changes) };
    replay.run(&spec, &mut |step| steps.push(step)).unwrap();
    let step = |done, recompiled| ReplayStep { done, total: 10, recompiled };
    assert_eq!(steps, [step(4, 1), step(8, 2), step(10, 3)]);
}

/// A change that is not committed makes the table wrong.
#[test]
fn wrong_answers_are_found() {
    fn wrong<F: TrafficFamily>(rib: Rib<F>, change: Change<F>, engine: &str) -> Checks<F> {
        let spec: EngineSpec = engine.parse().unwrap();
        let mut writer = Writer::new(rib, spec).unwrap();
        writer.apply(change).unwrap();
        let mut checks = Checks::new();
        checks.checkpoint(&writer, false).unwrap();
        checks
    }
    for engine in ["folio", "radix"] {
        let checks = wrong(table4(), announce("10.1.255.255/32", 77), engine);
        assert_eq!((checks.counts.mismatches, checks.checkpoints), (1, 1), "{engine}");
        assert_ne!(checks.structure(), "ok");
        let example = &checks.counts.examples()[0];
        assert_eq!(example.address, "10.1.255.255");
        assert_eq!(example.expected, NextHopId::new(77));
        // Both ends of a range of several addresses are looked up.
        let checks = wrong(table6(), announce("2001:db8:0:1::/64", 78), engine);
        let addresses: Vec<_> = checks.counts.examples().into_iter().map(|it| it.address).collect();
        let ends = ["2001:db8:0:1::", "2001:db8:0:1::2", "2001:db8:0:1:ffff:ffff:ffff:ffff"];
        assert_eq!(addresses, ends, "the host route divides the range");
    }
}

#[test]
fn a_record_of_a_wrong_table_is_not_right() {
    let rib = table4();
    let mut writer = Writer::new(rib.clone(), EngineKind::Folio).unwrap();
    writer.apply(announce("10.0.0.0/9", 55)).unwrap();
    let replay = Replay::new(&rib, &[]);
    let record = replay.run_with(writer, &EngineKind::Folio.into(), &mut |_| ()).unwrap();
    assert!(record.mismatches > 0 && record.check != "ok" && !record.is_right());
    assert_eq!(record.examples[0].expected, NextHopId::new(55));
    let sound = ReplayRecord { check: "ok".into(), ..record.clone() };
    assert!(!sound.is_right());
    assert!(ReplayRecord { mismatches: 0, ..sound }.is_right());
    assert!(!ReplayRecord { mismatches: 0, ..record }.is_right());
}

#[test]
fn wrong_answers_inside_ranges_are_found() {
    let mut writer = Writer::new(table6(), EngineKind::Folio).unwrap();
    let mut checks = Checks::new();
    checks.checkpoint(&writer, true).unwrap();
    assert_eq!(checks.counts.mismatches, 0);
    let right = checks.counts.addresses;
    writer.apply(announce("fe80::/10", 99)).unwrap();
    let mut checks = Checks::new();
    checks.checkpoint(&writer, true).unwrap();
    assert_eq!(checks.counts.addresses, right);
    assert!(checks.counts.mismatches > 4, "only the ends were looked up, twice");
}

#[test]
fn the_error_names_the_rejected_update() {
    let mut rib = Rib::<Ipv4>::with_route_limit(2);
    rib.insert("10.0.0.0/8".parse().unwrap(), NextHopId::new(1).unwrap()).unwrap();
    let changes = [announce("10.1.0.0/16", 2), announce("10.2.0.0/16", 2)];
    // The error must also stop the readers.
    let replay = Replay { readers: 1, keys: &[1, 2, 3], ..Replay::new(&rib, &changes) };
    let error = replay.run(&EngineKind::Folio.into(), &mut |_| ()).unwrap_err();
    assert!(matches!(error, ReplayError::Update { number: 2, error: UpdateError::Full(_) }));
    assert!(error.to_string().starts_with("update 2: "), "{error}");
}

#[test]
fn random_orders_have_all_routes_and_depend_on_the_seed() {
    let rib = table6();
    let order = in_random_order(&rib, 1);
    let back: Rib<Ipv6> = order
        .iter()
        .map(|change| match change {
            Change::Announce(route) => *route,
            Change::Withdraw(_) => panic!("nothing is withdrawn"),
        })
        .collect();
    assert!(back.iter().eq(rib.iter()));
    assert_eq!(order, in_random_order(&rib, 1));
    assert_ne!(order, in_random_order(&rib, 2));
    let record = run(&Replay::new(&Rib::new(), &order), "folio");
    assert_eq!((record.counts.new, record.routes, record.routes_after), (9, 0, 9));
    assert!(record.is_right());
}

/// Added rates would be twice as high.
#[test]
fn rates_of_readers_that_take_turns_are_not_added() {
    let start = Instant::now();
    let at = |ms| start + Duration::from_millis(ms);
    let reader = |spans: &[(u64, u64)]| {
        let mut times = PhaseTimes::default();
        for (from, to) in spans {
            times.batches.record(Duration::from_millis(to - from));
            times.spans.push((at(*from), at(*to)));
        }
        times
    };
    let one = READER_BATCH as f64 / 1e3;
    // The time between two phases does not count.
    for (readers, wanted) in [
        (vec![reader(&[(0, 1)])], one),
        (vec![reader(&[(0, 1)]), reader(&[(0, 1)])], 2.0 * one),
        (vec![reader(&[(0, 1)]), reader(&[(1, 2)])], one),
        (vec![reader(&[(0, 1), (50, 51)]), reader(&[(1, 2), (51, 52)])], one),
    ] {
        let rate = mlps(readers.iter()).unwrap();
        assert!((rate / wanted - 1.0).abs() < 1e-9, "{rate} {wanted}");
    }
    assert_eq!(mlps([].iter()), None);
}

/// An error must end the readers that were started before it.
#[test]
fn refused_threads_end_a_replay() {
    let rib = table6();
    let changes = [announce::<Ipv6>("2001:db8::/33", 3)];
    let keys = Traffic::Routed.keys(&rib, 1000, 1);
    let spec = EngineKind::Folio.into();
    let run =
        |replay: &Replay<'_, Ipv6>, refused| refusing(refused, || replay.run(&spec, &mut |_| ()));
    for refused in [0, 2] {
        let replay = Replay { readers: 3, keys: &keys, ..Replay::new(&rib, &changes) };
        let error = run(&replay, refused).unwrap_err();
        let ReplayError::Threads(error) = error else { panic!("{error}") };
        assert_eq!((error.started, error.wanted), (refused, 3));
    }
    if std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() > 1) {
        let replay = Replay { full: true, ..Replay::new(&rib, &changes) };
        assert!(matches!(run(&replay, 1), Err(ReplayError::Threads(_))));
    }
}
