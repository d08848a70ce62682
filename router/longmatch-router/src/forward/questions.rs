//! Questions of other processes to the thread that follows the routes.

use std::net::IpAddr;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use serde_json::Value;

use super::counts::Sample;

/// The longest time without a look at the routes, the questions, the clock and the signals.
pub(super) const STEP: Duration = Duration::from_millis(50);

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
        // The other process may have given up.
        let _ = self.0.try_send(answer);
    }
}

/// Asks, and waits for the answer. `None` if there is none in time: a full table is read again in seconds.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub(super) fn ask<T>(
    questions: &SyncSender<Question>,
    question: impl FnOnce(Answer<T>) -> Question,
) -> Option<T> {
    const PATIENCE: Duration = Duration::from_secs(20);
    let (sender, answer) = std::sync::mpsc::sync_channel(1);
    questions.send(question(Answer(sender))).ok()?;
    answer.recv_timeout(PATIENCE).ok()
}
