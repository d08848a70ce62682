//! The bytes of a file.

use alloc::string::String;
use alloc::vec::Vec;

use hashbrown::HashMap;

use super::checksum::xxh64;
use super::error::{FileError, FileErrorKind};
use super::layout::{
    ALIGN, CELLS, COLUMNS, ENTRY, FORM, HEADER, Header, LENGTHS, LONG, LOWER6, NULLS, PAGE,
    PREFIXES4, PREFIXES6, ROWS, STRINGS, Section, SectionKind, TEXT, encode,
};
use super::packed::pack;
use crate::engine::image::SLACK;
use crate::engine::images::OwnedImage;
use crate::net::NextHopId;
use crate::table::{Cell, Column, ColumnType, PrefixData, Row};

/// The most columns: sections number them.
const MAX_COLUMNS: usize = 1 << 16;

/// The content of a section.
pub(super) struct Piece {
    kind: SectionKind,
    index: u16,
    bytes: Vec<u8>,
    /// Zero bytes that follow at least.
    slack: usize,
}

impl Piece {
    fn new(kind: SectionKind, bytes: Vec<u8>) -> Self {
        // Arrays have a word behind the last item.
        Self { kind, index: 0, bytes, slack: size_of::<u32>() }
    }
}

/// The sections of an engine's image, of a family's digit.
pub(super) fn image(digit: u8, image: OwnedImage) -> impl Iterator<Item = Piece> {
    let of = move |name: [u8; 3]| [digit, name[0], name[1], name[2]];
    let form = Piece::new(of(FORM), image.form.into());
    let array = move |(name, bytes)| Piece { slack: SLACK, ..Piece::new(of(name), bytes) };
    [form].into_iter().chain(image.arrays.into_iter().map(array))
}

/// The distinct rows of the routes, numbered by their first use.
pub(super) struct RowNumbers<'a> {
    pub rows: Vec<&'a Row>,
    /// The number of a value's row plus one, by the value's id.
    by_id: Vec<u32>,
}

impl<'a> RowNumbers<'a> {
    pub fn of(data: &'a PrefixData) -> Self {
        let table = data.table();
        let mut numbers = Self { rows: Vec::new(), by_id: Vec::new() };
        let ids = table.ipv4.iter().map(|route| route.next_hop);
        for id in ids.chain(table.ipv6.iter().map(|route| route.next_hop)) {
            let at = id.get() as usize;
            if numbers.by_id.len() <= at {
                numbers.by_id.resize(at + 1, 0);
            }
            if numbers.by_id[at] == 0
                && let Some(row) = table.values.get(id)
            {
                numbers.rows.push(row);
                numbers.by_id[at] = numbers.rows.len() as u32;
            }
        }
        numbers
    }

    /// The number of a value's row, plus one.
    pub fn number(&self, id: NextHopId) -> NextHopId {
        let number = self.by_id.get(id.get() as usize).copied();
        number.and_then(NextHopId::new).expect("a route's value has a row")
    }
}

/// The sections of the routes.
pub(super) fn routes(data: &PrefixData, numbers: &RowNumbers<'_>) -> Vec<Piece> {
    let table = data.table();
    let row = |id| u64::from(numbers.number(id).get() - 1);
    let mut pieces = Vec::new();
    // One array at a time: each takes eight bytes a route until it is packed.
    let mut piece = |kind, ipv4: Vec<u64>, ipv6: Vec<u64>| {
        let numbers = [ipv4, ipv6].concat();
        pieces.push(Piece::new(kind, pack(&numbers)));
    };
    let (ipv4, ipv6) = (&table.ipv4, &table.ipv6);
    let bits = ipv4.iter().map(|route| route.prefix.bits().into()).collect();
    piece(PREFIXES4, bits, Vec::new());
    let upper = ipv6.iter().map(|route| (route.prefix.bits() >> 64) as u64).collect();
    piece(PREFIXES6, Vec::new(), upper);
    let lower = ipv6.iter().map(|route| route.prefix.bits() as u64).collect();
    piece(LOWER6, Vec::new(), lower);
    piece(
        LENGTHS,
        ipv4.iter().map(|route| route.prefix.len().into()).collect(),
        ipv6.iter().map(|route| route.prefix.len().into()).collect(),
    );
    piece(
        ROWS,
        ipv4.iter().map(|route| row(route.next_hop)).collect(),
        ipv6.iter().map(|route| row(route.next_hop)).collect(),
    );
    pieces
}

/// Strings, each once, numbered by their first use.
#[derive(Default)]
struct Strings<'a> {
    numbers: HashMap<&'a str, u32>,
    text: String,
    offsets: Vec<u64>,
}

impl<'a> Strings<'a> {
    fn number(&mut self, string: &'a str) -> u32 {
        let next = self.offsets.len() as u32;
        *self.numbers.entry(string).or_insert_with(|| {
            self.offsets.push(self.text.len() as u64);
            self.text.push_str(string);
            next
        })
    }
}

/// The sections of columns and rows, and the number of distinct strings.
///
/// # Errors
/// When there are too many columns or strings.
pub(super) fn values<'a>(
    columns: &'a [Column],
    rows: &[&'a Row],
) -> Result<(Vec<Piece>, u32), FileError> {
    if columns.len() > MAX_COLUMNS {
        let limit = MAX_COLUMNS as u64;
        return Err(FileErrorKind::Limit { what: "columns", limit }.into());
    }
    let mut strings = Strings::default();
    let mut heads = Vec::new();
    for Column { name, ty } in columns {
        heads.extend(type_number(*ty).to_le_bytes());
        heads.extend(strings.number(name).to_le_bytes());
    }
    let mut pieces = alloc::vec![Piece::new(COLUMNS, heads)];
    for (index, column) in columns.iter().enumerate() {
        let mut cells = Vec::with_capacity(rows.len());
        let mut nulls = alloc::vec![0u8; rows.len().div_ceil(8)];
        for (i, row) in rows.iter().enumerate() {
            cells.push(match &row[index] {
                Cell::Null if column.ty == ColumnType::String => 0,
                Cell::String(text) => u64::from(strings.number(text)) + 1,
                Cell::U64(number) => *number,
                Cell::I64(number) => number.cast_unsigned(),
                Cell::F64(number) => number.to_bits(),
                Cell::Null => {
                    nulls[i / 8] |= 1 << (i % 8);
                    0
                }
            });
        }
        let index = index as u16;
        pieces.push(Piece { index, ..Piece::new(CELLS, pack(&cells)) });
        if nulls.iter().any(|byte| *byte != 0) {
            pieces.push(Piece { index, ..Piece::new(NULLS, nulls) });
        }
    }
    let Strings { numbers, text, mut offsets } = strings;
    if numbers.len() >= u32::MAX as usize {
        let limit = u32::MAX.into();
        return Err(FileErrorKind::Limit { what: "distinct strings", limit }.into());
    }
    offsets.push(text.len() as u64);
    pieces.extend([Piece::new(STRINGS, pack(&offsets)), Piece::new(TEXT, text.into())]);
    Ok((pieces, numbers.len() as u32))
}

/// The number of a type.
fn type_number(ty: ColumnType) -> u32 {
    match ty {
        ColumnType::String => 1,
        ColumnType::U64 => 2,
        ColumnType::I64 => 3,
        ColumnType::F64 => 4,
    }
}

/// The type with a number.
pub(super) fn type_of(number: u32) -> Option<ColumnType> {
    use ColumnType::{F64, I64, String, U64};
    [String, U64, I64, F64].into_iter().find(|ty| type_number(*ty) == number)
}

/// The whole file.
pub(super) fn file(header: Header, pieces: &[Piece]) -> Vec<u8> {
    let mut end = HEADER + ENTRY * pieces.len();
    let mut sections = Vec::with_capacity(pieces.len());
    for Piece { kind, index, bytes, slack } in pieces {
        let offset = end.next_multiple_of(if bytes.len() < LONG { ALIGN } else { PAGE });
        let (len, checksum) = (bytes.len(), xxh64(bytes));
        let (kind, index) = (*kind, *index);
        sections.push(Section { kind, index, flags: 0, offset, len, checksum });
        end = offset + len + slack;
    }
    let mut file = Vec::with_capacity(end.next_multiple_of(ALIGN));
    file.extend(encode(header, &sections, end.next_multiple_of(ALIGN)));
    for (Section { offset, .. }, piece) in sections.iter().zip(pieces) {
        file.resize(*offset, 0);
        file.extend(&piece.bytes);
    }
    file.resize(end.next_multiple_of(ALIGN), 0);
    file
}
