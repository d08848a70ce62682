//! `cargo xtask sanitize`: tests of live tables under ThreadSanitizer and in Miri, both of the nightly toolchain.
//!
//! Neither supports vector gathers. So under `--cfg longmatch_sanitize`, and in Miri, no vector level is detected, and
//! the scalar kernels run as shipped: see docs/decisions/0012-layers-and-memory-kinds.md.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::Command;

use crate::steps::{CommandResult, StepResult, Steps};
use crate::workspace::root;

/// Tests of the library that Miri runs in a minute: Miri is about a thousand times slower than a CPU.
const FOR_MIRI: [&str; 9] = [
    "mem::buffer::tests::words_are_published",
    "mem::retired",
    "live::tests::epochs_wait_for_online_readers",
    "live::tests::slots_are_reused",
    "live::tests::a_retired_table_outlives_the_writer",
    "live::tests::readers_see_only_versions",
    "rib::tests::model::long_sequences_agree_with_a_map",
    "table::file::tests::a_file_that_changes_while_it_is_read",
    "table::file::tests::text_that_is_not_utf_8_is_null",
];

/// Runs both and returns whether they passed.
pub fn run() -> CommandResult {
    let mut steps = Steps::default();
    run_steps(&mut steps);
    Ok(steps.finish())
}

/// Runs both as steps; skipped, with the reason, if the toolchain is not installed.
pub fn run_steps(steps: &mut Steps) {
    let thread = "live tables race under ThreadSanitizer";
    match available("rust-src").and_then(|()| for_this_machine()) {
        Ok(()) => steps.step(thread, || verdict(race())),
        Err(why) => steps.skip(thread, &why),
    }
    let miri = "live tables in Miri";
    match available("rust-src").and_then(|()| available("miri")) {
        Ok(()) => steps.command(miri, &mut interpret()),
        Err(why) => steps.skip(miri, &why),
    }
}

/// Returns an error with installation advice if a component of the nightly toolchain is missing.
fn available(component: &str) -> Result<(), String> {
    let words = ["component", "list", "--toolchain", "nightly", "--installed"];
    let advice = format!("`rustup component add --toolchain nightly {component}`");
    let output = Command::new("rustup")
        .args(words)
        .output()
        .map_err(|error| format!("rustup does not run: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "no nightly toolchain (`rustup toolchain install nightly`, then {advice})"
        ));
    }
    let installed = String::from_utf8_lossy(&output.stdout);
    match installed.lines().any(|line| line.starts_with(component)) {
        true => Ok(()),
        false => Err(format!("the nightly toolchain has no {component} ({advice})")),
    }
}

/// ThreadSanitizer supports few systems; this command supports one of them.
fn for_this_machine() -> Result<(), String> {
    match cfg!(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")) {
        true => Ok(()),
        false => Err("it is set up for x86-64 Linux only".into()),
    }
}

fn verdict(step: io::Result<StepResult>) -> StepResult {
    step.unwrap_or_else(|error| StepResult::Failed(error.to_string()))
}

fn nightly(words: &str) -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", "nightly", "cargo"]).args(words.split_whitespace());
    // These variables are of the toolchain that runs this program.
    command.env_remove("CARGO").env_remove("RUSTC").env_remove("RUSTDOC");
    command.env("CARGO_TARGET_DIR", base().join("build")).current_dir(root());
    command.stdin(std::process::Stdio::null());
    command
}

fn base() -> PathBuf {
    root().join("target/sanitize")
}

/// The races of `tests/live.rs` and `tests/live_routes.rs`. They are built in a separate package, as everything in the
/// build, the standard library included, uses the sanitizer.
fn race() -> io::Result<StepResult> {
    let package = base().join("races");
    let library = root().join("core/longmatch");
    fs::create_dir_all(package.join("src"))?;
    fs::write(package.join("src/lib.rs"), "")?;
    fs::write(
        package.join("Cargo.toml"),
        format!(
            "[package]\nname = \"races\"\nedition = \"2024\"\n\n[workspace]\n\n\
             [dev-dependencies]\nlongmatch = {{ path = {library:?}, features = [\"all-engines\"] }}\n\n\
             [[test]]\nname = \"live\"\npath = {:?}\n\n[[test]]\nname = \"live_routes\"\npath = {:?}\n\n\
             [profile.dev]\ndebug = \"line-tables-only\"\n",
            library.join("tests/live.rs"),
            library.join("tests/live_routes.rs")
        ),
    )?;
    fs::copy(root().join("Cargo.lock"), package.join("Cargo.lock"))?;
    let mut test = nightly(
        "test --test live --test live_routes -Z build-std --target x86_64-unknown-linux-gnu -- under_readers \
         come_and_go",
    );
    test.current_dir(package);
    test.env("RUSTFLAGS", "-Zsanitizer=thread --cfg longmatch_sanitize");
    test.env("TSAN_OPTIONS", "halt_on_error=1");
    let status = test.status()?;
    Ok(if status.success() { StepResult::Passed } else { StepResult::Failed(status.to_string()) })
}

/// The library's tests in Miri.
fn interpret() -> Command {
    let mut test = nightly("miri test --package longmatch --features file --lib --");
    test.args(FOR_MIRI).env("MIRIFLAGS", "-Zmiri-disable-isolation");
    test
}
