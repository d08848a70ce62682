//! Markdown tables, numbered notes and numbers.

use std::fmt::Write as _;

/// Maximum width of a line of prose.
const WIDTH: usize = 118;

/// A table: a heading for each column, then rows.
#[derive(Debug)]
pub struct Grid {
    out: String,
    columns: usize,
}

impl Grid {
    /// Creates a table with these headings.
    pub fn new<S: AsRef<str>>(heads: &[S]) -> Self {
        let mut grid = Self { out: String::new(), columns: heads.len() };
        grid.row(heads);
        grid.out += &format!("|{}\n", "---|".repeat(heads.len()));
        grid
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If the number of cells differs from the number of columns.
    pub fn row<S: AsRef<str>>(&mut self, cells: &[S]) {
        assert_eq!(cells.len(), self.columns, "a cell for each column");
        for cell in cells {
            // Writing to a String cannot fail.
            let _ = write!(self.out, "| {} ", cell.as_ref().replace('|', "\\|"));
        }
        self.out += "|\n";
    }

    /// Returns the text of the table.
    pub fn finish(self) -> String {
        self.out
    }
}

/// Numbered notes below a table; equal notes have one number.
#[derive(Debug, Default)]
pub struct Notes(Vec<String>);

impl Notes {
    /// Adds a note and returns its mark.
    pub fn mark(&mut self, note: String) -> String {
        let place = self.0.iter().position(|own| *own == note).unwrap_or_else(|| {
            self.0.push(note);
            self.0.len() - 1
        });
        format!(" <sup>{}</sup>", place + 1)
    }

    /// Returns the list of the notes, with an empty line before it; empty without notes.
    pub fn finish(self) -> String {
        if self.0.is_empty() {
            return String::new();
        }
        let items =
            self.0.iter().enumerate().map(|(i, note)| wrap(&format!("{}. {note}", i + 1), "   "));
        format!("\n{}", items.collect::<String>())
    }
}

/// Returns a name as code.
pub fn code(name: &str) -> String {
    format!("`{name}`")
}

/// Returns a measured number with three digits, or more before the point.
pub fn number(value: f64) -> String {
    // The limits allow for rounding: 9.996 is printed as 10.0.
    match value {
        value if value < 9.995 => format!("{value:.2}"),
        value if value < 99.95 => format!("{value:.1}"),
        value => count(value.round() as u64),
    }
}

/// Returns a count with commas between thousands.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Breaks prose into lines at blanks but not at no-break spaces; lines after the first begin with `indent`.
pub fn wrap(text: &str, indent: &str) -> String {
    let (mut out, mut line) = (String::new(), String::new());
    for word in text.split([' ', '\n']).filter(|word| !word.is_empty()) {
        if !line.trim().is_empty() && line.chars().count() + 1 + word.chars().count() > WIDTH {
            out += &format!("{line}\n");
            line = format!("{indent}{word}");
        } else if line.is_empty() {
            line = word.to_owned();
        } else {
            line += &format!(" {word}");
        }
    }
    out + &line + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let numbers =
            [0.0123, 1.0, 9.994, 9.996, 45.04, 99.96, 325.4, 1335.2, 1_042_325.0].map(number);
        assert_eq!(
            numbers,
            ["0.01", "1.00", "9.99", "10.0", "45.0", "100", "325", "1,335", "1,042,325"]
        );
        assert_eq!([0, 999, 1000].map(count), ["0", "999", "1,000"]);
    }

    #[test]
    fn tables_have_a_line_for_each_row() {
        let mut grid = Grid::new(&["a", "b"]);
        grid.row(&["1", "x|y"]);
        assert_eq!(grid.finish(), "| a | b |\n|---|---|\n| 1 | x\\|y |\n");
    }

    #[test]
    fn equal_notes_have_one_number() {
        let mut notes = Notes::default();
        let marks = ["first", "second", "first"].map(|note| notes.mark(note.into()));
        assert_eq!(marks, [" <sup>1</sup>", " <sup>2</sup>", " <sup>1</sup>"]);
        assert_eq!(notes.finish(), "\n1. first\n2. second\n");
        assert_eq!(Notes::default().finish(), "");
    }

    #[test]
    fn prose_is_broken_between_words() {
        let text = wrap(&"word ".repeat(30), "  ");
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].len() <= WIDTH && lines[1].starts_with("  word"));
        assert_eq!(text.split_whitespace().count(), 30);
    }
}
