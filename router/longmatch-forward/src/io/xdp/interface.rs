//! The kernel's state of an interface, and changes of it.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::net::{AddressFamily, SocketFlags, SocketType, netdevice, socket_with};

/// The longest name of an interface, with its final zero byte.
const NAME_BYTES: usize = 16;

/// `struct ifreq`: a name, and a union of 24 bytes.
#[repr(C, align(8))]
pub(super) struct Request {
    name: [u8; NAME_BYTES],
    /// The member of the union that the request uses, in its first bytes.
    payload: [u8; 24],
}

const _: () = assert!(size_of::<Request>() == size_of::<libc::ifreq>());

impl Request {
    /// A request about the interface of this name, with this payload.
    ///
    /// # Errors
    /// If the name is too long.
    pub(super) fn new<const N: usize>(name: &str, payload: [u8; N]) -> io::Result<Self> {
        let mut request = Self { name: [0; NAME_BYTES], payload: [0; 24] };
        // The last byte stays 0.
        let Some(bytes) = request.name[..NAME_BYTES - 1].get_mut(..name.len()) else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the name is too long"));
        };
        bytes.copy_from_slice(name.as_bytes());
        request.payload[..N].copy_from_slice(&payload);
        Ok(request)
    }

    /// The name, which some requests change.
    pub(super) fn name(&self) -> String {
        let bytes = self.name.split(|&byte| byte == 0).next().unwrap_or_default();
        String::from_utf8_lossy(bytes).into_owned()
    }

    fn int(&self) -> i32 {
        let [a, b, c, d, ..] = self.payload;
        i32::from_ne_bytes([a, b, c, d])
    }

    fn short(&self) -> i16 {
        let [a, b, ..] = self.payload;
        i16::from_ne_bytes([a, b])
    }

    /// Sends the request.
    ///
    /// # Safety
    /// If the payload of this kind of request has a pointer, it is valid for what the kernel does
    /// with it.
    #[allow(clippy::unnecessary_cast, reason = "musl takes codes of another type")]
    pub(super) unsafe fn send(&mut self, to: impl AsFd, code: libc::c_ulong) -> io::Result<()> {
        let request: *mut Self = self;
        // SAFETY: the requests of interfaces read and write one `struct ifreq`, whose size this
        // structure has; the caller vouches for a pointer in it.
        let result = unsafe { libc::ioctl(to.as_fd().as_raw_fd(), code as libc::Ioctl, request) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

/// `struct ethtool_channels`: the queues of an interface.
#[repr(C)]
#[derive(Default)]
struct Channels {
    command: u32,
    maxima: [u32; 4],
    receive: u32,
    transmit: u32,
    other: u32,
    combined: u32,
}

const GET_CHANNELS: u32 = 0x3c;

/// `struct ethtool_drvinfo`: the driver of an interface.
#[repr(C)]
struct DriverInfo {
    command: u32,
    driver: [u8; 32],
    rest: [u8; 160],
}

const GET_DRIVER: u32 = 0x03;

/// A way to ask the kernel about interfaces.
pub(super) struct Interfaces(OwnedFd);

impl Interfaces {
    /// # Errors
    /// If the process may open no more files.
    pub(super) fn open() -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC;
        Ok(Self(socket_with(AddressFamily::INET, SocketType::DGRAM, flags, None)?))
    }

    /// The number of an interface.
    pub(super) fn index(&self, name: &str) -> io::Result<u32> {
        Ok(netdevice::name_to_index(&self.0, name)?)
    }

    /// The MTU in bytes.
    pub(super) fn mtu(&self, name: &str) -> io::Result<u32> {
        let request = self.ask(name, [], libc::SIOCGIFMTU)?;
        Ok(request.int().try_into().unwrap_or_default())
    }

    /// Sets the MTU in bytes.
    pub(super) fn set_mtu(&self, name: &str, mtu: i32) -> io::Result<()> {
        self.ask(name, mtu.to_ne_bytes(), libc::SIOCSIFMTU).map(drop)
    }

    /// Sets the interface up.
    pub(super) fn set_up(&self, name: &str) -> io::Result<()> {
        let flags = self.ask(name, [], libc::SIOCGIFFLAGS)?.short() | libc::IFF_UP as i16;
        self.ask(name, flags.to_ne_bytes(), libc::SIOCSIFFLAGS).map(drop)
    }

    /// The queues of an interface that both receive and transmit; `None` if its driver does not say.
    pub(super) fn queues(&self, name: &str) -> io::Result<Option<u32>> {
        let mut channels = Channels { command: GET_CHANNELS, ..Default::default() };
        let pointer: *mut Channels = &mut channels;
        let mut request = Request::new(name, pointer.expose_provenance().to_ne_bytes())?;
        // SAFETY: the payload points to the structure of this command, which is alive.
        let answer = unsafe { request.send(&self.0, libc::SIOCETHTOOL) };
        match answer {
            Ok(()) => {
                Ok(Some(channels.combined.saturating_add(channels.receive.min(channels.transmit))))
            }
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The name of the driver, such as `veth`.
    pub(super) fn driver(&self, name: &str) -> io::Result<String> {
        let mut info = DriverInfo { command: GET_DRIVER, driver: [0; 32], rest: [0; 160] };
        let pointer: *mut DriverInfo = &mut info;
        let mut request = Request::new(name, pointer.expose_provenance().to_ne_bytes())?;
        // SAFETY: the payload points to the structure of this command, which is alive.
        unsafe { request.send(&self.0, libc::SIOCETHTOOL) }?;
        let driver = info.driver.split(|&byte| byte == 0).next().unwrap_or_default();
        Ok(String::from_utf8_lossy(driver).into_owned())
    }

    /// Sends a request whose payload has no pointer.
    fn ask<const N: usize>(
        &self,
        name: &str,
        payload: [u8; N],
        code: libc::c_ulong,
    ) -> io::Result<Request> {
        let mut request = Request::new(name, payload)?;
        // SAFETY: this module calls it for requests whose payload is a number only.
        unsafe { request.send(&self.0, code) }?;
        Ok(request)
    }
}
