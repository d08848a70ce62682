//! `longmatch verify`, `bench` and `licences`, run as users run them. IPv6 only: an IPv4 sweep of the
//! unoptimised build would take minutes. No rate is judged here.

use crate::common::{Dir, run};

const ROUTES: &str = "2001:db8::/32 a\n2001:db8:1::/48 b\n2001:db8::7/128 c\n";

fn lines(stdout: &str) -> Vec<serde_json::Value> {
    stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
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
    let lines = lines(&ended.stdout);
    assert!(lines.len() >= 2, "each kernel at each level: {}", ended.stdout);
    for line in lines {
        assert_eq!((&line["mismatches"], &line["check"]), (&0.into(), &"ok".into()));
        assert!(line["addresses"].as_u64().unwrap() > 0);
    }
}

#[test]
fn bench_prints_what_scripts_read() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", ROUTES);
    let args = ["bench", "-6", "--seconds", "0.02", "--json", "-e", "poptrie", "-r", &routes];
    let ended = run(&args);
    // On standard error there may be a warning about an unoptimised build.
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let lines = lines(&ended.stdout);
    assert_eq!(lines.len(), 3 * 2, "three kinds of traffic, one and batch");
    let keys = [
        "engine",
        "variant",
        "family",
        "routes",
        "next_hops",
        "traffic",
        "mode",
        "batch",
        "threads",
        "simd",
        "mlps",
        "mlps_min",
        "mlps_max",
        "ns_per_lookup",
        "bytes",
        "build_ms",
        "mismatches",
    ];
    for line in &lines {
        assert!(keys.iter().all(|key| !line[key].is_null()), "{line}");
        assert_eq!((&line["engine"], &line["mismatches"]), (&"poptrie".into(), &0.into()));
    }
    let addresses = dir.file("addresses.txt", "2001:db8::7\n2001:db9::1\n");
    let traffic = ["--traffic", &addresses, "--mode", "dependent"];
    let ended = run(&[&args[..], &traffic].concat());
    assert_eq!(ended.stdout.lines().count(), 1, "{}", ended.stderr);
}

#[test]
fn licences_of_everything_inside() {
    let ended = run(&["licences"]);
    assert_eq!(ended.code, 0);
    for part in ["MIT License", "Apache License", "NLnet Labs", "Gaissmai"] {
        let found = ended.stdout.to_lowercase().contains(&part.to_lowercase());
        assert!(found, "{part}");
    }
}
