//! Loading of lines into a sink.

use super::dump::{Count, Dump};
use super::line::{RouteLine, Rules};
use super::lines::{Lines, LinesError};
use super::linux::Linux;
use super::output::Output;
use super::parse::parse;
use crate::archive::Job;
use crate::decompress::explain;
use crate::error::{FeedError, Location};
use crate::peers::Peers;
use crate::report::Report;
use crate::sink::Sink;
use crate::source::Opened;

/// Loads all lines of an input.
pub(crate) fn load(
    job: &Job<'_>,
    opened: Opened<'_>,
    sink: &mut dyn Sink,
    report: &mut Report,
) -> Result<(), FeedError> {
    let mut lines = Lines::new(opened.input, job.options.limits.line);
    let named = Linux::needs_named_tables(job.options) && tables_are_named(job)?;
    let mut load = Load {
        job,
        rules: rules(job),
        linux: Linux::new(job.options, named),
        dump: None,
        out: Output::new(sink, report, job.options),
    };
    let end = load.run(&mut lines);
    let dump = load.dump.take();
    report.lines = lines.number();
    report.bytes = lines.input().received();
    report.input_bytes = opened.taken.get();
    if let Some((peers, chosen)) = dump.map(Dump::into_peers) {
        report.peers = peers.into_list();
        report.chosen = chosen;
    }
    end
}

fn rules(job: &Job<'_>) -> Rules {
    Rules { mask_host_bits: job.options.mask_host_bits, default_family: job.options.default_family }
}

struct Load<'j, 's> {
    job: &'j Job<'j>,
    rules: Rules,
    linux: Linux,
    /// Set at the first bgpdump line.
    dump: Option<Dump>,
    out: Output<'s>,
}

impl Load<'_, '_> {
    fn run(&mut self, lines: &mut Lines<'_>) -> Result<(), FeedError> {
        loop {
            match self.step(lines) {
                Ok(true) => {}
                Ok(false) => return self.linux.end(&mut self.out),
                Err(error) => self.out.pass(Err(error))?,
            }
        }
    }

    /// Loads one line. Returns false at the end of the input.
    #[inline]
    fn step(&mut self, lines: &mut Lines<'_>) -> Result<bool, FeedError> {
        let number = lines.number() + 1;
        let text = match lines.next_line() {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(false),
            Err(LinesError::Line(error)) => return Err(FeedError::line(number, error)),
            Err(LinesError::Io(error)) => {
                // No later line can reveal the family of the pending `default` routes.
                self.linux.end(&mut self.out)?;
                let codec = self.out.report.codec;
                return Err(FeedError::byte(lines.input().received(), explain(error, codec)));
            }
        };
        let line = parse(text, self.rules).map_err(|error| FeedError::line(number, error))?;
        self.take(line, number)?;
        Ok(true)
    }

    /// Loads the routes of a line.
    #[inline]
    fn take(&mut self, line: RouteLine<'_>, number: u64) -> Result<(), FeedError> {
        let place = Location::Line(number);
        let out = &mut self.out;
        // Only blank lines and comments may separate a route from its next hops.
        match line {
            RouteLine::Announce(prefix, next_hop) => {
                self.linux.other(prefix, out)?;
                out.announce(prefix, next_hop, place)
            }
            RouteLine::Own(prefix) => {
                self.linux.other(prefix, out)?;
                out.announce(prefix, &prefix.to_string(), place)
            }
            RouteLine::Withdraw(prefix) => {
                self.linux.other(prefix, out)?;
                out.withdraw(prefix, place)
            }
            RouteLine::Route(route) => self.linux.route(route, place, out),
            RouteLine::NextHops(hops) => {
                self.linux.next_hops(hops).map_err(|error| FeedError::line(number, error))
            }
            RouteLine::Dump(dump) => {
                self.linux.other(dump.prefix, out)?;
                let known = match &mut self.dump {
                    Some(known) => known,
                    empty => {
                        let peers = count_peers(self.job)?;
                        empty.insert(Dump::new(&peers, self.job.options.peer)?)
                    }
                };
                known.line(dump, place, out)
            }
            RouteLine::Nothing => Ok(()),
        }
    }
}

/// Counts the routes of each peer in one pass over the input.
fn count_peers(job: &Job<'_>) -> Result<Peers, FeedError> {
    let mut count = Count::default();
    read_all(job, |line| {
        if let RouteLine::Dump(dump) = line {
            count.line(&dump);
        }
        true
    })?;
    Ok(count.peers)
}

/// Whether any route of the input names its table.
fn tables_are_named(job: &Job<'_>) -> Result<bool, FeedError> {
    let mut named = false;
    read_all(job, |line| {
        named |= matches!(line, RouteLine::Route(route) if route.table.is_some());
        !named
    })?;
    Ok(named)
}

/// Reads the input in a pass before the load, until `go_on` returns false.
fn read_all(job: &Job<'_>, mut go_on: impl FnMut(RouteLine<'_>) -> bool) -> Result<(), FeedError> {
    let opened = job.open()?;
    let mut lines = Lines::new(opened.input, job.options.limits.line);
    loop {
        let number = lines.number() + 1;
        let error = match lines.next_line() {
            Ok(None) => return Ok(()),
            Ok(Some(text)) => match parse(text, rules(job)) {
                Ok(line) if go_on(line) => continue,
                Ok(_) => return Ok(()),
                Err(error) => FeedError::line(number, error),
            },
            Err(LinesError::Line(error)) => FeedError::line(number, error),
            Err(LinesError::Io(error)) => {
                // The load repeats this error after it has loaded the lines before it.
                if job.options.lenient {
                    return Ok(());
                }
                let error = explain(error, opened.codec);
                return Err(FeedError::byte(lines.input().received(), error));
            }
        };
        if !job.options.lenient {
            return Err(error);
        }
    }
}
