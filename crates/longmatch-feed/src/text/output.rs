//! Output of the text and JSON parsers: routes to the sink, errors to the report.

use longmatch::IpPrefix;

use crate::error::{FeedError, Place, Problem};
use crate::report::Report;
use crate::sink::{Sink, SinkError};

/// The sink and the report of one load.
pub(crate) struct Output<'a> {
    pub(crate) sink: &'a mut dyn Sink,
    pub(crate) report: &'a mut Report,
    pub(crate) lenient: bool,
    /// Whether the sink uses the origins of routes.
    pub(crate) needs_origin: bool,
}

impl<'a> Output<'a> {
    pub(crate) fn new(sink: &'a mut dyn Sink, report: &'a mut Report, lenient: bool) -> Self {
        let needs_origin = sink.needs_origin();
        Self { sink, report, lenient, needs_origin }
    }

    /// Sends a route with an AS path to the sink: its next hop and its origin.
    pub(crate) fn announce_path(
        &mut self,
        prefix: IpPrefix,
        (next_hop, origin): (&str, Option<u32>),
        place: Place,
    ) -> Result<(), FeedError> {
        self.report.count_announced(prefix);
        let result = self.sink.announce_path(prefix, next_hop, origin);
        result.map_err(|error| refused(place, error))
    }

    /// Sends a route to the sink.
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

    /// Sends a withdrawal to the sink.
    pub(crate) fn withdraw(&mut self, prefix: IpPrefix, place: Place) -> Result<(), FeedError> {
        self.report.withdrawn += 1;
        self.sink.withdraw(prefix).map_err(|error| refused(place, error))
    }

    /// Returns an error, or records it in the report if the load is lenient and can continue.
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
