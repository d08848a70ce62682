//! Routes and changes of routes.

use crate::net::{Family, NextHopId, Prefix};

/// A prefix and the next hop for what it covers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Route<F: Family> {
    /// What is covered.
    pub prefix: Prefix<F>,
    /// Where it goes.
    pub next_hop: NextHopId,
}

/// One change of a table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Change<F: Family> {
    /// The prefix is reached by this next hop from now on, whatever it was before.
    Announce(Route<F>),
    /// The prefix has no route of its own any more.
    Withdraw(Prefix<F>),
}

/// What a [`Change`] did.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    /// The prefix had no route and has one now.
    New,
    /// The prefix had this very route: nothing changed.
    Same,
    /// The next hop was replaced; the old one.
    Replaced(NextHopId),
    /// The route was removed; its next hop.
    Withdrawn(NextHopId),
    /// There was no route to withdraw: nothing changed.
    Unknown,
}
