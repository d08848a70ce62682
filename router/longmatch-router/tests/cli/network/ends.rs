//! However the binary ends, the interfaces are as before.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::child::Forwarder;
use super::flow::numbered;
use super::net::{Net, neighbour4};
use crate::counts::check_sums;

/// What `ip` prints of the machines, and the router's settings.
fn state(net: &Net) -> BTreeMap<String, String> {
    let mut state = BTreeMap::new();
    for words in [
        "-d link",
        "addr",
        "route show table all",
        "-6 route show table all",
        "rule",
        "neigh show nud permanent",
    ] {
        state.insert(words.to_owned(), net.router.ip(words));
    }
    state.insert("host A".to_owned(), net.a.ip("-d link"));
    state.insert("host B".to_owned(), net.b.ip("-d link"));
    for family in ["ipv4", "ipv6"] {
        let directory = format!("/proc/sys/net/{family}");
        net.router.run(|| settings(Path::new(&directory), &mut state));
    }
    state
}

/// Adds the values of all files of a directory.
fn settings(directory: &Path, state: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match fs::read_to_string(&path) {
            Ok(value) => drop(state.insert(path.display().to_string(), value)),
            Err(_) if path.is_dir() => settings(&path, state),
            // Some can be written only.
            Err(_) => {}
        }
    }
}

/// Waits until everything is as before: the kernel removes devices a moment after their process.
fn assert_restored(net: &Net, before: &BTreeMap<String, String>, what: &str) {
    let end = Instant::now() + Duration::from_secs(5);
    loop {
        let after = state(net);
        if after == *before {
            return;
        }
        let keys = before.keys().chain(after.keys());
        let differs = |key: &&String| before.get(*key) != after.get(*key);
        let differences: Vec<_> =
            keys.filter(differs).map(|key| (key, before.get(key), after.get(key))).collect();
        assert!(Instant::now() < end, "{what}: {differences:#?}");
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn signals_leave_the_interfaces_as_they_were() {
    let Some(net) = Net::new("signals_leave_the_interfaces_as_they_were") else { return };
    net.router.ip(&format!("route add 198.18.0.0/16 via {}", neighbour4(1, 0)));
    let before = state(&net);
    let (from, to) = (net.a.wire("ea"), net.b.wire("eb"));
    for signal in [Signal::INT, Signal::TERM, Signal::KILL, Signal::INT] {
        let mut forwarder = Forwarder::start(&net, &[]);
        let during = state(&net);
        assert!(during["-d link"].matches("prog/xdp").count() == 2, "{}", during["-d link"]);
        assert!(during["-d link"].contains("longmatch0"), "{}", during["-d link"]);
        from.send(&numbered([198, 18, 0, 1].into(), 1));
        assert!(to.find(|frame| super::flow::number(frame).is_some()).is_some());
        let stopped = forwarder.stop(signal);
        if signal == Signal::KILL {
            assert_eq!(stopped.status.signal(), Some(9), "{stopped:?}");
        } else {
            assert_eq!(stopped.status.code(), Some(0), "{stopped:?}");
            check_sums(&stopped.counts);
            let counts = (&stopped.counts["end"], &stopped.counts["forwarded"]);
            assert_eq!(counts, (&true.into(), &1.into()), "{stopped:?}");
        }
        assert_restored(&net, &before, &format!("{signal:?}"));
    }
}

#[test]
fn the_end_of_the_time_and_errors_leave_them_too() {
    let Some(net) = Net::new("the_end_of_the_time_and_errors_leave_them_too") else { return };
    let before = state(&net);
    let args = ["-i", "ra", "rb", "--seconds", "0.2", "--interval", "0.1"];
    let ended = net.program(&args);
    assert_eq!(ended.code, 0, "{ended:?}");
    // A line each interval, and the counts.
    assert!(ended.stdout.contains(" s  received 0 /s  forwarded 0 /s  kernel 0 /s  dropped 0 /s"));
    let last: Vec<_> = ended.stdout.lines().rev().take(9).map(str::trim_start).collect();
    assert!(last[8].starts_with("0 packets in 0."), "{ended:?}");
    let rows = [(6, "forwarded "), (4, "dropped "), (3, "ra  "), (2, "sent "), (1, "rb  ")];
    assert!(rows.iter().all(|(row, text)| last[*row].starts_with(text)), "{ended:?}");
    assert_restored(&net, &before, "the end of the time");
    let wrong = [
        (
            &["ra", "none"][..],
            "longmatch-forward: --interface: none: no such interface; `ip link` lists",
        ),
        (&["ra", "lo"], "longmatch-forward: --interface: lo: "),
        (&["ra", "ra"], "longmatch-forward: --interface: "),
    ];
    for (interfaces, message) in wrong {
        let ended = net.program(&[&["-i"], interfaces].concat());
        assert_eq!((ended.code, &ended.stdout[..]), (2, ""), "{ended:?}");
        assert!(ended.stderr.starts_with(message), "{interfaces:?}: {ended:?}");
        assert_restored(&net, &before, &format!("{interfaces:?}"));
    }
    // The interfaces are in use already.
    let forwarder = Forwarder::start(&net, &[]);
    let ended = net.program(&["-i", "ra", "rb", "--control", "other"]);
    assert!(ended.code == 2 && ended.stderr.contains("another XDP program is attached"));
    forwarder.end();
    assert_restored(&net, &before, "two at once");
}
