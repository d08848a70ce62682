//! The decoder: messages made by hand, cut off, mutated, and read by another decoder.

use netlink_packet_core::Parseable;
use netlink_packet_route::address::AddressMessage;
use netlink_packet_route::neighbour::{NeighbourAddress, NeighbourAttribute, NeighbourMessage};
use netlink_packet_route::route::{RouteAddress, RouteAttribute, RouteMessage};

use super::super::decode::{Decoded, End, decode};
use super::super::event::*;
use super::*;

/// A message of netlink.
fn message(kind: u16, flags: u16, body: &[&[u8]]) -> Vec<u8> {
    let body = body.concat();
    let mut bytes = (16 + body.len() as u32).to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    bytes.extend(7u32.to_ne_bytes());
    bytes.extend(0u32.to_ne_bytes());
    bytes.extend(body);
    bytes
}

/// An attribute with its padding.
fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = (4 + value.len() as u16).to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn number(kind: u16, value: u32) -> Vec<u8> {
    attribute(kind, &value.to_ne_bytes())
}

fn only(bytes: &[u8]) -> Event {
    let Decoded { mut events, messages, malformed, .. } = decode(bytes, None);
    assert_eq!((events.len(), messages, malformed), (1, 1, 0));
    events.remove(0)
}

const INET: u8 = 2;
const INET6: u8 = 10;

/// 10.1.0.0/16 by 10.0.0.9 on interface 3, metric 20, in the main table.
fn ipv4_route(flags: u16) -> Vec<u8> {
    let header = [INET, 16, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0];
    let (dst, gateway) = (attribute(1, &[10, 1, 0, 0]), attribute(5, &[10, 0, 0, 9]));
    message(24, flags, &[&header, &number(15, 254), &dst, &number(6, 20), &gateway, &number(4, 3)])
}

/// One next hop of a route with several.
fn hop(flags: u8, weight: u8, interface: u32, attributes: &[u8]) -> Vec<u8> {
    let mut bytes = (8 + attributes.len() as u16).to_ne_bytes().to_vec();
    bytes.extend([flags, weight - 1]);
    bytes.extend(interface.to_ne_bytes());
    bytes.extend(attributes);
    bytes
}

fn multipath_route() -> Vec<u8> {
    let header = [INET, 0, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0];
    let inet6 = [&[10, 0][..], &[0xfe, 0x80], &[0; 13], &[1]].concat();
    let hops = [
        hop(0, 3, 1, &attribute(5, &[10, 0, 0, 9])),
        hop(1, 1, 2, &attribute(18, &inet6)),
        hop(0, 1, 4, &[attribute(21, &[1, 0]), attribute(22, &[])].concat()),
    ];
    message(24, 0x400, &[&header, &attribute(9, &hops.concat())])
}

fn next_hop_group() -> Vec<u8> {
    let member = |id: u32, weight: u16| {
        let [low, high] = (weight - 1).to_le_bytes();
        [&id.to_ne_bytes()[..], &[low, high, 0, 0]].concat()
    };
    let members = [member(1, 1), member(2, 300)].concat();
    let kind = attribute(3, &[0, 0]);
    message(104, 0, &[&[0, 0, 3, 0, 0, 0, 0, 0], &number(1, 10), &attribute(2, &members), &kind])
}

fn next_hop_single() -> Vec<u8> {
    let gateway = attribute(6, &[&[0xfe, 0x80][..], &[0; 13], &[9]].concat());
    message(104, 0, &[&[INET6, 0, 3, 0, 0, 0, 0, 0], &number(1, 6), &gateway, &number(5, 2)])
}

fn neighbour(state: u16) -> Vec<u8> {
    let [a, b] = state.to_ne_bytes();
    let header = [INET, 0, 0, 0, 3, 0, 0, 0, a, b, 0, 1];
    message(28, 0, &[&header, &attribute(1, &[10, 0, 0, 9]), &attribute(2, &mac(9).0)])
}

fn link() -> Vec<u8> {
    let header = [&[0, 0, 1, 0][..], &7u32.to_ne_bytes(), &0x1_0043u32.to_ne_bytes(), &[0; 4]];
    let (name, mac) = (attribute(3, b"eth0\0"), attribute(1, &mac(1).0));
    message(16, 0, &[&header.concat(), &name, &number(4, 9000), &mac])
}

fn address() -> Vec<u8> {
    let header = [INET, 24, 0, 0, 7, 0, 0, 0];
    message(20, 0, &[&header, &attribute(1, &[10, 0, 0, 2]), &attribute(2, &[10, 0, 0, 1])])
}

fn samples() -> Vec<Vec<u8>> {
    vec![
        ipv4_route(0x600),
        multipath_route(),
        next_hop_group(),
        next_hop_single(),
        neighbour(2),
        link(),
        address(),
        message(3, 2, &[&[0; 4]]),
    ]
}

#[test]
fn routes() {
    let expected = Route { metric: 20, protocol: 3, ..route("10.1.0.0/16", &[via("10.0.0.9", 3)]) };
    let placings = [
        (0x600, Placing::Only),
        (0x400, Placing::First),
        (0xc00, Placing::Last),
        (0x100, Placing::Replace),
    ];
    for (flags, placing) in placings {
        assert_eq!(only(&ipv4_route(flags)), Event::Route(expected.clone(), placing));
    }
    let mut gone = ipv4_route(0);
    gone[4] = 25;
    assert_eq!(only(&gone), Event::RouteGone(expected));
}

#[test]
fn routes_with_several_hops() {
    let hops = [
        RouteHop { weight: 3, ..via("10.0.0.9", 1) },
        RouteHop { dead: true, ..via("fe80::1", 2) },
        RouteHop { tunnel: true, ..dev(4) },
    ];
    let expected = Route { protocol: 3, ..route("0.0.0.0/0", &hops) };
    assert_eq!(only(&multipath_route()), Event::Route(expected, Placing::First));
}

#[test]
fn routes_that_only_the_kernel_can_serve() {
    let header = [INET6, 0, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0];
    let special = |attribute: &[u8]| {
        let Event::Route(route, _) = only(&message(24, 0, &[&header, &number(4, 3), attribute]))
        else {
            panic!("not a route")
        };
        route.path.special
    };
    assert!(!special(&[]));
    // Metrics: an MTU changes which packets are forwarded, a window does not.
    assert!(special(&attribute(8, &number(2, 1400))));
    assert!(!special(&attribute(8, &number(3, 1400))));
    // Attributes that are cut off, or of a length that no address has.
    assert!(special(&[9, 0, 5, 0]));
    assert!(special(&attribute(5, &[1, 2, 3])));
    assert!(special(&attribute(9, &[4, 0, 0, 0])));
}

#[test]
fn what_is_of_no_interest_is_left_out() {
    let none = |bytes: &[u8]| assert_eq!(decode(bytes, None).events, []);
    // A copy of a route.
    let mut cloned = ipv4_route(0);
    cloned[16 + 9] = 2;
    none(&cloned);
    // An MPLS route.
    let mut mpls = ipv4_route(0);
    mpls[16] = 28;
    none(&mpls);
    // An entry of a bridge's forwarding table, and a message about the port of a bridge.
    let mut bridge = neighbour(2);
    bridge[16] = 7;
    none(&bridge);
    let mut bridge = link();
    bridge[16] = 7;
    none(&bridge);
    // An address for which this machine answers.
    let mut proxy = neighbour(2);
    proxy[16 + 10] = 8;
    none(&proxy);
    none(&message(32, 0, &[&[0; 12]]));
    none(&message(1, 0, &[]));
    // An answer to an earlier request.
    assert_eq!(decode(&link(), Some(8)), Decoded::default());
    assert_eq!(decode(&link(), Some(7)).events.len(), 1);
}

#[test]
fn next_hops() {
    let group = NextHopKind::Group(vec![(1, 1), (2, 300)]);
    assert_eq!(only(&next_hop_group()), Event::NextHop(NextHop { id: 10, kind: group }));
    let hop = NextHopKind::Hop(via("fe80::9", 2));
    assert_eq!(only(&next_hop_single()), Event::NextHop(NextHop { id: 6, kind: hop }));
    let blackhole = message(104, 0, &[&[0; 8], &number(1, 3), &attribute(4, &[])]);
    let expected = NextHop { id: 3, kind: NextHopKind::Blackhole };
    assert_eq!(only(&blackhole), Event::NextHop(expected));
    let bridge = message(104, 0, &[&[0; 8], &number(1, 4), &attribute(11, &[])]);
    let expected = NextHop { id: 4, kind: NextHopKind::Special };
    assert_eq!(only(&bridge), Event::NextHop(expected));
    assert_eq!(only(&message(105, 0, &[&[0; 8], &number(1, 3)])), Event::NextHopGone(3));
    // Without an id.
    assert_eq!(decode(&message(104, 0, &[&[0; 8]]), None).malformed, 1);
}

#[test]
fn neighbours_links_and_addresses() {
    let key = key("10.0.0.9", 3);
    for state in [0x02, 0x04, 0x08, 0x10, 0x40, 0x80] {
        let address = LinkAddress { mac: mac(9), is_stale: state == 0x04 };
        assert_eq!(only(&neighbour(state)), Event::Neighbour(key, address));
    }
    // None, incomplete, failed.
    for state in [0, 0x01, 0x20] {
        assert_eq!(only(&neighbour(state)), Event::NeighbourGone(key));
    }
    let (name, mac, flags) = ("eth0".to_string(), Some(mac(1)), 0x1_0043);
    let expected = Link { index: 7, name, hardware: 1, flags, mac, mtu: 9000 };
    assert!(expected.is_up());
    assert_eq!(only(&link()), Event::Link(expected));
    let expected = Address { addr: addr("10.0.0.1"), len: 24, interface: 7 };
    assert_eq!(only(&address()), Event::Address(expected));
}

#[test]
fn ends_of_dumps() {
    let end = |bytes: &[u8]| decode(bytes, None).end;
    assert_eq!(end(&message(3, 2, &[&[0; 4]])), Some(End::Done));
    assert_eq!(end(&message(3, 2, &[])), Some(End::Done));
    assert_eq!(end(&message(2, 0, &[&(-95i32).to_ne_bytes()])), Some(End::Failed(95)));
    assert_eq!(end(&message(2, 0, &[&i32::MIN.to_ne_bytes()])), Some(End::Failed(i32::MAX)));
    assert!(decode(&message(3, 0x12, &[&[0; 4]]), None).interrupted);
    assert!(decode(&message(4, 0, &[]), None).overrun);
    let all = samples().concat();
    let decoded = decode(&all, None);
    assert_eq!((decoded.messages, decoded.events.len(), decoded.malformed), (8, 7, 0));
}

#[test]
fn truncations_are_harmless() {
    for sample in samples() {
        for len in 0..sample.len() {
            let mut cut = sample[..len].to_vec();
            let decoded = decode(&cut, None);
            assert_eq!(decoded.malformed, usize::from(len > 0));
            assert_eq!(decoded.events, []);
            // With a length that says so.
            if let Some(length) = cut.first_chunk_mut() {
                *length = (len as u32).to_ne_bytes();
                decode(&cut, None);
            }
        }
    }
}

#[test]
fn mutations_are_harmless() {
    let (samples, mut random) = (samples(), Random(1));
    for _ in 0..100_000 {
        let mut bytes = random.one_of(&samples);
        bytes.extend(random.one_of(&samples));
        for _ in 0..1 + random.below(8) {
            let place = random.below(bytes.len());
            let any = random.next() as u8;
            bytes[place] = random.one_of(&[0, 1, 4, 8, 0x7f, 0x80, 0xff, any]);
        }
        let decoded = decode(&bytes, None);
        // The state takes every event.
        let mut state = super::super::KernelState::new(&ports());
        decoded.events.into_iter().for_each(|event| state.apply(event));
        for prefix in state.take_dirty() {
            state.target(prefix);
        }
    }
}

/// The decoder of the crate `netlink-packet-route` finds the same values.
#[test]
fn another_decoder_agrees() {
    let body = ipv4_route(0)[16..].to_vec();
    let theirs = RouteMessage::parse(&body[..]).unwrap();
    let expected = [
        RouteAttribute::Table(254),
        RouteAttribute::Destination(RouteAddress::Inet([10, 1, 0, 0].into())),
        RouteAttribute::Priority(20),
        RouteAttribute::Gateway(RouteAddress::Inet([10, 0, 0, 9].into())),
        RouteAttribute::Oif(3),
    ];
    assert_eq!(theirs.attributes, expected);
    let theirs = RouteMessage::parse(&multipath_route()[16..]).unwrap();
    let [RouteAttribute::MultiPath(hops)] = &theirs.attributes[..] else { panic!("{theirs:?}") };
    let Event::Route(ours, _) = only(&multipath_route()) else { panic!("not a route") };
    assert_eq!(hops.len(), ours.path.hops.len());
    for (theirs, ours) in hops.iter().zip(&ours.path.hops) {
        assert_eq!(theirs.interface_index, ours.interface);
        assert_eq!(u32::from(theirs.hops) + 1, ours.weight);
    }
    let theirs = NeighbourMessage::parse(&neighbour(2)[16..]).unwrap();
    let expected = [
        NeighbourAttribute::Destination(NeighbourAddress::Inet([10, 0, 0, 9].into())),
        NeighbourAttribute::LinkLayerAddress(mac(9).0.to_vec()),
    ];
    assert_eq!((theirs.header.ifindex, &theirs.attributes[..]), (3, &expected[..]));
    let theirs = AddressMessage::parse(&address()[16..]).unwrap();
    assert_eq!((theirs.header.index, theirs.header.prefix_len), (7, 24));
}
