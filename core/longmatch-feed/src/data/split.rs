//! Division of address ranges into prefixes.

use std::net::IpAddr;

use longmatch::set::AddressRange;
use longmatch::{IpPrefix, Ipv4, Ipv6};

/// The fewest prefixes that cover exactly the addresses from `first` to `last`, in order; none if the
/// addresses are of different families or `last` is before `first`.
pub(crate) fn prefixes(first: IpAddr, last: IpAddr) -> impl Iterator<Item = IpPrefix> {
    let (ipv4, ipv6) = match (first, last) {
        (IpAddr::V4(first), IpAddr::V4(last)) => (AddressRange::<Ipv4>::new(first, last), None),
        (IpAddr::V6(first), IpAddr::V6(last)) => (None, AddressRange::<Ipv6>::new(first, last)),
        _ => (None, None),
    };
    let ipv4 = ipv4.into_iter().flat_map(|range| range.prefixes()).map(IpPrefix::V4);
    ipv4.chain(ipv6.into_iter().flat_map(|range| range.prefixes()).map(IpPrefix::V6))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(first: &str, last: &str) -> Vec<String> {
        let [first, last] = [first, last].map(|text| text.parse().unwrap());
        prefixes(first, last).map(|prefix| prefix.to_string()).collect()
    }

    #[test]
    fn ranges_at_the_ends_of_the_address_space() {
        assert_eq!(split("0.0.0.0", "255.255.255.255"), ["0.0.0.0/0"]);
        assert_eq!(split("255.255.255.254", "255.255.255.255"), ["255.255.255.254/31"]);
        assert_eq!(split("255.255.255.255", "255.255.255.255"), ["255.255.255.255/32"]);
        let all_but_the_first = split("0.0.0.1", "255.255.255.255");
        assert_eq!((all_but_the_first.len(), &*all_but_the_first[31]), (32, "128.0.0.0/1"));
        let max = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff";
        assert_eq!(split("::", max), ["::/0"]);
        assert_eq!(split("::1", max).len(), 128);
        assert_eq!(split(max, max), [format!("{max}/128")]);
        assert_eq!(split("::", "::f"), ["::/124"]);
        assert_eq!(
            split("10.0.0.1", "10.0.0.6").join(" "),
            "10.0.0.1/32 10.0.0.2/31 10.0.0.4/31 10.0.0.6/32"
        );
    }

    #[test]
    fn what_is_no_range_has_no_prefixes() {
        assert!(split("10.0.0.1", "10.0.0.0").is_empty());
        assert!(split("10.0.0.1", "::1").is_empty());
    }

    /// Every range of a small universe, at both ends of both address spaces.
    #[test]
    fn the_prefixes_cover_the_range_and_are_the_fewest() {
        for base in [0u128, 0xffff_ffc0, u128::MAX - 63] {
            let addr = |n: u128| match u32::try_from(base) {
                Ok(base) => IpAddr::V4((base + n as u32).into()),
                Err(_) => IpAddr::V6((base + n).into()),
            };
            for first in 0..64 {
                for last in first..64 {
                    let found: Vec<_> = prefixes(addr(first), addr(last)).collect();
                    let covered = (0..64).filter(|n| found.iter().any(|p| p.contains(addr(*n))));
                    assert!(covered.eq(first..=last), "{first} {last}");
                    assert_eq!(found.len(), fewest(first, last, 6), "{first} {last}");
                }
            }
        }
    }

    /// The fewest aligned blocks of at most `2^bits` addresses, by the obvious recursion.
    fn fewest(first: u128, last: u128, bits: u32) -> usize {
        let half = if bits == 0 { 0 } else { 1 << (bits - 1) };
        match () {
            () if first > last => 0,
            () if first == 0 && last + 1 == 1 << bits => 1,
            () if last < half => fewest(first, last, bits - 1),
            () if first >= half => fewest(first - half, last - half, bits - 1),
            () => fewest(first, half - 1, bits - 1) + fewest(0, last - half, bits - 1),
        }
    }
}
