//! Command line: commands, options and their help texts.

mod annotate;
mod bench;
mod compile;
mod forward;
mod install;
mod lookup;
mod replay;
mod report;
mod set;
mod values;

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand};
use longmatch::{CompileError, EngineKind, EngineSpec, Engines, Fib, Ipv4, Ipv6, Rib, parse_bytes};
use longmatch_feed::{IpFamily, IpTable, PeerSelector, RouteValue};

use self::values::simd_choice;
use crate::default_table::VERSION;
use crate::error::CliError;
use crate::help;

pub use self::annotate::AnnotateArgs;
#[cfg(feature = "columnar")]
pub use self::annotate::Compression;
pub use self::bench::BenchArgs;
pub use self::compile::{AnswersArg, CompileArgs};
#[cfg(feature = "dpdk")]
pub use self::forward::Generate;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub use self::forward::XdpMode;
pub use self::forward::{ForwardArgs, Io};
pub use self::install::{CompletionsArgs, ManArgs};
pub use self::lookup::LookupArgs;
pub use self::replay::ReplayArgs;
pub use self::report::{ReportArgs, ReportFormat};
pub use self::set::{
    AggregateArgs, ComplementArgs, CountArgs, DiffArgs, FormArgs, ListArgs, OverlapsArgs, ReadArgs,
    SetArgs, SetCommand, SplitArgs,
};
pub use self::values::{Keys, Mode, SimdChoice, Split, Traffic};

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
    /// Find the longest matching prefix of addresses, and its next hop or columns
    #[command(after_help = help::LOOKUP)]
    Lookup(LookupArgs),
    /// Compile prefixes and their columns into a table file, ready to be mapped
    #[command(after_help = help::COMPILE)]
    Compile(CompileArgs),
    /// Add columns of prefix data to CSV, NDJSON or text, or filter lines by their addresses
    #[command(after_help = help::ANNOTATE)]
    Annotate(AnnotateArgs),
    /// Describe a table: lengths, next hops, overlap, memory of each engine
    #[command(after_help = help::STAT)]
    Stat(StatArgs),
    /// Check the answers of the routing table and of all engines on every address
    #[command(after_help = help::VERIFY)]
    Verify(VerifyArgs),
    /// Check the answers and measure lookup rates
    #[command(after_help = help::BENCH)]
    Bench(BenchArgs),
    /// Replay updates of a table under readers, and measure both
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

/// The routes to load: common to all commands.
#[derive(Args, Clone, Debug, Default)]
pub struct RoutesArgs {
    /// Load routes from FILE, '-' for standard input; may be repeated
    ///
    /// Routes: text ('prefix next-hop', 'network netmask next-hop', 'prefix gateway port',
    /// 'ip route', 'netstat -rn', 'bgpdump -m'), the JSON of 'ip -json route', MRT, or a Click
    /// configuration with a routing table. Prefix data, whose columns are the next hop: lists
    /// of prefixes, CSV, ranges, pyasn, pfx2as, RIS whois dumps, the sets of 'ipset' and 'nft',
    /// 'iptables-save', MaxMind DB, compiled tables. Plain or compressed with gzip, bzip2, zstd
    /// or xz. The format is detected from the content. By default lookup takes
    /// its default table (AS and name), and other commands the routes of the demonstration, a
    /// full IPv4 and a full IPv6 table of the Internet; next hops of the latter are invented.
    #[arg(short = 'r', long = "routes", value_name = "FILE", verbatim_doc_comment)]
    pub files: Vec<PathBuf>,

    /// Use this compiled table, which 'longmatch compile' has written
    ///
    /// The file is mapped, not read: it is ready at once, and processes share its memory.
    #[arg(long, value_name = "FILE", conflicts_with = "files", verbatim_doc_comment)]
    pub table: Option<PathBuf>,

    /// Skip the checksums of --table
    ///
    /// Opening is faster then. A damaged file gives wrong answers, but nothing worse.
    #[arg(long, requires = "table", verbatim_doc_comment)]
    pub trust: bool,

    /// Take the routes of this peer: its address, AS64500, or its index
    ///
    /// For MRT and 'bgpdump -m', which hold the routes of many peers. By default the peer
    /// with the most routes is taken, separately for each address family.
    #[arg(long, value_name = "IP|ASn|INDEX", verbatim_doc_comment)]
    pub peer: Option<PeerSelector>,

    /// Take this table, by name or number, of 'ip route' [default: main]
    ///
    /// Routes of other tables are left out and counted. Lines without a table belong to the
    /// main table; but if no line names a table, as 'ip route show table' prints them, all
    /// belong to the table given here. Of a Click configuration: take the element with this
    /// name [default: its first routing table].
    #[arg(long, value_name = "TABLE", verbatim_doc_comment)]
    pub ip_table: Option<IpTable>,

    /// The value of routes: next-hop, origin-as, as-path, peer, communities
    ///
    /// For MRT and 'bgpdump -m'; other routes have the next hop only [default: next-hop].
    #[arg(long, value_name = "VALUE", verbatim_doc_comment)]
    pub value: Option<RouteValue>,

    /// Load the undamaged part of damaged files, instead of refusing them
    ///
    /// A file without any readable part is still an error.
    #[arg(long)]
    pub lenient: bool,

    /// Clear the host bits of prefixes, instead of refusing such prefixes
    #[arg(long)]
    pub mask: bool,

    /// Split IPv4 prefixes into parts: syn1, syn2
    ///
    /// Makes the synthetic tables of the Poptrie paper (section 4.1), larger than real ones.
    #[arg(long, value_enum, value_name = "SYN", hide_possible_values = true)]
    pub split: Option<Split>,
}

/// The address families: common to commands on whole tables.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct FamilyArgs {
    /// Only IPv4
    ///
    /// A 'default' route is IPv4 if its file does not tell the family.
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    pub ipv4: bool,

    /// Only IPv6
    ///
    /// A 'default' route is IPv6 if its file does not tell the family.
    #[arg(short = '6', long)]
    pub ipv6: bool,
}

impl FamilyArgs {
    /// Returns the family that an option names, if one does.
    pub fn only(self) -> Option<IpFamily> {
        match (self.ipv4, self.ipv6) {
            (true, _) => Some(IpFamily::V4),
            (_, true) => Some(IpFamily::V6),
            _ => None,
        }
    }
}

/// The engines: common to commands that compile.
#[derive(Args, Clone, Debug, Default)]
pub struct EngineArgs {
    /// Engines, separated by commas: 'all', 'name' or 'name:option:option'
    ///
    /// Default: all but the oracle, whose lookups scan the table.
    /// 'auto' chooses the engine that suits the table and the CPU best: 'auto', 'auto:use=one',
    /// 'auto:memory=4M', 'auto:traffic=few', 'auto:try=50ms'. 'all' does not include it.
    /// 'none' compiles nothing: 'longmatch stat' prints the numbers of the table alone.
    #[arg(
        short = 'e',
        long = "engine",
        value_name = "SPEC",
        value_delimiter = ',',
        verbatim_doc_comment
    )]
    pub engines: Vec<EngineChoice>,

    /// Memory limit of an engine [default: half of the available memory]
    ///
    /// A number of bytes such as 500M or 4G. Each engine estimates its size from the routes
    /// before it allocates. An engine whose estimate exceeds the limit is left out with an error.
    #[arg(long, value_name = "SIZE", value_parser = size, verbatim_doc_comment)]
    pub memory: Option<u64>,
}

/// Parses a number of bytes such as 4G.
fn size(text: &str) -> Result<u64, &'static str> {
    parse_bytes(text).ok_or("expected a number of bytes above 0, optionally followed by K, M or G")
}

/// Default of `--memory`: half of the available memory, as compiling needs about as much again
/// temporarily.
pub fn default_memory() -> Option<u64> {
    longmatch_bench::available_memory().map(|bytes| bytes / 2)
}

impl EngineArgs {
    /// Returns the engines to compile for a family, in the order given, without duplicates. `all`,
    /// or no option, stands for every engine of the family except oracles.
    ///
    /// # Errors
    /// If an engine lacks a given option, or there is `none`. This is checked before any work starts.
    pub fn specs<F: Engines>(&self) -> Result<Vec<EngineSpec>, CliError> {
        let all = [EngineChoice::All];
        let chosen = if self.engines.is_empty() { &all[..] } else { &self.engines };
        let mut specs = Vec::new();
        for choice in chosen {
            let named = match choice {
                EngineChoice::None => {
                    let problem =
                        "'none' compiles no engine: only 'longmatch stat' takes it, alone";
                    return Err(CliError::input("--engine", problem));
                }
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
            // An option or an engine that only the other family has is no error.
            if let (Some(error), Some(_)) = (unsupported::<Ipv4>(spec), unsupported::<Ipv6>(spec)) {
                return Err(CliError::input("--engine", error));
            }
        }
        specs.retain(|spec| unsupported::<F>(spec).is_none());
        let memory = self.memory.or_else(default_memory);
        specs.iter_mut().for_each(|spec| spec.memory = memory);
        Ok(specs)
    }

    /// Returns the engines as [`EngineArgs::specs`] does, or none if `none` is all that is given.
    ///
    /// # Errors
    /// As [`EngineArgs::specs`].
    pub fn specs_or_none<F: Engines>(&self) -> Result<Vec<EngineSpec>, CliError> {
        if self.engines == [EngineChoice::None] { Ok(Vec::new()) } else { self.specs::<F>() }
    }

    /// Returns whether an engine was named. A named engine without a result makes the exit status
    /// negative; others are only reported.
    pub fn named(&self, spec: &EngineSpec) -> bool {
        self.engines.contains(&EngineChoice::Spec(EngineSpec { memory: None, ..spec.clone() }))
    }
}

/// Returns the error if a family lacks the engine, or the engine the option. Compiles an empty
/// table, which costs little; other errors show with the real table.
fn unsupported<F: Engines>(spec: &EngineSpec) -> Option<CompileError> {
    match Fib::compile(&Rib::<F>::new(), spec.clone()) {
        Err(error @ (CompileError::Option(_) | CompileError::Family { .. })) => Some(error),
        _ => None,
    }
}

/// One element of `--engine`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EngineChoice {
    /// All engines but oracles.
    All,
    /// No engine, for numbers of the table alone.
    None,
    /// One engine.
    Spec(EngineSpec),
}

impl FromStr for EngineChoice {
    type Err = longmatch::UnknownEngine;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "all" => Ok(Self::All),
            "none" => Ok(Self::None),
            text => text.parse().map(Self::Spec),
        }
    }
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
    /// Looks up every IPv4 address at the level named, or with 'all' at each level in turn. By
    /// default the CPU's best level is tested on every address, and the other levels in
    /// every range of addresses.
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
        assert!(specs("none").is_err() && specs("radix,none").is_err());
    }

    #[test]
    fn engines_and_options_of_the_other_family_are_left_out() {
        assert_eq!(specs("sail,dxr:xl,dxr:wide").unwrap(), ["sail", "dxr:wide"]);
        let engines = vec!["sail".parse().unwrap(), "dxr:xl".parse().unwrap()];
        let ipv6 = EngineArgs { engines, memory: Some(5) }.specs::<Ipv6>().unwrap();
        assert_eq!(ipv6, ["dxr:xl".parse::<EngineSpec>().unwrap().with_memory(5)]);
    }
}
