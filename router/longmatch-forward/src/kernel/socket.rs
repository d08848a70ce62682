//! Sockets of rtnetlink: one for changes as they happen, one for dumps.

use std::os::fd::OwnedFd;
use std::time::Duration;

use netlink_packet_core::{NLM_F_DUMP, NLM_F_REQUEST, NetlinkBuffer};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::Protocol;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use rustix::net::{bind, recv, recvfrom, sendto, socket_with, sockopt};

use super::KernelError;
use super::decode::{AF_INET, AF_INET6, AF_UNSPEC, Decoded, End, decode, message};
use super::event::Event;

/// Multicast groups of rtnetlink: the bit of each is its number less 1.
const GROUPS: u32 = {
    const LINK: u32 = 1;
    const NEIGH: u32 = 3;
    const IPV4_IFADDR: u32 = 5;
    const IPV4_ROUTE: u32 = 7;
    const IPV6_IFADDR: u32 = 9;
    const IPV6_ROUTE: u32 = 11;
    const NEXTHOP: u32 = 32;
    let groups = [LINK, NEIGH, IPV4_IFADDR, IPV4_ROUTE, IPV6_IFADDR, IPV6_ROUTE, NEXTHOP];
    let (mut bits, mut i) = (0, 0);
    while i < groups.len() {
        bits |= 1 << (groups[i] - 1);
        i += 1;
    }
    bits
};

/// The least number of bytes for one datagram. The kernel fills at most 32 KiB with a dump; a route
/// with many hops may take more.
const DATAGRAM: usize = 256 << 10;

/// The receiver of changes.
pub(super) trait Changes: Send {
    /// Waits until something was received. False if nothing was before the timeout.
    fn wait(&self, timeout: Duration) -> Result<bool, KernelError>;

    /// Receives one datagram, without waiting.
    fn receive(&mut self) -> Result<Received, KernelError>;

    /// Drops one datagram. False if nothing is there.
    fn discard(&mut self) -> Result<bool, KernelError>;
}

/// The source of dumps.
pub(super) trait Dumps: Send {
    /// Hands the events of each datagram of a dump to `each`.
    fn dump(&mut self, dump: Dump, each: &mut Each<'_>) -> Result<DumpEnd, KernelError>;
}

/// The receiver of the events of a dump.
pub(super) type Each<'a> = dyn FnMut(Vec<Event>) -> Result<(), KernelError> + 'a;

/// A socket of rtnetlink, of the network namespace in which it was opened.
pub(super) struct Socket {
    fd: OwnedFd,
    buffer: Vec<u8>,
    sequence: u32,
}

/// The result of a receive.
pub(super) enum Received {
    /// Messages.
    Messages(Decoded),
    /// Nothing is there.
    Nothing,
    /// Messages were lost.
    Lost,
}

/// The end of a dump.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DumpEnd {
    Complete,
    /// The kernel's state changed meanwhile, so that the dump may be incomplete.
    Interrupted,
}

impl Socket {
    /// A socket that receives changes as they happen. The kernel keeps up to `bytes` of them.
    pub fn events(bytes: usize) -> Result<Self, KernelError> {
        let socket = Self::open(GROUPS)?;
        // Beyond the limit of the system, only an administrator may go.
        sockopt::set_socket_recv_buffer_size_force(&socket.fd, bytes)
            .or_else(|_| sockopt::set_socket_recv_buffer_size(&socket.fd, bytes))
            .map_err(|error| {
                KernelError::io("set the receive buffer of a netlink socket", error)
            })?;
        Ok(socket)
    }

    /// A socket for dumps.
    pub fn requests() -> Result<Self, KernelError> {
        Self::open(0)
    }

    fn open(groups: u32) -> Result<Self, KernelError> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let fd = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None)
            .map_err(|error| KernelError::io("open a netlink socket", error))?;
        bind(&fd, &SocketAddrNetlink::new(0, groups))
            .map_err(|error| KernelError::io("bind a netlink socket", error))?;
        Ok(Self { fd, buffer: vec![0; DATAGRAM], sequence: 0 })
    }

    fn wait_for(&self, timeout: Duration) -> Result<bool, KernelError> {
        let mut fds = [PollFd::new(&self.fd, PollFlags::IN)];
        let timeout = Timespec::try_from(timeout).ok();
        match poll(&mut fds, timeout.as_ref()) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(KernelError::io("wait for a netlink socket", error)),
        }
    }

    /// Receives one datagram, without waiting. With `sequence`, only messages with this number.
    fn receive_of(&mut self, sequence: Option<u32>) -> Result<Received, KernelError> {
        loop {
            // With `TRUNC`, the length is that of the datagram, even if it is cut off.
            let received = recvfrom(&self.fd, &mut self.buffer[..], RecvFlags::TRUNC);
            let (len, sender) = match received {
                Ok((_, len, sender)) => (len, sender),
                Err(Errno::AGAIN) => return Ok(Received::Nothing),
                Err(Errno::INTR) => continue,
                Err(Errno::NOBUFS) => return Ok(Received::Lost),
                Err(error) => return Err(KernelError::io("read a netlink socket", error)),
            };
            let sender = sender.and_then(|sender| SocketAddrNetlink::try_from(sender).ok());
            if sender.is_none_or(|sender| sender.pid() != 0) {
                // Not from the kernel: another process with the right to send to this socket.
                continue;
            }
            let Some(datagram) = self.buffer.get(..len) else {
                self.buffer.resize(len.next_power_of_two(), 0);
                return Ok(Received::Lost);
            };
            let decoded = decode(datagram, sequence);
            return Ok(match decoded.overrun {
                true => Received::Lost,
                false => Received::Messages(decoded),
            });
        }
    }
}

impl Changes for Socket {
    fn wait(&self, timeout: Duration) -> Result<bool, KernelError> {
        self.wait_for(timeout)
    }

    fn receive(&mut self) -> Result<Received, KernelError> {
        self.receive_of(None)
    }

    fn discard(&mut self) -> Result<bool, KernelError> {
        match recv(&self.fd, &mut self.buffer[..1], RecvFlags::TRUNC) {
            Ok(_) | Err(Errno::INTR | Errno::NOBUFS) => Ok(true),
            Err(Errno::AGAIN) => Ok(false),
            Err(error) => Err(KernelError::io("read a netlink socket", error)),
        }
    }
}

impl Dumps for Socket {
    fn dump(&mut self, dump: Dump, each: &mut Each<'_>) -> Result<DumpEnd, KernelError> {
        /// A kernel that says nothing for so long will not answer.
        const PATIENCE: Duration = Duration::from_secs(10);
        self.sequence = self.sequence.wrapping_add(1);
        let (sequence, request) = (self.sequence, dump.request(self.sequence));
        sendto(&self.fd, &request, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))
            .map_err(|error| KernelError::io(dump.what(), error))?;
        let mut end = DumpEnd::Complete;
        loop {
            let decoded = match self.receive_of(Some(sequence))? {
                Received::Messages(decoded) => decoded,
                Received::Lost => {
                    end = DumpEnd::Interrupted;
                    continue;
                }
                Received::Nothing if self.wait_for(PATIENCE)? => continue,
                Received::Nothing => return Err(KernelError::io(dump.what(), Errno::TIMEDOUT)),
            };
            if decoded.interrupted {
                end = DumpEnd::Interrupted;
            }
            each(decoded.events)?;
            match decoded.end {
                None => {}
                Some(End::Done) => return Ok(end),
                Some(End::Failed(code)) => return dump.failed(code, end),
            }
        }
    }
}

/// A socket for one dump of any protocol of netlink.
pub(super) struct Raw {
    fd: OwnedFd,
    buffer: Vec<u8>,
    what: &'static str,
}

impl Raw {
    /// `what` is the operation in errors.
    pub fn open(protocol: Option<Protocol>, what: &'static str) -> Result<Self, KernelError> {
        let fd =
            socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, protocol);
        let fd = fd.map_err(|error| KernelError::io(what, error))?;
        Ok(Self { fd, buffer: vec![0; DATAGRAM], what })
    }

    pub fn send(&self, request: &[u8]) -> Result<(), KernelError> {
        let sent = sendto(&self.fd, request, SendFlags::empty(), &SocketAddrNetlink::new(0, 0));
        sent.map(drop).map_err(|error| KernelError::io(self.what, error))
    }

    /// Waits for a datagram.
    pub fn receive(&mut self) -> Result<&[u8], KernelError> {
        let received = recv(&self.fd, &mut self.buffer[..], RecvFlags::empty());
        let (_, len) = received.map_err(|error| KernelError::io(self.what, error))?;
        Ok(&self.buffer[..len])
    }
}

/// A part of the kernel's state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Dump {
    Links,
    Addresses,
    NextHops,
    Neighbours,
    Ipv4Routes,
    Ipv6Routes,
}

impl Dump {
    /// All parts: routes after the next-hop objects that they name.
    pub const ALL: [Self; 6] = [
        Self::Links,
        Self::Addresses,
        Self::NextHops,
        Self::Neighbours,
        Self::Ipv4Routes,
        Self::Ipv6Routes,
    ];

    fn what(self) -> &'static str {
        match self {
            Self::Links => "list the interfaces",
            Self::Addresses => "list the addresses",
            Self::NextHops => "list the next-hop objects",
            Self::Neighbours => "list the neighbours",
            Self::Ipv4Routes => "list the IPv4 routes",
            Self::Ipv6Routes => "list the IPv6 routes",
        }
    }

    /// The message that requests it.
    fn request(self, sequence: u32) -> Vec<u8> {
        /// The length of `struct nlmsghdr`.
        const HEADER: usize = 16;
        // The lengths are those of the headers: `struct ifinfomsg`, `ifaddrmsg` and so on.
        let (kind, len, family) = match self {
            Self::Links => (message::GET_LINK, 16, AF_UNSPEC),
            Self::Addresses => (message::GET_ADDR, 8, AF_UNSPEC),
            Self::NextHops => (message::GET_NEXTHOP, 8, AF_UNSPEC),
            Self::Neighbours => (message::GET_NEIGH, 12, AF_UNSPEC),
            Self::Ipv4Routes => (message::GET_ROUTE, 12, AF_INET),
            Self::Ipv6Routes => (message::GET_ROUTE, 12, AF_INET6),
        };
        let mut bytes = vec![0; HEADER + len];
        bytes[HEADER] = family;
        let mut header = NetlinkBuffer::new(&mut bytes);
        header.set_length((HEADER + len) as u32);
        header.set_message_type(kind);
        header.set_flags(NLM_F_REQUEST | NLM_F_DUMP);
        header.set_sequence_number(sequence);
        bytes
    }

    /// The result of a dump that failed with this error number.
    fn failed(self, code: i32, end: DumpEnd) -> Result<DumpEnd, KernelError> {
        match (Errno::from_raw_os_error(code), self) {
            // The kernel was built without next-hop objects: there are none.
            (Errno::OPNOTSUPP, Self::NextHops) => Ok(end),
            (Errno::INTR | Errno::AGAIN | Errno::NOBUFS, _) => Ok(DumpEnd::Interrupted),
            (error, _) => Err(KernelError::io(self.what(), error)),
        }
    }
}
