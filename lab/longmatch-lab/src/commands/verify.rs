//! `longmatch-lab verify`: compares the RIB and every engine with the ranges of the routes as they were
//! read, on every IPv4 address and in every range of IPv6.

use std::io::Write;
use std::sync::{Arc, Mutex};

use longmatch::simd::{Level, Simd};
use longmatch::{Change, EngineKind, EngineSpec, Ipv4, Ipv6, NextHopId, Rib};
use longmatch_bench::{
    BenchFamily, Coverage, EngineResult, Kernel, KernelResult, Machine, Mismatch, SortedRoutes,
    Verifier, VerifyStep,
};
use longmatch_cli::error::{CliError, Outcome, Status};
use longmatch_cli::families::{CliFamily, Families};
use longmatch_cli::input::LoadedRoutes;
use longmatch_cli::output::{Grid, Out, plural, thousands, warn};
use longmatch_cli::progress::Progress;
use longmatch_feed::printable;
use serde::Serialize;

use crate::args::{EngineChoice, SimdChoice, VerifyArgs};
use crate::headings::headings;
use crate::routes;
use crate::widen::{Failed, Failure, no_results, try_wider};

/// Maximum number of routes for which `all` includes the engines that scan all routes.
const SCANNED_ROUTES: usize = 10_000;

/// Runs the command. A wrong answer or structure makes the status negative, and so does a named
/// engine that cannot hold the table.
///
/// # Errors
/// If the routes cannot be loaded; if there is nothing to verify, without a route or an engine
/// can hold them; if this CPU lacks the SIMD level, or the system does not start the threads.
pub fn run(args: &VerifyArgs) -> Outcome {
    let (full, brief): (Vec<Simd>, Vec<Simd>) = match args.simd {
        Some(SimdChoice::All) => (Simd::available().collect(), Vec::new()),
        Some(SimdChoice::Level(level)) => (vec![forced(level)?], Vec::new()),
        // Other commands answer at the best level: by default only that one is worth a full sweep.
        None => Simd::available().partition(|simd| *simd == Simd::best()),
    };
    // The quick coverage is that of every range.
    let (full, brief) = match args.quick {
        true => (Vec::new(), [full, brief].concat()),
        false => (full, brief),
    };
    let (ipv4, ipv6) = (args.engines.specs::<Ipv4>()?, args.engines.specs::<Ipv6>()?);
    let families = Families::from(args.families);
    let (mut routes, mut changes) = routes::load_with_changes(&args.routes, families)?;
    routes.require_routes(families)?;
    routes::use_ids(&mut routes, &args.routes)?;
    if routes.compiled().is_some() {
        // The reference has the ids of the compiled form.
        changes.ipv4 = routes.rib::<Ipv4>().iter().map(Change::Announce).collect();
        changes.ipv6 = routes.rib::<Ipv6>().iter().map(Change::Announce).collect();
    }
    let (out, failed) = (Out::new(), Vec::new());
    let routes = &routes;
    let mut command = Verify { args, full, brief, routes, out, failed, verified: 0, wrong: false };
    if !args.json {
        writeln!(command.out, "{}\n{}", Machine::here(), routes.describe())?;
        command.out.flush()?;
    }
    if !routes.table.ipv4().is_empty() {
        command.family::<Ipv4>(ipv4, changes.ipv4)?;
    }
    if !routes.table.ipv6().is_empty() {
        command.family::<Ipv6>(ipv6, changes.ipv6)?;
    }
    command.out.flush()?;
    if command.verified == 0 {
        let none = || "none of these exists for the table's addresses".to_owned();
        let problem = no_results("verified", &command.failed).unwrap_or_else(none);
        return Err(CliError::input("--engine", problem));
    }
    Ok(Status::ok_if(!command.wrong && !command.failed.iter().any(|it| it.named)))
}

fn forced(level: Level) -> Result<Simd, CliError> {
    Simd::forced(level).map_err(|error| CliError::input("--simd", error))
}

struct Verify<'a> {
    args: &'a VerifyArgs,
    /// The levels at which every address is tested.
    full: Vec<Simd>,
    /// The levels at which every range is tested.
    brief: Vec<Simd>,
    routes: &'a LoadedRoutes,
    out: Out,
    /// Engines without a result.
    failed: Vec<Failed>,
    /// Engines that were verified.
    verified: usize,
    /// Whether an answer or a structure was wrong.
    wrong: bool,
}

/// One line of NDJSON.
#[derive(Serialize)]
struct VerifyLine<'a> {
    engine: &'a str,
    variant: &'a str,
    family: &'static str,
    routes: usize,
    kernel: &'static str,
    simd: &'static str,
    coverage: &'static str,
    addresses: u64,
    mismatches: u64,
    seconds: f64,
    /// `ok`, or the defect of the structure.
    check: String,
    examples: Vec<Example<'a>>,
}

/// A wrong answer, with the texts of its next hops.
#[derive(Serialize)]
struct Example<'a> {
    address: &'a str,
    expected: Option<String>,
    got: Option<String>,
}

impl Verify<'_> {
    /// Verifies the RIB and the engines with the ranges of the routes as they were read, sorted.
    fn family<F: CliFamily + BenchFamily>(
        &mut self,
        specs: Vec<EngineSpec>,
        changes: Vec<Change<F>>,
    ) -> Result<(), CliError> {
        let rib = self.routes.rib::<F>();
        // A split table has no text.
        let text = Arc::new(match self.args.routes.split {
            None => SortedRoutes::new(changes),
            Some(_) => SortedRoutes::new(rib.iter().map(Change::Announce)),
        });
        let (specs, left_out) = self.with_oracles::<F>(rib, specs);
        if specs.is_empty() {
            warn(format_args!("--engine: none of these exists for {}", F::LABEL));
            return Ok(());
        }
        let title = format!("{}  {}", F::LABEL, plural(rib.len() as u64, "route"));
        if !self.args.json {
            writeln!(self.out, "\n{}", self.out.bold(title))?;
        }
        let verifier = Verifier::<F>::new(rib, &*text, &self.full, &self.brief);
        let (mut verdicts, mut failed) = (Vec::new(), Vec::new());
        let verdict = self.verify_rib(&verifier, text)?;
        self.judge::<F>(verdict, &mut verdicts)?;
        if let Some(compiled) = self.routes.compiled() {
            let on_step = progress_of(format!("verifying {} file", F::LABEL));
            let verdict = verifier.verify_engine(&compiled, &on_step);
            drop(on_step);
            let verdict = verdict.map_err(|error| CliError::threads("verifying", &error))?;
            self.verified += 1;
            self.judge::<F>(verdict, &mut verdicts)?;
        }
        for spec in &specs {
            match self.verify(&verifier, spec)? {
                Ok(verdict) => {
                    self.verified += 1;
                    self.judge::<F>(verdict, &mut verdicts)?;
                }
                Err(failure) => {
                    if self.args.json {
                        self.out.json(&failure)?;
                    }
                    failed.push(failure);
                }
            }
        }
        if !self.args.json {
            self.print(&verdicts, &failed)?;
            for kind in left_out {
                let note =
                    format!("  {kind} scans all routes: name it with --engine to verify a sample");
                writeln!(self.out, "{}", self.out.dim(note))?;
            }
        }
        self.failed.append(&mut failed);
        self.out.flush()?;
        Ok(())
    }

    /// Prints a verdict, or keeps it for the printed table.
    fn judge<F: CliFamily>(
        &mut self,
        verdict: EngineResult,
        verdicts: &mut Vec<EngineResult>,
    ) -> Result<(), CliError> {
        self.wrong |= !verdict.is_right();
        if self.args.json {
            return self.json::<F>(&verdict);
        }
        verdicts.push(verdict);
        Ok(())
    }

    /// Adds the oracles to `all` if the table is small enough; otherwise prints which are left out.
    fn with_oracles<F: CliFamily>(
        &self,
        rib: &Rib<F>,
        mut specs: Vec<EngineSpec>,
    ) -> (Vec<EngineSpec>, Vec<EngineKind>) {
        let chosen = &self.args.engines.engines;
        if !chosen.is_empty() && !chosen.contains(&EngineChoice::All) {
            return (specs, Vec::new());
        }
        let missing = |kind: &EngineKind| {
            F::has(*kind) && kind.is_oracle() && specs.iter().all(|spec| spec.kind != *kind)
        };
        let oracles: Vec<_> = EngineKind::ALL.into_iter().filter(missing).collect();
        if rib.len() > SCANNED_ROUTES {
            return (specs, oracles);
        }
        specs.splice(0..0, oracles.into_iter().map(EngineSpec::from));
        (specs, Vec::new())
    }

    /// Verifies the RIB from which the engines are compiled.
    fn verify_rib<F: CliFamily + BenchFamily>(
        &self,
        verifier: &Verifier<'_, F>,
        text: Arc<SortedRoutes<F>>,
    ) -> Result<EngineResult, CliError> {
        let progress = progress_of(format!("verifying {} rib", F::LABEL));
        let verdict = verifier.verify_rib(text, &progress);
        verdict.map_err(|error| CliError::threads("verifying", &error))
    }

    /// Verifies one engine, unless it cannot hold the table.
    fn verify<F: CliFamily + BenchFamily>(
        &self,
        verifier: &Verifier<'_, F>,
        spec: &EngineSpec,
    ) -> Result<Result<EngineResult, Failed>, CliError> {
        let on_step = progress_of(format!("verifying {} {spec}", F::LABEL));
        let named = self.args.engines.named(spec);
        let widened = try_wider::<F, _, _>(spec, named, |spec| F::verify(verifier, spec, &on_step));
        // Erases the progress line before other output.
        drop(on_step);
        match widened {
            Ok(widened) => Ok(Ok(widened.report())),
            Err(error) => match error.threads() {
                Some(threads) => Err(CliError::threads("verifying", threads)),
                None => Ok(Err(Failed::new(self.routes.rib::<F>(), spec, named, &error))),
            },
        }
    }

    fn json<F: CliFamily>(&mut self, verdict: &EngineResult) -> Result<(), CliError> {
        let check = verdict.check.as_ref().map_or_else(ToString::to_string, |()| "ok".to_owned());
        let Self { out, routes, .. } = self;
        for result in &verdict.results {
            out.json(&VerifyLine {
                engine: verdict.engine,
                variant: &verdict.variant,
                family: F::NAME,
                routes: routes.rib::<F>().len(),
                kernel: result.kernel.name(),
                simd: result.level.name(),
                coverage: result.coverage.name(),
                addresses: result.addresses,
                mismatches: result.mismatches,
                seconds: result.seconds,
                check: check.clone(),
                examples: examples(routes, result),
            })?;
        }
        out.flush()?;
        Ok(())
    }

    fn print(&mut self, verdicts: &[EngineResult], failed: &[Failed]) -> Result<(), CliError> {
        let mut grid = Grid::new(headings(
            "engine | kernel | simd | coverage | >lookups | >wrong | >seconds | structure",
        ));
        let out = &mut self.out;
        for verdict in verdicts {
            for row in merged(&verdict.results) {
                let wrong = thousands(row.mismatches);
                grid.row([
                    format!("{} {}", verdict.engine, verdict.variant).trim_end().to_owned(),
                    row.kernel.to_string(),
                    row.levels(),
                    row.coverage.to_string(),
                    thousands(row.lookups),
                    if row.mismatches == 0 { out.green(wrong) } else { out.red(wrong) },
                    format!("{:.1}", row.seconds),
                    match &verdict.check {
                        Ok(()) => out.green("sound"),
                        Err(_) => out.red("BROKEN"),
                    },
                ]);
            }
        }
        failed.iter().for_each(|it| it.row(&mut grid, out));
        grid.print(out)?;
        verdicts.iter().try_for_each(|verdict| self.print_wrong(verdict))
    }

    /// Prints the defects, if there are any.
    fn print_wrong(&mut self, verdict: &EngineResult) -> Result<(), CliError> {
        if let Err(corrupt) = &verdict.check {
            writeln!(self.out, "  {}", self.out.red(corrupt))?;
        }
        let mut lines = Vec::new();
        for result in &verdict.results {
            for Example { address, expected, got } in examples(self.routes, result) {
                let none = || "-".to_owned();
                let (expected, got) = (expected.unwrap_or_else(none), got.unwrap_or_else(none));
                let (expected, got) = (printable(&expected), printable(&got));
                let (engine, kernel, level) = (verdict.engine, result.kernel, result.level);
                lines.push(format!(
                    "  {engine} {kernel} {level}: {address} gave {got}, expected {expected}"
                ));
            }
        }
        lines.iter().try_for_each(|line| Ok(writeln!(self.out, "{}", self.out.red(line))?))
    }
}

/// A callback that shows the progress of a verification in a line until it is dropped.
fn progress_of(label: String) -> impl Fn(VerifyStep) + Sync {
    let progress = Mutex::new(None);
    move |step: VerifyStep| {
        if let Ok(mut progress) = progress.lock() {
            let (line, done) = progress.get_or_insert_with(|| {
                (Progress::new(label.clone(), Some(step.total), "lookups"), 0)
            });
            *done += step.addresses;
            line.set(*done);
        }
    }
}

/// The recorded wrong answers, with the texts of their next hops.
fn examples<'a>(routes: &'a LoadedRoutes, result: &'a KernelResult) -> Vec<Example<'a>> {
    let text = |id: NextHopId| routes.text(id);
    let example = |it: &'a Mismatch| Example {
        address: &it.address,
        expected: it.expected.map(text),
        // A wrong id may not exist in the table.
        got: it.got.map(|id| format!("{} (id {id})", text(id))),
    };
    result.examples.iter().map(example).collect()
}

/// Results of one kernel with the same coverage, at one or more levels: a row of the printed table.
struct Row {
    kernel: Kernel,
    coverage: Coverage,
    lowest: Level,
    highest: Level,
    lookups: u64,
    mismatches: u64,
    seconds: f64,
}

impl Row {
    fn levels(&self) -> String {
        match self.lowest == self.highest {
            true => self.lowest.to_string(),
            false => format!("{} to {}", self.lowest, self.highest),
        }
    }
}

/// Joins levels with the same results. Levels come lowest first and without gaps.
fn merged(results: &[KernelResult]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for result in results {
        let KernelResult { kernel, coverage, level, addresses, mismatches, seconds, .. } = *result;
        match rows.iter_mut().find(|row| row.kernel == kernel && row.coverage == coverage) {
            Some(row) => {
                row.highest = level;
                row.lookups += addresses;
                row.mismatches += mismatches;
                row.seconds += seconds;
            }
            None => {
                let (lowest, highest, lookups) = (level, level, addresses);
                rows.push(Row { kernel, coverage, lowest, highest, lookups, mismatches, seconds });
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(kernel: Kernel, level: Level, coverage: Coverage) -> KernelResult {
        let (addresses, mismatches, seconds) = (10, 1, 0.5);
        KernelResult { kernel, level, coverage, addresses, mismatches, examples: vec![], seconds }
    }

    #[test]
    fn levels_with_equal_results_share_a_row() {
        use Coverage::{EveryAddress, EveryRange};
        let levels = [Level::Portable, Level::Scalar, Level::Avx2];
        let mut results: Vec<_> = levels
            .into_iter()
            .flat_map(|level| Kernel::ALL.map(|kernel| result(kernel, level, EveryRange)))
            .collect();
        results.push(result(Kernel::Batch, Level::Avx512, EveryAddress));
        let rows = merged(&results);
        let levels: Vec<_> = rows.iter().map(Row::levels).collect();
        assert_eq!(levels, ["portable to avx2", "portable to avx2", "avx512"]);
        let kernels: Vec<_> = rows.iter().map(|row| row.kernel).collect();
        assert_eq!(kernels, [Kernel::Each, Kernel::Batch, Kernel::Batch]);
        assert_eq!((rows[1].lookups, rows[1].mismatches, rows[1].seconds), (30, 3, 1.5));
    }
}
