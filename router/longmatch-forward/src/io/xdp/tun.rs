//! The way of packets to the kernel: a TUN device.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;

use super::interface::{Interfaces, Request};
use crate::sysctl;

/// The request that makes an interface; its type differs between C libraries.
#[allow(clippy::unnecessary_cast, reason = "musl's codes have another type")]
const TUNSETIFF: libc::c_ulong = libc::TUNSETIFF as libc::c_ulong;

/// The largest MTU of a TUN device, in bytes.
const MAX_MTU: i32 = 65_535;

/// Names the mode of the file of TUN devices where it is the reason: then no capability helps.
fn explained(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(libc::EACCES) => io::Error::other(
            "the mode of the file does not let this user read and write it; `chmod 0666 /dev/net/tun` lets every user, \
             until the next start of the machine",
        ),
        _ => error,
    }
}

/// A device without addresses from which the kernel receives packets.
///
/// It vanishes with the last descriptor of it.
#[derive(Debug)]
pub(super) struct Tun {
    file: File,
    name: String,
}

impl Tun {
    /// Makes a device of this name, in which the kernel replaces `%d` by the first free number, and sets it up.
    ///
    /// Settings that the kernel does not let us change, and that keep it from handling the packets,
    /// are put into words and added to `warnings`.
    pub(super) fn open(name: &str, warnings: &mut Vec<String>) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC);
        let file = options.open("/dev/net/tun").map_err(explained)?;
        let flags = (libc::IFF_TUN | libc::IFF_NO_PI) as i16;
        let mut request = Request::new(name, flags.to_ne_bytes())?;
        // SAFETY: the payload of this request is a number.
        unsafe { request.send(&file, TUNSETIFF) }?;
        let tun = Self { file, name: request.name() };
        tun.configure(warnings);
        let interfaces = Interfaces::open()?;
        interfaces.set_mtu(&tun.name, MAX_MTU)?;
        interfaces.set_up(&tun.name)?;
        Ok(tun)
    }

    /// Lets the kernel route the packets of the device.
    fn configure(&self, warnings: &mut Vec<String>) {
        let name = &self.name;
        let wanted = [
            // Packets come with sources whose routes leave by other interfaces.
            (format!("ipv4/conf/{name}/rp_filter"), "0"),
            (format!("ipv4/conf/{name}/forwarding"), "1"),
            (format!("ipv6/conf/{name}/disable_ipv6"), "0"),
            (format!("ipv6/conf/{name}/accept_ra"), "0"),
            // No link-local address: nothing ever sends to the device.
            (format!("ipv6/conf/{name}/addr_gen_mode"), "1"),
        ];
        for (path, value) in wanted {
            match sysctl::change(&path, value) {
                // A kernel without IPv6.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => warnings.push(format!(
                    "{name}: the kernel may drop packets that the forwarder hands to it, because \
                     net/{path} cannot be set to {value} ({error}); allow writes below /proc/sys"
                )),
                Ok(()) => {}
            }
        }
        // The kernel uses the larger value of the device and of `all`.
        if let Some(value @ 1..) = sysctl::number("ipv4/conf/all/rp_filter") {
            warnings.push(format!(
                "{name}: the kernel checks sources of packets that the forwarder hands to it, and \
                 may drop them, because net.ipv4.conf.all.rp_filter is {value}; set it to 0, and \
                 the rp_filter of each interface that needs the check to {value}"
            ));
        }
    }

    /// The name of the device.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Hands an IP packet to the kernel; `false` if the device does not take it.
    ///
    /// # Errors
    /// If the device is gone.
    pub(super) fn send(&self, packet: &[u8]) -> io::Result<bool> {
        match (&self.file).write(packet) {
            Ok(_) => Ok(true),
            // Somebody deleted the device.
            Err(error) if error.raw_os_error() == Some(libc::EBADFD) => Err(error),
            // Its queue is full (EAGAIN, ENOBUFS), it is down (EIO), or the packet is none (EINVAL).
            Err(_) => Ok(false),
        }
    }
}
