//! The values of a forwarding table: where the packets of a route go.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::count::Count;

/// An Ethernet address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Mac(pub [u8; 6]);

impl Mac {
    /// The address in the low 48 bits of a word.
    #[inline]
    fn word(self) -> u64 {
        let Self([a, b, c, d, e, g]) = self;
        u64::from_be_bytes([0, 0, a, b, c, d, e, g])
    }

    #[inline]
    fn of_word(word: u64) -> Self {
        let [_, _, mac @ ..] = word.to_be_bytes();
        Self(mac)
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl fmt::Debug for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// The number of a port: its place in the list of interfaces, from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PortId(pub u16);

impl PortId {
    /// The place in the list of interfaces.
    pub fn index(self) -> usize {
        self.0.into()
    }
}

/// An interface that the forwarder receives from and sends to.
#[derive(Debug)]
pub struct Port {
    /// Its number.
    pub id: PortId,
    /// Its name, such as `eth0`.
    pub name: String,
    /// The kernel's number of the interface; 0 if it is none of the kernel's.
    pub index: u32,
    /// Its Ethernet address, in the low 48 bits.
    mac: AtomicU64,
    /// Whether it also receives frames for other hosts' addresses.
    promiscuous: bool,
    /// Whether checksums of received packets may be partial.
    partial: AtomicBool,
    /// The largest IP packet that it sends, in bytes.
    mtu: AtomicU32,
}

impl Port {
    /// A port with this address and MTU in bytes.
    pub fn new(id: PortId, name: impl Into<String>, index: u32, mac: Mac, mtu: u32) -> Self {
        let (mac, mtu) = (AtomicU64::new(mac.word()), AtomicU32::new(mtu));
        let (name, partial) = (name.into(), AtomicBool::new(false));
        Self { id, name, index, mac, promiscuous: false, partial, mtu }
    }

    /// The same port, which also receives frames for other hosts' addresses: those of a capture.
    #[must_use]
    pub fn promiscuous(self) -> Self {
        Self { promiscuous: true, ..self }
    }

    /// The address that received frames must have; `None` if they may have any.
    #[inline]
    pub(crate) fn receives(&self) -> Option<Mac> {
        (!self.promiscuous).then(|| self.mac())
    }

    /// Its Ethernet address.
    #[inline]
    pub fn mac(&self) -> Mac {
        Mac::of_word(self.mac.load(Ordering::Relaxed))
    }

    /// Sets the Ethernet address.
    pub fn set_mac(&self, mac: Mac) {
        self.mac.store(mac.word(), Ordering::Relaxed);
    }

    /// Whether received packets may lack their checksum, which a virtual interface leaves to hardware that is not there.
    #[inline]
    pub fn has_partial_checksums(&self) -> bool {
        self.partial.load(Ordering::Relaxed)
    }

    /// Sets whether received packets may lack their checksum.
    pub fn set_partial_checksums(&self, partial: bool) {
        self.partial.store(partial, Ordering::Relaxed);
    }

    /// The largest IP packet that it sends, in bytes.
    #[inline]
    pub fn mtu(&self) -> u32 {
        self.mtu.load(Ordering::Relaxed)
    }

    /// Sets the MTU, in bytes.
    pub fn set_mtu(&self, mtu: u32) {
        self.mtu.store(mtu, Ordering::Relaxed);
    }
}

/// The Ethernet address of a neighbour, which may change or be unknown.
///
/// Tables hold neighbours by reference, so that a change of the address changes no table.
///
/// ```
/// use longmatch_forward::{Mac, Neighbour};
/// let neighbour = Neighbour::default();
/// assert_eq!(neighbour.mac(), None);
/// neighbour.set(Some(Mac([2, 0, 0, 0, 0, 1])));
/// assert_eq!(neighbour.mac(), Some(Mac([2, 0, 0, 0, 0, 1])));
/// ```
#[derive(Default)]
pub struct Neighbour {
    /// 0 if the address is unknown; otherwise `KNOWN`, perhaps `ASK`, and the address in the low 48 bits.
    word: AtomicU64,
    sent: OnceLock<Box<[ThreadCount; THREADS]>>,
}

/// Threads that have their own count; the others share the last one.
const THREADS: usize = 8;

/// The packets that one thread forwarded to a neighbour, on its own cache line.
#[derive(Default)]
#[repr(align(64))]
struct ThreadCount {
    packets: AtomicU64,
    bytes: AtomicU64,
}

impl Neighbour {
    const KNOWN: u64 = 1 << 48;
    /// The next packet goes to the kernel.
    const ASK: u64 = 1 << 49;

    /// A neighbour with this address.
    pub fn new(mac: Option<Mac>) -> Self {
        let neighbour = Self::default();
        neighbour.set(mac);
        neighbour
    }

    /// The address; `None` if it is unknown.
    #[inline]
    pub fn mac(&self) -> Option<Mac> {
        let word = self.word.load(Ordering::Relaxed);
        (word & Self::KNOWN != 0).then(|| Mac::of_word(word))
    }

    /// The address for one packet.
    #[inline]
    pub(crate) fn for_packet(&self) -> Receiver {
        let word = self.word.load(Ordering::Relaxed);
        let mac = Mac::of_word(word);
        match word & (Self::KNOWN | Self::ASK) {
            Self::KNOWN => Receiver::Known(mac),
            0 => Receiver::Unknown,
            _ if self.word.fetch_and(!Self::ASK, Ordering::Relaxed) & Self::ASK != 0 => {
                Receiver::Stale
            }
            // Another thread has one.
            _ => Receiver::Known(mac),
        }
    }

    /// Makes the next packet go to the kernel, which asks the neighbour then whether it is there.
    pub fn ask(&self) {
        if self.mac().is_some() {
            self.word.fetch_or(Self::ASK, Ordering::Relaxed);
        }
    }

    /// Counts a forwarded packet of this size in bytes. `thread` is the number of the calling thread.
    #[inline]
    pub(crate) fn count(&self, thread: usize, bytes: u16) {
        let counts = self.sent.get_or_init(Box::default);
        let own = &counts[thread.min(THREADS - 1)];
        for (count, more) in [(&own.packets, 1), (&own.bytes, u64::from(bytes))] {
            if thread < THREADS - 1 {
                // No other thread writes it, so that a locked instruction is not needed.
                count.store(count.load(Ordering::Relaxed) + more, Ordering::Relaxed);
            } else {
                count.fetch_add(more, Ordering::Relaxed);
            }
        }
    }

    /// The packets that were forwarded to the neighbour since a route first led to it. Some may have found the queue of
    /// the port full ([`Cause::TransmitFull`](crate::Cause::TransmitFull)).
    pub fn sent(&self) -> Count {
        let mut sum = Count::default();
        for count in self.sent.get().iter().flat_map(|counts| counts.iter()) {
            let (packets, bytes) = (&count.packets, &count.bytes);
            let [packets, bytes] = [packets, bytes].map(|count| count.load(Ordering::Relaxed));
            sum += Count { packets, bytes };
        }
        sum
    }

    /// Replaces the address. Packets that are forwarded at the same time go to either.
    pub fn set(&self, mac: Option<Mac>) {
        let word = mac.map_or(0, |mac| Self::KNOWN | mac.word());
        self.word.store(word, Ordering::Relaxed);
    }
}

impl fmt::Debug for Neighbour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Neighbour").field(&self.mac()).finish()
    }
}

/// The receiver of one packet.
pub(crate) enum Receiver {
    Known(Mac),
    /// The packet goes to the kernel, which asks the neighbour.
    Stale,
    Unknown,
}

/// One next hop of a group.
#[derive(Clone, Debug)]
pub struct Hop {
    /// The port by which packets leave.
    pub port: Arc<Port>,
    /// The neighbour that receives them.
    pub neighbour: Arc<Neighbour>,
    /// The share of the flows, in relation to the group's other hops; at least 1.
    pub weight: u32,
}

impl Hop {
    fn identity(&self) -> (PortId, *const Neighbour, u32) {
        (self.port.id, Arc::as_ptr(&self.neighbour), self.weight)
    }
}

/// Next hops among which flows are divided (equal-cost multipath).
///
/// The division is the hash-threshold algorithm of RFC 2992, section 2: each hop has a region of the
/// hash values, in proportion to its weight, so that few flows move when a hop comes or goes.
///
/// Two groups are equal if they have the same ports, the same neighbours (by reference) and the same
/// weights, in the same order.
#[derive(Debug)]
pub struct Group {
    hops: Box<[Hop]>,
    /// The first hash value above each hop's region; the last hop's is not stored.
    bounds: Box<[u32]>,
}

impl Group {
    /// A group of these hops; `None` without any.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use longmatch_forward::{Group, Hop, Mac, Neighbour, Port, PortId};
    /// let port = Arc::new(Port::new(PortId(0), "eth0", 1, Mac::default(), 1500));
    /// let hop = |weight| Hop { port: port.clone(), neighbour: Arc::default(), weight };
    /// let group = Group::new(vec![hop(3), hop(1)]).unwrap();
    /// // Three quarters of the hash values belong to the first hop.
    /// assert_eq!(group.hop(0xbfff_ffff).weight, 3);
    /// assert_eq!(group.hop(0xc000_0000).weight, 1);
    /// assert!(Group::new(Vec::new()).is_none());
    /// ```
    pub fn new(hops: Vec<Hop>) -> Option<Self> {
        let total: u64 = hops.iter().map(|hop| u64::from(hop.weight.max(1))).sum();
        let (_, all_but_last) = hops.split_last()?;
        let bounds = all_but_last.iter().scan(0, |sum, hop| {
            *sum += u64::from(hop.weight.max(1));
            // Below 2^32, since the last hop has a share too.
            Some(((*sum << 32) / total) as u32)
        });
        Some(Self { bounds: bounds.collect(), hops: hops.into() })
    }

    /// The hop of a flow with this hash. O(hops).
    #[inline]
    pub fn hop(&self, hash: u32) -> &Hop {
        // Usually there is no bound to compare.
        let place = self.bounds.iter().take_while(|&&bound| bound <= hash).count();
        &self.hops[place]
    }

    /// All hops.
    pub fn hops(&self) -> &[Hop] {
        &self.hops
    }
}

impl PartialEq for Group {
    fn eq(&self, other: &Self) -> bool {
        self.hops.iter().map(Hop::identity).eq(other.hops.iter().map(Hop::identity))
    }
}

impl Eq for Group {}

impl Hash for Group {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.hops.iter().for_each(|hop| hop.identity().hash(state));
    }
}

/// Where the packets of a route go.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    /// To one of these next hops.
    Group(Arc<Group>),
    /// To the destination itself, which is on a link and whose Ethernet address is unknown: the
    /// kernel asks for it.
    OnLink,
    /// To an address of this machine.
    Local,
    /// To the kernel, which alone serves this kind of route, or answers with an ICMP error.
    Kernel,
    /// Nowhere.
    Blackhole,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_count_the_packets_of_a_neighbour() {
        let neighbour = Neighbour::default();
        assert_eq!(neighbour.sent(), Count::default());
        std::thread::scope(|scope| {
            for thread in 0..2 * THREADS {
                let neighbour = &neighbour;
                scope.spawn(move || (0..1000).for_each(|_| neighbour.count(thread, 60)));
            }
        });
        let packets = 1000 * 2 * THREADS as u64;
        assert_eq!(neighbour.sent(), Count { packets, bytes: 60 * packets });
    }
}
