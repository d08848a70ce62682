//! Command line: commands, options and their help texts.

mod bench;
mod engines;
mod replay;
mod report;
mod routes;
mod values;

use clap::{Args, Parser, Subcommand};
use longmatch_cli::args::{CompletionsArgs, FamilyArgs, ManArgs};

use self::values::simd_choice;
use crate::help;

pub use self::bench::BenchArgs;
pub use self::engines::{EngineArgs, EngineChoice, default_memory};
pub use self::replay::ReplayArgs;
pub use self::report::{ReportArgs, ReportFormat};
pub use self::routes::RoutesArgs;
pub use self::values::{Keys, Mode, SimdChoice, Split, TrafficChoice};

/// Check and measure longest-prefix match for IPv4 and IPv6 addresses.
#[derive(Parser, Debug)]
#[command(name = "longmatch-lab", version, after_help = help::TOP)]
pub struct Cli {
    /// The command; `None` runs the demonstration.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
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

/// `longmatch-lab stat`.
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

/// `longmatch-lab verify`.
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
    /// Looks up every IPv4 address at this level; 'all' means each level in turn. By
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
