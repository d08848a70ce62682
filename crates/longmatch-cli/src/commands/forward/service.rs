//! The forwarder as a service: questions of other processes, metrics and the service manager.

use std::net::IpAddr;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use sd_notify::NotifyState;
use serde_json::Value;

use super::counts::{RouteCounts, Sample};
use crate::args::ForwardArgs;
use crate::error::CliError;

/// A question of another process, for the thread that follows the routes.
pub(super) enum Question {
    /// The route of an address.
    Route(IpAddr, Answer<Value>),
    /// All counts.
    Counts(Answer<Sample>),
    /// The interfaces.
    TakeOver(TakeOver),
}

/// The process that takes the interfaces over.
#[cfg(target_os = "linux")]
pub(super) type TakeOver = std::os::unix::net::UnixStream;
#[cfg(not(target_os = "linux"))]
pub(super) type TakeOver = std::convert::Infallible;

/// The place of an answer.
pub(super) struct Answer<T>(SyncSender<T>);

impl<T> Answer<T> {
    pub(super) fn give(self, answer: T) {
        // Who asked may have given up.
        let _ = self.0.try_send(answer);
    }
}

/// Asks, and waits for the answer. `None` if there is none in time: a full table is read again in seconds.
pub(super) fn ask<T>(
    questions: &SyncSender<Question>,
    question: impl FnOnce(Answer<T>) -> Question,
) -> Option<T> {
    const PATIENCE: Duration = Duration::from_secs(20);
    let (sender, answer) = sync_channel(1);
    questions.send(question(Answer(sender))).ok()?;
    answer.recv_timeout(PATIENCE).ok()
}

/// What others see of the forwarder beside its packets and its output.
pub(super) struct Service {
    questions: Receiver<Question>,
    sender: SyncSender<Question>,
    /// Half of the time after which the service manager takes the process for dead.
    watchdog: Option<Duration>,
    next_beat: Instant,
    /// The batches of each thread at the last beat.
    batches: Vec<u64>,
    is_ready: bool,
}

impl Service {
    /// A service with the metrics of the options.
    ///
    /// # Errors
    /// If the address of the metrics cannot be used.
    pub(super) fn new(args: &ForwardArgs) -> Result<Self, CliError> {
        let (sender, questions) = sync_channel(16);
        if let Some(address) = args.metrics {
            metrics::serve(address, sender.clone())?;
        }
        let watchdog = sd_notify::watchdog_enabled().map(|time| time / 2);
        let (next_beat, batches, is_ready) = (Instant::now(), Vec::new(), false);
        Ok(Self { questions, sender, watchdog, next_beat, batches, is_ready })
    }

    /// Opens the control socket.
    ///
    /// # Errors
    /// If the name is taken.
    pub(super) fn open_control(&self, name: &str) -> Result<(), CliError> {
        control::serve(name, self.sender.clone())
    }

    /// The next question, if there is one.
    pub(super) fn question(&self) -> Option<Question> {
        self.questions.try_recv().ok()
    }

    /// Tells the service manager that packets are forwarded.
    pub(super) fn ready(&mut self, routes: &RouteCounts) {
        let status =
            format!("forwarding by {} IPv4 and {} IPv6 prefixes", routes.ipv4, routes.ipv6);
        let mut state = vec![NotifyState::Status(&status)];
        if !self.is_ready {
            state.push(NotifyState::Ready);
        }
        self.is_ready = true;
        // A service manager that is gone needs no news.
        let _ = sd_notify::notify(&state);
    }

    /// Tells the service manager that the process lives, if each thread has had a batch, perhaps an empty one, since
    /// it was told last. `batches` are those of the forwarding threads.
    pub(super) fn beat(&mut self, batches: &[u64]) {
        let Some(interval) = self.watchdog else { return };
        let is_moving = self.batches.len() != batches.len()
            || self.batches.iter().zip(batches).all(|(before, now)| before != now);
        if Instant::now() >= self.next_beat && is_moving {
            self.next_beat = Instant::now() + interval;
            self.batches = batches.to_vec();
            let _ = sd_notify::notify(&[NotifyState::Watchdog]);
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = sd_notify::notify(&[NotifyState::Stopping]);
    }
}
