//! The fates of packets, and their counts by cause.

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

            /// What becomes of such packets.
            pub fn outcome(self) -> Outcome {
                match self { $(Self::$cause => Outcome::$outcome,)* }
            }
        }
    };
}

/// What becomes of a packet that is not forwarded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
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

/// What the forwarder decided about a packet.
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

/// Counts of packets, by fate.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Received packets.
    pub received: u64,
    /// Forwarded packets.
    pub forwarded: u64,
    stopped: [u64; Cause::ALL.len()],
}

impl Tally {
    /// Counts one packet.
    #[inline]
    pub fn count(&mut self, fate: Fate) {
        self.received += 1;
        match fate {
            Fate::Transmit { .. } => self.forwarded += 1,
            Fate::Stop(cause) => self.stopped[cause as usize] += 1,
        }
    }

    /// Counts packets as stopped by `cause` that were counted before with `fate`: an interface did
    /// not take them.
    #[inline]
    pub fn recount(&mut self, fate: Fate, cause: Cause) {
        match fate {
            Fate::Transmit { .. } => self.forwarded -= 1,
            Fate::Stop(before) => self.stopped[before as usize] -= 1,
        }
        self.stopped[cause as usize] += 1;
    }

    /// Packets that this cause stopped.
    pub fn stopped(&self, cause: Cause) -> u64 {
        self.stopped[cause as usize]
    }

    /// Packets that went to the kernel, or that were dropped.
    pub fn with(&self, outcome: Outcome) -> u64 {
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
    }
}
