//! Answers to batches: codes turned into arrays.

use std::sync::Arc;

use crate::arrow::{Buffer, ColumnData, bitmap};
use crate::bulk::Id;
use crate::store::Typed;

/// The string values of a table as the dictionary of Arrow arrays: item `code - 1`.
pub fn dictionary<'s>(
    values: impl ExactSizeIterator<Item = Option<&'s str>>,
) -> Result<ColumnData, String> {
    let len = values.len();
    let mut offsets = Vec::with_capacity(len + 1);
    let mut data = Vec::new();
    let mut valid = Vec::with_capacity(len);
    offsets.push(0i32);
    for value in values {
        data.extend_from_slice(value.unwrap_or_default().as_bytes());
        let end = i32::try_from(data.len());
        offsets.push(end.map_err(|_| String::from("the values have more than 2 GiB of text"))?);
        valid.push(value.is_some());
    }
    let (bits, nulls) = bitmap(len, |i| valid[i]);
    let bits = if nulls == 0 { None } else { bits };
    let buffers =
        vec![bits, Some(Arc::new(Buffer::I32(offsets))), Some(Arc::new(Buffer::Bytes(data)))];
    Ok(ColumnData { format: c"u", len, nulls, buffers, dictionary: None })
}

/// The answers as indices into a dictionary: null for no match and for a null value.
pub fn encoded(
    ids: &[Id],
    dictionary: Arc<ColumnData>,
    is_null: impl Fn(usize) -> bool,
) -> ColumnData {
    let indices = ids.iter().map(|id| id.map_or(0, |id| id.get() as i32 - 1)).collect();
    let valid = |i: usize| ids[i].is_some_and(|id| !is_null(id.get() as usize));
    let (bits, nulls) = bitmap(ids.len(), valid);
    let buffers = vec![bits, Some(Arc::new(Buffer::I32(indices)))];
    ColumnData { format: c"i", len: ids.len(), nulls, buffers, dictionary: Some(dictionary) }
}

/// The values of the answers; null for no match.
///
/// # Panics
/// For strings, which have a dictionary.
pub fn gathered(ids: &[Id], values: &Typed) -> ColumnData {
    match values {
        Typed::I64(values) => numbers(ids, values, c"l", Buffer::I64),
        Typed::U64(values) => numbers(ids, values, c"L", Buffer::U64),
        Typed::F64(values) => numbers(ids, values, c"g", Buffer::F64),
        Typed::Bools(values) => {
            let get = |i: usize| ids[i].and_then(|id| values[id.get() as usize]);
            let (bits, nulls) = bitmap(ids.len(), |i| get(i).is_some());
            let (set, _) = bitmap(ids.len(), |i| get(i) == Some(true));
            let buffers = vec![bits, set];
            ColumnData { format: c"b", len: ids.len(), nulls, buffers, dictionary: None }
        }
        Typed::Strings(_) => unreachable!("strings have a dictionary"),
    }
}

fn numbers<T: Copy + Default>(
    ids: &[Id],
    values: &[Option<T>],
    format: &'static std::ffi::CStr,
    buffer: impl Fn(Vec<T>) -> Buffer,
) -> ColumnData {
    let get = |id: &Id| id.and_then(|id| values[id.get() as usize]);
    let items = ids.iter().map(|id| get(id).unwrap_or_default()).collect();
    let (bits, nulls) = bitmap(ids.len(), |i| get(&ids[i]).is_some());
    let buffers = vec![bits, Some(Arc::new(buffer(items)))];
    ColumnData { format, len: ids.len(), nulls, buffers, dictionary: None }
}
