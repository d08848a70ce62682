//! `cargo xtask lint`: all checks that do not run the library.

use std::fs;
use std::io;
use std::path::Path;

use crate::api;
use crate::features;
use crate::layers;
use crate::packages;
use crate::steps::{CommandResult, StepResult, Steps};
use crate::workspace::{FEATURES, cargo, root, rust_files};

/// Maximum length of a file: a longer one cannot be read in one sitting. Clippy limits functions (`clippy.toml`).
const MAX_LINES: usize = 600;

/// Runs every check and returns whether all passed.
pub fn run() -> CommandResult {
    let mut steps = Steps::default();
    steps.command("formatting", &mut cargo("fmt --all --check"));
    // Not members of the workspace.
    for package in ["lab/peers/rust", "lab/peers/maps", "fuzz"] {
        let words = format!("fmt --manifest-path {package}/Cargo.toml --check");
        steps.command(&format!("formatting, {package}"), &mut cargo(&words));
    }
    let bare = "--package longmatch --no-default-features";
    for (name, words) in [
        ("clippy, workspace, longmatch with all features", FEATURES),
        ("clippy, longmatch without default features", bare),
    ] {
        let words = format!("clippy {words} --all-targets -- -D warnings");
        steps.command(name, &mut cargo(&words));
    }
    each_engine_alone(&mut steps);
    features::lint(&mut steps);
    // What the documentation of a crate that depends on it has.
    let words = "doc --package longmatch --no-deps";
    steps.command(
        "documentation, default features",
        cargo(words).env("RUSTDOCFLAGS", "-D warnings"),
    );
    let words = format!("doc {FEATURES} --no-deps");
    steps.command("documentation", cargo(&words).env("RUSTDOCFLAGS", "-D warnings"));
    match steps.passed() {
        true => api::run_steps(&mut steps),
        false => steps.give_up("public items", "the documentation, which lists them, fails"),
    }
    packages::steps(&mut steps);
    for (name, check) in [
        ("imports point down", layers::check as fn(&Path) -> io::Result<StepResult>),
        ("file lengths", lengths),
    ] {
        steps.step(name, || {
            check(&root()).unwrap_or_else(|error| StepResult::Failed(error.to_string()))
        });
    }
    Ok(steps.finish())
}

/// Checks the library without an engine, with its default features, and with each engine alone.
///
/// Only the library: its tests have every engine.
fn each_engine_alone(steps: &mut Steps) {
    let manifest = root().join("core/longmatch/Cargo.toml");
    let engines = match fs::read_to_string(manifest).map(|text| engine_features(&text)) {
        Ok(engines) if !engines.is_empty() => engines,
        Ok(_) => return steps.give_up("clippy, each engine", "no feature `all-engines` is found"),
        Err(error) => return steps.give_up("clippy, each engine", &error.to_string()),
    };
    let alone = engines.iter().map(|engine| format!("--no-default-features --features {engine}"));
    let others = ["--no-default-features", ""].map(String::from);
    for features in alone.chain(others) {
        let name =
            format!("clippy, library {}", if features.is_empty() { "alone" } else { &features });
        let words = format!("clippy --package longmatch --lib {features} -- -D warnings");
        steps.command(&name, &mut cargo(&words));
    }
}

/// Returns the features that `all-engines` names in the library's manifest.
fn engine_features(manifest: &str) -> Vec<String> {
    let line = manifest.lines().find_map(|line| line.strip_prefix("all-engines = "));
    line.unwrap_or_default().split('"').skip(1).step_by(2).map(String::from).collect()
}

/// Fails if a Rust file has more than [`MAX_LINES`] lines.
fn lengths(root: &Path) -> io::Result<StepResult> {
    let mut too_long = 0;
    for file in rust_files(root, &["target"])? {
        let lines = fs::read_to_string(&file)?.lines().count();
        if lines > MAX_LINES {
            println!("{lines:>6} lines  {}", file.strip_prefix(root).unwrap_or(&file).display());
            too_long += 1;
        }
    }
    Ok(match too_long {
        0 => StepResult::Passed,
        n => StepResult::Failed(format!("{n} file(s) over {MAX_LINES} lines, listed above")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_read_from_the_manifest() {
        let manifest = "[features]\nall-engines = [\"dxr\", \"tree-bitmap\"]\ndxr = []\n";
        assert_eq!(engine_features(manifest), ["dxr", "tree-bitmap"]);
        assert!(engine_features("[features]\ndxr = []\n").is_empty());
    }

    #[test]
    fn the_limit_itself_is_allowed() {
        let dir = std::env::temp_dir().join(format!("xtask-lengths-{}", std::process::id()));
        let write = |path: &str, lines: usize| {
            let path = dir.join(path);
            fs::create_dir_all(path.parent().expect("the path has a parent")).expect("writable");
            fs::write(path, "//\n".repeat(lines)).expect("writable");
        };
        write("src/a.rs", MAX_LINES);
        for other in ["fuzz/target/generated.rs", ".hidden/a.rs", "notes.txt"] {
            write(other, MAX_LINES + 1);
        }
        assert_eq!(lengths(&dir).expect("readable"), StepResult::Passed);
        write("src/deep/b.rs", MAX_LINES + 1);
        assert!(matches!(lengths(&dir).expect("readable"), StepResult::Failed(_)));
        // Best effort: a left-over directory harms no later run.
        let _ = fs::remove_dir_all(dir);
    }
}
