//! The timed loops, compiled separately for each engine.

use core::fmt;
use core::hint::black_box;
use core::marker::PhantomData;
use core::str::FromStr;
use std::time::{Duration, Instant};

use longmatch::simd::lanes::{Lanes, LanesWork};
use longmatch::simd::{Simd, Work};
use longmatch::{Bits, Engine, Family, Keys, MemoryUsage, NextHopId};

use crate::aligned::Aligned;
use crate::family::TrafficFamily;
use crate::generator::BLOCK;
use crate::kernel::Kernel;
use crate::key_stream::{KeyBlocks, KeyStream, batches};
use crate::random::Xorshift;
use crate::tally::UNWRITTEN;
use crate::ticks::ticks;

/// The loop around the lookups of a measurement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Mode {
    /// One address after the other, the lookup inlined; the CPU may overlap lookups.
    ///
    /// The papers' tables use it (DXR's RND).
    One,
    /// One call for a batch of addresses; the answers are written to memory.
    Batch,
    /// Each address computed from the previous answer: the latency (DXR's SEQ).
    Dependent,
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 3] = [Self::One, Self::Batch, Self::Dependent];

    /// Name in the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::Batch => "batch",
            Self::Dependent => "dependent",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Mode {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, &'static str> {
        let found = Self::ALL.into_iter().find(|mode| mode.name() == name);
        found.ok_or("expected one, batch or dependent")
    }
}

/// The unit of work between two readings of the time stamp counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Iteration {
    /// One lookup.
    One,
    /// One call for a batch of this many addresses.
    Batch(usize),
}

/// A loop over lookups that can be timed.
pub trait Pass<F: TrafficFamily>: Send + Sync {
    /// Looks up all keys of the stream and returns the exclusive or of the answers.
    ///
    /// In batches it includes only the last answer of each batch, because the time would include
    /// reading the others. Encoded keys are looked up in batches, in every mode.
    fn pass(&self, mode: Mode, simd: Simd, batch: usize, stream: KeyStream<'_, F>) -> u32;

    /// The time of [`Pass::pass`].
    fn time_pass(
        &self,
        mode: Mode,
        simd: Simd,
        batch: usize,
        stream: KeyStream<'_, F>,
    ) -> Duration {
        let start = Instant::now();
        black_box(self.pass(mode, simd, batch, stream));
        start.elapsed()
    }

    /// Whether the loop runs in the calling thread, not in another process.
    fn runs_in_process(&self) -> bool {
        true
    }
}

/// An engine or peer of a [`crate::Comparison`] with its type erased.
///
/// A pass costs one indirect call, a lookup none.
pub trait BenchTarget<F: TrafficFamily>: Pass<F> {
    /// [`longmatch::Structure::NAME`] of an engine, or the name of a peer.
    fn name(&self) -> &str;

    /// Whether it can look up in this mode.
    fn supports(&self, _mode: Mode) -> bool {
        true
    }

    /// The first error, if there was one; only a peer can fail.
    fn failure(&self) -> Option<String> {
        None
    }

    /// [`longmatch::Structure::variant`], or nothing for a peer.
    fn variant(&self) -> String;

    /// The parts of the structure that lookups read.
    fn memory(&self) -> MemoryUsage;

    /// [`Engine::reads`], or nothing for a peer.
    fn reads(&self) -> Vec<usize>;

    /// Looks up `keys` in batches and returns the answers.
    fn answers(
        &self,
        kernel: Kernel,
        simd: Simd,
        batch: usize,
        keys: &[F::Bits],
    ) -> Vec<Option<NextHopId>>;

    /// Fills `out` with the ticks of single iterations over random addresses.
    ///
    /// The addresses are those of random traffic with this seed. Ticks (see [`crate::ticks`]) above
    /// [`u16::MAX`] become this maximum.
    fn ticks(&self, simd: Simd, iteration: Iteration, seed: u64, out: &mut [u16]);

    /// Looks up keys of any layout with [`longmatch::Lookup::lookup_keys`], in batches.
    fn encoded_answers(
        &self,
        simd: Simd,
        batch: usize,
        keys: Keys<'_, F>,
    ) -> Vec<Option<NextHopId>>;
}

/// A compiled engine as a [`BenchTarget`].
pub(crate) struct EngineTarget<E>(pub E);

impl<F: TrafficFamily, E: Engine<F>> BenchTarget<F> for EngineTarget<E> {
    fn name(&self) -> &str {
        E::NAME
    }

    fn variant(&self) -> String {
        self.0.variant()
    }

    fn memory(&self) -> MemoryUsage {
        self.0.memory_usage()
    }

    fn reads(&self) -> Vec<usize> {
        Engine::reads(&self.0)
    }

    fn answers(
        &self,
        kernel: Kernel,
        simd: Simd,
        batch: usize,
        keys: &[F::Bits],
    ) -> Vec<Option<NextHopId>> {
        let mut all = vec![UNWRITTEN; keys.len()];
        for (keys, out) in keys.chunks(batch).zip(all.chunks_mut(batch)) {
            kernel.answer(&self.0, simd, keys, out);
        }
        all
    }

    fn ticks(&self, simd: Simd, iteration: Iteration, seed: u64, out: &mut [u16]) {
        let (engine, family) = (&self.0, PhantomData::<F>);
        match iteration {
            Iteration::One => run_single(simd, Ticks { engine, seed, out, family }),
            Iteration::Batch(batch) => {
                let mut random = Xorshift::new(seed);
                let (mut keys, mut answers) = (Aligned::new(batch), Aligned::new(batch));
                for out in out {
                    keys.iter_mut().for_each(|key| *key = F::random_address(&mut random));
                    let took = ticks(&*keys, |keys| {
                        engine.lookup_batch_with(simd, keys, &mut answers);
                        black_box(&*answers);
                    });
                    *out = took.min(u16::MAX.into()) as u16;
                }
            }
        }
    }

    fn encoded_answers(
        &self,
        simd: Simd,
        batch: usize,
        keys: Keys<'_, F>,
    ) -> Vec<Option<NextHopId>> {
        let mut all = vec![UNWRITTEN; keys.len()];
        for (keys, out) in batches(keys, 0, keys.len(), batch).zip(all.chunks_mut(batch)) {
            self.0.lookup_keys(simd, keys, out);
        }
        all
    }
}

impl<F: TrafficFamily, E: Engine<F>> Pass<F> for EngineTarget<E> {
    fn pass(&self, mode: Mode, simd: Simd, batch: usize, stream: KeyStream<'_, F>) -> u32 {
        let engine = &self.0;
        let block = match (mode, stream) {
            (Mode::Batch, _) => batch,
            (_, KeyStream::Generated { .. }) => BLOCK,
            _ => usize::MAX,
        };
        let mut blocks = match stream {
            KeyStream::EncodedKeys { keys, start, lookups } => {
                let mut batches = batches(keys, start, lookups, batch);
                return answer_each(batch, |out| {
                    batches.next().map(|keys| {
                        engine.lookup_keys(simd, keys, out);
                        keys.len()
                    })
                });
            }
            KeyStream::Array { keys, start, lookups } => {
                KeyBlocks::<F>::of_array(keys, start, lookups, block)
            }
            KeyStream::Generated { rule, seed, lookups } => {
                KeyBlocks::generated(rule, seed, lookups, block)
            }
        };
        match mode {
            Mode::One => run_single(simd, OneByOne { engine, blocks }),
            Mode::Dependent => run_single(simd, Dependent { engine, blocks, zero: black_box(0) }),
            Mode::Batch => answer_each(batch, |out| {
                blocks.next().map(|keys| {
                    engine.lookup_batch_with(simd, keys, out);
                    keys.len()
                })
            }),
        }
    }
}

/// Calls `answer`, which looks up one batch and returns its size, until there is none left.
///
/// This loop is compiled for the baseline, like a caller of the library; the engine's batch lookup
/// selects its kernel for the SIMD level.
fn answer_each(
    batch: usize,
    mut answer: impl FnMut(&mut [Option<NextHopId>]) -> Option<usize>,
) -> u32 {
    let mut out = Aligned::new(batch);
    let mut sum = 0;
    while let Some(count) = answer(&mut out) {
        // Prevents the compiler from removing the lookups of answers that the sum does not read.
        let out = black_box(&out[..count]);
        sum ^= NextHopId::to_raw(out[count - 1]);
    }
    sum
}

/// A loop of single lookups, each a call of the given function.
trait SingleLookups<F: Family, E> {
    type Output;

    fn run(self, lookup: impl Fn(&E, F::Bits) -> Option<NextHopId>) -> Self::Output;
}

struct Single<W, F, E>(W, PhantomData<(F, E)>);

impl<F: Family, E: Engine<F>, W: SingleLookups<F, E>> Work for Single<W, F, E> {
    type Output = W::Output;

    #[inline(always)]
    fn run(self) -> W::Output {
        self.0.run(E::lookup_bits)
    }
}

impl<F: Family, E: Engine<F>, W: SingleLookups<F, E>> LanesWork for Single<W, F, E> {
    type Output = W::Output;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> W::Output {
        self.0.run(|engine, addr| engine.lookup_in(lanes, addr))
    }
}

/// Runs a loop compiled for the level, in vectors if the engine has a use for them.
fn run_single<F: Family, E: Engine<F>, W: SingleLookups<F, E>>(simd: Simd, work: W) -> W::Output {
    let work = Single(work, PhantomData);
    let work = if E::VECTORS { simd.run_lanes(work) } else { Err(work) };
    work.unwrap_or_else(|work| simd.run(work))
}

struct OneByOne<'a, F: Family, E> {
    engine: &'a E,
    blocks: KeyBlocks<'a, F>,
}

impl<F: TrafficFamily, E: Engine<F>> SingleLookups<F, E> for OneByOne<'_, F, E> {
    type Output = u32;

    #[inline(always)]
    fn run(mut self, lookup: impl Fn(&E, F::Bits) -> Option<NextHopId>) -> u32 {
        let mut sum = 0;
        while let Some(keys) = self.blocks.next() {
            for key in keys {
                sum ^= NextHopId::to_raw(lookup(self.engine, *key));
            }
        }
        sum
    }
}

struct Ticks<'a, F, E> {
    engine: &'a E,
    seed: u64,
    out: &'a mut [u16],
    family: PhantomData<F>,
}

impl<F: TrafficFamily, E: Engine<F>> SingleLookups<F, E> for Ticks<'_, F, E> {
    type Output = ();

    #[inline(always)]
    fn run(self, lookup: impl Fn(&E, F::Bits) -> Option<NextHopId>) {
        let mut random = Xorshift::new(self.seed);
        for out in self.out {
            let took = ticks(F::random_address(&mut random), |key| lookup(self.engine, key));
            *out = took.min(u16::MAX.into()) as u16;
        }
    }
}

struct Dependent<'a, F: Family, E> {
    engine: &'a E,
    blocks: KeyBlocks<'a, F>,
    /// Always 0, which the compiler does not know.
    ///
    /// Masking an answer with it makes the next address depend on the answer without changing it.
    zero: u32,
}

impl<F: TrafficFamily, E: Engine<F>> SingleLookups<F, E> for Dependent<'_, F, E> {
    type Output = u32;

    #[inline(always)]
    fn run(mut self, lookup: impl Fn(&E, F::Bits) -> Option<NextHopId>) -> u32 {
        let (mut sum, mut answer) = (0, 0);
        while let Some(keys) = self.blocks.next() {
            for key in keys {
                let key = *key ^ F::Bits::from_u128((answer & self.zero).into());
                answer = NextHopId::to_raw(lookup(self.engine, key));
                sum ^= answer;
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoded_keys::EncodedKeys;
    use crate::generator::{KeyGenerator, KeyRule};
    use crate::testing::{WrongEngine, table4};
    use crate::{Oracle, Traffic};
    use longmatch::{Ipv4, KeyLayout, engine::radix::Radix};

    fn xor(answers: &[Option<NextHopId>]) -> u32 {
        answers.iter().fold(0, |sum, answer| sum ^ NextHopId::to_raw(*answer))
    }

    #[test]
    fn names_round_trip() {
        assert!(Mode::ALL.into_iter().all(|mode| mode.name().parse() == Ok(mode)));
        assert!("two".parse::<Mode>().is_err());
    }

    #[test]
    fn passes_return_the_sum_of_their_answers() {
        let rib = table4();
        let engine = EngineTarget(Radix::<Ipv4>::compile(&rib, &()).unwrap());
        let keys = Traffic::Zipf.keys(&rib, 1000, 1);
        let right = Oracle::new(&rib).answers(&keys);
        for simd in Simd::available() {
            for mode in [Mode::One, Mode::Dependent] {
                let pass = |start, lookups| {
                    engine.pass(mode, simd, 64, KeyStream::Array { keys: &keys, start, lookups })
                };
                assert_eq!(pass(0, 1000), xor(&right), "{mode}");
                assert_eq!(pass(10, 7), xor(&right[10..17]), "{mode}");
                assert_eq!(pass(990, 20), xor(&right[990..]) ^ xor(&right[..10]), "{mode}");
            }
            let last: Vec<_> = right.chunks(64).map(|batch| batch[batch.len() - 1]).collect();
            let stream = KeyStream::Array { keys: &keys, start: 0, lookups: 1000 };
            assert_eq!(engine.pass(Mode::Batch, simd, 64, stream), xor(&last));
            for kernel in Kernel::ALL {
                assert_eq!(engine.answers(kernel, simd, 64, &keys), right);
            }
            for layout in [KeyLayout::Host, KeyLayout::Network] {
                let encoded = EncodedKeys::<Ipv4>::new(&keys, layout);
                let keys = encoded.as_ref().map_or(Keys::host(&keys), EncodedKeys::keys);
                let stream = KeyStream::EncodedKeys { keys, start: 0, lookups: 1000 };
                assert_eq!(engine.pass(Mode::Batch, simd, 64, stream), xor(&last), "{layout:?}");
                assert_eq!(engine.encoded_answers(simd, 64, keys), right, "{layout:?}");
            }
        }
    }

    #[test]
    fn generated_keys_equal_those_of_an_array() {
        let rib = table4();
        let engine = EngineTarget(Radix::<Ipv4>::compile(&rib, &()).unwrap());
        for rule in [KeyRule::Random, KeyRule::Repeated(16), KeyRule::Sequential] {
            let keys = KeyGenerator::new(rule, 8, 3000).all::<Ipv4>();
            let array = KeyStream::Array { keys: &keys, start: 0, lookups: 3000 };
            let generated = KeyStream::Generated { rule, seed: 8, lookups: 3000 };
            for mode in Mode::ALL {
                let pass = |stream| engine.pass(mode, Simd::best(), 100, stream);
                assert_eq!(pass(generated), pass(array), "{rule:?} {mode}");
            }
        }
    }

    #[test]
    fn wrong_answers_are_returned() {
        let rib = table4();
        let radix = Radix::<Ipv4>::compile(&rib, &()).unwrap();
        let engine = EngineTarget(WrongEngine { engine: radix, at: 7, batch_only: true });
        let answers = |kernel| engine.answers(kernel, Simd::best(), 2, &[5, 6, 7]);
        assert_eq!(answers(Kernel::Each), [None; 3]);
        assert_eq!(answers(Kernel::Batch), [None, None, NextHopId::new(1)]);
    }
}
