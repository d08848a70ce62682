//! No packet is misrouted or lost while routes change.

use std::env;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};

use longmatch_feed::{Event, Options, load_path};

use super::agreement::say;
use super::child::Forwarder;
use super::flow::{check, churn};
use super::net::Net;
use super::table::{Prefix, Random, Routes};

/// Adds the two probes.
fn with_probes(mut routes: Routes) -> Routes {
    routes.add_probe((Ipv4Addr::new(192, 0, 2, 1).into(), 32));
    routes.add_probe((Ipv4Addr::new(192, 0, 2, 129).into(), 32));
    routes
}

fn ipv4(bytes: [u8; 4], len: u8) -> Prefix {
    (bytes.into(), len)
}

fn ipv6(third: u16, fourth: u16, len: u8) -> Prefix {
    (Ipv6Addr::new(0x2001, 0xdb8, third, fourth, 0, 0, 0, 0).into(), len)
}

/// Runs the binary and all versions of the routes.
fn run(net: &Net, routes: &Routes, destinations: usize, engine: &str) {
    net.router.batch(&routes.commands(0, 0..routes.len()));
    let mut forwarder = Forwarder::start(net, &["-e", engine]);
    let addresses = routes.addresses(destinations, &mut Random(3));
    let report = churn(net, routes, &addresses);
    let stopped = forwarder.finish();
    check(&report, routes.versions(), &stopped.counts);
}

/// Few routes, each of which changes all the time.
#[test]
fn routes_flap() {
    let Some(net) = Net::new("routes_flap") else { return };
    let prefixes = [
        // The first two are never withdrawn.
        ipv4([20, 0, 0, 0], 8),
        ipv6(0, 0, 32),
        ipv4([20, 1, 0, 0], 16),
        ipv4([20, 1, 2, 0], 24),
        ipv4([20, 1, 2, 3], 32),
        ipv6(1, 0, 48),
        ipv6(1, 1, 64),
    ];
    let mut random = Random(1);
    let mut routes = Routes::new(prefixes.to_vec(), &mut random);
    (0..25).for_each(|_| routes.change(5, 2, &mut random));
    let routes = with_probes(routes);
    for engine in ["folio", "spider", "poptrie", "dxr"] {
        run(&net, &routes, 50, engine);
    }
}

/// Routes at several depths, all over a part of the address space: the first `permanent` are never
/// withdrawn and cover the others.
pub fn synthetic() -> (Vec<Prefix>, usize) {
    let wide4 = (0..=255).map(|b| ipv4([20, b, 0, 0], 16));
    let wide6 = (0..64).map(|third| ipv6(third * 256, 0, 40));
    let mut prefixes: Vec<_> = wide4.chain(wide6).collect();
    let permanent = prefixes.len();
    for b in 0..=255 {
        for c in 0..=255 {
            prefixes.push(ipv4([20, b, c, 0], 24));
            if c % 2 == 0 {
                prefixes.push(ipv4([20, b, c, b & 0xf0], 28));
            }
        }
    }
    for third in 0..64 {
        for fourth in 0..256 {
            prefixes.push(ipv6(third * 256 + fourth, 0, 48));
        }
    }
    (prefixes, permanent)
}

/// Thousands of routes of a large table change at a time.
#[test]
fn a_large_table_under_churn() {
    let Some(net) = Net::new("a_large_table_under_churn") else { return };
    let (prefixes, permanent) = synthetic();
    assert!(prefixes.len() > 100_000);
    let mut random = Random(2);
    let mut routes = Routes::new(prefixes, &mut random);
    (0..6).for_each(|_| routes.change(3000, permanent, &mut random));
    run(&net, &with_probes(routes), 3000, "folio");
}

fn covers(first: u8) -> bool {
    (1..224).contains(&first) && ![10, 127].contains(&first)
}

/// The prefixes of a file that are longer than eight bits, without those of the tests' own networks.
pub fn read(file: &Path) -> Vec<Prefix> {
    let mut prefixes = Vec::new();
    let mut sink = |event: Event<'_>| {
        if let Event::Announce(prefix, _) = event {
            let is_taken = match prefix.addr() {
                IpAddr::V4(address) => covers(address.octets()[0]),
                IpAddr::V6(address) => {
                    let [first, second, ..] = address.segments();
                    first >> 13 == 1 && [first, second] != [0x2001, 0xdb8]
                }
            };
            prefixes.extend((is_taken && prefix.len() > 8).then(|| (prefix.addr(), prefix.len())));
        }
        Ok(())
    };
    load_path(file, &Options::default(), &mut sink).unwrap();
    prefixes
}

/// The IPv4 prefixes of a file, after wide ones that cover them and are never withdrawn.
fn real(file: &Path) -> (Vec<Prefix>, usize) {
    let wide = (0..=255).filter(|&first| covers(first));
    let mut prefixes: Vec<_> = wide.map(|first| ipv4([first, 0, 0, 0], 8)).collect();
    let permanent = prefixes.len();
    prefixes.extend(read(file));
    (prefixes, permanent)
}

/// The file of a table of real routes. Without it, says aloud that a test is skipped or smaller.
pub fn data(test: &str, table: &str) -> Option<PathBuf> {
    let file = |data| Path::new(&data).join(format!("{table}.txt.zst"));
    let file = env::var_os("LONGMATCH_DATA").map(file).filter(|file| file.exists());
    if file.is_none() {
        say(&format!("skipped: {test}: LONGMATCH_DATA names no directory with {table}.txt.zst"));
    }
    file
}

/// The same with the routes of the Internet. It takes a minute, and so only on request.
#[test]
fn a_full_table_under_churn() {
    let name = "a_full_table_under_churn";
    let Some(file) = data(name, "ipv4-full") else { return };
    let Some(net) = Net::new(name) else { return };
    let (prefixes, permanent) = real(&file);
    let mut random = Random(4);
    let mut routes = Routes::new(prefixes, &mut random);
    (0..6).for_each(|_| routes.change(5000, permanent, &mut random));
    run(&net, &with_probes(routes), 10_000, "folio");
}
