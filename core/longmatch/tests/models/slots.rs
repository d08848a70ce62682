//! Readers that start and end: each owns a slot while it exists.

use crate::sync::{Arc, thread};

use super::reclaim::{Domain, HasDomain, ReaderSlot};

/// A domain alone.
struct Epochs(Domain);

impl HasDomain for Epochs {
    fn domain(&self) -> &Domain {
        &self.0
    }
}

/// Several readers register at once, and one reuses a slot.
///
/// Online readers, and only they, block the epoch. Returns the number of readers that got no new
/// slot.
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
    assert!(epochs.0.oldest() <= epoch, "an online reader does not block its epoch");
    drop(reader);
    for reading in reading {
        reading.join().unwrap();
    }
    assert!(epochs.0.oldest() > epoch, "no reader is online");
    let slots = epochs.0.slot_count();
    (readers + 1).saturating_sub(slots) as u32
}
