//! One engine, or its limit, while it is measured: how long a pass is, and how fast.

use std::sync::Barrier;
use std::time::Instant;

use crate::contestant::Pass;
use crate::family::LabFamily;
use crate::heat::Heat;
use crate::race::Setup;
use crate::record::KeySource;
use crate::traffic::Traffic;
use crate::walk::Walk;

/// The fewest lookups in a pass; also those that find out how many there should be.
const FEWEST: usize = 1 << 16;

/// An engine while it is measured.
pub(crate) struct Runner<'e, F: LabFamily> {
    engine: &'e dyn Pass<F>,
    /// Lookups of each thread in a pass.
    lookups: usize,
    rates: Vec<f64>,
}

impl<'e, F: LabFamily> Runner<'e, F> {
    /// Finds out how many lookups make a pass of the right length, with a first pass whose rate is
    /// not kept.
    pub fn warmed_up(engine: &'e dyn Pass<F>, heat: &Heat<F>, setup: &Setup) -> Self {
        let pass_us = setup.seconds * 1e6 / (setup.passes.max(1) + 1) as f64;
        // An ascending walk is only itself as a whole.
        let fewest =
            if *heat.traffic() == Traffic::Sequential { heat.keys().len() } else { FEWEST };
        let mut it = Self { engine, lookups: FEWEST, rates: Vec::new() };
        for _ in 0..2 {
            it.pass(heat, setup, 0);
            let rate = it.rates.pop().unwrap_or_default() / setup.threads as f64;
            it.lookups = ((rate * pass_us) as usize).max(fewest);
        }
        it
    }

    /// One pass of all threads; its rate is kept.
    pub fn pass(&mut self, heat: &Heat<F>, setup: &Setup, pass: usize) {
        let barrier = &Barrier::new(setup.threads);
        let rate = std::thread::scope(|scope| {
            let threads: Vec<_> = (1..setup.threads)
                .map(|thread| {
                    let walk = self.walk(heat, setup, pass, thread);
                    let engine = self.engine;
                    scope.spawn(move || timed(engine, setup, walk, barrier))
                })
                .collect();
            let first = timed(self.engine, setup, self.walk(heat, setup, pass, 0), barrier);
            let others = threads.into_iter().map(|thread| thread.join().expect("no panic"));
            first + others.sum::<f64>()
        });
        self.rates.push(rate);
    }

    /// The rates of all passes so far, in million lookups a second of all threads.
    pub fn rates(self) -> Vec<f64> {
        self.rates
    }

    /// Passes and threads begin at places of their own, the same for every engine.
    fn walk<'h>(
        &self,
        heat: &'h Heat<F>,
        setup: &Setup,
        pass: usize,
        thread: usize,
    ) -> Walk<'h, F> {
        let lookups = self.lookups;
        let (part, parts) = (pass * setup.threads + thread, setup.passes.max(1) * setup.threads);
        match setup.key_source(heat.traffic()) {
            KeySource::Xorshift => Walk::Generated { seed: heat.seed() + part as u64, lookups },
            KeySource::Array => {
                let start = heat.keys().len() / parts * part;
                heat.walk(setup.mode, start, lookups)
            }
        }
    }
}

/// The rate of one thread in a pass, once its structure is in the caches again, in million lookups a second.
fn timed<F: LabFamily>(
    engine: &dyn Pass<F>,
    setup: &Setup,
    walk: Walk<'_, F>,
    barrier: &Barrier,
) -> f64 {
    // The others have left the caches to this one's disadvantage, or advantage.
    core::hint::black_box(engine.pass(setup.mode, setup.simd, setup.batch, walk.lead_in()));
    barrier.wait();
    let start = Instant::now();
    core::hint::black_box(engine.pass(setup.mode, setup.simd, setup.batch, walk));
    let us = start.elapsed().as_secs_f64() * 1e6;
    walk.lookups() as f64 / us.max(1e-3)
}
