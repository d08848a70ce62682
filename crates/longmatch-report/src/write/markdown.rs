//! The page as Markdown: the same words and tables, without the charts.

use crate::model::{Cell, Column, Condition, Figure, Finding, Section, Table};

use super::table::{is_number, main_text};
use super::text::{anchor, markdown};
use super::{Absent, Page, mark, number};

/// The whole page.
pub(super) fn page(page: &Page) -> String {
    let mut out = format!("# {}\n", markdown(&page.title));
    for text in &page.lead {
        out += &format!("\n{}\n", markdown(text));
    }
    for (name, conditions) in [("Machine", &page.machine), ("Settings", &page.settings)] {
        if !conditions.is_empty() {
            out += &format!("\n## {name}\n\n{}", list(conditions));
        }
    }
    let (hold, fail) = page.claims();
    if !page.summary.is_empty() || hold + fail > 0 {
        out += "\n## Findings\n";
    }
    if hold + fail > 0 {
        out += &format!("\nClaims of the papers: {hold} hold here, {fail} do not.\n");
    }
    out += &findings(&page.summary);
    let mut number = 0;
    for part in &page.sections {
        out += &section(part, &mut number);
    }
    out + &absent(&page.absent)
}

fn list(conditions: &[Condition]) -> String {
    let line =
        |Condition { name, value }: &_| format!("- {}: {}\n", markdown(name), markdown(value));
    conditions.iter().map(line).collect()
}

fn findings(findings: &[Finding]) -> String {
    let line =
        |finding: &Finding| format!("- **{}**: {}\n", mark(finding), markdown(&finding.text));
    let lines: String = findings.iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// A section; `number` is that of the figure before it.
fn section(section: &Section, number: &mut usize) -> String {
    let mut out = format!(
        "\n## {}\n\n{}, `{}`, {}\n\n{}\n",
        markdown(&section.title),
        markdown(&section.source),
        anchor(&section.experiment),
        markdown(&section.date),
        markdown(&section.about)
    );
    for part in &section.figures {
        *number += 1;
        out += &figure(part, *number);
    }
    out
}

fn figure(figure: &Figure, number: usize) -> String {
    let mut out = format!("\n### Figure {number}. {}\n", markdown(&figure.title));
    out += &format!("\n{}\n", markdown(&figure.caption));
    if !figure.conditions.is_empty() {
        out += &format!("\n{}", list(&figure.conditions));
    }
    out += &findings(&figure.findings);
    out + &table(&figure.table)
}

fn table(table: &Table) -> String {
    if table.rows.is_empty() || table.columns.is_empty() {
        return "\nThe table is empty.\n".into();
    }
    let mut out = String::from("\n|");
    for column in &table.columns {
        out += &format!(" {} |", head(column));
    }
    out += "\n|";
    for at in 0..table.columns.len() {
        out += if table.rows.iter().any(|row| row.get(at).is_some_and(is_number)) {
            " ---: |"
        } else {
            " --- |"
        };
    }
    for row in &table.rows {
        out += "\n|";
        for at in 0..table.columns.len() {
            let text = cell(row.get(at).unwrap_or(&Cell::Empty));
            out += &if text.is_empty() { " |".into() } else { format!(" {text} |") };
        }
    }
    out + "\n"
}

fn head(column: &Column) -> String {
    let mut name = markdown(&column.name);
    if column.paper && !column.name.to_lowercase().contains("paper") {
        name += " (paper)";
    }
    if !column.unit.is_empty() {
        name += &format!(", {}", markdown(&column.unit));
    }
    if column.paper { format!("*{name}*") } else { name }
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) | Cell::Refused(text) => markdown(text),
        Cell::Spread(_, ends, decimals) => {
            let ends = ends.map(|end| number::decimal(end, *decimals));
            match (main_text(cell), ends) {
                (Some(text), [Some(low), Some(high)]) => format!("{text} ({low}–{high})"),
                (text, _) => text.unwrap_or_default(),
            }
        }
        Cell::Empty | Cell::Count(_) | Cell::Number(..) => main_text(cell).unwrap_or_default(),
    }
}

fn absent(absent: &[Absent]) -> String {
    if absent.is_empty() {
        return String::new();
    }
    let line = |Absent { experiment, source, title, why }: &Absent| {
        let (title, source, why) = (markdown(title), markdown(source), markdown(why));
        format!("- **{title}** ({source}, `{}`): {why}\n", anchor(experiment))
    };
    format!("\n## What is not here\n\n{}", absent.iter().map(line).collect::<String>())
}
