//! Options of `longmatch lookup`.

use clap::Args;

use super::{FamilyArgs, RoutesArgs};

/// `longmatch lookup`.
#[derive(Args, Debug)]
pub struct LookupArgs {
    /// Addresses to look up, or '-' for one address a line from standard input
    ///
    /// Addresses may have a port, brackets, a zone id and quotes. Empty lines and lines that
    /// begin with '#' are skipped. Standard input may be compressed with gzip, bzip2, zstd or xz.
    #[arg(verbatim_doc_comment, required = true, value_name = "ADDR")]
    pub queries: Vec<String>,

    /// The routes.
    #[command(flatten)]
    pub routes: RoutesArgs,

    /// The families.
    #[command(flatten)]
    pub families: FamilyArgs,

    /// Print every matching prefix, shortest first, one line each
    #[arg(short, long)]
    pub all: bool,

    /// Skip lines and arguments without an address, and report them at the end
    ///
    /// A line that is not an address, such as that of a log, is searched for its first address,
    /// which is printed without its port and zone id.
    #[arg(long, verbatim_doc_comment)]
    pub skip_invalid: bool,

    /// Exit with 0 also if an address has no match
    #[arg(long)]
    pub exit_zero: bool,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}
