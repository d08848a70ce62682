//! `longmatch forward`: forwards packets.

#[cfg(feature = "dpdk")]
mod dpdk;
#[cfg(any(all(target_os = "linux", target_pointer_width = "64"), feature = "dpdk"))]
mod kernel;
mod output;
mod pcap;
mod print;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod xdp;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use std::{io, process};

use longmatch::{NextHopId, TableReader, TableWriter};
use longmatch_forward::io::PacketIo;
use longmatch_forward::{Control, Port, Target, run as forward, spread};

use self::output::Output;
use crate::args::{ForwardArgs, Io};
use crate::error::{CliError, Outcome, Status};
use crate::families::Families;
use crate::input::Routes;

/// The longest time without a look at the routes, the clock and the signals.
const STEP: Duration = Duration::from_millis(50);

/// Runs the command.
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

#[cfg(not(feature = "dpdk"))]
fn no_dpdk() -> CliError {
    CliError::new(
        "--io dpdk: this program was built without DPDK: build it with 'cargo build --release -p longmatch-cli --features dpdk'",
    )
}

/// What the main thread does while others forward.
trait Supervise {
    /// Follows the routes for at most `timeout`. Returns a warning.
    ///
    /// # Errors
    /// If they cannot be followed any more.
    fn follow(&mut self, timeout: Duration) -> Result<Option<String>, CliError>;

    /// The numbers of routes and neighbours, for a line of counts.
    fn routes(&self) -> String;
}

/// A table that does not change.
struct Unchanged(TableWriter<Target>);

impl Supervise for Unchanged {
    fn follow(&mut self, timeout: Duration) -> Result<Option<String>, CliError> {
        thread::sleep(timeout);
        Ok(None)
    }

    fn routes(&self) -> String {
        print::routes(self.0.ipv4().len(), self.0.ipv6().len())
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
    let control = Control::new(workers.len());
    let signal = signals()?;
    let mut output = Output::new(args)?;
    let batch = args.batch;
    let ended = thread::scope(|scope| {
        let control = &control;
        let mut threads = Vec::new();
        for (number, io) in workers.iter_mut().enumerate() {
            let mut reader = reader.clone();
            let work = move || forward(io, &mut reader, ports, batch, control, number);
            let name = format!("forward-{number}");
            match thread::Builder::new().name(name).spawn_scoped(scope, work) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    control.stop();
                    return Err(CliError::input(format!("--threads {}", args.threads), error));
                }
            }
        }
        let all_ended = || threads.iter().all(thread::ScopedJoinHandle::is_finished);
        let end = args.seconds.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds));
        let watched = watch(control, &signal, end, all_ended, routes, &mut output);
        control.stop();
        if signal.load(Ordering::Relaxed) {
            end_soon();
        }
        for thread in threads {
            let ended =
                thread.join().unwrap_or_else(|_| Err(io::Error::other("a thread panicked")));
            ended.map_err(|error| CliError::input("forwarding", error))?;
        }
        watched
    });
    ended?;
    output.end(control.tally(), routes.routes())
}

/// Ends the process though a thread waits for a reader of its output that does not read.
fn end_soon() {
    /// The other threads end within a fraction of it.
    const PATIENCE: Duration = Duration::from_millis(900);
    thread::spawn(|| {
        thread::sleep(PATIENCE);
        process::exit(2);
    });
}

/// Follows the routes and prints counts until the end.
fn watch(
    control: &Control,
    signal: &AtomicBool,
    end: Option<Instant>,
    all_ended: impl Fn() -> bool,
    routes: &mut impl Supervise,
    output: &mut Output,
) -> Result<(), CliError> {
    while !signal.load(Ordering::Relaxed) && !all_ended() && !output.has_ended() {
        let now = Instant::now();
        if end.is_some_and(|end| now >= end) {
            break;
        }
        let next = end.map_or(output.next(), |end| output.next().min(end));
        let warning = routes.follow(next.saturating_duration_since(now).min(STEP))?;
        if let Some(text) = warning {
            output.warn(text);
        }
        if Instant::now() >= output.next() {
            output.interval(control.tally(), routes.routes());
        }
    }
    Ok(())
}

/// A flag that SIGINT and SIGTERM set.
fn signals() -> Result<Arc<AtomicBool>, CliError> {
    let flag = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        let registered = signal_hook::flag::register(signal, flag.clone());
        registered.map_err(|error| CliError::input("signals", error))?;
    }
    Ok(flag)
}

/// Compiles the routes of the command line for these ports.
fn static_table(args: &ForwardArgs, ports: &[Arc<Port>]) -> Result<Unchanged, CliError> {
    let spec = args.table_spec()?;
    let routes = Routes::load_as(&args.routes.clone().into(), Families::BOTH, None)?;
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
