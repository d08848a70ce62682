//! Answers to batches: codes turned into Arrow arrays of the types that a consumer may ask for.

use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::Arc;

use crate::arrow::{Buffer, ColumnData, Layout, bitmap, type_name};
use crate::bulk::Id;
use crate::store::{Texts, Typed};

/// The layout of answers of this type, if nobody asks for another.
pub fn layout_of(values: &Typed) -> Layout {
    Layout::plain(match values {
        Typed::Strings(_) => c"u",
        Typed::I64(_) => c"l",
        Typed::U64(_) => c"L",
        Typed::F64(_) => c"g",
        Typed::Bools(_) => c"b",
    })
}

/// The answers as an Arrow array; null for no match and for a null value.
///
/// # Errors
/// When the values are not of the layout, or it cannot hold one of them.
pub fn array(ids: &[Id], values: &Typed, layout: Layout) -> Result<ColumnData, String> {
    match (values, layout.dictionary) {
        (Typed::Strings(texts), None) => strings(ids, texts, layout.format),
        (Typed::Strings(texts), Some(of)) if layout.format == c"i" || layout.format == c"I" => {
            dictionary(ids, texts, layout.format, of)
        }
        (Typed::I64(numbers), None) => integers(ids, numbers, layout.format),
        (Typed::U64(numbers), None) => integers(ids, numbers, layout.format),
        (Typed::F64(numbers), None) if layout.format == c"g" => {
            let items = ids.iter().map(|id| of(id, numbers).unwrap_or_default()).collect();
            Ok(fixed(ids, numbers, layout.format, Buffer::F64(items)))
        }
        (Typed::Bools(values), None) if layout.format == c"b" => {
            let (set, _) = bitmap(ids.len(), |i| of(&ids[i], values) == Some(true));
            let (bits, nulls) = bitmap(ids.len(), |i| of(&ids[i], values).is_some());
            Ok(ColumnData {
                format: c"b",
                len: ids.len(),
                nulls,
                buffers: vec![bits, set],
                dictionary: None,
            })
        }
        _ => Err(format!(
            "a column of type {} was asked for as {}: ask for no type, and cast the array",
            layout_of(values).name(),
            layout.name()
        )),
    }
}

/// The message for a type that a column cannot have.
fn other_type(column: &str, format: &[u8]) -> String {
    let format = String::from_utf8_lossy(format);
    format!(
        "a column of {column} was asked for as {}: ask for no type, and cast the array",
        type_name(&format)
    )
}

/// The value of an answer.
fn of<T: Copy>(id: &Id, values: &[Option<T>]) -> Option<T> {
    id.and_then(|id| values[id.get() as usize])
}

/// An array of items of one size.
fn fixed<T: Copy>(
    ids: &[Id],
    values: &[Option<T>],
    format: &'static CStr,
    items: Buffer,
) -> ColumnData {
    let (bits, nulls) = bitmap(ids.len(), |i| of(&ids[i], values).is_some());
    let buffers = vec![bits, Some(Arc::new(items))];
    ColumnData { format, len: ids.len(), nulls, buffers, dictionary: None }
}

/// Integers of the type of a notation.
fn integers<T: Copy + TryInto<i128> + std::fmt::Display>(
    ids: &[Id],
    values: &[Option<T>],
    format: &'static CStr,
) -> Result<ColumnData, String> {
    /// The items, each if it is in the range of the type.
    fn narrowed<T, U>(ids: &[Id], values: &[Option<T>]) -> Result<Vec<U>, String>
    where
        T: Copy + TryInto<i128> + std::fmt::Display,
        U: TryFrom<i128> + Default,
    {
        let narrow = |id: &Id| match of(id, values) {
            None => Ok(U::default()),
            Some(value) => {
                value.try_into().ok().and_then(|wide| U::try_from(wide).ok()).ok_or_else(|| {
                    format!("the answer {value} is out of the range of the type that was asked for")
                })
            }
        };
        ids.iter().map(narrow).collect()
    }
    let items = match format.to_bytes() {
        b"c" => Buffer::I8(narrowed(ids, values)?),
        b"C" => Buffer::Bytes(narrowed(ids, values)?),
        b"s" => Buffer::I16(narrowed(ids, values)?),
        b"S" => Buffer::U16(narrowed(ids, values)?),
        b"i" => Buffer::I32(narrowed(ids, values)?),
        b"I" => Buffer::U32(narrowed(ids, values)?),
        b"l" => Buffer::I64(narrowed(ids, values)?),
        b"L" => Buffer::U64(narrowed(ids, values)?),
        other => return Err(other_type("integers", other)),
    };
    Ok(fixed(ids, values, format, items))
}

/// The ends of items: 32 or 64 bits.
trait End: Copy {
    fn new(end: usize) -> Option<Self>;
    fn buffer(ends: Vec<Self>) -> Buffer;
}

impl End for i32 {
    fn new(end: usize) -> Option<Self> {
        end.try_into().ok()
    }
    fn buffer(ends: Vec<Self>) -> Buffer {
        Buffer::I32(ends)
    }
}

impl End for i64 {
    fn new(end: usize) -> Option<Self> {
        end.try_into().ok()
    }
    fn buffer(ends: Vec<Self>) -> Buffer {
        Buffer::I64(ends)
    }
}

/// Text of the type of a notation.
fn strings(ids: &[Id], texts: &Texts, format: &'static CStr) -> Result<ColumnData, String> {
    let text = |i: usize| ids[i].and_then(|id| texts.get(id.get() as usize));
    match format.to_bytes() {
        b"u" => plain::<i32>(ids.len(), text, format),
        b"U" => plain::<i64>(ids.len(), text, format),
        b"vu" => views(ids.len(), text),
        other => Err(other_type("text", other)),
    }
}

/// The message for answers that a type with ends of 32 bits does not hold.
const TOO_LONG: &str = "the answers have more than 2 GiB of text: look up fewer addresses at a time, or ask for \
    large_string, as in pyarrow.array(column, pyarrow.large_string())";

fn plain<'t, E: End>(
    len: usize,
    text: impl Fn(usize) -> Option<&'t str>,
    format: &'static CStr,
) -> Result<ColumnData, String> {
    let total = (0..len).map(|i| text(i).map_or(0, str::len)).sum();
    E::new(total).ok_or(TOO_LONG)?;
    let (mut ends, mut data) = (Vec::with_capacity(len + 1), Vec::with_capacity(total));
    ends.extend(E::new(0));
    for i in 0..len {
        data.extend_from_slice(text(i).unwrap_or_default().as_bytes());
        ends.extend(E::new(data.len()));
    }
    let (bits, nulls) = bitmap(len, |i| text(i).is_some());
    let buffers = vec![bits, Some(Arc::new(E::buffer(ends))), Some(Arc::new(Buffer::Bytes(data)))];
    Ok(ColumnData { format, len, nulls, buffers, dictionary: None })
}

/// Views: text of at most 12 bytes is in the item, longer text in the buffer.
fn views<'t>(len: usize, text: impl Fn(usize) -> Option<&'t str>) -> Result<ColumnData, String> {
    let (mut items, mut data) = (Vec::with_capacity(len), Vec::new());
    for i in 0..len {
        let text = text(i).unwrap_or_default().as_bytes();
        let mut view = [0; 16];
        view[..4].copy_from_slice(&i32::try_from(text.len()).map_err(|_| TOO_LONG)?.to_ne_bytes());
        if text.len() <= 12 {
            view[4..4 + text.len()].copy_from_slice(text);
        } else {
            view[4..8].copy_from_slice(&text[..4]);
            view[12..]
                .copy_from_slice(&i32::try_from(data.len()).map_err(|_| TOO_LONG)?.to_ne_bytes());
            data.extend_from_slice(text);
        }
        items.push(u128::from_ne_bytes(view));
    }
    let (bits, nulls) = bitmap(len, |i| text(i).is_some());
    let lens = Buffer::I64(vec![data.len() as i64]);
    let buffers = [Buffer::Views(items), Buffer::Bytes(data), lens];
    let buffers = std::iter::once(bits).chain(buffers.map(|buffer| Some(Arc::new(buffer))));
    Ok(ColumnData { format: c"vu", len, nulls, buffers: buffers.collect(), dictionary: None })
}

/// Indices into the strings that the answers use.
fn dictionary(
    ids: &[Id],
    texts: &Texts,
    format: &'static CStr,
    values: &'static CStr,
) -> Result<ColumnData, String> {
    let mut used = Vec::new();
    // Several codes may have the same text.
    let (mut by_code, mut by_text) = (HashMap::new(), HashMap::new());
    let mut index = |id: &Id| -> Option<i32> {
        let code = (*id)?;
        *by_code.entry(code).or_insert_with(|| {
            let text = texts.get(code.get() as usize)?;
            Some(*by_text.entry(text).or_insert_with(|| {
                used.push(Some(code));
                used.len() as i32 - 1
            }))
        })
    };
    let indices: Vec<Option<i32>> = ids.iter().map(&mut index).collect();
    let (bits, nulls) = bitmap(ids.len(), |i| indices[i].is_some());
    let items = Buffer::I32(indices.iter().map(|index| index.unwrap_or_default()).collect());
    let dictionary = Some(Arc::new(strings(&used, texts, values)?));
    Ok(ColumnData {
        format,
        len: ids.len(),
        nulls,
        buffers: vec![bits, Some(Arc::new(items))],
        dictionary,
    })
}
