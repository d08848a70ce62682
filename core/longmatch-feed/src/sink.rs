//! Receivers of routes.

use longmatch::{IpPrefix, Table};

/// Error of a [`Sink`].
pub type SinkError = Box<dyn std::error::Error + Send + Sync>;

/// Receives routes in the order of the input.
///
/// An error stops the load. A [`longmatch::Table`] with text values is a sink, and so is a closure
/// over [`Event`].
pub trait Sink {
    /// Sets the next hop of a prefix, in place of any earlier one; or the value of its route that
    /// [`Options::value`](crate::Options::value) names.
    ///
    /// # Errors
    /// If the sink cannot store the route.
    fn announce(&mut self, prefix: IpPrefix, next_hop: &str) -> Result<(), SinkError>;

    /// Removes the route of a prefix, which may have none.
    ///
    /// # Errors
    /// If the sink cannot remove the route.
    fn withdraw(&mut self, prefix: IpPrefix) -> Result<(), SinkError>;
}

/// One call of a [`Sink`], as a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event<'a> {
    /// [`Sink::announce`].
    Announce(IpPrefix, &'a str),
    /// [`Sink::withdraw`].
    Withdraw(IpPrefix),
}

impl<F: FnMut(Event<'_>) -> Result<(), SinkError>> Sink for F {
    fn announce(&mut self, prefix: IpPrefix, next_hop: &str) -> Result<(), SinkError> {
        self(Event::Announce(prefix, next_hop))
    }

    fn withdraw(&mut self, prefix: IpPrefix) -> Result<(), SinkError> {
        self(Event::Withdraw(prefix))
    }
}

/// Stores the text of each next hop once. An error leaves the table unchanged.
impl Sink for Table<Box<str>> {
    fn announce(&mut self, prefix: IpPrefix, next_hop: &str) -> Result<(), SinkError> {
        self.insert_borrowed(prefix, next_hop)?;
        Ok(())
    }

    fn withdraw(&mut self, prefix: IpPrefix) -> Result<(), SinkError> {
        self.remove(prefix);
        Ok(())
    }
}
