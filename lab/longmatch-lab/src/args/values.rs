//! Values of options and their parsers.

use std::path::PathBuf;
use std::str::FromStr;

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use longmatch::simd::Level;
use longmatch_bench::Traffic;
use longmatch_cli::args::at_most;

/// The addresses of a measurement: a pattern, or a file of destinations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TrafficChoice {
    /// A pattern.
    Pattern(Traffic),
    /// A packet capture, or one address a line.
    File(PathBuf),
}

impl FromStr for TrafficChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        use Traffic::{Random, Repeated, Routed, Sequential, Zipf};
        let patterns = [Random, Sequential, Repeated, Routed, Zipf];
        let names = patterns.each_ref().map(|it| it.name().to_owned()).join(", ");
        match patterns.into_iter().find(|it| it.name() == text) {
            Some(pattern) => Ok(Self::Pattern(pattern)),
            None if PathBuf::from(text).exists() => Ok(Self::File(text.into())),
            None => Err(format!("expected one of {names}, or the name of an existing file")),
        }
    }
}

/// The Poptrie paper's synthetic tables that can be made of the routes (section 4.1).
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Split {
    /// Two parts of each prefix, four of those up to /16
    Syn1,
    /// Two parts of each prefix, four of those up to /20, eight of those up to /16
    Syn2,
}

/// Mode of lookup in a measurement.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// One address after the other
    One,
    /// Many addresses in one call
    Batch,
    /// Each address depends on the previous answer: the latency
    Dependent,
}

/// Layout of the addresses of a batch in memory.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keys {
    /// Integers of the machine
    Host,
    /// IPv6 as pairs of 64-bit integers
    Pairs,
    /// Bytes as on the wire
    Network,
}

/// The SIMD levels to test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SimdChoice {
    /// All levels that the CPU has.
    All,
    /// One level.
    Level(Level),
}

/// Parser of a level. clap lists the names in the help and suggests the nearest one.
pub(super) fn level() -> impl TypedValueParser<Value = Level> {
    PossibleValuesParser::new(Level::ALL.map(Level::name)).try_map(|name| name.parse::<Level>())
}

/// Parser of a level or `all`.
pub(super) fn simd_choice() -> impl TypedValueParser<Value = SimdChoice> {
    let names = Level::ALL.map(Level::name).into_iter().chain(["all"]);
    PossibleValuesParser::new(names).try_map(|name| match &name[..] {
        "all" => Ok(SimdChoice::All),
        name => name.parse().map(SimdChoice::Level),
    })
}

/// Maximum batch size: the length of the longest array of traffic.
const MAX_BATCH: usize = 1 << 24;
/// Maximum number of answers of all threads, one batch each: 1 GiB.
pub(super) const MAX_ANSWERS: usize = 1 << 28;

/// Parses a batch size.
pub(super) fn batch(text: &str) -> Result<usize, String> {
    at_most(text, MAX_BATCH)
}
