//! Other people's implementations, measured as programs of their own.
//!
//! A [`Peer`] is a child process that speaks the protocol of `docs/peers.md`: one command a line on
//! its standard input, one answer line each on its standard output, tables and addresses in files.
//! Nothing that it says is trusted: every answer has a limit in time and size, and is compared with
//! what was asked.

mod abandoned;
mod command;
mod error;
mod files;
mod known;
mod process;
mod reply;
mod target;

use core::time::Duration;
use std::path::Path;

use longmatch::{Family, NextHopId, Rib};

use crate::key_stream::segments;
use crate::target::Mode;

pub use abandoned::{directory_name, remove_abandoned};
pub use command::{BadPeerCommand, PeerCommand};
pub use error::{PeerError, PeerFault};
pub use known::{Availability, KnownPeer, known_peers};
pub use reply::{PeerHello, PeerLoaded, PeerTime};
pub use target::PeerEngine;

use files::Files;
use process::Process;

/// How long a peer has for each answer, unless the caller says otherwise.
pub const PEER_LIMIT: Duration = Duration::from_secs(120);

/// A running peer. Dropping it ends the process and removes its files.
#[derive(Debug)]
pub struct Peer {
    name: String,
    hello: PeerHello,
    process: Process,
    files: Files,
    keys: Vec<KeyCount>,
}

/// How many keys of a family a peer has.
#[derive(Debug)]
struct KeyCount {
    family: &'static str,
    count: usize,
}

impl Peer {
    /// Starts a program and asks who it is.
    ///
    /// What is passed to it lies in `dir`, which is made here and removed at the end. `limit` is
    /// the longest time that any answer may take; [`PEER_LIMIT`] is meant for large tables.
    ///
    /// # Errors
    /// When `dir` exists or cannot be made, when the program does not start, or when it does not
    /// answer as a peer.
    pub fn start(command: &PeerCommand, dir: &Path, limit: Duration) -> Result<Self, PeerError> {
        let name = command.name.clone();
        let failed = |asked: &str, fault| PeerError::new(&name, asked, fault);
        let files = Files::new(dir).map_err(|fault| failed("start", fault))?;
        let mut process = Process::start(command, limit).map_err(|fault| failed("start", fault))?;
        let hello = process.ask(b"hello", PeerHello::parse);
        let hello = hello.map_err(|fault| failed("hello", fault))?;
        Ok(Self { name, hello, process, files, keys: Vec::new() })
    }

    /// The name that the caller gave it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it said about itself.
    pub fn hello(&self) -> &PeerHello {
        &self.hello
    }

    /// Whether it takes tables of a family.
    pub fn has_family<F: Family>(&self) -> bool {
        self.hello.families.contains(&F::NAME)
    }

    /// Has it build its structure from all routes. A table that it had of this family is gone.
    ///
    /// # Errors
    /// When it refuses the table ([`PeerFault::Refused`], and it can be asked on), or fails.
    pub fn load<F: Family>(&mut self, rib: &Rib<F>) -> Result<PeerLoaded, PeerError> {
        self.able::<F>("load")?;
        let path = self.files.routes(rib).map_err(|fault| self.failed("load", fault))?;
        let line = line(&["load", F::NAME], Some(&path));
        let loaded = self.ask(&line, |text| PeerLoaded::parse(text, rib.len()));
        self.files.remove(&path);
        loaded
    }

    /// Gives it the addresses that it is asked for from now on.
    ///
    /// # Errors
    /// When it refuses them, says another number of them, or fails.
    pub fn set_keys<F: Family>(&mut self, keys: &[F::Bits]) -> Result<(), PeerError> {
        self.able::<F>("keys")?;
        self.keys.retain(|it| it.family != F::NAME);
        let path = self.files.keys::<F>(keys).map_err(|fault| self.failed("keys", fault))?;
        let line = line(&["keys", F::NAME], Some(&path));
        let counted = self.ask(&line, |text| reply::count(text, "keys", keys.len()));
        self.files.remove(&path);
        counted?;
        self.keys.push(KeyCount { family: F::NAME, count: keys.len() });
        Ok(())
    }

    /// Its answers to all keys, got by the calls that are timed; batches of `batch`.
    ///
    /// # Errors
    /// When it has no keys or not this mode, or fails.
    pub fn answers<F: Family>(
        &mut self,
        mode: Mode,
        batch: usize,
    ) -> Result<Vec<Option<NextHopId>>, PeerError> {
        let count = self.ready::<F>("answer", mode)?;
        let batch = batch_of(mode, batch).to_string();
        let path = self.files.answers();
        // Answers of an earlier question must not stand for those that are not written.
        self.files.remove(&path);
        let line = line(&["answer", F::NAME, mode.name(), &batch], Some(&path));
        self.ask(&line, |text| reply::count(text, "answered", count))?;
        let answers = self.files.read_answers(&path, count);
        self.files.remove(&path);
        answers.map_err(|fault| {
            self.process.end_now();
            self.failed(&String::from_utf8_lossy(&line), fault)
        })
    }

    /// Has it look up so many keys from number `start` on, round and round, and time that.
    ///
    /// The sum is not compared with the right one here: [`pass_sum`] makes that from the answers.
    ///
    /// # Errors
    /// When it has no keys or not this mode, says more time than has passed, or fails.
    pub fn time<F: Family>(
        &mut self,
        mode: Mode,
        batch: usize,
        start: usize,
        lookups: usize,
    ) -> Result<PeerTime, PeerError> {
        let count = self.ready::<F>("time", mode)?;
        let numbers = [batch_of(mode, batch), start % count, lookups].map(|n| n.to_string());
        let [batch, start, lookups] = &numbers;
        let line = line(&["time", F::NAME, mode.name(), batch, start, lookups], None);
        let began = std::time::Instant::now();
        self.ask(&line, |text| PeerTime::parse(text, began.elapsed()))
    }

    fn ask<T>(
        &mut self,
        line: &[u8],
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<T, PeerError> {
        let answer = self.process.ask(line, parse);
        answer.map_err(|fault| self.failed(&String::from_utf8_lossy(line), fault))
    }

    fn failed(&self, asked: &str, fault: PeerFault) -> PeerError {
        PeerError::new(&self.name, asked, fault)
    }

    fn able<F: Family>(&self, asked: &str) -> Result<(), PeerError> {
        match self.has_family::<F>() {
            true => Ok(()),
            false => Err(self.failed(asked, PeerFault::Unable(format!("{} tables", F::NAME)))),
        }
    }

    /// The number of keys, at least one, if it can be asked for them in this mode.
    fn ready<F: Family>(&self, asked: &str, mode: Mode) -> Result<usize, PeerError> {
        self.able::<F>(asked)?;
        let unable = |what| Err(self.failed(asked, PeerFault::Unable(what)));
        if !self.hello.modes.contains(&mode) {
            return unable(format!("mode {mode}"));
        }
        match self.keys.iter().find(|it| it.family == F::NAME) {
            Some(it) if it.count > 0 => Ok(it.count),
            _ => unable(format!("{} lookups without keys", F::NAME)),
        }
    }
}

fn batch_of(mode: Mode, batch: usize) -> usize {
    if mode == Mode::Batch { batch.max(1) } else { 1 }
}

/// A command: words, and a path as the last one.
fn line(words: &[&str], path: Option<&Path>) -> Vec<u8> {
    let mut line = words.join(" ").into_bytes();
    if let Some(path) = path {
        line.push(b' ');
        line.extend_from_slice(path.as_os_str().as_encoded_bytes());
    }
    line
}

/// What [`PeerTime::sum`] is when every answer is right: the exclusive or of all answers, in batches
/// of the last one of each. Batches do not go past the end of the keys. O(lookups).
///
/// # Panics
/// When `start` is not below the number of answers, unless there are no lookups.
pub fn pass_sum(
    answers: &[Option<NextHopId>],
    mode: Mode,
    batch: usize,
    start: usize,
    lookups: usize,
) -> u32 {
    let parts = segments(answers, start, lookups);
    let read = parts.flat_map(|part| part.chunks(batch_of(mode, batch))).filter_map(|it| it.last());
    read.fold(0, |sum, answer| sum ^ NextHopId::to_raw(*answer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_of_what_is_read() {
        let answers: Vec<_> = [1, 2, 4, 8, 16].map(NextHopId::new).into();
        assert_eq!(pass_sum(&answers, Mode::One, 9, 0, 5), 31);
        assert_eq!(pass_sum(&answers, Mode::One, 9, 3, 4), 8 ^ 16 ^ 1 ^ 2);
        assert_eq!(pass_sum(&answers, Mode::Batch, 2, 0, 5), 2 ^ 8 ^ 16);
        assert_eq!(pass_sum(&answers, Mode::Batch, 2, 4, 4), 16 ^ 2 ^ 4);
        assert_eq!(pass_sum(&[], Mode::One, 1, 0, 0), 0);
    }
}
