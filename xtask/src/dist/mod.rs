//! `cargo xtask dist`: the archive and the Debian package of a release, for this machine's target or another one whose
//! programs run here, such as that of musl, whose programs need no library.
//!
//! - `contents`: the files of the archive: the programs, their manual pages and completions, documents, licences.
//! - `licences`: the licences of the crates whose code the programs contain.
//! - `archive`: files to bytes, always the same bytes for the same files.
//! - `debian`: the same files as a Debian package, by cargo-deb.
//!
//! Only the feature `dist` compiles them. Without it, the command runs itself again with it.

#[cfg(any(test, feature = "dist"))]
mod archive;
#[cfg(any(test, feature = "dist"))]
mod contents;
#[cfg(feature = "dist")]
mod debian;
#[cfg(any(test, feature = "dist"))]
mod licences;

use crate::steps::CommandResult;

/// Builds the release for a target and writes the archive with its checksum into `target/dist`, and a Debian package where
/// cargo-deb is installed.
///
/// # Errors
/// If a program does not build, a file is missing, or the archive cannot be written.
#[cfg(feature = "dist")]
pub fn run(triple: Option<&str>) -> CommandResult {
    use std::fs;

    use crate::steps::Steps;
    use crate::workspace::{Compiler, cargo, json, root, target};

    let host = Compiler::find()?.host;
    let triple = triple.unwrap_or(&host);
    // Also for this machine: so the programs of every target lie in a directory of its own. Each program is built by itself: a
    // build of all would give each the engines of all.
    for name in licences::PACKAGES {
        let mut build = cargo("build --release --locked --target");
        let built = build.arg(triple).args(["--package", name]).status()?;
        if !built.success() {
            return Err(format!("the release build of {name} ended with {built}").into());
        }
    }
    let mut metadata = cargo("metadata --format-version 1 --locked --filter-platform");
    let metadata = json(metadata.arg(triple))?;
    let name = format!("longmatch-{}-{triple}", licences::version(&metadata)?);
    let mut files = contents::collect(&root(), &target().join(triple))?;
    files.insert("LICENSES-crates.txt".into(), archive::File::plain(licences::text(&metadata)?));

    let dir = target().join("dist");
    fs::create_dir_all(&dir)?;
    let bytes = archive::pack(&name, &files)?;
    let archive = format!("{name}.tar.gz");
    let checksum = archive::checksum(&archive, &bytes);
    for (name, bytes) in
        [(&archive, &bytes[..]), (&format!("{archive}.sha256"), checksum.as_bytes())]
    {
        let path = dir.join(name);
        fs::write(&path, bytes)
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    print!("{checksum}");
    println!("{} files, {} bytes, in {}", files.len(), bytes.len(), dir.display());
    let mut steps = Steps::default();
    debian::step(&mut steps, &files, triple);
    Ok(steps.finish())
}

/// Runs this command again with the feature that it needs.
#[cfg(not(feature = "dist"))]
pub fn run(triple: Option<&str>) -> CommandResult {
    crate::workspace::again_with("dist", &format!("dist {}", triple.unwrap_or_default()))
}
