//! Raw sockets that send and receive frames at interfaces, and the program `ip`.
//!
//! The tests of the command line tool include this file too.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::Command;
use std::time::{Duration, Instant};

/// Runs `ip` with these words, and returns its output.
pub fn ip(words: &str) -> String {
    let output = Command::new("ip").args(words.split(' ')).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "ip {words}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

/// The kernel's number of an interface.
pub fn index(name: &str) -> u32 {
    ip(&format!("-o link show {name}")).split(':').next().unwrap().parse().unwrap()
}

/// A raw socket that sees all frames that arrive at one interface.
pub struct Wire(OwnedFd);

impl Wire {
    /// For an interface of the calling thread's network namespace.
    pub fn open(interface: &str) -> Self {
        let protocol = (libc::ETH_P_ALL as u16).to_be();
        // SAFETY: a system call without pointers.
        let socket = unsafe {
            libc::socket(
                libc::AF_PACKET,
                libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC,
                protocol.into(),
            )
        };
        assert!(socket >= 0, "{}", io::Error::last_os_error());
        // SAFETY: the descriptor is new.
        let socket = unsafe { OwnedFd::from_raw_fd(socket) };
        // SAFETY: the structure has only numbers, for which 0 is a value.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = protocol;
        address.sll_ifindex = index(interface) as i32;
        let length = size_of_val(&address) as u32;
        // SAFETY: the address has this length.
        let bound = unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) };
        assert_eq!(bound, 0, "{}", io::Error::last_os_error());
        let wire = Self(socket);
        // Room for what arrives while the test does other things.
        wire.set(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, 64 << 20);
        wire.set(libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, 1);
        wire
    }

    /// Sets an option of the socket that is a number.
    fn set(&self, level: libc::c_int, name: libc::c_int, value: libc::c_int) {
        let (option, length) = ((&raw const value).cast(), size_of_val(&value) as u32);
        let socket = self.0.as_raw_fd();
        // SAFETY: the option is an integer of this length.
        let result = unsafe { libc::setsockopt(socket, level, name, option, length) };
        assert_eq!(result, 0, "{}", io::Error::last_os_error());
    }

    /// Sends a frame, from its Ethernet header on.
    pub fn send(&self, frame: &[u8]) {
        self.try_send(frame).unwrap();
    }

    /// Sends a frame by an interface whose other end may be down.
    pub fn try_send(&self, frame: &[u8]) -> io::Result<()> {
        // SAFETY: the pointer and the length are those of a slice.
        let sent = unsafe { libc::send(self.0.as_raw_fd(), frame.as_ptr().cast(), frame.len(), 0) };
        if sent == frame.len() as isize { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// A frame that is there already.
    pub fn receive(&self) -> Option<Vec<u8>> {
        let mut frame = vec![0; 1 << 16];
        let (start, length) = (frame.as_mut_ptr().cast(), frame.len());
        // SAFETY: the pointer and the length are those of a vector.
        let received = unsafe { libc::recv(self.0.as_raw_fd(), start, length, 0) };
        frame.truncate(usize::try_from(received).ok()?);
        Some(frame)
    }

    /// The first frame for which this is true, within two seconds.
    pub fn find(&self, wanted: impl Fn(&[u8]) -> bool) -> Option<Vec<u8>> {
        let end = Instant::now() + Duration::from_secs(2);
        while Instant::now() < end {
            match self.receive() {
                Some(frame) if wanted(&frame) => return Some(frame),
                Some(_) => {}
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        }
        None
    }
}
