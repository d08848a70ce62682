//! Forwards packets.

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod control;
mod counts;
#[cfg(feature = "dpdk")]
mod dpdk;
#[cfg(any(all(target_os = "linux", target_pointer_width = "64"), feature = "dpdk"))]
mod kernel;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod metrics;
mod output;
mod pcap;
mod print;
#[cfg_attr(
    not(all(target_os = "linux", target_pointer_width = "64")),
    expect(dead_code, reason = "only forwarders by the kernel's routes are asked")
)]
mod questions;
#[cfg_attr(
    not(all(target_os = "linux", target_pointer_width = "64")),
    expect(
        dead_code,
        unused_variables,
        reason = "only forwarders by the kernel's routes are asked"
    )
)]
mod service;
#[cfg_attr(
    not(all(target_os = "linux", target_pointer_width = "64")),
    expect(dead_code, reason = "only forwarders by the kernel's routes are asked")
)]
mod session;
mod supervise;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod xdp;

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use longmatch::{NextHopId, TableReader, TableWriter};
use longmatch_cli::error::{CliError, Outcome, Status};
use longmatch_cli::families::Families;
use longmatch_cli::input::LoadedRoutes;
use longmatch_forward::io::PacketIo;
use longmatch_forward::{Port, Target, spread};

use self::counts::RouteCounts;
use self::service::Service;
use self::session::{Ended, Session};
use self::supervise::{News, Supervise};
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
use crate::args::RouteQuestion;
use crate::args::{ForwardArgs, Io, RouteArgs};

/// Forwards packets.
///
/// # Errors
/// If an interface, a capture or the routes cannot be used.
pub fn run(args: &ForwardArgs) -> Outcome {
    if args.kernel_capture.is_some() && args.io != Io::Pcap {
        return Err(CliError::new("--kernel-capture needs --io pcap"));
    }
    if args.generate.is_some() && args.io != Io::Dpdk {
        return Err(CliError::new("--generate needs --io dpdk"));
    }
    if !args.tap.is_empty() && args.io != Io::Dpdk {
        return Err(CliError::new("--tap needs --io dpdk"));
    }
    if args.io != Io::Xdp {
        for (given, option) in [
            (args.metrics.is_some(), "--metrics"),
            (args.take_over, "--take-over"),
            (args.control.is_some(), "--control"),
        ] {
            if given {
                return Err(CliError::new(format!("{option} needs --io xdp")));
            }
        }
    }
    if args.io == Io::Xdp && args.routes.table.is_some() {
        return Err(CliError::new(
            "--table: --io xdp forwards by the routes of the kernel: use --io pcap",
        ));
    }
    if args.io == Io::Xdp && !args.routes.files.is_empty() {
        return Err(CliError::new(
            "--routes: --io xdp forwards by the routes of the kernel: add them with 'ip route', or use --io pcap",
        ));
    }
    // Before any interface is touched.
    args.table_spec()?;
    match args.io {
        Io::Pcap => pcap::run(args)?,
        #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
        Io::Xdp => xdp::run(args)?,
        #[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
        Io::Xdp => return Err(CliError::new("--io xdp: AF_XDP exists on 64-bit Linux only")),
        #[cfg(feature = "dpdk")]
        Io::Dpdk => dpdk::run(args)?,
        #[cfg(not(feature = "dpdk"))]
        Io::Dpdk => return Err(no_dpdk()),
    }
    Ok(Status::Ok)
}

/// Asks a running forwarder.
///
/// # Errors
/// If there is none.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub fn ask(args: &RouteArgs) -> Outcome {
    let RouteQuestion::Get(args) = &args.question;
    control::route_get(args)
}

/// Asks a running forwarder, which no other system has.
///
/// # Errors
/// Always.
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
pub fn ask(_: &RouteArgs) -> Outcome {
    Err(CliError::new("forwarders between interfaces of the kernel exist on 64-bit Linux only"))
}

#[cfg(not(feature = "dpdk"))]
fn no_dpdk() -> CliError {
    CliError::new(
        "--io dpdk: this program was built without DPDK: build it with 'cargo build --release -p longmatch-router --features dpdk'",
    )
}

/// A table that does not change.
struct Unchanged(TableWriter<Target>);

impl Supervise for Unchanged {
    fn follow(&mut self, timeout: Duration) -> Result<News, CliError> {
        thread::sleep(timeout);
        Ok(News::None)
    }

    fn routes(&self) -> RouteCounts {
        let (ipv4, ipv6) = (self.0.ipv4().len(), self.0.ipv6().len());
        RouteCounts { ipv4, ipv6, ..RouteCounts::default() }
    }
}

/// Forwards with a thread for each of `workers`, until a signal, the end of the packets or of the
/// time.
fn forward_all<I: PacketIo + Send>(
    args: &ForwardArgs,
    workers: &mut [I],
    ports: &[Arc<Port>],
    reader: &TableReader<Target>,
    routes: &mut impl Supervise,
) -> Result<(), CliError> {
    let mut session = Session::new(args, Service::new(args)?)?;
    match session.forward(workers, ports, reader, routes)? {
        Ended::Again(reason) => Err(CliError::input("forwarding", reason)),
        Ended::Done | Ended::TakenOver(_) => session.end(),
    }
}

/// Compiles the routes of the command line for these ports.
fn static_table(args: &ForwardArgs, ports: &[Arc<Port>]) -> Result<Unchanged, CliError> {
    let spec = args.table_spec()?;
    let routes = LoadedRoutes::load_as(&args.routes, Families::BOTH, None)?;
    routes.require_routes(Families::BOTH)?;
    let named = |id: NextHopId| match routes.next_hop(id) {
        "blackhole" => Some(Target::Blackhole),
        "unreachable" | "prohibit" | "throw" => Some(Target::Kernel),
        _ => None,
    };
    let table = spread(routes.rib(), routes.rib(), ports, named)
        .map_err(|error| CliError::input(&routes.name, error))?;
    let writer = table.live(spec).map_err(|error| CliError::input("--engine", error))?;
    Ok(Unchanged(writer))
}
