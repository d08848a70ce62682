//! The arguments of `longmatch-lab replay`.

use std::path::PathBuf;

use clap::Args;
use longmatch::EngineKind;
use longmatch::engine::Descriptor;
use longmatch_cli::args::{FamilyArgs, count, size, threads};

use super::engines::{EngineArgs, EngineChoice};
use super::routes::RoutesArgs;

/// `longmatch-lab replay`.
#[derive(Args, Debug)]
pub struct ReplayArgs {
    /// The routes.
    #[command(flatten)]
    pub routes: RoutesArgs,

    /// Replay updates from FILE, '-' for standard input; may be repeated
    ///
    /// Text ('A prefix next-hop', 'W prefix', 'bgpdump -m') or MRT (BGP4MP), plain or
    /// compressed with gzip, bzip2, zstd or xz; detected from the content. --peer, --lenient and
    /// --mask apply to these files too. At most 33,554,432 updates; all are read before the
    /// first one is applied.
    #[arg(
        short = 'u',
        long = "updates",
        value_name = "FILE",
        required_unless_present = "from_empty",
        conflicts_with = "from_empty",
        verbatim_doc_comment
    )]
    pub updates: Vec<PathBuf>,

    /// Insert all routes one by one into an empty table, in random order
    ///
    /// The order is the same in each run. The idle rate of readers is measured on the full table.
    #[arg(long, verbatim_doc_comment)]
    pub from_empty: bool,

    /// The families.
    #[command(flatten)]
    pub families: FamilyArgs,

    /// Engines, separated by commas [default: engines that can be patched]
    ///
    /// 'all', 'name' or 'name:option:option'. Other engines are compiled again for each
    /// commit: use --batch with them.
    #[arg(
        short = 'e',
        long = "engine",
        value_name = "SPEC",
        value_delimiter = ',',
        verbatim_doc_comment
    )]
    engines: Vec<EngineChoice>,

    /// Number of reader threads
    ///
    /// At most 1,024.
    ///
    /// Each reader looks up batches of 256 random addresses inside the routes, for one second
    /// without updates and then during the updates. The output has the readers' rates in both
    /// parts, and the 99.99th percentile of the time of a batch. It also has the cost per lookup
    /// of a guard and of a quiescent state, measured with batches of 32.
    #[arg(long, value_name = "N", value_parser = threads, verbatim_doc_comment)]
    readers: Option<usize>,

    /// Number of updates that a commit makes visible together
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = count)]
    pub batch: usize,

    /// Compare the table with its routes every N updates, and at the end
    ///
    /// Looks up both ends of every range of addresses and checks the structure; updates and
    /// readers wait meanwhile. With --batch, the comparison takes place at the next commit.
    /// With --full, each comparison is a full one.
    #[arg(long, value_name = "N", value_parser = count, verbatim_doc_comment)]
    pub verify_every: Option<usize>,

    /// Compare every IPv4 address, and more addresses of each IPv6 range
    #[arg(long)]
    pub full: bool,

    /// Print JSON: one object and line for each engine
    #[arg(long)]
    pub json: bool,

    /// Memory limit of an engine [default: half of the available memory]
    ///
    /// A number of bytes such as 500M or 4G. Each engine estimates its size from the routes
    /// before it allocates. An engine whose estimate exceeds the limit is left out with an error.
    #[arg(long, value_name = "SIZE", value_parser = size, verbatim_doc_comment)]
    pub memory: Option<u64>,
}

impl ReplayArgs {
    /// Returns the engines: by default every engine that can be patched.
    pub fn engines(&self) -> EngineArgs {
        let is_patched = |kind: &EngineKind| kind.descriptor().is_some_and(Descriptor::is_patched);
        let patched = || EngineKind::in_order().into_iter().filter(is_patched);
        let default = || patched().map(|kind| EngineChoice::Spec(kind.into())).collect();
        let engines = if self.engines.is_empty() { default() } else { self.engines.clone() };
        EngineArgs { engines, memory: self.memory }
    }

    /// Returns the number of reader threads.
    pub fn readers(&self) -> usize {
        self.readers.unwrap_or(0)
    }
}
