//! Memory orderings of a word that a writer replaces and that leads readers to other memory.
//!
//! The pair costs little on every architecture: on x86 an acquiring load is an ordinary load.
//! Lookups hold the arrays' addresses by value ([`Items`](super::Items)), so the compiler need not
//! load them again after each acquiring load.

use core::sync::atomic::Ordering::{Acquire, Release};

use super::sync::AtomicU32;

/// Replaces a word.
///
/// A reader that loads the new word also sees everything stored before it.
#[inline(always)]
pub(crate) fn publish(word: &AtomicU32, value: u32) {
    word.store(value, Release);
}

/// Loads a word that may be replaced at the same time.
#[inline(always)]
pub(crate) fn load(word: &AtomicU32) -> u32 {
    word.load(Acquire)
}
