//! Options of `longmatch lookup`.

use clap::Args;

use super::candidates::columns;
use super::source::{FamilyArgs, SourceArgs};

/// `longmatch lookup`.
#[derive(Args, Debug)]
pub struct LookupArgs {
    /// Addresses or prefixes to look up; '-' reads one from each line of standard input
    ///
    /// Addresses may have a port, brackets, a zone id and quotes. A prefix such as 192.0.2.0/24
    /// must have no host bits; --mask clears them. Empty lines and lines that begin with '#' are
    /// skipped. Standard input may be compressed with gzip, bzip2, zstd or xz.
    #[arg(verbatim_doc_comment, required = true, value_name = "ADDR|PREFIX")]
    pub queries: Vec<String>,

    /// The routes.
    #[command(flatten)]
    pub routes: SourceArgs,

    /// The families.
    #[command(flatten)]
    pub families: FamilyArgs,

    /// Print every prefix that covers the query, shortest first
    #[arg(short, long)]
    pub all: bool,

    /// Print every prefix inside the query, in order
    ///
    /// A prefix equal to the query counts, as it does with --all. 0.0.0.0/0 and ::/0 print all
    /// prefixes of a family.
    #[arg(long, conflicts_with = "all", verbatim_doc_comment)]
    pub more_specific: bool,

    /// Print only these columns, in this order [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',', add = columns())]
    pub add: Vec<String>,

    /// Print a first line with the names of the columns
    #[arg(long, conflicts_with = "json")]
    pub header: bool,

    /// Print CSV with a header
    ///
    /// A cell is empty if the value is null; all cells are empty if no prefix matches.
    #[arg(long, conflicts_with = "json", verbatim_doc_comment)]
    pub csv: bool,

    /// Skip arguments and lines without an address or prefix
    ///
    /// In a line that is neither an address nor a prefix, such as a line of a log, the first
    /// address is looked up; it is printed without its port and zone id. The number of skipped
    /// lines is reported at the end.
    #[arg(long, verbatim_doc_comment)]
    pub skip_invalid: bool,

    /// Exit 0 even if a query has no match
    #[arg(long)]
    pub exit_zero: bool,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}
