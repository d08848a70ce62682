//! What leaves the router is what the kernel would send, byte by byte.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::child::Forwarder;
use super::net::{HOSTS, Net, ROUTER, neighbour, neighbour4, neighbour6};
use super::wire::Wire;
use crate::frames::{DONT_FRAGMENT, ICMP, ICMPV6, Ipv4, Ipv6, TCP, UDP, checksum, ethernet};
use crate::frames::{icmp, udp};

/// Frames sent at once, fewer than a virtual interface queues.
const BURST: usize = 32;

/// Networks behind the first neighbour beside host `host`.
fn networks(host: u8) -> [String; 3] {
    [
        format!("198.{}.0.0/16", 18 + host),
        format!("24{host}.0.0.0/8"),
        format!("2001:db8:1{host}::/48"),
    ]
}

fn source4() -> Ipv4Addr {
    Ipv4Addr::new(192, 0, 2, 1)
}

fn destination4(host: u8, number: usize) -> Ipv4Addr {
    let [high, low] = (number as u16).to_be_bytes();
    Ipv4Addr::new(198, 18 + host, high, low)
}

fn ipv4(host: u8, number: usize) -> Ipv4 {
    Ipv4 { id: number as u16, ..Ipv4::new(source4(), destination4(host, number)) }
}

fn ipv6(host: u8, number: usize) -> Ipv6 {
    let destination =
        Ipv6Addr::new(0x2001, 0xdb8, 0x10 | u16::from(host), 0, 0, 0, 1, number as u16);
    Ipv6::new("2001:db8:99::1".parse().unwrap(), destination)
}

/// Bytes that differ from each other.
fn data(len: usize) -> Vec<u8> {
    (0..len).map(|place| (place * 7 + place / 256) as u8).collect()
}

/// A TCP segment with these flags.
fn segment(flags: u8, data: &[u8]) -> Vec<u8> {
    let mut segment = vec![0x30, 0x39, 0, 80, 1, 2, 3, 4, 5, 6, 7, 8, 0x50, flags, 0xff, 0xff];
    segment.extend([0, 0, 0, 0]);
    segment.extend(data);
    segment
}

/// IPv4 packets for networks beside a host.
fn ipv4_packets(host: u8) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    for ttl in 2..=255 {
        let header = Ipv4 { ttl, service: ttl.wrapping_mul(3), ..ipv4(host, ttl.into()) };
        packets.push(header.checked(&udp([1000, u16::from(ttl)], &data(20)), 6));
    }
    // From a header alone to the MTU.
    for (number, len) in
        [0, 1, 2, 7, 8, 19, 20, 25, 26, 27, 63, 64, 500, 1000, 1479, 1480].into_iter().enumerate()
    {
        let header = Ipv4 { fragment: DONT_FRAGMENT, ..ipv4(host, 300 + number) };
        packets.push(header.packet(&data(len)));
    }
    for (number, protocol) in [0, 2, 4, 41, 47, 50, 51, 89, 132, 136, 255].into_iter().enumerate() {
        packets.push(Ipv4 { protocol, ..ipv4(host, 400 + number) }.packet(&data(40)));
    }
    for (number, flags) in [0x02, 0x12, 0x10, 0x18, 0x11, 0x04, 0xc2].into_iter().enumerate() {
        let header = Ipv4 { protocol: TCP, fragment: DONT_FRAGMENT, ..ipv4(host, 500 + number) };
        packets.push(header.checked(&segment(flags, &data(number * 200)), 16));
    }
    // Echo requests and replies, and an error of another router.
    for (number, kind) in [8, 0, 3, 11, 13].into_iter().enumerate() {
        let header = Ipv4 { protocol: ICMP, ..ipv4(host, 600 + number) };
        packets.push(header.packet(&icmp(kind, 0, [0, 1, 0, 2], &data(56))));
    }
    // First, middle and last fragments, and bits that nothing uses.
    for (number, fragment) in
        [0x2000, 0x2010, 0x0020, 0x1fff, 0x8000, 0xe000].into_iter().enumerate()
    {
        packets.push(Ipv4 { fragment, ..ipv4(host, 700 + number) }.packet(&data(128)));
    }
    packets
}

/// Headers whose checksums carry, and those of which the kernel drops some.
fn odd_ipv4_packets(host: u8) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    for (number, wanted) in [0, 1, 0xff, 0xfeff, 0xfefe, 0xff00, 0xfffe].into_iter().enumerate() {
        let of = |id| Ipv4 { id, ..ipv4(host, 800 + number) }.packet(&[]);
        // One's complement: an id lowers the checksum by as much.
        let zero = of(0);
        let above = u16::from_be_bytes([zero[10], zero[11]]);
        let id = above.checked_sub(wanted).unwrap_or(above.wrapping_sub(wanted).wrapping_sub(1));
        let mut packet = of(id);
        assert_eq!(packet[10..12], u16::to_be_bytes(wanted));
        packets.push(packet.clone());
        if wanted == 0 {
            // The other zero of one's complement.
            packet[10..12].fill(0xff);
            packets.push(packet);
        }
    }
    let sources =
        [[0, 0, 0, 0], [0, 1, 2, 3], [127, 0, 0, 1], [224, 0, 0, 1], [240, 1, 2, 3], [255; 4]];
    for (number, source) in sources.into_iter().enumerate() {
        packets.push(Ipv4 { source: source.into(), ..ipv4(host, 900 + number) }.packet(&data(9)));
    }
    let destinations =
        [[240 + host, 0, 0, 1], [127, 0, 0, 1], [0, 0, 0, 0], [255; 4], [224, 0, 0, 9]];
    for destination in destinations {
        packets.push(Ipv4::new(source4(), destination.into()).packet(&data(9)));
    }
    // A router alert, no operations, a recorded route.
    let options = [&[148, 4, 0, 0][..], &[1, 1, 1, 0], &[7, 7, 4, 0, 0, 0, 0, 0]];
    for (number, options) in options.into_iter().enumerate() {
        let header = Ipv4 { options: options.to_vec(), ..ipv4(host, 950 + number) };
        packets.push(header.packet(&udp([1, 2], &data(30))));
    }
    let whole = ipv4(host, 990).packet(&data(100));
    for (place, value) in [(0, 0x44), (0, 0x65), (3, 19), (10, whole[10] ^ 1), (2, 9)] {
        let mut damaged = whole.clone();
        damaged[place] = value;
        if place != 10 {
            damaged[10..12].fill(0);
            let sum = checksum(&damaged[..20]);
            damaged[10..12].copy_from_slice(&sum.to_be_bytes());
        }
        packets.push(damaged);
    }
    packets
}

/// IPv6 packets for a network beside a host.
fn ipv6_packets(host: u8) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    for hop_limit in 2..=255 {
        let label = u32::from(hop_limit) * 0xf0f;
        let header = Ipv6 { hop_limit, label, class: !hop_limit, ..ipv6(host, hop_limit.into()) };
        packets.push(header.checked(&udp([1000, u16::from(hop_limit)], &data(20)), 6));
    }
    for (number, len) in [0, 1, 5, 6, 7, 100, 1000, 1459, 1460].into_iter().enumerate() {
        packets.push(ipv6(host, 300 + number).packet(&data(len)));
    }
    for (number, flags) in [0x02, 0x12, 0x18].into_iter().enumerate() {
        let header = Ipv6 { next: TCP, ..ipv6(host, 400 + number) };
        packets.push(header.checked(&segment(flags, &data(number * 300)), 16));
    }
    for (number, kind) in [128, 129, 1, 3].into_iter().enumerate() {
        let header = Ipv6 { next: ICMPV6, ..ipv6(host, 500 + number) };
        packets.push(header.checked(&icmp(kind, 0, [0, 1, 0, 2], &data(56)), 2));
    }
    let datagram = udp([5, 6], &data(40));
    // Hop-by-hop, routing, first and later fragment, destination options, none, mobility.
    let headers: [(u8, [u8; 8]); 7] = [
        (0, [UDP, 0, 1, 4, 0, 0, 0, 0]),
        (43, [UDP, 0, 0, 0, 0, 0, 0, 0]),
        (44, [UDP, 0, 0, 1, 0, 0, 0, 7]),
        (44, [UDP, 0, 0, 0x48, 0, 0, 0, 7]),
        (60, [UDP, 0, 1, 4, 0, 0, 0, 0]),
        (59, [0; 8]),
        (135, [59, 0, 0, 0, 0, 0, 0, 0]),
    ];
    for (number, (next, header)) in headers.into_iter().enumerate() {
        let payload = [&header[..], &datagram].concat();
        packets.push(Ipv6 { next, ..ipv6(host, 600 + number) }.packet(&payload));
    }
    for source in ["::", "::1", "ff02::1", "::ffff:192.0.2.1", "fe80::9", "2002:c000:201::1"] {
        let header = Ipv6 { source: source.parse().unwrap(), ..ipv6(host, 700) };
        packets.push(header.packet(&datagram));
    }
    let mapped = Ipv6 { destination: "::ffff:198.18.0.1".parse().unwrap(), ..ipv6(host, 0) };
    // Its route leads to one side only.
    packets.extend((host == 1).then(|| mapped.packet(&datagram)));
    let mut longer = ipv6(host, 800).packet(&data(50));
    longer[5] = 51;
    packets.push(longer);
    packets
}

/// All frames for the network beside `host`, from the other host.
fn corpus(host: u8) -> Vec<Vec<u8>> {
    let from = usize::from(1 - host);
    let (router, source) = (ROUTER[from], HOSTS[from]);
    let mut frames = Vec::new();
    for packet in [ipv4_packets(host), odd_ipv4_packets(host)].concat() {
        frames.push(ethernet(router, source, 0x0800, &packet));
    }
    for packet in ipv6_packets(host) {
        frames.push(ethernet(router, source, 0x86dd, &packet));
    }
    // With padding up to the shortest frame of Ethernet, and beyond.
    let short = [(0x0800, ipv4(host, 1000).packet(&[7])), (0x86dd, ipv6(host, 1000).packet(&[7]))];
    for (kind, packet) in short {
        for padded in [60, 61, 200] {
            let mut frame = ethernet(router, source, kind, &packet);
            frame.resize(padded, 0xaa);
            frames.push(frame);
        }
        // For others, for all, with a tag of a VLAN, as another protocol.
        frames.push(ethernet([2, 9, 9, 9, 9, 9], source, kind, &packet));
        frames.push(ethernet([0xff; 6], source, kind, &packet));
        let tagged = [&[0, 7][..], &u16::to_be_bytes(kind), &packet].concat();
        frames.push(ethernet(router, source, 0x8100, &tagged));
        frames.push(ethernet(router, source, 0x88b5, &packet));
    }
    frames
}

/// Sends frames by one interface, and returns those that arrive at the other one for the neighbour,
/// in an order that does not depend on time; `expected` of them, or all within a short time.
fn exchange(
    frames: &[Vec<u8>],
    [from, to]: [&Wire; 2],
    host: u8,
    expected: Option<usize>,
) -> Vec<Vec<u8>> {
    let mut arrived = Vec::new();
    let receive = |arrived: &mut Vec<Vec<u8>>| {
        while let Some(frame) = to.receive() {
            arrived.extend((frame[..6] == neighbour(host, 0)).then_some(frame));
        }
    };
    for burst in frames.chunks(BURST) {
        burst.iter().for_each(|frame| from.send(frame));
        sleep(Duration::from_millis(1));
        receive(&mut arrived);
    }
    let end = Instant::now() + Duration::from_secs(3);
    while expected.is_some_and(|expected| arrived.len() < expected) && Instant::now() < end {
        sleep(Duration::from_millis(1));
        receive(&mut arrived);
    }
    // More than expected would be an error too.
    sleep(Duration::from_millis(if expected.is_some() { 50 } else { 400 }));
    receive(&mut arrived);
    arrived.sort();
    arrived
}

fn routes(net: &Net) {
    for host in [0, 1] {
        let [first, second, third] = networks(host);
        for network in [first, second] {
            net.router.ip(&format!("route add {network} via {}", neighbour4(host, 0)));
        }
        net.router.ip(&format!("-6 route add {third} via {}", neighbour6(host, 0)));
    }
    net.router.ip(&format!("-6 route add ::ffff:198.18.0.0/112 via {}", neighbour6(1, 0)));
}

/// Compares what arrived with what the kernel sent.
fn compare(arrived: &[Vec<u8>], kernels: &[Vec<u8>], what: &str) {
    let only = |left: &[Vec<u8>], right: &[Vec<u8>]| {
        left.iter().find(|frame| right.binary_search(frame).is_err()).cloned()
    };
    let (more, less) = (only(arrived, kernels), only(kernels, arrived));
    assert!(more.is_none() && less.is_none(), "{what}: {more:02x?} instead of {less:02x?}");
    assert_eq!(arrived.len(), kernels.len(), "{what}");
}

fn count(counts: &Value, key: &str) -> usize {
    counts[key].as_u64().unwrap() as usize
}

#[test]
fn frames_leave_as_from_the_kernel() {
    let Some(net) = Net::new("frames_leave_as_from_the_kernel") else { return };
    routes(&net);
    let wires = [net.a.wire("ea"), net.b.wire("eb")];
    let corpora = [corpus(0), corpus(1)];
    let directions = [(1, [&wires[0], &wires[1]]), (0, [&wires[1], &wires[0]])];
    let through =
        |(host, wires), expected| exchange(&corpora[usize::from(host)], wires, host, expected);
    let kernels = directions.map(|direction| through(direction, None));
    assert!(kernels[0].len() > 550, "the kernel forwards {} frames", kernels[0].len());
    for (engine, ways) in [("folio", 2), ("spider", 1), ("poptrie", 1), ("dxr", 2)] {
        let forwarder = Forwarder::start(&net, &["-e", engine]);
        for (direction, kernels) in directions.into_iter().zip(&kernels).take(ways) {
            let arrived = through(direction, Some(kernels.len()));
            compare(&arrived, kernels, &format!("{engine}, to host {}", direction.0));
        }
        let counts = forwarder.end();
        // The program leaves 18 protocols of IPv4 and IPv6 to the kernel: their checksums may be partial.
        let [forwarded, kernel] = ["forwarded", "kernel"].map(|key| count(&counts, key));
        let all: usize = kernels.iter().take(ways).map(Vec::len).sum();
        assert_eq!(forwarded + kernel + 18 * ways, all, "{counts}");
        // Few others have passed through the kernel: packets with options.
        assert!((3 * ways..20 * ways).contains(&kernel), "{counts}");
    }
}
