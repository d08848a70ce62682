//! A slow forwarder to compare with, and frames to try. It shares no code with the crate's.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use longmatch::{EngineKind, IpPrefix, Table, TableWriter};
use longmatch_forward::io::pcap::{CaptureIo, Captured, Frames};
use longmatch_forward::{
    Forwarder, Group, Hop, Mac, Neighbour, PacketCounts, Port, PortId, Target,
};

/// The address of each port.
pub fn mac(port: u8) -> Mac {
    Mac([2, 0, 0, 0, 0, port])
}

/// The address of each neighbour.
pub fn neighbour(port: u8) -> Mac {
    Mac([2, 0, 0, 0, 1, port])
}

/// The two ports' MTUs.
pub const MTU: [u32; 2] = [1500, 100];

/// A route of the reference table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum To {
    /// By this port, to its neighbour.
    Port(u8),
    Kernel,
    Nowhere,
}

/// The routes: by each port, to the kernel for each reason, and to nowhere. No default route.
pub const ROUTES: [(&str, To); 14] = [
    ("10.0.0.0/8", To::Port(0)),
    ("10.1.0.0/16", To::Port(1)),
    ("10.1.2.0/24", To::Kernel),
    ("10.1.2.3/32", To::Port(1)),
    ("10.2.0.0/16", To::Nowhere),
    ("128.0.0.0/1", To::Port(1)),
    ("0.0.0.0/8", To::Port(0)),
    ("2001:db8::/32", To::Port(0)),
    ("2001:db8:1::/48", To::Port(1)),
    ("2001:db8:1:2::/64", To::Kernel),
    ("2001:db8:2::/48", To::Nowhere),
    ("::ffff:0:0/96", To::Port(1)),
    ("::/8", To::Port(0)),
    ("8000::/1", To::Port(0)),
];

/// The ports of the reference table.
pub fn ports() -> Vec<Arc<Port>> {
    let port =
        |id: u8| Port::new(PortId(id.into()), format!("p{id}"), 0, mac(id), MTU[usize::from(id)]);
    (0..2).map(|id| Arc::new(port(id))).collect()
}

/// The reference table.
pub fn table(ports: &[Arc<Port>], engine: EngineKind) -> TableWriter<Target> {
    let hop = |id: u8| {
        let neighbour = Arc::new(Neighbour::new(Some(neighbour(id))));
        Hop { port: ports[usize::from(id)].clone(), neighbour, weight: 1 }
    };
    let group = |id| Target::Group(Arc::new(Group::new(vec![hop(id)]).unwrap()));
    let groups = [group(0), group(1)];
    let mut kernel = [Target::Kernel, Target::OnLink, Target::Local].into_iter().cycle();
    let mut table = Table::new().keep_mapped();
    for (prefix, to) in ROUTES {
        let target = match to {
            To::Port(id) => groups[usize::from(id)].clone(),
            To::Kernel => kernel.next().unwrap(),
            To::Nowhere => Target::Blackhole,
        };
        table.insert(prefix.parse::<IpPrefix>().unwrap(), target).unwrap();
    }
    table.live(engine).unwrap()
}

/// What becomes of a frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fate {
    Sent(u8, Vec<u8>),
    Kernel,
    Dropped,
}

/// The fate of a frame that port 0 receives.
pub fn expected(frame: &[u8]) -> Fate {
    if frame.len() < 14 {
        return Fate::Dropped;
    }
    let kind = u16::from_be_bytes([frame[12], frame[13]]);
    if kind != 0x0800 && kind != 0x86dd || frame[0] % 2 == 1 {
        return Fate::Kernel;
    }
    if frame[..6] != mac(0).0 {
        return Fate::Dropped;
    }
    match kind {
        0x0800 => expected_ipv4(frame),
        _ => expected_ipv6(frame),
    }
}

fn expected_ipv4(frame: &[u8]) -> Fate {
    let packet = &frame[14..];
    if packet.len() < 20 || packet[0] >> 4 != 4 {
        return Fate::Dropped;
    }
    let header = usize::from(packet[0] % 16) * 4;
    let total = usize::from(packet[2]) * 256 + usize::from(packet[3]);
    if header < 20
        || header > total
        || total > packet.len()
        || !checksum_is_right(&packet[..header])
    {
        return Fate::Dropped;
    }
    let address =
        |at: usize| Ipv4Addr::new(packet[at], packet[at + 1], packet[at + 2], packet[at + 3]);
    let (source, destination) = (address(12), address(16));
    if source.is_multicast() || source.is_broadcast() {
        return Fate::Dropped;
    }
    if destination.is_broadcast() || destination.is_multicast() {
        return Fate::Kernel;
    }
    if source.is_unspecified() && destination.is_unspecified() {
        return Fate::Kernel;
    }
    let martian = |it: Ipv4Addr| it.is_unspecified() || it.is_loopback();
    if martian(source) || martian(destination) {
        return Fate::Dropped;
    }
    if header > 20 || packet[8] < 2 {
        return Fate::Kernel;
    }
    routed(frame, destination.into(), total, |packet| {
        packet[8] -= 1;
        packet[10..12].fill(0);
        let sum = !sum(&packet[..20]);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
    })
}

fn expected_ipv6(frame: &[u8]) -> Fate {
    let packet = &frame[14..];
    if packet.len() < 40 || packet[0] / 16 != 6 {
        return Fate::Dropped;
    }
    let total = 40 + usize::from(packet[4]) * 256 + usize::from(packet[5]);
    if total > packet.len() {
        return Fate::Dropped;
    }
    let address = |at: usize| Ipv6Addr::from(<[u8; 16]>::try_from(&packet[at..at + 16]).unwrap());
    let (source, destination) = (address(8), address(24));
    if source.is_multicast() || source.is_loopback() {
        return Fate::Dropped;
    }
    if destination.is_multicast() {
        return Fate::Kernel;
    }
    if source.is_unspecified() || destination.is_unspecified() || destination.is_loopback() {
        return Fate::Dropped;
    }
    let link_local = |it: Ipv6Addr| it.segments()[0] & 0xffc0 == 0xfe80;
    if link_local(source) || link_local(destination) || packet[6] == 0 || packet[7] < 2 {
        return Fate::Kernel;
    }
    routed(frame, destination.into(), total, |packet| packet[7] -= 1)
}

/// The longest route, by comparison with each.
fn route(address: IpAddr) -> Option<To> {
    let prefixes = ROUTES.iter().map(|(prefix, to)| (prefix.parse::<IpPrefix>().unwrap(), *to));
    let covers =
        |it: &(IpPrefix, To)| it.0.addr().is_ipv4() == address.is_ipv4() && it.0.contains(address);
    prefixes.filter(covers).max_by_key(|(prefix, _)| prefix.len()).map(|(_, to)| to)
}

fn routed(frame: &[u8], destination: IpAddr, total: usize, lower: impl Fn(&mut [u8])) -> Fate {
    let port = match route(destination) {
        None | Some(To::Kernel) => return Fate::Kernel,
        Some(To::Nowhere) => return Fate::Dropped,
        Some(To::Port(port)) => port,
    };
    if total > MTU[usize::from(port)] as usize {
        return Fate::Kernel;
    }
    let mut sent = frame[..14 + total].to_vec();
    sent[..6].copy_from_slice(&neighbour(port).0);
    sent[6..12].copy_from_slice(&mac(port).0);
    lower(&mut sent[14..]);
    Fate::Sent(port, sent)
}

/// The one's complement sum of the words.
fn sum(words: &[u8]) -> u16 {
    let mut sum = 0_u16;
    for word in words.chunks(2) {
        let (added, carry) = sum.overflowing_add(u16::from_be_bytes([word[0], word[1]]));
        sum = added + u16::from(carry);
    }
    sum
}

fn checksum_is_right(header: &[u8]) -> bool {
    sum(header) == 0xffff
}

/// Sets the checksum of an IPv4 header without options.
pub fn set_checksum(packet: &mut [u8]) {
    packet[10..12].fill(0);
    let sum = !sum(&packet[..20]);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
}

fn ethernet(kind: u16, packet: &[u8]) -> Vec<u8> {
    [&mac(0).0[..], &[2, 0, 0, 0, 9, 9], &kind.to_be_bytes(), packet].concat()
}

/// A UDP packet to an IPv4 destination, with this many bytes of payload.
pub fn udp4(destination: [u8; 4], payload: usize) -> Vec<u8> {
    let total = (28 + payload) as u16;
    let mut packet = vec![0x45, 0, 0, 0, 0x12, 0x34, 0, 0, 64, 17, 0, 0, 198, 51, 100, 1];
    packet[2..4].copy_from_slice(&total.to_be_bytes());
    packet.extend(destination);
    packet.extend([0x04, 0x00, 0x00, 0x35, 0, 8 + payload as u8, 0, 0]);
    packet.resize(total.into(), 7);
    set_checksum(&mut packet);
    ethernet(0x0800, &packet)
}

/// A UDP packet to an IPv6 destination, with this many bytes of payload.
pub fn udp6(destination: &str, payload: usize) -> Vec<u8> {
    let length = (8 + payload) as u16;
    let mut packet = vec![0x60, 1, 2, 3, 0, 0, 17, 64];
    packet[4..6].copy_from_slice(&length.to_be_bytes());
    packet.extend("2001:db8:9::1".parse::<Ipv6Addr>().unwrap().octets());
    packet.extend(destination.parse::<Ipv6Addr>().unwrap().octets());
    packet.extend([0x04, 0x00, 0x00, 0x35, 0, 8 + payload as u8, 0, 0]);
    packet.resize(48 + payload, 7);
    ethernet(0x86dd, &packet)
}

/// Destinations of every kind.
const IPV4: [[u8; 4]; 13] = [
    [10, 5, 5, 5],
    [10, 1, 1, 1],
    [10, 1, 2, 9],
    [10, 1, 2, 3],
    [10, 2, 0, 1],
    [192, 0, 2, 1],
    [0, 0, 0, 5],
    [240, 0, 0, 1],
    [255; 4],
    [224, 0, 0, 5],
    [127, 0, 0, 1],
    [0; 4],
    [99, 0, 0, 1],
];
const IPV6: [&str; 12] = [
    "2001:db8::1",
    "2001:db8:1::1",
    "2001:db8:1:2::1",
    "2001:db8:2::1",
    "ff02::1",
    "fe80::1",
    "::1",
    "::",
    "::ffff:192.0.2.1",
    "::5",
    "9000::1",
    "3fff::1",
];

/// Frames of every kind that the forwarder distinguishes.
pub fn corpus() -> Vec<Vec<u8>> {
    let mut frames =
        vec![ethernet(0x0806, &[0, 1, 8, 0, 6, 4, 0, 1]), ethernet(0x8100, &[0, 7, 8, 0])];
    for destination in IPV4 {
        frames.push(udp4(destination, 20));
        frames.push(udp4(destination, 200));
    }
    for destination in IPV6 {
        frames.push(udp6(destination, 20));
        frames.push(udp6(destination, 200));
    }
    let with = |change: fn(&mut Vec<u8>)| {
        let mut frame = udp4([10, 5, 5, 5], 20);
        change(&mut frame);
        set_checksum(&mut frame[14..]);
        frame
    };
    frames.extend([
        with(|it| it[22] = 1),
        with(|it| it[22] = 0),
        with(|it| it[20] = 0x20),
        with(|it| it[26..30].copy_from_slice(&[127, 0, 0, 1])),
        with(|it| it[26..30].fill(0)),
        with(|it| it[26..30].fill(255)),
        with(|it| it[14] = 0x4f),
        with(|it| it.extend([0; 6])),
        with(|it| it.truncate(50)),
    ]);
    // With options, which the checksum covers.
    let mut options = udp4([10, 5, 5, 5], 20);
    options[14] = 0x46;
    options[24..26].fill(0);
    let checksum = !sum(&options[14..38]);
    options[24..26].copy_from_slice(&checksum.to_be_bytes());
    frames.push(options);
    let mut hop_limit = udp6("2001:db8::1", 20);
    hop_limit[21] = 1;
    let mut hop_by_hop = udp6("2001:db8::1", 20);
    hop_by_hop[20] = 0;
    frames.extend([hop_limit, hop_by_hop]);
    frames
}

/// Forwards frames that port 0 receives; returns the counts and the frames that each port sent.
pub fn forward(
    frames: Vec<Vec<u8>>,
    table: &TableWriter<Target>,
    ports: &[Arc<Port>],
    batch: usize,
) -> (PacketCounts, Vec<Vec<u8>>) {
    let captured = |bytes| Ok::<_, io::Error>(Captured { time: Duration::ZERO, bytes });
    let input: Frames = Box::new(frames.into_iter().map(captured));
    let inputs = vec![input, Box::new(std::iter::empty())];
    let mut io = CaptureIo::new(inputs, vec![Vec::new(), Vec::new()], None).unwrap();
    let mut reader = table.reader();
    let mut forwarder = Forwarder::new(&mut reader, ports, batch);
    while forwarder.forward(&mut io).unwrap() > 0 {}
    (forwarder.tally().clone(), io.finish().unwrap())
}

/// The frames of a capture.
pub fn frames_of(capture: &[u8]) -> Vec<Vec<u8>> {
    let mut rest = &capture[24..];
    let mut frames = Vec::new();
    while !rest.is_empty() {
        let len = u32::from_le_bytes(rest[8..12].try_into().unwrap()) as usize;
        frames.push(rest[16..16 + len].to_vec());
        rest = &rest[16 + len..];
    }
    frames
}

/// Forwards frames, and compares all that is sent and counted with the reference.
pub fn compare(frames: &[Vec<u8>], table: &TableWriter<Target>, ports: &[Arc<Port>], batch: usize) {
    use longmatch_forward::Disposition;
    let fates: Vec<_> = frames.iter().map(|frame| expected(frame)).collect();
    let count = |fate: &dyn Fn(&Fate) -> bool| fates.iter().filter(|it| fate(it)).count() as u64;
    let (tally, sent) = forward(frames.to_vec(), table, ports, batch);
    for (port, capture) in (0..).zip(&sent) {
        let of_port = |fate: &Fate| match fate {
            Fate::Sent(to, bytes) if *to == port => Some(bytes.clone()),
            _ => None,
        };
        let expected: Vec<_> = fates.iter().filter_map(of_port).collect();
        assert_eq!(frames_of(capture), expected, "port {port}");
    }
    assert_eq!(tally.received, frames.len() as u64);
    assert_eq!(tally.with(Disposition::Kernel), count(&|fate| *fate == Fate::Kernel));
    assert_eq!(tally.with(Disposition::Dropped), count(&|fate| *fate == Fate::Dropped));
}
