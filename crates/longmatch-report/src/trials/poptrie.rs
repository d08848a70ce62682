//! The Poptrie paper's experiments, and ours that stand on them.

use std::sync::Arc;

use longmatch::{Rib, Route};

use super::{carry_out, findings, inputs, small, values};
use crate::experiment::Experiment;
use crate::inputs::{Inputs, UpdateStream};
use crate::model::{Cell, Chart, Row};
use longmatch::{Change, Ipv4, NextHopId};
use longmatch_bench::Destinations;
use longmatch_bench::testing::{table4, table6};

/// 10.0.0.0/8, 10.1.0.0/16 inside of it, and 192.0.2.0/24, each with a next hop of its own.
fn three() -> Rib<Ipv4> {
    let prefixes = ["10.0.0.0/8", "10.1.0.0/16", "192.0.2.0/24"];
    let route = |(prefix, id): (&str, u32)| Route {
        prefix: prefix.parse().unwrap(),
        next_hop: NextHopId::new(id).unwrap(),
    };
    prefixes.into_iter().zip(1..).map(route).collect()
}

fn on_three(name: &str) -> (Vec<crate::Figure>, Vec<Row>) {
    carry_out(name, &inputs(three(), Rib::new())).expect("three routes will do")
}

/// SYN1 makes 4, 2 and 1 of the three routes, SYN2 8, 4 and 1. The ranges: before and after each of
/// the outer two, the two, and 10.1/16 with 10/8 before and after it.
#[test]
fn datasets() {
    let (_, rows) = on_three("poptrie-table1");
    let of = |table: &str, metric: &str| {
        let is = |row: &&Row| row.table == table && row.metric == metric;
        rows.iter().find(is).and_then(|row| row.value).unwrap()
    };
    assert_eq!((of("small", "prefixes"), of("small", "next hops")), (3.0, 3.0));
    assert_eq!((of("small", "ranges"), of("small", "long prefixes")), (7.0, 0.0));
    assert_eq!((of("SYN1 of small", "prefixes"), of("SYN2 of small", "prefixes")), (7.0, 13.0));
    assert_eq!(of("SYN1 of small", "long prefixes"), 0.0);
}

/// 10/8 without 10.1/16: a /16, a /15 and so on to a /9 beside it. Nothing else ends in the middle
/// of 10/8, so each of these needs as many bits as it has.
#[test]
fn heat_map() {
    let (figures, rows) = on_three("poptrie-fig7");
    let at = |at: &str| rows.iter().find(|row| row.at == at).and_then(|row| row.value);
    for depth in 9..=16 {
        let wanted = f64::from(1u32 << (32 - depth));
        assert_eq!(at(&format!("matched=/8 depth={depth}")), Some(wanted), "{depth}");
    }
    assert_eq!(at("matched=/16 depth=16"), Some(65_536.0));
    assert_eq!(at("matched=/24 depth=24"), Some(256.0));
    assert_eq!(at("matched=/8 depth=24"), None);
    // Nothing begins with 01 or 10.
    assert_eq!(at("matched=none depth=2"), Some(f64::from(1u32 << 31)));
    assert_eq!(rows.iter().filter_map(|row| row.value).sum::<f64>(), 2f64.powi(32));
    let Some(Chart::Heat(heat)) = &figures[0].chart else { panic!("no map") };
    assert_eq!((heat.columns.len(), heat.rows.len(), heat.cells.len()), (34, 33, rows.len()));
}

/// With s = 0 there are the root; for 10/8 a node of bits 6 to 11, and for 10.1/16 one of bits 12 to
/// 17 below it; for 192.0.2.0/24 nodes of bits 6 to 11, 12 to 17 and 18 to 23. Runs of leaves:
/// root none; A after none and before none; B between A and A; none; none; C between none and none.
///
/// With s = 16 only 192.0/16 has nodes, of bits 16 to 21 and 22 to 27; with s = 18 one, of bits 18
/// to 23. Without leafvec each place that leads to no node is a leaf.
#[test]
fn extensions() {
    let (_, rows) = on_three("poptrie-table2");
    let of = |engine, metric| values(&rows, "ipv4", engine, metric);
    assert_eq!((of("poptrie:s=0", "nodes"), of("poptrie:s=0", "leaves")), (vec![6.0], vec![12.0]));
    let basic = "poptrie:s=0:basic:unaggregated";
    let leaves = 62.0 + 63.0 + 64.0 + 63.0 + 63.0 + 64.0;
    assert_eq!((of(basic, "nodes"), of(basic, "leaves")), (vec![6.0], vec![leaves]));
    assert_eq!((of("poptrie:s=16", "nodes"), of("poptrie:s=16", "leaves")), (vec![2.0], vec![4.0]));
    assert_eq!((of("poptrie:s=18", "nodes"), of("poptrie:s=18", "leaves")), (vec![1.0], vec![3.0]));
    assert_eq!(of("poptrie:s=18:basic:unaggregated", "leaves"), [64.0]);
    let mib = (f64::from(4 << 18) + 24.0 + 2.0 * 3.0) / f64::from(1 << 20);
    assert_eq!(of("poptrie:s=18", "memory"), [mib]);
    let paper = |row: &&Row| row.engine == "poptrie:s=18" && row.metric == "nodes";
    assert_eq!(rows.iter().find(paper).unwrap().paper, Some(40_760.0));
}

#[test]
fn comparisons_have_every_engine_in_every_way() {
    let (figures, rows) = small("poptrie-fig9");
    assert_eq!(figures[0].table.rows.len(), 12);
    let of = |row: &&Row| row.engine == "folio" && row.metric == "rate";
    let ways = rows.iter().filter(of).map(|row| (&row.keys[..], &row.mode[..]));
    assert!(ways.eq([("xorshift", "one"), ("array", "one"), ("array", "batch")]));
    let (_, rows) = small("poptrie-locality");
    let sail = rows.iter().filter(|row| row.engine == "sail");
    let papers = sail.map(|row| (&row.traffic[..], row.paper));
    assert!(papers.eq([("sequential", Some(1264.0)), ("repeated", Some(492.0))]));
    let (_, rows) = small("poptrie-fig8");
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    assert_eq!(rows.iter().map(|row| row.threads).max(), Some(cpus as u64));
}

#[test]
fn cycles_are_of_every_lookup() {
    let (figures, rows) = small("poptrie-cycles");
    assert_eq!(figures.len(), 2);
    let boxes = figures[1].table.rows.iter().map(|row| match row[1] {
        Cell::Count(lookups) => lookups,
        _ => panic!("no count"),
    });
    assert_eq!(boxes.sum::<u64>(), 1 << 10, "each lookup has one depth");
    let paper = rows.iter().find(|row| row.engine == "sail" && row.at == "mean").unwrap();
    assert_eq!(paper.paper, Some(57.43));
    let Some(Chart::Lines(lines)) = &figures[0].chart else { panic!("no lines") };
    assert!(lines.series.iter().all(|it| it.points.is_sorted_by(|a, b| a.y < b.y)));
    let (_, rows) = small("spider-fig10");
    let batches = rows.iter().filter(|row| row.at == "mean").map(|row| row.batch);
    assert!(batches.eq([1, 1, 16, 16]));
}

#[test]
fn traces_are_asked_for() {
    let why = carry_out("poptrie-fig12", &inputs(table4(), table6())).unwrap_err();
    assert!(why.0.contains("--trace"), "{why:?}");
    let addresses = ["10.0.0.1", "192.0.2.1", "8.8.8.8"].map(|it| it.parse().unwrap());
    let trace = Some(Arc::new(Destinations::new("packets", addresses)));
    let with = Inputs { trace, ..inputs(three(), Rib::new()) };
    let (figures, _) = carry_out("poptrie-fig12", &with).unwrap();
    // 10.0.0.1 is at depth 16, 192.0.2.1 at 24 and 8.8.8.8 at 7.
    let wanted = "33.3 % of the packets are deeper than 18 and 0.0 % deeper than 24";
    assert!(findings(&figures)[0].starts_with(wanted), "{:?}", findings(&figures));
}

/// 32,769 /16 chunks with a route longer than /24 each are one more than SAIL can number; split,
/// every table has as many.
#[test]
fn refusals_of_split_tables_are_shown() {
    let mut rib = Rib::new();
    for i in 0..32_769u32 {
        let prefix = longmatch::Prefix::from_bits_masked(i << 16 | 0x80, 25);
        rib.insert(prefix, NextHopId::new(1).unwrap()).unwrap();
    }
    let (_, rows) = carry_out("poptrie-table5", &inputs(rib, Rib::new())).unwrap();
    let sail: Vec<_> = rows.iter().filter(|row| row.engine == "sail").collect();
    assert_eq!(sail.len(), 2);
    assert!(sail.iter().all(|row| row.value.is_none() && !row.refused.is_empty()), "{sail:?}");
    let (_, rows) = on_three("poptrie-table5");
    let routes = rows.iter().filter(|row| row.engine == "folio").map(|row| row.routes);
    assert!(routes.eq([7, 13]));
}

#[test]
fn updates_are_those_given() {
    let withdraw = Change::Withdraw("192.0.2.0/24".parse().unwrap());
    let unknown = Change::Withdraw("172.16.0.0/12".parse().unwrap());
    let updates =
        UpdateStream { name: "day".into(), ipv4: vec![withdraw, unknown], ipv6: Vec::new() };
    let with = Inputs { updates: Some(updates), ..inputs(three(), Rib::new()) };
    let (figures, rows) = carry_out("poptrie-updates", &with).unwrap();
    assert!(figures[0].conditions.iter().any(|it| it.value == "day: 2 updates"));
    // The /24 goes with its node: one entry of the first table, none of the other kinds.
    let of = |metric| values(&rows, "ipv4", "poptrie:s=18", metric);
    assert_eq!(of("entries replaced"), [0.5]);
    assert_eq!((of("nodes replaced"), of("leaves replaced")), (vec![0.0], vec![0.0]));
    let papers = rows.iter().filter(|row| row.engine == "poptrie:s=18").filter_map(|row| row.paper);
    assert!(papers.eq([0.041, 0.48, 6.05, 2.51, 5.10]));
    let (figures, _) = small("poptrie-updates");
    assert_eq!(figures.len(), 2, "both families");
}

/// 2000::/3 and below it as in the README of the engine; at least the counts add up.
#[test]
fn ipv6() {
    let (figures, rows) = small("poptrie-table6");
    assert_eq!(figures.len(), 2);
    let of = |engine, metric| values(&rows, "ipv6", engine, metric)[0];
    for (engine, s) in [("poptrie:s=16", 16), ("poptrie:s=18", 18)] {
        let bytes = f64::from(4 << s) + 24.0 * of(engine, "nodes") + 2.0 * of(engine, "leaves");
        assert_eq!(of(engine, "memory") * 1024.0, bytes, "{engine}");
    }
    assert!(carry_out("poptrie-table6", &inputs(table4(), Rib::new())).is_err());
}

#[test]
fn ours() {
    let (figures, rows) = small("traffic");
    assert_eq!(figures.len(), 4, "two modes of two families");
    let of = |row: &&Row| row.engine == "folio" && row.family == "ipv4";
    let kinds = rows.iter().filter(of).map(|row| (&row.traffic[..], &row.mode[..]));
    assert!(kinds.eq([("routed", "one"), ("zipf", "one"), ("routed", "batch"), ("zipf", "batch")]));
    let (figures, rows) = small("limit");
    assert_eq!(figures.len(), 2);
    assert!(rows.iter().any(|row| row.engine == "limit of folio"));
    let engines = rows.iter().filter(|row| row.family == "ipv4" && row.engine == "folio");
    assert_eq!(engines.count(), 2, "random and routed");
}

#[test]
fn missing_peers_say_how_to_get_them() {
    let mut with = inputs(table4(), table6());
    with.peers.missing.push(("bart".into(), "not installed: how to".into()));
    let (figures, rows) = carry_out("peers", &with).unwrap();
    assert_eq!(figures.len(), 2);
    let bart: Vec<_> = rows.iter().filter(|row| row.engine == "bart").collect();
    assert!(bart.iter().all(|row| row.refused == "not installed: how to") && bart.len() == 4);
}

#[test]
fn updates_against_lookups() {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        eprintln!("SKIPPED: one CPU only");
        return;
    }
    let (figures, rows) = small("live");
    assert_eq!(figures.len(), 2);
    let rates = rows.iter().filter(|row| row.engine == "folio" && row.metric == "rate");
    assert_eq!(rates.count(), 4, "two rates of updates in two families");
}

/// Names are how experiments are asked for, and what files are called.
#[test]
fn experiments_have_names_of_their_own() {
    let mut names: Vec<_> = Experiment::all()
        .flat_map(|it| [it.name].into_iter().chain(it.aliases.iter().copied()))
        .collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c);
    assert!(names.iter().all(|name| name.chars().all(plain)), "{names:?}");
    assert!(names.iter().all(|name| Experiment::named(name).is_some()));
}
