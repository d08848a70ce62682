//! Loading of text: the cases of docs/cases.md that broke other parsers, and files of each kind.

mod common;

use common::{Routes, error_of, lenient, load, load_lenient, load_with, peer};
use longmatch_feed::{
    Format, LineError, Options, Place, Problem, SinkError, load_bytes, load_reader,
};

/// Loads a file with a bad second line: a strict load refuses it by its number, a lenient one skips
/// it. Returns the message.
fn refused(line: &str) -> String {
    let file = format!("10.0.0.0/8 a\n{line}\n10.2.0.0/16 b\n");
    let error = load(file.as_bytes()).err().unwrap_or_else(|| panic!("{line:?} was loaded"));
    assert_eq!(error.place, Place::Line(2), "{line:?}: {error}");
    let (routes, report) = load_lenient(file.as_bytes()).unwrap();
    assert_eq!(routes.lines(), ["10.0.0.0/8 a", "10.2.0.0/16 b"], "{line:?}");
    assert_eq!((report.damaged, report.cut_off), (1, false));
    assert_eq!(report.first_damage.unwrap().to_string(), error.to_string());
    error.to_string()
}

#[test]
fn length_33() {
    assert!(refused("10.1.0.0/33 x").contains("prefix length 33 is greater than 32"));
    assert!(refused("2001:db8::/129 x").contains("129"));
}

#[test]
fn length_minus_1() {
    refused("10.1.0.0/-1 x");
}

#[test]
fn prefixes_with_an_empty_part() {
    refused("/ x");
    refused("10.0.0.0/ x");
    refused("/8 x");
}

#[test]
fn leading_zeros() {
    refused("010.1.1.1 x");
    refused("010.1.1.0/24 x");
    refused("10.1.1.0/024 x");
}

#[test]
fn nul_byte() {
    assert!(refused("10.1.0.0/16 x\0y").contains("NUL"));
}

#[test]
fn byte_order_mark() {
    let (routes, _) = load(b"\xef\xbb\xbf10.0.0.0/8 a\n").unwrap();
    assert_eq!(routes.lines(), ["10.0.0.0/8 a"]);
}

#[test]
fn cr_lf() {
    let (routes, _) = load(b"10.0.0.0/8 a\r\n\r\nW 10.0.0.0/8\r\n::/0 b").unwrap();
    assert_eq!(routes.lines(), ["::/0 b"]);
}

#[test]
fn line_too_long() {
    let long = "x".repeat(4097);
    assert!(refused(&long).contains("longer than 4096 bytes"));
    let just = format!("10.1.0.0/16 {}", "x".repeat(4096 - 12));
    assert!(load(just.as_bytes()).is_ok());
}

#[test]
fn zone_ids() {
    assert!(refused("fe80::1%eth0 x").contains("zone id"));
    refused("fe80::%1/64 x");
}

#[test]
fn ipv4_mapped() {
    let (routes, _) = load(b"::ffff:10.0.0.0/104 a\n").unwrap();
    assert_eq!(routes.lines(), ["::ffff:10.0.0.0/104 a"]);
}

#[test]
fn missing_next_hop() {
    assert!(refused("10.1.0.0/16").contains("no next hop"));
    refused("A 10.1.0.0/16");
}

#[test]
fn comments_and_blank_lines() {
    let (routes, report) = load(b"# x\n\n \t\n10.0.0.0/8 a # y\n#\n").unwrap();
    assert_eq!(routes.lines(), ["10.0.0.0/8 a"]);
    assert_eq!((report.lines, report.announced), (5, 1));
}

#[test]
fn not_utf8() {
    let error = error_of(b"10.0.0.0/8 a\n10.1.0.0/16 \xff\n");
    assert!(error.starts_with("line 2: "), "{error}");
}

#[test]
fn host_bits() {
    assert!(refused("10.1.0.1/16 x").contains("host bits"));
    let mut options = Options::default();
    options.mask_host_bits = true;
    let (routes, _) = load_with(b"10.1.0.1/16 x\n", &options).unwrap();
    assert_eq!(routes.lines(), ["10.1.0.0/16 x"]);
}

#[test]
fn empty_input() {
    let (routes, report) = load(b"").unwrap();
    assert!(routes.0.is_empty());
    assert_eq!(report.format, Format::List);
    assert_eq!(report.warnings(), ["no prefixes were read"]);
}

#[test]
fn neither_text_nor_mrt() {
    for bytes in
        [&[0u8; 12][..], &[0; 6], b"\x7fELF\x02\x01\x01\0\0\0\0\0\0", &[0xff, 0, 0xff, 0, 0xff]]
    {
        let error = error_of(bytes);
        assert!(error.contains("not a known format"), "{error}");
    }
}

#[test]
fn updates_change_the_table_in_order() {
    let file = b"A 10.0.0.0/8 a\nA 10.1.0.0/16 b\nA 10.0.0.0/8 c\nW 10.1.0.0/16\nW 10.9.0.0/16\n";
    let (routes, report) = load(file).unwrap();
    assert_eq!(routes.lines(), ["10.0.0.0/8 c"]);
    assert_eq!((report.announced, report.withdrawn), (3, 2));
}

#[test]
fn later_files_add_to_the_table() {
    let mut table = longmatch::Table::<Box<str>>::new();
    let options = Options::default();
    load_bytes(b"10.0.0.0/8 a\n::/0 b\n", None, &options, &mut table).unwrap();
    load_bytes(b"10.0.0.0/8 c\n10.1.0.0/16 a\n", None, &options, &mut table).unwrap();
    assert_eq!(table.len(), 3);
    let get =
        |text: &str| table.get(text.parse::<longmatch::IpPrefix>().unwrap()).map(|value| &**value);
    assert_eq!((get("10.0.0.0/8"), get("10.1.0.0/16")), (Some("c"), Some("a")));
    load_bytes(b"W ::/0\n", None, &options, &mut table).unwrap();
    assert_eq!(table.len(), 2);
}

#[test]
fn ip_route_output_with_multipath() {
    let file = b"\
default via 192.0.2.1 dev eth0 proto dhcp metric 100 \n\
10.0.0.0/8 proto bird metric 32 \n\
\tnexthop via 192.0.2.7 dev eth0 weight 1 \n\
\tnexthop via 192.0.2.8 dev eth1 weight 1 \n\
blackhole 10.9.0.0/16 \n\
192.0.2.0/24 dev eth0 proto kernel scope link src 192.0.2.77 \n";
    let (routes, report) = load(file).unwrap();
    let expected = [
        "0.0.0.0/0 192.0.2.1",
        "10.0.0.0/8 192.0.2.7",
        "10.9.0.0/16 blackhole",
        "192.0.2.0/24 eth0",
    ];
    assert_eq!(routes.lines(), expected);
    assert_eq!(report.extra_next_hops, 1);
    assert_eq!(report.warnings().len(), 1);
}

#[test]
fn multipath_without_next_hops() {
    let error = load(b"10.0.0.0/8 proto bird metric 1\n\n10.1.0.0/16 a\n").err().unwrap();
    assert_eq!(error.place, Place::Line(1), "the error names the line without next hops");
    assert!(matches!(error.problem, Problem::Line(LineError::MissingNextHop)));
    let error = load(b"10.0.0.0/8 proto bird metric 1\n").err().unwrap();
    assert_eq!(error.place, Place::Line(1));
    let (routes, _) = load_lenient(b"10.0.0.0/8 proto x metric 1\n10.1.0.0/16 a\n").unwrap();
    assert_eq!(routes.lines(), ["10.1.0.0/16 a"]);
    assert!(error_of(b"\tnexthop via 10.0.0.1 dev x\n").contains("has no route before it"));
}

const DUMP: &str = "\
TABLE_DUMP2|1|B|192.0.2.1|64501|10.0.0.0/8|1|IGP|10.0.0.1|0|0||NAG||
TABLE_DUMP2|1|B|192.0.2.2|64502|10.0.0.0/8|1|IGP|10.0.0.2|0|0||NAG||
TABLE_DUMP2|1|B|192.0.2.2|64502|10.1.0.0/16|1|IGP|10.0.0.2|0|0||NAG||
TABLE_DUMP2|1|B|2001:db8::1|64501|2001:db8::/32|1|IGP|fe80::1|0|0||NAG||
BGP4MP|2|STATE|192.0.2.2|64502|3|2
BGP4MP|2|W|192.0.2.2|64502|10.1.0.0/16
BGP4MP|2|W|192.0.2.1|64501|10.0.0.0/8
";

#[test]
fn bgpdump_lines_of_the_peer_with_most_routes() {
    let (routes, report) = load(DUMP.as_bytes()).unwrap();
    assert_eq!(routes.lines(), ["10.0.0.0/8 10.0.0.2", "2001:db8::/32 fe80::1"]);
    assert_eq!(report.peers.len(), 3);
    assert_eq!((report.chosen.ipv4, report.chosen.ipv6), (Some(1), Some(2)));
    assert_eq!((report.announced, report.withdrawn, report.other_peers), (3, 1, 2));
}

#[test]
fn bgpdump_lines_of_a_named_peer() {
    let (routes, _) = load_with(DUMP.as_bytes(), &peer("AS64501")).unwrap();
    assert_eq!(routes.lines(), ["2001:db8::/32 fe80::1"], "its IPv4 route is withdrawn");
    let (routes, _) = load_with(DUMP.as_bytes(), &peer("192.0.2.2")).unwrap();
    assert_eq!(routes.lines(), ["10.0.0.0/8 10.0.0.2"]);
    for name in ["AS1", "0", "192.0.2.9"] {
        let error = load_with(DUMP.as_bytes(), &peer(name)).err().unwrap();
        assert!(error.to_string().contains(&format!("none of the 3 peers is '{name}'")), "{error}");
    }
}

#[test]
fn an_unknown_peer_beside_a_single_one() {
    let one = DUMP.lines().next().unwrap();
    let error = load_with(one.as_bytes(), &peer("AS1")).err().unwrap().to_string();
    assert!(error.starts_with("the only peer is not 'AS1': name one by"), "{error}");
}

#[test]
fn damaged_bgpdump_lines() {
    let file = format!("{DUMP}TABLE_DUMP2|1|B|192.0.2.1\n");
    let error = error_of(file.as_bytes());
    assert!(error.starts_with("line 8: "), "{error}");
    let (routes, report) = load_lenient(file.as_bytes()).unwrap();
    assert_eq!((routes.0.len(), report.damaged), (2, 1));
}

const PATHS: &str = "\
TABLE_DUMP2_AP|1|B|192.0.2.1|64501|10.0.0.0/8|9|1|IGP|10.0.0.9|0|0||NAG||
TABLE_DUMP2_AP|1|B|192.0.2.1|64501|10.0.0.0/8|1|1|IGP|10.0.0.1|0|0||NAG||
TABLE_DUMP2_AP|1|B|192.0.2.2|64502|10.0.0.0/8|1|1|IGP|10.0.0.2|0|0||NAG||
TABLE_DUMP2_AP|1|B|192.0.2.1|64501|10.1.0.0/16|3|1|IGP|10.0.0.3|0|0||NAG||
";

/// As in MRT, adjacent paths of one peer are one route, and the first path counts.
#[test]
fn bgpdump_tables_with_path_identifiers() {
    let (routes, report) = load(PATHS.as_bytes()).unwrap();
    assert_eq!(routes.lines(), ["10.0.0.0/8 10.0.0.9", "10.1.0.0/16 10.0.0.3"]);
    assert_eq!((report.announced, report.other_peers), (2, 1));
    assert_eq!(report.peers.iter().map(|peer| peer.ipv4_routes).collect::<Vec<_>>(), [2, 1]);
    let (routes, _) = load_with(PATHS.as_bytes(), &peer("AS64502")).unwrap();
    assert_eq!(routes.lines(), ["10.0.0.0/8 10.0.0.2"]);
}

/// As in MRT, the path with the lowest identifier is the route, in any order of the updates.
#[test]
fn bgpdump_updates_with_path_identifiers() {
    let announce = |path: u32, hop: &str| {
        format!("BGP4MP_ET_AP|1|A|192.0.2.1|64501|10.0.0.0/8|{path}|1|IGP|{hop}|0|0||NAG||\n")
    };
    let withdraw = |path: u32| format!("BGP4MP_AP|1|W|192.0.2.1|64501|10.0.0.0/8|{path}\n");
    let mut text = announce(2, "10.0.0.2") + &announce(1, "10.0.0.1") + &announce(2, "10.0.0.3");
    assert_eq!(load(text.as_bytes()).unwrap().0.lines(), ["10.0.0.0/8 10.0.0.1"]);
    text += &withdraw(1);
    assert_eq!(load(text.as_bytes()).unwrap().0.lines(), ["10.0.0.0/8 10.0.0.3"]);
    text += &withdraw(2);
    let (routes, report) = load(text.as_bytes()).unwrap();
    assert!(routes.0.is_empty());
    assert_eq!((report.announced, report.withdrawn), (4, 1));
}

#[test]
fn networks_with_netmasks() {
    let text = b"10.0.0.0 255.0.0.0\n10.1.0.0 255.255.0.0 a\n10.0.0.1 192.0.2.1\n";
    let expected = ["10.0.0.0/8 10.0.0.0/8", "10.0.0.1/32 192.0.2.1", "10.1.0.0/16 a"];
    assert_eq!(load(text).unwrap().0.lines(), expected);
    assert!(
        refused("10.2.0.0 255.0.255.0 x").contains("255.0.255.0 follows an address and is not")
    );
    assert!(refused("10.2.0.1 255.255.0.0").contains("host bits set under the netmask"));
    refused("10.2.0.0 0.0.255.255");
}

#[test]
fn garbage_is_refused_by_a_lenient_load_too() {
    let error = load_lenient(b"10.0.0.0/33 a\n10.0.0/8 b\n").err().unwrap();
    assert!(matches!(error.problem, Problem::NothingRead { damaged: 2, .. }), "{error}");
    let start = "nothing could be read: 2 lines or records are damaged, the first at line 1: '10";
    assert!(error.to_string().starts_with(start), "{error}");
    let mut routes = Routes::default();
    let error = load_reader(Fails, Some("f"), &lenient(), &mut routes).unwrap_err();
    assert_eq!(error.to_string(), "f: cannot be read: gone");
    assert!(load_lenient(b"# nothing\n").is_ok(), "there is no damage");
}

/// A reader that fails at once.
struct Fails;

impl std::io::Read for Fails {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        Err(std::io::Error::other("gone"))
    }
}

#[test]
fn directories_are_refused() {
    for options in [Options::default(), lenient()] {
        let mut routes = Routes::default();
        let error = longmatch_feed::load_path(env!("CARGO_MANIFEST_DIR"), &options, &mut routes);
        let error = error.unwrap_err();
        assert!(matches!(error.problem, Problem::Open(_)), "{error}");
        assert!(error.to_string().ends_with("it is a directory: name a file in it"), "{error}");
        let error = longmatch_feed::destinations(env!("CARGO_MANIFEST_DIR"), &options).unwrap_err();
        assert!(matches!(error.problem, Problem::Open(_)), "{error}");
    }
}

#[test]
fn control_characters_of_names_are_escaped() {
    let options = Options::default();
    let error =
        load_bytes(b"10.0.0.0/33 a\n", Some("a\x1b[2J\nb"), &options, &mut Routes::default());
    let error = error.unwrap_err().to_string();
    assert!(error.starts_with(r"a\u{1b}[2J\nb: line 1: "), "{error:?}");
}

#[test]
fn streams_are_kept_up_to_a_limit() {
    let mut options = Options::default();
    options.limits.spool = 12;
    let mut routes = Routes::default();
    load_reader(&b"10.0.0.0/8 a"[..], Some("-"), &options, &mut routes).unwrap();
    let error = load_reader(&b"10.0.0.0/8 ab"[..], Some("-"), &options, &mut routes).unwrap_err();
    assert!(error.to_string().starts_with("-: ") && error.to_string().contains("12 bytes"));
}

/// A reader that returns one line and then fails.
struct Broken(bool);

impl std::io::Read for Broken {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        if self.0 {
            return Err(std::io::Error::other("gone"));
        }
        self.0 = true;
        buf[..13].copy_from_slice(b"10.0.0.0/8 a\n");
        Ok(13)
    }
}

#[test]
fn a_stream_that_fails() {
    let mut routes = Routes::default();
    let error = load_reader(Broken(false), None, &Options::default(), &mut routes).unwrap_err();
    assert_eq!(error.place, Place::Byte(13));
    let report = load_reader(Broken(false), None, &lenient(), &mut routes).unwrap();
    assert_eq!(routes.lines(), ["10.0.0.0/8 a"]);
    assert!(report.cut_off && report.first_damage.is_some());
}

#[test]
fn a_sink_can_refuse() {
    let mut full = |_: longmatch_feed::Event<'_>| -> Result<(), SinkError> { Err("full".into()) };
    for options in [Options::default(), lenient()] {
        let error = load_bytes(b"\n10.0.0.0/8 a\n", Some("f"), &options, &mut full).unwrap_err();
        assert_eq!(error.to_string(), "f: line 2: the route was refused: full");
    }
}
