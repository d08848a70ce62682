//! Loading of real files, if they are present.

mod common;

use std::fs;

use common::{Random, Routes, data_dir, lenient, load_lenient, peer};
use longmatch::Table;
use longmatch_feed::{Codec, Options, Problem, Report, load_bytes, load_path};

#[test]
fn full_text_tables() {
    let Some(dir) = data_dir("full_text_tables") else { return };
    let mut table = Table::<Box<str>>::new();
    for (name, routes) in [("ipv4-full", 1_042_325), ("ipv6-full", 246_175)] {
        let path = dir.join(format!("{name}.txt.zst"));
        let report = load_path(&path, &Options::default(), &mut table).unwrap();
        assert_eq!((report.announced, report.lines), (routes, routes), "{name}");
        assert_eq!(report.codec, Some(Codec::Zstd));
    }
    assert_eq!(table.len(), 1_042_325 + 246_175);
    for (name, routes) in [("ipv4-updates", 1_043_392), ("ipv6-updates", 246_309)] {
        let path = dir.join(format!("{name}.txt.zst"));
        load_path(&path, &Options::default(), &mut table).unwrap();
        let len = if name == "ipv4-updates" { table.ipv4().len() } else { table.ipv6().len() };
        assert_eq!(len, routes, "{name}");
    }
}

fn with_routes(report: &Report) -> usize {
    report.peers.iter().filter(|peer| peer.ipv4_routes + peer.ipv6_routes > 0).count()
}

#[test]
fn cut_off_table_dumps() {
    let Some(dir) = data_dir("cut_off_table_dumps") else { return };
    let rib4 = dir.join("mrt/rib.20140523.0600.firstMB.bz2");
    let error = load_path(&rib4, &Options::default(), &mut Routes::default()).unwrap_err();
    assert!(matches!(error.problem, Problem::Compressed { codec: Codec::Bzip2, .. }), "{error}");
    let mut routes = Routes::default();
    let report = load_path(&rib4, &lenient(), &mut routes).unwrap();
    // One record is the peer index table; not every peer in it has routes.
    assert_eq!((report.records - 1, with_routes(&report)), (9_072, 35));
    assert_eq!(report.rib_entries, 270_005);
    assert!(report.cut_off && report.damaged == 1);
    let best = report.peers.iter().map(|peer| peer.ipv4_routes).max().unwrap();
    assert_eq!(routes.0.len() as u64, best);

    let rib6 = dir.join("mrt/rib6.20151101.0600.firstMB.bz2");
    let mut routes = Routes::default();
    let report = load_path(&rib6, &lenient(), &mut routes).unwrap();
    assert_eq!((report.records - 1, with_routes(&report)), (6_870, 27));
    assert!(report.cut_off);
    let best = &report.peers[report.chosen.ipv6.unwrap()];
    assert_eq!(routes.0.len() as u64, best.ipv6_routes);

    let mut named = peer(&best.addr.to_string());
    named.lenient = true;
    let mut same = Routes::default();
    load_path(&rib6, &named, &mut same).unwrap();
    assert_eq!(routes.0, same.0);
}

#[test]
fn a_full_table_as_updates() {
    let Some(dir) = data_dir("a_full_table_as_updates") else { return };
    let mut routes = Routes::default();
    let path = dir.join("mrt/fulltable-as-updates.20151023.gz");
    let report = load_path(&path, &Options::default(), &mut routes).unwrap();
    assert_eq!(report.announced, 577_737);
    // The text table has the same routes, and three more that the updates withdraw.
    let mut text = Routes::default();
    let path = dir.join("ipv4-pch2015-truenh.txt.zst");
    load_path(&path, &Options::default(), &mut text).unwrap();
    let differing = text.0.iter().filter(|(prefix, hop)| routes.0.get(prefix) != Some(hop));
    assert_eq!((routes.0.len(), text.0.len()), (577_703, 577_706));
    assert_eq!((report.withdrawn, differing.count()), (3, 3));
}

#[test]
fn small_files() {
    let Some(dir) = data_dir("small_files") else { return };
    for (name, announced) in [
        ("mrt/bird-rib.mrt", 6),
        ("mrt/bview.ipv4_unicast_add_path.gz", 16),
        ("mrt/updates.20130101.0013.mrt", 3_900),
        ("mrt/updates.20160811.1600.gz", 5_333),
    ] {
        let path = dir.join(name);
        let report = load_path(&path, &Options::default(), &mut Routes::default()).unwrap();
        assert_eq!(report.announced, announced, "{name}: {report:#?}");
    }
}

/// A small real file, truncated at every byte and with bits flipped.
#[test]
fn a_damaged_dump_of_bird() {
    let Some(dir) = data_dir("a_damaged_dump_of_bird") else { return };
    let whole = fs::read(dir.join("mrt/bird-rib.mrt")).unwrap();
    let mut strict_ok = 0;
    for end in 6..=whole.len() {
        let cut = &whole[..end];
        strict_ok +=
            usize::from(load_bytes(cut, None, &Options::default(), &mut Routes::default()).is_ok());
        if let Err(error) = load_lenient(cut) {
            assert!(matches!(error.problem, Problem::NothingRead { .. }), "{error}");
        }
    }
    let (_, report) = load_lenient(&whole).unwrap();
    assert_eq!(strict_ok as u64, report.records, "only truncation between records is not an error");
    let mut random = Random(4);
    for _ in 0..5_000 {
        let mut file = whole.clone();
        let at = random.below(file.len());
        file[at] = random.next() as u8;
        let _ = load_lenient(&file);
    }
}

/// Files of real encoders at high levels, with bits flipped, do not make the decompressors panic.
/// `LONGMATCH_FUZZ` sets the number of cases per file.
#[test]
fn damaged_compressed_files() {
    let Some(dir) = data_dir("damaged_compressed_files") else { return };
    let cases = std::env::var("LONGMATCH_FUZZ").ok().and_then(|text| text.parse().ok());
    for (name, cases) in [
        ("ipv6-destinations-ndpi.txt.zst", cases.unwrap_or(1_000)),
        ("mrt/bview.ipv4_unicast_add_path.gz", cases.unwrap_or(1_000)),
        ("ipv4-linx2017-truenh.txt.zst", cases.unwrap_or(100) / 10),
        ("mrt/rib.20140523.0600.firstMB.bz2", cases.unwrap_or(100) / 100),
    ] {
        let whole = fs::read(dir.join(name)).unwrap();
        let mut random = Random(5);
        for _ in 0..cases {
            let mut file = whole.clone();
            for _ in 0..=random.below(3) {
                let at = random.below(file.len());
                file[at] ^= 1 << random.below(8);
            }
            // Any result except a panic is correct: a flipped bit may have no effect.
            let _ = load_lenient(&file);
        }
    }
}
