//! Values that completions offer in addition to clap's: names that are parsed from text, and the columns of the
//! tables that the completed line names.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter, CompletionCandidate};
use longmatch::file::FileTable;
use longmatch::table::Column;
use longmatch_feed::{DataLoader, Options};

use crate::default_table;
use crate::paths::{file, is_stdin};
use crate::words::words;

/// Bytes of the largest file that is read for the names of its columns while the user waits.
const MOST_BYTES: u64 = 4 << 20;

/// Names that are always the same.
pub fn names<const N: usize>(names: [&'static str; N]) -> ArgValueCandidates {
    ArgValueCandidates::new(move || names.map(CompletionCandidate::new).into())
}

/// Separators of cells.
pub fn delimiters() -> ArgValueCandidates {
    names(["comma", "tab", "semicolon", "bar", "space"])
}

/// The columns of the tables of the line.
pub fn columns() -> ArgValueCandidates {
    let candidates = || column_names().into_iter().map(CompletionCandidate::new).collect();
    ArgValueCandidates::new(candidates)
}

/// `column=type`: the columns, and the types after the equals sign.
pub fn column_types() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let Some(current) = current.to_str() else { return Vec::new() };
        let all: Vec<_> = match current.rsplit_once('=') {
            Some((column, _)) => {
                ["string", "u64", "i64", "f64"].map(|name| format!("{column}={name}")).into()
            }
            None => column_names().into_iter().map(|name| name + "=").collect(),
        };
        let fits = all.into_iter().filter(|candidate| candidate.starts_with(current));
        fits.map(CompletionCandidate::new).collect()
    })
}

/// The names of the columns of the tables of the line, each once; those of the default table if it names none. A table that
/// cannot be read adds none: an error message has no place in a completion.
fn column_names() -> Vec<String> {
    // The shell's function gives the words of the line after '--'.
    let words: Vec<_> = words().iter().skip_while(|word| *word != "--").skip(1).cloned().collect();
    let tables = tables(&words);
    let read: Vec<_> = match &tables[..] {
        [] => vec![default_table::open().ok().map(|table| of(table.columns()))],
        tables => tables.iter().map(|path| of_file(path)).collect(),
    };
    let mut names = Vec::new();
    for name in read.into_iter().flatten().flatten() {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn of(columns: &[Column]) -> Vec<String> {
    columns.iter().map(|column| column.name.to_string()).collect()
}

/// The columns of a compiled table or of a file of prefixes that is not too large.
fn of_file(path: &Path) -> Option<Vec<String>> {
    if let Ok(table) = FileTable::open_trusted(path) {
        return Some(of(table.columns()));
    }
    let metadata = path.metadata().ok()?;
    if !metadata.is_file() || metadata.len() > MOST_BYTES {
        return None;
    }
    let mut options = Options::default();
    options.lenient = true;
    let mut loader = DataLoader::new(options);
    loader.path(path).ok()?;
    Some(of(loader.finish().ok()?.columns()))
}

/// The files of `--table` and `--routes` among the words of a line.
fn tables(words: &[OsString]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut words = words.iter().filter_map(|word| word.to_str());
    while let Some(word) = words.next() {
        let attached =
            ["--table=", "--routes="].iter().find_map(|option| word.strip_prefix(option));
        let value = match word {
            // Bash divides words at '='.
            "--table" | "--routes" | "-r" => words.find(|word| *word != "="),
            _ => attached.or_else(|| word.strip_prefix("-r")),
        };
        let Some(path) = value.filter(|path| !path.is_empty()) else { continue };
        let path = match (path.strip_prefix("~/"), std::env::home_dir()) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(path),
        };
        if !is_stdin(&path) {
            found.push(file(&path).to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_of_a_line_are_found() {
        let cases = [
            ("longmatch lookup --add", ""),
            ("longmatch lookup -r a.csv --add", "a.csv"),
            ("longmatch lookup -ra.csv --table=b.lm --routes c --add", "a.csv b.lm c"),
            ("longmatch lookup --table = b.lm --routes=x=c.csv -r -", "b.lm c.csv"),
        ];
        for (line, expected) in cases {
            let words: Vec<_> = line.split(' ').map(OsString::from).collect();
            let expected: Vec<_> = expected.split_terminator(' ').map(PathBuf::from).collect();
            assert_eq!(tables(&words), expected, "{line}");
        }
    }
}
