//! The kernel's messages about its routes: plain values, without netlink.

use std::net::IpAddr;

use longmatch::IpPrefix;

use crate::target::Mac;

/// A change of the kernel's state, or a part of that state in a dump.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// An interface exists.
    Link(Link),
    /// The interface with this number is gone.
    LinkGone(u32),
    /// An interface has an address.
    Address(Address),
    /// An interface lost an address.
    AddressGone(Address),
    /// A next-hop object exists.
    NextHop(NextHop),
    /// The next-hop object with this id is gone, and the routes that used it.
    NextHopGone(u32),
    /// The Ethernet address of a neighbour is known.
    Neighbour(NeighbourKey, LinkAddress),
    /// The Ethernet address of a neighbour is unknown.
    NeighbourGone(NeighbourKey),
    /// A route exists.
    Route(Route, Placing),
    /// A route, or some hops of an IPv6 one, are gone.
    RouteGone(Route),
}

/// An interface.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Link {
    /// The kernel's number of it.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// The type of its hardware, such as 1 for Ethernet.
    pub hardware: u16,
    /// The flags of `ip link`, such as [`Link::UP`].
    pub flags: u32,
    /// Its Ethernet address; `None` if it has an address of another kind.
    pub mac: Option<Mac>,
    /// The largest IP packet that it sends, in bytes.
    pub mtu: u32,
}

impl Link {
    /// Flag of an interface that an administrator switched on.
    pub const UP: u32 = 1;
    /// Flag of the loopback interface.
    pub const LOOPBACK: u32 = 1 << 3;
    /// Flag of an interface that is ready for packets.
    pub const RUNNING: u32 = 1 << 6;
    /// Flag of an interface with a carrier.
    pub const LOWER_UP: u32 = 1 << 16;
    /// The type of Ethernet interfaces.
    pub const ETHERNET: u16 = 1;

    /// Whether the interface can carry packets.
    pub fn is_up(&self) -> bool {
        self.flags & Self::STATE == Self::STATE
    }

    /// The flags on which the kernel's routes depend.
    pub(super) const STATE: u32 = Self::UP | Self::RUNNING | Self::LOWER_UP;
}

/// An address of an interface of this machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Address {
    /// The address.
    pub addr: IpAddr,
    /// The length of the prefix on the link.
    pub len: u8,
    /// The number of the interface.
    pub interface: u32,
}

/// An address on the link of an interface.
///
/// Ordered by address first, so that the neighbours below a prefix are neighbours in a map.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NeighbourKey {
    /// The address.
    pub addr: IpAddr,
    /// The number of the interface.
    pub interface: u32,
}

/// The Ethernet address of a neighbour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkAddress {
    /// The address.
    pub mac: Mac,
    /// Whether the neighbour has not confirmed it for some time (`STALE`): the kernel asks it once a packet is for it.
    pub is_stale: bool,
}

impl From<Mac> for LinkAddress {
    fn from(mac: Mac) -> Self {
        Self { mac, is_stale: false }
    }
}

/// A next-hop object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NextHop {
    /// The id by which routes and groups name it.
    pub id: u32,
    /// Where its packets go.
    pub kind: NextHopKind,
}

/// Where the packets of a next-hop object go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NextHopKind {
    /// To one hop.
    Hop(RouteHop),
    /// To one of these objects: ids and weights.
    Group(Vec<(u32, u32)>),
    /// Nowhere.
    Blackhole,
    /// To where only the kernel sends packets: a bridge's forwarding table, for example.
    Special,
}

/// A route.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Route {
    /// The destinations.
    pub prefix: IpPrefix,
    /// The routing table, such as [`Route::MAIN`].
    pub table: u32,
    /// The metric: of the routes of a prefix, that with the lowest one is used.
    pub metric: u32,
    /// The type of service of the packets that use it; 0 for all packets.
    pub tos: u8,
    /// The sources of the packets that use it; `None` for all packets.
    pub source: Option<IpPrefix>,
    /// Who made it, such as [`Route::ROUTER_ADVERTISEMENT`].
    pub protocol: u8,
    /// Where its packets go.
    pub path: Path,
}

impl Route {
    /// The table of this machine's own addresses, which the kernel reads first.
    pub const LOCAL: u32 = 255;
    /// The table of the usual routes, which the kernel reads next.
    pub const MAIN: u32 = 254;
    /// The table that the kernel reads last.
    pub const DEFAULT: u32 = 253;
    /// The protocol of routes that router advertisements made.
    pub const ROUTER_ADVERTISEMENT: u8 = 9;
}

/// Where the packets of a route go.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Path {
    /// The type of the route.
    pub kind: RouteKind,
    /// The next-hop object; the hops are not used if there is one.
    pub next_hop: Option<u32>,
    /// The next hops.
    pub hops: Vec<RouteHop>,
    /// Whether only the kernel can serve the route, because of an attribute: an MTU of its own, or
    /// an attribute that cannot be read.
    pub special: bool,
}

/// The type of a route.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RouteKind {
    /// To next hops.
    Unicast,
    /// To this machine.
    Local,
    /// Nowhere.
    Blackhole,
    /// Any other type, by the kernel's number.
    Other(u8),
}

/// A next hop of a route.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RouteHop {
    /// The number of the interface; 0 if there is none.
    pub interface: u32,
    /// The router; `None` if the destinations are on the link.
    pub gateway: Option<IpAddr>,
    /// The share of the flows, at least 1.
    pub weight: u32,
    /// Whether the kernel does not use the hop now.
    pub dead: bool,
    /// Whether packets are encapsulated, which only the kernel does.
    pub tunnel: bool,
}

impl RouteHop {
    /// A hop without attributes.
    pub(super) const NONE: Self =
        Self { interface: 0, gateway: None, weight: 1, dead: false, tunnel: false };

    /// Whether both lead to the same router or link.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        (self.interface, self.gateway) == (other.interface, other.gateway)
    }
}

/// The place of a new route among those of the same prefix, table and metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placing {
    /// It is the only one.
    Only,
    /// Before the others.
    First,
    /// After the others.
    Last,
    /// In place of the first one.
    Replace,
}
