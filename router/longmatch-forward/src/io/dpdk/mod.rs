//! Packet I/O by DPDK: frames from network cards, captures or nothing, without the kernel.
//!
//! # Building
//!
//! DPDK is optional. With Debian or Ubuntu:
//!
//! ```text
//! apt-get install dpdk-dev pkg-config
//! cargo build --release --features dpdk
//! ```
//!
//! The version must be 22.11 or later. The program is linked with DPDK's shared libraries, which
//! load the drivers. The C code in `dpdk/shim.c` is this project's, under its licences; DPDK itself
//! has the licence BSD-3-Clause.
//!
//! # Running
//!
//! Ports are [device arguments](DpdkOptions::devices) of DPDK:
//!
//! | device | description |
//! |---|---|
//! | `net_null0,size=64` | frames without content, as fast as can be; sent ones are dropped. With [`Generated`](super::Generated), a source of packets |
//! | `net_pcap0,rx_pcap=in.pcap,tx_pcap=out.pcap` | reads a capture once, and writes another |
//! | `net_af_packet0,iface=eth0` | an interface of the kernel's, by a packet socket; more workers need `qpairs=` |
//! | `0000:03:00.0` | a network card that is bound to `vfio-pci` or whose driver shares it |
//!
//! Huge pages are optional: packets are in ordinary pages unless
//! [`huge_pages`](DpdkOptions::huge_pages) is set. `net_null` and `net_pcap` on files need no
//! privileges; interfaces need `CAP_NET_RAW`, and cards what DPDK's manual says. The tests cover
//! virtual devices on ordinary pages; neither cards nor huge pages.
//!
//! ```no_run
//! use longmatch_forward::io::PacketIo;
//! use longmatch_forward::io::dpdk::{Dpdk, DpdkOptions};
//! use longmatch_forward::{Cause, Fate, PacketCounts};
//!
//! let mut dpdk = Dpdk::open(&DpdkOptions::new(["net_null0,size=64"]))?;
//! for mut io in dpdk.workers() {
//!     let mut tally = PacketCounts::default();
//!     let batch = io.receive(32)?;
//!     let fates = vec![Fate::Stop(Cause::NotIp); batch.len];
//!     fates.iter().for_each(|&fate| tally.count(batch.port, 60, fate));
//!     io.dispatch(&fates, &mut tally)?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The kernel
//!
//! The kernel does not see the packets of these ports. Those that are for the kernel
//! ([`Disposition::Kernel`](crate::Disposition::Kernel)) are dropped, and stay counted by their causes, so
//! that nothing answers ARP or neighbour solicitations, nor sends ICMP errors; unless
//! [`DpdkOptions::kernel`] names a device for each port by which the kernel gets them, usually an
//! interface of the driver `net_tap`:
//!
//! ```
//! use longmatch_forward::io::dpdk::DpdkOptions;
//! let mut options = DpdkOptions::new(["0000:03:00.0", "0000:03:00.1"]);
//! options.kernel = vec!["net_tap0,iface=port0".into(), "net_tap1,iface=port1".into()];
//! ```
//!
//! The interface gets the MAC address of the port, and the port the interface's number in the
//! kernel, so that the kernel's addresses, routes and neighbours of `port0` are the port's. What the
//! kernel sends by the interface leaves by the port. Workers look for such packets after each batch
//! without packets, and after 64 batches at the latest.
//!
//! `net_af_packet` is different: the kernel gets its own copy of each frame anyway, so that it does
//! answer. It must not forward as well (`net.ipv4.conf.all.forwarding=0`,
//! `net.ipv6.conf.all.forwarding=0`), or packets leave twice.
//!
//! # Threads
//!
//! Each worker has a transmit queue of every port, and a receive queue of every port that has
//! enough; the device divides flows among them (RSS). Workers poll: a thread without packets uses
//! all of its CPU.

mod devices;
mod error;
mod ffi;
mod options;
mod thread;
mod worker;

use std::ffi::CString;
use std::fmt;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::target::Port;
use devices::Devices;
pub use error::DpdkError;
pub use options::DpdkOptions;
pub use worker::DpdkIo;

/// Whether DPDK was initialised, or tried to be.
static OPENED: AtomicBool = AtomicBool::new(false);

/// The opened ports.
///
/// They are closed with the last of this value and its workers.
pub struct Dpdk {
    devices: Arc<Devices>,
    workers: Vec<DpdkIo>,
}

impl Dpdk {
    /// Starts DPDK and opens ports.
    ///
    /// A process can do that once, since DPDK's environment cannot be started again: even after an
    /// error, unless it is [`DpdkError::BadOption`], and after all ports were closed. DPDK itself
    /// prints messages, and ends the process if an argument in [`eal`](DpdkOptions::eal) asks for help.
    ///
    /// # Errors
    /// If DPDK was opened before, or does not accept an option, or a device is not there or has too
    /// few queues, or memory is short.
    pub fn open(options: &DpdkOptions) -> Result<Self, DpdkError> {
        options.check()?;
        if OPENED.swap(true, Ordering::Relaxed) {
            return Err(DpdkError::AlreadyOpened);
        }
        start(options)?;
        let devices = Arc::new(Devices::open(options)?);
        let worker = |(queue, &pool)| DpdkIo::new(devices.clone(), queue, pool);
        let workers = (0..).zip(&devices.pools).map(worker).collect();
        Ok(Self { devices, workers })
    }

    /// The ports, by number. Numbers are places in [`DpdkOptions::devices`].
    pub fn ports(&self) -> Vec<Arc<Port>> {
        let ports = self.devices.list.iter().take(self.devices.ports);
        ports.map(|device| device.port.clone()).collect()
    }

    /// Takes the workers, as many as [`DpdkOptions::workers`]; none are left for a second call.
    ///
    /// Each belongs in its own thread. At its first batch, a thread becomes one of DPDK's.
    pub fn workers(&mut self) -> Vec<DpdkIo> {
        std::mem::take(&mut self.workers)
    }
}

impl fmt::Debug for Dpdk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dpdk")
            .field("ports", &self.ports())
            .field("workers", &self.workers)
            .finish()
    }
}

/// Initialises DPDK's environment.
fn start(options: &DpdkOptions) -> Result<(), DpdkError> {
    let cpu = ffi::check(ffi::lm_dpdk_cpu()).map_err(DpdkError::Environment)?;
    // DPDK may keep pointers to the arguments, and reorders the list; so they are never freed, which
    // happens once.
    let arguments = options.arguments(cpu).into_iter().map(CString::into_raw);
    let arguments = arguments.chain([ptr::null_mut()]).collect::<Box<[_]>>();
    let arguments = Box::leak(arguments);
    // `check` limits devices; more than 2^31 arguments of `eal` do not fit into memory.
    let count = arguments.len() as i32 - 1;
    // SAFETY: the arguments are `count` texts that end with a NUL character and live for ever, and a
    // null pointer follows, as in `main`; `open` lets one thread come here once.
    let result = unsafe { ffi::lm_dpdk_init(count, arguments.as_mut_ptr()) };
    ffi::check(result).map_err(DpdkError::Environment)?;
    Ok(())
}
