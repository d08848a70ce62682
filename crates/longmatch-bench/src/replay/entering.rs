//! What it costs readers that the table may change: entering it with a guard, or reporting.

use std::hint::black_box;
use std::time::Instant;

use longmatch::NextHopId;
use longmatch::live::Reader;

use crate::aligned::Aligned;
use crate::family::BenchFamily;
use crate::stats::Stats;

/// Addresses that are looked up between two reports, or under one guard.
pub const ENTERING_BATCH: usize = 32;
/// Addresses of a pass. They come again in each, so that caches are no matter.
const KEYS: usize = 1 << 14;
/// Passes that count. One before them does not.
const PASSES: usize = 101;

/// Nanoseconds a lookup more than the same lookups under one guard take, in batches of
/// [`ENTERING_BATCH`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Entering {
    /// With a guard for each batch.
    pub guard_ns: f64,
    /// With a report after each batch.
    pub report_ns: f64,
}

impl Entering {
    /// Measures the three ways in turn, pass by pass; the medians of the differences within each
    /// turn.
    pub fn measure<F: BenchFamily>(mut reader: Reader<F>, keys: &[F::Bits]) -> Self {
        let keys = &keys[..keys.len().min(KEYS)];
        let mut out = Aligned::new(ENTERING_BATCH);
        let mut differences = [(); 2].map(|()| Vec::with_capacity(PASSES));
        for pass in 0..=PASSES {
            let once = once(&mut reader, keys, &mut out);
            let ways = [guards(&mut reader, keys, &mut out), reports(&mut reader, keys, &mut out)];
            if pass == 0 {
                continue;
            }
            for (differences, way) in differences.iter_mut().zip(ways) {
                differences.push((way - once) / keys.len().max(1) as f64);
            }
        }
        let median = |all: Vec<f64>| Stats::of(&all).map_or(0.0, |stats| stats.median);
        let [guard_ns, report_ns] = differences.map(median);
        Self { guard_ns, report_ns }
    }
}

type Answers = Aligned<Option<NextHopId>>;

/// The nanoseconds that something takes with each batch of the keys.
#[inline(always)]
fn nanoseconds<K>(
    keys: &[K],
    out: &mut Answers,
    mut look_up: impl FnMut(&[K], &mut [Option<NextHopId>]),
) -> f64 {
    let began = Instant::now();
    for keys in keys.chunks(ENTERING_BATCH) {
        look_up(keys, &mut out[..keys.len()]);
        black_box(&*out);
    }
    began.elapsed().as_nanos() as f64
}

#[inline(never)]
fn once<F: BenchFamily>(reader: &mut Reader<F>, keys: &[F::Bits], out: &mut Answers) -> f64 {
    let table = reader.pin();
    nanoseconds(keys, out, |keys, out| table.lookup_batch(keys, out))
}

#[inline(never)]
fn guards<F: BenchFamily>(reader: &mut Reader<F>, keys: &[F::Bits], out: &mut Answers) -> f64 {
    nanoseconds(keys, out, |keys, out| reader.pin().lookup_batch(keys, out))
}

#[inline(never)]
fn reports<F: BenchFamily>(reader: &mut Reader<F>, keys: &[F::Bits], out: &mut Answers) -> f64 {
    let mut online = reader.online();
    nanoseconds(keys, out, |keys, out| {
        online.table().lookup_batch(keys, out);
        online.quiescent();
    })
}
