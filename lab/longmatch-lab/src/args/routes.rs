//! The routes, common to all commands.

use clap::Args;
use longmatch_cli::args::SourceArgs;

use super::values::Split;

/// Routes, which may be made a synthetic table.
#[derive(Args, Clone, Debug, Default)]
pub struct RoutesArgs {
    /// The source.
    #[command(flatten)]
    pub source: SourceArgs,

    /// Split IPv4 prefixes into parts: syn1, syn2
    ///
    /// Makes the synthetic tables of the Poptrie paper (section 4.1), larger than real ones.
    #[arg(long, value_enum, value_name = "SYN", hide_possible_values = true)]
    pub split: Option<Split>,
}
