//! Programs at interfaces.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use super::object::{self, number};
use super::own;
use super::{Error, Program, bpf};

const LINK_CREATE: libc::c_int = 28;
const LINK_UPDATE: libc::c_int = 29;
const LINK_DETACH: libc::c_int = 34;
const ATTACH_XDP: u32 = 37;
const ATTACH_TCX_INGRESS: u32 = 46;
const ATTACH_TCX_EGRESS: u32 = 47;
const XDP_FLAGS_SKB_MODE: u32 = 2;
const XDP_FLAGS_DRV_MODE: u32 = 4;

/// The information of the kernel about a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct LinkInfo {
    /// The kernel's number of the link.
    pub id: u32,
    /// The kernel's number of the program.
    pub program: u32,
    /// The kernel's number of the interface; 0 if it is gone.
    pub interface: u32,
}

/// A program that is attached to an interface, until the link is dropped.
///
/// ```no_run
/// use longmatch_bpf::sys::{Link, Program};
/// let program = Program::open_pinned("/sys/fs/bpf/example")?;
/// let link = Link::attach_xdp(&program, 2, false)?; // interface 2, in the network stack
/// link.pin("/sys/fs/bpf/example-link")?;
/// drop(link.into_descriptor()); // the pin keeps the program attached
/// # Ok::<(), longmatch_bpf::sys::Error>(())
/// ```
#[derive(Debug)]
pub struct Link(Option<OwnedFd>);

impl Link {
    /// Attaches an XDP program to the interface with this number: in its driver (`native`), or in the network stack.
    ///
    /// # Errors
    /// If another program is attached (`EBUSY`), or the driver or the kernel does not support it.
    pub fn attach_xdp(program: &Program, interface: u32, native: bool) -> Result<Self, Error> {
        let flags = if native { XDP_FLAGS_DRV_MODE } else { XDP_FLAGS_SKB_MODE };
        let mode = if native { "native" } else { "generic" };
        let action = format!("attach the XDP program to interface {interface} in {mode} mode");
        let arguments = [program.descriptor() as u32, interface, ATTACH_XDP, flags];
        Self::create(arguments, Error::at(action, "5.9, with a driver that has the mode"))
    }

    /// Attaches a tc program to the interface with this number, before the others of that direction.
    ///
    /// # Errors
    /// If the kernel does not support it: before Linux 6.6.
    pub fn attach_tcx(program: &Program, interface: u32, ingress: bool) -> Result<Self, Error> {
        let (attach, direction) = match ingress {
            true => (ATTACH_TCX_INGRESS, "ingress"),
            false => (ATTACH_TCX_EGRESS, "egress"),
        };
        let action = format!("attach the tc program to the {direction} of interface {interface}");
        // The other fields are the relative program, which is none, and the expected revision, which is any.
        let arguments =
            [program.descriptor() as u32, interface, attach, /* before */ 1 << 3, 0, 0, 0, 0];
        Self::create(arguments, Error::at(action, "6.6"))
    }

    fn create<const N: usize>(
        mut arguments: [u32; N],
        error: impl FnOnce(std::io::Error) -> Error,
    ) -> Result<Self, Error> {
        // SAFETY: the numbers are the fields of the command's structure, which has no pointers.
        let descriptor = unsafe { bpf(LINK_CREATE, &mut arguments) }.map_err(error)?;
        // SAFETY: the descriptor is new.
        Ok(Self(Some(unsafe { own(descriptor) })))
    }

    /// A link from a descriptor of it, such as one from another process.
    #[must_use]
    pub fn from_descriptor(descriptor: OwnedFd) -> Self {
        Self(Some(descriptor))
    }

    /// The descriptor: the program is detached when the last one is closed and no pin is left.
    #[must_use]
    pub fn into_descriptor(mut self) -> Option<OwnedFd> {
        self.0.take()
    }

    /// Opens a link that is pinned in the BPF file system.
    ///
    /// # Errors
    /// If there is no such pin.
    pub fn open_pinned(path: impl AsRef<Path>) -> Result<Self, Error> {
        object::open(path.as_ref()).map(Self::from_descriptor)
    }

    /// Opens the link with this number of the kernel's.
    ///
    /// # Errors
    /// If there is no such link.
    pub fn open_id(id: u32) -> Result<Self, Error> {
        object::by_id(object::LINK_BY_ID, id).map(Self::from_descriptor)
    }

    /// Pins the link in the BPF file system. The program stays attached after the process, if the link is not dropped
    /// but taken by [`into_descriptor`](Self::into_descriptor).
    ///
    /// # Errors
    /// If the path exists, or is not in the BPF file system.
    pub fn pin(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        object::pin(self.descriptor()?, path.as_ref())
    }

    /// The information of the kernel about the link.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn info(&self) -> Result<LinkInfo, Error> {
        let mut info = [0; 256];
        object::info(self.descriptor()?, &mut info)?;
        let [id, program, interface] = [4, 8, 16].map(|offset| number(&info, offset));
        Ok(LinkInfo { id, program, interface })
    }

    /// Replaces the program, without a moment in which there is none.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn update(&self, program: &Program) -> Result<(), Error> {
        let link = self.0.as_ref().map_or(-1, OwnedFd::as_raw_fd) as u32;
        // With flags, and the old program, which need not be told.
        let mut arguments = [link, program.descriptor() as u32, 0, 0];
        // SAFETY: the numbers are the fields of the command's structure, which has no pointers.
        let updated = unsafe { bpf(LINK_UPDATE, &mut arguments) };
        updated.map(drop).map_err(Error::at("replace the program of a BPF link", "5.9"))
    }

    fn descriptor(&self) -> Result<BorrowedFd<'_>, Error> {
        let gone = || Error::at("use a BPF link", "5.9")(std::io::ErrorKind::NotFound.into());
        self.0.as_ref().map(AsFd::as_fd).ok_or_else(gone)
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
