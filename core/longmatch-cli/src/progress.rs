//! Progress line on standard error, for terminals only.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::output::thousands;

/// Work that takes less time than this shows no progress.
const QUIET: Duration = Duration::from_millis(300);
/// Minimum time between two updates of the line.
const STEP: Duration = Duration::from_millis(100);

/// A line that is redrawn in place: the task, the share done and the estimated time left.
///
/// Shown only if standard error is a terminal, and erased when the value is dropped.
pub struct Progress {
    label: String,
    total: Option<u64>,
    unit: &'static str,
    started: Instant,
    /// Earliest time of the next update; `None` if standard error is not a terminal.
    next: Option<Instant>,
    shown: bool,
}

impl Progress {
    /// Starts at zero. Without `total` the line shows neither percentage nor time left.
    pub fn new(label: impl Into<String>, total: Option<u64>, unit: &'static str) -> Self {
        let started = Instant::now();
        let next = io::stderr().is_terminal().then(|| started + QUIET);
        Self { label: label.into(), total, unit, started, next, shown: false }
    }

    /// Sets the name of the current task.
    pub fn describe(&mut self, label: &str) {
        if self.label != label {
            self.label = label.to_owned();
        }
    }

    /// Sets the amount done so far. Reads the clock, so call it once for many small steps.
    pub fn set(&mut self, done: u64) {
        let now = Instant::now();
        if self.next.is_none_or(|next| now < next) {
            return;
        }
        self.next = Some(now + STEP);
        self.shown = true;
        let line = line(&self.label, done, self.total, self.unit, now - self.started);
        // The work goes on if the terminal cannot be written.
        let _ = write!(io::stderr(), "\r{line}\x1b[K");
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

fn line(label: &str, done: u64, total: Option<u64>, unit: &str, elapsed: Duration) -> String {
    let Some(total) = total.filter(|total| *total > 0) else {
        return format!("{label}: {} {unit}", thousands(done));
    };
    let part = (done as f64 / total as f64).min(1.0);
    let percent = (part * 100.0) as u32;
    let left = if part > 0.0 { elapsed.as_secs_f64() * (1.0 - part) / part } else { 0.0 };
    format!("{label}: {percent:3} %, {left:.0} s left")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_show_the_share_and_the_time_left() {
        let second = Duration::from_secs(1);
        assert_eq!(line("loading x", 12_345, None, "routes", second), "loading x: 12,345 routes");
        assert_eq!(line("verify", 25, Some(100), "", second), "verify:  25 %, 3 s left");
        assert_eq!(line("verify", 200, Some(100), "", second), "verify: 100 %, 0 s left");
        assert_eq!(line("verify", 0, Some(0), "keys", second), "verify: 0 keys");
    }
}
