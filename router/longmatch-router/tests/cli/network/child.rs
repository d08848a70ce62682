//! The binary as a running router.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::fd::AsRawFd;
use std::process::{Child, ChildStdout, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::net::Net;
use crate::common::program;
use crate::counts::check_sums;

/// The longest wait for the binary, which opens interfaces and loads tables.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running `longmatch-forward` between `ra` and `rb`; dropping it kills the process.
pub struct Forwarder {
    child: Child,
    lines: Receiver<Value>,
    errors: Option<JoinHandle<String>>,
}

/// How it ended.
#[derive(Debug)]
pub struct Stopped {
    pub status: ExitStatus,
    /// The last line of its output, with the counts of all packets.
    pub counts: Value,
    pub stderr: String,
}

impl Forwarder {
    /// Starts the binary on the router.
    fn spawn(net: &Net, more: &[&str]) -> Child {
        let mut args = [&["-i", "ra", "rb", "--json"], more].concat();
        // The time is for a test that ends without an end of the process. Cards have the native mode, veth by choice.
        let options = [["--interval", "0.05"], ["--seconds", "60"], ["--xdp-mode", "native"]];
        for option in options {
            if !more.contains(&option[0]) {
                args.extend(option);
            }
        }
        let mut command = program(&args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        net.router.run(|| command.spawn()).unwrap()
    }

    /// Starts the binary on the router; nobody reads its output, which a pipe of a page takes. Returns the pipe.
    pub fn start_unread(net: &Net) -> (Self, ChildStdout) {
        let mut child = Self::spawn(net, &["--interval", "0.01"]);
        let stdout = child.stdout.take().unwrap();
        // SAFETY: a call without pointers.
        let size = unsafe { libc::fcntl(stdout.as_raw_fd(), libc::F_SETPIPE_SZ, 4096) };
        assert_eq!(size, 4096);
        (Self { child, lines: channel().1, errors: Some(thread::spawn(String::new)) }, stdout)
    }

    /// Starts the binary on the router, and waits until it forwards.
    pub fn start(net: &Net, more: &[&str]) -> Self {
        let mut child = Self::spawn(net, more);
        let lines = lines(child.stdout.take().unwrap());
        let mut stderr = child.stderr.take().unwrap();
        let errors = thread::spawn(move || {
            let mut text = String::new();
            stderr.read_to_string(&mut text).unwrap();
            text
        });
        let mut forwarder = Self { child, lines, errors: Some(errors) };
        if forwarder.lines.recv_timeout(PATIENCE).is_err() {
            panic!("it does not start: {:?}", forwarder.stop(Signal::TERM));
        }
        forwarder
    }

    /// Ends it with SIGINT, and returns the counts of all packets.
    pub fn end(mut self) -> Value {
        self.finish().counts
    }

    /// Ends it with SIGINT, and checks that it ends as it should.
    pub fn finish(&mut self) -> Stopped {
        let stopped = self.stop(Signal::INT);
        assert_eq!(stopped.status.code(), Some(0), "{stopped:?}");
        check_sums(&stopped.counts);
        stopped
    }

    /// The packets until now for which it had no next hop, so that the kernel got them.
    pub fn passed_on(&self) -> u64 {
        self.lines.try_iter().for_each(drop);
        // The next line may be older than this call.
        let lines = [(); 2].map(|()| self.lines.recv_timeout(PATIENCE).unwrap());
        let causes = ["no_route", "unresolved", "kernel_route"];
        causes.map(|cause| lines[1]["kernel_by_cause"][cause].as_u64().unwrap()).iter().sum()
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        let _ = kill_process(Pid::from_child(&self.child), signal);
    }

    /// Whether the process has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// The resident memory of the process in MB: now, and at most since its start.
    pub fn memory(&self) -> [f64; 2] {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        ["VmRSS:", "VmHWM:"].map(|name| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1000.0
        })
    }

    /// Sends a signal, and waits for the end.
    pub fn stop(&mut self, signal: Signal) -> Stopped {
        self.signal(signal);
        let end = Instant::now() + PATIENCE;
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None if Instant::now() > end => panic!("it does not end by {signal:?}"),
                None => thread::sleep(Duration::from_millis(1)),
            }
        };
        let stderr = self.errors.take().unwrap().join().unwrap();
        let counts = self.lines.iter().last().unwrap_or_default();
        Stopped { status, counts, stderr }
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The lines of the output, as they are printed.
fn lines(stdout: ChildStdout) -> Receiver<Value> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let _ = sender.send(serde_json::from_str(&line).unwrap());
        }
    });
    receiver
}
