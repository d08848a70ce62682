//! AS paths and communities as text.

use std::fmt::Write;

/// Types of the segments of an AS path (RFC 4271, section 4.3; RFC 5065, section 3).
const SET: u8 = 1;
const SEQUENCE: u8 = 2;
const CONFED_SEQUENCE: u8 = 3;
const CONFED_SET: u8 = 4;

/// Subtypes of extended communities (RFC 4360, sections 4, 5).
const ROUTE_TARGET: u8 = 2;
const ROUTE_ORIGIN: u8 = 3;

/// A part of an AS path: its type, and its autonomous systems.
type Segment = (u8, Vec<u32>);

/// The text of an AS path whose numbers have 4 bytes if it is `wide`; else those of AS4_PATH (RFC 6793)
/// replace the end of the path. Empty if the path is damaged.
pub(super) fn as_path(path: &[u8], as4_path: Option<&[u8]>, wide: bool) -> String {
    let Some(mut all) = segments(path, wide) else { return String::new() };
    if let Some(end) = as4_path.filter(|_| !wide).and_then(|path| segments(path, true)) {
        let (have, replaced) = (length(&all), length(&end));
        if have >= replaced {
            truncate(&mut all, have - replaced);
            all.extend(end);
        }
    }
    let mut text = String::new();
    for (kind, systems) in &all {
        let (open, separator, close) = match *kind {
            SET => ("{", ",", "}"),
            CONFED_SEQUENCE => ("(", " ", ")"),
            CONFED_SET => ("[", ",", "]"),
            _ => ("", " ", ""),
        };
        let systems: Vec<_> = systems.iter().map(u32::to_string).collect();
        let space = if text.is_empty() { "" } else { " " };
        let _ = write!(text, "{space}{open}{}{close}", systems.join(separator));
    }
    text
}

/// The segments of a path: type (1), number of systems (1), the systems (2 or 4 each). `None` if the
/// path is damaged.
fn segments(mut path: &[u8], wide: bool) -> Option<Vec<Segment>> {
    let width = if wide { 4 } else { 2 };
    let mut all = Vec::new();
    while let [kind, count, rest @ ..] = path {
        let (systems, rest) = rest.split_at_checked(usize::from(*count) * width)?;
        let number = |bytes: &[u8]| bytes.iter().fold(0, |n, byte| n << 8 | u32::from(*byte));
        all.push((*kind, systems.chunks_exact(width).map(number).collect()));
        path = rest;
    }
    path.is_empty().then_some(all)
}

/// The length of a path as RFC 4271 counts it: a set is one, a confederation nothing.
fn length(path: &[Segment]) -> usize {
    let one = |(kind, systems): &Segment| match *kind {
        SEQUENCE => systems.len(),
        SET => 1,
        _ => 0,
    };
    path.iter().map(one).sum()
}

/// Keeps the first part of a path, of this length.
fn truncate(path: &mut Vec<Segment>, mut len: usize) {
    for (kind, systems) in path.iter_mut() {
        match *kind {
            SEQUENCE => {
                systems.truncate(len);
                len -= systems.len();
            }
            SET if len == 0 => systems.clear(),
            SET => len -= 1,
            _ => {}
        }
    }
    path.retain(|(_, systems)| !systems.is_empty());
}

/// The text of communities: plain, extended and large ones.
pub(super) fn communities(plain: &[u8], extended: &[u8], large: &[u8]) -> String {
    let mut all = Vec::new();
    let short = |bytes: &[u8]| u32::from(u16::from_be_bytes([bytes[0], bytes[1]]));
    let long = |bytes: &[u8]| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    for one in plain.chunks_exact(4) {
        all.push(format!("{}:{}", short(one), short(&one[2..])));
    }
    for one in extended.chunks_exact(8) {
        let name = match one[1] {
            ROUTE_TARGET => Some("rt"),
            ROUTE_ORIGIN => Some("soo"),
            _ => None,
        };
        all.push(match (name, one[0]) {
            // An AS number of 2 bytes, an IPv4 address, an AS number of 4 bytes.
            (Some(name), 0) => format!("{name}:{}:{}", short(&one[2..]), long(&one[4..])),
            (Some(name), 1) => {
                let addr = std::net::Ipv4Addr::from_bits(long(&one[2..]));
                format!("{name}:{addr}:{}", short(&one[6..]))
            }
            (Some(name), 2) => format!("{name}:{}:{}", long(&one[2..]), short(&one[6..])),
            _ => one.iter().fold("0x".to_owned(), |text, byte| format!("{text}{byte:02x}")),
        });
    }
    for one in large.chunks_exact(12) {
        all.push(format!("{}:{}:{}", long(one), long(&one[4..]), long(&one[8..])));
    }
    all.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_sets_and_confederations() {
        let path = [2, 2, 0, 1, 0, 2, 1, 2, 0, 3, 0, 4, 3, 2, 0, 5, 0, 6, 4, 1, 0, 7];
        assert_eq!(as_path(&path, None, false), "1 2 {3,4} (5 6) [7]");
        assert_eq!(as_path(&[2, 1, 0, 1, 0, 2], None, true), "65538");
        assert_eq!(as_path(&[], None, true), "");
        for damaged in [&[2][..], &[2, 1], &[2, 1, 0], &[2, 1, 0, 1, 2]] {
            assert_eq!(as_path(damaged, None, false), "", "{damaged:?}");
        }
    }

    #[test]
    fn numbers_of_4_bytes_replace_the_end() {
        let path = [2, 3, 0, 1, 0x5b, 0xa0, 0x5b, 0xa0];
        let end = [2, 2, 0, 1, 0, 2, 0, 1, 0, 3];
        assert_eq!(as_path(&path, Some(&end), false), "1 65538 65539");
        let set = [2, 1, 0, 1, 1, 2, 0x5b, 0xa0, 0, 9];
        assert_eq!(as_path(&set, Some(&[1, 1, 0, 1, 0, 2]), false), "1 {65538}");
        // Longer than the path: it is ignored.
        assert_eq!(as_path(&[2, 1, 0, 1], Some(&end), false), "1");
        assert_eq!(as_path(&[2, 1, 0, 1], Some(&[2, 1, 0]), false), "1", "damaged");
    }

    #[test]
    fn communities_of_every_kind() {
        let plain = [0xfb, 0xf0, 0, 1, 0xff, 0xff, 0xff, 1];
        let extended = [
            [0, 2, 0xfb, 0xf0, 0, 0, 0, 7],
            [1, 3, 192, 0, 2, 1, 0, 8],
            [2, 2, 0, 1, 0, 2, 0, 9],
            [0x43, 0, 0, 0, 0, 0, 0, 1],
        ];
        let large = [0, 1, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4];
        let expected = "64496:1 65535:65281 rt:64496:7 soo:192.0.2.1:8 rt:65538:9 \
                        0x4300000000000001 65538:3:4";
        assert_eq!(communities(&plain, &extended.concat(), &large), expected);
        assert_eq!(communities(&plain[..5], &[0; 7], &[0; 11]), "64496:1", "cut off");
    }
}
