//! Joined files, for inputs of every kind of format.

use std::fs;
use std::path::PathBuf;

use longmatch::file::FileSpec;
use longmatch::table::ColumnType;
use longmatch_feed::{ListEntries, Options, compress, read_list};

use crate::common::load_with as load_routes;
use crate::show::{columns, load_with, rows};
use crate::writer::{Database, Value};

/// A file that is removed with the value.
struct Side(PathBuf);

impl Side {
    fn new(name: &str, content: impl AsRef<[u8]>) -> Self {
        let name = format!("longmatch-join-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::write(&path, content).unwrap();
        Self(path)
    }

    /// The options that join the file.
    fn options(&self, columns: &str) -> Options {
        let mut options = Options::default();
        options.joins = vec![format!("{columns}={}", self.0.display()).parse().unwrap()];
        options
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

const SIDE: &str = "rank;id;name\n3;7;seven\n01;8;eight\n;;none\n4;9;\n";

/// Inputs of 10.0.0.0/16 with 7, 10.1.0.0/16 with 8 and 10.2.0.0/16 with 1, and their columns.
fn inputs() -> Vec<(Vec<u8>, &'static str)> {
    let record = |id| Value::Map(vec![("place", Value::Map(vec![("id", Value::U32(id))]))]);
    let mmdb = Database::new(4, 24)
        .network("10.0.0.0/16", &record(7))
        .network("10.1.0.0/16", &record(8))
        .network("10.2.0.0/16", &record(1));
    let csv = "network,id\n10.0.0.0/16,7\n10.1.0.0/16,8\n10.2.0.0/16,1\n";
    let table = load_with(csv.as_bytes(), &Options::default()).unwrap().0;
    let json = r#"[{"net":"10.0.0.0/16","id":7},{"net":"10.1.0.0/16","id":8},{"net":"10.2.0.0/16","id":1}]"#;
    let dump = "TABLE_DUMP2|1|B|192.0.2.1|1|10.0.0.0/16|1 7|IGP|192.0.2.1|0|0||NAG||\n\
                TABLE_DUMP2|1|B|192.0.2.1|1|10.1.0.0/16|1 8|IGP|192.0.2.1|0|0||NAG||\n\
                TABLE_DUMP2|1|B|192.0.2.1|1|10.2.0.0/16|1|IGP|192.0.2.1|0|0||NAG||\n";
    vec![
        (csv.into(), "id"),
        (csv.replace(',', "\t").into(), "2:id"),
        (json.into(), "id"),
        ("10.0.0.0/16 7\n10.1.0.0/16 8\n10.2.0.0/16 1\n".into(), "next_hop:id"),
        (dump.into(), "origin_as:id"),
        (FileSpec::default().to_bytes(&table).unwrap(), "id"),
        (mmdb.to_bytes(), "place.id:id"),
    ]
}

#[test]
fn rows_of_every_format_are_joined() {
    let side = Side::new("plain.csv", SIDE);
    for (input, column) in inputs() {
        let mut options = side.options(column);
        let (data, report) = load_with(&input, &options).unwrap();
        let ends: Vec<_> =
            rows(&data).iter().map(|row| row.split_once('|').unwrap().1.to_owned()).collect();
        assert_eq!(ends, ["3|seven", "01|eight", "~|~"], "{column}");
        assert!(columns(&data).ends_with(" rank:string name:string"), "{}", columns(&data));
        assert_eq!(report.unjoined, 1, "{column}");
        assert!(report.warnings()[0].starts_with("1 key has no row"), "{:?}", report.warnings());

        options.columns = Some(["name=label", "rank"].map(|it| it.parse().unwrap()).into());
        options.types = vec![("rank".to_owned(), ColumnType::U64)];
        let (data, _) = load_with(&input, &options).unwrap();
        assert_eq!(columns(&data), "label:string rank:u64", "{column}");
        assert_eq!(rows(&data), ["10.0.0.0/16 seven|3", "10.1.0.0/16 eight|1", "10.2.0.0/16 ~|~"]);

        let mut options = side.options(column);
        for (cell, prefix) in [("eight", "10.1.0.0/16"), ("", "10.2.0.0/16")] {
            options.filters = vec![("name".to_owned(), cell.to_owned())];
            let (data, _) = load_with(&input, &options).unwrap();
            assert!(rows(&data).len() == 1 && rows(&data)[0].starts_with(prefix), "{column}");
            let set = read_list(&input[..], None, &options, ListEntries::default()).unwrap().0;
            assert_eq!((set.ipv4.len(), set.ipv4[0].to_string()), (1, ranges(prefix)), "{column}");
            options.value =
                column.starts_with("origin").then_some(longmatch_feed::RouteValue::OriginAs);
            let (routes, _) = load_routes(&input, &options).unwrap();
            assert!(routes.lines().len() == 1 && routes.lines()[0].starts_with(prefix), "{column}");
        }
        options.filters = vec![("nothing".to_owned(), String::new())];
        let error = load_with(&input, &options).map(|(data, _)| rows(&data));
        assert!(error.is_err() || column == "place.id:id", "{column}: {error:?}");
        let error = load_with(&input, &side.options("nothing:id")).unwrap_err().to_string();
        assert!(error.contains("no column is named 'nothing'"), "{column}: {error}");
    }
}

/// A prefix as a range.
fn ranges(prefix: &str) -> String {
    longmatch::set::AddressRange::from(
        prefix.parse::<longmatch::Prefix<longmatch::Ipv4>>().unwrap(),
    )
    .to_string()
}

#[test]
fn joined_columns_are_keys_of_later_files() {
    let packed = compress(longmatch_feed::Codec::Gzip, SIDE.as_bytes()).unwrap();
    let (first, second) =
        (Side::new("a.csv.gz", packed), Side::new("b.csv", "\u{feff}name\tid\nseven\t70\n"));
    let mut options = first.options("id");
    options.joins.extend(second.options("name").joins);
    let (data, report) =
        load_with(b"network,id\n10.0.0.0/16,7\n10.1.0.0/16,8\n", &options).unwrap();
    assert_eq!(columns(&data), "id:u64 rank:string name:string id_2:u64");
    assert_eq!(rows(&data), ["10.0.0.0/16 7|3|seven|70", "10.1.0.0/16 8|01|eight|~"]);
    assert_eq!(report.unjoined, 1);
    // A list has no columns, also where only its addresses are read.
    let error = read_list(&b"10.0.0.0/16\n"[..], None, &options, ListEntries::default());
    assert!(error.unwrap_err().to_string().contains("no column is named 'id'"));
    let mut options = Options::default();
    options.filters = vec![("id".to_owned(), "1".to_owned())];
    assert!(read_list(&b"10.0.0.0/16\n"[..], None, &options, ListEntries::default()).is_err());
}
