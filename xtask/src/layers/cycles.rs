//! The check for import cycles in a crate.
//!
//! Most of the crates in [`CRATES`] have no fixed layers, because experiments and measurements are added often. Their
//! modules or their files may import each other, but not in a cycle. Tests may import anything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{TESTS, imported, module_path};
use crate::workspace::rust_files;

/// Of a crate's modules, the files and directories beside `lib.rs` count, each as one.
const MODULES: usize = 1;
/// Each file counts.
const FILES: usize = usize::MAX;

/// The sources of the crates that are checked, from the repository's root, and how deep.
const CRATES: [(&str, usize); 7] = [
    ("lab/longmatch-bench/src", MODULES),
    ("core/longmatch-cli/src", FILES),
    ("core/longmatch-feed/src", FILES),
    ("router/longmatch-forward/src", MODULES),
    ("core/longmatch-python/src", FILES),
    ("lab/longmatch-report/src", MODULES),
    ("xtask/src", FILES),
];

/// The imports between modules: from, to, and a file with such an import.
type Imports = BTreeMap<(String, String), PathBuf>;

/// Prints each cycle of the crates with its imports, and returns the number of cycles.
///
/// # Errors
/// If a source file cannot be read.
pub fn check(root: &Path) -> io::Result<usize> {
    let mut wrong = 0;
    for (crate_sources, depth) in CRATES {
        let sources = root.join(crate_sources);
        let read = |path: PathBuf| {
            let text = fs::read_to_string(&path)?;
            Ok((path.strip_prefix(&sources).unwrap_or(&path).to_path_buf(), text))
        };
        let files: Vec<(PathBuf, String)> =
            rust_files(&sources, &TESTS)?.into_iter().map(read).collect::<io::Result<_>>()?;
        let imports = imports(&files, depth);
        println!(
            "{crate_sources}: {} imports between modules in {} files",
            imports.len(),
            files.len()
        );
        for group in cycles(&imports) {
            wrong += 1;
            print(crate_sources, &group, &imports);
        }
    }
    Ok(wrong)
}

fn print(sources: &str, group: &BTreeSet<&str>, imports: &Imports) {
    println!("{sources}: import cycle between modules: {group:?}");
    for ((from, to), file) in imports {
        if group.contains(&from[..]) && group.contains(&to[..]) {
            println!("    {from} imports {to} in {}", file.display());
        }
    }
}

/// Returns the imports between the modules of a crate's files, whose names have at most `depth` parts; paths are
/// relative to the sources.
///
/// Imports of items of the crate's root do not count, because `super::` in a nested module looks the same.
fn imports(files: &[(PathBuf, String)], depth: usize) -> Imports {
    let paths: Vec<Vec<String>> = files.iter().map(|(file, _)| module_path(file)).collect();
    let name = |path: &[String], len: usize| path[..len].join("::");
    let modules: BTreeSet<String> =
        paths.iter().map(|path| name(path, path.len().min(depth))).collect();
    // An item belongs to the longest module in its path.
    let module = |path: &[String]| {
        let mut names = (0..=path.len().min(depth)).rev().map(|len| name(path, len));
        names.find(|name| modules.contains(name)).unwrap_or_default()
    };
    let mut imports = Imports::new();
    for ((file, text), path) in files.iter().zip(&paths).filter(|(_, path)| !path.is_empty()) {
        for import in imported(path, text) {
            let (from, to) = (module(path), module(&import));
            if from != to && !to.is_empty() {
                imports.insert((from, to), file.clone());
            }
        }
    }
    imports
}

/// Returns the groups of modules that import each other, directly or indirectly.
fn cycles(imports: &Imports) -> BTreeSet<BTreeSet<&str>> {
    let modules: BTreeSet<&str> = imports.keys().map(|(from, _)| &from[..]).collect();
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        modules.into_iter().map(|module| (module, reach(module, imports))).collect();
    let back = |from: &str, to: &str| reached.get(to).is_some_and(|all| all.contains(from));
    let groups = reached.iter().map(|(module, all)| {
        all.iter().copied().filter(|other| back(module, other)).collect::<BTreeSet<_>>()
    });
    groups.filter(|group| !group.is_empty()).collect()
}

/// Returns all modules that a module imports, directly or indirectly.
fn reach<'i>(module: &str, imports: &'i Imports) -> BTreeSet<&'i str> {
    let mut reached = BTreeSet::new();
    let mut left = vec![module];
    while let Some(from) = left.pop() {
        for (_, to) in imports.keys().filter(|(own, _)| own == from) {
            if reached.insert(&to[..]) {
                left.push(to);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(all: &[(&str, &str)]) -> Vec<(PathBuf, String)> {
        all.iter().map(|(path, text)| (path.into(), (*text).to_owned())).collect()
    }

    fn groups(all: &[(&str, &str)]) -> Vec<String> {
        groups_of(all, MODULES)
    }

    fn groups_of(all: &[(&str, &str)], depth: usize) -> Vec<String> {
        let imports = imports(&files(all), depth);
        let name = |group: &BTreeSet<&str>| group.iter().copied().collect::<Vec<_>>().join(" ");
        cycles(&imports).iter().map(name).collect()
    }

    #[test]
    fn cycles_of_any_length_are_found() {
        let two = [("a.rs", "use crate::b::X;"), ("b.rs", "use crate::a::Y;")];
        assert_eq!(groups(&two), ["a b"]);
        let three = [
            ("lib.rs", "mod a; mod b; mod c; mod d; use crate::a::Z;"),
            ("a.rs", "use crate::{b::X, d};"),
            ("b/mod.rs", "mod inner;"),
            ("b/inner.rs", "use super::super::c;\nuse super::Own;"),
            ("c.rs", "fn f() { crate::a::f() }"),
            ("d.rs", ""),
        ];
        assert_eq!(groups(&three), ["a b c"]);
        let apart =
            [&two[..], &[("c.rs", "use crate::{a, d};"), ("d.rs", "use super::c;")]].concat();
        assert_eq!(groups(&apart), ["a b", "c d"]);
    }

    #[test]
    fn one_way_imports_are_no_cycle() {
        let all = [
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::b::X;\nuse crate::c;\n// use crate::a;"),
            ("b/mod.rs", "use crate::c;\n#[cfg(test)]\nmod tests { use crate::a; }"),
            ("b/deep.rs", "use super::Y;"),
            ("c.rs", "mod inner { use super::Own; }"),
        ];
        assert!(groups(&all).is_empty());
    }

    #[test]
    fn cycles_of_files_are_found() {
        let inside = [
            ("lib.rs", "mod a; mod b;"),
            ("a/mod.rs", "mod x; mod y; pub use self::x::X;"),
            ("a/x.rs", "use super::Own;"),
            ("a/y.rs", "use super::x::X; use crate::b;"),
            ("b.rs", "use crate::a::x::X;"),
        ];
        assert_eq!(groups_of(&inside, FILES), ["a a::x"]);
        assert_eq!(groups_of(&inside, MODULES), ["a b"]);
    }

    #[test]
    fn the_crates_exist() {
        for (sources, _) in CRATES {
            let sources = crate::workspace::root().join(sources);
            assert!(["lib.rs", "main.rs"].iter().any(|file| sources.join(file).is_file()));
        }
    }
}
