//! Text of the counts.

use std::io::Write;
use std::time::Duration;

use longmatch_cli::error::CliError;
use longmatch_cli::output::{Align, Grid, Out, percent, plural, short, thousands};
use longmatch_forward::{Cause, Count, Disposition};

use super::counts::{RouteCounts, Sample, TrafficCounts};

/// Prints the rates of each interval, and all counts at the end.
pub struct Printer {
    out: Out,
    json: bool,
    /// The counts of the last line.
    before: TrafficCounts,
    last: Duration,
}

/// Describes the routes: `1,042,325 IPv4 routes, 246,175 IPv6 routes`.
fn routes(routes: &RouteCounts) -> String {
    let RouteCounts { ipv4, ipv6, losses, resyncs, .. } = *routes;
    let mut text =
        format!("{}, {}", plural(ipv4 as u64, "IPv4 route"), plural(ipv6 as u64, "IPv6 route"));
    if losses > 0 {
        text += &format!(", messages of the kernel lost {}", plural(losses as u64, "time"));
    }
    if resyncs > 0 {
        text += &format!(", read again {}", plural(resyncs as u64, "time"));
    }
    text
}

impl Printer {
    pub fn new(json: bool) -> Self {
        let (before, last) = (TrafficCounts::default(), Duration::ZERO);
        Self { out: Out::new(), json, before, last }
    }

    /// Prints the rates since the last line.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub fn interval(&mut self, sample: &Sample) -> Result<(), CliError> {
        if self.json {
            self.out.json(&sample.object(false))?;
        } else {
            self.rates(sample)?;
        }
        self.out.flush()?;
        self.before.clone_from(&sample.counts);
        self.last = sample.elapsed();
        Ok(())
    }

    fn rates(&mut self, sample: &Sample) -> Result<(), CliError> {
        let (now, before) = (&sample.counts, &self.before);
        let elapsed = (sample.elapsed() - self.last).as_secs_f64();
        let rate = |now: Count, before: Count| Rate {
            packets: now.packets.saturating_sub(before.packets) as f64 / elapsed,
            bits: 8.0 * now.bytes.saturating_sub(before.bytes) as f64 / elapsed,
        };
        let cause = |cause| rate(now.tally.stopped_count(cause), before.tally.stopped_count(cause));
        let outcome = |outcome: Disposition| {
            let causes = Cause::ALL.into_iter().filter(|cause| cause.outcome() == outcome);
            let rates = causes.map(|name| (name, cause(name))).filter(|(_, rate)| !rate.is_zero());
            let rates: Vec<_> = rates.collect();
            let sum = rates.iter().fold(Rate::default(), |sum, (_, rate)| sum.plus(rate));
            let parts = rates.iter().map(|(cause, rate)| format!("{} {rate}", cause.name()));
            match parts.collect::<Vec<_>>() {
                parts if parts.is_empty() => sum.to_string(),
                parts => format!("{sum} ({})", parts.join(", ")),
            }
        };
        let missed = |now: u64, before: u64| packets(now.saturating_sub(before) as f64 / elapsed);
        let (all, all_before) = (now.tally.ports(), before.tally.ports());
        let left_out = match sample.left_out {
            0 => String::new(),
            n => format!(", {} left out", plural(n, "line")),
        };
        writeln!(
            self.out,
            "{:6.1} s  received {}  forwarded {}  kernel {}  dropped {}  missed {}  {}{left_out}",
            sample.elapsed().as_secs_f64(),
            rate(all.received, all_before.received),
            rate(all.sent, all_before.sent),
            outcome(Disposition::Kernel),
            outcome(Disposition::Dropped),
            missed(all.missed, all_before.missed),
            self.out.dim(routes(&sample.routes)),
        )?;
        for (name, counts) in &now.ports {
            let before = before.port(name);
            let (received, sent) =
                (rate(counts.received, before.received), rate(counts.sent, before.sent));
            if !received.is_zero() || !sent.is_zero() || counts.missed > before.missed {
                let missed = missed(counts.missed, before.missed);
                writeln!(
                    self.out,
                    "          {name}: received {received}  sent {sent}  missed {missed}"
                )?;
            }
        }
        Ok(())
    }

    /// Prints the counts of all packets by cause and by port.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub fn end(&mut self, sample: &Sample) -> Result<(), CliError> {
        if self.json {
            self.out.json(&sample.object(true))?;
            self.out.flush()?;
            return Ok(());
        }
        let TrafficCounts { tally, ports } = &sample.counts;
        let received = tally.received;
        writeln!(
            self.out,
            "{} in {} s, {}",
            plural(received, "packet"),
            short(sample.elapsed().as_secs_f64()),
            routes(&sample.routes)
        )?;
        let columns = [
            ("", Align::Left),
            ("", Align::Left),
            ("packets", Align::Right),
            ("share", Align::Right),
            ("bytes", Align::Right),
        ];
        let mut grid = Grid::new(columns);
        let mut row = |name: &str, part: &str, Count { packets, bytes }: Count| {
            let share = percent(packets as f64, received as f64);
            grid.row([
                name.to_owned(),
                part.to_owned(),
                thousands(packets),
                share,
                thousands(bytes),
            ]);
        };
        row("forwarded", "", tally.ports().sent);
        for (name, outcome) in [("kernel", Disposition::Kernel), ("dropped", Disposition::Dropped)]
        {
            let causes = Cause::ALL.into_iter().filter(|cause| cause.outcome() == outcome);
            let counts: Vec<_> = causes.map(|cause| (cause, tally.stopped_count(cause))).collect();
            let mut sum = Count::default();
            counts.iter().for_each(|(_, count)| sum += *count);
            row(name, "", sum);
            for (cause, count) in counts.into_iter().filter(|(_, count)| count.packets > 0) {
                row("", cause.name(), count);
            }
        }
        for (name, counts) in ports {
            row(name, "received", counts.received);
            row("", "sent", counts.sent);
            if counts.missed > 0 {
                row("", "missed", Count { packets: counts.missed, bytes: 0 });
            }
        }
        grid.print(&mut self.out)?;
        self.out.flush()?;
        Ok(())
    }
}

/// Packets and bits a second: `1.23 M/s 4.56 Gbit/s`.
#[derive(Clone, Copy, Default)]
struct Rate {
    packets: f64,
    bits: f64,
}

impl Rate {
    fn is_zero(self) -> bool {
        self.packets == 0.0
    }

    fn plus(self, other: &Self) -> Self {
        Self { packets: self.packets + other.packets, bits: self.bits + other.bits }
    }
}

impl std::fmt::Display for Rate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&packets(self.packets))?;
        match self.bits {
            0.0 => Ok(()),
            bits if bits >= 999.5e6 => write!(f, " {} Gbit/s", short(bits / 1e9)),
            bits if bits >= 999.5e3 => write!(f, " {} Mbit/s", short(bits / 1e6)),
            bits => write!(f, " {} kbit/s", short(bits / 1e3)),
        }
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
