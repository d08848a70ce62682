//! Forwarding between interfaces of the kernel, by its routes.

use std::cell::RefCell;
use std::sync::Arc;
use std::thread;

use longmatch_forward::Port;
use longmatch_forward::io::xdp::{Xdp, XdpMode, XdpOptions};
use longmatch_forward::kernel::{Follower, ports};

use super::kernel::{self, Interfaces, KernelRoutes, objection};
use super::{Ended, STEP, Session};
use crate::args::{self, ForwardArgs};
use crate::error::CliError;
use crate::output::{plural, warn};

/// Bytes of a frame for MTUs above that of Ethernet.
const LARGE_FRAMES: u32 = 4096;

pub(super) fn run(args: &ForwardArgs) -> Result<(), CliError> {
    // Each must be there at the beginning.
    let mut open = ports(&args.interfaces).map_err(|error| unusable(&error))?;
    if let Some(text) = objection(&open, &args.bypass)? {
        return Err(CliError::input("--interface", text));
    }
    let mut started = None;
    while let Ended::Again(reason) = forward_between(args, &open, &mut started)? {
        let Some(session) = &mut started else { break };
        session.output.warn(reason);
        loop {
            open = present(&args.interfaces);
            let is_ready = !open.is_empty() && objection(&open, &args.bypass)?.is_none();
            if is_ready || session.has_ended() {
                break;
            }
            thread::sleep(STEP);
        }
        if session.has_ended() {
            break;
        }
    }
    started.map_or(Ok(()), Session::end)
}

fn unusable(error: &dyn std::fmt::Display) -> CliError {
    CliError::input("--interface", error)
}

/// The ports of the interfaces that can be opened.
fn present(names: &[String]) -> Vec<Arc<Port>> {
    let names = names.iter().filter(|name| ports(std::slice::from_ref(name)).is_ok());
    ports(&names.cloned().collect::<Vec<_>>()).unwrap_or_default()
}

/// Forwards between these ports until the end, or until interfaces come or go. The session starts with the first packet.
fn forward_between<'a>(
    args: &'a ForwardArgs,
    ports: &[Arc<Port>],
    started: &mut Option<Session<'a>>,
) -> Result<Ended, CliError> {
    let mode = args.xdp_mode.into();
    let mut options = XdpOptions { threads: args.threads, mode, ..XdpOptions::default() };
    if ports.iter().any(|port| port.mtu() > options.largest_mtu()) {
        options.frame_size = LARGE_FRAMES;
    }
    // A full table takes seconds, in which the kernel forwards.
    let follower = kernel::read(args, ports)?;
    let mut xdp = Xdp::open(ports, &options).map_err(|error| unusable(&error))?;
    xdp.warnings().iter().for_each(warn);
    xdp.descriptions().iter().for_each(warn);
    let mut workers = xdp.workers();
    let xdp = RefCell::new(xdp);
    let mut warned = false;
    let keep_local = |follower: &Follower| {
        let mut xdp = xdp.borrow_mut();
        let followed = xdp.follow_interfaces();
        // No packet has a broadcast address for its source: the kernel drops those that have one.
        let addresses = follower.local_addresses().chain(follower.broadcast_addresses());
        let refused = xdp.set_local_addresses(addresses);
        // The same addresses may be refused again and again.
        let refused = refused.err().map(|error| error.to_string());
        let refused =
            refused.or_else(|| Some(format!("an interface's address: {}", followed.err()?)));
        let warning = refused.filter(|_| !warned);
        warned |= warning.is_some();
        warning
    };
    let interfaces = Interfaces::new(args, ports);
    let mut routes =
        KernelRoutes::new(follower, Some(interfaces), keep_local, || xdp.borrow_mut().close());
    let reader = routes.reader();
    let session = match started {
        Some(session) => session,
        None => started.insert(Session::new(args)?),
    };
    let result = session.forward(&mut workers, ports, &reader, &mut routes);
    let missed: u64 = workers.iter().filter_map(|worker| worker.missed().ok()).sum();
    if missed > 0 {
        let missed = plural(missed, "packet");
        warn(format_args!(
            "{missed} arrived while the receive queues were full: use more --threads"
        ));
    }
    result
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
