//! Forwarding from captures into captures.

use std::fs;
use std::io::Write;
use std::net::{Ipv4Addr, Ipv6Addr};

use serde_json::Value;

use super::counts::check_sums;
use super::frames::{Ipv4, Ipv6, Mac, ethernet, udp};
use crate::common::{Dir, Ended, run};

/// A frame, and the nanoseconds of its time since 1970.
type Timed = (u64, Vec<u8>);

const SECOND: u64 = 1_000_000_000;

/// The sender of all frames, and the receiver, which need not be the router.
const SENDER: Mac = [2, 0, 0, 0, 9, 9];
const RECEIVER: Mac = [2, 0, 0, 0, 9, 1];

/// The address of a port.
fn port(number: u8) -> Mac {
    [2, 0, 0, 0xff, 0, number]
}

/// The address of a next hop, from 1 in the order of the routes.
fn hop(number: u8) -> Mac {
    [2, 0, 0, 0, 0, number]
}

/// A capture with times in nanoseconds, as the binary writes it, or in microseconds.
fn capture(frames: &[Timed], nanoseconds: bool) -> Vec<u8> {
    let (magic, unit) = if nanoseconds { (0xa1b2_3c4d_u32, 1) } else { (0xa1b2_c3d4, 1000) };
    let version = [2, 0, 4, 0];
    let mut bytes = [&magic.to_le_bytes()[..], &version, &[0; 8]].concat();
    bytes.extend([262_144_u32, 1].map(u32::to_le_bytes).as_flattened());
    for (time, frame) in frames {
        let len = frame.len() as u32;
        let header = [(time / SECOND) as u32, (time % SECOND / unit) as u32, len, len];
        bytes.extend(header.map(u32::to_le_bytes).as_flattened());
        bytes.extend(frame);
    }
    bytes
}

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// A frame with an IPv4 packet, whose TTL tells if it was forwarded.
fn ipv4([to, from]: [Mac; 2], destination: [u8; 4], ttl: u8) -> Vec<u8> {
    let header = Ipv4 { ttl, ..Ipv4::new(Ipv4Addr::new(192, 0, 2, 1), destination.into()) };
    ethernet(to, from, 0x0800, &header.checked(&udp([1, 2], b"some data"), 6))
}

fn ipv6([to, from]: [Mac; 2], destination: &str, hop_limit: u8) -> Vec<u8> {
    let source: Ipv6Addr = "2001:db8:9::9".parse().unwrap();
    let header = Ipv6 { hop_limit, ..Ipv6::new(source, destination.parse().unwrap()) };
    ethernet(to, from, 0x86dd, &header.checked(&udp([1, 2], b"some data"), 6))
}

const ARRIVING: [Mac; 2] = [RECEIVER, SENDER];

/// Next hop `one` leaves by the first port and `two` by the second, if there is one.
const ROUTES: &str = "10.0.0.0/8 one\n11.0.0.0/8 two\n2001:db8::/32 two\n12.0.0.0/8 blackhole\n\
                      13.0.0.0/8 unreachable\n";

/// Frames that arrive at the first of two ports, and what becomes of them.
fn first_port() -> Vec<Timed> {
    vec![
        (7 * SECOND + 1, ipv4(ARRIVING, [10, 0, 0, 1], 64)),
        (7 * SECOND + 3, ipv4(ARRIVING, [11, 0, 0, 1], 63)),
        (7 * SECOND + 5, ipv4(ARRIVING, [11, 0, 0, 2], 1)),
        (8 * SECOND + 999_999_999, ipv6(ARRIVING, "2001:db8::1", 255)),
        (9 * SECOND, ipv4(ARRIVING, [99, 0, 0, 1], 64)),
    ]
}

fn second_port() -> Vec<Timed> {
    vec![
        (7 * SECOND, ipv4(ARRIVING, [11, 0, 0, 3], 2)),
        (7 * SECOND + 2, ipv4(ARRIVING, [10, 0, 0, 2], 64)),
        (7 * SECOND + 4, ipv4(ARRIVING, [12, 0, 0, 1], 64)),
        (8 * SECOND, ipv4(ARRIVING, [13, 0, 0, 1], 64)),
        (20 * SECOND, ipv4(ARRIVING, [11, 0, 0, 4], 64)),
    ]
}

fn forward(dir: &Dir, interfaces: &[&str], more: &[&str]) -> Ended {
    let routes = dir.file("routes.txt", ROUTES);
    let args = ["--io", "pcap", "--json", "-r", &routes, "-i"];
    run(&[&args[..], interfaces, more].concat())
}

/// The last line of the output.
fn counts(ended: &Ended) -> Value {
    let counts = serde_json::from_str(ended.stdout.lines().last().unwrap()).unwrap();
    check_sums(&counts);
    counts
}

#[test]
fn two_captures_are_forwarded_in_the_order_of_time() {
    let dir = Dir::new();
    let inputs = [("a", first_port()), ("b", second_port())];
    let inputs = inputs.map(|(name, frames)| dir.file(name, capture(&frames, true)));
    let outputs = ["c", "d", "kernel"].map(|name| dir.path(name));
    let pairs = [0, 1].map(|place| format!("{}={}", inputs[place], outputs[place]));
    for batch in ["1", "2", "256"] {
        let more = ["--kernel-capture", &outputs[2], "--batch", batch];
        let ended = forward(&dir, &[&pairs[0], &pairs[1]], &more);
        assert_eq!((ended.code, &ended.stderr[..]), (0, ""), "{ended:?}");
        let (one, two) = ([hop(1), port(0)], [hop(2), port(1)]);
        let expected = [
            vec![
                (7 * SECOND + 1, ipv4(one, [10, 0, 0, 1], 63)),
                (7 * SECOND + 2, ipv4(one, [10, 0, 0, 2], 63)),
            ],
            vec![
                (7 * SECOND, ipv4(two, [11, 0, 0, 3], 1)),
                (7 * SECOND + 3, ipv4(two, [11, 0, 0, 1], 62)),
                (8 * SECOND + 999_999_999, ipv6(two, "2001:db8::1", 254)),
                (20 * SECOND, ipv4(two, [11, 0, 0, 4], 63)),
            ],
            vec![first_port()[2].clone(), second_port()[3].clone(), first_port()[4].clone()],
        ];
        for (path, frames) in outputs.iter().zip(expected) {
            assert!(fs::read(path).unwrap() == capture(&frames, true), "{path}, batch {batch}");
        }
        let counts = counts(&ended);
        let expected = [("received", 10), ("forwarded", 6), ("kernel", 3), ("dropped", 1)];
        for (key, count) in expected {
            assert_eq!(counts[key], count, "{key}: {counts}");
        }
        for cause in ["no_route", "ttl_expired", "kernel_route"] {
            assert_eq!(counts["kernel_by_cause"][cause], 1, "{cause}: {counts}");
        }
        assert_eq!(counts["dropped_by_cause"]["blackhole"], 1, "{counts}");
        assert_eq!((&counts["routes"]["ipv4"], &counts["routes"]["ipv6"]), (&4.into(), &1.into()));
        assert_eq!(counts["end"], true);
        assert!(counts["seconds"].as_f64() > Some(0.0));
    }
}

#[test]
fn one_capture_plain_and_compressed() {
    let dir = Dir::new();
    let frames = first_port();
    let output = dir.path("out");
    let [one, two] = [1, 2].map(|number| [hop(number), port(0)]);
    let sent = |unit: u64| {
        let frames = [
            (7 * SECOND + 1, ipv4(one, [10, 0, 0, 1], 63)),
            (7 * SECOND + 3, ipv4(two, [11, 0, 0, 1], 62)),
            (8 * SECOND + 999_999_999, ipv6(two, "2001:db8::1", 254)),
        ];
        frames.map(|(time, frame)| (time / unit * unit, frame))
    };
    let plain = [(capture(&frames, true), sent(1)), (capture(&frames, false), sent(1000))];
    for (input, expected) in plain {
        for bytes in [input.clone(), gzip(&input)] {
            let pair = format!("{}={output}", dir.file("in", &bytes));
            let ended = forward(&dir, &[&pair], &[]);
            assert_eq!((ended.code, &ended.stderr[..]), (0, ""), "{ended:?}");
            assert!(fs::read(&output).unwrap() == capture(&expected, true));
            assert_eq!(counts(&ended)["forwarded"], 3);
        }
    }
}

#[test]
fn frames_before_a_damage_are_forwarded() {
    let dir = Dir::new();
    let output = dir.path("out");
    let many: Vec<_> =
        (0..1000).map(|time| (time, ipv4(ARRIVING, [10, 0, 0, time as u8], 9))).collect();
    let sent = |time: &u64| (*time, ipv4([hop(1), port(0)], [10, 0, 0, *time as u8], 8));
    let sent: Vec<_> = many.iter().map(|(time, _)| sent(time)).collect();
    let whole = capture(&many, true);
    let frame = 16 + many[0].1.len();
    for complete in [0, 1, 700, 999] {
        let cut = &whole[..24 + complete * frame + 20];
        let pair = format!("{}={output}", dir.file("in", cut));
        let ended = forward(&dir, &[&pair], &[]);
        assert_eq!(ended.code, 2, "{ended:?}");
        assert!(ended.stderr.contains("the capture is cut off"), "{ended:?}");
        assert!(fs::read(&output).unwrap() == capture(&sent[..complete], true), "{complete}");
        let ended = forward(&dir, &[&pair], &["--lenient"]);
        assert_eq!(ended.code, 0, "{ended:?}");
        assert!(ended.stderr.contains("the capture is cut off"), "{ended:?}");
        assert_eq!(counts(&ended)["forwarded"], complete);
    }
}

/// A table and frames for addresses in and out of it, from a generator of numbers.
fn many() -> (String, Vec<Timed>) {
    let mut state = 1_u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    };
    let (mut routes, mut frames) = (String::new(), Vec::new());
    for number in 0..3000_u64 {
        let (len, hop) = (16 + next() % 17, next() % 40);
        let address = 0x1400_0000 | (next() & 0x00ff_ffff);
        let network = Ipv4Addr::from(address & (u32::MAX << (32 - len)));
        routes += &format!("{network}/{len} hop{hop}\n");
        let address = if number % 3 == 0 { address } else { 0x1400_0000 | (next() & 0xff_ffff) };
        frames.push((number * 2, ipv4(ARRIVING, address.to_be_bytes(), 64)));
        let third = next() & 0xff;
        let len = 40 + next() % 25;
        let bits = (0x2001_0db8_u64 << 32 | u64::from(third << 24)) & (u64::MAX << (64 - len));
        let network = Ipv6Addr::from(u128::from(bits) << 64);
        routes += &format!("{network}/{len} hop{hop}\n");
        let address = format!("2001:db8:{:x}::{number}", (next() & 0xff) << 8);
        frames.push((number * 2 + 1, ipv6(ARRIVING, &address, 64)));
    }
    (routes, frames)
}

#[test]
fn every_engine_forwards_alike() {
    let dir = Dir::new();
    let (routes, frames) = many();
    let routes = dir.file("many.txt", routes);
    let input = dir.file("in", capture(&frames, true));
    let [output, kernel] = ["out", "kernel"].map(|name| dir.path(name));
    let pair = format!("{input}={output}");
    let forward = |engine: &str| {
        let args = ["--io", "pcap", "-r", &routes, "--json", "-e", engine];
        let ended = run(&[&args[..], &["-i", &pair, "--kernel-capture", &kernel]].concat());
        assert_eq!((ended.code, &ended.stderr[..]), (0, ""), "{engine}: {ended:?}");
        let mut counts = counts(&ended);
        counts["seconds"].take();
        (counts, fs::read(&output).unwrap(), fs::read(&kernel).unwrap())
    };
    // Compares with each route.
    let expected = forward("linear");
    let forwarded = expected.0["forwarded"].as_u64().unwrap() as usize;
    assert!(forwarded > 1000 && forwarded + 100 < frames.len(), "{}", expected.0);
    for engine in
        ["folio", "spider", "poptrie", "dxr", "dir24_8", "sail", "tree_bitmap", "radix", "auto"]
    {
        assert!(forward(engine) == expected, "{engine}");
    }
}
