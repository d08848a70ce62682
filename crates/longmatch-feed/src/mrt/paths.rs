//! The paths of sessions with ADD-PATH (RFC 7911), where a peer announces several for a prefix.

use std::collections::BTreeMap;
use std::net::IpAddr;

use longmatch::IpPrefix;

/// What an update with a path identifier does to the prefix's one route in a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// The route now has this next hop.
    Announce(IpAddr),
    /// There is no path left.
    Withdraw,
}

/// All live paths. Of a prefix's paths the one with the lowest identifier is its route, so that the
/// outcome does not depend on the order in which they came.
#[derive(Default)]
pub(crate) struct Paths {
    live: BTreeMap<(IpPrefix, u32), IpAddr>,
}

impl Paths {
    pub(crate) fn announce(&mut self, prefix: IpPrefix, path: u32, next_hop: IpAddr) -> Effect {
        self.live.insert((prefix, path), next_hop);
        self.effect(prefix)
    }

    pub(crate) fn withdraw(&mut self, prefix: IpPrefix, path: u32) -> Effect {
        self.live.remove(&(prefix, path));
        self.effect(prefix)
    }

    fn effect(&self, prefix: IpPrefix) -> Effect {
        let mut paths = self.live.range((prefix, 0)..=(prefix, u32::MAX));
        paths.next().map_or(Effect::Withdraw, |(_, next_hop)| Effect::Announce(*next_hop))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_live_path_counts() {
        let mut paths = Paths::default();
        let prefix = "10.0.0.0/8".parse().unwrap();
        let [a, b] = ["10.0.0.1", "10.0.0.2"].map(|text| text.parse().unwrap());
        assert_eq!(paths.announce(prefix, 2, b), Effect::Announce(b));
        assert_eq!(paths.announce(prefix, 1, a), Effect::Announce(a));
        assert_eq!(paths.announce(prefix, 2, b), Effect::Announce(a));
        assert_eq!(paths.withdraw(prefix, 1), Effect::Announce(b));
        assert_eq!(paths.withdraw(prefix, 7), Effect::Announce(b));
        assert_eq!(paths.withdraw(prefix, 2), Effect::Withdraw);
    }
}
