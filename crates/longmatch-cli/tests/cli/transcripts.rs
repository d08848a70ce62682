//! Transcripts: the commands of a page, given to a shell, print the output that the page shows.
//! `testdata/cli/README.md` describes the pages. `LONGMATCH_WRITE=1` writes the outputs into them.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::Dir;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A test for each page of `testdata/cli`.
macro_rules! pages {
    ($($(#[$attribute:meta])* $name:ident,)*) => {
        $($(#[$attribute])* #[test] fn $name() {
            check(concat!("testdata/cli/", stringify!($name), ".md"));
        })*
        const PAGES: &[&str] = &["README", $(stringify!($name)),*];
    };
}

pages! {
    annotate_csv, annotate_json, annotate_text, compile, default_table, load, lookup, lookup_columns, lookup_prefix,
    output_files, replay, report, install, limits, measure, set, set_covered, set_diff, set_dump, set_forms, stat, traffic, usage,
    #[cfg(target_os = "linux")] full_disk, #[cfg(target_os = "linux")] forward,
    #[cfg(not(feature = "columnar"))] without_columnar, #[cfg(not(feature = "dpdk"))] without_dpdk,
}

#[test]
fn guide() {
    check("docs/pipes.md");
}

#[test]
fn every_page_has_a_test() {
    let files = fs::read_dir(Path::new(ROOT).join("testdata/cli")).unwrap();
    let mut names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    assert!(names.all(|name| PAGES.contains(&name.trim_end_matches(".md"))));
}

/// Runs the commands of a page and compares their output, or writes it.
fn check(name: &str) {
    let path = Path::new(ROOT).join(name);
    let page = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut lines = (1..).zip(page.lines()).peekable();
    let (mut written, mut wrong, mut shared) = (String::new(), String::new(), Vec::<String>::new());
    let (mut dir, mut inside, mut in_case, mut commands) = (fresh(), false, false, 0);
    while let Some((number, line)) = lines.next() {
        let Some(mut last) = line.strip_prefix("$ ").filter(|_| inside) else {
            written += &format!("{line}\n");
            if line.starts_with("```") {
                inside = line == "```console";
            } else if line.starts_with("## ") && !inside {
                (dir, in_case) = (fresh(), true);
                shared.iter().for_each(|command| drop(run(&dir, command)));
            }
            continue;
        };
        let mut command = last.to_owned();
        let document = line.contains("<<END") || line.contains("<<'END'");
        while if document { last != "END" } else { last.ends_with('\\') } {
            last = lines.next().unwrap_or_else(|| panic!("{name}:{number}: no end")).1;
            command += &format!("\n{last}");
        }
        let (mut expected, output) = (Vec::new(), run(&dir, &command));
        let ends = |line: &str| line.starts_with("$ ") || line.starts_with("```");
        while let Some((_, line)) = lines.next_if(|(_, line)| !ends(line)) {
            expected.push(line);
        }
        let mut actual: Vec<_> = output.lines().collect();
        if agree(&expected, &actual) {
            actual = expected;
        } else {
            let at = expected.iter().zip(&actual).take_while(|(a, b)| same(a, b)).count();
            let shown = |mark: &str, lines: &[&str]| -> String {
                lines[at..].iter().take(9).map(|line| format!("{mark} {line}\n")).collect()
            };
            wrong += &format!("{name}:{number}: $ {command}\n");
            wrong += &(shown("-", &expected) + &shown("+", &actual));
        }
        written += &format!("$ {command}\n");
        actual.iter().for_each(|line| written += &format!("{line}\n"));
        commands += 1;
        if !in_case {
            shared.push(command);
        }
    }
    assert!(commands > 0, "{name}: no command in a block of the language 'console'");
    if std::env::var_os("LONGMATCH_WRITE").is_some() {
        fs::write(&path, written).unwrap();
    } else {
        assert!(wrong.is_empty(), "{name}: - the page, + the command\n{wrong}");
    }
}

/// A new directory, with a link to the test data.
fn fresh() -> Dir {
    let dir = Dir::new();
    let data = Path::new(ROOT).join("testdata");
    std::os::unix::fs::symlink(data, dir.path("testdata")).unwrap();
    dir
}

/// The lines of a command's output, as a page shows them.
fn run(dir: &Dir, command: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_longmatch")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let mut bash = Command::new("bash");
    bash.args(["-o", "pipefail", "-c", command]).current_dir(dir.path("")).stdin(Stdio::null());
    bash.env("PATH", path).env("HOME", dir.path("")).env("LC_ALL", "C");
    let ended = bash.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").output().unwrap();
    let mut shown = String::new();
    for (bytes, mark) in [(ended.stdout, ""), (ended.stderr, "! ")] {
        for line in String::from_utf8_lossy(&bytes).split_inclusive('\n') {
            if line.starts_with("longmatch: built with debug assertions: ") {
                continue;
            }
            shown += mark;
            for c in line.trim_end_matches('\n').chars() {
                match c.is_control() && c != '\t' || c == '\u{feff}' {
                    true => shown.extend(c.escape_default()),
                    false => shown.push(c),
                }
            }
            shown += if line.ends_with('\n') { "\n" } else { "[no end of line]\n" };
        }
    }
    match ended.status.code() {
        Some(0) => shown,
        code => shown + &format!("? {}\n", code.map_or("signal".into(), |it| it.to_string())),
    }
}

/// Compares lines; `[..]` is any text in a line, and `...` any lines of standard output.
fn agree(expected: &[&str], actual: &[&str]) -> bool {
    match (expected, actual) {
        ([], []) => true,
        (["...", rest @ ..], _) => {
            let marked = |line: &&&str| line.starts_with("! ") || line.starts_with("? ");
            let count = actual.iter().take_while(|line| !marked(line)).count();
            (0..=count).any(|n| agree(rest, &actual[n..]))
        }
        ([line, rest @ ..], [other, others @ ..]) => same(line, other) && agree(rest, others),
        _ => false,
    }
}

fn same(expected: &str, actual: &str) -> bool {
    let Some((start, rest)) = expected.split_once("[..]") else { return expected == actual };
    let Some(tail) = actual.strip_prefix(start) else { return false };
    rest.is_empty() || tail.char_indices().any(|(at, _)| same(rest, &tail[at..]))
}
