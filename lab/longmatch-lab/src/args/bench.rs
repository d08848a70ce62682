//! Options of `longmatch-lab bench`.

use clap::Args;
use longmatch::simd::Level;
use longmatch_bench::Traffic;
use longmatch_cli::args::{FamilyArgs, seconds, threads};
use longmatch_cli::error::CliError;
use longmatch_cli::output::thousands;

use super::engines::EngineArgs;
use super::routes::RoutesArgs;
use super::values::{Keys, Mode, TrafficChoice};
use super::values::{MAX_ANSWERS, batch, level};

/// `longmatch-lab bench`.
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
    /// Separate several with commas [default: random,routed,zipf]
    ///
    /// random      uniform over the address space (IPv6: 2000::/3)
    /// sequential  upwards through the address space
    /// repeated    random, each address several times in a row
    /// routed      inside the routes, each route equally likely
    /// zipf        routed addresses, with frequencies by Zipf's law
    /// FILE        destinations of a packet capture (pcap, pcapng), or one address a line,
    ///             in file order; plain or compressed with gzip, bzip2, zstd or xz
    #[arg(
        short,
        long,
        value_name = "TRAFFIC",
        value_delimiter = ',',
        num_args = 1..,
        verbatim_doc_comment
    )]
    pub traffic: Vec<TrafficChoice>,

    /// Modes of lookup: one, batch, dependent [default: one,batch]
    ///
    /// one        one address after the other; the CPU may overlap them
    /// batch      many addresses in one call
    /// dependent  each address depends on the previous answer: the latency
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

    /// Batch size: addresses in one call, for mode batch
    ///
    /// At most 16,777,216.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = batch)]
    pub batch: usize,

    /// Number of threads that look up in the same table
    ///
    /// At most 1,024. The rate is the total of all threads, from the start of the first to the
    /// end of the last. More threads than CPUs take turns.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = threads,
        verbatim_doc_comment
    )]
    pub threads: usize,

    /// SIMD level: portable, scalar, avx2, avx512 [default: the CPU's best]
    #[arg(long, value_name = "LEVEL", value_parser = level(), hide_possible_values = true)]
    pub simd: Option<Level>,

    /// Seconds for each figure, over all passes
    #[arg(long, value_name = "S", default_value_t = 1.0, value_parser = seconds)]
    pub seconds: f64,

    /// Compute addresses in the timed loop, as the papers do
    ///
    /// For random, sequential and repeated traffic. By default addresses are read from an array.
    #[arg(long)]
    pub generate: bool,

    /// Key layout of a batch: host, pairs, network
    ///
    /// host     integers of the machine, 32 or 128 bits
    /// pairs    IPv6 as pairs of 64-bit integers; with -6 only
    /// network  bytes as on the wire, as in packets
    #[arg(
        long,
        value_enum,
        value_name = "LAYOUT",
        default_value = "host",
        hide_possible_values = true,
        verbatim_doc_comment
    )]
    pub keys: Keys,

    /// Measure the roofline: the rate of the memory reads of a batch alone
    ///
    /// A second loop makes as many reads of memory for each address as a lookup makes, from
    /// tables of the same sizes, but each read is independent of the others. Its rate is the
    /// roofline. The last column is the roofline divided by the rate of lookups. Engines that do
    /// not state their reads have no roofline.
    #[arg(long, verbatim_doc_comment)]
    pub roofline: bool,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,
}

impl BenchArgs {
    /// Returns the traffic to measure with.
    pub fn traffics(&self) -> Vec<TrafficChoice> {
        let usual = match self.generate {
            true => vec![Traffic::Random],
            false => vec![Traffic::Random, Traffic::Routed, Traffic::Zipf],
        };
        match &self.traffic[..] {
            [] => usual.into_iter().map(TrafficChoice::Pattern).collect(),
            traffics => traffics.to_vec(),
        }
    }

    /// Returns the modes to measure.
    ///
    /// # Errors
    /// If `--generate`, `--keys`, `--roofline` or `--batch` cannot be combined with another option.
    pub fn modes(&self) -> Result<Vec<Mode>, CliError> {
        if self.threads.saturating_mul(self.batch) > MAX_ANSWERS {
            let (threads, batch, most) = (self.threads, self.batch, MAX_ANSWERS / self.threads);
            return Err(CliError::new(format!(
                "--batch {batch}: {threads} threads together hold at most {} answers: \
                 use --batch {most} or less, or fewer --threads",
                thousands(MAX_ANSWERS as u64)
            )));
        }
        let computed = [Traffic::Random, Traffic::Sequential, Traffic::Repeated];
        let computed = computed.map(TrafficChoice::Pattern);
        if self.generate && !self.traffics().iter().all(|traffic| computed.contains(traffic)) {
            return Err(CliError::new(
                "--generate computes random, sequential and repeated addresses only: \
                 use --traffic random",
            ));
        }
        if self.generate && self.keys != Keys::Host {
            return Err(CliError::new("--generate computes integers: use --keys host"));
        }
        if self.keys != Keys::Host && self.mode.iter().any(|mode| *mode != Mode::Batch) {
            return Err(CliError::new("--keys applies to batches only: use --mode batch"));
        }
        if self.keys == Keys::Pairs && !self.families.ipv6 {
            return Err(CliError::new("--keys pairs applies to IPv6 only: use -6"));
        }
        let batches = self.mode.is_empty() || self.mode.contains(&Mode::Batch);
        if self.roofline && (self.generate || !batches) {
            return Err(CliError::new(
                "--roofline applies to batches of keys from an array: use --mode batch, \
                 without --generate",
            ));
        }
        Ok(match &self.mode[..] {
            [] if self.keys != Keys::Host => vec![Mode::Batch],
            [] => vec![Mode::One, Mode::Batch],
            modes => modes.to_vec(),
        })
    }
}
