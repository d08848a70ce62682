//! Peers of an input: their route counts, and the choice among them.

use std::collections::HashMap;
use std::net::IpAddr;

use longmatch::IpPrefix;

use crate::error::Problem;
use crate::option_values::PeerSelector;

/// A router whose routes an input holds.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Peer {
    /// Address of the peer.
    pub addr: IpAddr,
    /// Autonomous system number of the peer.
    pub asn: u32,
    /// Position in the last peer index table that lists the peer.
    pub index: Option<u16>,
    /// IPv4 routes in tables, plus announcements in updates.
    pub ipv4_routes: u64,
    /// IPv6 routes in tables, plus announcements in updates.
    pub ipv6_routes: u64,
    /// IPv4 withdrawals in updates.
    pub ipv4_withdrawals: u64,
    /// IPv6 withdrawals in updates.
    pub ipv6_withdrawals: u64,
}

/// The chosen peers, as positions in [`crate::Report::peers`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Chosen {
    /// The peer for IPv4. `None`: no selected peer has IPv4 routes.
    pub ipv4: Option<usize>,
    /// The peer for IPv6. `None`: no selected peer has IPv6 routes.
    pub ipv6: Option<usize>,
}

impl Chosen {
    /// The chosen peer for the family of this prefix.
    pub(crate) fn for_prefix(self, prefix: IpPrefix) -> Option<usize> {
        match prefix {
            IpPrefix::V4(_) => self.ipv4,
            IpPrefix::V6(_) => self.ipv6,
        }
    }
}

/// All peers found so far, in order of appearance.
#[derive(Default)]
pub(crate) struct Peers {
    list: Vec<Peer>,
    /// By address, AS and BGP identifier (0 where the input has none).
    positions: HashMap<(IpAddr, u32, u32), usize>,
}

impl Peers {
    /// Returns the position of a peer. Adds the peer if it is new.
    pub(crate) fn position(&mut self, addr: IpAddr, asn: u32, id: u32) -> usize {
        *self.positions.entry((addr, asn, id)).or_insert_with(|| {
            self.list.push(Peer {
                addr,
                asn,
                index: None,
                ipv4_routes: 0,
                ipv6_routes: 0,
                ipv4_withdrawals: 0,
                ipv6_withdrawals: 0,
            });
            self.list.len() - 1
        })
    }

    /// Records the position of a peer in a peer index table.
    pub(crate) fn set_index(&mut self, position: usize, index: u16) {
        if let Some(peer) = self.list.get_mut(position) {
            peer.index = Some(index);
        }
    }

    /// Counts a route of the peer at a position.
    #[inline]
    pub(crate) fn count(&mut self, position: usize, prefix: IpPrefix) {
        if let Some(peer) = self.list.get_mut(position) {
            match prefix {
                IpPrefix::V4(_) => peer.ipv4_routes += 1,
                IpPrefix::V6(_) => peer.ipv6_routes += 1,
            }
        }
    }

    /// Counts a withdrawal of the peer at a position.
    #[inline]
    pub(crate) fn count_withdrawal(&mut self, position: usize, prefix: IpPrefix) {
        if let Some(peer) = self.list.get_mut(position) {
            match prefix {
                IpPrefix::V4(_) => peer.ipv4_withdrawals += 1,
                IpPrefix::V6(_) => peer.ipv6_withdrawals += 1,
            }
        }
    }

    /// The address of the peer at a position.
    pub(crate) fn addr(&self, position: usize) -> Option<IpAddr> {
        self.list.get(position).map(|peer| peer.addr)
    }

    /// Returns the peers in order of appearance.
    pub(crate) fn into_list(self) -> Vec<Peer> {
        self.list
    }

    /// Chooses, for each family, the selected peer with the most routes.
    pub(crate) fn choose(&self, selector: Option<PeerSelector>) -> Result<Chosen, Problem> {
        let allowed = |peer: &Peer| match selector {
            None => true,
            Some(PeerSelector::Addr(addr)) => peer.addr == addr,
            Some(PeerSelector::Asn(asn)) => peer.asn == asn,
            Some(PeerSelector::Index(index)) => peer.index == Some(index),
        };
        if let Some(selector) = selector
            && !self.list.iter().any(allowed)
        {
            return Err(Problem::NoSuchPeer { selector, peers: self.list.len() });
        }
        // Withdrawals decide only between peers with equal numbers of announcements, such as none.
        let best = |weight: fn(&Peer) -> (u64, u64)| {
            let mut best = ((0, 0), None);
            for (position, peer) in self.list.iter().enumerate().filter(|(_, peer)| allowed(peer)) {
                // Strictly greater: the first of equal peers wins, so the choice is deterministic.
                if weight(peer) > best.0 {
                    best = (weight(peer), Some(position));
                }
            }
            best.1
        };
        Ok(Chosen {
            ipv4: best(|peer| (peer.ipv4_routes, peer.ipv4_withdrawals)),
            ipv6: best(|peer| (peer.ipv6_routes, peer.ipv6_withdrawals)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_peer_with_the_most_routes_wins_per_family() {
        let mut peers = Peers::default();
        let (v4, v6) = ("10.0.0.0/8".parse().unwrap(), "::/0".parse().unwrap());
        let addr = |text: &str| text.parse::<IpAddr>().unwrap();
        for (n, (name, asn, fours, sixes)) in
            [("10.0.0.1", 1, 3, 0), ("10.0.0.2", 2, 3, 1), ("10.0.0.3", 2, 2, 5)].iter().enumerate()
        {
            let position = peers.position(addr(name), *asn, 0);
            peers.set_index(position, n as u16);
            (0..*fours).for_each(|_| peers.count(position, v4));
            (0..*sixes).for_each(|_| peers.count(position, v6));
        }
        let choose = |text: &str| peers.choose(Some(text.parse().unwrap())).unwrap();
        assert_eq!(peers.choose(None).unwrap(), Chosen { ipv4: Some(0), ipv6: Some(2) });
        assert_eq!(choose("AS2"), Chosen { ipv4: Some(1), ipv6: Some(2) });
        assert_eq!(choose("10.0.0.1"), Chosen { ipv4: Some(0), ipv6: None });
        assert_eq!(choose("2"), Chosen { ipv4: Some(2), ipv6: Some(2) });
        assert!(peers.choose(Some("AS3".parse().unwrap())).is_err());
        assert_eq!(Peers::default().choose(None).unwrap(), Chosen::default());
    }
}
