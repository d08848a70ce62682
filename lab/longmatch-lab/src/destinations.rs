//! Destination addresses from a file: a packet capture, or one address a line.

use std::path::Path;

use longmatch_bench::Destinations;
use longmatch_cli::error::{Advice, CliError, hint};
use longmatch_cli::output::warn;
use longmatch_cli::reports::first_damage;
use longmatch_feed::{FeedError, Location, Options, TraceReport, printable};

/// Reads the destinations of a file. Prints a warning for skipped content on standard error.
///
/// # Errors
/// If the file cannot be read, is damaged (unless `lenient` is set), is neither a capture nor a
/// list, or has no destinations.
pub fn read(path: &Path, lenient: bool) -> Result<Destinations, CliError> {
    let mut options = Options::default();
    options.lenient = lenient;
    let trace =
        longmatch_feed::destinations(path, &options).map_err(|error| located(error, lenient))?;
    let name = path.display().to_string();
    print_report(&name, &trace.report);
    if trace.is_empty() {
        return Err(CliError::input(name, "no addresses"));
    }
    Ok(Destinations { name, ipv4: trace.ipv4, ipv6: trace.ipv6 })
}

/// Formats an error with the line number after the file's name, a form that editors recognize.
fn located(error: FeedError, lenient: bool) -> CliError {
    let advice = Advice { lenient: !lenient, families: false };
    match (&error.input, error.place) {
        (Some(name), Location::Line(number)) => {
            let hint = hint(&error, advice);
            let problem = format!("{}{hint}", error.problem);
            CliError::input(format_args!("{name}:{number}"), problem)
        }
        _ => CliError::load(&error, advice),
    }
}

fn print_report(name: &str, report: &TraceReport) {
    for warning in report.warnings() {
        warn(format_args!("{}: {warning}", printable(name)));
    }
    if let Some(error) = &report.first_damage {
        warn(first_damage(error, report.damaged));
    }
}
