//! The proof that an engine is one directory and a few lines: a patch adds a small engine to a copy of the sources, and
//! it must appear wherever engines do.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::mutants::tree::mirror;
use crate::steps::{StepResult, Steps};
use crate::workspace::{cargo, root, target};

/// The patch, relative to the repository's root.
const PATCH: &str = "testdata/toy-engine.patch";
/// The directory that it adds.
#[cfg(test)]
const DIRECTORY: &str = "core/longmatch/src/engine/toy/";

/// Generated files, and a text in each once the engine is there.
const GENERATED: [(&str, &str); 5] = [
    ("README.md", "| [`toy`](core/longmatch/src/engine/toy/README.md) | none: a toy |"),
    ("docs/engines.md", "| none: a toy | both | one for each halving of the ranges |"),
    ("core/longmatch/src/engine/engines.md", "| [`toy`](EngineKind::Toy) |"),
    ("docs/pictures/engines.svg", "--toy: #123456;"),
    ("testdata/asm/x86_64.txt", "toy_ipv6"),
];

/// Commands in the copy, a text that each prints, and why: the suites test the engine (which its name selects only if
/// `EngineKind` has it), `longmatch-lab` compiles it with all others, and documents and machine code are written.
const COMMANDS: [(&str, &str); 4] = [
    ("test --package longmatch --test suite", "test result: ok"),
    ("run --package longmatch-lab -- stat -4", "\n  toy "),
    ("run --package longmatch-report --bin documents", "wrote docs/engines.md"),
    ("run --package xtask -- asm --bless", "written to testdata/asm/x86_64.txt"),
];

/// Adds the steps: the patched copy, each command in it, and the generated files.
pub fn run_steps(steps: &mut Steps) {
    let copy = target().join("toy/sources");
    steps.step("a toy engine: its patch applies", || or_failed(patched(&copy)));
    for (words, text) in COMMANDS {
        steps.step(&format!("a toy engine: {words}"), || or_failed(prints(&copy, words, text)));
    }
    steps.step("a toy engine: generated files", || or_failed(generated(&copy)));
}

fn or_failed(result: Result<(), Box<dyn Error>>) -> StepResult {
    result.map_or_else(|error| StepResult::Failed(error.to_string()), |()| StepResult::Passed)
}

/// Copies the sources and applies the patch to the copy.
fn patched(copy: &Path) -> Result<(), Box<dyn Error>> {
    mirror(&root(), copy)?;
    let applied = apply(copy).arg(root().join(PATCH)).status()?;
    if applied.success() { Ok(()) } else { Err(format!("git apply: {applied}").into()) }
}

/// Creates `git apply` in a directory. The repository around it, if any, has no part in it.
fn apply(dir: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("apply").current_dir(dir);
    command.env("GIT_CEILING_DIRECTORIES", dir.parent().map(PathBuf::from).unwrap_or_default());
    command
}

/// Runs cargo in the copy and looks for a text in what it prints.
fn prints(copy: &Path, words: &str, text: &str) -> Result<(), Box<dyn Error>> {
    let mut command = cargo(words);
    command.current_dir(copy).env("CARGO_TARGET_DIR", target().join("toy/target"));
    command.env("LONGMATCH_ENGINE", "toy").env_remove("CARGO_MANIFEST_DIR");
    let output = command.output()?;
    let printed = [output.stdout, output.stderr].concat();
    let printed = String::from_utf8_lossy(&printed);
    if output.status.success() && printed.contains(text) {
        return Ok(());
    }
    println!("{printed}");
    Err(format!("{}, or it does not print {text:?}", output.status).into())
}

/// Checks that the generated files have the engine.
fn generated(copy: &Path) -> Result<(), Box<dyn Error>> {
    for (file, text) in GENERATED {
        if !fs::read_to_string(copy.join(file))?.contains(text) {
            return Err(format!("{file} has no `{text}`").into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The most places outside its directory that a new engine may touch by hand.
    const MOST: usize = 5;

    #[test]
    fn an_engine_is_a_directory_and_a_few_lines() {
        let patch = fs::read_to_string(root().join(PATCH)).expect("the patch is there");
        let mut places = Vec::new();
        for file in patch.split("\ndiff --git ") {
            let path = file.lines().find_map(|line| line.strip_prefix("+++ b/"));
            let path = path.expect("every part of the patch names its file");
            if !path.starts_with(DIRECTORY) {
                let hunks = file.lines().filter(|line| line.starts_with("@@ "));
                places.extend(hunks.map(|_| path));
            }
        }
        assert!((1..=MOST).contains(&places.len()), "{places:?}");
    }

    /// After a change near one of its places, make the patch again: CONTRIBUTING.md says how.
    #[test]
    fn the_patch_applies_to_this_tree() {
        let root = root();
        let check = apply(&root).args(["--check", PATCH]).status().expect("git starts");
        assert!(check.success(), "`git apply --check {PATCH}`: {check}");
    }
}
