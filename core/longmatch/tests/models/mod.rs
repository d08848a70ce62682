//! Models of a writer and its readers, for the model checkers. The files included from `src/` are
//! the library's code with the checker's atomics: reclamation, and for Folio of IPv4 the lookup and
//! the update. Files beside them have what those import, as far as the models need it.
//!
//! A model has a writer, in the thread that runs it, and reader threads. An answer holds the
//! version of its commit, so each answer can be compared with the versions current during its call.
//! Memory is in the checker's cells, which detect writes during reads.

#[allow(dead_code, reason = "the models use a part of it")]
pub mod engine;
#[allow(dead_code, reason = "the models use a part of it")]
pub mod mem;
#[path = "../../src/net/mod.rs"]
#[allow(
    dead_code,
    unused_imports,
    unfulfilled_lint_expectations,
    reason = "the models use a part of it"
)]
pub mod net;
#[path = "../../src/live/reclaim.rs"]
#[allow(dead_code, reason = "the models use a part of it")]
mod reclaim;
pub mod rib;
#[path = "../../src/live/shared.rs"]
mod shared;
#[allow(dead_code, reason = "the models use a part of it")]
pub mod simd;
pub mod slots;
pub mod trie;
pub mod values;
pub mod whole;

use std::sync::Arc as StdArc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;

use crate::sync::{Arc, thread};
use reclaim::{HasDomain, ReaderSlot};

/// The size of a model.
#[derive(Clone, Copy)]
pub struct Size {
    /// Readers that pin, and readers that stay online.
    pub pinning: usize,
    pub online: usize,
    /// Calls per reader, and commits of the writer.
    pub calls: usize,
    pub commits: u32,
}

/// The current versions.
///
/// Not the checker's atomics, because those would order the accesses under test; only one thread of
/// a model runs at a time.
#[derive(Default)]
pub struct Versions {
    /// The last version whose commit has begun.
    begun: AtomicU32,
    /// The last version whose commit has returned.
    done: AtomicU32,
}

impl Versions {
    /// The last version that every new call must see.
    fn current(&self) -> u32 {
        self.done.load(SeqCst)
    }

    /// Begins a commit and returns its version.
    fn begin(&self) -> u32 {
        self.begun.fetch_add(1, SeqCst) + 1
    }

    fn end(&self) {
        self.done.store(self.begun.load(SeqCst), SeqCst);
    }

    /// Undoes `begin` for a refused commit.
    fn undo(&self) {
        self.begun.fetch_sub(1, SeqCst);
    }
}

/// A table in which the readers of a model look up answers.
pub trait Model: HasDomain + Send + Sync + 'static {
    /// The earliest and the latest version of answer `answer`, below [`ANSWERS`].
    fn lookup_versions(&self, answer: usize) -> (u32, u32);
}

/// Answers that a call looks up.
const ANSWERS: usize = 2;

/// The content of memory that no reader may read.
const FREE: u32 = u32::MAX - 1;

/// A reader, and the latest version of each answer that it has read.
struct ModelReader<M: Model> {
    slot: ReaderSlot<M>,
    versions: StdArc<Versions>,
    newest: [u32; ANSWERS],
}

impl<M: Model> ModelReader<M> {
    /// Runs one call.
    ///
    /// No answer is older than an earlier one or than `current`, or newer than the last commit.
    fn call(&mut self, current: u32) {
        for (answer, newest) in self.newest.iter_mut().enumerate() {
            let (earliest, latest) = self.slot.shared().lookup_versions(answer);
            let begun = self.versions.begun.load(SeqCst);
            assert!(latest >= current, "{latest} when {current} is current");
            assert!(latest >= *newest, "{latest} after {newest}");
            assert!(earliest <= begun, "{earliest} when {begun} is current");
            *newest = (*newest).max(earliest);
        }
    }

    fn pin(&mut self, calls: usize) {
        for _ in 0..calls {
            let current = self.versions.current();
            self.slot.enter();
            self.call(current);
            self.slot.leave();
        }
    }

    /// A reader sees the current version when it goes online.
    ///
    /// An announcement is not ordered after a commit, so versions need only not go back.
    fn online(&mut self, calls: usize) {
        let mut current = self.versions.current();
        self.slot.enter();
        for _ in 0..calls {
            self.call(current);
            self.slot.quiescent();
            current = 0;
        }
        self.slot.leave();
    }
}

/// Starts the readers, runs the writer, drops the table and joins the readers.
fn run<M: Model>(size: Size, table: Arc<M>, versions: &StdArc<Versions>, write: impl FnOnce()) {
    let mut readers = Vec::new();
    for number in 0..size.pinning + size.online {
        let slot = ReaderSlot::new(table.clone());
        let mut reader = ModelReader { slot, versions: versions.clone(), newest: [0; ANSWERS] };
        readers.push(thread::spawn(move || match number < size.pinning {
            true => reader.pin(size.calls),
            false => reader.online(size.calls),
        }));
    }
    write();
    drop(table);
    for reader in readers {
        reader.join().unwrap();
    }
}
