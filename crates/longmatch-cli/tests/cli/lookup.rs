//! `longmatch lookup`, run as a process.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

use crate::common::{Dir, longmatch, run, run_with};

const ROUTES: &str = "\
10.0.0.0/8 office
10.9.0.0/16 lab
10.9.1.0/24 bench-7
2001:db8::/32 v6-office
::/0 v6-world
";

#[test]
fn answers_are_tab_separated() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", ROUTES);
    let ended = run(&["lookup", "--routes", &routes, "10.9.1.7", "10.200.0.1", "2001:db8::1"]);
    let expected = "10.9.1.7\t10.9.1.0/24\tbench-7\n\
        10.200.0.1\t10.0.0.0/8\toffice\n\
        2001:db8::1\t2001:db8::/32\tv6-office\n";
    assert_eq!((ended.code, &ended.stdout[..], &ended.stderr[..]), (0, expected, ""));
}

#[test]
fn addresses_without_a_route_give_dashes_and_exit_code_1() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", ROUTES);
    let ended = run(&["lookup", "--routes", &routes, "10.0.0.1", "192.0.2.1", "10.0.0.2"]);
    let expected = "10.0.0.1\t10.0.0.0/8\toffice\n192.0.2.1\t-\t-\n10.0.0.2\t10.0.0.0/8\toffice\n";
    assert_eq!((ended.code, &ended.stdout[..]), (1, expected));
}

#[test]
fn mapped_addresses_are_answered_by_ipv4_routes() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", ROUTES);
    let ended = run(&["lookup", "--routes", &routes, "::ffff:10.9.0.1", "::FFFF:a09:1"]);
    let expected = "::ffff:10.9.0.1\t10.9.0.0/16\tlab\n::FFFF:a09:1\t10.9.0.0/16\tlab\n";
    assert_eq!((ended.code, &ended.stdout[..]), (0, expected), "the address stays as it was given");
    let ended = run(&["lookup", "--routes", &routes, "::ffff:192.0.2.1"]);
    assert_eq!((ended.code, &ended.stdout[..]), (1, "::ffff:192.0.2.1\t-\t-\n"), "not by ::/0");
}

#[test]
fn all_covering_prefixes_shortest_first() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", ROUTES);
    let ended = run(&["lookup", "--all", "--routes", &routes, "10.9.1.7", "192.0.2.1"]);
    let expected = "10.9.1.7\t10.0.0.0/8\toffice\n10.9.1.7\t10.9.0.0/16\tlab\n\
        10.9.1.7\t10.9.1.0/24\tbench-7\n192.0.2.1\t-\t-\n";
    assert_eq!((ended.code, &ended.stdout[..]), (1, expected));
}

#[test]
fn standard_input_line_by_line() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", ROUTES);
    let stdin = "10.0.0.1\r\n\n  10.9.0.1  \n\t\n2001:db8::9";
    let ended = run_with(&["lookup", "-r", &routes, "-"], stdin);
    let expected = "10.0.0.1\t10.0.0.0/8\toffice\n10.9.0.1\t10.9.0.0/16\tlab\n\
        2001:db8::9\t2001:db8::/32\tv6-office\n";
    assert_eq!((ended.code, &ended.stdout[..], &ended.stderr[..]), (0, expected, ""));
    let ended = run_with(&["lookup", "-r", &routes, "-"], "");
    assert_eq!((ended.code, &ended.stdout[..]), (0, ""));
}

#[test]
fn a_bad_line_is_named_after_earlier_lines_are_answered() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", ROUTES);
    let ended = run_with(&["lookup", "-r", &routes, "-"], "10.0.0.1\n\n10.0.0.256\n10.0.0.2\n");
    assert_eq!((ended.code, &ended.stdout[..]), (2, "10.0.0.1\t10.0.0.0/8\toffice\n"));
    assert_eq!(
        ended.stderr,
        "longmatch: standard input, line 3: '10.0.0.256' is not an IP address\n"
    );
    for bad in [&b"\xff\xfe\n"[..], b"10.0.0.0/8\n", b"\0\n", &[b'1'; 1 << 20]] {
        let ended = run_with(&["lookup", "-r", &routes, "-"], bad);
        assert_eq!((ended.code, &ended.stdout[..]), (2, ""), "{ended:?}");
        assert!(ended.stderr.starts_with("longmatch: standard input, line 1: "), "{ended:?}");
        assert_eq!(ended.stderr.lines().count(), 1);
    }
}

#[test]
fn many_lines_in_order() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", ROUTES);
    let address = |i: u32| format!("10.{}.{}.{}", i >> 16, i >> 8 & 255, i & 255);
    let stdin: String = (0..200_000).map(|i| address(i) + "\n").collect();
    let ended = run_with(&["lookup", "-r", &routes, "-"], stdin);
    assert_eq!((ended.code, ended.stdout.lines().count()), (0, 200_000));
    let in_order = ended.stdout.lines().zip(0..);
    assert!(in_order.into_iter().all(|(line, i)| line.starts_with(&(address(i) + "\t"))));
}

/// A program at the other end of both pipes must not have to fill a buffer first.
#[test]
fn each_query_is_answered_before_the_next() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", ROUTES);
    let mut command = longmatch(&["lookup", "-r", &routes, "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut questions = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap());
    for _ in 0..3 {
        questions.write_all(b"10.9.0.1\n").unwrap();
        let mut answer = String::new();
        answers.read_line(&mut answer).unwrap();
        assert_eq!(answer, "10.9.0.1\t10.9.0.0/16\tlab\n");
    }
    drop(questions);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_closed_pipe_ends_the_program_silently() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", ROUTES);
    let addresses = dir.file("addresses.txt", "10.0.0.1\n".repeat(500_000));
    let mut command = longmatch(&["lookup", "-r", &routes, "-"]);
    command.stdin(std::fs::File::open(addresses).unwrap());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut start = [0; 9];
    child.stdout.take().unwrap().read_exact(&mut start).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(&start, b"10.0.0.1\t");
    assert_eq!((output.status.code(), &output.stderr[..]), (Some(0), &b""[..]));
}

#[test]
fn json_has_one_object_a_line() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", "10.0.0.0/8 \"quoted\\\n");
    let ended = run(&["lookup", "--json", "--routes", &routes, "10.0.0.1", "192.0.2.1"]);
    let lines: Vec<serde_json::Value> =
        ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let first = serde_json::json!(
        {"address": "10.0.0.1", "prefix": "10.0.0.0/8", "next_hop": "\"quoted\\"}
    );
    let second = serde_json::json!({"address": "192.0.2.1", "prefix": null, "next_hop": null});
    assert_eq!((ended.code, lines), (1, vec![first, second]));
}

#[test]
fn later_files_win() {
    let dir = Dir::new();
    let first = dir.file("first.txt", ROUTES);
    let second = dir.file("second.txt", "10.9.0.0/16 moved\n192.0.2.0/24 new\n");
    let addresses = ["10.9.0.1", "192.0.2.1", "10.0.0.1"];
    let ended = run(&[&["lookup", "-r", &first, "-r", &second][..], &addresses].concat());
    let expected = "10.9.0.1\t10.9.0.0/16\tmoved\n192.0.2.1\t192.0.2.0/24\tnew\n\
        10.0.0.1\t10.0.0.0/8\toffice\n";
    assert_eq!((ended.code, &ended.stdout[..]), (0, expected));
}

#[test]
fn routes_from_standard_input() {
    let ended = run_with(&["lookup", "--routes", "-", "10.9.0.1"], ROUTES);
    assert_eq!((ended.code, &ended.stdout[..]), (0, "10.9.0.1\t10.9.0.0/16\tlab\n"));
    let ended = run_with(&["lookup", "--routes", "-", "-"], ROUTES);
    assert_eq!((ended.code, &ended.stdout[..]), (2, ""));
    assert!(ended.stderr.contains("read once"), "{ended:?}");
}

#[test]
fn host_bits_and_damage_are_errors_by_default() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", "10.0.0.0/8 a\n10.9.0.1/16 b\n");
    let ended = run(&["lookup", "-r", &routes, "10.9.0.1"]);
    assert_eq!((ended.code, &ended.stdout[..]), (2, ""));
    assert!(ended.stderr.contains("line 2"), "{ended:?}");
    let ended = run(&["lookup", "--mask", "-r", &routes, "10.9.0.1"]);
    assert_eq!((ended.code, &ended.stdout[..]), (0, "10.9.0.1\t10.9.0.0/16\tb\n"));
    let ended = run(&["lookup", "--lenient", "-r", &routes, "10.9.0.1"]);
    assert_eq!((ended.code, &ended.stdout[..]), (0, "10.9.0.1\t10.0.0.0/8\ta\n"));
    assert!(ended.stderr.contains("line 2"), "{ended:?}");
}

#[test]
fn the_chosen_peer_is_printed() {
    let dir = Dir::new();
    let line = |peer: &str, prefix: &str, hop: &str| {
        format!("TABLE_DUMP2|0|B|{peer}|64500|{prefix}|64500|IGP|{hop}|0|0||NAG||\n")
    };
    let dump = line("192.0.2.1", "10.0.0.0/8", "192.0.2.11")
        + &line("192.0.2.2", "10.0.0.0/8", "192.0.2.22")
        + &line("192.0.2.2", "11.0.0.0/8", "192.0.2.22");
    let routes = dir.file("dump.txt", dump);
    let ended = run(&["lookup", "-r", &routes, "10.0.0.1"]);
    assert_eq!((ended.code, &ended.stdout[..]), (0, "10.0.0.1\t10.0.0.0/8\t192.0.2.22\n"));
    assert!(ended.stderr.contains("taking 2 IPv4 routes of peer 192.0.2.2 AS64500"), "{ended:?}");
    let ended = run(&["lookup", "-r", &routes, "--peer", "192.0.2.1", "10.0.0.1"]);
    assert_eq!((ended.code, &ended.stdout[..]), (0, "10.0.0.1\t10.0.0.0/8\t192.0.2.11\n"));
    let ended = run(&["lookup", "-r", &routes, "--peer", "AS1", "10.0.0.1"]);
    assert_eq!((ended.code, &ended.stdout[..]), (2, ""));
}

#[test]
fn the_embedded_tables_answer() {
    let ended = run(&["lookup", "8.8.8.8", "2001:4860:4860::8888"]);
    let expected = "8.8.8.8\t8.8.8.0/24\tAS15169\n2001:4860:4860::8888\t2001:4860::/32\tnh";
    assert_eq!((ended.code, &ended.stderr[..]), (0, ""));
    assert!(ended.stdout.starts_with(expected), "{ended:?}");
}
