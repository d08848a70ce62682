//! `cargo xtask cells`: measures every engine and `auto` on tables of different kinds, in each mode and under each kind
//! of traffic, and writes the records behind the blocks `cells` of docs/engines.md.
//!
//! - `tables`: the tables, three of which are derived from others, and one made at random.
//! - `published`: the file of records, in which some tables can be measured again.
//!
//! All engines of a table and a mode are measured in one process, where their passes take turns.

mod published;
mod tables;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value as Json, json};

use crate::Outcome;
use crate::large;
use crate::report::{Report, Verdict};
use crate::workspace::{cargo, longmatch_of_release, root};
use published::Published;
use tables::{TABLES, Table};

/// The file of records.
pub const RECORDS: &str = "docs/results/published/cells.ndjson";
/// Directory of the derived tables, from the repository's root.
const DIR: &str = "target/cells";
/// Seconds for each rate, over all passes.
const SECONDS: f64 = 0.5;

/// The engines, without `auto`. SAIL exists for IPv4 only.
const IPV4: &str = "poptrie,dxr,dir24_8,spider,sail,tree_bitmap,folio:pages,folio";
const IPV6: &str = "poptrie,dxr,dir24_8,spider,tree_bitmap,folio:pages,folio";

/// A way to call an engine.
struct Mode {
    name: &'static str,
    /// Options of `longmatch bench`.
    words: &'static str,
    /// `auto`, told of the use; the second is also told that destinations repeat.
    auto: &'static str,
}

const MODES: [Mode; 4] = [
    Mode { name: "one", words: "--mode one", auto: "auto:use=one,auto:use=one:traffic=few" },
    Mode { name: "batches of 16", words: "--mode batch --batch 16", auto: "auto,auto:traffic=few" },
    Mode {
        name: "batches of 256",
        words: "--mode batch --batch 256",
        auto: "auto,auto:traffic=few",
    },
    Mode {
        name: "batches of 4,096",
        words: "--mode batch --batch 4096",
        auto: "auto,auto:traffic=few",
    },
];

/// Measures the tables that the words choose, and writes the file of records after each; returns whether all were
/// measured.
///
/// # Errors
/// If the words are wrong, or the file of a table is missing.
pub fn run(words: &[&str]) -> Outcome {
    let Options { seconds, tables } = Options::parse(words)?;
    let data = data(&tables)?;
    fs::create_dir_all(root().join(DIR)).map_err(|error| format!("{DIR}: {error}"))?;
    let mut report = Report::default();
    let build = "build --release --package longmatch-cli --bin longmatch";
    report.command("release build of the command", &mut cargo(build));
    if report.has_failed() {
        return Ok(report.finish());
    }
    let run = about_run(seconds)?;
    for table in tables {
        report.step(&format!("cells of {}", table.name), || {
            let lines = measure(table, data.as_deref(), seconds);
            match lines.and_then(|lines| publish(table, &run, lines)) {
                Ok(()) => Verdict::Passed,
                Err(problem) => Verdict::Failed(problem),
            }
        });
    }
    let measured = report.finish();
    println!("`cargo xtask docs` writes the tables of docs/engines.md from {RECORDS}");
    Ok(measured)
}

/// What to measure.
#[derive(Debug)]
struct Options {
    seconds: f64,
    tables: Vec<&'static Table>,
}

impl Options {
    /// Parses `--seconds S` and `--table NAME`, which may be repeated.
    ///
    /// # Errors
    /// If a word is unknown or lacks its value, or a value is wrong; the message has the possible values.
    fn parse(mut words: &[&str]) -> Result<Self, String> {
        let mut options = Self { seconds: SECONDS, tables: Vec::new() };
        while let [option, rest @ ..] = words {
            let value = rest.first().ok_or_else(|| format!("cells: `{option}` has no value"));
            match *option {
                "--seconds" => options.seconds = seconds(value?)?,
                "--table" => options.tables.push(tables::named(value?)?),
                other => {
                    return Err(format!(
                        "cells: unknown option `{other}`; --seconds and --table exist"
                    ));
                }
            }
            words = &rest[1..];
        }
        if options.tables.is_empty() {
            options.tables = TABLES.iter().collect();
        }
        Ok(options)
    }
}

/// Parses a number of seconds.
fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|it: &f64| it.is_finite() && *it > 0.0);
    seconds.ok_or_else(|| format!("cells: --seconds {text}: not a number above 0, such as 0.5"))
}

/// Returns the data directory, or `None` if no table needs it.
///
/// # Errors
/// If there is no directory, or a file is missing. All files are looked for before the first measurement.
fn data(tables: &[&Table]) -> Result<Option<PathBuf>, String> {
    let sources: Vec<_> = tables.iter().filter_map(|table| table.source()).collect();
    let Some(first) = sources.first() else { return Ok(None) };
    let dir = large::dir()?.ok_or_else(|| {
        format!(
            "no data directory: set the environment variable {} to the directory with {first}.txt.zst, or choose \
             `--table` {}, which needs none",
            large::VARIABLE,
            tables::RANDOM_48,
        )
    })?;
    for source in sources {
        let file = large::file(&dir, source);
        if !file.is_file() {
            return Err(format!(
                "{}: no such file; docs/tables.md describes `{source}`, and `--table` chooses tables without it",
                file.display()
            ));
        }
    }
    Ok(Some(dir))
}

/// Describes this run: machine, build and date as `longmatch report` states them, and the effort.
///
/// The report counts one small table, which takes milliseconds.
///
/// # Errors
/// If the report fails, or its first record is not about the run.
fn about_run(seconds: f64) -> Result<Json, String> {
    let (routes, out) = (root().join(DIR).join("one-route.txt"), root().join(DIR).join("machine"));
    fs::write(&routes, "10.0.0.0/8 1\n")
        .map_err(|error| format!("{}: {error}", routes.display()))?;
    // A report in a directory with an earlier one keeps the values, and the machine, of that.
    if out.exists() {
        fs::remove_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    }
    let mut command = longmatch_of_release("report --only poptrie-table1");
    command.arg("--routes").arg(&routes).arg("--out").arg(&out);
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("longmatch could not be started: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "`longmatch report`, for the machine's description: {}",
            output.status
        ));
    }
    let records = out.join("records.ndjson");
    let text =
        fs::read_to_string(&records).map_err(|error| format!("{}: {error}", records.display()))?;
    let first: Json = serde_json::from_str(text.lines().next().unwrap_or_default())
        .map_err(|error| format!("{}: {error}", records.display()))?;
    if first["record"] != "run" {
        return Err(format!("{}: the first line is not about the run", records.display()));
    }
    Ok(json!({
        "record": "run",
        "version": first["version"],
        "date": first["date"],
        "machine": first["machine"],
        "inputs": [["effort", format!("{seconds} s for each rate")]],
    }))
}

/// Measures a table in every mode; returns the records.
///
/// # Errors
/// If the table cannot be made, an answer is wrong, or nothing could be measured.
fn measure(table: &Table, data: Option<&Path>, seconds: f64) -> Result<Vec<String>, String> {
    let routes = table.prepare(data, &root().join(DIR))?;
    let engines = if table.is_ipv6() { IPV6 } else { IPV4 };
    let mut lines: Vec<String> = Vec::new();
    for mode in &MODES {
        println!("{}, {}", table.name, mode.name);
        let mut bench = longmatch_of_release("bench --json --traffic random,routed,zipf");
        bench.args(mode.words.split_whitespace()).arg("--routes").arg(&routes);
        bench.args(["--engine", &format!("{engines},{}", mode.auto)]);
        bench.args(["--seconds", &seconds.to_string()]);
        let output = bench.stderr(Stdio::inherit()).output();
        let output = output.map_err(|error| format!("longmatch could not be started: {error}"))?;
        // 1 also means that an engine cannot hold the table: there is a record of that.
        if !matches!(output.status.code(), Some(0 | 1)) {
            return Err(format!("`longmatch bench`, {}: {}", mode.name, output.status));
        }
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let line = record(table.name, line)?;
            // Every mode has the same refusals, which state no mode: one record suffices.
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    Ok(lines)
}

/// Adds the table's name to an object of `longmatch bench`.
///
/// # Errors
/// If the line is no object, or states wrong answers.
fn record(table: &str, line: &str) -> Result<String, String> {
    let json: Json = serde_json::from_str(line).map_err(|error| format!("`{line}`: {error}"))?;
    if json["mismatches"].as_u64().is_some_and(|wrong| wrong > 0) {
        let (engine, variant) = (&json["engine"], &json["variant"]);
        return Err(format!("{engine} {variant}: wrong answers; `longmatch verify` names them"));
    }
    match line.strip_prefix('{') {
        // As text, so that the other fields keep their order and their digits.
        Some(rest) => Ok(format!("{{\"table\":\"{table}\",{rest}")),
        None => Err(format!("`{line}`: not an object")),
    }
}

/// Replaces a table's records in the file.
///
/// # Errors
/// If the file is malformed, or cannot be read or written.
fn publish(table: &Table, run: &Json, lines: Vec<String>) -> Result<(), String> {
    let path = root().join(RECORDS);
    let at = |problem: String| format!("{RECORDS}: {problem}");
    let mut published = match path.exists() {
        true => {
            let text = fs::read_to_string(&path).map_err(|error| at(error.to_string()))?;
            Published::parse(&text).map_err(at)?
        }
        false => Published::default(),
    };
    published.replace(table.name, run, lines);
    fs::write(&path, published.text()).map_err(|error| at(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_choose_tables_and_seconds() {
        let options = Options::parse(&[]).unwrap();
        assert_eq!((options.seconds, options.tables.len()), (SECONDS, TABLES.len()));
        let words = ["--table", "ipv6-full", "--seconds", "0.05", "--table", "ipv6-random-48"];
        let options = Options::parse(&words).unwrap();
        let names: Vec<_> = options.tables.iter().map(|table| table.name).collect();
        assert_eq!((options.seconds, &names[..]), (0.05, &["ipv6-full", "ipv6-random-48"][..]));
        for (words, problem) in [
            (&["--seconds"][..], "`--seconds` has no value"),
            (&["--seconds", "0"], "--seconds 0: not a number above 0"),
            (&["--seconds", "inf"], "--seconds inf: not a number"),
            (&["--table", "ipv5"], "no table `ipv5`; the tables are ipv4-full,"),
            (&["--tables", "ipv6-full"], "unknown option `--tables`"),
        ] {
            let error = Options::parse(words).unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
    }

    #[test]
    fn the_random_table_needs_no_data() {
        assert_eq!(data(&[tables::named(tables::RANDOM_48).unwrap()]), Ok(None));
    }

    #[test]
    fn records_get_their_table_and_keep_their_digits() {
        let line = r#"{"engine":"dxr","mlps":1.50,"mismatches":0}"#;
        let wanted = r#"{"table":"t","engine":"dxr","mlps":1.50,"mismatches":0}"#;
        assert_eq!(record("t", line).unwrap(), wanted);
        let refused = r#"{"engine":"sail","error":"too many"}"#;
        assert!(record("t", refused).unwrap().starts_with(r#"{"table":"t","engine":"sail","#));
        let wrong = r#"{"engine":"dxr","variant":"d=18","mlps":null,"mismatches":3}"#;
        assert!(record("t", wrong).unwrap_err().contains("wrong answers"));
        assert!(record("t", "[1]").unwrap_err().contains("not an object"));
        assert!(record("t", "warning").is_err());
    }
}
