//! Parquet and Arrow IPC in the command line tool: a feature of many crates that no other build needs.

use crate::steps::Steps;
use crate::workspace::{FEATURES, cargo, cargo_test};

/// The features of the other builds, so that this one shares their library, and the feature.
const FEATURE: &str = "--features longmatch-cli/columnar";

/// Checks the code of the feature.
pub fn lint(steps: &mut Steps) {
    let words = FEATURES.replace("--workspace", "--package longmatch-cli");
    let words = format!("clippy {words} --features columnar --all-targets -- -D warnings");
    steps.command("clippy, columnar", &mut cargo(&words));
}

/// Runs the tests of the feature.
pub fn test(steps: &mut Steps) {
    steps.command("tests, columnar", &mut cargo_test(&format!("{FEATURE} --test columnar")));
}
