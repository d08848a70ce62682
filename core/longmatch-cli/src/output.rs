//! Formatting of output: buffered standard output, numbers, bars, tables and JSON lines.

use std::env;
use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::OnceLock;

use serde::Serialize;

use crate::error::CliError;

/// Standard output, locked and buffered. Implements [`Write`]; `?` converts its errors to
/// [`CliError`], and a closed pipe ends the program without a message.
///
/// Dropping the value writes the buffer and ignores errors. Call [`Write::flush`] at the end of a
/// command, so that a full disk is reported.
pub struct Out {
    inner: BufWriter<Box<dyn Write>>,
    colour: bool,
}

impl Out {
    /// Locks standard output. Enables colours on terminals, unless `NO_COLOR` is set.
    pub fn new() -> Self {
        let stdout = io::stdout().lock();
        let unwanted = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = env::var_os("TERM").is_some_and(|value| value == "dumb");
        let colour = stdout.is_terminal() && !unwanted && !dumb;
        Self { inner: BufWriter::with_capacity(64 << 10, Box::new(stdout)), colour }
    }

    /// Standard error, for a command that writes its data to standard output.
    pub fn stderr() -> Self {
        Self { inner: BufWriter::new(Box::new(io::stderr())), colour: false }
    }

    /// Writes a value as one line of JSON.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub fn json<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CliError> {
        serde_json::to_writer(&mut self.inner, value)?;
        self.inner.write_all(b"\n")?;
        Ok(())
    }

    /// Returns the text in bold, if colours are enabled.
    pub fn bold(&self, text: impl Display) -> String {
        self.style("1", text)
    }

    /// Returns the text dimmed, if colours are enabled.
    pub fn dim(&self, text: impl Display) -> String {
        self.style("2", text)
    }

    /// Returns the text in green, if colours are enabled.
    pub fn green(&self, text: impl Display) -> String {
        self.style("32", text)
    }

    /// Returns the text in red, if colours are enabled.
    pub fn red(&self, text: impl Display) -> String {
        self.style("31", text)
    }

    fn style(&self, code: &str, text: impl Display) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }
}

impl Default for Out {
    fn default() -> Self {
        Self::new()
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.inner.write(bytes)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.inner.write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// The program's name, with which its messages begin.
static PROGRAM: OnceLock<&str> = OnceLock::new();

/// Sets the program's name, once.
pub fn set_program(name: &'static str) {
    PROGRAM.get_or_init(|| name);
}

/// The program's name.
pub fn program() -> &'static str {
    PROGRAM.get().unwrap_or(&"longmatch")
}

/// Prints a note or a warning on standard error. The caller escapes names and next hops in the
/// message with [`longmatch_feed::printable`].
pub fn warn(message: impl Display) {
    // The command goes on if standard error is closed.
    let _ = writeln!(io::stderr(), "{}: {message}", program());
}

/// Formats a number with commas: `1,042,325`.
pub fn thousands(n: u64) -> String {
    grouped(&n.to_string())
}

/// Adds commas to the digits of a number of any size.
pub fn grouped(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() * 4 / 3 + 1);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a number with its unit, in the plural unless it is one: `1,024 routes`.
pub fn plural(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", thousands(n), if n == 1 { "" } else { "s" })
}

/// Formats a share of a whole: `12.3 %`, or `-` if the whole is zero.
pub fn percent(part: f64, whole: f64) -> String {
    if whole > 0.0 { format!("{:.1} %", part / whole * 100.0) } else { "-".to_owned() }
}

/// Formats a number of bytes in binary units, with about three digits: `2.53 MiB`.
pub fn bytes(n: u64) -> String {
    let mut value = n as f64;
    let mut units = ["B", "KiB", "MiB", "GiB", "TiB"].into_iter();
    let mut unit = units.next().unwrap_or_default();
    for next in units {
        // 1023.5 of a unit would round to 1024.
        if value < 1023.5 {
            break;
        }
        (value, unit) = (value / 1024.0, next);
    }
    let digits = if unit == "B" || value >= 99.95 { 0 } else { 1 + usize::from(value < 9.995) };
    format!("{value:.digits$} {unit}")
}

/// Formats a fractional number with about three digits, and all digits before the point: `0.05`,
/// `12.3`, `16,777,216`.
pub fn short(value: f64) -> String {
    match value {
        value if value >= 999.5 => thousands(value.round() as u64),
        value if value >= 99.95 => format!("{value:.0}"),
        value if value >= 9.995 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

/// Draws a bar, `width` characters at full length, in steps of an eighth of a character. A value
/// above zero gets at least one eighth.
pub fn bar(part: f64, whole: f64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if part <= 0.0 || whole <= 0.0 {
        return String::new();
    }
    let share = (part / whole).min(1.0);
    let eighths = ((share * (width * 8) as f64).round() as usize).max(1);
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

/// Alignment of the cells of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Align {
    /// Left, for words.
    Left,
    /// Right, for numbers.
    Right,
}

/// A table of cells, with columns as wide as their widest cell.
pub struct Grid {
    columns: Vec<(String, Align)>,
    rows: Vec<Row>,
}

enum Row {
    Cells(Vec<String>),
    /// A first cell, and a text that spans all other columns.
    Span(String, String),
}

impl Grid {
    /// Creates a table without rows. Headings are not printed if all are empty.
    pub fn new(columns: impl IntoIterator<Item = (impl Into<String>, Align)>) -> Self {
        let columns = columns.into_iter().map(|(name, align)| (name.into(), align)).collect();
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row. Missing cells are empty; surplus cells are not printed.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(Row::Cells(cells.into_iter().collect()));
    }

    /// Adds a row whose text spans all columns but the first, regardless of their widths.
    pub fn span(&mut self, first: String, text: String) {
        self.rows.push(Row::Span(first, text));
    }

    /// Prints the headings and all rows, indented by two spaces.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub fn print(&self, out: &mut Out) -> Result<(), CliError> {
        let headings: Vec<_> = self.columns.iter().map(|(name, _)| name.clone()).collect();
        let cells = |i: usize| {
            self.rows.iter().filter_map(move |row| match row {
                Row::Cells(cells) => cells.get(i),
                Row::Span(first, _) => (i == 0).then_some(first),
            })
        };
        let widths: Vec<_> = (0..self.columns.len())
            .map(|i| cells(i).chain([&headings[i]]).map(|cell| width(cell)).max().unwrap_or(0))
            .collect();
        if headings.iter().any(|name| !name.is_empty()) {
            let line = self.line(&headings, &widths);
            writeln!(out, "{}", out.dim(line))?;
        }
        for row in &self.rows {
            match row {
                Row::Cells(cells) => writeln!(out, "{}", self.line(cells, &widths))?,
                Row::Span(first, text) => {
                    let first = self.line(std::slice::from_ref(first), &widths);
                    let space = " ".repeat((widths[0] + 2).saturating_sub(width(&first)));
                    writeln!(out, "{first}{space}  {text}")?;
                }
            }
        }
        Ok(())
    }

    fn line(&self, cells: &[String], widths: &[usize]) -> String {
        let mut line = String::new();
        for ((cell, width_wanted), (_, align)) in cells.iter().zip(widths).zip(&self.columns) {
            let space = " ".repeat(width_wanted.saturating_sub(width(cell)));
            line += "  ";
            match align {
                Align::Left => line = line + cell + &space,
                Align::Right => line = line + &space + cell,
            }
        }
        line.truncate(line.trim_end().len());
        line
    }
}

/// Width of a text on a terminal, without style sequences. Every character printed here is one cell
/// wide.
fn width(text: &str) -> usize {
    let mut chars = text.chars();
    let mut width = 0;
    while let Some(char) = chars.next() {
        if char == '\x1b' {
            chars.by_ref().take_while(|char| *char != 'm').for_each(drop);
        } else {
            width += 1;
        }
    }
    width
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        let all = [(0, "0"), (999, "999"), (1_000, "1,000"), (1_042_325, "1,042,325")];
        for (n, text) in all {
            assert_eq!(thousands(n), text);
        }
        assert_eq!(thousands(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(plural(1, "route"), "1 route");
        assert_eq!(plural(1_024, "route"), "1,024 routes");
    }

    #[test]
    fn bytes_have_three_digits() {
        let all = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.00 KiB"),
            (10_240, "10.0 KiB"),
            (1_048_575, "1.00 MiB"),
            (2_655_000, "2.53 MiB"),
            (150 << 20, "150 MiB"),
        ];
        for (n, text) in all {
            assert_eq!(bytes(n), text);
        }
    }

    #[test]
    fn fractions_have_about_three_digits() {
        let all = [(0.046, "0.05"), (9.994, "9.99"), (9.996, "10.0"), (12.34, "12.3")];
        let more = [(99.96, "100"), (480.4, "480"), (999.6, "1,000"), (16_777_216.0, "16,777,216")];
        for (value, text) in all.into_iter().chain(more) {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn bars_have_eighths() {
        assert_eq!(bar(0.0, 10.0, 4), "");
        assert_eq!(bar(10.0, 10.0, 4), "████");
        assert_eq!(bar(20.0, 10.0, 4), "████");
        assert_eq!(bar(5.5, 8.0, 1), "▊");
        assert_eq!(bar(1e-9, 1.0, 4), "▏");
        assert_eq!(bar(1.0, 0.0, 4), "");
    }

    #[test]
    fn styles_have_no_width() {
        assert_eq!(width("\x1b[1mabc\x1b[0m"), 3);
        assert_eq!(width("█▏"), 2);
    }

    #[test]
    fn shares_of_zero_are_a_dash() {
        assert_eq!(percent(1.0, 3.0), "33.3 %");
        assert_eq!(percent(0.0, 0.0), "-");
    }
}
