//! A reader beside a [`Batcher`], which compiles the whole table again for each batch of updates.

use core::hint::black_box;
use core::time::Duration;
use std::thread;
use std::time::Instant;

use longmatch::live::{Batcher, Reader, Writer};
use longmatch::{Change, EngineSpec, NextHopId};
use longmatch_bench::{BenchFamily, pin};

use crate::context::WRONG;
use crate::inputs::Named;

/// Addresses that the reader looks up in one call.
const READER_BATCH: usize = 256;
/// Lookup calls between two readings of the clock.
const CALLS: usize = 64;
/// Answers compared with the routes at the end.
const COMPARED: usize = 1 << 16;
/// Pause of the thread that queues updates at a given rate.
const PAUSE: Duration = Duration::from_millis(1);

/// Lookups and updates over an interval.
pub(super) struct ReaderRates {
    /// Million lookups a second.
    pub reader: f64,
    /// Updates that became visible, a second.
    pub updates: f64,
}

/// A table that is compiled again on one CPU, and its reader on another.
pub(super) struct BatchedTable<'k, F: BenchFamily> {
    batcher: Batcher<F>,
    reader: Reader<F>,
    keys: &'k [F::Bits],
}

impl<'k, F: BenchFamily> BatchedTable<'k, F> {
    /// Compiles the table and pins the calling thread, which is the reader.
    ///
    /// # Errors
    /// If the engine cannot hold the table: the reason.
    pub fn start(spec: &str, named: Named<'_, F>, keys: &'k [F::Bits]) -> Result<Self, String> {
        let mut spec: EngineSpec = spec.parse().expect("a spec of an engine");
        spec.memory = named.memory;
        // A new thread inherits the CPU of the thread that starts it.
        pin::to(1);
        let writer = Writer::new(named.rib.clone(), spec).map_err(|error| error.to_string())?;
        let reader = writer.reader();
        let batcher = Batcher::new(writer, Duration::ZERO).map_err(|error| error.to_string())?;
        pin::to(0);
        Ok(Self { batcher, reader, keys })
    }

    /// Queues changes.
    ///
    /// # Errors
    /// If the engine refuses a batch: the reason.
    pub fn apply(&self, changes: &[Change<F>]) -> Result<(), String> {
        apply(&self.batcher, changes)
    }

    /// Waits until every queued change is visible.
    pub fn flush(&self) -> Result<(), String> {
        self.batcher.flush().map_err(|error| error.to_string())
    }

    /// Million lookups a second over `seconds`.
    pub fn rate(&mut self, seconds: f64) -> f64 {
        rate(&mut self.reader, self.keys, |elapsed| elapsed.as_secs_f64() < seconds)
    }

    /// ReaderRates while another thread queues `per_second` changes a second, or all at once, and then
    /// waits until they are visible.
    pub fn rates(
        &mut self,
        changes: &[Change<F>],
        per_second: Option<u32>,
    ) -> Result<ReaderRates, String> {
        let (batcher, reader, keys) = (&self.batcher, &mut self.reader, self.keys);
        thread::scope(|scope| {
            let updates = scope.spawn(move || {
                pin::to(1);
                let started = Instant::now();
                let mut rest = changes;
                while !rest.is_empty() {
                    let due = per_second.map_or(rest.len(), |per_second| {
                        let due = started.elapsed().as_secs_f64() * f64::from(per_second);
                        (due as usize + rest.len()).saturating_sub(changes.len()).min(rest.len())
                    });
                    let (now, later) = rest.split_at(due);
                    apply(batcher, now)?;
                    rest = later;
                    if !rest.is_empty() {
                        thread::sleep(PAUSE);
                    }
                }
                batcher.flush().map_err(|error| error.to_string())?;
                Ok(changes.len() as f64 / started.elapsed().as_secs_f64())
            });
            let reader = rate(reader, keys, |_| !updates.is_finished());
            let updates = updates.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            updates.map(|updates| ReaderRates { reader, updates })
        })
    }

    /// Ends the thread of the batcher and compares the reader's table with the routes.
    ///
    /// # Errors
    /// If an answer is wrong.
    pub fn finish(mut self) -> Result<(), String> {
        pin::free();
        let writer = self.batcher.end();
        let mut out = vec![None; self.keys.len().min(COMPARED)];
        self.reader.pin().lookup_batch(&self.keys[..out.len()], &mut out);
        let wrong = |(key, got): &(&F::Bits, &Option<NextHopId>)| {
            writer.rib().get_lpm(F::addr(**key)).map(|route| route.next_hop) != **got
        };
        match self.keys.iter().zip(&out).filter(wrong).count() {
            0 => Ok(()),
            wrong => Err(format!("{wrong} {WRONG}")),
        }
    }
}

fn apply<F: BenchFamily>(batcher: &Batcher<F>, changes: &[Change<F>]) -> Result<(), String> {
    changes.iter().try_for_each(|change| batcher.apply(*change)).map_err(|error| error.to_string())
}

/// Million lookups a second while `goes_on` of the time since the start.
fn rate<F: BenchFamily>(
    reader: &mut Reader<F>,
    keys: &[F::Bits],
    goes_on: impl Fn(Duration) -> bool,
) -> f64 {
    let mut out = [None; READER_BATCH];
    let mut batches = keys.chunks_exact(READER_BATCH).cycle();
    let mut online = reader.online();
    let (started, mut lookups) = (Instant::now(), 0);
    while goes_on(started.elapsed()) {
        for keys in batches.by_ref().take(CALLS) {
            online.table().lookup_batch(keys, &mut out);
            online.quiescent();
            black_box(&out);
            lookups += READER_BATCH;
        }
    }
    lookups as f64 / started.elapsed().as_secs_f64() / 1e6
}

#[cfg(test)]
mod tests {
    use longmatch::{Ipv4, Prefix};
    use longmatch_bench::testing::table4;

    use super::*;

    #[test]
    fn every_update_of_a_paced_writer_becomes_visible() {
        let rib = table4();
        let named = Named { name: "t", rib: &rib, memory: None, updates: None };
        let prefixes: Vec<Prefix<Ipv4>> = rib.iter().map(|route| route.prefix).collect();
        let changes: Vec<_> = prefixes.iter().copied().map(Change::Withdraw).collect();
        let keys: Vec<u32> = (0..4096).map(|i| i << 20).collect();
        for per_second in [None, Some(1000)] {
            let mut table = BatchedTable::start("sail", named, &keys).unwrap();
            let rates = table.rates(&changes, per_second).unwrap();
            assert!(rates.reader > 0.0 && rates.updates > 0.0);
            assert!(per_second.is_none_or(|most| rates.updates <= f64::from(most) * 1.01));
            assert_eq!(table.reader.pin().lookup(0x0a01_0203.into()), None);
            table.finish().unwrap();
        }
    }
}
