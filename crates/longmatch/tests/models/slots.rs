//! Readers that come and go: each has a slot of its own while it is there.

use crate::reclaim::{Domain, HasDomain, ReaderSlot};
use crate::sync::{Arc, thread};

/// Nothing but epochs.
struct Epochs(Domain);

impl HasDomain for Epochs {
    fn domain(&self) -> &Domain {
        &self.0
    }
}

/// Two or more come at the same time, one of which gets a slot again; whoever is there is waited
/// for, and nobody else. How many got no new slot.
pub fn registered(readers: usize) -> u32 {
    let epochs = Arc::new(Epochs(Domain::new()));
    // A free slot, which only one of them gets.
    drop(ReaderSlot::new(epochs.clone()));
    let reading: Vec<_> = (1..readers)
        .map(|_| {
            let epochs = epochs.clone();
            thread::spawn(move || {
                let reader = ReaderSlot::new(epochs);
                reader.enter();
            })
        })
        .collect();
    let reader = ReaderSlot::new(epochs.clone());
    reader.enter();
    let epoch = epochs.0.advance();
    assert!(epochs.0.oldest() <= epoch, "a reader that is there is not waited for");
    drop(reader);
    for reading in reading {
        reading.join().unwrap();
    }
    assert!(epochs.0.oldest() > epoch, "nobody is there");
    let slots = epochs.0.slot_count();
    (readers + 1).saturating_sub(slots) as u32
}
