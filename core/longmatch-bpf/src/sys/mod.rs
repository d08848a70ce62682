//! Maps, programs and links of the kernel, by the system call bpf(2).
//!
//! Objects live as long as a descriptor or a pin in the BPF file system refers to them. A [`Map`] or a [`Program`] that is
//! dropped closes its descriptor; a [`Link`] that is dropped detaches its program.
//!
//! ```no_run
//! use longmatch_bpf::asm::{Assembler, R0};
//! use longmatch_bpf::sys::{Program, ProgramKind, Run};
//!
//! let mut asm = Assembler::default();
//! asm.set(R0, 2);
//! asm.exit();
//! let program = Program::load(ProgramKind::Xdp, "example", &asm.finish()?)?;
//! assert_eq!(program.run(&[0; 64], Run::default())?.result, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Kernel versions
//!
//! | use | since Linux |
//! |---|---|
//! | arrays, hash maps, programs, runs without an interface | 5.2 |
//! | memory of maps in the process ([`Map::memory`]) | 5.5 |
//! | links of XDP programs | 5.9 |
//! | array values of more than 4 MiB | 6.0 |
//! | links of tc programs ([`Link::attach_tcx`]) | 6.6 |
//!
//! The calls need `CAP_BPF`, and `CAP_NET_ADMIN` for programs of packets; before Linux 5.8 `CAP_SYS_ADMIN`.

mod error;
mod link;
mod map;
mod object;
mod program;

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

pub use error::Error;
pub use link::{Link, LinkInfo};
pub use map::{Map, MapInfo, MapKind, MapSpec, Memory, possible_cpus};
pub use program::{Outcome, Program, ProgramInfo, ProgramKind, Run};

/// The address of a value, as the kernel reads it.
fn address<T: ?Sized>(value: *const T) -> u64 {
    value.cast::<u8>().expose_provenance() as u64
}

/// Calls bpf(2).
///
/// # Safety
/// `arguments` is the structure of this command, and its pointers are valid for what the command
/// reads and writes.
unsafe fn bpf<T>(command: libc::c_int, arguments: &mut T) -> io::Result<RawFd> {
    let arguments: *mut T = arguments;
    // SAFETY: the kernel reads `size_of::<T>()` bytes, and the caller vouches for the pointers in
    // them.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, arguments, size_of::<T>()) };
    match RawFd::try_from(result) {
        Ok(result) if result >= 0 => Ok(result),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Takes the descriptor that a successful command returned.
///
/// # Safety
/// The kernel has just returned the descriptor, so nobody else owns it.
unsafe fn own(descriptor: RawFd) -> OwnedFd {
    // SAFETY: the caller's promise.
    unsafe { OwnedFd::from_raw_fd(descriptor) }
}

/// A name of the kernel's: up to 15 letters, digits, `_` and `.`; others become `_`.
fn name(text: &str) -> [u8; 16] {
    let mut name = [0; 16];
    for (to, from) in name[..15].iter_mut().zip(text.bytes()) {
        *to = if from.is_ascii_alphanumeric() || from == b'.' { from } else { b'_' };
    }
    name
}

/// The text of a name of the kernel's.
fn text(name: &[u8]) -> String {
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    String::from_utf8_lossy(&name[..end]).into_owned()
}
