//! `cargo xtask docs`: generates every published number from four files of records.
//!
//! - `records`: the records of `longmatch report`.
//! - `every_cell`: the records of `cargo xtask cells`, and their blocks.
//! - `python`: the records of the Python package beside other packages, and their blocks.
//! - `pipes`: the records of `cargo xtask pipes`, and their block; `comparison`: what both kinds of records share.
//! - `markers`: finds and replaces the generated blocks of a Markdown file.
//! - `blocks`, `headline`: the content of the blocks; `cells`: cells of tables; `markdown`: tables and numbers.
//! - `picture`: the README's picture, in two colour schemes.

mod blocks;
mod cells;
mod comparison;
mod every_cell;
mod headline;
mod markdown;
mod markers;
mod picture;
mod pipes;
mod python;
mod records;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};

use crate::Outcome;
use crate::cells::RECORDS as CELLS;
use crate::pipes::RECORDS as PIPES;
use crate::python::RECORDS as PYTHON;
use crate::report::Verdict;
use crate::workspace::root;
use comparison::Comparison;
use every_cell::Cells;

use records::{Records, Table};

/// The records behind all published numbers but those of cells: one run of `longmatch report`.
const RECORDS: &str = "docs/results/published/records.ndjson";
/// The directory of the files of records.
const PUBLISHED: &str = "docs/results/published";
/// The directories of the engines.
const ENGINES: &str = "crates/longmatch/src/engine";
/// The page that states the provenance of each table.
const TABLES: &str = "docs/tables.md";
/// The blocks that each page must have.
const PAGES: [(&str, &[&str]); 5] = [
    ("README.md", &["headline"]),
    (
        "docs/engines.md",
        &[
            "provenance",
            "rates",
            "memory",
            "variants",
            "batch sizes",
            "roofline",
            "cells summary",
            "cells",
        ],
    ),
    (TABLES, &["tables"]),
    ("docs/python.md", &["python lookups", "python openings", "python spark"]),
    ("docs/pipes.md", &["pipes"]),
];
/// Path of the picture, before the name of the colour scheme.
const PICTURE: &str = "docs/pictures/engines-";

/// What to do with the generated text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Write the files.
    Write,
    /// Write nothing; compare with the files.
    Check,
}

/// Writes or compares all generated text; returns false if the comparison fails.
pub fn run(mode: Mode) -> Outcome {
    if mode == Mode::Check {
        return match check(&root()) {
            Verdict::Failed(problem) => {
                eprintln!("{problem}");
                Ok(false)
            }
            _ => Ok(true),
        };
    }
    for (path, text) in stale(&root())? {
        let file = root().join(&path);
        let dir = file.parent().ok_or("a file without a directory")?;
        fs::create_dir_all(dir)?;
        fs::write(file, text).map_err(|error| format!("{path}: {error}"))?;
        println!("wrote {path}");
    }
    Ok(true)
}

/// Compares all generated text with the files below `root`; the verdict names each file that differs.
pub fn check(root: &Path) -> Verdict {
    match stale(root) {
        Err(problem) => Verdict::Failed(problem),
        Ok(stale) if stale.is_empty() => Verdict::Passed,
        Ok(stale) => {
            let names: Vec<_> = stale.into_iter().map(|(path, _)| path).collect();
            Verdict::Failed(format!(
                "differs from the records in {PUBLISHED}: {}; run `cargo xtask docs`",
                names.join(", ")
            ))
        }
    }
}

/// Returns the files whose generated text differs, with the text that they should have.
///
/// # Errors
/// If a file cannot be read, a block is malformed, unknown or missing, or the records lack a value; the message names
/// the file.
fn stale(root: &Path) -> Result<Vec<(String, String)>, String> {
    let records = Records::parse(&read(root, RECORDS)?).map_err(|it| format!("{RECORDS}: {it}"))?;
    let every = Cells::parse(&read(root, CELLS)?).map_err(|it| format!("{CELLS}: {it}"))?;
    let comparison = |path| {
        Comparison::parse(&read(root, path)?).map_err(|problem| format!("{path}: {problem}"))
    };
    let (python, pipes) = (comparison(PYTHON)?, comparison(PIPES)?);
    check_provenance(root, RECORDS, &records.tables(cells::BATCH)?)?;
    check_provenance(root, CELLS, every.tables())?;
    let mut files = Vec::new();
    for (path, required) in pages(root, &records)? {
        let old = read(root, &path)?;
        let up = "../".repeat(Path::new(&path).components().count() - 1);
        let content = |name: &str| {
            let compared = python.python(name).or_else(|| pipes.pipes(name));
            let own = compared.or_else(|| every_cell::content(&every, name, &up));
            own.unwrap_or_else(|| blocks::content(&records, name, &up))
        };
        let (new, names) =
            markers::replace(&old, content).map_err(|problem| format!("{path}: {problem}"))?;
        if let Some(missing) = required.iter().find(|name| !names.contains(name)) {
            return Err(format!("{path}: no block `<!-- generated: {missing} -->`"));
        }
        files.push((path, Some(old), new));
    }
    for theme in picture::THEMES {
        let path = format!("{PICTURE}{}.svg", theme.name);
        let old = fs::read_to_string(root.join(&path)).ok();
        files.push((path, old, picture::draw(&records, theme)?));
    }
    let stale = files.into_iter().filter(|(_, old, new)| old.as_ref() != Some(new));
    Ok(stale.map(|(path, _, new)| (path, new)).collect())
}

/// Returns the pages with generated blocks, each with its required blocks.
///
/// # Errors
/// If the directory of the engines cannot be read.
fn pages(root: &Path, records: &Records) -> Result<Vec<(String, Vec<String>)>, String> {
    let mut pages: Vec<(String, Vec<String>)> = PAGES
        .iter()
        .map(|(path, blocks)| ((*path).into(), blocks.iter().map(|&block| block.into()).collect()))
        .collect();
    let measured = headline::bases(records, cells::BATCH, &records.tables(cells::BATCH)?);
    for engine in engines(&root.join(ENGINES)).map_err(|error| format!("{ENGINES}: {error}"))? {
        let required = measured.contains(&engine.as_str()).then(|| format!("engine {engine}"));
        pages.push((format!("{ENGINES}/{engine}/README.md"), required.into_iter().collect()));
    }
    Ok(pages)
}

/// Returns the names of the directories that have a README, sorted.
fn engines(dir: &Path) -> std::io::Result<Vec<String>> {
    let entries = fs::read_dir(dir)?.collect::<Result<Vec<_>, _>>()?;
    let dirs = entries.into_iter().filter(|entry| entry.path().join("README.md").exists());
    let mut names: Vec<_> = dirs.map(|it| it.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

/// Checks that the repository states the provenance of each table of a file of records.
///
/// # Errors
/// If a table has no section.
fn check_provenance(root: &Path, file: &str, tables: &[Table]) -> Result<(), String> {
    let text = read(root, TABLES)?;
    for table in tables {
        let heading = format!("## `{}`", table.name);
        if !text.lines().any(|line| line == heading) {
            return Err(format!(
                "{TABLES}: no section `{heading}`, but {file} has rates on that table"
            ));
        }
    }
    Ok(())
}

fn read(root: &Path, path: &str) -> Result<String, String> {
    let file: PathBuf = root.join(path);
    fs::read_to_string(file).map_err(|error| format!("{path}: {error}"))
}
