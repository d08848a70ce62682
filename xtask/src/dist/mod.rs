//! `cargo xtask dist`: the archive of a release for this machine's target.
//!
//! - `contents`: the files of the archive: the programs, their manual pages and completions, documents, licences.
//! - `licences`: the licences of the crates whose code the programs contain.
//! - `archive`: files to bytes, always the same bytes for the same files.
//!
//! Only the feature `dist` compiles them. Without it, the command runs itself again with it.

#[cfg(any(test, feature = "dist"))]
mod archive;
#[cfg(any(test, feature = "dist"))]
mod contents;
#[cfg(any(test, feature = "dist"))]
mod licences;

use crate::steps::CommandResult;

/// Builds the release and writes the archive with its checksum into `target/dist`.
///
/// # Errors
/// If a program does not build, a file is missing, or the archive cannot be written.
#[cfg(feature = "dist")]
pub fn run() -> CommandResult {
    use std::fs;

    use crate::workspace::{Compiler, cargo, json, root, target};

    let built = cargo("build --release --locked")
        .args(licences::PACKAGES.iter().flat_map(|name| ["--package", name]))
        .status()?;
    if !built.success() {
        return Err(format!("the release build ended with {built}").into());
    }
    let host = Compiler::find()?.host;
    let mut metadata = cargo("metadata --format-version 1 --locked --filter-platform");
    let metadata = json(metadata.arg(&host))?;
    let name = format!("longmatch-{}-{host}", licences::version(&metadata)?);
    let mut files = contents::collect(&root(), &target())?;
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
    Ok(true)
}

/// Runs this command again with the feature that it needs.
#[cfg(not(feature = "dist"))]
pub fn run() -> CommandResult {
    crate::workspace::again_with("dist", "dist")
}
