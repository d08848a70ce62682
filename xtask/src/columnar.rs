//! Parquet and Arrow IPC in the command line tool: a feature of many crates that no other build needs.

use crate::report::Report;
use crate::workspace::cargo;

/// The feature's crate. The features of the library are those of the other builds, whose crates it shares.
const CRATE: &str = "--package longmatch-cli --features columnar";

/// Checks the code of the feature.
pub fn lint(report: &mut Report) {
    let words = format!("clippy {CRATE} --all-targets -- -D warnings");
    report.command("clippy, columnar", &mut cargo(&words));
}

/// Runs the tests of the feature.
pub fn test(report: &mut Report) {
    report.command("tests, columnar", &mut cargo(&format!("test {CRATE} --test columnar")));
}
