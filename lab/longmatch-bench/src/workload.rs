//! Traffic prepared for measurements.

use longmatch::{KeyLayout, Keys, NextHopId};

use crate::aligned::Aligned;
use crate::encoded_keys::EncodedKeys;
use crate::family::TrafficFamily;
use crate::key_stream::KeyStream;
use crate::mode::Mode;
use crate::oracle::Oracle;
use crate::traffic::Traffic;

/// Number of keys whose answers are checked before a measurement.
pub(crate) const CHECKED: usize = 1 << 20;
/// Number of places of the traffic from which the checked keys are taken.
const PLACES: usize = 16;

/// The keys of some traffic, and the right answers of a sample of them.
pub struct Workload<F: TrafficFamily> {
    traffic: Traffic,
    seed: u64,
    keys: Aligned<F::Bits>,
    /// The beginnings of routes from which a generator draws.
    leads: Vec<u32>,
    checked: Vec<F::Bits>,
    answers: Vec<Option<NextHopId>>,
    /// All keys and the checked keys, in another layout.
    encoded: Option<[EncodedKeys; 2]>,
}

impl<F: TrafficFamily> Workload<F> {
    /// A workload of `keys`, which are not empty.
    pub(crate) fn new(
        traffic: &Traffic,
        seed: u64,
        keys: Vec<F::Bits>,
        leads: Vec<u32>,
        oracle: &Oracle<F>,
        checked: usize,
    ) -> Self {
        // Sequential traffic differs from place to place, so the sample comes from all over it.
        let (place_len, sample_len) = (keys.len().div_ceil(PLACES), checked.div_ceil(PLACES));
        let checked: Vec<_> = keys
            .chunks(place_len)
            .flat_map(|chunk| &chunk[..chunk.len().min(sample_len)])
            .copied()
            .collect();
        let answers = oracle.answers(&checked);
        let keys = Aligned::copy_of(&keys);
        Self { traffic: traffic.clone(), seed, keys, leads, checked, answers, encoded: None }
    }

    /// The same workload with its keys in `layout` for mode batch.
    ///
    /// The other modes look up integers, and so does mode batch if the family lacks the layout.
    #[must_use]
    pub fn encoded_as(mut self, layout: KeyLayout) -> Self {
        let checked = EncodedKeys::new::<F>(&self.checked, layout);
        let encoded = EncodedKeys::new::<F>(&self.keys, layout).zip(checked);
        self.encoded = encoded.map(|(keys, checked)| [keys, checked]);
        self
    }

    /// The traffic of the keys.
    pub fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// All keys, as integers.
    pub fn keys(&self) -> &[F::Bits] {
        &self.keys
    }

    /// The layout of the keys in a mode.
    pub fn layout(&self, mode: Mode) -> KeyLayout {
        self.keys_in(mode)[0].layout()
    }

    /// All keys and the checked keys, in the layout of a mode.
    fn keys_in(&self, mode: Mode) -> [Keys<'_, F>; 2] {
        match &self.encoded {
            Some(encoded) if mode == Mode::Batch => encoded.each_ref().map(EncodedKeys::keys),
            _ => [Keys::host(&self.keys), Keys::host(&self.checked)],
        }
    }

    /// Number of keys whose answers each kernel must give before a measurement.
    pub fn checked(&self) -> usize {
        self.checked.len()
    }

    /// Share of the checked keys that have a route.
    pub fn routed(&self) -> f64 {
        let routed = self.answers.iter().filter(|answer| answer.is_some()).count();
        routed as f64 / self.answers.len().max(1) as f64
    }

    /// The checked keys and their right answers.
    pub(crate) fn checked_keys(&self) -> (&[F::Bits], &[Option<NextHopId>]) {
        (&self.checked, &self.answers)
    }

    /// The checked keys in the layout of mode batch.
    pub(crate) fn checked_batch_keys(&self) -> Keys<'_, F> {
        self.keys_in(Mode::Batch)[1]
    }

    /// A stream of the checked keys.
    pub(crate) fn checked_stream(&self, mode: Mode) -> KeyStream<'_, F> {
        let [_, keys] = self.keys_in(mode);
        KeyStream::Array { keys, start: 0, lookups: keys.len() }
    }

    /// A stream of `lookups` keys that the timed loop computes; `None` if they need an array.
    pub(crate) fn generated(&self, part: usize, lookups: usize) -> Option<KeyStream<'_, F>> {
        let (rule, seed) = (self.traffic.rule::<F>(&self.leads)?, self.seed + part as u64);
        Some(KeyStream::Generated { rule, seed, lookups })
    }

    /// A stream of `lookups` keys from index `start` on.
    pub(crate) fn stream(&self, mode: Mode, start: usize, lookups: usize) -> KeyStream<'_, F> {
        let [keys, _] = self.keys_in(mode);
        KeyStream::Array { keys, start, lookups }
    }
}
