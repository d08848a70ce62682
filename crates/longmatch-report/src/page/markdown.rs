//! The report as Markdown, without charts: the tables have their values.

use core::fmt::Write as _;

use crate::model::{Cell, Figure};
use crate::records::Records;

use super::section::{Section, sections, title, verdict_in_words};
use super::text::markdown as text;
use super::{number, table};

/// Renders records as GitHub-flavoured Markdown.
pub fn markdown(records: &Records) -> String {
    let mut out = format!("# {}\n", text(&title(records)));
    for (name, value) in records.run.machine.iter().chain(&records.run.inputs) {
        let _ = write!(out, "\n- {}: {}", text(name), text(value));
    }
    out.push('\n');
    for section in sections(records).iter().filter(|it| it.outcome.absent.is_empty()) {
        let Section { experiment, figures, claims, .. } = section;
        let _ = write!(
            out,
            "\n## {}\n\n{}\n\n{}\n",
            text(&experiment.title),
            text(&experiment.source),
            text(&experiment.about)
        );
        for (claim, table, judgement) in claims {
            let (words, here) = (verdict_in_words(judgement.verdict), text(&judgement.reason));
            let beside = text(&judgement.beside());
            let _ = write!(
                out,
                "\n- **{words}**: {} {}: {here} {beside}",
                text(&claim.text),
                text(table)
            );
        }
        figures.iter().for_each(|it| out += &figure(it));
    }
    for section in sections(records).iter().filter(|it| !it.outcome.absent.is_empty()) {
        let (title, why) = (text(&section.experiment.title), text(&section.outcome.absent));
        let _ = write!(out, "\n## {title}\n\nNot measured: {why}\n");
    }
    out
}

fn figure(figure: &Figure) -> String {
    let mut out = format!("\n\n### {}\n\n{}\n\n|", text(&figure.title), text(&figure.caption));
    for column in &figure.table.columns {
        let unit =
            if column.unit.is_empty() { String::new() } else { format!(", {}", column.unit) };
        let _ = write!(out, " {}{} |", text(&column.name), text(&unit));
    }
    let _ = write!(out, "\n|{}\n", "---|".repeat(figure.table.columns.len()));
    for row in &figure.table.rows {
        out.push('|');
        row.iter().for_each(|it| {
            let _ = write!(out, " {} |", cell(it));
        });
        out.push('\n');
    }
    for (name, value) in &figure.conditions {
        let _ = write!(out, "\n- {}: {}", text(name), text(value));
    }
    out
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Text(words) | Cell::Refused(words) => text(words),
        Cell::Spread(_, [low, high], decimals) => {
            let ends = [low, high].map(|end| number::decimal(*end, *decimals).unwrap_or_default());
            format!("{} ({}-{})", table::main_text(cell).unwrap_or_default(), ends[0], ends[1])
        }
        _ => table::main_text(cell).unwrap_or_default(),
    }
}
