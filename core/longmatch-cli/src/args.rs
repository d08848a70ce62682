//! Command line: commands, options and their help texts.

mod annotate;
mod bench;
mod candidates;
mod compile;
mod engines;
mod forward;
mod install;
mod lookup;
mod replay;
mod report;
mod rov;
mod set;
mod source;
mod values;

use clap::{Args, Parser, Subcommand};

use self::values::simd_choice;
use crate::default_table::VERSION;
use crate::help;

pub use self::annotate::AnnotateArgs;
#[cfg(feature = "columnar")]
pub use self::annotate::Compression;
pub use self::bench::BenchArgs;
pub use self::compile::{AnswersArg, ColumnArgs, CompileArgs};
pub use self::engines::{EngineArgs, EngineChoice, default_memory};
#[cfg(any(all(target_os = "linux", target_pointer_width = "64"), feature = "dpdk"))]
pub use self::forward::Bypass;
#[cfg(feature = "dpdk")]
pub use self::forward::Generate;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub use self::forward::XdpMode;
pub use self::forward::{ForwardArgs, ForwardQuestion, Io};
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub use self::forward::{RouteArgs, RouteGetArgs, RouteQuestion};
pub use self::install::{CompletionsArgs, ManArgs};
pub use self::lookup::LookupArgs;
pub use self::replay::ReplayArgs;
pub use self::report::{ReportArgs, ReportFormat};
pub use self::rov::{RovArgs, RovState};
pub use self::set::{
    AggregateArgs, ComplementArgs, CountArgs, Coverage, CoveredArgs, DiffArgs, DumpArgs, FormArg,
    FormArgs, ListArgs, MatrixArgs, OverlapsArgs, SetArgs, SetCommand, SetReadArgs, SplitArgs,
};
pub use self::source::{FamilyArgs, FileOption, ReadArgs, RoutesArgs, SourceArgs};
pub use self::values::{Keys, Mode, SimdChoice, Split, Traffic, names};

/// Longest-prefix match for IPv4 and IPv6 addresses, checked and measured.
#[derive(Parser, Debug)]
#[command(name = "longmatch", version, long_version = VERSION, after_help = help::TOP)]
pub struct Cli {
    /// The command; `None` runs the demonstration.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Find the longest prefix that matches an address, and its next hop or columns
    #[command(after_help = help::LOOKUP)]
    Lookup(LookupArgs),
    /// Compile prefixes and their columns into a table file, ready to be mapped
    #[command(after_help = help::COMPILE)]
    Compile(CompileArgs),
    /// Add columns of prefix data to CSV, NDJSON or text, or filter lines by their addresses
    #[command(after_help = help::ANNOTATE)]
    Annotate(AnnotateArgs),
    /// Describe a table: prefix lengths, next hops, overlap, memory of each engine
    #[command(after_help = help::STAT)]
    Stat(StatArgs),
    /// Check the answers of the routing table and of all engines on every address
    #[command(after_help = help::VERIFY)]
    Verify(VerifyArgs),
    /// Check the answers and measure lookup rates
    #[command(after_help = help::BENCH)]
    Bench(BenchArgs),
    /// Replay updates of a table while readers look up, and measure both
    #[command(after_help = help::REPLAY)]
    Replay(ReplayArgs),
    /// Reproduce the papers' tables and figures on this machine, as one page
    #[command(after_help = help::REPORT)]
    Report(ReportArgs),
    /// Forward packets by the routes of the kernel, or from captures into captures
    #[command(after_help = help::FORWARD)]
    Forward(ForwardArgs),
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

/// `longmatch stat`.
#[derive(Args, Debug)]
pub struct StatArgs {
    /// The routes.
    #[command(flatten)]
    pub routes: RoutesArgs,

    /// The families.
    #[command(flatten)]
    pub families: FamilyArgs,

    /// The engines.
    #[command(flatten)]
    pub engines: EngineArgs,

    /// Print JSON: one object and line for each family
    #[arg(long)]
    pub json: bool,
}

/// `longmatch verify`.
#[derive(Args, Debug)]
pub struct VerifyArgs {
    /// The routes.
    #[command(flatten)]
    pub routes: RoutesArgs,

    /// The families.
    #[command(flatten)]
    pub families: FamilyArgs,

    /// The engines.
    #[command(flatten)]
    pub engines: EngineArgs,

    /// SIMD level: portable, scalar, avx2, avx512, all
    ///
    /// Looks up every IPv4 address at this level; 'all' stands for each level in turn. By
    /// default the CPU's best level looks up every address, and the other levels look up some
    /// addresses of every range.
    #[arg(
        long,
        value_name = "LEVEL",
        value_parser = simd_choice(),
        hide_possible_values = true,
        verbatim_doc_comment
    )]
    pub simd: Option<SimdChoice>,

    /// Test every range of addresses instead of every IPv4 address
    ///
    /// Looks up both ends, the middle and some random addresses of each range between prefix
    /// boundaries. This takes seconds, where all IPv4 addresses take minutes. The structures
    /// are checked in full in either case.
    #[arg(long, verbatim_doc_comment)]
    pub quick: bool,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
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
