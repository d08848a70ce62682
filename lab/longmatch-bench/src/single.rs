//! The loops of single lookups, compiled for every SIMD level with the lookup inlined.
//!
//! A lookup that is called instead is compiled for the baseline, without a population count for
//! example. `cargo xtask asm` checks the machine code of every engine for such calls.

use core::hint::black_box;
use core::marker::PhantomData;

use longmatch::simd::lanes::{Lanes, LanesWork};
use longmatch::simd::{Simd, Work};
use longmatch::{Bits, Engine, Family, NextHopId};

use crate::family::TrafficFamily;
use crate::key_stream::KeyBlocks;
use crate::random::Xorshift;
use crate::ticks::ticks;

/// A loop of single lookups, each a call of the given function.
pub(crate) trait SingleLookups<F: Family, E> {
    type Output;

    fn run(self, lookup: impl Fn(&E, F::Bits) -> Option<NextHopId>) -> Self::Output;
}

/// Runs a loop compiled for the level, in vectors if the engine has a use for them.
pub(crate) fn run_single<F, E, W>(simd: Simd, work: W) -> W::Output
where
    F: Family,
    E: Engine<F>,
    W: SingleLookups<F, E>,
{
    let work = Single(work, PhantomData);
    let work = if E::VECTORS { simd.run_lanes(work) } else { Err(work) };
    work.unwrap_or_else(|work| simd.run(work))
}

struct Single<W, F, E>(W, PhantomData<(F, E)>);

impl<F: Family, E: Engine<F>, W: SingleLookups<F, E>> Work for Single<W, F, E> {
    type Output = W::Output;

    #[inline(always)]
    fn run(self) -> W::Output {
        // A closure, not the item `E::lookup_bits`: calls of an item go through a function that is
        // compiled once, for the baseline, and that is not inlined if the lookup is large.
        self.0.run(
            #[inline(always)]
            |engine, addr| engine.lookup_bits(addr),
        )
    }
}

impl<F: Family, E: Engine<F>, W: SingleLookups<F, E>> LanesWork for Single<W, F, E> {
    type Output = W::Output;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> W::Output {
        self.0.run(
            #[inline(always)]
            |engine, addr| engine.lookup_in(lanes, addr),
        )
    }
}

/// Looks up the keys of blocks one by one and returns the exclusive or of the answers.
///
/// `DEPENDENT`: each key depends on the answer before it. `STORE`: the answers of a block are
/// written to `out`.
pub(crate) struct OneByOne<'a, F: Family, E, const DEPENDENT: bool, const STORE: bool> {
    pub engine: &'a E,
    pub blocks: KeyBlocks<'a, F>,
    /// At least as long as a block if answers are stored. Numbers above 16 bits are cut.
    pub out: &'a mut [u16],
}

impl<F: TrafficFamily, E: Engine<F>, const DEPENDENT: bool, const STORE: bool> SingleLookups<F, E>
    for OneByOne<'_, F, E, DEPENDENT, STORE>
{
    type Output = u32;

    #[inline(always)]
    fn run(self, lookup: impl Fn(&E, F::Bits) -> Option<NextHopId>) -> u32 {
        let Self { engine, mut blocks, out } = self;
        // Always 0, which the compiler does not know. Masking an answer with it makes the next
        // address depend on the answer without changing it: its first and its last 32 bits, since
        // lookups of IPv6 seldom read the last ones.
        let zero: u32 = black_box(0);
        let (mut sum, mut answer) = (0, 0);
        while let Some(keys) = blocks.next() {
            let out = &mut out[..if STORE { keys.len() } else { 0 }];
            for (i, key) in keys.iter().enumerate() {
                let before = if DEPENDENT { answer & zero } else { 0 };
                let before = u128::from(before) << (F::WIDTH - 32) | u128::from(before);
                let key = *key ^ F::Bits::from_u128(before);
                answer = NextHopId::to_raw(lookup(engine, key));
                sum ^= answer;
                if STORE {
                    out[i] = answer as u16;
                }
            }
        }
        sum
    }
}

/// Measures the ticks of single lookups of random addresses.
pub(crate) struct Ticks<'a, F, E> {
    pub engine: &'a E,
    pub seed: u64,
    pub out: &'a mut [u16],
    pub family: PhantomData<F>,
}

impl<F: TrafficFamily, E: Engine<F>> SingleLookups<F, E> for Ticks<'_, F, E> {
    type Output = ();

    #[inline(always)]
    fn run(self, lookup: impl Fn(&E, F::Bits) -> Option<NextHopId>) {
        let mut random = Xorshift::new(self.seed);
        for out in self.out {
            let took = ticks(
                F::random_address(&mut random),
                #[inline(always)]
                |key| lookup(self.engine, key),
            );
            *out = took.min(u16::MAX.into()) as u16;
        }
    }
}
