//! Lines into a sink.

use super::dump::{Count, Dump};
use super::line::{Line, Rules};
use super::lines::{Lines, LinesError};
use super::linux::Linux;
use super::output::Output;
use super::parse::parse;
use crate::decompress::explain;
use crate::error::{FeedError, Place};
use crate::peers::Peers;
use crate::report::Report;
use crate::sink::Sink;
use crate::source::{Job, Opened};

/// Loads all lines of a job's input.
pub(crate) fn load(
    job: &Job<'_>,
    opened: Opened<'_>,
    sink: &mut dyn Sink,
    report: &mut Report,
) -> Result<(), FeedError> {
    let mut lines = Lines::new(opened.input, job.options.limits.line);
    let named = Linux::must_know_tables(job.options) && tables_are_named(job)?;
    let mut load = Load {
        job,
        rules: rules(job),
        linux: Linux::new(job.options, named),
        dump: None,
        out: Output { sink, report, lenient: job.options.lenient },
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
    /// There from the first bgpdump line on.
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

    /// Takes one line. False at the end.
    #[inline]
    fn step(&mut self, lines: &mut Lines<'_>) -> Result<bool, FeedError> {
        let number = lines.number() + 1;
        let text = match lines.next_line() {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(false),
            Err(LinesError::Line(error)) => return Err(FeedError::line(number, error)),
            Err(LinesError::Io(error)) => {
                // What waits for its neighbours has them all.
                self.linux.end(&mut self.out)?;
                let codec = self.out.report.codec;
                return Err(FeedError::stream(lines.input().received(), explain(error, codec)));
            }
        };
        let line = parse(text, self.rules).map_err(|error| FeedError::line(number, error))?;
        self.take(line, number)?;
        Ok(true)
    }

    #[inline]
    fn take(&mut self, line: Line<'_>, number: u64) -> Result<(), FeedError> {
        let place = Place::Line(number);
        let out = &mut self.out;
        // Only blank lines and comments may stand between a route and its next hops.
        match line {
            Line::Announce(prefix, next_hop) => {
                self.linux.other(prefix, out)?;
                out.announce(prefix, next_hop, place)
            }
            Line::Own(prefix) => {
                self.linux.other(prefix, out)?;
                out.announce(prefix, &prefix.to_string(), place)
            }
            Line::Withdraw(prefix) => {
                self.linux.other(prefix, out)?;
                out.withdraw(prefix, place)
            }
            Line::Route(route) => self.linux.route(route, place, out),
            Line::NextHops(hops) => {
                self.linux.next_hops(hops).map_err(|error| FeedError::line(number, error))
            }
            Line::Dump(dump) => {
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
            Line::Nothing => Ok(()),
        }
    }
}

/// Reads the whole input once to count the routes of each peer.
fn count_peers(job: &Job<'_>) -> Result<Peers, FeedError> {
    let mut count = Count::default();
    read_all(job, |line| {
        if let Line::Dump(dump) = line {
            count.line(&dump);
        }
        true
    })?;
    Ok(count.peers)
}

/// Reads the input until a route names its table.
fn tables_are_named(job: &Job<'_>) -> Result<bool, FeedError> {
    let mut named = false;
    read_all(job, |line| {
        named |= matches!(line, Line::Route(route) if route.table.is_some());
        !named
    })?;
    Ok(named)
}

/// Reads the whole input before it is loaded, as long as `go_on` says so.
fn read_all(job: &Job<'_>, mut go_on: impl FnMut(Line<'_>) -> bool) -> Result<(), FeedError> {
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
                // The load meets this again, after it has taken what comes before.
                if job.options.lenient {
                    return Ok(());
                }
                let error = explain(error, opened.codec);
                return Err(FeedError::stream(lines.input().received(), error));
            }
        };
        if !job.options.lenient {
            return Err(error);
        }
    }
}
