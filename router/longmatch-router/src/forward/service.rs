//! The forwarder as a service: questions of other processes, metrics and the service manager.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use longmatch_cli::error::CliError;

use super::counts::RouteCounts;
use super::questions::Question;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
use super::{control, metrics};
use crate::args::ForwardArgs;

/// The forwarder's control socket, its metrics and its news for the service manager.
pub(super) struct Service {
    questions: Receiver<Question>,
    /// For the threads that receive questions.
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
        #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
        if let Some(address) = args.metrics {
            metrics::serve(address, sender.clone())?;
        }
        let watchdog = manager::watchdog().map(|time| time / 2);
        let (next_beat, batches, is_ready) = (Instant::now(), Vec::new(), false);
        Ok(Self { questions, sender, watchdog, next_beat, batches, is_ready })
    }

    /// Opens the control socket.
    ///
    /// # Errors
    /// If the name is taken.
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
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
        manager::ready(&status, !self.is_ready);
        self.is_ready = true;
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
            manager::alive();
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        manager::stopping();
    }
}

/// News for the service manager, by the protocol of systemd's `sd_notify`. A manager that is gone needs none.
#[cfg(target_os = "linux")]
mod manager {
    use std::time::Duration;

    use sd_notify::NotifyState;

    pub fn watchdog() -> Option<Duration> {
        sd_notify::watchdog_enabled()
    }

    pub fn ready(status: &str, is_first: bool) {
        let state = [NotifyState::Status(status), NotifyState::Ready];
        let _ = sd_notify::notify(&state[..1 + usize::from(is_first)]);
    }

    pub fn alive() {
        let _ = sd_notify::notify(&[NotifyState::Watchdog]);
    }

    pub fn stopping() {
        let _ = sd_notify::notify(&[NotifyState::Stopping]);
    }
}

#[cfg(not(target_os = "linux"))]
mod manager {
    pub fn watchdog() -> Option<std::time::Duration> {
        None
    }

    pub fn ready(_: &str, _: bool) {}

    pub fn alive() {}

    pub fn stopping() {}
}
