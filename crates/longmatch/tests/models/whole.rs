//! A table that is replaced whole, by what the library's writer and readers share. Readers may
//! outlive the writer.

use std::sync::Arc as StdArc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;

use crate::reclaim::{Domain, HasDomain};
use crate::retired::RetireList;
use crate::shared::{Retired, Shared};
use crate::sync::{Arc, Cell};

use super::{ANSWERS, FREE, Model, Size, Versions};

struct Table {
    answers: Cell<[u32; ANSWERS]>,
    /// Tables that are gone.
    gone: StdArc<AtomicU32>,
}

impl Drop for Table {
    /// Seen by the checker if a reader is in it.
    fn drop(&mut self) {
        self.answers.set([FREE; ANSWERS]);
        self.gone.fetch_add(1, SeqCst);
    }
}

impl Model for Shared<Table> {
    fn look(&self, answer: usize) -> (u32, u32) {
        // SAFETY: as long as the reader stays; that is what the model tests.
        let table = unsafe { self.current() };
        let version = table.answers.get()[answer];
        (version, version)
    }
}

/// Runs the model; how many tables were dropped while the writer wrote.
pub fn swapped(size: Size) -> u32 {
    let versions = StdArc::<Versions>::default();
    let gone = StdArc::<AtomicU32>::default();
    let table =
        |version| Box::new(Table { answers: Cell::new([version; ANSWERS]), gone: gone.clone() });
    let shared: Arc<Shared<Table>> = Shared::new(table(0), Arc::new(Domain::new()));
    let mut early = 0;
    super::run(size, shared.clone(), &versions, || {
        let mut retired: RetireList<Retired<Table>> = RetireList::default();
        let reclaim = |retired: &mut RetireList<_>| {
            let oldest = shared.domain().oldest();
            while retired.pop(oldest).is_some() {}
        };
        for _ in 0..size.commits {
            retired.push(shared.replace(table(versions.begin())), 1);
            retired.seal(shared.domain().advance());
            versions.end();
            reclaim(&mut retired);
        }
        early = gone.load(SeqCst);
        // The writer ends.
        reclaim(&mut retired);
        if retired.bytes() > 0 {
            shared.orphaned.keep(retired);
        }
        drop(shared);
    });
    assert_eq!(gone.load(SeqCst), size.commits + 1, "tables are lost");
    early
}
