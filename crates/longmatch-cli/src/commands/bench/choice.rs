//! The choice of `auto`, the model's prediction, and the distance from the best engine.

use std::io::Write;

use longmatch::EngineSpec;
use longmatch::engine::auto::{self, AutoGoal};
use longmatch_bench::{AutoChoice, BenchFamily, Comparison, Measurement};

use crate::error::CliError;
use crate::families::CliFamily;
use crate::output::{Out, bytes};

/// Number of engines shown of the model's ranking.
const SHOWN: usize = 6;

/// Prints the chosen engine and the model's ranking for this table.
///
/// # Errors
/// If standard output cannot be written.
pub fn print_choices<F: CliFamily + BenchFamily>(
    out: &mut Out,
    comparison: &Comparison<'_, F>,
) -> Result<(), CliError> {
    for (choice, title, taken) in comparison.choices() {
        let AutoChoice { spec, choice, .. } = choice;
        let cycles = choice.prediction.cycles;
        let (taken, predicted) = (bytes(taken as u64), bytes(choice.prediction.bytes));
        writeln!(
            out,
            "{}: {spec} chose {}; predicted: {cycles:.1} cycles a lookup, {predicted} ({taken})",
            F::LABEL,
            out.bold(&title),
        )?;
        writeln!(out, "  {}", out.dim(order(comparison, spec)))?;
        if !choice.tried.is_empty() {
            let tried = choice.tried.iter();
            let tried = tried.map(|it| format!("{} {:.1}", it.spec, it.nanoseconds));
            let tried = tried.collect::<Vec<_>>().join(", ");
            writeln!(out, "  {}", out.dim(format!("tried, in ns a lookup: {tried}")))?;
        }
    }
    Ok(())
}

/// Lists the first engines of the model's ranking, with their cycles.
fn order<F: BenchFamily>(comparison: &Comparison<'_, F>, spec: &str) -> String {
    let spec: EngineSpec = spec.parse().expect("the comparison has parsed it");
    let goal = AutoGoal::parse(&spec.options).expect("the comparison has parsed it");
    let ranking = auto::rank(comparison.rib(), &goal);
    let shown = ranking.iter().take(SHOWN).map(|it| format!("{} {:.1}", it.spec, it.cycles));
    format!("predicted order, in cycles: {}", shown.collect::<Vec<_>>().join(", "))
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
