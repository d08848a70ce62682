//! `longmatch-lab bench`: measures engines side by side, after checking their answers.

mod choice;
mod traffic;

use std::io::Write;
use std::time::Instant;

use longmatch::simd::Simd;
use longmatch::{EngineSpec, Ipv4, Ipv6, KeyLayout};
use longmatch_bench::{
    BenchFamily, Comparison, KeySource, Machine, Measurement, Mode, ROOFLINE, RunConfig, Traffic,
    Workload, machine,
};
use longmatch_cli::error::{CliError, Outcome, Status};
use longmatch_cli::families::{CliFamily, Families};
use longmatch_cli::input::LoadedRoutes;
use longmatch_cli::output::{Align, Grid, Out, bar, bytes, plural, thousands, warn};
use longmatch_cli::progress::Progress;
use longmatch_report::{ExperimentEnd, Line, Value};

use crate::args::{self, BenchArgs};
use crate::routes;
use crate::widen::{Failed, no_results, try_wider};

/// Seed of all traffic, so that two runs look up the same addresses.
pub(super) const SEED: u64 = 1;
/// The experiment and the figure of the records.
const NAME: &str = "bench";
/// Characters of the longest bar.
const BAR: usize = 10;

/// Runs the command. A wrong answer makes the status negative, and so does a named engine that
/// cannot hold the table.
///
/// # Errors
/// If the routes or the traffic cannot be loaded, no engine can hold the table, or the system does
/// not start the threads.
pub fn run(args: &BenchArgs) -> Outcome {
    let modes = args.modes()?.into_iter().map(mode).collect();
    let simd = args.simd.map_or(Ok(Simd::best()), Simd::forced);
    let simd = simd.map_err(|error| CliError::input("--simd", error))?;
    let (ipv4, ipv6) = (args.engines.specs::<Ipv4>()?, args.engines.specs::<Ipv6>()?);
    let traffics = traffic::read(&args.traffics(), args.routes.source.read.rows.lenient)?;
    let families = Families::from(args.families);
    let mut routes = routes::load(&args.routes, families)?;
    routes.require_routes(families)?;
    routes::use_ids(&mut routes, &args.routes)?;
    let (out, failed, started) = (Out::new(), Vec::new(), Instant::now());
    let table = longmatch_feed::printable(&routes.name).to_string();
    let mut bench = Bench { args, simd, table, modes, traffics, out, failed, wrong: 0 };
    bench.head(&routes)?;
    let measured = bench.family::<Ipv4>(&routes, &ipv4)? + bench.family::<Ipv6>(&routes, &ipv6)?;
    if args.json {
        let (seconds, date) = (started.elapsed().as_secs_f64(), machine::now());
        let ended =
            ExperimentEnd { experiment: NAME.into(), seconds, date, ..ExperimentEnd::default() };
        bench.out.json(&Line::Experiment(ended))?;
    }
    bench.out.flush()?;
    if measured == 0 {
        let none = || "nothing was measured: no traffic for the table's addresses".to_owned();
        let problem = no_results("measured", &bench.failed).map(|it| format!("--engine: {it}"));
        return Err(CliError::new(problem.unwrap_or_else(none)));
    }
    Ok(Status::ok_if(bench.wrong == 0 && !bench.failed.iter().any(|it| it.named)))
}

fn mode(mode: args::Mode) -> Mode {
    match mode {
        args::Mode::One => Mode::One,
        args::Mode::Batch => Mode::Batch,
        args::Mode::Dependent => Mode::Dependent,
    }
}

fn key_layout(keys: args::Keys) -> KeyLayout {
    match keys {
        args::Keys::Host => KeyLayout::Host,
        args::Keys::Pairs => KeyLayout::U64Pairs,
        args::Keys::Network => KeyLayout::Network,
    }
}

struct Bench<'a> {
    args: &'a BenchArgs,
    simd: Simd,
    /// The name of the table.
    table: String,
    modes: Vec<Mode>,
    traffics: Vec<Traffic>,
    out: Out,
    /// Engines without a result.
    failed: Vec<Failed>,
    /// Measurements that failed because of wrong answers.
    wrong: usize,
}

impl Bench<'_> {
    /// Prints the machine and the table, which rates need as context.
    fn head(&mut self, routes: &LoadedRoutes) -> Result<(), CliError> {
        let machine = Machine::here();
        if machine.debug {
            warn(
                "built with debug assertions: these rates are not meaningful, build with --release",
            );
        }
        if self.args.threads > machine.cpus {
            let (threads, cpus) = (self.args.threads as u64, machine.cpus as u64);
            let (threads, cpus) = (thousands(threads), plural(cpus, "CPU"));
            warn(format_args!("--threads {threads}: they take turns on {cpus}"));
        }
        if self.args.json {
            let inputs = [("table", routes.describe()), ("seed", SEED.to_string())];
            let inputs = inputs.map(|(name, value)| (name.to_owned(), value)).to_vec();
            self.out.json(&Line::Run(longmatch_report::about(inputs)))?;
        } else {
            writeln!(self.out, "{machine}")?;
            writeln!(self.out, "{}", routes.describe())?;
        }
        self.out.flush()?;
        Ok(())
    }

    /// Prints values as records.
    fn values(&mut self, values: impl IntoIterator<Item = Value>) -> Result<(), CliError> {
        values.into_iter().try_for_each(|value| {
            let (experiment, figure, table) = (NAME.into(), NAME.into(), self.table.clone());
            self.out.json(&Line::Value(Box::new(Value { experiment, figure, table, ..value })))
        })
    }

    /// Measures the engines of a family; returns the number of measurements.
    fn family<F: CliFamily + BenchFamily>(
        &mut self,
        routes: &LoadedRoutes,
        specs: &[EngineSpec],
    ) -> Result<usize, CliError> {
        if F::pick(routes.table.ipv4(), routes.table.ipv6()).is_empty() {
            return Ok(0);
        }
        if specs.is_empty() {
            warn(format_args!("--engine: none of these exists for {}", F::LABEL));
            return Ok(0);
        }
        let rib = routes.rib::<F>();
        let mut comparison = Comparison::<F>::new(rib);
        if let Some(compiled) = routes.compiled() {
            comparison.add_engine(compiled, 0.0);
        }
        let mut failed = Vec::new();
        for spec in specs {
            let named = self.args.engines.named(spec);
            match try_wider::<F, _, _>(spec, named, |spec| comparison.add(spec)) {
                Ok(widened) => widened.report(),
                Err(error) => failed.push(Failed::new(rib, spec, named, &error)),
            }
        }
        if self.args.json {
            self.values(failed.iter().map(Failed::value))?;
        } else {
            choice::print_choices(&mut self.out, &comparison)?;
        }
        let measured = match comparison.is_empty() {
            true => self.print_failures::<F>(&failed)?,
            false => self.traffics(&comparison, &failed)?,
        };
        self.failed.append(&mut failed);
        Ok(measured)
    }

    /// Prints the error of each engine of a family if nothing was measured.
    fn print_failures<F: CliFamily>(&mut self, failed: &[Failed]) -> Result<usize, CliError> {
        if !self.args.json {
            let mut grid = Grid::new([("engine", Align::Left)]);
            failed.iter().for_each(|it| it.row(&mut grid, &self.out));
            writeln!(self.out, "\n{}", self.out.bold(F::LABEL))?;
            grid.print(&mut self.out)?;
        }
        Ok(0)
    }

    /// Measures the engines under all traffic; returns the number of measurements.
    fn traffics<F: CliFamily + BenchFamily>(
        &mut self,
        comparison: &Comparison<'_, F>,
        failed: &[Failed],
    ) -> Result<usize, CliError> {
        let mut measured = 0;
        for traffic in std::mem::take(&mut self.traffics) {
            match comparison.workload(&traffic, SEED) {
                Some(workload) => {
                    let workload = workload.encoded_as(key_layout(self.args.keys));
                    measured += self.measure(comparison, &workload, failed, measured == 0)?;
                }
                None => {
                    let traffic = traffic.to_string();
                    let traffic = longmatch_feed::printable(&traffic);
                    warn(format_args!("{traffic}: no {} addresses", F::LABEL));
                }
            }
            self.traffics.push(traffic);
        }
        Ok(measured)
    }

    /// Measures all engines in all modes under one kind of traffic; `first` is the first kind for these engines.
    fn measure<F: CliFamily + BenchFamily>(
        &mut self,
        comparison: &Comparison<'_, F>,
        workload: &Workload<F>,
        failed: &[Failed],
        first: bool,
    ) -> Result<usize, CliError> {
        let traffic = workload.traffic().to_string();
        let title = format!("{}, {} traffic", F::LABEL, longmatch_feed::printable(&traffic));
        let mut progress =
            Progress::new(format!("measuring {title}"), Some(self.modes.len() as u64), "modes");
        let mut records = Vec::new();
        for (done, mode) in self.modes.iter().enumerate() {
            progress.set(done as u64);
            let run = comparison.run(workload, &self.run_config(*mode));
            let option = || format!("--threads {}", self.args.threads);
            records.extend(run.map_err(|error| CliError::threads(option(), &error))?);
        }
        drop(progress);
        self.wrong += records.iter().filter(|record| record.mismatches > 0).count();
        if self.args.json {
            // The structures are the same under all traffic and in all modes.
            let mode = self.modes.first().filter(|_| first).map(|mode| mode.name());
            let structures = records.iter().filter(|it| Some(&*it.about.mode) == mode);
            self.values(structures.flat_map(Measurement::structure))?;
            self.values(records.iter().flat_map(Measurement::values))?;
        } else {
            self.print(&title, comparison, workload, &records, failed)?;
        }
        self.out.flush()?;
        Ok(records.len())
    }

    fn run_config(&self, mode: Mode) -> RunConfig {
        let BenchArgs { batch, threads, seconds, generate, roofline, .. } = *self.args;
        let simd = self.simd;
        RunConfig {
            batch,
            threads,
            simd,
            seconds,
            generate,
            roofline,
            pin: true,
            ..RunConfig::new(mode)
        }
    }

    fn print<F: CliFamily + BenchFamily>(
        &mut self,
        title: &str,
        comparison: &Comparison<'_, F>,
        workload: &Workload<F>,
        records: &[Measurement],
        failed: &[Failed],
    ) -> Result<(), CliError> {
        let settings = self.settings(workload);
        let routes = plural(comparison.rib().len() as u64, "route");
        let table = format!("{routes}, {}", plural(comparison.next_hops() as u64, "next hop"));
        let out = &mut self.out;
        writeln!(out, "\n{}  {}", out.bold(title), out.dim(table))?;
        writeln!(out, "  {}", out.dim(settings))?;
        let best = records.iter().filter_map(Measurement::mlps).fold(0.0, f64::max);
        let mut grid = Grid::new([
            ("engine", Align::Left),
            ("mode", Align::Left),
            ("", Align::Left),
            ("Mlps", Align::Right),
            ("min to max", Align::Right),
            ("ns", Align::Right),
            ("memory", Align::Right),
            ("build", Align::Right),
            (if self.args.roofline { "roofline" } else { "" }, Align::Right),
        ]);
        for record in records {
            let span = record.passes.stats().map(|it| format!("{:.1} to {:.1}", it.min, it.max));
            let build = match &record.engine[..] {
                ROOFLINE => String::new(),
                _ => milliseconds(record.build_ms),
            };
            grid.row([
                record.title(),
                record.about.mode.clone(),
                rate_bar(out, record, best, BAR),
                rate(record),
                out.dim(span.unwrap_or_default()),
                record.ns_per_lookup().map_or_else(String::new, |ns| format!("{ns:.2}")),
                if record.bytes == 0 { "–".into() } else { bytes(record.bytes as u64) },
                build,
                record.roofline_ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}x")),
            ]);
        }
        failed.iter().for_each(|it| it.row(&mut grid, out));
        grid.print(out)?;
        choice::compare(out, records)
    }

    /// Describes the settings of the rates, for the line below the title.
    fn settings<F: BenchFamily>(&self, workload: &Workload<F>) -> String {
        let batch = match self.modes.contains(&Mode::Batch) {
            true => format!(", batches of {}", thousands(self.args.batch as u64)),
            false => String::new(),
        };
        let layout = match workload.layout(Mode::Batch) {
            KeyLayout::Host => "",
            KeyLayout::U64Pairs => " in pairs",
            KeyLayout::Network => " in network order",
        };
        let keys = match self.run_config(Mode::One).key_source::<F>(workload.traffic()) {
            KeySource::Array => {
                format!("array of {} keys{layout}", thousands(workload.keys().len() as u64))
            }
            KeySource::Counter => "keys counted in the loop".to_owned(),
            generator => format!("keys generated in the loop ({generator})"),
        };
        format!(
            "{keys}, {:.0} % routed; {}{batch}, {}; {} answers checked",
            workload.routed() * 100.0,
            plural(self.args.threads as u64, "thread"),
            self.simd.level(),
            thousands(workload.checked() as u64),
        )
    }
}

/// Draws a bar for the rate, or prints the number of wrong answers in its place.
pub(super) fn rate_bar(out: &Out, record: &Measurement, best: f64, width: usize) -> String {
    match record.mlps() {
        Some(mlps) => out.green(bar(mlps, best, width)),
        None => out.red(format!("{} WRONG", plural(record.mismatches, "answer"))),
    }
}

/// Formats million lookups a second, or a dash.
pub(super) fn rate(record: &Measurement) -> String {
    record.mlps().map_or_else(|| "-".to_owned(), |mlps| format!("{mlps:.1}"))
}

/// Formats a time in milliseconds or seconds.
pub(super) fn milliseconds(ms: f64) -> String {
    match ms {
        ms if ms >= 10_000.0 => format!("{:.1} s", ms / 1e3),
        ms if ms >= 10.0 => format!("{ms:.0} ms"),
        ms => format!("{ms:.1} ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        let all = [(0.04, "0.0 ms"), (9.94, "9.9 ms"), (45.4, "45 ms"), (12_340.0, "12.3 s")];
        for (ms, text) in all {
            assert_eq!(milliseconds(ms), text);
        }
    }
}
