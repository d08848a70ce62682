//! Output of the text and JSON parsers: routes to the sink, errors to the report.

use longmatch::IpPrefix;

use crate::error::{FeedError, Location, Problem};
use crate::options::Options;
use crate::report::Report;
use crate::route_value::RouteValue;
use crate::sink::{Sink, SinkError};

/// The sink and the report of one load.
pub(crate) struct Output<'a> {
    pub(crate) sink: &'a mut dyn Sink,
    pub(crate) report: &'a mut Report,
    pub(crate) lenient: bool,
    /// The value that the sink gets as the next hop.
    pub(crate) value: RouteValue,
}

impl<'a> Output<'a> {
    pub(crate) fn new(sink: &'a mut dyn Sink, report: &'a mut Report, options: &Options) -> Self {
        Self { sink, report, lenient: options.lenient, value: options.value.unwrap_or_default() }
    }

    /// Sends a route without an AS path to the sink.
    #[inline]
    pub(crate) fn announce(
        &mut self,
        prefix: IpPrefix,
        next_hop: &str,
        place: Location,
    ) -> Result<(), FeedError> {
        if self.value != RouteValue::NextHop {
            let error = Problem::NoPaths { value: self.value };
            return Err(FeedError::at(place, error));
        }
        self.announce_value(prefix, next_hop, place)
    }

    /// Sends the value of a route to the sink.
    #[inline]
    pub(crate) fn announce_value(
        &mut self,
        prefix: IpPrefix,
        next_hop: &str,
        place: Location,
    ) -> Result<(), FeedError> {
        self.report.count_announced(prefix);
        self.sink.announce(prefix, next_hop).map_err(|error| refused(place, error))
    }

    /// Sends a withdrawal to the sink.
    pub(crate) fn withdraw(&mut self, prefix: IpPrefix, place: Location) -> Result<(), FeedError> {
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

fn refused(place: Location, error: SinkError) -> FeedError {
    FeedError::at(place, Problem::Sink(error))
}
