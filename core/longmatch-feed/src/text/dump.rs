//! Selection of the `bgpdump -m` lines of the chosen peer.

use longmatch::IpPrefix;

use super::line::DumpLine;
use super::output::Output;
use crate::error::{FeedError, Location};
use crate::option_values::PeerSelector;
use crate::paths::Paths;
use crate::peers::{Chosen, Peers};

/// Route counts of each peer. Adjacent paths of one peer count as one route, as in MRT records.
#[derive(Default)]
pub(crate) struct Count {
    pub(crate) peers: Peers,
    /// The peer and the prefix of the last line with a path identifier in a table.
    last: Option<(usize, IpPrefix)>,
}

impl Count {
    /// Counts a line. Returns its peer; `None` if the line is a further path of the previous route.
    pub(crate) fn line(&mut self, dump: &DumpLine<'_>) -> Option<usize> {
        let peer = self.peers.position(dump.peer, dump.asn, 0);
        if dump.is_table && dump.path.is_some() {
            if self.last.replace((peer, dump.prefix)) == Some((peer, dump.prefix)) {
                return None;
            }
        } else {
            self.last = None;
        }
        match dump.next_hop {
            Some(_) => self.peers.count(peer, dump.prefix),
            None => self.peers.count_withdrawal(peer, dump.prefix),
        }
        Some(peer)
    }
}

/// Loader of the routes of the chosen peers.
pub(crate) struct Dump {
    count: Count,
    chosen: Chosen,
    /// The prefix of the last loaded route with a path identifier in a table.
    taken: Option<IpPrefix>,
    paths: Paths<Box<str>>,
}

impl Dump {
    /// Chooses among counted peers.
    pub(crate) fn new(peers: &Peers, selector: Option<PeerSelector>) -> Result<Self, FeedError> {
        let chosen = peers.choose(selector);
        let chosen = chosen.map_err(FeedError::whole)?;
        Ok(Self { count: Count::default(), chosen, taken: None, paths: Paths::default() })
    }

    /// All peers of the input, and the chosen peers.
    pub(crate) fn into_peers(self) -> (Peers, Chosen) {
        (self.count.peers, self.chosen)
    }

    /// Loads a line. Among several paths of a prefix, the first counts in a table, and the one with
    /// the lowest identifier in updates.
    pub(crate) fn line(
        &mut self,
        dump: DumpLine<'_>,
        place: Location,
        out: &mut Output<'_>,
    ) -> Result<(), FeedError> {
        let Some(peer) = self.count.line(&dump) else { return Ok(()) };
        let prefix = dump.prefix;
        if self.chosen.for_prefix(prefix) != Some(peer) {
            out.report.other_peers += 1;
            return Ok(());
        }
        let value = dump.value(out.value);
        match (value.as_deref(), dump.path) {
            (Some(value), Some(_)) if dump.is_table => {
                if self.taken.replace(prefix) == Some(prefix) {
                    return Ok(());
                }
                out.announce_value(prefix, value, place)
            }
            (Some(value), Some(path)) => match self.paths.announce(prefix, path, value.into()) {
                Some(best) => out.announce_value(prefix, best, place),
                None => out.announce_value(prefix, value, place),
            },
            (None, Some(path)) => match self.paths.withdraw(prefix, path) {
                Some(left) => out.announce_value(prefix, left, place),
                None => out.withdraw(prefix, place),
            },
            (Some(value), None) => out.announce_value(prefix, value, place),
            (None, None) => out.withdraw(prefix, place),
        }
    }
}
