//! Rebuilds the default table of `longmatch lookup` and `longmatch annotate`: origin AS number and name.

use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::io::Read;
use std::net::IpAddr;

use flate2::read::GzDecoder;
use longmatch::file::{FileSpec, FileTable};
use longmatch::table::{Cell, PrefixData};

use super::build::{compress, settle, sha256};
use super::{default_rules, fetch};
use crate::steps::{CommandResult, OutputMode};
use crate::workspace::root;

/// The source, a package of npm.
const PACKAGE: &str = "@ip-location-db/asn";
/// The files with the ranges, IPv4 first.
const RANGES: [&str; 2] = ["asn-ipv4.csv", "asn-ipv6.csv"];
/// The files with the terms of the package's own sources, and what the package changed.
const TERMS: [&str; 4] = ["ROUTEVIEWS-LICENSE", "DBIP-LICENSE", "NRO_LICENSE", "MODIFICATIONS"];
/// A table with fewer prefixes than these, of IPv4 and IPv6, is not complete.
const LEAST: [usize; 2] = [400_000, 100_000];
/// Addresses whose AS does not change in years, and addresses without any.
const KNOWN: &[(&str, Option<u64>)] = &[
    ("1.1.1.1", Some(13335)),
    ("8.8.8.8", Some(15169)),
    ("2001:4860:4860::8888", Some(15169)),
    ("10.1.2.3", None),
    ("fe80::1", None),
];
/// The part of data/PROVENANCE.md that this command writes.
const RECORD: [&str; 2] = ["<!-- written by cargo xtask data default-table -->\n", "<!-- end -->"];

/// Rebuilds the table; returns whether it is as recorded: in check mode equal to the files in data/, and of a version that
/// data/PROVENANCE.md already has, from the same archive.
pub fn run(version: Option<&str>, mode: OutputMode) -> CommandResult {
    let data = root().join("data");
    let current = fs::read_to_string(data.join("asn.version")).unwrap_or_default();
    let version = version.or_else(|| current.split_whitespace().next());
    let version = version.ok_or("name the VERSION: data/asn.version has none")?;
    let date = default_rules::date(version)
        .ok_or_else(|| format!("{version}: does not end with a day and an hour"))?;
    let archive = fetch::npm_package(PACKAGE, version)?;
    let provenance = data.join("PROVENANCE.md");
    let before = fs::read_to_string(&provenance)?;
    let hash = sha256(&archive);
    if before.contains(&format!("`{version}`")) && !before.contains(&hash) {
        println!("sha256 {hash}: NOT the archive of {version} that data/PROVENANCE.md records");
        return Ok(false);
    }
    let files = unpack(&archive)?;
    let text = |name: &str| files.get(name).ok_or_else(|| format!("the package has no {name}"));
    let table = default_rules::table(text(RANGES[0])?, text(RANGES[1])?)?;
    verify(&table)?;
    let compiled = FileSpec::default().to_bytes(&table)?;
    let packed = compress(&compiled)?;
    let licence = TERMS.iter().map(|name| Ok(format!("{}\n\n", text(name)?.trim_end())));
    let licence = licence.collect::<Result<String, String>>()?;
    let record = record(version, &date, &hash, &files, &table, [&compiled, &packed]);
    let mut good = true;
    for (name, bytes) in [
        ("asn.lm.zst", &packed[..]),
        ("asn.version", format!("{version} {date}\n").as_bytes()),
        ("LICENSE-ip-location-db", format!("{}\n", licence.trim_end()).as_bytes()),
        ("PROVENANCE.md", replaced(&before, &record)?.as_bytes()),
    ] {
        good &= settle(mode, &data.join(name), bytes)?;
    }
    Ok(good)
}

/// The text files of an archive of npm, by their names.
fn unpack(archive: &[u8]) -> Result<HashMap<String, String>, Box<dyn Error>> {
    let mut files = HashMap::new();
    let mut archive = tar::Archive::new(GzDecoder::new(archive));
    for entry in archive.entries()? {
        let mut entry = entry?;
        let name = entry.path()?.file_name().map(|name| name.to_string_lossy().into_owned());
        let mut text = String::new();
        entry.read_to_string(&mut text)?;
        files.insert(name.unwrap_or_default(), text);
    }
    Ok(files)
}

/// Refuses a table that is not whole, or that has not the AS of well-known addresses.
fn verify(data: &PrefixData) -> Result<(), Box<dyn Error>> {
    let counts = [data.table().ipv4().len(), data.table().ipv6().len()];
    if counts.iter().zip(LEAST).any(|(count, least)| *count < least) {
        return Err(format!("{counts:?} prefixes of IPv4 and IPv6: the source is not whole").into());
    }
    for (addr, expected) in KNOWN {
        let row = data.table().lookup(addr.parse::<IpAddr>()?);
        let found = row.and_then(|row| if let Cell::U64(asn) = row[0] { Some(asn) } else { None });
        if found != *expected {
            return Err(format!("{addr} has the AS {found:?}, not {expected:?}").into());
        }
    }
    Ok(())
}

/// The facts about the table, as a table of data/PROVENANCE.md.
fn record(
    version: &str,
    date: &str,
    archive: &str,
    files: &HashMap<String, String>,
    table: &PrefixData,
    [compiled, packed]: [&[u8]; 2],
) -> String {
    let rows = FileTable::from_bytes(compiled).map_or(0, |table| table.row_count());
    let hash_of = |name: &str| files.get(name).map_or_else(String::new, |it| sha256(it.as_bytes()));
    let mut facts = vec![
        ("version".to_owned(), format!("`{version}`, of {date}")),
        ("sha256 of the archive".to_owned(), format!("`{archive}`")),
    ];
    for name in RANGES {
        facts.push((format!("sha256 of its `{name}`"), format!("`{}`", hash_of(name))));
    }
    facts.extend([
        ("IPv4 prefixes".to_owned(), table.table().ipv4().len().to_string()),
        ("IPv6 prefixes".to_owned(), table.table().ipv6().len().to_string()),
        ("distinct rows".to_owned(), rows.to_string()),
        ("bytes of `asn.lm.zst`".to_owned(), packed.len().to_string()),
        ("sha256 of `asn.lm.zst`".to_owned(), format!("`{}`", sha256(packed))),
        ("bytes of the table in it".to_owned(), compiled.len().to_string()),
    ]);
    let lines = facts.iter().map(|(name, value)| format!("| {name} | {value} |\n"));
    format!("\n| | |\n|---|---|\n{}\n", lines.collect::<String>())
}

/// The text with another record.
fn replaced(text: &str, record: &str) -> Result<String, Box<dyn Error>> {
    let missing = || format!("data/PROVENANCE.md has no `{}`", RECORD[0].trim_end());
    let (before, rest) = text.split_once(RECORD[0]).ok_or_else(missing)?;
    let (_, after) = rest.split_once(RECORD[1]).ok_or_else(missing)?;
    Ok(format!("{before}{}{record}{}{after}", RECORD[0], RECORD[1]))
}
