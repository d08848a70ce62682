//! Path attributes, and the use of the BGP parser on untrusted bytes.
//!
//! This module walks the path attributes of a route header by header. Only NEXT_HOP and the next-hop
//! part of MP_REACH_NLRI reach `bgpkit-parser`, in a newly built list of attributes. A forwarding
//! table needs no other attribute, so damage inside the others (such as an AS_PATH with a wrong
//! count) has no effect. This crate parses NLRI itself: the parser mistakes a list that starts with
//! a zero byte, such as a list with a default route, for a list with ADD-PATH path identifiers.
//!
//! For these two attributes, the parser reads only addresses of checked length and allocates a
//! constant amount; it reads the peer index table entry by entry without preallocation. No panic
//! is reachable there. If this analysis is wrong, `guarded` turns the panic into an error, and only
//! the message of the panic hook shows.

use std::net::{IpAddr, Ipv4Addr};
use std::panic::{AssertUnwindSafe, catch_unwind};

use bgpkit_parser::ParserError;
use bgpkit_parser::models::{AsnLength, AttributeValue, NextHopAddress, TableDumpV2Message};
use bgpkit_parser::parser::bgp::attributes::parse_attributes;
use bytes::Bytes;

use super::cursor::{Afi, Cursor};
use super::error::MrtError;
use super::path;
use super::record::table_dump_v2::PEER_INDEX_TABLE;
use crate::error::FeedError;

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

/// Attribute flags (RFC 4271, section 4.3).
const OPTIONAL: u8 = 0x80;
const TRANSITIVE: u8 = 0x40;
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
    /// Returns the address in the next-hop bytes of an attribute, and its text. An IPv6 next hop of 32
    /// bytes has two addresses; the result is the first, global one.
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
            None => Err(value.error(MrtError::NoNextHop)),
        }
    }
}

/// Calls the parser with a list of one attribute: NEXT_HOP for IPv4, MP_REACH_NLRI for IPv6 and for
/// every next hop in such an attribute.
fn parse_next_hop(attribute: Afi, value: Cursor<'_>) -> Result<IpAddr, FeedError> {
    let bytes = value.rest();
    let len = bytes.len();
    if !matches!((attribute, len), (Afi::Ipv4, 4) | (Afi::Ipv6, 4 | 16 | 24 | 32 | 48)) {
        return Err(value.error(match len {
            0 => MrtError::NoNextHop,
            len => MrtError::NextHopLength { len },
        }));
    }
    let mut list = Vec::with_capacity(64);
    match attribute {
        Afi::Ipv4 => list.extend([TRANSITIVE, NEXT_HOP, 4]),
        Afi::Ipv6 => {
            // Family, next-hop length, next hop, a reserved byte, no NLRI.
            let afi = if len == 4 { Afi::Ipv4 } else { Afi::Ipv6 };
            list.extend([
                OPTIONAL,
                MP_REACH_NLRI,
                len as u8 + 5,
                0,
                afi.number(),
                UNICAST,
                len as u8,
            ]);
        }
    }
    list.extend_from_slice(bytes);
    if attribute == Afi::Ipv6 {
        list.push(0);
    }
    let parsed = guarded(value, move || {
        parse_attributes(Bytes::from(list), &AsnLength::Bits32, false, None, None, None)
    })?;
    let addr = parsed.iter().find_map(|attribute| match attribute {
        AttributeValue::NextHop(addr) => Some(*addr),
        AttributeValue::MpReachNlri(nlri) => nlri.next_hop.map(|next_hop| match next_hop {
            NextHopAddress::Ipv4(addr) => addr.into(),
            NextHopAddress::Ipv6(addr)
            | NextHopAddress::Ipv6LinkLocal(addr, _)
            | NextHopAddress::VpnIpv6(_, addr)
            | NextHopAddress::VpnIpv6LinkLocal(_, addr, _, _) => addr.into(),
        }),
        _ => None,
    });
    addr.ok_or_else(|| value.error(MrtError::NextHopLength { len }))
}

/// A peer of a peer index table.
pub(crate) struct IndexedPeer {
    pub(crate) addr: IpAddr,
    pub(crate) asn: u32,
    pub(crate) id: Ipv4Addr,
}

/// Calls the parser with a peer index table. Returns the peers in the order of their indexes.
pub(crate) fn peer_index_table(body: Cursor<'_>) -> Result<Vec<IndexedPeer>, FeedError> {
    let bytes = Bytes::copy_from_slice(body.rest());
    let table = match guarded(body, move || {
        bgpkit_parser::parse_table_dump_v2_message(PEER_INDEX_TABLE, bytes)
    })? {
        TableDumpV2Message::PeerIndexTable(table) => table,
        _ => return Err(body.error(MrtError::Parser("no peer index table".to_owned()))),
    };
    let mut peers: Vec<_> = table.id_peer_map.into_iter().collect();
    peers.sort_unstable_by_key(|(index, _)| *index);
    let peer = |peer: bgpkit_parser::models::Peer| IndexedPeer {
        addr: peer.peer_ip,
        asn: peer.peer_asn.to_u32(),
        id: peer.peer_bgp_id,
    };
    Ok(peers.into_iter().map(|(_, found)| peer(found)).collect())
}

/// Calls the parser. Its errors and panics become errors at the place of its input.
fn guarded<T>(
    place: Cursor<'_>,
    parse: impl FnOnce() -> Result<T, ParserError>,
) -> Result<T, FeedError> {
    match catch_unwind(AssertUnwindSafe(parse)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(place.error(MrtError::Parser(error.to_string()))),
        Err(_) => Err(place.error(MrtError::Parser("the parser panicked".to_owned()))),
    }
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
