//! The output of the commands.

use std::io::Write;
use std::net::IpAddr;
use std::time::Duration;

use longmatch::Family;
use longmatch_cli::error::CliError;
use longmatch_cli::output::{Align, Grid, Out, plural, thousands};
use longmatch_feed::printable;
use longmatch_filter::{
    Action, Cause, Counts, Decision, End, FilterError, Found, Hook, List, Mask, Match, Parts,
    Policy, Running, SAFE, Safety, Total,
};
use serde_json::{Value, json};

/// Prints as text or JSON.
pub struct Printer {
    out: Out,
    json: bool,
}

/// An action as text: `limit 1000`.
pub fn action(action: Action) -> String {
    match action {
        Action::Pass => "pass".to_owned(),
        Action::Drop => "drop".to_owned(),
        Action::Limit(rate) => format!("limit {rate}"),
        Action::Mark(mark) => format!("mark {mark}"),
        Action::Count => "count".to_owned(),
    }
}

/// The hook as text: `xdp native`.
fn place(running: &Running) -> &'static str {
    match (running.about().setup.hook, running.about().native) {
        (Hook::Xdp, true) => "XDP, native",
        (Hook::Xdp, false) => "XDP, generic",
        (Hook::Ingress, _) => "tc, ingress",
        (Hook::Egress, _) => "tc, egress",
    }
}

fn matched(policy: &Policy) -> &'static str {
    match policy.matched {
        Match::Source => "source",
        Match::Destination => "destination",
        Match::Both => "both",
    }
}

fn fate(is_dropped: bool) -> &'static str {
    if is_dropped { "drop" } else { "pass" }
}

impl Printer {
    pub fn new(json: bool) -> Self {
        Self { out: Out::new(), json }
    }

    /// Prints the state of a filter.
    ///
    /// # Errors
    /// If the kernel refuses, or standard output cannot be written.
    pub fn status(&mut self, running: &Running) -> Result<(), CliError> {
        let attached = running.is_attached().map_err(failed)?;
        let remaining = running.filter().remaining();
        if self.json {
            self.out.json(&status_object(running, attached, remaining))?;
        } else {
            self.status_text(running, attached, remaining)?;
        }
        Ok(self.out.flush()?)
    }

    fn status_text(
        &mut self,
        running: &Running,
        attached: bool,
        remaining: Option<Duration>,
    ) -> Result<(), CliError> {
        let about = running.about();
        let policy = &about.setup.policy;
        let name = self.out.bold(printable(&about.interface));
        let what = match policy.matched {
            Match::Source => "the source of packets",
            Match::Destination => "the destination of packets",
            Match::Both => "the source and the destination of packets",
        };
        writeln!(self.out, "{name} ({}): the lists have {what}", place(running))?;
        let mut grid = Grid::new(["list", "action", "file"].map(|it| (it, Align::Left)));
        for (List { name, action: list_action }, file) in policy.lists.iter().zip(&about.files) {
            let (name, file) = (printable(name).into_owned(), printable(file).into_owned());
            grid.row([name, action(*list_action), file]);
        }
        grid.print(&mut self.out)?;
        if let Some(scope) = &about.scope_file {
            writeln!(self.out, "only packets to {}", printable(scope))?;
        }
        let [default, unknown] = [policy.drop_others, about.setup.drop_unknown].map(fate);
        writeln!(self.out, "other packets: {default}, unreadable headers: {unknown}")?;
        if let Some(Safety { peers, gateways, own }) = &about.safety {
            writeln!(self.out, "never dropped: the link: fe80::/10, ff02::/16")?;
            for (what, list) in
                [("SSH peers", peers), ("gateways", gateways), ("this machine", own)]
            {
                let list: Vec<_> = list.iter().map(ToString::to_string).collect();
                let list = if list.is_empty() { "none".to_owned() } else { list.join(", ") };
                writeln!(self.out, "never dropped: {what}: {list}")?;
            }
        }
        if about.setup.dry_run {
            writeln!(self.out, "dry run: all packets pass")?;
        }
        match remaining {
            Some(Duration::ZERO) => writeln!(self.out, "not confirmed in time: all packets pass")?,
            Some(time) => {
                let seconds = plural(time.as_secs(), "second");
                writeln!(
                    self.out,
                    "all packets pass in {seconds}, unless 'longmatch-filter confirm' is called"
                )?;
            }
            None => {}
        }
        if !attached {
            writeln!(self.out, "the interface is gone")?;
        }
        if let Some(pins) = running.pins() {
            writeln!(self.out, "pinned in {}", printable(&pins.display().to_string()))?;
        }
        Ok(())
    }

    /// Prints the counts.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub fn counts(&mut self, running: &Running, counts: &Counts) -> Result<(), CliError> {
        let policy = &running.filter().setup().policy;
        if self.json {
            self.out.json(&counts_object(running, counts))?;
            return Ok(self.out.flush()?);
        }
        let [left, right] = [Align::Left, Align::Right];
        let columns = [
            ("list", left),
            ("action", left),
            ("packets", right),
            ("bytes", right),
            ("decided", right),
            ("over", right),
        ];
        let mut grid = Grid::new(columns);
        for (list, counts) in policy.lists.iter().zip(&counts.lists) {
            let numbers = [
                counts.matched.packets,
                counts.matched.bytes,
                counts.decided.packets,
                counts.over.packets,
            ];
            let cells = [printable(&list.name).into_owned(), action(list.action)];
            grid.row(cells.into_iter().chain(numbers.map(thousands)));
        }
        for (name, total) in others(counts) {
            let name = name.replace('_', " ");
            grid.row([
                format!("({name})"),
                String::new(),
                thousands(total.packets),
                thousands(total.bytes),
            ]);
        }
        grid.print(&mut self.out)?;
        Ok(self.out.flush()?)
    }

    /// Prints the prefixes of the kernel's tables, with their lists.
    ///
    /// # Errors
    /// If the kernel refuses, or standard output cannot be written.
    pub fn parts(&mut self, running: &Running) -> Result<(), CliError> {
        let policy = &running.filter().setup().policy;
        let end = if policy.looks_up_source() { End::Source } else { End::Destination };
        let (ipv4, ipv6) = running.filter().parts(end).map_err(failed)?;
        self.family(policy, &ipv4)?;
        self.family(policy, &ipv6)?;
        Ok(self.out.flush()?)
    }

    fn family<F: Family>(&mut self, policy: &Policy, parts: &Parts<F>) -> Result<(), CliError> {
        for part in parts {
            let names = names(policy, part.lists);
            // Addresses of the scope alone are in no list.
            if names.is_empty() {
                continue;
            }
            let text = printable(&names.join(",")).into_owned();
            for prefix in part.range.prefixes() {
                match self.json {
                    true => {
                        self.out.json(&json!({ "prefix": prefix.to_string(), "lists": names }))?
                    }
                    false => writeln!(self.out, "{prefix}\t{text}")?,
                }
            }
        }
        Ok(())
    }

    /// Prints the lists of an address; returns whether its packets pass.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub fn found(
        &mut self,
        running: &Running,
        address: IpAddr,
        found: &Found,
    ) -> Result<bool, CliError> {
        let policy = &running.filter().setup().policy;
        let ends = [("from", "source", found.source), ("to", "destination", found.destination)];
        let mut object = json!({ "address": address.to_string() });
        let mut passes = true;
        for (preposition, key, found) in ends {
            let Some((lists, decision)) = found else { continue };
            let names = names(policy, lists);
            let reason = reason(policy, decision);
            passes &= decision.action != Action::Drop;
            if self.json {
                object[key] =
                    json!({ "lists": names, "action": action(decision.action), "reason": reason });
                continue;
            }
            let lists = if names.is_empty() { "no list".to_owned() } else { names.join(", ") };
            let (lists, reason) = (printable(&lists).into_owned(), printable(&reason).into_owned());
            writeln!(
                self.out,
                "{preposition} {address}: {} ({reason}); in {lists}",
                action(decision.action)
            )?;
        }
        if self.json {
            self.out.json(&object)?;
        }
        self.out.flush()?;
        Ok(passes)
    }
}

#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
fn failed(error: FilterError) -> CliError {
    CliError::new(error.to_string())
}

/// The names of lists.
fn names(policy: &Policy, lists: Mask) -> Vec<String> {
    let named = policy.lists.iter().enumerate().filter(|(n, _)| lists >> n & 1 == 1);
    let safe = (lists & SAFE != 0).then(|| "(safe)".to_owned());
    named.map(|(_, list)| list.name.clone()).chain(safe).collect()
}

/// The reason of a decision.
fn reason(policy: &Policy, decision: Decision) -> String {
    match decision.cause {
        Cause::Safe => "an address that is never dropped".to_owned(),
        Cause::OutsideScope => "outside --to".to_owned(),
        Cause::List(list) => policy.lists.get(list).map_or_else(String::new, |it| it.name.clone()),
        Cause::Default => "no list decides".to_owned(),
    }
}

/// The counts that are not those of lists.
pub fn others(counts: &Counts) -> [(&'static str, Total); 7] {
    [
        ("safe", counts.safe),
        ("outside_scope", counts.outside_scope),
        ("no_list", counts.default),
        ("not_ip", counts.other),
        ("unreadable", counts.unknown),
        ("passed", counts.passed),
        ("dropped", counts.dropped),
    ]
}

fn status_object(running: &Running, attached: bool, remaining: Option<Duration>) -> Value {
    let about = running.about();
    let policy = &about.setup.policy;
    let lists = policy.lists.iter().zip(&about.files);
    let lists: Vec<_> = lists
        .map(|(list, file)| json!({ "name": list.name, "action": action(list.action), "file": file }))
        .collect();
    json!({
        "interface": about.interface,
        "hook": about.setup.hook.name(),
        "native": about.native,
        "attached": attached,
        "match": matched(policy),
        "lists": lists,
        "to": about.scope_file,
        "default": fate(policy.drop_others),
        "unknown": fate(about.setup.drop_unknown),
        "dry_run": about.setup.dry_run,
        "never_dropped": about.safety,
        "confirmed": remaining.is_none(),
        "seconds_left": remaining.map(|it| it.as_secs()),
        "pins": running.pins().map(|it| it.display().to_string()),
    })
}

fn counts_object(running: &Running, counts: &Counts) -> Value {
    let object = |total: Total| json!({ "packets": total.packets, "bytes": total.bytes });
    let policy = &running.filter().setup().policy;
    let lists = policy.lists.iter().zip(&counts.lists).map(|(list, counts)| {
        json!({
            "name": list.name,
            "action": action(list.action),
            "matched": object(counts.matched),
            "decided": object(counts.decided),
            "over": object(counts.over),
        })
    });
    let mut all = json!({
        "interface": running.about().interface,
        "hook": running.about().setup.hook.name(),
        "lists": lists.collect::<Vec<_>>(),
    });
    for (name, total) in others(counts) {
        all[name] = object(total);
    }
    all
}
