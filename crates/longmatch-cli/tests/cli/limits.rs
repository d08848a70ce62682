//! Engines that cannot hold a table, and systems that refuse to start threads.

use crate::common::{Dir, Ended, longmatch, run};

/// Number of routes and next hops: more than some engines' entries can number.
const MANY: u32 = 66_000;

/// Writes routes with a different next hop each, spread over DXR's chunks.
fn many(dir: &Dir) -> String {
    let line = |i: u32| format!("{:x}:{:x}000::/36 nh{i}\n", 0x2000 + (i & 0x1fff), i >> 13);
    dir.file("many.txt", (0..MANY).map(line).collect::<String>())
}

/// The lines about engines. `verify` begins with the RIB, and the records of `bench` have lines about the run.
fn lines_of(ended: &Ended) -> Vec<serde_json::Value> {
    let lines = ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
    let of_engine = |it: &serde_json::Value| it["engine"].is_string() && it["engine"] != "rib";
    lines.filter(of_engine).collect()
}

fn engines(lines: &[serde_json::Value]) -> Vec<&str> {
    lines.iter().map(|line| line["engine"].as_str().unwrap()).collect()
}

/// End of the reason; its beginning differs, as a replay is refused before its last next hop.
const REASON: &str = ", the engine up to 65,535: choose another engine with --engine";
const REPLACED: &str = "longmatch: IPv6: dxr:hops=k replaces dxr: ";

/// DXR has a wider form, Folio with codes of 16 bits has none: each command continues and reports
/// both.
#[test]
fn engines_without_a_result_are_rows_beside_the_others() {
    let dir = Dir::new();
    let routes = many(&dir);
    let three = ["-6", "-e", "poptrie,folio:pages:codes=16,dxr", "-r", &routes];
    let bench = ["bench", "--seconds", "0.02", "-t", "random", "-m", "batch"];
    let replay = ["replay", "--from-empty", "--readers", "1"];
    for command in [&bench[..], &["verify"], &replay] {
        let ended = run(&[command, &three].concat());
        assert_eq!(ended.code, 1, "{command:?}: {ended:?}");
        let row = |start: &str| {
            let found = ended.stdout.lines().find(|line| line.trim_start().starts_with(start));
            found.unwrap_or_else(|| panic!("{start} in {}", ended.stdout))
        };
        assert!(row("folio:pages:codes=16").trim_end().ends_with(REASON), "{}", ended.stdout);
        assert!(!row("poptrie").contains("no result") && row("dxr").contains("hops=k"));
        assert!(ended.stderr.contains(REPLACED), "{}", ended.stderr);
        assert!(!ended.stderr.contains("NextHops"), "{}", ended.stderr);

        let ended = run(&[command, &three, &["--json"]].concat());
        assert_eq!(ended.code, 1, "{command:?}: {ended:?}");
        let lines = lines_of(&ended);
        let base = |engine: &str| engine.split(':').next().unwrap().to_owned();
        let mut found: Vec<_> = engines(&lines).into_iter().map(base).collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, ["dxr", "folio", "poptrie"], "{command:?}");
        let [spec, error, right] = match command[0] {
            "bench" => ["engine", "refused", "value"],
            _ => ["spec", "error", "mismatches"],
        };
        for line in &lines {
            if base(line["engine"].as_str().unwrap()) == "folio" {
                assert!(line[error].as_str().unwrap().ends_with(REASON), "{line}");
                assert_eq!(line[spec], "folio:pages:codes=16");
            } else {
                assert!(line[error].is_null() && line[right].is_number(), "{line}");
                assert!(line["mismatches"].is_null() || line["mismatches"] == 0, "{line}");
            }
            assert_eq!(line["family"], "ipv6");
        }
    }
}

/// `all` names no engine: an engine that cannot hold the table is a row, and no failure.
#[test]
fn engines_that_were_not_named_do_not_fail_a_run() {
    let dir = Dir::new();
    let line = |i: u32| format!("{}.{}.0.0/24 nh{i}\n", 1 + (i >> 8), i & 255);
    let routes = dir.file("many.txt", (0..33_000).map(line).collect::<String>());
    let args = ["bench", "-4", "--seconds", "0.01", "-t", "random", "-m", "batch", "-r", &routes];
    let ended = run(&[&args[..], &["--json"]].concat());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(!ended.stderr.contains("sail"), "{}", ended.stderr);
    let lines = lines_of(&ended);
    let failed = lines.iter().filter(|line| line["refused"].is_string());
    assert_eq!(failed.map(|line| &line["engine"]).collect::<Vec<_>>(), ["sail"]);
    assert!(lines.len() >= 7, "{:?}", engines(&lines));
}

#[test]
fn no_result_at_all_is_an_error() {
    let dir = Dir::new();
    let routes = many(&dir);
    for (command, done) in [
        (&["bench"][..], "measured"),
        (&["verify"], "verified"),
        (&["replay", "--from-empty"], "replayed"),
    ] {
        let ended = run(
            &[command, &["-6", "-e", "folio:pages:codes=16", "-r", &routes, "--json"]].concat()
        );
        assert_eq!((ended.code, lines_of(&ended).len()), (2, 1), "{command:?}: {ended:?}");
        let wanted = format!("--engine: no engine was {done}: folio:pages:codes=16: ");
        assert!(ended.stderr.contains(&wanted) && ended.stderr.trim_end().ends_with("--engine"));
    }
    // Beside results of the other family such engines are rows too.
    let text = format!("10.0.0.0/8 four\n{}", std::fs::read_to_string(&routes).unwrap());
    let both = dir.file("both.txt", text);
    let args = ["bench", "--seconds", "0.01", "-t", "random", "-m", "batch", "-e"];
    let ended = run(&[&args[..], &["folio:pages:codes=16,sail", "-r", &both]].concat());
    for row in ["sail ", "folio:pages:codes=16  no result: "] {
        let found = ended.stdout.lines().any(|line| line.trim_start().starts_with(row));
        assert!(ended.code == 1 && found, "{row}: {ended:?}");
    }
}

/// Stacks larger than the address space: the system really refuses to start a thread.
#[test]
#[cfg(target_pointer_width = "64")]
fn threads_that_are_not_started_are_errors() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", "2001:db8::/32 a\n2001:db8:1::/48 b\n");
    let six = ["-6", "-e", "folio", "-r", &routes];
    let commands: [(&[&str], &str, bool); 4] = [
        (&["bench", "--threads", "2", "--seconds", "0.02"], "--threads 2: ", false),
        (&["replay", "--from-empty", "--readers", "2"], "--readers 2: ", false),
        (&["replay", "--from-empty", "--full"], "--full: ", true),
        (&["verify"], "verifying: ", true),
    ];
    let one_cpu = std::thread::available_parallelism().map_or(1, usize::from) == 1;
    for (command, subject, for_each_cpu) in commands {
        if for_each_cpu && one_cpu {
            continue;
        }
        let mut command = longmatch(&[command, &six].concat());
        let output = command.env("RUST_MIN_STACK", (1u64 << 62).to_string()).output().unwrap();
        let ended = Ended::from(output);
        let wanted = format!("longmatch: {subject}the system started only ");
        assert!(ended.code == 2 && ended.stderr.contains(&wanted), "{ended:?}");
        assert!(ended.stderr.contains("ulimit -u"), "{}", ended.stderr);
    }
}

/// More threads than CPUs take turns, with a warning.
#[test]
fn threads_beyond_the_cpus_are_warned_about() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", "2001:db8::/32 a\n");
    let args = ["bench", "-6", "--seconds", "0.02", "-t", "random", "-m", "one", "-e", "folio"];
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let more = (cpus + 1).to_string();
    let ended = run(&[&args[..], &["--threads", &more, "-r", &routes]].concat());
    let wanted = format!("--threads {more}: they take turns on {cpus} CPU");
    assert!(ended.code == 0 && ended.stderr.contains(&wanted), "{ended:?}");
    let ended = run(&[&args[..], &["-r", &routes]].concat());
    assert!(ended.code == 0 && !ended.stderr.contains("take turns"), "{ended:?}");
}

/// A small file can make a huge structure: its size is estimated, and it is refused before
/// allocation.
#[test]
fn a_table_beyond_the_memory_limit_is_a_row() {
    let dir = Dir::new();
    let routes = many(&dir);
    let engines = ["-6", "-e", "poptrie,spider", "--memory", "64M", "--json", "-r", &routes];
    let bench = ["bench", "--seconds", "0.02", "-t", "random", "-m", "batch"];
    for command in [&bench[..], &["verify"], &["stat"]] {
        let ended = run(&[command, &engines].concat());
        let spider = ended.stdout.lines().find(|line| line.contains("spider")).expect("a line");
        assert!(spider.contains("the table may take 1"), "{command:?}: {spider}");
        assert!(spider.contains("MiB"), "{command:?}: {spider}");
        assert_eq!(ended.code, i32::from(command[0] != "stat"), "{command:?}: {ended:?}");
    }
    let ended = run(&["stat", "--memory", "lots"]);
    assert!(ended.code == 2 && ended.stderr.contains("K, M or G"), "{ended:?}");
}
