//! Longest-prefix match inside the Linux kernel.
//!
//! - [`asm`] writes eBPF programs: no compiler is needed.
//! - `sys` (on Linux) makes maps, loads programs and attaches them, by the system call bpf(2).

pub mod asm;
#[cfg(target_os = "linux")]
pub mod sys;
