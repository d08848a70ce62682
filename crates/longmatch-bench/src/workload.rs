//! Traffic made ready to be measured with.

use longmatch::{KeyLayout, Keys, NextHopId};

use crate::aligned::Aligned;
use crate::encoded_keys::EncodedKeys;
use crate::family::BenchFamily;
use crate::key_stream::KeyStream;
use crate::oracle::Oracle;
use crate::target::Mode;
use crate::traffic::Traffic;

/// Keys whose answers are checked before a measurement.
pub(crate) const CHECKED: usize = 1 << 20;
/// They are taken from the traffic in so many places.
const PLACES: usize = 16;

/// Traffic made ready: its keys, and the right answers of some of them.
pub struct Workload<F: BenchFamily> {
    traffic: Traffic,
    seed: u64,
    keys: Aligned<F::Bits>,
    checked: Vec<F::Bits>,
    answers: Vec<Option<NextHopId>>,
    /// The keys and the checked ones in another form.
    held: Option<[EncodedKeys<F>; 2]>,
}

impl<F: BenchFamily> Workload<F> {
    /// Of keys, at least one.
    pub(crate) fn new(
        traffic: &Traffic,
        seed: u64,
        keys: Vec<F::Bits>,
        oracle: &Oracle<F>,
        checked: usize,
    ) -> Self {
        // Stats over the array: the start of a stream upwards is not like the rest of it.
        let (place, taken) = (keys.len().div_ceil(PLACES), checked.div_ceil(PLACES));
        let checked: Vec<_> = keys
            .chunks(place)
            .flat_map(|chunk| &chunk[..chunk.len().min(taken)])
            .copied()
            .collect();
        let answers = oracle.answers(&checked);
        let keys = Aligned::copied(&keys);
        Self { traffic: traffic.clone(), seed, keys, checked, answers, held: None }
    }

    /// The same keys, held in that form for batches. One after the other they are integers
    /// always, and where the family does not have the form they stay integers.
    #[must_use]
    pub fn encoded_as(mut self, form: KeyLayout) -> Self {
        let held = EncodedKeys::new(&self.keys, form).zip(EncodedKeys::new(&self.checked, form));
        self.held = held.map(|(keys, checked)| [keys, checked]);
        self
    }

    /// The traffic.
    pub fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// The keys.
    pub fn keys(&self) -> &[F::Bits] {
        &self.keys
    }

    /// The form in which a mode looks up the keys.
    pub fn form(&self, mode: Mode) -> KeyLayout {
        match &self.held {
            Some([keys, _]) if mode == Mode::Batch => keys.keys().layout(),
            _ => KeyLayout::Host,
        }
    }

    /// The seed that made the keys.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// How many answers of each kernel are checked before a measurement.
    pub fn checked(&self) -> usize {
        self.checked.len()
    }

    /// The share of the checked keys that have a route.
    pub fn routed(&self) -> f64 {
        let routed = self.answers.iter().filter(|answer| answer.is_some()).count();
        routed as f64 / self.answers.len().max(1) as f64
    }

    /// The keys to be checked and the right answers to them.
    pub(crate) fn cases(&self) -> (&[F::Bits], &[Option<NextHopId>]) {
        (&self.checked, &self.answers)
    }

    /// The keys to be checked in the form in which they are held.
    pub(crate) fn encoded_cases(&self) -> Option<Keys<'_, F>> {
        self.held.as_ref().map(|[_, checked]| checked.keys())
    }

    /// A stream over the keys to be checked.
    pub(crate) fn stream_of_cases(&self, mode: Mode) -> KeyStream<'_, F> {
        let (keys, lookups) = (&self.checked[..], self.checked.len());
        match self.encoded_cases() {
            Some(keys) if mode == Mode::Batch => KeyStream::EncodedKeys { keys, start: 0, lookups },
            _ => KeyStream::Array { keys, start: 0, lookups },
        }
    }

    /// A stream over so many keys, from `start` on.
    pub(crate) fn stream(&self, mode: Mode, start: usize, lookups: usize) -> KeyStream<'_, F> {
        match &self.held {
            Some([keys, _]) if mode == Mode::Batch => {
                KeyStream::EncodedKeys { keys: keys.keys(), start, lookups }
            }
            _ => KeyStream::Array { keys: &self.keys, start, lookups },
        }
    }
}
