//! One answer to the question which prefixes a file has: routes, prefix data and sets agree, on every file of the
//! corpus, its beginnings and mutations.

#[path = "../common/mod.rs"]
mod common;
mod compare;

use std::fs;
use std::path::{Path, PathBuf};

use common::Random;
use compare::compare;
use longmatch_feed::Options;

/// Length of the longest file whose beginnings are all tried.
const SHORT: usize = 4 << 10;

/// The files that have prefixes.
fn corpus() -> Vec<(PathBuf, Vec<u8>)> {
    let testdata = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata"));
    let mut all = Vec::new();
    for folder in ["feed", "lists", "formats"] {
        for entry in fs::read_dir(testdata.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|it| it != "md" && it != "py") {
                all.push((path.clone(), fs::read(&path).unwrap()));
            }
        }
    }
    all.sort();
    assert!(all.len() > 20, "the corpus is there");
    all
}

fn options() -> [Options; 3] {
    let [mut lenient, mut masked] = [Options::default(), Options::default()];
    lenient.lenient = true;
    masked.mask_host_bits = true;
    [Options::default(), lenient, masked]
}

#[test]
fn files_and_their_beginnings() {
    for (path, bytes) in corpus() {
        println!("{}", path.display());
        for options in options() {
            compare(&bytes, &options);
        }
        let ends = if bytes.len() <= SHORT { 0..bytes.len() } else { 0..0 };
        for end in ends {
            compare(&bytes[..end], &options()[end % 3]);
        }
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            compare(line, &Options::default());
        }
    }
}

/// Lists with prefixes and ranges near the IPv4-mapped addresses.
#[test]
fn lists_near_the_mapped_addresses() {
    let ends =
        [0u128, 1, 0xffff << 32, (0xffff << 32) | 0xa00_0000, (1 << 48) - 1, 1 << 48, u128::MAX];
    let mut random = Random(8);
    let mut read = 0;
    for _ in 0..3_000 {
        let mut addr = || {
            let near = ends[random.below(ends.len())];
            let bits = match random.below(3) {
                0 => near.wrapping_add(random.below(3) as u128).wrapping_sub(1),
                _ => near,
            };
            std::net::Ipv6Addr::from_bits(bits)
        };
        let mut text = String::new();
        for n in 0..3 {
            let [first, last] = [addr(), addr()];
            text += &match n {
                0 => format!("{first}-{last}\n"),
                1 => format!("{}-{}\n", first.min(last), first.max(last)),
                _ => format!("{first}/{}\n", 90 + first.to_bits() % 39),
            };
        }
        for options in options() {
            compare(text.as_bytes(), &options);
            read += usize::from(compare::data(text.as_bytes(), &options).is_ok());
        }
    }
    assert!(read > 3_000, "{read}");
}

/// Mutations of lines. `LONGMATCH_MUTATIONS` is their number.
#[test]
fn mutated_lines() {
    let count = std::env::var("LONGMATCH_MUTATIONS").ok().and_then(|it| it.parse().ok());
    let lines: Vec<Vec<u8>> = corpus()
        .iter()
        .flat_map(|(_, bytes)| bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec))
        .filter(|line| line.len() < 300)
        .collect();
    let alphabet = b"0123456789abcdef.:/-,;|#\"' \t\r\n%x\0\xff";
    let mut random = Random(20);
    for _ in 0..count.unwrap_or(20_000) {
        let mut text = Vec::new();
        for _ in 0..1 + random.below(3) {
            text.extend(&lines[random.below(lines.len())]);
        }
        for _ in 0..random.below(4) {
            let at = random.below(text.len().max(1));
            let byte = alphabet[random.below(alphabet.len())];
            match random.below(3) {
                0 if !text.is_empty() => text[at] = byte,
                1 => text.insert(at, byte),
                _ if !text.is_empty() => drop(text.remove(at)),
                _ => {}
            }
        }
        compare(&text, &options()[random.below(3)]);
    }
}
