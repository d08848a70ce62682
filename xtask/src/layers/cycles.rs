//! The check for import cycles between the files of a crate.
//!
//! Most of the crates in [`CRATES`] have no fixed layers, because experiments and measurements are added often. Their
//! files may import each other, but not in a cycle. Tests may import anything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{TESTS, imported, module_path};
use crate::workspace::rust_files;

/// The sources of the crates that are checked, from the repository's root, with a module of which each directory counts
/// as one file: the files of an engine may import each other.
const CRATES: [(&str, &str); 14] = [
    ("core/longmatch/src", "engine"),
    ("core/longmatch-capi/src", ""),
    ("core/longmatch-cli/src", ""),
    ("core/longmatch-bpf/src", ""),
    ("core/longmatch-feed/src", ""),
    ("core/longmatch-feed-capi/src", ""),
    ("core/longmatch-python/src", ""),
    ("lab/longmatch-bench/src", ""),
    ("lab/longmatch-lab/src", ""),
    ("lab/longmatch-report/src", ""),
    ("router/longmatch-filter/src", ""),
    ("router/longmatch-forward/src", ""),
    ("router/longmatch-router/src", ""),
    ("xtask/src", ""),
];

/// The imports between modules: from, to, and a file with such an import.
type Imports = BTreeMap<(String, String), PathBuf>;

/// Prints each cycle of the crates with its imports, and returns the number of cycles.
///
/// # Errors
/// If a source file cannot be read.
pub fn check(root: &Path) -> io::Result<usize> {
    let mut wrong = 0;
    for (crate_sources, whole) in CRATES {
        let sources = root.join(crate_sources);
        let read = |path: PathBuf| {
            let text = fs::read_to_string(&path)?;
            Ok((path.strip_prefix(&sources).unwrap_or(&path).to_path_buf(), text))
        };
        let files: Vec<(PathBuf, String)> =
            rust_files(&sources, &TESTS)?.into_iter().map(read).collect::<io::Result<_>>()?;
        let imports = imports(&files, whole);
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

/// Returns the imports between the modules of a crate's files; each directory in the module `whole` counts as one. Paths
/// are relative to the sources.
///
/// Imports of items of the crate's root do not count, because `super::` in a nested module looks the same.
fn imports(files: &[(PathBuf, String)], whole: &str) -> Imports {
    let paths: Vec<Vec<String>> = files.iter().map(|(file, _)| module_path(file)).collect();
    let name = |path: &[String], len: usize| {
        let depth = if path.first().is_some_and(|first| first == whole) { 2 } else { path.len() };
        path[..len.min(depth)].join("::")
    };
    let modules: BTreeSet<String> = paths.iter().map(|path| name(path, path.len())).collect();
    // An item belongs to the longest module in its path.
    let module = |path: &[String]| {
        let mut names = (0..=path.len()).rev().map(|len| name(path, len));
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
        let imports = imports(&files(all), "engine");
        let name = |group: &BTreeSet<&str>| group.iter().copied().collect::<Vec<_>>().join(" ");
        cycles(&imports).iter().map(name).collect()
    }

    #[test]
    fn cycles_of_any_length_are_found() {
        let two = [("a.rs", "use crate::b::X;"), ("b.rs", "use crate::a::Y;")];
        assert_eq!(groups(&two), ["a b"]);
        let three = [
            ("lib.rs", "mod a; mod b; mod c; mod d; use crate::a::Z;"),
            ("a.rs", "use crate::{engine::b::X, d};"),
            ("engine/b/mod.rs", "mod inner;"),
            ("engine/b/inner.rs", "use super::super::super::c;\nuse super::Own;"),
            ("c.rs", "fn f() { crate::a::f() }"),
            ("d.rs", ""),
        ];
        assert_eq!(groups(&three), ["a c engine::b"]);
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
        assert_eq!(groups(&inside), ["a a::x"]);
        let engine = inside[1..4].iter().map(|(path, text)| (format!("engine/{path}"), *text));
        let engine: Vec<(String, &str)> = engine.collect();
        let engine: Vec<_> = engine.iter().map(|(path, text)| (&path[..], *text)).collect();
        assert!(groups(&engine).is_empty());
    }

    #[test]
    fn the_crates_exist() {
        for (sources, _) in CRATES {
            let sources = crate::workspace::root().join(sources);
            assert!(["lib.rs", "main.rs"].iter().any(|file| sources.join(file).is_file()));
        }
    }
}
