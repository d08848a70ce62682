//! Where things are, and how cargo is called.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The repository's root.
///
/// `cargo run` says at run time where this package is; the path known at compile time is for a binary started by hand.
pub fn root() -> PathBuf {
    let xtask =
        env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let xtask = Path::new(&xtask);
    xtask.parent().unwrap_or(xtask).to_path_buf()
}

/// A cargo command line, split at blanks, to be run at the repository's root.
///
/// It runs the same cargo that started this program, and with no standard input, so that nothing can wait for a person.
pub fn cargo(words: &str) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(words.split_whitespace()).current_dir(root()).stdin(Stdio::null());
    command
}

/// What all commands that build the workspace choose, so that none builds the library anew for another choice.
pub const FEATURES: &str = "--workspace --features longmatch/ipnet";

/// `cargo test` of the whole workspace with these words: those of cargo, and behind ` -- ` those of the test programs.
/// Without the kernels for `cargo xtask asm`, which have no tests.
pub fn cargo_test(words: &str) -> Command {
    cargo(&format!("test {FEATURES} --exclude xtask-kernels {words}"))
}

/// The directory that cargo builds in.
pub fn target() -> PathBuf {
    root().join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// The command line tool as [`cargo_test`] has built it for its tests, with these words as its arguments: it is slower
/// than a release build, and checks its own arithmetic.
pub fn longmatch_of_tests(words: &str) -> Command {
    let name = format!("longmatch{}", env::consts::EXE_SUFFIX);
    let mut command = Command::new(target().join("debug").join(name));
    command.args(words.split_whitespace()).current_dir(root()).stdin(Stdio::null());
    command
}

/// The release build of the command line tool, with these words as its arguments.
pub fn longmatch(words: &str) -> Command {
    let mut command = cargo("run --release --package longmatch-cli --bin longmatch --");
    command.args(words.split_whitespace());
    command
}
