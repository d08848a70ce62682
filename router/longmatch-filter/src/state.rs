//! The state of a filter, in memory that the packet program reads.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use longmatch_bpf::sys::{self, Map, MapKind, MapSpec, Memory};
use rustix::time::{ClockId, clock_gettime};

use crate::content::Classes;
use crate::layout::{
    CELL_BYTES, CELLS, CLASS_COUNTS, DEADLINE, MASKS, NEVER, STATE_BYTES, TICK_BITS, VERDICTS,
    cell, classes, verdict,
};
use crate::policy::{Mask, Policy};

/// The name of the map.
pub(crate) const STATE: &str = "filter_state";

/// The classes of the source and of the destination.
pub(crate) type BothClasses = [Classes; 2];

/// The map and its memory in this process.
#[derive(Debug)]
pub(crate) struct State {
    map: Map,
    memory: Memory,
}

impl State {
    /// A state that never passes everything, with the classes of no list.
    pub(crate) fn create(policy: &Policy) -> Result<Self, sys::Error> {
        let spec = MapSpec::new(MapKind::MappableArray, STATE, STATE_BYTES as u32, 1);
        let state = Self::open(Map::create(&spec)?)?;
        state.word(DEADLINE).store(NEVER, Ordering::Release);
        state.store_classes(policy, &[(); 2].map(|()| Classes::new(classes(policy))));
        Ok(state)
    }

    pub(crate) fn open(map: Map) -> Result<Self, sys::Error> {
        let memory = map.memory()?;
        Ok(Self { map, memory })
    }

    pub(crate) fn map(&self) -> &Map {
        &self.map
    }

    /// The word at a place of the layout.
    fn word(&self, place: usize) -> &AtomicU32 {
        &self.memory.words()[place / 4]
    }

    fn read(&self, place: usize) -> u32 {
        self.word(place).load(Ordering::Acquire)
    }

    /// The time until the program lets everything pass; `None` if it never does, 0 if it does already.
    pub(crate) fn remaining(&self) -> Option<Duration> {
        let deadline = self.read(DEADLINE);
        let end = Duration::from_nanos((u64::from(deadline) + 1) << TICK_BITS);
        (deadline != NEVER).then(|| end.saturating_sub(monotonic()))
    }

    /// Sets the time after which the program lets everything pass, rounded up to a tick.
    pub(crate) fn set_remaining(&self, time: Option<Duration>) {
        let deadline = time.map_or(NEVER, |time| {
            let end = (monotonic() + time).as_nanos() >> TICK_BITS;
            // A year has some 2^25 ticks.
            u32::try_from(end).unwrap_or(NEVER)
        });
        self.word(DEADLINE).store(deadline, Ordering::SeqCst);
    }

    /// The classes so far.
    pub(crate) fn classes(&self, policy: &Policy) -> BothClasses {
        [0, 1].map(|end| {
            let count = (self.read(CLASS_COUNTS + 4 * end) as usize).clamp(1, CELLS);
            let mask = |class: usize| {
                let place = MASKS + (end * CELLS + class) * 8;
                Mask::from(self.read(place)) | Mask::from(self.read(place + 4)) << 32
            };
            Classes::from_masks((0..count).map(mask).collect(), classes(policy))
        })
    }

    /// Stores the classes, with the verdicts of all their cells. Those that were there before do not change.
    pub(crate) fn store_classes(&self, policy: &Policy, classes: &BothClasses) {
        for (end, classes) in classes.iter().enumerate() {
            for (class, mask) in classes.masks().iter().enumerate() {
                let place = MASKS + (end * CELLS + class) * 8;
                for (place, half) in [(place, *mask), (place + 4, *mask >> 32)] {
                    self.word(place).store(half as u32, Ordering::Release);
                }
            }
        }
        for (cell, [source, destination]) in cells(policy, classes) {
            let bytes = verdict(policy.decide(source, destination));
            let place = VERDICTS + cell * CELL_BYTES;
            for (n, half) in bytes.chunks_exact(4).enumerate() {
                let half = half.try_into().map_or(0, u32::from_ne_bytes);
                self.word(place + 4 * n).store(half, Ordering::Release);
            }
        }
        for (end, classes) in classes.iter().enumerate() {
            let count = classes.masks().len() as u32;
            self.word(CLASS_COUNTS + 4 * end).store(count, Ordering::SeqCst);
        }
    }
}

/// The cells of classes, each with the masks of its source and its destination.
pub(crate) fn cells(policy: &Policy, classes: &BothClasses) -> Vec<(usize, [Mask; 2])> {
    let [sources, destinations] = classes;
    let sources = sources.masks().iter().enumerate();
    let pairs = sources.flat_map(|(s, source)| {
        let destinations = destinations.masks().iter().enumerate();
        destinations.map(move |(d, destination)| ([s, d], [*source, *destination]))
    });
    pairs.map(|(numbers, masks)| (cell(policy, numbers), masks)).collect()
}

/// The time of the clock that programs read.
fn monotonic() -> Duration {
    let now = clock_gettime(ClockId::Monotonic);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}
