//! A running peer and the commands to it.

use core::time::Duration;
use std::path::Path;

use longmatch::{Family, NextHopId, Rib};

use super::command::PeerCommand;
use super::error::{PeerError, PeerFault};
use super::files::Files;
use super::process::Process;
use super::reply::{self, PeerHello, PeerLoaded};
use crate::mode::Mode;
use crate::target::Timed;

/// Default limit for the time of each answer, sufficient for large tables.
pub const PEER_LIMIT: Duration = Duration::from_secs(120);

/// A running peer.
///
/// Dropping it ends the process and removes its files.
#[derive(Debug)]
pub struct Peer {
    name: String,
    hello: PeerHello,
    process: Process,
    files: Files,
    /// The number of its keys of each family.
    keys: Vec<(&'static str, usize)>,
}

impl Peer {
    /// Starts a program and exchanges `hello` with it.
    ///
    /// `dir` is created for the files and removed at the end. `limit` is the maximum time of each
    /// answer, for example [`PEER_LIMIT`].
    ///
    /// # Errors
    /// If `dir` exists or cannot be created, if the program does not start, or if its answer does
    /// not follow the protocol.
    pub fn start(command: &PeerCommand, dir: &Path, limit: Duration) -> Result<Self, PeerError> {
        let name = command.name.clone();
        let failed = |command: &str, fault| PeerError::new(&name, command, fault);
        let files = Files::new(dir).map_err(|fault| failed("start", fault))?;
        let mut process = Process::start(command, limit).map_err(|fault| failed("start", fault))?;
        let hello = process.command(b"hello", PeerHello::parse);
        let hello = hello.map_err(|fault| failed("hello", fault))?;
        Ok(Self { name, hello, process, files, keys: Vec::new() })
    }

    /// The name of its [`PeerCommand`].
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its answer to `hello`.
    pub fn hello(&self) -> &PeerHello {
        &self.hello
    }

    /// Whether it supports tables of a family.
    pub fn has_family<F: Family>(&self) -> bool {
        self.hello.families.contains(&F::NAME)
    }

    /// Loads a table, which replaces an earlier one of this family.
    ///
    /// # Errors
    /// If the peer refuses the table ([`PeerFault::Refused`]) or fails.
    pub fn load<F: Family>(&mut self, rib: &Rib<F>) -> Result<PeerLoaded, PeerError> {
        self.require_family::<F>("load")?;
        let path = self.files.routes(rib).map_err(|fault| self.failed("load", fault))?;
        let line = command_line(&["load", F::NAME], Some(&path));
        let loaded = self.command(&line, |text| PeerLoaded::parse(text, rib.len()));
        self.files.remove(&path);
        loaded
    }

    /// Passes the keys of all later lookups of this family.
    ///
    /// # Errors
    /// If the peer refuses them, states a wrong number of keys, or fails.
    pub fn set_keys<F: Family>(&mut self, keys: &[F::Bits]) -> Result<(), PeerError> {
        self.require_family::<F>("keys")?;
        self.keys.retain(|(family, _)| *family != F::NAME);
        let path = self.files.keys::<F>(keys).map_err(|fault| self.failed("keys", fault))?;
        let line = command_line(&["keys", F::NAME], Some(&path));
        let counted = self.command(&line, |text| reply::count(text, "keys", keys.len()));
        self.files.remove(&path);
        counted?;
        self.keys.push((F::NAME, keys.len()));
        Ok(())
    }

    /// Returns its answers for all keys, from the same calls as [`Peer::time`].
    ///
    /// # Errors
    /// If the peer has no keys, does not support the mode, or fails.
    pub fn answers<F: Family>(
        &mut self,
        mode: Mode,
        batch: usize,
    ) -> Result<Vec<Option<NextHopId>>, PeerError> {
        let count = self.key_count::<F>("answer", mode)?;
        let batch = mode.batch(batch).to_string();
        let path = self.files.answers();
        // Otherwise answers of an earlier command could pass for those of this one.
        self.files.remove(&path);
        let line = command_line(&["answer", F::NAME, mode.name(), &batch], Some(&path));
        self.command(&line, |text| reply::count(text, "answered", count))?;
        let answers = self.files.read_answers(&path, count);
        self.files.remove(&path);
        answers.map_err(|fault| {
            self.process.end(Duration::ZERO);
            self.failed(&String::from_utf8_lossy(&line), fault)
        })
    }

    /// Times `lookups` lookups of the keys from index `start` on, with wraparound.
    ///
    /// The caller compares the sum with [`pass_sum`](crate::pass_sum) of the right answers.
    ///
    /// # Errors
    /// If the peer has no keys, does not support the mode, states more time than has passed, or
    /// fails.
    pub fn time<F: Family>(
        &mut self,
        mode: Mode,
        batch: usize,
        start: usize,
        lookups: usize,
    ) -> Result<Timed, PeerError> {
        let count = self.key_count::<F>("time", mode)?;
        let numbers = [mode.batch(batch), start % count, lookups].map(|n| n.to_string());
        let [batch, start, lookups] = &numbers;
        let line = command_line(&["time", F::NAME, mode.name(), batch, start, lookups], None);
        let began = std::time::Instant::now();
        self.command(&line, |text| reply::timed(text, began.elapsed()))
    }

    /// Sends a command and parses the answer.
    fn command<T>(
        &mut self,
        line: &[u8],
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<T, PeerError> {
        let answer = self.process.command(line, parse);
        answer.map_err(|fault| self.failed(&String::from_utf8_lossy(line), fault))
    }

    fn failed(&self, command: &str, fault: PeerFault) -> PeerError {
        PeerError::new(&self.name, command, fault)
    }

    fn require_family<F: Family>(&self, command: &str) -> Result<(), PeerError> {
        if self.has_family::<F>() {
            return Ok(());
        }
        Err(self.failed(command, PeerFault::Unsupported(format!("{} tables", F::NAME))))
    }

    /// The number of its keys, at least one, if it supports the mode.
    fn key_count<F: Family>(&self, command: &str, mode: Mode) -> Result<usize, PeerError> {
        self.require_family::<F>(command)?;
        let unsupported = |what| Err(self.failed(command, PeerFault::Unsupported(what)));
        if !self.hello.modes.contains(&mode) {
            return unsupported(format!("mode {mode}"));
        }
        match self.keys.iter().find(|(family, _)| *family == F::NAME) {
            Some((_, count)) if *count > 0 => Ok(*count),
            _ => unsupported(format!("{} lookups without keys", F::NAME)),
        }
    }
}

/// The line of a command, with an optional path as its last word.
fn command_line(words: &[&str], path: Option<&Path>) -> Vec<u8> {
    let mut line = words.join(" ").into_bytes();
    if let Some(path) = path {
        line.push(b' ');
        line.extend_from_slice(path.as_os_str().as_encoded_bytes());
    }
    line
}
