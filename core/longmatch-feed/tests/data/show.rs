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

/// The error of a load with default options that must fail, as text.
#[track_caller]
pub fn error(input: &str) -> String {
    match load_with(input.as_bytes(), &Options::default()) {
        Ok((data, _)) => panic!("{input:?} has {:?}", rows(&data)),
        Err(error) => error.to_string(),
    }
}
