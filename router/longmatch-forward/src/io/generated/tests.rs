use super::*;
use crate::io::Null;
use crate::packet::{Parsed, parse};
use crate::target::PortId;

/// The ones' complement sum byte by byte with the carry at once, unlike `checksum`; 0xffff if a
/// block that contains its checksum is right.
fn sum(bytes: &[u8]) -> u16 {
    bytes.iter().enumerate().fold(0, |sum: u16, (place, &byte)| {
        let word = if place % 2 == 0 { u16::from(byte) << 8 } else { byte.into() };
        let (sum, carry) = sum.overflowing_add(word);
        sum + u16::from(carry)
    })
}

/// Addresses with all kinds of carries.
fn words() -> impl Iterator<Item = u32> {
    let steps = (0..2000_u32).map(|i| i.wrapping_mul(0x9e37_79b9));
    [0, u32::MAX, 0xffff, 0xffff_0000, 0x0001_0000].into_iter().chain(steps)
}

fn all_frames(frames: GeneratedFrames, ports: u16, frame_len: u16) -> Vec<(u16, Vec<u8>)> {
    let count = frames.destinations();
    let mut io = Generated::new(Null::new(ports, frame_len), frames);
    let mut all = Vec::new();
    while all.len() < count {
        let batch = io.receive(32.min(count - all.len())).unwrap();
        all.extend((0..batch.len).map(|place| (batch.port.0, io.frame(place).to_vec())));
    }
    all
}

#[test]
fn ipv4_packets_are_valid() {
    let ports = Null::ports(3);
    let frames = GeneratedFrames::ipv4(&ports, words().map(Ipv4Addr::from)).unwrap();
    assert_eq!(frames.frame_len(), 60);
    let all = all_frames(frames, 3, 64);
    for ((port, frame), destination) in all.iter().zip(words()) {
        assert_eq!(frame.len(), 64);
        assert_eq!(frame[..6], ports[usize::from(*port)].mac().0);
        assert_eq!(frame[6..14], [2, 0, 0, 0, 0xff, 0xff, 8, 0]);
        let ip = &frame[14..34];
        assert_eq!(ip[..2], [0x45, 0], "version, header length, no type of service");
        assert_eq!(ip[2..4], [0, 46], "total length");
        assert_eq!(ip[4..10], [0, 0, 0, 0, 64, 17], "no fragment; TTL; UDP");
        assert_eq!(sum(ip), 0xffff, "header checksum");
        assert_eq!(ip[12..16], [198, 18, 0, 1]);
        assert_eq!(ip[16..], destination.to_be_bytes());
        assert_eq!(frame[34..42], [0, 9, 0, 9, 0, 26, 0, 0]);
        assert!(frame[42..].iter().all(|&byte| byte == 0), "payload and padding");
    }
    assert_eq!(all.len(), words().count());
}

#[test]
fn ipv6_packets_are_valid() {
    let ports = Null::ports(2);
    let address = |word: u32| {
        let word = u128::from(word);
        Ipv6Addr::from(word << 96 | word.rotate_left(48) ^ word << 13 | word)
    };
    let frames = GeneratedFrames::ipv6(&ports, words().map(address)).unwrap();
    assert_eq!(frames.frame_len(), 62);
    let all = all_frames(frames, 2, 62);
    for ((port, frame), destination) in all.iter().zip(words()) {
        assert_eq!(frame.len(), 62);
        assert_eq!(frame[..6], ports[usize::from(*port)].mac().0);
        assert_eq!(frame[12..14], [0x86, 0xdd]);
        assert_eq!(frame[14..22], [0x60, 0, 0, 0, 0, 8, 17, 64]);
        assert_eq!(frame[22..38], SOURCE_V6.octets());
        assert_eq!(frame[38..54], address(destination).octets());
        assert_eq!(frame[54..60], [0, 9, 0, 9, 0, 8]);
        assert_ne!(frame[60..62], [0, 0], "IPv6 has no UDP without checksum");
        let pseudo_header = [&frame[22..54], &[0, 0, 0, 8, 0, 0, 0, 17]].concat();
        assert_eq!(sum(&[&pseudo_header, &frame[54..62]].concat()), 0xffff, "UDP checksum");
    }
    assert_eq!(all.len(), words().count());
}

#[test]
fn a_udp_checksum_of_zero_is_sent_as_all_ones() {
    // The destination whose last word makes the sum of all others all ones.
    let [high, low] = checksum_udp_v6([0; 16]);
    let mut destination = [0; 16];
    destination[14..].copy_from_slice(&[high, low]);
    assert_eq!(checksum_udp_v6(destination), [0xff, 0xff]);
}

#[test]
fn destinations_come_in_turn_whatever_the_batches() {
    let destinations: Vec<_> = (0..7).map(|i| Ipv4Addr::new(10, 0, 0, i)).collect();
    let frames = GeneratedFrames::ipv4(&Null::ports(1), destinations).unwrap();
    let mut io = Generated::new(Null::new(1, 60), frames.starting_at(7 * 3 + 5));
    let mut expected = (0..7).cycle().skip(5);
    for len in [1, 2, 7, 8, 0, 33, 512, 5] {
        assert_eq!(io.receive(len).unwrap().len, len);
        for place in 0..len {
            assert_eq!(io.frame(place)[33], expected.next().unwrap());
        }
    }
}

#[test]
fn frames_are_written_anew_after_they_were_changed() {
    let frames = GeneratedFrames::ipv4(&Null::ports(1), [Ipv4Addr::LOCALHOST]).unwrap();
    let mut io = Generated::new(Null::new(1, 60), frames);
    io.receive(512).unwrap();
    let first = io.frame(3).to_vec();
    (0..512).for_each(|place| io.frame(place).fill(0xaa));
    io.dispatch(&[], &mut PacketCounts::default()).unwrap();
    io.receive(512).unwrap();
    assert_eq!(io.frame(3), first);
}

#[test]
fn unfit_frames_and_ports_are_errors() {
    assert!(GeneratedFrames::ipv4(&Null::ports(1), []).is_none());
    assert!(GeneratedFrames::ipv6(&Null::ports(1), []).is_none());
    let frames = || GeneratedFrames::ipv6(&Null::ports(1), [Ipv6Addr::LOCALHOST]).unwrap();
    let short = Generated::new(Null::new(1, 61), frames()).receive(1).unwrap_err();
    assert_eq!(short.to_string(), "a frame of 61 bytes is shorter than a generated 62");
    let mut io = Generated::new(Null::new(2, 62), frames());
    assert_eq!(io.receive(1).unwrap().port, PortId(0));
    let port = io.receive(1).unwrap_err();
    assert_eq!(port.to_string(), "no frames are generated for port 1");
}

#[test]
fn random_destinations_are_those_that_routers_forward_to() {
    let ports = Null::ports(2);
    for (frames, is_ipv4) in [
        (GeneratedFrames::random_ipv4(&ports, 10_000, 1), true),
        (GeneratedFrames::random_ipv6(&ports, 10_000, 1), false),
    ] {
        let mut io = Generated::new(Null::new(2, 62), frames.unwrap());
        let mut seen = std::collections::HashSet::new();
        for _ in 0..100 {
            let batch = io.receive(100).unwrap();
            for place in 0..batch.len {
                let frame = io.frame(place).to_vec();
                let parsed = parse(&frame, Some(ports[batch.port.index()].mac()));
                match parsed {
                    Parsed::Ipv4 { destination, .. } if is_ipv4 => seen.insert(destination.into()),
                    Parsed::Ipv6 { destination, .. } if !is_ipv4 => {
                        assert_eq!(destination >> 125, 1);
                        seen.insert(destination)
                    }
                    other => panic!("{other:?}"),
                };
            }
        }
        assert!(seen.len() > 9_900);
    }
    assert!(GeneratedFrames::random_ipv4(&ports, 0, 1).is_none());
}
