//! Layers of the library's modules, and the check that imports point down only.
//!
//! [`LIBRARY`] assigns a layer to each module. A module may import only modules of lower layers, and none of its own. So
//! engines do not import each other, and no cycle crosses a module. Tests may import anything. All crates are checked
//! for [`cycles`].

mod cycles;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use crate::steps::StepResult;
use crate::workspace::rust_files;

/// The sources of the library, from the repository's root.
const SOURCES: &str = "core/longmatch/src";

/// Module paths with their layers, the lowest first; the longest matching path applies; `*` matches any module. An unlisted
/// top-level file is an error.
const LIBRARY: &[(&str, u8)] = &[
    ("net", 0),
    ("set", 1),
    ("simd", 1),
    ("mem", 2),
    ("rib", 3),
    ("rov", 4),
    ("engine::kit", 4),
    // Every engine, a module each.
    ("engine::*", 5),
    ("engine::registry", 6),
    ("engine::images", 7),
    ("engine::auto", 7),
    ("engine::spec_text", 8),
    ("engine", 9),
    ("fib", 10),
    ("live", 11),
    ("table", 12),
    ("error_code", 13),
    ("file", 13),
    ("", 14),
];

/// Modules that may import anything.
const TESTS: [&str; 4] = ["tests", "tests.rs", "testing", "testing.rs"];

/// Checks the imports of all crates, with and without layers.
///
/// # Errors
/// If a source file cannot be read.
pub fn check(root: &Path) -> io::Result<StepResult> {
    let mut wrong = cycles::check(root)?;
    let sources = root.join(SOURCES);
    let files = rust_files(&sources, &TESTS)?;
    for file in &files {
        let path = module_path(file.strip_prefix(&sources).unwrap_or(file));
        for import in imported(&path, &fs::read_to_string(file)?) {
            if let Err(why) = allow(&path, &import) {
                println!("{}: {why}", file.strip_prefix(root).unwrap_or(file).display());
                wrong += 1;
            }
        }
    }
    Ok(match wrong {
        0 => StepResult::Passed,
        n => StepResult::Failed(format!(
            "{n} import(s) that do not point down or cycles, listed above"
        )),
    })
}

/// Returns the module of a path, and its layer.
fn module_of(path: &[String]) -> (String, u8) {
    // Types begin with a capital, modules do not.
    let is = |part: &str, own: &String| match part {
        "*" => own.starts_with(char::is_lowercase),
        _ => own == part,
    };
    let parts = |name: &'static str| name.split("::").filter(|part| !part.is_empty());
    let fits = |(name, _): &&(&'static str, u8)| {
        let mut path = path.iter();
        parts(name).all(|part| path.next().is_some_and(|own| is(part, own)))
    };
    let longest = LIBRARY.iter().filter(fits).max_by_key(|(name, _)| name.len());
    let (name, layer) = longest.copied().unwrap_or(("", u8::MAX));
    (path[..parts(name).count()].join("::"), layer)
}

/// Returns an error if a module may not import another.
fn allow(from: &[String], to: &[String]) -> Result<(), String> {
    let ((from, low), (to, high)) = (module_of(from), module_of(to));
    if from == to || high < low {
        return Ok(());
    }
    let name =
        |module: String| if module.is_empty() { "the crate's root".to_owned() } else { module };
    let (from, to) = (name(from), name(to));
    Err(format!("{from} (layer {low}) imports {to} (layer {high}); imports must point down"))
}

/// Returns the path of a file's module, from the file's path below the sources.
fn module_path(file: &Path) -> Vec<String> {
    let mut parts: Vec<String> =
        file.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if parts.last().is_some_and(|last| ["mod", "lib", "main"].contains(&&**last)) {
        parts.pop();
    }
    parts
}

/// Returns the paths in the same crate that a file names with `crate::`, `super::` or `self::`, except in tests.
fn imported(module: &[String], text: &str) -> BTreeSet<Vec<String>> {
    let code = without_comments(before_tests(text));
    let mut found = BTreeSet::new();
    let starts = ["crate::", "super::", "self::"].map(|start| code.match_indices(start));
    for (start, _) in starts.into_iter().flatten() {
        let before = code[..start].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || "_:$".contains(c)) {
            continue;
        }
        // The argument of a macro is not a name.
        if code[start..].split_once("::").is_some_and(|(_, after)| after.starts_with('$')) {
            continue;
        }
        for path in paths(&code[start..]) {
            found.insert(absolute(module, &path));
        }
    }
    found
}

/// Returns the text before the module of tests.
fn before_tests(text: &str) -> &str {
    text.find("#[cfg(test)]\nmod tests {").map_or(text, |at| &text[..at])
}

fn without_comments(text: &str) -> String {
    let lines = text.lines().map(|line| line.find("//").map_or(line, |at| &line[..at]));
    lines.collect::<Vec<_>>().join("\n")
}

/// Expands the use tree or path at the beginning of a text to its paths.
fn paths(text: &str) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    let mut prefix = Vec::new();
    let mut rest = text;
    loop {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (name, tail) = rest.split_at(end);
        if !name.is_empty() {
            prefix.push(name.to_owned());
        }
        match tail.strip_prefix("::") {
            Some(tail) if tail.starts_with('{') => {
                for branch in branches(tail) {
                    all.extend(paths(branch).into_iter().map(|path| [&prefix[..], &path].concat()));
                }
                return all;
            }
            Some(tail) if !name.is_empty() => rest = tail,
            _ => {
                all.push(prefix);
                return all;
            }
        }
    }
}

/// Returns the branches between the braces at the beginning of a text.
fn branches(text: &str) -> Vec<&str> {
    let (mut depth, mut from, mut all) = (0, 1, Vec::new());
    for (i, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 || depth == 1 && c == ',' {
            all.push(text[from..i].trim());
            from = i + 1;
        }
        if depth == 0 {
            break;
        }
    }
    all.retain(|branch| !branch.is_empty());
    all
}

/// Returns a path from the crate's root, without `self` at its end.
fn absolute(module: &[String], path: &[String]) -> Vec<String> {
    let up = path.iter().take_while(|part| *part == "super").count();
    let own = path.first().is_some_and(|first| first == "self");
    let base = match up {
        0 if own => module,
        0 => &[],
        _ => &module[..module.len().saturating_sub(up)],
    };
    let own = path.iter().skip(up.max(1)).filter(|part| *part != "self");
    base.iter().chain(own).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(path: &str) -> Vec<String> {
        path.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect()
    }

    #[test]
    fn use_trees_are_parsed() {
        let text = "use crate::{a, b::{self, c::D}};\nuse super::super::e;\nlet x = crate::f::g(1);\npub use self::h;\n\
                    // crate::comment\nuse $crate::macros;\n#[cfg(test)]\nmod tests { use crate::z; }";
        let found = imported(&words("x::y::w"), text);
        let expected = ["a", "b", "b::c::D", "x::e", "f::g", "x::y::w::h"].map(words);
        assert_eq!(found, expected.into_iter().collect());
    }

    #[test]
    fn imports_point_down_only() {
        let allow = |from, to| allow(&words(from), &words(to)).is_ok();
        assert!(allow("engine::poptrie::batch", "mem::Array") && allow("fib", "engine::Keys"));
        assert!(allow("engine::poptrie::batch", "engine::poptrie::layout"));
        assert!(!allow("mem::array", "engine::kit") && !allow("net::addr", "simd"));
        assert!(
            !allow("engine::poptrie", "engine::dxr") && !allow("engine::kit", "engine::Engines")
        );
        assert!(!allow("engine::new", "engine::dxr") && allow("engine::new", "engine::kit"));
        assert!(
            !allow("engine::new", "engine::EngineKind") && allow("engine::auto", "engine::new")
        );
        assert!(!allow("simd", "Fib") && allow("", "table"));
    }

    #[test]
    fn this_tree_has_no_upward_import() {
        assert_eq!(check(&crate::workspace::root()).unwrap(), StepResult::Passed);
    }

    #[test]
    fn files_are_modules() {
        assert_eq!(module_path(Path::new("engine/kit/mod.rs")), words("engine::kit"));
        assert_eq!(module_path(Path::new("fib.rs")), words("fib"));
        assert_eq!(module_path(Path::new("lib.rs")), words(""));
    }
}
