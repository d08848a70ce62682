//! The features of the command line tool and the forwarder that few builds have: Parquet and Arrow IPC, with many crates
//! that no other build needs, and packet I/O by DPDK, with a library that few machines have.

use std::process::{Command, Stdio};

use crate::steps::Steps;
use crate::workspace::{FEATURES, cargo, cargo_test};

const COLUMNAR: &str = "--features longmatch-cli/columnar";
/// Of the program, with that of its library.
const DPDK: &str = "--features longmatch-router/dpdk";
const NO_DPDK: &str =
    "DPDK's library is not installed (Debian: `apt-get install dpdk-dev pkg-config`)";

/// Checks the code of all features at once: with those of the other checks, whose library they share.
pub fn lint(steps: &mut Steps) {
    let dpdk = if has_dpdk() { DPDK } else { "" };
    let words = format!("clippy {FEATURES} {COLUMNAR} {dpdk} --all-targets -- -D warnings");
    steps.command("clippy, columnar and DPDK", &mut cargo(&words));
    if dpdk.is_empty() {
        steps.skip("clippy, DPDK", NO_DPDK);
    }
}

/// Runs the tests of the features.
pub fn test(steps: &mut Steps) {
    steps.command("tests, columnar", &mut cargo_test(&format!("{COLUMNAR} --test columnar")));
    match has_dpdk() {
        true => {
            let words = "test --package longmatch-forward --features dpdk --lib --test dpdk";
            steps.command("tests, DPDK", &mut cargo(words));
        }
        false => steps.skip("tests, DPDK", NO_DPDK),
    }
}

fn has_dpdk() -> bool {
    let mut find = Command::new("pkg-config");
    find.args(["--exists", "libdpdk"]).stderr(Stdio::null());
    find.status().is_ok_and(|status| status.success())
}
