//! Longest-prefix match inside the Linux kernel.
//!
//! - [`KernelTable`] lays tables of both families out for programs in the kernel: a version of them is the value of one map.
//! - [`emit_lookup4`] and [`emit_lookup6`] emit the lookup as instructions, with bounded steps and no call.
//! - `Version` (on Linux) writes a table into a map and changes it, `Versions` replaces it while programs run.
//! - [`asm`] writes eBPF programs: no compiler is needed.
//! - `sys` (on Linux) makes maps, loads programs and attaches them, by the system call bpf(2).

pub mod asm;
mod build_error;
mod code;
mod layout;
mod pool;
mod ranges;
#[cfg(target_os = "linux")]
pub mod sys;
mod table;
#[cfg(target_os = "linux")]
mod version;

pub use build_error::BuildError;
pub use code::{emit_lookup4, emit_lookup6};
pub use layout::{Shape, ShapeError};
pub use ranges::ValueRanges;
pub use table::{KernelFamily, KernelTable, Patch, Routes};
#[cfg(target_os = "linux")]
pub use version::{Version, Versions};
