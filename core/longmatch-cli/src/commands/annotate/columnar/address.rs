//! Columns with addresses: where they are in a schema, and their types.

use std::net::IpAddr;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType, Fields, Schema};
use arrow_select::take::take;
use longmatch_feed::printable;
use longmatch_feed::scan::address::parse_cell;

use super::super::block::{is_empty, not_an_address};
use crate::error::CliError;

/// Types of columns that addresses are read from.
const ACCEPTED: &str = "text, integers of 32 or 64 bits with IPv4 addresses, bytes in network order (4 or 16), and dictionaries of these";

/// The content of a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parsed {
    /// Null or empty.
    Missing,
    /// Something else than an address.
    Bad,
    /// An address.
    Address(IpAddr),
}

/// A column with addresses, which may be a field of structs.
pub struct AddressColumn {
    /// The number of the column, of the field in it, and so on.
    path: Vec<usize>,
}

impl AddressColumn {
    /// Finds a column by its name, or a field by its path with dots.
    ///
    /// # Errors
    /// If there is none or more than one, or the type has no addresses.
    pub fn find(schema: &Schema, name: &str) -> Result<Self, CliError> {
        let shown = printable(name);
        let failed = |problem: String| Err(CliError::input("--column", problem));
        let mut found = Vec::new();
        search(schema.fields(), name, &mut Vec::new(), &mut found);
        let (path, data_type) = match found.len() {
            1 => found.remove(0),
            0 => {
                let names: Vec<_> =
                    schema.fields().iter().map(|field| printable(field.name())).collect();
                let names = names.join(", ");
                return failed(format!("no column is named '{shown}'; the input has: {names}"));
            }
            several => return failed(format!("{several} columns are named '{shown}': rename one")),
        };
        if !is_accepted(&data_type) {
            return failed(format!("'{shown}' has the type {data_type}: it may be {ACCEPTED}"));
        }
        Ok(Self { path })
    }

    /// The cells of a batch, and which of them are not null.
    fn cells(&self, batch: &RecordBatch) -> (ArrayRef, Option<NullBuffer>) {
        let mut array = batch.column(self.path[0]).clone();
        let mut nulls = array.logical_nulls();
        for field in &self.path[1..] {
            array = array.as_struct().column(*field).clone();
            // Below a null the fields may have any value.
            nulls = NullBuffer::union(nulls.as_ref(), array.logical_nulls().as_ref());
        }
        (array, nulls)
    }

    /// Reads the addresses of a batch.
    ///
    /// # Errors
    /// If Arrow's kernels fail, for example by the size of the text.
    pub fn read(&self, batch: &RecordBatch) -> Result<Vec<Parsed>, ArrowError> {
        let (array, nulls) = self.cells(batch);
        let mut parsed = parse(&array)?;
        if let Some(nulls) = nulls {
            for (cell, is_valid) in parsed.iter_mut().zip(&nulls) {
                if !is_valid {
                    *cell = Parsed::Missing;
                }
            }
        }
        Ok(parsed)
    }

    /// The problem of a row whose cell is missing or bad.
    pub fn problem(&self, batch: &RecordBatch, row: usize) -> String {
        let (array, nulls) = self.cells(batch);
        if nulls.is_some_and(|nulls| nulls.is_null(row)) {
            return "no address".to_owned();
        }
        describe(&array.slice(row, 1))
    }
}

/// Collects the paths and types of the fields that a name or a path with dots names.
fn search(
    fields: &Fields,
    name: &str,
    path: &mut Vec<usize>,
    found: &mut Vec<(Vec<usize>, DataType)>,
) {
    for (i, field) in fields.iter().enumerate() {
        path.push(i);
        let rest = name.strip_prefix(field.name().as_str());
        match (rest, field.data_type()) {
            (Some(""), data_type) => found.push((path.clone(), data_type.clone())),
            (Some(rest), DataType::Struct(inner)) => {
                if let Some(rest) = rest.strip_prefix('.') {
                    search(inner, rest, path, found);
                }
            }
            _ => {}
        }
        path.pop();
    }
}

fn is_accepted(data_type: &DataType) -> bool {
    use DataType as T;
    match data_type {
        T::Utf8 | T::LargeUtf8 | T::Utf8View | T::Binary | T::LargeBinary | T::BinaryView => true,
        T::UInt32 | T::Int32 | T::UInt64 | T::Int64 | T::FixedSizeBinary(4 | 16) => true,
        T::Dictionary(_, values) => is_accepted(values),
        _ => false,
    }
}

/// Parses each cell; those of nulls are arbitrary.
fn parse(array: &ArrayRef) -> Result<Vec<Parsed>, ArrowError> {
    use DataType as T;
    Ok(match array.data_type() {
        T::Utf8 => each(array.as_string::<i32>().iter(), |cell| text(cell.as_bytes())),
        T::LargeUtf8 => each(array.as_string::<i64>().iter(), |cell| text(cell.as_bytes())),
        T::Utf8View => each(array.as_string_view().iter(), |cell| text(cell.as_bytes())),
        T::Binary => each(array.as_binary::<i32>().iter(), bytes),
        T::LargeBinary => each(array.as_binary::<i64>().iter(), bytes),
        T::BinaryView => each(array.as_binary_view().iter(), bytes),
        T::FixedSizeBinary(_) => each(array.as_fixed_size_binary().iter(), bytes),
        T::UInt32 => each(array.as_primitive::<UInt32Type>().iter(), ipv4),
        // Languages without unsigned integers keep the bits.
        T::Int32 => each(array.as_primitive::<Int32Type>().iter(), |n| ipv4(n.cast_unsigned())),
        T::UInt64 => each(array.as_primitive::<UInt64Type>().iter(), number),
        T::Int64 => each(array.as_primitive::<Int64Type>().iter(), number),
        T::Dictionary(..) => return dictionary(array),
        // Refused when the column was found.
        _ => vec![Parsed::Missing; array.len()],
    })
}

fn each<T>(cells: impl Iterator<Item = Option<T>>, parse: impl Fn(T) -> Parsed) -> Vec<Parsed> {
    cells.map(|cell| cell.map_or(Parsed::Missing, &parse)).collect()
}

/// Parses each value of a dictionary once, or only those in use if the dictionary is large.
fn dictionary(array: &ArrayRef) -> Result<Vec<Parsed>, ArrowError> {
    let dictionary = array.as_any_dictionary();
    let values = dictionary.values();
    if values.len() > 2 * array.len() {
        return parse(&take(values, dictionary.keys(), None)?);
    }
    if values.is_empty() {
        return Ok(vec![Parsed::Missing; array.len()]);
    }
    let parsed = parse(values)?;
    Ok(dictionary.normalized_keys().into_iter().map(|key| parsed[key]).collect())
}

fn text(cell: &[u8]) -> Parsed {
    match parse_cell(cell) {
        Some(addr) => Parsed::Address(addr),
        None if is_empty(cell) => Parsed::Missing,
        None => Parsed::Bad,
    }
}

fn bytes(cell: &[u8]) -> Parsed {
    if let Ok(octets) = <[u8; 4]>::try_from(cell) {
        return Parsed::Address(octets.into());
    }
    match <[u8; 16]>::try_from(cell) {
        Ok(octets) => Parsed::Address(octets.into()),
        Err(_) if cell.is_empty() => Parsed::Missing,
        Err(_) => Parsed::Bad,
    }
}

fn ipv4(number: u32) -> Parsed {
    Parsed::Address(IpAddr::V4(number.into()))
}

fn number(number: impl TryInto<u32>) -> Parsed {
    number.try_into().map_or(Parsed::Bad, ipv4)
}

/// The problem of an array of one cell.
fn describe(array: &ArrayRef) -> String {
    use DataType as T;
    let length = |cell: &[u8]| match cell.len() {
        0 => "no address".to_owned(),
        n => format!("{n} bytes are not an address: IPv4 has 4 in network order, IPv6 16"),
    };
    let words = |cell: &str| match is_empty(cell.as_bytes()) {
        true => "no address".to_owned(),
        false => not_an_address(cell.as_bytes()),
    };
    match array.data_type() {
        T::Utf8 => words(array.as_string::<i32>().value(0)),
        T::LargeUtf8 => words(array.as_string::<i64>().value(0)),
        T::Utf8View => words(array.as_string_view().value(0)),
        T::Binary => length(array.as_binary::<i32>().value(0)),
        T::LargeBinary => length(array.as_binary::<i64>().value(0)),
        T::BinaryView => length(array.as_binary_view().value(0)),
        T::UInt64 => not_ipv4(array.as_primitive::<UInt64Type>().value(0)),
        T::Int64 => not_ipv4(array.as_primitive::<Int64Type>().value(0)),
        T::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let value = take(dictionary.values(), dictionary.keys(), None);
            value.map_or_else(|error| error.to_string(), |value| describe(&value))
        }
        _ => "no address".to_owned(),
    }
}

fn not_ipv4(number: impl std::fmt::Display) -> String {
    format!("{number} is not an IPv4 address")
}
