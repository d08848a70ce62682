//! Forwarding from the first packet to the last.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use std::{io, process};

use longmatch::TableReader;
use longmatch_cli::error::CliError;
use longmatch_forward::io::PacketIo;
use longmatch_forward::{Control, Port, Target, run};
use serde_json::{Value, json};

use super::counts::{RouteCounts, Sample, TrafficCounts};
use super::output::Output;
use super::questions::{Question, STEP, TakeOver};
use super::service::Service;
use super::supervise::{News, Supervise};
use crate::args::ForwardArgs;

/// The reason why threads have ended.
pub(super) enum Ended {
    /// A signal, the end of the packets or of the time.
    Done,
    /// Interfaces have gone or come: they must be opened again.
    Again(String),
    /// Another process takes the interfaces over.
    TakenOver(TakeOver),
}

/// Forwarding from the first packet to the last, though interfaces come and go.
pub(super) struct Session<'a> {
    args: &'a ForwardArgs,
    signal: Arc<AtomicBool>,
    started: Instant,
    end: Option<Instant>,
    pub(super) output: Output,
    service: Service,
    /// Whether the last line is printed.
    has_printed: Arc<AtomicBool>,
    /// The counts of all threads that have ended.
    counts: TrafficCounts,
    /// The last counts of routes.
    routes: RouteCounts,
}

impl<'a> Session<'a> {
    /// # Errors
    /// If there is no thread left for the output.
    pub(super) fn new(args: &'a ForwardArgs, service: Service) -> Result<Self, CliError> {
        let (signal, output, started) = (signals()?, Output::new(args)?, Instant::now());
        let end = args.seconds.map(|seconds| started + Duration::from_secs_f64(seconds));
        let (counts, routes) = (TrafficCounts::default(), RouteCounts::default());
        let has_printed = Arc::default();
        Ok(Self { args, signal, started, end, output, service, has_printed, counts, routes })
    }

    /// Whether a signal or the time ends it.
    pub(super) fn has_ended(&self) -> bool {
        let is_late = self.end.is_some_and(|end| Instant::now() >= end);
        self.signal.load(Ordering::Relaxed) || self.output.has_ended() || is_late
    }

    /// Forwards with a thread for each of `workers`.
    pub(super) fn forward<I: PacketIo + Send>(
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
                let work = move || run(io, &mut reader, ports, batch, control, number);
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
            self.service.ready(&routes.routes());
            let all_ended = || threads.iter().all(thread::ScopedJoinHandle::is_finished);
            let watched = self.watch(control, ports, all_ended, routes);
            if self.signal.load(Ordering::Relaxed) {
                end_soon(self.has_printed.clone());
            }
            // First, so that the threads end with the last packet.
            routes.close();
            control.stop();
            let mut ended = watched?;
            for thread in threads {
                let result =
                    thread.join().unwrap_or_else(|_| Err(io::Error::other("a thread panicked")));
                match result {
                    Err(error) if is_gone(&error) => {
                        ended = Ended::Again(format!(
                            "a device is gone ({error}): all are opened again"
                        ));
                    }
                    result => result.map_err(|error| CliError::input("forwarding", error))?,
                }
            }
            Ok(ended)
        });
        self.counts.add(&control.tally(), ports);
        self.routes = routes.routes();
        ended
    }

    /// Follows the routes, prints counts and answers questions until the end.
    fn watch(
        &mut self,
        control: &Control,
        ports: &[Arc<Port>],
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
            self.service.beat(&control.batches());
            if Instant::now() >= self.output.next() {
                let sample = self.sample(control, ports, routes.routes());
                self.output.interval(sample);
            }
            while let Some(question) = self.service.question() {
                match question {
                    Question::Route(addr, answer) => answer.give(routes.route(addr)),
                    Question::Counts(answer) => {
                        answer.give(self.sample(control, ports, routes.routes()));
                    }
                    Question::TakeOver(by) => return Ok(Ended::TakenOver(by)),
                }
            }
        }
        Ok(Ended::Done)
    }

    /// The counts of this moment, with those of threads that forward between these ports.
    fn sample(&self, control: &Control, ports: &[Arc<Port>], routes: RouteCounts) -> Sample {
        let mut sample = Sample { routes, ..self.last_sample() };
        sample.counts.add(&control.tally(), ports);
        sample
    }

    /// The counts of the threads that have ended.
    fn last_sample(&self) -> Sample {
        Sample {
            started: self.started,
            at: Instant::now(),
            counts: self.counts.clone(),
            routes: self.routes,
            left_out: self.output.left_out(),
        }
    }

    /// Waits a moment while nothing is forwarded, and answers questions. Another process may take over.
    pub(super) fn pause(&mut self) -> Option<TakeOver> {
        thread::sleep(STEP);
        self.service.beat(&[]);
        while let Some(question) = self.service.question() {
            match question {
                Question::Route(_, answer) => answer.give(not_forwarding()),
                Question::Counts(answer) => answer.give(self.last_sample()),
                Question::TakeOver(by) => return Some(by),
            }
        }
        None
    }

    /// Prints the counts of all packets.
    pub(super) fn end(self) -> Result<(), CliError> {
        let sample = self.last_sample();
        self.output.end(sample)?;
        self.has_printed.store(true, Ordering::Relaxed);
        Ok(())
    }
}

/// The answer while the kernel forwards all packets.
fn not_forwarding() -> Value {
    json!({ "error": "the kernel forwards all packets for now: the standard error of the forwarder says why" })
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

/// Ends the process though a reader of its output does not read, or the kernel takes long to give interfaces back.
fn end_soon(has_printed: Arc<AtomicBool>) {
    /// The other threads end within a fraction of it.
    const PATIENCE: Duration = Duration::from_millis(900);
    thread::spawn(move || {
        thread::sleep(PATIENCE);
        process::exit(if has_printed.load(Ordering::Relaxed) { 0 } else { 2 });
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
