//! Routes and changes to routes.

use crate::net::{Family, NextHopId, Prefix};

/// A prefix and the next hop of the addresses that it covers.
///
/// ```
/// use longmatch::{Ipv4, NextHopId, Rib, Route};
/// let route = Route { prefix: "10.0.0.0/8".parse()?, next_hop: NextHopId::new(1).unwrap() };
/// let rib = Rib::<Ipv4>::from_iter([route]);
/// assert_eq!(rib.get_lpm("10.1.2.3".parse()?), Some(route));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Route<F: Family> {
    /// The addresses that the route covers.
    pub prefix: Prefix<F>,
    /// The next hop of these addresses.
    pub next_hop: NextHopId,
}

/// One change to a table.
///
/// ```
/// use longmatch::{Change, Ipv4, NextHopId, Rib, Route};
/// let (prefix, next_hop) = ("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap());
/// let log = [Change::Announce(Route { prefix, next_hop }), Change::Withdraw(prefix)];
///
/// let mut rib = Rib::<Ipv4>::new();
/// for change in log {
///     rib.apply(change)?;
/// }
/// assert!(rib.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Change<F: Family> {
    /// Sets the prefix's next hop, whether or not the prefix had a route.
    Announce(Route<F>),
    /// Removes the prefix's own route.
    Withdraw(Prefix<F>),
}

/// The effect of a [`Change`].
///
/// ```
/// use longmatch::{Change, Ipv4, NextHopId, Outcome, Rib, Route};
/// let (prefix, next_hop) = ("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap());
/// let announce = Change::Announce(Route { prefix, next_hop });
///
/// let mut rib = Rib::<Ipv4>::new();
/// assert_eq!(rib.apply(announce)?, Outcome::New);
/// assert_eq!(rib.apply(announce)?, Outcome::Same);
/// assert_eq!(rib.apply(Change::Withdraw(prefix))?, Outcome::Withdrawn(next_hop));
/// assert_eq!(rib.apply(Change::Withdraw(prefix))?, Outcome::Unknown);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    /// The prefix had no route and has one now.
    New,
    /// The prefix had the same route: nothing changed.
    Same,
    /// The next hop was replaced; holds the old one.
    Replaced(NextHopId),
    /// The route was removed; holds its next hop.
    Withdrawn(NextHopId),
    /// The prefix had no route to withdraw: nothing changed.
    Unknown,
}
