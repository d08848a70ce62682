//! HTML tables.

use crate::model::{Cell, Column, Table};

use super::number;
use super::text::{escape, prose};

/// Maximum length of an unbroken word.
const LONG: usize = 18;

/// Renders a table in a box that scrolls on narrow pages; `label` names the table for screen readers.
pub(super) fn html(table: &Table, label: &str) -> String {
    if table.rows.is_empty() || table.columns.is_empty() {
        return "<p class=\"nothing\">The table is empty.</p>\n".into();
    }
    let plans: Vec<Plan> = (0..table.columns.len()).map(|at| Plan::new(table, at)).collect();
    let mut out = format!(
        "<div class=\"scroll\" role=\"region\" aria-label=\"{}\" tabindex=\"0\">\n<table>\n<thead>\n<tr>",
        escape(&format!("Table: {label}"))
    );
    for (column, plan) in table.columns.iter().zip(&plans) {
        out += &head(column, plan);
    }
    out += "</tr>\n</thead>\n<tbody>\n";
    for row in &table.rows {
        out += "<tr>";
        for (at, plan) in plans.iter().enumerate() {
            let tag = if at == 0 { "th" } else { "td" };
            let scope = if at == 0 { " scope=\"row\"" } else { "" };
            let cell = row.get(at).unwrap_or(&Cell::Empty);
            out += &format!("<{tag}{scope}{}>{}</{tag}>", plan.class(), plan.cell(cell));
        }
        out += "</tr>\n";
    }
    out + "</tbody>\n</table>\n</div>\n"
}

fn head(column: &Column, plan: &Plan) -> String {
    let mut name = prose(&column.name);
    if column.paper && !column.name.to_lowercase().contains("paper") {
        name += " <span class=\"tag\">paper</span>";
    }
    if !column.unit.is_empty() {
        name += &format!(" <span class=\"unit\">{}</span>", escape(&column.unit));
    }
    format!("<th scope=\"col\"{}>{name}</th>", plan.class())
}

/// The layout of a column.
struct Plan {
    numbers: bool,
    paper: bool,
    /// The greatest number of decimals in the column; other cells are padded to align decimal points.
    decimals: usize,
}

impl Plan {
    fn new(table: &Table, at: usize) -> Self {
        let cells = || table.rows.iter().filter_map(|row| row.get(at));
        let decimals = cells().filter_map(main_text).map(|text| after_point(&text));
        Self {
            numbers: cells().any(is_number),
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

    fn cell(&self, cell: &Cell) -> String {
        let none = "<span class=\"none\">–</span>";
        match cell {
            Cell::Empty => none.into(),
            Cell::Text(text) if text.split_whitespace().any(|word| word.len() > LONG) => {
                format!("<span class=\"long\">{}</span>", prose(text))
            }
            Cell::Text(text) => prose(text),
            Cell::Refused(why) => format!("<span class=\"refused\">{}</span>", escape(why)),
            Cell::Count(_) | Cell::Number(..) => {
                main_text(cell).map_or_else(|| none.into(), |text| self.aligned(&text))
            }
            Cell::Spread(_, ends, decimals) => {
                let Some(text) = main_text(cell) else { return none.into() };
                let ends = ends.map(|end| number::decimal(end, *decimals));
                let spread = match ends {
                    [Some(low), Some(high)] => format!("<small>{low}–{high}</small>"),
                    _ => String::new(),
                };
                format!("{}{spread}", self.aligned(&text))
            }
        }
    }

    /// Pads a number with invisible zeros to the decimals of the column.
    fn aligned(&self, text: &str) -> String {
        let missing = self.decimals.saturating_sub(after_point(text));
        if missing == 0 {
            return text.to_owned();
        }
        let point = if text.contains('.') { "" } else { "." };
        format!(
            "{text}<span class=\"padding\" aria-hidden=\"true\">{point}{}</span>",
            "0".repeat(missing)
        )
    }
}

/// Returns whether the cell is a number.
pub(super) fn is_number(cell: &Cell) -> bool {
    matches!(cell, Cell::Count(_) | Cell::Number(..) | Cell::Spread(..))
}

/// Formats the number of a cell without its spread; `None` for text and non-finite numbers.
pub(super) fn main_text(cell: &Cell) -> Option<String> {
    match cell {
        Cell::Count(value) => Some(number::count(*value)),
        Cell::Number(value, decimals) | Cell::Spread(value, _, decimals) => {
            number::decimal(*value, *decimals)
        }
        Cell::Empty | Cell::Text(_) | Cell::Refused(_) => None,
    }
}

fn after_point(text: &str) -> usize {
    text.find('.').map_or(0, |point| text.len() - point - 1)
}
