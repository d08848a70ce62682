//! The default table, which answers where no table is named: origin AS and its name, for both families. It is a compiled
//! table in the program's own bytes; docs/decisions/0024-the-default-table.md has the reasons.

use longmatch::file::FileTable;

use crate::error::CliError;
use crate::output::warn;

/// Bytes that begin at a page, as arrays of compiled tables are to be read.
#[repr(C, align(4096))]
struct Aligned<B: ?Sized>(B);

static TABLE: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/asn.lm")));

/// What messages call the table.
pub const NAME: &str = "the default table";

/// The versions of the program and of the table.
pub const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ndefault table: origin AS and name of ",
    env!("LONGMATCH_TABLE_DATE"),
    " (@ip-location-db/asn ",
    env!("LONGMATCH_TABLE_VERSION"),
    ")"
);

/// The bytes of the table.
pub fn bytes() -> &'static [u8] {
    &TABLE.0
}

/// Opens the table.
///
/// # Errors
/// On a machine whose numbers are big-endian.
pub fn open() -> Result<FileTable, CliError> {
    FileTable::from_static(bytes()).map_err(|error| CliError::input(NAME, error))
}

/// Says on standard error what answers, and how old it is.
pub fn notice() {
    warn(concat!(
        "the default table answers: the origin AS of ",
        env!("LONGMATCH_TABLE_DATE"),
        " (RouteViews, DB-IP.com, NRO; CC BY 4.0); name others with --routes or --table"
    ));
}
