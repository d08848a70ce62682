//! Networks to test packet I/O in: namespaces with pairs of virtual interfaces, and raw sockets that
//! send and receive frames at their outer ends.

mod wire;

use std::fs;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use longmatch_forward::io::xdp::{Xdp, XdpError, XdpOptions};
use longmatch_forward::{Mac, Port, PortId};
use wire::index;
pub use wire::{Wire, ip};

/// The host behind the first interface, 10.0.1.2, and the one behind the second, 10.0.2.2.
pub const HOSTS: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 0, 1, 2), Ipv4Addr::new(10, 0, 2, 2)];
/// The addresses of the router in the hosts' networks.
pub const ROUTER: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 0, 1, 1), Ipv4Addr::new(10, 0, 2, 1)];
/// The hosts' Ethernet addresses, which no interface has.
pub const HOST_MACS: [Mac; 2] = [Mac([2, 0, 0, 0, 1, 2]), Mac([2, 0, 0, 0, 2, 2])];

/// A network namespace for the calling thread, with two pairs of interfaces: `r0` and `r1` are the
/// router's, `p0` and `p1` their outer ends.
pub struct Network {
    pub ports: Vec<Arc<Port>>,
    _alone: MutexGuard<'static, ()>,
}

/// Held by a test from its start to its end: for a moment, the programs that it starts have copies of
/// all descriptors, and so of other tests' sockets.
static ALONE: Mutex<()> = Mutex::new(());

impl Network {
    /// `None`, after saying why aloud, if this process may not make one.
    pub fn new(queues: usize) -> Option<Self> {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: a system call without pointers.
        let unshared = unsafe { libc::unshare(libc::CLONE_NEWNET) };
        if unshared != 0 {
            return skip(&format!("no network namespace: {}", io::Error::last_os_error()));
        }
        if let Err(error) = Command::new("ip").arg("-V").output() {
            return skip(&format!("no `ip`: {error}"));
        }
        if !fs::exists("/dev/net/tun").unwrap_or(false) {
            return skip("no /dev/net/tun");
        }
        let _ = fs::write("/proc/sys/net/ipv4/conf/all/rp_filter", "0");
        for path in ["ipv4/ip_forward", "ipv6/conf/all/forwarding"] {
            let _ = fs::write(format!("/proc/sys/net/{path}"), "1");
        }
        // No traffic but the tests' own.
        let _ = fs::write("/proc/sys/net/ipv6/conf/default/addr_gen_mode", "1");
        ip("link set lo up");
        let ports: Vec<_> = (0..2).map(|place| port(place, queues)).collect();
        match Xdp::open(&ports, &XdpOptions::default()) {
            Err(error @ XdpError::Permission { .. }) => skip(&error.to_string()),
            Err(XdpError::System { action, source })
                if source.raw_os_error() == Some(libc::EAFNOSUPPORT) =>
            {
                skip(&format!("cannot {action}: {source}"))
            }
            // Other errors are the tests' to find.
            _ => Some(Self { ports, _alone }),
        }
    }
}

fn skip<T>(reason: &str) -> Option<T> {
    // The test harness hides what `eprintln!` writes.
    let _ = writeln!(io::stderr(), "skipped: a test of AF_XDP: {reason}");
    None
}

fn port(place: usize, queues: usize) -> Arc<Port> {
    let (name, outer) = (format!("r{place}"), format!("p{place}"));
    let count = format!("numtxqueues {queues} numrxqueues {queues}");
    ip(&format!("link add {name} {count} type veth peer name {outer} {count}"));
    ip(&format!("link set {outer} up"));
    ip(&format!("link set {name} up"));
    ip(&format!("addr add {}/24 dev {name}", ROUTER[place]));
    ip(&format!("addr add fd00:{place}::1/64 dev {name} nodad"));
    ip(&format!("neigh add {} lladdr {} dev {name} nud permanent", HOSTS[place], HOST_MACS[place]));
    ip(&format!("neigh add fd00:{place}::2 lladdr {} dev {name}", HOST_MACS[place]));
    let mac = mac(&name);
    let id = PortId(place as u16);
    Arc::new(Port::new(id, name.clone(), index(&name), mac, 1500))
}

/// Whether there is an interface of this name.
pub fn exists(name: &str) -> bool {
    Command::new("ip").args(["link", "show", name]).output().unwrap().status.success()
}

/// Whether an XDP program is attached.
pub fn has_program(name: &str) -> bool {
    ip(&format!("-d link show {name}")).contains("prog/xdp")
}

fn mac(name: &str) -> Mac {
    let text = ip(&format!("-o link show {name}"));
    let address = text.split("link/ether ").nth(1).unwrap().split(' ').next().unwrap();
    let mut bytes = address.split(':').map(|byte| u8::from_str_radix(byte, 16).unwrap());
    Mac(std::array::from_fn(|_| bytes.next().unwrap()))
}

fn ethernet(to: Mac, from: Mac, ethertype: u16) -> Vec<u8> {
    [&to.0[..], &from.0, &ethertype.to_be_bytes()].concat()
}

/// The Internet checksum.
fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|two| u16::from_be_bytes([two[0], *two.get(1).unwrap_or(&0)]));
    let sum: u32 = words.map(u32::from).sum();
    let folded = (sum >> 16) + (sum & 0xffff);
    !((folded >> 16) + (folded & 0xffff)) as u16
}

/// A frame with an IPv4 packet.
pub fn ipv4(
    to: Mac,
    (source, destination): (Ipv4Addr, Ipv4Addr),
    (protocol, ttl): (u8, u8),
    payload: &[u8],
) -> Vec<u8> {
    let mut header = [0; 20];
    header[0] = 0x45;
    header[2..4].copy_from_slice(&(20 + payload.len() as u16).to_be_bytes());
    header[8..10].copy_from_slice(&[ttl, protocol]);
    header[12..16].copy_from_slice(&source.octets());
    header[16..].copy_from_slice(&destination.octets());
    let sum = checksum(&header);
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    [&ethernet(to, HOST_MACS[0], 0x0800)[..], &header, payload].concat()
}

/// A frame from the first host to the second, with a UDP packet whose payload starts with a number.
pub fn udp(to: Mac, ttl: u8, number: u32, length: usize) -> Vec<u8> {
    let mut payload = vec![0; length];
    payload.iter_mut().enumerate().for_each(|(place, byte)| *byte = place as u8);
    payload[..4].copy_from_slice(&number.to_be_bytes());
    // A checksum of 0 is none.
    let header = [7_u16, 9, 8 + length as u16, 0].map(u16::to_be_bytes).concat();
    ipv4(to, (HOSTS[0], HOSTS[1]), (17, ttl), &[header, payload].concat())
}

/// A frame from the first host with an ICMP echo request.
pub fn ping(to: Mac, destination: Ipv4Addr) -> Vec<u8> {
    let mut message = [8, 0, 0, 0, 0, 1, 0, 1];
    let sum = checksum(&message);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    ipv4(to, (HOSTS[0], destination), (1, 64), &message)
}

/// A frame from the first host to the second with the header of an IPv6 packet of UDP.
pub fn ipv6(to: Mac, hop_limit: u8) -> Vec<u8> {
    let mut header = [0; 40];
    header[0] = 0x60;
    header[6..8].copy_from_slice(&[17, hop_limit]);
    let address = |place| std::net::Ipv6Addr::new(0xfd00, place, 0, 0, 0, 0, 0, 2).octets();
    header[8..24].copy_from_slice(&address(0));
    header[24..].copy_from_slice(&address(1));
    [&ethernet(to, HOST_MACS[0], 0x86dd)[..], &header].concat()
}

/// An ARP request of the first host for an address of the router.
pub fn arp(address: Ipv4Addr) -> Vec<u8> {
    let question = [0, 1, 8, 0, 6, 4, 0, 1];
    let sender = [&HOST_MACS[0].0[..], &HOSTS[0].octets()].concat();
    let target = [&[0; 6][..], &address.octets()].concat();
    let everyone = Mac([0xff; 6]);
    [&ethernet(everyone, HOST_MACS[0], 0x0806)[..], &question, &sender, &target].concat()
}

/// The type of the ICMP message in a frame, if it has one.
pub fn icmp_type(frame: &[u8]) -> Option<u8> {
    match (frame.get(12..14)?, frame.get(14)?) {
        ([0x08, 0x00], 0x45) if *frame.get(23)? == 1 => frame.get(34).copied(),
        ([0x86, 0xdd], _) if *frame.get(20)? == 58 => frame.get(54).copied(),
        _ => None,
    }
}

/// The number in a frame that [`udp`] made.
pub fn number(frame: &[u8]) -> Option<u32> {
    let is_udp = frame.get(12..14)? == [0x08, 0x00] && *frame.get(23)? == 17;
    let bytes = frame.get(42..46)?.try_into().ok()?;
    is_udp.then_some(u32::from_be_bytes(bytes))
}
