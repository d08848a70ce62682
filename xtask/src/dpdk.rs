//! The forwarder's packet I/O by DPDK: a feature that needs a library which few machines have.

use std::process::{Command, Stdio};

use crate::report::Report;
use crate::workspace::cargo;

/// The feature's crate.
const CRATE: &str = "--package longmatch-forward --features dpdk";

/// Checks the code of the feature, or reports why not.
pub fn lint(report: &mut Report) {
    step(report, "clippy, DPDK", &format!("clippy {CRATE} --all-targets -- -D warnings"));
}

/// Runs the tests of the feature, or reports why not.
pub fn test(report: &mut Report) {
    step(report, "tests, DPDK", &format!("test {CRATE} --lib --test dpdk"));
}

fn step(report: &mut Report, name: &str, words: &str) {
    let mut find = Command::new("pkg-config");
    find.args(["--exists", "libdpdk"]).stderr(Stdio::null());
    if find.status().is_ok_and(|status| status.success()) {
        report.command(name, &mut cargo(words));
    } else {
        report.skip(name, "DPDK's library is not installed (`apt install dpdk-dev pkg-config`)");
    }
}
