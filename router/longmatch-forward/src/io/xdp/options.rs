//! How interfaces are opened.

use std::fmt;
use std::str::FromStr;

use xdp::libc::xdp::XDP_PACKET_HEADROOM;

use super::error::XdpError;

/// Bytes of an Ethernet header.
pub(super) const ETHERNET_BYTES: u32 = 14;

/// Where the kernel runs the XDP program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum XdpMode {
    /// `auto`: in native mode if the driver supports it, else in generic mode. Also in generic mode on a `veth` pair,
    /// which has no segmentation offload for TCP in native mode.
    #[default]
    Auto,
    /// `native`: in the driver.
    Native,
    /// `generic`: after the driver, which works with all drivers and is slower on cards.
    Generic,
}

impl fmt::Display for XdpMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Native => "native",
            Self::Generic => "generic",
        })
    }
}

impl FromStr for XdpMode {
    type Err = XdpError;

    /// The mode of this name, as it is displayed.
    fn from_str(name: &str) -> Result<Self, XdpError> {
        let named = |mode: &Self| mode.to_string() == name;
        [Self::Auto, Self::Native, Self::Generic].into_iter().find(named).ok_or_else(|| {
            XdpError::Option {
                name: "mode",
                value: name.to_owned(),
                expected: "auto, native or generic",
            }
        })
    }
}

/// How interfaces are opened.
///
/// ```
/// use longmatch_forward::io::xdp::{XdpMode, XdpOptions};
/// let options = XdpOptions { threads: 4, mode: XdpMode::Native, ..Default::default() };
/// assert_eq!(options.ring_size, 2048);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct XdpOptions {
    /// Threads; each has one queue of every interface. 1 by default.
    pub threads: usize,
    /// Where the kernel runs the XDP program.
    pub mode: XdpMode,
    /// Whether devices read and write frames themselves, if their drivers can. True by default.
    pub zero_copy: bool,
    /// Frames that each ring of a queue holds: a power of two from 32 to 32,768; 2,048 by default.
    ///
    /// A thread has memory for twice as many frames for each interface, and for one ring more.
    pub ring_size: u32,
    /// Bytes of memory for a frame: 2,048 (the default) or 4,096. The kernel needs 256 of them.
    pub frame_size: u32,
    /// The name of the TUN device; the kernel replaces `%d` by a number. `longmatch%d` by default.
    pub tun_name: String,
}

impl Default for XdpOptions {
    fn default() -> Self {
        Self {
            threads: 1,
            mode: XdpMode::Auto,
            zero_copy: true,
            ring_size: 2048,
            frame_size: 2048,
            tun_name: "longmatch%d".into(),
        }
    }
}

impl XdpOptions {
    /// The largest MTU for frames of this size, in bytes.
    pub fn largest_mtu(&self) -> u32 {
        self.frame_size.saturating_sub(XDP_PACKET_HEADROOM as u32 + ETHERNET_BYTES)
    }

    pub(super) fn check(&self) -> Result<(), XdpError> {
        let expect = |holds: bool, name, value: &dyn fmt::Display, expected| {
            let error = || XdpError::Option { name, value: value.to_string(), expected };
            if holds { Ok(()) } else { Err(error()) }
        };
        // Queues have 16-bit numbers.
        let threads = (1..=1 << 16).contains(&self.threads);
        expect(threads, "threads", &self.threads, "from 1 to 65,536")?;
        let ring = (32..=1 << 15).contains(&self.ring_size) && self.ring_size.is_power_of_two();
        expect(ring, "ring_size", &self.ring_size, "a power of two from 32 to 32,768")?;
        let frame = [2048, 4096].contains(&self.frame_size);
        expect(frame, "frame_size", &self.frame_size, "2048 or 4096")?;
        let name = (1..16).contains(&self.tun_name.len()) && !self.tun_name.contains(['/', '\0']);
        expect(name, "tun_name", &self.tun_name, "a name of 1 to 15 bytes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_parsed_as_displayed() {
        for mode in [XdpMode::Auto, XdpMode::Native, XdpMode::Generic] {
            assert_eq!(mode.to_string().parse::<XdpMode>().unwrap(), mode);
        }
        let error = "fast".parse::<XdpMode>().unwrap_err();
        assert_eq!(error.to_string(), "mode is fast, but must be auto, native or generic");
    }

    #[test]
    fn options_out_of_range_are_refused() {
        let message = |options: XdpOptions| options.check().unwrap_err().to_string();
        let defaults = XdpOptions::default;
        assert!(defaults().check().is_ok());
        assert!(message(XdpOptions { threads: 0, ..defaults() }).contains("threads is 0"));
        assert!(message(XdpOptions { ring_size: 100, ..defaults() }).contains("a power of two"));
        assert!(message(XdpOptions { frame_size: 1500, ..defaults() }).contains("2048 or 4096"));
        let tun_name = "a-name-that-is-too-long".into();
        assert!(message(XdpOptions { tun_name, ..defaults() }).contains("1 to 15 bytes"));
    }

    #[test]
    fn frames_have_room_for_the_headers() {
        assert_eq!(XdpOptions::default().largest_mtu(), 1778);
        assert_eq!(XdpOptions { frame_size: 4096, ..Default::default() }.largest_mtu(), 3826);
    }
}
