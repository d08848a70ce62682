//! The place and the type that a column has in the records of a MaxMind DB.

use std::fmt;
use std::str::FromStr;

use longmatch::table::{Cell, Column, PrefixData, Row};

use super::MmdbError;

/// The type of a field in a MaxMind DB.
///
/// ```
/// use longmatch_feed::mmdb::MmdbType;
/// assert_eq!("uint32".parse(), Ok(MmdbType::Uint32));
/// assert_eq!(MmdbType::Boolean.to_string(), "boolean");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum MmdbType {
    /// Text, of a cell of any type.
    String,
    /// A 64-bit floating-point number; of an integer only if it is exact.
    Double,
    /// Bytes, of hexadecimal text.
    Bytes,
    /// An unsigned integer of 16 bits, of integers or decimal text, as the other integers.
    Uint16,
    /// An unsigned integer of 32 bits.
    Uint32,
    /// An unsigned integer of 64 bits.
    Uint64,
    /// An unsigned integer of 128 bits.
    Uint128,
    /// A signed integer of 32 bits, the only signed one.
    Int32,
    /// True or false, of 1 and 0 or of the words.
    Boolean,
}

/// The types and their names.
const TYPES: [(MmdbType, &str); 9] = [
    (MmdbType::String, "string"),
    (MmdbType::Double, "double"),
    (MmdbType::Bytes, "bytes"),
    (MmdbType::Uint16, "uint16"),
    (MmdbType::Uint32, "uint32"),
    (MmdbType::Uint64, "uint64"),
    (MmdbType::Uint128, "uint128"),
    (MmdbType::Int32, "int32"),
    (MmdbType::Boolean, "boolean"),
];

impl fmt::Display for MmdbType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = TYPES.iter().find(|(ty, _)| ty == self).map_or("", |(_, name)| name);
        f.write_str(name)
    }
}

impl FromStr for MmdbType {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        TYPES.iter().find(|(_, name)| *name == text).map(|(ty, _)| *ty).ok_or(())
    }
}

/// The place of a column in the records of a MaxMind DB, and its type.
///
/// Its text is `column=path`, or `column=path:type`; the keys of the path are separated by dots.
///
/// ```
/// use longmatch_feed::mmdb::{MmdbField, MmdbType};
/// let field: MmdbField = "site=city.names.en".parse()?;
/// assert_eq!((&*field.column, &*field.path, field.ty), ("site", "city.names.en", None));
/// let field: MmdbField = "asn=traits.autonomous_system_number:uint32".parse()?;
/// assert_eq!(field.ty, Some(MmdbType::Uint32));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MmdbField {
    /// The column.
    pub column: String,
    /// The keys of the maps, from the record to the value, with dots between them.
    pub path: String,
    /// The type. Default: string, double, uint32 or, if the column needs it, uint64 or int32.
    pub ty: Option<MmdbType>,
}

impl FromStr for MmdbField {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = "expected 'column=path' or 'column=path:type'";
        let (column, path) = text.rsplit_once('=').ok_or(wrong)?;
        let (path, ty) = match path.rsplit_once(':') {
            None => (path, None),
            Some((path, ty)) => {
                let unknown = "the type is string, double, bytes, uint16, uint32, uint64, uint128, \
                               int32 or boolean";
                (path, Some(ty.parse().map_err(|()| unknown)?))
            }
        };
        if column.is_empty() || path.split('.').any(str::is_empty) {
            return Err(wrong);
        }
        Ok(Self { column: column.to_owned(), path: path.to_owned(), ty })
    }
}

/// The greatest length of a path.
const MAX_PATH: usize = 64 << 10;

/// A map of the records: its keys with their values.
#[derive(Default)]
pub(super) struct Map {
    pub(super) entries: Vec<(String, Node)>,
}

/// A value of a map.
pub(super) enum Node {
    /// A map, with its number.
    Map(usize, Map),
    /// A column, by its position.
    Leaf(usize),
}

/// The map that a record is.
pub(super) fn layout(columns: &[Column], fields: &[MmdbField]) -> Result<Map, MmdbError> {
    for field in fields {
        if !columns.iter().any(|column| *column.name == *field.column) {
            let columns = columns.iter().map(|column| column.name.to_string()).collect();
            return Err(MmdbError::NoSuchColumn { name: field.column.clone(), columns });
        }
    }
    let (mut map, mut maps) = (Map::default(), 0);
    for (at, column) in columns.iter().enumerate() {
        let path = field(fields, column).map_or(&*column.name, |field| &field.path);
        if path.split('.').any(str::is_empty) || path.len() > MAX_PATH {
            return Err(MmdbError::Path { column: column.name.to_string(), path: path.to_owned() });
        }
        let collision =
            || MmdbError::Collision { column: column.name.to_string(), path: path.to_owned() };
        let mut keys = path.split('.').peekable();
        let mut map = &mut map;
        while let Some(key) = keys.next() {
            let is_last = keys.peek().is_none();
            let found = map.entries.iter().position(|(known, _)| known == key);
            let entry = match found {
                Some(_) if is_last => return Err(collision()),
                Some(entry) => entry,
                None => {
                    maps += usize::from(!is_last);
                    let node = match is_last {
                        true => Node::Leaf(at),
                        false => Node::Map(maps, Map::default()),
                    };
                    map.entries.push((key.to_owned(), node));
                    map.entries.len() - 1
                }
            };
            match &mut map.entries[entry].1 {
                Node::Map(_, below) => map = below,
                Node::Leaf(_) if is_last => break,
                Node::Leaf(_) => return Err(collision()),
            }
        }
    }
    Ok(map)
}

/// The field that the options state for a column. If they state several, the last one counts.
fn field<'f>(fields: &'f [MmdbField], column: &Column) -> Option<&'f MmdbField> {
    fields.iter().rev().find(|field| *field.column == *column.name)
}

/// The type of each column: the stated one, or the narrowest of those that readers commonly expect.
pub(super) fn types<'r>(
    data: &PrefixData,
    fields: &[MmdbField],
    rows: impl Iterator<Item = &'r Row>,
) -> Vec<MmdbType> {
    use longmatch::table::ColumnType::{F64, I64, String};
    let mut bounds = vec![(0_i64, 0_u64); data.columns().len()];
    for row in rows {
        for ((least, most), cell) in bounds.iter_mut().zip(row) {
            match cell {
                Cell::U64(number) => *most = (*most).max(*number),
                Cell::I64(number) if *number < 0 => *least = (*least).min(*number),
                Cell::I64(number) => *most = (*most).max(number.unsigned_abs()),
                _ => {}
            }
        }
    }
    let ty = |(column, (least, most)): (&Column, (i64, u64))| {
        let narrowest = match column.ty {
            String => MmdbType::String,
            F64 => MmdbType::Double,
            // A value that does not fit is an error of its own.
            I64 if least < 0 => MmdbType::Int32,
            _ if u32::try_from(most).is_ok() => MmdbType::Uint32,
            _ => MmdbType::Uint64,
        };
        field(fields, column).and_then(|field| field.ty).unwrap_or(narrowest)
    };
    data.columns().iter().zip(bounds).map(ty).collect()
}
