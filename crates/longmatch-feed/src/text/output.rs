//! Where the routes of text and JSON go, and what happens to their errors.

use longmatch::IpPrefix;

use crate::error::{FeedError, Place, Problem};
use crate::report::Report;
use crate::sink::{Sink, SinkError};

/// The sink and the report of one load.
pub(crate) struct Output<'a> {
    pub(crate) sink: &'a mut dyn Sink,
    pub(crate) report: &'a mut Report,
    pub(crate) lenient: bool,
}

impl Output<'_> {
    /// Gives out a route.
    #[inline]
    pub(crate) fn announce(
        &mut self,
        prefix: IpPrefix,
        next_hop: &str,
        place: Place,
    ) -> Result<(), FeedError> {
        self.report.count_announced(prefix);
        self.sink.announce(prefix, next_hop).map_err(|error| refused(place, error))
    }

    /// Gives out a withdrawal.
    pub(crate) fn withdraw(&mut self, prefix: IpPrefix, place: Place) -> Result<(), FeedError> {
        self.report.withdrawn += 1;
        self.sink.withdraw(prefix).map_err(|error| refused(place, error))
    }

    /// Lets an error through, unless the load is lenient and can go on: then it is noted.
    #[inline]
    pub(crate) fn pass(&mut self, result: Result<(), FeedError>) -> Result<(), FeedError> {
        match result {
            Err(error) if self.lenient && error.is_local() => {
                self.report.note_damage(error);
                Ok(())
            }
            other => other,
        }
    }
}

fn refused(place: Place, error: SinkError) -> FeedError {
    FeedError::at(place, Problem::Sink(error))
}
