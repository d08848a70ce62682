//! An interface with the XDP program.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use longmatch_bpf::sys::{Error, Link, Map, Program, ProgramKind};

use super::error::XdpError;
use super::interface::Interfaces;
use super::maps;
use super::options::{ETHERNET_BYTES, XdpMode, XdpOptions};
use super::program::{CLOCK, COARSE_CLOCK, XDP_PASS, forwarding_program};
use super::queue::Queue;
use crate::sysctl::setting;
use crate::target::{Mac, Port};

/// An interface that the program is attached to; dropping it detaches the program.
#[derive(Debug)]
pub(super) struct Attachment {
    port: Arc<Port>,
    /// The kernel's number of the interface.
    index: u32,
    /// The element of the map of the Ethernet address that frames for this machine have: after it, whether IPv4 and IPv6
    /// are not forwarded.
    element: [u8; 8],
    address: Map,
    /// The sockets, by queue.
    sockets: Map,
    queues: u32,
    /// The largest MTU whose packets fit into the memory of a frame.
    largest_mtu: u32,
    code: Code,
    native: bool,
    zero_copy: bool,
    /// Why the mode is not the native one.
    reason: Option<io::Error>,
    /// The link, while the program is attached.
    link: Link,
}

/// The parameters of a program.
#[derive(Debug)]
struct Code {
    /// The descriptors of its maps, which [`Xdp`](super::Xdp) keeps open.
    maps: [i32; 4],
    /// The helper that returns the time.
    clock: i32,
    /// Bytes of the longest frame.
    longest: u16,
    /// Whether checksums may be partial.
    partial: bool,
}

impl Code {
    fn load(&self) -> Result<Program, Error> {
        let checks = (self.longest, self.partial);
        let code = forwarding_program(self.maps, self.clock, checks, XDP_PASS);
        Program::load(ProgramKind::Xdp, "longmatch", &code.unwrap_or_default())
    }
}

/// Bytes of the longest frame that has one segment and fits into the memory of a frame, whatever the MTU becomes.
fn longest(port: &Port, largest_mtu: u32) -> u16 {
    (port.mtu().min(largest_mtu) + ETHERNET_BYTES).min(u16::MAX.into()) as u16
}

/// The BPF link of an interface whose packets the kernel forwards: [`Xdp::release`](super::Xdp::release) makes it, and
/// [`Xdp::open_over`](super::Xdp::open_over) takes it, of this process or another.
///
/// The program is detached when the last descriptor of the link is closed.
#[derive(Debug)]
pub struct ReleasedLink {
    /// The name of the port.
    pub port: String,
    /// The kernel's number of the interface.
    pub index: u32,
    /// Whether the program runs in the driver.
    pub native: bool,
    /// The descriptor of the link.
    pub link: OwnedFd,
}

impl Attachment {
    /// Attaches the program to the interface of a port, by one of `links` if it fits. Without sockets, it passes all
    /// packets to the kernel.
    pub(super) fn new(
        port: &Arc<Port>,
        options: &XdpOptions,
        (local, alive): (&Map, &Map),
        links: &mut Vec<ReleasedLink>,
        warnings: &mut Vec<String>,
    ) -> Result<Self, XdpError> {
        let name = &port.name;
        let (index, driver) = check(port, options, warnings)?;
        let is_pair = options.mode == XdpMode::Auto && driver == "veth";
        let mode = if is_pair { XdpMode::Generic } else { options.mode };
        let queues = options.threads as u32;
        let sockets =
            maps::of_sockets(queues).map_err(XdpError::at("make a BPF map of AF_XDP sockets"))?;
        let address = maps::of_ethernet_address()
            .map_err(XdpError::at("make a BPF map of an Ethernet address"))?;
        let maps =
            [address.descriptor(), local.descriptor(), alive.descriptor(), sockets.descriptor()];
        let (longest, partial) =
            (longest(port, options.largest_mtu()), port.has_partial_checksums());
        let mut code = Code { maps, clock: COARSE_CLOCK, longest, partial };
        let program = code.load().or_else(|_| {
            code.clock = CLOCK;
            code.load()
        });
        let program = program.map_err(|error| match error.number() {
            Some(libc::EPERM) => XdpError::Permission { action: "load an XDP program".into() },
            _ => XdpError::Program { log: error.log().to_owned(), source: error.into() },
        })?;
        let (link, native, mut reason) = match take_over(&program, index, mode, links) {
            Some((link, native)) => (link, native, None),
            None => attach(&program, name, index, mode)?,
        };
        if is_pair {
            let text = "with it a veth pair has no segmentation offload, which TCP needs";
            reason = Some(io::Error::other(text));
        }
        let action = format!("set the Ethernet address of {name}");
        let (port, element, zero_copy) = (port.clone(), [0; 8], true);
        let mut attachment = Self {
            port,
            index,
            element,
            address,
            sockets,
            queues,
            largest_mtu: options.largest_mtu(),
            code,
            native,
            zero_copy,
            reason,
            link,
        };
        attachment.follow().map_err(XdpError::at(action))?;
        Ok(attachment)
    }

    /// Follows changes of the port's Ethernet address and MTU, and of the settings that permit forwarding.
    pub(super) fn follow(&mut self) -> io::Result<()> {
        let Mac([a, b, c, d, e, f]) = self.port.mac();
        // Without an answer it is as usual for a router.
        let is_off = |path: &str| u8::from(setting(path).is_ok_and(|value| value == "0"));
        let ipv4 = is_off(&format!("ipv4/conf/{}/forwarding", self.port.name));
        let ipv6 = is_off("ipv6/conf/all/forwarding");
        let element = [a, b, c, d, e, f, ipv4, ipv6];
        if element != self.element {
            self.address.insert(&[0; 4], &element)?;
            self.element = element;
        }
        let longest = longest(&self.port, self.largest_mtu);
        if longest != self.code.longest {
            // The kernel compares the end of a frame with a constant only, unless the process has CAP_PERFMON.
            self.code.longest = longest;
            self.link.update(&self.code.load()?)?;
        }
        Ok(())
    }

    /// The families that the interface does not forward.
    pub(super) fn not_forwarded(&self) -> Option<String> {
        let name = &self.port.name;
        let families = match self.element[6..8] {
            [0, 0] => return None,
            [_, 0] => "IPv4",
            [0, _] => "IPv6",
            _ => "IPv4 and IPv6",
        };
        Some(format!(
            "{name}: the kernel gets the packets of {families} and drops them, because it does not forward: set \
             net.ipv4.ip_forward and net.ipv6.conf.all.forwarding to 1"
        ))
    }

    /// Opens a socket for a queue, which receives from now on.
    pub(super) fn open_queue(
        &mut self,
        umem: &mut xdp::Umem,
        queue: u32,
        options: &XdpOptions,
    ) -> Result<Queue, XdpError> {
        let name = &self.port.name;
        // The kernel cannot hand frames to a device whose packets it has already taken.
        let zero_copy = options.zero_copy && self.native;
        let open = || Queue::open(umem, (self.index, queue), options.ring_size, zero_copy);
        let opened = while_released(open).map_err(|source| match source.raw_os_error() {
            Some(libc::EBUSY) => XdpError::QueueInUse { interface: name.clone(), queue },
            Some(libc::ENOBUFS) => XdpError::System {
                action: format!(
                    "lock memory for frames of {name} (add the capability CAP_IPC_LOCK, raise the \
                     limit by `ulimit -l`, or lower the ring size)"
                ),
                source,
            },
            _ => XdpError::at(format!("open an AF_XDP socket for queue {queue} of {name}"))(source),
        })?;
        let descriptor = opened.descriptor().as_raw_fd();
        let action = format!("lead packets of {name} to an AF_XDP socket");
        let inserted = self.sockets.insert(&queue.to_ne_bytes(), &descriptor.to_ne_bytes());
        inserted.map_err(XdpError::at(action))?;
        self.zero_copy &= opened.is_zero_copy();
        Ok(opened)
    }

    /// Takes the sockets out of the program's map: the kernel gets all packets.
    pub(super) fn close(&self) {
        for queue in 0..self.queues {
            // A missing element is not an error.
            drop(self.sockets.remove(&queue.to_ne_bytes()));
        }
    }

    /// The link, with which the program stays attached.
    pub(super) fn release(self) -> Option<ReleasedLink> {
        let (port, index, native) = (self.port.name.clone(), self.index, self.native);
        self.link.into_descriptor().map(|link| ReleasedLink { port, index, native, link })
    }

    /// The modes in use, in words.
    pub(super) fn description(&self) -> String {
        let name = &self.port.name;
        let mode = if self.native { XdpMode::Native } else { XdpMode::Generic };
        let copy = if self.zero_copy { "zero-copy" } else { "copy" };
        match &self.reason {
            None => format!("{name}: {mode} mode, {copy}"),
            Some(reason) => format!("{name}: {mode} mode, {copy} (no native mode: {reason})"),
        }
    }
}

/// Checks that the interface fits the options, and returns its number and the name of its driver.
fn check(
    port: &Port,
    options: &XdpOptions,
    warnings: &mut Vec<String>,
) -> Result<(u32, String), XdpError> {
    let name = &port.name;
    let interface = || name.to_owned();
    let interfaces = Interfaces::open().map_err(XdpError::at("open a socket"))?;
    let index = interfaces.index(name).map_err(|source| match source.raw_os_error() {
        Some(libc::ENODEV) => XdpError::NoInterface { interface: interface() },
        _ => XdpError::at(format!("find {name}"))(source),
    })?;
    // Those of machines and containers on this machine.
    const VIRTUAL: [&str; 9] =
        ["veth", "virtio_net", "tun", "bridge", "macvlan", "vxlan", "vif", "hv_netvsc", "vmxnet3"];
    let driver = interfaces.driver(name).unwrap_or_default();
    port.set_partial_checksums(VIRTUAL.contains(&&*driver));
    let mtu = interfaces.mtu(name).map_err(XdpError::at(format!("ask for the MTU of {name}")))?;
    let (largest, frame_size) = (options.largest_mtu(), options.frame_size);
    if mtu > largest {
        return Err(XdpError::TooLargeMtu { interface: interface(), mtu, largest, frame_size });
    }
    let queues = interfaces.queues(name);
    let queues = queues.map_err(XdpError::at(format!("ask for the queues of {name}")))?;
    // Drivers that do not say have one queue.
    let queues = queues.map_or(1, |queues| queues.max(1) as usize);
    let threads = options.threads;
    if queues < threads {
        return Err(XdpError::TooFewQueues { interface: interface(), queues, threads });
    }
    if queues > threads {
        warnings.push(format!(
            "{name}: {queues} queues for {threads} thread{}: the kernel forwards the packets of the \
             other queues, which is slower; use --threads {queues}, or reduce the queues by \
             `ethtool -L {name} combined {threads}`",
            if threads == 1 { "" } else { "s" }
        ));
    }
    Ok((index, driver))
}

/// Puts a program in the place of the one that a link for the same interface and mode has.
fn take_over(
    program: &Program,
    index: u32,
    mode: XdpMode,
    links: &mut Vec<ReleasedLink>,
) -> Option<(Link, bool)> {
    let place = links.iter().position(|link| link.index == index)?;
    let released = links.swap_remove(place);
    let (link, native) = (Link::from_descriptor(released.link), released.native);
    let other = if native { XdpMode::Generic } else { XdpMode::Native };
    // One that does not fit is detached.
    (mode != other && link.update(program).is_ok()).then_some((link, native))
}

/// Attaches a program in the best mode that the options permit: the link, whether the mode is the
/// native one, and why it is not if it might be.
fn attach(
    program: &Program,
    name: &str,
    index: u32,
    mode: XdpMode,
) -> Result<(Link, bool, Option<io::Error>), XdpError> {
    let error = |source: Error| match source.number() {
        // The one if it is attached in the same mode, the other if it is not.
        Some(libc::EBUSY | libc::EEXIST) => XdpError::OtherProgram { interface: name.to_owned() },
        Some(libc::EPERM | libc::EACCES) => {
            XdpError::Permission { action: format!("attach an XDP program to {name}") }
        }
        _ => XdpError::Attach { interface: name.to_owned(), mode, source: source.into() },
    };
    let reason = match mode {
        XdpMode::Generic => None,
        XdpMode::Native | XdpMode::Auto => match Link::attach_xdp(program, index, true) {
            Ok(link) => return Ok((link, true, None)),
            Err(source) => match error(source) {
                XdpError::Attach { source, .. } if mode == XdpMode::Auto => Some(source),
                other => return Err(other),
            },
        },
    };
    let link = Link::attach_xdp(program, index, false).map_err(error)?;
    Ok((link, false, reason))
}

/// Repeats an attempt while the queue belongs to another socket, for some seconds.
///
/// The kernel gives a queue back some time after its socket was closed, even by the end of a process.
fn while_released<T>(mut open: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    const PATIENCE: Duration = Duration::from_secs(3);
    const STEP: Duration = Duration::from_millis(20);
    let end = Instant::now() + PATIENCE;
    loop {
        match open() {
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) && Instant::now() < end => {
                thread::sleep(STEP);
            }
            result => return result,
        }
    }
}
