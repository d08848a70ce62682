//! The choice of `auto`, why, and the distance from the best engine.

use std::io::Write;

use longmatch_bench::{AutoChoice, BenchFamily, Comparison, Measurement};
use longmatch_cli::error::CliError;
use longmatch_cli::families::CliFamily;
use longmatch_cli::output::{Out, bytes};

/// Prints each chosen engine, and why where that is not the order of the engines alone.
///
/// # Errors
/// If standard output cannot be written.
pub fn print_choices<F: CliFamily + BenchFamily>(
    out: &mut Out,
    comparison: &Comparison<'_, F>,
) -> Result<(), CliError> {
    for (AutoChoice { spec, choice, .. }, title, taken) in comparison.choices() {
        let (title, taken) = (out.bold(&title), bytes(taken as u64));
        writeln!(out, "{}: {spec} chose {title} ({taken})", F::LABEL)?;
        if choice.refusal.is_some() || !choice.tried.is_empty() {
            writeln!(out, "  {}", out.dim(choice.to_string()))?;
        }
    }
    Ok(())
}

/// Prints, for each mode, the rate of each choice as a share of the best engine's.
///
/// # Errors
/// If standard output cannot be written.
pub fn compare(out: &mut Out, records: &[Measurement]) -> Result<(), CliError> {
    for record in records {
        for choice in &record.auto {
            let Some((share, best)) = &choice.best else { continue };
            let verdict = match *best == record.title() {
                true => "the best".to_owned(),
                false => format!("{share:.2} of the best ({best})"),
            };
            let (spec, mode) = (&choice.spec, &record.about.mode);
            writeln!(out, "  {spec} chose {}, {mode}: {verdict}", record.engine)?;
        }
    }
    Ok(())
}
