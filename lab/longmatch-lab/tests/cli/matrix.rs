//! Every file of the corpus through every command on whole tables: the same number of routes, or the same error.

use std::collections::{BTreeMap, BTreeSet};

use longmatch::IpPrefix;

use crate::common::{Ended, corpus, error, prefixes, run};

#[test]
fn every_command_reads_every_file_alike() {
    for (number, path) in corpus().into_iter().enumerate() {
        let file = path.to_str().unwrap();
        let rows = prefixes(file);
        checks(file, &rows);
        measurements(file, &rows, number % 8 == 0);
    }
}

/// A member of all lines of JSON.
fn numbers(ended: &Ended, member: &str) -> BTreeMap<String, u64> {
    let lines = ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
    let number = |line: serde_json::Value| {
        Some((line["family"].as_str()?.to_owned(), line[member].as_u64()?))
    };
    lines.filter_map(number).collect()
}

/// Commands that describe and verify.
fn checks(file: &str, rows: &Result<BTreeSet<IpPrefix>, String>) {
    let stat = run(&["stat", "-e", "none", "--json", "--value", "next-hop", "-r", file]);
    let verify = ["verify", "-e", "radix", "--quick", "--simd", "portable", "--json", "-r", file];
    let verify = run(&verify);
    match rows {
        Err(problem) => {
            for ended in [&stat, &verify] {
                assert_eq!(error(ended), *problem, "{file}");
            }
        }
        Ok(rows) => {
            assert_eq!(stat.code, 0, "{file}: {}", stat.stderr);
            assert_eq!(numbers(&stat, "routes").values().sum::<u64>(), rows.len() as u64, "{file}");
            assert!(rows.is_empty() || verify.code == 0, "{file}: {}", verify.stderr);
        }
    }
}

/// Commands that measure, which takes seconds.
fn measurements(file: &str, rows: &Result<BTreeSet<IpPrefix>, String>, measure: bool) {
    let source = ["--value", "next-hop", "--json", "-r", file];
    let bench = ["bench", "-e", "radix", "-t", "random", "--mode", "one", "--seconds", "0.001"];
    // A replay is of one family.
    let ipv4 = |rows: &BTreeSet<_>| rows.iter().filter(|it| matches!(it, IpPrefix::V4(_))).count();
    let (all, ipv4) = rows.as_ref().map_or((0, 0), |rows| (rows.len(), ipv4(rows)));
    let family: &[&str] = if rows.is_ok() { &["-4"] } else { &[] };
    let replay = [&["replay", "-e", "radix", "--from-empty"], family].concat();
    let commands: [(&[&str], _, _); 2] = [(&bench, "routes", all), (&replay, "routes_after", ipv4)];
    let without_bench = usize::from(rows.is_ok() && !measure);
    for (command, member, count) in commands.into_iter().skip(without_bench) {
        let ended = run(&[command, &source].concat());
        let place = format!("{file} {}: {}", command[0], ended.stderr);
        match rows {
            Err(problem) => assert_eq!(error(&ended), *problem, "{place}"),
            // A measurement needs routes.
            Ok(_) if count == 0 => assert_eq!(ended.code, 2, "{place}"),
            Ok(_) => {
                assert_eq!(ended.code, 0, "{place}");
                let read: u64 = numbers(&ended, member).values().sum();
                assert_eq!(read, count as u64, "{place}");
            }
        }
    }
}
