//! The orderings of a word that a writer replaces under readers, and that leads them to other memory.
//!
//! Both are paid by every architecture alike: on x86 an acquiring load is an ordinary one. Lookups go by
//! values that hold the arrays' addresses ([`Items`](super::Items)), so the compiler need not load
//! those again after each acquiring load.

use core::sync::atomic::Ordering::{Acquire, Release};

use super::sync::AtomicU32;

/// Replaces a word. A reader that loads the new word also sees everything stored before it.
#[inline(always)]
pub(crate) fn publish(word: &AtomicU32, value: u32) {
    word.store(value, Release);
}

/// Loads a word that may be replaced at that moment.
#[inline(always)]
pub(crate) fn load(word: &AtomicU32) -> u32 {
    word.load(Acquire)
}
