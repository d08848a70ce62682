//! The tables: files of the data directory, tables derived from them, and one at random.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::net::Ipv6Addr;
use std::path::{Path, PathBuf};

use ruzstd::decoding::StreamingDecoder;

use crate::large;
use crate::random::Random;

/// Name of the table that is made without a file.
pub const RANDOM_48: &str = "ipv6-random-48";

/// Number of routes of [`RANDOM_48`] without the default route.
const RANDOM_ROUTES: usize = 250_000;
/// Number of /64 and of /128 that are added to `ipv6-full`.
const LONGER: [(usize, u8); 2] = [(100_000, 64), (20_000, 128)];
/// The longest route in which a longer one is placed.
const LONGEST_AROUND: u8 = 48;
/// Number of next hops of made routes: as many as the full tables have.
const NEXT_HOPS: usize = 256;
/// Seed of all made routes.
const SEED: u64 = 1;

/// A table of routes.
#[derive(Debug)]
pub struct Table {
    /// The name in the records; docs/tables.md has a section with it.
    pub name: &'static str,
    origin: Origin,
}

/// Where the routes come from.
#[derive(Debug)]
enum Origin {
    /// The file with the table's name.
    File,
    /// The routes of this file, each with its own next hop.
    Each(&'static str),
    /// The routes of this file, and longer ones inside them.
    Longer(&'static str),
    /// Random /48 routes.
    Random48,
}

const fn file(name: &'static str) -> Table {
    Table { name, origin: Origin::File }
}

/// The tables, in the order of their publication. Each adds a property: true next hops and routes longer than /24, many
/// next hops, as many next hops as routes; for IPv6 prefixes without the structure of real ones, and long routes.
pub static TABLES: [Table; 8] = [
    file("ipv4-full"),
    file("ipv4-pch2015-truenh"),
    file("ipv4-full-origin-asn"),
    Table { name: "ipv4-full-each", origin: Origin::Each("ipv4-full") },
    file("ipv6-full"),
    file("ipv6-full-origin-asn"),
    Table { name: RANDOM_48, origin: Origin::Random48 },
    Table { name: "ipv6-full-long", origin: Origin::Longer("ipv6-full") },
];

/// Returns the table with this name.
///
/// # Errors
/// If there is none; the message has all names.
pub fn named(name: &str) -> Result<&'static Table, String> {
    TABLES.iter().find(|table| table.name == name).ok_or_else(|| {
        let names: Vec<_> = TABLES.iter().map(|table| table.name).collect();
        format!("cells: no table `{name}`; the tables are {}", names.join(", "))
    })
}

impl Table {
    /// Whether the routes are those of IPv6.
    pub fn is_ipv6(&self) -> bool {
        self.name.starts_with("ipv6")
    }

    /// Returns the name of the file in the data directory that the table needs; `None` if it needs none.
    pub fn source(&self) -> Option<&'static str> {
        match self.origin {
            Origin::File => Some(self.name),
            Origin::Each(source) | Origin::Longer(source) => Some(source),
            Origin::Random48 => None,
        }
    }

    /// Returns the file with the routes; a derived one is written into the directory `own`.
    ///
    /// # Errors
    /// If the data directory is missing, its file cannot be read or decompressed, or a line is no route; or if the
    /// derived file cannot be written.
    pub fn prepare(&self, data: Option<&Path>, own: &Path) -> Result<PathBuf, String> {
        let source = match (self.source(), data) {
            (Some(source), Some(dir)) => Some(large::file(dir, source)),
            (Some(source), None) => {
                return Err(format!("no data directory with {source}.txt.zst"));
            }
            (None, _) => None,
        };
        let text = match (&self.origin, source) {
            (Origin::File, Some(source)) => return Ok(source),
            (Origin::Each(_), Some(source)) => each(&decompressed(&source)?)?,
            (Origin::Longer(_), Some(source)) => longer(&decompressed(&source)?)?,
            _ => random_48(RANDOM_ROUTES),
        };
        let path = own.join(format!("{}.txt", self.name));
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    }
}

/// Reads a file of one or more zstd frames.
fn decompressed(path: &Path) -> Result<String, String> {
    let at = |problem: String| format!("{}: {problem}", path.display());
    let bytes = fs::read(path).map_err(|error| at(error.to_string()))?;
    let (mut input, mut text) = (&bytes[..], String::new());
    while !input.is_empty() {
        let decoder = StreamingDecoder::new(&mut input);
        let mut decoder = decoder.map_err(|error| at(error.to_string()))?;
        decoder.read_to_string(&mut text).map_err(|error| at(error.to_string()))?;
    }
    Ok(text)
}

/// Splits a line into prefix and next hop.
fn route(line: &str) -> Result<(&str, &str), String> {
    line.split_once(' ').ok_or_else(|| format!("`{line}`: not a prefix and a next hop"))
}

/// Gives each route the number of its line as its next hop.
fn each(text: &str) -> Result<String, String> {
    let mut out = String::with_capacity(text.len() * 2);
    for (i, line) in text.lines().enumerate() {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{} {}", route(line)?.0, i + 1);
    }
    Ok(out)
}

/// Makes this number of random /48 inside 2000::/3, and a default route.
fn random_48(routes: usize) -> String {
    let (mut random, mut made) = (Random::new(SEED), BTreeSet::new());
    let mut out = "::/0 1\n".to_owned();
    while made.len() < routes {
        let address = prefix(0x2000 << 112, 3, 48, &mut random);
        if made.insert(address) {
            out += &line(address, 48, &mut random);
        }
    }
    out
}

/// Adds routes longer than /48 to a table: each inside a random route up to /48.
fn longer(text: &str) -> Result<String, String> {
    let mut around = Vec::new();
    for line in text.lines() {
        let (prefix, _) = route(line)?;
        let parts = prefix.split_once('/').and_then(|(address, length)| {
            Some((address.parse::<Ipv6Addr>().ok()?.to_bits(), length.parse::<u8>().ok()?))
        });
        let (address, length) = parts.ok_or_else(|| format!("`{line}`: not an IPv6 prefix"))?;
        if length <= LONGEST_AROUND {
            around.push((address, length));
        }
    }
    if around.is_empty() {
        return Err(format!("no route up to /{LONGEST_AROUND}, inside which longer ones lie"));
    }
    let (mut random, mut out) = (Random::new(SEED), text.to_owned());
    for (routes, length) in LONGER {
        let mut made = BTreeSet::new();
        while made.len() < routes {
            let (address, outer) = around[random.below(around.len())];
            let address = prefix(address, outer, length, &mut random);
            if made.insert(address) {
                out += &line(address, length, &mut random);
            }
        }
    }
    Ok(out)
}

/// Returns a random prefix of a length of at least 1, inside a prefix of the length `outer`.
fn prefix(address: u128, outer: u8, length: u8, random: &mut Random) -> u128 {
    let bits = u128::from(random.bits()) << 64 | u128::from(random.bits());
    let inside = u128::MAX.checked_shr(outer.into()).unwrap_or(0);
    address | bits & inside & u128::MAX << (128 - length)
}

/// Returns the line of a route with a random next hop.
fn line(address: u128, length: u8, random: &mut Random) -> String {
    format!("{}/{length} {}\n", Ipv6Addr::from_bits(address), random.below(NEXT_HOPS) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv6Addr;

    /// Returns address, length and next hop of each line.
    fn routes(text: &str) -> Vec<(u128, u8, usize)> {
        let route = |line: &str| {
            let (prefix, next_hop) = route(line).unwrap();
            let (address, length) = prefix.split_once('/').unwrap();
            let address: Ipv6Addr = address.parse().unwrap();
            (address.to_bits(), length.parse().unwrap(), next_hop.parse().unwrap())
        };
        text.lines().map(route).collect()
    }

    #[test]
    fn each_route_gets_its_own_next_hop() {
        assert_eq!(each("1.0.0.0/24 22\n1.0.4.0/24 11\n").unwrap(), "1.0.0.0/24 1\n1.0.4.0/24 2\n");
        assert_eq!(each("1.0.0.0/24").unwrap_err(), "`1.0.0.0/24`: not a prefix and a next hop");
    }

    /// The first lines are golden: other ones would make rates incomparable with published ones.
    #[test]
    fn random_routes_are_distinct_and_always_the_same() {
        let text = random_48(1000);
        assert!(text.starts_with("::/0 1\n310a:2dec:8902::/48 95\n31c1:8690:ee42::/48 129\n"));
        let all = routes(&text);
        let distinct: BTreeSet<_> = all.iter().map(|route| route.0).collect();
        assert_eq!((all.len(), distinct.len()), (1001, 1001));
        for (address, length, next_hop) in &all[1..] {
            assert_eq!((address >> 125, length, address << 48), (1, &48, 0));
            assert!((1..=NEXT_HOPS).contains(next_hop));
        }
    }

    #[test]
    fn longer_routes_lie_inside_others() {
        let text = "2001:db8::/32 7\n2a00:1:2::/48 8\n2a00:1:2:3::/64 9\n";
        let out = longer(text).unwrap();
        assert!(out.starts_with(text));
        let all = routes(&out);
        assert_eq!(all.len(), 3 + 100_000 + 20_000);
        let count = |length| all[3..].iter().filter(|route| route.1 == length).count();
        assert_eq!([count(64), count(128)], [100_000, 20_000]);
        let inside =
            |address: u128| address >> 96 == 0x2001_0db8 || address >> 80 == 0x2a00_0001_0002;
        assert!(all.iter().all(|route| inside(route.0)));
        assert!(longer("2a00:1:2:3::/64 9\n").unwrap_err().contains("no route up to /48"));
        assert!(longer("1.0.0.0/24 9\n").unwrap_err().contains("not an IPv6 prefix"));
    }

    #[test]
    fn tables_have_distinct_names_and_known_sources() {
        let names: BTreeSet<_> = TABLES.iter().map(|table| table.name).collect();
        assert_eq!(names.len(), TABLES.len());
        assert_eq!(named("ipv4-full-each").unwrap().source(), Some("ipv4-full"));
        assert_eq!(named(RANDOM_48).unwrap().source(), None);
        assert!(TABLES.iter().filter(|table| table.is_ipv6()).count() == 4);
    }

    #[test]
    fn a_compressed_file_is_read_and_a_damaged_one_named() {
        let embedded = crate::workspace::root().join("data/ipv6.txt.zst");
        let text = decompressed(&embedded).unwrap();
        assert_eq!(text.lines().filter(|line| !line.starts_with('#')).count(), 160_147);
        let problem = decompressed(&embedded.with_file_name("PROVENANCE.md")).unwrap_err();
        assert!(problem.contains("PROVENANCE.md: "), "{problem}");
    }
}
