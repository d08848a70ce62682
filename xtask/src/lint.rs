//! `cargo xtask lint`: all checks that do not run the library.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::api;
use crate::columnar;
use crate::dpdk;
use crate::layers;
use crate::packages;
use crate::steps::{CommandResult, Steps, Verdict};
use crate::workspace::{FEATURES, cargo, root};

/// Maximum length of a file: a longer one cannot be read in one sitting.
const MAX_LINES: usize = 1_000;
/// A longer file is listed, so that it is split before it fails.
const NOTABLE_LINES: usize = 600;

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
    dpdk::lint(&mut steps);
    columnar::lint(&mut steps);
    // What the documentation of a crate that depends on it has.
    let words = "doc --package longmatch --no-deps";
    steps.command(
        "documentation, default features",
        cargo(words).env("RUSTDOCFLAGS", "-D warnings"),
    );
    let words = format!("doc {FEATURES} --no-deps");
    steps.command("documentation", cargo(&words).env("RUSTDOCFLAGS", "-D warnings"));
    if !steps.has_failed() {
        api::run_steps(&mut steps);
    }
    packages::run_steps(&mut steps);
    steps.step("imports point down", || match layers::check(&root()) {
        Ok(verdict) => verdict,
        Err(error) => Verdict::Failed(error.to_string()),
    });
    steps.step("file lengths", || match check_lengths(&root()) {
        Ok(verdict) => verdict,
        Err(error) => Verdict::Failed(error.to_string()),
    });
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

/// Lists every Rust file over [`NOTABLE_LINES`] lines and fails if one is over [`MAX_LINES`].
fn check_lengths(root: &Path) -> io::Result<Verdict> {
    let mut files = Vec::new();
    find_rust_files(root, &mut files)?;
    files.sort();
    let mut too_long = 0;
    for file in &files {
        let lines = fs::read_to_string(file)?.lines().count();
        if lines > NOTABLE_LINES {
            println!("{lines:>6} lines  {}", file.strip_prefix(root).unwrap_or(file).display());
        }
        too_long += usize::from(lines > MAX_LINES);
    }
    println!("{} Rust files; those over {NOTABLE_LINES} lines are listed above", files.len());
    Ok(match too_long {
        0 => Verdict::Passed,
        n => Verdict::Failed(format!("{n} file(s) over {MAX_LINES} lines")),
    })
}

/// Collects the `.rs` files below `dir`, except in build directories and hidden directories.
///
/// Walks the tree instead of asking git, so that an unpacked archive can be checked too.
fn find_rust_files(dir: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let hidden = name.as_encoded_bytes().starts_with(b".");
        let path = entry.path();
        // `file_type` does not follow links, so a link to a parent directory causes no endless loop.
        if entry.file_type()?.is_dir() {
            if !hidden && name != "target" {
                find_rust_files(&path, files)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A separate directory for each test, removed at the end.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            let dir = std::env::temp_dir().join(format!("xtask-{name}-{}", std::process::id()));
            fs::create_dir_all(&dir).expect("the temporary directory is writable");
            Scratch(dir)
        }

        fn write(&self, path: &str, lines: usize) {
            let path = self.0.join(path);
            fs::create_dir_all(path.parent().expect("the path has a parent")).expect("writable");
            fs::write(path, "//\n".repeat(lines)).expect("writable");
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            // Best effort: a left-over directory harms no later run.
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn engines_are_read_from_the_manifest() {
        let manifest = "[features]\nall-engines = [\"dxr\", \"tree-bitmap\"]\ndxr = []\n";
        assert_eq!(engine_features(manifest), ["dxr", "tree-bitmap"]);
        assert!(engine_features("[features]\ndxr = []\n").is_empty());
    }

    #[test]
    fn the_limit_itself_is_allowed() {
        let scratch = Scratch::new("limit");
        scratch.write("src/a.rs", MAX_LINES);
        assert_eq!(check_lengths(&scratch.0).expect("readable"), Verdict::Passed);
        scratch.write("src/deep/b.rs", MAX_LINES + 1);
        assert!(matches!(check_lengths(&scratch.0).expect("readable"), Verdict::Failed(_)));
    }

    #[test]
    fn build_directories_and_other_files_do_not_count() {
        let scratch = Scratch::new("skip");
        scratch.write("fuzz/target/generated.rs", MAX_LINES + 1);
        scratch.write(".hidden/a.rs", MAX_LINES + 1);
        scratch.write("notes.txt", MAX_LINES + 1);
        assert_eq!(check_lengths(&scratch.0).expect("readable"), Verdict::Passed);
    }
}
