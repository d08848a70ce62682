//! Every error has its code.

use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use super::*;
use crate::net::NextHopId;
use crate::simd::Level;
use crate::table::{Cell, Column, ColumnType};

/// Numbers and names that never change, each with an error of its kind that holds no other one.
fn promised() -> Vec<(u32, &'static str, ErrorCode)> {
    let (engine, family, name) = ("sail", "IPv6", "asn".to_string());
    let column = Column::new("asn", ColumnType::U64);
    let id = NextHopId::new(1).unwrap();
    let option = OptionError { engine, option: "x".into(), expected: "s" };
    vec![
        (101, "prefix_length", PrefixError::Length { len: 33, max: 32 }.code()),
        (102, "host_bits", PrefixError::HostBits { len: 8 }.code()),
        (103, "not_an_address", ParsePrefixError::Address.code()),
        (104, "missing_length", ParsePrefixError::MissingLength.code()),
        (105, "length_not_a_number", ParsePrefixError::Length.code()),
        (
            106,
            "max_length",
            MaxLengthError { prefix: "10.0.0.0/8".parse().unwrap(), max_length: 33 }.code(),
        ),
        (201, "routes_full", RibFull { limit: 1 }.code()),
        (202, "next_hops_full", NextHopsFull { limit: 1 }.code()),
        (203, "column_name", ColumnError::Name { name: name.clone() }.code()),
        (204, "row_width", ColumnError::Width { cells: 1, columns: 2 }.code()),
        (205, "cell_type", ColumnError::Type { column, cell: Cell::I64(1) }.code()),
        (206, "missing_row", ColumnError::Row { id, rows: 0 }.code()),
        (301, "unknown_engine", UnknownEngine { name }.code()),
        (302, "engine_option", option.code()),
        (
            303,
            "next_hop_too_large",
            CompileError::NextHopTooLarge { engine, id: 1, limit: 0 }.code(),
        ),
        (304, "too_many", CompileError::TooMany { engine, what: "nodes", limit: 0 }.code()),
        (305, "engine_family", CompileError::Family { engine, family }.code()),
        (306, "not_compiled", CompileError::NotCompiled { engine }.code()),
        (307, "no_engine", CompileError::NoEngine { family }.code()),
        (
            308,
            "no_engine_in_memory",
            CompileError::Memory { limit: 1, smallest: engine, bytes: 2 }.code(),
        ),
        (309, "memory_limit", CompileError::TooLarge { engine, limit: 1, bytes: 2 }.code()),
        (310, "out_of_memory", CompileError::Allocation { engine, bytes: 1 }.code()),
        (311, "corrupt", Corrupt::new(engine, "x").code()),
        (321, "unknown_level", UnknownLevel.code()),
        (322, "unsupported_level", Unsupported { level: Level::Avx512 }.code()),
        (401, "retired_memory", UpdateError::Retired { bytes: 2, limit: 1 }.code()),
        // The system cannot be made to start no thread.
        (402, "no_thread", ErrorCode::NoThread),
        (403, "families_refused", Refused { ipv4: None, ipv6: None }.code()),
    ]
}

#[cfg(feature = "file")]
fn promised_of_files() -> Vec<(u32, &'static str, ErrorCode)> {
    use FileErrorKind as Kind;
    let (section, what) = ("text".to_string(), "x".to_string());
    let not_found = Kind::Io { doing: "read it", error: ErrorKind::NotFound.into() };
    [
        (501, "io", not_found),
        (502, "not_longmatch", Kind::NotLongmatch),
        (503, "file_version", Kind::Version { found: 1 }),
        (504, "truncated", Kind::Truncated { expected: 2, found: 1 }),
        (505, "checksum", Kind::Checksum { section: section.clone() }),
        (506, "file_structure", Kind::Structure { section, what }),
        (507, "no_image", Kind::NoImage { engine: "sail".into() }),
        (508, "file_limit", Kind::Limit { what: "rows", limit: 1 }),
        (509, "big_endian", Kind::BigEndian),
    ]
    .map(|(number, name, kind)| (number, name, FileError::from(kind).code()))
    .into()
}

/// So no two kinds of errors share a code, and no code is without an error.
#[test]
fn every_kind_of_error_has_the_promised_number_and_name() {
    let promised = promised();
    #[cfg(feature = "file")]
    let promised = [promised, promised_of_files()].concat();
    let all = ErrorCode::ALL.iter().filter(|it| cfg!(feature = "file") || it.number() < 500);
    assert!(all.map(|it| (it.number(), it.as_str(), *it)).eq(promised.iter().copied()));
    assert!(promised.iter().all(|it| ErrorCode::from_number(it.0) == Some(it.2)));
    assert_eq!(ErrorCode::from_number(0), None);
}

#[test]
fn errors_have_the_codes_of_those_that_they_hold() {
    let prefix = PrefixError::HostBits { len: 8 };
    assert_eq!(ParsePrefixError::Prefix(prefix).code(), ErrorCode::HostBits);
    assert_eq!(ColumnError::Table(InsertError::Prefix(prefix)).code(), ErrorCode::HostBits);
    let full = UpdateError::Full(RibFull { limit: 1 });
    let option = OptionError { engine: "sail", option: "x".into(), expected: "s" };
    let option = UpdateError::Limit(CompileError::Option(option));
    let commit = |ipv4: Option<&UpdateError>, ipv6: Option<&UpdateError>| {
        Refused { ipv4: ipv4.cloned(), ipv6: ipv6.cloned() }.code()
    };
    assert_eq!(commit(Some(&full), None), ErrorCode::RoutesFull);
    assert_eq!(commit(None, Some(&option)), ErrorCode::EngineOption);
    assert_eq!(commit(Some(&full), Some(&full)), ErrorCode::RoutesFull);
    assert_eq!(commit(Some(&full), Some(&option)), ErrorCode::FamiliesRefused);
}
