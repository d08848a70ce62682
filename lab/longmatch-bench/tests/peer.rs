//! Tests of the client with the reference peer and with programs that are not peers.

mod common;

use std::process::Command;
use std::time::{Duration, Instant};

use common::{all_lengths, compare, compare_answers, fresh_dir, in_repository, keys};
use longmatch::{Ipv4, Ipv6, NextHopId, Prefix, Rib};
use longmatch_bench::{BenchFamily, Mode, PEER_LIMIT, Peer, PeerCommand, PeerError, PeerFault};

/// Limit for an answer of a peer that never answers.
const SHORT: Duration = Duration::from_secs(2);
/// Limit for an answer of other peers, which no test reaches.
const LONG: Duration = Duration::from_secs(30);

/// The name of the Python program. Reports a skipped test if it does not run.
fn python() -> Option<&'static str> {
    let runs =
        Command::new("python3").arg("--version").output().is_ok_and(|out| out.status.success());
    if !runs {
        eprintln!("SKIPPED: python3 does not run, but the reference peer needs it");
    }
    runs.then_some("python3")
}

fn reference() -> Option<Peer> {
    let script = in_repository("lab/peers/reference.py");
    let command = vec![python()?.into(), script.into_os_string()];
    let command = PeerCommand { name: "reference".into(), command };
    Some(Peer::start(&command, &fresh_dir(), PEER_LIMIT).unwrap_or_else(|error| panic!("{error}")))
}

fn table<F: BenchFamily>(routes: &[(&str, u32)]) -> Rib<F> {
    let mut rib = Rib::new();
    for (prefix, hop) in routes {
        let Ok(prefix) = prefix.parse::<Prefix<F>>() else { panic!("{prefix}") };
        rib.insert(prefix, NextHopId::new(*hop).unwrap()).unwrap();
    }
    rib
}

#[test]
fn the_reference_peer_says_hello() {
    let Some(peer) = reference() else { return };
    assert_eq!(peer.hello().families, ["ipv4", "ipv6"]);
    assert_eq!(peer.hello().modes, Mode::ALL);
    assert!(peer.hello().about.starts_with("reference of Python 3"), "{}", peer.hello().about);
}

#[test]
fn answers_of_small_tables_are_right() {
    let Some(mut peer) = reference() else { return };
    let ipv4 = table::<Ipv4>(&[
        ("0.0.0.0/0", 5),
        ("10.0.0.0/8", 1),
        ("10.0.0.0/32", u32::MAX),
        ("10.1.0.0/16", 5),
        ("255.255.255.255/32", 1),
    ]);
    let ipv6 = table::<Ipv6>(&[
        ("::/0", 7),
        ("::ffff:1.2.3.0/120", 3),
        ("2001:db8::/32", 1),
        ("2001:db8::/48", 7),
        ("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128", 2),
    ]);
    let loaded = compare(&mut peer, &ipv4, &keys(&ipv4, 500));
    assert!(loaded.build_ns > 0 && loaded.bytes.is_none(), "{loaded:?}");
    compare(&mut peer, &ipv6, &keys(&ipv6, 500));
    // Nothing of the earlier tables may remain.
    compare(&mut peer, &Rib::<Ipv4>::new(), &[0, 1 << 31, u32::MAX]);
    compare(&mut peer, &Rib::<Ipv6>::new(), &[0, 1 << 127, u128::MAX]);
}

#[test]
fn answers_of_all_prefix_lengths_are_right() {
    let Some(mut peer) = reference() else { return };
    let ipv4 = all_lengths::<Ipv4>(20, 50, 1);
    let ipv6 = all_lengths::<Ipv6>(5, u32::MAX, 2);
    compare(&mut peer, &ipv4, &keys(&ipv4, 1000));
    compare(&mut peer, &ipv6, &keys(&ipv6, 1000));
}

/// The reference peer with a mistake: one line of Python in its class.
fn mistaken(python: &str, mistake: &str) -> Peer {
    let script = format!(
        "import sys\nsys.path.insert(0, sys.argv[1])\nimport reference\n\
         class Mistaken(reference.Reference):\n    {mistake}\nreference.serve(Mistaken)"
    );
    let mut command: Vec<_> = [python, "-B", "-c", &script].map(Into::into).into();
    command.push(in_repository("lab/peers").into_os_string());
    let command = PeerCommand { name: "mistaken".into(), command };
    Peer::start(&command, &fresh_dir(), PEER_LIMIT).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn wrong_answers_and_sums_are_found() {
    let Some(python) = python() else { return };
    let rib = table::<Ipv4>(&[("10.0.0.0/8", 1)]);
    let keys = [9 << 24, 10 << 24, 11 << 24];
    let compared = |mistake| {
        let mut peer = mistaken(python, mistake);
        peer.load(&rib).unwrap();
        compare_answers(&mut peer, &rib, &keys)
    };
    let wrong = "lookup = lambda self, key: 7 if key == 0x0b000000 else key == 0x0a000000";
    let text = compared(wrong).unwrap_err();
    assert!(text.contains("1 of 3 answers are wrong: 11.0.0.0 has Some(#7), not None"), "{text}");
    let text = compared("walk = lambda self, keys: 2").unwrap_err();
    assert!(text.contains("the sum is 2, not 1"), "{text}");
    assert_eq!(compared("pass"), Ok(()));
}

#[test]
fn dropping_the_peer_removes_its_files() {
    let Some(python) = python() else { return };
    let script = in_repository("lab/peers/reference.py").into_os_string();
    let command = PeerCommand { name: "x".into(), command: vec![python.into(), script] };
    let dir = fresh_dir();
    let mut peer = Peer::start(&command, &dir, PEER_LIMIT).unwrap();
    peer.load(&table::<Ipv4>(&[("10.0.0.0/8", 1)])).unwrap();
    assert!(dir.is_dir());
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 0, "the table's file is left");
    let second = Peer::start(&command, &dir, PEER_LIMIT).unwrap_err();
    assert!(matches!(second.fault, PeerFault::File(_)), "the directory exists: {second}");
    assert!(dir.is_dir(), "a failed start removed the directory");
    drop(peer);
    assert!(!dir.exists());
}

#[test]
fn unsupported_commands_are_not_sent() {
    let Some(mut peer) = reference() else { return };
    let unsupported = |result: Result<_, PeerError>| {
        let error = result.unwrap_err();
        assert!(matches!(error.fault, PeerFault::Unsupported(_)) && error.is_refusal(), "{error}");
    };
    unsupported(peer.time::<Ipv4>(Mode::One, 1, 0, 1).map(drop));
    peer.set_keys::<Ipv4>(&[]).unwrap();
    unsupported(peer.answers::<Ipv4>(Mode::One, 1).map(drop));
    for mode in [Mode::Batch, Mode::Dependent] {
        unsupported(after_keys("read line", LONG).answers::<Ipv4>(mode, 1).map(drop));
    }
    peer.set_keys::<Ipv4>(&[1, 2]).unwrap();
    // The peer itself refuses lookups without a table, and accepts further commands.
    let error = peer.answers::<Ipv4>(Mode::One, 1).unwrap_err();
    assert!(matches!(&error.fault, PeerFault::Refused(why) if why.contains("table")), "{error}");
    compare(&mut peer, &table::<Ipv4>(&[("10.0.0.0/8", 1)]), &[10 << 24, 11 << 24]);
}

/// Starts a shell script as a peer.
fn shell(script: &str, limit: Duration) -> Result<Peer, PeerError> {
    let command = ["sh", "-c", script].map(Into::into).to_vec();
    Peer::start(&PeerCommand { name: "bad".into(), command }, &fresh_dir(), limit)
}

/// Starts a shell script after a valid hello and keys.
fn after_keys(script: &str, limit: Duration) -> Peer {
    let hello = "read line; echo longmatch-peer 1 ipv4 one bad 1; read line; echo keys 2";
    let mut peer =
        shell(&format!("{hello}; {script}"), limit).unwrap_or_else(|error| panic!("{error}"));
    peer.set_keys::<Ipv4>(&[1, 2]).unwrap();
    peer
}

/// The fault and the text of an error that must occur before the limit.
fn fails<T>(began: Instant, result: Result<T, PeerError>) -> (PeerFault, String) {
    let passed = began.elapsed();
    assert!(passed < LONG, "{passed:?}");
    let Err(error) = result else { panic!("no error") };
    (error.fault.clone(), error.to_string())
}

#[test]
fn programs_that_are_no_peers_are_rejected() {
    let began = Instant::now();
    let (_, text) = fails(began, shell("echo no idea >&2; exit 3", LONG));
    assert!(text.contains("exit status: 3") && text.contains("no idea"), "{text}");
    let (_, text) = fails(began, shell("read line; echo 'welcome\tto the shell'; sleep 60", LONG));
    assert!(text.contains("welcome\\tto the shell"), "{text}");
    let (_, text) = fails(began, shell("read line; echo longmatch-peer 2 ipv4 one new 1", LONG));
    assert!(text.contains("version `2`"), "{text}");
    let (fault, _) = fails(began, shell("read line; echo error no licence", LONG));
    assert_eq!(fault, PeerFault::Refused("no licence".into()));
    let nothing = PeerCommand { name: "x".into(), command: vec!["/nonexistent/peer".into()] };
    let (fault, text) = fails(began, Peer::start(&nothing, &fresh_dir(), LONG));
    assert!(matches!(fault, PeerFault::Start(_)) && text.contains("/nonexistent/peer"), "{text}");
}

#[test]
fn silent_peers_are_ended_at_the_limit() {
    let began = Instant::now();
    let (fault, text) = fails(began, shell("exec sleep 100", SHORT));
    assert_eq!(fault, PeerFault::TimedOut(SHORT), "{text}");
    // The grandchild keeps the pipes open after the end of the child.
    let mut peer = after_keys("sleep 30 & wait", SHORT);
    let (fault, _) = fails(Instant::now(), peer.answers::<Ipv4>(Mode::One, 1));
    assert_eq!(fault, PeerFault::TimedOut(SHORT));
    let (fault, _) = fails(Instant::now(), peer.answers::<Ipv4>(Mode::One, 1));
    assert_eq!(fault, PeerFault::AlreadyEnded);
}

#[test]
fn endless_lines_are_rejected() {
    for endless in ["exec cat /dev/zero", "exec yes"] {
        let mut peer = after_keys(&format!("read line; {endless}"), LONG);
        let (fault, text) = fails(Instant::now(), peer.answers::<Ipv4>(Mode::One, 1));
        assert!(matches!(fault, PeerFault::Unexpected(_)), "{text}");
        // The message has 400 escaped characters.
        assert!(text.len() < 3000, "{}", text.len());
    }
}

#[test]
fn unsolicited_lines_are_rejected() {
    let mut peer = after_keys("echo answered 2; sleep 60", LONG);
    std::thread::sleep(Duration::from_secs(2));
    let (_, text) = fails(Instant::now(), peer.answers::<Ipv4>(Mode::One, 1));
    assert!(text.contains("unsolicited") && text.contains("answered 2"), "{text}");
}

#[test]
fn the_end_of_standard_error_is_reported() {
    let script = "read line; i=0; while [ $i -lt 3000 ]; do echo line $i >&2; i=$((i+1)); done";
    let mut peer = after_keys(script, LONG);
    let (fault, text) = fails(Instant::now(), peer.answers::<Ipv4>(Mode::One, 1));
    assert!(matches!(fault, PeerFault::Ended(_)), "{text}");
    assert!(text.contains("line 2999") && !text.contains("line 1000"), "{text}");
}

#[test]
fn wrong_counts_and_file_lengths_are_rejected() {
    // The path is the last word of the command and contains blanks, so `set` would split it.
    let file = "read -r line; file=/${line#*/}";
    let cases = [
        ("echo answered 3", "2 keys, not 3"),
        ("echo answered two", "a number"),
        ("echo answered 2", "No such file"),
        ("printf abcdefg > \"$file\"; echo answered 2", "8 bytes, but the file has 7"),
        ("printf abcdefghi > \"$file\"; echo answered 2", "8 bytes, but the file has more"),
        ("printf 'answered 2'", "ended without an answer"),
    ];
    for (script, wanted) in cases {
        let mut peer = after_keys(&format!("{file}; {script}"), LONG);
        let (_, text) = fails(Instant::now(), peer.answers::<Ipv4>(Mode::One, 1));
        assert!(text.contains(wanted), "{script}: {text}");
        let (fault, _) = fails(Instant::now(), peer.answers::<Ipv4>(Mode::One, 1));
        assert_eq!(fault, PeerFault::AlreadyEnded, "{script}");
    }
    let mut peer =
        after_keys(&format!("{file}; printf abcdefgh > \"$file\"; echo answered 2; read x"), LONG);
    let answers = peer.answers::<Ipv4>(Mode::One, 1).unwrap();
    assert_eq!(answers, [b"abcd", b"efgh"].map(|raw| NextHopId::new(u32::from_le_bytes(*raw))));
}

#[test]
fn impossible_times_are_rejected() {
    for (script, wanted) in [
        ("echo timed 99999999999999 0", "have passed"),
        ("echo timed 0 0", "have passed"),
        ("echo timed 1", "NANOSECONDS SUM"),
        ("echo loaded 1 1 -", "expected `timed"),
    ] {
        let mut peer = after_keys(&format!("read line; {script}; read line"), LONG);
        let (_, text) = fails(Instant::now(), peer.time::<Ipv4>(Mode::One, 1, 0, 10));
        assert!(text.contains(wanted), "{script}: {text}");
    }
}

#[test]
fn a_refused_table_does_not_end_the_peer() {
    let script = "read line; echo error ids have 24 bits; read line; echo loaded 1 5 64; read line";
    let mut peer = after_keys(script, LONG);
    let rib = table::<Ipv4>(&[("10.0.0.0/8", 1 << 24)]);
    let error = peer.load(&rib).unwrap_err();
    assert!(error.is_refusal() && error.to_string().contains("ids have 24 bits"), "{error}");
    assert_eq!(peer.load(&rib).unwrap().bytes, Some(64), "the second table is loaded");
    let error = peer.load(&Rib::<Ipv6>::new()).unwrap_err();
    assert!(matches!(error.fault, PeerFault::Unsupported(_)), "{error}");
}
