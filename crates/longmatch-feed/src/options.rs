//! What a caller can choose.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// How to read an input.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// Whose routes to take from a file that has those of several peers. Default: the peer with the
    /// most routes, for each address family on its own.
    pub peer: Option<PeerSelector>,
    /// Keep what can be read of a damaged input instead of refusing it.
    pub lenient: bool,
    /// The input's format. Default: found out from its first bytes.
    pub format: Format,
    /// Drop set host bits in text instead of refusing the line. (In MRT they mean nothing and are
    /// always dropped, as RFC 4271, section 4.3 says.)
    pub mask_host_bits: bool,
    /// Read a `default` whose family nothing else shows as `::/0`, for the output of `ip -6 route`.
    pub default_is_ipv6: bool,
    /// Bounds on what a hostile input can use up.
    pub limits: Limits,
}

/// The format of an input.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Format {
    /// Found out from the first bytes.
    #[default]
    Auto,
    /// Lines of text: `prefix next-hop`, updates, `ip route`, `bgpdump -m`.
    Text,
    /// MRT (RFC 6396).
    Mrt,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Text => "text",
            Self::Mrt => "MRT",
        })
    }
}

/// Bounds on what an input can use up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes in a line of text.
    pub line: usize,
    /// Bytes in an MRT record, or in a packet or pcapng block of a capture.
    pub record: usize,
    /// Bytes kept in memory of an input that is no regular file.
    pub spool: u64,
    /// Bytes of decompressed output before [`Limits::ratio`] counts.
    pub ratio_after: u64,
    /// Bytes of decompressed output per byte of input.
    pub ratio: u64,
    /// Destinations that are kept of a trace.
    pub destinations: usize,
}

impl Default for Limits {
    /// A line: 4 KiB. A record: 16 MiB. Input that is no regular file: 1 GiB. Decompression: 1000
    /// to 1 after the first 64 MiB. Destinations: 2^27, far more than any cache has room for,
    /// which take 2 GiB at most.
    fn default() -> Self {
        Self {
            line: 4 << 10,
            record: 16 << 20,
            spool: 1 << 30,
            ratio_after: 64 << 20,
            ratio: 1000,
            destinations: 1 << 27,
        }
    }
}

/// Names one peer, or several of which the one with the most routes is taken.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum PeerSelector {
    /// The peer with this address.
    Addr(IpAddr),
    /// A peer in this autonomous system.
    Asn(u32),
    /// The peer at this position of the peer index table, from 0.
    Index(u16),
}

impl fmt::Display for PeerSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Addr(addr) => addr.fmt(f),
            Self::Asn(asn) => write!(f, "AS{asn}"),
            Self::Index(index) => index.fmt(f),
        }
    }
}

/// A text that names no peer.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ParsePeerError {
    /// The text.
    pub text: String,
}

impl fmt::Display for ParsePeerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "'{}' names no peer: expected an address, an AS number (AS64500), \
             or a position in the peer index table",
            self.text.escape_debug()
        )
    }
}

impl std::error::Error for ParsePeerError {}

impl FromStr for PeerSelector {
    type Err = ParsePeerError;

    /// Parses an address, `AS` and a number, or a number.
    fn from_str(text: &str) -> Result<Self, ParsePeerError> {
        let error = || ParsePeerError { text: text.to_owned() };
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if let Ok(addr) = text.parse() {
            return Ok(Self::Addr(addr));
        }
        let number = match text.get(..2) {
            Some(start) if start.eq_ignore_ascii_case("as") => &text[2..],
            _ if digits(text) => return text.parse().map(Self::Index).map_err(|_| error()),
            _ => return Err(error()),
        };
        if !digits(number) {
            return Err(error());
        }
        number.parse().map(Self::Asn).map_err(|_| error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_have_three_names() {
        let parse = |text: &str| text.parse::<PeerSelector>();
        assert_eq!(parse("192.0.2.1"), Ok(PeerSelector::Addr("192.0.2.1".parse().unwrap())));
        assert_eq!(parse("2001:db8::1"), Ok(PeerSelector::Addr("2001:db8::1".parse().unwrap())));
        assert_eq!(parse("AS64500"), Ok(PeerSelector::Asn(64500)));
        assert_eq!(parse("as4294967295"), Ok(PeerSelector::Asn(u32::MAX)));
        assert_eq!(parse("7"), Ok(PeerSelector::Index(7)));
        for bad in ["", "AS", "AS-1", "AS+1", "65536", "+7", "AS4294967296", "x", "é", "aé"] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
    }
}
