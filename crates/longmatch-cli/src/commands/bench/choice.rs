//! What `auto` chose, what the model said, and how far that was from the best.

use std::io::Write;

use longmatch::EngineSpec;
use longmatch::engine::auto::{self, Wish};
use longmatch_lab::{Choice, LabFamily, Race, Record};

use crate::error::CliError;
use crate::input::Served;
use crate::output::{Out, bytes};

/// Engines of the model's order that are shown.
const SHOWN: usize = 6;

/// Says what was chosen, and the order that the model has for this table.
///
/// # Errors
/// When standard output cannot be written to.
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

/// The first engines of the model's order, with their cycles.
fn order<F: LabFamily>(race: &Race<'_, F>, spec: &str) -> String {
    let spec: EngineSpec = spec.parse().expect("it was parsed before it was entered");
    let wish = Wish::parse(&spec.options).expect("it was parsed before it was entered");
    let ranking = auto::rank(race.rib(), &wish);
    let shown = ranking.iter().take(SHOWN).map(|it| format!("{} {:.1}", it.spec, it.cycles));
    format!("predicted order, in cycles: {}", shown.collect::<Vec<_>>().join(", "))
}

/// How far each choice was from the best of the engines beside it, mode by mode.
///
/// # Errors
/// When standard output cannot be written to.
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
