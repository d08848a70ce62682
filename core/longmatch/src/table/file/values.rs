//! Rows of a file: columns of cells, and strings that are stored once.

use alloc::vec::Vec;
use core::fmt;

use super::packed::Packed;
use crate::mem::Frozen;
use crate::table::{Cell, Column, ColumnType};

/// The rows and their columns.
#[derive(Debug)]
pub(super) struct Values {
    pub columns: Vec<Column>,
    pub cells: Vec<ColumnCells>,
    pub strings: Strings,
    /// Number of rows.
    pub rows: u32,
}

/// The cells of a column.
#[derive(Debug)]
pub(super) enum ColumnCells {
    /// Numbers of strings plus one; 0 is null.
    Strings(Packed),
    /// The bits of numbers, and a bit for each that is null.
    Numbers(Packed, Option<Frozen<u8>>),
}

/// Strings by number.
#[derive(Debug)]
pub(super) struct Strings {
    /// Where each string begins, and where the last one ends.
    pub offsets: Packed,
    pub text: Frozen<u8>,
}

impl Strings {
    /// A string; `None` if there is none, or it is damaged.
    pub fn get(&self, number: usize) -> Option<&str> {
        let offset = |number| usize::try_from(self.offsets.get(number)?).ok();
        let (start, end) = (offset(number)?, offset(number.checked_add(1)?)?);
        str::from_utf8(self.text.get(start..end)?).ok()
    }

    /// Whether every string is one.
    pub fn are_sound(&self) -> bool {
        let Ok(text) = str::from_utf8(&self.text) else { return false };
        let mut end = 0;
        let rises = self.offsets.iter().all(|offset| {
            let Some(offset) = offset.and_then(|it| usize::try_from(it).ok()) else { return false };
            let rises = offset >= end && text.is_char_boundary(offset);
            end = offset;
            rises
        });
        rises && end == text.len() && self.offsets.get(0) == Some(0)
    }
}

impl Values {
    /// A cell; null if there is no such row or column, or it is damaged.
    fn cell(&self, row: u32, column: usize) -> Cell<&str> {
        let at = row as usize;
        let (Some(column), Some(cells)) = (self.columns.get(column), self.cells.get(column)) else {
            return Cell::Null;
        };
        match cells {
            ColumnCells::Strings(numbers) => {
                let number = numbers.get(at).and_then(|number| number.checked_sub(1));
                let number = number.and_then(|it| usize::try_from(it).ok());
                number.and_then(|it| self.strings.get(it)).map_or(Cell::Null, Cell::String)
            }
            ColumnCells::Numbers(numbers, nulls) => {
                let null = |nulls: &Frozen<u8>| nulls.get(at / 8).map(|byte| byte >> (at % 8) & 1);
                let null = nulls.as_ref().and_then(null);
                match numbers.get(at) {
                    Some(bits) if null != Some(1) => number(column.ty, bits),
                    _ => Cell::Null,
                }
            }
        }
    }

    /// A row; `None` if there is none.
    pub fn row(&self, number: u32) -> Option<FileRow<'_>> {
        (number < self.rows).then_some(FileRow { values: self, number })
    }
}

/// The number with these bits.
fn number(ty: ColumnType, bits: u64) -> Cell<&'static str> {
    match ty {
        ColumnType::U64 => Cell::U64(bits),
        ColumnType::I64 => Cell::I64(bits.cast_signed()),
        ColumnType::F64 => Cell::F64(f64::from_bits(bits)),
        ColumnType::String => Cell::Null,
    }
}

/// A row of a [`FileTable`](super::FileTable): a cell for each column, which the file lends.
///
/// ```
/// use longmatch::IpPrefix;
/// use longmatch::file::{FileRow, FileSpec, FileTable};
/// use longmatch::table::{Cell, Column, ColumnType, PrefixData};
/// let columns = vec![Column::new("asn", ColumnType::U64), Column::new("site", ColumnType::String)];
/// let mut data = PrefixData::new(columns)?;
/// data.insert("10.0.0.0/8".parse::<IpPrefix>()?, [Cell::U64(64500), Cell::Null].into())?;
/// let table = FileTable::from_bytes(FileSpec::default().to_bytes(&data)?)?;
/// let row: FileRow = table.lookup([10, 1, 2, 3]).unwrap();
/// assert!(row.iter().eq([Cell::U64(64500), Cell::Null]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct FileRow<'a> {
    values: &'a Values,
    number: u32,
}

impl<'a> FileRow<'a> {
    /// Number of cells: one for each column.
    pub fn len(&self) -> usize {
        self.values.columns.len()
    }

    /// Whether there is no column.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The row's number among the distinct rows of its table, from 0 on.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The cell of a column, by the column's position; null where there is no such column.
    pub fn get(&self, column: usize) -> Cell<&'a str> {
        self.values.cell(self.number, column)
    }

    /// The cell of a column, by the column's name; `None` where there is no such column.
    pub fn by_name(&self, name: &str) -> Option<Cell<&'a str>> {
        let column = self.values.columns.iter().position(|column| &*column.name == name)?;
        Some(self.get(column))
    }

    /// The cells in the order of the columns.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Cell<&'a str>> + use<'a> {
        let row = *self;
        (0..self.len()).map(move |column| row.get(column))
    }
}

impl PartialEq for FileRow<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for FileRow<'_> {}

impl fmt::Debug for FileRow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.values.columns.iter().map(|column| &column.name);
        f.debug_map().entries(names.zip(self.iter())).finish()
    }
}
