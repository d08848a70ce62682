//! Pins in the BPF file system, numbers of objects, and the information of the kernel about them.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::{Error, address, bpf, own};

const OBJECT_PIN: libc::c_int = 6;
const OBJECT_GET: libc::c_int = 7;
pub(super) const PROGRAM_BY_ID: libc::c_int = 13;
pub(super) const MAP_BY_ID: libc::c_int = 14;
const OBJECT_INFO: libc::c_int = 15;
pub(super) const LINK_BY_ID: libc::c_int = 30;

/// The arguments of the commands of pins.
#[repr(C)]
struct Pin {
    path: u64,
    descriptor: u32,
    flags: u32,
}

/// The arguments of `BPF_OBJ_GET_INFO_BY_FD`.
#[repr(C)]
struct Info {
    descriptor: u32,
    size: u32,
    info: u64,
}

fn path_text(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::from)
}

/// Pins an object at a path of the BPF file system, which must not exist.
pub(super) fn pin(object: BorrowedFd<'_>, path: &Path) -> Result<(), Error> {
    let pinned = path_text(path).and_then(|text| {
        let descriptor = object.as_raw_fd() as u32;
        let mut arguments = Pin { path: address(text.as_ptr()), descriptor, flags: 0 };
        // SAFETY: the structure is that of the command, and the text lives until the call ends.
        unsafe { bpf(OBJECT_PIN, &mut arguments) }
    });
    let action = format!("pin at {}", path.display());
    pinned.map(drop).map_err(Error::at(action, "5.2, and a file system of type bpf there"))
}

/// Opens a pinned object.
pub(super) fn open(path: &Path) -> Result<OwnedFd, Error> {
    let opened = path_text(path).and_then(|text| {
        let mut arguments = Pin { path: address(text.as_ptr()), descriptor: 0, flags: 0 };
        // SAFETY: the structure is that of the command, and the text lives until the call ends.
        let descriptor = unsafe { bpf(OBJECT_GET, &mut arguments) }?;
        // SAFETY: the descriptor is new.
        Ok(unsafe { own(descriptor) })
    });
    opened.map_err(Error::at(format!("open the pin {}", path.display()), "5.2"))
}

/// Opens the object with a number of the kernel's, by the command for its kind.
pub(super) fn by_id(command: libc::c_int, id: u32) -> Result<OwnedFd, Error> {
    let mut arguments = [id, 0, 0];
    // SAFETY: the numbers are the fields of the command's structure, which has no pointers.
    let descriptor = unsafe { bpf(command, &mut arguments) };
    // SAFETY: the descriptor is new.
    let owned = descriptor.map(|descriptor| unsafe { own(descriptor) });
    owned.map_err(Error::at(format!("open the BPF object {id}"), "5.9"))
}

/// Reads the information of the kernel about an object: the structure of the kind, with zeros after the fields that the
/// kernel has. The first bytes, which `request` has, may be pointers and lengths that the kernel fills.
pub(super) fn info(object: BorrowedFd<'_>, request: &mut [u8; 256]) -> Result<(), Error> {
    let descriptor = object.as_raw_fd() as u32;
    let size = request.len() as u32;
    let mut arguments = Info { descriptor, size, info: address(request.as_mut_ptr()) };
    // SAFETY: the structure is that of the command; the buffer has the stated size, and the callers' pointers in it are
    // valid for the lengths beside them.
    let asked = unsafe { bpf(OBJECT_INFO, &mut arguments) };
    asked.map(drop).map_err(Error::at("ask the kernel about a BPF object", "5.2"))
}

/// A field of a structure of the kernel's.
pub(super) fn field<const N: usize>(info: &[u8; 256], offset: usize) -> [u8; N] {
    std::array::from_fn(|byte| info.get(offset + byte).copied().unwrap_or(0))
}

/// A field of 32 bits.
pub(super) fn number(info: &[u8; 256], offset: usize) -> u32 {
    u32::from_ne_bytes(field(info, offset))
}
