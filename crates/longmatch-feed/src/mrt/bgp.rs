//! What is left to the BGP parser, and how it is kept from harm.
//!
//! A route's path attributes are walked here, header by header; only NEXT_HOP and the next-hop part
//! of MP_REACH_NLRI go to `bgpkit-parser`, as a list of attributes built anew. All others say
//! nothing that a forwarding table keeps, so damage inside them (an AS_PATH that counts more
//! numbers than it has) does no harm. NLRI are read here too: the parser takes a list that starts
//! with a zero byte, as one with a default route does, for one with ADD-PATH path identifiers.
//!
//! On the two attributes that reach it, the parser only reads addresses with checked lengths and
//! reserves a constant amount; the peer index table it reads entry by entry without reserving. No
//! path panics there. Should that be wrong, the unwinding ends at `guarded` with an error; only
//! the panic hook's message would be seen.

use std::net::{IpAddr, Ipv4Addr};
use std::panic::{AssertUnwindSafe, catch_unwind};

use bgpkit_parser::ParserError;
use bgpkit_parser::models::{AsnLength, AttributeValue, NextHopAddress, TableDumpV2Message};
use bgpkit_parser::parser::bgp::attributes::parse_attributes;
use bytes::Bytes;

use super::cursor::{Afi, Cursor};
use super::error::MrtError;
use super::record::table_dump_v2::PEER_INDEX_TABLE;
use crate::error::FeedError;

/// Attribute types.
const NEXT_HOP: u8 = 3;
const MP_REACH_NLRI: u8 = 14;
const MP_UNREACH_NLRI: u8 = 15;

/// Attribute flags (RFC 4271, section 4.3).
const OPTIONAL: u8 = 0x80;
const TRANSITIVE: u8 = 0x40;
const EXTENDED_LENGTH: u8 = 0x10;

/// The subsequent address family of ordinary routes.
const UNICAST: u8 = 1;

/// The attributes that matter for a route, as slices of the record.
#[derive(Clone, Copy, Default)]
pub(crate) struct Attributes<'a> {
    pub(crate) next_hop: Option<Cursor<'a>>,
    pub(crate) mp_reach: Option<Cursor<'a>>,
    pub(crate) mp_unreach: Option<Cursor<'a>>,
}

impl<'a> Attributes<'a> {
    /// Walks a list of attributes; the first of each type counts.
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
                _ => continue,
            };
            slot.get_or_insert(value);
        }
        Ok(found)
    }
}

/// The family and the rest of an MP_REACH_NLRI or MP_UNREACH_NLRI; `None` for the families that
/// are passed over.
pub(crate) fn family<'a>(mut value: Cursor<'a>) -> Result<Option<(Afi, Cursor<'a>)>, FeedError> {
    let afi = value.u16("address family")?;
    let safi = value.u8("subsequent address family")?;
    Ok(Afi::from_number(afi).filter(|_| safi == UNICAST).map(|afi| (afi, value)))
}

/// The next-hop bytes of an MP_REACH_NLRI, which may be abbreviated to just them (RFC 6396,
/// section 4.3.4). Writers differ, so the first byte decides: it is zero only in the full form,
/// as the high byte of the address family.
pub(crate) fn mp_next_hop<'a>(mut value: Cursor<'a>) -> Result<Cursor<'a>, FeedError> {
    if value.rest().first() == Some(&0) && value.rest().len() > 1 {
        value.take(3, "address family")?;
    }
    let len = value.u8("next hop length")?;
    value.take(len.into(), "next hop")
}

/// Turns next-hop bytes into addresses, with a memory of the last one: neighbouring routes of one
/// peer mostly share it.
#[derive(Default)]
pub(crate) struct NextHops {
    bytes: Vec<u8>,
    last: Option<(Afi, IpAddr, String)>,
}

impl NextHops {
    /// The address in the next-hop bytes of an attribute, and its text. The first of the two
    /// addresses in an IPv6 next hop of 32 bytes is taken, the global one.
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

/// Has the parser read a list of one attribute: NEXT_HOP for IPv4, MP_REACH_NLRI for IPv6 and for
/// all next hops that come in one.
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

/// Has the parser read a peer index table; the peers in the order of their indexes.
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

/// Calls the parser; both its errors and a panic become errors at the place of its input.
fn guarded<T>(
    place: Cursor<'_>,
    parse: impl FnOnce() -> Result<T, ParserError>,
) -> Result<T, FeedError> {
    match catch_unwind(AssertUnwindSafe(parse)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(place.error(MrtError::Parser(error.to_string()))),
        Err(_) => Err(place.error(MrtError::Parser("the parser gave up".to_owned()))),
    }
}
