//! The header and the table of sections. `docs/format.md` describes all bytes.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use hashbrown::HashSet;

use super::checksum::xxh64;
use super::error::{FileError, FileErrorKind, VERSION};

/// The first bytes of every file. Like those of PNG they show a transfer as text: a high bit, both
/// ends of lines, the end of a file in DOS.
pub(super) const MAGIC: [u8; 8] = *b"\x89LMT\r\n\x1a\n";
/// Bytes of the header.
pub(super) const HEADER: usize = 64;
/// Bytes of an entry of the table of sections.
pub(super) const ENTRY: usize = 32;
/// Sections begin, and the file ends, at multiples of this: a cache line.
pub(super) const ALIGN: usize = 64;
/// Long sections begin at multiples of this: a page, so that two of them share none.
pub(super) const PAGE: usize = 4096;
/// The length from which on a section is long.
pub(super) const LONG: usize = 1 << 16;

/// Flag of the header: ids identify routes, not rows.
const ROUTES: u32 = 1;
/// Flag of the header: IPv4-mapped IPv6 addresses are IPv6 ones.
const KEEP_MAPPED: u32 = 2;
/// Flag of a section: a reader that does not know its kind ignores it.
const OPTIONAL: u16 = 1;

/// The kind of content of a section.
pub(super) type SectionKind = [u8; 4];

/// Prefixes of IPv4 routes, in order: a packed array.
pub(super) const PREFIXES4: SectionKind = *b"4pre";
/// Upper halves of the prefixes of IPv6 routes, in order: a packed array.
pub(super) const PREFIXES6: SectionKind = *b"6pre";
/// Lower halves of the same prefixes: a packed array.
pub(super) const LOWER6: SectionKind = *b"6low";
/// Lengths of the prefixes, IPv4 first: a packed array.
pub(super) const LENGTHS: SectionKind = *b"plen";
/// Rows of the routes, IPv4 first: a packed array.
pub(super) const ROWS: SectionKind = *b"prow";
/// Types and names of the columns.
pub(super) const COLUMNS: SectionKind = *b"colm";
/// Cells of a column: a packed array.
pub(super) const CELLS: SectionKind = *b"cell";
/// Which cells of a column of numbers are null.
pub(super) const NULLS: SectionKind = *b"null";
/// Where the strings begin, and where the last one ends: a packed array.
pub(super) const STRINGS: SectionKind = *b"soff";
/// The bytes of all strings.
pub(super) const TEXT: SectionKind = *b"text";
/// The form of the engine of a family; its arrays have the same first byte.
pub(super) const FORM: [u8; 3] = *b"eng";

/// The kinds without arrays of engines.
const KNOWN: [SectionKind; 10] =
    [PREFIXES4, PREFIXES6, LOWER6, LENGTHS, ROWS, COLUMNS, CELLS, NULLS, STRINGS, TEXT];

/// The header's facts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Header {
    pub routes: bool,
    pub keep_mapped: bool,
    /// Number of distinct rows.
    pub rows: u32,
    pub ipv4: u32,
    pub ipv6: u32,
    pub columns: u32,
    /// Number of distinct strings.
    pub strings: u32,
}

/// An entry of the table of sections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Section {
    pub kind: SectionKind,
    /// Number of the column.
    pub index: u16,
    pub flags: u16,
    pub offset: usize,
    pub len: usize,
    pub checksum: u64,
}

impl Section {
    pub fn range(&self) -> Range<usize> {
        self.offset..self.offset + self.len
    }

    /// The section in messages.
    pub fn name(&self) -> String {
        let kind = self.kind.escape_ascii();
        match self.kind {
            CELLS | NULLS => format!("section '{kind}' of column {}", self.index),
            _ => format!("section '{kind}'"),
        }
    }

    fn is_known(&self) -> bool {
        // Every section of a family but the prefixes belongs to its engine.
        KNOWN.contains(&self.kind) || matches!(self.kind[0], b'4' | b'6')
    }
}

/// The header and the table of sections, as bytes.
pub(super) fn encode(header: Header, sections: &[Section], file_len: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + ENTRY * sections.len());
    let flag = |on: bool, flag: u32| if on { flag } else { 0 };
    let flags = flag(header.routes, ROUTES) | flag(header.keep_mapped, KEEP_MAPPED);
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((sections.len() as u32).to_le_bytes());
    bytes.extend((file_len as u64).to_le_bytes());
    for word in [flags, header.rows, header.ipv4, header.ipv6, header.columns, header.strings] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.resize(HEADER, 0);
    for section in sections {
        bytes.extend(section.kind);
        bytes.extend(section.index.to_le_bytes());
        bytes.extend(section.flags.to_le_bytes());
        for word in [section.offset as u64, section.len as u64, section.checksum] {
            bytes.extend(word.to_le_bytes());
        }
    }
    let checksum = xxh64(&checked(&bytes));
    bytes[HEADER - 8..HEADER].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

/// The bytes that the header's checksum covers: all of header and table but itself.
fn checked(bytes: &[u8]) -> Vec<u8> {
    [&bytes[..HEADER - 8], &bytes[HEADER..]].concat()
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().map_or(0, |word| u32::from_le_bytes(*word))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
}

/// Verifies the magic bytes, the version and the length of a file that begins with `start` and has
/// `found` bytes: at least a header. The rest of the file need not be read for it.
pub(super) fn verify_start(start: &[u8], found: u64) -> Result<(), FileError> {
    if !MAGIC.starts_with(&start[..start.len().min(MAGIC.len())]) {
        return Err(FileErrorKind::NotLongmatch.into());
    }
    let least = found.min(start.len() as u64);
    if least < HEADER as u64 {
        return Err(FileErrorKind::Truncated { expected: HEADER as u64, found: least }.into());
    }
    let version = u32_at(start, 8);
    if version != VERSION {
        return Err(FileErrorKind::Version { found: version }.into());
    }
    match u64_at(start, 16) {
        expected if found < expected => Err(FileErrorKind::Truncated { expected, found }.into()),
        expected if found > expected => {
            Err(FileError::structure("the header", "the file is longer than it states"))
        }
        _ => Ok(()),
    }
}

/// Reads and verifies the header and the table of sections.
///
/// Sections lie inside of the file, in order, without overlapping. `check` also verifies the
/// checksum, and that the bytes between the sections are zero.
pub(super) fn decode(file: &[u8], check: bool) -> Result<(Header, Vec<Section>), FileError> {
    verify_start(file, file.len() as u64)?;
    let wrong = |what: &str| FileError::structure("the header", what);
    let count = u32_at(file, 12) as usize;
    let end = HEADER.saturating_add(count.saturating_mul(ENTRY));
    if end > file.len() || !file.len().is_multiple_of(ALIGN) {
        return Err(wrong("its length or its number of sections is impossible"));
    }
    if check && xxh64(&checked(&file[..end])) != u64_at(file, HEADER - 8) {
        return Err(FileErrorKind::Checksum { section: "the header".into() }.into());
    }
    let flags = u32_at(file, 24);
    if flags & !(ROUTES | KEEP_MAPPED) != 0 || u64_at(file, 48) != 0 {
        return Err(wrong("a bit is set that has no meaning in this version"));
    }
    let header = Header {
        routes: flags & ROUTES != 0,
        keep_mapped: flags & KEEP_MAPPED != 0,
        rows: u32_at(file, 28),
        ipv4: u32_at(file, 32),
        ipv6: u32_at(file, 36),
        columns: u32_at(file, 40),
        strings: u32_at(file, 44),
    };
    let sections = sections(&file[HEADER..end], file, end, check)?;
    Ok((header, sections))
}

/// Reads the table of sections, which ends at `end`.
fn sections(
    table: &[u8],
    file: &[u8],
    mut end: usize,
    check: bool,
) -> Result<Vec<Section>, FileError> {
    let mut sections: Vec<Section> = Vec::new();
    let mut names = HashSet::new();
    let zero = |gap: Range<usize>| !check || file[gap].iter().all(|byte| *byte == 0);
    for entry in table.as_chunks::<ENTRY>().0 {
        let [k0, k1, k2, k3, i0, i1, f0, f1, ..] = *entry;
        let (offset, len) = (u64_at(entry, 8), u64_at(entry, 16));
        let section = Section {
            kind: [k0, k1, k2, k3],
            index: u16::from_le_bytes([i0, i1]),
            flags: u16::from_le_bytes([f0, f1]),
            offset: usize::try_from(offset).unwrap_or(usize::MAX),
            len: usize::try_from(len).unwrap_or(usize::MAX),
            checksum: u64_at(entry, 24),
        };
        let wrong = |what: &str| FileError::structure(section.name(), what);
        let after = section.offset.checked_add(section.len).filter(|after| *after <= file.len());
        let Some(after) = after.filter(|_| section.offset >= end) else {
            return Err(wrong("it lies outside of the file, or in another section"));
        };
        if !section.offset.is_multiple_of(ALIGN) {
            return Err(wrong("it does not begin at a multiple of 64"));
        }
        if !section.is_known() && section.flags & OPTIONAL == 0 {
            return Err(wrong("this program does not know it, and may not ignore it"));
        }
        if !zero(end..section.offset) {
            return Err(wrong("the bytes before it are not zero"));
        }
        if !names.insert((section.kind, section.index)) {
            return Err(wrong("it exists twice"));
        }
        end = after;
        sections.push(section);
    }
    match zero(end..file.len()) {
        true => Ok(sections),
        false => Err(FileError::structure("the end of the file", "its bytes are not zero")),
    }
}
