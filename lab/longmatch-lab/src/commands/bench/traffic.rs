//! Traffic of a measurement: a pattern, or the addresses of a file.

use std::sync::Arc;

use longmatch_bench::Traffic;
use longmatch_cli::error::CliError;

use crate::args::TrafficChoice;
use crate::destinations;

/// Creates the traffic that the command line names; reads its files.
///
/// # Errors
/// If the destinations of a file cannot be read, or it has none.
pub fn read(choices: &[TrafficChoice], lenient: bool) -> Result<Vec<Traffic>, CliError> {
    let one = |choice: &TrafficChoice| match choice {
        TrafficChoice::Pattern(pattern) => Ok(pattern.clone()),
        TrafficChoice::File(path) => {
            Ok(Traffic::File(Arc::new(destinations::read(path, lenient)?)))
        }
    };
    choices.iter().map(one).collect()
}
