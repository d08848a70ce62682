//! `longmatch report`, run as a process. No test depends on a measured time.

use std::fs;
use std::path::Path;

use crate::common::{Dir, run};

const ROUTES: &str = "\
0.0.0.0/0 a
10.0.0.0/8 b
10.1.0.0/16 c
10.1.2.0/24 b
10.1.2.128/25 d
172.16.0.0/12 a
192.0.2.0/24 c
198.51.100.7/32 d
2001:db8::/32 a
2001:db8:1::/48 b
2001:db8:1:2::/64 c
2001:db8:ffff::1/128 d
";

const FILES: [&str; 4] = ["report.html", "report.md", "records.ndjson", "records.csv"];

/// Experiments that count and take no time measurements.
const COUNTED: [&str; 5] =
    ["poptrie-table1", "poptrie-fig7", "dxr-chunks", "spider-table1", "memory"];

fn read(folder: &str, file: &str) -> String {
    fs::read_to_string(Path::new(folder).join(file)).unwrap()
}

fn records(folder: &str) -> Vec<serde_json::Value> {
    let text = read(folder, "records.ndjson");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_experiment_is_listed() {
    let ended = run(&["report", "--list"]);
    assert_eq!((ended.code, &ended.stderr[..]), (0, ""));
    let names = [
        "poptrie-table1",
        "poptrie-fig7",
        "poptrie-table2",
        "poptrie-fig8",
        "poptrie-fig9",
        "poptrie-locality",
        "poptrie-cycles",
        "poptrie-fig12",
        "poptrie-table5",
        "poptrie-updates",
        "poptrie-table6",
        "dxr-chunks",
        "dxr-throughput",
        "spider-table1",
        "spider-fig6",
        "spider-fig9",
        "spider-fig10",
        "spider-fig12",
        "traffic",
        "limit",
        "batch-size",
        "growth",
        "misses",
        "huge-pages",
        "memory",
        "small-tables",
        "live",
        "peers",
    ];
    for name in names {
        let line = ended.stdout.lines().find(|line| line.split_whitespace().next() == Some(name));
        assert!(line.is_some_and(|line| line.len() > name.len() + 10), "{name}");
    }
    assert_eq!(ended.stdout.lines().count(), names.len() + 1, "and a heading");
}

/// All values but times are the same on every machine; they are compared with a reviewed golden
/// file. `LONGMATCH_BLESS=1` rewrites that file.
#[test]
fn counted_records_are_the_golden_ones() {
    let dir = Dir::new();
    let (routes, out) = (dir.file("small.txt", ROUTES), dir.path("out"));
    let only = COUNTED.iter().flat_map(|name| ["--only", name]);
    let args: Vec<_> = ["report", "-r", &routes, "--out", &out].into_iter().chain(only).collect();
    let ended = run(&args);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let names: std::collections::BTreeSet<_> =
        records(&out).iter().map(|it| it["experiment"].as_str().unwrap().to_owned()).collect();
    assert!(names.iter().map(|it| &it[..]).eq({
        let mut sorted = COUNTED;
        sorted.sort_unstable();
        sorted
    }));
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/report/counted.ndjson");
    let now = read(&out, "records.ndjson");
    if std::env::var_os("LONGMATCH_BLESS").is_some() {
        fs::write(&golden, &now).unwrap();
    }
    let wanted = fs::read_to_string(&golden).unwrap();
    for (now, wanted) in now.lines().zip(wanted.lines()) {
        assert_eq!(now, wanted);
    }
    assert_eq!(now.lines().count(), wanted.lines().count());
}

#[test]
fn finished_sections_are_kept() {
    let dir = Dir::new();
    let (routes, out) = (dir.file("small.txt", ROUTES), dir.path("out"));
    let first = run(&["report", "-r", &routes, "-o", &out, "--only", "poptrie-fig7"]);
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert!(first.stdout.contains("1 experiment: "), "{}", first.stdout);
    for file in FILES {
        assert!(!read(&out, file).is_empty(), "{file}");
    }
    let section = read(&out, "parts/poptrie-fig7.json");
    let again = ["report", "-r", &routes, "-o", &out, "--only", "poptrie-fig7", "--only", "memory"];
    let both = run(&again);
    assert!(both.stdout.contains("2 experiments, 1 of them from an earlier run: "), "{both:?}");
    assert_eq!(read(&out, "parts/poptrie-fig7.json"), section);
    // Another table, or a damaged section, is measured again.
    let other = dir.file("other.txt", "10.0.0.0/8 x\n");
    let other = run(&["report", "-r", &other, "-o", &out, "--only", "poptrie-fig7"]);
    assert!(other.stdout.contains("1 experiment: "), "{}", other.stdout);
    assert!(records(&out).iter().all(|it| it["table"] == "other"));
    fs::write(Path::new(&out).join("parts/memory.json"), "{\"settings\": 7").unwrap();
    let repaired = run(&["report", "-r", &routes, "-o", &out, "--only", "memory"]);
    assert!(repaired.stdout.contains("1 experiment: "), "{}", repaired.stdout);
}

/// The two files have the same name, number of updates and last update.
#[test]
fn other_updates_are_another_report() {
    let dir = Dir::new();
    let (routes, out) = (dir.file("small.txt", ROUTES), dir.path("out"));
    let report = |content: &str| {
        let updates = dir.file("updates.txt", content);
        let ended =
            run(&["report", "-r", &routes, "-u", &updates, "-o", &out, "--only", "poptrie-fig7"]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        ended.stdout
    };
    let first = "A 10.2.0.0/16 a\nA 10.3.0.0/16 b\nW 10.2.0.0/16\n";
    assert!(report(first).contains("1 experiment: "));
    assert!(report(first).contains("1 experiment, 1 of them from an earlier run: "));
    let other = first.replace("10.3.0.0/16 b", "10.3.0.0/16 c");
    assert!(report(&other).contains("1 experiment: "));
}

/// Each rate has both counts of disturbed passes, and each figure of rates states them.
#[test]
fn disturbed_passes_are_counted_separately() {
    let dir = Dir::new();
    let (routes, out) = (dir.file("small.txt", ROUTES), dir.path("out"));
    let ended = run(&["report", "-r", &routes, "-o", &out, "--only", "misses"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let rates: Vec<_> = records(&out).into_iter().filter(|it| it["metric"] == "rate").collect();
    let sum = |figure: &str, key: &str| {
        let of = rates.iter().filter(|it| it["figure"] == figure);
        of.map(|it| it[key].as_u64().expect("a count")).sum::<u64>()
    };
    let [passes, repeated, disturbed] =
        ["passes", "repeated", "disturbed"].map(|key| sum("misses-ipv6-small", key));
    assert!(passes > 0 && disturbed <= passes, "{rates:?}");
    let wanted = match (repeated, disturbed) {
        (0, 0) => format!("disturbed passes: none of {passes}"),
        _ => format!(
            "disturbed passes: {repeated} repeated; of the {passes} that count, {disturbed} \
             disturbed in every attempt"
        ),
    };
    assert!(read(&out, "report.md").contains(&wanted), "{wanted}");
    let header = read(&out, "records.csv");
    assert!(header.starts_with("experiment,") && header.contains(",passes,repeated,disturbed,"));
}

/// A limit on the size of files simulates a full disk: the section fits, the page does not.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_no_incomplete_page() {
    let dir = Dir::new();
    let (routes, out) = (dir.file("small.txt", ROUTES), dir.path("out"));
    // The limit is in blocks of 512 bytes. Without the trap the signal would end the program.
    let limited = "trap '' XFSZ; ulimit -f 24; exec \"$@\"";
    let program = env!("CARGO_BIN_EXE_longmatch");
    let args = ["report", "-r", &routes, "-o", &out, "--only", "poptrie-table1"];
    let output = std::process::Command::new("sh")
        .args(["-c", limited, "sh", program])
        .args(args)
        .output()
        .expect("a shell");
    let ended = crate::common::Ended::from(output);
    assert_eq!((ended.code, &ended.stdout[..]), (2, ""), "{}", ended.stderr);
    assert!(ended.stderr.contains("out/report.html is not written: File too large"), "{ended:?}");
    assert!(!ended.stderr.contains("records.csv"), "it fits: {ended:?}");
    assert!(ended.stderr.contains("--out") && ended.stderr.contains("out/parts"), "{ended:?}");
    let mut names: Vec<_> = fs::read_dir(&out).unwrap().map(|it| it.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["parts", "records.csv", "records.ndjson", "report.md"]);
    // Without the limit the same command continues from the stored section.
    let ended = run(&args);
    assert!(ended.stdout.contains("1 experiment, 1 of them from an earlier run"), "{ended:?}");
    assert!(!read(&out, "report.html").is_empty());
}

#[test]
fn leftovers_of_an_interrupted_report_are_removed() {
    let dir = Dir::new();
    let (routes, out) = (dir.file("small.txt", ROUTES), dir.path("out"));
    let folder = Path::new(&out);
    // No process has these ids: Linux counts to 2^22.
    let [ours, mixed] = ["peer-0-ipv4-2147483647", "peer-1-ipv6-2147483647"];
    for name in [ours, mixed] {
        fs::create_dir_all(folder.join(name)).unwrap();
        fs::write(folder.join(name).join("answers.bin"), "x").unwrap();
    }
    fs::write(folder.join(mixed).join("notes.txt"), "x").unwrap();
    fs::create_dir(folder.join("parts")).unwrap();
    for name in ["report.html.unfinished", "parts/memory.json.unfinished"] {
        fs::write(folder.join(name), "x").unwrap();
    }
    let ended = run(&["report", "-r", &routes, "-o", &out, "--only", "poptrie-fig7"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    for gone in [ours, "report.html.unfinished", "parts/memory.json.unfinished"] {
        assert!(!folder.join(gone).exists(), "{gone}");
    }
    assert!(folder.join(mixed).join("notes.txt").exists());
    assert!(ended.stderr.contains(mixed) && ended.stderr.contains("not removed"), "{ended:?}");
}

/// Each file is a separate table under its own name, which the figures show.
#[test]
fn tables_have_names() {
    let dir = Dir::new();
    let one = dir.file("one.txt", ROUTES);
    let two = dir.file("two+3.txt", "192.0.2.0/24 x\n");
    let out = dir.path("out");
    let ended = run(&["report", "-r", &one, "-r", &two, "-o", &out, "--only", "poptrie-fig7"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let page = read(&out, "report.html");
    assert!(page.contains("id=\"poptrie-fig7-one\"") && page.contains("id=\"poptrie-fig7-two-3\""));
    assert!(!page.contains("<script"), "no scripts are needed to read it");
}

#[test]
fn left_out_experiments_are_listed() {
    let dir = Dir::new();
    let (routes, out) = (dir.file("small.txt", ROUTES), dir.path("out"));
    // Named by the number that the paper gives it.
    let ended = run(&["report", "-r", &routes, "-o", &out, "--only", "poptrie-fig12"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("poptrie-fig12 is left out: needs destinations of packets"));
    assert!(read(&out, "report.html").contains("--trace"));
}

#[test]
fn bad_input_is_refused() {
    let dir = Dir::new();
    let (routes, out) = (dir.file("small.txt", ROUTES), dir.path("out"));
    let error = |args: &[&str]| {
        let all: Vec<_> = ["report", "-o", &out].iter().chain(args).copied().collect();
        let ended = run(&all);
        assert_eq!((ended.code, &ended.stdout[..]), (2, ""), "{args:?}");
        ended.stderr
    };
    let unknown = error(&["--only", "poptrie-table7"]);
    assert!(unknown.contains("unknown experiment 'poptrie-table7'"), "{unknown}");
    assert!(error(&["--quick", "--full"]).contains("cannot be used with"));
    let empty = dir.file("empty.txt", "# nothing\n");
    assert!(error(&["-r", &empty]).contains("empty.txt: no routes"));
    let missing = dir.path("missing");
    assert!(error(&["-r", &routes, "--trace", &missing]).contains("missing"));
    assert!(error(&["-r", &routes, "--updates", &empty]).contains("no updates"));
    let peer = error(&["-r", &routes, "--peer-cmd", "nothing"]);
    assert!(peer.contains("expected NAME=COMMAND"), "{peer}");
    let file = dir.file("file", "");
    let inside = format!("{file}/out");
    let ended = run(&["report", "-r", &routes, "-o", &inside, "--only", "memory"]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("the directory cannot be created: "), "{}", ended.stderr);
    assert!(ended.stderr.contains("--out"), "{}", ended.stderr);
}

/// The peer of `docs/peers.md`, which needs Python only.
#[test]
fn peers_are_measured_and_checked() {
    let python = std::process::Command::new("python3").arg("--version").output();
    if !python.is_ok_and(|it| it.status.success()) {
        eprintln!("SKIPPED: no python3, in which the reference peer is written");
        return;
    }
    let dir = Dir::new();
    let (routes, out) = (dir.file("small.txt", "10.0.0.0/8 a\n10.1.0.0/16 b\n"), dir.path("out"));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers/reference.py");
    let command = format!("mine=python3 '{}'", script.display());
    // A directory without adapters: the test must not depend on adapters built on this machine.
    let adapters = dir.path("none");
    let args = ["report", "-r", &routes, "-o", &out, "--peers", &adapters, "--only", "memory"];
    let mut args = [&args[..], &["--only", "peers", "--peer-cmd", &command]].concat();
    let ended = run(&args);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let of = |engine: &str| {
        let all = records(&out).into_iter().filter(|it| it["engine"] == engine);
        all.filter(|it| it["metric"] == "rate").collect::<Vec<_>>()
    };
    let mine = of("mine");
    assert!(!mine.is_empty() && mine.iter().any(|it| it["value"].as_f64().is_some()), "{mine:?}");
    assert!(
        of("bart").iter().all(|it| it["refused"].as_str().unwrap().contains("cargo xtask peers"))
    );
    // A peer that cannot be started is shown as such, and only the section on peers is measured
    // again.
    *args.last_mut().expect("an argument") = "mine=/nonexistent/peer";
    let ended = run(&args);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("2 experiments, 1 of them from an earlier run"), "{ended:?}");
    assert!(of("mine").iter().all(|it| it["value"].is_null() && it["refused"] != ""));
}
