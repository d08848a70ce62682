//! Runs every experiment on small tables and compares counts with counts made by hand.

use std::sync::{Arc, LazyLock};

use longmatch::simd::Simd;
use longmatch::{Change, IpPrefix, Ipv4, Ipv6, NextHopId, NextHops, Prefix, Rib, Route};
use longmatch_bench::Destinations;
use longmatch_bench::testing::{table4, table6};
use longmatch_feed::{Event, Options, load_path};

use crate::claim::{Claim, ClaimResult, Facts, Judge, Values};
use crate::context::ExperimentContext;
use crate::declaration::Skipped;
use crate::experiment::Experiment;
use crate::inputs::{Effort, Inputs, Subject, UpdateStream};
use crate::model::TableCell;
use crate::record::{ExperimentEnd, Value};
use crate::records::Records;
use crate::run::{Report, ReportStep};
use crate::{page, view};

fn inputs(ipv4: Rib<Ipv4>, ipv6: Rib<Ipv6>) -> Inputs {
    Inputs { tables: vec![Subject { name: "small".into(), ipv4, ipv6 }], ..Inputs::default() }
}

/// Runs an experiment with the least effort and checks its figures.
fn run(name: &str, inputs: &Inputs) -> Result<Vec<Value>, Skipped> {
    let experiment = Experiment::named(name).expect("an experiment");
    let mut steps = Vec::new();
    let mut on_step = |done| steps.push(done);
    let mut context = ExperimentContext::new(inputs, Effort::TEST, experiment, &mut on_step);
    experiment.run(&mut context)?;
    let estimate = experiment.seconds(inputs, &Effort::TEST);
    let (values, _) = context.finish();
    assert!(!steps.is_empty() && steps.is_sorted(), "{name}: progress goes backwards");
    assert!(estimate > 0.0, "{name}: {estimate}");
    assert_sound(experiment, &values);
    Ok(values)
}

fn assert_sound(experiment: &Experiment, values: &[Value]) {
    let all: Vec<&Value> = values.iter().collect();
    let figures = view::figures(experiment, &all, &ExperimentEnd::default());
    assert!(!figures.is_empty(), "{}", experiment.name);
    let mut ids: Vec<_> = figures.iter().map(|it| &it.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), figures.len(), "equal anchors");
    for figure in &figures {
        assert!(!figure.table.rows.is_empty() && !figure.caption.is_empty(), "{}", figure.id);
        for cell in figure.table.rows.iter().flatten() {
            let sound = match cell {
                TableCell::Number(value, _) => value.is_finite(),
                TableCell::Spread(value, [low, high], _) => low <= value && value <= high,
                _ => true,
            };
            assert!(sound, "{}: {cell:?}", figure.id);
        }
    }
    for value in values {
        assert!(experiment.figures.iter().any(|it| it.id == value.figure), "{value:?}");
        assert!(value.value.is_some() == value.refused.is_empty(), "{value:?}");
    }
    // The page would not show a paper's value without a figure.
    for papers in &experiment.papers {
        assert!(experiment.figures.iter().any(|it| it.id == papers.figure), "{}", papers.figure);
    }
}

/// A report of small tables, with its directory.
static SMALL: LazyLock<(tempfile::TempDir, Inputs, Records)> = LazyLock::new(|| {
    let (dir, inputs) = (tempfile::tempdir().unwrap(), inputs(table4(), table6()));
    let mut before = 0.0;
    let mut on_step = |step: ReportStep| {
        assert!((before..=step.total).contains(&step.done), "{}", step.experiment.name);
        before = step.done;
    };
    let (records, kept) = small_report(&inputs).run(dir.path(), &mut on_step).unwrap();
    assert_eq!((kept, records.wrong()), (0, 0));
    (dir, inputs, records)
});

fn small_report(inputs: &Inputs) -> Report<'_> {
    Report { inputs, effort: Effort::TEST, experiments: Experiment::all().collect() }
}

/// The values of an experiment in the report of small tables; measured now if a quick report omits it.
fn small(name: &str) -> Vec<Value> {
    let (_, inputs, records) = &*SMALL;
    let experiment = Experiment::named(name).expect("an experiment");
    let found = records.experiments.iter().find(|it| it.0.experiment == experiment.name);
    match found {
        Some((outcome, values)) if outcome.absent.is_empty() => values.clone(),
        _ => run(name, inputs).expect("small tables suffice"),
    }
}

/// The values of an engine.
fn values(all: &[Value], family: &str, engine: &str, metric: &str) -> Vec<f64> {
    let is = |it: &&Value| it.family == family && it.engine == engine && it.metric == metric;
    all.iter().filter(is).map(|it| it.value.expect("a value")).collect()
}

/// 10.0.0.0/8, 10.1.0.0/16 inside it, and 192.0.2.0/24, each with its own next hop.
fn three() -> Rib<Ipv4> {
    let prefixes = ["10.0.0.0/8", "10.1.0.0/16", "192.0.2.0/24"];
    let route = |(prefix, id): (&str, u32)| Route {
        prefix: prefix.parse().unwrap(),
        next_hop: NextHopId::new(id).unwrap(),
    };
    prefixes.into_iter().zip(1..).map(route).collect()
}

fn on_three(name: &str) -> Vec<Value> {
    run(name, &inputs(three(), Rib::new())).expect("three routes suffice")
}

/// SYN1 splits the three routes into 4, 2 and 1 routes, SYN2 into 8, 4 and 1. Of the 7 ranges three have no route; the
/// others are 192.0.2/24, 10.1/16, and 10/8 before and after 10.1/16.
#[test]
fn datasets() {
    let all = on_three("poptrie-table1");
    let of = |run: &str, metric: &str| {
        all.iter().find(|it| it.run == run && it.metric == metric).and_then(|it| it.value).unwrap()
    };
    assert_eq!((of("the table", "prefixes"), of("the table", "next hops")), (3.0, 3.0));
    assert_eq!((of("the table", "ranges"), of("the table", "long prefixes")), (7.0, 0.0));
    assert_eq!((of("SYN1", "prefixes"), of("SYN2", "prefixes")), (7.0, 13.0));
}

/// 10/8 without 10.1/16 is a /16, a /15 and so on to a /9. None of them is a node, so the depth of their addresses is one
/// less.
#[test]
fn depths() {
    let all = on_three("poptrie-fig7");
    let at = |at: &str, depth: i32| {
        let is =
            |it: &&Value| it.at == at && it.x == Some(f64::from(depth)) && it.metric == "addresses";
        all.iter().find(is).and_then(|it| it.value)
    };
    for depth in 8..=15 {
        assert_eq!(at("/8", depth), Some(f64::from(1u32 << (31 - depth))), "{depth}");
    }
    assert_eq!((at("/16", 16), at("/24", 24), at("/8", 24)), (Some(65_536.0), Some(256.0), None));
    // No route begins with the bits 01 or 10.
    assert_eq!(at("none", 1), Some(f64::from(1u32 << 31)));
    let sum: f64 = values(&all, "ipv4", "", "addresses").iter().sum();
    assert_eq!(sum, 2f64.powi(32));
}

/// Of 2^16 chunks four have more than one range: 0.0/16 and 10.1/16 have 2, 255.255/16 has 4 and 192.0/16 has 6.
/// 192.0/16 has ranges at 2.0, 2.64, 2.128, 3.0 and 4.0, so no chunk is short.
#[test]
fn dxr_chunks() {
    let all = small("dxr-chunks");
    let share = |run: &str| {
        let is = |it: &&Value| it.run == run && it.x == Some(16.0);
        all.iter().find(is).and_then(|it| it.value).unwrap() * 65_536.0
    };
    assert_eq!(["1", "2", "3-4", "5-8", "9-16"].map(share), [65_532.0, 2.0, 1.0, 1.0, 0.0]);
    let paper = all.iter().find(|it| it.run == "9-16" && it.x == Some(20.0)).unwrap();
    assert_eq!(paper.paper, Some(0.00494));
    let of = |metric| values(&all, "ipv4", "dxr:d=16", metric);
    assert_eq!(of("direct table"), [4.0 * 65_536.0]);
    assert_eq!((of("longest chunk"), of("physical long chunks")), (vec![6.0], vec![4.0]));
    assert_eq!(
        (of("physical long fragments"), of("physical short chunks")),
        (vec![14.0], vec![0.0])
    );
    assert_eq!(of("range table"), [4.0 * 14.0]);
    assert_eq!(of("bytes a prefix"), [(4.0 * 65_536.0 + 56.0) / 12.0]);
    assert_eq!(of("resolved directly"), [100.0 * 65_532.0 / 65_536.0]);
    // Each number that the page prints stands beside one of ours.
    let printed =
        |figure: &str| all.iter().filter(|it| it.figure == figure && it.paper.is_some()).count();
    assert_eq!((printed("dxr-lengths"), printed("dxr-statistics")), (7 * 9, 13 + 1));
}

/// The counts of the DXR page's table are the page's, digit for digit.
///
/// The environment variable names the page's `linx.click.bz2`, as converted by METHODOLOGY.md.
#[test]
fn counts_of_the_dxr_page() {
    let Some(path) = std::env::var_os("LONGMATCH_LINX") else {
        eprintln!("skipped: set LONGMATCH_LINX to the path of linx.txt (METHODOLOGY.md)");
        return;
    };
    let (mut rib, mut hops) = (Rib::new(), NextHops::<Box<str>>::new());
    let mut sink = |event: Event<'_>| {
        let Event::Announce(IpPrefix::V4(prefix), hop) = event else {
            return Err("not an IPv4 route".into());
        };
        let id: NextHopId = hops.acquire(hop.into())?;
        rib.insert(prefix, id)?;
        Ok(())
    };
    load_path(path, &Options::default(), &mut sink).unwrap();
    // The page states 513,643 prefixes in its list of files and 513,644 in rt.stat.
    assert!([513_643, 513_644].contains(&rib.len()), "{} prefixes", rib.len());
    let hops: std::collections::BTreeSet<_> = rib.iter().map(|route| route.next_hop).collect();
    assert_eq!(hops.len(), 239, "next hops");
    let all = run("dxr-chunks", &inputs(rib, Rib::new())).unwrap();
    assert!(values(&all, "ipv4", "", "longest chunk of any K")[0] <= 256.0);
    let experiment = Experiment::named("dxr-chunks").unwrap();
    let (facts, names) = (Facts::new(), &experiment.names);
    let table = [Values { all: all.iter().collect(), facts: &facts, names }];
    let exact = |it: &&Claim| matches!(it.judge, Judge::Exact(..));
    for claim in experiment.claims.iter().filter(exact) {
        let judgement = claim.judge(&table).remove(0).1;
        assert_eq!(judgement.verdict, ClaimResult::Holds, "{}: {}", claim.id, judgement.reason);
    }
}

/// 70,000 routes with as many next hops, more than 16 bits can number.
fn many() -> Rib<Ipv4> {
    let route = |i: u32| Route {
        prefix: Prefix::from_bits_masked(i << 8, 24),
        next_hop: NextHopId::new(i + 1).unwrap(),
    };
    (0..70_000).map(route).collect()
}

#[test]
fn refusals_are_shown_with_the_wider_variant() {
    let all = run("dxr-chunks", &inputs(many(), Rib::new())).unwrap();
    assert!(all.iter().any(|it| it.engine == "dxr:d=18" && it.refused.contains("next-hop")));
    assert_eq!(values(&all, "ipv4", "dxr:d=18:hops=k", "direct table"), [1_048_576.0]);
    let all = run("dxr-throughput", &inputs(many(), Rib::new())).unwrap();
    assert!(all.iter().all(|it| it.engine.matches("d=").count() < 2));
    assert!(
        all.iter().any(|it| it.engine == "dxr:d=18:search=paper:hops=k" && it.metric == "rate")
    );
}

/// 32,769 /16 chunks with a route longer than /24 each are one more than SAIL can number.
#[test]
fn sail_refuses_split_tables_for_its_chunks() {
    let route = |i: u32| Route {
        prefix: Prefix::from_bits_masked(i << 16 | 0x80, 25),
        next_hop: NextHopId::new(1).unwrap(),
    };
    let all = run("poptrie-table5", &inputs((0..32_769).map(route).collect(), Rib::new())).unwrap();
    let sail: Vec<_> = all.iter().filter(|it| it.engine == "sail").collect();
    assert!(sail.len() == 3 && sail.iter().all(|it| it.refused.contains("chunks")), "{sail:?}");
}

/// 12 routes of IPv4 become 3, 12 and 48, 9 of IPv6 become 2 (9 / 4 rounded), 9 and 36.
#[test]
fn growth() {
    let all = small("growth");
    let routes = |family: &str| {
        let is = |it: &&Value| it.family == family && it.engine == "radix" && it.metric == "rate";
        all.iter().filter(is).map(|it| it.routes).collect::<Vec<_>>()
    };
    assert_eq!((routes("ipv4"), routes("ipv6")), (vec![3, 12, 48], vec![2, 9, 36]));
    let bytes = values(&all, "ipv4", "dir24_8", "bytes");
    assert_eq!(bytes[1], 2.0 * f64::from((1 << 24) + 4 * 256));
}

/// A radix tree of 0.0.0.0/32 alone has a root and 32 nodes below it, each of 12 bytes.
#[test]
fn memory() {
    let rib: Rib<Ipv4> =
        [Route { prefix: "0.0.0.0/32".parse().unwrap(), next_hop: NextHopId::new(1).unwrap() }]
            .into_iter()
            .collect();
    let all = run("memory", &inputs(rib, Rib::new())).unwrap();
    let whole = |engine: &str| *values(&all, "ipv4", engine, "bytes").last().unwrap();
    assert_eq!((whole("radix"), whole("dir24_8")), (12.0 * 33.0, 2.0 * f64::from((1 << 24) + 256)));
    assert_eq!(whole("dxr"), 4.0 * f64::from((1 << 18) + 2));
}

/// Sizes above that of the table are left out.
#[test]
fn small_tables() {
    let all = small("small-tables");
    let is = |it: &&Value| it.engine == "radix" && it.family == "ipv4" && it.metric == "bytes";
    assert!(all.iter().filter(is).map(|it| it.routes).eq([12]));
    assert_eq!(values(&all, "ipv4", "radix", "compile").len(), 1);
}

/// Every engine has a rate with each level that the CPU has, and a reason with the others; `auto` names its choice.
#[test]
fn tables_of_every_kind_have_rates_by_level() {
    let all = small("kinds");
    for level in ["avx512", "avx2", "portable"] {
        let run = format!("routed, {level}");
        let is = |it: &&Value| {
            it.figure == "kinds-batch-256"
                && it.run == run
                && it.family == "ipv6"
                && it.engine == "dxr"
        };
        let own: Vec<_> = all.iter().filter(is).collect();
        let [own] = own[..] else { panic!("{own:?}") };
        assert_eq!((&own.simd[..], own.batch, own.passes <= 5), (level, 256, true));
        let has = Simd::forced(level.parse().unwrap()).is_ok();
        assert_eq!(own.value.is_some(), has, "{}", own.refused);
    }
    let auto = all.iter().filter(|it| it.engine == "auto" && it.metric == "rate");
    assert!(auto.filter(|it| it.value.is_some()).all(|it| !it.variant.is_empty()));
    for engine in ["auto", "dxr", "sail"] {
        let counts = ["memory", "compile"].map(|metric| values(&all, "ipv4", engine, metric).len());
        assert_eq!(counts, [1, 1], "{engine}");
        assert_eq!(values(&all, "ipv6", engine, "memory").len(), usize::from(engine != "sail"));
    }
    assert!(all.iter().all(|it| it.batch != 4096), "only in a full report");
}

/// Spider with 1 to 16 ways, in batches of as many addresses, takes turns with rivals that look up one by one.
#[test]
fn engines_have_calls_of_their_own() {
    let all = small("spider-fig6");
    let is = |it: &&Value| it.family == "ipv4" && it.engine == "spider" && it.metric == "rate";
    let ways: Vec<_> = all.iter().filter(is).map(|it| (it.x, it.mode.clone(), it.batch)).collect();
    assert!(
        ways.iter().cloned().eq((1..=16).map(|i| (Some(i as f64), "batch".into(), i))),
        "{ways:?}"
    );
    let rivals: Vec<_> = all.iter().filter(|it| it.family == "ipv4" && it.x.is_none()).collect();
    assert!(rivals.len() == 3 && rivals.iter().all(|it| it.mode == "one" && it.keys == "lcg"));
}

#[test]
fn dependent_lookups_have_latencies() {
    let all = small("traffic");
    let mut own = all.iter().filter(|it| it.figure == "traffic-dependent").peekable();
    assert!(own.peek().is_some());
    assert!(own.all(|it| it.metric == "latency" && it.unit == "ns" && it.mode == "dependent"));
}

/// Where the frequency cannot be set, one point of each engine is measured and the others are estimated.
#[test]
fn latencies_are_inverse_to_rates() {
    let all = small("spider-fig11");
    let is = |it: &&Value| {
        it.figure == "spider-fig1" && it.family == "ipv4" && it.engine == "poptrie:s=18"
    };
    let latencies = all.iter().filter(is).filter(|it| it.unit == "ns");
    let estimated = |it: &Value| it.at.ends_with(", estimated");
    let products =
        latencies.clone().filter(|it| estimated(it)).map(|it| it.value.unwrap() * it.x.unwrap());
    let products: Vec<f64> = products.collect();
    assert!(products.len() >= 2 && latencies.clone().any(|it| !estimated(it)));
    assert!(products.iter().all(|it| (it / products[0] - 1.0).abs() < 1e-9), "{products:?}");
}

/// table6 has a route for all of 2000::/3, so only IPv4 has misses.
#[test]
fn misses() {
    let all = small("misses");
    let is = |it: &&Value| it.engine == "radix";
    let places: Vec<_> = all.iter().filter(is).map(|it| (it.x.unwrap(), &it.traffic[..])).collect();
    assert_eq!(places, [(0.0, "missing-0"), (50.0, "missing-50"), (100.0, "missing-100")]);
}

#[test]
fn a_trace_is_measured_if_there_is_one() {
    let of =
        |trace| run("poptrie-fig12", &Inputs { trace, ..inputs(table4(), Rib::new()) }).unwrap();
    let addresses = ["10.0.0.1", "192.0.2.1", "8.8.8.8"].map(|it| it.parse().unwrap());
    let with = of(Some(Arc::new(Destinations::new("packets", addresses))));
    assert!(with.iter().any(|it| it.traffic == "packets"));
    assert!(of(None).iter().all(|it| it.run != "trace"));
}

#[test]
fn updates_are_those_given() {
    let withdraw = |prefix: &str| Change::Withdraw(prefix.parse().unwrap());
    let ipv4 = vec![withdraw("192.0.2.0/24"), withdraw("10.0.0.0/8"), withdraw("172.16.0.0/12")];
    let updates = Some(UpdateStream { name: "day".into(), ipv4, ipv6: Vec::new() });
    let all = run("poptrie-updates", &Inputs { updates, ..inputs(three(), Rib::new()) }).unwrap();
    assert_eq!(values(&all, "ipv4", "poptrie:s=18", "arrays replaced"), [1.0 / 3.0]);
    assert_eq!(values(&all, "ipv4", "", "inserted"), [3.0]);
    assert!(all.iter().filter(|it| it.family == "ipv6").all(|it| it.paper.is_none()));
}

/// Every rate is one of packets that left as the routes say, so none is refused for a wrong answer.
#[test]
fn packets_have_rates_by_batch_size() {
    let all = small("spider-fig8");
    assert!(all.iter().all(|it| it.refused.is_empty()), "{all:?}");
    let sizes = |figure: &str, family: &str, engine: &str, metric: &str| {
        let is = |it: &&Value| {
            it.figure == figure && it.family == family && it.engine == engine && it.metric == metric
        };
        all.iter().filter(is).map(|it| it.x.unwrap()).collect::<Vec<_>>()
    };
    let quick = [1.0, 16.0, 32.0, 256.0];
    for family in ["ipv4", "ipv6"] {
        for figure in ["spider-fig8", "spider-fig8-default", "spider-fig8-capture"] {
            for engine in ["poptrie:s=18:batch=each", "spider:lanes=16"] {
                assert_eq!(sizes(figure, family, engine, "rate"), quick, "{figure} {engine}");
            }
        }
        assert_eq!(sizes("spider-fig8", family, "folio", "rate"), quick);
        let slow = sizes("spider-fig8-latency", family, "folio", "99.9th percentile");
        assert_eq!(slow, quick);
    }
    // The default route of the small tables is added, or all that there is.
    let routes = |figure: &str, family: &str| {
        all.iter().find(|it| it.figure == figure && it.family == family).unwrap().routes
    };
    assert_eq!((routes("spider-fig8", "ipv4"), routes("spider-fig8", "ipv6")), (13, 10));
    assert_eq!(routes("spider-fig8-default", "ipv4"), 1);
    let paper = |it: &&Value| it.paper.is_some();
    let two = all.iter().filter(paper).all(|it| it.figure == "spider-fig8-two" && it.threads == 2);
    assert!(two, "the paper's number is one of two cores");
}

/// Every experiment runs or gives a reason, claims are judged, the page is well-formed, and the stored records make the
/// same page.
#[test]
fn a_whole_report() {
    let (dir, inputs, records) = &*SMALL;
    for (outcome, values) in &records.experiments {
        let name = &outcome.experiment;
        assert!(values.is_empty() != outcome.absent.is_empty(), "{name}");
        if !values.is_empty() {
            assert_sound(Experiment::named(name).expect("an experiment"), values);
        }
    }
    let html = page::html(records);
    let parsed = roxmltree::Document::parse_with_options(
        &html,
        roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() },
    );
    assert!(parsed.is_ok(), "{:?}", parsed.err());
    assert!(page::claims(records).iter().sum::<usize>() > 40);
    assert_eq!(page::html(&Records::read(dir.path()).unwrap()), html);
    assert!(!page::markdown(records).is_empty());
    let (_, kept) = small_report(inputs).run(dir.path(), &mut |_| ()).unwrap();
    let present = records.experiments.iter().filter(|(it, _)| it.absent.is_empty()).count();
    assert_eq!(kept, present);
}
