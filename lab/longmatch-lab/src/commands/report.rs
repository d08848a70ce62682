//! `longmatch-lab report`: repeats the papers' experiments and writes one page.

mod inputs;

use std::fs;
use std::io::Write;

use longmatch_bench::Machine;
use longmatch_cli::args::SourceArgs;
use longmatch_cli::error::{CliError, Outcome, Status};
use longmatch_cli::output::{Align, Grid, Out, plural, warn};
use longmatch_cli::progress::Progress;
use longmatch_cli::target;
use longmatch_report::{
    Effort, Experiment, FILES, Records, Report, ReportStep, remove_leftovers, write_csv,
};

use crate::args::{ReportArgs, ReportFormat};

/// Runs the command; the status is negative if an answer is wrong.
///
/// # Errors
/// If an input cannot be read, an experiment's name is unknown, or the directory cannot be written.
pub fn run(args: &ReportArgs) -> Outcome {
    let mut out = Out::new();
    if args.list {
        list(&mut out)?;
        return Ok(Status::Ok);
    }
    if let Some(format) = args.convert {
        convert(args, format, &mut out)?;
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
    for file in FILES {
        let SourceArgs { files, table, read, .. } = &args.routes.source;
        let inputs = files.iter().chain(table).chain(&args.updates).chain(&args.trace);
        let inputs = inputs.map(|path| &**path).chain(read.rows.joined());
        target::refuse_inputs(&args.out.join(file), inputs)?;
    }
    for dir in remove_leftovers(&args.out) {
        let reason =
            "directory of an interrupted report, not removed because it contains other files";
        warn(format_args!("{}: {reason}", dir.display()));
    }
    let inputs = inputs::load(args)?;
    let effort = if args.full { Effort::FULL } else { Effort::QUICK };
    let report = Report { inputs: &inputs, effort, experiments };
    let (records, kept) = run_experiments(args, &report)?;
    writeln!(out, "{machine}")?;
    print(&mut out, args, &records, kept)?;
    out.flush()?;
    Ok(Status::ok_if(records.wrong() == 0))
}

/// Prints an existing report in another format.
fn convert(args: &ReportArgs, format: ReportFormat, out: &mut Out) -> Result<(), CliError> {
    let records = Records::read(&args.out).map_err(|error| {
        let file = args.out.join(FILES[1]);
        CliError::input(
            file.display(),
            format!("{error}; name the directory of a report with --out"),
        )
    })?;
    match format {
        ReportFormat::Csv => write_csv(&records.lines(), &mut *out)?,
        ReportFormat::Markdown => out.write_all(longmatch_report::markdown(&records).as_bytes())?,
        ReportFormat::Html => out.write_all(longmatch_report::html(&records).as_bytes())?,
    }
    out.flush()?;
    Ok(())
}

/// Adds advice to an error that names the file.
fn cannot_write(error: &std::io::Error) -> CliError {
    CliError::new(format!(
        "{error}; free space there or name another directory with --out. The same command continues with the \
         experiments that {} lacks",
        FILES[1]
    ))
}

/// Prints the names and descriptions of all experiments.
fn list(out: &mut Out) -> Result<(), CliError> {
    let headings = ["name", "source", "title", "aliases"].map(|name| (name, Align::Left));
    let mut grid = Grid::new(headings);
    for it in Experiment::all() {
        let [name, source, title] = [&it.name, &it.source, &it.title].map(String::clone);
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
            let problem = format!("unknown experiment '{name}': see 'longmatch-lab report --list'");
            return Err(CliError::input("--only", problem));
        }
    }
    let named = |it: &&Experiment| {
        let own = |name: &String| Experiment::named(name).is_some_and(|one| one.name == it.name);
        names.is_empty() || names.iter().any(own)
    };
    Ok(Experiment::all().filter(named).collect())
}

/// Runs the experiments; returns the records, and the number of experiments kept from an earlier run.
fn run_experiments(args: &ReportArgs, report: &Report<'_>) -> Result<(Records, usize), CliError> {
    let mut progress = None;
    let mut on_step = |step: ReportStep| {
        let bar = progress.get_or_insert_with(|| {
            Progress::new("measuring", Some((step.total * 1e3) as u64), "ms")
        });
        bar.describe(&step.experiment.name);
        bar.set((step.done * 1e3) as u64);
    };
    report.run(&args.out, &mut on_step).map_err(|error| cannot_write(&error))
}

/// Prints the claims by verdict, the experiments without values, and the path of the page.
fn print(out: &mut Out, args: &ReportArgs, records: &Records, kept: usize) -> Result<(), CliError> {
    let [holds, fails, rest] = longmatch_report::claims(records);
    if holds + fails + rest > 0 {
        let (yes, no) =
            (out.green(format!("{holds} hold here")), out.red(format!("{fails} do not hold")));
        writeln!(out, "claims of the papers: {yes}, {no}, {rest} are not comparable")?;
    }
    for (outcome, _) in records.experiments.iter().filter(|(it, _)| !it.absent.is_empty()) {
        writeln!(out, "{} {} is left out: {}", out.dim("."), outcome.experiment, outcome.absent)?;
    }
    if records.wrong() > 0 {
        let wrong = plural(records.wrong() as u64, "measurement");
        writeln!(out, "{}", out.red(format!("{wrong} failed because of wrong answers")))?;
    }
    let done = records.experiments.iter().filter(|(it, _)| it.absent.is_empty()).count();
    let done = plural(done as u64, "experiment");
    let kept = match kept {
        0 => String::new(),
        kept => format!(", {kept} of them from an earlier run"),
    };
    let [html, ndjson] = FILES;
    writeln!(
        out,
        "{done}{kept}: {} (values: {ndjson}; other formats: --convert)",
        out.bold(args.out.join(html).display())
    )?;
    Ok(())
}
