//! Loading of MRT: every record type, peers, hostile records, truncation and flipped bits.

mod common;

use common::mrt::{
    attribute, everything, ipv4_attributes, ipv6_addr, ipv6_attributes, message, peer_index,
    prefix, record, rib, table_dump, update,
};
use common::{Random, error_of, lenient, load, load_lenient, load_with, peer};
use longmatch_feed::{FeedError, Format, Location, Options, Problem};

/// The MRT error of a strict load, and its byte.
fn mrt_error(bytes: &[u8]) -> (u64, Problem) {
    match load(bytes).err() {
        Some(FeedError { place: Location::Byte(offset), problem, .. }) => (offset, problem),
        Some(error) => panic!("{error}"),
        None => panic!("was loaded"),
    }
}

/// Loads a good file around a bad record: a strict load fails at the record, a lenient one skips it.
fn refused(bad: &[u8]) -> Problem {
    let before = [peer_index(2), rib(2, &prefix(8, &[10]), &[(0, ipv4_attributes(1))])].concat();
    let after = rib(2, &prefix(8, &[11]), &[(0, ipv4_attributes(2))]);
    let file = [&before[..], bad, &after[..]].concat();
    let (offset, error) = mrt_error(&file);
    let range = before.len() as u64..=(before.len() + bad.len()) as u64;
    assert!(range.contains(&offset), "{offset} is not in {range:?}: {error}");
    let (routes, report) = load_lenient(&file).unwrap();
    assert!(routes.lines().contains(&"10.0.0.0/8 10.0.0.1".to_owned()), "{:?}", routes.lines());
    assert!(routes.lines().contains(&"11.0.0.0/8 10.0.0.2".to_owned()), "{:?}", routes.lines());
    assert_eq!((report.damaged, report.cut_off), (1, false));
    error
}

#[test]
fn every_record_type() {
    let (routes, report) = load(&everything()).unwrap();
    assert_eq!(report.format, Format::Mrt);
    // The updates and the TABLE_DUMP record have no BGP identifier, so their peer is a separate one.
    assert_eq!(report.peers.len(), 4);
    assert_eq!(report.rib_entries, 7);
    assert_eq!(report.skipped_records.into_iter().collect::<Vec<_>>(), [((13, 6), 1)]);
    assert_eq!(
        routes.lines(),
        [
            "0.0.0.0/0 10.0.0.8",
            "10.2.0.0/16 10.0.0.7",
            "10.3.0.0/24 10.0.0.8",
            "10.4.0.0/24 10.0.0.10",
            "::/0 2001:db8::6",
            "2001:db8::/32 2001:db8::3",
        ]
    );
    let (routes, _) = load_with(&everything(), &peer("1")).unwrap();
    assert_eq!(routes.lines(), ["10.0.0.0/8 10.0.0.2", "10.1.0.0/16 10.0.0.4"]);
}

#[test]
fn peers_by_address_asn_and_index() {
    let file = [
        peer_index(3),
        rib(2, &prefix(8, &[10]), &[0, 1, 2].map(|n| (n, ipv4_attributes(n as u8)))),
        rib(2, &prefix(8, &[11]), &[1, 2].map(|n| (n, ipv4_attributes(n as u8)))),
    ]
    .concat();
    for (name, routes) in [("192.0.2.0", 1), ("AS64501", 2), ("2", 2)] {
        assert_eq!(load_with(&file, &peer(name)).unwrap().0.0.len(), routes, "{name}");
    }
    let (routes, report) = load(&file).unwrap();
    assert_eq!(report.chosen.ipv4, Some(1), "the first peer with the most routes");
    assert_eq!(routes.lines()[0], "10.0.0.0/8 10.0.0.1");
    assert_eq!(report.other_peers, 3);
    for name in ["3", "AS1", "::1"] {
        let error = load_with(&file, &peer(name)).err().unwrap();
        assert!(matches!(error.problem, Problem::NoSuchPeer { peers: 3, .. }));
    }
}

/// The type of a peer says whether its address is IPv6 (1) and its AS number has 4 bytes (2).
#[test]
fn peers_of_every_type() {
    let v6 = ipv6_addr(9);
    let peers: [&[&[u8]]; 4] = [
        &[&[0, 9, 9, 9, 9], &[192, 0, 2, 1], &[0, 7]],
        &[&[1, 9, 9, 9, 9], &v6, &[0, 8]],
        &[&[2, 9, 9, 9, 9], &[192, 0, 2, 2], &[0, 1, 0, 9]],
        &[&[3, 9, 9, 9, 9], &v6, &[0, 1, 0, 10]],
    ];
    let body = [&[10, 0, 0, 1, 0, 0, 0, 4][..], &peers.map(<[&[u8]]>::concat).concat()].concat();
    let (_, report) = load(&record(13, 1, &body)).unwrap();
    let found: Vec<_> = report.peers.iter().map(|it| format!("{} {}", it.addr, it.asn)).collect();
    assert_eq!(found, ["192.0.2.1 7", "2001:db8::9 8", "192.0.2.2 65545", "2001:db8::9 65546"]);
    for end in 0..body.len() {
        let file = [record(13, 1, &body[..end]), everything()].concat();
        assert!(matches!(mrt_error(&file).1, Problem::Short { .. }), "{end}");
        let (routes, report) = load_lenient(&file).unwrap();
        assert_eq!((routes.0.len(), report.damaged), (6, 1), "{end}");
        assert!(report.peers.iter().all(|peer| peer.asn < 65545), "{end}");
    }
}

#[test]
fn each_family_has_its_own_best_peer() {
    let file = [
        peer_index(2),
        rib(2, &prefix(8, &[10]), &[(0, ipv4_attributes(1))]),
        rib(4, &prefix(8, &[0x20]), &[(1, ipv6_attributes(2))]),
    ]
    .concat();
    let (routes, report) = load(&file).unwrap();
    assert_eq!(routes.0.len(), 2);
    assert_eq!((report.chosen.ipv4, report.chosen.ipv6), (Some(0), Some(1)));
    assert!(report.warnings().iter().any(|warning| warning.contains("different peers")));
}

#[test]
fn record_lengths_0_1_and_4294967295() {
    for len in [0usize, 1] {
        for (kind, subtype) in [(12, 1), (13, 1), (13, 2), (16, 4), (17, 4), (17, 0)] {
            let file = [record(kind, subtype, &[0][..len]), everything()].concat();
            if subtype == 0 {
                assert!(load(&file).is_ok(), "a state change is skipped");
                continue;
            }
            assert!(matches!(mrt_error(&file), (12, Problem::Short { .. } | Problem::NoPeerIndex)));
            assert_eq!(load_lenient(&file).unwrap().0.0.len(), 6);
        }
    }
    let huge = [&everything()[..], &[0, 0, 0, 0, 0, 13, 0, 2, 255, 255, 255, 255, 1, 2]].concat();
    let (offset, error) = mrt_error(&huge);
    assert_eq!(offset, everything().len() as u64);
    assert!(matches!(error, Problem::RecordTooLong { len: 0xffff_ffff, .. }));
    let (routes, report) = load_lenient(&huge).unwrap();
    assert_eq!((routes.0.len(), report.cut_off), (6, true));
}

#[test]
fn rib_entry_before_the_peer_index() {
    let file = [rib(2, &prefix(8, &[10]), &[(0, ipv4_attributes(1))]), everything()].concat();
    assert_eq!(mrt_error(&file), (12, Problem::NoPeerIndex));
    assert_eq!(load_lenient(&file).unwrap().0.0.len(), 6);
}

#[test]
fn peer_index_out_of_range() {
    let error = refused(&rib(2, &prefix(8, &[12]), &[(2, ipv4_attributes(1))]));
    assert_eq!(error, Problem::PeerOutOfRange { index: 2, peers: 2 });
}

#[test]
fn entries_65535_in_0_bytes() {
    let error = refused(&record(13, 2, &[0, 0, 0, 1, 8, 12, 255, 255]));
    assert!(matches!(error, Problem::Short { field: "peer index", have: 0, .. }));
    let mut peers = vec![1, 2, 3, 4, 0, 0, 255, 255];
    let table = record(13, 1, &peers);
    peers[5] = 200;
    let view = record(13, 1, &peers);
    for bad in [table, view] {
        let file = [bad, everything()].concat();
        assert!(matches!(mrt_error(&file), (18 | 20, Problem::Short { .. })));
        assert_eq!(load_lenient(&file).unwrap().0.0.len(), 6);
    }
}

#[test]
fn attribute_lengths_past_the_record() {
    let mut bad = rib(2, &prefix(8, &[12]), &[(0, ipv4_attributes(1))]);
    let at = bad.len() - ipv4_attributes(1).len() - 1;
    bad[at] += 1;
    assert!(matches!(refused(&bad), Problem::Short { field: "attributes", .. }));
    for value in [&[0x40, 3, 5, 1, 2, 3, 4][..], &[0x50, 3, 255, 255, 1], &[0x40, 3], &[0x40]] {
        let error = refused(&rib(2, &prefix(8, &[12]), &[(0, value.to_vec())]));
        assert!(matches!(error, Problem::Short { .. }), "{error}");
    }
}

/// Damage inside attributes that a table does not keep has no effect.
#[test]
fn as_path_count_without_data() {
    let list = [attribute(0x40, 2, &[2, 255]), attribute(0x40, 3, &[10, 0, 0, 9])].concat();
    let file = [peer_index(1), rib(2, &prefix(8, &[12]), &[(0, list)])].concat();
    assert_eq!(load(&file).unwrap().0.lines(), ["12.0.0.0/8 10.0.0.9"]);
}

#[test]
fn next_hop_lengths_0_1_and_255() {
    for len in [0usize, 1, 3, 5, 15, 17, 31, 33, 255] {
        let mut value = vec![len as u8];
        value.extend(vec![1; len]);
        let list = attribute(0x90, 14, &value);
        let error = refused(&rib(4, &prefix(8, &[0x20]), &[(0, list)]));
        let expected = if len == 0 { Problem::NoNextHop } else { Problem::NextHopLength { len } };
        assert_eq!(error, expected);
        // A length beyond the end of the attribute.
        let error = refused(&rib(4, &prefix(8, &[0x20]), &[(0, attribute(0x80, 14, &[255, 1]))]));
        assert!(matches!(error, Problem::Short { field: "next hop", .. }));
    }
    for len in [0usize, 1, 5] {
        let error = refused(&rib(2, &prefix(8, &[12]), &[(0, attribute(0x40, 3, &vec![1; len]))]));
        assert!(matches!(error, Problem::NoNextHop | Problem::NextHopLength { .. }));
    }
}

#[test]
fn prefix_lengths_33_and_129() {
    let bad = rib(2, &prefix(33, &[12, 0, 0, 0, 0]), &[(0, ipv4_attributes(1))]);
    assert_eq!(refused(&bad), Problem::PrefixLength { len: 33, max: 32 });
    let bad = rib(4, &prefix(129, &[0x20; 17]), &[(0, ipv6_attributes(1))]);
    assert_eq!(refused(&bad), Problem::PrefixLength { len: 129, max: 128 });
    let bad = table_dump(0, [12, 0, 0, 0], 33, &ipv4_attributes(1));
    assert_eq!(refused(&bad), Problem::PrefixLength { len: 33, max: 32 });
    let bad = message(false, 4, 0, 2, &update(&[], &ipv4_attributes(1), &prefix(255, &[1; 32])));
    assert_eq!(refused(&bad), Problem::PrefixLength { len: 255, max: 32 });
}

#[test]
fn bytes_after_the_last_field() {
    let mut body = rib(2, &prefix(8, &[12]), &[(0, ipv4_attributes(1))])[12..].to_vec();
    body.push(0);
    assert_eq!(refused(&record(13, 2, &body)), Problem::TrailingBytes { bytes: 1 });
}

#[test]
fn add_path_tables_take_the_first_path() {
    for (subtype, list) in [(8u16, ipv4_attributes as fn(u8) -> Vec<u8>), (10, ipv6_attributes)] {
        let entries = [(1, list(3)), (1, list(1)), (1, list(2)), (0, list(9))];
        let file = [peer_index(2), rib(subtype, &prefix(8, &[10]), &entries)].concat();
        let (routes, report) = load_with(&file, &peer("1")).unwrap();
        assert_eq!((routes.0.len(), report.rib_entries, report.announced), (1, 4, 1));
        assert!(routes.lines()[0].ends_with('3'));
        assert_eq!(report.peers[1].ipv4_routes + report.peers[1].ipv6_routes, 1);
    }
}

#[test]
fn add_path_updates_keep_the_remaining_path() {
    let nlri = |path: u8| [vec![0, 0, 0, path], prefix(8, &[10])].concat();
    let announce =
        |path, hop| message(false, 9, 1, 2, &update(&[], &ipv4_attributes(hop), &nlri(path)));
    let withdraw = |path| message(false, 9, 1, 2, &update(&nlri(path), &[], &[]));
    let mut file = [announce(2, 2), announce(1, 1)].concat();
    assert_eq!(load(&file).unwrap().0.lines(), ["10.0.0.0/8 10.0.0.1"]);
    file.extend(withdraw(1));
    assert_eq!(load(&file).unwrap().0.lines(), ["10.0.0.0/8 10.0.0.2"]);
    file.extend(withdraw(2));
    assert!(load(&file).unwrap().0.0.is_empty());
}

/// A list of routes that starts with a default route has no path identifiers.
#[test]
fn a_default_route_first_in_an_update() {
    let routes = [prefix(0, &[]), prefix(8, &[10]), prefix(8, &[11]), prefix(0, &[])].concat();
    let file = message(false, 4, 1, 2, &update(&[], &ipv4_attributes(1), &routes));
    let (routes, report) = load(&file).unwrap();
    assert_eq!(
        routes.lines(),
        ["0.0.0.0/0 10.0.0.1", "10.0.0.0/8 10.0.0.1", "11.0.0.0/8 10.0.0.1"]
    );
    assert_eq!(report.announced, 4);
}

#[test]
fn the_next_hop_forms_of_ipv6() {
    let global = ipv6_addr(7);
    let both = [global, [0xfe; 16]].concat();
    let with_len = |bytes: &[u8]| [&[bytes.len() as u8], bytes].concat();
    let full = |bytes: &[u8]| [&[0, 2, 1][..], &with_len(bytes), &[0, 8, 0x20]].concat();
    for value in [with_len(&global), with_len(&both), full(&global), full(&both)] {
        let list = attribute(0x80, 14, &value);
        let file = [peer_index(1), rib(4, &prefix(8, &[0x20]), &[(0, list)])].concat();
        assert_eq!(load(&file).unwrap().0.lines(), ["2000::/8 2001:db8::7"], "{value:?}");
    }
    // RFC 8950: an IPv4 route with an IPv6 next hop.
    let list = attribute(0x80, 14, &with_len(&global));
    let file = [peer_index(1), rib(2, &prefix(8, &[10]), &[(0, list)])].concat();
    assert_eq!(load(&file).unwrap().0.lines(), ["10.0.0.0/8 2001:db8::7"]);
}

#[test]
fn damaged_messages() {
    let good = message(false, 4, 0, 2, &update(&[], &ipv4_attributes(1), &prefix(8, &[12])));
    let marker = 12 + 4 + 4 + 4 + 8;
    let mut bad = good.clone();
    bad[marker] = 0;
    assert_eq!(refused(&bad), Problem::Marker);
    for len in [0u16, 18, 0xffff] {
        let mut bad = good.clone();
        bad[marker + 16..marker + 18].copy_from_slice(&len.to_be_bytes());
        assert!(matches!(refused(&bad), Problem::MessageLength { .. }));
    }
    let mut bad = good.clone();
    bad[marker - 9] = 7;
    assert_eq!(refused(&bad), Problem::Family { afi: 7 });
    let no_hop = message(false, 4, 0, 2, &update(&[], &[], &prefix(8, &[12])));
    assert_eq!(refused(&no_hop), Problem::NoNextHop);
    let labelled = attribute(0x80, 14, &[0, 1, 4, 4, 10, 0, 0, 1, 0, 32, 0, 0, 1, 12]);
    let (_, report) = load(&message(false, 4, 0, 2, &update(&[], &labelled, &[]))).unwrap();
    assert_eq!(report.skipped_families, 1);
}

#[test]
fn routes_without_a_next_hop_are_counted() {
    let file = [
        peer_index(2),
        rib(2, &prefix(8, &[10]), &[(0, vec![]), (1, ipv4_attributes(1))]),
        rib(2, &prefix(8, &[11]), &[(0, vec![])]),
        rib(2, &prefix(8, &[12]), &[(1, attribute(0x40, 1, &[0]))]),
    ]
    .concat();
    let (routes, report) = load(&file).unwrap();
    assert_eq!(routes.lines(), ["10.0.0.0/8 10.0.0.1"]);
    assert_eq!(report.no_next_hop, 3);
}

#[test]
fn cut_off_at_every_byte() {
    let whole = everything();
    let mut ends = vec![0];
    while let Some(&end) = ends.last().filter(|end| **end < whole.len()) {
        let len = u32::from_be_bytes(whole[end + 8..end + 12].try_into().unwrap());
        ends.push(end + 12 + len as usize);
    }
    let mut options = lenient();
    options.format = Format::Mrt;
    let mut strict = Options::default();
    strict.format = Format::Mrt;
    let mut last = 0;
    for end in 0..whole.len() {
        let cut = &whole[..end];
        let records = ends.partition_point(|&other| other <= end) as u64 - 1;
        // Before the first route, a lenient load has no route to keep.
        let (routes, report) = match load_with(cut, &options) {
            Ok(loaded) => loaded,
            Err(error) => {
                assert!(matches!(error.problem, Problem::NothingRead { damaged: 1, .. }));
                assert!(records <= 1 && !ends.contains(&end), "{end}: {error}");
                continue;
            }
        };
        assert_eq!(report.records, records, "cut at {end}");
        match load_with(cut, &strict) {
            Ok(_) => assert!(ends.contains(&end), "{end}"),
            Err(error) => {
                assert!(!ends.contains(&end) && report.cut_off);
                assert_eq!(error.place, Location::Byte(ends[records as usize] as u64));
                assert!(matches!(error.problem, Problem::RecordCutOff { .. }));
            }
        }
        // A detected format gives the same routes as a given one.
        assert!(end < 6 || load_lenient(cut).unwrap().0.lines() == routes.lines());
        last = routes.0.len();
    }
    assert_eq!(last, 6);
}

#[test]
fn flipped_bits_never_panic() {
    let whole = everything();
    let mut random = Random(2);
    let mut options = lenient();
    options.format = Format::Mrt;
    for _ in 0..20_000 {
        let mut file = whole.clone();
        for _ in 0..=random.below(4) {
            let at = random.below(file.len());
            match random.below(3) {
                0 => file[at] ^= 1 << random.below(8),
                1 => file[at] = random.next() as u8,
                _ => file[at] = [0, 1, 255][random.below(3)],
            }
        }
        let _ = load(&file);
        check_nothing_read(load_with(&file, &options).err());
    }
}

/// Checks that a lenient load failed only because it read no route.
#[track_caller]
fn check_nothing_read(error: Option<FeedError>) {
    if let Some(error) = error {
        assert!(matches!(error.problem, Problem::NothingRead { .. }), "{error}");
    }
}

#[test]
fn noise_never_panics() {
    let mut random = Random(3);
    for _ in 0..5_000 {
        let len = random.below(200);
        let body: Vec<u8> = (0..len).map(|_| random.next() as u8).collect();
        let kind = [12, 13, 16, 17][random.below(4)];
        let subtype = random.below(12) as u16;
        let file = [peer_index(3), record(kind, subtype, &body)].concat();
        let _ = load(&file);
        check_nothing_read(load_lenient(&file).err());
        let good = [&file[..], &everything()].concat();
        assert!(load_lenient(&good).is_ok());
    }
}

#[test]
fn errors_name_the_place_and_the_cause() {
    let mut file = everything();
    file.truncate(file.len() - 1);
    let error = error_of(&file);
    assert!(error.starts_with("byte ") && error.contains("cut off"), "{error}");
}

/// Writers of 2000 put several entries after one view and sequence number.
#[test]
fn several_entries_in_one_table_dump_record() {
    let body = |record: Vec<u8>| record[12..].to_vec();
    let first = body(table_dump(1, [10, 0, 0, 0], 8, &ipv4_attributes(1)));
    let second = body(table_dump(1, [11, 0, 0, 0], 8, &ipv4_attributes(2)));
    let third = body(table_dump(2, [12, 0, 0, 0], 8, &ipv4_attributes(3)));
    let batch = [&first[..], &second[4..], &third[4..]].concat();
    let (routes, report) = load(&record(12, 1, &batch)).unwrap();
    assert_eq!(routes.lines(), ["10.0.0.0/8 10.0.0.1", "11.0.0.0/8 10.0.0.2"]);
    assert_eq!((report.rib_entries, report.other_peers, report.records), (3, 1, 1));
    for cut in 1..batch.len() - first.len() {
        let cut = &batch[..batch.len() - cut];
        let complete = cut.len() == first.len() + second.len() - 4;
        assert_eq!(load(&record(12, 1, cut)).is_ok(), complete, "{}", cut.len());
    }
}

/// RFC 6396, appendix B.2.1: the MRT encoding of updates until 2000.
#[test]
fn updates_of_the_obsolete_type_5() {
    let message = |subtype, update: &[u8]| {
        let head = [0xfb, 0xf5, 192, 0, 2, 1, 0xfb, 0xf4, 192, 0, 2, 254];
        record(5, subtype, &[&head[..], update].concat())
    };
    let routes = [prefix(8, &[10]), prefix(16, &[11, 1])].concat();
    let file = [
        message(3, &[0, 5, 0, 6]),
        message(1, &update(&[], &ipv4_attributes(7), &routes)),
        message(7, &[]),
        message(1, &update(&prefix(8, &[10]), &[], &[])),
    ]
    .concat();
    let (routes, report) = load(&file).unwrap();
    assert_eq!(routes.lines(), ["11.1.0.0/16 10.0.0.7"]);
    assert_eq!((report.announced, report.withdrawn), (2, 1));
    assert_eq!((report.peers[0].asn, report.peers[0].addr), (64501, [192, 0, 2, 1].into()));
    assert!(matches!(refused(&message(1, &[0, 9])), Problem::Short { .. }));
}

/// The warning names the type of the skipped records.
#[test]
fn files_of_other_protocols_are_named() {
    let (_, report) = load(&record(11, 0, &[1, 2, 3])).unwrap();
    let warning = "no routes were read: records of type 11 (OSPF) hold no supported routes";
    assert_eq!(report.warnings(), [warning]);
    let (_, report) = load(&record(9, 1, &[1, 2, 3])).unwrap();
    assert!(report.warnings()[0].contains("type 9 (BGP4PLUS, obsolete since 2001)"));
}

/// The report counts the loaded routes, not the routes of the counting pass.
#[test]
fn loaded_routes_are_counted() {
    let no_hop = attribute(0x40, 1, &[0]);
    let file = [
        peer_index(1),
        rib(4, &prefix(8, &[0x20]), &[(0, no_hop)]),
        rib(2, &prefix(8, &[10]), &[(0, ipv4_attributes(1))]),
    ]
    .concat();
    let (_, report) = load(&file).unwrap();
    assert_eq!((report.announced, report.announced_ipv6, report.no_next_hop), (1, 0, 1));
    assert_eq!(load(&everything()).unwrap().1.announced_ipv6, 2);
}

#[test]
fn garbage_is_refused_by_a_lenient_load_too() {
    let garbage = record(13, 2, &[0, 0, 0, 1, 8, 10, 0, 0]).repeat(3);
    let error = load_lenient(&garbage).err().unwrap();
    assert!(matches!(error.problem, Problem::NothingRead { damaged: 3, .. }), "{error}");
    let expected = "nothing could be read: 3 lines or records are damaged, the first at byte 12: \
                    a RIB record before any peer index table";
    assert_eq!(error.to_string(), expected);
}
