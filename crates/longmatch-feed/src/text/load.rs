//! Lines into a sink.

use longmatch::IpPrefix;

use super::bgpdump::DumpLine;
use super::line::{self, Line, Rules};
use super::lines::{Lines, LinesError};
use crate::decompress::explain;
use crate::error::{FeedError, LineError, Place, Problem};
use crate::load::{Job, Opened};
use crate::peers::{Chosen, Peers};
use crate::report::Report;
use crate::sink::Sink;

/// Loads all lines of a job's input.
pub(crate) fn load(
    job: &Job<'_>,
    opened: Opened<'_>,
    sink: &mut dyn Sink,
    report: &mut Report,
) -> Result<(), FeedError> {
    let mut lines = Lines::new(opened.input, job.options.limits.line);
    let mut load = Load {
        job,
        rules: rules(job),
        sink,
        multipath: Multipath::No,
        peers: Peers::default(),
        chosen: None,
    };
    let end = load.run(&mut lines, report);
    report.lines = lines.number();
    report.bytes = lines.input().received();
    report.input_bytes = opened.taken.get();
    report.peers = load.peers.into_list();
    report.chosen = load.chosen.unwrap_or_default();
    end
}

fn rules(job: &Job<'_>) -> Rules {
    Rules {
        mask_host_bits: job.options.mask_host_bits,
        default_is_ipv6: job.options.default_is_ipv6,
    }
}

/// Where in a multipath route the lines are.
enum Multipath {
    No,
    /// The route was on this line, its next hops have not come yet.
    Begun(IpPrefix, u64),
    /// The first next hop has been taken.
    Taken,
}

struct Load<'j, 's> {
    job: &'j Job<'j>,
    rules: Rules,
    sink: &'s mut dyn Sink,
    multipath: Multipath,
    peers: Peers,
    /// Set when the first bgpdump line is met.
    chosen: Option<Chosen>,
}

impl Load<'_, '_> {
    fn run(&mut self, lines: &mut Lines<'_>, report: &mut Report) -> Result<(), FeedError> {
        loop {
            match self.step(lines, report) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(error) if self.job.options.lenient && error.is_local() => {
                    report.note_damage(error);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Takes one line. False at the end.
    #[inline]
    fn step(&mut self, lines: &mut Lines<'_>, report: &mut Report) -> Result<bool, FeedError> {
        let number = lines.number() + 1;
        let text = match lines.next_line() {
            Ok(Some(text)) => text,
            Ok(None) => return self.end_multipath().map(|()| false),
            Err(LinesError::Line(error)) => return Err(FeedError::line(number, error)),
            Err(LinesError::Io(error)) => {
                return Err(explain(error, report.codec, lines.input().received()));
            }
        };
        let line = line::parse(text, self.rules).map_err(|error| FeedError::line(number, error))?;
        if let Line::Announce(prefix, next_hop) = line
            && let Multipath::No = self.multipath
        {
            self.announce(prefix, next_hop, number, report)?;
        } else {
            self.take(line, number, report)?;
        }
        Ok(true)
    }

    fn take(&mut self, line: Line<'_>, number: u64, report: &mut Report) -> Result<(), FeedError> {
        // Only blank lines and comments may stand between a route and its next hops.
        let unfinished = match line {
            Line::NextHop(next_hop) => return self.next_hop(next_hop, number, report),
            Line::Nothing => return Ok(()),
            _ => self.end_multipath(),
        };
        match line {
            Line::Announce(prefix, next_hop) => self.announce(prefix, next_hop, number, report)?,
            Line::Withdraw(prefix) => self.withdraw(prefix, number, report)?,
            Line::Multipath(prefix) => self.multipath = Multipath::Begun(prefix, number),
            Line::Dump(dump) => self.dump(dump, number, report)?,
            Line::Nothing | Line::NextHop(_) => {}
        }
        unfinished
    }

    /// A route that waits for its next hops has none.
    fn end_multipath(&mut self) -> Result<(), FeedError> {
        match std::mem::replace(&mut self.multipath, Multipath::No) {
            Multipath::Begun(_, number) => Err(FeedError::line(number, LineError::MissingNextHop)),
            Multipath::No | Multipath::Taken => Ok(()),
        }
    }

    fn next_hop(&mut self, text: &str, number: u64, report: &mut Report) -> Result<(), FeedError> {
        match self.multipath {
            Multipath::Begun(prefix, _) => {
                self.multipath = Multipath::Taken;
                self.announce(prefix, text, number, report)
            }
            Multipath::Taken => {
                report.extra_next_hops += 1;
                Ok(())
            }
            Multipath::No => Err(FeedError::line(number, LineError::StrayNextHop)),
        }
    }

    fn dump(
        &mut self,
        dump: DumpLine<'_>,
        number: u64,
        report: &mut Report,
    ) -> Result<(), FeedError> {
        let chosen = match self.chosen {
            Some(chosen) => chosen,
            None => {
                self.peers = count_peers(self.job)?;
                *self.chosen.insert(self.peers.choose(self.job.options.peer)?)
            }
        };
        let peer = self.peers.position(dump.peer, dump.asn, 0);
        if chosen.for_prefix(dump.prefix) != Some(peer) {
            report.other_peers += 1;
            return Ok(());
        }
        match dump.next_hop {
            Some(next_hop) => self.announce(dump.prefix, next_hop, number, report),
            None => self.withdraw(dump.prefix, number, report),
        }
    }

    #[inline]
    fn announce(
        &mut self,
        prefix: IpPrefix,
        next_hop: &str,
        number: u64,
        report: &mut Report,
    ) -> Result<(), FeedError> {
        report.announced += 1;
        self.sink.announce(prefix, next_hop).map_err(|error| refused(number, error))
    }

    fn withdraw(
        &mut self,
        prefix: IpPrefix,
        number: u64,
        report: &mut Report,
    ) -> Result<(), FeedError> {
        report.withdrawn += 1;
        self.sink.withdraw(prefix).map_err(|error| refused(number, error))
    }
}

fn refused(number: u64, error: crate::error::SinkError) -> FeedError {
    FeedError::at(Place::Line(number), Problem::Sink(error))
}

/// Reads the whole input once to count the routes of each peer.
fn count_peers(job: &Job<'_>) -> Result<Peers, FeedError> {
    let opened = job.open()?;
    let mut lines = Lines::new(opened.input, job.options.limits.line);
    let mut peers = Peers::default();
    loop {
        let number = lines.number() + 1;
        let error = match lines.next_line() {
            Ok(None) => return Ok(peers),
            Ok(Some(text)) => match line::parse(text, rules(job)) {
                Ok(Line::Dump(dump)) => {
                    let peer = peers.position(dump.peer, dump.asn, 0);
                    match dump.next_hop {
                        Some(_) => peers.count(peer, dump.prefix),
                        None => peers.count_withdrawal(peer, dump.prefix),
                    }
                    continue;
                }
                Ok(_) => continue,
                Err(error) => FeedError::line(number, error),
            },
            Err(LinesError::Line(error)) => FeedError::line(number, error),
            Err(LinesError::Io(error)) => {
                // The load meets this again, after it has taken what comes before.
                if job.options.lenient {
                    return Ok(peers);
                }
                return Err(explain(error, opened.codec, lines.input().received()));
            }
        };
        if !job.options.lenient {
            return Err(error);
        }
    }
}
