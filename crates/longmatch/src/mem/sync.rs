//! The atomics of the modules that `tests/loom.rs` and `tests/shuttle.rs` include; there a model
//! checker's atomics replace them.

pub(crate) use alloc::sync::Arc;
pub(crate) use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, fence};
