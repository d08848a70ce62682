//! Routes and changes to routes.

use crate::net::{Family, NextHopId, Prefix};

/// A prefix and the next hop of the addresses that it covers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Route<F: Family> {
    /// The addresses that the route covers.
    pub prefix: Prefix<F>,
    /// The next hop of these addresses.
    pub next_hop: NextHopId,
}

/// One change to a table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Change<F: Family> {
    /// Sets the prefix's next hop, whether or not the prefix had a route.
    Announce(Route<F>),
    /// Removes the prefix's own route.
    Withdraw(Prefix<F>),
}

/// The effect of a [`Change`].
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
