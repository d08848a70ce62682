//! The files in `testdata/feed`, each with its expected content.

mod common;

use std::path::PathBuf;
use std::process::Command;

use common::Routes;
use longmatch_feed::{Format, Options, destinations, load_path};

fn sample(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/feed")).join(name)
}

#[track_caller]
fn check(name: &str, expected: &[&str]) {
    let mut routes = Routes::default();
    load_path(sample(name), &Options::default(), &mut routes).unwrap();
    assert_eq!(routes.lines(), expected, "{name}");
}

#[test]
fn text_files() {
    check(
        "plain.txt",
        &[
            "0.0.0.0/0 192.0.2.1",
            "10.0.0.0/8 office",
            "10.9.0.0/16 lab",
            "198.51.100.7/32 64500",
            "2001:db8::/32 office",
            "2001:db8:9::/48 lab",
        ],
    );
    check("updates.txt", &["203.0.113.0/24 192.0.2.2"]);
    check(
        "bgpdump.txt",
        &["198.51.100.0/24 192.0.2.2", "203.0.113.0/24 192.0.2.2", "2001:db8:5::/48 fe80::1"],
    );
}

#[test]
fn ip_route_files() {
    check(
        "ip-route.txt",
        &[
            "0.0.0.0/0 192.0.2.1",
            "10.0.0.0/8 192.0.2.7",
            "10.66.0.0/16 blackhole",
            "192.0.2.0/24 eth0",
        ],
    );
    check(
        "ip-route-6.txt",
        &["::/0 fe80::1", "2001:db8:1::/64 eth0", "2001:db8:66::/48 unreachable", "fe80::/64 eth0"],
    );
}

#[test]
fn ip_route_json() {
    check(
        "ip-route.json",
        &[
            "0.0.0.0/0 192.0.2.1",
            "10.0.0.0/8 192.0.2.7",
            "10.66.0.0/16 blackhole",
            "192.0.2.0/24 eth0",
            "::/0 ppp0",
            "2001:db8:1::/64 eth0",
        ],
    );
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
        common::load(&lines.stdout).unwrap().0.lines()
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

/// The builders of these tests write the file. To write it again, set `LONGMATCH_WRITE`.
#[test]
fn mrt_files() {
    let whole = common::mrt::everything();
    let cut = &whole[..whole.len() - 5];
    if std::env::var_os("LONGMATCH_WRITE").is_some() {
        std::fs::write(sample("all-records.mrt"), &whole).unwrap();
        std::fs::write(sample("cut-off.mrt"), cut).unwrap();
    }
    assert!(std::fs::read(sample("all-records.mrt")).unwrap() == whole);
    assert!(std::fs::read(sample("cut-off.mrt")).unwrap() == cut);
    check(
        "all-records.mrt",
        &[
            "0.0.0.0/0 10.0.0.8",
            "10.2.0.0/16 10.0.0.7",
            "10.3.0.0/24 10.0.0.8",
            "10.4.0.0/24 10.0.0.10",
            "::/0 2001:db8::6",
            "2001:db8::/32 2001:db8::3",
        ],
    );
    let error = load_path(sample("cut-off.mrt"), &Options::default(), &mut Routes::default());
    assert!(error.unwrap_err().to_string().contains("cut-off.mrt: byte "));
}

/// The builders of these tests write this file too.
#[test]
fn capture_files() {
    let whole = common::capture::everything();
    if std::env::var_os("LONGMATCH_WRITE").is_some() {
        std::fs::write(sample("packets.pcapng"), &whole).unwrap();
    }
    assert!(std::fs::read(sample("packets.pcapng")).unwrap() == whole);
    let trace = destinations(sample("packets.pcapng"), &Options::default()).unwrap();
    assert_eq!(trace.ipv4, [0xc000_0201, 0xc000_0202, 0xc000_0203]);
    assert_eq!(trace.ipv6, [(0x2001_0db8 << 96) + 1, (0x2001_0db8 << 96) + 2]);
}

#[test]
fn missing_files() {
    let error = load_path(sample("none.txt"), &Options::default(), &mut Routes::default());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("none.txt: cannot be opened: "), "{error}");
}
