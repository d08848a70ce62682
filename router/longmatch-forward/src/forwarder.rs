//! The forwarding of batches.

use std::io;
use std::sync::Arc;

use longmatch::{NextHopId, OnlineTableReader, TableReader, TableView};

use crate::cause::{Cause, Fate, PacketCounts};
use crate::io::PacketIo;
use crate::packet::{
    ETHERNET_LEN, FlowFields, Parsed, complete_checksum, flow_hash, parse, rewrite,
};
use crate::target::{Port, PortId, Receiver, Target};

/// The largest batch.
pub const MAX_BATCH: usize = 256;

/// One thread's forwarding: takes batches of packets from arrival to departure.
///
/// The lookups of a batch are one call into the engine for each family. The thread is a reader of a
/// live table: it never locks or waits for the table's writer.
pub struct Forwarder<'r> {
    table: OnlineTableReader<'r, Target>,
    ports: Vec<Arc<Port>>,
    batch: usize,
    fields: FlowFields,
    /// The number of the thread, which counts for itself.
    thread: usize,
    tally: PacketCounts,
    lookups: Box<Lookups>,
}

/// The lookups of a batch.
struct Lookups {
    ipv4: Queries<u32>,
    ipv6: Queries<u128>,
    fates: [Fate; MAX_BATCH],
    /// The bytes of the received frames.
    lens: [u32; MAX_BATCH],
}

/// The destinations of one family, in the order of their packets.
struct Queries<A> {
    len: usize,
    destinations: [A; MAX_BATCH],
    ids: [Option<NextHopId>; MAX_BATCH],
    /// The frame of each destination, and the bytes of its IP packet.
    frames: [(u16, u16); MAX_BATCH],
}

impl<A: Copy + Default> Queries<A> {
    fn new() -> Self {
        let destinations = [A::default(); MAX_BATCH];
        Self { len: 0, destinations, ids: [None; MAX_BATCH], frames: [(0, 0); MAX_BATCH] }
    }

    #[inline]
    fn push(&mut self, destination: A, frame: usize, len: u16) {
        self.destinations[self.len] = destination;
        // Below MAX_BATCH.
        self.frames[self.len] = (frame as u16, len);
        self.len += 1;
    }

    /// The destinations, and the places of their answers.
    #[inline]
    fn parts(&mut self) -> (&[A], &mut [Option<NextHopId>]) {
        (&self.destinations[..self.len], &mut self.ids[..self.len])
    }
}

impl<'r> Forwarder<'r> {
    /// A forwarder that takes at most `batch` packets at a time, 1 to [`MAX_BATCH`].
    ///
    /// `ports` are in the order of their ids.
    pub fn new(table: &'r mut TableReader<Target>, ports: &[Arc<Port>], batch: usize) -> Self {
        let (ipv4, ipv6) = (Queries::new(), Queries::new());
        let lookups = Lookups { ipv4, ipv6, fates: [DROPPED; MAX_BATCH], lens: [0; MAX_BATCH] };
        Self {
            table: table.online(),
            ports: ports.to_vec(),
            batch: batch.clamp(1, MAX_BATCH),
            fields: FlowFields::default(),
            thread: 0,
            tally: PacketCounts::default(),
            lookups: Box::new(lookups),
        }
    }

    /// Receives, looks up and dispatches one batch; returns its number of packets, which may be 0.
    ///
    /// Afterwards the thread holds nothing of the table.
    ///
    /// # Errors
    /// Those of the queues.
    #[inline]
    pub fn forward<I: PacketIo>(&mut self, io: &mut I) -> io::Result<usize> {
        let received = io.receive(self.batch)?;
        if received.len > 0 {
            self.decide(io, received.len, received.port);
            let Lookups { fates, lens, .. } = &*self.lookups;
            let fates = &fates[..received.len];
            for (&fate, &len) in fates.iter().zip(lens) {
                self.tally.count(received.port, len as usize, fate);
            }
            io.dispatch(fates, &mut self.tally)?;
        }
        self.table.quiescent();
        Ok(received.len)
    }

    /// Sets the number of the forwarding thread, from 0. Threads that forward by the same table have different ones.
    #[must_use]
    pub fn thread(self, thread: usize) -> Self {
        Self { thread, ..self }
    }

    /// Sets the fields by which next hops divide the traffic.
    pub fn set_flow_fields(&mut self, fields: FlowFields) {
        self.fields = fields;
    }

    /// Takes over the queues' numbers of missed packets.
    pub(crate) fn count_missed(&mut self, io: &impl PacketIo) {
        for port in &self.ports {
            self.tally.set_missed(port.id, io.missed(port.id));
        }
    }

    /// The counts of all packets so far.
    pub fn tally(&self) -> &PacketCounts {
        &self.tally
    }

    /// Determines the fates of a batch, and rewrites the frames that are forwarded.
    #[inline]
    fn decide<I: PacketIo>(&mut self, io: &mut I, len: usize, port: PortId) {
        let port = &self.ports[port.index()];
        let mac = port.receives();
        if port.has_partial_checksums() {
            (0..len).for_each(|place| complete_checksum(io.frame(place)));
        }
        let Lookups { ipv4, ipv6, fates, lens } = &mut *self.lookups;
        (ipv4.len, ipv6.len) = (0, 0);
        for (place, (fate, bytes)) in fates[..len].iter_mut().zip(lens).enumerate() {
            let frame = io.frame(place);
            *bytes = frame.len() as u32;
            match parse(frame, mac) {
                Parsed::Ipv4 { destination, len } => ipv4.push(destination, place, len),
                Parsed::Ipv6 { destination, len } => ipv6.push(destination, place, len),
                Parsed::Stop(cause) => *fate = Fate::Stop(cause),
            }
        }
        let table = self.table.table();
        if ipv4.len > 0 {
            let (destinations, ids) = ipv4.parts();
            table.ipv4().lookup_batch(destinations, ids);
            send_each(&table, ipv4, (self.fields, self.thread), io, fates);
        }
        if ipv6.len > 0 {
            let (destinations, ids) = ipv6.parts();
            table.ipv6().lookup_batch(destinations, ids);
            send_each(&table, ipv6, (self.fields, self.thread), io, fates);
        }
    }
}

/// The fate of a packet before it is decided.
const DROPPED: Fate = Fate::Stop(Cause::BadHeader);

/// Rewrites the frames of one family's packets by their answers.
#[inline]
fn send_each<A: Copy, I: PacketIo>(
    table: &TableView<'_, Target>,
    queries: &Queries<A>,
    settings: (FlowFields, usize),
    io: &mut I,
    fates: &mut [Fate; MAX_BATCH],
) {
    let answers = queries.ids.iter().zip(&queries.frames).take(queries.len);
    for (&id, &(place, len)) in answers {
        let place = usize::from(place);
        let target = id.and_then(|id| table.value(id));
        fates[place] = match send(target, io.frame(place), len, settings) {
            Ok(fate) => fate,
            Err(cause) => Fate::Stop(cause),
        };
    }
}

/// Rewrites a frame for its target, or returns the cause not to forward it.
#[inline]
fn send(
    target: Option<&Target>,
    frame: &mut [u8],
    len: u16,
    (fields, thread): (FlowFields, usize),
) -> Result<Fate, Cause> {
    let group = match target {
        Some(Target::Group(group)) => group,
        Some(Target::OnLink) => return Err(Cause::Unresolved),
        Some(Target::Local) => return Err(Cause::Local),
        Some(Target::Kernel) => return Err(Cause::KernelRoute),
        Some(Target::Blackhole) => return Err(Cause::Blackhole),
        None => return Err(Cause::NoRoute),
    };
    let hop = match group.hops() {
        [hop] => hop,
        _ => group.hop(flow_hash(frame, fields)),
    };
    if u32::from(len) > hop.port.mtu() {
        return Err(Cause::TooBig);
    }
    let destination = match hop.neighbour.for_packet() {
        Receiver::Known(mac) => mac,
        Receiver::Stale => return Err(Cause::Stale),
        Receiver::Unknown => return Err(Cause::Unresolved),
    };
    rewrite(frame, hop.port.mac(), destination);
    let len = len.checked_add(ETHERNET_LEN as u16).ok_or(Cause::TooBig)?;
    hop.neighbour.count(thread, len);
    Ok(Fate::Transmit { port: hop.port.id, len })
}
