//! Which lines of `bgpdump -m` are routes of the peer that is taken.

use longmatch::IpPrefix;

use super::line::DumpLine;
use super::output::Output;
use crate::error::{FeedError, Place, Problem};
use crate::options::PeerSelector;
use crate::paths::Paths;
use crate::peers::{Chosen, Peers};

/// Counts the routes of each peer, as MRT records do: the paths of one peer that stand together
/// are one route.
#[derive(Default)]
pub(crate) struct Count {
    pub(crate) peers: Peers,
    /// The peer and the prefix of the last line with a path identifier in a table.
    last: Option<(usize, IpPrefix)>,
}

impl Count {
    /// Counts a line. Returns its peer; `None` if it is a further path of the line before.
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

/// Takes the routes of the chosen peers.
pub(crate) struct Dump {
    count: Count,
    chosen: Chosen,
    /// The prefix whose first path in a table has been taken.
    taken: Option<IpPrefix>,
    paths: Paths<Box<str>>,
}

impl Dump {
    /// Chooses among peers that have been counted.
    pub(crate) fn new(peers: &Peers, selector: Option<PeerSelector>) -> Result<Self, FeedError> {
        let chosen = peers.choose(selector);
        let chosen =
            chosen.map_err(|error| FeedError::at(Place::Whole, Problem::NoSuchPeer(error)))?;
        Ok(Self { count: Count::default(), chosen, taken: None, paths: Paths::default() })
    }

    /// The peers that were met, and the chosen ones among them.
    pub(crate) fn into_peers(self) -> (Peers, Chosen) {
        (self.count.peers, self.chosen)
    }

    /// Takes a line. Of the paths that a table has for a prefix the first is taken, of those in
    /// updates the one with the lowest identifier.
    pub(crate) fn line(
        &mut self,
        dump: DumpLine<'_>,
        place: Place,
        out: &mut Output<'_>,
    ) -> Result<(), FeedError> {
        let Some(peer) = self.count.line(&dump) else { return Ok(()) };
        let prefix = dump.prefix;
        if self.chosen.for_prefix(prefix) != Some(peer) {
            out.report.other_peers += 1;
            return Ok(());
        }
        match (dump.next_hop, dump.path) {
            (Some(next_hop), Some(_)) if dump.is_table => {
                if self.taken.replace(prefix) == Some(prefix) {
                    return Ok(());
                }
                out.announce(prefix, next_hop, place)
            }
            (Some(next_hop), Some(path)) => {
                let best = self.paths.announce(prefix, path, next_hop.into());
                out.announce(prefix, best.map_or(next_hop, |best| best), place)
            }
            (None, Some(path)) => match self.paths.withdraw(prefix, path) {
                Some(left) => out.announce(prefix, left, place),
                None => out.withdraw(prefix, place),
            },
            (Some(next_hop), None) => out.announce(prefix, next_hop, place),
            (None, None) => out.withdraw(prefix, place),
        }
    }
}
