//! The command line: every command, option and help text.

use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use longmatch::simd::Level;
use longmatch::{CompileError, EngineKind, EngineSpec, Engines, Fib, Rib};
use longmatch_feed::PeerSelector;

use crate::error::CliError;
use crate::help;

/// Longest-prefix match for IPv4 and IPv6 addresses, checked and measured.
#[derive(Parser, Debug)]
#[command(name = "longmatch", version, after_help = help::TOP, max_term_width = 100)]
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
}

/// Which routes to load: common to all commands.
#[derive(Args, Clone, Debug, Default)]
pub struct RoutesArgs {
    /// Load routes from FILE, or standard input with '-'; may be repeated
    ///
    /// Text ('prefix next-hop', 'ip route', 'bgpdump -m') or MRT, plain or compressed with gzip,
    /// bzip2 or zstd; found out from the content. Without this option the embedded tables are
    /// used: a full IPv4 and a full IPv6 table of the Internet.
    #[arg(short, long = "routes", value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Take the routes of this peer: its address, AS64500, or its index
    ///
    /// For MRT and 'bgpdump -m', which hold the routes of many peers. By default the peer with the
    /// most routes is taken, for each address family on its own.
    #[arg(long, value_name = "IP|ASn|INDEX")]
    pub peer: Option<PeerSelector>,

    /// Keep what can be read of damaged files, instead of refusing them
    #[arg(long)]
    pub lenient: bool,

    /// Drop set host bits of prefixes, instead of refusing them
    #[arg(long)]
    pub mask: bool,
}

/// Which address families: common to commands on whole tables.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct FamilyArgs {
    /// Only IPv4
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    pub ipv4: bool,

    /// Only IPv6
    #[arg(short = '6', long)]
    pub ipv6: bool,
}

/// Which engines: common to commands that compile.
#[derive(Args, Clone, Debug, Default)]
pub struct EngineArgs {
    /// Engines, separated by commas: 'all', a name, or 'name:option:option'
    ///
    /// Default: all but the oracle, whose lookups take time in proportion to the table.
    #[arg(short, long = "engine", value_name = "SPEC", value_delimiter = ',')]
    pub engines: Vec<EngineChoice>,
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
        for spec in specs.iter().filter(|spec| !spec.options.is_empty()) {
            // An empty table costs little, and whatever else is wrong shows with the real one.
            if let Err(CompileError::Option(error)) = Fib::compile(&Rib::<F>::new(), spec.clone()) {
                return Err(CliError::input("--engine", error));
            }
        }
        Ok(specs)
    }

    /// Whether engines were named, so that one that cannot hold the table is the user's error and
    /// not merely something to note.
    pub fn named(&self, spec: &EngineSpec) -> bool {
        self.engines.contains(&EngineChoice::Spec(spec.clone()))
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

    /// Instructions to check: all that this CPU has, or one level
    #[arg(long, value_name = "LEVEL", default_value = "all", value_parser = simd_choice())]
    pub simd: SimdChoice,

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

    /// Addresses to look up, separated by commas: random, sequential, repeated, routed, zipf, FILE
    ///
    /// random: uniform over the address space. sequential: ascending. repeated: random, each one
    /// 16 times. routed: uniform over the routes, random inside each. zipf: routes with Zipf's
    /// law. FILE: one address a line, in that order.
    #[arg(
        short,
        long,
        value_name = "TRAFFIC",
        value_delimiter = ',',
        num_args = 1..,
        default_value = "random"
    )]
    pub traffic: Vec<Traffic>,

    /// How lookups are done, separated by commas [default: one,batch]
    #[arg(short, long, value_enum, value_name = "MODE", value_delimiter = ',')]
    pub mode: Vec<Mode>,

    /// Addresses in one call, for mode batch
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = count)]
    pub batch: usize,

    /// Threads that look up at the same time, each in the same table
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = count)]
    pub threads: usize,

    /// Use no more than these instructions [default: the best that this CPU has]
    #[arg(long, value_name = "LEVEL", value_parser = level())]
    pub simd: Option<Level>,

    /// Seconds for each figure, all passes together
    #[arg(long, value_name = "S", default_value_t = 1.0, value_parser = seconds)]
    pub seconds: f64,

    /// Make each random address just before its lookup, as the Poptrie paper does; mode one only
    #[arg(long)]
    pub generate: bool,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

impl BenchArgs {
    /// The modes to measure.
    ///
    /// # Errors
    /// When `--generate` stands beside what it cannot be combined with.
    pub fn modes(&self) -> Result<Vec<Mode>, CliError> {
        if self.generate && self.traffic != [Traffic::Random] {
            return Err(CliError::new("--generate makes random addresses: use --traffic random"));
        }
        if self.generate && self.mode.iter().any(|mode| *mode != Mode::One) {
            return Err(CliError::new("--generate needs --mode one: a batch is made beforehand"));
        }
        Ok(match &self.mode[..] {
            [] if self.generate => vec![Mode::One],
            [] => vec![Mode::One, Mode::Batch],
            modes => modes.to_vec(),
        })
    }
}

/// Which addresses are looked up in a measurement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Traffic {
    /// Uniform over the address space.
    Random,
    /// Ascending.
    Sequential,
    /// Random, each one several times in succession.
    Repeated,
    /// Uniform over the routes, random inside each.
    Routed,
    /// Routes with Zipf's law, random inside each.
    Zipf,
    /// One address a line.
    File(PathBuf),
}

impl Traffic {
    /// The name on the command line and in reports; for a file its path.
    pub fn name(&self) -> String {
        let name = match self {
            Self::Random => "random",
            Self::Sequential => "sequential",
            Self::Repeated => "repeated",
            Self::Routed => "routed",
            Self::Zipf => "zipf",
            Self::File(path) => return path.display().to_string(),
        };
        name.to_owned()
    }
}

impl FromStr for Traffic {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "random" => Self::Random,
            "sequential" => Self::Sequential,
            "repeated" => Self::Repeated,
            "routed" => Self::Routed,
            "zipf" => Self::Zipf,
            path if PathBuf::from(path).exists() => Self::File(path.into()),
            _ => {
                let names = "random, sequential, repeated, routed, zipf";
                return Err(format!("neither one of {names}, nor a file that exists"));
            }
        })
    }
}

/// How lookups are done in a measurement.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// One address after the other
    One,
    /// Many addresses in one call
    Batch,
    /// Each address depends on the answer before: the latency
    Dependent,
}

impl Mode {
    /// The name on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::Batch => "batch",
            Self::Dependent => "dependent",
        }
    }
}

/// Which instruction sets to go through.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SimdChoice {
    /// All that the CPU has.
    All,
    /// One.
    Level(Level),
}

/// Reads a level; its names are in the help, and near misses are suggested.
fn level() -> impl TypedValueParser<Value = Level> {
    PossibleValuesParser::new(Level::ALL.map(Level::name)).try_map(|name| name.parse::<Level>())
}

/// As [`level`], or `all`.
fn simd_choice() -> impl TypedValueParser<Value = SimdChoice> {
    let names = Level::ALL.map(Level::name).into_iter().chain(["all"]);
    PossibleValuesParser::new(names).try_map(|name| match &name[..] {
        "all" => Ok(SimdChoice::All),
        name => name.parse().map(SimdChoice::Level),
    })
}

fn count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("expected a whole number, at least 1".to_owned()),
        Ok(count) => Ok(count),
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if seconds > 0.0 && seconds <= 86_400.0 => Ok(seconds),
        _ => Err("expected seconds, more than 0 and at most 86400".to_owned()),
    }
}
