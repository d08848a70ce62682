//! Cells of prefix data as Arrow arrays.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, Float64Array, Int64Array, UInt64Array};
use longmatch::table::{Cell, Column, ColumnType};
use longmatch_feed::printable;

use crate::error::CliError;

/// An array of cells of a column, in the column's type.
///
/// # Errors
/// If the texts have more than 2 GiB.
pub fn array<'a>(
    column: &Column,
    cells: impl Iterator<Item = Cell<&'a str>>,
) -> Result<ArrayRef, CliError> {
    Ok(match column.ty {
        ColumnType::U64 => {
            let cells = cells.map(|cell| if let Cell::U64(n) = cell { Some(n) } else { None });
            Arc::new(cells.collect::<UInt64Array>())
        }
        ColumnType::I64 => {
            let cells = cells.map(|cell| if let Cell::I64(n) = cell { Some(n) } else { None });
            Arc::new(cells.collect::<Int64Array>())
        }
        ColumnType::F64 => {
            let cells = cells.map(|cell| if let Cell::F64(n) = cell { Some(n) } else { None });
            Arc::new(cells.collect::<Float64Array>())
        }
        // Strings, and types that a later version of the library adds.
        _ => {
            let mut texts = StringBuilder::new();
            for cell in cells {
                let text = match cell {
                    Cell::Null => {
                        texts.append_null();
                        continue;
                    }
                    Cell::String(text) => Cow::Borrowed(text),
                    other => Cow::Owned(other.to_string()),
                };
                if texts.values_slice().len() + text.len() > i32::MAX as usize {
                    let name = printable(&column.name);
                    return Err(CliError::new(format!(
                        "the column '{name}' of the prefix data has more than 2 GiB of text, which an Arrow column cannot hold: leave it out"
                    )));
                }
                texts.append_value(text);
            }
            Arc::new(texts.finish())
        }
    })
}
