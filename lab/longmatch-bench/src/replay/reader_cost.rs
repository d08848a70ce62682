//! Cost that updates impose on readers: a guard or a quiescent report.

use std::hint::black_box;
use std::time::Instant;

use longmatch::NextHopId;
use longmatch::live::Reader;

use crate::aligned::Aligned;
use crate::family::TrafficFamily;
use crate::stats::Stats;

/// Addresses looked up under one guard, or between two quiescent reports.
pub const READER_COST_BATCH: usize = 32;
/// Addresses of a pass, the same for all passes, so that the caches are warm.
const KEYS: usize = 1 << 14;
/// Passes that count. A first one does not.
const PASSES: usize = 101;

/// Additional nanoseconds per lookup of a guard for each batch, and of a quiescent report after each batch.
///
/// They are compared with one guard for all lookups, which are in batches of [`READER_COST_BATCH`]: medians of the
/// differences of interleaved passes.
pub(crate) fn measure<F: TrafficFamily>(mut reader: Reader<F>, keys: &[F::Bits]) -> [f64; 2] {
    let keys = &keys[..keys.len().min(KEYS)];
    let mut out = Aligned::new(READER_COST_BATCH);
    let mut differences = [(); 2].map(|()| Vec::with_capacity(PASSES));
    for pass in 0..=PASSES {
        let baseline = one_guard(&mut reader, keys, &mut out);
        let passes = [
            guard_per_batch(&mut reader, keys, &mut out),
            report_per_batch(&mut reader, keys, &mut out),
        ];
        if pass == 0 {
            continue;
        }
        for (differences, ns) in differences.iter_mut().zip(passes) {
            differences.push((ns - baseline) / keys.len().max(1) as f64);
        }
    }
    differences.map(|all: Vec<f64>| Stats::of(&all).map_or(0.0, |stats| stats.median))
}

type Answers = Aligned<Option<NextHopId>>;

/// Measures the nanoseconds of `look_up` for all batches of the keys.
#[inline(always)]
fn nanoseconds<K>(
    keys: &[K],
    out: &mut Answers,
    mut look_up: impl FnMut(&[K], &mut [Option<NextHopId>]),
) -> f64 {
    let began = Instant::now();
    for keys in keys.chunks(READER_COST_BATCH) {
        look_up(keys, &mut out[..keys.len()]);
        black_box(&*out);
    }
    began.elapsed().as_nanos() as f64
}

#[inline(never)]
fn one_guard<F: TrafficFamily>(reader: &mut Reader<F>, keys: &[F::Bits], out: &mut Answers) -> f64 {
    let table = reader.pin();
    nanoseconds(keys, out, |keys, out| table.lookup_batch(keys, out))
}

#[inline(never)]
fn guard_per_batch<F: TrafficFamily>(
    reader: &mut Reader<F>,
    keys: &[F::Bits],
    out: &mut Answers,
) -> f64 {
    nanoseconds(keys, out, |keys, out| reader.pin().lookup_batch(keys, out))
}

#[inline(never)]
fn report_per_batch<F: TrafficFamily>(
    reader: &mut Reader<F>,
    keys: &[F::Bits],
    out: &mut Answers,
) -> f64 {
    let mut online = reader.online();
    nanoseconds(keys, out, |keys, out| {
        online.table().lookup_batch(keys, out);
        online.quiescent();
    })
}
