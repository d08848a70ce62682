//! Destinations from packet captures and from lists of addresses.

mod common;

use std::io::Read;

use common::capture::*;
use common::{Random, lenient};
use longmatch_feed::{
    FeedError, Location, Options, Problem, Trace, TraceFormat, destinations, destinations_from,
};

fn read_with(bytes: &[u8], options: &Options) -> Result<Trace, FeedError> {
    destinations_from(bytes, Some("trace"), options)
}

fn read(bytes: &[u8]) -> Trace {
    read_with(bytes, &Options::default()).unwrap()
}

fn error_of(bytes: &[u8]) -> FeedError {
    match read_with(bytes, &Options::default()) {
        Ok(trace) => panic!("read {trace:?}"),
        Err(error) => error,
    }
}

/// The error of a capture, and its byte.
fn refused(bytes: &[u8]) -> (u64, Problem) {
    match error_of(bytes) {
        FeedError { place: Location::Byte(at), problem, .. } => (at, problem),
        error => panic!("{error}"),
    }
}

/// The IPv4 or IPv6 destination of a packet of this link type, if it has one.
fn destination(link: u32, packet: &[u8]) -> Option<u128> {
    let trace = read(&pcap(Little, link, &[packet.to_vec()]));
    assert_eq!(trace.report.packets, 1);
    trace.ipv4.first().map(|address| u128::from(*address)).or(trace.ipv6.first().copied())
}

#[test]
fn pcap_in_both_byte_orders_and_resolutions() {
    for order in [Big, Little] {
        for magic in [0xa1b2_c3d4, 0xa1b2_3c4d] {
            let mut file = pcap_header(order, magic, ETHERNET);
            for packet in [frame4(1), arp(), frame6(2), frame4(3), vec![]] {
                file.extend(pcap_packet(order, &packet));
            }
            let trace = read(&file);
            assert_eq!(trace.ipv4, [address4(1), address4(3)], "{order:?} {magic:x}");
            assert_eq!(trace.ipv6, [address6(2)]);
            let report = &trace.report;
            assert_eq!((report.format, report.codec), (TraceFormat::Pcap, None));
            assert_eq!((report.packets, report.other_protocols, report.truncated), (5, 1, 1));
            assert_eq!((report.bytes, report.input_bytes), (file.len() as u64, file.len() as u64));
            assert_eq!(report.warnings().len(), 2);
        }
    }
    // The bits above the link type state the length of the frame check sequence.
    let file = pcap(Big, 0x4400_0000 | ETHERNET, &[frame4(1)]);
    assert_eq!(read(&file).ipv4, [address4(1)]);
    assert!(read(&pcap(Big, RAW, &[])).is_empty());
}

#[test]
fn pcapng_with_interfaces_of_different_kinds() {
    let file = everything();
    let trace = read(&file);
    assert_eq!(trace.ipv4, [1, 2, 3].map(address4));
    assert_eq!(trace.ipv6, [1, 2].map(address6));
    let report = &trace.report;
    assert_eq!((report.format, report.bytes), (TraceFormat::PcapNg, file.len() as u64));
    assert_eq!((report.packets, report.other_protocols, report.truncated), (7, 1, 1));
    assert_eq!((report.skipped_blocks, report.obsolete_packets), (2, 0));
}

#[test]
fn tags_and_labels_in_front_of_ip() {
    let v4 = Some(u128::from(address4(1)));
    let (packet4, packet6) = (ipv4(1), ipv6(1));
    let tags = |count: usize| [0x88, 0xa8, 0, 9].repeat(count);
    for count in [1, 2, 3, 10, 5000] {
        let frame = ethernet(&[&tags(count), &[8, 0], &packet4]);
        assert_eq!(destination(ETHERNET, &frame), v4, "{count} tags");
    }
    for tag in [[0x81, 0], [0x91, 0], [0x92, 0]] {
        let frame = ethernet(&[&tag, &[0, 9, 0x86, 0xdd], &packet6]);
        assert_eq!(destination(ETHERNET, &frame), Some(address6(1)));
    }
    let (label, bottom) = ([0, 0x10, 0, 64], [0, 0x20, 1, 64]);
    for kind in [[0x88, 0x47], [0x88, 0x48]] {
        let frame = ethernet(&[&kind, &label, &label, &bottom, &packet4]);
        assert_eq!(destination(ETHERNET, &frame), v4);
        let frame = ethernet(&[&kind, &bottom, &packet6]);
        assert_eq!(destination(ETHERNET, &frame), Some(address6(1)));
        let frame = ethernet(&[&kind, &bottom, &[0; 40]]);
        assert_eq!(destination(ETHERNET, &frame), None, "a pseudowire's control word");
    }
    let session = [0x88, 0x64, 0x11, 0, 0, 1, 0, 30];
    assert_eq!(destination(ETHERNET, &ethernet(&[&session, &[0, 0x21], &packet4])), v4);
    let frame = ethernet(&[&session, &[0, 0x57], &packet6]);
    assert_eq!(destination(ETHERNET, &frame), Some(address6(1)));
    assert_eq!(destination(ETHERNET, &ethernet(&[&session, &[0xc0, 0x21], &packet4])), None);
}

#[test]
fn other_link_types() {
    let (v4, v6) = (Some(u128::from(address4(1))), Some(address6(1)));
    let (packet4, packet6) = (ipv4(1), ipv6(1));
    for link in [12, 14, 101] {
        assert_eq!(destination(link, &packet4), v4);
        assert_eq!(destination(link, &packet6), v6);
    }
    assert_eq!((destination(228, &packet4), destination(228, &packet6)), (v4, None));
    assert_eq!((destination(229, &packet4), destination(229, &packet6)), (None, v6));
    let cooked = |kind: [u8; 2], packet: &[u8]| [&[0; 14], &kind[..], packet].concat();
    assert_eq!(destination(113, &cooked([8, 0], &packet4)), v4);
    assert_eq!(destination(113, &cooked([0x86, 0xdd], &packet6)), v6);
    assert_eq!(destination(113, &cooked([8, 6], &packet4)), None);
    let tagged = [&[0, 9, 8, 0], &packet4[..]].concat();
    assert_eq!(destination(113, &cooked([0x81, 0], &tagged)), v4);
    let cooked2 = |kind: [u8; 2], packet: &[u8]| [&kind[..], &[0; 18], packet].concat();
    assert_eq!(destination(276, &cooked2([8, 0], &packet4)), v4);
    assert_eq!(destination(276, &cooked2([0x86, 0xdd], &packet6)), v6);
    assert_eq!(destination(276, &cooked2([0x81, 0], &tagged)), v4);
    for link in [0, 108] {
        for order in [Big, Little] {
            let packet = |family: u32, packet: &[u8]| [&order.u32(family)[..], packet].concat();
            assert_eq!(destination(link, &packet(2, &packet4)), v4);
            for family in [10, 24, 28, 30] {
                assert_eq!(destination(link, &packet(family, &packet6)), v6, "family {family}");
            }
            assert_eq!(destination(link, &packet(7, &packet4)), None);
        }
    }
}

#[test]
fn invalid_ip_headers_are_other_protocols() {
    for first in [0x00, 0x40, 0x44, 0x50, 0x65] {
        let mut packet = ipv4(1);
        packet[0] = first;
        assert_eq!(destination(228, &packet), None, "{first:x}");
        assert_eq!(destination(ETHERNET, &ethernet(&[&[8, 0], &packet])), None);
    }
    let long = [&[0x4f], &ipv4(1)[1..]].concat();
    assert_eq!(destination(RAW, &long), Some(u128::from(address4(1))), "options, cut off");
}

/// A packet needs no byte after the destination.
#[test]
fn packets_cut_off_by_the_snap_length() {
    let cooked2 = [&[8, 0][..], &[0; 18], &ipv4(1)].concat();
    let mpls = ethernet(&[&[0x88, 0x47, 0, 0, 1, 64], &ipv6(1)]);
    let pppoe = ethernet(&[&[0x88, 0x64, 0x11, 0, 0, 1, 0, 30, 0, 0x21], &ipv4(1)]);
    let tagged = ethernet(&[&[0x81, 0, 0, 7, 0x81, 0, 0, 7, 0x86, 0xdd], &ipv6(1)]);
    let loopback = [&[2, 0, 0, 0], &ipv4(1)[..]].concat();
    let cases = [
        (ETHERNET, frame4(1)),
        (ETHERNET, frame6(1)),
        (ETHERNET, tagged),
        (ETHERNET, mpls),
        (ETHERNET, pppoe),
        (RAW, ipv4(1)),
        (RAW, ipv6(1)),
        (0, loopback),
        (276, cooked2),
    ];
    for (link, packet) in cases {
        // Every packet has 8 bytes after the destination.
        let enough = packet.len() - 8;
        for len in 0..=packet.len() {
            let report = read(&pcap(Little, link, &[packet[..len].to_vec()])).report;
            let truncated = u64::from(len < enough);
            let counts = (report.packets, report.truncated, report.other_protocols);
            assert_eq!(counts, (1, truncated, 0), "link type {link}: {len} bytes");
        }
    }
}

/// A simple packet block does not state the captured length, so its padding looks like packet data.
#[test]
fn simple_packets_end_at_the_snap_length() {
    let file = |snap: u32, len: u32, kept: &[u8]| {
        let parts = [section(Big), interface(Big, ETHERNET as u16, snap), simple(Big, len, kept)];
        read(&parts.concat())
    };
    let frame = frame4(255);
    for snap in [31, 33] {
        let trace = file(snap, 42, &frame[..snap as usize]);
        assert_eq!((trace.len(), trace.report.truncated), (0, 1), "{snap}");
    }
    assert_eq!(file(34, 42, &frame[..34]).ipv4, [address4(255)]);
    assert_eq!(file(0, 34, &frame[..34]).ipv4, [address4(255)]);
    assert_eq!(file(0, 33, &frame[..33]).report.truncated, 1);
    assert_eq!(file(35, u32::MAX, &frame[..35]).ipv4, [address4(255)]);
    // The padding of an enhanced packet block is not part of the packet either.
    let parts = [section(Big), interface(Big, 1, 0), enhanced(Big, 0, &frame[..33])];
    assert_eq!(read(&parts.concat()).report.truncated, 1);
}

#[test]
fn unsupported_link_types() {
    let (at, error) = refused(&pcap(Big, 105, &[frame4(1)]));
    assert_eq!((at, &error), (0, &Problem::LinkType { number: 105 }));
    let text = error.to_string();
    assert!(text.contains("link type 105 (IEEE 802.11)") && text.contains("Ethernet"), "{text}");
    assert!(read_with(&pcap(Big, 105, &[frame4(1)]), &lenient()).is_err(), "nothing to keep");

    let head = [section(Little), interface(Little, 1, 0), interface(Little, 9999, 0)].concat();
    let good = [&head[..], &enhanced(Little, 0, &frame4(1))].concat();
    assert_eq!(
        read(&good).ipv4,
        [address4(1)],
        "an unsupported interface without packets is ignored"
    );
    let bad = [&good[..], &enhanced(Little, 1, &frame4(2)), &enhanced(Little, 0, &frame4(3))];
    let (at, error) = refused(&bad.concat());
    assert_eq!(at, good.len() as u64);
    assert_eq!(error, Problem::InterfaceLink { index: 1, number: 9999 });
    let trace = read_with(&bad.concat(), &lenient()).unwrap();
    assert_eq!(trace.ipv4, [1, 3].map(address4));
    assert_eq!((trace.report.damaged, trace.report.cut_off), (1, false));
}

#[test]
fn damaged_blocks() {
    let head = [section(Little), interface(Little, ETHERNET as u16, 0)].concat();
    let last = enhanced(Little, 0, &frame4(9));
    let check = |block: &[u8], expected: Problem| {
        let file = [&head[..], block, &last].concat();
        let (at, error) = refused(&file);
        assert_eq!((at, &error), (head.len() as u64, &expected));
        let trace = read_with(&file, &lenient()).unwrap();
        if trace.report.cut_off {
            assert!(trace.is_empty(), "{expected}");
        } else {
            assert_eq!((trace.report.damaged, &trace.ipv4[..]), (1, &[address4(9)][..]));
        }
        assert!(trace.report.first_damage.unwrap().to_string().starts_with("trace: byte "));
    };
    let no_interface = enhanced(Little, 7, &frame4(1));
    check(&no_interface, Problem::NoInterface { index: 7, interfaces: 1 });
    let mut caplen = enhanced(Little, 0, &frame4(1));
    for len in [100, 0xffff_fff0, 0xffff_fffb, u32::MAX] {
        caplen[20..24].copy_from_slice(&Little.u32(len));
        check(&caplen, Problem::Block { kind: 6 });
    }
    check(&block(Little, 6, &[0; 8]), Problem::Block { kind: 6 });
    check(&block(Little, 1, &[]), Problem::Block { kind: 1 });
    let mut end = enhanced(Little, 0, &frame4(1));
    let len = end.len() as u32;
    end[len as usize - 4] ^= 4;
    check(&end, Problem::BlockEnd { first: len, last: len ^ 4 });
    for len in [0u32, 8, 13, 0x7fff_ffff] {
        let mut bad = enhanced(Little, 0, &frame4(1));
        bad[4..8].copy_from_slice(&Little.u32(len));
        check(&bad, Problem::BlockLength { len });
    }
    let mut bad = section(Little);
    bad[8] = 0;
    check(&bad, Problem::ByteOrder);
    let mut bad = section(Big);
    bad[13] = 2;
    check(&bad, Problem::Version { format: "pcapng", major: 2, minor: 0 });
    let first = [&section(Big)[..], &simple(Big, 42, &frame4(1))].concat();
    assert_eq!(refused(&first).1, Problem::NoInterface { index: 0, interfaces: 0 });
    let mut old = pcap(Big, ETHERNET, &[]);
    old[5] = 1;
    assert_eq!(refused(&old), (0, Problem::Version { format: "pcap", major: 1, minor: 4 }));
}

#[test]
fn interfaces_are_bounded() {
    let one = block(Little, 1, &[1, 0, 0, 0, 0, 0, 0, 0]);
    let file = [section(Little), one.repeat((1 << 16) + 1)].concat();
    assert_eq!(refused(&file).1, Problem::Interfaces { limit: 1 << 16 });
    let file = [section(Little), one.repeat(1 << 15)].concat().repeat(3);
    assert!(read(&file).is_empty(), "each section numbers its own interfaces");
}

#[test]
fn obsolete_packets_are_reported() {
    let file = [section(Little), block(Little, 2, &[0; 40])].concat();
    let report = read(&file).report;
    assert_eq!((report.obsolete_packets, report.skipped_blocks), (1, 1));
    assert!(report.warnings()[0].contains("obsolete"));
}

/// The positions at which the records of a file end.
fn ends(file: &[u8], lens: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut ends = vec![0];
    ends.extend(lens.scan(0, |end, len| {
        *end += len;
        Some(*end)
    }));
    assert_eq!(ends.last(), Some(&file.len()));
    ends
}

/// Truncates a capture at every byte from `first`, at which its format is known.
fn cut_off_everywhere(file: &[u8], ends: &[usize], first: usize) {
    let mut last = 0;
    for end in first..file.len() {
        let cut = &file[..end];
        let trace = read_with(cut, &lenient()).unwrap();
        assert!(trace.len() >= last, "cut at {end}");
        last = trace.len();
        if ends.contains(&end) {
            assert!(!trace.report.cut_off && read(cut).len() == last, "cut at {end}");
            continue;
        }
        assert!(trace.report.cut_off && trace.report.damaged == 1, "cut at {end}");
        let (at, error) = refused(cut);
        assert!(ends.contains(&(at as usize)), "cut at {end}: {error}");
        let Problem::CaptureCutOff { needed, have } = error else {
            panic!("cut at {end}: {error}")
        };
        assert_eq!((at as usize + have, at as usize + needed > end), (end, true));
    }
    assert_eq!(last, read(file).len(), "the last record of the file has no destination");
}

#[test]
fn cut_off_at_every_byte() {
    let packets = [frame4(1), frame6(2), arp(), frame4(3), vec![]];
    let file = pcap(Big, ETHERNET, &packets);
    let lens = [24].into_iter().chain(packets.iter().map(|packet| packet.len() + 16));
    cut_off_everywhere(&file, &ends(&file, lens), 4);

    let file = everything();
    let mut lens = Vec::new();
    while lens.iter().sum::<usize>() < file.len() {
        let at: usize = lens.iter().sum();
        let len: [u8; 4] = file[at + 4..at + 8].try_into().unwrap();
        lens.push(u32::from_le_bytes(len).min(u32::from_be_bytes(len)) as usize);
    }
    cut_off_everywhere(&file, &ends(&file, lens.into_iter()), 12);
    for end in 0..12 {
        let _ = read_with(&file[..end], &lenient());
        let _ = read_with(&file[..end], &Options::default());
    }
}

#[test]
fn every_byte_changed_in_every_way() {
    for file in [everything(), pcap(Little, ETHERNET, &[frame4(1), frame6(2), arp()])] {
        for at in 0..file.len() {
            let mut bad = file.clone();
            for value in 0..=255 {
                bad[at] = value;
                let trace = read_with(&bad, &lenient());
                let strict = read_with(&bad, &Options::default());
                if let Ok(trace) = &trace {
                    // The change may turn another block into a packet.
                    assert!(trace.len() <= 5 && trace.report.packets <= 8, "byte {at}: {value}");
                }
                let same = strict.is_ok_and(|strict| strict.len() == trace.as_ref().unwrap().len());
                assert!(same || trace.is_err() || trace.unwrap().report.damaged > 0);
            }
        }
    }
}

#[test]
fn noise_never_panics() {
    let mut random = Random(5);
    let heads = [pcap(Little, ETHERNET, &[]), pcap(Big, RAW, &[]), everything()];
    for n in 0..20_000 {
        let len = random.below(300);
        // Small numbers make plausible lengths.
        let mask = if n % 2 == 0 { 0xff } else { 0x1f };
        let mut byte = || (random.next() as u8) & if random.below(3) == 0 { mask } else { 0 };
        let noise: Vec<u8> = (0..len).map(|_| byte()).collect();
        let file = [&heads[n % heads.len()][..], &noise].concat();
        let _ = read_with(&file, &Options::default());
        assert!(read_with(&file, &lenient()).is_ok());
    }
}

/// A packet with a length of 4 GB is refused by the length alone. Blocks without packets are skipped
/// at any length and never kept in memory.
#[test]
fn lengths_are_not_trusted() {
    for order in [Big, Little] {
        let len = order.u32(u32::MAX);
        let packet = [[0; 4], [0; 4], len, len].concat();
        let file = [pcap(order, ETHERNET, &[frame4(1)]), packet].concat();
        let expected = Problem::PacketTooLong { len: u32::MAX as usize, limit: 16 << 20 };
        assert_eq!(refused(&file).1, expected);
        assert_eq!(read_with(&file, &lenient()).unwrap().ipv4, [address4(1)]);

        let head = [section(order), interface(order, 1, 0), enhanced(order, 0, &frame4(1))];
        let packet = [order.u32(6), order.u32(0xffff_fffc), [0; 4]].concat();
        let file = [&head.concat()[..], &packet].concat();
        let expected = Problem::PacketTooLong { len: 0xffff_fffc, limit: 16 << 20 };
        assert_eq!(refused(&file).1, expected);

        let long = 100 << 20;
        let start = [&head.concat()[..], &order.u32(10), &order.u32(long), &[0; 4]].concat();
        let end = [&order.u32(long)[..], &enhanced(order, 0, &frame4(2))].concat();
        let middle = std::io::repeat(0).take(u64::from(long) - 16);
        let stream = start.chain(middle).chain(&end[..]);
        let trace = destinations_from(stream, None, &Options::default()).unwrap();
        assert_eq!(trace.ipv4, [1, 2].map(address4));
        let (_, error) = refused(&start);
        assert_eq!(error, Problem::CaptureCutOff { needed: long as usize, have: 12 });
    }
}

#[test]
fn lists_of_addresses() {
    let text = b"\xef\xbb\xbf# mine\r\n192.0.2.1\r\n\r\n \t2001:db8::1 \n::ffff:192.0.2.2\n#\n::";
    let trace = read(text);
    assert_eq!(trace.ipv4, [1, 2].map(address4));
    assert_eq!(trace.ipv6, [address6(1), 0]);
    let report = &trace.report;
    assert_eq!((report.format, report.lines, report.packets), (TraceFormat::List, 7, 0));
    assert_eq!(report.bytes, text.len() as u64);
    assert!(read(b"").is_empty() && read(b"\n\n").is_empty());

    let bad = b"192.0.2.1\n192.0.2\n192.0.2.2 # mine\n192.0.2.3";
    let error = error_of(bad);
    assert_eq!(error.place, Location::Line(2));
    assert!(error.to_string().starts_with("trace: line 2: '192.0.2' is not an IP address"));
    let trace = read_with(bad, &lenient()).unwrap();
    assert_eq!((&trace.ipv4[..], trace.report.damaged), (&[1, 3].map(address4)[..], 2));
    assert_eq!(trace.report.first_damage.unwrap().place, Location::Line(2));
    assert!(matches!(error_of(b"192.0.2.1\n\xff\n").place, Location::Line(2)));
    assert!(error_of(&[b'1'; 5000]).to_string().contains("longer than 4096"));
}

#[test]
fn inputs_that_are_neither_captures_nor_lists() {
    for file in [&b"\x7fELF\0\0\0\0"[..], &[0; 100], b"\xa1\xb2\xcd\x34\0\0\0\0"] {
        let error = error_of(file);
        assert!(matches!(error.problem, Problem::UnknownTrace), "{error}");
        assert!(error.to_string().contains("pcapng") && read_with(file, &lenient()).is_err());
    }
    assert!(error_of(b"\x04\x22\x4d\x18abc").to_string().contains("lz4 is not supported"));
    let error = destinations("no such file", &Options::default()).unwrap_err().to_string();
    assert!(error.starts_with("no such file: cannot be opened: "), "{error}");
}

#[test]
fn destinations_are_kept_up_to_the_limit() {
    let mut options = Options::default();
    options.limits.destinations = 3;
    let list = b"192.0.2.1\n2001:db8::1\n192.0.2.2\n";
    assert!(!read_with(list, &options).unwrap().report.stopped, "exactly as many as the limit");
    let more = [&list[..], b"\n192.0.2.3\nnot read any more\n"].concat();
    let trace = read_with(&more, &options).unwrap();
    assert!(trace.report.stopped && trace.report.warnings()[0].contains("the first ones"));
    assert_eq!((&trace.ipv4[..], trace.ipv6.len()), (&[1, 2].map(address4)[..], 1));
    let trace = read_with(&everything(), &options).unwrap();
    assert_eq!((trace.report.stopped, trace.len(), trace.report.packets), (true, 3, 4));
    let packets: Vec<_> = (0..9).map(frame4).collect();
    let trace = read_with(&pcap(Big, ETHERNET, &packets), &options).unwrap();
    assert_eq!((trace.report.stopped, &trace.ipv4[..]), (true, &[0, 1, 2].map(address4)[..]));
}

/// A stream that fails after these bytes.
struct Failing<'a>(&'a [u8]);

impl Read for Failing<'_> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let n = self.0.read(&mut buf[..1])?;
        if n == 0 { Err(std::io::Error::other("no more")) } else { Ok(n) }
    }
}

#[test]
fn destinations_before_a_stream_error_are_kept() {
    for file in [everything(), pcap(Big, ETHERNET, &[frame4(1), frame4(2)]), b"::1\n".to_vec()] {
        for end in [1, 2, 3, 4, 12, 24, 30, file.len() - 1, file.len()] {
            let cut = &file[..end.min(file.len())];
            let error = destinations_from(Failing(cut), None, &Options::default()).unwrap_err();
            assert!(error.to_string().contains("cannot be read: no more"), "{end}: {error}");
            let trace = destinations_from(Failing(cut), None, &lenient()).unwrap();
            assert!(trace.report.cut_off, "{end}");
            if end == file.len() {
                assert_eq!(trace.len(), read(&file).len());
            }
        }
    }
}
