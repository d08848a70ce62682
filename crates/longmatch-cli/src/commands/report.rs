//! `longmatch report`: the papers' tables and figures, measured here, as one page.

mod inputs;

use std::fs;
use std::io::Write;

use longmatch_bench::Machine;
use longmatch_report::{Effort, Experiment, FILES, Findings, Report, ReportStep, remove_leftovers};

use crate::args::ReportArgs;
use crate::error::{CliError, Outcome, Status};
use crate::output::{Align, Grid, Out, plural, warn};
use crate::progress::Progress;

/// Subdirectory of finished sections, inside the output directory.
const PARTS: &str = "parts";

/// Runs the command. A wrong answer makes the status negative.
///
/// # Errors
/// If an input cannot be read, an experiment's name is unknown, or the directory cannot be written.
pub fn run(args: &ReportArgs) -> Outcome {
    let mut out = Out::new();
    if args.list {
        list(&mut out)?;
        return Ok(Status::Ok);
    }
    let experiments = chosen(&args.only)?;
    let machine = Machine::here();
    if machine.debug {
        warn("built with debug assertions: these rates are not meaningful, build with --release");
    }
    fs::create_dir_all(&args.out).map_err(|error| {
        let problem =
            format!("the directory cannot be created: {error}; name another one with --out");
        CliError::input(args.out.display(), problem)
    })?;
    for folder in [args.out.clone(), args.out.join(PARTS)] {
        for dir in remove_leftovers(&folder) {
            let reason =
                "directory of an interrupted report, not removed because it contains other files";
            warn(format_args!("{}: {reason}", dir.display()));
        }
    }
    let inputs = inputs::load(args)?;
    let effort = if args.full { Effort::FULL } else { Effort::QUICK };
    let report = Report { inputs: &inputs, effort, experiments };
    let findings = run_experiments(args, &report)?;
    writeln!(out, "{machine}")?;
    print(&mut out, args, &report, &findings)?;
    out.flush()?;
    Ok(Status::ok_if(findings.wrong() == 0))
}

/// Adds advice to an error, which names the files.
fn cannot_write(args: &ReportArgs, error: &std::io::Error) -> CliError {
    CliError::new(format!(
        "{error}; free space there or name another directory with --out. The sections in {} are \
         complete, and the same command continues from them",
        args.out.join(PARTS).display()
    ))
}

/// Prints the names and descriptions of all experiments.
fn list(out: &mut Out) -> Result<(), CliError> {
    let headings = ["name", "source", "title", "aliases"].map(|name| (name, Align::Left));
    let mut grid = Grid::new(headings);
    for it in Experiment::all() {
        let [name, source, title] = [it.name, it.source, it.title].map(str::to_owned);
        grid.row([name, source, title, it.aliases.join(", ")]);
    }
    grid.print(out)?;
    out.flush()?;
    Ok(())
}

/// Returns the named experiments in the order of the report, or all if none is named.
fn chosen(names: &[String]) -> Result<Vec<&'static Experiment>, CliError> {
    for name in names {
        if Experiment::named(name).is_none() {
            let problem = format!("unknown experiment '{name}': see 'longmatch report --list'");
            return Err(CliError::input("--only", problem));
        }
    }
    let named = |it: &&Experiment| {
        let own = |name: &String| Experiment::named(name).is_some_and(|one| one.name == it.name);
        names.is_empty() || names.iter().any(own)
    };
    Ok(Experiment::all().filter(named).collect())
}

fn run_experiments(args: &ReportArgs, report: &Report<'_>) -> Result<Findings, CliError> {
    let mut progress = None;
    let mut on_step = |step: ReportStep| {
        let bar = progress.get_or_insert_with(|| {
            Progress::new("measuring", Some((step.total * 1e3) as u64), "ms")
        });
        bar.describe(step.experiment.name);
        bar.set((step.done * 1e3) as u64);
    };
    let mut on_end = |findings: &Findings| report.write(findings, &args.out);
    let findings = report.run(&args.out.join(PARTS), &mut on_step, &mut on_end);
    findings.map_err(|error| cannot_write(args, &error))
}

/// Prints the page's findings, the experiments that it lacks, and its path.
fn print(
    out: &mut Out,
    args: &ReportArgs,
    report: &Report<'_>,
    findings: &Findings,
) -> Result<(), CliError> {
    let page = report.page(findings);
    for finding in &page.summary {
        let mark = match finding.holds {
            Some(true) => out.green("+"),
            Some(false) => out.red("-"),
            None => out.dim("."),
        };
        writeln!(out, "{mark} {}", finding.text)?;
    }
    for it in &page.absent {
        writeln!(out, "{} {} is left out: {}", out.dim("."), it.experiment, it.why)?;
    }
    if findings.wrong() > 0 {
        let wrong = plural(findings.wrong() as u64, "measurement");
        writeln!(out, "{}", out.red(format!("{wrong} failed because of wrong answers")))?;
    }
    let done = plural(findings.sections.len() as u64, "experiment");
    let kept = match findings.kept {
        0 => String::new(),
        kept => format!(", {kept} of them from an earlier run"),
    };
    let [html, others @ ..] = FILES;
    writeln!(
        out,
        "{done}{kept}: {} (beside it {})",
        out.bold(args.out.join(html).display()),
        others.join(", ")
    )?;
    Ok(())
}
