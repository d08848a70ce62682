//! Prefix data as routes: the rows of a table for a sink.

use longmatch::table::Row;

use super::DataLoader;
use super::options::DataOptions;
use crate::error::{FeedError, Place, Problem};
use crate::report::Report;
use crate::sink::Sink;
use crate::source::Job;

/// Loads prefix data into a sink of routes, in the order of the prefixes.
///
/// The next hop is the text of the row's cells, separated by commas. A prefix without columns is its
/// own next hop.
pub(crate) fn announce(
    job: &Job<'_>,
    sink: &mut dyn Sink,
    report: &mut Report,
) -> Result<(), FeedError> {
    let options = DataOptions { input: job.options.clone(), ..DataOptions::default() };
    let mut loader = DataLoader::new(options);
    let mut read = loader.source(job.source, None)?;
    report.read_as = std::mem::take(&mut read.read_as);
    report.lines = read.lines;
    report.bytes = read.bytes;
    report.input_bytes = read.input_bytes;
    report.overlapped = read.overlapped;
    report.damaged = read.damaged;
    report.first_damage = read.first_damage.take();
    report.cut_off = read.cut_off;
    let data = loader.finish()?;
    report.is_list = data.columns().is_empty();
    for (prefix, row) in data.table() {
        let next_hop = if row.is_empty() { prefix.to_string() } else { text(row) };
        report.count_announced(prefix);
        let announced = sink.announce(prefix, &next_hop);
        announced.map_err(|error| FeedError::at(Place::Whole, Problem::Sink(error)))?;
    }
    Ok(())
}

fn text(row: &Row) -> String {
    row.iter().map(|cell| cell.to_string()).collect::<Vec<_>>().join(",")
}
