//! Behaviour common to all commands: help, usage errors, missing files, colours.

use crate::common::{Dir, longmatch, run};

const COMMANDS: [&str; 10] = [
    "lookup",
    "compile",
    "stat",
    "verify",
    "bench",
    "replay",
    "set",
    "annotate",
    "completions",
    "man",
];

#[test]
fn help_shows_examples() {
    for command in COMMANDS {
        for flag in ["-h", "--help"] {
            let ended = run(&[command, flag]);
            assert_eq!((ended.code, &ended.stderr[..]), (0, ""), "{command}");
            let example = format!("\n  longmatch {command}");
            assert!(ended.stdout.contains("Examples:") && ended.stdout.contains(&example));
            let longest = ended.stdout.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(longest <= 100, "{command} {flag}: a line of {longest} characters");
        }
    }
    let ended = run(&["--help"]);
    assert!(COMMANDS.iter().all(|command| ended.stdout.contains(command)));
    assert!(run(&["--version"]).stdout.starts_with("longmatch "));
}

#[test]
fn bad_usage_ends_with_2_and_advice() {
    let cases: [(&[&str], &str); 27] = [
        (&["lokup", "10.0.0.1"], "lookup"),
        (&["lookup"], "ADDR"),
        (&["lookup", "--routs", "x", "10.0.0.1"], "--routes"),
        (&["lookup", "--peer", "x", "10.0.0.1"], "expected an address, an AS number"),
        (&["lookup", "--peer", "AS1", "10.0.0.1"], "--peer needs --routes"),
        (&["annotate", "--where", "a=b"], "--where needs --routes"),
        (&["annotate", "--table", "none.lm", "--mask"], "--mask needs --routes"),
        (&["stat", "-4", "-6"], "cannot be used with"),
        (&["stat", "--engine", "poptree"], "poptrie"),
        (&["stat", "--engine", "poptrie:s=99"], "s=99"),
        (&["stat", "--engine", "auto:use=three"], "use=one"),
        (&["verify", "--simd", "avx3"], "avx2"),
        (&["bench", "--traffic", "radnom"], "random"),
        (&["bench", "--batch", "0"], "at least 1"),
        (&["bench", "--batch", "4294967296"], "at most 16,777,216"),
        (&["bench", "--threads", "100000"], "at most 1,024"),
        (&["bench", "--threads", "1024", "--batch", "16777216"], "--batch 262144 or less"),
        (&["replay", "--from-empty", "--readers", "100000"], "at most 1,024"),
        (&["replay", "--from-empty", "--readers", "0"], "at least 1"),
        (&["bench", "--generate", "--keys", "network"], "--keys host"),
        (&["bench", "--generate", "--traffic", "zipf"], "--traffic random"),
        (&["bench", "--keys", "wire"], "network"),
        (&["bench", "--keys", "network", "--mode", "one,batch"], "--mode batch"),
        (&["bench", "--keys", "pairs"], "use -6"),
        (&["bench", "--roofline", "--mode", "dependent"], "--mode batch"),
        (&["bench", "--roofline", "--generate"], "--mode batch"),
        (&["stat", "-r", "-", "-r", "-"], "read twice"),
    ];
    for (args, advice) in cases {
        let ended = run(args);
        assert_eq!((ended.code, &ended.stdout[..]), (2, ""), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(advice), "{args:?}: {}", ended.stderr);
    }
}

#[test]
fn a_missing_file_is_named() {
    let dir = Dir::new();
    let missing = dir.path("missing.txt");
    let from_empty = &["replay", "--from-empty"][..];
    for command in [&["lookup", "10.0.0.1"][..], &["stat"], &["verify"], &["bench"], from_empty] {
        let ended = run(&[command, &["--routes", &missing]].concat());
        assert_eq!((ended.code, &ended.stdout[..]), (2, ""), "{command:?}: {ended:?}");
        assert!(ended.stderr.starts_with("longmatch: ") && ended.stderr.contains("missing.txt"));
        assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    }
}

/// A command with nothing to do is an error: exit code 0 would look like a result.
#[test]
fn a_table_without_routes_of_the_family_is_an_error() {
    let dir = Dir::new();
    let four = dir.file("four.txt", "10.0.0.0/8 a\n");
    let six = dir.file("six.txt", "2001:db8::/32 a\n");
    let none = dir.file("none.txt", "# nothing\n");
    let missing = [
        (&["-6", "-r", &four], "four.txt: no IPv6 routes: leave out -6"),
        (&["-4", "-r", &six], "six.txt: no IPv4 routes: leave out -4"),
        (&["-6", "-r", &none], "none.txt: no IPv6 routes"),
    ];
    for command in [&["verify"][..], &["bench"], &["replay", "--from-empty"]] {
        for (args, advice) in missing {
            let ended = run(&[command, args].concat());
            assert_eq!((ended.code, &ended.stdout[..]), (2, ""), "{command:?}: {ended:?}");
            assert!(ended.stderr.contains(advice), "{command:?}: {}", ended.stderr);
        }
        let ended = run(&[command, &["-r", &none]].concat());
        assert!(ended.code == 2 && ended.stderr.contains("none.txt: no routes: "), "{ended:?}");
    }
    // `stat` and `replay` accept an empty table, with a warning.
    let ended = run(&["stat", "-6", "-r", &four]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stdout.contains("IPv6: 0 routes") && ended.stderr.contains("no IPv6 routes"));
    let updates = dir.file("updates.txt", "A 2001:db8::/32 a\n");
    let ended =
        run(&["replay", "-6", "-r", &four, "-u", &updates, "-e", "folio", "--readers", "1"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stderr.contains("no IPv6 routes") && ended.stderr.contains("an empty table"));
}

/// The same holds if only the other family has the engines.
#[test]
fn engines_that_the_family_lacks_are_reported() {
    let dir = Dir::new();
    let six = dir.file("six.txt", "2001:db8::/32 a\n");
    for command in ["verify", "bench"] {
        let ended = run(&[command, "-r", &six, "-e", "sail"]);
        assert_eq!(ended.code, 2, "{command}: {ended:?}");
        assert!(ended.stderr.contains("--engine: none of these exists for IPv6"), "{ended:?}");
    }
}

/// Standard output is no terminal, and no variable forces colours.
#[test]
fn no_colours_in_pipes() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", "10.0.0.0/8 a\n");
    for args in [&["stat", "-r", &routes][..], &["--help"], &["stat", "--help"], &["nonsense"]] {
        for output in [longmatch(args).env("NO_COLOR", "1").output(), longmatch(args).output()] {
            let output = output.unwrap();
            assert!(!output.stdout.is_empty() || !output.stderr.is_empty(), "{args:?}");
            assert!(!output.stdout.contains(&0x1b) && !output.stderr.contains(&0x1b), "{args:?}");
        }
    }
}

/// Lost output must not look like an empty result.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    let dir = Dir::new();
    let routes = dir.file("routes.txt", "10.0.0.0/8 a\n");
    for args in [&["lookup", "10.0.0.1", "-r", &routes][..], &["stat", "-r", &routes]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = longmatch(args).stdout(full).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.starts_with("longmatch: cannot write to standard output: "), "{stderr}");
    }
}
