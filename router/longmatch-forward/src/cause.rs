//! The fates of packets, and their counts by cause.

use crate::count::Count;
use crate::target::PortId;

macro_rules! causes {
    ($($(#[$doc:meta])* $cause:ident = $name:literal $outcome:ident,)*) => {
        /// The reason why a packet was not forwarded.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Cause {
            $(#[doc = concat!("`", $name, "`: ")] $(#[$doc])* $cause,)*
        }

        impl Cause {
            /// Every cause: those of packets that go to the kernel, then those of drops.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$cause),*];

            /// The name in output, such as `ttl_expired`.
            pub fn name(self) -> &'static str {
                match self { $(Self::$cause => $name,)* }
            }

            /// The outcome for such packets.
            pub fn outcome(self) -> Disposition {
                match self { $(Self::$cause => Disposition::$outcome,)* }
            }
        }
    };
}

/// The outcome for a packet that is not forwarded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Disposition {
    /// The kernel handles it.
    Kernel,
    /// It is dropped.
    Dropped,
}

causes! {
    /// neither IPv4 nor IPv6: ARP, VLAN tags and so on.
    NotIp = "not_ip" Kernel,
    /// for a group of hosts, by its Ethernet or IP address.
    Multicast = "multicast" Kernel,
    /// from or to an address that is valid on one link only.
    LinkLocal = "link_local" Kernel,
    /// with IPv4 options or IPv6 hop-by-hop options, which routers read.
    Options = "options" Kernel,
    /// with an expired TTL or hop limit: the kernel answers with an ICMP error.
    TtlExpired = "ttl_expired" Kernel,
    /// larger than the MTU of the port: the kernel fragments it or answers with an ICMP error.
    TooBig = "too_big" Kernel,
    /// for an address of this machine.
    Local = "local" Kernel,
    /// for a neighbour whose Ethernet address is unknown: the kernel asks for it.
    Unresolved = "unresolved" Kernel,
    /// for a neighbour whose Ethernet address the kernel no longer relies on: one packet a second, with which the kernel
    /// asks the neighbour.
    Stale = "stale" Kernel,
    /// without a route: the kernel answers with an ICMP error.
    NoRoute = "no_route" Kernel,
    /// with a route that only the kernel serves.
    KernelRoute = "kernel_route" Kernel,
    /// for the Ethernet address of another host.
    OtherHost = "other_host" Dropped,
    /// shorter than its headers, or than the length that they state.
    Truncated = "truncated" Dropped,
    /// with a version or header length that its protocol does not have.
    BadHeader = "bad_header" Dropped,
    /// with a wrong IPv4 header checksum.
    BadChecksum = "bad_checksum" Dropped,
    /// from or to an address that no packet on a link may have, such as 127.0.0.1.
    Martian = "martian" Dropped,
    /// with a route that discards packets.
    Blackhole = "blackhole" Dropped,
    /// more packets than a port's transmit queue holds.
    TransmitFull = "transmit_full" Dropped,
    /// more packets than the queue to the kernel holds, or none of the kernel's packets at all.
    KernelFull = "kernel_full" Dropped,
}

/// The forwarder's decision about a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// Send the first `len` bytes of the frame by this port. The headers are rewritten; bytes after
    /// the IP packet are Ethernet padding.
    Transmit {
        /// The port.
        port: PortId,
        /// Bytes of the frame.
        len: u16,
    },
    /// Hand it to the kernel, or drop it, by [`Cause::outcome`]. The frame is unchanged.
    Stop(Cause),
}

/// Counts of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PortCounts {
    /// Packets that arrived.
    pub received: Count,
    /// Packets that left.
    pub sent: Count,
    /// Packets that arrived while the receive queue was full, which are in no other count.
    pub missed: u64,
}

/// Counts of packets, by fate and by port.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PacketCounts {
    /// Received packets.
    pub received: u64,
    /// Forwarded packets.
    pub forwarded: u64,
    stopped: [Count; Cause::ALL.len()],
    ports: Vec<PortCounts>,
}

impl PacketCounts {
    /// Counts one packet of this size in bytes from this port.
    #[inline]
    pub fn count(&mut self, from: PortId, bytes: usize, fate: Fate) {
        self.received += 1;
        self.at(from).received.add(bytes);
        match fate {
            Fate::Transmit { port, len } => {
                self.forwarded += 1;
                self.at(port).sent.add(len.into());
            }
            Fate::Stop(cause) => self.stopped[cause as usize].add(bytes),
        }
    }

    /// Counts a packet as stopped by `cause` that was counted before with `fate`: an interface did not take it. `bytes`
    /// are those of the received frame, for a fate that is not [`Fate::Transmit`].
    #[inline]
    pub fn recount(&mut self, fate: Fate, bytes: usize, cause: Cause) {
        let bytes = match fate {
            Fate::Transmit { port, len } => {
                self.forwarded -= 1;
                self.at(port).sent.subtract(len.into());
                len.into()
            }
            Fate::Stop(before) => {
                self.stopped[before as usize].subtract(bytes);
                bytes
            }
        };
        self.stopped[cause as usize].add(bytes);
    }

    /// Sets the number of packets that a port missed.
    pub fn set_missed(&mut self, port: PortId, missed: u64) {
        self.at(port).missed = missed;
    }

    #[inline]
    fn at(&mut self, port: PortId) -> &mut PortCounts {
        if port.index() >= self.ports.len() {
            self.ports.resize(port.index() + 1, PortCounts::default());
        }
        &mut self.ports[port.index()]
    }

    /// The counts of a port.
    pub fn port(&self, port: PortId) -> PortCounts {
        self.ports.get(port.index()).copied().unwrap_or_default()
    }

    /// The counts of all ports together.
    pub fn ports(&self) -> PortCounts {
        let mut sum = PortCounts::default();
        self.ports.iter().for_each(|port| sum.add(port));
        sum
    }

    /// Packets that this cause stopped.
    pub fn stopped(&self, cause: Cause) -> u64 {
        self.stopped_count(cause).packets
    }

    /// Packets that this cause stopped, and their bytes.
    pub fn stopped_count(&self, cause: Cause) -> Count {
        self.stopped[cause as usize]
    }

    /// Packets that went to the kernel, or that were dropped.
    pub fn with(&self, outcome: Disposition) -> u64 {
        let causes = Cause::ALL.into_iter().filter(|cause| cause.outcome() == outcome);
        causes.map(|cause| self.stopped(cause)).sum()
    }

    /// Adds the counts of another tally.
    pub fn add(&mut self, other: &Self) {
        self.received += other.received;
        self.forwarded += other.forwarded;
        for (sum, count) in self.stopped.iter_mut().zip(other.stopped) {
            *sum += count;
        }
        for (port, counts) in (0..).map(PortId).zip(&other.ports) {
            self.at(port).add(counts);
        }
    }
}

impl PortCounts {
    /// Adds the counts of another tally.
    pub fn add(&mut self, other: &Self) {
        self.received += other.received;
        self.sent += other.sent;
        self.missed += other.missed;
    }
}
