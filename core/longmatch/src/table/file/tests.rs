//! Files whose bytes the tests make: other versions, and damage that no checksum notices.

#[cfg(all(target_os = "linux", target_endian = "little", not(miri)))]
mod damage;

use super::checksum::xxh64;
use super::layout::{ENTRY, HEADER, NULLS, TEXT};
use super::{FileError, FileSpec, FileTable, memory};
use crate::engine::EngineSpec;
use crate::net::{IpPrefix, Ipv4, Ipv6, Prefix};
use crate::table::{Answers, Cell, Column, ColumnType, PrefixData};

/// Data with rows of every type, long prefixes, and more next hops than codes of 8 bits.
fn data(routes: u32) -> PrefixData {
    let columns = [("site", ColumnType::String), ("asn", ColumnType::U64)];
    let mut data = PrefixData::new(columns.map(|(name, ty)| Column::new(name, ty)).into()).unwrap();
    for i in 0..routes {
        let spread = i.wrapping_mul(0x9e37_79b9);
        let prefix: IpPrefix = match i % 2 {
            0 => {
                let bits = 0x0a00_0000 | spread >> 12;
                Prefix::<Ipv4>::from_bits_masked(bits, 9 + (spread % 24) as u8).into()
            }
            _ => {
                let bits = 0x2001_0db8_u128 << 96
                    | u128::from(spread) << 62
                    | u128::from(spread) << 30
                    | u128::from(i);
                let len = [33, 40, 48, 56, 64, 80, 112, 128][(spread >> 7) as usize % 8];
                Prefix::<Ipv6>::from_bits_masked(bits, len).into()
            }
        };
        let asn = if i % 9 == 0 { Cell::Null } else { Cell::U64((i / 3).into()) };
        let site = Cell::String(std::format!("site {}", i / 5).into());
        data.insert(prefix, [site, asn].into()).unwrap();
    }
    data
}

/// The bytes of a file with these options of Folio.
fn file(data: &PrefixData, ipv4: &str, ipv6: &str, answers: Answers) -> Vec<u8> {
    let spec = |options: &str| std::format!("folio:{options}").parse::<EngineSpec>().unwrap();
    let spec = FileSpec::default().ipv4(spec(ipv4)).ipv6(spec(ipv6)).answers(answers);
    spec.to_bytes(data).unwrap()
}

/// Makes the header's checksum right.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let count = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let covered = [&bytes[..HEADER - 8], &bytes[HEADER..HEADER + count * ENTRY]].concat();
    bytes[HEADER - 8..HEADER].copy_from_slice(&xxh64(&covered).to_le_bytes());
    bytes
}

/// The place of a section in the table of sections.
fn entry(bytes: &[u8], kind: [u8; 4]) -> usize {
    let entries = bytes[HEADER..].as_chunks::<ENTRY>().0;
    HEADER + ENTRY * entries.iter().position(|entry| entry[..4] == kind).unwrap()
}

fn message(opened: Result<FileTable, FileError>) -> String {
    opened.unwrap_err().to_string()
}

/// A file made here and one made on a machine of the other byte order have the same bytes.
#[test]
fn bytes_are_the_same_on_every_machine() {
    let data = data(600);
    let lists = "s=10:codes=16:lists=0:entries=4:flat=no:ahead=no";
    let pages = "s=10:codes=16:lists=none:entries=none:flat=no:ahead=no";
    let entries = "s=12:codes=24:lists=none:entries=0:flat=yes:ahead=yes";
    let wide = "s=12:codes=32:lists=4:entries=4:flat=yes:ahead=no";
    let hashes = [
        file(&data, lists, "codes=8:leaves=lines", Answers::Routes),
        file(&data, pages, "codes=book", Answers::Values),
        file(&data, entries, "codes=16:leaves=minis", Answers::Routes),
        file(&data, wide, "codes=32:leaves=codes", Answers::Values),
    ]
    .map(|bytes| xxh64(&bytes));
    assert_eq!(hashes, GOLDEN, "{hashes:#x?}");
}

/// Checksums of files made by a little-endian machine. A change of the format or of what Folio
/// compiles changes them.
const GOLDEN: [u64; 4] =
    [0xec58_a4b5_b337_9c18, 0x4461_158f_dab6_0b61, 0xb78c_5b80_91e0_feaa, 0x88cb_1029_256a_1c7a];

#[cfg(target_endian = "big")]
#[test]
fn big_endian_machines_do_not_read() {
    let bytes = file(&data(10), "s=8", "codes=16", Answers::Routes);
    assert!(message(FileTable::from_bytes(bytes)).contains("big-endian"));
}

#[cfg(target_endian = "little")]
#[test]
fn unknown_sections_are_ignored_if_they_are_optional() {
    let bytes = file(&data(10), "s=8", "codes=16", Answers::Routes);
    let null = entry(&bytes, NULLS);
    let mut renamed = bytes.clone();
    renamed[null..null + 4].copy_from_slice(b"xtra");
    let error = message(FileTable::from_bytes(sealed(renamed.clone())));
    assert!(error.contains("section 'xtra': this program does not know it"), "{error}");
    renamed[null + 6] = 1;
    let table = FileTable::from_bytes(sealed(renamed)).unwrap();
    // The cells lose their nulls, which the section had.
    let null = |table: &FileTable| table.iter().any(|(_, row)| row.get(1) == Cell::Null);
    assert!(null(&FileTable::from_bytes(bytes).unwrap()) && !null(&table));
}

#[cfg(target_endian = "little")]
#[test]
fn sealed_damage_has_a_message() {
    let bytes = file(&data(40), "s=8:codes=16", "codes=16", Answers::Routes);
    FileTable::from_bytes(sealed(bytes.clone())).unwrap();
    // Entries have the kind, the index, flags, the offset, the length and the checksum.
    let word = |kind: &[u8; 4], at: usize, word: u64, text: &str| {
        let mut damaged = bytes.clone();
        let at = entry(&bytes, *kind) + at;
        damaged[at..at + 8].copy_from_slice(&word.to_le_bytes());
        let error = message(FileTable::from_bytes(sealed(damaged)));
        assert!(error.contains(text), "{text}: {error}");
    };
    word(&TEXT, 8, 1 << 40, "section 'text': it lies outside of the file");
    word(&TEXT, 8, 64, "or in another section");
    word(&TEXT, 16, u64::MAX, "section 'text': it lies outside");
    word(&TEXT, 24, 7, "section 'text' has a wrong checksum");
    word(b"4cod", 8, 1, "section '4cod': it lies outside of the file, or in another");
    // The bytes after a shorter section are not zero; only a trusted file may have such bytes.
    word(b"4roo", 16, 64, "section '4wor': the bytes before it are not zero");
    let trusted = |kind: &[u8; 4], len: u64, text: &str| {
        let mut damaged = bytes.clone();
        let at = entry(&bytes, *kind) + 16;
        damaged[at..at + 8].copy_from_slice(&len.to_le_bytes());
        let error = message(FileTable::over(&memory::copied(&damaged).unwrap(), false));
        assert!(error.contains(text), "{text}: {error}");
    };
    trusted(b"4roo", 64, "the array 'roo' has another length");
    trusted(b"4par", 8, "the array 'par' has too few words");
    trusted(b"6par", 22, "the array 'par' is not a whole number of items");
    trusted(b"prow", 12, "section 'prow': its length is not a whole number of items");
    trusted(b"prow", 8, "section 'prow': it is no packed array of ");
    word(b"6lin", 0, u64::from_le_bytes(*b"6xxx\0\0\0\0"), "the array 'lin' is missing");
    word(b"plen", 0, u64::from_le_bytes(*b"4par\0\0\0\0"), "it exists twice");
    word(b"colm", 0, u64::from_le_bytes(*b"colm\x01\0\0\0"), "section 'colm' 0: it is missing");
    let head = |at: usize, byte: u8, text: &str| {
        let mut damaged = bytes.clone();
        damaged[at] = byte;
        let error = message(FileTable::from_bytes(sealed(damaged)));
        assert!(error.contains(text), "{text}: {error}");
    };
    head(24, 8, "a bit is set that has no meaning");
    head(48, 1, "a bit is set that has no meaning");
    head(44, 250, "section 'soff': it is no packed array of 251 numbers");
    head(40, 3, "it has 4 items for 6");
    head(28, 250, "no packed array of 250 numbers");
    let mut form = bytes.clone();
    let at = entry(&bytes, *b"4eng");
    let offset = u64::from_le_bytes(form[at + 8..at + 16].try_into().unwrap()) as usize;
    form[offset] = b'F';
    let sum = xxh64(&form[offset..offset + "folio".len()]);
    form[at + 24..at + 32].copy_from_slice(&sum.to_le_bytes());
    let error = message(FileTable::from_bytes(sealed(form)));
    assert!(error.contains("engine 'Folio'"), "{error}");
}

/// The rule for IPv4-mapped addresses is a part of the file.
#[cfg(target_endian = "little")]
#[test]
fn mapped_addresses_stay_what_they_are() {
    let mapped: core::net::IpAddr = "::ffff:10.1.2.3".parse().unwrap();
    for keep in [false, true] {
        let table = crate::Table::new();
        let table = if keep { table.keep_mapped() } else { table };
        let mut data = PrefixData::with_table(Vec::new(), table);
        data.insert("10.0.0.0/8".parse::<IpPrefix>().unwrap(), [].into()).unwrap();
        data.insert("::/0".parse::<IpPrefix>().unwrap(), [].into()).unwrap();
        let table = FileTable::from_bytes(FileSpec::default().to_bytes(&data).unwrap()).unwrap();
        let found = table.get_lpm(mapped).unwrap().0.to_string();
        assert_eq!(found, if keep { "::/0" } else { "10.0.0.0/8" });
        let again = table.to_data();
        assert_eq!(again.table().get_lpm(mapped).unwrap().0.to_string(), found);
    }
}

/// A file that changes while it is read is a table of the bytes that were read, or refused.
#[cfg(target_endian = "little")]
#[test]
fn a_file_that_changes_while_it_is_read() {
    let data = data(6);
    let bytes = file(&data, "s=8:codes=16", "codes=16", Answers::Routes);
    let len = bytes.len() as u64;
    let longer = [&bytes[..], &[7; 100]].concat();
    for whole in [&bytes, &longer] {
        let table = FileTable::over(&memory::read(&whole[..], len).unwrap(), true).unwrap();
        let routes = table.iter().map(|(prefix, row)| (prefix, row.get(0).to_owned()));
        assert!(routes.eq(data.table().iter().map(|(prefix, row)| (prefix, row[0].clone()))));
    }
    for found in [0, 7, 63, 64, 65, bytes.len() - 1] {
        let error = memory::read(&bytes[..found], len).err().unwrap().to_string();
        assert!(error.contains(&std::format!("truncated: {found} bytes of ")), "{error}");
    }
    // Nothing is allocated for a length that the first bytes do not state.
    let error = memory::read(&bytes[..], u64::MAX).err().unwrap().to_string();
    assert!(error.contains("the file is longer than it states"), "{error}");
    let error = memory::read(&b"PREFIX,SITE\n"[..], u64::MAX).err().unwrap().to_string();
    assert!(error.contains("magic bytes"), "{error}");
}

/// Bytes of a trusted file that are no text are read as null; other texts stay.
#[cfg(target_endian = "little")]
#[test]
fn text_that_is_not_utf_8_is_null() {
    let data = data(6);
    let mut bytes = file(&data, "s=8:codes=16", "codes=16", Answers::Routes);
    let at = bytes.windows(6).position(|window| window == b"site 1").unwrap();
    bytes[at] = 0xff;
    let table = FileTable::over(&memory::copied(&bytes).unwrap(), false).unwrap();
    for ((_, row), (_, right)) in table.iter().zip(data.table().iter()) {
        let damaged = right[0] == Cell::String("site 1".into());
        let expected = if damaged { Cell::Null } else { right[0].clone() };
        assert_eq!(row.get(0).to_owned(), expected);
    }
    let error = message(FileTable::over(&memory::copied(&bytes).unwrap(), true));
    assert!(error.contains("section 'text' has a wrong checksum"), "{error}");
}

/// A table in the program is read where it lies, or copied to where its arrays are aligned.
#[cfg(target_endian = "little")]
#[test]
fn a_table_in_the_program_is_read_where_it_lies() {
    let bytes = FileSpec::default().to_bytes(&data(100)).unwrap();
    for (shift, copied) in [(0, false), (1, true)] {
        let padded = std::vec![0; bytes.len() + 128].leak();
        let start = padded.as_ptr().align_offset(64) + shift;
        padded[start..][..bytes.len()].copy_from_slice(&bytes);
        let program: &'static [u8] = &padded[start..][..bytes.len()];
        let table = FileTable::from_static(program).unwrap();
        assert!(table.iter().eq(FileTable::from_bytes(&*bytes).unwrap().iter()));
        let Cell::String(site) = table.row_at(0).unwrap().get(0) else { panic!("no text") };
        assert_eq!(program.as_ptr_range().contains(&site.as_ptr()), !copied);
    }
    assert!(FileTable::from_static(b"no table").is_err());
}
