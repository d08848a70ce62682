//! The licences of the crates whose code the programs contain, as these licences demand of copies in binary form.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::Value;

/// The packages of the programs.
pub const PACKAGES: [&str; 3] = ["longmatch-cli", "longmatch-lab", "longmatch-router"];

/// Returns the version of the programs.
///
/// # Errors
/// If the description has none.
pub fn version(metadata: &Value) -> Result<&str, String> {
    let program = array(&metadata["packages"]).find(|package| package["name"] == PACKAGES[0]);
    let version = program.and_then(|program| program["version"].as_str());
    version.ok_or_else(|| format!("`cargo metadata` has no version of {}", PACKAGES[0]))
}

/// Returns the names of all crates that the programs are built of, and each of their licence texts once, with the crates
/// that have it.
///
/// # Errors
/// If a crate's directory cannot be read.
pub fn text(metadata: &Value) -> Result<String, Box<dyn Error>> {
    let built_of = dependencies(metadata);
    let mut crates = BTreeMap::new();
    let mut crates_of = BTreeMap::<String, BTreeSet<String>>::new();
    for package in array(&metadata["packages"]) {
        let [id, name, version, manifest] =
            ["id", "name", "version", "manifest_path"].map(|key| package[key].as_str());
        let (Some(id), Some(name), Some(version)) = (id, name, version) else { continue };
        // A package without a source is one of this workspace, under its own licences.
        if !built_of.contains(id) || package["source"].is_null() {
            continue;
        }
        let name = format!("{name} {version}");
        let dir = manifest.and_then(|it| Path::new(it).parent()).ok_or("no manifest_path")?;
        for text in texts(dir)? {
            crates_of.entry(text).or_default().insert(name.clone());
        }
        crates.insert(name, package["license"].as_str().unwrap_or("see below"));
    }
    let mut all = String::from("Crates that longmatch contains, and their licences:\n\n");
    for (name, licence) in crates {
        writeln!(all, "{name}: {licence}")?;
    }
    for (text, crates) in crates_of {
        let crates: Vec<_> = crates.into_iter().collect();
        write!(all, "\n{}\n{}:\n\n{text}\n", "=".repeat(80), crates.join(", "))?;
    }
    Ok(all)
}

/// Returns the ids of the packages that the programs need, without those of tests and build scripts.
fn dependencies(metadata: &Value) -> BTreeSet<&str> {
    let nodes: BTreeMap<_, _> = array(&metadata["resolve"]["nodes"])
        .filter_map(|node| Some((node["id"].as_str()?, &node["deps"])))
        .collect();
    let mut todo: Vec<_> = array(&metadata["packages"])
        .filter(|package| PACKAGES.iter().any(|name| package["name"] == *name))
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

/// Returns the licence texts in a crate's directory, without blanks at their ends.
fn texts(dir: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let kinds = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];
    let mut texts = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().to_uppercase();
        if kinds.iter().any(|kind| name.starts_with(kind)) && entry.file_type()?.is_file() {
            let text = fs::read(entry.path())?;
            let text = String::from_utf8_lossy(&text).replace("\r\n", "\n");
            texts.push(text.trim_matches('\n').trim_end().to_owned());
        }
    }
    Ok(texts)
}

fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn crates_of_the_programs_alone_are_listed() {
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
                package(PACKAGES[0], None),
            ],
            "resolve": { "nodes": [
                { "id": format!("id-{}", PACKAGES[0]),
                  "deps": [dep("ours", None), dep("tested", Some("dev")), dep("built", Some("build"))] },
                { "id": "id-ours", "deps": [dep("used", None)] },
                { "id": "id-used", "deps": [dep("below", None)] },
                { "id": "id-below", "deps": [dep("used", None)] },
            ]},
        });
        let text = text(&metadata).expect("readable");
        let rule = "=".repeat(80);
        let expected = format!(
            "Crates that longmatch contains, and their licences:\n\n\
             below 1.2.3: MIT\nused 1.2.3: MIT\n\n\
             {rule}\nbelow 1.2.3, used 1.2.3:\n\nof BSD\n\n\
             {rule}\nbelow 1.2.3, used 1.2.3:\n\nof MIT\n"
        );
        assert_eq!(text, expected);
        assert_eq!(version(&metadata), Ok("1.2.3"));
        // Best effort: a left-over directory harms no later run.
        let _ = fs::remove_dir_all(dir);
    }
}
