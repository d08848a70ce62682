//! A peer among the engines that are measured.

use core::marker::PhantomData;
use core::time::Duration;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use longmatch::simd::Simd;
use longmatch::{Keys, MemoryPart, MemoryUsage, NextHopId, Rib};

use super::{Peer, PeerCommand, PeerError, PeerTime};
use crate::family::BenchFamily;
use crate::kernel::Kernel;
use crate::key_stream::KeyStream;
use crate::target::{BenchTarget, Iteration, Mode, Pass};

/// The time that stands for a pass that failed: so long that its rate is nothing.
const FAILED: Duration = Duration::from_secs(1 << 20);

/// A peer that has a table.
pub struct PeerEngine<F: BenchFamily> {
    name: String,
    about: String,
    modes: Vec<Mode>,
    /// Bytes of its structure; nothing where it does not say.
    bytes: Option<u64>,
    build_ms: f64,
    /// A measurement asks from one thread at a time, but not always from the same.
    state: Mutex<State>,
    family: PhantomData<F>,
}

struct State {
    peer: Peer,
    /// Where the keys are that the peer has, and how many: a measurement changes none in place.
    keys: (usize, usize),
    /// The first thing that went wrong.
    error: Option<PeerError>,
}

impl<F: BenchFamily> PeerEngine<F> {
    /// Starts a peer and has it build its structure. What is passed to it lies in `dir`, which is
    /// made and removed; `limit` is the longest time that any answer may take.
    ///
    /// # Errors
    /// When it does not start, refuses the table or fails.
    pub fn new(
        command: &PeerCommand,
        dir: &Path,
        limit: Duration,
        rib: &Rib<F>,
    ) -> Result<Self, PeerError> {
        let mut peer = Peer::start(command, dir, limit)?;
        let loaded = peer.load(rib)?;
        Ok(Self {
            name: peer.name().to_owned(),
            about: peer.hello().about.clone(),
            modes: peer.hello().modes.clone(),
            bytes: loaded.bytes,
            build_ms: loaded.build_ns as f64 / 1e6,
            state: Mutex::new(State { peer, keys: (0, 0), error: None }),
            family: PhantomData,
        })
    }

    /// What it says that it is.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// Milliseconds that it took to build its structure.
    pub fn build_ms(&self) -> f64 {
        self.build_ms
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The mode in which it can answer, if not in this one.
    fn mode(&self, wanted: Mode) -> Mode {
        if self.modes.contains(&wanted) {
            wanted
        } else {
            self.modes.first().copied().unwrap_or(wanted)
        }
    }

    /// A stream of the peer; nothing when it failed.
    fn time(&self, mode: Mode, batch: usize, stream: KeyStream<'_, F>) -> Option<PeerTime> {
        let mut state = self.state();
        let (keys, start, lookups) = match stream {
            KeyStream::Array { keys, start, lookups } => (keys, start, lookups),
            // Peers hold keys in a form of their own, and make none.
            KeyStream::EncodedKeys { .. } | KeyStream::Generated { .. } => return None,
        };
        state.ask(|state| {
            state.hold::<F>(keys)?;
            state.peer.time::<F>(mode, batch, start, lookups)
        })
    }
}

impl State {
    /// Gives the peer these keys, if it does not have them.
    fn hold<F: BenchFamily>(&mut self, keys: &[F::Bits]) -> Result<(), PeerError> {
        let place = (keys.as_ptr().addr(), keys.len());
        if self.keys != place {
            self.keys = (0, 0);
            self.peer.set_keys::<F>(keys)?;
            self.keys = place;
        }
        Ok(())
    }

    /// What the peer says, unless something goes or went wrong.
    fn ask<T>(&mut self, ask: impl FnOnce(&mut Self) -> Result<T, PeerError>) -> Option<T> {
        if self.error.is_some() {
            return None;
        }
        let answer = ask(self);
        answer.map_err(|error| self.error = Some(error)).ok()
    }
}

impl<F: BenchFamily> Pass<F> for PeerEngine<F> {
    fn pass(&self, mode: Mode, _: Simd, batch: usize, stream: KeyStream<'_, F>) -> u32 {
        self.time(mode, batch, stream).map_or(u32::MAX, |time| time.sum)
    }

    fn timed(&self, mode: Mode, _: Simd, batch: usize, stream: KeyStream<'_, F>) -> Duration {
        self.time(mode, batch, stream).map_or(FAILED, |time| Duration::from_nanos(time.ns))
    }

    fn runs_here(&self) -> bool {
        false
    }
}

impl<F: BenchFamily> BenchTarget<F> for PeerEngine<F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn variant(&self) -> String {
        String::new()
    }

    fn has(&self, mode: Mode) -> bool {
        self.modes.contains(&mode)
    }

    fn failure(&self) -> Option<String> {
        self.state().error.as_ref().map(ToString::to_string)
    }

    fn memory(&self) -> MemoryUsage {
        let part = |bytes| MemoryPart { name: "structure", count: 1, bytes };
        let bytes = self.bytes.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        MemoryUsage { parts: bytes.map(part).into_iter().collect() }
    }

    fn reads(&self) -> Vec<usize> {
        Vec::new()
    }

    fn answers(
        &self,
        kernel: Kernel,
        _: Simd,
        batch: usize,
        keys: &[F::Bits],
    ) -> Vec<Option<NextHopId>> {
        let mode = self.mode(if kernel == Kernel::Each { Mode::One } else { Mode::Batch });
        let answers = self.state().ask(|state| {
            state.hold::<F>(keys)?;
            state.peer.answers::<F>(mode, batch)
        });
        // Nothing that an answer could be by chance.
        answers.unwrap_or_else(|| vec![NextHopId::new(u32::MAX); keys.len()])
    }

    fn ticks(&self, _: Simd, _: Iteration, _: u64, _: &mut [u16]) {}

    fn answers_to(&self, simd: Simd, batch: usize, keys: Keys<'_, F>) -> Vec<Option<NextHopId>> {
        let keys: Vec<_> = (0..keys.len()).map(|i| keys.get(i)).collect();
        let answers = self.answers(Kernel::Batch, simd, batch, &keys);
        // They are gone after this, and others may come to lie where they were.
        self.state().keys = (0, 0);
        answers
    }
}
