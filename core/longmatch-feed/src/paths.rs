//! Paths of ADD-PATH sessions (RFC 7911).
//!
//! In such a session a peer announces several paths per prefix.

use std::collections::BTreeMap;

use longmatch::IpPrefix;

/// All announced paths, each with its next hop `H`. The path with the lowest identifier is the
/// route of its prefix, so the result does not depend on the order of the announcements.
#[derive(Debug)]
pub(crate) struct Paths<H> {
    live: BTreeMap<(IpPrefix, u32), H>,
}

impl<H> Default for Paths<H> {
    fn default() -> Self {
        Self { live: BTreeMap::new() }
    }
}

impl<H> Paths<H> {
    /// Adds or replaces a path. Returns the next hop of the prefix.
    pub(crate) fn announce(&mut self, prefix: IpPrefix, path: u32, next_hop: H) -> Option<&H> {
        self.live.insert((prefix, path), next_hop);
        self.next_hop(prefix)
    }

    /// Removes a path. Returns the next hop of the prefix if other paths remain.
    pub(crate) fn withdraw(&mut self, prefix: IpPrefix, path: u32) -> Option<&H> {
        self.live.remove(&(prefix, path));
        self.next_hop(prefix)
    }

    fn next_hop(&self, prefix: IpPrefix) -> Option<&H> {
        let mut paths = self.live.range((prefix, 0)..=(prefix, u32::MAX));
        paths.next().map(|(_, next_hop)| next_hop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_announced_path_is_the_route() {
        let mut paths = Paths::default();
        let prefix = "10.0.0.0/8".parse().unwrap();
        assert_eq!(paths.announce(prefix, 2, "b"), Some(&"b"));
        assert_eq!(paths.announce(prefix, 1, "a"), Some(&"a"));
        assert_eq!(paths.announce(prefix, 2, "b"), Some(&"a"));
        assert_eq!(paths.withdraw(prefix, 1), Some(&"b"));
        assert_eq!(paths.withdraw(prefix, 7), Some(&"b"));
        assert_eq!(paths.withdraw(prefix, 2), None);
    }
}
