//! The atomics of the files here that tests include with those of a model checker in their place:
//! `tests/loom.rs` and `tests/shuttle.rs`.

pub(crate) use alloc::sync::Arc;
pub(crate) use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, fence};
