//! The data section of a MaxMind DB: records, in which each text and each inner map is stored once.

use std::collections::HashMap;

use longmatch::table::Cell;

use super::fields::{Map, MmdbType, Node};

/// Types by the numbers of the format.
const POINTER: u8 = 1;
const STRING: u8 = 2;
const DOUBLE: u8 = 3;
const BYTES: u8 = 4;
const UINT16: u8 = 5;
const UINT32: u8 = 6;
const MAP: u8 = 7;
const INT32: u8 = 8;
const UINT64: u8 = 9;
const UINT128: u8 = 10;
const ARRAY: u8 = 11;
const BOOLEAN: u8 = 14;

/// The greatest size of a text, and of a map, that the format can state.
const MAX_SIZE: usize = 65_821 + (1 << 24) - 1;

/// A data section that is written.
#[derive(Default)]
pub(super) struct Records<'a> {
    pub(super) bytes: Vec<u8>,
    /// The offsets of texts.
    texts: HashMap<&'a str, usize>,
    /// The offsets of inner maps, by their number and their cells.
    maps: HashMap<Vec<u8>, usize>,
}

/// The position of the column whose cell does not fit its type.
pub(super) struct Unfit(pub(super) usize);

impl<'a> Records<'a> {
    /// Appends the map of a row and returns its offset.
    pub(super) fn row(
        &mut self,
        map: &'a Map,
        types: &[MmdbType],
        row: &'a [Cell],
    ) -> Result<usize, Unfit> {
        let offset = self.bytes.len();
        self.map(map, types, row)?;
        Ok(offset)
    }

    fn map(&mut self, map: &'a Map, types: &[MmdbType], row: &'a [Cell]) -> Result<(), Unfit> {
        let present = map.entries.iter().filter(|(_, node)| has_cells(node, row));
        control(&mut self.bytes, MAP, present.clone().count());
        for (key, node) in present {
            self.text(key);
            match node {
                Node::Leaf(at) => {
                    self.cell(&row[*at], types[*at]).ok_or(Unfit(*at))?;
                }
                Node::Map(number, map) => {
                    let mut identity = number.to_be_bytes().to_vec();
                    identify(map, row, &mut identity);
                    if let Some(offset) = self.maps.get(&identity) {
                        pointer(&mut self.bytes, *offset);
                        continue;
                    }
                    self.maps.insert(identity, self.bytes.len());
                    self.map(map, types, row)?;
                }
            }
        }
        Ok(())
    }

    /// Appends a text, or a pointer to where it already is.
    fn text(&mut self, text: &'a str) {
        let here = self.bytes.len();
        match self.texts.get(text) {
            Some(offset) if pointer_len(*offset) <= text.len() => pointer(&mut self.bytes, *offset),
            Some(_) => string(&mut self.bytes, text),
            None => {
                self.texts.insert(text, here);
                string(&mut self.bytes, text);
            }
        }
    }

    fn cell(&mut self, cell: &'a Cell, ty: MmdbType) -> Option<()> {
        if let (Cell::String(text), MmdbType::String) = (cell, ty) {
            (text.len() <= MAX_SIZE).then(|| self.text(text))
        } else {
            scalar(&mut self.bytes, cell, ty)
        }
    }
}

/// Whether a value has a cell that is not null.
fn has_cells(node: &Node, row: &[Cell]) -> bool {
    match node {
        Node::Leaf(at) => !matches!(row[*at], Cell::Null),
        Node::Map(_, map) => map.entries.iter().any(|(_, node)| has_cells(node, row)),
    }
}

/// Appends the cells of a map, so that maps with the same bytes are equal.
fn identify(map: &Map, row: &[Cell], out: &mut Vec<u8>) {
    for (_, node) in &map.entries {
        let at = match node {
            Node::Map(_, map) => {
                identify(map, row, out);
                continue;
            }
            Node::Leaf(at) => *at,
        };
        match &row[at] {
            Cell::Null => out.push(0),
            Cell::String(text) => {
                out.push(1);
                out.extend(text.len().to_be_bytes());
                out.extend(text.as_bytes());
            }
            Cell::U64(number) => out.extend([2].iter().chain(&number.to_be_bytes())),
            Cell::I64(number) => out.extend([3].iter().chain(&number.to_be_bytes())),
            Cell::F64(number) => out.extend([4].iter().chain(&number.to_bits().to_be_bytes())),
        }
    }
}

/// Appends a value, if the cell has one of the type.
fn scalar(out: &mut Vec<u8>, cell: &Cell, ty: MmdbType) -> Option<()> {
    match ty {
        MmdbType::String => string(out, &cell.to_string()),
        MmdbType::Double => {
            let number = match cell {
                Cell::F64(number) => *number,
                Cell::U64(number) => exact(i128::from(*number))?,
                Cell::I64(number) => exact(i128::from(*number))?,
                _ => return None,
            };
            control(out, DOUBLE, 8);
            out.extend(number.to_be_bytes());
        }
        MmdbType::Bytes => {
            let Cell::String(text) = cell else { return None };
            let is_hex = text.len() % 2 == 0 && text.bytes().all(|it| it.is_ascii_hexdigit());
            if !is_hex || text.len() / 2 > MAX_SIZE {
                return None;
            }
            control(out, BYTES, text.len() / 2);
            let digit = |byte: u8| (byte as char).to_digit(16).unwrap_or(0) as u8;
            let pairs = text.as_bytes().chunks_exact(2);
            out.extend(pairs.map(|pair| digit(pair[0]) << 4 | digit(pair[1])));
        }
        MmdbType::Uint16 => unsigned(out, UINT16, u16::try_from(natural(cell)?).ok()?.into()),
        MmdbType::Uint32 => unsigned(out, UINT32, u32::try_from(natural(cell)?).ok()?.into()),
        MmdbType::Uint64 => unsigned(out, UINT64, u64::try_from(natural(cell)?).ok()?.into()),
        MmdbType::Uint128 => unsigned(out, UINT128, natural(cell)?),
        MmdbType::Int32 => {
            let number = match cell {
                Cell::U64(number) => i32::try_from(*number).ok()?,
                Cell::I64(number) => i32::try_from(*number).ok()?,
                Cell::String(text) => text.parse().ok()?,
                _ => return None,
            };
            // Without leading zeros, as unsigned integers are.
            unsigned(out, INT32, u128::from(number.cast_unsigned()));
        }
        MmdbType::Boolean => {
            let bit = match cell {
                Cell::U64(bit @ (0 | 1)) => *bit,
                Cell::I64(bit @ (0 | 1)) => bit.unsigned_abs(),
                Cell::String(text) if matches!(&**text, "true" | "1") => 1,
                Cell::String(text) if matches!(&**text, "false" | "0") => 0,
                _ => return None,
            };
            control(out, BOOLEAN, bit as usize);
        }
    }
    Some(())
}

/// An integer that a floating-point number holds.
fn exact(integer: i128) -> Option<f64> {
    let number = integer as f64;
    (number as i128 == integer).then_some(number)
}

/// The unsigned integer of a cell.
fn natural(cell: &Cell) -> Option<u128> {
    match cell {
        Cell::U64(number) => Some((*number).into()),
        Cell::I64(number) => u128::try_from(*number).ok(),
        Cell::String(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
        _ => None,
    }
}

/// Appends an integer without its leading zeros.
fn unsigned(out: &mut Vec<u8>, ty: u8, number: u128) {
    let len = (128 - number.leading_zeros()).div_ceil(8) as usize;
    control(out, ty, len);
    out.extend(&number.to_be_bytes()[16 - len..]);
}

pub(super) fn string(out: &mut Vec<u8>, text: &str) {
    control(out, STRING, text.len());
    out.extend(text.as_bytes());
}

/// Appends the type and the size of a value, which is at most [`MAX_SIZE`].
fn control(out: &mut Vec<u8>, ty: u8, size: usize) {
    let (bits, more) = match size {
        0..29 => (size, 0),
        29..285 => (29, 1),
        285..65_821 => (30, 2),
        _ => (31, 3),
    };
    let rest = size - [0, 29, 285, 65_821][more];
    // Types from 8 on are in a byte of their own.
    if ty <= MAP {
        out.push(ty << 5 | bits as u8);
    } else {
        out.extend([bits as u8, ty - MAP]);
    }
    out.extend(&(rest as u32).to_be_bytes()[4 - more..]);
}

/// The ends of the offsets that pointers of 2, 3 and 4 bytes hold.
const POINTERS: [usize; 3] = [1 << 11, (1 << 11) + (1 << 19), (1 << 11) + (1 << 19) + (1 << 27)];

fn pointer_len(offset: usize) -> usize {
    2 + POINTERS.iter().filter(|end| **end <= offset).count()
}

/// Appends a pointer to an offset of the data section, which has at most 4 GiB.
fn pointer(out: &mut Vec<u8>, offset: usize) {
    let size = pointer_len(offset) - 2;
    let rest = offset - [0, POINTERS[0], POINTERS[1], 0][size];
    let bytes = (rest as u32).to_be_bytes();
    let first = POINTER << 5 | (size as u8) << 3;
    match size {
        3 => {
            out.push(first);
            out.extend(bytes);
        }
        _ => {
            out.push(first | bytes[2 - size]);
            out.extend(&bytes[3 - size..]);
        }
    }
}

/// A value of the metadata.
pub(super) enum Meta<'a> {
    Text(&'a str),
    Uint16(u16),
    Uint32(u32),
    Uint64(u64),
    Array(Vec<Meta<'a>>),
    Map(Vec<(&'a str, Meta<'a>)>),
}

impl Meta<'_> {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Text(text) => string(out, text),
            Self::Uint16(number) => unsigned(out, UINT16, (*number).into()),
            Self::Uint32(number) => unsigned(out, UINT32, (*number).into()),
            Self::Uint64(number) => unsigned(out, UINT64, (*number).into()),
            Self::Array(values) => {
                control(out, ARRAY, values.len());
                values.iter().for_each(|value| value.write(out));
            }
            Self::Map(entries) => {
                control(out, MAP, entries.len());
                for (key, value) in entries {
                    string(out, key);
                    value.write(out);
                }
            }
        }
    }
}
