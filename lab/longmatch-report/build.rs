//! Passes on the compiler and the commit, which every published number states.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    let compiler = env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let compiler = output(&compiler, &["-V"]);
    let commit = output("git", &["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]);
    println!("cargo:rustc-env=LONGMATCH_COMPILER={compiler}");
    println!("cargo:rustc-env=LONGMATCH_COMMIT={commit}");
    println!("cargo:rerun-if-changed=build.rs");
    // Changes with each commit and each change of the branch.
    let log = Path::new("../../.git/logs/HEAD");
    if log.exists() {
        println!("cargo:rerun-if-changed={}", log.display());
    }
}

/// The first line that a command prints, or `unknown`.
fn output(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).output().ok().filter(|it| it.status.success());
    let text = output.map(|it| String::from_utf8_lossy(&it.stdout).into_owned());
    text.as_deref().and_then(|it| it.lines().next()).unwrap_or("unknown").to_owned()
}
