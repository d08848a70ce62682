//! Functions that measure for the Poptrie paper (SIGCOMM 2015), section 4.

mod structure;
mod updates;

use crate::experiment::Function;

/// Returns the function with this name.
pub(super) fn function(name: &str) -> Option<Function> {
    Some(match name {
        "tables" => (structure::count_tables, |inputs, _| 3.0 * inputs.tables.len() as f64),
        "depths" => (structure::count_depths, |inputs, _| inputs.ipv4().len() as f64),
        "updates" => (updates::run, updates::seconds),
        _ => return None,
    })
}
