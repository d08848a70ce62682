//! Parquet and Arrow IPC in the command line tool: a feature of many crates that no other build needs.

use crate::report::Report;
use crate::workspace::{FEATURES, cargo, cargo_test};

/// The features of the other builds, so that this one shares their library, and the feature.
const FEATURE: &str = "--features longmatch-cli/columnar";

/// Checks the code of the feature.
pub fn lint(report: &mut Report) {
    let words = FEATURES.replace("--workspace", "--package longmatch-cli");
    let words = format!("clippy {words} --features columnar --all-targets -- -D warnings");
    report.command("clippy, columnar", &mut cargo(&words));
}

/// Runs the tests of the feature.
pub fn test(report: &mut Report) {
    report.command("tests, columnar", &mut cargo_test(&format!("{FEATURE} --test columnar")));
}
