//! Models of what a writer and its readers do, for the model checkers: what is included from
//! `src/live` is the code of the library, with the checker's atomics in it.
//!
//! A model has a writer, in the thread that runs it, and readers in theirs. In an answer stands the
//! version that it was committed with, so each can be held against the versions that were current
//! during its call. Memory is in cells of the checker, so it sees what is written while it is read.

pub mod slots;
pub mod trie;
pub mod values;
pub mod whole;

use std::sync::Arc as StdArc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;

use crate::reclaim::{HasDomain, ReaderSlot};
use crate::sync::{Arc, thread};

/// How large a model is.
#[derive(Clone, Copy)]
pub struct Size {
    /// Readers that pin, and readers that stay and report.
    pub pinning: usize,
    pub staying: usize,
    /// What each of them does.
    pub calls: usize,
    pub commits: u32,
}

/// Which versions are current. Not the checker's atomics, as those would order what is to be
/// tested: only one thread of a model runs at a time.
#[derive(Default)]
pub struct Versions {
    /// The last version whose commit has begun.
    begun: AtomicU32,
    /// The last version whose commit has returned.
    done: AtomicU32,
}

impl Versions {
    /// The last version that is sure to be seen.
    fn current(&self) -> u32 {
        self.done.load(SeqCst)
    }

    /// Begins a commit; its version.
    fn begin(&self) -> u32 {
        self.begun.fetch_add(1, SeqCst) + 1
    }

    fn end(&self) {
        self.done.store(self.begun.load(SeqCst), SeqCst);
    }

    /// The commit is refused.
    fn take_back(&self) {
        self.begun.fetch_sub(1, SeqCst);
    }
}

/// A table that a model's readers look at.
pub trait Model: HasDomain + Send + Sync + 'static {
    /// An answer of those with a number below [`ANSWERS`]: the version that it is of, at the
    /// earliest and at the latest.
    fn look(&self, answer: usize) -> (u32, u32);
}

/// What a call asks for.
const ANSWERS: usize = 2;

/// What is written where no reader may be.
const FREE: u32 = u32::MAX - 1;

/// A reader, and what it has seen.
struct Looker<M: Model> {
    presence: ReaderSlot<M>,
    versions: StdArc<Versions>,
    seen: [u32; ANSWERS],
}

impl<M: Model> Looker<M> {
    /// One call: no answer is older than an earlier one or than `current`, or of the future.
    fn call(&mut self, current: u32) {
        for (answer, seen) in self.seen.iter_mut().enumerate() {
            let (earliest, latest) = self.presence.shared().look(answer);
            let begun = self.versions.begun.load(SeqCst);
            assert!(latest >= current, "{latest} when {current} is current");
            assert!(latest >= *seen, "{latest} after {seen}");
            assert!(earliest <= begun, "{earliest} when {begun} is current");
            *seen = (*seen).max(earliest);
        }
    }

    fn pin(&mut self, calls: usize) {
        for _ in 0..calls {
            let current = self.versions.current();
            self.presence.enter();
            self.call(current);
            self.presence.leave();
        }
    }

    /// What is current is sure for a reader that enters. A report is not ordered after a commit,
    /// and must only not go back.
    fn stay(&mut self, calls: usize) {
        let mut current = self.versions.current();
        self.presence.enter();
        for _ in 0..calls {
            self.call(current);
            self.presence.report();
            current = 0;
        }
        self.presence.leave();
    }
}

/// Starts a model's readers, writes, forgets the table, and waits for the readers.
fn run<M: Model>(size: Size, table: Arc<M>, versions: &StdArc<Versions>, write: impl FnOnce()) {
    let mut readers = Vec::new();
    for number in 0..size.pinning + size.staying {
        let presence = ReaderSlot::new(table.clone());
        let mut looker = Looker { presence, versions: versions.clone(), seen: [0; ANSWERS] };
        readers.push(thread::spawn(move || match number < size.pinning {
            true => looker.pin(size.calls),
            false => looker.stay(size.calls),
        }));
    }
    write();
    drop(table);
    for reader in readers {
        reader.join().unwrap();
    }
}
