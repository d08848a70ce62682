//! Forwarding between interfaces of the kernel, by its routes.

use std::sync::Arc;

use longmatch_cli::error::CliError;
use longmatch_cli::output::warn;
use longmatch_forward::Port;
use longmatch_forward::io::xdp::{ReleasedLink, Xdp, XdpIo, XdpMode, XdpOptions};
use longmatch_forward::kernel::{Follower, ports};

use super::control;
use super::kernel::{self, Attached, Interfaces, KernelRoutes, objection};
use super::service::Service;
use super::session::{Ended, Session};
use crate::args::{self, ForwardArgs};

/// Bytes of a frame for MTUs above that of Ethernet.
const LARGE_FRAMES: u32 = 4096;

pub(super) fn run(args: &ForwardArgs) -> Result<(), CliError> {
    // Each must be there at the beginning.
    let open = ports(&args.interfaces).map_err(|error| unusable(&error))?;
    if let Some(text) = objection(&open, &args.bypass)? {
        return Err(CliError::input("--interface", text));
    }
    let service = Service::new(args)?;
    if !args.take_over {
        service.open_control(args.control_name())?;
    }
    let mut opened = Opened::new(args, open, || take_over(args, &service))?;
    let mut session = Session::new(args, service)?;
    loop {
        let (ended, closing) = opened.forward(&mut session)?;
        let Ended::Again(reason) = ended else {
            // Before the kernel takes the interfaces back, which may last.
            let printed = session.end();
            drop(closing);
            return printed;
        };
        drop(closing);
        session.output.warn(reason);
        let Some(open) = reopened(args, &mut session)? else { return session.end() };
        opened = Opened::new(args, open, || Ok(Vec::new()))?;
    }
}

fn unusable(error: &dyn std::fmt::Display) -> CliError {
    CliError::input("--interface", error)
}

/// Takes the interfaces over from a running forwarder, and its control socket.
fn take_over(args: &ForwardArgs, service: &Service) -> Result<Vec<ReleasedLink>, CliError> {
    if !args.take_over {
        return Ok(Vec::new());
    }
    let links = control::take_over(args.control_name())?;
    service.open_control(args.control_name())?;
    Ok(links)
}

/// Waits until interfaces can be opened. `None` at the end.
fn reopened(
    args: &ForwardArgs,
    session: &mut Session<'_>,
) -> Result<Option<Vec<Arc<Port>>>, CliError> {
    loop {
        let open = present(&args.interfaces);
        if session.has_ended() {
            return Ok(None);
        }
        if !open.is_empty() && objection(&open, &args.bypass)?.is_none() {
            return Ok(Some(open));
        }
        if let Some(by) = session.pause() {
            control::hand_over(&by, &[]);
            return Ok(None);
        }
    }
}

/// The ports of the interfaces that can be opened.
fn present(names: &[String]) -> Vec<Arc<Port>> {
    let names = names.iter().filter(|name| ports(std::slice::from_ref(name)).is_ok());
    ports(&names.cloned().collect::<Vec<_>>()).unwrap_or_default()
}

/// Routes that are read, and interfaces that are open.
struct Opened {
    ports: Vec<Arc<Port>>,
    follower: Follower,
    xdp: Xdp,
    workers: Vec<XdpIo>,
    interfaces: Interfaces,
}

impl Opened {
    /// Opens interfaces. `taken` gives links of another process.
    fn new(
        args: &ForwardArgs,
        ports: Vec<Arc<Port>>,
        taken: impl FnOnce() -> Result<Vec<ReleasedLink>, CliError>,
    ) -> Result<Self, CliError> {
        let mode = args.xdp_mode.into();
        let mut options = XdpOptions { threads: args.threads, mode, ..XdpOptions::default() };
        if ports.iter().any(|port| port.mtu() > options.largest_mtu()) {
            options.frame_size = LARGE_FRAMES;
        }
        // A full table takes seconds, in which the kernel or the other process forwards.
        let follower = kernel::read(args, &ports)?;
        let xdp = Xdp::open_over(&ports, &options, taken()?);
        let mut xdp = xdp.map_err(|error| unusable(&error))?;
        xdp.warnings().iter().for_each(warn);
        xdp.descriptions().iter().for_each(warn);
        let (workers, interfaces) = (xdp.workers(), Interfaces::new(args, &ports));
        Ok(Self { ports, follower, xdp, workers, interfaces })
    }

    /// Forwards until the end, or until interfaces come or go. Also returns the values that give them back.
    fn forward(self, session: &mut Session<'_>) -> Result<(Ended, Closing), CliError> {
        let Self { ports, follower, xdp, mut workers, interfaces } = self;
        let programs = Programs { xdp, warned: false };
        let mut routes = KernelRoutes::new(follower, Some(interfaces), programs);
        let reader = routes.reader();
        let ended = session.forward(&mut workers, &ports, &reader, &mut routes)?;
        let Ended::TakenOver(by) = &ended else { return Ok((ended, Some((routes, workers)))) };
        // The queues are free once the threads' sockets are closed.
        drop(workers);
        let mut xdp = routes.into_attached().xdp;
        let links = xdp.release();
        // With it the name of the device to the kernel is free.
        drop(xdp);
        control::hand_over(by, &links);
        Ok((ended, None))
    }
}

/// The values that give the interfaces back when they are dropped.
type Closing = Option<(KernelRoutes<Programs>, Vec<XdpIo>)>;

/// The programs on the interfaces.
struct Programs {
    xdp: Xdp,
    /// Whether a warning was given: the same addresses may be refused again and again.
    warned: bool,
}

impl Attached for Programs {
    fn follow(&mut self, follower: &Follower) -> Option<String> {
        let followed = self.xdp.follow_interfaces();
        // No packet has a broadcast address for its source: the kernel drops those that have one.
        let addresses = follower.local_addresses().chain(follower.broadcast_addresses());
        let refused = self.xdp.set_local_addresses(addresses);
        let refused = refused.err().map(|error| error.to_string());
        let refused =
            refused.or_else(|| Some(format!("an interface's address: {}", followed.err()?)));
        let warning = refused.filter(|_| !self.warned);
        self.warned |= warning.is_some();
        warning
    }

    fn close(&mut self) {
        self.xdp.close();
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
