//! Rules that convert the packages' contents to tables. data/PROVENANCE.md states the same rules in prose.

use std::collections::BTreeSet;
use std::fmt::{Display, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr};

/// Number of next hops that the IPv6 table draws from.
pub const IPV6_NEXT_HOPS: usize = 256;

/// One IPv4 prefix with the AS that announces it. Field order gives the table's order: address, then length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    address: Ipv4Addr,
    length: u8,
    asn: u32,
}

/// One IPv6 prefix. Field order gives the table's order: address, then length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ipv6Prefix {
    address: Ipv6Addr,
    length: u8,
}

/// A finished table: its text and counts.
#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    /// One line a route, `prefix next-hop`.
    pub text: String,
    /// Number of routes.
    pub routes: usize,
    /// Number of distinct next hops.
    pub next_hops: usize,
}

/// Parses lines of `address,length,asn` below one line of headings; skips empty lines (the source has one).
///
/// # Errors
/// Names the first line of another form, or with bits set beyond the prefix length.
pub fn parse_origins(csv: &str) -> Result<Vec<Origin>, String> {
    let mut lines = csv.lines();
    // The file starts with a byte order mark.
    let headings = lines.next().unwrap_or_default().trim_start_matches('\u{feff}');
    if headings != "net,len,asn" {
        return Err(format!("the headings are `{headings}`, not `net,len,asn`"));
    }
    let lines = lines.filter(|line| !line.is_empty());
    lines.map(|line| parse_origin(line).ok_or_else(|| format!("not a route: `{line}`"))).collect()
}

fn parse_origin(line: &str) -> Option<Origin> {
    let mut fields = line.split(',');
    let address: Ipv4Addr = fields.next()?.parse().ok()?;
    let length: u8 = fields.next()?.parse().ok()?;
    let asn = fields.next()?.parse().ok()?;
    let host_bits = u32::MAX.checked_shr(length.into()).unwrap_or(0);
    let canonical = length <= 32 && address.to_bits() & host_bits == 0;
    (canonical && fields.next().is_none()).then_some(Origin { address, length, asn })
}

/// Parses the IPv6 prefixes of a list of prefixes of both families, one a line.
///
/// # Errors
/// Names the first line with a colon that is not an IPv6 prefix, or has bits set beyond its length.
pub fn parse_ipv6(list: &str) -> Result<Vec<Ipv6Prefix>, String> {
    list.lines()
        .filter(|line| line.contains(':'))
        .map(|line| parse_ipv6_prefix(line).ok_or_else(|| format!("not an IPv6 prefix: `{line}`")))
        .collect()
}

fn parse_ipv6_prefix(line: &str) -> Option<Ipv6Prefix> {
    let (address, length) = line.split_once('/')?;
    let address: Ipv6Addr = address.parse().ok()?;
    let length: u8 = length.parse().ok()?;
    let host_bits = u128::MAX.checked_shr(length.into()).unwrap_or(0);
    (length <= 128 && address.to_bits() & host_bits == 0).then_some(Ipv6Prefix { address, length })
}

/// Builds the IPv4 table, ordered by address and length; if a prefix has several origins, the lowest AS number counts.
///
/// The lowest rather than the first, so that the result does not depend on the order of lines. Leaves out prefixes
/// shorter than /8: no AS was given a block of this size, and the only such prefix, `0.0.0.0/1`, gave private addresses an
/// AS.
pub fn ipv4_table(mut origins: Vec<Origin>) -> Table {
    origins.retain(|origin| origin.length >= 8);
    origins.sort_unstable();
    origins.dedup_by_key(|origin| (origin.address, origin.length));
    table(origins.iter().map(|origin| (origin.address, origin.length, format!("AS{}", origin.asn))))
}

/// Builds the IPv6 table, ordered by address and length, with the next hops of [`derived_next_hop`].
pub fn ipv6_table(mut prefixes: Vec<Ipv6Prefix>) -> Table {
    prefixes.sort_unstable();
    prefixes.dedup();
    let cdf = zipf_cdf(IPV6_NEXT_HOPS);
    table(prefixes.iter().map(|prefix| {
        let next_hop = derived_next_hop(&cdf, prefix.address.to_bits());
        (prefix.address, prefix.length, format!("nh{next_hop}"))
    }))
}

fn table<A: Display>(routes: impl Iterator<Item = (A, u8, String)>) -> Table {
    let mut text = String::new();
    let mut next_hops = BTreeSet::new();
    let mut count = 0;
    for (address, length, next_hop) in routes {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{address}/{length} {next_hop}");
        next_hops.insert(next_hop);
        count += 1;
    }
    Table { text, routes: count, next_hops: next_hops.len() }
}

/// Derives the next hop of an IPv6 prefix, 1 to `cdf.len()`: the inverse CDF at splitmix64(first 32 bits) / 2^64.
///
/// Whole /32 blocks share a next hop, as the prefixes of one holder mostly do in a real table.
fn derived_next_hop(cdf: &[f64], prefix: u128) -> usize {
    let first_32_bits = (prefix >> 96) as u64;
    // The nearest f64 to 2^64, which is exact. The conversion of the hash rounds to the nearest too, so the quotient
    // can be 1 but not more, and the last value of the CDF is exactly 1.
    let at = splitmix64(first_32_bits) as f64 / u64::MAX as f64;
    cdf.partition_point(|&below| below < at) + 1
}

/// Returns the first output of the generator SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) with this seed.
fn splitmix64(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Computes the cumulative distribution of Zipf's law with s = 1 on 1 to `n`, the value for k at index k - 1.
///
/// Uses only IEEE additions and divisions in a fixed order, so the bits are the same on every machine.
fn zipf_cdf(n: usize) -> Vec<f64> {
    let mut sum = 0.0;
    let harmonic: Vec<f64> = (1..=n)
        .map(|k| {
            sum += 1.0 / k as f64;
            sum
        })
        .collect();
    harmonic.iter().map(|below| below / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output of the authors' C program.
    #[test]
    fn the_generator_gives_the_published_output() {
        assert_eq!(splitmix64(0), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn the_zipf_cdf_ends_at_exactly_one() {
        let cdf = zipf_cdf(IPV6_NEXT_HOPS);
        assert_eq!(cdf.len(), IPV6_NEXT_HOPS);
        assert_eq!(cdf[IPV6_NEXT_HOPS - 1], 1.0);
        assert!(cdf.is_sorted_by(|a, b| a < b));
        // 1 is drawn twice as often as 2.
        let second = cdf[1] - cdf[0];
        assert!((cdf[0] / second - 2.0).abs() < 1e-12);
    }

    #[test]
    fn next_hops_stay_in_range_and_follow_the_distribution() {
        let cdf = zipf_cdf(IPV6_NEXT_HOPS);
        let mut drawn = vec![0u32; IPV6_NEXT_HOPS + 1];
        let blocks = 100_000u32;
        for block in 0..blocks {
            drawn[derived_next_hop(&cdf, u128::from(block) << 96)] += 1;
        }
        assert_eq!(drawn[0], 0);
        let share = f64::from(drawn[1]) / f64::from(blocks);
        assert!((share - cdf[0]).abs() < 0.01, "{share} should be near {}", cdf[0]);
    }

    #[test]
    fn only_the_first_32_bits_count() {
        let cdf = zipf_cdf(IPV6_NEXT_HOPS);
        let block: Ipv6Addr = "2001:db8::".parse().expect("an address");
        let inside: Ipv6Addr = "2001:db8:ffff::1".parse().expect("an address");
        assert_eq!(
            derived_next_hop(&cdf, block.to_bits()),
            derived_next_hop(&cdf, inside.to_bits())
        );
    }

    #[test]
    fn routes_are_ordered_by_number_and_the_lowest_as_wins() {
        let csv = "\u{feff}net,len,asn\n0.0.0.0,1,311\n10.0.0.0,16,7\n9.0.0.0,8,300\n10.0.0.0,8,20\n\n10.0.0.0,16,5\n";
        let table = ipv4_table(parse_origins(csv).expect("well formed"));
        assert_eq!(table.text, "9.0.0.0/8 AS300\n10.0.0.0/8 AS20\n10.0.0.0/16 AS5\n");
        assert_eq!((table.routes, table.next_hops), (3, 3));
    }

    #[test]
    fn ipv6_prefixes_are_taken_out_of_a_mixed_list_once_each() {
        let list = "10.0.0.0/8\n2a00::/12\n2001:db8::/32\n2001:db8::/48\n2001:db8::/32\n";
        let table = ipv6_table(parse_ipv6(list).expect("well formed"));
        let prefixes: Vec<&str> =
            table.text.lines().filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(prefixes, ["2001:db8::/32", "2001:db8::/48", "2a00::/12"]);
        assert_eq!(table.routes, 3);
    }

    #[test]
    fn malformed_lines_are_named() {
        for line in
            ["10.0.0.0,8", "10.0.0.0,8,1,2", "10.0.0.1,8,1", "10.0.0.0,33,1", "10.0.0.0,8,AS1", " "]
        {
            let error = parse_origins(&format!("net,len,asn\n{line}\n")).expect_err(line);
            assert!(error.contains(line), "{error}");
        }
        assert!(parse_origins("prefix,asn\n").is_err());
        for line in ["2001:db8::", "2001:db8::1/32", "2001:db8::/129", "::/0x"] {
            assert!(parse_ipv6(line).expect_err(line).contains(line));
        }
        // The shortest and the longest prefix are well formed.
        assert!(parse_origins("net,len,asn\n0.0.0.0,0,1\n255.255.255.255,32,1\n").is_ok());
        assert!(parse_ipv6("::/0\n::1/128\n").is_ok());
    }
}
