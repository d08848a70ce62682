//! The state of readers of live tables.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};

use longmatch::{NextHopId, OwnedTableReader, TableReader, TableView};

use crate::memory::{Read, misuse};
use crate::status::{LM_E_OFFLINE, LM_E_THREAD, LM_E_UNSUPPORTED, Misuse};

/// The state of a reader.
pub(crate) struct LiveTable {
    /// The thread in which the reader is online, or 0.
    owner: AtomicUsize,
    has_prefixes: bool,
    state: UnsafeCell<State>,
}

enum State {
    Offline(TableReader<NextHopId>),
    Online(OwnedTableReader<NextHopId>),
    /// During a change, and after a panic in it.
    Between,
}

/// A number of this thread that no other one has as long as this one runs. Never 0.
#[inline(always)]
fn this_thread() -> usize {
    thread_local!(static PLACE: u8 = const { 0 });
    PLACE.with(|place| std::ptr::from_ref(place).addr())
}

impl LiveTable {
    /// A reader that is offline.
    pub fn new(reader: TableReader<NextHopId>, has_prefixes: bool) -> Self {
        let state = UnsafeCell::new(State::Offline(reader));
        Self { owner: AtomicUsize::new(0), has_prefixes, state }
    }

    /// The tables of the reader.
    #[inline(always)]
    pub fn view(&self) -> Read<TableView<'_, NextHopId>> {
        self.check_owner()?;
        // SAFETY: the reader is online in this thread, so no other thread uses the state, and this one changes it only in
        // calls that hold no view.
        match unsafe { &*self.state.get() } {
            State::Online(reader) => Ok(reader.table()),
            _ => Err(OFFLINE),
        }
    }

    #[inline(always)]
    fn check_owner(&self) -> Read<()> {
        match self.owner.load(Ordering::Relaxed) {
            owner if owner == this_thread() => Ok(()),
            0 => Err(OFFLINE),
            _ => Err(OTHER_THREAD),
        }
    }

    pub fn has_prefixes(&self) -> Read<()> {
        match self.has_prefixes {
            true => Ok(()),
            false => Err(misuse!(
                LM_E_UNSUPPORTED,
                "the readers know no prefixes: make the writer with LM_PREFIXES"
            )),
        }
    }

    pub fn go_online(&self) -> Read<()> {
        let taken =
            self.owner.compare_exchange(0, this_thread(), Ordering::Acquire, Ordering::Relaxed);
        match taken {
            Ok(_) => {}
            Err(owner) if owner == this_thread() => {
                return Err(misuse!(LM_E_OFFLINE, "the reader is online already"));
            }
            Err(_) => return Err(OTHER_THREAD),
        }
        self.change(|state| match state {
            State::Offline(reader) => State::Online(reader.into_online()),
            other => other,
        });
        Ok(())
    }

    pub fn go_offline(&self) -> Read<()> {
        self.check_owner()?;
        self.change(|state| match state {
            State::Online(reader) => State::Offline(reader.into_reader()),
            other => other,
        });
        self.owner.store(0, Ordering::Release);
        Ok(())
    }

    /// Replaces the state; only for the owner.
    fn change(&self, change: impl FnOnce(State) -> State) {
        // SAFETY: the reader belongs to this thread, and this one holds no view during a call.
        let state = unsafe { &mut *self.state.get() };
        *state = change(std::mem::replace(state, State::Between));
    }

    #[inline(always)]
    pub fn quiescent(&self) -> Read<()> {
        self.check_owner()?;
        // SAFETY: as in `change`.
        match unsafe { &mut *self.state.get() } {
            State::Online(reader) => {
                reader.quiescent();
                Ok(())
            }
            _ => Err(OFFLINE),
        }
    }
}

pub(crate) const OFFLINE: &Misuse =
    misuse!(LM_E_OFFLINE, "the reader is offline: call lm_reader_online first");
const OTHER_THREAD: &Misuse = misuse!(
    LM_E_THREAD,
    "the reader is online in another thread: each thread needs a reader of its own"
);
