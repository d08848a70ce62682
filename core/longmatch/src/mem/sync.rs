//! The atomics of the modules that `tests/loom.rs` and `tests/shuttle.rs` include; there a model
//! checker's atomics replace them.

pub(crate) use alloc::sync::Arc;
#[cfg(target_has_atomic = "64")]
pub(crate) use core::sync::atomic::AtomicU64;
pub(crate) use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, fence};
