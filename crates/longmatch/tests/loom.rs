//! The reclamation of live tables in a model checker: every interleaving of a writer with readers,
//! and every value that a load may see.

#[path = "../src/live/reclaim.rs"]
#[allow(dead_code, reason = "the models use a part of it")]
mod reclaim;

/// The model checker's atomics in the place of the real ones.
mod sync {
    pub use loom::sync::Arc;
    pub use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, fence};
}

extern crate alloc;

use core::sync::atomic::Ordering::{Acquire, Release};

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::AtomicUsize;
use loom::thread;

use reclaim::{Domain, HasDomain, Presence};

/// A table of two places, one of which is current. The model checker sees when a place is written
/// while it is read.
struct Table {
    places: [UnsafeCell<u32>; 2],
    current: AtomicUsize,
    domain: Domain,
}

impl HasDomain for Table {
    fn domain(&self) -> &Domain {
        &self.domain
    }
}

impl Table {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            places: [UnsafeCell::new(1), UnsafeCell::new(0)],
            current: AtomicUsize::new(0),
            domain: Domain::new(),
        })
    }

    /// What the current place says.
    fn read(&self) -> u32 {
        let current = self.current.load(Acquire);
        // SAFETY: read by a reader that is present; the model checks that it is not written.
        self.places[current].with(|place| unsafe { *place })
    }

    /// Makes the other place current; what the epoch was.
    fn publish(&self, place: usize, value: u32) -> u64 {
        // SAFETY: no reader can be there; the model checks that.
        self.places[place].with_mut(|place| unsafe { *place = value });
        self.current.store(place, Release);
        self.domain.advance()
    }

    /// Two versions more, the second in the place of the first, if no reader can be there.
    fn write(&self) -> bool {
        let epoch = self.publish(1, 2);
        let free = self.domain.oldest() > epoch;
        if free {
            self.publish(0, 3);
        }
        free
    }
}

fn model(run: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(4);
    model.check(run);
}

#[test]
fn who_enters_keeps_the_place() {
    model(|| {
        let table = Table::new();
        let reader = Presence::new(table.clone());
        let reading = thread::spawn(move || {
            let mut last = 0;
            for _ in 0..2 {
                reader.enter();
                let version = reader.shared().read();
                assert!(version >= last);
                last = version;
                reader.leave();
            }
        });
        table.write();
        reading.join().unwrap();
        assert!(table.domain.oldest() > 1);
    });
}

#[test]
fn who_reports_lets_go_of_the_place() {
    model(|| {
        let table = Table::new();
        let reader = Presence::new(table.clone());
        let reading = thread::spawn(move || {
            reader.enter();
            let first = reader.shared().read();
            reader.report();
            assert!(reader.shared().read() >= first);
            reader.leave();
        });
        table.write();
        reading.join().unwrap();
    });
}

/// Two that come at the same time get two slots; one that comes later gets a slot again.
#[test]
fn who_registers_has_a_slot() {
    model(|| {
        let table = Table::new();
        // A free slot, which only one of the two gets.
        drop(Presence::new(table.clone()));
        let shared = table.clone();
        let reading = thread::spawn(move || {
            let reader = Presence::new(shared);
            reader.enter();
            reader.shared().read();
        });
        let reader = Presence::new(table.clone());
        reader.enter();
        let epoch = table.domain.advance();
        assert!(table.domain.oldest() <= epoch);
        drop(reader);
        reading.join().unwrap();
        assert!(table.domain.oldest() > epoch);
    });
}
