//! Tables that change in numbered versions, and where each packet must go in each of them.

use std::collections::HashMap;
use std::fmt::Write;
use std::net::IpAddr;

use super::net::{neighbour, neighbour4, neighbour6};
use crate::frames::Mac;

/// The number of next hops: neighbours beside host B, and one beside host A.
pub const HOPS: u8 = 4;

/// Stands for a next hop where a route is withdrawn.
const WITHDRAWN: u8 = u8::MAX;

/// The place of a next hop: the host beside it, and its number there.
fn place(hop: u8) -> (u8, u8) {
    if hop + 1 < HOPS { (1, hop) } else { (0, 0) }
}

/// The next hop with this Ethernet address.
pub fn hop_of(mac: Mac) -> Option<u8> {
    (0..HOPS).find(|&hop| {
        let (host, number) = place(hop);
        neighbour(host, number) == mac
    })
}

/// A prefix: the address and its length.
pub type Prefix = (IpAddr, u8);

/// A reproducible generator of numbers (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }
}

/// Routes whose next hops change from version to version.
pub struct Routes {
    prefixes: Vec<Prefix>,
    /// The next hop of each route, by version.
    versions: Vec<Vec<u8>>,
}

impl Routes {
    /// The first version, with next hops at random.
    pub fn new(prefixes: Vec<Prefix>, random: &mut Random) -> Self {
        let hops = prefixes.iter().map(|_| random.below(HOPS.into()) as u8).collect();
        Self { prefixes, versions: vec![hops] }
    }

    /// Adds a version in which so many routes have changed. Of `permanent` routes, the first ones,
    /// none is withdrawn.
    pub fn change(&mut self, count: usize, permanent: usize, random: &mut Random) {
        let mut hops = self.versions[self.versions.len() - 1].clone();
        for _ in 0..count {
            let route = random.below(hops.len());
            let withdrawn = route >= permanent && random.below(8) == 0;
            hops[route] = if withdrawn { WITHDRAWN } else { random.below(HOPS.into()) as u8 };
        }
        self.versions.push(hops);
    }

    /// Appends the next hop of each version to a new route: another one in each.
    pub fn add_probe(&mut self, prefix: Prefix) {
        self.prefixes.push(prefix);
        for (version, hops) in self.versions.iter_mut().enumerate() {
            hops.push((version % usize::from(HOPS)) as u8);
        }
    }

    /// The addresses of the last two routes, the probes.
    pub fn probes(&self) -> [IpAddr; 2] {
        let last = self.prefixes.last_chunk::<2>().expect("probes");
        last.map(|(address, _)| address)
    }

    /// The number of versions.
    pub fn versions(&self) -> usize {
        self.versions.len()
    }

    /// The number of routes of the first version.
    pub fn len(&self) -> usize {
        self.prefixes.len()
    }

    /// Adds a version in which each route has another next hop.
    pub fn change_all(&mut self) {
        let last = &self.versions[self.versions.len() - 1];
        let other = |&hop: &u8| if hop == WITHDRAWN { 0 } else { (hop + 1) % HOPS };
        self.versions.push(last.iter().map(other).collect());
    }

    /// Forgets all versions but the last one, and changes so many of its routes, as [`change`](Self::change) does.
    /// Returns the commands of `ip`, of which there may be fewer.
    pub fn advance(&mut self, count: usize, permanent: usize, random: &mut Random) -> String {
        self.versions.drain(..self.versions.len() - 1);
        self.change(count, permanent, random);
        self.changes(1, 0..self.len())
    }

    /// Commands of `ip` that make these routes of a version, whatever the router has. None may be withdrawn in it.
    pub fn commands(&self, version: usize, routes: impl Iterator<Item = usize>) -> String {
        let mut text = String::new();
        let hops = &self.versions[version];
        routes.for_each(|route| command(&mut text, "replace", self.prefixes[route], hops[route]));
        text
    }

    /// Commands of `ip` that turn the version before into this one, for these routes.
    pub fn changes(&self, version: usize, routes: impl Iterator<Item = usize>) -> String {
        let mut text = String::new();
        let (before, after) = (&self.versions[version - 1], &self.versions[version]);
        for route in routes.filter(|&route| before[route] != after[route]) {
            let verb = if after[route] == WITHDRAWN { "del" } else { "replace" };
            command(&mut text, verb, self.prefixes[route], after[route]);
        }
        text
    }

    /// Destinations with the routes that lead there in some version, the longest first.
    pub fn destinations(&self, addresses: impl Iterator<Item = IpAddr>) -> Vec<Destination> {
        let places = self.prefixes.iter().enumerate();
        let routes: HashMap<_, _> = places.map(|(route, &prefix)| (prefix, route)).collect();
        let of = |address: IpAddr| {
            let longest = if address.is_ipv4() { 32 } else { 128 };
            let prefixes = (0..=longest).rev().map(|len| (first(address, len), len));
            let routes = prefixes.filter_map(|prefix| routes.get(&prefix).copied()).collect();
            Destination { address, routes }
        };
        addresses.map(of).collect()
    }

    /// Addresses that routes lead to, at random: every second one by a route that changes.
    pub fn addresses(&self, count: usize, random: &mut Random) -> Vec<IpAddr> {
        let changes = |&route: &usize| {
            let first = self.versions[0][route];
            self.versions.iter().any(|hops| hops[route] != first)
        };
        let changing: Vec<_> = (0..self.prefixes.len()).filter(changes).collect();
        let route = |place: usize, random: &mut Random| match place % 2 {
            0 => random.below(self.prefixes.len()),
            _ => changing[random.below(changing.len())],
        };
        (0..count).map(|place| self.address(route(place, random), random)).collect()
    }

    /// An address at random in the network of a route.
    fn address(&self, route: usize, random: &mut Random) -> IpAddr {
        let (address, len) = self.prefixes[route];
        let bits = random.below(usize::MAX) as u128 * 0x1_0000_0000_0001;
        match address {
            IpAddr::V4(address) => {
                let host = u32::MAX.checked_shr(len.into()).unwrap_or(0);
                IpAddr::V4((u32::from(address) | bits as u32 & host).into())
            }
            IpAddr::V6(address) => {
                let host = u128::MAX.checked_shr(len.into()).unwrap_or(0);
                IpAddr::V6((u128::from(address) | bits & host).into())
            }
        }
    }

    /// Whether packets to a destination may take a next hop after the changes to one version began and before those to
    /// another are complete. The routes of a version change one after another, in their order.
    pub fn may_take(&self, destination: &Destination, versions: (usize, usize), hop: u8) -> bool {
        let (settled, begun) = versions;
        let mut steps = (settled..begun).flat_map(|version| {
            let changed = destination.routes.iter().map(move |&route| (version, route + 1));
            changed.chain([(version, 0)])
        });
        self.hop(destination, begun) == hop
            || steps.any(|(version, changed)| {
                let next =
                    |route: usize| self.versions[version + usize::from(route < changed)][route];
                hop_among(destination.routes.iter().map(|&route| next(route))) == hop
            })
    }

    /// The next hop of a destination in a version.
    pub fn hop(&self, destination: &Destination, version: usize) -> u8 {
        hop_among(destination.routes.iter().map(|&route| self.versions[version][route]))
    }
}

/// The first next hop of routes, the longest first.
fn hop_among(mut hops: impl Iterator<Item = u8>) -> u8 {
    hops.find(|&hop| hop != WITHDRAWN).expect("a route that is never withdrawn")
}

/// An address that packets go to.
pub struct Destination {
    pub address: IpAddr,
    routes: Vec<usize>,
}

/// The first address of the network of this length.
fn first(address: IpAddr, len: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = !u32::MAX.checked_shr(len.into()).unwrap_or(0);
            IpAddr::V4((u32::from(address) & mask).into())
        }
        IpAddr::V6(address) => {
            let mask = !u128::MAX.checked_shr(len.into()).unwrap_or(0);
            IpAddr::V6((u128::from(address) & mask).into())
        }
    }
}

fn command(text: &mut String, verb: &str, (address, len): Prefix, hop: u8) {
    let (host, number) = place(hop.min(HOPS - 1));
    let via = if address.is_ipv4() { neighbour4(host, number) } else { neighbour6(host, number) };
    let written = match verb {
        "del" => writeln!(text, "route del {address}/{len}"),
        _ => writeln!(text, "route {verb} {address}/{len} via {via}"),
    };
    written.unwrap();
}
