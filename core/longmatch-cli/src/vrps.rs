//! The VRPs of the command line, and origins as text.

use std::io;
use std::path::Path;

use longmatch::rov::VrpSet;
use longmatch_feed::{Options, parse_asn, printable, read_vrps, read_vrps_path};

use crate::error::CliError;
use crate::output::warn;
use crate::paths::{display_name, is_stdin};

/// Reads files of VRPs into one set. A warning names a file without any.
///
/// # Errors
/// If a file cannot be read or is damaged.
pub fn load(paths: &[impl AsRef<Path>]) -> Result<VrpSet, CliError> {
    let (mut vrps, options) = (VrpSet::new(), Options::default());
    for path in paths.iter().map(AsRef::as_ref) {
        let name = display_name(path);
        let read = match is_stdin(path) {
            true => read_vrps(io::stdin().lock(), Some(&name), &options, &mut vrps),
            false => read_vrps_path(path, &options, &mut vrps),
        };
        if read.map_err(|error| CliError::new(error.to_string()))? == 0 {
            warn(format_args!("{}: no VRP", printable(&name)));
        }
    }
    Ok(vrps)
}

/// Parses the origin of a route: an AS number, or nothing or a set of systems, which is none.
///
/// # Errors
/// The problem, if the text is another.
pub fn origin(text: &str) -> Result<Option<u32>, String> {
    match text {
        "" | "-" => Ok(None),
        set if set.starts_with('{') && set.ends_with('}') => Ok(None),
        text => parse_asn(text).map(Some).ok_or_else(|| {
            format!(
                "'{}' is not an AS number: --origin names the column of the origin AS",
                printable(text)
            )
        }),
    }
}
