//! Tests that run `longmatch report` as a process. No test depends on a measured time.

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

/// Experiments that count but measure no time.
const COUNTED: [&str; 5] =
    ["poptrie-table1", "poptrie-fig7", "dxr-chunks", "spider-table1", "memory"];

fn read(folder: &str, file: &str) -> String {
    fs::read_to_string(Path::new(folder).join(file)).unwrap()
}

/// Returns a report's records of a kind: `run`, `value` or `experiment`.
fn records(folder: &str, kind: &str) -> Vec<serde_json::Value> {
    let text = read(folder, "records.ndjson");
    let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    lines.filter(|line| line["record"] == kind).collect()
}

fn values(folder: &str) -> Vec<serde_json::Value> {
    records(folder, "value")
}

/// Returns the lines of an experiment, unparsed.
fn lines_of(folder: &str, experiment: &str) -> Vec<String> {
    let own = format!("\"experiment\":\"{experiment}\"");
    let text = read(folder, "records.ndjson");
    text.lines().filter(|line| line.contains(&own)).map(str::to_owned).collect()
}

fn names(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn every_experiment_is_listed() {
    let ended = run(&["report", "--list"]);
    assert_eq!((ended.code, &ended.stderr[..]), (0, ""));
    let names = [
        "traffic",
        "roofline",
        "peers",
        "live",
        "growth",
        "batch-size",
        "key-sources",
        "variants",
        "small-tables",
        "misses",
        "memory",
        "huge-pages",
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
        "dxr-bandwidth",
        "spider-fig11",
        "spider-table1",
        "spider-fig6",
        "spider-fig8",
        "spider-fig9",
        "spider-fig10",
        "spider-fig12",
        "batched-updates",
    ];
    let mut lines = ended.stdout.lines();
    let heading = lines.next().unwrap();
    let [source, title, aliases] =
        ["source", "title", "aliases"].map(|name| heading.find(name).expect(name));
    let mut listed = Vec::new();
    for line in lines {
        let column = |from, to: usize| line.get(from..to.min(line.len())).unwrap_or("").trim();
        assert!(!column(source, title).is_empty(), "no source: {line}");
        assert!(!column(title, aliases).is_empty(), "no title: {line}");
        listed.push(column(0, source));
    }
    for name in names {
        assert!(listed.contains(&name), "{name} in {listed:?}");
    }
    let number = listed.len();
    listed.sort_unstable();
    listed.dedup();
    assert_eq!(listed.len(), number, "each name appears once");
}

/// Counted values are the same on every machine, and equal a reviewed golden file; `LONGMATCH_BLESS=1` rewrites it.
#[test]
fn counted_records_are_the_golden_ones() {
    let dir = Dir::new();
    let (routes, out) = (dir.file("small.txt", ROUTES), dir.path("out"));
    let only = COUNTED.iter().flat_map(|name| ["--only", name]);
    let args: Vec<_> = ["report", "-r", &routes, "--out", &out].into_iter().chain(only).collect();
    let ended = run(&args);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let ended: Vec<_> = records(&out, "experiment");
    let mut names: Vec<_> = ended.iter().map(|it| it["experiment"].as_str().unwrap()).collect();
    let mut counted = COUNTED;
    names.sort_unstable();
    counted.sort_unstable();
    assert_eq!(names, counted);
    // The other lines depend on the machine and the run.
    let text = read(&out, "records.ndjson");
    let own = |line: &&str| {
        line.starts_with("{\"record\":\"value\",") && !line.contains("\"unit\":\"ms\"")
    };
    let now: String = text.lines().filter(own).flat_map(|line| [line, "\n"]).collect();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/report/counted.ndjson");
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
fn finished_experiments_are_kept() {
    let dir = Dir::new();
    let (routes, out) = (dir.file("small.txt", ROUTES), dir.path("out"));
    let first = run(&["report", "-r", &routes, "-o", &out, "--only", "poptrie-fig7"]);
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert!(first.stdout.contains("1 experiment: "), "{}", first.stdout);
    assert_eq!(names(&out), ["records.ndjson", "report.html"]);
    let measured = lines_of(&out, "poptrie-fig7");
    let again = ["report", "-r", &routes, "-o", &out, "--only", "poptrie-fig7", "--only", "memory"];
    let both = run(&again);
    assert!(both.stdout.contains("2 experiments, 1 of them from an earlier run: "), "{both:?}");
    // Including the measured time, to the last digit.
    assert_eq!(lines_of(&out, "poptrie-fig7"), measured);
    assert!(read(&out, "report.html").contains("id=\"memory-ipv6-small\""));
    // Experiments that are not chosen stay.
    let memory = lines_of(&out, "memory");
    let one = run(&["report", "-r", &routes, "-o", &out, "--only", "poptrie-fig7"]);
    assert!(one.stdout.contains("2 experiments, 2 of them from an earlier run: "), "{one:?}");
    assert_eq!(lines_of(&out, "memory"), memory);
    // Another table is measured again.
    let other = dir.file("other.txt", "10.0.0.0/8 x\n");
    let other = run(&["report", "-r", &other, "-o", &out, "--only", "poptrie-fig7"]);
    assert!(other.stdout.contains("1 experiment: "), "{}", other.stdout);
    assert!(values(&out).iter().all(|it| it["table"] == "other"));
}

/// An incomplete experiment is measured again; complete ones are kept.
#[test]
fn an_interrupted_report_continues() {
    let dir = Dir::new();
    let (routes, out) = (dir.file("small.txt", ROUTES), dir.path("out"));
    let args = ["report", "-r", &routes, "-o", &out, "--only", "memory", "--only", "poptrie-fig7"];
    assert_eq!(run(&args).code, 0);
    let whole = read(&out, "records.ndjson");
    let kept = lines_of(&out, "memory");
    let (cut, end) = whole.trim_end().rsplit_once('\n').unwrap();
    assert!(end.starts_with("{\"record\":\"experiment\",\"experiment\":\"poptrie-fig7\""), "{end}");
    fs::write(Path::new(&out).join("records.ndjson"), format!("{cut}\n")).unwrap();
    let page = run(&["report", "-o", &out, "--convert", "html"]);
    assert_eq!(page.code, 0, "{}", page.stderr);
    assert!(page.stdout.contains("id=\"memory\"") && !page.stdout.contains("poptrie-fig7"));
    let ended = run(&args);
    assert!(ended.stdout.contains("2 experiments, 1 of them from an earlier run: "), "{ended:?}");
    assert_eq!(lines_of(&out, "memory"), kept);
    assert_eq!(values(&out).len(), whole.matches("\"record\":\"value\"").count());
}

/// The two files have the same name, number of updates and last update.
#[test]
fn changed_updates_are_measured_again() {
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

/// Each rate states its passes, how many of them were disturbed, and its conditions.
#[test]
fn rates_have_their_passes_and_conditions() {
    let dir = Dir::new();
    let (routes, out) = (dir.file("small.txt", ROUTES), dir.path("out"));
    let ended = run(&["report", "-r", &routes, "-o", &out, "--only", "misses"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let rates: Vec<_> = values(&out).into_iter().filter(|it| it["metric"] == "rate").collect();
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

/// Each format is made from the records alone; the directory is not changed.
#[test]
fn reports_are_converted() {
    let dir = Dir::new();
    let (routes, out) = (dir.file("small.txt", ROUTES), dir.path("out"));
    let made = run(&["report", "-r", &routes, "-o", &out, "--only", "dxr-chunks"]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    let page = read(&out, "report.html");
    fs::remove_file(Path::new(&out).join("report.html")).unwrap();
    let convert = |format: &str| {
        let ended = run(&["report", "--out", &out, "--convert", format]);
        assert_eq!((ended.code, &ended.stderr[..]), (0, ""), "{format}");
        ended.stdout
    };
    assert_eq!(convert("html"), page);
    let csv = convert("csv");
    let (heading, rows) = csv.split_once('\n').unwrap();
    let columns: Vec<_> = heading.split(',').collect();
    assert!(heading.starts_with("experiment,figure,table,family,"), "{heading}");
    assert!(columns.contains(&"paper") && !columns.contains(&"threads"), "{heading}");
    assert_eq!(rows.lines().count(), values(&out).len());
    let metric = columns.iter().position(|name| *name == "metric").unwrap();
    let value = columns.iter().position(|name| *name == "value").unwrap();
    let direct = rows.lines().map(|row| row.split(',').collect::<Vec<_>>());
    let mut direct = direct.filter(|row| row[metric] == "direct table");
    assert_eq!(direct.next().expect("D16R")[value], "262144.0");
    let markdown = convert("markdown");
    assert!(markdown.starts_with("# longmatch report: small\n"), "{markdown}");
    let table = "| dxr:d=16 |";
    assert!(markdown.contains("## Chunks and memory") && markdown.contains(table), "{markdown}");
    assert!(markdown.contains("not comparable"), "the verdicts: {markdown}");
    assert_eq!(names(&out), ["records.ndjson"]);
}

#[test]
fn records_that_cannot_be_read_are_not_converted() {
    let dir = Dir::new();
    let (routes, out) = (dir.file("small.txt", ROUTES), dir.path("out"));
    let convert = |format: &str| {
        let ended = run(&["report", "--out", &out, "--convert", format]);
        assert_eq!((ended.code, &ended.stdout[..]), (2, ""), "{format}: {ended:?}");
        assert!(ended.stderr.contains("out/records.ndjson: "), "{}", ended.stderr);
        assert!(ended.stderr.contains("--out"), "{}", ended.stderr);
        ended.stderr
    };
    assert!(convert("csv").contains("No such file"));
    let args = ["report", "-r", &routes, "-o", &out, "--only", "spider-table1"];
    assert_eq!(run(&args).code, 0);
    let file = Path::new(&out).join("records.ndjson");
    let damaged = read(&out, "records.ndjson").replacen("\"metric\":", "\"metric\"", 1);
    fs::write(&file, damaged).unwrap();
    for format in ["csv", "markdown", "html"] {
        assert!(convert(format).contains("line 2: no record: "));
    }
    // A new run keeps nothing and repairs the file.
    let ended = run(&args);
    assert!(ended.code == 0 && ended.stdout.contains("1 experiment: "), "{ended:?}");
    assert!(!values(&out).is_empty());
    let unknown = run(&["report", "--out", &out, "--convert", "pdf"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("csv, markdown, html"), "{}", unknown.stderr);
}

/// A limit on the size of files simulates a full disk: the records fit, the page does not.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_no_incomplete_page() {
    let dir = Dir::new();
    let (routes, out) = (dir.file("small.txt", ROUTES), dir.path("out"));
    // The limit is in blocks of 512 bytes. The trap keeps the signal from ending the program.
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
    assert!(ended.stderr.contains("--out") && ended.stderr.contains("records.ndjson"), "{ended:?}");
    assert_eq!(names(&out), ["records.ndjson"]);
    // Without the limit the same command continues from the records.
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
    for name in ["report.html.unfinished", "records.ndjson.unfinished", "mine.unfinished"] {
        fs::write(folder.join(name), "x").unwrap();
    }
    let ended = run(&["report", "-r", &routes, "-o", &out, "--only", "poptrie-fig7"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(names(&out), ["mine.unfinished", mixed, "records.ndjson", "report.html"]);
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
    assert!(page.contains("id=\"poptrie-fig7-ipv4-one\""));
    assert!(page.contains("id=\"poptrie-fig7-ipv4-two-3\""));
    assert!(!page.contains("<script"), "the page has no script");
}

#[test]
fn left_out_experiments_are_listed() {
    let dir = Dir::new();
    let (routes, out) = (dir.file("six.txt", "2001:db8::/32 a\n"), dir.path("out"));
    // An alias: the published statistics that the experiment repeats.
    let ended = run(&["report", "-r", &routes, "-o", &out, "--only", "dxr-rt.stat"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let why = "needs a table with ipv4 routes";
    assert!(ended.stdout.contains(&format!("dxr-chunks is left out: {why}")), "{ended:?}");
    assert!(ended.stdout.contains("0 experiments: "), "{ended:?}");
    assert!(read(&out, "report.html").contains(why));
    assert_eq!(records(&out, "experiment")[0]["absent"], why);
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
    let unknown = error(&["--only", "memory", "--only", "poptrie-table7"]);
    assert!(unknown.contains("unknown experiment 'poptrie-table7'"), "{unknown}");
    assert!(unknown.contains("longmatch report --list"), "{unknown}");
    assert!(!Path::new(&out).exists(), "nothing is written before the arguments are checked");
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

#[test]
fn a_directory_that_cannot_be_written_is_an_error() {
    let dir = Dir::new();
    let (routes, out) = (dir.file("small.txt", ROUTES), dir.path("out"));
    // A directory in place of the file, because root ignores permissions.
    fs::create_dir_all(Path::new(&out).join("records.ndjson")).unwrap();
    let ended = run(&["report", "-r", &routes, "-o", &out, "--only", "poptrie-table1"]);
    assert_eq!((ended.code, &ended.stdout[..]), (2, ""), "{}", ended.stderr);
    assert!(ended.stderr.contains("out/records.ndjson is not written: "), "{}", ended.stderr);
    assert!(ended.stderr.contains("another directory with --out"), "{}", ended.stderr);
    assert_eq!(names(&out), ["records.ndjson", "report.html"]);
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
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers")
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
    let of = |engine: &str| {
        let all = values(&out).into_iter().filter(|it| it["engine"] == engine);
        all.filter(|it| it["metric"] == "rate").collect::<Vec<_>>()
    };
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
    let wrong = values(&out).into_iter().filter(|it| it["engine"] == "wrong");
    let wrong: Vec<_> = wrong.filter(|it| it["metric"] == "rate").collect();
    assert!(!wrong.is_empty() && wrong.iter().all(|it| it["value"].is_null()), "{wrong:?}");
}
