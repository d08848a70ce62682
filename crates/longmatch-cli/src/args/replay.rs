//! The arguments of `longmatch replay`.

use std::path::PathBuf;

use clap::Args;
use longmatch::EngineKind;

use super::values::{count, threads};
use super::{EngineArgs, EngineChoice, FamilyArgs, RoutesArgs};

/// `longmatch replay`.
#[derive(Args, Debug)]
pub struct ReplayArgs {
    /// The routes.
    #[command(flatten)]
    pub routes: RoutesArgs,

    /// Replay updates from FILE, '-' for standard input; may be repeated
    ///
    /// Text ('A prefix next-hop', 'W prefix', 'bgpdump -m') or MRT (BGP4MP), plain or
    /// compressed with gzip, bzip2 or zstd; found out from the content. --peer, --lenient and
    /// --mask hold for these files too. At most 33,554,432 updates; they are read before the
    /// first one is made.
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
    /// The order is the same each time. Readers are measured idle when the table is full.
    #[arg(long, verbatim_doc_comment)]
    pub from_empty: bool,

    /// The families.
    #[command(flatten)]
    pub families: FamilyArgs,

    /// Engines, separated by commas [default: those that are patched]
    ///
    /// Those are folio, poptrie, dxr, dir24_8 and tree_bitmap.
    /// 'all', 'name' or 'name:option:option'. One that cannot be patched is compiled again
    /// for each commit: use --batch with it.
    #[arg(
        short = 'e',
        long = "engine",
        value_name = "SPEC",
        value_delimiter = ',',
        verbatim_doc_comment
    )]
    engines: Vec<EngineChoice>,

    /// Threads that look up meanwhile
    ///
    /// At most 1,024.
    ///
    /// Each looks up batches of 256 random routed addresses, for a second while nothing
    /// changes and then under the updates: their rates, and the time that 99.99 % of their
    /// batches did not exceed; and what a guard or a report costs a lookup in batches of 32.
    #[arg(long, value_name = "N", value_parser = threads, verbatim_doc_comment)]
    readers: Option<usize>,

    /// Updates that become visible together, with one commit
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = count)]
    pub batch: usize,

    /// Compare the table with its routes every N updates, not only at the end
    ///
    /// Both ends of every range of addresses are looked up, and the structure is checked;
    /// updates and readers wait meanwhile. With --batch, at the next commit. With --full,
    /// everything is looked up each time.
    #[arg(long, value_name = "N", value_parser = count, verbatim_doc_comment)]
    pub verify_every: Option<usize>,

    /// Compare every IPv4 address, or inside of IPv6 ranges too
    #[arg(long)]
    pub full: bool,

    /// Print one JSON object a line: one for each engine
    #[arg(long)]
    pub json: bool,

    /// Most memory of an engine, such as 4G [default: half of what is available]
    #[arg(long, value_name = "SIZE", value_parser = super::size)]
    pub memory: Option<u64>,
}

impl ReplayArgs {
    /// The engines: unless some are named, those that are patched.
    pub fn engines(&self) -> EngineArgs {
        use EngineKind::{Dir24_8, Dxr, Folio, Poptrie, TreeBitmap};
        let usual = [Folio, Poptrie, Dxr, Dir24_8, TreeBitmap];
        let usual = || usual.map(|kind| EngineChoice::Spec(kind.into())).into();
        let engines = if self.engines.is_empty() { usual() } else { self.engines.clone() };
        EngineArgs { engines, memory: self.memory }
    }

    /// How many readers.
    pub fn readers(&self) -> usize {
        self.readers.unwrap_or(0)
    }
}
