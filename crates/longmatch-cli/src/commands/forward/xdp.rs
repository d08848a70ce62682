//! Forwarding between interfaces of the kernel, by its routes.

use std::time::Duration;

use longmatch_forward::io::xdp::{Xdp, XdpMode, XdpOptions};
use longmatch_forward::kernel::{Follower, ports};

use super::{Supervise, forward_all, print};
use crate::args::{self, ForwardArgs};
use crate::error::CliError;
use crate::output::{plural, warn};

pub(super) fn run(args: &ForwardArgs) -> Result<(), CliError> {
    let unusable = |error: &dyn std::fmt::Display| CliError::input("--interface", error);
    let spec = args.table_spec()?;
    let ports = ports(&args.interfaces).map_err(|error| unusable(&error))?;
    let follower = Follower::new(&ports, spec).map_err(|error| unusable(&error))?;
    let mut options =
        XdpOptions { threads: args.threads, mode: args.xdp_mode.into(), ..XdpOptions::default() };
    if ports.iter().any(|port| port.mtu() > options.largest_mtu()) {
        options.frame_size = LARGE_FRAMES;
    }
    let mut xdp = Xdp::open(&ports, &options).map_err(|error| unusable(&error))?;
    xdp.warnings().iter().for_each(warn);
    for description in xdp.descriptions() {
        warn(description);
    }
    let mut workers = xdp.workers();
    let reader = follower.reader();
    let mut routes = KernelRoutes { follower, xdp, warned: false };
    routes.announce_local_addresses();
    let result = forward_all(args, &mut workers, &ports, &reader, &mut routes);
    let missed: u64 = workers.iter().filter_map(|worker| worker.missed().ok()).sum();
    if missed > 0 {
        warn(format_args!(
            "{} arrived while the receive queues were full: use more --threads",
            plural(missed, "packet")
        ));
    }
    result
}

/// Bytes of a frame for MTUs above that of Ethernet.
const LARGE_FRAMES: u32 = 4096;

/// The kernel's routes, and the addresses whose packets stay with it.
struct KernelRoutes {
    follower: Follower,
    xdp: Xdp,
    /// Whether a local address was refused: one warning says so.
    warned: bool,
}

impl KernelRoutes {
    fn announce_local_addresses(&mut self) {
        let refused = self.xdp.set_local_addresses(self.follower.local_addresses());
        if let (Err(error), false) = (refused, self.warned) {
            warn(error);
            self.warned = true;
        }
    }
}

impl Supervise for KernelRoutes {
    fn follow(&mut self, timeout: Duration) -> Result<(), CliError> {
        let followed = self.follower.follow(timeout);
        let followed = followed.map_err(|error| CliError::input("routes of the kernel", error))?;
        if followed.messages > 0 {
            self.announce_local_addresses();
        }
        Ok(())
    }

    fn routes(&self) -> String {
        let routes = self.follower.routes();
        print::routes(routes.ipv4, routes.ipv6)
    }
}

impl From<args::XdpMode> for XdpMode {
    fn from(mode: args::XdpMode) -> Self {
        match mode {
            args::XdpMode::Auto => Self::Auto,
            args::XdpMode::Native => Self::Native,
            args::XdpMode::Generic => Self::Generic,
        }
    }
}
