//! Path attributes (RFC 4271, section 4.3; RFC 4760): the attributes that determine a route.
//!
//! This module walks the path attributes of a route header by header. A forwarding table needs the next
//! hop only, so damage inside the other attributes (such as an AS_PATH with a wrong count) has no
//! effect on it: the value of a damaged one is empty. Of an attribute that occurs more than once the
//! first counts, as in RFC 7606, section 3.

use std::net::IpAddr;

use super::cursor::{Afi, Cursor};
use super::path;
use crate::error::{FeedError, Problem};

/// Attribute types.
const AS_PATH: u8 = 2;
const NEXT_HOP: u8 = 3;
const COMMUNITIES: u8 = 8;
const MP_REACH_NLRI: u8 = 14;
const MP_UNREACH_NLRI: u8 = 15;
const EXTENDED_COMMUNITIES: u8 = 16;
const AS4_PATH: u8 = 17;
const LARGE_COMMUNITIES: u8 = 32;

/// The segment of an AS path that is a sequence (RFC 4271, section 4.3).
const AS_SEQUENCE: u8 = 2;
/// The number in place of those of 4 bytes in a path of 2 bytes (RFC 6793).
const AS_TRANS: u32 = 23456;

/// The attribute flag of a length of 2 bytes (RFC 4271, section 4.3).
const EXTENDED_LENGTH: u8 = 0x10;

/// Subsequent address family of unicast routes.
const UNICAST: u8 = 1;

/// The attributes that determine a route, as slices of the record.
#[derive(Clone, Copy, Default)]
pub(crate) struct Attributes<'a> {
    pub(crate) next_hop: Option<Cursor<'a>>,
    pub(crate) mp_reach: Option<Cursor<'a>>,
    pub(crate) mp_unreach: Option<Cursor<'a>>,
    as_path: Option<Cursor<'a>>,
    as4_path: Option<Cursor<'a>>,
    communities: Option<Cursor<'a>>,
    extended: Option<Cursor<'a>>,
    large: Option<Cursor<'a>>,
}

impl<'a> Attributes<'a> {
    /// Walks a list of attributes. The first attribute of each type counts.
    pub(crate) fn walk(mut list: Cursor<'a>) -> Result<Self, FeedError> {
        let mut found = Self::default();
        while !list.is_empty() {
            let flags = list.u8("attribute flags")?;
            let code = list.u8("attribute type")?;
            let len = if flags & EXTENDED_LENGTH != 0 {
                list.u16("attribute length")?.into()
            } else {
                list.u8("attribute length")?.into()
            };
            let value = list.take(len, "attribute value")?;
            let slot = match code {
                NEXT_HOP => &mut found.next_hop,
                MP_REACH_NLRI => &mut found.mp_reach,
                MP_UNREACH_NLRI => &mut found.mp_unreach,
                AS_PATH => &mut found.as_path,
                AS4_PATH => &mut found.as4_path,
                COMMUNITIES => &mut found.communities,
                EXTENDED_COMMUNITIES => &mut found.extended,
                LARGE_COMMUNITIES => &mut found.large,
                _ => continue,
            };
            slot.get_or_insert(value);
        }
        Ok(found)
    }

    /// The AS path as text, empty if there is none or it is damaged.
    pub(crate) fn path_text(&self, wide: bool) -> String {
        let bytes = |cursor: Option<Cursor<'a>>| cursor.map(|cursor| cursor.rest());
        path::as_path(bytes(self.as_path).unwrap_or(&[]), bytes(self.as4_path), wide)
    }

    /// The communities as text, empty if there are none.
    pub(crate) fn communities_text(&self) -> String {
        let bytes = |cursor: Option<Cursor<'a>>| cursor.map_or(&[][..], |cursor| cursor.rest());
        path::communities(bytes(self.communities), bytes(self.extended), bytes(self.large))
    }

    /// The autonomous system in which the path ends; `None` if the path is empty or damaged, or ends
    /// in a set. `wide` says whether numbers in AS_PATH have 4 bytes.
    pub(crate) fn origin(&self, wide: bool) -> Option<u32> {
        let origin = last_as(self.as_path?.rest(), wide)?;
        match self.as4_path {
            Some(path) if !wide && origin == AS_TRANS => last_as(path.rest(), true),
            _ => Some(origin),
        }
    }
}

/// The last number of an AS path that ends in a sequence.
///
/// A path consists of segments: type (1), number of systems (1), the systems (2 or 4 each).
fn last_as(mut path: &[u8], wide: bool) -> Option<u32> {
    let width = if wide { 4 } else { 2 };
    let mut last = None;
    while let [kind, count, rest @ ..] = path {
        let (segment, rest) = rest.split_at_checked(usize::from(*count) * width)?;
        let (_, number) = segment.split_at_checked(segment.len().checked_sub(width)?)?;
        let number = number.iter().fold(0, |n, byte| n << 8 | u32::from(*byte));
        last = (*kind == AS_SEQUENCE).then_some(number);
        path = rest;
    }
    if path.is_empty() { last } else { None }
}

/// The family and the rest of an MP_REACH_NLRI or MP_UNREACH_NLRI; `None` for families other than
/// IPv4 and IPv6 unicast.
pub(crate) fn family<'a>(mut value: Cursor<'a>) -> Result<Option<(Afi, Cursor<'a>)>, FeedError> {
    let afi = value.u16("address family")?;
    let safi = value.u8("subsequent address family")?;
    Ok(Afi::from_number(afi).filter(|_| safi == UNICAST).map(|afi| (afi, value)))
}

/// The next-hop bytes of an MP_REACH_NLRI in full or abbreviated form (RFC 6396, section 4.3.4).
/// Writers differ, so the first byte decides: it is zero only in the full form, as the high byte of
/// the address family.
pub(crate) fn mp_next_hop<'a>(mut value: Cursor<'a>) -> Result<Cursor<'a>, FeedError> {
    if value.rest().first() == Some(&0) && value.rest().len() > 1 {
        value.take(3, "address family")?;
    }
    let len = value.u8("next hop length")?;
    value.take(len.into(), "next hop")
}

/// Parser of next-hop bytes that caches the last result: adjacent routes of one peer mostly share
/// their next hop.
#[derive(Default)]
pub(crate) struct NextHops {
    bytes: Vec<u8>,
    last: Option<(Afi, IpAddr, String)>,
}

impl NextHops {
    /// Returns the address in the next-hop bytes of an attribute, NEXT_HOP for IPv4 and MP_REACH_NLRI
    /// for IPv6, and its text.
    pub(crate) fn parse(
        &mut self,
        attribute: Afi,
        value: Cursor<'_>,
    ) -> Result<(IpAddr, &str), FeedError> {
        let known = self.bytes == value.rest()
            && self.last.as_ref().is_some_and(|(afi, ..)| *afi == attribute);
        if !known {
            let addr = parse_next_hop(attribute, value)?;
            self.bytes.clear();
            self.bytes.extend_from_slice(value.rest());
            self.last = Some((attribute, addr, addr.to_string()));
        }
        match &self.last {
            Some((_, addr, text)) => Ok((*addr, text)),
            None => Err(value.error(Problem::NoNextHop)),
        }
    }
}

/// The address in the next-hop bytes of an attribute.
///
/// In MP_REACH_NLRI a route distinguisher may precede an IPv6 address (RFC 8950, section 3), and a
/// link-local address may follow the global one (RFC 2545, section 3).
fn parse_next_hop(attribute: Afi, mut value: Cursor<'_>) -> Result<IpAddr, FeedError> {
    let (afi, before) = match (attribute, value.rest().len()) {
        (_, 4) => (Afi::Ipv4, 0),
        (Afi::Ipv6, 16 | 32) => (Afi::Ipv6, 0),
        (Afi::Ipv6, 24 | 48) => (Afi::Ipv6, 8),
        (_, 0) => return Err(value.error(Problem::NoNextHop)),
        (_, len) => return Err(value.error(Problem::NextHopLength { len })),
    };
    value.take(before, "route distinguisher")?;
    value.addr(afi, "next hop")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_origin_is_the_last_as_of_a_sequence() {
        let wide = |path: &[u8]| last_as(path, true);
        assert_eq!(wide(&[2, 2, 0, 0, 0, 1, 0, 1, 0, 2]), Some(65538));
        assert_eq!(wide(&[2, 1, 0, 0, 0, 1, 2, 1, 0, 0, 0, 3]), Some(3));
        assert_eq!(wide(&[2, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 3]), None, "a set");
        assert_eq!(wide(&[1, 1, 0, 0, 0, 1, 2, 1, 0, 0, 0, 3]), Some(3));
        assert_eq!(last_as(&[2, 2, 0, 1, 0, 2], false), Some(2));
        for damaged in [&[][..], &[2], &[2, 0], &[2, 1, 0, 0, 0], &[2, 1, 0, 0, 0, 1, 2]] {
            assert_eq!(wide(damaged), None, "{damaged:?}");
        }
    }

    #[test]
    fn next_hops_of_every_length() {
        let bytes: Vec<u8> = (1..=255).collect();
        for len in 0..=255usize {
            let parsed = |attribute| {
                let parsed = parse_next_hop(attribute, Cursor::new(&bytes[..len], 0));
                parsed.map_or(String::new(), |addr| addr.to_string())
            };
            let (v4, v6) = match len {
                4 => ("1.2.3.4", "1.2.3.4"),
                16 | 32 => ("", "102:304:506:708:90a:b0c:d0e:f10"),
                24 | 48 => ("", "90a:b0c:d0e:f10:1112:1314:1516:1718"),
                _ => ("", ""),
            };
            assert_eq!((&*parsed(Afi::Ipv4), &*parsed(Afi::Ipv6)), (v4, v6), "{len}");
        }
    }

    #[test]
    fn numbers_of_4_bytes_replace_as_trans() {
        let list = |path: &[u8]| {
            let mut list = vec![0x40, 2, 4, 2, 1];
            list.extend_from_slice(path);
            list.extend([0xc0, 17, 6, 2, 1, 0, 1, 0, 2]);
            list
        };
        let origin =
            |list: &[u8], wide| Attributes::walk(Cursor::new(list, 0)).unwrap().origin(wide);
        assert_eq!(origin(&list(&[0x5b, 0xa0]), false), Some(65538));
        assert_eq!(origin(&list(&[0, 7]), false), Some(7));
        assert_eq!(origin(&[], true), None);
    }
}
