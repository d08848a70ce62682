//! The compilers and the targets that the library promises: the least compiler version, 32 bits, microcontrollers, and
//! WebAssembly, for which `cargo xtask test` also runs lookups.
//!
//! `foreign` runs the library's tests on three more targets.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::steps::{StepResult, Steps};
use crate::workspace::{cargo, root, target};

/// A target for which the library is checked: no code is generated.
struct Target {
    triple: &'static str,
    /// The kind of system that it represents.
    about: &'static str,
    /// The features of the library, as arguments of cargo.
    features: &'static str,
}

const BARE: &str = "--no-default-features --features folio";

const TARGETS: [Target; 5] = [
    Target {
        triple: "x86_64-unknown-none",
        about: "without std",
        features: "--no-default-features --features all-engines",
    },
    Target { triple: "thumbv7em-none-eabihf", about: "no 64-bit atomics", features: BARE },
    Target { triple: "riscv32imac-unknown-none-elf", about: "no 64-bit atomics", features: BARE },
    Target { triple: "i686-unknown-linux-gnu", about: "32 bits", features: "--all-features" },
    Target { triple: WASM, about: "no clock, no threads", features: "" },
];

const WASM: &str = "wasm32-unknown-unknown";

/// Targets for which a package's programs are checked, and the package: musl makes programs that need no libraries; the
/// other systems have no forwarder.
const PROGRAMS: [[&str; 2]; 4] = [
    ["longmatch-cli", "x86_64-unknown-linux-musl"],
    ["longmatch-router", "x86_64-unknown-linux-musl"],
    ["longmatch-cli", "x86_64-pc-windows-msvc"],
    ["longmatch-cli", "aarch64-apple-darwin"],
];

/// Adds the steps; skipped, with advice, if a toolchain or a target is not installed.
pub fn run_steps(steps: &mut Steps) {
    least_compiler(steps);
    let check = "check --package longmatch --lib";
    // A target with std does not reveal a dependency that needs it.
    let bare = format!("{check} --no-default-features --features all-engines");
    steps.command("library without std, this machine", &mut cargo(&bare));
    let installed = installed("target");
    for Target { triple, about, features } in &TARGETS {
        let name = format!("library for {triple} ({about})");
        match has(&installed, triple) {
            Ok(()) => {
                let words = format!("{check} {features} --target {triple}");
                steps.command(&name, cargo(&words).env("RUSTFLAGS", "-D warnings"));
            }
            Err(why) => steps.skip(&name, &format!("{why} (`rustup target add {triple}`)")),
        }
    }
}

/// Adds the steps that check programs for other systems.
pub fn programs(steps: &mut Steps) {
    let installed = installed("target");
    for [package, triple] in PROGRAMS {
        let name = format!("programs of {package} for {triple}");
        match has(&installed, triple) {
            Ok(()) => {
                let words = format!("check --package {package} --target {triple}");
                steps.command(&name, cargo(&words).env("RUSTFLAGS", "-D warnings"));
            }
            Err(why) => steps.skip(&name, &format!("{why} (`rustup target add {triple}`)")),
        }
    }
}

/// Checks the libraries with the compiler that `rust-version` names.
fn least_compiler(steps: &mut Steps) {
    let name = "libraries with the least compiler";
    let manifest = fs::read_to_string(root().join("Cargo.toml"));
    let Some(version) = manifest.ok().and_then(|text| rust_version(&text)) else {
        return steps.give_up(name, "Cargo.toml has no line `rust-version = \"MAJOR.MINOR\"`");
    };
    let toolchain = format!("{version}.0");
    if let Err(why) = has(&installed("toolchain"), &toolchain) {
        let advice = format!("`rustup toolchain install {toolchain} --profile minimal`");
        return steps.skip(name, &format!("{why} ({advice})"));
    }
    for features in
        ["--package longmatch", "--package longmatch --package longmatch-feed --all-features"]
    {
        let mut command = Command::new("rustup");
        command.args(["run", &toolchain, "cargo", "check", "--lib"]).args(features.split(' '));
        // These variables are of the toolchain that runs this program.
        command.env_remove("CARGO").env_remove("RUSTC").env_remove("RUSTDOC");
        command.current_dir(root()).stdin(Stdio::null());
        steps.command(&format!("{name}, {toolchain}: {features}"), &mut command);
    }
}

/// Runs lookups in WebAssembly.
pub fn web_assembly(steps: &mut Steps) {
    let name = "lookups in WebAssembly, in Node.js";
    if let Err(why) = has(&installed("target"), WASM) {
        return steps.skip(name, &format!("{why} (`rustup target add {WASM}`)"));
    }
    let node = Command::new("node").arg("--version").stdout(Stdio::null()).status();
    if !node.is_ok_and(|status| status.success()) {
        return steps.skip(name, "no `node` (Debian: `apt-get install nodejs`)");
    }
    steps.step(name, || {
        let build = cargo(&format!("build --package xtask-wasm --target {WASM}")).status();
        if !build.is_ok_and(|status| status.success()) {
            return StepResult::Failed("xtask/wasm does not build".into());
        }
        let module = target().join(WASM).join("debug/xtask_wasm.wasm");
        let run = root().join("xtask/wasm/run.mjs");
        match Command::new("node").args([Path::new(&run), &module]).status() {
            Ok(status) if status.success() => StepResult::Passed,
            Ok(status) => StepResult::Failed(format!("{status}: a wrong answer or a panic")),
            Err(error) => StepResult::Failed(error.to_string()),
        }
    });
}

/// The version in the workspace's manifest.
fn rust_version(manifest: &str) -> Option<String> {
    let value = manifest.lines().find_map(|line| line.strip_prefix("rust-version = \""))?;
    value.strip_suffix('"').map(String::from)
}

/// Returns the installed targets or toolchains, or why rustup does not list them.
pub fn installed(kind: &str) -> Result<String, String> {
    let words: &[&str] =
        if kind == "target" { &["target", "list", "--installed"] } else { &[kind, "list"] };
    let output = Command::new("rustup").args(words).output();
    let output = output.map_err(|error| format!("rustup does not run: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("`rustup {}` ended with {}", words.join(" "), output.status)),
    }
}

/// Checks that a list has a target, or a toolchain for this host.
pub fn has(installed: &Result<String, String>, name: &str) -> Result<(), String> {
    let list = installed.as_ref().map_err(String::clone)?;
    // A toolchain's name goes on with its host.
    let begins = |line: &str| {
        line.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    match list.lines().any(begins) {
        true => Ok(()),
        false => Err(format!("{name} is not installed")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn installed_names_are_found() {
        let list =
            Ok("stable-x86_64-unknown-linux-gnu (active)\n1.94.0-x86_64-unknown-linux-gnu\n"
                .into());
        assert!(has(&list, "1.94.0").is_ok() && has(&list, "stable").is_ok());
        assert!(has(&list, "1.9").is_err() && has(&list, WASM).unwrap_err().contains(WASM));
        assert!(has(&Err("rustup does not run".into()), "stable").is_err());
    }

    #[test]
    fn the_least_compiler_is_read() {
        assert_eq!(rust_version("[a]\nrust-version = \"1.94\"\n"), Some("1.94".into()));
        assert_eq!(rust_version("# rust-version\n"), None);
    }
}
