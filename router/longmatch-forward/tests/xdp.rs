//! Packet I/O by AF_XDP between virtual interfaces, each test in its own network namespace.
//!
//! Without the rights for that, tests say `skipped` and succeed.

#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

mod network;

use std::io::{BufRead, BufReader};
use std::os::fd::AsRawFd;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use longmatch_forward::io::PacketIo;
use longmatch_forward::io::xdp::{ReleasedLink, Xdp, XdpIo, XdpMode, XdpOptions};
use longmatch_forward::{Cause, Fate, PacketCounts, Port, PortId};
use network::{HOST_MACS, Network, ROUTER, Wire};

const TO_SECOND: PortId = PortId(1);

fn options(mode: XdpMode) -> XdpOptions {
    XdpOptions { mode, ..Default::default() }
}

/// Opens the interfaces of a network for one thread, with the router's addresses.
fn open(network: &Network, options: &XdpOptions) -> (Xdp, XdpIo) {
    let mut xdp = Xdp::open(&network.ports, options).unwrap_or_else(|error| panic!("{error}"));
    xdp.set_local_addresses(ROUTER.map(Into::into)).unwrap();
    let [worker] = xdp.workers().try_into().ok().unwrap();
    (xdp, worker)
}

/// Receives the next batch, for two seconds at most.
fn receive(worker: &mut XdpIo, max: usize) -> usize {
    let end = Instant::now() + Duration::from_secs(2);
    while Instant::now() < end {
        let len = worker.receive(max).unwrap().len;
        if len > 0 {
            return len;
        }
        worker.wait(Duration::from_millis(20)).unwrap();
    }
    0
}

/// Dispatches a batch in which all frames have the same fate.
fn dispatch(worker: &mut XdpIo, len: usize, fate: Fate) -> PacketCounts {
    let mut tally = PacketCounts::default();
    (0..len).for_each(|place| tally.count(PortId(0), worker.frame(place).len(), fate));
    worker.dispatch(&vec![fate; len], &mut tally).unwrap();
    tally
}

#[test]
fn frames_leave_as_they_were_rewritten() {
    let Some(network) = Network::new(1) else { return };
    for mode in [XdpMode::Generic, XdpMode::Native] {
        let (xdp, mut worker) = open(&network, &options(mode));
        let expected = [0, 1].map(|place| format!("r{place}: {mode} mode, copy"));
        assert_eq!(xdp.descriptions(), expected);
        assert_eq!(xdp.warnings(), <[String; 0]>::default());
        let (inner, outer) = (Wire::open("p0"), Wire::open("p1"));
        for (count, length) in [4, 18, 100, 1000, 1472].into_iter().enumerate() {
            let sent = network::udp(network.ports[0].mac(), 64, count as u32, length);
            inner.send(&sent);
            assert_eq!(receive(&mut worker, 32), 1, "{mode}");
            let frame = worker.frame(0);
            assert_eq!(frame, sent);
            frame[..6].copy_from_slice(&HOST_MACS[1].0);
            frame[20] = 0xaa;
            let expected = frame.to_vec();
            // Of the shortest frame, not all is sent.
            let len = if length == 4 { 44 } else { expected.len() };
            dispatch(&mut worker, 1, Fate::Transmit { port: TO_SECOND, len: len as u16 });
            let arrived = outer.find(|frame| frame[..6] == HOST_MACS[1].0).unwrap();
            assert_eq!(arrived, expected[..len], "{mode}");
        }
    }
}

#[test]
fn the_kernel_keeps_what_is_its_own() {
    let Some(network) = Network::new(1) else { return };
    let router = network.ports[0].mac();
    for mode in [XdpMode::Generic, XdpMode::Native] {
        let (mut xdp, mut worker) = open(&network, &options(mode));
        let (wire, inside) = (Wire::open("p0"), Wire::open("r0"));
        wire.send(&network::arp(ROUTER[0]));
        let is_answer = |frame: &[u8]| frame[..6] == HOST_MACS[0].0 && frame[12..14] == [8, 6];
        assert!(wire.find(is_answer).is_some(), "{mode}: ARP");
        for address in ROUTER {
            wire.send(&network::ping(router, address));
            assert!(wire.find(|frame| network::icmp_type(frame) == Some(0)).is_some(), "{mode}");
        }
        let mut group = network::udp(router, 64, 77, 100);
        group[0] |= 1;
        let mut other = network::udp(router, 64, 78, 100);
        other[12..14].copy_from_slice(&[0x88, 0xb5]);
        let mut truncated = network::udp(router, 64, 79, 100);
        truncated.truncate(33);
        for frame in [group, other, truncated] {
            wire.send(&frame);
            assert!(inside.find(|seen| seen[14..] == frame[14..]).is_some(), "{mode}");
        }
        assert_eq!(worker.receive(32).unwrap().len, 0, "{mode}");
        // An address that is the router's no more.
        xdp.set_local_addresses([ROUTER[1].into(), "fd00::1".parse().unwrap()]).unwrap();
        wire.send(&network::ping(router, ROUTER[0]));
        assert_eq!(receive(&mut worker, 32), 1, "{mode}");
    }
}

#[test]
fn the_kernel_answers_for_packets_that_expired() {
    let Some(network) = Network::new(1) else { return };
    let (xdp, mut worker) = open(&network, &options(XdpMode::Auto));
    let wire = Wire::open("p0");
    let router = network.ports[0].mac();
    let expired = [(network::udp(router, 1, 1, 100), 11), (network::ipv6(router, 1), 3)];
    for (frame, time_exceeded) in expired {
        wire.send(&frame);
        assert_eq!(receive(&mut worker, 32), 1);
        let fate = Fate::Stop(Cause::TtlExpired);
        let tally = dispatch(&mut worker, 1, fate);
        assert_eq!(tally.stopped(Cause::TtlExpired), 1);
        let answer = wire.find(|frame| network::icmp_type(frame) == Some(time_exceeded));
        let answer = answer.unwrap_or_else(|| panic!("no ICMP message {time_exceeded}: {xdp:?}"));
        assert_eq!(answer[..6], HOST_MACS[0].0);
    }
    // A device that is down takes nothing.
    network::ip(&format!("link set {} down", xdp.tun_name()));
    wire.send(&network::udp(router, 1, 1, 100));
    assert_eq!(receive(&mut worker, 32), 1);
    let tally = dispatch(&mut worker, 1, Fate::Stop(Cause::TtlExpired));
    assert_eq!(tally.stopped(Cause::KernelFull), 1);
}

/// Waits until no interface has a program and the TUN device is gone.
fn assert_restored(tun: &str) {
    let end = Instant::now() + Duration::from_secs(5);
    let is_left =
        || network::exists(tun) || network::has_program("r0") || network::has_program("r1");
    while is_left() {
        assert!(Instant::now() < end, "{}", network::ip("-d link"));
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn interfaces_are_restored() {
    let Some(network) = Network::new(1) else { return };
    let (xdp, worker) = open(&network, &options(XdpMode::Auto));
    let tun = xdp.tun_name().to_owned();
    assert!(network::has_program("r0") && network::has_program("r1") && network::exists(&tun));
    drop(xdp);
    assert!(!network::has_program("r0") && !network::has_program("r1"));
    drop(worker);
    assert!(!network::exists(&tun));

    // The child is in the same namespace.
    let arguments = ["--exact", "child_that_is_killed", "--ignored", "--nocapture"];
    let mut child = Command::new(std::env::current_exe().unwrap());
    let mut child = child.args(arguments).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line.contains("open")));
    assert!(network::has_program("r0") && network::has_program("r1") && network::exists(&tun));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_restored(&tun);
}

/// Forwards all that has arrived.
fn forward_all(worker: &mut XdpIo) -> usize {
    let mut forwarded = 0;
    loop {
        let len = worker.receive(32).unwrap().len;
        if len == 0 {
            return forwarded;
        }
        (0..len).for_each(|place| worker.frame(place)[..6].copy_from_slice(&HOST_MACS[1].0));
        dispatch(worker, len, Fate::Transmit { port: TO_SECOND, len: 68 });
        forwarded += len;
    }
}

/// What the kernel says of links: each one's number, and that of its program.
fn link_ids(links: &[ReleasedLink]) -> Vec<[String; 2]> {
    let of = |link: &ReleasedLink| {
        let path = format!("/proc/thread-self/fdinfo/{}", link.link.as_raw_fd());
        let text = std::fs::read_to_string(path).unwrap();
        let line = |name| text.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
        ["link_id:", "prog_id:"].map(line)
    };
    links.iter().map(of).collect()
}

#[test]
fn interfaces_are_taken_over_without_loss() {
    let Some(network) = Network::new(1) else { return };
    for (mode, other) in [(XdpMode::Generic, XdpMode::Native), (XdpMode::Native, XdpMode::Generic)]
    {
        let (inner, outer) = (Wire::open("p0"), Wire::open("p1"));
        let (mut xdp, mut worker) = open(&network, &options(mode));
        let mut sent = 0;
        // By the worker, or the kernel, or neither until later.
        let mut send = |count, mut worker: Option<&mut XdpIo>| {
            for number in sent..sent + count {
                inner.send(&network::udp(network.ports[0].mac(), 64, number, 26));
                std::thread::sleep(Duration::from_millis(1));
                worker.as_mut().map(|worker| forward_all(worker));
            }
            sent += count;
        };
        let mut before: Option<Vec<[String; 2]>> = None;
        for _ in 0..5 {
            send(100, Some(&mut worker));
            send(20, None);
            let links = xdp.release();
            send(20, None);
            // Those before the release.
            assert_eq!(forward_all(&mut worker), 20, "{mode}");
            // The links stay, and their programs change.
            let ids = link_ids(&links);
            for (old, new) in before.iter().flatten().zip(&ids) {
                assert!(old[0] == new[0] && old[1] != new[1], "{old:?} {new:?}");
            }
            before = Some(ids);
            drop((worker, xdp));
            xdp = Xdp::open_over(&network.ports, &options(mode), links).unwrap();
            [worker] = xdp.workers().try_into().ok().unwrap();
        }
        std::thread::sleep(Duration::from_millis(20));
        let arrived = std::iter::from_fn(|| outer.receive());
        let arrived = arrived.filter(|frame| frame[..6] == HOST_MACS[1].0);
        let arrived: std::collections::HashSet<_> =
            arrived.map(|frame| network::number(&frame)).collect();
        assert_eq!(arrived.len(), sent as usize, "{mode}");
        // A link of the other mode, and one that fits no port.
        let links = xdp.release();
        drop(worker);
        xdp = Xdp::open_over(&network.ports[..1], &options(other), links).unwrap();
        assert_eq!(xdp.descriptions(), [format!("r0: {other} mode, copy")]);
        assert!(!network::has_program("r1"));
    }
}

#[test]
#[ignore = "a part of the test `interfaces_are_restored`"]
fn child_that_is_killed() {
    let ports = [(0, "r0"), (1, "r1")]
        .map(|(id, name)| Port::new(PortId(id), name, 0, Default::default(), 1500).into());
    let xdp = Xdp::open(&ports, &XdpOptions::default());
    match &xdp {
        Ok(xdp) => println!("open: {:?}", xdp.warnings()),
        Err(error) => println!("{error}"),
    }
    std::thread::sleep(Duration::from_secs(30));
}

/// Many more frames than there is memory for, with all fates, in small rings.
#[test]
fn no_frame_is_lost_for_good() {
    let Some(network) = Network::new(1) else { return };
    for mode in [XdpMode::Generic, XdpMode::Native] {
        let small = XdpOptions { ring_size: 32, ..options(mode) };
        let (_xdp, mut worker) = open(&network, &small);
        let (wire, outer) = (Wire::open("p0"), Wire::open("p1"));
        let (mut tally, mut arrived, mut sent, mut excess) = (PacketCounts::default(), 0, 0, 0);
        // The kernel forwards with another TTL.
        let is_new = |frame: &Vec<u8>| frame[..6] == HOST_MACS[1].0 && frame[22] == 0;
        while sent < 100_000_u32 {
            // Now and then more than the rings hold.
            let burst = if sent % 7 == 0 { 100 } else { 1 + sent % 30 };
            for number in sent..sent + burst {
                wire.send(&network::udp(network.ports[0].mac(), 64, number, 26));
            }
            sent += burst;
            excess += u64::from(burst.saturating_sub(small.ring_size));
            // Frames reach the sockets with a delay in native mode.
            while tally.received + worker.missed(PortId(0)) < sent.into() {
                let len = receive(&mut worker, 20);
                assert!(len > 0, "{mode}: {tally:?}, {} missed", worker.missed(PortId(0)));
                forward(&mut worker, len, &mut tally);
            }
            while outer.receive().map(|frame| arrived += u64::from(is_new(&frame))).is_some() {}
        }
        assert_eq!(tally.received + worker.missed(PortId(0)), sent.into(), "{mode}");
        assert_eq!(tally.stopped(Cause::TransmitFull), 0, "{mode}");
        assert_eq!(tally.stopped(Cause::KernelFull), 0, "{mode}");
        assert_eq!(arrived, tally.forwarded, "{mode}");
        assert!(worker.missed(PortId(0)) <= excess, "{mode}: more than did not fit");
        assert!(tally.stopped(Cause::Blackhole) > 1000, "{mode}: {tally:?}");
    }
}

/// Most frames go to the second port, some to the kernel and some nowhere.
fn forward(worker: &mut XdpIo, len: usize, tally: &mut PacketCounts) {
    let fates: Vec<_> = (0..len)
        .map(|place| {
            let frame = worker.frame(place);
            match network::number(frame).unwrap() % 16 {
                0 => Fate::Stop(Cause::Blackhole),
                // For the kernel, 10.0.2.2 is a neighbour too.
                1 => Fate::Stop(Cause::Options),
                _ => {
                    frame[..6].copy_from_slice(&HOST_MACS[1].0);
                    frame[22] = 0;
                    Fate::Transmit { port: TO_SECOND, len: frame.len() as u16 }
                }
            }
        })
        .collect();
    for (place, &fate) in fates.iter().enumerate() {
        tally.count(PortId(0), worker.frame(place).len(), fate);
    }
    worker.dispatch(&fates, tally).unwrap();
}

#[test]
fn a_full_transmit_ring_is_counted_and_recovers() {
    let Some(network) = Network::new(1) else { return };
    let small = XdpOptions { ring_size: 32, ..options(XdpMode::Auto) };
    let (_xdp, mut worker) = open(&network, &small);
    let (wire, outer) = (Wire::open("p0"), Wire::open("p1"));
    let mut send = |count: u32| {
        let mut tally = PacketCounts::default();
        for number in 0..count {
            wire.send(&network::udp(network.ports[0].mac(), 64, number, 26));
            let len = receive(&mut worker, 32);
            let fate = Fate::Transmit { port: TO_SECOND, len: 60 };
            tally.add(&dispatch(&mut worker, len, fate));
        }
        tally
    };
    network::ip("link set r1 down");
    let tally = send(50);
    assert_eq!((tally.forwarded, tally.stopped(Cause::TransmitFull)), (32, 18));
    network::ip("link set r1 up");
    // The next call transmits the frames that waited.
    send(1);
    let tally = send(50);
    assert_eq!((tally.forwarded, tally.stopped(Cause::TransmitFull)), (50, 0));
    let arrived = std::iter::from_fn(|| outer.receive());
    assert!(arrived.filter(|frame| network::number(frame).is_some()).count() >= 82);
}

#[test]
fn each_thread_has_its_queue() {
    let Some(network) = Network::new(2) else { return };
    let two = XdpOptions { threads: 2, ..Default::default() };
    let mut xdp = Xdp::open(&network.ports, &two).unwrap();
    let mut workers = xdp.workers();
    assert_eq!(workers.len(), 2);
    assert!(xdp.workers().is_empty());
    let wire = Wire::open("p0");
    (0..100).for_each(|number| wire.send(&network::udp(network.ports[0].mac(), 64, number, 26)));
    let end = Instant::now() + Duration::from_secs(2);
    let mut received = 0;
    while received < 100 && Instant::now() < end {
        received += workers.iter_mut().map(|io| io.receive(32).unwrap().len).sum::<usize>();
    }
    assert_eq!(received, 100);
    drop((xdp, workers));
    let xdp = Xdp::open(&network.ports, &XdpOptions::default()).unwrap();
    let warning = "r0: 2 queues for 1 thread: the kernel forwards the packets of the other queues";
    assert!(xdp.warnings()[0].starts_with(warning), "{:?}", xdp.warnings());
}

#[test]
fn errors_say_what_to_do() {
    let Some(network) = Network::new(1) else { return };
    let ports = &network.ports[..1];
    let message = |options: XdpOptions| Xdp::open(ports, &options).unwrap_err().to_string();
    assert_eq!(
        message(XdpOptions { threads: 3, ..Default::default() }),
        "r0: 1 queue for 3 threads, but each thread needs one of its own; use --threads 1, or add \
         queues by `ethtool -L r0 combined 3`"
    );
    let guard = Xdp::open(ports, &XdpOptions::default()).unwrap();
    for mode in [XdpMode::Auto, XdpMode::Native, XdpMode::Generic] {
        let message = message(options(mode));
        assert!(message.starts_with("r0: another XDP program is attached"), "{message}");
    }
    // The failed attempts left it alone.
    assert!(network::has_program("r0"));
    drop(guard);
    network::ip("link set r0 mtu 3000");
    assert_eq!(
        message(XdpOptions::default()),
        "r0: its MTU of 3000 bytes is too large for frames of 2048 bytes; lower it by `ip link set \
         r0 mtu 1778`, or use frames of 4096 bytes"
    );
    assert!(Xdp::open(ports, &XdpOptions { frame_size: 4096, ..Default::default() }).is_ok());
    network::ip("link set r0 mtu 1500");
    network::ip("link set r0 down");
    // It may come up later.
    assert!(Xdp::open(ports, &XdpOptions::default()).is_ok());
    network::ip("link del r0");
    assert_eq!(
        message(XdpOptions::default()),
        "there is no interface r0; `ip link` lists the interfaces of this machine"
    );
    assert!(!network::exists("longmatch0"));
}

#[test]
fn missing_rights_are_named() {
    let port = Port::new(PortId(0), "lo", 1, Default::default(), 1500);
    let nobody = 65_534;
    // Of this thread only, unlike the function of the C library.
    // SAFETY: a system call without pointers.
    unsafe { libc::syscall(libc::SYS_setresuid, nobody, nobody, nobody) };
    let error = Xdp::open(&[port.into()], &XdpOptions::default()).unwrap_err().to_string();
    let advice = "AF_XDP needs root, or the capabilities CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF";
    assert!(error.ends_with(advice), "{error}");
}
