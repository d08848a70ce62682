//! `cargo xtask test`: every test, the long ones in a quick form, from a fresh clone, with nothing to install by hand.
//! `cargo xtask test --quick` leaves out what needs other builds, compilers, emulators or packages. The full forms are in
//! `prove`.
//!
//! Compiling the library's kernels takes longer than running all tests, so all steps share one build where possible:
//! that of the tests. The steps that need another build run beside these.

use crate::background::Background;
use crate::cpu;
use crate::features;
use crate::page;
use crate::peers;
use crate::steps::{CommandResult, Steps};
use crate::targets;
use crate::workspace::{cargo, cargo_test, lab_of_tests, root};

/// The quick form of the verification: structures are checked on every address, answers are compared in every range.
/// `cargo xtask prove` compares them on every address of IPv4.
const VERIFY: &str = "verify --quick";

/// The commands that run beside the other steps, but for `--quick`. Three have builds of their own; those of the Python package
/// share the directory of the tests' build, for which cargo makes them wait.
const BACKGROUND: [&str; 5] = ["asm", "sanitize", "foreign --quick", "python", "python spark"];

/// Which tests are run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// All.
    Full,
    /// Those of this machine's build.
    Quick,
}

/// Runs the tests and returns whether all passed.
pub fn run(form: Form) -> CommandResult {
    cpu::print_levels();
    let mut steps = Steps::default();
    let background = (form == Form::Full).then(|| Background::start(&BACKGROUND));
    steps.command("build of the tests", &mut cargo_test("--no-run"));
    match steps.passed() {
        // Without `--no-fail-fast` the first test program that fails would hide the others.
        true => steps.command("tests, workspace", &mut cargo_test("--no-fail-fast")),
        false => steps.give_up("tests, workspace", "the tests do not build"),
    }
    with_command(&mut steps);
    peers::run_steps(&mut steps, &[]);
    targets::run_steps(&mut steps);
    if let Some(background) = background {
        features::test(&mut steps);
        targets::programs(&mut steps);
        targets::web_assembly(&mut steps);
        background.finish(&mut steps);
    } else {
        println!(
            "\nNot run: {}, features, other systems, WebAssembly (`cargo xtask test` runs all)",
            BACKGROUND.join(", ")
        );
    }
    // Repeated, because the first lines have scrolled away.
    println!();
    cpu::print_levels();
    Ok(steps.finish())
}

/// Runs the steps that need the command line tool as the tests have built it.
fn with_command(steps: &mut Steps) {
    let name = "all engines agree on both embedded tables";
    page::build(steps);
    if steps.passed() {
        steps.command(name, &mut lab_of_tests(VERIFY));
        page::embedded(steps);
    } else {
        for step in [name, page::REPORT] {
            steps.give_up(step, "the command does not build");
        }
    }
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
