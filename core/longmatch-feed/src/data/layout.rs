//! The layout of text: how rows are divided, which cells hold the prefix, and the columns' names.

use std::fmt;

use super::key::{CellKind, Key, mentions_address};
use super::names;
use super::rows::CellSyntax;
use super::sample::{Sample, key_columns};
use crate::error::Problem;
use crate::formats::Format;
use crate::option_values::Delimiter;
use crate::options::Options;

/// The layout of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TextLayout {
    pub(crate) format: Format,
    pub(crate) cells: CellSyntax,
    /// Whether lines that begin with a semicolon are comments.
    pub(crate) semicolons: bool,
    pub(crate) header: bool,
    pub(crate) key: Key,
    /// The names of all columns, those of the prefix included.
    pub(crate) names: Vec<String>,
}

impl fmt::Display for TextLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.format, self.cells) {
            (Format::Csv, CellSyntax::Delimited(delimiter)) => {
                let header = if self.header { "with" } else { "without" };
                let key = match self.key {
                    Key::Range(..) => " of ranges",
                    Key::Length(..) => " of addresses and lengths",
                    Key::One(_) => "",
                };
                write!(f, "text{key} with the delimiter {delimiter}, {header} a header")
            }
            (Format::List, _) => f.write_str("a list of prefixes"),
            (Format::Text, _) => f.write_str("prefixes with a text each"),
            (format, _) => format.fmt(f),
        }
    }
}

impl TextLayout {
    /// The layout of a list of prefixes.
    pub(crate) fn list(semicolons: bool) -> Self {
        let names = vec!["prefix".to_owned()];
        let key = Key::One(0);
        Self { format: Format::List, cells: CellSyntax::One, semicolons, header: false, key, names }
    }

    /// Whether all rows are prefixes alone.
    pub(crate) fn is_list(&self) -> bool {
        self.cells == CellSyntax::One
    }

    /// The layout of words separated by white space.
    pub(crate) fn words(format: Format, key: Key, names: &[&str]) -> Self {
        Self {
            format,
            cells: CellSyntax::Delimited(Delimiter::Whitespace),
            semicolons: true,
            header: false,
            key,
            names: names.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    /// The layout of prefixes with the rest of the line as their value.
    pub(crate) fn texts(semicolons: bool) -> Self {
        let names = vec!["prefix".to_owned(), "value".to_owned()];
        Self { cells: CellSyntax::Rest, names, format: Format::Text, ..Self::list(semicolons) }
    }

    /// The layout of objects with a prefix and these columns.
    pub(crate) fn json(columns: &[String]) -> Self {
        let mut layout = Self { format: Format::Json, ..Self::list(false) };
        layout.names.extend_from_slice(columns);
        layout
    }

    /// The layout of a listing.
    pub(crate) fn listing(format: Format) -> Self {
        let columns = format.listing().map_or(&[][..], |listing| listing.columns);
        let names = columns.iter().map(|name| (*name).to_owned()).collect();
        Self { cells: CellSyntax::Listing(format), names, format, ..Self::list(false) }
    }

    /// The layout of rows that are divided into cells already.
    pub(crate) fn of_rows(
        rows: &[Vec<String>],
        cells: CellSyntax,
        semicolons: bool,
        options: &Options,
    ) -> Result<Self, Problem> {
        let Some(first) = rows.first() else {
            return Ok(Self::list(semicolons));
        };
        let kinds: Vec<Vec<CellKind>> =
            rows.iter().map(|row| row.iter().map(|cell| CellKind::of(cell)).collect()).collect();
        let header = options.header.unwrap_or_else(|| is_header(rows, &kinds));
        let names = if header {
            names::of_header(first)
        } else {
            (0..first.len()).map(names::numbered).collect()
        };
        let skip = usize::from(header);
        let sample = Sample { rows: &rows[skip..], kinds: &kinds[skip..], names: &names, header };
        let key = match &*options.prefix {
            [] => {
                sample.key()?.ok_or_else(|| Problem::NoPrefixColumn { columns: names.clone() })?
            }
            [one] => Key::One(names::resolve(one, &names)?),
            [one, two] => sample.pair(names::resolve(one, &names)?, names::resolve(two, &names)?),
            more => return Err(Problem::PrefixColumns { columns: more.len() }),
        };
        let mut layout = Self { format: Format::Csv, cells, semicolons, header, key, names };
        if !header {
            layout.name_known(rows, &kinds);
        }
        Ok(layout)
    }

    /// Names the columns of well-known files without a header.
    fn name_known(&mut self, rows: &[Vec<String>], kinds: &[Vec<CellKind>]) {
        let width = self.names.len();
        let numbers = |at: usize| is_integer(kinds, at);
        let known: &[&str] = match (self.key, width) {
            (Key::Range(0, 1), 5) if numbers(2) => {
                &["start", "end", "asn", "country", "description"]
            }
            (Key::Length(0, 1), 3) => {
                self.format = Format::Pfx2As;
                &["address", "length", "asn"]
            }
            (Key::One(0), 4 | 5) if is_geofeed(rows) => {
                &["prefix", "country", "region", "city", "postal_code"][..width]
            }
            (Key::One(0), 2) if self.semicolons && numbers(1) => {
                self.format = Format::PyAsn;
                &["prefix", "asn"]
            }
            _ => return,
        };
        self.names = known.iter().map(|name| (*name).to_owned()).collect();
    }
}

/// Whether rows are a geofeed (RFC 8805): a country's code of two letters, and a region of it such as `US-AL`.
fn is_geofeed(rows: &[Vec<String>]) -> bool {
    let cell = |row: &'_ Vec<String>, at: usize| row.get(at).cloned().unwrap_or_default();
    let fits = |row: &Vec<String>| {
        let (country, region) = (cell(row, 1), cell(row, 2));
        let is_code = country.len() == 2 && country.bytes().all(|byte| byte.is_ascii_alphabetic());
        let is_within =
            region.split_once('-').is_some_and(|(of, _)| of.eq_ignore_ascii_case(&country));
        (country.is_empty() || is_code) && (region.is_empty() || is_within)
    };
    rows.iter().all(fits) && rows.iter().any(|row| !cell(row, 1).is_empty())
}

/// Whether the cells of a column are integers, empty ones aside.
fn is_integer(kinds: &[Vec<CellKind>], at: usize) -> bool {
    let mut cells =
        kinds.iter().filter_map(|row| row.get(at)).filter(|kind| **kind != CellKind::Empty);
    cells.next() == Some(&CellKind::Integer) && cells.all(|kind| *kind == CellKind::Integer)
}

/// Whether the first row has names: whether a later row has addresses where it has other text, or, if
/// no row has addresses, whether it has no numbers.
fn is_header(rows: &[Vec<String>], kinds: &[Vec<CellKind>]) -> bool {
    let (Some(row), Some((first, later))) = (rows.first(), kinds.split_first()) else {
        return false;
    };
    match key_columns(later, first.len()).first() {
        Some(at) => {
            is_name(&row[*at])
                && !first[*at].is_key()
                && !row.iter().any(|cell| resembles_key(cell) || mentions_address(cell))
        }
        None if later.is_empty() => !first.iter().any(|kind| kind.is_key()),
        None => !first.iter().any(|kind| kind.is_key() || *kind == CellKind::Integer),
    }
}

/// Whether a cell may be the name of the column of the prefixes, and not an entry without a prefix.
fn is_name(cell: &str) -> bool {
    const ENTRIES: [&str; 13] = [
        "all",
        "any",
        "any4",
        "any6",
        "default",
        "localhost",
        "n/a",
        "na",
        "none",
        "null",
        "tbd",
        "unassigned",
        "unknown",
    ];
    let lower = cell.to_ascii_lowercase();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_system = lower.strip_prefix("as").is_some_and(is_number);
    let has_sign = cell.starts_with(['*', '!']) || cell == "-" || cell.contains("::");
    let begins = cell.trim_start_matches(['"', '\'', '(', '[', '{']).as_bytes().first();
    let is_like_number = begins.is_some_and(u8::is_ascii_digit);
    !(ENTRIES.contains(&&*lower) || is_system || has_sign || is_like_number)
}

/// Whether a cell is meant to be an address or a prefix, right or not.
pub(crate) fn resembles_key(cell: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_hexdigit() || matches!(byte, b'.' | b':' | b'/' | b'-');
    cell.bytes().all(known)
        && cell.contains(['.', ':', '/'])
        && cell.bytes().any(|byte| byte.is_ascii_digit())
}
