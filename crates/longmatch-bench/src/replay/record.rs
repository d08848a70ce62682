//! What a replay says: one line of NDJSON.

use longmatch::Outcome;
use serde::Serialize;

use crate::verdict::Mismatch;

/// Updates by what they did to the routes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Kinds {
    /// Routes for prefixes that had none.
    pub new: u64,
    /// Announcements of a route that was there: nothing changed.
    pub same: u64,
    /// Other next hops for prefixes that had one.
    pub changed: u64,
    /// Routes that were taken away.
    pub withdrawn: u64,
    /// Withdrawals of routes that were not there: nothing changed.
    pub unknown: u64,
}

impl Kinds {
    /// Counts one; whether it has changed something.
    #[inline]
    pub(crate) fn note(&mut self, outcome: Outcome) -> bool {
        let (kind, effective) = match outcome {
            Outcome::New => (&mut self.new, true),
            Outcome::Same => (&mut self.same, false),
            Outcome::Replaced(_) => (&mut self.changed, true),
            Outcome::Withdrawn(_) => (&mut self.withdrawn, true),
            Outcome::Unknown => (&mut self.unknown, false),
        };
        *kind += 1;
        effective
    }

    /// All that changed something.
    pub fn effective(&self) -> u64 {
        self.new + self.changed + self.withdrawn
    }

    /// All.
    pub fn updates(&self) -> u64 {
        self.effective() + self.same + self.unknown
    }
}

/// One engine under a sequence of updates. The names of the fields are the keys of the NDJSON,
/// which others read: they do not change.
///
/// The time of an update is that of applying it to the routes and, if it is the last one of its
/// batch, of committing the batch; one reading of the clock is in it. Quantiles of times are up
/// to 1/64 too high, everything else is exact.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ReplayRecord {
    /// The engine.
    pub engine: &'static str,
    /// The choices made when compiling it, as they are at the end.
    pub variant: String,
    /// `ipv4` or `ipv6`.
    pub family: &'static str,
    /// Routes at the beginning.
    pub routes: usize,
    /// Routes at the end.
    pub routes_after: usize,
    /// Updates.
    pub updates: u64,
    /// What they did.
    #[serde(flatten)]
    pub kinds: Kinds,
    /// Updates for each commit.
    pub batch: usize,
    /// Microseconds an update took on average.
    pub mean_us: f64,
    /// Microseconds that updates took which changed something, and those that committed such ones,
    /// divided by the number of updates that changed something. Nothing when none did.
    pub mean_effective_us: Option<f64>,
    /// Microseconds that half of all updates did not exceed.
    pub p50_us: f64,
    /// Microseconds that 99 % of all updates did not exceed.
    pub p99_us: f64,
    /// Microseconds that 99.9 % of all updates did not exceed.
    pub p999_us: f64,
    /// Microseconds of the slowest update.
    pub max_us: f64,
    /// Entries of the first table that were replaced, divided by the number of all updates. What a
    /// table replaces that is compiled again as a whole does not count, here and in the next two.
    pub entries_replaced: f64,
    /// Nodes that were replaced, divided by the number of all updates.
    pub nodes_replaced: f64,
    /// Leaves, or pages, that were replaced, divided by the number of all updates.
    pub leaves_replaced: f64,
    /// Commits for which the table was compiled again as a whole.
    pub recompiled: u64,
    /// Bytes of the table at the beginning.
    pub bytes_before: usize,
    /// Bytes of the table at the end.
    pub bytes_after: usize,
    /// Bytes of a table that is compiled from the routes at the end.
    pub bytes_fresh: usize,
    /// Threads that looked up meanwhile.
    pub readers: usize,
    /// Addresses that they looked up in one call.
    pub reader_batch: usize,
    /// The instructions with which they did.
    pub simd: &'static str,
    /// Million lookups a second of all readers together, while nothing changed.
    pub reader_mlps_idle: Option<f64>,
    /// The same while updates were replayed.
    pub reader_mlps_churn: Option<f64>,
    /// Nanoseconds that half of the readers' *batches* did not exceed, while nothing changed. What
    /// else runs on the CPUs is in the rates, and hardly in this.
    pub reader_p50_ns_idle: Option<u64>,
    /// The same while updates were replayed.
    pub reader_p50_ns_churn: Option<u64>,
    /// Nanoseconds that 99.99 % of the readers' *batches* did not exceed, while nothing changed.
    pub reader_p9999_ns_idle: Option<u64>,
    /// The same while updates were replayed.
    pub reader_p9999_ns_churn: Option<u64>,
    /// Nanoseconds a lookup that a guard for each batch of 32 costs, beside one for all of them.
    pub guard_ns: Option<f64>,
    /// Nanoseconds a lookup that a report after each batch of 32 costs.
    pub report_ns: Option<f64>,
    /// How often the table was compared with its routes.
    pub checkpoints: u64,
    /// Lookups with which it was.
    pub checked: u64,
    /// Wrong answers among them.
    pub mismatches: u64,
    /// `ok`, or the first broken invariant of the structure.
    pub check: String,
    /// The first wrong answers.
    #[serde(skip)]
    pub examples: Vec<Mismatch>,
}

impl ReplayRecord {
    /// Whether every answer was right, and the structure sound.
    pub fn is_right(&self) -> bool {
        self.mismatches == 0 && self.check == OK
    }

    /// The engine with its variant, as it is shown to people.
    pub fn title(&self) -> String {
        format!("{} {}", self.engine, self.variant).trim_end().to_owned()
    }
}

/// What stands for a sound structure.
pub(crate) const OK: &str = "ok";
