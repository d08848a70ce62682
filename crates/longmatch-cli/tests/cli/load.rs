//! Messages of loading routes: the routes taken, errors, and the options that help.

use crate::common::{Dir, Ended, run, run_with};

/// Looks one address up in a text.
fn lookup(options: &[&str], addr: &str, text: impl AsRef<[u8]>) -> Ended {
    run_with(&[&["lookup", "-r", "-"][..], options, &[addr]].concat(), text)
}

#[test]
fn tables_of_ip_route() {
    let text = "default via 10.0.0.1 dev a metric 100\ndefault via 10.0.0.2 dev b metric 600\n\
                default via 10.9.9.9 dev vpn table 100\n";
    let ended = lookup(&[], "192.0.2.1", text);
    assert_eq!((ended.code, &ended.stdout[..]), (0, "192.0.2.1\t0.0.0.0/0\t10.0.0.1\n"));
    assert!(ended.stderr.contains("1 route of another table was left out (100: 1)"), "{ended:?}");
    assert!(ended.stderr.contains("--ip-table takes"), "{ended:?}");
    assert!(ended.stderr.contains("1 route with a better one"), "{ended:?}");
    let ended = lookup(&["--ip-table", "100"], "192.0.2.1", text);
    assert_eq!((ended.code, &ended.stdout[..]), (0, "192.0.2.1\t0.0.0.0/0\t10.9.9.9\n"));
    assert!(ended.stderr.contains("2 routes of other tables were left out (main: 2)"), "{ended:?}");
    let ended = lookup(&["--ip-table", ""], "192.0.2.1", text);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("expected a name of one word or a number"), "{ended:?}");
}

#[test]
fn a_default_route_without_a_family() {
    let text = "default dev ppp0 metric 1024\n";
    let ended = lookup(&[], "2001:db8::1", text);
    assert_eq!((ended.code, &ended.stdout[..]), (2, ""));
    assert!(ended.stderr.contains("standard input: line 1: "), "{ended:?}");
    assert!(ended.stderr.trim_end().ends_with("write 0.0.0.0/0 or ::/0, or give -4 or -6"));
    let ended = lookup(&["-6"], "2001:db8::1", text);
    assert_eq!((ended.code, &ended.stdout[..]), (0, "2001:db8::1\t::/0\tppp0\n"));
    let ended = lookup(&["-4"], "192.0.2.1", text);
    assert_eq!((ended.code, &ended.stdout[..]), (0, "192.0.2.1\t0.0.0.0/0\tppp0\n"));
    let ended = lookup(&["-4"], "2001:db8::1", text);
    assert_eq!((ended.code, &ended.stdout[..]), (2, ""));
    assert!(ended.stderr.contains("'2001:db8::1' is an IPv6 address: leave out -4"), "{ended:?}");
    let ended = run_with(&["stat", "-6", "-e", "radix", "-r", "-"], text);
    assert!(ended.code == 0 && ended.stdout.contains("1 IPv6 route"), "{ended:?}");
}

#[test]
fn addresses_of_standard_input_are_of_the_family_too() {
    let dir = Dir::new();
    let routes = dir.file("routes", "0.0.0.0/0 a\n::/0 b\n");
    let ended = run_with(&["lookup", "-6", "-r", &routes, "-"], "::1\n10.0.0.1\n");
    assert_eq!((ended.code, &ended.stdout[..]), (2, "::1\t::/0\tb\n"));
    assert!(ended.stderr.contains("standard input, line 2: '10.0.0.1' is an IPv4 address"));
}

#[test]
fn prefixes_of_the_other_family_are_warned_about() {
    let ended = lookup(&[], "192.0.2.1", "2001:db8::/32 a\n");
    assert_eq!((ended.code, &ended.stdout[..]), (1, "192.0.2.1\t-\t-\n"));
    let warning = "longmatch: --routes: all prefixes are of the other address family\n";
    assert_eq!(ended.stderr, warning);
}

#[test]
fn lenient_is_advised_only_where_it_helps() {
    let text = "10.0.0.0/8 a\nx\n10.9.0.0/16 b\ny\n";
    let ended = lookup(&[], "10.0.0.1", text);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.trim_end().ends_with("(--lenient keeps the undamaged part)"), "{ended:?}");
    let ended = lookup(&["--lenient"], "10.0.0.1", text);
    assert_eq!((ended.code, &ended.stdout[..]), (0, "10.0.0.1\t10.0.0.0/8\ta\n"));
    assert!(!ended.stderr.contains("keeps"), "{ended:?}");
    assert!(ended.stderr.contains("2 damaged lines or records were left out"), "{ended:?}");
    assert!(ended.stderr.contains("line 2: 'x'"), "{ended:?}");
    let ended = lookup(&["--lenient"], "10.0.0.1", "10.0.0.0/8 a\nx\n");
    assert!(ended.stderr.contains("1 damaged line or record was left out"), "{ended:?}");
    let ended = lookup(&[], "10.0.0.1", "10.0.0.1/8 a\n");
    assert!(ended.stderr.trim_end().ends_with("(--mask drops host bits)"), "{ended:?}");
    let missing = run(&["lookup", "-r", "/nowhere/at/all", "10.0.0.1"]);
    assert!(missing.code == 2 && !missing.stderr.contains("--lenient"), "{missing:?}");
}

#[test]
fn a_lenient_load_of_nothing_is_an_error() {
    let dir = Dir::new();
    let here = dir.path("");
    for options in [&[][..], &["--lenient"]] {
        let ended = run(&[&["lookup", "-r", &here][..], options, &["10.0.0.1"]].concat());
        assert_eq!((ended.code, &ended.stdout[..]), (2, ""), "{ended:?}");
        assert!(ended.stderr.contains("it is a directory: name a file in it"), "{ended:?}");
        let ended = lookup(options, "10.0.0.1", "garbage\nmore of it\n");
        assert_eq!((ended.code, &ended.stdout[..]), (2, ""), "{ended:?}");
        assert!(ended.stderr.contains("not a known format of prefixes"), "{ended:?}");
    }
}

#[test]
fn a_peer_without_usable_routes_is_not_reported_as_taken() {
    // A peer index table, and an IPv6 route without any next hop.
    let index = [
        &[0, 0, 0, 0, 0, 13, 0, 1, 0, 0, 0, 19][..],
        &[1, 1, 1, 1, 0, 0, 0, 1],
        &[0, 9, 9, 9, 9, 192, 0, 2, 1, 0, 1],
    ]
    .concat();
    let rib = [
        &[0, 0, 0, 0, 0, 13, 0, 4, 0, 0, 0, 20][..],
        &[0, 0, 0, 1, 8, 0x20, 0, 1],
        &[0, 0, 0, 0, 0, 0, 0, 4, 0x40, 1, 1, 0],
    ]
    .concat();
    let dir = Dir::new();
    let file = dir.file("rib.mrt", [index, rib].concat());
    let ended = run(&["lookup", "-r", &file, "2001:db8::1"]);
    assert_eq!((ended.code, &ended.stdout[..]), (1, "2001:db8::1\t-\t-\n"), "{ended:?}");
    assert!(ended.stderr.contains("no routes were read"), "{ended:?}");
    assert!(ended.stderr.contains("1 route without a next hop was left out"), "{ended:?}");
    assert!(!ended.stderr.contains("taking"), "{ended:?}");
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let dir = Dir::new();
    let name = dir.file("a\u{1b}[31m\nb", "10.0.0.0/8 hop\u{1b}[2J\u{9b}x\n");
    let ended = run(&["lookup", "-r", &name, "10.0.0.1"]);
    let shown = "10.0.0.1\t10.0.0.0/8\thop\\u{1b}[2J\\u{9b}x\n";
    assert_eq!((ended.code, &ended.stdout[..]), (0, shown));
    let ended = run(&["lookup", "--json", "-r", &name, "10.0.0.1"]);
    let record: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(record["next_hop"], "hop\u{1b}[2J\u{9b}x", "records are exact");
    let ended = run(&["stat", "-e", "radix", "-r", &name]);
    assert!(ended.stdout.contains(r"a\u{1b}[31m\nb: 1 IPv4 route"), "{ended:?}");
    assert!(ended.stdout.contains(r"hop\u{1b}[2J\u{9b}x"), "{ended:?}");
    let ended = run(&["stat", "--json", "-e", "radix", "-r", &name]);
    let record: serde_json::Value =
        serde_json::from_str(ended.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(record["table"], name);
    let bad = dir.file("c\u{1b}[31m", "x\n");
    let ended = run(&["lookup", "-r", &bad, "10.0.0.1"]);
    assert!(ended.stderr.contains(r"c\u{1b}[31m: not a known format"), "{ended:?}");
    let missing = dir.path("d\u{7}");
    let ended = run(&["lookup", "-r", &missing, "10.0.0.1"]);
    assert!(ended.stderr.contains(r"d\u{7}: cannot be opened"), "{ended:?}");
    for ended in [run(&["stat", "-r", &name]), run(&["bench", "-t", &missing, "-r", &name])] {
        let text = ended.stdout + &ended.stderr;
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{9b}']), "{text:?}");
    }
}

#[test]
fn compressed_mrt_that_is_cut_off() {
    // A record without a body in a stored block (RFC 1951, 3.2.4), and no checksum behind it.
    let gzip = [
        &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3][..],
        &[1, 12, 0, !12, !0],
        &[0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0],
    ]
    .concat();
    let dir = Dir::new();
    let file = dir.file("rib.gz", gzip);
    let ended = run(&["lookup", "-r", &file, "10.0.0.1"]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("the gzip data is damaged or cut off"), "{ended:?}");
}

/// Prefix data of any format is read by every command that loads routes.
#[test]
fn prefix_data_instead_of_routes() {
    let files = [
        ("192.0.2.0/24\n", "192.0.2.0/24", "a list of prefixes"),
        ("192.0.2.0\t24\t64496\n", "64496", "pfx2as"),
        ("; pyasn\n192.0.2.0/24\t64496\n", "64496", "pyasn"),
        ("network,asn\n192.0.2.0/24,64496\n", "64496", "text with the delimiter comma"),
        (
            "192.0.2.0\t192.0.2.255\t64496\tDE\tEXAMPLE\n",
            "64496,DE,EXAMPLE",
            "text of ranges with the delimiter tab",
        ),
        ("add bad 192.0.2.0/24\n", "bad,", "ipset"),
        ("*filter\n:INPUT DROP\n-A INPUT -s 192.0.2.0/24 -j DROP\n", "INPUT,DROP", "iptables"),
    ];
    let dir = Dir::new();
    for (text, value, format) in files {
        let file = dir.file("data", text);
        let ended = run(&["stat", "-e", "radix", "-r", &file]);
        assert_eq!(ended.code, 0, "{text:?}: {ended:?}");
        assert!(ended.stdout.contains("1 IPv4 route"), "{text:?}: {ended:?}");
        assert!(ended.stdout.contains(value), "{text:?}: {ended:?}");
        assert!(ended.stderr.contains(&format!("read as {format}")), "{text:?}: {ended:?}");
    }
    let wrong = dir.file("data", "add bad 192.0.2.1/24\n");
    let ended = run(&["stat", "-e", "radix", "-r", &wrong]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("line 1: column 'prefix': '192.0.2.1/24'"), "{ended:?}");
    assert!(ended.stderr.trim_end().ends_with("(--mask drops host bits)"), "{ended:?}");
}

#[test]
fn the_value_of_routes() {
    let dir = Dir::new();
    let dump = "TABLE_DUMP2|1|B|198.51.100.1|64501|192.0.2.0/24|64501 64999|IGP|198.51.100.9|0|0|64501:7|NAG||\n";
    let file = dir.file("dump", dump);
    for (value, expected) in [
        ("next-hop", "198.51.100.9"),
        ("origin-as", "64999"),
        ("as-path", "64501 64999"),
        ("peer", "198.51.100.1"),
        ("communities", "64501:7"),
    ] {
        let ended = run(&["stat", "-e", "radix", "--value", value, "-r", &file]);
        assert_eq!(ended.code, 0, "{ended:?}");
        assert!(ended.stdout.contains(expected), "{value}: {ended:?}");
    }
    let plain = dir.file("plain", "192.0.2.0/24 a\n");
    let ended = run(&["stat", "-e", "radix", "--value", "origin-as", "-r", &plain]);
    assert_eq!(ended.code, 2);
    assert!(
        ended.stderr.contains("the routes have no AS paths: origin-as is for MRT"),
        "{ended:?}"
    );
    let ended = run(&["stat", "--value", "colour", "-r", &plain]);
    assert!(ended.code == 2 && ended.stderr.contains("expected next-hop, origin-as"), "{ended:?}");
}
