//! Types of cells: numbers in text, the narrowest type of a column, and the finished table.

use std::collections::HashMap;

use longmatch::NextHopId;
use longmatch::table::{Cell, Column, ColumnType, PrefixData, Row};

use super::store::{Raw, Store, text};
use crate::error::Problem;

/// Integers up to this one are exact as floating-point numbers.
const EXACT: u64 = 1 << 53;

/// Decimal digits that a floating-point number keeps.
const DIGITS: usize = 15;

/// A plain decimal integer: no leading zero, no plus sign.
pub(crate) fn unsigned(text: &str) -> Option<u64> {
    let bytes = text.as_bytes();
    let plain = matches!(bytes, [b'0'] | [b'1'..=b'9', ..]);
    if plain && bytes.len() <= 20 { text.parse().ok() } else { None }
}

/// A plain decimal integer below zero.
pub(crate) fn negative(text: &str) -> Option<i64> {
    let plain = matches!(text.as_bytes(), [b'-', b'1'..=b'9', ..]);
    if plain { text.parse().ok() } else { None }
}

/// A finite decimal number with a point between digits, or an exponent.
pub(crate) fn float(text: &str) -> Option<f64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = matches!(digits.as_bytes(), [b'0', b'.' | b'e' | b'E', ..] | [b'1'..=b'9', ..])
        && digits.contains(['.', 'e', 'E']);
    let known = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
    // `12e4` may be an identifier; programs write a sign after `e`.
    let is_number = digits.contains(['.', '+', '-']);
    let significant = digits.split(['e', 'E']).next().unwrap_or("").bytes();
    let significant = significant.filter(u8::is_ascii_digit).skip_while(|digit| *digit == b'0');
    if !plain || !digits.as_bytes().iter().all(known) || digits.ends_with('.') || !is_number {
        return None;
    }
    let number = text.parse().ok().filter(|number: &f64| number.is_finite())?;
    let is_exact = || number.to_string().trim_end_matches('0') == text.trim_end_matches('0');
    (significant.count() <= DIGITS || is_exact()).then_some(number)
}

/// A cell of the type that the options give its column. A column of integers also takes AS numbers
/// with the letters `AS` before them.
pub(crate) fn of_type(text: &str, ty: ColumnType) -> Option<Raw<'_>> {
    let digits = match text.as_bytes() {
        [b'A' | b'a', b'S' | b's', b'0'..=b'9', ..] => &text[2..],
        _ => text,
    };
    match ty {
        ColumnType::String => Some(Raw::String(text)),
        ColumnType::U64 => digits.parse().ok().map(Raw::U64),
        ColumnType::I64 => digits.parse().ok().map(Raw::I64),
        ColumnType::F64 => text.parse().ok().map(Raw::F64),
        _ => None,
    }
}

/// A cell of a column that may have a type; `None` for null.
#[inline]
pub(crate) fn cell<'a>(
    text: &'a str,
    ty: Option<ColumnType>,
    column: &str,
) -> Result<Option<Raw<'a>>, Problem> {
    let Some(ty) = ty.filter(|_| !text.is_empty()) else {
        return Ok((!text.is_empty()).then_some(Raw::Text(text)));
    };
    of_type(text, ty).ok_or_else(|| Problem::of_type(column, text, ty)).map(Some)
}

/// A typed cell as one of another type, if its value allows that.
pub(crate) fn convert<'a>(cell: Raw<'a>, ty: ColumnType) -> Option<Raw<'a>> {
    match (cell, ty) {
        (Raw::Text(text) | Raw::String(text), _) => of_type(text, ty),
        (cell, ColumnType::String) => Some(cell),
        (Raw::U64(number), ColumnType::I64) => i64::try_from(number).ok().map(Raw::I64),
        (Raw::I64(number), ColumnType::U64) => u64::try_from(number).ok().map(Raw::U64),
        (Raw::U64(number), ColumnType::F64) => Some(Raw::F64(number as f64)),
        (Raw::I64(number), ColumnType::F64) => Some(Raw::F64(number as f64)),
        (Raw::F64(_), ColumnType::U64 | ColumnType::I64) => None,
        (cell, _) => Some(cell),
    }
}

/// The types that the cells of a column allow.
#[derive(Clone, Copy, Default)]
struct Seen {
    any: bool,
    string: bool,
    float: bool,
    negative: bool,
    /// An integer beyond `i64`.
    large: bool,
    /// An integer that a floating-point number does not hold exactly.
    inexact: bool,
}

impl Seen {
    fn see(&mut self, cell: Raw<'_>) {
        self.any = true;
        match cell {
            Raw::String(_) => self.string = true,
            Raw::U64(number) => self.integer(number, false),
            Raw::I64(number) => self.integer(number.unsigned_abs(), number < 0),
            Raw::F64(_) => self.float = true,
            // Nothing narrows a column of strings again.
            Raw::Text(_) if self.string => {}
            Raw::Text(text) => {
                if let Some(number) = unsigned(text) {
                    self.integer(number, false);
                } else if let Some(number) = negative(text) {
                    self.integer(number.unsigned_abs(), true);
                } else if float(text).is_some() {
                    self.float = true;
                } else {
                    self.string = true;
                }
            }
        }
    }

    fn integer(&mut self, magnitude: u64, negative: bool) {
        self.negative |= negative;
        self.large |= !negative && i64::try_from(magnitude).is_err();
        self.inexact |= magnitude > EXACT;
    }

    fn ty(self) -> ColumnType {
        match self {
            Self { any: false, .. } | Self { string: true, .. } => ColumnType::String,
            Self { float: true, inexact: true, .. } => ColumnType::String,
            Self { float: true, .. } => ColumnType::F64,
            Self { negative: true, large: true, .. } => ColumnType::String,
            Self { negative: true, .. } => ColumnType::I64,
            _ => ColumnType::U64,
        }
    }
}

/// The table of all that has been read.
pub(crate) fn finish(store: Store) -> Result<PrefixData, Problem> {
    let used = store.used();
    let types = types(&store, &used);
    let names = store.columns().iter().map(|column| &*column.name);
    let columns = names.zip(&types).map(|(name, ty)| Column::new(name, *ty)).collect();
    let rows = used.into_iter().map(|id| row(&store, id, &types)).collect::<Result<_, _>>()?;
    let (ipv4, ipv6) = store.into_routes();
    Ok(PrefixData::from_routes(columns, rows, ipv4, ipv6)?)
}

/// The columns' types: those of the options, else the narrowest for the rows in use.
fn types(store: &Store, used: &[Option<NextHopId>]) -> Vec<ColumnType> {
    let mut seen = vec![Seen::default(); store.columns().len()];
    for id in used.iter().flatten() {
        store.cells(*id).for_each(|(column, cell)| seen[usize::from(column)].see(cell));
    }
    let inferred = store.columns().iter().zip(seen);
    let mut types: Vec<_> = inferred.map(|(column, seen)| column.ty.unwrap_or(seen.ty())).collect();
    for (at, ty) in types.iter_mut().enumerate() {
        let is_inferred = store.columns()[at].ty.is_none() && *ty == ColumnType::F64;
        if is_inferred && has_equal_numbers(store, used, at) {
            *ty = ColumnType::String;
        }
    }
    types
}

/// Whether two texts of a column are one number: `1.1` and `1.10` are versions or AS numbers, and neither may be lost.
fn has_equal_numbers(store: &Store, used: &[Option<NextHopId>], at: usize) -> bool {
    let mut texts = HashMap::new();
    used.iter().flatten().flat_map(|id| store.cells(*id)).any(|(column, cell)| {
        let Raw::Text(text) = cell else { return false };
        let number = float(text).filter(|_| usize::from(column) == at);
        number.is_some_and(|number| *texts.entry(number.to_bits()).or_insert(text) != text)
    })
}

/// A row for the table: nulls in place of a row without prefixes, which may not fit the types.
fn row(store: &Store, id: Option<NextHopId>, types: &[ColumnType]) -> Result<Row, Problem> {
    let mut row: Row = (0..types.len()).map(|_| Cell::Null).collect();
    for (column, cell) in id.into_iter().flat_map(|id| store.cells(id)) {
        let at = usize::from(column);
        let wrong = || Problem::of_type(&store.columns()[at].name, &text(cell), types[at]);
        let converted = convert(cell, types[at]).ok_or_else(wrong)?;
        row[at] = match (converted, types[at]) {
            (Raw::Text(text) | Raw::String(text), _) => Cell::String(text.into()),
            (number, ColumnType::String) => Cell::String(text(number).into()),
            (Raw::U64(number), _) => Cell::U64(number),
            (Raw::I64(number), _) => Cell::I64(number),
            (Raw::F64(number), _) => Cell::F64(number),
        };
    }
    Ok(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn type_of(cells: &[&str]) -> ColumnType {
        let mut seen = Seen::default();
        cells.iter().for_each(|cell| seen.see(Raw::Text(cell)));
        seen.ty()
    }

    #[test]
    fn the_narrowest_type_that_loses_nothing() {
        use ColumnType::{F64, I64, String, U64};
        for (cells, ty) in [
            (&[][..], String),
            (&["0", "18446744073709551615"], U64),
            (&["18446744073709551616"], String),
            (&["-0"], String),
            (&["1", "-9223372036854775808"], I64),
            (&["-1", "9223372036854775808"], String),
            (&["1", "0.5", "-2e-3"], F64),
            (&["9007199254740993", "0.5"], String),
            (&["007"], String),
            (&["+1"], String),
            (&["1."], String),
            (&[".5"], String),
            (&["1e999"], String),
            (&["inf"], String),
            (&["NaN"], String),
            (&["1", "AS15169"], String),
            (&["-"], String),
            (&["1 "], String),
            (&["1e"], String),
            (&["00.5"], String),
        ] {
            assert_eq!(type_of(cells), ty, "{cells:?}");
        }
    }

    #[test]
    fn named_types_take_as_numbers() {
        assert_eq!(of_type("AS15169", ColumnType::U64), Some(Raw::U64(15169)));
        assert_eq!(of_type("as1", ColumnType::I64), Some(Raw::I64(1)));
        assert_eq!(of_type("007", ColumnType::U64), Some(Raw::U64(7)));
        assert_eq!(of_type("AS", ColumnType::U64), None);
        assert_eq!(of_type("AS-1", ColumnType::I64), None);
        assert_eq!(of_type("AS1", ColumnType::F64), None);
    }
}
