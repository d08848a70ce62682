//! Filters at interfaces: real packets in a network namespace, replacements under traffic, processes that are killed.
//!
//! The tests need root, `ip` and a file system of BPF that they mount; without these they say `skipped`. They run one after
//! another.
#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

#[allow(dead_code, reason = "the tests of the forwarder need the other parts")]
#[path = "../../longmatch-forward/tests/network/wire.rs"]
mod wire;

use std::cell::RefCell;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use longmatch::IpPrefix;
use longmatch_filter::{
    Action, Addresses, Content, FilterError, Hook, List, Match, Policy, Running, Setup, Start,
    XdpMode, is_bpf_file_system,
};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
use wire::{Wire, ip};

/// A network namespace and a file system of BPF for the calling thread: `f0` has the filter, `p0` is its outer end.
struct Network {
    directory: PathBuf,
    _alone: MutexGuard<'static, ()>,
}

static ALONE: Mutex<()> = Mutex::new(());
static NEXT: AtomicU32 = AtomicU32::new(0);

impl Network {
    /// `None`, after saying why aloud, if this process may not make one.
    fn new(test: &str) -> Option<Self> {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let made = Self::make(alone);
        if let Err(reason) = &made {
            let _ = writeln!(io::stderr(), "skipped: {test}: {reason}");
        }
        made.ok()
    }

    fn make(_alone: MutexGuard<'static, ()>) -> Result<Self, String> {
        // SAFETY: system calls without pointers; only this thread gets new namespaces.
        let unshared = unsafe { libc::unshare(libc::CLONE_NEWNET | libc::CLONE_NEWNS) };
        if unshared != 0 {
            return Err(format!("no namespaces: {}", io::Error::last_os_error()));
        }
        if let Err(error) = Command::new("ip").arg("-V").output() {
            return Err(format!("no `ip` (Debian: apt-get install iproute2): {error}"));
        }
        let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
        mount_change("/", private).map_err(|error| format!("no private mounts: {error}"))?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("longmatch-filter-{}-{number}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        fs::create_dir_all(&directory).map_err(|error| error.to_string())?;
        let mounted = mount("bpf", &directory, "bpf", MountFlags::empty(), None);
        mounted.map_err(|error| format!("no file system of BPF: {error}"))?;
        let _ = fs::write("/proc/sys/net/ipv6/conf/default/addr_gen_mode", "1");
        ip("link add f0 type veth peer name p0");
        ip("link set p0 up");
        ip("link set f0 up");
        Ok(Self { directory, _alone })
    }

    fn pins(&self) -> PathBuf {
        self.directory.join("filters")
    }

    fn open(&self, hook: Hook) -> Result<Running, FilterError> {
        Running::open("f0", hook, &self.pins())
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let _ = rustix::mount::unmount(&self.directory, rustix::mount::UnmountFlags::DETACH);
        let _ = fs::remove_dir(&self.directory);
    }
}

fn start(pins: Option<PathBuf>, hook: Hook, action: Action) -> Start {
    let lists = vec![List { name: "listed".to_owned(), action }];
    let matched = if hook == Hook::Egress { Match::Destination } else { Match::Source };
    let policy = Policy { lists, matched, scoped: false, drop_others: false };
    Start {
        interface: "f0".to_owned(),
        setup: Setup { hook, ethernet: true, policy, drop_unknown: false, dry_run: false },
        mode: XdpMode::Auto,
        files: vec!["listed.txt".to_owned()],
        scope_file: None,
        safety: None,
        confirm: None,
        pins,
    }
}

fn content(prefixes: &[&str]) -> Content {
    let prefixes = prefixes.iter().map(|text| IpPrefix::parse_or_host(text).unwrap());
    Content { lists: vec![prefixes.collect::<Addresses>()], ..Content::default() }
}

/// A frame of UDP over IPv4 with a number.
fn frame(source: [u8; 4], destination: [u8; 4], number: u32) -> Vec<u8> {
    let mut frame =
        [&[2_u8, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8, 8, 0][..], &[0x45, 0, 0, 32]].concat();
    frame.extend([0, 0, 0, 0, 64, 17, 0, 0]);
    frame.extend(source);
    frame.extend(destination);
    frame.extend([0, 7, 0, 9, 0, 12, 0, 0]);
    frame.extend(number.to_be_bytes());
    frame
}

/// The number in a frame that [`frame`] made.
fn number(frame: &[u8]) -> Option<u32> {
    let is_ours = frame.len() == 46 && frame[..6] == [2, 0, 0, 0, 0, 9];
    is_ours.then(|| u32::from_be_bytes(frame[42..].try_into().unwrap()))
}

/// Which of the sources 10.0.0.1 to 10.0.0.3 get through, from the outer end to the filter.
fn passing(sender: &Wire, receiver: &Wire) -> Vec<u8> {
    static NUMBER: AtomicU32 = AtomicU32::new(1);
    while receiver.receive().is_some() {}
    let base = NUMBER.fetch_add(100, Ordering::Relaxed);
    for source in 1..=3 {
        // The sender learns that its packet is dropped.
        let _ = sender.try_send(&frame(
            [10, 0, 0, source],
            [10, 0, 0, source],
            base + u32::from(source),
        ));
    }
    // Packets keep their order: nothing comes after this one.
    sender.send(&frame([10, 9, 9, 9], [10, 9, 9, 9], base + 9));
    let passed = RefCell::new(Vec::new());
    let is_last = |frame: &[u8]| {
        let number = number(frame).map_or(0, |it| it.wrapping_sub(base));
        passed.borrow_mut().extend((1..9).contains(&number).then_some(number as u8));
        number == 9
    };
    receiver.find(is_last).expect("the last frame arrives");
    passed.into_inner()
}

#[test]
fn packets_pass_or_are_dropped_at_every_hook() {
    let Some(net) = Network::new("packets_pass_or_are_dropped_at_every_hook") else { return };
    let (inner, outer) = (Wire::open("f0"), Wire::open("p0"));
    for (hook, mode) in [
        (Hook::Xdp, XdpMode::Native),
        (Hook::Xdp, XdpMode::Generic),
        (Hook::Xdp, XdpMode::Auto),
        (Hook::Ingress, XdpMode::Auto),
        (Hook::Egress, XdpMode::Auto),
    ] {
        let (sender, receiver) =
            if hook == Hook::Egress { (&inner, &outer) } else { (&outer, &inner) };
        assert_eq!(passing(sender, receiver), [1, 2, 3]);
        let start = Start { mode, ..start(Some(net.pins()), hook, Action::Drop) };
        drop(Running::start(start, &content(&["10.0.0.2"])).unwrap());
        // A raw socket sees packets before tc, but not those that XDP dropped.
        let is_seen = hook == Hook::Ingress;
        assert_eq!(passing(sender, receiver), if is_seen { vec![1, 2, 3] } else { vec![1, 3] });
        let mut running = net.open(hook).unwrap();
        let counts = running.filter().counts().unwrap();
        assert_eq!((counts.dropped.packets, counts.passed.packets), (1, 3), "{hook:?}");
        assert_eq!(counts.dropped.bytes, 46);
        running.replace(&content(&["10.0.0.1", "10.0.0.3/32"])).unwrap();
        let passed = passing(sender, receiver);
        assert_eq!(passed, if is_seen { vec![1, 2, 3] } else { vec![2] });
        let counts = running.filter().counts().unwrap();
        assert_eq!((counts.dropped.packets, counts.passed.packets), (3, 5), "{hook:?}");
        running.detach().unwrap();
        assert_eq!(passing(sender, receiver), [1, 2, 3]);
        assert!(matches!(net.open(hook), Err(FilterError::NotRunning { mounted: true, .. })));
    }
}

#[test]
fn packets_get_the_mark_of_their_list() {
    let Some(net) = Network::new("packets_get_the_mark_of_their_list") else { return };
    let nft = |words: &str| Command::new("nft").args(words.split(' ')).output();
    let rule = "add rule netdev t c meta mark 7 counter";
    let chain = "add chain netdev t c { type filter hook ingress device f0 priority 0 ; }";
    for words in ["add table netdev t", chain, rule] {
        match nft(words) {
            Ok(output) if output.status.success() => {}
            other => {
                let _ = writeln!(
                    io::stderr(),
                    "skipped: marks: `nft {words}` (apt-get install nftables): {other:?}"
                );
                return;
            }
        }
    }
    let marked = || {
        let rules = String::from_utf8(nft("list table netdev t").unwrap().stdout).unwrap();
        let count = rules.split("packets ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
        count.parse::<u64>().unwrap()
    };
    let (inner, outer) = (Wire::open("f0"), Wire::open("p0"));
    let request = start(Some(net.pins()), Hook::Ingress, Action::Mark(7));
    let running = Running::start(request, &content(&["10.0.0.2"])).unwrap();
    assert_eq!(passing(&outer, &inner), [1, 2, 3]);
    assert_eq!(marked(), 1);
    assert_eq!(running.filter().counts().unwrap().lists[0].decided.packets, 1);
    running.detach().unwrap();
    assert_eq!(passing(&outer, &inner), [1, 2, 3]);
    assert_eq!(marked(), 1);
}

/// Lists that outgrow the maps of the start get new ones, with a new program in the place of the old.
#[test]
fn lists_may_grow() {
    let Some(net) = Network::new("lists_may_grow") else { return };
    let (inner, outer) = (Wire::open("f0"), Wire::open("p0"));
    let request = start(Some(net.pins()), Hook::Xdp, Action::Drop);
    let mut running = Running::start(request, &content(&["10.0.0.2"])).unwrap();
    assert_eq!(passing(&outer, &inner), [1, 3]);
    // Each second address, so that nothing is joined: some megabytes.
    let hosts = (0..200_000_u32)
        .map(|n| IpPrefix::host(std::net::Ipv4Addr::from(0x0a00_0001 + 2 * n).into()));
    let many = Content { lists: vec![hosts.collect()], ..Content::default() };
    running.replace(&many).unwrap();
    assert_eq!(passing(&outer, &inner), [2]);
    drop(running);
    let mut running = net.open(Hook::Xdp).unwrap();
    assert_eq!(running.filter().counts().unwrap().dropped.packets, 3);
    running.replace(&content(&["10.0.0.1"])).unwrap();
    assert_eq!(passing(&outer, &inner), [2, 3]);
    running.detach().unwrap();
    assert_eq!(passing(&outer, &inner), [1, 2, 3]);
}

#[test]
fn an_unconfirmed_filter_lets_everything_pass() {
    let Some(net) = Network::new("an_unconfirmed_filter_lets_everything_pass") else { return };
    let (inner, outer) = (Wire::open("f0"), Wire::open("p0"));
    for confirmed in [false, true] {
        let confirm = Some(Duration::from_millis(1500));
        let start = Start { confirm, ..start(Some(net.pins()), Hook::Xdp, Action::Drop) };
        let running = Running::start(start, &content(&["10.0.0.2"])).unwrap();
        assert_eq!(passing(&outer, &inner), [1, 3]);
        assert!(running.filter().remaining().is_some());
        if confirmed {
            running.filter().set_remaining(None);
        }
        // The time is rounded up to ticks of about a second.
        thread::sleep(Duration::from_millis(3200));
        assert_eq!(running.filter().remaining(), (!confirmed).then_some(Duration::ZERO));
        let expected = if confirmed { vec![1, 3] } else { vec![1, 2, 3] };
        assert_eq!(passing(&outer, &inner), expected);
        running.detach().unwrap();
    }
}

#[test]
fn a_second_filter_and_other_programs_are_refused() {
    let Some(net) = Network::new("a_second_filter_and_other_programs_are_refused") else { return };
    let request = || start(Some(net.pins()), Hook::Xdp, Action::Drop);
    let first = Running::start(request(), &content(&[])).unwrap();
    let second = Running::start(request(), &content(&[])).unwrap_err();
    assert!(matches!(second, FilterError::Running { .. }), "{second}");
    // Without pins the kernel refuses: another program is attached.
    let other = Running::start(Start { pins: None, ..request() }, &content(&[])).unwrap_err();
    assert!(matches!(other, FilterError::OtherProgram { .. }), "{other}");
    // A failed start leaves nothing, and nothing changes for the first filter.
    let elsewhere = Start { pins: Some(net.directory.join("other")), ..request() };
    assert!(Running::start(elsewhere, &content(&[])).is_err());
    assert_eq!(fs::read_dir(net.directory.join("other")).unwrap().count(), 0);
    assert!(first.is_attached().unwrap());
    // tc programs are beside it.
    let tc = Running::start(start(Some(net.pins()), Hook::Ingress, Action::Mark(7)), &content(&[]));
    tc.unwrap().detach().unwrap();
    first.detach().unwrap();
    let mark = start(None, Hook::Xdp, Action::Mark(7));
    assert!(matches!(Running::start(mark, &content(&[])), Err(FilterError::MarkInXdp)));
    let absent = Start { interface: "none".to_owned(), ..request() };
    assert!(matches!(Running::start(absent, &content(&[])), Err(FilterError::NoInterface { .. })));
    // An interface that goes takes its filter with it; a new one of its name gets a new filter.
    drop(Running::start(request(), &content(&[])).unwrap());
    ip("link del f0");
    assert!(!net.open(Hook::Xdp).unwrap().is_attached().unwrap());
    ip("link add f0 type veth peer name p0");
    Running::start(request(), &content(&[])).unwrap().detach().unwrap();
}

#[test]
fn without_rights_and_without_pins() {
    let Some(net) = Network::new("without_rights_and_without_pins") else { return };
    assert!(is_bpf_file_system(&net.pins()));
    assert!(!is_bpf_file_system(&std::env::temp_dir().join("no/such")));
    let (inner, outer) = (Wire::open("f0"), Wire::open("p0"));
    let running = Running::start(start(None, Hook::Xdp, Action::Drop), &content(&["10.0.0.2"]));
    let running = running.unwrap();
    assert_eq!(passing(&outer, &inner), [1, 3]);
    drop(running);
    assert_eq!(passing(&outer, &inner), [1, 2, 3]);
    // A directory that is in another file system.
    let pins = Some(std::env::temp_dir().join("longmatch-no-bpf"));
    let error = Running::start(start(pins, Hook::Xdp, Action::Drop), &content(&[])).unwrap_err();
    assert!(error.to_string().contains("bpf"), "{error}");
    assert_eq!(passing(&outer, &inner), [1, 2, 3]);
    let _ = fs::remove_dir_all(std::env::temp_dir().join("longmatch-no-bpf"));
    // The thread ends with the test.
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
        .unwrap();
    let error = Running::start(start(None, Hook::Xdp, Action::Drop), &content(&[])).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("CAP_BPF") && text.contains("CAP_NET_ADMIN"), "{text}");
}

/// Lists that are replaced while packets flow: version A has the sources 1, B the sources 2, and a packet whose source and
/// destination are 1 and 2 is in exactly one of its lists in every version.
#[test]
fn every_packet_sees_one_version() {
    let Some(net) = Network::new("every_packet_sees_one_version") else { return };
    let mut request = start(Some(net.pins()), Hook::Xdp, Action::Count);
    request.setup.policy.matched = Match::Both;
    request.setup.policy.lists =
        ["a", "b"].map(|name| List { name: name.to_owned(), action: Action::Count }).to_vec();
    request.files = vec![String::new(); 2];
    let both = |a: &str, b: &str| Content {
        lists: [a, b]
            .map(|text| [IpPrefix::parse_or_host(text).unwrap()].into_iter().collect())
            .to_vec(),
        ..Content::default()
    };
    // In A the source is in a and the destination in b; in B it is the other way round. A mixed version would have both
    // addresses in one list, and the packet in one list only.
    let versions = [both("10.0.0.1", "10.0.0.2"), both("10.0.0.2", "10.0.0.1")];
    let mut running = Running::start(request, &versions[0]).unwrap();
    let ended = AtomicBool::new(false);
    let outer = Wire::open("p0");
    let frame = frame([10, 0, 0, 1], [10, 0, 0, 2], 0);
    let rounds = if std::env::var_os("LONGMATCH_PROVE").is_some() { 1000 } else { 50 };
    let sent = thread::scope(|scope| {
        let send = || {
            let mut sent = 0_u64;
            while !ended.load(Ordering::Relaxed) {
                sent += u64::from(outer.try_send(&frame).is_ok());
            }
            sent
        };
        let sender = scope.spawn(send);
        for round in 1..=rounds {
            running.replace(&versions[round % 2]).unwrap();
        }
        ended.store(true, Ordering::Relaxed);
        sender.join().unwrap()
    });
    let end = Instant::now() + Duration::from_secs(5);
    let counts = loop {
        let counts = running.filter().counts().unwrap();
        if counts.default.packets >= sent || Instant::now() > end {
            break counts;
        }
    };
    assert!(sent > 1000, "packets flow: {sent}");
    assert_eq!(counts.default.packets, sent);
    let lists: Vec<_> = counts.lists.iter().map(|it| it.matched.packets).collect();
    assert_eq!(lists, [sent, sent], "packets of a mixed version");
    running.detach().unwrap();
}

/// The process of [`a_killed_process_leaves_a_filter_or_nothing`]: starts, replaces and detaches a filter for ever.
#[test]
#[ignore = "the process of another test"]
fn child() {
    let Some(pins) = std::env::var_os("LONGMATCH_FILTER_PINS").map(PathBuf::from) else { return };
    loop {
        let start = start(Some(pins.clone()), Hook::Xdp, Action::Drop);
        if let Ok(mut running) = Running::start(start, &content(&["10.0.0.2"])) {
            for _ in 0..3 {
                running.replace(&content(&["10.0.0.2", "192.0.2.0/24"])).unwrap();
            }
            running.detach().unwrap();
        } else {
            Running::open("f0", Hook::Xdp, &pins).unwrap().detach().unwrap();
        }
    }
}

#[test]
fn a_killed_process_leaves_a_filter_or_nothing() {
    let Some(net) = Network::new("a_killed_process_leaves_a_filter_or_nothing") else { return };
    let (inner, outer) = (Wire::open("f0"), Wire::open("p0"));
    let spawn = || {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "child", "--ignored", "--nocapture"]).stdout(Stdio::null());
        child.env("LONGMATCH_FILTER_PINS", net.pins()).spawn().unwrap()
    };
    // The time that a process takes here to start a filter: the others are killed around it.
    let begin = Instant::now();
    let mut first = spawn();
    while net.open(Hook::Xdp).is_err() {
        assert!(first.try_wait().unwrap().is_none() && begin.elapsed() < Duration::from_secs(60));
    }
    let start_time = begin.elapsed();
    first.kill().unwrap();
    first.wait().unwrap();
    if let Ok(running) = net.open(Hook::Xdp) {
        running.detach().unwrap();
    }
    let (mut filters, mut nothing) = (0, 0);
    let rounds = if std::env::var_os("LONGMATCH_PROVE").is_some() { 300 } else { 20 };
    for round in 0..rounds {
        let mut child = spawn();
        thread::sleep(start_time * (50 + round * 37 % 100) / 75);
        child.kill().unwrap();
        child.wait().unwrap();
        match net.open(Hook::Xdp) {
            Ok(mut running) => {
                filters += 1;
                assert_eq!(passing(&outer, &inner), [1, 3]);
                // It can be changed.
                running.replace(&content(&["10.0.0.1"])).unwrap();
                assert_eq!(passing(&outer, &inner), [2, 3]);
                if round % 2 == 0 {
                    running.detach().unwrap();
                }
            }
            Err(FilterError::NotRunning { .. }) => {
                nothing += 1;
                // The kernel detaches the program some time after the end of the process.
                let end = Instant::now() + Duration::from_secs(5);
                while passing(&outer, &inner) != [1, 2, 3] {
                    assert!(Instant::now() < end, "a program without pins stays");
                }
            }
            Err(error) => panic!("{error}"),
        }
        // The next one starts in any case.
        if let Ok(running) = net.open(Hook::Xdp) {
            running.detach().unwrap();
        }
        Running::start(start(Some(net.pins()), Hook::Xdp, Action::Drop), &content(&[]))
            .unwrap()
            .detach()
            .unwrap();
    }
    let _ = writeln!(io::stderr(), "killed: {filters} filters, {nothing} times nothing");
    assert!(Path::new(&net.pins()).exists());
}
