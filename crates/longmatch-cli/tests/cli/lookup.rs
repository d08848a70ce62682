//! `longmatch lookup`, run as a process.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

use crate::common::{Dir, longmatch, run, run_with};

mod queries;

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
        "longmatch: standard input, line 3: '10.0.0.256' is not an IP address \
         (--skip-invalid skips such text; 'longmatch annotate' reads logs and CSV)\n"
    );
    for bad in [&b"\xff\xfe\n"[..], b"10.0.0.1/8\n", b"\0\n", b"10.0.0.1 # x\n", &[b'1'; 1 << 20]] {
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
    assert!(ended.stderr.contains("read twice"), "{ended:?}");
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
    assert_eq!((ended.code, &ended.stdout[..]), (0, "10.0.0.1\t10.0.0.0/8\t64500\n"));
    let ended = run(&["lookup", "-r", &routes, "--value", "next-hop", "10.0.0.1"]);
    assert_eq!((ended.code, &ended.stdout[..]), (0, "10.0.0.1\t10.0.0.0/8\t192.0.2.22\n"));
    assert!(ended.stderr.contains("taking 2 IPv4 routes of peer 192.0.2.2 AS64500"), "{ended:?}");
    let ended =
        run(&["lookup", "-r", &routes, "--value", "next-hop", "--peer", "192.0.2.1", "10.0.0.1"]);
    assert_eq!((ended.code, &ended.stdout[..]), (0, "10.0.0.1\t10.0.0.0/8\t192.0.2.11\n"));
    let ended = run(&["lookup", "-r", &routes, "--peer", "AS1", "10.0.0.1"]);
    assert_eq!((ended.code, &ended.stdout[..]), (2, ""));
}

/// The default table has the origin AS and its name, and says how old it is.
#[test]
fn the_default_table_answers_and_says_its_date() {
    let date = table_date();
    let notice = format!(
        "longmatch: the default table answers: the origin AS of {date} (RouteViews, DB-IP.com, NRO; \
         CC BY 4.0); name others with --routes or --table\n"
    );
    let cases = [
        (&["1.1.1.1"][..], "1.1.1.1\t1.1.1.0/24\t13335\tCloudflare, Inc.\n"),
        (&["--all", "1.1.1.1"], "1.1.1.1\t1.1.1.0/24\t13335\tCloudflare, Inc.\n"),
        (
            &["--json", "8.8.8.8"],
            "{\"address\":\"8.8.8.8\",\"prefix\":\"8.8.8.0/24\",\"asn\":15169,\"name\":\"Google LLC\"}\n",
        ),
        (
            &["2001:4860:4860::8888"],
            "2001:4860:4860::8888\t2001:4860:4840::/42\t15169\tGoogle LLC\n",
        ),
        (&["--exit-zero", "10.1.2.3"], "10.1.2.3\t-\t-\t-\n"),
    ];
    for (args, expected) in cases {
        let ended = run(&[&["lookup"], args].concat());
        assert_eq!((ended.code, &*ended.stdout, &*ended.stderr), (0, expected, &*notice));
    }
    let ended = run_with(&["lookup", "-"], "1.1.1.1\n");
    assert_eq!((&*ended.stdout, &*ended.stderr), (cases[0].1, &*notice));
    let version = run(&["--version"]).stdout;
    let line = format!("\ndefault table: origin AS and name of {date} (@ip-location-db/asn ");
    assert!(version.contains(&line) && run(&["-V"]).stdout.lines().count() == 1, "{version}");
}

/// The date of the default table, which the data beside it state.
fn table_date() -> &'static str {
    let version = include_str!("../../../../data/asn.version");
    let date = version.split_whitespace().nth(1).unwrap();
    assert!(date.len() == 10 && date.starts_with("20"), "{version}");
    date
}

/// Special-purpose addresses (RFC 6890) have no AS; the AS112 servers, which an AS announces, do.
#[test]
fn special_purpose_addresses_have_no_as() {
    let special = "0.0.0.1 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1 169.254.1.1 172.16.0.1 \
        172.31.255.255 192.0.0.1 192.0.2.1 192.88.99.1 192.168.0.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 \
        224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 :: ::1 ::ffff:10.0.0.1 64:ff9b::1 64:ff9b:1::1 100::1 2001::1 \
        2001:2::1 2001:10::1 2001:db8::1 2002::1 3fff::1 5f00::1 fc00::1 fd00::1 fe80::1 ff02::1";
    let special: Vec<&str> = special.split_whitespace().collect();
    let ended = run(&[&["lookup"], &special[..]].concat());
    assert_eq!(ended.code, 1);
    let none: String = special.iter().map(|addr| format!("{addr}\t-\t-\t-\n")).collect();
    assert_eq!(ended.stdout, none);
    for addr in ["11.0.0.1", "100.10.0.1", "192.31.196.1", "192.175.48.1", "2001:4:112::1"] {
        let ended = run(&["lookup", addr]);
        assert_eq!(ended.code, 0, "{ended:?}");
    }
}

#[test]
fn ports_brackets_zones_quotes_and_comments() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", ROUTES);
    let stdin = "\u{feff}10.9.0.1:443\n# 10.0.0.1\n  # comment\n\"10.9.0.1\"\n' 10.9.0.1 '\r\n\
        [2001:db8::1]:53\n2001:db8::1%eth0\n\n::ffff:10.9.0.1\n";
    let expected = "10.9.0.1:443\t10.9.0.0/16\tlab\n10.9.0.1\t10.9.0.0/16\tlab\n\
        10.9.0.1\t10.9.0.0/16\tlab\n[2001:db8::1]:53\t2001:db8::/32\tv6-office\n\
        2001:db8::1%eth0\t2001:db8::/32\tv6-office\n::ffff:10.9.0.1\t10.9.0.0/16\tlab\n";
    let ended = run_with(&["lookup", "-r", &routes, "-"], stdin);
    assert_eq!((ended.code, &ended.stdout[..], &ended.stderr[..]), (0, expected, ""));
    let arguments = ["10.9.0.1:443", "\"10.9.0.1\"", "' 10.9.0.1 '", "[2001:db8::1]:53"];
    let more = ["2001:db8::1%eth0", "::ffff:10.9.0.1"];
    let ended = run(&[&["lookup", "-r", &routes][..], &arguments, &more].concat());
    assert_eq!((ended.code, &ended.stdout[..], &ended.stderr[..]), (0, expected, ""));
    let ended = run_with(&["lookup", "--json", "-r", &routes, "-"], "fe80::1%a\"b\\\n");
    let record: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(record["address"], "fe80::1%a\"b\\");
}

#[test]
fn invalid_lines_can_be_skipped() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", ROUTES);
    let log = "10.9.1.7 - - [01/Jan/2026:00:00:00 +0000] \"GET /?1.2.3 HTTP/1.1\" 200 17\n\
        no address\n10.0.0.1\nclient [2001:db8::9]:4711: connected\n\u{1b}[2J\n192.0.2.256";
    let ended = run_with(&["lookup", "-r", &routes, "-"], log);
    assert_eq!((ended.code, &ended.stdout[..]), (2, ""));
    assert!(ended.stderr.starts_with("longmatch: standard input, line 1: '10.9.1.7 - -"));
    assert!(ended.stderr.contains("--skip-invalid skips such text"), "{ended:?}");
    let ended = run_with(&["lookup", "-r", &routes, "--skip-invalid", "-"], log);
    let expected = "10.9.1.7\t10.9.1.0/24\tbench-7\n10.0.0.1\t10.0.0.0/8\toffice\n\
        2001:db8::9\t2001:db8::/32\tv6-office\n";
    assert_eq!((ended.code, &ended.stdout[..]), (0, expected));
    let skipped = "longmatch: standard input: 3 lines skipped, first line 2: \
        'no address' is not an IP address: expected one address per line and nothing else\n";
    assert_eq!(ended.stderr, skipped);
    let ended = run_with(&["lookup", "-4", "-r", &routes, "--skip-invalid", "-"], log);
    assert_eq!(ended.stdout, expected[..expected.find("2001").unwrap()]);
    assert!(ended.stderr.contains(": 4 lines skipped, first line 2: "), "{ended:?}");
    let binary = [&b"\xff\xfe\x00\n"[..], &[b'1'; 1 << 20], b"\n10.0.0.1\n"].concat();
    let ended = run_with(&["lookup", "-r", &routes, "--skip-invalid", "-"], binary);
    assert_eq!((ended.code, &ended.stdout[..]), (0, "10.0.0.1\t10.0.0.0/8\toffice\n"));
    assert!(ended.stderr.contains("2 lines skipped, first line 1: not text (UTF-8)"), "{ended:?}");
}

#[test]
fn invalid_arguments_can_be_skipped() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", ROUTES);
    let arguments = ["lookup", "-r", &routes, "10.9.0.1:443", "bad", "10.0.0.1"];
    let ended = run(&arguments);
    assert_eq!((ended.code, &ended.stdout[..]), (2, ""));
    assert!(ended.stderr.starts_with("longmatch: 'bad' is not an IP address"), "{ended:?}");
    let ended = run(&[&arguments[..], &["--skip-invalid"]].concat());
    let expected = "10.9.0.1:443\t10.9.0.0/16\tlab\n10.0.0.1\t10.0.0.0/8\toffice\n";
    assert_eq!((ended.code, &ended.stdout[..]), (0, expected));
    let skipped =
        "longmatch: arguments: 1 argument skipped, first argument 2: 'bad' is not an IP address\n";
    assert_eq!(ended.stderr, skipped);
}

#[test]
fn exit_code_0_without_a_match() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", ROUTES);
    let ended = run(&["lookup", "-r", &routes, "--exit-zero", "192.0.2.1"]);
    assert_eq!((ended.code, &ended.stdout[..]), (0, "192.0.2.1\t-\t-\n"));
    let ended = run_with(&["lookup", "-r", &routes, "--exit-zero", "-"], "192.0.2.1\n");
    assert_eq!((ended.code, &ended.stdout[..]), (0, "192.0.2.1\t-\t-\n"));
    let ended = run_with(&["lookup", "-r", &routes, "--exit-zero", "-"], "192.0.2.1\nbad\n");
    assert_eq!((ended.code, &ended.stdout[..]), (2, "192.0.2.1\t-\t-\n"));
}

#[test]
fn compressed_standard_input() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", ROUTES);
    let lines = "10.9.0.1\n192.0.2.1\n".repeat(50_000);
    let expected = "10.9.0.1\t10.9.0.0/16\tlab\n192.0.2.1\t-\t-\n".repeat(50_000);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(lines.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let ended = run_with(&["lookup", "-r", &routes, "-"], &gzip);
    assert_eq!((ended.code, &ended.stderr[..]), (1, ""));
    assert!(ended.stdout == expected);
    let ended = run_with(&["lookup", "-r", &routes, "-"], &gzip[..gzip.len() - 9]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.starts_with("longmatch: standard input, line "), "{}", ended.stderr);
    assert!(ended.stderr.contains("gzip"), "{}", ended.stderr);
}

const SITES: &str = "\
network,asn,site,load
10.0.0.0/8,64500,office,0.5
10.9.0.0/16,64501,,
192.0.2.0/25,64502,\"lab, west\",2.25
";

#[test]
fn every_format_of_prefix_data_answers_with_its_columns() {
    let dir = Dir::new();
    let sites = dir.file("sites.csv", SITES);
    let asked = ["10.1.2.3", "10.9.0.1", "192.0.2.1", "198.51.100.1"];
    let lookup = |options: &[&str]| run(&[&["lookup"], options, &asked].concat());
    let ended = lookup(&["-r", &sites]);
    let expected = "10.1.2.3\t10.0.0.0/8\t64500\toffice\t0.5\n10.9.0.1\t10.9.0.0/16\t64501\t\t\n\
        192.0.2.1\t192.0.2.0/25\t64502\tlab, west\t2.25\n198.51.100.1\t-\t-\t-\t-\n";
    assert_eq!((ended.code, &ended.stdout[..], &ended.stderr[..]), (1, expected, ""));
    let json = lookup(&["-r", &sites, "--json"]);
    let line = json.stdout.lines().nth(1).unwrap();
    let second =
        r#"{"address":"10.9.0.1","prefix":"10.9.0.0/16","asn":64501,"site":null,"load":null}"#;
    assert_eq!(line, second);
    let table = dir.path("sites.lm");
    assert_eq!(run(&["compile", "-r", &sites, "-o", &table]).code, 0);
    for (option, file) in [("--table", &table), ("-r", &table)] {
        assert_eq!(lookup(&[option, file]), ended);
        assert_eq!(lookup(&[option, file, "--json"]), json);
        let all = lookup(&[option, file, "--all"]);
        assert_eq!(all, lookup(&["-r", &sites, "--all"]));
        assert_eq!(all.stdout.lines().count(), 5);
    }

    let list = dir.file("list.txt", "# ours\n10.0.0.0/8\n192.0.2.0/25\n");
    let ended = lookup(&["-r", &list]);
    let expected = "10.1.2.3\t10.0.0.0/8\n10.9.0.1\t10.0.0.0/8\n192.0.2.1\t192.0.2.0/25\n\
        198.51.100.1\t-\n";
    assert_eq!((ended.code, &ended.stdout[..], &ended.stderr[..]), (1, expected, ""));
    let ended = run(&["lookup", "-r", &list, "--json", "198.51.100.1"]);
    assert_eq!(ended.stdout, "{\"address\":\"198.51.100.1\",\"prefix\":null}\n");

    let ranges = dir.file("ranges.tsv", "10.0.0.0\t10.255.255.255\t64500\n");
    let ended = run(&["lookup", "-r", &ranges, "10.1.2.3"]);
    assert_eq!((ended.code, &ended.stdout[..]), (0, "10.1.2.3\t10.0.0.0/8\t64500\n"));

    let moved = dir.file("moved.csv", "network,site\n10.9.0.0/16,annex\n");
    let ended = run(&["lookup", "-r", &sites, "-r", &moved, "10.9.0.1", "10.1.2.3"]);
    let expected = "10.9.0.1\t10.9.0.0/16\t\tannex\t\n10.1.2.3\t10.0.0.0/8\t64500\toffice\t0.5\n";
    assert_eq!((ended.code, &ended.stdout[..]), (0, expected));
}

#[test]
fn next_hops_stay_as_they_are_written() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", "10.0.0.0/8 007\n10.9.0.0/16 12\n");
    let ended = run(&["lookup", "-r", &routes, "--json", "10.0.0.1", "10.9.0.1"]);
    let expected = "{\"address\":\"10.0.0.1\",\"prefix\":\"10.0.0.0/8\",\"next_hop\":\"007\"}\n\
        {\"address\":\"10.9.0.1\",\"prefix\":\"10.9.0.0/16\",\"next_hop\":\"12\"}\n";
    assert_eq!((ended.code, &ended.stdout[..]), (0, expected));
}

/// Arguments are answered from the routes, long input from the compiled table at last.
#[test]
fn standard_input_and_arguments_have_the_same_answers() {
    let dir = Dir::new();
    let lines: String =
        (0..4_000u32).map(|i| format!("10.{}.{}.0/24 hop-{i}\n", i >> 8, i & 255)).collect();
    let routes = dir.file("routes.txt", format!("{ROUTES}{lines}"));
    let address = |i: u32| match i % 5 {
        0 => format!("2001:db8::{:x}", i & 0xffff),
        1 => format!("192.0.2.{}", i & 255),
        _ => format!("10.{}.{}.{}", i >> 12, i >> 4 & 255, i & 255),
    };
    let addresses: Vec<String> = (0..100_000).map(address).collect();
    for json in [&[][..], &["--json"]] {
        let options = [&["lookup", "-r", &routes], json].concat();
        let stdin = run_with(&[&options[..], &["-"]].concat(), addresses.join("\n"));
        assert_eq!((stdin.code, stdin.stdout.lines().count()), (1, 100_000));
        // An argument list has a limit.
        let mut expected = String::new();
        for some in addresses.chunks(25_000) {
            let some: Vec<&str> = some.iter().map(String::as_str).collect();
            expected += &run(&[&options[..], &some].concat()).stdout;
        }
        assert!(stdin.stdout == expected);
    }
}

#[test]
fn a_bad_line_at_the_end_is_named() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", ROUTES);
    let ended = run_with(&["lookup", "-r", &routes, "-"], "10.0.0.1\n".repeat(100_000) + "bad");
    assert_eq!((ended.code, ended.stdout.lines().count()), (2, 100_000));
    let problem = "longmatch: standard input, line 100001: 'bad' is not an IP address";
    assert!(ended.stderr.starts_with(problem), "{}", ended.stderr);
}

/// Lists with names: the names of all lists that have an address, also those of shorter prefixes.
#[test]
fn named_lists_answer_with_all_their_names() {
    let dir = Dir::new();
    let (drop, tor) =
        (dir.file("drop", "10.0.0.0/8 ; SBL1\n192.0.2.1\n"), dir.file("tor", "10.9.0.0/16\n"));
    let ours = dir.file("ours", "{\"prefixes\":[\"10.9.1.0/24\",\"192.0.2.0/24\"]}");
    let named =
        [("drop", drop), ("tor", tor), ("ours", ours)].map(|(name, file)| format!("{name}={file}"));
    let lists: Vec<&str> = named.iter().flat_map(|list| ["-r", list]).collect();
    let ended = run(&[
        &["lookup", "10.1.1.1", "10.9.2.1", "10.9.1.1", "192.0.2.1", "192.0.2.2"],
        &lists[..],
    ]
    .concat());
    let expected = "10.1.1.1\t10.0.0.0/8\tdrop\n10.9.2.1\t10.9.0.0/16\tdrop;tor\n10.9.1.1\t10.9.1.0/24\tdrop;tor;ours\n\
        192.0.2.1\t192.0.2.1/32\tdrop;ours\n192.0.2.2\t192.0.2.0/24\tours\n";
    assert_eq!((ended.code, &*ended.stdout), (0, expected), "{}", ended.stderr);
    let ended = run_with(&[&["annotate"], &lists[..]].concat(), "10.9.1.1\n");
    assert_eq!(ended.stdout, "10.9.1.1\tdrop;tor;ours\n", "{}", ended.stderr);
    let ended = run(&["lookup", "-r", &named[0], "-r", &dir.path("x"), "10.0.0.1"]);
    assert!(ended.code == 2 && ended.stderr.contains("NAME=FILE, or none"), "{}", ended.stderr);
}
