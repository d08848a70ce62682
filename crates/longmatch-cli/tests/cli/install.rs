//! `longmatch completions` in the shells themselves, and `longmatch man`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{Dir, Ended, longmatch, run};

/// Returns the script of a shell.
fn script(shell: &str) -> String {
    let ended = run(&["completions", shell]);
    assert_eq!((ended.code, &ended.stderr[..]), (0, ""), "{shell}");
    ended.stdout
}

/// Runs a program of a shell, from a file of its own; `None` if the shell is not installed.
fn in_shell(shell: &str, args: &[&str], program: &str) -> Option<Ended> {
    let dir = Dir::new();
    let file = dir.file("program", program);
    let mut command = Command::new(shell);
    // The scripts call the program by its name.
    let program = Path::new(env!("CARGO_BIN_EXE_longmatch"));
    let directories = program.parent().and_then(Path::to_str).unwrap().to_owned() + ":";
    let path = directories + &std::env::var("PATH").unwrap();
    // Without the configuration of the user who runs the tests.
    command.args(args).arg(&file).stdin(Stdio::null()).env("HOME", dir.path(".")).env("PATH", path);
    match command.output() {
        Ok(output) => Some(output.into()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("skipped: {shell} is not installed");
            None
        }
        Err(error) => panic!("{shell}: {error}"),
    }
}

#[test]
fn every_shell_has_a_script() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = script(shell);
        assert!(script.contains("LONGMATCH_COMPLETE"), "{shell}: {script}");
        assert_eq!(script, run(&["completions", shell]).stdout, "{shell}: not the same twice");
    }
}

/// Bash itself checks the script, and its function completes words.
#[test]
fn bash_completes() {
    let script = script("bash");
    let Some(parsed) = in_shell("bash", &["-n"], &script) else { return };
    assert_eq!((parsed.code, &parsed.stderr[..]), (0, ""));
    let dir = Dir::new();
    let rows = dir.file("rows.csv", "prefix,site,score\n10.0.0.0/8,HQ,1\n");
    let table = dir.path("rows.lm");
    assert_eq!(run(&["compile", "-r", &rows, "-o", &table]).code, 0);
    let cases = [
        ("longmatch look", "lookup"),
        ("longmatch set agg", "aggregate"),
        ("longmatch bench --roo", "--roofline"),
        ("longmatch bench --mode dep", "dependent"),
        ("longmatch completions z", "zsh"),
        ("longmatch lookup --format ris", "ris-whois"),
        ("longmatch lookup --delimiter sem", "semicolon"),
        ("longmatch annotate --delimiter sp", "space"),
        ("longmatch lookup --duplicates j", "join"),
        ("longmatch lookup --value as", "as-path"),
        ("longmatch lookup --add a", "asn"),
        (&format!("longmatch annotate --table {table} --add s"), "site score"),
        (&format!("longmatch annotate -r {rows} --add site,sc"), "site,score"),
        (&format!("longmatch compile -r {rows} --types sc"), "score="),
        ("longmatch compile --types site=s", "site=string"),
        ("longmatch annotate --table /absent.lm --add s", ""),
    ];
    for (line, completion) in cases {
        let words: Vec<_> = line.split(' ').collect();
        let [.., previous, word] = words[..] else { panic!("{line}: two words at least") };
        let program = format!(
            "{script}\nCOMP_WORDS=({line})\nCOMP_CWORD={}\n\
             _clap_complete_longmatch longmatch '{word}' '{previous}'\necho \"${{COMPREPLY[*]}}\"\n",
            words.len() - 1
        );
        let ended = in_shell("bash", &["--norc"], &program).expect("bash ran before");
        assert_eq!(ended.stdout.trim_end(), completion, "{line}: {}", ended.stderr);
    }
}

#[test]
fn zsh_parses_its_script() {
    if let Some(ended) = in_shell("zsh", &["-f", "-n"], &script("zsh")) {
        assert_eq!((ended.code, &ended.stderr[..]), (0, ""));
    }
}

#[test]
fn fish_completes() {
    let words = "complete -C 'longmatch look'\ncomplete -C 'longmatch set agg'\n";
    let program = format!("{}\n{words}", script("fish"));
    if let Some(ended) = in_shell("fish", &["--no-config"], &program) {
        let completions: Vec<_> =
            ended.stdout.lines().filter_map(|line| line.split('\t').next()).collect();
        assert_eq!(completions, ["lookup", "aggregate"], "{}", ended.stderr);
    }
}

/// Elvish has its module of completions in interactive sessions only: the program has a stand-in.
#[test]
fn elvish_completes() {
    let module = "var edit: = (ns [&completion:=(ns [&arg-completer=[&]]) \
                  &complex-candidate~={|word &display='' &code-suffix=''| put $word}])";
    let words = "$edit:completion:arg-completer[longmatch] longmatch set agg | each $echo~";
    let program = format!("{module}\n{}\n{words}\n", script("elvish"));
    if let Some(ended) = in_shell("elvish", &["-norc"], &program) {
        // Elvish itself selects those that begin with the word.
        let completions: Vec<_> = ended.stdout.lines().collect();
        assert!(completions.contains(&"aggregate"), "{ended:?}");
        assert!(!completions.contains(&"lookup"), "{ended:?}");
    }
}

#[test]
fn powershell_parses_its_script() {
    if let Some(ended) = in_shell("pwsh", &["-NoProfile", "-File"], &script("powershell")) {
        assert_eq!((ended.code, &ended.stderr[..]), (0, ""));
    }
}

/// Returns the commands below a command, as its help lists them.
fn commands(words: &[&str]) -> Vec<String> {
    let help = run(&[words, &["-h"]].concat()).stdout;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = listed.map_while(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

#[test]
fn each_command_has_a_page() {
    let dir = Dir::new();
    let pages = dir.path("new/man1");
    let ended = run(&["man", "--out", &pages]);
    assert_eq!((ended.code, &ended.stdout[..]), (0, ""), "{ended:?}");

    let mut expected = vec!["longmatch.1".to_owned()];
    for command in commands(&[]) {
        let below = commands(&[&command]);
        expected.extend(below.iter().map(|it| format!("longmatch-{command}-{it}.1")));
        expected.push(format!("longmatch-{command}.1"));
    }
    expected.sort();
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string();
    let mut names: Vec<_> =
        fs::read_dir(&pages).unwrap().map(|entry| name(entry).unwrap()).collect();
    names.sort();
    assert_eq!(names, expected);
    assert!(names.len() > 20 && ended.stderr.contains(&format!("{} pages in", names.len())));

    for (words, name) in [
        (&["man"][..], "longmatch.1"),
        (&["man", "lookup"], "longmatch-lookup.1"),
        (&["man", "set", "aggregate"], "longmatch-set-aggregate.1"),
    ] {
        let written = fs::read_to_string(format!("{pages}/{name}")).unwrap();
        assert_eq!(run(words).stdout, written, "{words:?}");
    }
}

/// Tables and examples keep their lines, and no line of text is a request by accident.
#[test]
fn a_page_has_the_texts_of_the_help() {
    let page = run(&["man", "bench"]).stdout;
    assert!(page.contains("\n.TH LONGMATCH-BENCH 1 "), "{page}");
    assert!(page.contains("\n\\fBlongmatch bench\\fR [OPTIONS]\n"), "{page}");
    let option = "\n.TP\n\\fB\\-t\\fR, \\fB\\-\\-traffic\\fR \\fI<TRAFFIC>...\\fR\nAddresses: ";
    assert!(page.contains(option), "{page}");
    let table = "\n.IP\n.nf\nrandom      uniform over the address space (IPv6: 2000::/3)\n";
    assert!(page.contains(table), "{page}");
    assert!(page.contains("\n[default: 256]\n"), "{page}");
    assert!(page.contains("\n.SH EXAMPLES\n.nf\n  longmatch bench\n"), "{page}");
    assert!(page.contains("\n.SH \"EXIT STATUS\"\n0 done, 1 a wrong answer"), "{page}");
    assert!(page.ends_with("\n.SH \"SEE ALSO\"\n\\fBlongmatch\\fR(1)\n"), "{page}");
    for page in [&page, &run(&["man", "annotate"]).stdout, &run(&["man", "set", "diff"]).stdout] {
        let known = ["TH", "SH", "TP", "IP", "PP", "nf", "fi", "nh", "ad", "ie", "el"];
        for line in page.lines().filter(|line| line.starts_with(['.', '\''])) {
            let request = line[1..].split(' ').next().unwrap();
            assert!(line.starts_with('.') && known.contains(&request), "{line}");
        }
    }
}

/// mandoc and groff, where they are installed, find no error in any page.
#[test]
fn the_pages_are_sound_roff() {
    let page = run(&["man", "bench"]).stdout;
    if let Some(ended) = in_shell("mandoc", &["-Tlint", "-Werror"], &page) {
        assert_eq!(ended.code, 0, "{ended:?}");
    }
    if let Some(ended) = in_shell("groff", &["-man", "-Tutf8", "-ww", "-z"], &page) {
        assert_eq!((ended.code, &ended.stderr[..]), (0, ""));
    }
}

#[test]
fn bad_requests_end_with_2() {
    let dir = Dir::new();
    let file = dir.file("file", "");
    let cases: [(&[&str], &str); 7] = [
        (&["completions"], "<SHELL>"),
        (&["completions", "ksh"], "possible values: bash, elvish, fish, powershell, zsh"),
        (&["man", "lokup"], "lokup: no such command: 'longmatch --help' lists"),
        (&["man", "lookup", "x"], "lookup x: no such command: 'longmatch --help' lists"),
        (&["man", "set", "x"], "set x: no such command: 'longmatch set --help' lists"),
        (&["man", "--out", &file], "file: cannot be written: "),
        (&["man", "set", "--out", "."], "cannot be used with"),
    ];
    for (args, advice) in cases {
        let ended = run(args);
        assert_eq!((ended.code, &ended.stdout[..]), (2, ""), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(advice), "{args:?}: {}", ended.stderr);
    }
}

/// A reader that ends early is no error, and a full disk is one; neither is a panic.
#[test]
#[cfg(target_os = "linux")]
fn lost_output_is_reported() {
    for args in [&["completions", "bash"][..], &["man", "bench"]] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let ended: Ended = longmatch(args).stdout(full).output().unwrap().into();
        assert_eq!(ended.code, 2, "{ended:?}");
        assert!(ended.stderr.starts_with("longmatch: cannot write to standard output: "));

        let mut child =
            longmatch(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let ended: Ended = child.wait_with_output().unwrap().into();
        assert_eq!((ended.code, &ended.stderr[..]), (0, ""), "{args:?}");
    }
}
