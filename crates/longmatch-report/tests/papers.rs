//! Published counts that depend on the table alone, repeated on the paper's table.

use std::fs;

use longmatch::engine::dxr::{chunk_lengths, published_statistics};
use longmatch::{IpPrefix, Ipv4, NextHopId, NextHops, Rib};
use longmatch_feed::{Event, Options, load_path};

/// Environment variable with the path of the DXR page's `linx.click.bz2`, compressed or not.
const LINX: &str = "LONGMATCH_LINX_CLICK";

/// The DXR page's chunk lengths for K from 16 to 22, digit for digit.
const CHUNK_LENGTHS: [[&str; 9]; 7] = [
    [".75318", ".02029", ".04551", ".04385", ".04750", ".04628", ".03082", ".01167", ".00087"],
    [".80845", ".01961", ".04394", ".04278", ".03985", ".02984", ".01428", ".00121", ".00003"],
    [".85712", ".02175", ".04058", ".03472", ".02792", ".01578", ".00209", ".00003", "3.8E-6"],
    [".90347", ".01829", ".03194", ".02596", ".01699", ".00330", ".00005", "0", "1.9E-6"],
    [".93821", ".01400", ".02545", ".01732", ".00494", ".00006", "4.8E-6", "0", "9.5E-7"],
    [".96177", ".01289", ".01826", ".00697", ".00008", "8.5E-6", "1.9E-6", "4.7E-7", "0"],
    [".97907", ".01073", ".01004", ".00013", ".00001", "2.6E-6", "1.2E-6", "2.3E-7", "0"],
];

/// Loads the table; prints a message and returns `None` if the variable is not set.
fn linx(test: &str) -> Option<Rib<Ipv4>> {
    let Some(path) = std::env::var_os(LINX) else {
        eprintln!("skipped: {test}: set {LINX} to the path of linx.click.bz2 (METHODOLOGY.md)");
        return None;
    };
    assert!(fs::exists(&path).unwrap(), "{LINX}: {} does not exist", path.display());
    let (mut rib, mut hops) = (Rib::new(), NextHops::<Box<str>>::new());
    let mut sink = |event: Event<'_>| {
        let Event::Announce(IpPrefix::V4(prefix), hop) = event else {
            return Err("not an IPv4 route".into());
        };
        let id: NextHopId = hops.acquire(hop.into())?;
        rib.insert(prefix, id)?;
        Ok(())
    };
    load_path(path, &Options::default(), &mut sink).unwrap();
    Some(rib)
}

/// Returns whether a share has these digits, with the last one rounded or truncated.
fn has_digits(share: f64, digits: &str) -> bool {
    let (mantissa, exponent) = digits.split_once('E').unwrap_or((digits, "0"));
    let decimals = mantissa.split_once('.').map_or(0, |(_, decimals)| decimals.len() as i32);
    let unit = 10f64.powi(exponent.parse::<i32>().unwrap() - decimals);
    let published: f64 = digits.parse().unwrap();
    if digits == "0" {
        share == 0.0
    } else {
        (share - published) > -0.5 * unit && share < published + unit
    }
}

#[test]
fn digits_of_shares() {
    for (share, digits) in [
        (0.938_211, ".93821"),
        (0.938_219, ".93821"),
        (0.938_205_1, ".93821"),
        (4.768e-6, "4.8E-6"),
        (4.768e-7, "4.7E-7"),
        (0.0, "0"),
    ] {
        assert!(has_digits(share, digits), "{share} {digits}");
    }
    for (share, digits) in
        [(0.938_22, ".93821"), (0.938_204, ".93821"), (4.8e-7, "4.8E-6"), (1e-9, "0")]
    {
        assert!(!has_digits(share, digits), "{share} {digits}");
    }
}

#[test]
fn dxr_rt_stat() {
    let Some(rib) = linx("dxr_rt_stat") else { return };
    // The page states 513,643 prefixes in its list of files and 513,644 in rt.stat.
    assert!([513_643, 513_644].contains(&rib.len()), "{} prefixes", rib.len());
    let hops: std::collections::BTreeSet<_> = rib.iter().map(|route| route.next_hop).collect();
    assert_eq!(hops.len(), 239, "next hops");
    let stat = published_statistics(&rib, 20);
    assert_eq!((stat.direct_bytes, stat.range_bytes), (4_194_304, 512_148));
    // The Click element truncates the digits after these.
    assert_eq!(10 * (stat.direct_bytes + stat.range_bytes) / 513_644, 91, "bytes a prefix");
    assert_eq!(1000 * stat.resolved / (1 << 20), 938, "per mille resolved directly");
    assert_eq!(stat.longest, 176);
    assert_eq!((stat.physical.short_chunks, stat.physical.long_chunks), (40_247, 1_416));
    assert_eq!((stat.physical.short_fragments, stat.physical.long_fragments), (237_728, 9_173));
    assert_eq!((stat.aggregated.short_chunks, stat.aggregated.long_chunks), (63_313, 1_477));
    assert_eq!((stat.aggregated.short_fragments, stat.aggregated.long_fragments), (306_484, 9_354));
}

#[test]
fn dxr_chunk_lengths() {
    let Some(rib) = linx("dxr_chunk_lengths") else { return };
    for (k, published) in (16..).zip(CHUNK_LENGTHS) {
        let lengths = chunk_lengths(&rib, k);
        let shares = lengths.shares();
        for (bucket, (digits, share)) in published.into_iter().zip(shares).enumerate() {
            assert!(has_digits(share, digits), "K = {k}, column {bucket}: {share}, not {digits}");
        }
        assert!(lengths.longest <= 256, "K = {k}: {}", lengths.longest);
    }
}
