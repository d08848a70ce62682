//! A word that is replaced under readers, and leads to what was written before.

use core::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};

use super::sync::AtomicU32;

/// How readers load it: not with `Acquire`. What the word leads to is read at an address that is
/// made from it, and neither a compiler nor a processor of today reads there before it has the
/// word. `Acquire` is the same instruction on x86, but makes the compiler look up where the arrays
/// are after each word, which cost Poptrie 10-15 % of its rate one by one.
///
/// Sanitizers do not know this order, so for them it is `Acquire`.
pub(crate) const LOAD: Ordering =
    if cfg!(any(miri, longmatch_sanitize)) { Acquire } else { Relaxed };

/// Replaces a word under readers. Who reads the new one can read what was written before. Only the
/// one writer of a table calls it.
#[inline(always)]
pub(crate) fn publish(word: &AtomicU32, value: u32) {
    word.store(value, Release);
}

/// A word that may be replaced meanwhile. What was written before it was published can be read
/// where it leads.
#[inline(always)]
pub(crate) fn load(word: &AtomicU32) -> u32 {
    word.load(LOAD)
}

/// A word by itself that is published: where a structure begins that a writer makes anew.
#[derive(Debug)]
pub(crate) struct Published(AtomicU32);

impl Published {
    pub fn new(word: u32) -> Self {
        Self(AtomicU32::new(word))
    }

    /// As [`load`].
    #[inline(always)]
    pub fn load(&self) -> u32 {
        load(&self.0)
    }

    /// As [`Buffer::publish`].
    pub fn publish(&self, word: u32) {
        publish(&self.0, word);
    }
}

impl Clone for Published {
    fn clone(&self) -> Self {
        Self::new(self.load())
    }
}

impl PartialEq for Published {
    fn eq(&self, other: &Self) -> bool {
        self.load() == other.load()
    }
}

impl Eq for Published {}
