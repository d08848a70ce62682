//! Directories, tables and the comparison with the oracle, for the tests of peers.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use longmatch::{Bits, NextHopId, Prefix, Rib};
use longmatch_bench::{
    BenchFamily, Oracle, Peer, PeerError, PeerLoaded, Traffic, Xorshift, pass_sum,
};

/// Keys of a batch; it makes the last batch of a pass shorter.
const BATCH: usize = 100;

/// An unused directory name.
pub fn fresh_dir() -> PathBuf {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("longmatch peer {}-{number}", std::process::id()))
}

/// The absolute path of a file in this repository.
pub fn in_repository(path: &str) -> PathBuf {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    std::path::absolute(root).unwrap().join(path)
}

/// `each` random routes of every length, some nested, with next hops in `1..=hops`.
pub fn all_lengths<F: BenchFamily>(each: usize, hops: u32, seed: u64) -> Rib<F> {
    let mut random = Xorshift::new(seed);
    let mut rib = Rib::new();
    let mut last = F::Bits::ZERO;
    for len in (0..=F::WIDTH).rev() {
        for _ in 0..each {
            // Half of the prefixes are close to the previous one.
            if random.below(2) == 0 {
                last = F::random_bits(&mut random);
            } else {
                let near = F::Bits::MAX ^ F::Bits::mask(F::WIDTH - random.below(9) as u8);
                last = last ^ (F::random_bits(&mut random) & near);
            }
            let hop = NextHopId::new(1 + random.below(hops as usize) as u32).unwrap();
            rib.insert(Prefix::from_bits_masked(last, len), hop).unwrap();
        }
    }
    rib
}

/// Both ends of every range, and `count` addresses of each kind of traffic.
pub fn keys<F: BenchFamily>(rib: &Rib<F>, count: usize) -> Vec<F::Bits> {
    let ranges = rib.ranges().flat_map(|range| [range.first, range.last]);
    let traffic = [Traffic::Random, Traffic::Routed].map(|traffic| traffic.keys(rib, count, 7));
    ranges.chain(traffic.concat()).collect()
}

/// Loads a table and compares answers and sums of passes with the oracle.
///
/// # Panics
/// If the peer fails, or an answer is wrong.
pub fn compare<F: BenchFamily>(peer: &mut Peer, rib: &Rib<F>, keys: &[F::Bits]) -> PeerLoaded {
    let loaded = peer.load(rib).unwrap_or_else(|error| panic!("{error}"));
    compare_answers(peer, rib, keys).unwrap_or_else(|problem| panic!("{problem}"));
    loaded
}

/// Compares answers and sums of passes of a loaded table with the oracle.
///
/// # Errors
/// A text with the first wrong answer or sum.
pub fn compare_answers<F: BenchFamily>(
    peer: &mut Peer,
    rib: &Rib<F>,
    keys: &[F::Bits],
) -> Result<(), String> {
    let text = |error: PeerError| error.to_string();
    peer.set_keys::<F>(keys).map_err(text)?;
    let right = Oracle::new(rib).answers(keys);
    for mode in peer.hello().modes.clone() {
        let answers = peer.answers::<F>(mode, BATCH).map_err(text)?;
        let wrong: Vec<_> = (0..keys.len()).filter(|i| answers[*i] != right[*i]).collect();
        if let Some(i) = wrong.first() {
            let (addr, answer, right) = (F::addr(keys[*i]), answers[*i], right[*i]);
            let of = format!("{} of {} answers are wrong", wrong.len(), keys.len());
            return Err(format!("mode {mode}: {of}: {addr} has {answer:?}, not {right:?}"));
        }
        let (all, half) = (keys.len(), keys.len() / 2);
        for (start, lookups) in [(0, all), (half, all), (all - 1, 7)] {
            let time = peer.time::<F>(mode, BATCH, start, lookups).map_err(text)?;
            let sum = pass_sum(&right, mode, BATCH, start, lookups);
            if time.sum != sum {
                let pass = format!("mode {mode}, {lookups} lookups from {start}");
                return Err(format!("{pass}: the sum is {}, not {sum}", time.sum));
            }
        }
    }
    Ok(())
}
