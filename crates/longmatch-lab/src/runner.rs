//! One engine, or its limit, while it is measured: how long a pass is, and how fast.

use std::sync::Barrier;

use crate::contestant::Pass;
use crate::family::LabFamily;
use crate::heat::Heat;
use crate::pin;
use crate::pulse::Calm;
use crate::race::Setup;
use crate::record::KeySource;
use crate::traffic::Traffic;
use crate::walk::Walk;

/// The fewest lookups in a pass; also those that find out how many there should be.
const FEWEST: usize = 1 << 16;
/// How often a pass is repeated at most because the machine was disturbed.
const REPEATS: usize = 2;

/// What the passes of an engine have shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Passes {
    /// The rates of those that count, in million lookups a second of all threads.
    pub rates: Vec<f64>,
    /// The CPU's frequency in each of them, in GHz.
    pub ghz: Vec<f64>,
    /// Passes that were thrown away.
    pub repeated: usize,
    /// Passes that count although the machine was disturbed each time.
    pub disturbed: usize,
}

/// An engine while it is measured.
pub(crate) struct Runner<'e, F: LabFamily> {
    engine: &'e dyn Pass<F>,
    /// Lookups of each thread in a pass.
    lookups: usize,
    /// The highest frequency that was seen, in GHz.
    best_ghz: f64,
    passes: Passes,
}

impl<'e, F: LabFamily> Runner<'e, F> {
    /// Finds out how many lookups make a pass of the right length, with a first pass whose rate is
    /// not kept.
    pub fn warmed_up(engine: &'e dyn Pass<F>, heat: &Heat<F>, setup: &Setup) -> Self {
        let pass_us = setup.seconds * 1e6 / (setup.passes.max(1) + 1) as f64;
        // An ascending walk is only itself as a whole.
        let fewest =
            if *heat.traffic() == Traffic::Sequential { heat.keys().len() } else { FEWEST };
        let mut it = Self { engine, lookups: FEWEST, best_ghz: 0.0, passes: Passes::default() };
        for _ in 0..2 {
            let (rate, _) = it.try_pass(heat, setup, 0);
            it.lookups = ((rate / setup.threads as f64 * pass_us) as usize).max(fewest);
        }
        it
    }

    /// The highest frequency that was seen so far, in GHz.
    pub fn best_ghz(&self) -> f64 {
        self.best_ghz
    }

    /// One pass of all threads; its rate is kept. It is repeated if the machine was disturbed,
    /// `best_ghz` being what it can do.
    pub fn pass(&mut self, heat: &Heat<F>, setup: &Setup, pass: usize, best_ghz: f64) {
        for left in (0..=REPEATS).rev() {
            let (rate, calm) = self.try_pass(heat, setup, pass);
            let disturbed = calm.is_disturbed(best_ghz.max(self.best_ghz));
            if disturbed && left > 0 {
                self.passes.repeated += 1;
                continue;
            }
            self.passes.disturbed += usize::from(disturbed);
            self.passes.rates.push(rate);
            self.passes.ghz.push(calm.ghz);
            break;
        }
    }

    /// One pass of all threads: its rate, and what the most disturbed one met.
    fn try_pass(&mut self, heat: &Heat<F>, setup: &Setup, pass: usize) -> (f64, Calm) {
        let barrier = &Barrier::new(setup.threads);
        let walk = |thread| self.walk(heat, setup, pass, thread);
        let engine = self.engine;
        let all: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (1..setup.threads)
                .map(|thread| {
                    let walk = walk(thread);
                    scope.spawn(move || timed(engine, setup, walk, barrier, thread))
                })
                .collect();
            let first = timed(engine, setup, walk(0), barrier, 0);
            let others = threads.into_iter().map(|thread| thread.join().expect("no panic"));
            core::iter::once(first).chain(others).collect()
        });
        if setup.pin {
            pin::free();
        }
        let rate = all.iter().map(|(rate, _)| rate).sum();
        let lowest = |of: fn(&Calm) -> f64| all.iter().map(|(_, calm)| of(calm)).reduce(f64::min);
        let calm = Calm {
            ghz: lowest(|calm| calm.ghz).unwrap_or_default(),
            ran: lowest(|calm| calm.ran).unwrap_or_default(),
        };
        self.best_ghz = self.best_ghz.max(calm.ghz);
        (rate, calm)
    }

    /// What the passes have shown.
    pub fn end(self) -> Passes {
        self.passes
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

/// The rate of one thread in a pass, once its structure is in the caches again, in million lookups
/// a second; and what the thread met.
fn timed<F: LabFamily>(
    engine: &dyn Pass<F>,
    setup: &Setup,
    walk: Walk<'_, F>,
    barrier: &Barrier,
    thread: usize,
) -> (f64, Calm) {
    if setup.pin {
        pin::to(thread);
    }
    let pass = |walk| engine.timed(setup.mode, setup.simd, setup.batch, walk);
    // The others have left the caches to this one's disadvantage, or advantage.
    pass(walk.lead_in());
    barrier.wait();
    let (took, mut calm) = Calm::during(|| pass(walk));
    if !engine.runs_here() {
        calm.ran = 1.0;
    }
    (walk.lookups() as f64 / (took.as_secs_f64() * 1e6).max(1e-3), calm)
}
