//! Transcripts: the commands of a page, given to a shell, print the output that the page shows.
//! `testdata/cli/README.md` describes the pages. `LONGMATCH_WRITE=1` writes the outputs into them.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::Dir;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A test for each page of a directory, and one that finds pages without a test.
#[macro_export]
macro_rules! pages {
    ($directory:literal: $($(#[$attribute:meta])* $name:ident,)*) => {
        $($(#[$attribute])* #[test] fn $name() {
            $crate::transcripts::check(concat!($directory, "/", stringify!($name), ".md"));
        })*

        #[test]
        fn every_page_has_a_test() {
            $crate::transcripts::check_pages($directory, &[$(stringify!($name)),*]);
        }
    };
}

/// Checks that each page of a directory is one of these, or the description of all pages.
pub fn check_pages(directory: &str, pages: &[&str]) {
    for file in fs::read_dir(format!("{ROOT}/{directory}")).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let page = name.trim_end_matches(".md");
        assert!(page == "README" || pages.contains(&page), "{name} has no test");
    }
}

/// Runs the commands of a page and compares their output, or writes it.
pub fn check(name: &str) {
    let path = format!("{ROOT}/{name}");
    let page = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut lines = (1..).zip(page.lines()).peekable();
    let (mut written, mut wrong, mut shared) = (String::new(), String::new(), Vec::new());
    let (mut dir, mut inside, mut in_case) = (Dir::new(), false, false);
    while let Some((number, line)) = lines.next() {
        let Some(mut last) = line.strip_prefix("$ ").filter(|_| inside) else {
            written += &format!("{line}\n");
            if line.starts_with("```") {
                inside = line == "```console";
            } else if line.starts_with("## ") && !inside {
                (dir, in_case) = (Dir::new(), true);
                shared.iter().for_each(|command: &String| drop(run(&dir, command)));
            }
            continue;
        };
        let mut command = last.to_owned();
        let document = line.contains("<<END") || line.contains("<<'END'");
        while if document { last != "END" } else { last.ends_with('\\') } {
            last = lines.next().unwrap_or_else(|| panic!("{name}:{number}: no end")).1;
            command += &format!("\n{last}");
        }
        let (output, mut expected) = (run(&dir, &command), Vec::new());
        let ends = |line: &str| line.starts_with("$ ") || line.starts_with("```");
        while let Some((_, line)) = lines.next_if(|(_, line)| !ends(line)) {
            expected.push(line);
        }
        let mut actual: Vec<_> = output.lines().collect();
        let at = expected.iter().zip(&actual).take_while(|(a, b)| same(a, b)).count();
        if at == expected.len().max(actual.len()) {
            actual = expected;
        } else {
            wrong += &format!("{name}:{number}: $ {command}\n");
            expected[at..].iter().take(9).for_each(|line| wrong += &format!("- {line}\n"));
            actual[at..].iter().take(9).for_each(|line| wrong += &format!("+ {line}\n"));
        }
        written += &format!("$ {command}\n");
        actual.iter().for_each(|line| written += &format!("{line}\n"));
        shared.extend((!in_case).then_some(command));
    }
    assert!(written.contains("\n$ "), "{name}: no command in a block of the language 'console'");
    match std::env::var_os("LONGMATCH_WRITE") {
        Some(_) => fs::write(path, written).unwrap(),
        None => assert!(wrong.is_empty(), "{name}: - the page, + the command\n{wrong}"),
    }
}

/// The lines of a command's output, as a page shows them.
fn run(dir: &Dir, command: &str) -> String {
    // The link exists after the first command.
    let _ = std::os::unix::fs::symlink(format!("{ROOT}/testdata"), dir.path("testdata"));
    let program = Path::new(crate::PROGRAM).parent().unwrap().display();
    let path = format!("{program}:{}", std::env::var("PATH").unwrap());
    let mut bash = Command::new("bash");
    bash.args(["-o", "pipefail", "-c", command]).current_dir(dir.path(""));
    bash.envs([("PATH", &*path), ("HOME", &dir.path("")), ("LC_ALL", "C")]);
    let ended = bash.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").output().unwrap();
    let mut shown = String::new();
    for (bytes, mark) in [(ended.stdout, ""), (ended.stderr, "! ")] {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let lines = text.split_inclusive('\n');
        for line in lines.filter(|line| !line.contains("built with debug assertions: ")) {
            shown += mark;
            for c in line.trim_end_matches('\n').chars() {
                let escaped = c.is_control() && c != '\t' || c == '\u{feff}';
                shown += &if escaped { c.escape_default().to_string() } else { c.to_string() };
            }
            shown += if line.ends_with('\n') { "\n" } else { "[no end of line]\n" };
        }
    }
    let code = ended.status.code().unwrap_or(-1);
    if code == 0 { shown } else { format!("{shown}? {code}\n") }
}

/// Compares a line with that of a page, in which `[..]` is any text.
fn same(expected: &str, actual: &str) -> bool {
    let Some((start, rest)) = expected.split_once("[..]") else { return expected == actual };
    let Some(tail) = actual.strip_prefix(start) else { return false };
    rest.is_empty() || tail.char_indices().any(|(at, _)| same(rest, &tail[at..]))
}
