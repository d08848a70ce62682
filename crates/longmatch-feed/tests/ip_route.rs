//! The output of `ip route`, as text and as JSON: selection of routes and tables as in Linux, and the
//! family of `default` routes.

mod common;

use common::{error_of, lenient, load, load_lenient, load_with};
use longmatch_feed::{Format, IpFamily, LineError, Options, Place, Problem};

/// The routes of a text.
#[track_caller]
fn routes(text: &str) -> Vec<String> {
    load(text.as_bytes()).unwrap().0.lines()
}

fn of_family(family: IpFamily) -> Options {
    let mut options = Options::default();
    options.default_family = Some(family);
    options
}

fn of_table(name: &str) -> Options {
    let mut options = Options::default();
    options.ip_table = name.parse().unwrap();
    options
}

#[test]
fn the_lowest_metric_wins() {
    let (first, second) =
        ("default via 10.0.0.1 dev e0 metric 100\n", "default via 10.0.0.2 dev e1 metric 600\n");
    for text in [[first, second].concat(), [second, first].concat()] {
        let (routes, report) = load(text.as_bytes()).unwrap();
        assert_eq!(routes.lines(), ["0.0.0.0/0 10.0.0.1"]);
        assert_eq!(report.less_preferred, 1);
        let warning = "1 route with a better one to the same prefix was left out";
        assert_eq!(report.warnings(), [warning]);
    }
    // Routes to other prefixes have no effect, even between the two.
    let text = "10.0.0.0/8 via 10.0.0.2 dev b metric 9\n10.0.0.0/9 via 10.0.0.3 dev c metric 99\n\
                blackhole 10.0.0.0/8 metric 5\n";
    assert_eq!(routes(text), ["10.0.0.0/8 blackhole", "10.0.0.0/9 10.0.0.3"]);
}

#[test]
fn no_metric_is_0_for_ipv4_and_1024_for_ipv6() {
    let text = "10.0.0.0/8 via 10.0.0.2 dev b metric 1\n10.0.0.0/8 via 10.0.0.1 dev a\n";
    assert_eq!(routes(text), ["10.0.0.0/8 10.0.0.1"]);
    let text = "2001:db8::/32 via fe80::1 dev a\n2001:db8::/32 via fe80::2 dev b metric 1023\n\
                2001:db8::/32 via fe80::3 dev c metric 1025\n";
    assert_eq!(routes(text), ["2001:db8::/32 fe80::2"]);
}

#[test]
fn the_first_of_equal_metrics_wins() {
    let text =
        "2001:db8::/32 via fe80::2 dev a metric 7\n2001:db8::/32 via fe80::1 dev b metric 7\n";
    let (routes, report) = load(text.as_bytes()).unwrap();
    assert_eq!(routes.lines(), ["2001:db8::/32 fe80::2"]);
    assert_eq!((report.extra_next_hops, report.less_preferred), (1, 0));
    let text = "default via fe80::1 dev a proto ra metric 100 pref low\n\
                default via fe80::2 dev b proto ra metric 100 pref high\n\
                default via fe80::3 dev c proto ra metric 100 pref medium\n";
    let (routes, report) = load(text.as_bytes()).unwrap();
    assert_eq!(routes.lines(), ["::/0 fe80::2"]);
    assert_eq!(report.less_preferred, 2);
}

/// Metrics are compared within a file. A later file replaces earlier routes, and so does a line that
/// is not from `ip route`.
#[test]
fn metrics_are_compared_within_a_file() {
    let mut table = longmatch::Table::<Box<str>>::new();
    let options = Options::default();
    for text in
        ["10.0.0.0/8 via 10.0.0.1 dev a metric 1\n", "10.0.0.0/8 via 10.0.0.2 dev b metric 9\n"]
    {
        longmatch_feed::load_bytes(text.as_bytes(), None, &options, &mut table).unwrap();
    }
    assert_eq!(
        table.get("10.0.0.0/8".parse::<longmatch::IpPrefix>().unwrap()).map(|hop| &**hop),
        Some("10.0.0.2")
    );
    let text = "10.0.0.0/8 via 10.0.0.1 dev a\n10.0.0.0/8 plain\n";
    assert_eq!(routes(text), ["10.0.0.0/8 plain"]);
    let text =
        "10.0.0.0/8 via 10.0.0.1 dev a\nW 10.0.0.0/8\n10.0.0.0/8 via 10.0.0.2 dev b metric 9\n";
    assert_eq!(routes(text), ["10.0.0.0/8 10.0.0.2"]);
}

#[test]
fn routes_for_a_type_of_service_are_left_out() {
    let text = "10.0.0.0/8 tos 0x10 via 10.0.0.1 dev a\n10.0.0.0/8 via 10.0.0.2 dev b metric 5\n";
    let (routes, report) = load(text.as_bytes()).unwrap();
    assert_eq!(routes.lines(), ["10.0.0.0/8 10.0.0.2"]);
    assert_eq!(report.type_of_service, 1);
    assert_eq!(report.warnings(), ["1 route for a type of service was left out"]);
}

const TABLES: &str = "\
default via 10.9.9.9 dev vpn table 100
10.0.0.0/8 via 10.9.9.9 dev vpn table 100
default via 10.0.0.1 dev e0 metric 100
local 127.0.0.1 dev lo table local proto kernel scope host src 127.0.0.1
";

#[test]
fn one_table_is_taken() {
    let (routes, report) = load(TABLES.as_bytes()).unwrap();
    assert_eq!(routes.lines(), ["0.0.0.0/0 10.0.0.1"]);
    assert_eq!(
        report.other_tables.iter().map(|(n, c)| (&n[..], *c)).collect::<Vec<_>>(),
        [("100", 2), ("local", 1)]
    );
    assert_eq!(report.warnings(), ["3 routes of other tables were left out (100: 2, local: 1)"]);
    for (name, expected) in [
        ("100", &["0.0.0.0/0 10.9.9.9", "10.0.0.0/8 10.9.9.9"][..]),
        ("255", &["127.0.0.1/32 lo"]),
        ("local", &["127.0.0.1/32 lo"]),
        ("254", &["0.0.0.0/0 10.0.0.1"]),
        ("none", &[]),
    ] {
        let (routes, report) = load_with(TABLES.as_bytes(), &of_table(name)).unwrap();
        assert_eq!(routes.lines(), expected, "{name}");
        let left_out: u64 = report.other_tables.values().sum();
        assert_eq!(left_out + report.announced, 4, "{name}");
    }
}

/// `ip route show table X` prints no table names; `table all` prints none for the main table.
#[test]
fn lines_without_a_table() {
    let text = "default via 10.9.9.9 dev vpn\n";
    for name in ["main", "100", "vpn"] {
        let (routes, _) = load_with(text.as_bytes(), &of_table(name)).unwrap();
        assert_eq!(routes.lines(), ["0.0.0.0/0 10.9.9.9"], "{name}");
    }
    let (routes, report) = load_with(TABLES.as_bytes(), &of_table("vpn")).unwrap();
    assert!(routes.0.is_empty() && report.other_tables["main"] == 1);
}

#[test]
fn dead_next_hops_are_not_used() {
    let text = "10.0.0.0/8 via 10.0.0.1 dev a dead linkdown\n10.0.0.0/8 via 10.0.0.2 dev b metric 9\n\
                10.1.0.0/16 dev c linkdown\n";
    let (routes, report) = load(text.as_bytes()).unwrap();
    assert_eq!(routes.lines(), ["10.0.0.0/8 10.0.0.2", "10.1.0.0/16 c"]);
    assert_eq!(report.warnings(), ["1 dead next hop was left out"]);
    let text = "10.0.0.0/8 proto x \n\tnexthop via 10.0.0.1 dev a weight 9 dead linkdown\n\
                \tnexthop via 10.0.0.2 dev b weight 1\n10.1.0.0/16 \n\tnexthop dev a dead\n";
    let (routes, report) = load(text.as_bytes()).unwrap();
    assert_eq!(routes.lines(), ["10.0.0.0/8 10.0.0.2"]);
    assert_eq!((report.dead_next_hops, report.extra_next_hops), (2, 0));
}

#[test]
fn the_first_of_the_greatest_weight() {
    let text = "10.0.0.0/8 proto x \n\tnexthop via 10.0.0.1 dev a weight 1\n\
                \tnexthop via 10.0.0.2 dev b weight 5\n\tnexthop via 10.0.0.3 dev c weight 5\n";
    let (routes, report) = load(text.as_bytes()).unwrap();
    assert_eq!(routes.lines(), ["10.0.0.0/8 10.0.0.2"]);
    assert_eq!(report.warnings(), ["2 further next hops of multipath routes were left out"]);
}

/// For a manually added route, `ip` prints the prefix and no attribute.
#[test]
fn next_hops_after_a_bare_prefix() {
    let text = "default \n\tnexthop via 10.0.0.1 dev a weight 1 \n10.0.0.0/8 \n\tnexthop dev b\n";
    assert_eq!(routes(text), ["0.0.0.0/0 10.0.0.1", "10.0.0.0/8 b"]);
    for text in ["10.0.0.0/8\n11.0.0.0/8 a\n", "default\n"] {
        let error = error_of(text.as_bytes());
        assert_eq!(error, "line 1: the prefix has no next hop");
    }
}

#[test]
fn next_hops_of_another_tables_route_are_skipped() {
    let text = "10.0.0.0/8 table 7 proto x \n\tnexthop via 10.0.0.1 dev a weight 1\n\
                \tnexthop via 10.0.0.2 dev b weight 1\n10.1.0.0/16 dev c\n";
    assert_eq!(routes(text), ["10.1.0.0/16 c"]);
}

#[test]
fn route_types_are_next_hops() {
    let text =
        "blackhole 10.0.0.0/8\nunreachable 10.1.0.0/16\nprohibit 10.2.0.0/16\nthrow 10.3.0.0/16\n";
    let expected = [
        "10.0.0.0/8 blackhole",
        "10.1.0.0/16 unreachable",
        "10.2.0.0/16 prohibit",
        "10.3.0.0/16 throw",
    ];
    assert_eq!(routes(text), expected);
}

/// `ip -N` prints types, protocols and scopes as numbers, `ip -d` next-hop objects on lines of their own.
#[test]
fn numbers_and_details_of_ip() {
    let text = "default via 192.0.2.1 dev e0 proto 16\n1 10.0.0.0/16 nhid 7 via 192.0.2.2 dev e0 proto 3 scope 0\n\
                \tnh_info id 7 via 192.0.2.9 dev e9 scope 253\n6 10.1.0.0/16 proto 3 scope 0\n\
                7 10.2.0.0/16\n8 10.3.0.0/16 metric 9\n9 10.4.0.0/16\n2 192.0.2.7 dev e0 table 254\n\
                10.5.0.0/16 nhid 8 \\ nexthop via 192.0.2.3 dev e0 weight 1 \\\tnh_info id 8 via 192.0.2.9 dev x\n";
    let expected = [
        "0.0.0.0/0 192.0.2.1",
        "10.0.0.0/16 192.0.2.2",
        "10.1.0.0/16 blackhole",
        "10.2.0.0/16 unreachable",
        "10.3.0.0/16 prohibit",
        "10.4.0.0/16 throw",
        "10.5.0.0/16 192.0.2.3",
        "192.0.2.7/32 e0",
    ];
    assert_eq!(routes(text), expected);
    assert_eq!(routes("7 default dev lo proto 9 metric 5\n"), ["::/0 unreachable"]);
    let json = r#"[{"type":"6","dst":"10.1.0.0/16","protocol":"3","flags":[]}]"#;
    assert_eq!(routes(json), ["10.1.0.0/16 blackhole"]);
    // A number and a prefix alone are two columns.
    assert_eq!(load(b"6 10.1.0.0/16\n7 10.2.0.0/16\n").unwrap().1.format, Format::Csv);
    let coloured = "default via \u{1b}[36m192.0.2.1\u{1b}[0m dev e0\n";
    assert!(error_of(coloured.as_bytes()).contains("colours of a terminal"));
}

#[test]
fn default_routes_of_ipv6_by_their_own_line() {
    let text = "default via fe80::1 dev a\n10.0.0.0/8 dev b\n";
    assert_eq!(routes(text), ["10.0.0.0/8 b", "::/0 fe80::1"]);
    let text = "10.0.0.0/8 dev b\ndefault proto ra metric 1024 expires 1799sec\n\
                \tnexthop via fe80::1 dev a weight 1\n\tnexthop via fe80::2 dev a weight 1\n";
    assert_eq!(routes(text), ["10.0.0.0/8 b", "::/0 fe80::1"]);
    let text = "default metric 1024\n\tnexthop via fe80::1 dev a weight 1\n10.0.0.0/8 dev b\n";
    assert_eq!(routes(text), ["10.0.0.0/8 b", "::/0 fe80::1"]);
    let text = "unreachable default dev lo table main proto kernel metric 5 error -101\n";
    assert_eq!(routes(text), ["::/0 unreachable"]);
}

#[test]
fn default_routes_of_ipv6_by_their_neighbours() {
    let (before, after) = ("2001:db8::/32 dev a metric 1024\n", "fe80::/64 dev a metric 256\n");
    for line in ["default dev ppp0 metric 1024", "unreachable default dev lo metric 4294967295"] {
        let hop = if line.starts_with('d') { "::/0 ppp0" } else { "::/0 unreachable" };
        for text in [
            format!("{before}{line}\n{after}"),
            format!("{before}{line}\n"),
            format!("{line}\n\n# x\n{after}"),
            format!("{line}\n{line}\n{after}"),
        ] {
            assert!(routes(&text).contains(&hop.to_owned()), "{text}: {:?}", routes(&text));
            assert!(!routes(&text).iter().any(|route| route.starts_with("0.0.0.0/0")), "{text}");
        }
    }
    // Once the family is known, metrics are compared with other routes of that family.
    let text = "default dev ppp0 metric 2000\ndefault dev ppp1\nfe80::/64 dev a\n";
    assert_eq!(routes(text), ["::/0 ppp1", "fe80::/64 a"]);
    let text = "default dev ppp0 metric 1\ndefault via 10.0.0.1 dev a\n";
    assert_eq!(routes(text), ["0.0.0.0/0 10.0.0.1"]);
}

#[test]
fn default_routes_of_unknown_family() {
    let between = "10.0.0.0/8 dev a\ndefault dev ppp0 metric 5\nfe80::/64 dev a\n";
    for (text, line) in [
        ("default dev ppp0 metric 1024\n", 1),
        ("# x\nblackhole default\n", 2),
        ("10.0.0.0/8 a\ndefault office\n", 2),
        (between, 2),
    ] {
        let error = load(text.as_bytes()).err().unwrap();
        assert_eq!(error.place, Place::Line(line), "{text}");
        assert!(matches!(error.problem, Problem::Line(LineError::DefaultFamily)), "{error}");
        assert!(error.to_string().contains("write 0.0.0.0/0 or ::/0"), "{error}");
        for (family, prefix) in [(IpFamily::V4, "0.0.0.0/0"), (IpFamily::V6, "::/0")] {
            let (routes, _) = load_with(text.as_bytes(), &of_family(family)).unwrap();
            assert!(routes.0.contains_key(&prefix.parse().unwrap()), "{text}");
        }
    }
    let (routes, report) = load_lenient(between.as_bytes()).unwrap();
    assert_eq!(routes.lines(), ["10.0.0.0/8 a", "fe80::/64 a"]);
    assert_eq!(report.damaged, 1);
    // Neighbours that agree take precedence over the option.
    let text = "fe80::/64 dev a\ndefault dev ppp0\n";
    let (routes, _) = load_with(text.as_bytes(), &of_family(IpFamily::V4)).unwrap();
    assert_eq!(routes.lines(), ["::/0 ppp0", "fe80::/64 a"]);
}

#[test]
fn waiting_routes_are_bounded() {
    let many = "default dev ppp0\n".repeat(100_000);
    let error = load(many.as_bytes()).err().unwrap();
    assert!(matches!(error.place, Place::Line(line) if line < 1000), "{error}");
    let (_, report) = load_lenient(format!("{many}fe80::/64 dev a\n").as_bytes()).unwrap();
    assert!(report.damaged > 99_000 && report.announced == 2, "{}", report.damaged);
}

/// The output of `ip -json -4 route; ip -json -6 route`.
const JSON: &str = r#"[{"dst":"default","gateway":"10.0.0.2","dev":"e1","metric":600,"flags":[]},
{"dst":"default","gateway":"10.0.0.1","dev":"e0","protocol":"dhcp","metric":100,"flags":[]},
{"dst":"10.1.0.0/16","dev":"e0","scope":"link","prefsrc":"10.1.0.1","flags":["linkdown"]},
{"dst":"10.2.0.0/16","gateway":"10.0.0.9","dev":"e0","flags":["dead","linkdown"]},
{"type":"blackhole","dst":"10.3.0.0/16","flags":[]},
{"dst":"10.4.0.0/16","protocol":"bird","metric":32,"flags":[],"nexthops":[
 {"gateway":"10.0.0.7","dev":"e0","weight":1,"flags":[]},
 {"gateway":"10.0.0.8","dev":"e1","weight":3,"flags":[]},
 {"gateway":"10.0.0.9","dev":"e1","weight":9,"flags":["dead"]}]},
{"dst":"10.5.0.0/16","via":{"family":"inet6","host":"fe80::7"},"dev":"e0","flags":[]},
{"dst":"10.6.0.1","gateway":"10.0.0.5","dev":"e0","table":"100","flags":[]},
{"dst":"10.7.0.0/16","tos":"0x10","dev":"e0","flags":[]}]
[{"dst":"2001:db8::/64","dev":"e0","protocol":"kernel","metric":256,"flags":[],"pref":"medium"},
{"dst":"default","dev":"ppp0","metric":1024,"flags":[]},
{"type":"unreachable","dst":"fc00::/7","dev":"lo","metric":1024,"error":-113,"flags":[]}]
"#;

#[test]
fn json_gives_the_same_routes_as_lines() {
    let expected = [
        "0.0.0.0/0 10.0.0.1",
        "10.1.0.0/16 e0",
        "10.3.0.0/16 blackhole",
        "10.4.0.0/16 10.0.0.8",
        "10.5.0.0/16 fe80::7",
        "::/0 ppp0",
        "2001:db8::/64 e0",
        "fc00::/7 unreachable",
    ];
    for text in [JSON.to_owned(), JSON.replace('\n', ""), format!("\u{feff} {JSON}")] {
        let (routes, report) = load(text.as_bytes()).unwrap();
        assert_eq!(routes.lines(), expected);
        assert_eq!((report.format, report.bytes), (Format::IpJson, text.len() as u64));
        assert_eq!((report.less_preferred, report.dead_next_hops), (1, 2));
        assert_eq!((report.extra_next_hops, report.type_of_service), (1, 1));
        assert_eq!(report.other_tables["100"], 1);
    }
    let (routes, _) = load_with(JSON.as_bytes(), &of_table("100")).unwrap();
    assert_eq!(routes.lines(), ["10.6.0.1/32 10.0.0.5"]);
    let unmarked = br#"[{"dst":"10.6.0.1","gateway":"10.0.0.5","dev":"e0"}]"#;
    assert_eq!(load_with(unmarked, &of_table("100")).unwrap().0.lines(), ["10.6.0.1/32 10.0.0.5"]);
    assert!(load(b"[ ]").unwrap().0.0.is_empty());
}

#[test]
fn json_default_routes_of_unknown_family() {
    let text = br#"[{"dst":"default","dev":"ppp0","metric":1024,"flags":[]}]"#;
    let error = load(text).err().unwrap();
    assert!(matches!(error.problem, Problem::Line(LineError::DefaultFamily)), "{error}");
    let (routes, _) = load_with(text, &of_family(IpFamily::V6)).unwrap();
    assert_eq!(routes.lines(), ["::/0 ppp0"]);
    for shown in
        [r#""prefsrc":"::1""#, r#""pref":"low""#, r#""protocol":"ra""#, r#""gateway":"fe80::1""#]
    {
        let text = format!(r#"[{{"dst":"default","dev":"ppp0",{shown}}}]"#);
        assert!(routes_of(&text)[0].starts_with("::/0 "), "{text}");
    }
    let via = r#"[{"dst":"default","dev":"ppp0","via":{"family":"inet6","host":"fe80::1"}}]"#;
    assert_eq!(routes_of(via), ["0.0.0.0/0 fe80::1"]);
}

fn routes_of(text: &str) -> Vec<String> {
    routes(text)
}

#[test]
fn invalid_json() {
    for (element, part) in [
        (r#"{"dst":"10.0.0.0/33","dev":"a"}"#, "prefix length 33"),
        (r#"{"dst":"10.0.0.0/8"}"#, "no next hop"),
        (r#"{"dev":"a"}"#, "missing field `dst`"),
        (r#"{"dst":"10.0.0.0/8","dev":7}"#, "invalid type"),
        (r#"{"dst":"10.0.0.0/8","dev":"a","metric":-1}"#, "not a route of 'ip -json'"),
        (r#"{"dst":"::/0","dev":"a","from":"2001:db8::/32"}"#, "source address"),
        ("7", "not a route of 'ip -json'"),
    ] {
        let text = format!(
            r#"[{{"dst":"11.0.0.0/8","dev":"x"}},{element},{{"dst":"12.0.0.0/8","dev":"y"}}]"#
        );
        let error = error_of(text.as_bytes());
        assert!(error.contains(part) && error.starts_with("byte 3"), "{error}");
        let (routes, report) = load_lenient(text.as_bytes()).unwrap();
        assert_eq!(
            (routes.lines(), report.damaged),
            (vec!["11.0.0.0/8 x".into(), "12.0.0.0/8 y".into()], 1)
        );
    }
    let error = error_of(br#"[{"dst":"11.0.0.0/8","dev":"x"} {"#);
    assert_eq!(error, "line 1: the JSON cannot be read: expected `,` or `]` (column 33)");
    assert!(error_of(b"[7, ").contains("not a route of"));
    assert!(error_of(b"[]]").contains("the JSON cannot be read"));
    let mut options = lenient();
    options.limits.record = 100;
    let long = format!(r#"[{{"dst":"11.0.0.0/8","dev":"x"}},{{"dst":"{}"}}]"#, "1".repeat(200));
    let (routes, report) = load_with(long.as_bytes(), &options).unwrap();
    assert_eq!((routes.0.len(), report.cut_off), (1, true));
    assert!(report.first_damage.unwrap().to_string().contains("longer than 100 bytes"));
}

#[test]
fn json_cut_off_at_every_byte() {
    let mut last = 0;
    for end in 0..JSON.len() {
        let cut = &JSON.as_bytes()[..end];
        if let Ok((routes, _)) = load_lenient(cut) {
            // A longer prefix of the file never loads fewer routes.
            assert!(routes.0.len() >= last, "cut at {end}");
            last = routes.0.len();
        }
    }
    assert_eq!(last, 8);
}
