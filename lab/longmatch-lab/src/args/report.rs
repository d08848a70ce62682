//! The arguments of `longmatch-lab report`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use longmatch_bench::PeerCommand;
use longmatch_cli::args::size;

use super::routes::RoutesArgs;

/// An output format of `--convert`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ReportFormat {
    /// One line per value.
    Csv,
    /// The page without charts.
    Markdown,
    /// The page.
    Html,
}

/// `longmatch-lab report`.
#[derive(Args, Debug)]
pub struct ReportArgs {
    /// The tables, one for each file.
    #[command(flatten)]
    pub routes: RoutesArgs,

    /// Measure the updates in FILE; may be repeated
    ///
    /// The formats are those of 'longmatch-lab replay'. The updates apply to the first table with
    /// routes of their family.
    #[arg(short = 'u', long = "updates", value_name = "FILE", verbatim_doc_comment)]
    pub updates: Vec<PathBuf>,

    /// Measure with traffic from FILE: a capture, or one address a line
    ///
    /// The destinations of a pcap or pcapng capture, or a list of addresses; plain or
    /// compressed with gzip, bzip2, zstd or xz.
    #[arg(short = 't', long = "trace", value_name = "FILE", verbatim_doc_comment)]
    pub trace: Option<PathBuf>,

    /// Measure a program that speaks the protocol of docs/peers.md
    ///
    /// The adapters built by 'cargo xtask peers' are measured too. May be repeated. Blanks
    /// separate the words of the command, except between quotation marks.
    #[arg(long = "peer-cmd", value_name = "NAME=COMMAND", verbatim_doc_comment)]
    pub peer_commands: Vec<PeerCommand>,

    /// Directory of the peers' adapters
    ///
    /// The default is 'peers', beside this program's directory.
    #[arg(long = "peers", value_name = "DIR")]
    pub peers: Option<PathBuf>,

    /// Take about four minutes: short passes, fewer sizes [default]
    #[arg(long)]
    pub quick: bool,

    /// Take up to forty minutes: long passes, every size
    #[arg(long, conflicts_with = "quick")]
    pub full: bool,

    /// Output directory, created if missing
    #[arg(short = 'o', long, value_name = "DIR", default_value = "longmatch-report")]
    pub out: PathBuf,

    /// Run this experiment only; may be repeated
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,

    /// Memory limit of an engine [default: half of the available memory]
    ///
    /// A number of bytes such as 500M or 4G. Each engine estimates its size from the routes
    /// before it allocates. An engine whose estimate exceeds the limit is left out with an error.
    #[arg(long, value_name = "SIZE", value_parser = size, verbatim_doc_comment)]
    pub memory: Option<u64>,

    /// Print the existing report as csv, markdown or html, and exit
    ///
    /// csv has the values; markdown and html have the page. The report is records.ndjson in the
    /// output directory.
    #[arg(long, value_name = "FORMAT", hide_possible_values = true, verbatim_doc_comment)]
    pub convert: Option<ReportFormat>,

    /// List the experiments with their sources, and exit
    #[arg(long)]
    pub list: bool,
}
