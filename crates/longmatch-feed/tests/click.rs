//! Configurations of the Click modular router.

mod common;

use common::{Random, error_of, lenient, load, load_lenient, load_with};
use longmatch_feed::{Format, LineError, Options, Place, Problem};

const SAMPLE: &[u8] = include_bytes!("../../../testdata/feed/router.click");

/// The routes of a configuration.
#[track_caller]
fn routes(text: &str) -> Vec<String> {
    let (routes, report) = load(text.as_bytes()).unwrap();
    assert_eq!(report.format, Format::Click, "{text}");
    routes.lines()
}

/// Loads a table with a bad route on line 3: a strict load refuses it by its line, a lenient one
/// skips it. Returns the message.
#[track_caller]
fn refused(route: &str) -> String {
    let file = format!("rt :: RadixIPLookup(\n10.0.0.0/8 1,\n  {route},\n10.2.0.0/16 2);\n");
    let error = load(file.as_bytes()).err().unwrap_or_else(|| panic!("{route:?} was loaded"));
    assert_eq!(error.place, Place::Line(3), "{route:?}: {error}");
    let (routes, report) = load_lenient(file.as_bytes()).unwrap();
    assert_eq!(routes.lines(), ["10.0.0.0/8 1", "10.2.0.0/16 2"], "{route:?}");
    assert_eq!((report.damaged, report.cut_off), (1, false));
    assert_eq!(report.first_damage.unwrap().to_string(), error.to_string());
    error.to_string()
}

#[test]
fn every_class_of_the_family() {
    for class in [
        "BSDIPLookup",
        "DXRIPLookup",
        "DirectIPLookup",
        "IPRouteTable",
        "LinearIPLookup",
        "LookupIPRoute",
        "LookupIPRouteMP",
        "RadixIPLookup",
        "RangeIPLookup",
        "RangeIPLookup2",
        "SortedIPLookup",
        "StaticIPLookup",
    ] {
        for text in [
            format!("rt :: {class}(192.0.2.0/24 0, 0/0 198.51.100.1 1);"),
            format!("rt::{class}\n(\n192.0.2.0/24 0\n,\n0/0 198.51.100.1 1\n)"),
            format!("a, rt :: {class}/**/(192.0.2.0/24 0,0/0/**/198.51.100.1//\n1,);"),
            format!("Idle -> {class}(192.0.2.0/24 0, 0/0 198.51.100.1 1) -> Discard;"),
        ] {
            assert_eq!(routes(&text), ["0.0.0.0/0 198.51.100.1%1", "192.0.2.0/24 0"], "{text}");
        }
    }
    for class in ["LinuxIPLookup", "LookupIP6Route", "IPLookup", "radixiplookup"] {
        let error = load(format!("rt :: {class}(10.0.0.0/8 1);").as_bytes()).err().unwrap();
        assert!(matches!(error.problem, Problem::Line(LineError::ClickTable)), "{error}");
        assert_eq!(error.place, Place::Whole);
    }
}

/// Click gives each pair of gateway and port a next hop of its own.
#[test]
fn a_gateway_and_a_port_are_a_next_hop() {
    let text = "rt :: DirectIPLookup(10.0.0.0/8 192.0.2.1 0, 10.1.0.0/16 192.0.2.1 1, \
                10.2.0.0/16 1, 10.3.0.0/16 - 1, 10.4.0.0/16 0.0.0.0 1);";
    let expected = [
        "10.0.0.0/8 192.0.2.1%0",
        "10.1.0.0/16 192.0.2.1%1",
        "10.2.0.0/16 1",
        "10.3.0.0/16 1",
        "10.4.0.0/16 1",
    ];
    assert_eq!(routes(text), expected);
}

/// In the DXR authors' elements no prefix may occur twice; here as in all formats the last route of a
/// prefix counts, however it is written.
#[test]
fn a_later_route_replaces_an_earlier_one() {
    let text = "rt :: DXRIPLookup(10.0.0.0/8 1, 10/255.0.0.0 2, 10.0.0.0/8 192.0.2.1 3);";
    let (routes, report) = load(text.as_bytes()).unwrap();
    assert_eq!(routes.lines(), ["10.0.0.0/8 192.0.2.1%3"]);
    assert_eq!((report.announced, report.announced_ipv6), (3, 0));
}

#[test]
fn routes_that_are_wrong() {
    for (route, part) in [
        ("10.1.0.0/33 1", "prefix length 33 is greater than 32"),
        ("10.1.0.0/255.0.255.0 1", "255.0.255.0 follows an address and is not a netmask"),
        ("10.1.0.1/16 1", "'10.1.0.1/16' is not a prefix: host bits are set after /16"),
        ("2001:db8::/32 1", "'2001:db8::/32' is not a prefix: not a valid address"),
        (
            "10.1.0.0/16",
            "'10.1.0.0/16' is not a route of a Click routing table: expected ADDR/MASK",
        ),
        ("10.1.0.0/16 192.0.2.1", "'10.1.0.0/16 192.0.2.1' is not a route"),
        ("10.1.0.0/16 192.0.2.1 1 2", "'10.1.0.0/16 192.0.2.1 1 2' is not a route"),
        ("10.1.0.0/16 x 1", "is not a route"),
        ("10.1.0.0/16 fe80::1 1", "is not a route"),
        ("10.1.0.0/16 -1", "is not a route"),
        ("$net 1", "'$net' is not a prefix"),
        ("\"10.1.0.0/16, 1) 2\" 1", "is not a prefix"),
        ("10.1.0.0/16 (1, 2) 1", "is not a route"),
        ("", "'' is not a route"),
        ("/* 10.1.0.0/16 1 */", "'' is not a route"),
        ("10.1.0.0/16\0 1", "is not a prefix"),
        ("\u{1b}[2J 1", r"'\u{1b}[2J' is not a prefix"),
        ("10.1.0.0/16 1\n10.1.0.0/17 1", "'10.1.0.0/16 1 10.1.0.0/17 1' is not a route"),
    ] {
        let error = refused(route);
        assert!(error.contains(part), "{route:?}: {error}");
    }
    let long = refused(&"10.1.0.0/16 1 ".repeat(1 << 14));
    assert!(long.contains("is not a route") && long.len() < 250, "{long}");
    let error = error_of(b"rt :: RadixIPLookup(\n10.0.0.0/8 \xff);");
    assert!(error.starts_with("line 2: the line is not UTF-8"), "{error}");
}

#[test]
fn host_bits() {
    let mut options = Options::default();
    options.mask_host_bits = true;
    let text = b"rt :: SortedIPLookup(10.1.0.1/16 1, 10.2.3.4/255.255.0.0 2)";
    let (routes, _) = load_with(text, &options).unwrap();
    assert_eq!(routes.lines(), ["10.1.0.0/16 1", "10.2.0.0/16 2"]);
}

#[test]
fn tables_without_routes() {
    for text in ["rt :: RadixIPLookup()", "rt :: RadixIPLookup(// none\n);", "rt::RadixIPLookup( )"]
    {
        let (routes, report) = load(text.as_bytes()).unwrap();
        assert!(routes.0.is_empty());
        assert_eq!(report.warnings(), ["no routes were read"]);
    }
    for text in ["// nothing\n", "/**/", "rt :: RadixIPLookup;", "Idle -> Discard;"] {
        let error = error_of(text.as_bytes());
        assert!(
            error.starts_with("the Click configuration has no routing table: expected"),
            "{error}"
        );
        let error = load_lenient(text.as_bytes()).err().unwrap().to_string();
        assert!(error.starts_with("nothing could be read: the Click configuration"), "{error}");
    }
}

/// One table is loaded: the first one, or the one with the name in the options.
#[test]
fn one_table_is_taken() {
    let text = "a :: RadixIPLookup(10.0.0.0/8 1);\nb :: RadixIPLookup(11.0.0.0/8 1, x, 12.0.0.0/8 2);\
                Idle -> StaticIPLookup(13.0.0.0/8 1);";
    let (routes, report) = load(text.as_bytes()).unwrap();
    assert_eq!(routes.lines(), ["10.0.0.0/8 1"]);
    let warning = "4 routes of other tables were left out (StaticIPLookup: 1, b: 3)";
    assert_eq!(report.warnings(), [warning]);
    let named = |name: &str| {
        let mut options = lenient();
        options.ip_table = name.parse().unwrap();
        load_with(text.as_bytes(), &options).unwrap()
    };
    let (routes, report) = named("b");
    assert_eq!(routes.lines(), ["11.0.0.0/8 1", "12.0.0.0/8 2"]);
    assert_eq!(report.damaged, 1);
    assert_eq!(named("StaticIPLookup").0.lines(), ["13.0.0.0/8 1"]);
    let (routes, report) = named("c");
    assert!(routes.0.is_empty());
    assert!(report.warnings()[0].starts_with("no routes were read"), "{:?}", report.warnings());
}

/// A parenthesis too many would end a table early, one that is missing would swallow what follows.
#[test]
fn parentheses_that_do_not_match() {
    let early = b"rt :: RadixIPLookup(10.0.0.0/8 1),\n 11.0.0.0/8 2);\n";
    assert!(error_of(early).starts_with("line 2: unexpected '.' between the elements"));
    let (routes, report) = load_lenient(early).unwrap();
    assert_eq!((routes.lines(), report.damaged), (vec!["10.0.0.0/8 1".to_owned()], 1));
    assert!(error_of(b"rt :: RadixIPLookup(10.0.0.0/8 1));").starts_with("line 1: unexpected ')'"));
    assert!(
        error_of(b"rt :: RadixIPLookup(10.0.0.0/8 1);\n\xff").starts_with("line 2: unexpected")
    );
    for (text, start) in [
        (
            "\nrt :: RadixIPLookup\n(\n10.0.0.0/8 1,\n11.0.0.0/8 2\n",
            "line 3: the arguments of 'rt'",
        ),
        ("rt :: RadixIPLookup(10.0.0.0/8 1, 11.0.0.0/8 \"2);\n", "line 1: the arguments of 'rt'"),
        ("rt :: RadixIPLookup(10.0.0.0/8 1, 11.0.0.0/8\n/* 2);\n", "line 2: the comment does not"),
        ("rt :: RadixIPLookup(10.0.0.0/8 1); Print(\")\"", "line 1: the arguments of 'Print'"),
    ] {
        let error = error_of(text.as_bytes());
        assert!(error.starts_with(start), "{error}");
        let (routes, report) = load_lenient(text.as_bytes()).unwrap();
        assert_eq!(routes.lines(), ["10.0.0.0/8 1"], "{text}");
        assert_eq!((report.damaged, report.cut_off), (1, true), "{text}");
    }
}

/// Groups of statements may stand in parentheses.
#[test]
fn statements_in_parentheses() {
    let text = "a -> ([0] -> rt :: RadixIPLookup(10.0.0.0/8 1); [1] -> Discard()) -> b";
    assert_eq!(routes(text), ["10.0.0.0/8 1"]);
}

#[test]
fn counts_of_the_report() {
    let text = b"\xef\xbb\xbf// x\r\nrt :: RadixIPLookup(\r\n10.0.0.0/8 1,\r\n11.0.0.0/8 2)";
    let (routes, report) = load(text).unwrap();
    assert_eq!(routes.lines(), ["10.0.0.0/8 1", "11.0.0.0/8 2"]);
    assert_eq!((report.format, report.lines, report.announced), (Format::Click, 4, 2));
    assert_eq!((report.bytes, report.input_bytes), (text.len() as u64, text.len() as u64));
}

/// A table is one statement of any length, on one line or many.
#[test]
fn many_routes_in_one_statement() {
    for separator in [", ", ",\n"] {
        let mut text = "rt :: DirectIPLookup(\n".to_owned();
        for n in 0..100_000u32 {
            let net = std::net::Ipv4Addr::from_bits(n << 8);
            text += &format!("{net}/24 192.0.2.{} {}{separator}", n % 239, n % 5);
        }
        text += "0/0 9);";
        let (routes, report) = load(text.as_bytes()).unwrap();
        assert_eq!((routes.0.len(), report.announced), (100_001, 100_001));
        let last: longmatch::IpPrefix = "1.134.159.0/24".parse().unwrap();
        assert_eq!(routes.0[&last], format!("192.0.2.{}%{}", 99_999 % 239, 99_999 % 5));
    }
}

/// A sink's refusal names the line of the route.
#[test]
fn a_sink_can_refuse() {
    let mut full = |_: longmatch_feed::Event<'_>| -> Result<(), longmatch_feed::SinkError> {
        Err("full".into())
    };
    for options in [Options::default(), lenient()] {
        let text = b"rt :: RadixIPLookup(\n10.0.0.0/8 1)";
        let error = longmatch_feed::load_bytes(text, Some("f"), &options, &mut full).unwrap_err();
        assert_eq!(error.to_string(), "f: line 2: the route was refused: full");
    }
}

#[test]
fn cut_off_at_every_byte() {
    let mut options = lenient();
    options.format = Format::Click;
    let (whole, _) = load(SAMPLE).unwrap();
    let table_end = SAMPLE.windows(2).position(|two| two == b"1)").unwrap() + 2;
    let mut last = 0;
    for end in 0..SAMPLE.len() {
        let cut = &SAMPLE[..end];
        let _ = (load(cut), load_lenient(cut));
        match load_with(cut, &options) {
            Ok((routes, report)) => {
                // Every route of a part is a route of the whole, never one with a shortened word.
                assert!(routes.0.iter().all(|(prefix, hop)| whole.0.get(prefix) == Some(hop)));
                assert!(routes.0.len() >= last && (end >= table_end || report.cut_off), "{end}");
                last = routes.0.len();
            }
            Err(error) => {
                assert!(matches!(error.problem, Problem::NothingRead { .. }), "{error}");
                assert_eq!(last, 0, "{end}");
            }
        }
    }
    assert_eq!(last, whole.0.len());
}

#[test]
fn changed_bytes_never_panic() {
    let mut random = Random(5);
    let mut options = lenient();
    options.format = Format::Click;
    for _ in 0..5_000 {
        let mut file = SAMPLE.to_vec();
        for _ in 0..=random.below(4) {
            let at = random.below(file.len());
            match random.below(3) {
                0 => file[at] ^= 1 << random.below(8),
                1 => file[at] = random.next() as u8,
                _ => file[at] = b"()\"'/*,\\\n#:\0"[random.below(12)],
            }
        }
        let _ = load(&file);
        check_nothing_read(&file, &options);
    }
}

#[test]
fn noise_never_panics() {
    let mut random = Random(6);
    let mut options = lenient();
    options.format = Format::Click;
    for _ in 0..5_000 {
        let len = random.below(100);
        let signs = b"()\"'/*,\\\n#: 0123.-";
        let noise: Vec<u8> = match random.below(2) {
            0 => (0..len).map(|_| random.next() as u8).collect(),
            _ => (0..len).map(|_| signs[random.below(signs.len())]).collect(),
        };
        let _ = (load(&noise), load_lenient(&noise));
        check_nothing_read(&noise, &options);
        check_nothing_read(&[b"rt :: RadixIPLookup(", &noise[..]].concat(), &options);
        // Damage in one table does not hide those before it.
        let after = [b"a :: RadixIPLookup(10.0.0.0/8 1)\n", &noise[..]].concat();
        assert_eq!(load_with(&after, &options).unwrap().0.lines(), ["10.0.0.0/8 1"]);
    }
}

/// Checks that a lenient load fails only because it reads no route.
#[track_caller]
fn check_nothing_read(file: &[u8], options: &Options) {
    if let Err(error) = load_with(file, options) {
        assert!(matches!(error.problem, Problem::NothingRead { .. }), "{error}");
    }
}
