//! The route of an address, for people.

use std::net::IpAddr;

use longmatch::IpPrefix;

use super::state::KernelState;
use crate::target::{Hop, Target};

/// The route of an address.
#[derive(Clone, Debug)]
pub struct FoundRoute {
    /// The longest prefix that covers the address. A neighbour on a link has its own prefix.
    pub prefix: IpPrefix,
    /// Where the packets go.
    pub target: Target,
    /// The next hops of a [`Target::Group`].
    pub hops: Vec<FoundHop>,
}

/// A next hop of a [`FoundRoute`].
#[derive(Clone, Debug)]
pub struct FoundHop {
    /// The address of the neighbour.
    pub gateway: Option<IpAddr>,
    /// Whether the kernel no longer relies on the neighbour's Ethernet address.
    pub is_stale: bool,
    /// The port, the neighbour and its counts, and the weight.
    pub hop: Hop,
}

impl KernelState {
    /// A route of the table, with the known properties of its next hops.
    pub(super) fn found(&self, prefix: IpPrefix, target: &Target) -> FoundRoute {
        let hops = match target {
            Target::Group(group) => group.hops(),
            _ => &[],
        };
        let found = |hop: &Hop| {
            let key = self.neighbours.key(&hop.neighbour);
            let address = key.and_then(|key| self.snapshot.neighbours.get(&key));
            let is_stale = address.is_some_and(|address| address.is_stale);
            FoundHop { gateway: key.map(|key| key.addr), is_stale, hop: hop.clone() }
        };
        FoundRoute { prefix, target: target.clone(), hops: hops.iter().map(found).collect() }
    }
}
