//! A router between two hosts: three network namespaces, joined by pairs of virtual interfaces.
//!
//! ```text
//!   host A                      router                      host B
//!   ea 10.0.1.2 ----------- ra 10.0.1.1
//!      2001:db8:1::2           2001:db8:1::1
//!                           rb 10.0.2.1 ----------- eb 10.0.2.2
//!                              2001:db8:2::1           2001:db8:2::2
//! ```
//!
//! Beside each host are neighbours that no machine has: the router knows their Ethernet addresses,
//! and what it sends to them is seen by the raw sockets at the hosts' interfaces only.

use std::fs;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};

use super::wire::{self, Wire};
use crate::common::{Ended, program};
use crate::frames::Mac;

/// A network namespace, which ends with the value.
pub struct Space(OwnedFd);

impl Space {
    fn new() -> io::Result<Self> {
        let work = || {
            // SAFETY: file descriptors stay shared with the other threads; only the network is new.
            unsafe { unshare_unsafe(UnshareFlags::NEWNET) }?;
            Ok(Self(fs::File::open("/proc/thread-self/ns/net")?.into()))
        };
        thread::scope(|scope| scope.spawn(work).join()).expect("the thread does not panic")
    }

    /// Runs something in a thread of this namespace. Its sockets and processes stay there.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let inside = || {
            move_into_link_name_space(self.0.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
            work()
        };
        let ended = thread::scope(|scope| scope.spawn(inside).join());
        ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// Runs `ip` with these words, and returns what it prints.
    pub fn ip(&self, words: &str) -> String {
        self.run(|| wire::ip(words))
    }

    /// Whether `ip` succeeds with these words.
    pub fn try_ip(&self, words: &str) -> bool {
        let quiet = || Command::new("ip").args(words.split(' ')).stderr(Stdio::null()).status();
        self.run(quiet).is_ok_and(|status| status.success())
    }

    /// `ip` as it runs the commands of its standard input, one after another.
    pub fn commands(&self) -> Child {
        let mut command = Command::new("ip");
        command.args(["-o", "-force", "-batch", "-"]).stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        self.run(|| command.spawn()).unwrap()
    }

    /// Runs many commands of `ip` at once, some of which may fail.
    pub fn answers(&self, commands: &str) -> Output {
        let mut child = self.commands();
        let mut pipe = child.stdin.take().unwrap();
        thread::scope(|scope| {
            scope.spawn(move || pipe.write_all(commands.as_bytes()).unwrap());
            child.wait_with_output().unwrap()
        })
    }

    /// Runs many commands of `ip` at once, all of which succeed.
    pub fn batch(&self, commands: &str) {
        let output = self.answers(commands);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Sets a value below `/proc/sys/net`.
    pub fn set(&self, path: &str, value: &str) {
        self.run(|| fs::write(format!("/proc/sys/net/{path}"), value)).unwrap();
    }

    /// A raw socket of an interface.
    pub fn wire(&self, interface: &str) -> Wire {
        self.run(|| Wire::open(interface))
    }

    /// The namespace as `ip` takes it.
    fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
    }
}

/// The router's Ethernet addresses.
pub const ROUTER: [Mac; 2] = [[2, 0, 0, 0, 1, 1], [2, 0, 0, 0, 2, 1]];
/// The hosts' Ethernet addresses.
pub const HOSTS: [Mac; 2] = [[2, 0, 0, 0, 1, 2], [2, 0, 0, 0, 2, 2]];

/// The number of neighbours beside each host.
pub const NEIGHBOURS: u8 = 4;

/// The Ethernet address of a neighbour beside host `host`.
pub fn neighbour(host: u8, number: u8) -> Mac {
    [2, 0, 0, 0, 1 + host, 100 + number]
}

/// The IPv4 address of a neighbour, as text.
pub fn neighbour4(host: u8, number: u8) -> String {
    format!("10.0.{}.{}", 1 + host, 100 + number)
}

/// The IPv6 address of a neighbour, as text.
pub fn neighbour6(host: u8, number: u8) -> String {
    format!("2001:db8:{}::{}", 1 + host, 100 + number)
}

/// An Ethernet address as text.
pub fn text(mac: Mac) -> String {
    mac.map(|byte| format!("{byte:02x}")).join(":")
}

/// The three machines.
pub struct Net {
    pub a: Space,
    pub router: Space,
    pub b: Space,
    _alone: MutexGuard<'static, ()>,
}

/// Held by a test from its start to its end: tests check times, and machines have few cores.
static ALONE: Mutex<()> = Mutex::new(());

impl Net {
    /// `None`, after saying why aloud, if this machine or this process's rights do not permit it.
    pub fn new(test: &str) -> Option<Self> {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let net = Self::make(alone);
        if let Err(reason) = &net {
            // The test harness hides what `eprintln!` writes.
            let _ = writeln!(io::stderr(), "skipped: {test}: {reason}");
        }
        net.ok()
    }

    fn make(_alone: MutexGuard<'static, ()>) -> Result<Self, String> {
        let space = || Space::new().map_err(|error| format!("no network namespace: {error}"));
        let net = Self { a: space()?, router: space()?, b: space()?, _alone };
        if let Err(error) = Command::new("ip").arg("-V").output() {
            return Err(format!("no `ip`: {error}"));
        }
        if !fs::exists("/dev/net/tun").unwrap_or(false) {
            return Err("no /dev/net/tun".to_owned());
        }
        net.settings();
        for (host, space) in [(0, &net.a), (1, &net.b)] {
            net.link(host, space)?;
        }
        let ended = net.program(&["-i", "ra", "rb", "--seconds", "0.01"]);
        let missing = ["AF_XDP needs root", "Address family not supported"];
        match missing.iter().any(|text| ended.code != 0 && ended.stderr.contains(text)) {
            true => Err(ended.stderr.trim().to_owned()),
            // Other errors are the tests' to find.
            false => Ok(net),
        }
    }

    /// Settings before there are interfaces, which take them over.
    fn settings(&self) {
        for space in [&self.a, &self.router, &self.b] {
            // No traffic but the tests' own.
            space.set("ipv6/conf/default/addr_gen_mode", "1");
            space.set("ipv6/conf/default/accept_ra", "0");
            // An answer for each packet that asks for one.
            space.set("ipv4/icmp_ratemask", "0");
            space.set("ipv6/icmp/ratelimit", "0");
            for name in ["all", "default"] {
                space.set(&format!("ipv4/conf/{name}/rp_filter"), "0");
            }
            space.ip("link set lo up");
        }
        self.router.set("ipv4/ip_forward", "1");
        self.router.set("ipv6/conf/all/forwarding", "1");
    }

    /// Joins a host and the router, with the router's neighbours on that link.
    pub fn link(&self, host: u8, space: &Space) -> Result<(), String> {
        let name = ["a", "b"][usize::from(host)];
        let [inner, outer] = [ROUTER, HOSTS].map(|macs| text(macs[usize::from(host)]));
        let peer = format!("peer name e{name} address {outer} netns {}", space.path());
        if !self.router.try_ip(&format!("link add r{name} address {inner} type veth {peer}")) {
            return Err("`ip` makes no pair of virtual interfaces (veth)".to_owned());
        }
        let net = host + 1;
        space.ip(&format!("link set e{name} up"));
        space.ip(&format!("addr add 10.0.{net}.2/24 dev e{name}"));
        space.ip(&format!("addr add 2001:db8:{net}::2/64 dev e{name} nodad"));
        space.ip(&format!("route add default via 10.0.{net}.1"));
        space.ip(&format!("-6 route add default via 2001:db8:{net}::1"));
        self.router.ip(&format!("link set r{name} up"));
        self.addresses(host);
        Ok(())
    }

    /// Gives the router its addresses and static neighbours on a link, which it loses when the link
    /// goes down.
    pub fn addresses(&self, host: u8) {
        let (name, net) = (["ra", "rb"][usize::from(host)], host + 1);
        self.router.ip(&format!("addr replace 10.0.{net}.1/24 dev {name}"));
        // Without an address of the link, the kernel asks for no Ethernet addresses.
        for address in ["fe80::1/64", &format!("2001:db8:{net}::1/64")] {
            self.router.ip(&format!("addr replace {address} dev {name} nodad"));
        }
        for number in 0..NEIGHBOURS {
            let mac = text(neighbour(host, number));
            for address in [neighbour4(host, number), neighbour6(host, number)] {
                self.router.ip(&format!("neigh replace {address} lladdr {mac} dev {name}"));
            }
        }
    }

    /// Runs the binary on the router until it ends.
    pub fn program(&self, args: &[&str]) -> Ended {
        self.router.run(|| program(args).output()).unwrap().into()
    }
}
