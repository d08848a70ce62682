//! `cargo xtask test`: every test in its quick form, from a fresh clone, with nothing to install by hand. The full forms
//! are in `prove`.
//!
//! Compiling the library's kernels takes longer than running all tests, so all steps share one build where possible:
//! that of the tests. The steps that need another build run beside these.

use crate::background::Background;
use crate::columnar;
use crate::cpu;
use crate::dpdk;
use crate::page;
use crate::peers;
use crate::steps::{CommandResult, Steps};
use crate::targets;
use crate::workspace::{cargo, cargo_test, longmatch_of_tests, root};

/// The quick form of the verification: structures are checked on every address, answers are compared in every range.
/// `cargo xtask prove` compares them on every address of IPv4.
const VERIFY: &str = "verify --quick";

/// The commands that run beside the other steps. Three have builds of their own; those of the Python package share the
/// directory of the tests' build, for which cargo makes them wait.
const BACKGROUND: [&str; 5] = ["asm", "sanitize", "foreign --quick", "python", "python spark"];

/// Runs every test and returns whether all passed.
pub fn run() -> CommandResult {
    cpu::print_levels();
    let mut steps = Steps::default();
    let background = Background::start(&BACKGROUND);
    let verify = "all engines agree on both embedded tables";
    steps.command("build of the tests", &mut cargo_test("--no-run"));
    if steps.has_failed() {
        for step in ["tests, workspace", verify, "a report on the embedded tables"] {
            steps.give_up(step, "the tests do not build");
        }
    } else {
        // Without `--no-fail-fast` the first test program that fails would hide the others.
        steps.command("tests, workspace", &mut cargo_test("--no-fail-fast"));
        steps.command(verify, &mut longmatch_of_tests(VERIFY));
        page::embedded(&mut steps);
        peers::run_steps(&mut steps, &[]);
        dpdk::test(&mut steps);
        columnar::test(&mut steps);
    }
    targets::run_steps(&mut steps);
    background.finish(&mut steps);
    // Repeated, because the first lines have scrolled away.
    println!();
    cpu::print_levels();
    Ok(steps.finish())
}

/// Runs the tests of one engine, and returns whether all passed.
///
/// # Errors
/// If there is no engine of this name.
pub fn run_engine(engine: &str) -> CommandResult {
    let dir = root().join("core/longmatch/src/engine");
    if !dir.join(engine).is_dir() && !dir.join(format!("{engine}.rs")).is_file() {
        return Err(format!(
            "no engine `{engine}`: core/longmatch/src/engine has a directory for each"
        )
        .into());
    }
    cpu::print_levels();
    let mut steps = Steps::default();
    let own = format!("--package longmatch --lib -- engine::{engine}::");
    steps.command(&format!("{engine}'s own tests"), &mut cargo(&format!("test {own}")));
    let suite =
        "test --package longmatch --test suite --test keys --test small_universe --test guard";
    let mut suite = cargo(suite);
    steps.command(&format!("the suite, for {engine}"), suite.env("LONGMATCH_ENGINE", engine));
    Ok(steps.finish())
}
