//! Blocks of made records, and those of the repository.

use std::path::Path;

use super::blocks::content;
use super::published::{CIRCUMSTANCES, Published, PublishedRun};
use crate::record::{ExperimentEnd, Run, Value, write_ndjson};
use crate::records::Records;

#[test]
fn documents_have_the_numbers_of_the_published_records() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let stale = super::documents(&root, false).unwrap();
    assert!(stale.is_empty(), "{} differ from the records: `cargo xtask docs`", stale.join(", "));
}

/// A value of an IPv4 table.
fn value(figure: &str, engine: &str, run: &str, metric: &str, value: f64) -> Value {
    let texts = [figure, "ipv4", "ipv4", engine, run, metric].map(str::to_owned);
    let [figure, table, family, engine, run, metric] = texts;
    let (routes, value) = (1000, Some(value));
    Value { figure, table, family, routes, engine, run, metric, value, ..Value::default() }
}

fn refused(it: Value, why: &str) -> Value {
    Value { value: None, refused: why.into(), ..it }
}

fn run() -> Run {
    let pair = |name: &str| (name.to_owned(), format!("the {name}"));
    let machine = CIRCUMSTANCES.into_iter().map(pair).collect();
    Run { machine, inputs: ["effort", "seed"].map(pair).to_vec(), ..Run::default() }
}

/// The text of records with one experiment.
fn text(run: Run, values: Vec<Value>, conditions: Vec<[String; 3]>) -> Vec<u8> {
    let experiment = values.first().map_or_else(String::new, |it| it.experiment.clone());
    let end = ExperimentEnd { experiment, conditions, ..ExperimentEnd::default() };
    let mut out = Vec::new();
    write_ndjson(&Records { run, experiments: vec![(end, values)] }.lines(), &mut out).unwrap();
    out
}

fn condition(figure: &str, name: &str, value: &str) -> [String; 3] {
    [figure, name, value].map(str::to_owned)
}

fn machine(mut values: Vec<Value>) -> PublishedRun {
    let mut conditions = Vec::new();
    for family in ["ipv4", "ipv6"] {
        for run in ["random", "routed", "zipf"] {
            for figure in ["traffic-one", "traffic-batch"] {
                for (engine, rate) in [("folio", 50.0), ("dxr", 20.0), ("dxr:xl", 10.0)] {
                    let (family, table) = (family.to_owned(), family.to_owned());
                    let rate = value(figure, engine, run, "rate", rate);
                    let rate = Value { family, table, ..rate };
                    values.push(if engine == "dxr" { refused(rate, "too many") } else { rate });
                }
            }
        }
        let anchor = format!("traffic-batch-{family}-{family}");
        let table = format!("{family}: 1000 routes, 16 next hops");
        conditions.push(condition(&anchor, "table", &table));
        let traffic = "random, 7 % with a route, seed 1";
        conditions.push(condition(&anchor, "traffic, random", traffic));
    }
    PublishedRun::parse("zen4".into(), &text(run(), values, conditions)).unwrap()
}

fn block(values: Vec<Value>, name: &str) -> Result<String, String> {
    let published = Published { machines: vec![machine(values)], comparisons: Vec::new() };
    content(&published, published.newest()?, name, "")
}

#[test]
fn the_headline_has_each_engine_once_and_the_best_of_others() {
    let of = |engine, rate| value("peers", engine, "one by one", "rate", rate);
    let bart = of("bart", 9.0);
    let waits = |engine, rate| value("peers", engine, "dependent", "rate", rate);
    let mut peers = vec![of("folio", 45.0), bart.clone(), of("rte_fib", 30.0)];
    peers.extend([waits("folio", 40.0), waits("bart", 20.0)]);
    let text = block(peers, "headline").unwrap();
    assert!(text.contains("| `folio` | 50.0 / 50.0 / 50.0 | 50.0 / 50.0 / 50.0 |"), "{text}");
    assert!(text.contains("| `dxr` | 10.0 / 10.0 / 10.0 <sup>2</sup>"), "{text}");
    assert!(text.contains("2. The values of `dxr:xl`. too many."), "{text}");
    assert!(text.contains("7 % of its random addresses"), "{text}");
    let row = "| IPv4, `ipv4`, one by one | `rte_fib` | 30.0 | 45.0 | 1.50 |";
    assert!(text.contains(row), "{text}");
    let row = "| IPv4, `ipv4`, dependent | `bart` | 50.0 ns | 25.0 ns | 2.00 |";
    assert!(text.contains(row), "{text}");
    let text = block(vec![refused(bart, "not installed: advice")], "headline").unwrap();
    assert!(text.contains("| none of 1 was measured: not installed | – | – | – |"), "{text}");
    assert!(block(Vec::new(), "headline").unwrap().contains("Not measured in this run."));
}

#[test]
fn figures_are_those_of_the_report() {
    let variants = vec![
        Value {
            variant: "folio:a=1-2-3-4".into(),
            ..value("variants", "folio", "random", "rate", 2.0)
        },
        refused(value("variants", "sail", "random", "rate", 0.0), "no"),
    ];
    let text = block(variants, "figure variants rate").unwrap();
    assert!(
        text.contains("| `folio:a=1-…-4` | 2 |\n| `sail` | – <sup>1</sup> |\n\n1. no"),
        "{text}"
    );
    assert_eq!(block(Vec::new(), "figure variants").unwrap(), "Not measured in this run.");
    assert!(block(Vec::new(), "engine dxr").unwrap().contains("| `ipv4` | `dxr:xl` | 10.0 / 10.0"));
    assert!(block(Vec::new(), "engine sail").is_err());
    assert!(block(Vec::new(), "unknown").is_err());
}

/// The records of a separate run replace those of the same experiments.
#[test]
fn experiments_are_those_of_their_own_run() {
    let kinds = |rate| machine(vec![value("kinds-one", "dxr", "routed", "rate", rate)]);
    let mut both = kinds(10.0);
    let mut other = kinds(20.0);
    other.records.run.date = "later".into();
    both.add(other);
    let rates: Vec<_> = both.figure("kinds-one").map(|it| it.value).collect();
    assert_eq!(rates, [Some(20.0)]);
    let experiment = &both.figure("kinds-one").next().unwrap().experiment;
    assert_eq!((&*both.run_of(experiment).date, &*both.run_of("another").date), ("later", ""));
}

#[test]
fn kinds_name_the_best_engine_and_the_share_of_the_default() {
    let rate = |engine, run, rate| value("kinds-one", engine, run, "rate", rate);
    let values = vec![
        rate("folio", "routed, avx2", 40.0),
        rate("dxr", "routed, avx2", 50.0),
        rate("auto", "routed, avx2", 51.0),
        rate("folio", "random", 20.0),
        rate("poptrie", "random", 20.5),
        rate("folio", "zipf", 20.0),
        value("kinds-one", "dxr", "", "memory", 2.0),
        value("kinds-one", "folio", "", "memory", 3.0),
        value("kinds-one", "folio", "", "compile", 7.0),
    ];
    let text = block(values, "kinds").unwrap();
    for row in [
        "| `ipv4` (IPv4) | 3 | 1 | 1 | 0 | 0.80 |",
        "| **all** | 3 | 1 | 1 | 0 | 0.80 |",
        "| table | traffic | one, avx2 | one |",
        "| `ipv4` (IPv4) | routed | `dxr` 1.25 | – |",
        "| `ipv4` (IPv4) | 3.00 | `dxr` 2.00 | 7.00 | `folio` 7.00 |",
    ] {
        assert!(text.contains(row), "{row} in {text}");
    }
    assert!(!text.contains("| random |"), "{text}");
    assert_eq!(block(Vec::new(), "kinds").unwrap(), "Not measured in this run.");
}

#[test]
fn comparisons_have_a_table_for_each_figure() {
    let of = |figure: &str, engine: &str, metric: &str, found| {
        let own = value(figure, engine, "`call`", metric, found);
        let own = Value { threads: 2, unit: "s".into(), family: String::new(), ..own };
        Value { experiment: "pipes".into(), table: String::new(), ..own }
    };
    let mut rate = of("pipes-csv", "longmatch 1", "rate", 4.0);
    (rate.spread.q1, rate.spread.q3, rate.passes) = (Some(3.0), Some(5.0), 5);
    let values =
        vec![rate, of("pipes-csv", "polars 2", "rate", 1.0), of("pipes-log", "a", "time", 2.0)];
    let conditions = vec![
        condition("pipes-csv", "job", "A CSV (5 rows)"),
        condition("pipes-csv", "beside", "longmatch"),
    ];
    let text = text(run(), values, conditions);
    let comparisons = vec![PublishedRun::parse("pipes.ndjson".into(), &text).unwrap()];
    let published = Published { machines: vec![machine(Vec::new())], comparisons };
    let of = |name| content(&published, &published.machines[0], name, "");
    let text = of("comparison pipes").unwrap();
    for part in [
        "**A CSV (5 rows):**\n\n| program | call | threads | rate, s | rate / longmatch |",
        "| longmatch 1 | `call` | 2 | 4.00 (3.00 to 5.00) | 1.00 |\n| polars 2 | `call` | 2 | 1.00 | 0.250 |",
        "| program | call | threads | time, s |\n|---|---|---|---|\n| a | `call` | 2 | 2.00 |",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!of("comparison pipes-log").unwrap().contains("CSV"));
    assert!(of("comparison other").is_err());
}

#[test]
fn records_that_cannot_be_published_are_refused() {
    let refusal = |text: &[u8], name: &str| {
        let parsed = PublishedRun::parse(name.into(), text).and_then(|it| it.check());
        parsed.unwrap_err()
    };
    let good = String::from_utf8(text(run(), Vec::new(), Vec::new())).unwrap();
    assert!(
        PublishedRun::parse("the microarchitecture".into(), good.as_bytes())
            .unwrap()
            .check()
            .is_ok()
    );
    assert!(refusal(good.as_bytes(), "zen4").contains("in the directory `zen4`"));
    assert!(refusal(good.repeat(2).as_bytes(), "zen4").starts_with("2 lines about a run"));
    assert!(refusal(b"{}", "zen4").starts_with("line 1"));
    let debug = good.replace("the longmatch", "DEBUG build");
    assert!(refusal(debug.as_bytes(), "the microarchitecture").contains("debug assertions"));
    for name in CIRCUMSTANCES {
        let broken = good.replacen(&format!("[\"{name}\""), "[\"other\"", 1);
        assert!(refusal(broken.as_bytes(), "the microarchitecture").contains(name), "{name}");
    }
    let neither = Value { value: None, ..value("f", "e", "", "rate", 0.0) };
    let neither = text(run(), vec![neither], Vec::new());
    assert!(refusal(&neither, "zen4").contains("line 2: neither a value"));
}
