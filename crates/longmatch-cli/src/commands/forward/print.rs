//! The counts of forwarded packets.

use std::io::Write;
use std::time::Instant;

use longmatch_forward::{Cause, Outcome, Tally};
use serde_json::{Map, Value, json};

use crate::error::CliError;
use crate::output::{Align, Grid, Out, percent, plural, short, thousands};

/// The counts at a time.
pub(super) struct Sample {
    pub(super) at: Instant,
    pub(super) tally: Tally,
    /// The routes in words.
    pub(super) routes: String,
    /// Lines that were not written, because earlier ones were not read.
    pub(super) left_out: u64,
}

/// Prints a line each interval, and all counts at the end.
pub struct Printer {
    out: Out,
    json: bool,
    started: Instant,
    last: Instant,
    before: Tally,
}

/// Describes the routes: `1,042,325 IPv4 routes, 246,175 IPv6 routes`.
pub fn routes(ipv4: usize, ipv6: usize) -> String {
    format!("{}, {}", plural(ipv4 as u64, "IPv4 route"), plural(ipv6 as u64, "IPv6 route"))
}

impl Printer {
    pub fn new(json: bool, started: Instant) -> Self {
        Self { out: Out::new(), json, started, last: started, before: Tally::default() }
    }

    /// Prints the rates since the last line.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub fn interval(&mut self, sample: &Sample) -> Result<(), CliError> {
        let Sample { at, tally, routes, left_out } = sample;
        let elapsed = (*at - self.last).as_secs_f64();
        if self.json {
            let value = self.object(sample, false);
            self.out.json(&value)?;
        } else {
            let rate = |count: fn(&Tally) -> u64| {
                packets((count(tally) - count(&self.before).min(count(tally))) as f64 / elapsed)
            };
            let seconds = (*at - self.started).as_secs_f64();
            let left_out = match left_out {
                0 => String::new(),
                n => format!(", {} left out", plural(*n, "line")),
            };
            writeln!(
                self.out,
                "{seconds:6.1} s  received {}  forwarded {}  kernel {}  dropped {}  {}{left_out}",
                rate(|it| it.received),
                rate(|it| it.forwarded),
                rate(|it| it.with(Outcome::Kernel)),
                rate(|it| it.with(Outcome::Dropped)),
                self.out.dim(routes),
            )?;
        }
        self.out.flush()?;
        self.before.clone_from(tally);
        self.last = *at;
        Ok(())
    }

    /// Prints the counts of all packets by cause.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub fn end(&mut self, sample: &Sample) -> Result<(), CliError> {
        let Sample { at, tally, routes, .. } = sample;
        if self.json {
            self.out.json(&self.object(sample, true))?;
            self.out.flush()?;
            return Ok(());
        }
        let received = tally.received;
        writeln!(
            self.out,
            "{} in {} s, {routes}",
            plural(received, "packet"),
            short((*at - self.started).as_secs_f64())
        )?;
        let columns = [
            ("", Align::Left),
            ("", Align::Left),
            ("packets", Align::Right),
            ("share", Align::Right),
        ];
        let mut grid = Grid::new(columns);
        let mut row = |name: &str, cause: &str, count: u64| {
            let share = percent(count as f64, received as f64);
            grid.row([name.to_owned(), cause.to_owned(), thousands(count), share]);
        };
        row("forwarded", "", tally.forwarded);
        for (name, outcome) in [("kernel", Outcome::Kernel), ("dropped", Outcome::Dropped)] {
            row(name, "", tally.with(outcome));
            for cause in Cause::ALL.into_iter().filter(|cause| cause.outcome() == outcome) {
                if tally.stopped(cause) > 0 {
                    row("", cause.name(), tally.stopped(cause));
                }
            }
        }
        grid.print(&mut self.out)?;
        self.out.flush()?;
        Ok(())
    }

    /// The counts since the start.
    fn object(&self, sample: &Sample, end: bool) -> Value {
        let Sample { at, tally, routes, left_out } = sample;
        let counts = |outcome: Outcome| {
            let causes = Cause::ALL.into_iter().filter(|cause| cause.outcome() == outcome);
            let counts = causes.map(|cause| (cause.name().to_owned(), tally.stopped(cause).into()));
            Value::Object(counts.collect::<Map<_, _>>())
        };
        json!({
            "seconds": ((*at - self.started).as_secs_f64() * 1e6).round() / 1e6,
            "end": end,
            "received": tally.received,
            "forwarded": tally.forwarded,
            "kernel": tally.with(Outcome::Kernel),
            "dropped": tally.with(Outcome::Dropped),
            "kernel_by_cause": counts(Outcome::Kernel),
            "dropped_by_cause": counts(Outcome::Dropped),
            "routes": routes,
            "lines_left_out": left_out,
        })
    }
}

/// Packets a second: `1.23 M/s`.
fn packets(rate: f64) -> String {
    match rate {
        rate if rate >= 999_500.0 => format!("{} M/s", short(rate / 1e6)),
        rate if rate >= 999.5 => format!("{} k/s", short(rate / 1e3)),
        rate => format!("{rate:.0} /s"),
    }
}
