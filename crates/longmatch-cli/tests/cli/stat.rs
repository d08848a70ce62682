//! `longmatch stat`, run as a process.

use crate::common::{Dir, run, run_with};

const ROUTES: &str = "10.0.0.0/8 a\n10.1.0.0/16 a\n10.2.0.0/16 b\n2001:db8::/32 c\n";

#[test]
fn stat_prints_each_family() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", ROUTES);
    let ended = run(&["stat", "--routes", &routes]);
    assert_eq!((ended.code, &ended.stderr[..]), (0, ""));
    let expected = [
        "routes.txt: 3 IPv4 routes, 1 IPv6 route, 3 next hops\n",
        "IPv4: 3 routes\n",
        "IPv6: 1 route\n",
        "   /8  1  33.3 %  ████████████████\n",
        "  /16  2  66.7 %  ████████████████████████████████\n",
        "covered by another route                66.7 %  2 routes\n",
        "  poptrie",
    ];
    for part in expected {
        assert!(ended.stdout.contains(part), "{part:?} in {}", ended.stdout);
    }
    let ended = run(&["stat", "-6", "--routes", &routes]);
    assert!(!ended.stdout.contains("IPv4") && ended.stdout.contains("IPv6: 1 route\n"));
}

/// The embedded routing tables lack `0.0.0.0/1`; the IPv6 next hops are invented.
#[test]
fn the_embedded_tables_say_what_is_invented() {
    let all = run(&["stat", "-e", "none"]).stdout;
    let counts = "embedded: 886,116 IPv4 routes, 160,147 IPv6 routes, 70,194 next hops, those of IPv6 invented\n";
    assert!(all.starts_with(counts) && !all.contains("   /1 "), "{all}");
    assert!(!run(&["stat", "-4", "-e", "none"]).stdout.contains("invented"));
}

#[test]
fn stat_in_json() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", ROUTES);
    let ended = run(&["stat", "--json", "--engine", "poptrie:s=16,linear", "-r", &routes]);
    assert_eq!((ended.code, &ended.stderr[..]), (0, ""));
    let lines: Vec<serde_json::Value> =
        ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    let ipv4 = &lines[0];
    assert_eq!((&ipv4["family"], &ipv4["routes"]), (&"ipv4".into(), &3.into()));
    assert_eq!((&ipv4["covered_routes"], &ipv4["same_as_parent"]), (&2.into(), &1.into()));
    assert_eq!(
        ipv4["lengths"],
        serde_json::json!([{"len": 8, "routes": 1}, {"len": 16, "routes": 2}])
    );
    assert_eq!(ipv4["next_hops"]["top"][0], serde_json::json!({"next_hop": "a", "routes": 2}));
    assert_eq!(ipv4["aggregated_routes"], 2);
    let engines = ipv4["engines"].as_array().unwrap();
    assert_eq!((&engines[0]["engine"], engines.len()), (&"poptrie:s=16".into(), 2));
    assert!(engines[0]["bytes"].as_u64().unwrap() >= 65_536 * 4);
    assert_eq!((&engines[1]["oracle"], &lines[1]["family"]), (&true.into(), &"ipv6".into()));
}

#[test]
fn no_engine_leaves_the_numbers_of_the_table() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", ROUTES);
    let ended = run(&["stat", "-e", "none", "-r", &routes]);
    assert_eq!((ended.code, &ended.stderr[..]), (0, ""));
    assert!(ended.stdout.contains("IPv4: 3 routes\n") && ended.stdout.contains("(the routes)"));
    assert!(!ended.stdout.contains("poptrie") && !ended.stdout.contains("folio"), "{ended:?}");
    let ended = run(&["stat", "--json", "-4", "-e", "none", "-r", &routes]);
    let record: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((&record["routes"], &record["engines"]), (&3.into(), &serde_json::json!([])));
    let problem = "longmatch: --engine: 'none' compiles no engine: \
        only 'longmatch stat' takes it, alone\n";
    for command in ["stat", "bench", "verify"] {
        let engines = if command == "stat" { "none,folio" } else { "none" };
        let ended = run(&[command, "-e", engines, "-r", &routes]);
        assert_eq!((ended.code, &ended.stdout[..], &ended.stderr[..]), (2, "", problem));
    }
}

#[test]
fn an_empty_table_is_warned_about() {
    let ended = run_with(&["stat", "-4", "--routes", "-"], "# nothing\n");
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stdout.contains("no routes") && ended.stderr.contains("no prefixes were read"));
}

#[test]
fn next_hops_that_were_replaced_do_not_count() {
    let ended = run_with(&["stat", "-r", "-"], "10.0.0.0/8 a\n10.0.0.0/8 b\n");
    assert!(ended.stdout.starts_with("standard input: 1 IPv4 route, 1 next hop\n"), "{ended:?}");
}

/// Random host routes give Folio dozens of cuts: the table shortens their list, JSON has all.
#[test]
fn long_variants_are_shortened_in_the_table_only() {
    let mut bits = 1u128;
    let host_route = |i: u32| {
        bits = bits.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(i.into());
        format!("{} nh{}\n", std::net::Ipv6Addr::from_bits(bits ^ bits >> 67), i % 17)
    };
    let dir = Dir::new();
    let routes = dir.file("hosts.txt", (0..2000).map(host_route).collect::<String>());
    let args = ["stat", "-6", "-e", "folio:pages", "-r", &routes];
    let ended = run(&args);
    let row = ended.stdout.lines().find(|line| line.contains("folio:pages (")).unwrap();
    let (engine, _) = row.split_once(')').unwrap();
    assert!(engine.contains("-…-") && engine.chars().count() < 60, "{row}");
    let ended = run(&[&args[..], &["--json"]].concat());
    let line: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let variant = line["engines"][0]["variant"].as_str().unwrap();
    assert!(variant.split('-').count() > 8 && !variant.contains('…'), "{variant}");
}

/// With a single route, some engines take 16 MiB a route.
#[test]
fn bytes_of_a_route_are_short() {
    let ended = run_with(&["stat", "-4", "-e", "dir24_8,folio", "-r", "-"], "10.0.0.0/8 a\n");
    let row = ended.stdout.lines().find(|line| line.contains("dir24_8")).unwrap();
    assert!(row.contains("  32.0 MiB   33,554,432  "), "{row}");
}
