//! The licences of the crates whose code the program contains, as these licences demand of copies in binary form.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::Value;

const PROGRAM: &str = "longmatch-cli";

/// Returns the version of the program.
///
/// # Errors
/// If the description has none.
pub fn version(metadata: &Value) -> Result<&str, String> {
    let program = array(&metadata["packages"]).find(|package| package["name"] == PROGRAM);
    let version = program.and_then(|program| program["version"].as_str());
    version.ok_or_else(|| format!("`cargo metadata` has no version of {PROGRAM}"))
}

/// Returns the licence texts of all crates that the program is built of, sorted by their names.
///
/// # Errors
/// If a crate's directory cannot be read.
pub fn text(metadata: &Value) -> Result<String, Box<dyn Error>> {
    let built_of = dependencies(metadata);
    let mut crates = BTreeMap::new();
    for package in array(&metadata["packages"]) {
        let [id, name, version, manifest] =
            ["id", "name", "version", "manifest_path"].map(|key| package[key].as_str());
        let (Some(id), Some(name), Some(version)) = (id, name, version) else { continue };
        // A package without a source is one of this workspace, under its own licences.
        if built_of.contains(id) && !package["source"].is_null() {
            let dir = manifest.and_then(|it| Path::new(it).parent()).ok_or("no manifest_path")?;
            let licence = package["license"].as_str().unwrap_or("see below");
            crates.insert((name, version), (licence, texts(dir)?));
        }
    }
    let mut all = String::from("Crates that longmatch contains, and their licences.\n");
    for ((name, version), (licence, texts)) in crates {
        write!(all, "\n{}\n{name} {version}: {licence}\n", "=".repeat(80))?;
        for text in texts {
            write!(all, "\n{}\n", text.trim_end())?;
        }
    }
    Ok(all)
}

/// Returns the ids of the packages that the program needs, without those of tests and build scripts.
fn dependencies(metadata: &Value) -> BTreeSet<&str> {
    let nodes: BTreeMap<_, _> = array(&metadata["resolve"]["nodes"])
        .filter_map(|node| Some((node["id"].as_str()?, &node["deps"])))
        .collect();
    let mut todo: Vec<_> = array(&metadata["packages"])
        .filter(|package| package["name"] == PROGRAM)
        .filter_map(|package| package["id"].as_str())
        .collect();
    let mut found = BTreeSet::new();
    while let Some(id) = todo.pop() {
        if let (true, Some(deps)) = (found.insert(id), nodes.get(id)) {
            let needed = array(deps)
                .filter(|dep| array(&dep["dep_kinds"]).any(|kind| kind["kind"].is_null()));
            todo.extend(needed.filter_map(|dep| dep["pkg"].as_str()));
        }
    }
    found
}

/// Returns the licence texts in a crate's directory, in the order of their files' names.
fn texts(dir: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().to_uppercase();
        let kinds = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];
        if kinds.iter().any(|kind| name.starts_with(kind)) && entry.file_type()?.is_file() {
            let text = fs::read(entry.path())?;
            files.insert(name, String::from_utf8_lossy(&text).into_owned());
        }
    }
    Ok(files.into_values().collect())
}

fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn crates_of_the_program_alone_are_listed() {
        let dir = std::env::temp_dir().join(format!("xtask-licences-{}", std::process::id()));
        fs::create_dir_all(dir.join("LICENSES")).expect("writable");
        for (name, text) in
            [("LICENSE-MIT", "of MIT\n\n"), ("Copying", "of BSD"), ("lib.rs", "code")]
        {
            fs::write(dir.join(name), text).expect("writable");
        }
        let package = |name: &str, source: Option<&str>| {
            let manifest = dir.join("Cargo.toml");
            json!({ "id": format!("id-{name}"), "name": name, "version": "1.2.3", "license": "MIT",
                    "source": source, "manifest_path": manifest })
        };
        let dep = |name: &str, kind: Option<&str>| json!({ "pkg": format!("id-{name}"), "dep_kinds": [{ "kind": kind }] });
        let metadata = json!({
            "packages": [
                package("used", Some("registry")), package("below", Some("registry")),
                package("ours", None), package("tested", Some("registry")),
                package("built", Some("registry")), package("other", Some("registry")),
                package(PROGRAM, None),
            ],
            "resolve": { "nodes": [
                { "id": format!("id-{PROGRAM}"),
                  "deps": [dep("ours", None), dep("tested", Some("dev")), dep("built", Some("build"))] },
                { "id": "id-ours", "deps": [dep("used", None)] },
                { "id": "id-used", "deps": [dep("below", None)] },
                { "id": "id-below", "deps": [dep("used", None)] },
            ]},
        });
        let text = text(&metadata).expect("readable");
        let headings: Vec<_> = text.lines().filter(|line| line.ends_with(": MIT")).collect();
        assert_eq!(headings, ["below 1.2.3: MIT", "used 1.2.3: MIT"]);
        assert!(text.ends_with("used 1.2.3: MIT\n\nof BSD\n\nof MIT\n"), "{text}");
        assert_eq!(version(&metadata), Ok("1.2.3"));
        // Best effort: a left-over directory harms no later run.
        let _ = fs::remove_dir_all(dir);
    }
}
