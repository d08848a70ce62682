//! Paths of the workspace, and calls of cargo.

use std::env;
use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::steps::CommandResult;

/// Returns the repository's root.
///
/// `cargo run` sets this package's path at run time; a binary started by hand falls back to the path at compile time.
pub fn root() -> PathBuf {
    let xtask =
        env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let xtask = Path::new(&xtask);
    xtask.parent().unwrap_or(xtask).to_path_buf()
}

/// Creates a cargo command, with arguments split at blanks, to be run at the repository's root.
///
/// Uses the cargo that started this program, without standard input, so that no command waits for a person.
pub fn cargo(words: &str) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(words.split_whitespace()).current_dir(root()).stdin(Stdio::null());
    command
}

/// Runs this program again with its own feature, and returns whether all steps of the command passed.
///
/// # Errors
/// If cargo cannot be started, or the command could not do its work.
pub fn again_with(feature: &str, command: &str) -> CommandResult {
    let words = format!("run --quiet --package xtask --features {feature} -- {command}");
    let status =
        cargo(&words).status().map_err(|error| format!("cargo could not be started: {error}"))?;
    // 1 means that a step failed, already printed; any other code above 0 means that the work failed.
    match status.code() {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        _ => Err(format!("`xtask {command}` ended with {status}").into()),
    }
}

/// Features of all commands that build the workspace: other features would rebuild the library.
pub const FEATURES: &str = "--workspace --features longmatch/file,longmatch/ipnet,longmatch/serde";

/// Creates `cargo test` for the whole workspace with these arguments: those of cargo, and after ` -- ` those of the
/// test programs. Excludes the kernels of `cargo xtask asm`, which have no tests, and the Python package, which is
/// tested by `cargo xtask python`.
pub fn cargo_test(words: &str) -> Command {
    cargo(&format!(
        "test {FEATURES} --exclude xtask-kernels --exclude xtask-wasm --exclude longmatch-python {words}"
    ))
}

/// Returns the Rust files below a directory in the order of their paths, without hidden ones and those with one of
/// the names `without`. Walks the tree instead of asking git, so that an
/// unpacked archive can be checked too.
pub fn rust_files(dir: &Path, without: &[&str]) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let path = entry.path();
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(b".") || without.iter().any(|it| name == *it) {
            continue;
        }
        // `file_type` does not follow links, so a link to a parent directory causes no endless loop.
        if entry.file_type()?.is_dir() {
            files.extend(rust_files(&path, without)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Returns cargo's build directory.
pub fn target() -> PathBuf {
    root().join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// Creates a command of `longmatch-lab` as [`cargo_test`] has built it for its tests: slower than a release build, with
/// overflow checks.
pub fn lab_of_tests(words: &str) -> Command {
    let name = format!("longmatch-lab{}", env::consts::EXE_SUFFIX);
    let mut command = Command::new(target().join("debug").join(name));
    command.args(words.split_whitespace()).current_dir(root()).stdin(Stdio::null());
    command
}

/// Returns `longmatch` as `cargo build --release` has left it.
pub fn longmatch_of_release() -> PathBuf {
    target().join("release").join(format!("longmatch{}", env::consts::EXE_SUFFIX))
}

/// Creates a command of the release build of `longmatch-lab`.
pub fn lab(words: &str) -> Command {
    let mut command = cargo("run --release --package longmatch-lab --bin longmatch-lab --");
    command.args(words.split_whitespace());
    command
}

/// Runs a program and parses the JSON that it prints.
///
/// # Errors
/// If it cannot be started, fails, or prints something else.
#[cfg(any(feature = "data", feature = "dist"))]
pub fn json(command: &mut Command) -> Result<serde_json::Value, Box<dyn Error>> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| {
        format!("{program} could not be started ({error}); this command needs it")
    })?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stdout);
        return Err(format!("{program} ended with {}: {}", output.status, text.trim()).into());
    }
    Ok(serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("{program} printed no JSON: {error}"))?)
}

/// A version of the compiler.
pub struct Compiler {
    /// The first line of `rustc --version`.
    pub version: String,
    /// The host triple, for which it also compiles.
    pub host: String,
}

impl Compiler {
    /// Asks the compiler that cargo uses.
    ///
    /// # Errors
    /// If it cannot be started, or prints no version or host.
    pub fn find() -> Result<Self, Box<dyn Error>> {
        let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let output = Command::new(rustc).args(["--version", "--verbose"]).output()?;
        let text = String::from_utf8(output.stdout)?;
        let host = text.lines().find_map(|line| line.strip_prefix("host: "));
        match (text.lines().next(), host) {
            (Some(version), Some(host)) => Ok(Self { version: version.into(), host: host.into() }),
            _ => Err("`rustc --version --verbose` names no version or no host".into()),
        }
    }
}
