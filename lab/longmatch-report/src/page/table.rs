//! HTML tables.

use crate::model::{Table, TableCell};

use super::number;
use super::text::{escape, prose};

/// Maximum length of an unbroken word.
const LONG: usize = 18;

/// Renders a table in a box that scrolls on narrow pages; `label` names the table for screen readers.
pub(super) fn html(table: &Table, label: &str) -> String {
    if table.rows.is_empty() {
        return "<p class=\"nothing\">The table is empty.</p>\n".into();
    }
    let layouts: Vec<ColumnLayout> =
        (0..table.columns.len()).map(|at| ColumnLayout::new(table, at)).collect();
    let mut out = format!(
        "<div class=\"scroll\" role=\"region\" aria-label=\"{}\" tabindex=\"0\">\n<table>\n<thead>\n<tr>",
        escape(&format!("Table: {label}"))
    );
    for (column, layout) in table.columns.iter().zip(&layouts) {
        let unit = match escape(&column.unit) {
            unit if unit.is_empty() => unit,
            unit => format!(" <span class=\"unit\">{unit}</span>"),
        };
        let (class, name) = (layout.class(), prose(&column.name));
        out += &format!("<th scope=\"col\"{class}>{name}{unit}</th>");
    }
    out += "</tr>\n</thead>\n<tbody>\n";
    for row in &table.rows {
        out += "<tr>";
        for (at, (layout, cell)) in layouts.iter().zip(row).enumerate() {
            let (tag, scope) = if at == 0 { ("th", " scope=\"row\"") } else { ("td", "") };
            out += &format!("<{tag}{scope}{}>{}</{tag}>", layout.class(), layout.cell(cell));
        }
        out += "</tr>\n";
    }
    out + "</tbody>\n</table>\n</div>\n"
}

/// The layout of a column.
struct ColumnLayout {
    numbers: bool,
    paper: bool,
    /// The greatest number of decimals in the column; other cells are padded to align decimal points.
    decimals: usize,
}

impl ColumnLayout {
    fn new(table: &Table, at: usize) -> Self {
        let cells = || table.rows.iter().map(|row| &row[at]);
        let decimals = cells().filter_map(main_text).map(|text| after_point(&text));
        Self {
            numbers: cells()
                .any(|cell| matches!(cell, TableCell::Number(..) | TableCell::Spread(..))),
            paper: table.columns[at].paper,
            decimals: decimals.max().unwrap_or(0),
        }
    }

    fn class(&self) -> &'static str {
        match (self.numbers, self.paper) {
            (true, true) => " class=\"number paper\"",
            (true, false) => " class=\"number\"",
            (false, true) => " class=\"paper\"",
            (false, false) => "",
        }
    }

    fn cell(&self, cell: &TableCell) -> String {
        match cell {
            TableCell::Text(text) if text.split_whitespace().any(|word| word.len() > LONG) => {
                format!("<span class=\"long\">{}</span>", prose(text))
            }
            TableCell::Text(text) => prose(text),
            TableCell::Refused(why) => format!("<span class=\"refused\">{}</span>", escape(why)),
            _ => match (main_text(cell), spread(cell)) {
                (None, _) => "<span class=\"none\">–</span>".into(),
                (Some(text), None) => self.aligned(&text),
                (Some(text), Some(ends)) => {
                    format!("{}<small>{ends}</small>", self.aligned(&text))
                }
            },
        }
    }

    /// Pads a number with invisible zeros to the decimals of the column.
    fn aligned(&self, text: &str) -> String {
        let missing = self.decimals.saturating_sub(after_point(text));
        if missing == 0 {
            return text.to_owned();
        }
        let point = if text.contains('.') { "" } else { "." };
        let zeros = "0".repeat(missing);
        format!("{text}<span class=\"padding\" aria-hidden=\"true\">{point}{zeros}</span>")
    }
}

/// Formats the number of a cell without its spread; `None` for text and non-finite numbers.
pub(super) fn main_text(cell: &TableCell) -> Option<String> {
    match cell {
        TableCell::Number(value, decimals) | TableCell::Spread(value, _, decimals) => {
            number::decimal(*value, *decimals)
        }
        TableCell::Empty | TableCell::Text(_) | TableCell::Refused(_) => None,
    }
}

/// Formats the quartiles of a cell; `None` if it has none.
pub(super) fn spread(cell: &TableCell) -> Option<String> {
    let TableCell::Spread(_, ends, decimals) = cell else { return None };
    let [low, high] = ends.map(|end| number::decimal(end, *decimals));
    Some(format!("{}–{}", low?, high?))
}

fn after_point(text: &str) -> usize {
    text.find('.').map_or(0, |point| text.len() - point - 1)
}
