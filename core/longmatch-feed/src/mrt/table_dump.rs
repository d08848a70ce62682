//! Parser of TABLE_DUMP and TABLE_DUMP_V2 records (RFC 6396, sections 4.2, 4.3).

use longmatch::IpPrefix;

use super::bgp::{self, Attributes};
use super::cursor::{Afi, Cursor};
use super::pass::{Announced, MrtPass};
use crate::error::{FeedError, Problem};
use crate::report::Report;

/// Bits of a peer's type: its address is IPv6, its AS number has 4 bytes (RFC 6396, section 4.3.1).
const PEER_IPV6: u8 = 1;
const PEER_WIDE: u8 = 2;

impl MrtPass<'_> {
    /// Parses a TABLE_DUMP record: one entry, or several, because writers of 2000 put any number of
    /// entries after one view and sequence number.
    ///
    /// View (2), sequence (2); each entry: prefix, length (1), status (1), time (4), peer address,
    /// peer AS (2), attributes with their length (2).
    pub(super) fn table_dump(
        &mut self,
        afi: Afi,
        mut body: Cursor<'_>,
        report: &mut Report,
    ) -> Result<(), FeedError> {
        body.u32("view and sequence number")?;
        loop {
            self.table_dump_entry(afi, &mut body, report)?;
            if body.is_empty() {
                return Ok(());
            }
        }
    }

    fn table_dump_entry(
        &mut self,
        afi: Afi,
        body: &mut Cursor<'_>,
        report: &mut Report,
    ) -> Result<(), FeedError> {
        let prefix = body.full_prefix(afi)?;
        body.u8("status")?;
        body.u32("time")?;
        let addr = body.addr(afi, "peer address")?;
        let asn = body.asn(false, "peer AS")?;
        let len = body.u16("attribute length")?;
        let attributes = body.take(len.into(), "attributes")?;
        report.rib_entries += 1;
        let peer = self.peers.position(addr, asn, 0);
        if attributes.is_empty() {
            report.no_next_hop += 1;
        } else if self.wants(peer, prefix, report) {
            self.announce_from_table(afi, prefix, (peer, attributes, false), report)?;
        }
        Ok(())
    }

    /// Parses the peer index table of the following RIB records.
    ///
    /// Collector (4), view name with its length (2), number of peers (2); each peer: type (1), BGP
    /// identifier (4), address, AS (2 or 4).
    pub(super) fn peer_index_table(&mut self, mut body: Cursor<'_>) -> Result<(), FeedError> {
        // A damaged table must not leave the previous table in force.
        self.index = None;
        body.u32("collector")?;
        let len = body.u16("view name length")?;
        body.take(len.into(), "view name")?;
        let count = body.u16("number of peers")?;
        // None of them counts if the table is damaged; the number of peers reserves no memory.
        let mut peers = Vec::new();
        for number in 0..count {
            let kind = body.u8("peer type")?;
            let id = body.u32("peer BGP identifier")?;
            let afi = if kind & PEER_IPV6 != 0 { Afi::Ipv6 } else { Afi::Ipv4 };
            let addr = body.addr(afi, "peer address")?;
            let asn = body.asn(kind & PEER_WIDE != 0, "peer AS")?;
            peers.push((number, addr, asn, id));
        }
        let mut index = Vec::with_capacity(peers.len());
        for (number, addr, asn, id) in peers {
            let position = self.peers.position(addr, asn, id);
            self.peers.set_index(position, number);
            index.push(position);
        }
        self.index = Some(index);
        Ok(())
    }

    /// Parses a RIB record of TABLE_DUMP_V2: the routes of all peers for one prefix.
    ///
    /// Sequence (4), prefix, number of entries (2); each entry: peer index (2), time (4), with
    /// ADD-PATH a path identifier (4), attributes with their length (2).
    ///
    /// The number of entries only bounds the loop; it reserves no memory.
    pub(super) fn rib(
        &mut self,
        afi: Afi,
        add_path: bool,
        mut body: Cursor<'_>,
        report: &mut Report,
    ) -> Result<(), FeedError> {
        // Moved out of `self` while `rib_entries` borrows `self` mutably.
        let Some(index) = self.index.take() else {
            return Err(body.error(Problem::NoPeerIndex));
        };
        body.u32("sequence number")?;
        let result = self.rib_entries(&index, afi, add_path, &mut body, report);
        self.index = Some(index);
        result
    }

    fn rib_entries(
        &mut self,
        index: &[usize],
        afi: Afi,
        add_path: bool,
        body: &mut Cursor<'_>,
        report: &mut Report,
    ) -> Result<(), FeedError> {
        let prefix = body.prefix(afi)?;
        let count = body.u16("number of entries")?;
        let mut announced = false;
        let mut last_peer = None;
        for _ in 0..count {
            let here = *body;
            let number = body.u16("peer index")?;
            let Some(&peer) = index.get(usize::from(number)) else {
                let error = Problem::PeerOutOfRange { index: number, peers: index.len() };
                return Err(here.error(error));
            };
            body.u32("time")?;
            if add_path {
                body.u32("path identifier")?;
            }
            let len = body.u16("attribute length")?;
            let attributes = body.take(len.into(), "attributes")?;
            report.rib_entries += 1;
            // BIRD writes routes that the collector itself originates without attributes.
            if attributes.is_empty() {
                report.no_next_hop += 1;
                continue;
            }
            // The paths of one peer are adjacent and count as one route.
            if last_peer.replace(peer) == Some(peer) {
                continue;
            }
            if self.wants(peer, prefix, report) && !announced {
                announced = true;
                self.announce_from_table(afi, prefix, (peer, attributes, true), report)?;
            }
        }
        body.end()
    }

    /// Sends a route of a peer to the sink; `wide` says whether numbers in its AS path have 4 bytes.
    fn announce_from_table(
        &mut self,
        afi: Afi,
        prefix: IpPrefix,
        (peer, list, wide): (usize, Cursor<'_>, bool),
        report: &mut Report,
    ) -> Result<(), FeedError> {
        let attributes = Attributes::walk(list)?;
        let next_hop = match (attributes.next_hop, attributes.mp_reach) {
            (Some(next_hop), _) if afi == Afi::Ipv4 => (Afi::Ipv4, next_hop),
            // IPv4 routes may have an IPv6 next hop here (RFC 8950).
            (_, Some(mp_reach)) => (Afi::Ipv6, bgp::mp_next_hop(mp_reach)?),
            _ => {
                report.no_next_hop += 1;
                return Ok(());
            }
        };
        let value = self.value(peer, &attributes, wide);
        self.announce(prefix, None, Announced { next_hop, value: value.as_deref() }, report)
    }
}
