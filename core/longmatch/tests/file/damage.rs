//! Damaged files are refused, each with a message that says where.

use longmatch::file::{FileErrorKind, FileSpec, FileTable};
use longmatch::table::{Cell, Column, ColumnType, PrefixData};
use longmatch::{EngineSpec, IpPrefix};

use crate::common::quick;
use crate::data::Numbers;
use crate::same::tempdir;

/// A small file with every section but those of a table of next hops.
pub fn small() -> Vec<u8> {
    let columns = vec![
        Column::new("site", ColumnType::String),
        Column::new("asn", ColumnType::U64),
        Column::new("balance", ColumnType::F64),
    ];
    let mut data = PrefixData::new(columns).unwrap();
    let prefixes = ["10.0.0.0/8", "10.9.0.0/16", "10.9.1.128/26", "2001:db8::/32", "2001:db8::/49"];
    for (i, prefix) in prefixes.iter().enumerate() {
        let balance = if i == 2 { Cell::Null } else { Cell::F64(i as f64) };
        let row = [Cell::String(format!("site {i}").into()), Cell::U64(i as u64), balance];
        data.insert(prefix.parse::<IpPrefix>().unwrap(), row.into()).unwrap();
    }
    let root: EngineSpec = "folio:s=8:codes=8".parse().unwrap();
    FileSpec::default().ipv4(root).to_bytes(&data).unwrap()
}

#[test]
fn every_truncation_is_refused() {
    let bytes = small();
    for len in 0..bytes.len() {
        let error = FileTable::from_bytes(&bytes[..len]).unwrap_err();
        let kind = error.kind();
        assert!(matches!(kind, FileErrorKind::Truncated { found, .. } if *found == len as u64));
        assert!(error.to_string().contains("truncated"), "{error}");
    }
    let longer = [&bytes[..], &[0; 64]].concat();
    let error = FileTable::from_bytes(longer).unwrap_err().to_string();
    assert!(error.contains("longer than it states"), "{error}");
}

/// No two errors of different kinds of damage are alike; every flipped bit is noticed.
#[test]
fn flipped_bits_are_refused() {
    let bytes = small();
    FileTable::from_bytes(&*bytes).unwrap();
    let flips = if quick() { 2_000 } else { 100_000 };
    let mut numbers = Numbers::new(20);
    let mut damaged = bytes.clone();
    let mut kinds = [0; 4];
    for _ in 0..flips {
        let bit = numbers.below(8 * bytes.len() as u64) as usize;
        damaged[bit / 8] ^= 1 << (bit % 8);
        let error = match FileTable::from_bytes(&*damaged) {
            Ok(_) => panic!("bit {} of byte {} is not noticed", bit % 8, bit / 8),
            Err(error) => error,
        };
        kinds[match error.kind() {
            FileErrorKind::Checksum { .. } => 0,
            FileErrorKind::Structure { .. } => 1,
            FileErrorKind::NotLongmatch | FileErrorKind::Version { .. } => 2,
            FileErrorKind::Truncated { .. } | FileErrorKind::NoImage { .. } => 3,
            other => panic!("{other:?} for a flipped bit"),
        }] += 1;
        damaged[bit / 8] ^= 1 << (bit % 8);
    }
    // The bits of the first words are few, but each kind of damage has occurred.
    assert!(kinds.iter().all(|count| *count > 0), "{kinds:?}");
}

#[test]
fn files_say_what_is_wrong_with_them() {
    let dir = tempdir("wrong");
    let path = dir.join("table.lm");
    let opened = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let error = FileTable::open(&path).unwrap_err();
        let trusted = FileTable::open_trusted(&path).map(drop).map_err(|error| error.to_string());
        assert_eq!(error.path(), Some(&*path));
        (error.to_string(), trusted)
    };
    let bytes = small();
    let (error, trusted) = opened(b"");
    assert!(error.contains("table.lm: truncated: 0 bytes of 64"), "{error}");
    assert!(trusted.is_err());
    let (error, _) = opened(b"PREFIX,SITE\n10.0.0.0/8,office\n");
    assert!(error.contains("magic bytes of a longmatch table"), "{error}");
    let mut newer = bytes.clone();
    newer[8] = 4;
    let (error, trusted) = opened(&newer);
    assert!(error.contains("version 4") && error.contains("knows version 3"), "{error}");
    assert!(trusted.is_err());
    // The header of an empty file of version 1; its sections are not read.
    let old = [&bytes[..8], &1u32.to_le_bytes(), &19u32.to_le_bytes(), &[0; 48]].concat();
    for (error, trusted) in [opened(&old), opened(&[&old[..], &bytes[64..]].concat())] {
        let right = "version 1 of the format, which is older than version 3";
        assert!(error.contains(right) && error.contains("`longmatch compile`"), "{error}");
        assert_eq!(trusted.map_err(|trusted| trusted == error), Err(true));
    }
    // A bit of the text: only the checksum knows.
    let text = bytes.windows(6).rposition(|window| window == b"site 4").unwrap();
    let mut wrong = bytes.clone();
    wrong[text] ^= 1;
    let (error, trusted) = opened(&wrong);
    assert!(error.contains("section 'text' has a wrong checksum"), "{error}");
    assert_eq!(trusted, Ok(()));
    // A bit between two sections.
    let mut wrong = bytes.clone();
    *wrong.last_mut().unwrap() ^= 1;
    assert!(opened(&wrong).0.contains("its bytes are not zero"));
    let error = FileTable::open(dir.join("nothing.lm")).unwrap_err().to_string();
    assert!(error.contains("nothing.lm: cannot open the file"), "{error}");
    std::fs::remove_dir_all(dir).unwrap();
}
