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
