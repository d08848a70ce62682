//! Sources and sinks: readers that fail, names, limits, several files in one table, truncated files.

mod common;

use std::io::{self, Read};
use std::path::PathBuf;
use std::process::Command;

use common::{Routes, error_of, lenient, load, load_lenient};
use longmatch::{IpPrefix, Table};
use longmatch_feed::{
    Event, Format, ListEntries, Location, Options, Problem, SinkError, destinations, load_bytes,
    load_path, load_reader, read_list,
};

fn sample(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/feed")).join(name)
}

/// A reader of at most 70,001 bytes at a time. At the end it fails, if it is made to.
struct Slow<'a>(&'a [u8], bool);

impl Read for Slow<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() && self.1 {
            return Err(io::Error::other("gone"));
        }
        let n = self.0.len().min(buf.len()).min(70_001);
        self.0.read(&mut buf[..n])
    }
}

#[test]
fn line_too_long() {
    let error = error_of(format!("10.0.0.0/8 a\n{}\n", "x".repeat(4097)).as_bytes());
    assert_eq!(error, "line 2: the line is longer than 4096 bytes");
    let just = format!("10.1.0.0/16 {}", "x".repeat(4096 - 12));
    assert!(load(just.as_bytes()).is_ok());
}

#[test]
fn later_files_add_to_the_table() {
    let mut table = Table::<Box<str>>::new();
    let mut check = |text: &str, len: usize, prefix: &str, hop: Option<&str>| {
        load_bytes(text.as_bytes(), None, &Options::default(), &mut table).unwrap();
        let found = table.get(prefix.parse::<IpPrefix>().unwrap()).map(|hop| &**hop);
        assert_eq!((table.len(), found), (len, hop), "{text}");
    };
    check("10.0.0.0/8 a\n::/0 b\n", 2, "10.0.0.0/8", Some("a"));
    check("10.0.0.0/8 c\n10.1.0.0/16 a\n", 3, "10.0.0.0/8", Some("c"));
    check("W ::/0\n", 2, "::/0", None);
    // Metrics are compared within a file.
    check("10.0.0.0/8 via 10.0.0.1 dev a metric 1\n", 2, "10.0.0.0/8", Some("10.0.0.1"));
    check("10.0.0.0/8 via 10.0.0.2 dev b metric 9\n", 2, "10.0.0.0/8", Some("10.0.0.2"));
}

#[test]
fn files_that_cannot_be_opened() {
    for options in [Options::default(), lenient()] {
        for (path, message) in [
            (PathBuf::from(env!("CARGO_MANIFEST_DIR")), "it is a directory: name a file in it"),
            (sample("none.txt"), "none.txt: cannot be opened: "),
        ] {
            let routes = load_path(&path, &options, &mut Routes::default()).unwrap_err();
            let trace = destinations(&path, &options).unwrap_err();
            for error in [routes, trace] {
                assert!(matches!(error.problem, Problem::Open(_)), "{error}");
                assert!(error.to_string().contains(message), "{error}");
            }
        }
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

#[test]
fn streams_that_fail() {
    let mut routes = Routes::default();
    let error = load_reader(Slow(b"", true), Some("f"), &lenient(), &mut routes).unwrap_err();
    assert_eq!(error.to_string(), "f: nothing could be read: cannot be read: gone");
    let line = b"10.0.0.0/8 a\n";
    let error = load_reader(Slow(line, true), None, &Options::default(), &mut routes).unwrap_err();
    assert_eq!(error.place, Location::Byte(13));
    let report = load_reader(Slow(line, true), None, &lenient(), &mut routes).unwrap();
    assert_eq!(routes.lines(), ["10.0.0.0/8 a"]);
    assert!(report.cut_off && report.first_damage.is_some());
}

#[test]
fn a_sink_can_refuse() {
    let mut full = |_: Event<'_>| -> Result<(), SinkError> { Err("full".into()) };
    for options in [Options::default(), lenient()] {
        let error = load_bytes(b"\n10.0.0.0/8 a\n", Some("f"), &options, &mut full).unwrap_err();
        assert_eq!(error.to_string(), "f: line 2: the route was refused: full");
    }
}

#[test]
fn waiting_routes_are_bounded() {
    let many = "default dev ppp0\n".repeat(100_000);
    let error = load(many.as_bytes()).err().unwrap();
    assert!(matches!(error.place, Location::Line(line) if line < 1000), "{error}");
    let (_, report) = load_lenient(format!("{many}fe80::/64 dev a\n").as_bytes()).unwrap();
    assert!(report.damaged > 99_000 && report.announced == 2, "{}", report.damaged);
}

/// A longer part of a file never has fewer routes.
#[test]
fn json_cut_off_at_every_byte() {
    let (file, mut last) = (std::fs::read(sample("ip-route.json")).unwrap(), 0);
    for end in 0..=file.len() {
        if let Ok((routes, _)) = load_lenient(&file[..end]) {
            assert!(routes.0.len() >= last, "cut at {end}");
            last = routes.0.len();
        }
    }
    assert_eq!(last, 6);
}

#[test]
fn sets_do_not_depend_on_blocks_and_reads() {
    let line = |i: u32| format!("10.{}.{}.{}\n", i >> 16, i >> 8 & 255, i & 255);
    let text: String = (0..200_000).map(line).collect();
    assert!(text.len() > 2 << 20, "several blocks");
    let read = |bytes: &[u8], fails: bool, options: &Options| {
        read_list(Slow(bytes, fails), Some("list"), options, ListEntries::default())
    };
    let in_order = |entries: &ListEntries, count: u32| {
        assert_eq!(entries.ipv4.len(), count as usize);
        assert!((0..count).zip(&entries.ipv4).all(|(i, range)| range.first() == 0x0a00_0000 + i));
    };
    for bytes in [text.as_bytes(), text.trim_end().as_bytes()] {
        let (entries, report) = read(bytes, false, &Options::default()).unwrap();
        in_order(&entries, 200_000);
        assert_eq!((report.lines, report.bytes), (200_000, bytes.len() as u64));
        // A line that may be cut off is not a line.
        let whole = bytes.iter().filter(|byte| **byte == b'\n').count() as u32;
        let refused = read(bytes, true, &Options::default()).unwrap_err();
        assert!(refused.to_string().contains("gone"), "{refused}");
        let (entries, report) = read(bytes, true, &lenient()).unwrap();
        in_order(&entries, whole);
        assert!(report.cut_off);
    }
    let message = read((text + "10.0.0\n").as_bytes(), false, &Options::default()).unwrap_err();
    assert!(message.to_string().starts_with("list: line 200001: "), "{message}");
}

/// Configurations of Click are refused, and a script makes lines of their routes.
#[test]
fn routes_of_a_click_configuration() {
    for format in [Format::Auto, Format::Routes, Format::Csv] {
        let mut options = Options::default();
        options.format = format;
        let error = load_path(sample("router.click"), &options, &mut Routes::default());
        assert!(error.is_err(), "{format}");
    }
    let convert = |table: &[&str]| {
        let input = std::fs::File::open(sample("router.click")).unwrap();
        let mut python = Command::new("python3");
        python.arg(sample("click-routes.py")).args(table).stdin(input).output()
    };
    if let Err(error) = convert(&[]) {
        eprintln!("skipped: the converter of Click's configurations: no python3: {error}");
        return;
    }
    let routes = |table| {
        let lines = convert(table).unwrap();
        assert!(lines.status.success(), "{lines:?}");
        load(&lines.stdout).unwrap().0.lines()
    };
    let first = [
        "0.0.0.0/0 198.51.100.9%1",
        "10.0.0.0/8 198.51.100.9%1",
        "10.9.0.0/16 192.0.2.9%1",
        "192.0.2.0/24 0",
        "192.0.2.1/32 2",
        "192.0.2.255/32 2",
        "198.51.100.0/24 1",
        "203.0.113.0/24 192.0.2.9%0",
    ];
    assert_eq!(routes(&[]), first);
    assert_eq!(routes(&["monitor"]), ["0.0.0.0/0 1", "192.0.2.0/24 0"]);
    assert!(!convert(&["none"]).unwrap().status.success());
}

/// The builders of these tests write the files. To write them again, set `LONGMATCH_WRITE`.
#[test]
fn binary_files_are_those_of_the_builders() {
    let (mrt, packets) = (common::mrt::everything(), common::capture::everything());
    let files = [
        ("all-records.mrt", &mrt[..]),
        ("cut-off.mrt", &mrt[..mrt.len() - 5]),
        ("packets.pcapng", &packets),
    ];
    for (name, bytes) in files {
        if std::env::var_os("LONGMATCH_WRITE").is_some() {
            std::fs::write(sample(name), bytes).unwrap();
        }
        assert!(std::fs::read(sample(name)).unwrap() == bytes, "{name}");
    }
}
