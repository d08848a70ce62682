//! `longmatch verify`, `bench` and `licences`, run as processes. IPv6 only: an IPv4 sweep of the
//! unoptimised build would take minutes. No test depends on a measured rate.

use crate::common::{Dir, run};

const ROUTES: &str = "2001:db8::/32 a\n2001:db8:1::/48 b\n2001:db8::7/128 c\n";

fn lines_of(stdout: &str) -> Vec<serde_json::Value> {
    stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The rates among records.
fn rates(stdout: &str) -> Vec<serde_json::Value> {
    lines_of(stdout).into_iter().filter(|line| line["metric"] == "rate").collect()
}

#[test]
fn verify_tries_every_range() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", ROUTES);
    let ended = run(&["verify", "-6", "--routes", &routes]);
    assert_eq!((ended.code, &ended.stderr[..]), (0, ""));
    assert!(ended.stdout.contains("poptrie") && ended.stdout.contains("every range"));

    let ended = run(&["verify", "-6", "--simd", "all", "--json", "-e", "poptrie", "-r", &routes]);
    assert_eq!(ended.code, 0);
    let lines = lines_of(&ended.stdout);
    assert!(lines.len() >= 2, "each kernel at each level: {}", ended.stdout);
    for line in lines {
        assert_eq!((&line["mismatches"], &line["check"]), (&0.into(), &"ok".into()));
        assert!(line["addresses"].as_u64().unwrap() > 0);
    }
}

/// With `--quick` no round is a sweep, every level of the CPU is tested, and the structures are
/// checked.
#[test]
fn a_quick_verification_sweeps_nothing() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", "10.0.0.0/8 a\n10.1.0.0/16 b\n2001:db8::/32 a\n");
    let ended = run(&["verify", "--quick", "--json", "-e", "poptrie,folio", "-r", &routes]);
    assert_eq!((ended.code, &ended.stderr[..]), (0, ""));
    let lines = lines_of(&ended.stdout);
    for family in ["ipv4", "ipv6"] {
        let own = lines.iter().filter(|line| line["family"] == family);
        let (rib, own): (Vec<_>, Vec<_>) = own.partition(|line| line["engine"] == "rib");
        assert_eq!(rib.len(), 2, "the RIB, one by one and in a batch: {rib:?}");
        let levels: std::collections::BTreeSet<_> =
            own.iter().map(|line| line["simd"].as_str().expect("a level")).collect();
        assert_eq!(own.len(), 2 * 2 * levels.len(), "two engines, one and batch: {own:?}");
        assert!(levels.contains("portable"));
        for line in rib.into_iter().chain(own) {
            assert_eq!((&line["coverage"], &line["check"]), (&"every range".into(), &"ok".into()));
            assert!(line["addresses"].as_u64().is_some_and(|count| count > 0), "{line}");
            assert_eq!(line["mismatches"], 0);
        }
    }
}

#[test]
fn bench_prints_json_records() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", ROUTES);
    let args = ["bench", "-6", "--seconds", "0.02", "--json", "-e", "poptrie", "-r", &routes];
    let ended = run(&args);
    // Standard error may have a warning about an unoptimised build.
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let lines = lines_of(&ended.stdout);
    let kinds: Vec<_> = lines.iter().map(|line| line["record"].as_str().unwrap()).collect();
    assert_eq!((kinds[0], kinds.last()), ("run", Some(&"experiment")));
    assert_eq!(
        lines.len(),
        2 + 2 + 3 * 2,
        "memory, compile; three kinds of traffic, one and batch"
    );
    let metrics: Vec<_> = lines.iter().filter_map(|line| line["metric"].as_str()).collect();
    assert_eq!(metrics, ["memory", "compile", "rate", "rate", "rate", "rate", "rate", "rate"]);
    for line in &lines[1..9] {
        let engine = line["engine"].as_str().unwrap();
        assert!(engine.starts_with("poptrie") && line["value"].as_f64().unwrap() > 0.0, "{line}");
    }
    let keys = ["table", "family", "routes", "traffic", "mode", "batch", "threads", "simd", "q1"];
    for line in &lines[3..9] {
        assert!(keys.iter().all(|key| !line[key].is_null()), "{line}");
    }
    let addresses = dir.file("addresses.txt", "2001:db8::7\n2001:db9::1\n");
    let traffic = ["--traffic", &addresses, "--mode", "dependent"];
    let ended = run(&[&args[..], &traffic].concat());
    assert_eq!(rates(&ended.stdout).len(), 1, "{}", ended.stderr);
}

/// An engine that states its reads is followed by its roofline, with the ratio of the rates.
#[test]
fn bench_shows_rooflines() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", ROUTES);
    let args = ["bench", "-6", "--seconds", "0.02", "-t", "random", "-r", &routes];
    let roofline = ["-e", "spider,radix", "--roofline"];
    let ended = run(&[&args[..], &roofline, &["--json"]].concat());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let lines = rates(&ended.stdout);
    let engines: Vec<_> = lines.iter().map(|line| line["engine"].as_str().unwrap()).collect();
    let base = |engine: &&str| engine.split(':').next().unwrap().to_owned();
    let bases: Vec<_> = engines.iter().map(base).collect();
    assert_eq!(bases, ["spider", "radix", "spider", "roofline of spider", "radix"]);
    assert!(lines[3]["value"].as_f64().unwrap() > 0.0);
    let shares: Vec<_> = lines_of(&ended.stdout)
        .into_iter()
        .filter(|line| line["metric"] == "share of the roofline")
        .map(|line| (line["engine"].as_str().unwrap().to_owned(), line["mode"].clone()))
        .collect();
    assert_eq!(shares, [(engines[2].to_owned(), "batch".into())]);

    let ended = run(&[&args[..], &roofline, &["-m", "batch"]].concat());
    let table: Vec<_> = ended.stdout.lines().skip_while(|line| !line.contains("Mlps")).collect();
    assert!(table[0].ends_with("roofline"), "{}", ended.stdout);
    assert!(table[1].ends_with('x') && table[2].trim().starts_with("roofline of spider"));
}

/// The choice of `auto` is printed before the figures, and its share of the best rate after them.
#[test]
fn bench_shows_what_auto_chose() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", ROUTES);
    let args = ["bench", "-6", "--seconds", "0.02", "-t", "zipf", "-m", "batch", "-r", &routes];
    let engines = ["-e", "all,auto,auto:use=one"];
    let ended = run(&[&args[..], &engines].concat());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let lines: Vec<_> = ended.stdout.lines().collect();
    let place = |start: &str| lines.iter().position(|line| line.starts_with(start)).unwrap();
    let head = place("IPv6: auto chose ");
    assert!(lines[head].contains("cycles a lookup"), "{}", ended.stdout);
    assert!(lines[head + 1].contains("predicted order"), "{}", ended.stdout);
    assert!(head < place("IPv6: auto:use=one chose ") && head < place("IPv6, zipf traffic"));
    let verdict = lines[place("  auto chose ")];
    let known = verdict.ends_with("batch: the best") || verdict.contains(" of the best (");
    assert!(known && place("  auto chose ") > place("IPv6, zipf traffic"), "{verdict}");

    let ended = run(&[&args[..], &engines, &["--json"]].concat());
    let records = lines_of(&ended.stdout);
    for spec in ["auto", "auto:use=one"] {
        let own: Vec<_> = records.iter().filter(|record| record["engine"] == spec).collect();
        let metrics: Vec<_> = own.iter().map(|record| &record["metric"]).collect();
        assert_eq!(metrics, ["share of the best", "rate"], "{}", ended.stdout);
        let share = own[0]["value"].as_f64().unwrap();
        assert!(0.0 < share && share <= 100.0, "{}", own[0]);
        let chosen =
            records.iter().find(|it| it["metric"] == "rate" && it["engine"] == own[1]["variant"]);
        assert_eq!(chosen.unwrap()["value"], own[1]["value"]);
    }

    let ended = run(&[&args[..], &["-e", "auto:memory=7"]].concat());
    assert_eq!(ended.code, 2, "{}", ended.stdout);
    assert!(ended.stderr.contains("no engine holds the table in 7 B"), "{}", ended.stderr);
}

#[test]
fn stat_and_verify_take_auto() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", ROUTES);
    let ended = run(&["stat", "-6", "--json", "-e", "auto:memory=1M", "-r", &routes]);
    let lines = lines_of(&ended.stdout);
    let engine = &lines[0]["engines"][0];
    assert_eq!((ended.code, &engine["engine"]), (0, &"auto:memory=1M".into()), "{}", ended.stderr);
    let name = engine["variant"].as_str().unwrap().split(' ').next().unwrap();
    assert!(["folio", "dxr", "spider", "tree_bitmap"].contains(&name), "{engine}");
    assert!(engine["bytes"].as_u64().unwrap() <= 1 << 20);

    let ended = run(&["verify", "-6", "--json", "-e", "auto", "-r", &routes]);
    let lines = lines_of(&ended.stdout);
    assert!(ended.code == 0 && !lines.is_empty(), "{}", ended.stderr);
    assert!(lines.iter().all(|line| line["mismatches"] == 0 && line["check"] == "ok"));
}

#[test]
fn bench_takes_keys_in_every_layout() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", ROUTES);
    for form in ["host", "pairs", "network"] {
        let args = ["bench", "-6", "--seconds", "0.02", "-e", "spider", "-t", "zipf", "--json"];
        let ended = run(&[&args[..], &["--keys", form, "-m", "batch", "-r", &routes]].concat());
        let lines = rates(&ended.stdout);
        assert_eq!((ended.code, lines.len()), (0, 1), "{}", ended.stderr);
        let keys = if form == "host" { "array".into() } else { format!("array, {form}") };
        assert_eq!((&lines[0]["keys"], lines[0]["value"].is_number()), (&keys.into(), true));
    }
}

#[test]
fn all_embedded_licences_are_printed() {
    let ended = run(&["licences"]);
    assert_eq!(ended.code, 0);
    for part in
        ["MIT License", "Apache License", "NLnet Labs", "Gaissmai", "CC BY 4.0", "DB-IP.com"]
    {
        let found = ended.stdout.to_lowercase().contains(&part.to_lowercase());
        assert!(found, "{part}");
    }
}
