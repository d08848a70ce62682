//! State of one pass over the records.

use std::fmt;
use std::net::IpAddr;

use longmatch::IpPrefix;

use super::bgp::{Attributes, NextHops};
use super::cursor::{Afi, Cursor};
use super::record::{Header, bgp, bgp4mp, kind, table_dump, table_dump_v2};
use crate::error::{FeedError, Problem};
use crate::paths::Paths;
use crate::peers::{Chosen, Peers};
use crate::report::Report;
use crate::route_value::RouteValue;
use crate::sink::Sink;

/// Purpose of a pass.
pub(crate) enum PassMode<'s> {
    /// Count the routes of each peer.
    Count,
    /// Load the routes of the chosen peers.
    Take {
        /// The chosen peers.
        chosen: Chosen,
        /// Receiver of the routes.
        sink: &'s mut dyn Sink,
    },
}

/// One pass over all records of an input.
pub(crate) struct MrtPass<'s> {
    pub(crate) peers: Peers,
    /// The last peer index table, as positions in `peers`.
    pub(super) index: Option<Vec<usize>>,
    pub(super) next_hops: NextHops,
    paths: Paths<PathValue>,
    mode: PassMode<'s>,
    /// The value that the sink gets as the next hop.
    value: RouteValue,
}

/// What an announcement says about its prefixes.
#[derive(Clone, Copy)]
pub(super) struct Announced<'a> {
    /// The attribute of the next hop, and its bytes there.
    pub(super) next_hop: (Afi, Cursor<'a>),
    /// The value of the route; `None` for the next hop.
    pub(super) value: Option<&'a str>,
}

/// The value of a path.
#[derive(PartialEq)]
enum PathValue {
    NextHop(IpAddr),
    Text(Box<str>),
}

impl fmt::Display for PathValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NextHop(addr) => addr.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl<'s> MrtPass<'s> {
    pub(crate) fn new(mode: PassMode<'s>, value: RouteValue) -> Self {
        Self {
            peers: Peers::default(),
            index: None,
            next_hops: NextHops::default(),
            paths: Paths::default(),
            mode,
            value,
        }
    }

    /// The value of a route of a peer with these attributes, unless it is the next hop; `wide` says
    /// whether numbers in AS_PATH have 4 bytes.
    #[inline]
    pub(super) fn value(
        &self,
        peer: usize,
        attributes: &Attributes<'_>,
        wide: bool,
    ) -> Option<String> {
        let text = |value: Option<String>| Some(value.unwrap_or_default());
        match (self.value, &self.mode) {
            (RouteValue::NextHop, _) | (_, PassMode::Count) => None,
            (RouteValue::OriginAs, _) => text(attributes.origin(wide).map(|asn| asn.to_string())),
            (RouteValue::AsPath, _) => Some(attributes.path_text(wide)),
            (RouteValue::Communities, _) => Some(attributes.communities_text()),
            (RouteValue::Peer, _) => text(self.peers.addr(peer).map(|addr| addr.to_string())),
        }
    }

    /// Parses one record.
    pub(crate) fn record(
        &mut self,
        header: Header,
        mut body: Cursor<'_>,
        report: &mut Report,
    ) -> Result<(), FeedError> {
        use Afi::{Ipv4, Ipv6};
        match (header.kind, header.subtype) {
            (kind::TABLE_DUMP, table_dump::IPV4) => self.table_dump(Ipv4, body, report),
            (kind::TABLE_DUMP, table_dump::IPV6) => self.table_dump(Ipv6, body, report),
            (kind::TABLE_DUMP_V2, subtype) => match subtype {
                table_dump_v2::PEER_INDEX_TABLE => self.peer_index_table(body),
                table_dump_v2::RIB_IPV4_UNICAST => self.rib(Ipv4, false, body, report),
                table_dump_v2::RIB_IPV6_UNICAST => self.rib(Ipv6, false, body, report),
                table_dump_v2::RIB_IPV4_UNICAST_ADDPATH => self.rib(Ipv4, true, body, report),
                table_dump_v2::RIB_IPV6_UNICAST_ADDPATH => self.rib(Ipv6, true, body, report),
                _ => skip(header, report),
            },
            (kind::BGP, bgp::UPDATE) => self.obsolete_update(body, report),
            (kind::BGP4MP | kind::BGP4MP_ET, subtype) => {
                let (wide, add_path) = match subtype {
                    bgp4mp::MESSAGE => (false, false),
                    bgp4mp::MESSAGE_AS4 => (true, false),
                    bgp4mp::MESSAGE_ADDPATH => (false, true),
                    bgp4mp::MESSAGE_AS4_ADDPATH => (true, true),
                    _ => return skip(header, report),
                };
                if header.kind == kind::BGP4MP_ET {
                    body.u32("microseconds")?;
                }
                self.message(wide, add_path, header, body, report)
            }
            _ => skip(header, report),
        }
    }

    /// Counts a route of a peer. Returns whether the pass loads it.
    #[inline]
    pub(super) fn wants(&mut self, peer: usize, prefix: IpPrefix, report: &mut Report) -> bool {
        self.peers.count(peer, prefix);
        self.is_chosen(peer, prefix, report)
    }

    /// Counts a withdrawal of a peer. Returns whether the pass loads it.
    pub(super) fn wants_withdrawal(
        &mut self,
        peer: usize,
        prefix: IpPrefix,
        report: &mut Report,
    ) -> bool {
        self.peers.count_withdrawal(peer, prefix);
        self.is_chosen(peer, prefix, report)
    }

    #[inline]
    fn is_chosen(&self, peer: usize, prefix: IpPrefix, report: &mut Report) -> bool {
        match &self.mode {
            PassMode::Count => false,
            PassMode::Take { chosen, .. } if chosen.for_prefix(prefix) == Some(peer) => true,
            PassMode::Take { .. } => {
                report.other_peers += 1;
                false
            }
        }
    }

    /// Sends a route to the sink; `path` is its ADD-PATH identifier.
    pub(super) fn announce(
        &mut self,
        prefix: IpPrefix,
        path: Option<u32>,
        Announced { next_hop: (attribute, next_hop), value }: Announced<'_>,
        report: &mut Report,
    ) -> Result<(), FeedError> {
        let (addr, text) = self.next_hops.parse(attribute, next_hop)?;
        let PassMode::Take { sink, .. } = &mut self.mode else { return Ok(()) };
        report.count_announced(prefix);
        let route = || match value {
            Some(value) => PathValue::Text(value.into()),
            None => PathValue::NextHop(addr),
        };
        let result = match path.and_then(|path| self.paths.announce(prefix, path, route())) {
            Some(best) if *best != route() => sink.announce(prefix, &best.to_string()),
            _ => sink.announce(prefix, value.unwrap_or(text)),
        };
        result.map_err(|error| next_hop.error(Problem::Sink(error)))
    }

    /// Sends a withdrawal to the sink.
    pub(super) fn withdraw(
        &mut self,
        prefix: IpPrefix,
        path: Option<u32>,
        place: Cursor<'_>,
        report: &mut Report,
    ) -> Result<(), FeedError> {
        let PassMode::Take { sink, .. } = &mut self.mode else { return Ok(()) };
        let result = match path.and_then(|path| self.paths.withdraw(prefix, path)) {
            Some(left) => {
                report.count_announced(prefix);
                sink.announce(prefix, &left.to_string())
            }
            None => {
                report.withdrawn += 1;
                sink.withdraw(prefix)
            }
        };
        result.map_err(|error| place.error(Problem::Sink(error)))
    }
}

/// Counts a skipped record.
pub(super) fn skip(header: Header, report: &mut Report) -> Result<(), FeedError> {
    *report.skipped_records.entry((header.kind, header.subtype)).or_default() += 1;
    Ok(())
}
