//! The states of all routes of a small universe, compared with the definitions of RFC 6811.

use alloc::vec::Vec;

use super::*;
use crate::net::Prefix;

/// A prefix of a universe of addresses of three bits, at the upper end of a family.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Small {
    bits: u8,
    len: u8,
}

impl Small {
    fn all(longest: u8) -> impl Iterator<Item = Self> + Clone {
        (0..=longest).flat_map(|len| (0..1 << len).map(move |bits| Self { bits, len }))
    }

    fn covers(self, other: Self) -> bool {
        self.len <= other.len && other.bits >> (other.len - self.len) == self.bits
    }

    fn in_both(self) -> [IpPrefix; 2] {
        let ipv4 = u32::from(self.bits).checked_shl(32 - u32::from(self.len)).unwrap_or(0);
        let ipv6 = u128::from(self.bits).checked_shl(128 - u32::from(self.len)).unwrap_or(0);
        [
            Prefix::<Ipv4>::from_bits_masked(ipv4, self.len).into(),
            Prefix::<Ipv6>::from_bits_masked(ipv6, self.len).into(),
        ]
    }
}

/// A VRP of the small universe: prefix, greatest length, system.
type SmallVrp = (Small, u8, u32);

fn all_vrps(longest: u8) -> Vec<SmallVrp> {
    let lengths = |prefix: Small| (prefix.len..=longest).map(move |max| (prefix, max));
    let all = Small::all(longest).flat_map(lengths);
    all.flat_map(|(prefix, max)| (0..3).map(move |asn| (prefix, max, asn))).collect()
}

/// The state by the definitions of RFC 6811, section 2, and of AS 0 and NONE.
fn defined(vrps: &[SmallVrp], route: Small, origin: Option<u32>) -> Validity {
    let covering = || vrps.iter().filter(|(prefix, ..)| prefix.covers(route));
    let of_origin = || covering().filter(|(.., asn)| *asn != 0 && Some(*asn) == origin);
    match () {
        () if of_origin().any(|(_, max, _)| route.len <= *max) => Validity::Valid,
        () if of_origin().next().is_some() => Validity::Invalid(InvalidReason::Length),
        () if covering().next().is_some() => Validity::Invalid(InvalidReason::Asn),
        () => Validity::NotFound,
    }
}

/// Compares all routes up to a length, in one family or in both.
fn compare(set: &VrpSet, vrps: &[SmallVrp], longest: u8, family: usize) {
    for route in Small::all(longest) {
        let [this, other] = [family, 1 - family].map(|family| route.in_both()[family]);
        for origin in [None, Some(0), Some(1), Some(2)] {
            let expected = defined(vrps, route, origin);
            assert_eq!(set.validate(this, origin), expected, "{vrps:?} {route:?} {origin:?}");
        }
        assert_eq!(set.validate(other, Some(1)), Validity::NotFound, "the other family");
        let covering = vrps.iter().filter(|(prefix, ..)| prefix.covers(route)).count();
        assert_eq!(set.cover(this).count(), covering, "{vrps:?} {route:?}");
    }
}

fn change(set: &mut VrpSet, (prefix, max, asn): SmallVrp, family: usize, add: bool) -> bool {
    let vrp = Vrp::new(prefix.in_both()[family], max, asn).unwrap();
    if add { set.insert(vrp).unwrap() } else { set.remove(vrp) }
}

/// Every set of up to `depth` VRPs, reached by insertions and removals in one set.
fn every_set(
    set: &mut VrpSet,
    at: &mut Vec<SmallVrp>,
    rest: &[SmallVrp],
    (depth, longest, family): (usize, u8, usize),
) {
    compare(set, at, longest, family);
    assert_eq!((set.len(), set.iter().count()), (at.len(), at.len()));
    if at.len() == depth {
        return;
    }
    for (i, vrp) in rest.iter().enumerate() {
        assert!(
            change(set, *vrp, family, true) && !change(set, *vrp, family, true),
            "duplicates are one"
        );
        at.push(*vrp);
        every_set(set, at, &rest[i + 1..], (depth, longest, family));
        at.pop();
        assert!(change(set, *vrp, family, false) && !change(set, *vrp, family, false));
    }
}

#[test]
fn every_set_of_two_and_of_three_vrps_is_as_defined() {
    for family in [0, 1] {
        let mut set = VrpSet::new();
        every_set(&mut set, &mut Vec::new(), &all_vrps(3), (2, 3, family));
        every_set(&mut set, &mut Vec::new(), &all_vrps(2), (3, 2, family));
        assert!(set.is_empty());
    }
}

/// Defects of rtrlib: only the most specific covering record counted (#99), and the removal of a record lost others
/// of its prefix, or prefixes below it.
#[test]
fn a_removed_record_leaves_the_others() {
    let vrp = |text: &str, max, asn| Vrp::new(text.parse().unwrap(), max, asn).unwrap();
    let all = [
        vrp("10.0.0.0/8", 24, 1),
        vrp("10.0.0.0/8", 16, 1),
        vrp("10.0.0.0/8", 24, 2),
        vrp("10.1.0.0/16", 16, 3),
        vrp("10.1.1.0/24", 24, 4),
        vrp("2001:db8::/32", 48, 1),
    ];
    for removed in all {
        let mut set = VrpSet::new();
        assert!(all.iter().all(|vrp| set.insert(*vrp).unwrap()));
        assert!(set.remove(removed) && !set.remove(removed));
        let mut expected: Vec<_> = all.into_iter().filter(|vrp| *vrp != removed).collect();
        expected.sort_unstable();
        assert!(set.iter().eq(expected.iter().copied()), "{removed}");
        let route: IpPrefix = "10.1.1.0/24".parse().unwrap();
        for asn in 1..=5 {
            let valid = expected.iter().any(|vrp| {
                vrp.asn() == asn && vrp.max_length() >= 24 && vrp.prefix().covers(route)
            });
            assert_eq!(set.validate(route, Some(asn)) == Validity::Valid, valid, "{removed} {asn}");
        }
        assert!(expected.iter().all(|vrp| set.remove(*vrp)) && set.is_empty());
    }
}

#[test]
fn max_lengths_are_those_of_the_family() {
    for (text, good) in [("10.0.0.0/8", 8..=32), ("2001:db8::/32", 32..=128), ("::/0", 0..=128)] {
        for max in 0..=u8::MAX {
            let vrp = Vrp::new(text.parse().unwrap(), max, 1);
            assert_eq!(vrp.is_ok(), good.contains(&max), "{text} {max}");
        }
    }
    let vrp = Vrp::new("::ffff:192.0.2.0/120".parse().unwrap(), 120, 1).unwrap();
    let mut set = VrpSet::new();
    set.insert(vrp).unwrap();
    let ipv4: IpPrefix = "192.0.2.0/24".parse().unwrap();
    assert_eq!(set.validate(ipv4, Some(1)), Validity::NotFound, "the families are apart");
    assert_eq!(set.validate(vrp.prefix(), Some(1)), Validity::Valid);
}

/// RFC 6811, section 2, for routes that come in, and RFC 8893, section 3, for routes that are sent.
#[test]
fn the_origin_is_that_of_the_last_segment() {
    for own in [1, 2] {
        assert_eq!(LastSegment::Sequence(3).origin(own), Some(3));
        assert_eq!(LastSegment::Set.origin(own), None);
        assert_eq!(LastSegment::Empty.origin(own), Some(own));
        assert_eq!(LastSegment::Confederation.origin(own), Some(own));
    }
}
