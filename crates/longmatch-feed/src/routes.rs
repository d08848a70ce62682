//! Loading of routes whose format is known.

use crate::error::FeedError;
use crate::options::{Format, Options};
use crate::report::Report;
use crate::sink::Sink;
use crate::source::{Job, Opened, Source};
use crate::{mrt, text};

/// Loads the routes of a source in the format that the options name.
pub(crate) fn load_source(
    source: Source<'_>,
    options: &Options,
    sink: &mut dyn Sink,
) -> Result<Report, FeedError> {
    let job = Job { source, options };
    reported(&job, None, |report| {
        let opened = job.open()?;
        report.codec = opened.codec;
        report.format = options.format;
        load(&job, opened, sink, report)
    })
}

/// Runs a load with an empty report, and returns the report. A lenient load ends where damage ends the
/// input.
pub(crate) fn reported(
    job: &Job<'_>,
    name: Option<&str>,
    load: impl FnOnce(&mut Report) -> Result<(), FeedError>,
) -> Result<Report, FeedError> {
    let mut report = Report::default();
    match load(&mut report) {
        Ok(()) => {}
        Err(error) if job.options.lenient && error.is_damage() => {
            report.cut_off = true;
            report.note_damage(error.named(name));
        }
        Err(error) => return Err(error.named(name)),
    }
    report.first_damage = report.first_damage.map(|error| error.named(name));
    report.refuse_damage_without_routes()?;
    Ok(report)
}

/// Loads an input with the parser of the report's format.
pub(crate) fn load(
    job: &Job<'_>,
    opened: Opened<'_>,
    sink: &mut dyn Sink,
    report: &mut Report,
) -> Result<(), FeedError> {
    match report.format {
        Format::Mrt => mrt::load(job, opened, sink, report),
        Format::Json => text::load_json(job, opened, sink, report),
        _ => text::load(job, opened, sink, report),
    }
}
