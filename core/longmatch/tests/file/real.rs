//! Full tables of the Internet in files: their sizes and times of opening.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use longmatch::file::{FileSpec, FileTable};
use longmatch::table::{Cell, Column, ColumnType, PrefixData};
use longmatch::{Answers, EngineKind, IpPrefix, NextHopId, TableSpec};

use crate::data::{Numbers, ends};
use crate::same::tempdir;

/// The full tables with their origin ASes; says aloud why there are none.
fn full_tables(test: &str) -> Option<PrefixData> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let dir = std::env::var_os("LONGMATCH_DATA").map_or_else(|| beside.into(), PathBuf::from);
    let mut data = PrefixData::new(vec![Column::new("asn", ColumnType::U64)]).unwrap();
    for name in ["ipv4-full-origin-asn.txt.zst", "ipv6-full-origin-asn.txt.zst"] {
        let path = dir.join(name);
        if !path.exists() {
            eprintln!("skipped: {test}: no {}; set LONGMATCH_DATA", path.display());
            return None;
        }
        let unpacked = Command::new("zstd").arg("-dcq").arg(path).stderr(Stdio::inherit()).output();
        let text = match unpacked {
            Ok(unpacked) if unpacked.status.success() => unpacked.stdout,
            _ => {
                eprintln!("skipped: {test}: no program zstd");
                return None;
            }
        };
        for line in String::from_utf8(text).unwrap().lines() {
            let (prefix, asn) = line.split_once(' ').unwrap();
            let prefix: IpPrefix = prefix.parse().unwrap();
            data.insert(prefix, [Cell::U64(asn.parse().unwrap())].into()).unwrap();
        }
    }
    Some(data)
}

/// Verifies that the files of full tables answer as the tables do, at every address.
#[test]
#[ignore = "takes a minute without optimisation"]
fn full_tables_are_the_same() {
    let Some(data) = full_tables("full_tables_are_the_same") else { return };
    let dir = tempdir("full");
    let path = dir.join("full.lm");
    for answers in [Answers::Routes, Answers::Values] {
        FileSpec::default().answers(answers).write(&data, &path).unwrap();
        let table = FileTable::open(&path).unwrap();
        assert_eq!(table.len(), data.table().len());
        let (mut ipv4, mut ipv6) = (longmatch::Rib::new(), longmatch::Rib::new());
        for (i, ((prefix, right), (found, row))) in
            data.table().iter().zip(table.iter()).enumerate()
        {
            assert_eq!((prefix, right[0].borrowed()), (found, row.get(0)));
            let id = match answers {
                Answers::Routes => i as u32 + 1,
                Answers::Values => row.number() + 1,
            };
            let id = NextHopId::new(id).unwrap();
            match prefix {
                IpPrefix::V4(prefix) => drop(ipv4.insert(prefix, id).unwrap()),
                IpPrefix::V6(prefix) => drop(ipv6.insert(prefix, id).unwrap()),
            }
        }
        table.ipv4().check(&ipv4).unwrap();
        table.ipv6().check(&ipv6).unwrap();
        let addrs = ends(data.table().ipv4());
        let mut found = vec![None; addrs.len()];
        table.get_lpm_batch(&addrs[..], &mut found);
        for (addr, found) in addrs.iter().zip(found) {
            let right = data.table().ipv4().get_lpm((*addr).into()).map(|route| route.prefix);
            assert_eq!(found.map(|found| found.0), right);
        }
    }
    std::fs::remove_dir_all(dir).unwrap();
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn times(count: usize, mut what: impl FnMut()) -> Duration {
    let time = || {
        let start = Instant::now();
        what();
        start.elapsed()
    };
    median(std::iter::repeat_with(time).take(count).collect())
}

/// Prints the sizes and times of a file of full tables. Run it with optimisation.
#[test]
#[ignore = "a measurement"]
fn what_a_file_of_full_tables_takes() {
    let Some(data) = full_tables("what_a_file_of_full_tables_takes") else { return };
    let dir = tempdir("measured");
    let path = dir.join("full.lm");
    for answers in [Answers::Routes, Answers::Values] {
        let spec = FileSpec::default().answers(answers);
        println!("{answers:?}:");
        println!("  compiling to bytes {:?}", times(3, || drop(spec.to_bytes(&data).unwrap())));
        let writing = times(3, || assert!(spec.write(&data, &path).unwrap().rows > 0));
        println!("  writing            {writing:?}");
        println!("  bytes              {}", std::fs::metadata(&path).unwrap().len());
        let open = times(20, || drop(FileTable::open(&path).unwrap()));
        println!("  opening            {open:?} (median of 20, warm page cache)");
        let trusted = times(20, || drop(FileTable::open_trusted(&path).unwrap()));
        println!("  opening trusted    {trusted:?}");
        let table = FileTable::open(&path).unwrap();
        println!("  {:?} {:?}", table.ipv4(), table.ipv6());
        let frozen = TableSpec::new(EngineKind::Folio).answers(answers);
        let frozen = data.table().clone().freeze(frozen).unwrap();
        let mut numbers = Numbers::new(1);
        let addrs: Vec<u32> = (0..1 << 20).map(|_| numbers.next() as u32).collect();
        let mut out = vec![None; addrs.len()];
        let million = |time: Duration| addrs.len() as f64 / time.as_secs_f64() / 1e6;
        for round in 1..=3 {
            let of_file = million(times(15, || table.ipv4().lookup_batch(&addrs, &mut out)));
            let in_memory = million(times(15, || frozen.ipv4().lookup_batch(&addrs, &mut out)));
            println!(
                "  ids of random IPv4, round {round}: {of_file:.0} M/s from the file, {in_memory:.0} M/s frozen"
            );
        }
        let routed: Vec<u128> = ends(data.table().ipv6()).into_iter().take(1 << 20).collect();
        let mut out = vec![None; routed.len()];
        let million = |time: Duration| routed.len() as f64 / time.as_secs_f64() / 1e6;
        let of_file = million(times(15, || table.ipv6().lookup_batch(&routed, &mut out)));
        let in_memory = million(times(15, || frozen.ipv6().lookup_batch(&routed, &mut out)));
        println!("  ids of routed IPv6: {of_file:.0} M/s from the file, {in_memory:.0} M/s frozen");
    }
    std::fs::remove_dir_all(dir).unwrap();
}
