//! Rows and columns of compiled files.

use std::ffi::c_char;
use std::ptr;

use longmatch::NextHopId;
use longmatch::file::FileTable;
use longmatch::table::{Cell, ColumnType};

use crate::handle::{Handle, Kind, lm_table};
use crate::memory::{Read, misuse, out, put, text};
use crate::status::{LM_E_ID, LM_E_INDEX, LM_E_UNSUPPORTED, LM_OK, Misuse, lm_status};

/// No value.
pub const LM_NULL: u32 = 0;
/// UTF-8 text: `text` and `size`.
pub const LM_TEXT: u32 = 1;
/// An unsigned integer: `u64`.
pub const LM_U64: u32 = 2;
/// A signed integer: `i64`.
pub const LM_I64: u32 = 3;
/// A floating-point number: `f64`.
pub const LM_F64: u32 = 4;

/// A column.
#[repr(C)]
pub struct lm_column {
    /// The name in UTF-8, without a NUL at its end. It lives as long as the table's handle.
    pub name: *const c_char,
    /// Bytes of the name.
    pub size: usize,
    /// The type of its cells: `LM_TEXT`, `LM_U64`, `LM_I64` or `LM_F64`. Any cell may be `LM_NULL`.
    pub kind: u32,
    /// Zero.
    pub reserved: u32,
}

/// A cell. Fields of other kinds are zero.
#[repr(C)]
pub struct lm_cell {
    /// `LM_NULL`, `LM_TEXT`, `LM_U64`, `LM_I64` or `LM_F64`.
    pub kind: u32,
    /// Zero.
    pub reserved: u32,
    /// An unsigned integer.
    pub u64: u64,
    /// A signed integer.
    pub i64: i64,
    /// A floating-point number.
    pub f64: f64,
    /// Text in UTF-8, without a NUL at its end. It lives as long as the table's handle.
    pub text: *const c_char,
    /// Bytes of the text.
    pub size: usize,
}

/// Describes a column by its number, from 0 on; `lm_info.columns` is their number. `size` is `sizeof(lm_column)`.
///
/// Threads: any, at the same time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_column_at(
    table: *const lm_table,
    number: u32,
    column: *mut lm_column,
    size: usize,
) -> lm_status {
    let call = || {
        // SAFETY: a handle, by the header.
        let found = unsafe { file(table) }?.columns().get(number as usize).ok_or(NO_COLUMN)?;
        let kind = match found.ty {
            ColumnType::U64 => LM_U64,
            ColumnType::I64 => LM_I64,
            ColumnType::F64 => LM_F64,
            _ => LM_TEXT,
        };
        let name = found.name.as_ptr().cast();
        // SAFETY: the caller's memory, by the header.
        unsafe { put(column, size, lm_column { name, size: found.name.len(), kind, reserved: 0 }) }
    };
    end(call())
}

/// Finds the number of a column by its name, which ends with a NUL.
///
/// Threads: any, at the same time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_column_find(
    table: *const lm_table,
    name: *const c_char,
    number: *mut u32,
) -> lm_status {
    let call = || {
        // SAFETY: a handle, by the header.
        let columns = unsafe { file(table) }?.columns();
        // SAFETY: the caller's memory, by the header.
        let name = unsafe { text(name) }?.to_bytes();
        let found = columns.iter().position(|column| column.name.as_bytes() == name);
        // SAFETY: the caller's memory, by the header.
        *unsafe { out(number) }? = found.ok_or(NO_COLUMN)? as u32;
        Ok(LM_OK)
    };
    end(call())
}

/// Returns the number of the row that an id leads to, from 0 on. Equal rows have one number, so an array of
/// `lm_info.rows` items can hold what the caller makes of each row.
///
/// Threads: any, at the same time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_row(table: *const lm_table, id: u32, row: *mut u32) -> lm_status {
    let call = || {
        // SAFETY: a handle, by the header.
        let found = row_of(unsafe { file(table) }?, id)?;
        // SAFETY: the caller's memory, by the header.
        *unsafe { out(row) }? = found;
        Ok(LM_OK)
    };
    end(call())
}

/// Returns the cell of a column in the row that an id leads to. `size` is `sizeof(lm_cell)`.
///
/// Threads: any, at the same time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_cell_of(
    table: *const lm_table,
    id: u32,
    column: u32,
    cell: *mut lm_cell,
    size: usize,
) -> lm_status {
    let call = || {
        // SAFETY: a handle, by the header.
        let table = unsafe { file(table) }?;
        // SAFETY: the caller's memory, by the header.
        unsafe { put(cell, size, lm_cell::at(table, row_of(table, id)?, column)?) }
    };
    end(call())
}

/// Returns the cell of a column in a row by the row's number, from 0 on. `size` is `sizeof(lm_cell)`.
///
/// Threads: any, at the same time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_cell_at(
    table: *const lm_table,
    row: u32,
    column: u32,
    cell: *mut lm_cell,
    size: usize,
) -> lm_status {
    let call = || {
        // SAFETY: a handle, by the header.
        let table = unsafe { file(table) }?;
        // SAFETY: the caller's memory, by the header.
        unsafe { put(cell, size, lm_cell::at(table, row, column)?) }
    };
    end(call())
}

const NO_COLUMN: &Misuse =
    misuse!(LM_E_INDEX, "the table has no such column: lm_column_at lists them");

/// The file of a table.
///
/// # Safety
/// A handle, by the header.
unsafe fn file<'a>(table: *const lm_table) -> Read<&'a FileTable> {
    // SAFETY: the caller promises it.
    match unsafe { lm_table::borrow(table) }?.kind() {
        Kind::File { table, .. } => Ok(table),
        _ => Err(misuse!(
            LM_E_UNSUPPORTED,
            "tables of arrays and live tables have ids, and no columns"
        )),
    }
}

fn row_of(table: &FileTable, id: u32) -> Read<u32> {
    let row = NextHopId::new(id).and_then(|id| table.row_number(id));
    row.ok_or(misuse!(LM_E_ID, "the id is none of the table"))
}

fn end(result: Read<lm_status>) -> lm_status {
    result.unwrap_or_else(Misuse::status)
}

impl lm_cell {
    fn at(table: &FileTable, row: u32, column: u32) -> Read<Self> {
        if column as usize >= table.columns().len() {
            return Err(NO_COLUMN);
        }
        let row =
            table.row_at(row).ok_or(misuse!(LM_E_INDEX, "the table has no row of this number"))?;
        let null = Self {
            kind: LM_NULL,
            reserved: 0,
            u64: 0,
            i64: 0,
            f64: 0.0,
            text: ptr::null(),
            size: 0,
        };
        Ok(match row.get(column as usize) {
            Cell::Null => null,
            Cell::String(text) => {
                Self { kind: LM_TEXT, text: text.as_ptr().cast(), size: text.len(), ..null }
            }
            Cell::U64(number) => Self { kind: LM_U64, u64: number, ..null },
            Cell::I64(number) => Self { kind: LM_I64, i64: number, ..null },
            Cell::F64(number) => Self { kind: LM_F64, f64: number, ..null },
        })
    }
}
