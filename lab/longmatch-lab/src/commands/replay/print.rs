//! Printed tables of `longmatch-lab replay`.

use std::io::Write;

use longmatch_bench::{READER_BATCH, READER_COST_BATCH, ReplayRecord, UpdateCounts};
use longmatch_cli::error::CliError;
use longmatch_cli::families::CliFamily;
use longmatch_cli::output::{Grid, bytes, percent, plural, short, thousands};
use longmatch_feed::printable;

use super::Command;
use crate::headings::headings;
use crate::widen::Failed;

impl Command<'_> {
    /// Prints all records, at least one, and the engines without a record.
    pub(super) fn print<F: CliFamily>(
        &mut self,
        records: &[ReplayRecord],
        failed: &[Failed],
    ) -> Result<(), CliError> {
        let Some(first) = records.first() else { return Ok(()) };
        let source = self.source(first.updates);
        let out = &mut self.out;
        writeln!(out, "\n{}  {}", out.bold(F::LABEL), out.dim(source))?;
        writeln!(out, "  {}", out.dim(update_counts(first)))?;
        self.times(records, failed)?;
        self.tables(records)?;
        if first.readers > 0 {
            self.readers(records)?;
        }
        records.iter().try_for_each(|record| self.wrong(record))
    }

    fn times(&mut self, records: &[ReplayRecord], failed: &[Failed]) -> Result<(), CliError> {
        let each = match self.args.batch {
            1 => "apply and commit".to_owned(),
            n => format!("apply; the last of {} commits", thousands(n as u64)),
        };
        let unit = format!("microseconds an update: {each}");
        writeln!(self.out, "\n  {}", self.out.dim(unit))?;
        let mut grid = Grid::new(headings(
            "engine | >mean | >if it changes | >p50 | >p99 | >p99.9 | >max | >wrong | structure",
        ));
        for record in records {
            let wrong = thousands(record.mismatches);
            let out = &self.out;
            grid.row([
                record.title(),
                short(record.mean_us),
                record.mean_effective_us.map_or_else(String::new, short),
                short(record.p50_us),
                short(record.p99_us),
                short(record.p999_us),
                short(record.max_us),
                if record.mismatches == 0 { out.green(wrong) } else { out.red(wrong) },
                if record.check == "ok" { out.green("sound") } else { out.red("BROKEN") },
            ]);
        }
        failed.iter().for_each(|it| it.row(&mut grid, &self.out));
        grid.print(&mut self.out)
    }

    fn tables(&mut self, records: &[ReplayRecord]) -> Result<(), CliError> {
        writeln!(self.out, "\n  {}", self.out.dim("replaced an update, and memory"))?;
        let mut grid = Grid::new(headings(
            "engine | >entries | >nodes | >leaves | >recompiled | >before | >after | >fresh",
        ));
        for record in records {
            grid.row([
                label(record, records),
                format!("{:.3}", record.entries_replaced),
                format!("{:.3}", record.nodes_replaced),
                format!("{:.3}", record.leaves_replaced),
                thousands(record.recompiled),
                bytes(record.bytes_before as u64),
                bytes(record.bytes_after as u64),
                bytes(record.bytes_fresh as u64),
            ]);
        }
        grid.print(&mut self.out)
    }

    fn readers(&mut self, records: &[ReplayRecord]) -> Result<(), CliError> {
        let readers = plural(records[0].readers as u64, "reader");
        let rates = format!(
            "{readers}: million lookups a second, and nanoseconds of a batch of {READER_BATCH}; \
             idle without updates, churn with them"
        );
        let costs = format!(
            "guard and quiescent: nanoseconds per lookup, in batches of {READER_COST_BATCH}"
        );
        writeln!(self.out, "\n  {}\n  {}", self.out.dim(rates), self.out.dim(costs))?;
        let mut grid = Grid::new(headings(
            "engine | >idle Mlps | >churn Mlps | >of idle | >idle p50 | >churn p50 | >idle p99.99 | >churn p99.99 | >guard | >quiescent",
        ));
        let mlps = |rate: Option<f64>| rate.map_or_else(String::new, |rate| format!("{rate:.1}"));
        let cost = |ns: Option<f64>| ns.map_or_else(String::new, |ns| format!("{ns:.2}"));
        let ns = |ns: Option<u64>| ns.map_or_else(String::new, thousands);
        for record in records {
            let (idle, churn) = (record.reader_mlps_idle, record.reader_mlps_churn);
            grid.row([
                label(record, records),
                mlps(idle),
                mlps(churn),
                percent(churn.unwrap_or(0.0), idle.unwrap_or(0.0)),
                ns(record.reader_p50_ns_idle),
                ns(record.reader_p50_ns_churn),
                ns(record.reader_p9999_ns_idle),
                ns(record.reader_p9999_ns_churn),
                cost(record.guard_ns),
                cost(record.report_ns),
            ]);
        }
        grid.print(&mut self.out)
    }

    /// Prints the defects, if there are any.
    fn wrong(&mut self, record: &ReplayRecord) -> Result<(), CliError> {
        let engine = record.title();
        if record.check != "ok" {
            writeln!(self.out, "  {}", self.out.red(format!("{engine}: {}", record.check)))?;
        }
        for it in &record.examples {
            let (got, expected) = (self.next_hop(it.got), self.next_hop(it.expected));
            let (got, expected) = (printable(got), printable(expected));
            let line = format!("  {engine}: {} gave {got}, expected {expected}", it.address);
            writeln!(self.out, "{}", self.out.red(line))?;
        }
        Ok(())
    }
}

/// Returns the engine's name, with its variant only if another record has the same name.
fn label(record: &ReplayRecord, records: &[ReplayRecord]) -> String {
    match records.iter().filter(|other| other.engine == record.engine).count() {
        1 => record.engine.to_owned(),
        _ => record.title(),
    }
}

/// Summary of the updates' effects, which are the same for every engine.
fn update_counts(record: &ReplayRecord) -> String {
    let UpdateCounts { new, same, changed, withdrawn, unknown } = record.counts;
    let [new, same, changed] = [new, same, changed].map(thousands);
    let [withdrawn, unknown] = [withdrawn, unknown].map(thousands);
    let after = plural(record.routes_after as u64, "route");
    let checked = plural(record.checked, "answer");
    format!(
        "{new} new, {same} same, {changed} changed, {withdrawn} withdrawn, {unknown} unknown; \
         {after} then; {checked} checked at {}",
        plural(record.checkpoints, "checkpoint")
    )
}
