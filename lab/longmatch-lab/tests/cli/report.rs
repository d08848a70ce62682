//! The records of `longmatch-lab report`. No test depends on a measured time.

use std::fs;
use std::path::Path;

use crate::common::{Dir, run};

/// Returns a report's records of a kind: `run`, `value` or `experiment`.
fn records(folder: &str, kind: &str) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(Path::new(folder).join("records.ndjson")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    lines.filter(|line| line["record"] == kind).collect()
}

/// Returns the rates of a report.
fn rates(folder: &str) -> impl Iterator<Item = serde_json::Value> {
    records(folder, "value").into_iter().filter(|it| it["metric"] == "rate")
}

/// Each rate states its passes, how many of them were disturbed, and its conditions.
#[test]
fn rates_have_their_passes_and_conditions() {
    let dir = Dir::new();
    let (routes, out) = (dir.file("small.txt", "10.0.0.0/8 a\n2001:db8::/32 a\n"), dir.path("out"));
    let ended = run(&["report", "-r", &routes, "-o", &out, "--only", "misses"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let rates: Vec<_> = rates(&out).collect();
    assert!(rates.len() > 10, "{rates:?}");
    for rate in &rates {
        let count = |key: &str| rate.get(key).map_or(0, |it| it.as_u64().expect("a count"));
        let spread = ["min", "q1", "value", "q3", "max"].map(|key| rate[key].as_f64().unwrap());
        assert!(count("passes") > 1 && count("disturbed") <= count("passes"), "{rate}");
        assert!(spread.is_sorted() && spread[0] > 0.0, "{rate}");
        assert_eq!(
            (&rate["mode"], &rate["keys"], count("batch")),
            (&"batch".into(), &"array".into(), 256)
        );
    }
    let ended = records(&out, "experiment").remove(0);
    let conditions: Vec<_> = ended["conditions"].as_array().unwrap().iter().collect();
    let of =
        |name: &str| conditions.iter().find(|it| it[0] == "misses-ipv6-small" && it[1] == name);
    for name in ["table", "traffic, misses", "lookups, misses", "passes", "answers checked"] {
        assert!(of(name).is_some(), "{name} in {conditions:?}");
    }
    let run = records(&out, "run").remove(0);
    let machine: Vec<_> = run["machine"].as_array().unwrap().iter().map(|it| &it[0]).collect();
    for name in ["CPU", "flags", "system", "longmatch"] {
        assert!(machine.iter().any(|it| *it == name), "{name} in {machine:?}");
    }
}

/// Returns whether Python is installed, in which the reference peer of `docs/peers.md` is written.
fn has_python() -> bool {
    let python = std::process::Command::new("python3").arg("--version").output();
    let found = python.is_ok_and(|it| it.status.success());
    if !found {
        eprintln!("SKIPPED: the reference peer needs python3, which does not start");
    }
    found
}

/// The directory of the reference peer.
fn peers() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/peers")
}

#[test]
fn peers_are_measured_and_checked() {
    if !has_python() {
        return;
    }
    let dir = Dir::new();
    let (routes, out) = (dir.file("small.txt", "10.0.0.0/8 a\n10.1.0.0/16 b\n"), dir.path("out"));
    let command = format!("mine=python3 '{}'", peers().join("reference.py").display());
    // No adapters: the test must not depend on those built on this machine.
    let adapters = dir.path("none");
    let args = ["report", "-r", &routes, "-o", &out, "--peers", &adapters, "--only", "memory"];
    let mut args = [&args[..], &["--only", "peers", "--peer-cmd", &command]].concat();
    let ended = run(&args);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let of = |engine: &str| rates(&out).filter(|it| it["engine"] == engine).collect::<Vec<_>>();
    let mine = of("mine");
    assert!(!mine.is_empty() && mine.iter().all(|it| it["value"].as_f64().is_some()), "{mine:?}");
    let missing = of("bart");
    assert!(!missing.is_empty());
    assert!(missing.iter().all(|it| it["refused"].as_str().unwrap().contains("cargo xtask peers")));
    // A peer that does not start is recorded as such; only the experiment with peers is measured again.
    *args.last_mut().expect("an argument") = "mine=/nonexistent/peer";
    let ended = run(&args);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("2 experiments, 1 of them from an earlier run"), "{ended:?}");
    let mine = of("mine");
    assert!(!mine.is_empty());
    assert!(mine.iter().all(|it| it["value"].is_null() && it["refused"] != ""), "{mine:?}");
}

/// The exit code tells scripts that an answer was wrong.
#[test]
fn wrong_answers_end_with_1() {
    if !has_python() {
        return;
    }
    let dir = Dir::new();
    let (routes, out) = (dir.file("small.txt", "10.0.0.0/8 a\n10.1.0.0/16 b\n"), dir.path("out"));
    let script = format!(
        "import sys\nsys.path.insert(0, {:?})\nfrom reference import Reference, serve\n\n\n\
         class Wrong(Reference):\n    def lookup(self, key):\n        return 2\n\n\nserve(Wrong)\n",
        peers().display().to_string()
    );
    let command = format!("wrong=python3 '{}'", dir.file("wrong.py", script));
    let adapters = dir.path("none");
    let args = ["report", "-r", &routes, "-o", &out, "--peers", &adapters, "--only", "peers"];
    let ended = run(&[&args[..], &["--peer-cmd", &command]].concat());
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.stdout.contains("failed because of wrong answers"), "{ended:?}");
    let wrong: Vec<_> = rates(&out).filter(|it| it["engine"] == "wrong").collect();
    assert!(!wrong.is_empty() && wrong.iter().all(|it| it["value"].is_null()), "{wrong:?}");
}
