//! Traffic of a measurement: a pattern, or the addresses of a file.

use std::sync::Arc;

use longmatch_bench::Traffic;
use longmatch_cli::error::CliError;

use crate::args;
use crate::destinations;

/// Creates the traffic that the command line names; reads its files.
///
/// # Errors
/// If the destinations of a file cannot be read, or it has none.
pub fn read(traffics: &[args::Traffic], lenient: bool) -> Result<Vec<Traffic>, CliError> {
    let one = |traffic: &args::Traffic| {
        Ok(match traffic {
            args::Traffic::Random => Traffic::Random,
            args::Traffic::Sequential => Traffic::Sequential,
            args::Traffic::Repeated => Traffic::Repeated,
            args::Traffic::Routed => Traffic::Routed,
            args::Traffic::Zipf => Traffic::Zipf,
            args::Traffic::File(path) => {
                Traffic::File(Arc::new(destinations::read(path, lenient)?))
            }
        })
    };
    traffics.iter().map(one).collect()
}
