//! Virtual interfaces that send packets as they are on a wire.

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

/// `struct ifreq` with a pointer.
#[repr(C)]
struct Request {
    name: [u8; 16],
    data: *mut Value,
    rest: [u64; 2],
}

const _: () = assert!(size_of::<Request>() == size_of::<libc::ifreq>());

/// `struct ethtool_value`.
#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

/// `ETHTOOL_STXCSUM`. Without it, the kernel also divides TCP segments itself.
const SET_TRANSMIT_CHECKSUMS: u32 = 0x17;

/// Lets the kernel compute checksums, instead of an interface of the calling thread's namespace.
pub fn turn_off(interface: &str) {
    let mut value = Value { command: SET_TRANSMIT_CHECKSUMS, data: 0 };
    let mut name = [0; 16];
    name[..interface.len()].copy_from_slice(interface.as_bytes());
    let mut request = Request { name, data: &raw mut value, rest: [0; 2] };
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let pointer = &raw mut request;
    // SAFETY: the structures have the layouts of this request, and live until the call returns.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL, pointer) };
    assert_eq!(result, 0, "{interface}: {}", io::Error::last_os_error());
}
