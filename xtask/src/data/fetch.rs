//! Fetches the public packages with their ordinary clients, which verify downloads.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::workspace::{cargo, json, target};

/// Returns the directory of an unpacked package of crates.io.
///
/// A temporary project depends on the package, so that cargo downloads it and prints its path. That project is in the
/// target directory and is a separate workspace: the tables' sources are not dependencies of this workspace.
///
/// # Errors
/// If cargo cannot be started, cannot fetch the package, or prints unexpected output.
pub fn cargo_package(name: &str, version: &str) -> Result<PathBuf, Box<dyn Error>> {
    let project = target().join("xtask-data");
    fs::create_dir_all(project.join("src"))?;
    fs::write(project.join("src/lib.rs"), "")?;
    let manifest = project.join("Cargo.toml");
    let text = format!(
        "[package]\nname = \"throwaway\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [workspace]\n\n[dependencies]\n{name} = \"={version}\"\n"
    );
    fs::write(&manifest, text)?;
    let mut command = cargo("metadata --format-version 1 --manifest-path");
    let answer = json(command.arg(&manifest))?;
    let package = answer["packages"].as_array().and_then(|packages| {
        packages.iter().find(|p| p["name"] == name && p["version"] == version)
    });
    let manifest = package.and_then(|package| package["manifest_path"].as_str());
    let dir = manifest.and_then(|manifest| Path::new(manifest).parent());
    Ok(dir.ok_or_else(|| format!("cargo prints no path of {name} {version}"))?.to_path_buf())
}

/// Returns the directory of an unpacked Go module.
///
/// # Errors
/// If Go is not installed, cannot fetch the module, or prints unexpected output.
pub fn go_module(path: &str, version: &str) -> Result<PathBuf, Box<dyn Error>> {
    let mut command = Command::new("go");
    command
        .args(["mod", "download", "-json"])
        .arg(format!("{path}@{version}"))
        .stdin(Stdio::null());
    // Run outside any module, so that no go.mod is read or changed.
    let answer = json(command.current_dir(target()))?;
    let dir = answer["Dir"].as_str();
    Ok(dir.ok_or_else(|| format!("go prints no directory of {path} {version}"))?.into())
}

/// Returns the archive of a package of npm, which verifies it with the registry's hash.
///
/// # Errors
/// If npm is not installed or cannot fetch the package.
pub fn npm_package(name: &str, version: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let dir = target().join("xtask-data");
    fs::create_dir_all(&dir)?;
    let mut command = Command::new("npm");
    command.args(["pack", "--json"]).arg(format!("{name}@{version}")).stdin(Stdio::null());
    let answer = json(command.current_dir(&dir))?;
    let file = answer[0]["filename"].as_str();
    let file = dir.join(file.ok_or_else(|| format!("npm prints no file of {name} {version}"))?);
    let bytes = fs::read(&file)?;
    fs::remove_file(file)?;
    Ok(bytes)
}
