//! The choice of `auto`, the model's prediction, and the distance from the best engine.

use std::io::Write;

use longmatch::EngineSpec;
use longmatch::engine::auto::{self, AutoGoal};
use longmatch_lab::{Choice, LabFamily, Race, Record};

use crate::error::CliError;
use crate::input::Served;
use crate::output::{Out, bytes};

/// Number of engines shown of the model's ranking.
const SHOWN: usize = 6;

/// Prints the chosen engine and the model's ranking for this table.
///
/// # Errors
/// If standard output cannot be written.
pub fn announce<F: Served + LabFamily>(out: &mut Out, race: &Race<'_, F>) -> Result<(), CliError> {
    for (choice, title, taken) in race.choices() {
        let Choice { spec, cycles, .. } = choice;
        let (taken, predicted) = (bytes(taken as u64), bytes(choice.bytes));
        writeln!(
            out,
            "{}: {spec} chose {}; predicted: {cycles:.1} cycles a lookup, {predicted} ({taken})",
            F::LABEL,
            out.bold(title),
        )?;
        writeln!(out, "  {}", out.dim(order(race, spec)))?;
    }
    Ok(())
}

/// Lists the first engines of the model's ranking, with their cycles.
fn order<F: LabFamily>(race: &Race<'_, F>, spec: &str) -> String {
    let spec: EngineSpec = spec.parse().expect("it was parsed before it was entered");
    let goal = AutoGoal::parse(&spec.options).expect("it was parsed before it was entered");
    let ranking = auto::rank(race.rib(), &goal);
    let shown = ranking.iter().take(SHOWN).map(|it| format!("{} {:.1}", it.spec, it.cycles));
    format!("predicted order, in cycles: {}", shown.collect::<Vec<_>>().join(", "))
}

/// Prints, for each mode, the rate of each choice as a share of the best engine's.
///
/// # Errors
/// If standard output cannot be written.
pub fn compare(out: &mut Out, records: &[Record]) -> Result<(), CliError> {
    for record in records {
        for choice in &record.auto {
            let Some((share, best)) = choice.of_best.zip(choice.best.as_ref()) else { continue };
            let verdict = match *best == record.title() {
                true => "the best".to_owned(),
                false => format!("{share:.2} of the best ({best})"),
            };
            let (spec, mode) = (&choice.spec, record.mode);
            writeln!(out, "  {spec} chose {}, {mode}: {verdict}", record.engine)?;
        }
    }
    Ok(())
}
