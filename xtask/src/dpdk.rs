//! The forwarder's packet I/O by DPDK: a feature that needs a library which few machines have.

use std::process::{Command, Stdio};

use crate::steps::Steps;
use crate::workspace::cargo;

/// The feature's crate.
const CRATE: &str = "--package longmatch-forward --features dpdk";

/// Checks the code of the feature, or reports why not.
pub fn lint(steps: &mut Steps) {
    step(steps, "clippy, DPDK", &format!("clippy {CRATE} --all-targets -- -D warnings"));
}

/// Runs the tests of the feature, or reports why not.
pub fn test(steps: &mut Steps) {
    step(steps, "tests, DPDK", &format!("test {CRATE} --lib --test dpdk"));
}

fn step(steps: &mut Steps, name: &str, words: &str) {
    let mut find = Command::new("pkg-config");
    find.args(["--exists", "libdpdk"]).stderr(Stdio::null());
    if find.status().is_ok_and(|status| status.success()) {
        steps.command(name, &mut cargo(words));
    } else {
        steps.skip(name, "DPDK's library is not installed (`apt install dpdk-dev pkg-config`)");
    }
}
