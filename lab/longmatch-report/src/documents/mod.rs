//! Documents: the Markdown files of the repository with generated blocks, the picture of the README, and the published
//! pages.
//!
//! - `markers`: finds and replaces the blocks of a file.
//! - `published`: the published records, and the queries of the blocks.
//! - `blocks`: the content of each block; `engines`: those from the engines' descriptors; `headline`, `kinds`, `comparison`: the
//!   larger ones.

mod blocks;
mod comparison;
mod engines;
mod headline;
mod kinds;
mod markers;
mod published;
#[cfg(test)]
mod tests;

use std::fs;
use std::io;
use std::path::Path;

use crate::page::html;
use crate::records::FILES;

use published::{Published, PublishedRun};

/// The directory of the records: a directory for each microarchitecture, and the comparisons.
const PUBLISHED: &str = "docs/results/published";
/// The directories of the engines.
const ENGINES: &str = "core/longmatch/src/engine";
/// The document that states the provenance of each table.
const TABLES: &str = "docs/tables.md";
/// The README's picture.
const PICTURE: &str = "docs/pictures/engines.svg";
/// The blocks that each document must have.
const DOCUMENTS: [(&str, &[&str]); 9] = [
    ("README.md", &["engines papers", "headline"]),
    ("core/longmatch/src/engine/engines.md", &["engines library"]),
    ("core/longmatch/README.md", &["libraries"]),
    (
        "docs/engines.md",
        &[
            "engines compared",
            "engines limits",
            "provenance",
            "figure traffic-batch rate",
            "figure traffic-one rate",
            "figure traffic-dependent",
            "figure memory",
            "figure variants rate",
            "figure batch-size",
            "figure roofline",
            "figure peers rate",
            "kinds",
        ],
    ),
    (TABLES, &["tables"]),
    ("docs/results/README.md", &["machines"]),
    (
        "docs/python.md",
        &[
            "comparison python-lookups",
            "comparison python-engines",
            "comparison python-openings",
            "comparison python-spark",
            "comparison python-mmdb",
        ],
    ),
    ("docs/warehouses.md", &["comparison warehouses"]),
    ("docs/pipes.md", &["comparison pipes"]),
];

/// Compares the documents below `root` with the published records; with `write` writes those that differ.
///
/// Returns the paths of the files that differ.
///
/// # Errors
/// If a file cannot be read or written, a block is malformed, unknown or missing, or the records lack a value; the
/// message names the file.
pub fn documents(root: &Path, write: bool) -> Result<Vec<String>, String> {
    let published = Published::read(&root.join(PUBLISHED))?;
    let mut stale = Vec::new();
    for (path, new) in generated(root, &published)? {
        if fs::read_to_string(root.join(&path)).is_ok_and(|old| old == new) {
            continue;
        }
        if write {
            fs::write(root.join(&path), new).map_err(|error| format!("{path}: {error}"))?;
        }
        stale.push(path);
    }
    Ok(stale)
}

/// Returns the path of each generated file, and the text that it should have.
fn generated(root: &Path, published: &Published) -> Result<Vec<(String, String)>, String> {
    let machine = published.newest()?;
    let mut files = vec![(PICTURE.to_owned(), headline::picture(machine)?)];
    for own in &published.machines {
        check_provenance(root, own)?;
        files.push((format!("{PUBLISHED}/{}/{}", own.name, FILES[0]), html(&own.records)));
    }
    for (path, required) in pages(root, machine)? {
        let up = "../".repeat(Path::new(&path).components().count() - 1);
        let content = |name: &str| blocks::content(published, machine, name, &up);
        let (new, names) = markers::replace(&read(root, &path)?, content)
            .map_err(|problem| format!("{path}: {problem}"))?;
        if let Some(missing) = required.iter().find(|name| !names.contains(name)) {
            return Err(format!("{path}: no block `<!-- generated: {missing} -->`"));
        }
        files.push((path, new));
    }
    Ok(files)
}

/// Returns the documents with generated blocks, each with its required blocks.
fn pages(root: &Path, machine: &PublishedRun) -> Result<Vec<(String, Vec<String>)>, String> {
    let mut pages: Vec<(String, Vec<String>)> = DOCUMENTS
        .iter()
        .map(|(path, blocks)| ((*path).into(), blocks.iter().map(|&block| block.into()).collect()))
        .collect();
    let measured = machine.engines(published::BATCH);
    for engine in described(&root.join(ENGINES)).map_err(|error| format!("{ENGINES}: {error}"))? {
        let required = measured.contains(&engine.as_str()).then(|| format!("engine {engine}"));
        pages.push((format!("{ENGINES}/{engine}/README.md"), required.into_iter().collect()));
    }
    Ok(pages)
}

/// Returns the names of the directories that have a README, sorted.
fn described(dir: &Path) -> io::Result<Vec<String>> {
    let entries = fs::read_dir(dir)?.collect::<Result<Vec<_>, _>>()?;
    let dirs = entries.into_iter().filter(|entry| entry.path().join("README.md").exists());
    let mut names: Vec<_> = dirs.map(|it| it.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

/// Checks that [`TABLES`] has a section about each table with a published rate.
fn check_provenance(root: &Path, machine: &PublishedRun) -> Result<(), String> {
    let text = read(root, TABLES)?;
    for name in machine.table_names() {
        let heading = format!("## `{name}`");
        if !text.lines().any(|line| line == heading) {
            return Err(format!(
                "{TABLES}: no section `{heading}`, but the records of {} have rates on that table",
                machine.name
            ));
        }
    }
    Ok(())
}

fn read(root: &Path, path: &str) -> Result<String, String> {
    fs::read_to_string(root.join(path)).map_err(|error| format!("{path}: {error}"))
}
