//! The kernel's answers to packets that the router does not forward, and the far host's to those
//! that it does: what `ping` and `traceroute` see.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::child::Forwarder;
use super::net::{HOSTS, Net, ROUTER};
use super::wire::Wire;
use crate::frames::{DONT_FRAGMENT, ICMP, ICMPV6, Ipv4, Ipv6, checksum, ethernet, icmp, udp};

/// The MTU of the link to host B.
const MTU: u16 = 1400;

/// A frame of host A, and the answer that it must have.
struct Question {
    frame: Vec<u8>,
    from: IpAddr,
    /// Type and code of ICMP.
    answer: [u8; 2],
    /// The last four bytes of the message's header: an MTU, or the number of an echo.
    rest: Option<u32>,
}

/// Packets of host A to an address, IPv4 or IPv6.
enum To {
    V4(Ipv4),
    V6(Ipv6),
}

impl To {
    fn new(address: &str) -> Self {
        match address.parse().unwrap() {
            IpAddr::V4(to) => Self::V4(Ipv4::new(Ipv4Addr::new(10, 0, 1, 2), to)),
            IpAddr::V6(to) => Self::V6(Ipv6::new("2001:db8:1::2".parse().unwrap(), to)),
        }
    }

    fn ttl(mut self, ttl: u8) -> Self {
        match &mut self {
            Self::V4(header) => header.ttl = ttl,
            Self::V6(header) => header.hop_limit = ttl,
        }
        self
    }

    fn whole(mut self) -> Self {
        if let Self::V4(header) = &mut self {
            header.fragment = DONT_FRAGMENT;
        }
        self
    }

    fn frame(kind: u16, packet: &[u8]) -> Vec<u8> {
        ethernet(ROUTER[0], HOSTS[0], kind, packet)
    }

    /// A datagram to a port where nobody listens, as `traceroute` sends it; `len` bytes of payload.
    fn datagram(&self, len: usize) -> Vec<u8> {
        let datagram = udp([40_000, 33_434], &vec![b'x'; len]);
        match self {
            Self::V4(header) => Self::frame(0x0800, &header.checked(&datagram, 6)),
            Self::V6(header) => Self::frame(0x86dd, &header.checked(&datagram, 6)),
        }
    }

    fn echo(self, number: u32) -> Vec<u8> {
        match self {
            Self::V4(mut header) => {
                header.protocol = ICMP;
                let message = icmp(8, 0, number.to_be_bytes(), b"a payload");
                Self::frame(0x0800, &header.packet(&message))
            }
            Self::V6(mut header) => {
                header.next = ICMPV6;
                let message = icmp(128, 0, number.to_be_bytes(), b"a payload");
                Self::frame(0x86dd, &header.checked(&message, 2))
            }
        }
    }
}

/// The questions; a third of them reach host B.
fn questions() -> Vec<Question> {
    let mut questions = Vec::new();
    let mut ask = |frame, from: &str, answer, rest| {
        questions.push(Question { frame, from: from.parse().unwrap(), answer, rest });
    };
    let too_big = Some(u32::from(MTU));
    let (router, far) = ("10.0.1.1", "10.0.2.2");
    ask(To::new(far).ttl(1).datagram(9), router, [11, 0], None);
    ask(To::new(far).ttl(2).datagram(9), far, [3, 3], None);
    ask(To::new(far).ttl(3).datagram(9), far, [3, 3], None);
    ask(To::new("203.0.113.9").datagram(9), router, [3, 0], None);
    ask(To::new("10.99.0.1").datagram(9), router, [3, 1], None);
    // The kernel gives each host only five answers about routes within a few seconds.
    let other = Ipv4::new(Ipv4Addr::new(10, 0, 1, 3), Ipv4Addr::new(10, 98, 0, 1));
    ask(To::V4(other).datagram(9), router, [3, 13], None);
    ask(To::new(far).whole().datagram(1373), router, [3, 4], too_big);
    ask(To::new(far).whole().datagram(1372), far, [3, 3], None);
    // The kernel fragments it, and the host puts it together again.
    ask(To::new(far).datagram(1472), far, [3, 3], None);
    for (address, number) in [(router, 1), ("10.0.2.1", 2), (far, 3)] {
        ask(To::new(address).echo(number), address, [0, 0], Some(number));
    }
    ask(To::new(router).ttl(1).echo(4), router, [0, 0], Some(4));
    let (router, far) = ("2001:db8:1::1", "2001:db8:2::2");
    ask(To::new(far).ttl(1).datagram(9), router, [3, 0], None);
    ask(To::new(far).ttl(2).datagram(9), far, [1, 4], None);
    ask(To::new(far).ttl(3).datagram(9), far, [1, 4], None);
    ask(To::new("2001:db8:ff::9").datagram(9), router, [1, 0], None);
    ask(To::new("2001:db8:99::1").datagram(9), router, [1, 0], None);
    ask(To::new("2001:db8:98::1").datagram(9), router, [1, 1], None);
    ask(To::new(far).datagram(1353), router, [2, 0], too_big);
    ask(To::new(far).datagram(1352), far, [1, 4], None);
    for (address, number) in [(router, 5), ("2001:db8:2::1", 6), (far, 7)] {
        ask(To::new(address).echo(number), address, [129, 0], Some(number));
    }
    ask(To::new(router).ttl(1).echo(8), router, [129, 0], Some(8));
    questions
}

/// An ICMP message in a frame: its source, type and code, the rest of its header, and its packet
/// without what differs each time.
fn message(frame: &[u8]) -> Option<(IpAddr, [u8; 2], u32, Vec<u8>)> {
    let mut packet = frame.get(14..)?.to_vec();
    let (source, start) = match (&frame[12..14], packet.first()? >> 4) {
        ([0x08, 0x00], 4) if packet[9] == ICMP => {
            assert_eq!(checksum(&packet[..20]), 0, "the checksum of {packet:02x?}");
            // The number of the packet, and the checksum with it.
            packet[4..6].fill(0);
            packet[10..12].fill(0);
            (Ipv4Addr::from(<[u8; 4]>::try_from(&packet[12..16]).unwrap()).into(), 20)
        }
        ([0x86, 0xdd], 6) if packet[6] == ICMPV6 => {
            // The flow label.
            packet[1..4].fill(0);
            (Ipv6Addr::from(<[u8; 16]>::try_from(&packet[8..24]).unwrap()).into(), 40)
        }
        _ => return None,
    };
    let header = packet.get(start..start + 8)?;
    let rest = u32::from_be_bytes(header[4..].try_into().unwrap());
    Some((source, [header[0], header[1]], rest, packet.clone()))
}

/// Asks a question, and returns the packet of the only answer.
fn ask(wire: &Wire, question: &Question) -> Vec<u8> {
    while wire.receive().is_some() {}
    wire.send(&question.frame);
    let Question { from, answer, rest, frame } = question;
    let fits = |frame: &[u8]| {
        message(frame).is_some_and(|(source, found, last, _)| {
            source == *from && found == *answer && rest.is_none_or(|rest| rest == last)
        })
    };
    let answered = wire.find(fits);
    let answered = answered.unwrap_or_else(|| panic!("no {answer:?} from {from} to {frame:02x?}"));
    assert_eq!(answered[..12], [HOSTS[0], ROUTER[0]].concat());
    sleep(Duration::from_millis(10));
    assert!(wire.receive().is_none_or(|frame| !fits(&frame)), "{answer:?} from {from} twice");
    message(&answered).unwrap().3
}

/// Waits until the hosts and the router know each other's Ethernet addresses.
fn meet(net: &Net, wire: &Wire) {
    let end = Instant::now() + Duration::from_secs(5);
    for address in ["10.0.2.2", "2001:db8:2::2"] {
        let frame = To::new(address).echo(0);
        let known = || {
            wire.send(&frame);
            wire.find(|frame| message(frame).is_some_and(|it| matches!(it.1, [0 | 129, 0])))
                .is_some()
        };
        while !known() {
            assert!(Instant::now() < end, "no way to {address}: {}", net.router.ip("neigh"));
        }
    }
}

#[test]
fn expired_unroutable_and_large_packets_are_answered() {
    let Some(net) = Net::new("expired_unroutable_and_large_packets_are_answered") else { return };
    net.router.ip(&format!("link set rb mtu {MTU}"));
    for (kind, number) in [("unreachable", 99), ("prohibit", 98)] {
        net.router.ip(&format!("route add {kind} 10.{number}.0.0/16"));
        net.router.ip(&format!("-6 route add {kind} 2001:db8:{number}::/48"));
    }
    net.a.ip("addr add 10.0.1.3/24 dev ea");
    let wire = net.a.wire("ea");
    meet(&net, &wire);
    let questions = questions();
    let kernels: Vec<_> = questions.iter().map(|question| ask(&wire, question)).collect();
    let forwarder = Forwarder::start(&net, &[]);
    // The router asks for the addresses anew, by the kernel.
    for name in ["ra", "rb"] {
        net.router.ip(&format!("neigh flush dev {name}"));
    }
    meet(&net, &wire);
    for (question, expected) in questions.iter().zip(&kernels) {
        let answer = ask(&wire, question);
        assert_eq!(answer, *expected, "the answer to {:02x?}", question.frame);
    }
    let counts = forwarder.end();
    for (cause, least) in [
        ("ttl_expired", 2),
        ("no_route", 2),
        ("kernel_route", 4),
        ("too_big", 3),
        ("unresolved", 1),
    ] {
        assert!(counts["kernel_by_cause"][cause].as_u64() >= Some(least), "{cause}: {counts}");
    }
    assert_eq!(counts["dropped"], 0, "{counts}");
}
