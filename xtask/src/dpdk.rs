//! The forwarder's packet I/O by DPDK: a feature that needs a library which few machines have.

use std::process::{Command, Stdio};

use crate::report::Report;
use crate::workspace::{FEATURES, cargo};

/// The feature.
const FEATURE: &str = "--features longmatch-forward/dpdk";

/// Checks the code of the feature, or reports why not.
pub fn lint(report: &mut Report) {
    step(report, "clippy, DPDK", "clippy", "--all-targets -- -D warnings");
}

/// Runs the tests of the feature, or reports why not.
pub fn test(report: &mut Report) {
    step(report, "tests, DPDK", "test", "--lib --test dpdk");
}

/// Runs a command of cargo on the feature's crate, with the features of the library that other steps have built.
fn step(report: &mut Report, name: &str, command: &str, words: &str) {
    let own = FEATURES.replace("--workspace", "--package longmatch-forward");
    let mut find = Command::new("pkg-config");
    find.args(["--exists", "libdpdk"]).stderr(Stdio::null());
    if find.status().is_ok_and(|status| status.success()) {
        report.command(name, &mut cargo(&format!("{command} {own} {FEATURE} {words}")));
    } else {
        report.skip(name, "DPDK's library is not installed (`apt install dpdk-dev pkg-config`)");
    }
}
