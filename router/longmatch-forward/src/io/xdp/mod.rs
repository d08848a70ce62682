//! Packet I/O by AF_XDP, for Linux 5.9 and later.
//!
//! [`Xdp::open`] attaches an XDP program to each interface, which leads packets to AF_XDP sockets,
//! one for each pair of an interface and a thread. The kernel keeps what a forwarder has no business
//! with: ARP, VLAN tags and everything else that is not IP, packets for groups of hosts, IPv6
//! link-local packets, and packets for addresses of this machine.
//!
//! Packets that the forwarder gets and cannot forward go to the kernel by a TUN device: the kernel
//! answers them with ICMP errors, fragments them, or asks for Ethernet addresses. For the kernel
//! they arrive by that device, which matters to rules of its packet filter and to reverse path
//! filtering.
//!
//! The programs are detached and the device is gone when [`Xdp`] and its [`XdpIo`]s are dropped, and
//! also when the process ends in any other way.
//!
//! A thread that stands still (a signal, a debugger, a hang) leaves its packets to the kernel a second after its last
//! [`receive`](crate::io::PacketIo::receive). Those of that second wait in its rings, which are as long as
//! [`XdpOptions::ring_size`], and are forwarded when it goes on; more than the rings hold are lost. The program looks at
//! the clock for that, which costs some 20 ns for each packet that the forwarder gets. A thread's look costs 7 ns for a
//! batch, and ten system calls a second.
//!
//! # Limits
//!
//! - Packets that arrive by a virtual interface such as `veth` may have partial checksums. The forwarder completes those of
//!   TCP and UDP ([`Port::has_partial_checksums`]). The kernel gets frames of several segments, and all protocols except
//!   ICMP, TCP and UDP, also IPv6 extension headers. In a tunnel over UDP an inner checksum may stay partial.
//! - Devices that take VLAN tags out of frames make packets of VLANs look like others. Turn the
//!   offload off where tags arrive (`ethtool -K NAME rxvlan off`).
//! - A thread's memory counts against the limit of locked memory (`ulimit -l`) once for each
//!   interface, unless the process has `CAP_IPC_LOCK`.
//! - In a time namespace with another monotonic clock, threads never count as alive, or always.
//! - A frame has one piece: packets are at most [`XdpOptions::largest_mtu`] bytes long.

mod alive;
mod attachment;
mod error;
mod interface;
mod local;
mod maps;
mod options;
mod program;
mod queue;
mod tun;
mod worker;

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use longmatch_bpf::sys::{Link, Map};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use xdp::Umem;
use xdp::umem::{FrameSize, UmemCfgBuilder};

pub use attachment::ReleasedLink;
pub use error::XdpError;
pub use local::LocalAddressError;
pub use options::{XdpMode, XdpOptions};
pub use worker::XdpIo;

use crate::target::Port;
use alive::Alive;
use attachment::Attachment;
use local::LocalAddresses;
use queue::Queue;
use tun::Tun;

/// The time in which a processor that has seen a socket hands its frame over.
const LAST_FRAME: std::time::Duration = std::time::Duration::from_millis(10);

/// Interfaces whose packets go to AF_XDP sockets.
///
/// Dropping it gives the packets back to the kernel; [`close`](Self::close) does so without a loss. The TUN device
/// remains until the last [`XdpIo`] is dropped too.
pub struct Xdp {
    attachments: Vec<Attachment>,
    local: LocalAddresses,
    /// Programs that are loaded again refer to it.
    _alive: Arc<Map>,
    workers: Vec<XdpIo>,
    tun: Arc<Tun>,
    warnings: Vec<String>,
}

impl Xdp {
    /// Opens the interfaces of these ports, which are numbered from 0 in their order.
    ///
    /// Until [`set_local_addresses`](Self::set_local_addresses), packets for addresses of this
    /// machine go through the forwarder too.
    ///
    /// # Errors
    /// If an interface, the kernel or the process's rights do not permit it. The message says what
    /// to do. All interfaces are as before.
    pub fn open(ports: &[Arc<Port>], options: &XdpOptions) -> Result<Self, XdpError> {
        Self::open_over(ports, options, Vec::new())
    }

    /// Opens the interfaces of these ports as [`open`](Self::open) does, and takes over those that have one of `links`: the
    /// new program replaces the old one, and the interface is never without a program.
    ///
    /// The kernel forwards until the new sockets are open: each queue belongs to the old socket until the [`XdpIo`] that
    /// has it is dropped, for which the call waits some seconds. A link does not fit if the options ask for the other mode.
    /// Links that do not fit, and those of interfaces that no port has, are detached.
    ///
    /// # Errors
    /// As for [`open`](Self::open). The links are detached, and the kernel forwards.
    pub fn open_over(
        ports: &[Arc<Port>],
        options: &XdpOptions,
        mut links: Vec<ReleasedLink>,
    ) -> Result<Self, XdpError> {
        let opened = Self::open_with(ports, options, &mut links);
        links.into_iter().for_each(|released| drop(Link::from_descriptor(released.link)));
        opened
    }

    fn open_with(
        ports: &[Arc<Port>],
        options: &XdpOptions,
        links: &mut Vec<ReleasedLink>,
    ) -> Result<Self, XdpError> {
        options.check()?;
        check_ports(ports)?;
        permit_locked_memory();
        let mut warnings = Vec::new();
        let local = LocalAddresses::new();
        let local = local.map_err(XdpError::at("make a BPF map of local addresses"))?;
        let threads = options.threads as u32;
        let alive = maps::of_times(threads).map_err(XdpError::at("make a BPF map of times"))?;
        let maps = (local.map(), &alive);
        let attach = |port| Attachment::new(port, options, maps, links, &mut warnings);
        let mut attachments = ports.iter().map(attach).collect::<Result<Vec<_>, _>>()?;
        let alive = Arc::new(alive);
        let tun = Tun::open(&options.tun_name, &mut warnings);
        let tun = Arc::new(tun.map_err(XdpError::at("make a TUN device (/dev/net/tun)"))?);
        let open = |thread| open_worker(&mut attachments, (thread, &alive), options, &tun);
        let workers = (0..threads).map(open).collect::<Result<_, _>>()?;
        warnings.extend(attachments.iter().filter_map(Attachment::not_forwarded));
        Ok(Self { attachments, local, _alive: alive, workers, tun, warnings })
    }

    /// The queues of each thread. Later calls return nothing.
    pub fn workers(&mut self) -> Vec<XdpIo> {
        std::mem::take(&mut self.workers)
    }

    /// Takes the sockets from the programs: from the end of this call on, the kernel gets all packets.
    ///
    /// Those that came before are in the queues of the [`XdpIo`]s. They are lost, unless the threads receive until there
    /// are no more ([`run`](crate::run) does).
    pub fn close(&mut self) {
        self.attachments.iter().for_each(Attachment::close);
        // A processor that has just seen a socket puts its frame into the receive ring within microseconds. A barrier of the
        // kernel would be certain, but takes seconds at times.
        std::thread::sleep(LAST_FRAME);
    }

    /// Gives the interfaces up for another [`Xdp`], of this process or another: [`close`](Self::close), and the programs
    /// stay attached. Without the sockets they pass all packets to the kernel.
    ///
    /// Dropping the links detaches the programs. Afterwards this value has no interfaces.
    pub fn release(&mut self) -> Vec<ReleasedLink> {
        self.close();
        self.attachments.drain(..).filter_map(Attachment::release).collect()
    }

    /// Replaces the addresses of this machine: their packets stay with the kernel.
    ///
    /// The broadcast addresses of links may be among them. There is room for 65,536 addresses.
    ///
    /// # Errors
    /// If the kernel does not take an address. The others are in force, and the next call tries
    /// again.
    pub fn set_local_addresses(
        &mut self,
        addresses: impl IntoIterator<Item = IpAddr>,
    ) -> Result<(), LocalAddressError> {
        self.local.set(addresses)
    }

    /// Follows changes of the ports' Ethernet addresses ([`Port::set_mac`]), and of the settings that permit forwarding
    /// (`net.ipv4.conf.NAME.forwarding`, `net.ipv6.conf.all.forwarding`). Frames for others, and of a family that is not
    /// forwarded, go to the kernel.
    ///
    /// # Errors
    /// If the kernel does not take an address; the next call tries again.
    pub fn follow_interfaces(&mut self) -> std::io::Result<()> {
        self.attachments.iter_mut().try_for_each(Attachment::follow)
    }

    /// The modes of each interface, such as `eth0: native mode, zero-copy`.
    pub fn descriptions(&self) -> Vec<String> {
        self.attachments.iter().map(Attachment::description).collect()
    }

    /// What works worse than it could, and what to do about it.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The name of the TUN device by which packets go to the kernel.
    pub fn tun_name(&self) -> &str {
        self.tun.name()
    }
}

impl fmt::Debug for Xdp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut f = f.debug_struct("Xdp");
        f.field("interfaces", &self.descriptions()).field("tun", &self.tun_name());
        f.finish_non_exhaustive()
    }
}

/// Checks that each port has the number of its place.
fn check_ports(ports: &[Arc<Port>]) -> Result<(), XdpError> {
    let expected = "a list of one or more, numbered from 0 in their order";
    let names = || ports.iter().map(|port| format!("{} ({})", port.name, port.id.index()));
    let in_order = ports.iter().enumerate().all(|(place, port)| port.id.index() == place);
    if ports.is_empty() || !in_order {
        let value = format!("[{}]", names().collect::<Vec<_>>().join(", "));
        return Err(XdpError::Option { name: "ports", value, expected });
    }
    Ok(())
}

/// Opens the sockets of one thread, and its memory.
fn open_worker(
    attachments: &mut [Attachment],
    (thread, alive): (u32, &Arc<Map>),
    options: &XdpOptions,
    tun: &Arc<Tun>,
) -> Result<XdpIo, XdpError> {
    let ring = options.ring_size as usize;
    // A batch has at most as many frames as a ring.
    let frames = attachments.len() * Queue::FRAMES_PER_SLOT * ring + ring;
    let configuration = UmemCfgBuilder {
        frame_size: if options.frame_size == 4096 { FrameSize::FourK } else { FrameSize::TwoK },
        frame_count: frames.try_into().unwrap_or(u32::MAX),
        ..Default::default()
    };
    let refused = |error: xdp::error::Error| std::io::Error::other(error);
    let umem = configuration.build().map_err(refused).and_then(Umem::map);
    let mut umem = umem.map_err(XdpError::at("reserve memory for frames"))?;
    let open = |attachment: &mut Attachment| attachment.open_queue(&mut umem, thread, options);
    let queues = attachments.iter_mut().map(open).collect::<Result<Vec<_>, _>>()?;
    let alive = Alive::new(alive.clone(), thread);
    let mut worker = XdpIo::new(queues, ring, tun.clone(), alive, umem);
    worker.refill().map_err(XdpError::at("give frames to the kernel"))?;
    Ok(worker)
}

/// Lifts the limit of locked memory, which frames count for without `CAP_IPC_LOCK` and, before Linux
/// 5.11, maps count for.
///
/// A limit that is too low is an error of the calls that exceed it.
fn permit_locked_memory() {
    let unlimited = Rlimit { current: None, maximum: None };
    if setrlimit(Resource::Memlock, unlimited).is_err() {
        let maximum = getrlimit(Resource::Memlock).maximum;
        // As much as there is without a privilege.
        let _ = setrlimit(Resource::Memlock, Rlimit { current: maximum, maximum });
    }
}
