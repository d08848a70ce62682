//! Command line: commands, options and their help texts.

mod annotate;
mod candidates;
mod compile;
mod export;
mod install;
mod lookup;
mod rov;
mod set;
mod source;
mod values;

use clap::{Parser, Subcommand};

use crate::default_table::VERSION;
use crate::help;

pub(crate) use self::annotate::AnnotateArgs;
#[cfg(feature = "columnar")]
pub(crate) use self::annotate::Compression;
pub(crate) use self::compile::{AnswersArg, ColumnArgs, CompileArgs};
pub use self::install::{CompletionsArgs, ManArgs};
pub(crate) use self::lookup::LookupArgs;
pub(crate) use self::rov::{RovArgs, RovState};
pub(crate) use self::set::{
    AggregateArgs, ComplementArgs, CountArgs, Coverage, CoveredArgs, DiffArgs, DumpArgs, FormArg,
    FormArgs, ListArgs, MatrixArgs, OverlapsArgs, SetArgs, SetCommand, SetReadArgs, SplitArgs,
};
pub use self::source::{CellArgs, FamilyArgs, FileOption, FirstRow, ReadArgs, RowArgs, SourceArgs};
pub(crate) use self::values::names;
pub use self::values::{at_most, count, seconds, size, threads, unsupported};

/// Longest-prefix match for IPv4 and IPv6 addresses.
#[derive(Parser, Debug)]
#[command(name = "longmatch", version, long_version = VERSION, after_help = help::TOP)]
pub(crate) struct Cli {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Find the longest prefix that matches an address, and its next hop or columns
    #[command(after_help = help::LOOKUP)]
    Lookup(LookupArgs),
    /// Compile prefixes and their columns into a table file, a MaxMind DB or disjoint ranges
    #[command(after_help = help::COMPILE)]
    Compile(Box<CompileArgs>),
    /// Add columns of prefix data to CSV, NDJSON or text, or filter lines by their addresses
    #[command(after_help = help::ANNOTATE)]
    Annotate(Box<AnnotateArgs>),
    /// Combine and compare lists of prefixes: aggregate, union, difference, diff, count
    #[command(after_help = help::SET)]
    Set(SetArgs),
    /// Validate the origins of routes against the VRPs of the RPKI
    #[command(
        after_help = help::ROV,
        mut_arg("value", |option| option.hide(true)),
        mut_arg("duplicates", |option| option.hide(true))
    )]
    Rov(RovArgs),
    /// Print the completion script of a shell
    #[command(after_help = help::COMPLETIONS)]
    Completions(CompletionsArgs),
    /// Print the manual page of a command, or write the pages of all
    #[command(after_help = help::MAN)]
    Man(ManArgs),
    /// Print the licences of longmatch and of its tables
    #[command(alias = "licenses", after_help = help::LICENCES)]
    Licences,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }
}
