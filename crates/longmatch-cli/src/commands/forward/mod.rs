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
use longmatch_forward::packet::FlowFields;
use longmatch_forward::{Control, Port, Tally, Target, run as forward, spread};

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

/// Changes that concern more than routes.
enum News {
    None,
    Warning(String),
    /// The kernel must get all packets for some time, for this reason: interfaces have come or were replaced, or it does
    /// more than route.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "the routes of files have no interfaces")
    )]
    Close(String),
}

/// The work of the main thread while others forward.
trait Supervise {
    /// Follows the routes for at most `timeout`.
    ///
    /// # Errors
    /// If they cannot be followed any more.
    fn follow(&mut self, timeout: Duration) -> Result<News, CliError>;

    /// The fields by which next hops divide the traffic.
    fn flow_fields(&self) -> FlowFields {
        FlowFields::default()
    }

    /// Leaves all packets that arrive from now on to the kernel.
    fn close(&mut self) {}

    /// The numbers of routes and neighbours, for a line of counts.
    fn routes(&self) -> String;
}

/// A table that does not change.
struct Unchanged(TableWriter<Target>);

impl Supervise for Unchanged {
    fn follow(&mut self, timeout: Duration) -> Result<News, CliError> {
        thread::sleep(timeout);
        Ok(News::None)
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
    let mut session = Session::new(args)?;
    match session.forward(workers, ports, reader, routes)? {
        Ended::Again(reason) => Err(CliError::input("forwarding", reason)),
        Ended::Done => session.end(),
    }
}

/// The reason why threads have ended.
enum Ended {
    /// A signal, the end of the packets or of the time.
    Done,
    /// Interfaces have gone or come: they must be opened anew.
    Again(String),
}

/// Forwarding from the first packet to the last, though interfaces come and go.
struct Session<'a> {
    args: &'a ForwardArgs,
    signal: Arc<AtomicBool>,
    end: Option<Instant>,
    output: Output,
    /// The counts of all threads that have ended.
    tally: Tally,
    /// The last description of the routes.
    routes: String,
}

impl<'a> Session<'a> {
    /// # Errors
    /// If there is no thread left for the output.
    fn new(args: &'a ForwardArgs) -> Result<Self, CliError> {
        let (signal, output) = (signals()?, Output::new(args)?);
        let end = args.seconds.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds));
        Ok(Self { args, signal, end, output, tally: Tally::default(), routes: String::new() })
    }

    /// Whether a signal or the time ends it.
    fn has_ended(&self) -> bool {
        let is_late = self.end.is_some_and(|end| Instant::now() >= end);
        self.signal.load(Ordering::Relaxed) || self.output.has_ended() || is_late
    }

    /// Forwards with a thread for each of `workers`.
    fn forward<I: PacketIo + Send>(
        &mut self,
        workers: &mut [I],
        ports: &[Arc<Port>],
        reader: &TableReader<Target>,
        routes: &mut impl Supervise,
    ) -> Result<Ended, CliError> {
        let (control, batch) = (Control::new(workers.len()), self.args.batch);
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
                        let threads = format!("--threads {}", self.args.threads);
                        return Err(CliError::input(threads, error));
                    }
                }
            }
            let all_ended = || threads.iter().all(thread::ScopedJoinHandle::is_finished);
            let watched = self.watch(control, all_ended, routes);
            // First, so that the threads end with the last packet.
            routes.close();
            control.stop();
            if self.signal.load(Ordering::Relaxed) {
                end_soon();
            }
            let mut ended = watched?;
            for thread in threads {
                let result =
                    thread.join().unwrap_or_else(|_| Err(io::Error::other("a thread panicked")));
                match result {
                    Err(error) if is_gone(&error) => {
                        ended = Ended::Again(format!(
                            "a device is gone ({error}): all are opened anew"
                        ));
                    }
                    result => result.map_err(|error| CliError::input("forwarding", error))?,
                }
            }
            Ok(ended)
        });
        self.tally.add(&control.tally());
        self.routes = routes.routes();
        ended
    }

    /// Follows the routes and prints counts until the end.
    fn watch(
        &mut self,
        control: &Control,
        all_ended: impl Fn() -> bool,
        routes: &mut impl Supervise,
    ) -> Result<Ended, CliError> {
        while !self.has_ended() && !all_ended() {
            let next = self.end.map_or(self.output.next(), |end| self.output.next().min(end));
            let timeout = next.saturating_duration_since(Instant::now()).min(STEP);
            control.set_flow_fields(routes.flow_fields());
            match routes.follow(timeout)? {
                News::None => {}
                News::Warning(text) => self.output.warn(text),
                News::Close(reason) => return Ok(Ended::Again(reason)),
            }
            if Instant::now() >= self.output.next() {
                let mut tally = self.tally.clone();
                tally.add(&control.tally());
                self.output.interval(tally, routes.routes());
            }
        }
        Ok(Ended::Done)
    }

    /// Prints the counts of all packets.
    fn end(self) -> Result<(), CliError> {
        self.output.end(self.tally, self.routes)
    }
}

/// Whether an error says that an interface or the device to the kernel is gone.
fn is_gone(error: &io::Error) -> bool {
    #[cfg(target_os = "linux")]
    const GONE: [rustix::io::Errno; 4] = {
        use rustix::io::Errno;
        [Errno::BADFD, Errno::NODEV, Errno::NXIO, Errno::NETDOWN]
    };
    #[cfg(not(target_os = "linux"))]
    const GONE: [rustix::io::Errno; 0] = [];
    GONE.iter().any(|code| error.raw_os_error() == Some(code.raw_os_error()))
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
