//! The atomics of `reclaim.rs`, which `tests/loom.rs` replaces by those of a model checker.

pub(super) use alloc::sync::Arc;
pub(super) use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, fence};
