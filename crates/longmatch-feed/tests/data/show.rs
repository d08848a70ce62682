//! Prefix data as lines of text.

use longmatch::table::PrefixData;
use longmatch_feed::{FeedError, Options, Report, load_data_bytes};

/// `name:type` of each column, separated by spaces.
pub fn columns(data: &PrefixData) -> String {
    let one = |column: &longmatch::table::Column| format!("{}:{}", column.name, column.ty);
    data.columns().iter().map(one).collect::<Vec<_>>().join(" ")
}

/// `prefix cell|cell` for each prefix, in order; null is `~`.
pub fn rows(data: &PrefixData) -> Vec<String> {
    let row = |row: &longmatch::table::Row| {
        let cells = row.iter().map(|cell| match cell.ty() {
            None => "~".to_owned(),
            Some(_) => cell.to_string(),
        });
        cells.collect::<Vec<_>>().join("|")
    };
    data.table().iter().map(|(prefix, value)| format!("{prefix} {}", row(value))).collect()
}

/// Loads bytes with these options.
pub fn load_with(bytes: &[u8], options: &Options) -> Result<(PrefixData, Report), FeedError> {
    load_data_bytes(bytes, Some("input"), options)
}

/// Checks the columns and rows of an input, loaded with these options.
#[track_caller]
pub fn check_with(input: &str, options: &Options, header: &str, expected: &[&str]) {
    let (data, _) =
        load_with(input.as_bytes(), options).unwrap_or_else(|error| panic!("{input:?}: {error}"));
    assert_eq!((columns(&data), rows(&data)), (header.to_owned(), strings(expected)), "{input:?}");
}

/// Checks the format, columns and rows of an input, loaded with default options.
#[track_caller]
pub fn check(input: &str, format: &str, header: &str, expected: &[&str]) {
    let options = Options::default();
    let (data, report) =
        load_with(input.as_bytes(), &options).unwrap_or_else(|error| panic!("{input:?}: {error}"));
    assert_eq!((columns(&data), rows(&data)), (header.to_owned(), strings(expected)), "{input:?}");
    assert_eq!(report.read_as, format, "{input:?}");
}

fn strings(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

/// The error of a load that must fail, as text.
#[track_caller]
pub fn error_with(input: &str, options: &Options) -> String {
    match load_with(input.as_bytes(), options) {
        Ok((data, _)) => panic!("{input:?} has {:?}", rows(&data)),
        Err(error) => error.to_string(),
    }
}

/// The error of a load with default options that must fail, as text.
#[track_caller]
pub fn error(input: &str) -> String {
    error_with(input, &Options::default())
}
