//! The Debian package `longmatch`: the command, its manual pages and completion scripts.
//!
//! `[package.metadata.deb]` of longmatch-cli describes it; cargo-deb packs it.

use std::fs;

use super::archive::Files;
use crate::steps::{Steps, Verdict};
use crate::workspace::{cargo, target};

/// Directories of the archive whose files the package has.
const PARTS: [&str; 2] = ["completions/", "man/man1/"];

/// Adds the step that packs the release build for a target; skipped, with advice, without cargo-deb.
pub fn step(steps: &mut Steps, files: &Files, triple: &str) {
    let name = "Debian package";
    let installed = cargo("deb --version").output().is_ok_and(|output| output.status.success());
    if !installed {
        return steps.skip(name, "no cargo-deb (`cargo install cargo-deb`)");
    }
    if let Err(error) = unpack(files) {
        return steps.step(name, || Verdict::Failed(error.to_string()));
    }
    let mut pack = cargo("deb --no-build --package longmatch-cli --target");
    // The programs have no symbols already.
    steps.command(
        name,
        pack.arg(triple).arg("--no-strip").arg("--output").arg(target().join("dist")),
    );
}

/// Writes what the programs print where the package's description finds it.
fn unpack(files: &Files) -> std::io::Result<()> {
    let dir = target().join("dist/deb");
    if dir.exists() {
        fs::remove_dir_all(&dir)?;
    }
    let own = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        // Other programs of the archive are no part of this package.
        !["longmatch-lab", "longmatch-forward", "longmatch-filter"]
            .iter()
            .any(|other| name.contains(other))
    };
    for (path, file) in files {
        if PARTS.iter().any(|part| path.starts_with(part)) && own(path) {
            let path = dir.join(path);
            fs::create_dir_all(path.parent().unwrap_or(&dir))?;
            fs::write(path, &file.bytes)?;
        }
    }
    Ok(())
}
