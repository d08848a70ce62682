//! Rebuilds the embedded tables and compares them with the records in data/PROVENANCE.md.

use std::error::Error;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use sha2::{Digest, Sha256};

use super::fetch;
use super::rules::{self, Table};
use crate::steps::{CommandResult, OutputMode};
use crate::workspace::root;

/// The source of the IPv4 table.
const CRATE: (&str, &str) = ("rotonda-store", "0.5.0");
/// The source of the IPv6 table.
const MODULE: (&str, &str) = ("github.com/gaissmai/bart", "v0.30.0");

const IPV4_ROUTES: usize = 886_116;
const IPV6_ROUTES: usize = 160_147;

/// The strongest level whose window (8 MiB) every decoder accepts by default.
const LEVEL: i32 = 19;

/// Rebuilds both tables; returns whether they are recorded and, in check mode, equal to the files in data/.
pub fn run(mode: OutputMode) -> CommandResult {
    println!("compressing with zstd {} at level {LEVEL}", zstd::zstd_safe::version_string());
    let data = root().join("data");
    let recorded = fs::read_to_string(data.join("PROVENANCE.md")).unwrap_or_default();
    let mut good = true;
    for (name, bytes) in [ipv4()?, ipv6()?].into_iter().flatten() {
        good &= settle(mode, &data.join(name), &bytes)?;
        if name.ends_with(".zst") {
            good &= is_recorded(name, &bytes, &recorded);
        }
    }
    Ok(good)
}

/// A file of data/: its name and its bytes.
type File = (&'static str, Vec<u8>);

/// The IPv4 table and the licence of its source.
fn ipv4() -> Result<[File; 2], Box<dyn Error>> {
    let package = fetch::cargo_package(CRATE.0, CRATE.1)?;
    let csv = fs::read_to_string(package.join("data/uniq_pfx_asn_dfz_rnd.csv"))?;
    let table = rules::ipv4_table(rules::parse_origins(&csv)?);
    let licence = fs::read(package.join("LICENSE"))?;
    Ok([("ipv4.txt.zst", pack("IPv4", &table, IPV4_ROUTES)?), ("LICENSE-rotonda-store", licence)])
}

/// The IPv6 table and the licence of its source.
fn ipv6() -> Result<[File; 2], Box<dyn Error>> {
    let module = fetch::go_module(MODULE.0, MODULE.1)?;
    let mut list = String::new();
    let packed = fs::File::open(module.join("internal/tests/testdata/prefixes.txt.gz"))?;
    MultiGzDecoder::new(packed).read_to_string(&mut list)?;
    let table = rules::ipv6_table(rules::parse_ipv6(&list)?);
    let licence = fs::read(module.join("LICENSE"))?;
    Ok([("ipv6.txt.zst", pack("IPv6", &table, IPV6_ROUTES)?), ("LICENSE-bart", licence)])
}

/// Counts the table's routes and compresses its text.
fn pack(family: &str, table: &Table, expected: usize) -> Result<Vec<u8>, Box<dyn Error>> {
    if table.routes != expected {
        return Err(
            format!("{family}: {} routes, not the expected {expected}", table.routes).into()
        );
    }
    println!("{family}: {} routes, {} distinct next hops", table.routes, table.next_hops);
    compress(table.text.as_bytes())
}

/// Compresses a file of data/.
pub fn compress(bytes: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut encoder = zstd::Encoder::new(Vec::new(), LEVEL)?;
    encoder.include_checksum(true)?;
    // The stored size lets a reader allocate once.
    encoder.set_pledged_src_size(Some(bytes.len() as u64))?;
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

/// Returns the SHA-256 of bytes in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes the file, or compares it with the existing one.
pub fn settle(mode: OutputMode, path: &Path, bytes: &[u8]) -> Result<bool, Box<dyn Error>> {
    let name = path.display();
    match mode {
        OutputMode::Write => {
            fs::write(path, bytes).map_err(|error| format!("cannot write {name}: {error}"))?;
            println!("written: {name}, {} bytes", bytes.len());
            Ok(true)
        }
        OutputMode::Check => {
            let same =
                fs::read(path).map_err(|error| format!("cannot read {name}: {error}"))? == bytes;
            println!(
                "{}: {name}, {} bytes",
                if same { "the same" } else { "DIFFERENT" },
                bytes.len()
            );
            Ok(same)
        }
    }
}

/// Returns whether data/PROVENANCE.md names the hash of these bytes.
fn is_recorded(name: &str, bytes: &[u8], recorded: &str) -> bool {
    let hash = sha256(bytes);
    let found = recorded.contains(&hash);
    let verdict = if found { "as recorded" } else { "NOT the one that data/PROVENANCE.md records" };
    println!("sha256 {hash}  {name}: {verdict}");
    found
}
