//! The examples of docs/pipes.md: each command prints what the page shows.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::Dir;

/// A command of a page, with its place and the output that follows it.
struct Example {
    line: usize,
    command: String,
    output: String,
}

/// The commands of the `console` blocks of a page, in order. A command with `<<END` goes on to that word.
fn examples(page: &str) -> Vec<Example> {
    let mut all: Vec<Example> = Vec::new();
    let (mut inside, mut document) = (false, false);
    for (number, line) in (1..).zip(page.lines()) {
        match (inside, line.strip_prefix("$ "), all.last_mut()) {
            (false, ..) => inside = line == "```console",
            (true, ..) if line == "```" => inside = false,
            (true, None, Some(last)) if document => {
                last.command += &format!("\n{line}");
                document = line != "END";
            }
            (true, None, Some(last)) => last.output += &format!("{line}\n"),
            (true, None, None) => panic!("line {number} is before the first command"),
            (true, Some(command), _) => {
                document = command.ends_with("<<END");
                let (command, output) = (command.to_owned(), String::new());
                all.push(Example { line: number, command, output });
            }
        }
    }
    all
}

#[test]
fn the_guide_shows_what_the_commands_print() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pipes.md");
    let examples = examples(&fs::read_to_string(path).unwrap());
    assert!(examples.len() > 10, "{} examples", examples.len());
    let exe = Path::new(env!("CARGO_BIN_EXE_longmatch"));
    let mut path = exe.parent().unwrap().as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let dir = Dir::new();
    for Example { line, command, output } in examples {
        let mut bash = Command::new("bash");
        bash.args(["-c", &command]).current_dir(dir.path("")).env("PATH", &path);
        let ended = bash.output().unwrap();
        let errors = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(String::from_utf8_lossy(&ended.stdout), output, "line {line}: {errors}");
        assert_eq!(errors, "", "line {line}");
    }
}
