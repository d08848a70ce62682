//! Packet I/O by DPDK, on devices that need no hardware.
//!
//! A process can start DPDK once, so each test runs in its own process: the test program, started
//! again with a variable set.
#![cfg(feature = "dpdk")]

use std::net::Ipv4Addr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use longmatch_forward::io::dpdk::{Dpdk, DpdkError, DpdkIo, DpdkOptions};
use longmatch_forward::io::{Generated, GeneratedFrames, Null, PacketIo};
use longmatch_forward::{Cause, Disposition, Fate, PacketCounts, PortId};

/// The variable that is set in the process of a test.
const CHILD: &str = "LONGMATCH_DPDK_TEST";

/// Runs the body of the test with this name in its own process.
fn in_own_process(name: &str, body: impl FnOnce()) {
    in_process(name, &[], body);
}

/// Runs the body of the test in a process that these words start, followed by the command.
fn in_process(name: &str, prefix: &[&str], body: impl FnOnce()) {
    if env::var_os(CHILD).is_some() {
        return body();
    }
    let program = env::current_exe().unwrap();
    let mut command = Command::new("env");
    command.arg(format!("{CHILD}={name}")).args(prefix).arg(program);
    command.args(["--exact", name, "--nocapture", "--include-ignored"]);
    let output = command.output().unwrap();
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    println!("{out}{err}");
    assert!(output.status.success(), "the process of {name} failed: {}", output.status);
    assert!(out.contains("1 passed"), "there is no test {name}");
}

fn open<const N: usize>(devices: [&str; N]) -> Result<Dpdk, DpdkError> {
    Dpdk::open(&DpdkOptions::new(devices))
}

/// The only worker.
fn worker(dpdk: &mut Dpdk) -> DpdkIo {
    let mut workers = dpdk.workers();
    assert_eq!(workers.len(), 1);
    assert!(dpdk.workers().is_empty(), "workers are there once");
    workers.pop().unwrap()
}

/// Gives all frames of a batch the same fate.
fn dispatch(io: &mut impl PacketIo, len: usize, fate: Fate, tally: &mut PacketCounts) {
    let fates = vec![fate; len];
    (0..len).for_each(|_| tally.count(PortId(0), 64, fate));
    io.dispatch(&fates, tally).unwrap();
}

#[test]
fn null_ports_receive_and_send() {
    in_own_process("null_ports_receive_and_send", || {
        let mut dpdk = open(["net_null0,size=64", "net_null1,size=128"]).unwrap();
        let ports = dpdk.ports();
        assert_eq!((&*ports[0].name, &*ports[1].name), ("net_null0", "net_null1"));
        assert_eq!((ports[1].id, ports[1].index, ports[1].mtu()), (PortId(1), 0, 1500));
        assert_ne!(ports[0].mac(), ports[1].mac());

        let mut io = worker(&mut dpdk);
        let mut tally = PacketCounts::default();
        // More than all buffers, so that a leak would end in empty batches.
        for turn in 0..1000_u16 {
            let batch = io.receive(32).unwrap();
            assert_eq!((batch.port, batch.len), (PortId(turn % 2), 32));
            assert_eq!(io.frame(31).len(), [64, 128][usize::from(turn % 2)]);
            io.frame(31).fill(turn as u8);
            let fate = match turn % 4 {
                0 | 1 => Fate::Transmit { port: PortId(1), len: 60 },
                2 => Fate::Stop(Cause::NotIp),
                _ => Fate::Stop(Cause::Blackhole),
            };
            dispatch(&mut io, batch.len, fate, &mut tally);
        }
        assert_eq!((tally.received, tally.forwarded), (32_000, 16_000));
        assert_eq!((tally.stopped(Cause::NotIp), tally.stopped(Cause::Blackhole)), (8_000, 8_000));
        assert_eq!((io.oversized(), io.is_ended()), (0, false));
        io.wait(Duration::from_secs(3600)).unwrap();
        assert_eq!(io.receive(usize::MAX).unwrap().len, 512, "a batch is limited");
    });
}

#[test]
fn odd_dispatches_lose_no_buffers() {
    in_own_process("odd_dispatches_lose_no_buffers", || {
        let mut dpdk = open(["net_null0,size=64"]).unwrap();
        let mut io = worker(&mut dpdk);
        let mut tally = PacketCounts::default();
        for _ in 0..1000 {
            // No dispatch at all; fewer fates than frames; more; a port that is not there.
            io.receive(32).unwrap();
            assert_eq!(io.receive(32).unwrap().len, 32);
            dispatch(&mut io, 7, Fate::Stop(Cause::NotIp), &mut tally);
            assert_eq!(io.receive(5).unwrap().len, 5);
            dispatch(&mut io, 32, Fate::Stop(Cause::NotIp), &mut tally);
            assert_eq!(io.receive(32).unwrap().len, 32);
            let nowhere = Fate::Transmit { port: PortId(9), len: 64 };
            dispatch(&mut io, 32, nowhere, &mut tally);
        }
        assert_eq!((tally.forwarded, tally.stopped(Cause::TransmitFull)), (0, 32_000));
        // A longer length than the frame's is cut.
        io.receive(1).unwrap();
        dispatch(&mut io, 1, Fate::Transmit { port: PortId(0), len: u16::MAX }, &mut tally);
        assert_eq!(tally.forwarded, 1);
        // After the last dispatch, there is no frame.
        assert!(catch_unwind(AssertUnwindSafe(|| io.frame(0).len())).is_err());
    });
}

#[test]
fn each_worker_has_queues_of_its_own() {
    in_own_process("each_worker_has_queues_of_its_own", || {
        let mut options = DpdkOptions::new(["net_null0,size=64", "net_null1,size=64"]);
        options.workers = 3;
        let mut dpdk = Dpdk::open(&options).unwrap();
        let workers = dpdk.workers();
        assert_eq!(workers.len(), 3);
        let ports = dpdk.ports();
        // The workers keep the ports open.
        drop(dpdk);
        let start = |(place, io): (usize, DpdkIo)| {
            let frames = GeneratedFrames::ipv4(&ports, (0..99).map(Ipv4Addr::from_bits)).unwrap();
            let mut io = Generated::new(io, frames.starting_at(place * 33));
            thread::spawn(move || {
                let mut tally = PacketCounts::default();
                for turn in 0..2000_usize {
                    let batch = io.receive(33).unwrap();
                    assert_eq!(batch.len, 33);
                    assert_eq!(usize::from(io.frame(0)[33]), (place + turn) % 3 * 33);
                    let fate = Fate::Transmit { port: PortId((turn % 2) as u16), len: 60 };
                    dispatch(&mut io, batch.len, fate, &mut tally);
                }
                tally
            })
        };
        let threads: Vec<_> = workers.into_iter().enumerate().map(start).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap().forwarded, 66_000);
        }
    });
}

/// A directory that is removed with this value.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Self {
        let path = env::temp_dir().join(format!("longmatch-dpdk-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A device that reads a capture in the directory and writes another.
    fn device(&self, number: usize, input: &str, output: &str) -> String {
        let [input, output] = [input, output].map(|name| self.file(name));
        format!("net_pcap{number},rx_pcap={},tx_pcap={}", input.display(), output.display())
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Writes a capture: the format of libpcap with microseconds, Ethernet.
fn write_capture(path: &Path, frames: &[Vec<u8>]) {
    let mut bytes = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65535, 1] {
        bytes.extend(word.to_le_bytes());
    }
    for (frame, second) in frames.iter().zip(1..) {
        for word in [second, 0, frame.len() as u32, frame.len() as u32] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(frame);
    }
    fs::write(path, bytes).unwrap();
}

/// The frames of a capture of this machine's byte order.
fn read_capture(path: &Path) -> Vec<Vec<u8>> {
    let bytes = fs::read(path).unwrap();
    let word = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let (mut at, mut frames) = (24, Vec::new());
    while at < bytes.len() {
        frames.push(bytes[at + 16..][..word(at + 8)].to_vec());
        at += 16 + word(at + 8);
    }
    frames
}

/// 300 frames of many lengths and of all kinds of bytes.
fn some_frames(seed: u8) -> Vec<Vec<u8>> {
    let frame = |i: usize| {
        let len = 14 + i * 37 % 1501;
        (0..len).map(|at| (at * 7 + i * 13) as u8 ^ seed).collect()
    };
    (0..300).map(frame).collect()
}

#[test]
fn captures_are_forwarded_unchanged() {
    in_own_process("captures_are_forwarded_unchanged", || {
        let directory = Directory::new();
        let [a, b] = [0, 0xff].map(some_frames);
        // Frames of several buffers are lost, and counted.
        let giants = [vec![1; 2049], vec![2; 9000]];
        write_capture(&directory.file("a.pcap"), &[&giants[..], &a].concat());
        write_capture(&directory.file("b.pcap"), &b);
        let devices = [
            directory.device(0, "a.pcap", "to_a.pcap"),
            directory.device(1, "b.pcap", "to_b.pcap"),
        ];
        let mut dpdk = Dpdk::open(&DpdkOptions::new(devices)).unwrap();
        let mut io = worker(&mut dpdk);
        let mut tally = PacketCounts::default();
        let end = Instant::now() + Duration::from_secs(20);
        while tally.received < 600 && Instant::now() < end {
            let batch = io.receive(32).unwrap();
            let port = PortId(1 - batch.port.0);
            let fates: Vec<_> = (0..batch.len)
                .map(|place| Fate::Transmit { port, len: io.frame(place).len() as u16 })
                .collect();
            for (place, &fate) in fates.iter().enumerate() {
                tally.count(batch.port, io.frame(place).len(), fate);
            }
            io.dispatch(&fates, &mut tally).unwrap();
        }
        assert_eq!((tally.received, tally.forwarded, io.oversized()), (600, 600, 2));
        drop((io, dpdk));
        assert!(read_capture(&directory.file("to_b.pcap")) == a);
        assert!(read_capture(&directory.file("to_a.pcap")) == b);
    });
}

#[test]
fn packets_for_the_kernel_go_to_its_device() {
    in_own_process("packets_for_the_kernel_go_to_its_device", || {
        let directory = Directory::new();
        let [received, from_kernel] = [0, 0xff].map(some_frames);
        write_capture(&directory.file("in.pcap"), &received);
        write_capture(&directory.file("from_kernel.pcap"), &from_kernel);
        let mut options =
            DpdkOptions::new(["net_null0".into(), directory.device(0, "in.pcap", "out.pcap")]);
        options.kernel = vec![
            "net_null1,no-rx=1".into(),
            directory.device(1, "from_kernel.pcap", "to_kernel.pcap"),
        ];
        let mut dpdk = Dpdk::open(&options).unwrap();
        assert_eq!(dpdk.ports().len(), 2);
        let mut io = worker(&mut dpdk);
        let (mut tally, mut expected) = (PacketCounts::default(), Vec::new());
        // Enough batches that all of the kernel's packets are relayed.
        for turn in 0..1000 {
            let batch = io.receive(32).unwrap();
            let cause = [Cause::NotIp, Cause::Martian, Cause::NoRoute][turn % 3];
            if batch.port == PortId(1) && cause.outcome() == Disposition::Kernel {
                expected.extend((0..batch.len).map(|place| io.frame(place).to_vec()));
            }
            dispatch(&mut io, batch.len, Fate::Stop(cause), &mut tally);
        }
        assert!((100..300).contains(&expected.len()));
        assert_eq!(
            tally.with(Disposition::Kernel) + tally.with(Disposition::Dropped),
            tally.received
        );
        assert_eq!(tally.stopped(Cause::KernelFull), 0);
        drop((io, dpdk));
        assert!(read_capture(&directory.file("to_kernel.pcap")) == expected);
        assert!(read_capture(&directory.file("out.pcap")) == from_kernel);
    });
}

#[test]
fn the_kernel_answers_by_a_tap_interface() {
    if cannot_create("TAP interfaces", "tuntap add lm0 mode tap") {
        return;
    }
    in_process("the_kernel_answers_by_a_tap_interface", &["unshare", "-n"], || {
        let directory = Directory::new();
        // Who has 10.9.0.1? Tell 10.9.0.2, which is 02:00:00:00:00:99.
        let (asker, address, asking) = ([2, 0, 0, 0, 0, 0x99], [10, 9, 0, 1], [10, 9, 0, 2]);
        let arp = [8, 6, 0, 1, 8, 0, 6, 4, 0, 1];
        let mut request =
            [&[0xff; 6][..], &asker, &arp, &asker, &asking, &[0; 6], &address].concat();
        request.resize(60, 0);
        write_capture(&directory.file("in.pcap"), &[request.clone(), request]);
        let mut options = DpdkOptions::new([directory.device(0, "in.pcap", "out.pcap")]);
        options.kernel = vec!["net_tap0,iface=port0".into()];
        let mut dpdk = Dpdk::open(&options).unwrap();
        let port = dpdk.ports().remove(0);
        assert_eq!((port.index.to_string(), port.mac().to_string()), interface("port0"));
        assert!(succeeds("ip addr add 10.9.0.1/24 dev port0"));

        let mut io = worker(&mut dpdk);
        let mut tally = PacketCounts::default();
        assert_eq!(io.receive(1).unwrap().len, 1);
        dispatch(&mut io, 1, Fate::Stop(Cause::NotIp), &mut tally);
        let is_reply = |frame: &Vec<u8>| frame[12..14] == [8, 6] && frame[20..22] == [0, 2];
        // An interface that is down takes no packets.
        thread::sleep(Duration::from_millis(200));
        // The first says that there is time, the second looks for the answer.
        (0..2).for_each(|_| assert_eq!(io.receive(0).unwrap().len, 0));
        assert!(succeeds("ip link set port0 down"));
        let end = Instant::now() + Duration::from_secs(10);
        while io.receive(1).unwrap().len == 0 {
            assert!(Instant::now() < end);
        }
        dispatch(&mut io, 1, Fate::Stop(Cause::NotIp), &mut tally);
        assert_eq!((tally.stopped(Cause::NotIp), tally.stopped(Cause::KernelFull)), (1, 1));
        drop((io, dpdk));

        let replies: Vec<_> =
            read_capture(&directory.file("out.pcap")).into_iter().filter(is_reply).collect();
        assert_eq!(replies.len(), 1);
        assert_eq!((&replies[0][..6], &replies[0][6..12]), (&asker[..], &port.mac().0[..]));
        assert_eq!(replies[0][28..32], address);
    });
}

#[test]
fn each_worker_has_a_queue_to_the_kernel() {
    if cannot_create("TAP interfaces", "tuntap add lm0 mode tap") {
        return;
    }
    in_process("each_worker_has_a_queue_to_the_kernel", &["unshare", "-n"], || {
        let mut options = DpdkOptions::new(["net_null0,size=64"]);
        options.kernel = vec!["net_tap0,iface=port0".into()];
        options.workers = 2;
        let mut dpdk = Dpdk::open(&options).unwrap();
        let mut tally = PacketCounts::default();
        for mut io in dpdk.workers() {
            assert_eq!(io.receive(8).unwrap().len, 8);
            dispatch(&mut io, 8, Fate::Stop(Cause::NotIp), &mut tally);
        }
        assert_eq!((tally.stopped(Cause::NotIp), tally.stopped(Cause::KernelFull)), (16, 0));
    });
}

/// Whether a namespace with such interfaces cannot be created. Then it says that the test is skipped.
fn cannot_create(what: &str, ip: &str) -> bool {
    let cannot = env::var_os(CHILD).is_none() && !succeeds(&format!("unshare -n ip {ip}"));
    if cannot {
        eprintln!("skipped: no right to create network namespaces and {what}");
    }
    cannot
}

/// Runs a program; whether it succeeded.
fn succeeds(command: &str) -> bool {
    let mut words = command.split(' ');
    let output = Command::new(words.next().unwrap()).args(words).output();
    output.is_ok_and(|output| output.status.success())
}

#[test]
fn packet_sockets_carry_frames_between_interfaces() {
    if cannot_create("veth interfaces", "link add lm0 type veth peer name lm1") {
        return;
    }
    in_process("packet_sockets_carry_frames_between_interfaces", &["unshare", "-n"], || {
        for command in [
            "ip link add lm0 type veth peer name lm1",
            "ip link set lm0 addrgenmode none up",
            "ip link set lm1 addrgenmode none up",
        ] {
            assert!(succeeds(command), "{command}");
        }
        let devices = ["net_null0,size=64", "net_af_packet0,iface=lm0", "net_af_packet1,iface=lm1"];
        let mut dpdk = open(devices).unwrap();
        let ports = dpdk.ports();
        for (port, name) in [(&ports[1], "lm0"), (&ports[2], "lm1")] {
            assert_eq!((port.index.to_string(), port.mac().to_string()), interface(name));
        }
        let received = send_and_receive(worker(&mut dpdk));
        assert_eq!(received.len(), 50);
        for (i, frame) in received.iter().enumerate() {
            assert_eq!((frame.len(), usize::from(frame[33])), (60, i), "cut, and in order");
        }
    });
}

/// Overwrites 50 frames of port 0, sends them by port 1, and returns what port 2 receives.
fn send_and_receive(mut io: DpdkIo) -> Vec<Vec<u8>> {
    let (mut tally, mut received) = (PacketCounts::default(), Vec::new());
    let end = Instant::now() + Duration::from_secs(10);
    while received.len() < 50 && Instant::now() < end {
        let batch = io.receive(50).unwrap();
        let mut fate = Fate::Stop(Cause::NotIp);
        if batch.port == PortId(0) && tally.forwarded == 0 {
            let destinations = (0..50).map(Ipv4Addr::from_bits);
            let frames = GeneratedFrames::ipv4(&Null::ports(1), destinations).unwrap();
            let mut source = Generated::new(Null::new(1, 60), frames);
            source.receive(50).unwrap();
            for place in 0..50 {
                io.frame(place)[..60].copy_from_slice(source.frame(place));
            }
            fate = Fate::Transmit { port: PortId(1), len: 60 };
        }
        if batch.port == PortId(2) {
            received.extend((0..batch.len).map(|place| io.frame(place).to_vec()));
        }
        dispatch(&mut io, batch.len, fate, &mut tally);
    }
    assert_eq!(tally.forwarded, 50);
    received
}

/// The number and the MAC address of an interface.
fn interface(name: &str) -> (String, String) {
    // `/sys` shows the interfaces of the namespace in which it was mounted; hence `ip`.
    let output = Command::new("ip").args(["-o", "link", "show", name]).output().unwrap();
    let line = String::from_utf8(output.stdout).unwrap();
    let mut words = line.split_whitespace();
    let index = words.next().unwrap().trim_end_matches(':').to_owned();
    let mac = words.skip_while(|&word| word != "link/ether").nth(1).unwrap();
    (index, mac.to_owned())
}

#[test]
fn dpdk_is_opened_once() {
    in_own_process("dpdk_is_opened_once", || {
        // Options that are refused before DPDK starts do not count.
        assert!(matches!(open([]), Err(DpdkError::BadOption { option: "devices", .. })));
        let dpdk = open(["net_null0"]).unwrap();
        let error = open(["net_null1"]).unwrap_err();
        assert!(matches!(error, DpdkError::AlreadyOpened));
        assert_eq!(error.to_string(), "DPDK was opened before; a process can open it only once");
        drop(dpdk);
        assert!(matches!(open(["net_null1"]), Err(DpdkError::AlreadyOpened)));
    });
}

#[test]
fn threads_keep_their_cpus() {
    in_own_process("threads_keep_their_cpus", || {
        let before = thread::available_parallelism().unwrap();
        let dpdk = open(["net_null0"]).unwrap();
        assert_eq!(thread::available_parallelism().unwrap(), before);
        drop(dpdk);
    });
}

/// Opens a device and expects that it fails at this step; one before it must be closed.
fn assert_fails(expected: &str, device: &str) {
    match open(["net_null7", device]).unwrap_err() {
        DpdkError::Device { device: failed, step, error } => {
            assert_eq!((&*failed, step), (device, expected), "{error}");
        }
        error => panic!("{error}"),
    }
}

#[test]
fn unknown_devices_are_errors() {
    in_own_process("unknown_devices_are_errors", || assert_fails("find", "net_nothing0,size=64"));
}

#[test]
fn bad_arguments_of_a_device_are_errors() {
    in_own_process("bad_arguments_of_a_device_are_errors", || {
        assert_fails("find", "net_null0,length=64");
    });
}

#[test]
fn missing_captures_are_errors() {
    in_own_process("missing_captures_are_errors", || {
        assert_fails("find", "net_pcap0,rx_pcap=/nonexistent/a.pcap,tx_pcap=/nonexistent/b.pcap");
    });
}

#[test]
fn missing_interfaces_are_errors() {
    in_own_process("missing_interfaces_are_errors", || {
        assert_fails("find", "net_af_packet0,iface=nonexistent0");
    });
}

#[test]
fn missing_pci_devices_are_errors() {
    in_own_process("missing_pci_devices_are_errors", || assert_fails("find", "ffff:ff:1f.7"));
}

#[test]
fn bad_arguments_of_the_environment_are_errors() {
    in_own_process("bad_arguments_of_the_environment_are_errors", || {
        let mut options = DpdkOptions::new(["net_null0"]);
        options.eal = vec!["--no-such-argument".into()];
        let error = Dpdk::open(&options).unwrap_err();
        assert!(matches!(error, DpdkError::Environment(_)), "{error}");
    });
}

#[test]
fn too_few_transmit_queues_are_an_error() {
    in_own_process("too_few_transmit_queues_are_an_error", || {
        let directory = Directory::new();
        write_capture(&directory.file("in.pcap"), &[]);
        let mut options = DpdkOptions::new([directory.device(0, "in.pcap", "out.pcap")]);
        options.workers = 2;
        let error = Dpdk::open(&options).unwrap_err();
        assert!(matches!(error, DpdkError::Queues { queues: 1, workers: 2, .. }), "{error}");
    });
}

#[test]
fn too_little_memory_is_an_error() {
    in_own_process("too_little_memory_is_an_error", || {
        let mut options = DpdkOptions::new(["net_null0"]);
        (options.memory_mib, options.descriptors) = (16, 32768);
        let error = Dpdk::open(&options).unwrap_err();
        assert!(matches!(error, DpdkError::Pool { .. }), "{error}");
    });
}

/// Prints rates: `cargo test --release --features dpdk --test dpdk -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn rates() {
    in_own_process("rates", || {
        let mut dpdk = open(["net_null0,size=64", "net_null1,size=64"]).unwrap();
        let ports = dpdk.ports();
        let mut io = worker(&mut dpdk);
        let transmit = Fate::Transmit { port: PortId(1), len: 60 };
        print_rate("received and freed", &mut io, Fate::Stop(Cause::NotIp));
        // Slower unless DPDK takes the thread for one of its own.
        let io = thread::spawn(move || {
            print_rate("received and freed in a new thread", &mut io, Fate::Stop(Cause::NotIp));
            io
        });
        let mut io = io.join().unwrap();
        print_rate("received and sent", &mut io, transmit);
        let destinations = (0..1 << 16).map(|i: u32| Ipv4Addr::from_bits(i * 65_521));
        let frames = GeneratedFrames::ipv4(&ports, destinations).unwrap();
        let mut io = Generated::new(io, frames.clone());
        print_rate("received, generated and sent", &mut io, transmit);
        let mut io = Generated::new(Null::new(2, 60), frames);
        print_rate("generated without DPDK", &mut io, transmit);
    });
}

/// Prints the best rate of five runs.
fn print_rate(name: &str, io: &mut impl PacketIo, fate: Fate) {
    let (fates, mut tally) = ([fate; 32], PacketCounts::default());
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        for _ in 0..500_000 {
            let batch = io.receive(32).unwrap();
            assert_eq!(batch.len, 32);
            io.dispatch(&fates, &mut tally).unwrap();
        }
        best = best.min(start.elapsed());
    }
    println!("{name}: {:.1} million packets a second", 16.0 / best.as_secs_f64());
}
