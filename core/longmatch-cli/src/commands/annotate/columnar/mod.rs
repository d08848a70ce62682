//! Parquet and Arrow IPC: columns of prefix data added to record batches.
//!
//! One thread decodes batches ([`input`]), others look up their addresses ([`batch`], [`address`]) and
//! encode row groups of Parquet, and the caller writes them in order ([`output`]).

mod address;
mod batch;
mod input;
mod output;

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Schema};
use longmatch_feed::printable;

use self::batch::{AnnotatedBatch, BatchPlan};
use self::input::{Batches, Source};
use self::output::{Encoded, RowGroups, Writer};
use super::block::RowCounts;
use super::hints;
use super::input::Input;
use super::output::{Output, rate};
use super::recognise::Columnar;
use super::signals::Signals;
use super::tables::AnnotationTables;
use crate::args::AnnotateArgs;
use crate::cells::Style;
use crate::error::{CliError, Outcome, Status};
use crate::ordered::{self, Step};
use crate::progress::Progress;

/// Annotates columnar input.
///
/// # Errors
/// As [`super::run`].
#[expect(
    clippy::too_many_lines,
    reason = "the step that takes results shares all that is made before it"
)]
pub fn run(args: &AnnotateArgs, input: Input, format: Columnar, signals: &Signals) -> Outcome {
    let (name, size, read) = (input.name.clone(), input.size, input.read.clone());
    let source = Source::open(input, format)?;
    check_options(args, &name, format, &source.schema)?;
    let plan =
        BatchPlan::new(args, &source.schema, AnnotationTables::load(args, Style::Typed, b"")?)?;
    let sources = plan.sources.clone();
    let to = output::format(args.output.as_deref(), format)?;
    signals.catch()?;
    let mut writer = Writer::new(args, to, &source, &plan.schema)?;
    let mut output = Output::open(args)?;
    let by_rows = source.rows.is_some();
    let total = source.rows.or(size);
    let on_terminal = io::stdout().is_terminal() && args.output.is_none();
    let unit = if by_rows { "rows" } else { "bytes" };
    let mut progress = (!on_terminal).then(|| Progress::new("annotating", total, unit));
    let started = Instant::now();
    // Rows that a filter leaves are collected until they are enough for a row group.
    let groups = if args.filters() { None } else { writer.groups() };
    let mut counts = RowCounts::default();
    let sink = |step| {
        if let Step::Result(Annotated { encoded, counts: more, problem, error }) = step {
            // An interrupted reader fails.
            if let Some(error) = error.filter(|_| !signals.interrupted()) {
                return Err(input::damaged(&name, format, &error));
            }
            if let Some((before, problem)) = problem {
                let place = format!("{name}, row {}", counts.rows + before + 1);
                return Err(CliError::input(place, problem));
            }
            counts.add(more);
            if args.count {
                return Ok(true);
            }
            let bytes = match encoded {
                Ok(encoded) => writer.write(encoded)?,
                Err(error) => return Err(output::failed(to, &error)),
            };
            output.write(&bytes)?;
        }
        if let Some(progress) = &mut progress {
            progress.describe(&rate(counts.rows, started));
            progress.set(if by_rows { counts.rows } else { read.load(Ordering::Relaxed) });
        }
        if signals.interrupted() {
            let result = match output.replaces() {
                true => "nothing is written",
                false => "the output has no end",
            };
            return Err(CliError::new(format!("interrupted after {} rows: {result}", counts.rows)));
        }
        Ok(true)
    };
    let threads = args.threads.unwrap_or_else(ordered::default_threads);
    let units = units(source.batches, groups.clone());
    ordered::run(
        "annotate",
        threads,
        units,
        move |unit| work(&plan, groups.as_deref(), unit),
        sink,
    )?;
    let end = match args.count {
        true => format!("{}\n", counts.printed).into_bytes(),
        false => writer.finish()?,
    };
    output.write(&end)?;
    hints::counts(args, &name, &sources, counts)?;
    output.finish()?;
    Ok(Status::ok_if(!args.filters() || counts.printed > 0))
}

/// Refuses options of text.
fn check_options(
    args: &AnnotateArgs,
    name: &str,
    format: Columnar,
    schema: &Schema,
) -> Result<(), CliError> {
    let format = format.name();
    let of_text = [
        ("--field", !args.field.is_empty()),
        ("--regex", !args.regex.is_empty()),
        ("--delimiter", args.delimiter.is_some()),
        ("--no-header", args.no_header),
        ("--any", args.any),
    ];
    if let Some((option, _)) = of_text.iter().find(|(_, given)| *given) {
        let problem =
            format!("the input is {format}, and {option} is for text: use --column alone");
        return Err(CliError::input(name, problem));
    }
    if args.column.is_empty() {
        let columns: Vec<_> = schema.fields().iter().map(|field| printable(field.name())).collect();
        let columns = columns.join(", ");
        let problem = format!(
            "the input is {format}: name the columns with addresses with --column; it has: {columns}"
        );
        return Err(CliError::input(name, problem));
    }
    Ok(())
}

/// Batches that a thread works on together, or an error in their place.
type Unit = Result<Vec<RecordBatch>, ArrowError>;

/// Returns the source of units: single batches, or enough for a row group.
fn units(batches: Batches, groups: Option<Arc<RowGroups>>) -> impl FnMut() -> Option<Unit> {
    let mut batches = Some(batches);
    let mut failed = None;
    move || {
        if let Some(error) = failed.take() {
            return Some(Err(error));
        }
        let mut unit = Vec::new();
        while unit.is_empty() || groups.as_ref().is_some_and(|groups| !groups.is_full(&unit)) {
            match batches.as_mut().and_then(Source::next) {
                Some(Ok(batch)) => unit.push(batch),
                // An error ends the reading.
                Some(Err(error)) => {
                    batches = None;
                    failed = Some(error);
                    break;
                }
                None => {
                    batches = None;
                    break;
                }
            }
        }
        match (unit.is_empty(), failed.take()) {
            (false, error) => {
                failed = error;
                Some(Ok(unit))
            }
            (true, error) => error.map(Err),
        }
    }
}

/// A unit with the added columns, encoded.
struct Annotated {
    encoded: Result<Encoded, ArrowError>,
    counts: RowCounts,
    /// With `--strict`: the number of rows before a problem, and the problem.
    problem: Option<(u64, String)>,
    /// An error of reading.
    error: Option<ArrowError>,
}

/// Annotates a unit, and encodes it if it is a row group.
fn work(plan: &BatchPlan, groups: Option<&RowGroups>, unit: Unit) -> Annotated {
    let mut counts = RowCounts::default();
    let mut done = Vec::new();
    let (mut problem, mut error) = (None, None);
    match unit {
        Ok(batches) => {
            for batch in batches {
                match plan.annotate(&batch) {
                    Ok(annotated) => {
                        let AnnotatedBatch { batch, counts: more, problem: found } = annotated;
                        let before = counts.rows;
                        problem = problem.or(found.map(|(row, problem)| (before + row, problem)));
                        counts.add(more);
                        done.push(batch);
                    }
                    Err(failed) => error = error.or(Some(failed)),
                }
            }
        }
        Err(failed) => error = Some(failed),
    }
    let encoded = match groups {
        Some(groups) if !done.is_empty() => {
            groups.encode(&done).map(Encoded::RowGroup).map_err(ArrowError::from)
        }
        _ => Ok(Encoded::Batches(done)),
    };
    Annotated { encoded, counts, problem, error }
}
