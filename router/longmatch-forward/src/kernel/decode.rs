//! Messages of rtnetlink, decoded into events: pure functions over bytes.
//!
//! The attributes are read here, not by `netlink-packet-route`, which refuses a whole message
//! because of one attribute in a form that it does not know: a route would be missed. Here such a
//! route leads to the kernel.

use std::net::IpAddr;

use longmatch::IpPrefix;
use netlink_packet_core::{
    NLM_F_APPEND, NLM_F_DUMP_INTR, NLM_F_EXCL, NLM_F_REPLACE, NetlinkBuffer, NlasIterator,
};

use super::event::{
    Address, Event, Link, LinkAddress, NeighbourKey, NextHop, NextHopKind, Path, Placing, Route,
    RouteHop, RouteKind,
};
use crate::target::Mac;

/// The types of messages that are sent or read.
pub(super) mod message {
    pub const ERROR: u16 = 2;
    pub const DONE: u16 = 3;
    pub const OVERRUN: u16 = 4;
    pub const NEW_LINK: u16 = 16;
    pub const DEL_LINK: u16 = 17;
    pub const GET_LINK: u16 = 18;
    pub const NEW_ADDR: u16 = 20;
    pub const DEL_ADDR: u16 = 21;
    pub const GET_ADDR: u16 = 22;
    pub const NEW_ROUTE: u16 = 24;
    pub const DEL_ROUTE: u16 = 25;
    pub const GET_ROUTE: u16 = 26;
    pub const NEW_NEIGH: u16 = 28;
    pub const DEL_NEIGH: u16 = 29;
    pub const GET_NEIGH: u16 = 30;
    pub const NEW_NEXTHOP: u16 = 104;
    pub const DEL_NEXTHOP: u16 = 105;
    pub const GET_NEXTHOP: u16 = 106;
}

pub(super) const AF_UNSPEC: u8 = 0;
pub(super) const AF_INET: u8 = 2;
pub(super) const AF_INET6: u8 = 10;

/// Flag of a next hop that the kernel does not use now.
const RTNH_F_DEAD: u8 = 1;
/// Flag of a route that is a copy, made for one destination.
const RTM_F_CLONED: u32 = 0x200;

/// The messages of one datagram.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Decoded {
    /// Their events, in order.
    pub events: Vec<Event>,
    /// All messages, those included that say nothing of interest.
    pub messages: usize,
    /// Messages that cannot be read.
    pub malformed: usize,
    /// Whether the state changed during a dump, so that the dump may be incomplete.
    pub interrupted: bool,
    /// Whether the kernel says that messages were lost.
    pub overrun: bool,
    /// The end of a dump, if it is there.
    pub end: Option<End>,
}

/// The end of a dump.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// It is complete.
    Done,
    /// It failed, with this error number of the kernel.
    Failed(i32),
}

/// Decodes the messages of a datagram.
///
/// With `sequence`, messages with another sequence number are left out: they answer an earlier
/// request. Any bytes are permitted; a message that is cut off or that makes no sense is counted.
pub fn decode(bytes: &[u8], sequence: Option<u32>) -> Decoded {
    let mut decoded = Decoded::default();
    let mut rest = bytes;
    while !rest.is_empty() {
        let Ok(message) = NetlinkBuffer::new_checked(rest) else {
            decoded.malformed += 1;
            break;
        };
        // The length is at least that of the header, so that the loop ends.
        let len = (message.length() as usize).next_multiple_of(4);
        rest = rest.get(len..).unwrap_or_default();
        if sequence.is_none_or(|sequence| sequence == message.sequence_number()) {
            decoded.add(&message);
        }
    }
    decoded
}

impl Decoded {
    fn add(&mut self, message: &NetlinkBuffer<&[u8]>) {
        self.messages += 1;
        let (kind, flags, body) = (message.message_type(), message.flags(), message.payload());
        self.interrupted |= flags & NLM_F_DUMP_INTR != 0;
        match kind {
            message::DONE | message::ERROR => {
                // Zero is an acknowledgement; the kernel negates error numbers.
                self.end = Some(match u32_at(body, 0).map_or(0, |code| code as i32) {
                    0 => End::Done,
                    code => End::Failed(code.saturating_neg()),
                });
            }
            message::OVERRUN => self.overrun = true,
            _ => match event(kind, flags, body) {
                Ok(event) => self.events.extend(event),
                Err(Malformed) => self.malformed += 1,
            },
        }
    }
}

/// A message that is cut off or that makes no sense.
struct Malformed;

/// The event of one message; `None` if it says nothing of interest.
fn event(kind: u16, flags: u16, body: &[u8]) -> Result<Option<Event>, Malformed> {
    let event = match kind {
        message::NEW_LINK => link(body)?.map(Event::Link),
        message::DEL_LINK => link(body)?.map(|link| Event::LinkGone(link.index)),
        message::NEW_ADDR => address(body)?.map(Event::Address),
        message::DEL_ADDR => address(body)?.map(Event::AddressGone),
        message::NEW_NEIGH => neighbour(body)?.map(|(key, mac)| match mac {
            Some(mac) => Event::Neighbour(key, mac),
            None => Event::NeighbourGone(key),
        }),
        message::DEL_NEIGH => neighbour(body)?.map(|(key, _)| Event::NeighbourGone(key)),
        message::NEW_NEXTHOP => Some(Event::NextHop(next_hop(body)?)),
        message::DEL_NEXTHOP => Some(Event::NextHopGone(next_hop(body)?.id)),
        message::NEW_ROUTE => route(body)?.map(|route| Event::Route(route, placing(flags))),
        message::DEL_ROUTE => route(body)?.map(Event::RouteGone),
        _ => None,
    };
    Ok(event)
}

fn placing(flags: u16) -> Placing {
    if flags & NLM_F_REPLACE != 0 {
        Placing::Replace
    } else if flags & NLM_F_APPEND != 0 {
        Placing::Last
    } else if flags & NLM_F_EXCL != 0 {
        Placing::Only
    } else {
        Placing::First
    }
}

/// Splits off a header of `N` bytes.
fn header<const N: usize>(body: &[u8]) -> Result<(&[u8; N], &[u8]), Malformed> {
    body.split_first_chunk().ok_or(Malformed)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Types and values of attributes.
fn attributes(bytes: &[u8]) -> impl Iterator<Item = Result<(u16, &[u8]), Malformed>> {
    NlasIterator::new(bytes).map(|attribute| {
        let attribute = attribute.map_err(|_| Malformed)?;
        let (kind, len) = (attribute.kind(), attribute.length().into());
        Ok((kind, attribute.into_inner().get(4..len).ok_or(Malformed)?))
    })
}

fn number(value: &[u8]) -> Result<u32, Malformed> {
    u32_at(value, 0).ok_or(Malformed)
}

/// An address; its length decides the family.
fn ip(value: &[u8]) -> Result<IpAddr, Malformed> {
    if let Ok(ipv4) = <[u8; 4]>::try_from(value) {
        return Ok(ipv4.into());
    }
    <[u8; 16]>::try_from(value).map(IpAddr::from).map_err(|_| Malformed)
}

fn mac(value: &[u8]) -> Option<Mac> {
    value.try_into().ok().map(Mac)
}

/// `None` for the message of a bridge about one of its ports, which has a family.
fn link(body: &[u8]) -> Result<Option<Link>, Malformed> {
    const IFLA_ADDRESS: u16 = 1;
    const IFLA_IFNAME: u16 = 3;
    const IFLA_MTU: u16 = 4;
    // struct ifinfomsg: family, -, type (2 bytes), index, flags, change.
    let (header, rest) = header::<16>(body)?;
    if header[0] != AF_UNSPEC {
        return Ok(None);
    }
    let mut link = Link {
        index: u32_at(header, 4).ok_or(Malformed)?,
        name: String::new(),
        hardware: u16_at(header, 2).ok_or(Malformed)?,
        flags: u32_at(header, 8).ok_or(Malformed)?,
        mac: None,
        mtu: 0,
    };
    for attribute in attributes(rest) {
        match attribute? {
            (IFLA_ADDRESS, value) => link.mac = mac(value),
            (IFLA_IFNAME, value) => {
                let end = value.iter().position(|&byte| byte == 0).unwrap_or(value.len());
                link.name = String::from_utf8_lossy(&value[..end]).into_owned();
            }
            (IFLA_MTU, value) => link.mtu = number(value)?,
            _ => {}
        }
    }
    Ok(Some(link))
}

fn address(body: &[u8]) -> Result<Option<Address>, Malformed> {
    const IFA_ADDRESS: u16 = 1;
    const IFA_LOCAL: u16 = 2;
    // struct ifaddrmsg: family, length, flags, scope, index.
    let (header, rest) = header::<8>(body)?;
    if !is_ip(header[0]) {
        return Ok(None);
    }
    let (mut addr, mut local) = (None, None);
    for attribute in attributes(rest) {
        match attribute? {
            (IFA_ADDRESS, value) => addr = Some(ip(value)?),
            (IFA_LOCAL, value) => local = Some(ip(value)?),
            _ => {}
        }
    }
    // On a link between two hosts, the first one is that of the peer.
    let addr = local.or(addr).ok_or(Malformed)?;
    let interface = u32_at(header, 4).ok_or(Malformed)?;
    Ok(Some(Address { addr, len: header[1], interface }))
}

/// A neighbour, with its Ethernet address if the kernel would send packets to it.
fn neighbour(body: &[u8]) -> Result<Option<(NeighbourKey, Option<LinkAddress>)>, Malformed> {
    const NDA_DST: u16 = 1;
    const NDA_LLADDR: u16 = 2;
    /// Permanent, without resolution, a probe under way, delayed, stale, reachable.
    const VALID: u16 = 0x80 | 0x40 | 0x10 | 0x08 | STALE | 0x02;
    const STALE: u16 = 0x04;
    /// An address for which this machine answers in place of its owner.
    const NTF_PROXY: u8 = 1 << 3;
    // struct ndmsg: family, - (3 bytes), index, state (2 bytes), flags, type.
    let (header, rest) = header::<12>(body)?;
    if !is_ip(header[0]) || header[10] & NTF_PROXY != 0 {
        return Ok(None);
    }
    let (mut addr, mut known) = (None, None);
    for attribute in attributes(rest) {
        match attribute? {
            (NDA_DST, value) => addr = Some(ip(value)?),
            (NDA_LLADDR, value) => known = mac(value),
            _ => {}
        }
    }
    let addr = addr.ok_or(Malformed)?;
    if addr.is_multicast() {
        return Ok(None);
    }
    let state = u16_at(header, 8).ok_or(Malformed)?;
    let key = NeighbourKey { addr, interface: u32_at(header, 4).ok_or(Malformed)? };
    let is_stale = state & STALE != 0;
    let known = known.filter(|_| state & VALID != 0);
    Ok(Some((key, known.map(|mac| LinkAddress { mac, is_stale }))))
}

fn is_ip(family: u8) -> bool {
    matches!(family, AF_INET | AF_INET6)
}

/// A next-hop object, by `linux/nexthop.h`.
fn next_hop(body: &[u8]) -> Result<NextHop, Malformed> {
    const NHA_ID: u16 = 1;
    const NHA_GROUP: u16 = 2;
    const NHA_BLACKHOLE: u16 = 4;
    const NHA_OIF: u16 = 5;
    const NHA_GATEWAY: u16 = 6;
    const NHA_ENCAP_TYPE: u16 = 7;
    const NHA_ENCAP: u16 = 8;
    const NHA_FDB: u16 = 11;
    // struct nhmsg: family, scope, protocol, -, flags (4 bytes).
    let (header, rest) = header::<8>(body)?;
    let dead = header[4..].first_chunk().map(|flags| u32::from_ne_bytes(*flags));
    let dead = dead.is_some_and(|flags| flags & u32::from(RTNH_F_DEAD) != 0);
    let mut hop = RouteHop { dead, ..RouteHop::NONE };
    let (mut id, mut group, mut blackhole, mut special) = (None, None, false, false);
    for attribute in attributes(rest) {
        match attribute? {
            (NHA_ID, value) => id = Some(number(value)?),
            (NHA_GROUP, value) => group = Some(members(value)),
            (NHA_BLACKHOLE, _) => blackhole = true,
            (NHA_OIF, value) => hop.interface = number(value)?,
            (NHA_GATEWAY, value) => hop.gateway = Some(ip(value)?),
            (NHA_ENCAP_TYPE | NHA_ENCAP, _) => hop.tunnel = true,
            (NHA_FDB, _) => special = true,
            _ => {}
        }
    }
    let kind = match group {
        _ if special => NextHopKind::Special,
        _ if blackhole => NextHopKind::Blackhole,
        Some(members) => NextHopKind::Group(members),
        None => NextHopKind::Hop(hop),
    };
    Ok(NextHop { id: id.ok_or(Malformed)?, kind })
}

/// Ids and weights of the array of `struct nexthop_grp`.
fn members(value: &[u8]) -> Vec<(u32, u32)> {
    // The weight less 1, in two bytes, old kernels set the second one to 0.
    let member = |&[a, b, c, d, low, high, ..]: &[u8; 8]| {
        (u32::from_ne_bytes([a, b, c, d]), u32::from(u16::from_le_bytes([low, high])) + 1)
    };
    value.as_chunks().0.iter().map(member).collect()
}

/// The header of a route: `struct rtmsg`.
struct RouteHeader<'m> {
    family: u8,
    prefix_len: u8,
    source_len: u8,
    tos: u8,
    table: u8,
    protocol: u8,
    kind: u8,
    flags: u32,
    attributes: &'m [u8],
}

impl<'m> RouteHeader<'m> {
    fn new(body: &'m [u8]) -> Result<Self, Malformed> {
        let (header, attributes) = header::<12>(body)?;
        let &[family, prefix_len, source_len, tos, table, protocol, _scope, kind, ..] = header;
        let flags = u32_at(header, 8).ok_or(Malformed)?;
        Ok(Self { family, prefix_len, source_len, tos, table, protocol, kind, flags, attributes })
    }

    /// A prefix of the route's family; without an address, one that holds all addresses.
    fn prefix(&self, addr: Option<IpAddr>, len: u8) -> Result<IpPrefix, Malformed> {
        let addr = match (addr, self.family) {
            (Some(addr), family) if addr.is_ipv4() == (family == AF_INET) => addr,
            (None, AF_INET) if len == 0 => [0; 4].into(),
            (None, AF_INET6) if len == 0 => [0; 16].into(),
            _ => return Err(Malformed),
        };
        IpPrefix::masked(addr, len).map_err(|_| Malformed)
    }
}

const RTA_DST: u16 = 1;
const RTA_SRC: u16 = 2;
const RTA_OIF: u16 = 4;
const RTA_GATEWAY: u16 = 5;
const RTA_PRIORITY: u16 = 6;
const RTA_METRICS: u16 = 8;
const RTA_MULTIPATH: u16 = 9;
const RTA_TABLE: u16 = 15;
const RTA_VIA: u16 = 18;
const RTA_ENCAP_TYPE: u16 = 21;
const RTA_ENCAP: u16 = 22;
const RTA_NH_ID: u16 = 30;

/// `None` for routes of other families, and for copies of routes.
fn route(body: &[u8]) -> Result<Option<Route>, Malformed> {
    let header = RouteHeader::new(body)?;
    if !is_ip(header.family) || header.flags & RTM_F_CLONED != 0 {
        return Ok(None);
    }
    let (mut dst, mut src) = (None, None);
    let (mut table, mut metric) = (header.table.into(), 0);
    let mut single = RouteHop::NONE;
    single.dead = header.flags & u32::from(RTNH_F_DEAD) != 0;
    let mut path =
        Path { kind: kind(header.kind), next_hop: None, hops: Vec::new(), special: false };
    for attribute in attributes(header.attributes) {
        // The attribute is lost, and perhaps others after it.
        let Ok((kind, value)) = attribute else {
            path.special = true;
            break;
        };
        match kind {
            RTA_DST => dst = Some(ip(value)?),
            RTA_SRC => src = Some(ip(value)?),
            RTA_PRIORITY => metric = number(value)?,
            RTA_TABLE => table = number(value)?,
            RTA_NH_ID => path.next_hop = Some(number(value)?),
            RTA_METRICS => path.special |= has_mtu(value),
            RTA_MULTIPATH => match multipath(value) {
                Ok(hops) => path.hops = hops,
                Err(Malformed) => path.special = true,
            },
            _ => path.special |= hop_attribute(&mut single, kind, value).is_err(),
        }
    }
    if path.hops.is_empty() && single != RouteHop::NONE {
        path.hops.push(single);
    }
    Ok(Some(Route {
        prefix: header.prefix(dst, header.prefix_len)?,
        table,
        metric,
        tos: header.tos,
        source: match header.source_len {
            0 => None,
            len => Some(header.prefix(src, len)?),
        },
        protocol: header.protocol,
        path,
    }))
}

fn kind(number: u8) -> RouteKind {
    match number {
        1 => RouteKind::Unicast,
        2 => RouteKind::Local,
        6 => RouteKind::Blackhole,
        other => RouteKind::Other(other),
    }
}

/// Reads an attribute of a hop; does nothing with others.
fn hop_attribute(hop: &mut RouteHop, kind: u16, value: &[u8]) -> Result<(), Malformed> {
    match kind {
        RTA_OIF => hop.interface = number(value)?,
        RTA_GATEWAY => hop.gateway = Some(ip(value)?),
        // The family of the address, which also follows from its length, and the address.
        RTA_VIA => hop.gateway = Some(ip(value.get(2..).ok_or(Malformed)?)?),
        RTA_ENCAP_TYPE | RTA_ENCAP => hop.tunnel = true,
        _ => {}
    }
    Ok(())
}

/// The hops of an array of `struct rtnexthop`, each followed by attributes.
fn multipath(value: &[u8]) -> Result<Vec<RouteHop>, Malformed> {
    let mut hops = Vec::new();
    let mut rest = value;
    while !rest.is_empty() {
        // Length (2 bytes), flags, weight less 1, index.
        let len = usize::from(u16_at(rest, 0).ok_or(Malformed)?);
        let (header, attributes_of_hop) = header::<8>(rest.get(..len).ok_or(Malformed)?)?;
        let mut hop = RouteHop {
            interface: u32_at(header, 4).ok_or(Malformed)?,
            gateway: None,
            weight: u32::from(header[3]) + 1,
            dead: header[2] & RTNH_F_DEAD != 0,
            tunnel: false,
        };
        for attribute in attributes(attributes_of_hop) {
            let (kind, value) = attribute?;
            hop_attribute(&mut hop, kind, value)?;
        }
        hops.push(hop);
        rest = rest.get(len.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(hops)
}

/// Whether the metrics of a route hold an MTU.
fn has_mtu(value: &[u8]) -> bool {
    const RTAX_MTU: u16 = 2;
    // What cannot be read may be one.
    attributes(value)
        .any(|metric| metric.is_err() || metric.is_ok_and(|(kind, _)| kind == RTAX_MTU))
}
