//! The arguments of `longmatch set`.

use std::path::PathBuf;

use clap::{Arg, Args, Subcommand, ValueEnum, value_parser};
use longmatch::IpPrefix;

use super::compile::ColumnArgs;
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
    /// Print the smallest set of prefixes that covers exactly these addresses
    #[command(after_help = help::SET_AGGREGATE, mut_arg("duplicates", hidden))]
    Aggregate(AggregateArgs),
    /// Print the addresses that any list has
    #[command(after_help = help::SET_UNION, mut_arg("duplicates", hidden))]
    Union(CombineArgs<1>),
    /// Print the addresses common to all lists
    #[command(after_help = help::SET_INTERSECT, mut_arg("duplicates", hidden))]
    Intersect(CombineArgs<2>),
    /// Print the addresses of the first list that no other list has
    #[command(after_help = help::SET_DIFFERENCE, mut_arg("duplicates", hidden))]
    Difference(CombineArgs<2>),
    /// Print the addresses that no list has
    #[command(after_help = help::SET_COMPLEMENT, mut_arg("duplicates", hidden))]
    Complement(ComplementArgs),
    /// Print pairs of prefixes, one of each list, where one covers the other
    #[command(after_help = help::SET_OVERLAPS, mut_arg("duplicates", hidden))]
    Overlaps(OverlapsArgs),
    /// Print each prefix of a list, and whether another list covers it fully, partly or not
    #[command(after_help = help::SET_COVERED, mut_arg("duplicates", hidden))]
    Covered(CoveredArgs),
    /// Count the addresses that each pair of lists has in common
    #[command(after_help = help::SET_MATRIX, mut_arg("duplicates", hidden))]
    Matrix(MatrixArgs),
    /// Print the prefixes of files of any format with all their columns
    #[command(after_help = help::SET_DUMP)]
    Dump(DumpArgs),
    /// Print the routes that differ between two tables
    #[command(after_help = help::SET_DIFF)]
    Diff(DiffArgs),
    /// Print the addresses of the lists as prefixes of one length
    #[command(after_help = help::SET_SPLIT, mut_arg("duplicates", hidden))]
    Split(SplitArgs),
    /// Count the addresses of the lists
    #[command(after_help = help::SET_COUNT, mut_arg("duplicates", hidden))]
    Count(CountArgs),
}

/// An option that does not apply to sets of addresses; it is refused with the reason.
fn hidden(option: Arg) -> Arg {
    option.hide(true)
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
#[derive(Args, Clone, Debug, Default)]
pub struct FormArgs {
    /// The form of the output [default: prefixes]
    ///
    /// prefixes     one prefix a line
    /// ranges       one range 'first-last' a line
    /// hosts        prefixes; single addresses without /32 and /128
    /// ipset        input of 'ipset restore': the sets NAME4 and NAME6
    /// nft          input of 'nft -f': the sets NAME4 and NAME6 of the table NAME
    /// iptables     input of 'iptables-restore -n' and 'ip6tables-restore -n': the chain NAME
    /// prefix-list  Cisco 'ip prefix-list' and 'ipv6 prefix-list'
    #[arg(
        long,
        value_name = "FORM",
        value_enum,
        hide_possible_values = true,
        conflicts_with_all = ["ranges", "json"],
        verbatim_doc_comment
    )]
    pub form: Option<FormArg>,

    /// The name of the set [default: longmatch]
    ///
    /// For --form ipset, nft, iptables and prefix-list.
    #[arg(long, value_name = "NAME", value_parser = set_name, requires = "form")]
    pub name: Option<String>,

    /// Print ranges 'first-last' instead of prefixes
    #[arg(long)]
    pub ranges: bool,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// `--form`.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FormArg {
    /// Prefixes.
    #[default]
    Prefixes,
    /// Ranges.
    Ranges,
    /// Prefixes, and addresses without a length.
    Hosts,
    /// Input of `ipset restore`.
    Ipset,
    /// Input of `nft -f`.
    Nft,
    /// Input of `iptables-restore` and `ip6tables-restore`.
    Iptables,
    /// Cisco's prefix lists.
    PrefixList,
}

/// Parses a name that all programs take: chains of iptables have at most 28 bytes.
fn set_name(text: &str) -> Result<String, &'static str> {
    let rest = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    match text.as_bytes() {
        [b'a'..=b'z' | b'A'..=b'Z', others @ ..] if others.len() < 28 => {
            others.iter().all(|byte| rest(*byte)).then(|| text.to_owned())
        }
        _ => None,
    }
    .ok_or("expected a letter and at most 27 letters, digits, '_', '-' or '.'")
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
    /// The output has all addresses of the lists. Each prefix longer than N bits is replaced by
    /// the prefix of N bits around it, which adds addresses; the number of added addresses is
    /// printed on standard error.
    #[arg(long, value_name = "N", value_parser = value_parser!(u8).range(0..=128), verbatim_doc_comment)]
    pub max_length: Option<u8>,

    /// Round out IPv4 prefixes to at most N bits
    #[arg(long, value_name = "N", value_parser = value_parser!(u8).range(0..=32))]
    pub max_length4: Option<u8>,

    /// Round out IPv6 prefixes to at most N bits
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
    /// The list of the prefixes on the left, '-' for standard input
    #[arg(value_name = "A")]
    pub left: PathBuf,

    /// The list of the prefixes on the right
    #[arg(value_name = "B")]
    pub right: PathBuf,

    /// How they are read.
    #[command(flatten)]
    pub read: SetReadArgs,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// `longmatch set covered`.
#[derive(Args, Debug)]
pub struct CoveredArgs {
    /// The list of the prefixes to print, '-' for standard input
    #[arg(value_name = "A")]
    pub list: PathBuf,

    /// The list that may cover them
    #[arg(value_name = "B")]
    pub by: PathBuf,

    /// Print only these prefixes: full, partly, not
    #[arg(long, value_enum, value_name = "HOW", hide_possible_values = true)]
    pub only: Option<Coverage>,

    /// How they are read.
    #[command(flatten)]
    pub read: SetReadArgs,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// How much of a prefix a list covers.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Coverage {
    /// All addresses.
    Full,
    /// Some addresses.
    Partly,
    /// No address.
    Not,
}

/// `longmatch set matrix`.
#[derive(Args, Debug)]
pub struct MatrixArgs {
    /// Lists, '-' for standard input
    #[arg(value_name = "FILE", required = true, num_args = 2..)]
    pub files: Vec<PathBuf>,

    /// How they are read.
    #[command(flatten)]
    pub read: SetReadArgs,

    /// Print one JSON object a line, for each pair of lists
    #[arg(long)]
    pub json: bool,
}

/// `longmatch set dump`.
#[derive(Args, Debug)]
pub struct DumpArgs {
    /// The files.
    #[command(flatten)]
    pub lists: ListArgs,

    /// The columns.
    #[command(flatten)]
    pub columns: ColumnArgs,

    /// Print CSV with a header row
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,

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
    /// Only the prefix of each line counts, as for the other operations of 'set'.
    #[arg(long, conflicts_with_all = ["columns", "types"], verbatim_doc_comment)]
    pub prefixes: bool,

    /// The columns that are compared.
    #[command(flatten)]
    pub columns: ColumnArgs,

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

    /// The form of the output.
    #[command(flatten)]
    pub form: FormArgs,
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
