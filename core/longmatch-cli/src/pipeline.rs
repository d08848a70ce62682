//! Loading in two threads: one reads and parses, the caller keeps the routes.

use std::mem;
use std::panic::resume_unwind;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use longmatch::IpPrefix;
use longmatch_feed::{Event, FeedError, Problem, Report, Sink, SinkError};

/// Events that are passed on together.
const EVENTS: usize = 4096;
/// Batches that the parser may be ahead.
const AHEAD: usize = 8;

/// Events, with their texts one after the other.
#[derive(Default)]
struct Batch {
    /// Prefixes, each with the end of its next hop's text; `None` withdraws.
    events: Vec<(IpPrefix, Option<usize>)>,
    texts: String,
}

impl Batch {
    fn push(&mut self, event: Event<'_>) {
        match event {
            Event::Announce(prefix, next_hop) => {
                self.texts.push_str(next_hop);
                self.events.push((prefix, Some(self.texts.len())));
            }
            Event::Withdraw(prefix) => self.events.push((prefix, None)),
        }
    }

    fn each(
        &self,
        keep: &mut impl FnMut(Event<'_>) -> Result<(), SinkError>,
    ) -> Result<(), SinkError> {
        let mut start = 0;
        for (prefix, end) in &self.events {
            keep(match end {
                Some(end) => {
                    Event::Announce(*prefix, &self.texts[mem::replace(&mut start, *end)..*end])
                }
                None => Event::Withdraw(*prefix),
            })?;
        }
        Ok(())
    }
}

/// Passes the events of a load to `keep`, in order. If the system does not start a thread, the
/// caller's does all the work.
///
/// # Errors
/// Outer error: from `keep`. Inner error: from the load; events before it were kept.
pub fn load(
    load: impl Fn(&mut dyn Sink) -> Result<Report, FeedError> + Sync,
    mut keep: impl FnMut(Event<'_>) -> Result<(), SinkError>,
) -> Result<Result<Report, FeedError>, SinkError> {
    let (sender, batches) = sync_channel(AHEAD);
    thread::scope(|scope| {
        let load = &load;
        let parser = thread::Builder::new().spawn_scoped(scope, move || parse(load, &sender));
        let Ok(parser) = parser else {
            return match load(&mut |event: Event<'_>| keep(event)) {
                Err(FeedError { problem: Problem::Sink(error), .. }) => Err(error),
                report => Ok(report),
            };
        };
        // The parser ends when nobody receives its events.
        batches.into_iter().try_for_each(|batch: Batch| batch.each(&mut keep))?;
        Ok(parser.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// Sends the events of a load.
fn parse(
    load: impl Fn(&mut dyn Sink) -> Result<Report, FeedError>,
    sender: &SyncSender<Batch>,
) -> Result<Report, FeedError> {
    let mut batch = Batch::default();
    let mut sink = |event: Event<'_>| -> Result<(), SinkError> {
        batch.push(event);
        if batch.events.len() == EVENTS {
            sender.send(mem::take(&mut batch))?;
        }
        Ok(())
    };
    let report = load(&mut sink);
    // The receiver may have ended with an error.
    let _ = sender.send(batch);
    report
}

#[cfg(test)]
mod tests {
    use super::*;
    use longmatch_feed::{Options, load_bytes};

    fn text(lines: usize) -> String {
        (0..lines).map(|i| format!("10.{}.{}.0/24 hop-{i}\n", i >> 8, i & 255)).collect()
    }

    fn run(
        text: &str,
        keep: impl FnMut(Event<'_>) -> Result<(), SinkError>,
    ) -> Result<Result<Report, FeedError>, SinkError> {
        load(|sink| load_bytes(text.as_bytes(), None, &Options::default(), sink), keep)
    }

    #[test]
    fn events_come_in_order() {
        for lines in [0, 1, EVENTS, 3 * EVENTS + 1] {
            let mut kept = String::new();
            let keep = |event: Event<'_>| {
                if let Event::Announce(prefix, next_hop) = event {
                    kept += &format!("{prefix} {next_hop}\n");
                }
                Ok(())
            };
            let report = run(&text(lines), keep).unwrap().unwrap();
            assert_eq!(report.announced, lines as u64);
            assert!(kept == text(lines), "{lines}");
        }
    }

    #[test]
    fn errors_of_both_sides_are_returned() {
        let mut kept = 0;
        let keep = |_: Event<'_>| {
            kept += 1;
            Ok(())
        };
        let damaged = text(10) + "x\n" + &text(EVENTS);
        assert!(run(&damaged, keep).unwrap().unwrap_err().to_string().contains("line 11"));
        assert_eq!(kept, 10, "the routes before the damage");
        let full = |_: Event<'_>| Err("full".into());
        assert_eq!(run(&text(100 * EVENTS), full).unwrap_err().to_string(), "full");
    }
}
