//! Ids that stand for routes.

use alloc::vec::Vec;

use crate::net::{Family, IpPrefix, Ipv4, Ipv6, NextHopId, Prefix, Route};
use crate::rib::Rib;

/// The routes of both families by their ids: 1 and up for IPv4 in order, then IPv6.
///
/// A lookup knows the address, so it needs the length of the prefix only: 8 bytes a route, in one
/// array for both families. The addresses of the prefixes are for ids without an address.
#[derive(Debug)]
pub(super) struct RouteIds {
    targets: Vec<Target>,
    ipv4: Vec<u32>,
    ipv6: Vec<u128>,
}

/// The length of a route's prefix and the id of its value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Target {
    pub value: NextHopId,
    pub len: u8,
}

const _: () = assert!(size_of::<Target>() == 8);

impl RouteIds {
    /// Gives each route an id; returns the same routes with these ids.
    pub fn number(ipv4: &Rib<Ipv4>, ipv6: &Rib<Ipv6>) -> (Self, Rib<Ipv4>, Rib<Ipv6>) {
        let mut targets = Vec::with_capacity(ipv4.len() + ipv6.len());
        let numbered4 = number(ipv4, &mut targets);
        let numbered6 = number(ipv6, &mut targets);
        let ids = Self {
            targets,
            ipv4: ipv4.iter().map(|route| route.prefix.bits()).collect(),
            ipv6: ipv6.iter().map(|route| route.prefix.bits()).collect(),
        };
        (ids, numbered4, numbered6)
    }

    /// The length and the value of an id's route.
    #[inline]
    pub fn target(&self, id: NextHopId) -> Option<Target> {
        self.targets.get(id.get() as usize - 1).copied()
    }

    /// The prefix of an id's route.
    pub fn prefix(&self, id: NextHopId) -> Option<IpPrefix> {
        let Target { len, .. } = self.target(id)?;
        let i = id.get() as usize - 1;
        Some(match self.ipv4.get(i) {
            Some(bits) => Prefix::<Ipv4>::truncated(*bits, len).into(),
            None => Prefix::<Ipv6>::truncated(self.ipv6[i - self.ipv4.len()], len).into(),
        })
    }
}

/// Numbers the routes after those already numbered.
fn number<F: Family>(rib: &Rib<F>, targets: &mut Vec<Target>) -> Rib<F> {
    renamed(rib, |route| {
        targets.push(Target { value: route.next_hop, len: route.prefix.len() });
        let id = NextHopId::new(targets.len() as u32);
        id.expect("the list has just grown, so its length is not zero")
    })
}

/// Copies the routes with other ids, in order; the copy has the same limit.
pub(super) fn renamed<F: Family>(
    rib: &Rib<F>,
    mut id: impl FnMut(Route<F>) -> NextHopId,
) -> Rib<F> {
    let mut renamed = rib.clone();
    for route in rib {
        let old = renamed.insert(route.prefix, id(route));
        debug_assert_eq!(old, Ok(Some(route.next_hop)), "the copy has the route");
    }
    renamed
}
