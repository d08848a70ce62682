//! MaxMind DB files and compiled tables.

use std::io::Write;

use longmatch::file::FileSpec;
use longmatch::table::{Cell, Column, ColumnType, PrefixData};
use longmatch_feed::{Format, Options, load_data_path};

use crate::show::{columns, load_with, rows};
use crate::writer::{Database, Value};

/// A record like those of GeoIP2 City.
fn city(code: &'static str, geoname: u32) -> Value {
    let country = Value::Map(vec![
        ("iso_code", Value::Text(code)),
        ("names", Value::Map(vec![("en", Value::Text("Name")), ("de", Value::Text("Nam\u{e9}"))])),
        ("geoname_id", Value::U32(geoname)),
    ]);
    let region = |code| Value::Map(vec![("iso_code", Value::Text(code))]);
    Value::Map(vec![
        ("country", country),
        ("subdivisions", Value::Array(vec![region("A"), region("B")])),
        ("location", Value::Map(vec![("latitude", Value::F64(-33.5))])),
    ])
}

fn cities(version: u16, size: u16) -> Vec<u8> {
    let database = Database::new(version, size)
        .network("1.0.0.0/24", &city("AU", 7))
        .network("255.255.255.255/32", &city("DE", 8))
        .network("192.0.2.0/25", &city("AU", 7));
    match version {
        4 => database.to_bytes(),
        _ => database
            .network("2001:db8::/32", &city("DE", 8))
            .alias("::ffff:0:0/96")
            .alias("2002::/16")
            .to_bytes(),
    }
}

const AU: &str = "AU|Name|Nam\u{e9}|7|A|-33.5";
const DE: &str = "DE|Name|Nam\u{e9}|8|A|-33.5";

#[test]
fn records_become_columns_named_by_paths() {
    for size in [24, 28, 32] {
        for version in [4, 6] {
            let (data, report) = load_with(&cities(version, size), &Options::default()).unwrap();
            assert_eq!(
                columns(&data),
                "country.iso_code:string country.names.en:string country.names.de:string \
                 country.geoname_id:u64 subdivisions.iso_code:string location.latitude:f64"
            );
            let mut expected = vec![
                format!("1.0.0.0/24 {AU}"),
                format!("192.0.2.0/25 {AU}"),
                format!("255.255.255.255/32 {DE}"),
            ];
            if version == 6 {
                expected.push(format!("2001:db8::/32 {DE}"));
            }
            assert_eq!(rows(&data), expected, "{version} {size}");
            assert_eq!((report.format, &*report.read_as), (Format::Mmdb, "MaxMind DB Test"));
        }
    }
}

#[test]
fn scalars_of_every_type() {
    let record = Value::Map(vec![
        ("text", Value::Text("")),
        ("bytes", Value::Bytes(&[0xab, 1])),
        ("bool", Value::Bool(true)),
        ("u16", Value::U16(u16::MAX)),
        ("u64", Value::U64(u64::MAX)),
        ("small", Value::U128(5)),
        ("large", Value::U128(u128::MAX)),
        ("i32", Value::I32(-5)),
        ("f32", Value::F32(0.1)),
        ("f64", Value::F64(0.1)),
        ("none", Value::Array(vec![])),
        ("list", Value::Array(vec![Value::Array(vec![Value::U16(1)]), Value::U16(2)])),
        ("empty", Value::Map(vec![])),
        ("text", Value::Text("again")),
    ]);
    let file = Database::new(4, 24)
        .network("10.0.0.0/8", &record)
        .network("11.0.0.0/8", &Value::Map(vec![("i32", Value::I32(7))]))
        .to_bytes();
    let (data, _) = load_with(&file, &Options::default()).unwrap();
    assert_eq!(
        columns(&data),
        "text:string bytes:string bool:u64 u16:u64 u64:u64 small:u64 large:string i32:i64 f32:f64 \
         f64:f64 list:u64"
    );
    let max = u128::MAX;
    assert_eq!(
        rows(&data),
        [
            format!("10.0.0.0/8 |ab01|1|65535|18446744073709551615|5|{max}|-5|0.1|0.1|1"),
            "11.0.0.0/8 ~|~|~|~|~|~|~|7|~|~|~".to_owned(),
        ]
    );
    // Records that are scalars themselves.
    let file = Database::new(4, 24).network("10.0.0.0/8", &Value::U32(5)).to_bytes();
    let (data, _) = load_with(&file, &Options::default()).unwrap();
    assert_eq!((columns(&data), rows(&data)), ("value:u64".into(), vec!["10.0.0.0/8 5".into()]));
}

#[test]
fn options_choose_columns() {
    let mut options = Options::default();
    options.columns =
        Some(vec!["location.latitude".parse().unwrap(), "country.iso_code=cc".parse().unwrap()]);
    options.types = vec![("location.latitude".into(), ColumnType::String)];
    let (data, _) = load_with(&cities(4, 24), &options).unwrap();
    assert_eq!(columns(&data), "location.latitude:string cc:string");
    assert_eq!(rows(&data)[0], "1.0.0.0/24 -33.5|AU");
    options.columns = Some(vec!["asn".parse().unwrap()]);
    let error = load_with(&cities(4, 24), &options).unwrap_err().to_string();
    assert!(
        error.contains("no column is named 'asn': the columns are country.iso_code, "),
        "{error}"
    );
}

#[test]
fn compressed_databases_and_tables_load_from_files() {
    let dir = std::env::temp_dir().join(format!("longmatch-data-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let path = dir.join("cities.mmdb.gz");
    let file = std::fs::File::create(&path).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    gzip.write_all(&cities(6, 28)).unwrap();
    gzip.finish().unwrap();
    let (data, report) = load_data_path(&path, &Options::default()).unwrap();
    assert_eq!((data.table().len(), report.rows), (4, 4));
    assert!(report.codec.is_some() && report.input_bytes < report.bytes);
    // As MaxMind publishes them.
    let inner = dir.join("GeoLite2-City_20260101");
    std::fs::create_dir_all(&inner).unwrap();
    for name in ["COPYRIGHT.txt", "LICENSE.txt", "README.txt"] {
        std::fs::write(inner.join(name), "Database and Contents Copyright (c) 2026\n").unwrap();
    }
    std::fs::write(inner.join("GeoLite2-City.mmdb"), cities(6, 28)).unwrap();
    let mut tar = std::process::Command::new("tar");
    let tar = tar.current_dir(&dir).args(["-czf", "city.tar.gz", "GeoLite2-City_20260101"]);
    assert!(tar.status().unwrap().success());
    for lenient in [false, true] {
        let mut options = Options::default();
        options.lenient = lenient;
        let (data, report) = load_data_path(dir.join("city.tar.gz"), &options).unwrap();
        assert_eq!((data.table().len(), report.rows, report.format), (4, 4, Format::Mmdb));
    }
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn compiled_tables_keep_their_types() {
    let names = [
        ("a", ColumnType::U64),
        ("b", ColumnType::I64),
        ("c", ColumnType::F64),
        ("d", ColumnType::String),
        ("e", ColumnType::U64),
    ];
    let list = names.map(|(name, ty)| Column::new(name, ty));
    let mut data = PrefixData::new(list.to_vec()).unwrap();
    let cells = [Cell::U64(1), Cell::I64(2), Cell::F64(3.0), Cell::String("4".into()), Cell::Null];
    for prefix in ["10.0.0.0/8", "2001:db8::/32", "::/0"] {
        data.insert(prefix.parse::<longmatch::IpPrefix>().unwrap(), cells.clone().into()).unwrap();
    }
    let file = FileSpec::default().to_bytes(&data).unwrap();
    let (read, report) = load_with(&file, &Options::default()).unwrap();
    assert_eq!(report.format, Format::Compiled);
    assert_eq!((columns(&read), rows(&read)), (columns(&data), rows(&data)));
    let mut options = Options::default();
    options.columns = Some(vec!["d=x".parse().unwrap(), "1".parse().unwrap()]);
    options.types = vec![("x".into(), ColumnType::U64)];
    let (read, _) = load_with(&file, &options).unwrap();
    assert_eq!((&*columns(&read), &*rows(&read)[0]), ("x:u64 a:u64", "10.0.0.0/8 4|1"));
    let error = load_with(&file[..file.len() - 1], &Options::default()).unwrap_err();
    assert!(error.to_string().contains("(read as a compiled table)"), "{error}");
}
