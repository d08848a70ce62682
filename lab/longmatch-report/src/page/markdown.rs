//! The report as Markdown, without charts: the tables have their values.

use core::fmt::Write as _;

use crate::model::{Column, Figure, Table, TableCell};
use crate::records::Records;
use crate::view::joined;

use super::section::{Section, in_words, sections, title};
use super::table;
use super::text::markdown as text;

/// Numbered notes below a table, with the reasons of missing values; equal notes have one number.
#[derive(Debug, Default)]
pub(crate) struct Notes(Vec<String>);

impl Notes {
    /// Adds a note and returns its mark.
    pub fn mark(&mut self, note: &str) -> String {
        let place = self.0.iter().position(|own| own == note).unwrap_or_else(|| {
            self.0.push(note.into());
            self.0.len() - 1
        });
        format!(" <sup>{}</sup>", place + 1)
    }

    /// Returns the list of the notes, with an empty line before it; empty without notes.
    pub fn finish(self) -> String {
        let items =
            self.0.iter().enumerate().map(|(i, note)| format!("\n{}. {}", i + 1, text(note)));
        let items: String = items.collect();
        if items.is_empty() { items } else { format!("{items}\n") }
    }
}

/// Renders records as GitHub-flavoured Markdown.
pub fn markdown(records: &Records) -> String {
    let mut out = format!("# {}\n", text(&title(records)));
    for (name, value) in records.run.machine.iter().chain(&records.run.inputs) {
        let _ = write!(out, "\n- {}: {}", text(name), text(value));
    }
    out.push('\n');
    let (measured, absent): (Vec<_>, Vec<_>) =
        sections(records).into_iter().partition(Section::is_measured);
    for Section { experiment, figures, claims, .. } in &measured {
        let _ = write!(
            out,
            "\n## {}\n\n{}\n\n{}\n",
            text(&experiment.title),
            text(&experiment.source),
            text(&experiment.about)
        );
        for (claim, table, judgement) in claims {
            let ((words, _), here) = (in_words(judgement.verdict), text(&judgement.reason));
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
    for Section { experiment, outcome, .. } in &absent {
        let (title, why) = (text(&experiment.title), text(&outcome.absent));
        let _ = write!(out, "\n## {title}\n\nNot measured: {why}\n");
    }
    out
}

fn figure(figure: &Figure) -> String {
    let mut notes = Notes::default();
    let mut out = format!(
        "\n\n### {}\n\n{}\n\n{}",
        text(&figure.title),
        text(&figure.caption),
        grid(&figure.table, true, &mut notes)
    );
    out += &notes.finish();
    for (name, value) in &figure.conditions {
        let _ = write!(out, "\n- {}: {}", text(name), text(value));
    }
    out
}

/// Renders a table; `spreads` shows the quartiles beside each median. The caller prints the notes below the table.
pub(crate) fn grid(table: &Table, spreads: bool, notes: &mut Notes) -> String {
    let head = |it: &Column| text(&joined([&*it.name, &it.unit], ", "));
    let heads: Vec<String> = table.columns.iter().map(head).collect();
    let row = |row: &Vec<TableCell>| row.iter().map(|it| cell(it, spreads, notes)).collect();
    rows(&heads.join(" | "), table.rows.iter().map(row))
}

/// Renders a table whose cells are Markdown; the headings are separated by ` | `.
pub(crate) fn rows(heads: &str, rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let line = "---|".repeat(heads.split(" | ").count());
    let rows = rows.into_iter().map(|row| format!("| {} |\n", row.join(" | ")));
    format!("| {heads} |\n|{line}\n{}", rows.collect::<String>())
}

fn cell(cell: &TableCell, spreads: bool, notes: &mut Notes) -> String {
    match (cell, table::main_text(cell), table::spread(cell)) {
        (TableCell::Text(words), ..) => text(words),
        (TableCell::Refused(why), ..) => format!("–{}", notes.mark(why)),
        (_, Some(number), Some(ends)) if spreads => format!("{number} ({ends})"),
        (_, number, _) => number.unwrap_or_else(|| "–".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_reasons_have_one_number() {
        let refused = |why: &str| TableCell::Refused(why.into());
        let spread = TableCell::Spread(2.0, [1.0, 3.0], 1);
        let row = vec![TableCell::Text("a|b".into()), refused("first"), spread, refused("second")];
        let table = Table { rows: vec![row.clone(), row], columns: Vec::new() };
        let mut notes = Notes::default();
        let text = grid(&table, true, &mut notes);
        let row = r"| a\|b | – <sup>1</sup> | 2.0 (1.0–3.0) | – <sup>2</sup> |";
        assert_eq!(text.lines().skip(2).collect::<Vec<_>>(), [row, row]);
        assert!(grid(&table, false, &mut notes).contains("| 2.0 |"));
        assert_eq!(notes.finish(), "\n1. first\n2. second\n");
        assert_eq!(Notes::default().finish(), "");
    }
}
