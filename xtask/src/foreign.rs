//! `cargo xtask foreign`: tests of the library on other architectures, compiled here and run in an emulator (qemu-user).
//!
//! One target is big-endian, which reveals code that depends on the byte order; one has pointers of 32 bits, and programs
//! that x86-64 runs without an emulator. None has vector kernels, so the portable code runs. `--quick`, a step of
//! `cargo xtask test`, runs the tests of all engines, of key layouts and of tables that change; the full form and
//! `cargo xtask prove` add the library's own tests. A step is skipped, with a list of the missing parts, if a target's
//! standard library, its linker or the emulator is not installed.

use std::process::{Command, Stdio};

use crate::steps::{CommandResult, Steps};
use crate::workspace::cargo;

/// An architecture other than this machine's.
struct Target {
    triple: &'static str,
    /// The purpose of testing on it.
    about: &'static str,
    /// The linker, in Debian's package `gcc-ARCH-linux-gnu`.
    linker: &'static str,
    /// The emulator, in Debian's package `qemu-user`; `None` where this machine runs its programs.
    emulator: Option<&'static str>,
    /// The features of the library, as an argument of cargo.
    features: &'static str,
    /// Whether the full form includes the library's own tests: compiling them takes longest.
    own_tests: bool,
}

/// Extent of the tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The test programs that use every engine.
    Quick,
    /// Those, and the library's own tests.
    Full,
}

const TARGETS: [Target; 3] = [
    Target {
        triple: "s390x-unknown-linux-gnu",
        about: "big-endian",
        linker: "s390x-linux-gnu-gcc",
        emulator: Some("qemu-s390x"),
        features: "--all-features",
        own_tests: true,
    },
    Target {
        triple: "aarch64-unknown-linux-gnu",
        about: "Arm, without default features",
        linker: "aarch64-linux-gnu-gcc",
        emulator: Some("qemu-aarch64"),
        // The only run with `no_std` in `cargo xtask test`; its effects do not depend on the machine. `prove` runs the
        // library's own tests without std on this machine, which has the same byte order.
        features: "--no-default-features",
        own_tests: false,
    },
    Target {
        triple: "i686-unknown-linux-gnu",
        about: "32 bits",
        linker: "i686-linux-gnu-gcc",
        emulator: if cfg!(target_arch = "x86_64") { None } else { Some("qemu-i386") },
        features: "--all-features",
        own_tests: true,
    },
];

/// The test programs of both forms.
const PROGRAMS: &str = "--test suite --test keys --test live";

/// Environment variables for the quick form of the tests: see CONTRIBUTING.md.
const QUICK: [&str; 2] = ["LONGMATCH_QUICK", "LONGMATCH_FEW_ENGINES"];

/// Parts of the names of tests that take seconds here, but minutes in an emulator. `suite` and `keys` test the same
/// engines.
const SLOW: [&str; 12] = [
    "engine::auto::tests::limits_on_memory_hold",
    "engine::dir24_8::tests::",
    "engine::dxr::tests::changes::accounts_are_exact",
    "engine::dxr::tests::edges_of_the_address",
    "engine::dxr::tests::levels_agree",
    "engine::dxr::tests::limits::",
    "engine::folio::v4::tests::random::",
    "engine::folio::v6::tests::changes::",
    "engine::poptrie::tests::accounts_are_exact",
    "engine::sail::tests::limits_are_errors",
    "engine::tree_bitmap::tests::random_changes_agree_with_the_rib",
    "follow_their_routes",
];

/// Runs all steps and returns whether none failed.
pub fn run(form: Form) -> CommandResult {
    let mut steps = Steps::default();
    run_steps(&mut steps, form);
    Ok(steps.finish())
}

/// Runs a step for each target.
pub fn run_steps(steps: &mut Steps, form: Form) {
    for target in &TARGETS {
        let name = format!("tests of the library on {} ({})", target.triple, target.about);
        let missing = target.missing(runs);
        match missing.is_empty() {
            true => steps.command(&name, &mut target.test(form)),
            false => steps.skip(&name, &missing.join("; ")),
        }
    }
}

impl Target {
    /// Lists the missing programs and libraries, and how to install them. `runs` returns the output of a command if it
    /// succeeds.
    fn missing(&self, runs: impl Fn(&str) -> Option<String>) -> Vec<String> {
        let architecture = self.triple.split('-').next().unwrap_or(self.triple);
        let has_std = runs("rustup target list --installed")
            .is_some_and(|list| list.lines().any(|line| line == self.triple));
        let has_linker = runs(&format!("{} --version", self.linker)).is_some();
        let emulator = self.emulator.unwrap_or_default();
        let has_emulator = emulator.is_empty() || runs(&format!("{emulator} --version")).is_some();
        let all = [
            (has_std, format!("no standard library for it (`rustup target add {}`)", self.triple)),
            (
                has_linker,
                format!(
                    "no {} (Debian: `apt-get install gcc-{architecture}-linux-gnu`)",
                    self.linker
                ),
            ),
            (has_emulator, format!("no {emulator} (Debian: `apt-get install qemu-user`)")),
        ];
        all.into_iter().filter(|(there, _)| !there).map(|(_, missing)| missing).collect()
    }

    /// Compiles the tests and runs them in the emulator.
    fn test(&self, form: Form) -> Command {
        let words = format!("test --package longmatch {} {PROGRAMS} --no-fail-fast", self.features);
        let mut command = cargo(&words);
        if form == Form::Full && self.own_tests {
            command.arg("--lib");
        }
        let variable =
            |key| format!("CARGO_TARGET_{}_{key}", self.triple.replace('-', "_").to_uppercase());
        command.args(["--target", self.triple]);
        command.env(variable("LINKER"), self.linker);
        command.envs(self.emulator.map(|emulator| (variable("RUNNER"), emulator)));
        // A static program needs no libraries of the other machine.
        command.env(variable("RUSTFLAGS"), "-Ctarget-feature=+crt-static");
        // These variables would override the line above.
        command.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
        command.envs(QUICK.map(|name| (name, "1")));
        command.arg("--").args(SLOW.iter().flat_map(|name| ["--skip", name]));
        command
    }
}

/// Returns the output of a program if it starts and succeeds.
fn runs(words: &str) -> Option<String> {
    let mut words = words.split_whitespace();
    let output = Command::new(words.next()?).args(words).stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_programs_are_named() {
        let [target, ..] = &TARGETS;
        let all = |words: &str| Some(format!("{words}\n{}\n", target.triple));
        assert!(target.missing(all).is_empty());
        let without = |program: &'static str| {
            move |words: &str| (!words.starts_with(program)).then(|| target.triple.to_owned())
        };
        for (program, advice) in [
            ("rustup", "rustup target add s390x-unknown-linux-gnu"),
            (target.linker, "apt-get install gcc-s390x-linux-gnu"),
            ("qemu-s390x", "apt-get install qemu-user"),
        ] {
            let missing = target.missing(without(program));
            assert_eq!(missing.len(), 1, "{missing:?}");
            assert!(missing[0].contains(advice), "{missing:?}");
        }
        assert_eq!(target.missing(|_| None).len(), 3);
        // The library of another target does not count.
        let other = |_: &str| Some("s390x-unknown-linux-musl\n".to_owned());
        assert_eq!(target.missing(other).len(), 1);
    }

    #[test]
    fn missing_programs_do_not_run() {
        assert_eq!(runs("./no-such-program --version"), None);
    }
}
