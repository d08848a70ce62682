//! Signals during `annotate`, and the files that it writes.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::{SITES, sites};
use crate::common::{Dir, program};

/// A running `annotate` whose input stays open.
struct Running {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Running {
    fn new(dir: &Dir, args: &[&str]) -> Self {
        let routes = dir.file("sites.csv", SITES);
        Self::of(program(&[&["annotate", "--routes", &routes, "--add", "asn"], args].concat()))
    }

    fn of(mut command: Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output }
    }

    fn write(&mut self, text: &str) {
        self.input.write_all(text.as_bytes()).unwrap();
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line
    }

    fn signal(&self, signal: Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Whether the command has a handler of a signal.
    fn catches(&self, signal: Signal) -> bool {
        has_signal(&self.child.id().to_string(), "SigCgt:", signal)
    }

    /// Waits for the end, although the input is open; returns the status and the messages.
    fn end(mut self) -> (ExitStatus, String) {
        let started = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if started.elapsed() > Duration::from_secs(60) {
                self.child.kill().unwrap();
                panic!("the first signal did not end it");
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        let mut messages = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut messages).unwrap();
        (status, messages)
    }
}

/// Whether a signal is in a set of signals of a process (proc(5), `status`).
fn has_signal(process: &str, set: &str, signal: Signal) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix(set)).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() >> (signal.as_raw() - 1) & 1 == 1
}

/// Whether this process ignores a signal, and so do the commands that it starts. A shell without job control makes its
/// background programs ignore SIGINT.
fn is_ignored(signal: Signal) -> bool {
    let is_ignored = has_signal("self", "SigIgn:", signal);
    if is_ignored {
        eprintln!("skipped: {signal:?}: this process ignores it, and so does the command at first");
    }
    is_ignored
}

#[test]
fn the_first_signal_ends_the_waiting_for_the_first_line() {
    let dir = Dir::new();
    for args in [&[][..], &["-c", "ip"], &["-f", "ip"]] {
        for signal in [Signal::INT, Signal::TERM].into_iter().filter(|signal| !is_ignored(*signal))
        {
            let mut running = Running::new(&dir, args);
            running.write("half of a li");
            running.signal(signal);
            let (status, _) = running.end();
            assert!(!status.success(), "{args:?}");
        }
    }
}

#[test]
fn the_first_signal_ends_the_waiting_for_more_lines() {
    let dir = Dir::new();
    for signal in [Signal::INT, Signal::TERM] {
        let mut running = Running::new(&dir, &["-c", "ip"]);
        running.write("ip\n10.0.0.1\nhalf of a li");
        assert_eq!(
            (running.line(), running.line()),
            ("ip,asn\n".into(), "10.0.0.1,64500\n".into())
        );
        running.signal(signal);
        let mut output = String::new();
        running.output.read_to_string(&mut output).unwrap();
        assert_eq!(output, "");
        let (status, message) = running.end();
        assert_eq!(status.code(), Some(2));
        let expected =
            "interrupted after 1 row: the output is not complete; its last line is whole";
        assert!(message.contains(expected), "{message}");
    }
}

/// What was read is written: also where blocks are filled before they are annotated.
#[test]
fn a_signal_flushes_whole_lines_of_compressed_input() {
    let dir = Dir::new();
    let packed = longmatch_feed::compress(longmatch_feed::Codec::Gzip, b"10.0.0.1\n10.9.0.1\nhalf");
    let mut running = Running::new(&dir, &[]);
    let mut all = packed.unwrap();
    all.extend_from_slice(&all.clone());
    running.input.write_all(&all[..all.len() - 12]).unwrap();
    while !running.catches(Signal::TERM) {
        std::thread::sleep(Duration::from_millis(5));
    }
    running.signal(Signal::TERM);
    let lines = (running.line(), running.line());
    let (status, message) = running.end();
    assert_eq!(status.code(), Some(2), "{message}");
    assert_eq!(lines, ("10.0.0.1\t64500\n".into(), "10.9.0.1\t64501\n".into()), "{message}");
}

#[test]
fn tables_are_read_again_on_sighup() {
    let dir = Dir::new();
    let mut running = Running::new(&dir, &[]);
    let asn = |running: &mut Running| {
        running.write("10.0.0.1\n");
        running.line().trim_end().rsplit('\t').next().unwrap().to_owned()
    };
    // Before the first line it does not end the command.
    while !running.catches(Signal::HUP) {
        std::thread::sleep(Duration::from_millis(5));
    }
    running.signal(Signal::HUP);
    assert_eq!(asn(&mut running), "64500");
    let expect = |running: &mut Running, table: &str, wanted: &str| {
        dir.file("sites.csv", table);
        running.signal(Signal::HUP);
        let started = Instant::now();
        while asn(running) != wanted && started.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(asn(running), wanted);
    };
    expect(&mut running, "network,asn,site\n10.0.0.0/8,7,x\n", "7");
    for bad in ["network,asn\n10.0.0.0/99,8\n", "network,owner\n10.0.0.0/8,8\n"] {
        dir.file("sites.csv", bad);
        running.signal(Signal::HUP);
        std::thread::sleep(Duration::from_millis(500));
        assert_eq!(asn(&mut running), "7");
    }
    expect(&mut running, "network,asn,site\n10.0.0.0/8,9,x\n", "9");
    running.signal(Signal::TERM);
    let (_, messages) = running.end();
    assert!(messages.contains("the tables were read again"), "{messages}");
    assert!(
        messages.contains("not a prefix") && messages.contains("the old tables stay"),
        "{messages}"
    );
}

/// The default table is no file: there is nothing to read again.
#[test]
fn sighup_changes_nothing_without_files() {
    let mut running = Running::of(program(&["annotate", "--add", "asn"]));
    while !running.catches(Signal::HUP) {
        std::thread::sleep(Duration::from_millis(5));
    }
    running.signal(Signal::HUP);
    for _ in 0..2 {
        running.write("8.8.8.8\n");
        assert_eq!(running.line(), "8.8.8.8\t15169\n");
    }
    running.signal(Signal::TERM);
    let (_, messages) = running.end();
    assert_eq!(messages.matches("they stay").count(), 1, "{messages}");
}

/// The output file appears when it is complete; until then, and after an error, the old one stays.
#[test]
fn files_are_replaced_when_they_are_complete() {
    let dir = Dir::new();
    let out = dir.file("out.txt", "old\n");
    let mut running = Running::new(&dir, &["-o", &out]);
    running.write("10.0.0.1\n");
    let files = || fs::read_dir(dir.path("")).unwrap().count();
    while !running.catches(Signal::TERM) || files() < 3 {
        std::thread::sleep(Duration::from_millis(5));
    }
    running.signal(Signal::TERM);
    let (status, message) = running.end();
    assert_eq!(status.code(), Some(2), "{message}");
    assert!(message.contains("nothing is written"), "{message}");
    let ended = sites(&dir, &["-c", "ip", "--strict", "-o", &out], "ip\n10.0.0.1\nx\n");
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert_eq!((fs::read_to_string(&out).unwrap().as_str(), files()), ("old\n", 2));
    let ended = sites(&dir, &["--add", "asn", "-o", &out], "10.0.0.1\n");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!((fs::read_to_string(&out).unwrap().as_str(), files()), ("10.0.0.1\t64500\n", 2));
}

/// Another program copies a shorter file over the table, as `cp` does, while a command has it mapped.
#[test]
fn a_command_names_the_table_that_another_program_shortened() {
    let dir = Dir::new();
    let routes: String = (0..40_000)
        .map(|i| format!("{}.{}.{}.0/24,{i}\n", 1 + i / 65_536, i / 256 % 256, i % 256))
        .collect();
    let routes = dir.file("routes.csv", format!("network,asn\n{routes}"));
    let (table, empty) = (dir.path("routes.lm"), dir.file("empty.lm", ""));
    let commands: [(&[&str], &str); 2] = [
        (&["lookup", "--table", &table, "-"], ""),
        (&["annotate", "--table", &table, "-c", "ip"], "ip\n"),
    ];
    for (command, header) in commands {
        let compile = program(&["compile", "-r", &routes, "-o", &table]).output();
        assert!(compile.unwrap().status.success());
        let mut running = Running::of(program(command));
        running.write(&format!("{header}1.0.0.1\n"));
        // The table is mapped once there is an answer.
        header.lines().for_each(|_| drop(running.line()));
        let answer = running.line();
        assert!(answer.starts_with("1.0.0.1"), "{answer}");
        fs::copy(&empty, &table).unwrap();
        running.write("1.99.9.9\n");
        let (status, message) = running.end();
        assert_eq!(status.code(), Some(2), "{message}");
        assert_eq!(
            message,
            format!(
                "longmatch: {table}: a bus error: the mapped file was shortened by another program, or its disk failed; \
                 never write into a table that is in use: write another file, then rename it ('mv NEW FILE')\n"
            )
        );
    }
}
