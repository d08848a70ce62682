//! The command line: every command, option and help text.

mod replay;
mod report;
mod values;

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand};
use longmatch::simd::Level;
use longmatch::{CompileError, EngineKind, EngineSpec, Engines, Fib, Ipv4, Ipv6, Rib, parse_bytes};
use longmatch_feed::{IpFamily, IpTable, PeerSelector};

use self::values::{MAX_ANSWERS, batch, level, seconds, simd_choice, threads};
use crate::error::CliError;
use crate::help;
use crate::output::thousands;

pub use self::replay::ReplayArgs;
pub use self::report::ReportArgs;
pub use self::values::{Keys, Mode, SimdChoice, Split, Traffic};

/// Longest-prefix match for IPv4 and IPv6 addresses, checked and measured.
#[derive(Parser, Debug)]
#[command(name = "longmatch", version, after_help = help::TOP)]
pub struct Cli {
    /// What to do; a short demonstration when left out.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Find the longest matching prefix of addresses, and its next hop
    #[command(after_help = help::LOOKUP)]
    Lookup(LookupArgs),
    /// Describe a table: lengths, next hops, overlap, memory of each engine
    #[command(after_help = help::STAT)]
    Stat(StatArgs),
    /// Check that all engines give the same answers
    #[command(after_help = help::VERIFY)]
    Verify(VerifyArgs),
    /// Measure lookup rates, after checking the answers
    #[command(after_help = help::BENCH)]
    Bench(BenchArgs),
    /// Replay changes of a table, and measure them and its readers
    #[command(after_help = help::REPLAY)]
    Replay(ReplayArgs),
    /// Reproduce the papers' tables and figures on this machine, as one page
    #[command(after_help = help::REPORT)]
    Report(ReportArgs),
    /// Print the licences of longmatch and of the embedded tables
    #[command(alias = "licenses", after_help = help::LICENCES)]
    Licences,
}

/// Which routes to load: common to all commands.
#[derive(Args, Clone, Debug, Default)]
pub struct RoutesArgs {
    /// Load routes from FILE, '-' for standard input; may be repeated
    ///
    /// Text ('prefix next-hop', 'network netmask next-hop', 'ip route', 'bgpdump -m'), the
    /// JSON of 'ip -json route', or MRT; plain or compressed with gzip, bzip2 or zstd; found
    /// out from the content. Without this option the embedded
    /// tables are used: a full IPv4 and a full IPv6 table of the Internet.
    #[arg(short = 'r', long = "routes", value_name = "FILE", verbatim_doc_comment)]
    pub files: Vec<PathBuf>,

    /// Take the routes of this peer: its address, AS64500, or its index
    ///
    /// For MRT and 'bgpdump -m', which hold the routes of many peers. By default the peer
    /// with the most routes is taken, for each address family on its own.
    #[arg(long, value_name = "IP|ASn|INDEX", verbatim_doc_comment)]
    pub peer: Option<PeerSelector>,

    /// Take this table, by name or number, of 'ip route' [default: main]
    ///
    /// Routes of other tables are left out, and counted. Where no line names a table, all are
    /// of the one named here, as 'ip route show table' prints it; else lines without a
    /// table are of the main one.
    #[arg(long, value_name = "TABLE", verbatim_doc_comment)]
    pub ip_table: Option<IpTable>,

    /// Keep what can be read of damaged files, instead of refusing them
    ///
    /// A file of which nothing can be read is an error all the same.
    #[arg(long)]
    pub lenient: bool,

    /// Drop set host bits of prefixes, instead of refusing them
    #[arg(long)]
    pub mask: bool,

    /// Split IPv4 prefixes into parts: syn1, syn2
    ///
    /// These are the synthetic tables of the Poptrie paper (4.1), larger than any real one.
    #[arg(long, value_enum, value_name = "SYN", hide_possible_values = true)]
    pub split: Option<Split>,
}

/// Which address families: common to commands on whole tables.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct FamilyArgs {
    /// Only IPv4
    ///
    /// Also the family of a 'default' route that nothing in its file tells.
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    pub ipv4: bool,

    /// Only IPv6
    ///
    /// Also the family of a 'default' route that nothing in its file tells.
    #[arg(short = '6', long)]
    pub ipv6: bool,
}

impl FamilyArgs {
    /// The one family that was asked for.
    pub fn only(self) -> Option<IpFamily> {
        match (self.ipv4, self.ipv6) {
            (true, _) => Some(IpFamily::V4),
            (_, true) => Some(IpFamily::V6),
            _ => None,
        }
    }
}

/// Which engines: common to commands that compile.
#[derive(Args, Clone, Debug, Default)]
pub struct EngineArgs {
    /// Engines, separated by commas: 'all', 'name' or 'name:option:option'
    ///
    /// Default: all but the oracle, whose lookups take time in proportion to the table.
    /// 'auto' is the one that suits the table and the CPU best: 'auto', 'auto:use=one',
    /// 'auto:memory=4M'. It is not among 'all', as it is one of them.
    #[arg(
        short = 'e',
        long = "engine",
        value_name = "SPEC",
        value_delimiter = ',',
        verbatim_doc_comment
    )]
    pub engines: Vec<EngineChoice>,

    /// Most memory of an engine, such as 4G [default: half of what is available]
    ///
    /// Each engine estimates its size from the routes before it allocates anything, and is left
    /// out with an error if that is more.
    #[arg(long, value_name = "SIZE", value_parser = size, verbatim_doc_comment)]
    pub memory: Option<u64>,
}

/// A number of bytes such as 4G.
fn size(text: &str) -> Result<u64, &'static str> {
    parse_bytes(text)
        .ok_or("expected a number of bytes above 0, with K, M or G behind it if need be")
}

/// The most bytes that an engine may take unless `--memory` says otherwise: compiling takes about as
/// much again in passing.
pub fn usual_memory() -> Option<u64> {
    longmatch_lab::available_memory().map(|bytes| bytes / 2)
}

impl EngineArgs {
    /// The engines to compile for a family, in the order given, without repetition. `all`, as well
    /// as nothing, stands for every engine that the family has except oracles.
    ///
    /// # Errors
    /// When an engine does not have an option that is asked of it: known before any work is done.
    pub fn specs<F: Engines>(&self) -> Result<Vec<EngineSpec>, CliError> {
        let all = [EngineChoice::All];
        let chosen = if self.engines.is_empty() { &all[..] } else { &self.engines };
        let mut specs = Vec::new();
        for choice in chosen {
            let named = match choice {
                EngineChoice::Spec(spec) => vec![spec.clone()],
                EngineChoice::All => {
                    let fit = |kind: &EngineKind| F::has(*kind) && !kind.is_oracle();
                    EngineKind::ALL.into_iter().filter(fit).map(EngineSpec::from).collect()
                }
            };
            for spec in named {
                if !specs.contains(&spec) {
                    specs.push(spec);
                }
            }
        }
        for spec in &specs {
            // An option, or an engine, of the other family alone is no mistake.
            if let (Some(error), Some(_)) = (misfit::<Ipv4>(spec), misfit::<Ipv6>(spec)) {
                return Err(CliError::input("--engine", error));
            }
        }
        specs.retain(|spec| misfit::<F>(spec).is_none());
        let memory = self.memory.or_else(usual_memory);
        specs.iter_mut().for_each(|spec| spec.memory = memory);
        Ok(specs)
    }

    /// Whether an engine was named, so that one without a result makes the status negative and is
    /// not merely something to note.
    pub fn named(&self, spec: &EngineSpec) -> bool {
        self.engines.contains(&EngineChoice::Spec(EngineSpec { memory: None, ..spec.clone() }))
    }
}

/// Why a family has no such engine, or the engine no such option. Tried on an empty table, which
/// costs little; whatever else is wrong shows with the real one.
fn misfit<F: Engines>(spec: &EngineSpec) -> Option<CompileError> {
    match Fib::compile(&Rib::<F>::new(), spec.clone()) {
        Err(error @ (CompileError::Option(_) | CompileError::Family { .. })) => Some(error),
        _ => None,
    }
}

/// One element of `--engine`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EngineChoice {
    /// All but oracles.
    All,
    /// One engine.
    Spec(EngineSpec),
}

impl FromStr for EngineChoice {
    type Err = longmatch::UnknownEngine;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "all" { Ok(Self::All) } else { text.parse().map(Self::Spec) }
    }
}

/// `longmatch lookup`.
#[derive(Args, Debug)]
pub struct LookupArgs {
    /// Addresses to look up, or '-' for one address a line from standard input
    #[arg(required = true, value_name = "ADDR")]
    pub queries: Vec<String>,

    /// The routes.
    #[command(flatten)]
    pub routes: RoutesArgs,

    /// The families.
    #[command(flatten)]
    pub families: FamilyArgs,

    /// Print every covering prefix, shortest first, one line each
    #[arg(short, long)]
    pub all: bool,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
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

    /// Print one JSON object a line: one for each family
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

    /// Instructions: portable, scalar, avx2, avx512, all
    ///
    /// Every IPv4 address is looked up with the ones named here: 'all' goes through them one
    /// after the other. Without this option the CPU's best ones do that, and the others are
    /// tried in every range of addresses.
    #[arg(
        long,
        value_name = "LEVEL",
        value_parser = simd_choice(),
        hide_possible_values = true,
        verbatim_doc_comment
    )]
    pub simd: Option<SimdChoice>,

    /// Look up in every range of addresses only, for IPv4 too
    ///
    /// Both ends of each range between two edges of prefixes, its middle and some random
    /// addresses: done in seconds, where all addresses of IPv4 take minutes. The structures
    /// are checked as without this option.
    #[arg(long, verbatim_doc_comment)]
    pub quick: bool,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// `longmatch bench`.
#[derive(Args, Debug)]
pub struct BenchArgs {
    /// The routes.
    #[command(flatten)]
    pub routes: RoutesArgs,

    /// The families.
    #[command(flatten)]
    pub families: FamilyArgs,

    /// The engines.
    #[command(flatten)]
    pub engines: EngineArgs,

    /// Addresses: random, sequential, repeated, routed, zipf, FILE
    ///
    /// Several may be named; by default random, routed and zipf.
    ///
    /// random      uniform over the address space (IPv6: 2000::/3)
    /// sequential  upwards through the address space
    /// repeated    random, each one several times in a row
    /// routed      inside the routes, each route equally likely
    /// zipf        routed addresses, asked for with Zipf's law
    /// FILE        the destinations of a packet capture (pcap, pcapng), or one address a line;
    ///             in their order; plain or compressed with gzip, bzip2 or zstd
    #[arg(
        short,
        long,
        value_name = "TRAFFIC",
        value_delimiter = ',',
        num_args = 1..,
        verbatim_doc_comment
    )]
    pub traffic: Vec<Traffic>,

    /// How lookups are done: one, batch, dependent [default: one,batch]
    ///
    /// one        one address after the other; the CPU may overlap them
    /// batch      many addresses in one call
    /// dependent  each address depends on the answer before: the latency
    #[arg(
        short,
        long,
        value_enum,
        value_name = "MODE",
        value_delimiter = ',',
        hide_possible_values = true,
        verbatim_doc_comment
    )]
    pub mode: Vec<Mode>,

    /// Addresses in one call, for mode batch
    ///
    /// At most 16,777,216.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = batch)]
    pub batch: usize,

    /// Threads that look up in the same table at the same time
    ///
    /// At most 1,024. The rate is that of all of them together, from the first one's beginning to
    /// the last one's end. More than there are CPUs take turns.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = threads,
        verbatim_doc_comment
    )]
    pub threads: usize,

    /// Instructions: portable, scalar, avx2, avx512 [default: the CPU's best]
    #[arg(long, value_name = "LEVEL", value_parser = level(), hide_possible_values = true)]
    pub simd: Option<Level>,

    /// Seconds for each figure, all passes together
    #[arg(long, value_name = "S", default_value_t = 1.0, value_parser = seconds)]
    pub seconds: f64,

    /// Make each random address just before its lookup; mode one only
    ///
    /// That is how the Poptrie paper measures: without it addresses are read from an array.
    #[arg(long)]
    pub generate: bool,

    /// How a batch holds its addresses: host, halves, network
    ///
    /// host     integers of the machine, 32 or 128 bits
    /// halves   IPv6 as pairs of 64-bit integers; with -6 only
    /// network  bytes as on the wire, as in packets
    #[arg(
        long,
        value_enum,
        value_name = "FORM",
        default_value = "host",
        hide_possible_values = true,
        verbatim_doc_comment
    )]
    pub keys: Keys,

    /// Beside batches, measure what this machine can do at best
    ///
    /// That is, as many reads as a lookup makes, from tables of the same sizes, for the same
    /// addresses and in the same run, but none waits for another. The last column says how many
    /// times faster that is. Engines that do not state their reads have no limit.
    #[arg(long, verbatim_doc_comment)]
    pub limit: bool,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

impl BenchArgs {
    /// The traffic to measure with.
    pub fn traffics(&self) -> Vec<Traffic> {
        match &self.traffic[..] {
            [] if self.generate => vec![Traffic::Random],
            [] => vec![Traffic::Random, Traffic::Routed, Traffic::Zipf],
            traffics => traffics.to_vec(),
        }
    }

    /// The modes to measure.
    ///
    /// # Errors
    /// When `--generate`, `--keys`, `--limit` or `--batch` stands beside what it cannot be combined
    /// with.
    pub fn modes(&self) -> Result<Vec<Mode>, CliError> {
        if self.threads.saturating_mul(self.batch) > MAX_ANSWERS {
            let (threads, batch, most) = (self.threads, self.batch, MAX_ANSWERS / self.threads);
            return Err(CliError::new(format!(
                "--batch {batch}: {threads} threads hold at most {} answers together: \
                 use --batch {most} or less, or fewer --threads",
                thousands(MAX_ANSWERS as u64)
            )));
        }
        if self.generate && self.traffics() != [Traffic::Random] {
            return Err(CliError::new("--generate makes random addresses: use --traffic random"));
        }
        if self.generate && self.mode.iter().any(|mode| *mode != Mode::One) {
            return Err(CliError::new("--generate needs --mode one: a batch is made beforehand"));
        }
        if self.keys != Keys::Host && (self.generate || self.mode.iter().any(|m| *m != Mode::Batch))
        {
            return Err(CliError::new("--keys is about batches: use --mode batch"));
        }
        if self.keys == Keys::Halves && !self.families.ipv6 {
            return Err(CliError::new("only IPv6 addresses have halves: use -6"));
        }
        let batches = self.mode.is_empty() || self.mode.contains(&Mode::Batch);
        if self.limit && (self.generate || !batches) {
            return Err(CliError::new("--limit is measured in batches: use --mode batch"));
        }
        Ok(match &self.mode[..] {
            [] if self.generate => vec![Mode::One],
            [] if self.keys != Keys::Host => vec![Mode::Batch],
            [] => vec![Mode::One, Mode::Batch],
            modes => modes.to_vec(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    fn specs(list: &str) -> Result<Vec<String>, CliError> {
        let engines = list.split_terminator(',').map(|spec| spec.parse().unwrap()).collect();
        let specs = EngineArgs { engines, memory: None }.specs::<Ipv4>()?;
        Ok(specs.iter().map(EngineSpec::to_string).collect())
    }

    #[test]
    fn oracles_run_only_when_named() {
        let all = specs("all").unwrap();
        assert!(all.contains(&"poptrie".into()) && !all.contains(&"linear".into()));
        assert_eq!(specs("").unwrap(), all);
        assert_eq!(specs("linear").unwrap(), ["linear"]);
        assert!(!all.contains(&"auto".into()));
        assert_eq!(specs("all,auto").unwrap().last().unwrap(), "auto");
        assert!(specs("auto:use=never").is_err() && specs("auto:memory=1").is_ok());
    }

    #[test]
    fn engines_come_in_order_and_once() {
        let some = specs("poptrie:s=16,radix,poptrie:s=16").unwrap();
        assert_eq!(some, ["poptrie:s=16", "radix"]);
        assert_eq!(specs("radix,all").unwrap()[0], "radix");
        assert!(specs("radix:s=16").is_err() && specs("poptrie:s=99").is_err());
    }

    #[test]
    fn what_only_the_other_family_has_is_left_out() {
        assert_eq!(specs("sail,dxr:xl,dxr:wide").unwrap(), ["sail", "dxr:wide"]);
        let engines = vec!["sail".parse().unwrap(), "dxr:xl".parse().unwrap()];
        let ipv6 = EngineArgs { engines, memory: Some(5) }.specs::<Ipv6>().unwrap();
        assert_eq!(ipv6, ["dxr:xl".parse::<EngineSpec>().unwrap().with_memory(5)]);
    }
}
