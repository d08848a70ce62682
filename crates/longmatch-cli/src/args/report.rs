//! The arguments of `longmatch report`.

use std::path::PathBuf;

use clap::Args;

use super::RoutesArgs;

/// `longmatch report`.
#[derive(Args, Debug)]
pub struct ReportArgs {
    /// The tables: each file is one of its own.
    #[command(flatten)]
    pub routes: RoutesArgs,

    /// Measure changes with updates from FILE; may be repeated
    ///
    /// As of 'longmatch replay'. They are those of the first table with routes of their family.
    #[arg(short = 'u', long = "updates", value_name = "FILE")]
    pub updates: Vec<PathBuf>,

    /// Take real traffic from FILE: a pcap or pcapng capture, or one address a line
    ///
    /// Plain or compressed with gzip, bzip2 or zstd; the destinations count.
    #[arg(short = 't', long = "trace", value_name = "FILE")]
    pub trace: Option<PathBuf>,

    /// Be done in three minutes: short passes, fewer sizes [default]
    #[arg(long)]
    pub quick: bool,

    /// Take up to forty minutes: long passes, every size
    #[arg(long, conflicts_with = "quick")]
    pub full: bool,

    /// The folder that everything is written to; made if need be
    #[arg(short = 'o', long, value_name = "DIR", default_value = "longmatch-report")]
    pub out: PathBuf,

    /// Carry out this experiment only; may be repeated
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,

    /// Print the experiments' names and what they reproduce, and nothing else
    #[arg(long)]
    pub list: bool,
}
