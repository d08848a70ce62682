//! A peer as a [`BenchTarget`] beside the engines.

use core::marker::PhantomData;
use core::time::Duration;
use std::borrow::Cow;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use longmatch::simd::Simd;
use longmatch::{Keys, MemoryPart, MemoryUsage, NextHopId, Rib};

use super::client::Peer;
use super::command::PeerCommand;
use super::error::PeerError;
use super::reply::{PeerHello, PeerLoaded};
use crate::family::TrafficFamily;
use crate::kernel::Kernel;
use crate::key_stream::KeyStream;
use crate::mismatches::UNWRITTEN;
use crate::mode::Mode;
use crate::run_config::RunConfig;
use crate::target::{BenchTarget, Pass, Timed};

/// A failed pass: a wrong sum, and a time so long that the rate is almost 0.
const FAILED_PASS: Timed = Timed { sum: u32::MAX, took: Duration::from_secs(1 << 20) };

/// A peer that has built its structure from a table.
pub struct PeerEngine<F: TrafficFamily> {
    name: String,
    hello: PeerHello,
    loaded: PeerLoaded,
    /// The threads of a measurement use the peer one at a time.
    connection: Mutex<Connection>,
    family: PhantomData<F>,
}

struct Connection {
    peer: Peer,
    /// Address and number of the keys that the peer has.
    ///
    /// They identify the keys, because a measurement does not change keys in place.
    keys: (usize, usize),
    /// The first error.
    error: Option<PeerError>,
}

impl<F: TrafficFamily> PeerEngine<F> {
    /// Starts a peer and loads a table.
    ///
    /// `dir` is created for the files and removed at the end. `limit` is the maximum time of each
    /// answer.
    ///
    /// # Errors
    /// If the peer does not start, refuses the table or fails.
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
            hello: peer.hello().clone(),
            loaded,
            connection: Mutex::new(Connection { peer, keys: (0, 0), error: None }),
            family: PhantomData,
        })
    }

    /// Name and version that the peer states.
    pub fn about(&self) -> &str {
        &self.hello.about
    }

    /// Milliseconds to build the structure, as the peer states them.
    pub fn build_ms(&self) -> f64 {
        self.loaded.build_ns as f64 / 1e6
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// Passes keys to the peer unless it has them already.
    fn set_keys<F: TrafficFamily>(&mut self, keys: &[F::Bits]) -> Result<(), PeerError> {
        let identity = (keys.as_ptr().addr(), keys.len());
        if self.keys != identity {
            self.keys = (0, 0);
            self.peer.set_keys::<F>(keys)?;
            self.keys = identity;
        }
        Ok(())
    }

    /// Runs commands and keeps the first error, after which it runs no more.
    fn run<T>(&mut self, commands: impl FnOnce(&mut Self) -> Result<T, PeerError>) -> Option<T> {
        if self.error.is_some() {
            return None;
        }
        let answer = commands(self);
        answer.map_err(|error| self.error = Some(error)).ok()
    }
}

impl<F: TrafficFamily> Pass<F> for PeerEngine<F> {
    fn pass(&self, config: &RunConfig, stream: KeyStream<'_, F>) -> Timed {
        // Peers convert integers to their own form and cannot generate keys.
        let KeyStream::Array { keys, start, lookups } = stream else { return FAILED_PASS };
        let Some(keys) = keys.as_host() else { return FAILED_PASS };
        let timed = self.connection().run(|connection| {
            connection.set_keys::<F>(keys)?;
            connection.peer.time::<F>(config.mode, config.batch, start, lookups)
        });
        timed.unwrap_or(FAILED_PASS)
    }

    fn runs_in_process(&self) -> bool {
        false
    }
}

impl<F: TrafficFamily> BenchTarget<F> for PeerEngine<F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn supports(&self, mode: Mode) -> bool {
        self.hello.modes.contains(&mode)
    }

    fn failure(&self) -> Option<String> {
        self.connection().error.as_ref().map(ToString::to_string)
    }

    fn memory(&self) -> MemoryUsage {
        let part = |bytes| MemoryPart { name: "structure", count: 1, bytes };
        let bytes = self.loaded.bytes.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        MemoryUsage { parts: bytes.map(part).into_iter().collect() }
    }

    fn answers(
        &self,
        kernel: Kernel,
        _: Simd,
        batch: usize,
        keys: Keys<'_, F>,
    ) -> Vec<Option<NextHopId>> {
        let wanted = if kernel == Kernel::Each { Mode::One } else { Mode::Batch };
        let mode = if self.supports(wanted) { wanted } else { self.hello.modes[0] };
        let integers: Cow<'_, [F::Bits]> = match keys.as_host() {
            Some(keys) => keys.into(),
            None => (0..keys.len()).map(|i| keys.get(i)).collect(),
        };
        let mut connection = self.connection();
        let answers = connection.run(|connection| {
            connection.set_keys::<F>(&integers)?;
            connection.peer.answers::<F>(mode, batch)
        });
        if let Cow::Owned(_) = integers {
            // These keys are freed now, and later ones could have the same address.
            connection.keys = (0, 0);
        }
        answers.unwrap_or_else(|| vec![UNWRITTEN; keys.len()])
    }
}
