//! A table that is replaced as a whole, through the library's state shared by writer and readers.
//! Readers may outlive the writer.

use std::sync::Arc as StdArc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;

use crate::sync::{Arc, Cell};

use super::mem::RetireList;
use super::reclaim::{Domain, HasDomain};
use super::shared::{Retired, Shared};
use super::{ANSWERS, FREE, Model, Size, Versions};

struct Table {
    answers: Cell<[u32; ANSWERS]>,
    /// Number of tables dropped.
    gone: StdArc<AtomicU32>,
}

impl Drop for Table {
    /// Writes the answers, which the checker detects if a reader reads them.
    fn drop(&mut self) {
        self.answers.set([FREE; ANSWERS]);
        self.gone.fetch_add(1, SeqCst);
    }
}

impl Model for Shared<Table> {
    fn lookup_versions(&self, answer: usize) -> (u32, u32) {
        // SAFETY: the reader is online, so the table is not dropped; the model tests that.
        let table = unsafe { self.current() };
        let version = table.answers.get()[answer];
        (version, version)
    }
}

/// Runs the model; returns the number of tables dropped before the writer ended.
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
        // End of the writer.
        reclaim(&mut retired);
        if retired.bytes() > 0 {
            shared.orphaned.keep(retired);
        }
        drop(shared);
    });
    assert_eq!(gone.load(SeqCst), size.commits + 1, "tables are lost");
    early
}
