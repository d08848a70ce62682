//! Maps, programs and links, by the system call bpf(2).

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use super::program::Instruction;

// Commands, types and flags of `linux/bpf.h` and `linux/if_link.h`.
const MAP_CREATE: libc::c_int = 0;
const MAP_UPDATE: libc::c_int = 2;
const MAP_DELETE: libc::c_int = 3;
const PROG_LOAD: libc::c_int = 5;
const LINK_CREATE: libc::c_int = 28;
const LINK_UPDATE: libc::c_int = 29;
const LINK_DETACH: libc::c_int = 34;
pub(super) const MAP_TYPE_HASH: u32 = 1;
const MAP_TYPE_ARRAY: u32 = 2;
const MAP_TYPE_XSKMAP: u32 = 17;
/// Memory of a hash map grows with its entries.
const NO_PREALLOC: u32 = 1;
const PROG_TYPE_XDP: u32 = 6;
const ATTACH_XDP: u32 = 37;
const XDP_FLAGS_SKB_MODE: u32 = 2;
const XDP_FLAGS_DRV_MODE: u32 = 4;

/// The arguments of `BPF_MAP_CREATE`.
#[repr(C)]
struct MapCreate {
    kind: u32,
    key_size: u32,
    value_size: u32,
    max_entries: u32,
    flags: u32,
}

/// The arguments of the commands that change an element of a map.
#[repr(C)]
struct MapElement {
    map: u32,
    _padding: u32,
    key: u64,
    value: u64,
    flags: u64,
}

/// The arguments of `BPF_PROG_LOAD`.
#[repr(C)]
struct ProgLoad {
    kind: u32,
    instruction_count: u32,
    instructions: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
    name: [u8; 16],
    interface: u32,
    expected_attach: u32,
}

/// The arguments of `BPF_LINK_CREATE`.
#[repr(C)]
struct LinkCreate {
    program: u32,
    interface: u32,
    attach: u32,
    flags: u32,
}

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

/// A map of the kernel, with keys of `K` bytes and values of `V` bytes.
#[derive(Debug)]
pub(super) struct Map<const K: usize, const V: usize>(OwnedFd);

impl Map<16, 1> {
    /// A hash map with addresses as keys.
    pub(super) fn of_addresses(max_entries: u32) -> io::Result<Self> {
        Self::create(MAP_TYPE_HASH, max_entries, NO_PREALLOC)
    }
}

impl Map<4, 8> {
    /// An array of one element: the Ethernet address of an interface, in the first six bytes, and more about it.
    pub(super) fn of_ethernet_address() -> io::Result<Self> {
        Self::of_times(1)
    }

    /// An array of times, by queue. All are 0.
    pub(super) fn of_times(max_entries: u32) -> io::Result<Self> {
        Self::create(MAP_TYPE_ARRAY, max_entries, 0)
    }
}

impl Map<4, 4> {
    /// A map from queues to AF_XDP sockets.
    pub(super) fn of_sockets(max_entries: u32) -> io::Result<Self> {
        Self::create(MAP_TYPE_XSKMAP, max_entries, 0)
    }
}

impl<const K: usize, const V: usize> Map<K, V> {
    /// A map of this type of `linux/bpf.h`.
    pub(super) fn create(kind: u32, max_entries: u32, flags: u32) -> io::Result<Self> {
        let mut arguments =
            MapCreate { kind, key_size: K as u32, value_size: V as u32, max_entries, flags };
        // SAFETY: the structure is that of the command, and has no pointers.
        let descriptor = unsafe { bpf(MAP_CREATE, &mut arguments) }?;
        // SAFETY: the descriptor is new.
        Ok(Self(unsafe { own(descriptor) }))
    }

    /// Inserts or replaces an element.
    pub(super) fn insert(&self, key: [u8; K], value: [u8; V]) -> io::Result<()> {
        let mut arguments = self.element(&key, address(&value));
        // SAFETY: the map has keys of K bytes and values of V bytes, which live until the call ends.
        unsafe { bpf(MAP_UPDATE, &mut arguments) }.map(drop)
    }

    /// Removes an element.
    pub(super) fn remove(&self, key: [u8; K]) -> io::Result<()> {
        let mut arguments = self.element(&key, 0);
        // SAFETY: the map has keys of K bytes, and the key lives until the call ends.
        unsafe { bpf(MAP_DELETE, &mut arguments) }.map(drop)
    }

    fn element(&self, key: &[u8; K], value: u64) -> MapElement {
        let map = self.descriptor() as u32;
        MapElement { map, _padding: 0, key: address(key), value, flags: 0 }
    }

    /// The descriptor, for programs that use the map.
    pub(super) fn descriptor(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// Loads an XDP program.
///
/// # Errors
/// The kernel's error, and what its verifier says about the program.
pub(super) fn load_program(code: &[Instruction]) -> Result<OwnedFd, (io::Error, String)> {
    let error = match load_with_log(code, &mut []) {
        Ok(program) => return Ok(program),
        Err(error) => error,
    };
    // The verifier's refusal is EACCES.
    if error.raw_os_error() == Some(libc::EPERM) {
        return Err((error, String::new()));
    }
    // The verifier writes its reasons only if it is asked to.
    let mut log = vec![0; 1 << 16];
    let error = match load_with_log(code, &mut log) {
        Ok(program) => return Ok(program),
        Err(error) => error,
    };
    let reason = CStr::from_bytes_until_nul(&log).unwrap_or_default().to_string_lossy();
    Err((error, reason.trim().to_owned()))
}

fn load_with_log(code: &[Instruction], log: &mut [u8]) -> io::Result<OwnedFd> {
    let mut arguments = ProgLoad {
        kind: PROG_TYPE_XDP,
        instruction_count: code.len() as u32,
        instructions: address(code),
        license: address(c"MIT OR Apache-2.0".as_ptr()),
        log_level: u32::from(!log.is_empty()),
        log_size: log.len() as u32,
        log: if log.is_empty() { 0 } else { address(log.as_mut_ptr()) },
        kernel_version: 0,
        flags: 0,
        name: *b"longmatch\0\0\0\0\0\0\0",
        interface: 0,
        expected_attach: ATTACH_XDP,
    };
    // SAFETY: the structure is that of the command; the instructions and the log have the stated
    // lengths, the license ends with a zero byte, and all live until the call ends.
    let descriptor = unsafe { bpf(PROG_LOAD, &mut arguments) }?;
    // SAFETY: the descriptor is new.
    Ok(unsafe { own(descriptor) })
}

/// A program that is attached to an interface.
#[derive(Debug)]
pub(super) struct Link(pub(super) Option<OwnedFd>);

impl Link {
    /// Attaches a program to an interface, until the link is dropped or the process ends.
    pub(super) fn attach(program: &OwnedFd, interface: u32, native: bool) -> io::Result<Self> {
        let flags = if native { XDP_FLAGS_DRV_MODE } else { XDP_FLAGS_SKB_MODE };
        let program = program.as_raw_fd() as u32;
        let mut arguments = LinkCreate { program, interface, attach: ATTACH_XDP, flags };
        // SAFETY: the structure is that of the command, and has no pointers.
        let descriptor = unsafe { bpf(LINK_CREATE, &mut arguments) }?;
        // SAFETY: the descriptor is new.
        Ok(Self(Some(unsafe { own(descriptor) })))
    }

    /// Replaces the program, without a moment in which there is none.
    pub(super) fn update(&self, program: &OwnedFd) -> io::Result<()> {
        let link = self.0.as_ref().map_or(-1, OwnedFd::as_raw_fd) as u32;
        // With flags, and the old program, which need not be told.
        let mut arguments = [link, program.as_raw_fd() as u32, 0, 0];
        // SAFETY: the numbers are the fields of the command's structure, which has no pointers.
        unsafe { bpf(LINK_UPDATE, &mut arguments) }.map(drop)
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let Some(link) = self.0.take() else { return };
        let mut link_number = link.as_raw_fd() as u32;
        // The end of the last descriptor detaches the program too, but a child process between fork
        // and exec has a copy of it.
        // SAFETY: the command reads the number of a descriptor and no pointers.
        let detached = unsafe { bpf(LINK_DETACH, &mut link_number) };
        // The interface may be gone.
        drop(detached);
    }
}

#[cfg(test)]
pub(super) mod test {
    //! Runs of programs without an interface.

    use super::*;

    const PROG_TEST_RUN: libc::c_int = 10;

    /// The arguments of `BPF_PROG_TEST_RUN`.
    #[repr(C)]
    struct TestRun {
        program: u32,
        result: u32,
        size: u32,
        size_out: u32,
        data: u64,
        data_out: u64,
        repeat: u32,
        duration: u32,
    }

    /// Runs an XDP program on a frame, and returns its result.
    pub(in super::super) fn run(program: &OwnedFd, frame: &[u8]) -> io::Result<u32> {
        let mut arguments = TestRun {
            program: program.as_raw_fd() as u32,
            result: u32::MAX,
            size: frame.len() as u32,
            size_out: 0,
            data: address(frame),
            data_out: 0,
            repeat: 1,
            duration: 0,
        };
        // SAFETY: the structure is that of the command, and the frame has the stated length.
        unsafe { bpf(PROG_TEST_RUN, &mut arguments) }?;
        Ok(arguments.result)
    }
}
