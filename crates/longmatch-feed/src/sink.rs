//! Where routes go.

use longmatch::{IpPrefix, Table};

/// Error of a [`Sink`].
pub type SinkError = Box<dyn std::error::Error + Send + Sync>;

/// Receives routes in the order of the input.
///
/// An error stops the load. [`longmatch::Table`] with text values is a sink; so is a closure over
/// [`Event`].
pub trait Sink {
    /// The prefix is reached by this next hop from now on, whatever it was before.
    ///
    /// # Errors
    /// When the route cannot be taken.
    fn announce(&mut self, prefix: IpPrefix, next_hop: &str) -> Result<(), SinkError>;

    /// The prefix has no route of its own any more; it may never have had one.
    ///
    /// # Errors
    /// When the route cannot be removed.
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

/// Stores each next hop's text once. An error leaves the table as it is.
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
