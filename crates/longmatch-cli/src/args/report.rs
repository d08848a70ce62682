//! The arguments of `longmatch report`.

use std::path::PathBuf;

use clap::Args;
use longmatch_lab::PeerCommand;

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

    /// Measure another program too, one that speaks the protocol of docs/peers.md
    ///
    /// Beside those whose adapters 'cargo xtask peers' has built; may be repeated. Words of
    /// the command end at blanks, except between quotation marks.
    #[arg(long = "peer-cmd", value_name = "NAME=COMMAND", verbatim_doc_comment)]
    pub peer_commands: Vec<PeerCommand>,

    /// Where the adapters of peers are [default: peers, beside the folder of this program]
    #[arg(long = "peers", value_name = "DIR")]
    pub peers: Option<PathBuf>,

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

    /// Most memory of an engine, such as 4G [default: half of what is available]
    #[arg(long, value_name = "SIZE", value_parser = super::size)]
    pub memory: Option<u64>,

    /// Print the experiments' names and what they reproduce, and nothing else
    #[arg(long)]
    pub list: bool,
}
