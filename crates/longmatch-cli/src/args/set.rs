//! The arguments of `longmatch set`.

use std::path::PathBuf;

use clap::{Args, Subcommand, value_parser};
use longmatch::IpPrefix;

use super::source::{FamilyArgs, ReadArgs};
use crate::help;

/// `longmatch set`.
#[derive(Args, Debug)]
pub struct SetArgs {
    /// The operation.
    #[command(subcommand)]
    pub command: SetCommand,
}

/// The operations on lists.
#[derive(Subcommand, Debug)]
pub enum SetCommand {
    /// Print the fewest prefixes that have the addresses of the lists
    #[command(after_help = help::SET_AGGREGATE)]
    Aggregate(AggregateArgs),
    /// Print the addresses that any list has
    #[command(after_help = help::SET_UNION)]
    Union(CombineArgs<1>),
    /// Print the addresses that all lists have
    #[command(after_help = help::SET_INTERSECT)]
    Intersect(CombineArgs<2>),
    /// Print the addresses of the first list that no other list has
    #[command(after_help = help::SET_DIFFERENCE)]
    Difference(CombineArgs<2>),
    /// Print the addresses that no list has
    #[command(after_help = help::SET_COMPLEMENT)]
    Complement(ComplementArgs),
    /// Print the prefixes of two lists that cover each other
    #[command(after_help = help::SET_OVERLAPS)]
    Overlaps(OverlapsArgs),
    /// Print the routes that differ between two tables
    #[command(after_help = help::SET_DIFF)]
    Diff(DiffArgs),
    /// Print the addresses of the lists in prefixes of one length
    #[command(after_help = help::SET_SPLIT)]
    Split(SplitArgs),
    /// Count the addresses of the lists
    #[command(after_help = help::SET_COUNT)]
    Count(CountArgs),
}

/// How lists are read: common to all operations.
#[derive(Args, Clone, Debug, Default)]
pub struct SetReadArgs {
    /// The options of all commands.
    #[command(flatten)]
    pub source: ReadArgs,

    /// The families.
    #[command(flatten)]
    pub families: FamilyArgs,
}

/// How a set is printed.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct FormArgs {
    /// Print ranges 'first-last' instead of prefixes
    #[arg(long)]
    pub ranges: bool,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// Lists that are read as one.
#[derive(Args, Clone, Debug, Default)]
pub struct ListArgs {
    /// Lists, '-' for standard input [default: -]
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// How they are read.
    #[command(flatten)]
    pub read: SetReadArgs,
}

/// `longmatch set aggregate`.
#[derive(Args, Debug)]
pub struct AggregateArgs {
    /// The lists.
    #[command(flatten)]
    pub lists: ListArgs,

    /// Round out to prefixes of at most N bits, of both families
    ///
    /// Prints the fewest prefixes of at most N bits that have all addresses of the lists and
    /// as few others as possible. Their number is printed on standard error.
    #[arg(long, value_name = "N", value_parser = value_parser!(u8).range(0..=128), verbatim_doc_comment)]
    pub max_length: Option<u8>,

    /// The same for IPv4 only
    #[arg(long, value_name = "N", value_parser = value_parser!(u8).range(0..=32))]
    pub max_length4: Option<u8>,

    /// The same for IPv6 only
    #[arg(long, value_name = "N", value_parser = value_parser!(u8).range(0..=128))]
    pub max_length6: Option<u8>,

    /// The form of the output.
    #[command(flatten)]
    pub form: FormArgs,
}

/// `longmatch set union`, `intersect` and `difference`, of at least `N` lists.
#[derive(Args, Debug)]
pub struct CombineArgs<const N: usize> {
    /// Lists, '-' for standard input
    #[arg(value_name = "FILE", required = true, num_args = N..)]
    pub files: Vec<PathBuf>,

    /// How they are read.
    #[command(flatten)]
    pub read: SetReadArgs,

    /// The form of the output.
    #[command(flatten)]
    pub form: FormArgs,
}

/// `longmatch set complement`.
#[derive(Args, Debug)]
pub struct ComplementArgs {
    /// The lists.
    #[command(flatten)]
    pub lists: ListArgs,

    /// Print addresses of this prefix only; may be repeated
    ///
    /// By default all addresses of the families that the lists have, or of the family that
    /// -4 or -6 names.
    #[arg(long, value_name = "PREFIX", verbatim_doc_comment)]
    pub within: Vec<IpPrefix>,

    /// The form of the output.
    #[command(flatten)]
    pub form: FormArgs,
}

/// `longmatch set overlaps`.
#[derive(Args, Debug)]
pub struct OverlapsArgs {
    /// The list whose prefixes stand on the left, '-' for standard input
    #[arg(value_name = "A")]
    pub left: PathBuf,

    /// The list whose prefixes stand on the right
    #[arg(value_name = "B")]
    pub right: PathBuf,

    /// How they are read.
    #[command(flatten)]
    pub read: SetReadArgs,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// `longmatch set diff`.
#[derive(Args, Debug)]
pub struct DiffArgs {
    /// The table before, '-' for standard input
    #[arg(value_name = "OLD")]
    pub old: PathBuf,

    /// The table after
    #[arg(value_name = "NEW")]
    pub new: PathBuf,

    /// Compare lists of prefixes without values
    ///
    /// Reads lists as the other operations of 'set' do: only the prefix of a line counts.
    #[arg(long, verbatim_doc_comment)]
    pub prefixes: bool,

    /// Print the numbers of differences only
    #[arg(long)]
    pub stat: bool,

    /// How the tables are read.
    #[command(flatten)]
    pub read: SetReadArgs,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// `longmatch set split`.
#[derive(Args, Debug)]
pub struct SplitArgs {
    /// The lists.
    #[command(flatten)]
    pub lists: ListArgs,

    /// Length of the IPv4 prefixes
    #[arg(
        long,
        value_name = "N",
        required_unless_present = "length6",
        value_parser = value_parser!(u8).range(0..=32)
    )]
    pub length4: Option<u8>,

    /// Length of the IPv6 prefixes
    #[arg(long, value_name = "N", value_parser = value_parser!(u8).range(0..=128))]
    pub length6: Option<u8>,

    /// Refuse to print more prefixes than this
    #[arg(long, value_name = "N", default_value_t = 1 << 24)]
    pub limit: u64,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// `longmatch set count`.
#[derive(Args, Debug)]
pub struct CountArgs {
    /// The lists.
    #[command(flatten)]
    pub lists: ListArgs,

    /// Print JSON: one object and line for each family
    #[arg(long)]
    pub json: bool,
}
