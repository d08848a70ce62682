//! Parser of BGP message records.
//!
//! The record types are BGP4MP and BGP4MP_ET (RFC 6396, section 4.4), and the obsolete type BGP.
//! Only UPDATE messages (RFC 4271, section 4.3) change routes: those of IPv4 in their own fields, all
//! others in MP_REACH_NLRI and MP_UNREACH_NLRI (RFC 4760), with path identifiers if the record says so
//! (RFC 7911, RFC 8050).

use super::bgp::{self, Attributes};
use super::cursor::{Afi, Cursor};
use super::pass::{Announced, MrtPass, skip};
use super::record::Header;
use crate::error::{FeedError, Problem};
use crate::report::Report;

/// The marker before every BGP message.
const MARKER: [u8; 16] = [0xff; 16];
/// Bytes of a BGP message's header: marker, length, type.
const HEADER_LEN: u16 = 19;
/// The type of an UPDATE message.
const UPDATE: u8 = 2;

/// Sender of a message, and whether its routes have path identifiers.
#[derive(Clone, Copy)]
struct Session {
    peer: usize,
    add_path: bool,
    /// Whether AS numbers have 4 bytes.
    wide: bool,
}

impl MrtPass<'_> {
    /// Parses a message of a peer.
    ///
    /// Peer AS, local AS (2 or 4 each), interface (2), address family (2), peer address, local
    /// address, the message.
    pub(super) fn message(
        &mut self,
        wide: bool,
        add_path: bool,
        header: Header,
        mut body: Cursor<'_>,
        report: &mut Report,
    ) -> Result<(), FeedError> {
        // Old Zebra versions omit the fields between the AS numbers and an OPEN message.
        if !wide && body.rest().get(4..20) == Some(&MARKER) {
            return skip(header, report);
        }
        let asn = body.asn(wide, "peer AS")?;
        body.asn(wide, "local AS")?;
        body.u16("interface index")?;
        let here = body;
        let afi = body.u16("address family")?;
        let Some(afi) = Afi::from_number(afi) else {
            return Err(here.error(Problem::Family { afi }));
        };
        let addr = body.addr(afi, "peer address")?;
        body.addr(afi, "local address")?;
        let Some(update) = update_body(body)? else { return Ok(()) };
        let session = Session { peer: self.peers.position(addr, asn, 0), add_path, wide };
        self.update(session, update, report)
    }

    /// Parses an update in the MRT encoding used until 2000 (RFC 6396, appendix B.2.1).
    ///
    /// Peer AS (2), peer address (4), local AS (2), local address (4), the body of the message.
    pub(super) fn obsolete_update(
        &mut self,
        mut body: Cursor<'_>,
        report: &mut Report,
    ) -> Result<(), FeedError> {
        let asn = body.asn(false, "peer AS")?;
        let addr = body.addr(Afi::Ipv4, "peer address")?;
        body.asn(false, "local AS")?;
        body.addr(Afi::Ipv4, "local address")?;
        let session =
            Session { peer: self.peers.position(addr, asn, 0), add_path: false, wide: false };
        self.update(session, body, report)
    }

    /// Parses the body of an UPDATE message.
    ///
    /// Withdrawn routes with their length (2), attributes with their length (2), routes.
    fn update(
        &mut self,
        session: Session,
        mut body: Cursor<'_>,
        report: &mut Report,
    ) -> Result<(), FeedError> {
        let len = body.u16("length of withdrawn routes")?;
        let withdrawn = body.take(len.into(), "withdrawn routes")?;
        let len = body.u16("length of attributes")?;
        let list = body.take(len.into(), "attributes")?;
        let attributes = Attributes::walk(list)?;
        let text = self.value(session.peer, &attributes, session.wide);
        let text = text.as_deref();

        self.withdraw_all(session, Afi::Ipv4, withdrawn, report)?;
        if let Some(value) = attributes.mp_unreach {
            match bgp::family(value)? {
                Some((afi, routes)) => self.withdraw_all(session, afi, routes, report)?,
                None => report.skipped_families += 1,
            }
        }
        if let Some(value) = attributes.mp_reach {
            match bgp::family(value)? {
                Some((afi, mut routes)) => {
                    let len = routes.u8("next hop length")?;
                    let next_hop = routes.take(len.into(), "next hop")?;
                    routes.u8("reserved byte")?;
                    let route = Announced { next_hop: (Afi::Ipv6, next_hop), value: text };
                    self.announce_all(session, afi, route, routes, report)?;
                }
                None => report.skipped_families += 1,
            }
        }
        match attributes.next_hop {
            Some(next_hop) => {
                let route = Announced { next_hop: (Afi::Ipv4, next_hop), value: text };
                self.announce_all(session, Afi::Ipv4, route, body, report)
            }
            None if body.is_empty() => Ok(()),
            None => Err(list.error(Problem::NoNextHop)),
        }
    }

    fn announce_all(
        &mut self,
        session: Session,
        afi: Afi,
        announced: Announced<'_>,
        mut routes: Cursor<'_>,
        report: &mut Report,
    ) -> Result<(), FeedError> {
        while !routes.is_empty() {
            let path = path(session, &mut routes)?;
            let prefix = routes.prefix(afi)?;
            if self.wants(session.peer, prefix, report) {
                self.announce(prefix, path, announced, report)?;
            }
        }
        Ok(())
    }

    fn withdraw_all(
        &mut self,
        session: Session,
        afi: Afi,
        mut routes: Cursor<'_>,
        report: &mut Report,
    ) -> Result<(), FeedError> {
        while !routes.is_empty() {
            let place = routes;
            let path = path(session, &mut routes)?;
            let prefix = routes.prefix(afi)?;
            if self.wants_withdrawal(session.peer, prefix, report) {
                self.withdraw(prefix, path, place, report)?;
            }
        }
        Ok(())
    }
}

fn path(session: Session, routes: &mut Cursor<'_>) -> Result<Option<u32>, FeedError> {
    if session.add_path { routes.u32("path identifier").map(Some) } else { Ok(None) }
}

/// The body of an UPDATE message; `None` for messages of other types.
fn update_body(mut message: Cursor<'_>) -> Result<Option<Cursor<'_>>, FeedError> {
    let start = message;
    if message.take(MARKER.len(), "BGP marker")?.rest() != MARKER {
        return Err(start.error(Problem::Marker));
    }
    let here = message;
    let len = message.u16("BGP message length")?;
    let kind = message.u8("BGP message type")?;
    let have = start.rest().len();
    if len < HEADER_LEN || usize::from(len) > have {
        return Err(here.error(Problem::MessageLength { len, have }));
    }
    let body = message.take(usize::from(len - HEADER_LEN), "BGP message")?;
    message.end()?;
    Ok((kind == UPDATE).then_some(body))
}
