//! The record of a replay: one line of NDJSON.

use longmatch::Outcome;
use serde::Serialize;

use crate::mismatches::Mismatch;

/// Numbers of updates by their effect on the routes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct UpdateCounts {
    /// Announcements of prefixes without a route.
    pub new: u64,
    /// Announcements of routes that were present, which change nothing.
    pub same: u64,
    /// Announcements that changed the next hop of a prefix.
    pub changed: u64,
    /// Withdrawals of routes that were present.
    pub withdrawn: u64,
    /// Withdrawals of absent routes, which change nothing.
    pub unknown: u64,
}

impl UpdateCounts {
    /// Counts an update; returns whether it changed something.
    #[inline]
    pub(crate) fn count(&mut self, outcome: Outcome) -> bool {
        let (counter, effective) = match outcome {
            Outcome::New => (&mut self.new, true),
            Outcome::Same => (&mut self.same, false),
            Outcome::Replaced(_) => (&mut self.changed, true),
            Outcome::Withdrawn(_) => (&mut self.withdrawn, true),
            Outcome::Unknown => (&mut self.unknown, false),
        };
        *counter += 1;
        effective
    }

    /// Number of updates that changed something.
    pub fn effective(&self) -> u64 {
        self.new + self.changed + self.withdrawn
    }

    /// Number of all updates.
    pub fn updates(&self) -> u64 {
        self.effective() + self.same + self.unknown
    }
}

/// The measurement of one engine during a sequence of updates.
///
/// The names of the fields are the keys of the NDJSON. They are stable, because other programs read
/// them.
///
/// The time of an update includes changing the routes, one reading of the clock and, for the last
/// update of a batch, the commit. Quantiles of times are up to 1/64 too high; all else is exact.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ReplayRecord {
    /// Name of the engine.
    pub engine: &'static str,
    /// Variant of the engine after the last update.
    pub variant: String,
    /// `ipv4` or `ipv6`.
    pub family: &'static str,
    /// Number of routes before the first update.
    pub routes: usize,
    /// Number of routes after the last update.
    pub routes_after: usize,
    /// Number of updates.
    pub updates: u64,
    /// Numbers of updates by their effect.
    #[serde(flatten)]
    pub counts: UpdateCounts,
    /// Updates per commit.
    pub batch: usize,
    /// Mean time of an update, in microseconds.
    pub mean_us: f64,
    /// Mean time of an update that changed something, in microseconds, if there is one.
    ///
    /// It includes the times of other updates that committed a change.
    pub mean_effective_us: Option<f64>,
    /// Median time of an update, in microseconds.
    pub p50_us: f64,
    /// 99th percentile of the time of an update, in microseconds.
    pub p99_us: f64,
    /// 99.9th percentile of the time of an update, in microseconds.
    pub p999_us: f64,
    /// Time of the slowest update, in microseconds.
    pub max_us: f64,
    /// Mean number of entries of the first table that an update replaced.
    ///
    /// Recompilations do not count here and in the next two fields.
    pub entries_replaced: f64,
    /// Mean number of nodes that an update replaced.
    pub nodes_replaced: f64,
    /// Mean number of leaves or pages that an update replaced.
    pub leaves_replaced: f64,
    /// Number of commits that recompiled the table.
    pub recompiled: u64,
    /// Bytes of the table before the first update.
    pub bytes_before: usize,
    /// Bytes of the table after the last update.
    pub bytes_after: usize,
    /// Bytes of a table compiled from the routes after the last update.
    pub bytes_fresh: usize,
    /// Number of reader threads.
    pub readers: usize,
    /// Addresses in one call of a reader.
    pub reader_batch: usize,
    /// SIMD level of the readers.
    pub simd: &'static str,
    /// The microarchitecture: the name of a [`Microarch`](longmatch::simd::Microarch).
    pub microarch: &'static str,
    /// Million lookups a second of all readers together, without updates.
    pub reader_mlps_idle: Option<f64>,
    /// Million lookups a second of all readers together, during updates.
    pub reader_mlps_churn: Option<f64>,
    /// Median time of a *batch* of a reader without updates, in nanoseconds.
    ///
    /// Other load on the CPUs affects it much less than the rates.
    pub reader_p50_ns_idle: Option<u64>,
    /// Median time of a *batch* of a reader during updates, in nanoseconds.
    pub reader_p50_ns_churn: Option<u64>,
    /// 99.99th percentile of the time of a *batch* without updates, in nanoseconds.
    pub reader_p9999_ns_idle: Option<u64>,
    /// 99.99th percentile of the time of a *batch* during updates, in nanoseconds.
    pub reader_p9999_ns_churn: Option<u64>,
    /// Additional nanoseconds per lookup of a guard for each batch of 32.
    pub guard_ns: Option<f64>,
    /// Additional nanoseconds per lookup of a quiescent report after each batch of 32.
    pub report_ns: Option<f64>,
    /// Number of comparisons of the table with its routes.
    pub checkpoints: u64,
    /// Number of lookups in these comparisons.
    pub checked: u64,
    /// Number of wrong answers among them.
    pub mismatches: u64,
    /// `ok`, or the first broken invariant of the structure.
    pub check: String,
    /// The first wrong answers.
    #[serde(skip)]
    pub examples: Vec<Mismatch>,
}

impl ReplayRecord {
    /// Whether every answer was right and the structure was sound.
    pub fn is_right(&self) -> bool {
        self.mismatches == 0 && self.check == OK
    }

    /// The engine's name with its variant, for display.
    pub fn title(&self) -> String {
        format!("{} {}", self.engine, self.variant).trim_end().to_owned()
    }
}

/// Value of [`ReplayRecord::check`] for a sound structure.
pub(crate) const OK: &str = "ok";
