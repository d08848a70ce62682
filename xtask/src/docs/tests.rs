//! Tests of the whole command on a small file of records, in a temporary directory.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value as Json, json};

use super::every_cell::{self, Cells};
use super::records::{CIRCUMSTANCES, Records};
use super::{CELLS, PIPES, PYTHON, RECORDS, TABLES, Verdict, blocks, check, picture, stale};

const REFUSED: &str = "sail: next-hop id 9 does not fit, the greatest possible is 7";

/// A record of a rate, or of the reason why there is none.
fn rate(figure: &str, table: &str, engine: &str, run: &str, rate: Result<f64, &str>) -> Json {
    let family = if table.ends_with('6') { "ipv6" } else { "ipv4" };
    let batch = if figure == "traffic-one" { 1 } else { 256 };
    let mut value = json!({
        "record": "value", "experiment": "traffic", "figure": figure, "table": table, "family": family, "routes": 1234,
        "engine": engine, "run": run, "batch": batch, "metric": "rate",
    });
    match rate {
        Ok(rate) => value["value"] = rate.into(),
        Err(reason) => value["refused"] = reason.into(),
    }
    value
}

/// A record of a count.
fn counted(figure: &str, engine: &str, metric: &str, x: Option<f64>, value: f64) -> Json {
    json!({
        "record": "value", "experiment": figure, "figure": figure, "table": "ipv4", "family": "ipv4", "routes": 1234,
        "engine": engine, "metric": metric, "value": value, "x": x,
    })
}

fn run() -> Json {
    let machine = CIRCUMSTANCES.map(|(name, _)| [name.to_owned(), format!("the {name}")]);
    json!({"record": "run", "machine": machine, "inputs": [["effort", "quick"], ["seed", "1"]]})
}

/// Records of engines on an embedded table of each family, and of one engine on a large table.
fn lines() -> Vec<Json> {
    let mut lines = vec![run()];
    let mut conditions = Vec::new();
    let runs = ["random", "routed", "zipf", "sequential", "repeated"];
    for (figure, factor) in [("traffic-batch", 10.0), ("traffic-one", 1.0)] {
        for (table, family) in [("ipv4", "ipv4"), ("large", "ipv4"), ("ipv6", "ipv6")] {
            let anchor = format!("{figure}-{family}-{table}");
            conditions.push([
                anchor.clone(),
                "table".into(),
                format!("{table}: 1234 routes, 9 next hops"),
            ]);
            for (i, run) in runs.into_iter().enumerate() {
                conditions.push([
                    anchor.clone(),
                    format!("traffic, {run}"),
                    format!("{run}, 7 % with a route, seed 1"),
                ]);
                let own = |speed: f64| Ok(speed * factor * (i + 1) as f64);
                lines.push(rate(figure, table, "radix", run, own(1.5)));
                if table != "large" {
                    lines.push(rate(figure, table, "folio", run, own(20.0)));
                    lines.push(rate(figure, table, "sail", run, Err(REFUSED)));
                    lines.push(rate(figure, table, "dxr", run, Err("dxr: too many")));
                    lines.push(rate(figure, table, "dxr:xl", run, own(4.0)));
                }
            }
        }
        lines.push(counted(figure, "folio", "memory", None, 3.5));
    }
    lines.push(counted("memory", "folio", "bytes", Some(10.0), 1048576.0));
    lines.push(counted("memory", "folio", "bytes", Some(1234.0), 3670016.0));
    lines.push(counted("memory", "dxr:xl", "bytes", Some(1234.0), 524288.0));
    lines.push(rate("roofline", "ipv4", "folio", "random", Ok(50.0)));
    lines.push(rate("roofline", "ipv4", "roofline of folio", "random", Ok(100.0)));
    let share = counted("roofline", "folio", "share of the roofline", None, 50.0);
    lines.push(with(share, "run", "random".into()));
    lines.push(with(rate("batch-size", "ipv4", "folio", "routed", Ok(7.0)), "x", 1.0.into()));
    lines.push(json!({"record": "experiment", "experiment": "traffic", "conditions": conditions}));
    lines
}

fn with(mut line: Json, field: &str, value: Json) -> Json {
    line[field] = value;
    line
}

fn text(lines: &[Json]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn records() -> Records {
    Records::parse(&text(&lines())).unwrap()
}

/// Returns the reason why records are refused.
fn problem(lines: &[Json]) -> String {
    Records::parse(&text(lines)).unwrap_err()
}

/// Engines are named by the options that they chose, also in counts and rooflines.
#[test]
fn engines_have_all_of_their_options() {
    let chosen = |it: Json| match it["engine"] == "folio" && it["metric"] == "rate" {
        true => with(it, "variant", "folio:cuts=18-25-30-32:huge".into()),
        false => it,
    };
    let lines: Vec<Json> = lines().into_iter().map(chosen).collect();
    let records = Records::parse(&text(&lines)).unwrap();
    let count = |figure: &str, engine: &str| {
        records.figure(figure).filter(|it| it.table == "ipv4" && it.engine == engine).count()
    };
    for figure in ["traffic-batch", "memory", "roofline"] {
        assert_eq!(count(figure, "folio"), 0, "{figure}");
        assert!(count(figure, "folio:cuts=18-…-32:huge") > 0, "{figure}");
    }
    assert_eq!(count("roofline", "roofline of folio:cuts=18-…-32:huge"), 1);
}

#[test]
fn the_headline_is_exact() {
    let block = blocks::content(&records(), "headline", "").unwrap();
    let own = |line: &&str| line.starts_with('|') || line.get(1..3) == Some(". ");
    let tables: Vec<_> = block.lines().filter(own).collect();
    assert_eq!(
        tables[..9],
        [
            "| engine | `ipv4`: one | a batch | MiB | `large`: one | a batch | MiB |",
            "|---|---|---|---|---|---|---|",
            "| `radix` | 1.50 / 3.00 / 4.50 | 15.0 / 30.0 / 45.0 | – <sup>1</sup> | 1.50 / 3.00 / 4.50 | 15.0 / 30.0 / 45.0 | – <sup>1</sup> |",
            "| `folio` | 20.0 / 40.0 / 60.0 | 200 / 400 / 600 | 3.50 | – <sup>1</sup> | – <sup>1</sup> | – <sup>1</sup> |",
            "| `sail` | – <sup>2</sup> | – <sup>2</sup> | – <sup>2</sup> | – <sup>1</sup> | – <sup>1</sup> | – <sup>1</sup> |",
            "| `dxr` | 4.00 / 8.00 / 12.0 <sup>3</sup> | 40.0 / 80.0 / 120 <sup>3</sup> | – <sup>1</sup> <sup>3</sup> | – <sup>1</sup> | – <sup>1</sup> | – <sup>1</sup> |",
            "1. Not measured in this run.",
            "2. No value. sail: next-hop id 9 does not fit, the greatest possible is 7.",
            "3. The values of `dxr:xl`. dxr: too many.",
        ]
    );
    let ipv6 = "| `dxr` | 4.00 / 8.00 / 12.0 <sup>3</sup> | 40.0 / 80.0 / 120 <sup>3</sup> | – <sup>1</sup> <sup>3</sup> |";
    assert!(tables[9..].contains(&ipv6), "a row has the name of its engine");
    for part in [
        "the CPU",
        "the compiler",
        "the commit",
        "the date",
        "batches of 256",
        "1,234 routes",
        "9 next hops",
    ] {
        assert!(block.replace('\n', " ").contains(part), "{part}");
    }
}

#[test]
fn a_row_has_the_options_that_each_table_chose() {
    let large = |it: &Json| it["table"] == "large";
    let lines = lines().into_iter().map(|it| match large(&it) {
        true => with(it, "engine", "radix:b".into()),
        false if it["engine"] == "radix" => with(it, "engine", "radix:a".into()),
        false => it,
    });
    let records = Records::parse(&text(&lines.collect::<Vec<_>>())).unwrap();
    let block = blocks::content(&records, "headline", "").unwrap();
    let row = "| `radix` | 1.50 / 3.00 / 4.50 | 15.0 / 30.0 / 45.0 | – <sup>1</sup> | 1.50 / 3.00 / 4.50 |";
    assert!(block.contains(row), "{block}");
    let rates = blocks::content(&records, "rates", "").unwrap();
    assert!(rates.contains("`radix:a`") && rates.contains("`radix:b`"), "{rates}");
}

#[test]
fn the_other_blocks_are_exact() {
    let records = records();
    let block = |name| blocks::content(&records, name, "../").unwrap();
    assert_eq!(
        block("memory"),
        "| `ipv4`, MiB | 10 routes | 1,234 routes |\n|---|---|---|\n| `folio` | 1.00 | 3.50 |\n\
         | `dxr:xl` | – <sup>1</sup> | 0.50 |\n\n1. Not counted: the engine holds these routes without these options.\n"
    );
    assert_eq!(block("batch sizes"), "| `ipv4`, Mlps | 1 |\n|---|---|\n| `folio` | 7.00 |\n");
    let roofline = block("roofline");
    assert!(roofline.contains("| `folio` | 50.0 | 100 | 50 % | – <sup>1</sup> |"), "{roofline}");
    assert_eq!(block("variants"), "No values: the run did not include the experiment `variants`.");
    let rates = block("rates");
    assert!(rates.contains("| `folio` | 200 | 400 | 600 | 800 | 1,000 | 3.50 |"), "{rates}");
    assert!(rates.contains("| `dxr:xl` | 4.00 | 8.00 | 12.0 | 16.0 | 20.0 | –"), "{rates}");
    assert!(block("tables").contains("| [`large`](#large) | IPv4 | 1,234 | 9 | no |"));
    let engine = block("engine dxr");
    assert!(
        engine.contains("| `ipv4` | `dxr` | – <sup>1</sup> | – <sup>1</sup> | – <sup>1</sup> |"),
        "{engine}"
    );
    assert!(
        engine.contains("| `ipv4` | `dxr:xl` | 4.00 / 8.00 / 12.0 | 40.0 / 80.0 / 120 |"),
        "{engine}"
    );
    for name in ["engine none", "engines", ""] {
        assert!(blocks::content(&records, name, "").is_err(), "{name}");
    }
}

#[test]
fn variants_are_in_the_page_and_in_the_engine_block() {
    let mut all = lines();
    for (run, value) in [("random", 1.0), ("routed", 2.0), ("zipf", 3.0)] {
        all.insert(1, rate("variants", "ipv4", "dxr:d=20", run, Ok(value)));
    }
    let records = Records::parse(&text(&all)).unwrap();
    let block = blocks::content(&records, "variants", "").unwrap();
    assert!(block.ends_with("| `dxr:d=20` | 1.00 | 2.00 | 3.00 |\n"), "{block}");
    let block = blocks::content(&records, "engine dxr", "").unwrap();
    assert!(block.contains("| `dxr:d=20` on `ipv4` | 1.00 | 2.00 | 3.00 |"), "{block}");
    all[1]["batch"] = 4096.into();
    all[2]["batch"] = 4096.into();
    all[3]["batch"] = 4096.into();
    let records = Records::parse(&text(&all)).unwrap();
    let problem = blocks::content(&records, "variants", "").unwrap_err();
    assert_eq!(problem, "`variants` has batches of 4096, `traffic-batch` of 256");
}

#[test]
fn incomplete_records_are_refused() {
    let all = lines();
    let mut missing = all.clone();
    missing[1].as_object_mut().unwrap().remove("value");
    assert_eq!(problem(&missing), "line 2: neither a value nor the reason why there is none");
    let refused = with(all[1].clone(), "refused", "why".into());
    assert_eq!(problem(&[run(), refused]), "line 2: a value that is refused");
    assert!(problem(&[run(), run()]).starts_with("2 lines about a run"));
    assert!(problem(&[]).starts_with("0 lines about a run"));
    assert!(problem(&[run(), json!({"record": "other"})]).starts_with("line 2: unknown kind"));
    assert!(Records::parse("{").unwrap_err().starts_with("line 1: "));
    let mut unnamed = run();
    unnamed["machine"].as_array_mut().unwrap().retain(|pair| pair[0] != "commit");
    assert_eq!(problem(&[unnamed]), "the line about the run has no `commit` in its `machine`");
    let mut debug = run();
    let machine = debug["machine"].as_array_mut().unwrap();
    machine.iter_mut().find(|pair| pair[0] == "longmatch").unwrap()[1] = "DEBUG build".into();
    assert!(problem(&[debug]).contains("debug assertions"));
}

#[test]
fn blocks_without_their_values_are_refused() {
    let mut all = lines();
    all[1]["batch"] = 4096.into();
    let records = Records::parse(&text(&all)).unwrap();
    let problem = blocks::content(&records, "headline", "").unwrap_err();
    assert_eq!(problem, "`traffic-batch` has batches of 4096 and of 256");
    let no_conditions: Vec<_> =
        lines().into_iter().filter(|it| it["record"] != "experiment").collect();
    let records = Records::parse(&text(&no_conditions)).unwrap();
    let problem = blocks::content(&records, "rates", "").unwrap_err();
    assert_eq!(problem, "the conditions of `traffic-batch-ipv4-ipv4` have no `table`");
    let no_ipv6: Vec<_> = lines().into_iter().filter(|it| it["family"] != "ipv6").collect();
    let records = Records::parse(&text(&no_ipv6)).unwrap();
    let problem = blocks::content(&records, "headline", "").unwrap_err();
    assert_eq!(problem, "the records have no rates on the embedded ipv6 table");
}

#[test]
fn the_picture_has_each_engine_once_the_fastest_first() {
    let records = records();
    for theme in picture::THEMES {
        let svg = picture::draw(&records, theme).unwrap();
        let (ipv4, ipv6) = svg.split_once("IPv6").unwrap();
        let names = |part: &str| {
            let names = part
                .split("class=\"name\"")
                .skip(1)
                .map(|it| it.split(['>', '<']).nth(1).unwrap().to_owned());
            names.collect::<Vec<_>>()
        };
        assert_eq!(names(ipv4), ["folio", "dxr:xl", "radix", "sail"]);
        assert_eq!(names(ipv6), ["folio", "dxr:xl", "radix", "sail"]);
        assert_eq!(svg.matches("class=\"bar\"").count(), 6, "an engine without a rate has no bar");
        assert_eq!(svg.matches(">next-hop id 9 does not fit<").count(), 2);
        assert!(
            svg.contains(">400<") && svg.contains(">80.0<") && svg.contains("the CPU"),
            "{svg}"
        );
    }
}

/// A record of a cell; `engine` has options behind the first colon.
fn cell(table: &str, mode: &str, traffic: &str, engine: &str, mlps: f64, auto: &[&str]) -> Json {
    let (engine, variant) = engine.split_once(':').unwrap_or((engine, ""));
    let family = if table.ends_with('6') { "ipv6" } else { "ipv4" };
    let (mode, batch) = mode.split_once(' ').unwrap_or((mode, "1"));
    let auto: Vec<_> = auto.iter().map(|spec| json!({"spec": spec, "chosen": engine})).collect();
    json!({
        "table": table, "family": family, "routes": 1234, "next_hops": 9, "engine": engine, "variant": variant,
        "traffic": traffic, "mode": mode, "batch": batch.parse::<u64>().unwrap(), "mlps": mlps,
        "mlps_q1": mlps * 0.9, "mlps_q3": mlps * 1.1, "mismatches": 0, "auto": auto,
    })
}

/// Records of two tables: `auto` errs in one cell, engines refuse the second table.
fn cell_lines() -> Vec<Json> {
    let refused = |spec: &str| {
        let error = "the table needs more than 7 chunks: choose another engine with --engine";
        json!({"table": "made6", "family": "ipv6", "engine": "x", "spec": spec, "error": error})
    };
    let both = ["auto:use=one", "auto:traffic=few:use=one"];
    vec![
        with(run(), "tables", json!(["real", "made6"])),
        cell("real", "one", "zipf", "dxr:d=18", 20.0, &both[1..]),
        cell("real", "one", "zipf", "poptrie:s=18", 10.0, &[]),
        cell("real", "one", "zipf", "folio:pages:codes=8", 5.0, &[]),
        cell("real", "one", "zipf", "folio:identity:codes=8", 18.0, &both[..1]),
        cell("real", "batch 4096", "routed", "dxr:d=18", 100.0, &[]),
        cell("real", "batch 4096", "routed", "folio:pages:codes=8", 90.0, &[]),
        cell("real", "batch 4096", "routed", "folio:identity:codes=8", 1500.0, &["auto"]),
        refused("dxr"),
        refused("folio"),
        cell("made6", "one", "random", "radix", 4.0, &[]),
        cell("made6", "one", "random", "folio:pages:cuts=30-36-41-51", 8.0, &both[..1]),
    ]
}

fn cells(lines: &[Json]) -> Cells {
    Cells::parse(&text(lines)).unwrap()
}

#[test]
fn the_tables_of_cells_are_exact() {
    let block = every_cell::content(&cells(&cell_lines()), "cells", "../").unwrap().unwrap();
    assert_eq!(
        block,
        "### Every cell: `real`\n\n\
         [`real`](../docs/tables.md#real): 1,234 IPv4 routes, 9 next hops.\n\n\
         | lookups | traffic | best other engine | `folio` | `folio:pages` | `auto` | `auto:traffic=few` |\n\
         |---|---|---|---|---|---|---|\n\
         | one | zipf | `dxr:d=18`, **20.0** | 18.0, 0.90× | 5.00, 0.25× | `folio`, 0.90 | `dxr`, 1.00 |\n\
         | batches of 4,096 | routed | `dxr:d=18`, 100 | **1,500**, 15.00× | 90.0, 0.90× | `folio`, 1.00 |  |\n\n\
         ### Every cell: `made6`\n\n\
         [`made6`](../docs/tables.md#made6): 1,234 IPv6 routes, 9 next hops. Without a rate: `dxr` (the table needs more than 7\n\
         chunks).\n\n\
         | lookups | traffic | best other engine | `folio` | `folio:pages` | `auto` | `auto:traffic=few` |\n\
         |---|---|---|---|---|---|---|\n\
         | one | random | `radix`, 4.00 | – <sup>1</sup> | **8.00**, 2.00× | `folio`, 1.00 |  |\n\n\
         1. No value. folio: the table needs more than 7 chunks.\n\n"
    );
    let bare = [cell_lines()[0].clone(), cell("real", "one", "zipf", "folio:lines", 1.0, &[])];
    let bare = [with(bare[0].clone(), "tables", json!(["real"])), bare[1].clone()];
    let block = every_cell::content(&cells(&bare), "cells", "").unwrap().unwrap();
    let dash = "– <sup>1</sup>";
    let row = format!("| one | zipf | {dash} | **1.00** | {dash} | {dash} | {dash} |\n");
    assert!(block.contains(&row) && block.contains("\n1. Not measured in this run.\n"), "{block}");
}

#[test]
fn the_summary_of_cells_counts() {
    let content =
        |lines: &[Json]| every_cell::content(&cells(lines), "cells summary", "").unwrap().unwrap();
    let block = content(&cell_lines());
    let rows: Vec<_> = block.lines().filter(|line| line.starts_with('|')).skip(2).collect();
    assert_eq!(
        rows,
        [
            "| `real` | 1 of 2 | 1 of 2 | 0.90 (one, zipf) | 1 of 2 | 2 of 2 | 0.90 (one, zipf) |",
            "| `made6` | 0 of 1 | 0 of 1 | – | 1 of 1 | 1 of 1 | 1.00 (one, random) |",
            "| **all** | 1 of 3 | 1 of 3 | 0.90 (one, zipf) | 2 of 3 | 3 of 3 | 0.90 (one, zipf) |",
        ]
    );
    let prose = block.replace('\n', " ");
    for part in [
        "Medians of one run on one core of: the CPU;",
        "commit the commit; the date; effort quick.",
        "quartiles is below 10 % of the median for half of the rates",
        "Folio has at least 0.95 of the best other engine's rate in 1 of 3 cells, and is the fastest in 1.",
        "`auto` chooses an engine with at least 0.95 of the best rate in 2 cells, and with at least 0.90 in 3.",
        "Of the 1 cells with Zipf traffic it has at least 0.95 in 0, and told of it by `traffic=few` in 1.",
    ] {
        assert!(prose.contains(part), "{part}: {prose}");
    }
    assert!(!prose.contains("`real`, `made6`: Medians"), "one run needs no list of its tables");
    let mut two = cell_lines();
    two[0]["tables"] = json!(["real"]);
    two.insert(1, with(run(), "tables", json!(["made6"])));
    let prose = content(&two);
    assert!(prose.contains("`real`: Medians") && prose.contains("`made6`: Medians"), "{prose}");
}

#[test]
fn malformed_cells_are_refused() {
    let problem = |lines: &[Json]| Cells::parse(&text(lines)).unwrap_err();
    let all = cell_lines();
    assert_eq!(problem(&all[..1]), "no rates; `cargo xtask cells` measures them");
    assert_eq!(problem(&all[1..]), "0 lines about a run name the table `real`, not one");
    let doubled: Vec<_> = all.iter().take(1).chain(&all).cloned().collect();
    assert_eq!(problem(&doubled), "2 lines about a run name the table `real`, not one");
    let wrong = with(all[1].clone(), "mlps", Json::Null);
    assert_eq!(problem(&[all[0].clone(), wrong]), "line 2: neither a rate nor an error");
    let mode = with(all[1].clone(), "mode", "dependent".into());
    assert_eq!(problem(&[mode]), "line 1: unknown mode `dependent`");
    assert_eq!(problem(&[json!({})]), "line 1: no `table`");
    let mut unnamed = all.clone();
    unnamed[0]["machine"] = json!([]);
    assert_eq!(problem(&unnamed), "the line about the run has no `CPU` in its `machine`");
}

/// A small repository, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("xtask-docs-{name}-{}", std::process::id()));
        let scratch = Self(dir);
        scratch.write(RECORDS, &text(&lines()));
        let block = |name: &str| format!("<!-- generated: {name} -->\n<!-- end -->\n");
        scratch.write("README.md", &format!("# A\n{}", block("headline")));
        scratch.write(CELLS, &text(&cell_lines()));
        let of_report = ["provenance", "rates", "memory", "variants", "batch sizes", "roofline"];
        let names = of_report.into_iter().chain(["cells summary", "cells"]);
        scratch.write(PYTHON, &super::python::sample());
        scratch.write(PIPES, &super::pipes::sample());
        scratch.write("docs/pipes.md", &block("pipes"));
        let python = ["python lookups", "python openings", "python spark"].map(block).concat();
        scratch.write("docs/python.md", &python);
        scratch.write("docs/engines.md", &names.map(block).collect::<String>());
        let sections =
            ["ipv4", "ipv6", "large", "real", "made6"].map(|name| format!("## `{name}`\n"));
        scratch.write(TABLES, &(block("tables") + &sections.concat()));
        for engine in ["dxr", "folio", "radix", "sail"] {
            let path = format!("{}/{engine}/README.md", super::ENGINES);
            scratch.write(&path, &block(&format!("engine {engine}")));
        }
        scratch.write(&format!("{}/auto/README.md", super::ENGINES), "no rates\n");
        scratch
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.0.join(path)).unwrap()
    }

    fn regenerate(&self) {
        for (path, text) in stale(&self.0).unwrap() {
            self.write(&path, &text);
        }
    }

    fn problem(&self) -> String {
        match check(&self.0) {
            Verdict::Failed(problem) => problem,
            other => panic!("{other:?}"),
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Best effort: a leftover directory harms no later run.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn stale_files_are_named_and_not_written() {
    let scratch = Scratch::new("stale");
    assert!(scratch.problem().contains("docs/pictures/engines-dark.svg"));
    assert!(!scratch.0.join("docs/pictures").exists());
    scratch.regenerate();
    assert_eq!(check(&scratch.0), Verdict::Passed);
    let edited = scratch.read("README.md").replacen("400", "500", 1);
    scratch.write("README.md", &edited);
    assert_eq!(
        scratch.problem(),
        "differs from the records in docs/results/published: README.md; run `cargo xtask docs`"
    );
    assert_eq!(scratch.read("README.md"), edited);
    scratch.regenerate();
    let text = scratch.read(RECORDS).replace("\"value\":4.0", "\"value\":4.5");
    scratch.write(RECORDS, &text);
    let problem = scratch.problem();
    assert!(
        problem.contains("README.md, docs/engines.md") && problem.contains("dxr/README.md"),
        "{problem}"
    );
    assert!(!problem.contains("sail/README.md"), "{problem}");
}

#[test]
fn malformed_pages_are_refused_with_their_names() {
    let scratch = Scratch::new("malformed");
    scratch.regenerate();
    let readme = scratch.read("README.md");
    for (text, problem) in [
        (
            readme.replace("<!-- end -->", ""),
            "README.md: line 2: the generated block has no `<!-- end -->`",
        ),
        (
            readme.replace("generated: headline", "generated: headlines"),
            "README.md: line 2: unknown generated block `headlines`",
        ),
        ("# A\n".into(), "README.md: no block `<!-- generated: headline -->`"),
    ] {
        scratch.write("README.md", &text);
        assert_eq!(scratch.problem(), problem);
    }
    scratch.write("README.md", &readme);
    scratch.write(&format!("{}/dxr/README.md", super::ENGINES), "no rates\n");
    assert_eq!(
        scratch.problem(),
        "crates/longmatch/src/engine/dxr/README.md: no block `<!-- generated: engine dxr -->`"
    );
}

#[test]
fn tables_without_provenance_are_refused() {
    let scratch = Scratch::new("provenance");
    scratch.regenerate();
    let text = scratch.read(TABLES).replace("## `large`", "## large");
    scratch.write(TABLES, &text);
    let problem = scratch.problem();
    assert!(problem.starts_with("docs/tables.md: no section `## `large``"), "{problem}");
    scratch
        .write(TABLES, &text.replace("## large", "## `large`").replace("## `made6`", "## made6"));
    let problem = scratch.problem();
    assert!(
        problem.contains("`## `made6``") && problem.contains("published/cells.ndjson has rates"),
        "{problem}"
    );
}
