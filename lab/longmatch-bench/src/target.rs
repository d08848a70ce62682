//! The timed loops, compiled separately for each engine.

use core::hint::black_box;
use core::marker::PhantomData;
use std::time::{Duration, Instant};

use longmatch::simd::Simd;
use longmatch::{Engine, Keys, MemoryUsage, NextHopId};

use crate::aligned::Aligned;
use crate::family::TrafficFamily;
use crate::generator::{BLOCK, KeyRule, SpiderKeys};
use crate::kernel::Kernel;
use crate::key_stream::{KeyBlocks, KeyStream, batches};
use crate::mismatches::UNWRITTEN;
use crate::mode::Mode;
use crate::random::Xorshift;
use crate::run_config::RunConfig;
use crate::single::{OneByOne, Ticks, run_single};
use crate::ticks::ticks;

/// The unit of work between two readings of the time stamp counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Iteration {
    /// One lookup.
    One,
    /// One call for a batch of this many addresses.
    Batch(usize),
}

/// Result of a timed loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timed {
    /// The exclusive or of the answers.
    pub sum: u32,
    /// The time of the loop, without the preparation of its arrays.
    pub took: Duration,
}

impl Timed {
    /// Times a loop that returns its sum.
    pub(crate) fn of(work: impl FnOnce() -> u32) -> Self {
        let start = Instant::now();
        let sum = black_box(work());
        Self { sum, took: start.elapsed() }
    }
}

/// A loop over lookups that can be timed.
pub trait Pass<F: TrafficFamily>: Send + Sync {
    /// Looks up all keys of the stream.
    ///
    /// In batches the sum includes only the last answer of each batch, because the time would
    /// include reading the others.
    fn pass(&self, config: &RunConfig, stream: KeyStream<'_, F>) -> Timed;

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
    fn variant(&self) -> String {
        String::new()
    }

    /// The parts of the structure that lookups read.
    fn memory(&self) -> MemoryUsage;

    /// [`Engine::reads`], or nothing for a peer.
    fn reads(&self) -> Vec<usize> {
        Vec::new()
    }

    /// Looks up `keys` in batches and returns the answers.
    ///
    /// Keys in another layout than integers are looked up with [`longmatch::Lookup::lookup_keys`].
    fn answers(
        &self,
        kernel: Kernel,
        simd: Simd,
        batch: usize,
        keys: Keys<'_, F>,
    ) -> Vec<Option<NextHopId>>;

    /// Fills `out` with the ticks of single iterations over random addresses.
    ///
    /// The addresses are those of random traffic with this seed. Ticks (see [`crate::ticks`]) above
    /// [`u16::MAX`] become this maximum. A peer leaves `out` as it is.
    fn ticks(&self, _simd: Simd, _iteration: Iteration, _seed: u64, _out: &mut [u16]) {}
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
        keys: Keys<'_, F>,
    ) -> Vec<Option<NextHopId>> {
        let mut all = vec![UNWRITTEN; keys.len()];
        for (keys, out) in batches(keys, 0, keys.len(), batch).zip(all.chunks_mut(batch)) {
            match keys.as_host() {
                Some(keys) => kernel.answer(&self.0, simd, keys, out),
                None => self.0.lookup_keys(simd, keys, out),
            }
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
}

impl<F: TrafficFamily, E: Engine<F>> Pass<F> for EngineTarget<E> {
    fn pass(&self, config: &RunConfig, stream: KeyStream<'_, F>) -> Timed {
        let RunConfig { mode, simd, batch, store, .. } = *config;
        let engine = &self.0;
        let mut blocks = match stream {
            KeyStream::Array { keys, start, lookups } => match keys.as_host() {
                Some(keys) => {
                    let block = if mode == Mode::Batch { batch } else { usize::MAX };
                    KeyBlocks::<F>::of_array(keys, start, lookups, block)
                }
                None => {
                    let mut batches = batches(keys, start, lookups, batch);
                    return answer_each(batch, |out| {
                        batches.next().map(|keys| {
                            engine.lookup_keys(simd, keys, out);
                            keys.len()
                        })
                    });
                }
            },
            KeyStream::Generated { rule, seed, lookups } => {
                if let (Mode::Batch, KeyRule::Spider(leads)) = (mode, rule) {
                    let keys = SpiderKeys::new(leads, seed);
                    if let Some(timed) = iterate::<F, E>(engine, simd, batch, lookups, keys) {
                        return timed;
                    }
                }
                let block = if mode == Mode::Batch { batch } else { BLOCK };
                KeyBlocks::generated(rule, seed, lookups, block)
            }
        };
        if mode == Mode::Batch {
            return answer_each(batch, |out| {
                blocks.next().map(|keys| {
                    engine.lookup_batch_with(simd, keys, out);
                    keys.len()
                })
            });
        }
        let mut out = Aligned::new(if store { blocks.longest() } else { 0 });
        // Touches every page, so that the loop has no page faults.
        out.fill(u16::MAX);
        let out = &mut *out;
        Timed::of(|| match (mode, store) {
            (Mode::Dependent, false) => {
                run_single(simd, OneByOne::<F, E, true, false> { engine, blocks, out })
            }
            (Mode::Dependent, true) => {
                run_single(simd, OneByOne::<F, E, true, true> { engine, blocks, out })
            }
            (_, false) => run_single(simd, OneByOne::<F, E, false, false> { engine, blocks, out }),
            (_, true) => run_single(simd, OneByOne::<F, E, false, true> { engine, blocks, out }),
        })
    }
}

/// Times [`longmatch::Structure::iterate`] if the engine has iterations of this many ways.
fn iterate<F: TrafficFamily, E: Engine<F>>(
    engine: &E,
    simd: Simd,
    ways: usize,
    lookups: usize,
    mut generator: SpiderKeys<'_>,
) -> Option<Timed> {
    let start = Instant::now();
    let sum = engine.iterate(
        simd,
        ways,
        lookups,
        #[inline(always)]
        move || generator.words::<F>(),
    )?;
    Some(Timed { sum: black_box(sum), took: start.elapsed() })
}

/// Calls `answer`, which looks up one batch and returns its size, until there is none left.
///
/// This loop is compiled for the baseline, like a caller of the library; the engine's batch lookup
/// selects its kernel for the SIMD level.
fn answer_each(
    batch: usize,
    mut answer: impl FnMut(&mut [Option<NextHopId>]) -> Option<usize>,
) -> Timed {
    let mut out = Aligned::new(batch);
    Timed::of(|| {
        let mut sum = 0;
        while let Some(count) = answer(&mut out) {
            // Prevents the compiler from removing the lookups of answers that the sum does not read.
            let out = black_box(&out[..count]);
            sum ^= NextHopId::to_raw(out[count - 1]);
        }
        sum
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoded_keys::EncodedKeys;
    use crate::generator::KeyGenerator;
    use crate::key_stream::pass_sum;
    use crate::testing::{WrongEngine, table4, table6};
    use crate::{Oracle, Traffic};
    use longmatch::engine::radix::Radix;
    use longmatch::engine::spider::{self, Spider};
    use longmatch::{Ipv4, KeyLayout, Rib};

    #[test]
    fn passes_return_the_sum_of_their_answers() {
        let rib = table4();
        let engine = EngineTarget(Radix::<Ipv4>::compile(&rib, &()).unwrap());
        let keys = Traffic::Zipf.keys(&rib, 1000, 1);
        let right = Oracle::new(&rib).answers(&keys);
        for simd in Simd::available() {
            let config = |mode| RunConfig { simd, batch: 64, ..RunConfig::new(mode) };
            for (mode, store) in
                [Mode::One, Mode::Dependent].map(|mode| [(mode, false), (mode, true)]).concat()
            {
                let config = RunConfig { store, ..config(mode) };
                for (start, lookups) in [(0, 1000), (10, 7), (990, 20)] {
                    let stream = KeyStream::Array { keys: Keys::host(&keys), start, lookups };
                    let sum = pass_sum(&right, mode, 1, start, lookups);
                    assert_eq!(engine.pass(&config, stream).sum, sum, "{mode}");
                }
            }
            let sum = pass_sum(&right, Mode::Batch, 64, 0, 1000);
            let batches = config(Mode::Batch);
            for layout in [KeyLayout::Host, KeyLayout::Network] {
                let encoded = EncodedKeys::new::<Ipv4>(&keys, layout);
                let keys = encoded.as_ref().map_or(Keys::host(&keys), EncodedKeys::keys);
                let stream = KeyStream::Array { keys, start: 0, lookups: 1000 };
                assert_eq!(engine.pass(&batches, stream).sum, sum, "{layout:?}");
                for kernel in Kernel::ALL {
                    assert_eq!(engine.answers(kernel, simd, 64, keys), right, "{layout:?}");
                }
            }
        }
    }

    /// The answers of a block are stored, cut to 16 bits.
    #[test]
    fn stored_answers_are_right() {
        fn stored<const DEPENDENT: bool>(
            engine: &Radix<Ipv4>,
            simd: Simd,
            keys: &[u32],
        ) -> [u16; 9] {
            let blocks = KeyBlocks::of_array(keys, 0, keys.len(), usize::MAX);
            let mut out = [7; 9];
            run_single(
                simd,
                OneByOne::<Ipv4, _, DEPENDENT, true> { engine, blocks, out: &mut out },
            );
            out
        }
        let rib = table4();
        let engine = Radix::<Ipv4>::compile(&rib, &()).unwrap();
        let keys = Traffic::Routed.keys(&rib, 8, 1);
        let mut right: Vec<_> = Oracle::new(&rib).answers(&keys);
        right.push(NextHopId::new(7));
        let right: Vec<_> = right.into_iter().map(|it| NextHopId::to_raw(it) as u16).collect();
        for simd in Simd::available() {
            assert_eq!(stored::<false>(&engine, simd, &keys), right[..]);
            assert_eq!(stored::<true>(&engine, simd, &keys), right[..]);
        }
    }

    #[test]
    fn generated_keys_equal_those_of_an_array() {
        let rib = table4();
        let engine = EngineTarget(Radix::<Ipv4>::compile(&rib, &()).unwrap());
        for rule in [KeyRule::Random, KeyRule::Repeated(16), KeyRule::Sequential] {
            let keys = KeyGenerator::new(rule, 8, 3000).all::<Ipv4>();
            let keys = Keys::host(&keys);
            let array = KeyStream::Array { keys, start: 0, lookups: 3000 };
            let generated = KeyStream::Generated { rule, seed: 8, lookups: 3000 };
            for mode in Mode::ALL {
                let config = RunConfig { batch: 100, ..RunConfig::new(mode) };
                let pass = |stream| engine.pass(&config, stream).sum;
                assert_eq!(pass(generated), pass(array), "{rule:?} {mode}");
            }
        }
    }

    /// Spider's iterations answer the keys of its generator, also of a last, shorter iteration.
    fn iterations_are_right<F: TrafficFamily>(rib: &Rib<F>) {
        let leads = Traffic::SpiderRandom.leads(rib);
        let rule = KeyRule::Spider(&leads);
        for ways in [1, 7, 8, 9, 16] {
            let kernel = Some(spider::Kernel::Lanes(ways));
            let engine = Spider::<F>::compile(rib, &spider::Config { kernel }).unwrap();
            let ways = usize::from(ways);
            for (simd, lookups) in Simd::available().flat_map(|simd| [(simd, 3000), (simd, 3005)]) {
                let keys = KeyBlocks::<F>::generated(rule, 8, lookups, ways).collect();
                let answers = Oracle::new(rib).answers(&keys);
                let sum = pass_sum(&answers, Mode::Batch, ways, 0, lookups);
                let keys = || SpiderKeys::new(&leads, 8);
                let timed = |ways| iterate::<F, _>(&engine, simd, ways, lookups, keys());
                assert_eq!(timed(ways).map(|it| it.sum), Some(sum), "{ways} ways");
                assert_eq!(timed(ways + 1), None);
            }
        }
        let radix = Radix::<F>::compile(rib, &()).unwrap();
        let keys = SpiderKeys::new(&leads, 8);
        assert_eq!(iterate::<F, _>(&radix, Simd::best(), 16, 100, keys), None);
    }

    #[test]
    fn iterations_of_both_families_are_right() {
        iterations_are_right(&table4());
        iterations_are_right(&table6());
    }

    #[test]
    fn wrong_answers_are_returned() {
        let rib = table4();
        let radix = Radix::<Ipv4>::compile(&rib, &()).unwrap();
        let engine = EngineTarget(WrongEngine { engine: radix, at: 7, batch_only: true });
        let answers = |kernel| engine.answers(kernel, Simd::best(), 2, Keys::host(&[5, 6, 7]));
        assert_eq!(answers(Kernel::Each), [None; 3]);
        assert_eq!(answers(Kernel::Batch), [None, None, NextHopId::new(1)]);
    }
}
