//! The addresses of the lists, merged into one table of classes for each address of a packet.

use longmatch::set::{AddressRange, AddressSet};
use longmatch::{Bits, Family, IpPrefix, Ipv4, Ipv6};

use crate::policy::{Mask, Match, Policy, SAFE, SCOPE};

/// The bit of addresses of this machine, which no list has.
const OWN: Mask = 1 << 63;

/// A set of addresses of both families.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Addresses {
    /// The IPv4 addresses.
    pub ipv4: AddressSet<Ipv4>,
    /// The IPv6 addresses.
    pub ipv6: AddressSet<Ipv6>,
}

impl FromIterator<IpPrefix> for Addresses {
    fn from_iter<I: IntoIterator<Item = IpPrefix>>(prefixes: I) -> Self {
        let (mut ipv4, mut ipv6) =
            (Vec::<AddressRange<Ipv4>>::new(), Vec::<AddressRange<Ipv6>>::new());
        prefixes.into_iter().for_each(|prefix| match prefix.unmapped() {
            IpPrefix::V4(prefix) => ipv4.push(prefix.into()),
            IpPrefix::V6(prefix) => ipv6.push(prefix.into()),
        });
        Self { ipv4: ipv4.into(), ipv6: ipv6.into() }
    }
}

impl Addresses {
    /// The addresses of either set.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self { ipv4: self.ipv4.union(&other.ipv4), ipv6: self.ipv6.union(&other.ipv6) }
    }

    /// The addresses of this set that the other has not.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        Self { ipv4: self.ipv4.difference(&other.ipv4), ipv6: self.ipv6.difference(&other.ipv6) }
    }
}

/// The addresses of everything that a [`Policy`] names.
#[derive(Clone, Debug, Default)]
pub struct Content {
    /// The addresses of each list, in the order of the policy.
    pub lists: Vec<Addresses>,
    /// The destinations to which packets are filtered, if the policy is scoped.
    pub scope: Addresses,
    /// Addresses whose packets always pass: of the SSH peer, of gateways, of the link.
    pub safe: Addresses,
    /// Addresses of this machine.
    pub own: Addresses,
}

/// Addresses from `first` to `last` that are in the same lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part<F: Family> {
    /// The addresses.
    pub range: AddressRange<F>,
    /// Their lists, never none.
    pub lists: Mask,
}

/// The lists of all addresses of one family, for the source or the destination of packets: disjoint parts in order.
pub type Parts<F> = Vec<Part<F>>;

/// The end of a packet's way that an address names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The source.
    Source,
    /// The destination.
    Destination,
}

impl Content {
    /// The lists of all addresses of a family at one end of packets. O(n log n) for n ranges of addresses.
    ///
    /// The addresses of this machine are in no list: no list can cut it off. If only one end is looked up, packets of these
    /// addresses always pass.
    pub fn parts<F: Family>(
        &self,
        policy: &Policy,
        end: End,
        family: impl Fn(&Addresses) -> &AddressSet<F>,
    ) -> Parts<F> {
        let mut sets: Vec<(Mask, &AddressSet<F>)> = Vec::new();
        let matched = match end {
            End::Source => policy.looks_up_source(),
            End::Destination => policy.matched != Match::Source,
        };
        if matched {
            let lists = self.lists.iter().enumerate();
            sets.extend(lists.map(|(n, addresses)| (1 << n, family(addresses))));
            sets.push((SAFE, family(&self.safe)));
            sets.push((OWN, family(&self.own)));
        }
        if policy.scoped && end == End::Destination {
            sets.push((SCOPE, family(&self.scope)));
        }
        let own = if policy.matched == Match::Both { 0 } else { SAFE };
        merge(&sets, |lists| match lists & OWN {
            0 => lists,
            _ => lists & (SAFE | SCOPE) | own,
        })
    }
}

/// Divides the addresses of sets into parts of equal masks, which `map` changes.
fn merge<F: Family>(sets: &[(Mask, &AddressSet<F>)], map: impl Fn(Mask) -> Mask) -> Parts<F> {
    // A set begins or ends at each of these addresses; `None` is behind the last one.
    let mut ends: Vec<(F::Bits, Mask)> = Vec::new();
    for (mask, set) in sets {
        for range in set.ranges() {
            ends.push((range.first(), *mask));
            ends.extend(range.last().successor().map(|after| (after, *mask)));
        }
    }
    ends.sort_unstable();
    let mut parts = Parts::new();
    let mut lists = 0;
    for (n, (first, mask)) in ends.iter().enumerate() {
        lists ^= mask;
        let next = ends.get(n + 1).map(|(next, _)| *next);
        let last = match next {
            Some(next) if next == *first => continue,
            Some(next) => next.predecessor(),
            None => Some(F::Bits::MAX),
        };
        push(&mut parts, *first, last, map(lists));
    }
    parts
}

/// Adds a part, as an extension of the last one if it continues that.
fn push<F: Family>(parts: &mut Parts<F>, first: F::Bits, last: Option<F::Bits>, lists: Mask) {
    let range = last.and_then(|last| AddressRange::from_bits(first, last));
    let Some(mut range) = range.filter(|_| lists != 0) else { return };
    if let Some(before) = parts.last().filter(|it| it.lists == lists)
        && before.range.last().successor() == Some(first)
    {
        let start = before.range.first();
        range = AddressRange::from_bits(start, range.last()).unwrap_or(range);
        parts.pop();
    }
    parts.push(Part { range, lists });
}

/// The distinct masks of a filter, each with a number that it keeps while the filter exists: counts refer to it.
///
/// The number 0 has the mask 0: addresses without a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Classes {
    masks: Vec<Mask>,
    limit: usize,
}

/// The lists have had more distinct combinations than a filter permits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooManyClasses {
    /// The greatest number of combinations.
    pub limit: usize,
}

impl Classes {
    /// At most `limit` classes; the first is that of no list.
    pub fn new(limit: usize) -> Self {
        Self { masks: vec![0], limit }
    }

    /// The classes with these masks, as [`masks`](Self::masks) returned them.
    pub fn from_masks(masks: Vec<Mask>, limit: usize) -> Self {
        Self { masks, limit }
    }

    /// The masks by number.
    pub fn masks(&self) -> &[Mask] {
        &self.masks
    }

    /// The number of a mask, which is new if it was not used before. O(classes).
    ///
    /// # Errors
    /// If there are as many classes as the limit.
    pub fn number(&mut self, mask: Mask) -> Result<u32, TooManyClasses> {
        let place = self.masks.iter().position(|it| *it == mask);
        match place {
            Some(place) => Ok(place as u32),
            None if self.masks.len() < self.limit => {
                self.masks.push(mask);
                Ok((self.masks.len() - 1) as u32)
            }
            None => Err(TooManyClasses { limit: self.limit }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Action, List};

    fn set(ranges: &[(u32, u32)]) -> AddressSet<Ipv4> {
        let ranges = ranges.iter().map(|(a, b)| AddressRange::from_bits(*a, *b).unwrap());
        AddressSet::from(ranges.collect::<Vec<_>>())
    }

    fn addresses(ranges: &[(u32, u32)]) -> Addresses {
        Addresses { ipv4: set(ranges), ipv6: AddressSet::default() }
    }

    fn policy(lists: usize, matched: Match, scoped: bool) -> Policy {
        let list = List { name: "x".to_owned(), action: Action::Drop };
        Policy { lists: vec![list; lists], matched, scoped, drop_others: false }
    }

    /// A generator of numbers: the same for every run.
    fn numbers() -> impl FnMut(u32) -> u32 {
        let mut state = 0x1234_5678_9abc_def1_u64;
        move |below| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 33) as u32 % below
        }
    }

    /// Each small address against the sets' own answers, and parts that are disjoint, in order and as long as they can be.
    #[test]
    fn parts_are_the_sets() {
        let mut next = numbers();
        for round in 0..300 {
            let mut ranges = |count| {
                let one = |_| {
                    let first = next(64);
                    (first, first + next(8))
                };
                (0..count).map(one).collect::<Vec<_>>()
            };
            let mut content = Content {
                lists: (0..4).map(|_| addresses(&ranges(4))).collect(),
                scope: addresses(&ranges(3)),
                safe: addresses(&ranges(1)),
                own: addresses(&ranges(1)),
            };
            // The ends of the address space.
            content.lists[0].ipv4 =
                content.lists[0].ipv4.union(&set(&[(0, 1), (u32::MAX - 3, u32::MAX)]));
            let matched = [Match::Source, Match::Destination, Match::Both][round % 3];
            let policy = policy(4, matched, round % 2 == 0);
            for end in [End::Source, End::Destination] {
                let parts = content.parts(&policy, end, |it| &it.ipv4);
                for pair in parts.windows(2) {
                    let (left, right) = (pair[0], pair[1]);
                    assert!(left.range.last() < right.range.first());
                    let joined = left.range.last() + 1 == right.range.first();
                    assert!(!joined || left.lists != right.lists);
                }
                for address in (0..80).chain(u32::MAX - 5..=u32::MAX) {
                    let part = parts
                        .iter()
                        .find(|part| part.range.first() <= address && address <= part.range.last());
                    let found = part.map_or(0, |part| part.lists);
                    assert_eq!(
                        found,
                        expected(&content, &policy, end, address),
                        "{address} {policy:?}"
                    );
                }
            }
        }
    }

    fn expected(content: &Content, policy: &Policy, end: End, address: u32) -> Mask {
        let has = |addresses: &Addresses| addresses.ipv4.contains_bits(address);
        let matched = match policy.matched {
            Match::Source => end == End::Source,
            Match::Destination => end == End::Destination,
            Match::Both => true,
        };
        let mut lists = 0;
        if matched && !has(&content.own) {
            for (n, list) in content.lists.iter().enumerate() {
                lists |= Mask::from(has(list)) << n;
            }
        }
        let own = has(&content.own) && policy.matched != Match::Both;
        if matched && (has(&content.safe) || own) {
            lists |= SAFE;
        }
        if end == End::Destination && policy.scoped && has(&content.scope) {
            lists |= SCOPE;
        }
        lists
    }

    #[test]
    fn classes_keep_their_numbers_and_end_at_their_limit() {
        let mut classes = Classes::new(3);
        assert_eq!([0, 5, 5, 7].map(|mask| classes.number(mask)), [Ok(0), Ok(1), Ok(1), Ok(2)]);
        assert_eq!(classes.number(9), Err(TooManyClasses { limit: 3 }));
        let mut again = Classes::from_masks(classes.masks().to_vec(), 4);
        assert_eq!([7, 9].map(|mask| again.number(mask)), [Ok(2), Ok(3)]);
    }
}
