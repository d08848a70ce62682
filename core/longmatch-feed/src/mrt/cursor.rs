//! Checked reading of record fields.
//!
//! Every read names its field, so that an error states the field and its position.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use longmatch::{IpPrefix, Prefix};

use crate::error::{FeedError, Problem};

/// Address family as in BGP messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Afi {
    Ipv4,
    Ipv6,
}

impl Afi {
    pub(crate) fn from_number(afi: u16) -> Option<Self> {
        match afi {
            1 => Some(Self::Ipv4),
            2 => Some(Self::Ipv6),
            _ => None,
        }
    }

    fn width(self) -> u8 {
        match self {
            Self::Ipv4 => 32,
            Self::Ipv6 => 128,
        }
    }

    /// The prefix of these bits; clears the bits after the length.
    fn prefix(self, octets: [u8; 16], len: u8) -> IpPrefix {
        let bits = u128::from_be_bytes(octets);
        match self {
            Self::Ipv4 => IpPrefix::V4(Prefix::from_bits_masked((bits >> 96) as u32, len)),
            Self::Ipv6 => IpPrefix::V6(Prefix::from_bits_masked(bits, len)),
        }
    }
}

/// Unread bytes, and their position in the stream.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    offset: u64,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8], offset: u64) -> Self {
        Self { bytes, offset }
    }

    /// The unread bytes.
    #[inline]
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns an error at this position.
    #[cold]
    pub(crate) fn error(&self, error: Problem) -> FeedError {
        FeedError::byte(self.offset, error)
    }

    #[cold]
    fn short(&self, field: &'static str, needed: usize) -> FeedError {
        self.error(Problem::Short { field, needed, have: self.bytes.len() })
    }

    /// Reads the next `n` bytes as a cursor.
    #[inline]
    pub(crate) fn take(&mut self, n: usize, field: &'static str) -> Result<Self, FeedError> {
        let Some((taken, rest)) = self.bytes.split_at_checked(n) else {
            return Err(self.short(field, n));
        };
        let part = Self { bytes: taken, offset: self.offset };
        *self = Self { bytes: rest, offset: self.offset + n as u64 };
        Ok(part)
    }

    #[inline]
    fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], FeedError> {
        let Some((array, rest)) = self.bytes.split_first_chunk::<N>() else {
            return Err(self.short(field, N));
        };
        *self = Self { bytes: rest, offset: self.offset + N as u64 };
        Ok(*array)
    }

    #[inline]
    pub(crate) fn u8(&mut self, field: &'static str) -> Result<u8, FeedError> {
        self.array(field).map(|[byte]| byte)
    }

    #[inline]
    pub(crate) fn u16(&mut self, field: &'static str) -> Result<u16, FeedError> {
        self.array(field).map(u16::from_be_bytes)
    }

    #[inline]
    pub(crate) fn u32(&mut self, field: &'static str) -> Result<u32, FeedError> {
        self.array(field).map(u32::from_be_bytes)
    }

    /// Reads an AS number of 2 or 4 bytes.
    pub(crate) fn asn(&mut self, wide: bool, field: &'static str) -> Result<u32, FeedError> {
        if wide { self.u32(field) } else { self.u16(field).map(u32::from) }
    }

    /// Reads a whole address.
    pub(crate) fn addr(&mut self, afi: Afi, field: &'static str) -> Result<IpAddr, FeedError> {
        match afi {
            Afi::Ipv4 => self.array::<4>(field).map(|octets| Ipv4Addr::from(octets).into()),
            Afi::Ipv6 => self.array::<16>(field).map(|octets| Ipv6Addr::from(octets).into()),
        }
    }

    /// Reads a prefix in BGP encoding: the length, then the bytes that the length covers.
    #[inline]
    pub(crate) fn prefix(&mut self, afi: Afi) -> Result<IpPrefix, FeedError> {
        let here = *self;
        let len = self.u8("prefix length")?;
        if len > afi.width() {
            return Err(here.error(Problem::PrefixLength { len, max: afi.width() }));
        }
        let bytes = self.take(usize::from(len.div_ceil(8)), "prefix")?.rest();
        let mut octets = [0; 16];
        octets[..bytes.len()].copy_from_slice(bytes);
        Ok(afi.prefix(octets, len))
    }

    /// Reads a prefix in TABLE_DUMP encoding: the whole address, then the length.
    pub(crate) fn full_prefix(&mut self, afi: Afi) -> Result<IpPrefix, FeedError> {
        let bytes = self.take(usize::from(afi.width() / 8), "prefix")?.rest();
        let mut octets = [0; 16];
        octets[..bytes.len()].copy_from_slice(bytes);
        let here = *self;
        let len = self.u8("prefix length")?;
        if len > afi.width() {
            return Err(here.error(Problem::PrefixLength { len, max: afi.width() }));
        }
        Ok(afi.prefix(octets, len))
    }

    /// Checks that no bytes are left.
    #[inline]
    pub(crate) fn end(&self) -> Result<(), FeedError> {
        match self.bytes.len() {
            0 => Ok(()),
            bytes => Err(self.error(Problem::TrailingBytes { bytes })),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_of_every_length() {
        for (afi, width) in [(Afi::Ipv4, 32u8), (Afi::Ipv6, 128)] {
            for len in 0..=255u8 {
                let mut bytes = vec![0xff; 40];
                bytes[0] = len;
                let mut cursor = Cursor::new(&bytes, 0);
                let prefix = cursor.prefix(afi);
                assert_eq!(prefix.is_ok(), len <= width);
                let Ok(prefix) = prefix else { continue };
                assert_eq!(prefix.len(), len);
                assert_eq!(cursor.rest().len(), 39 - usize::from(len.div_ceil(8)));
                let cut = usize::from(len.div_ceil(8));
                assert!(Cursor::new(&bytes[..cut], 0).prefix(afi).is_err());
            }
        }
    }

    #[test]
    fn errors_have_the_position_of_the_field() {
        let mut cursor = Cursor::new(&[1, 2, 3], 100);
        assert_eq!(cursor.u16("a").unwrap(), 0x0102);
        let error = cursor.u32("b").unwrap_err();
        assert_eq!(error.place, crate::Location::Byte(102));
        assert_eq!(cursor.rest(), [3], "a failed read consumes nothing");
        assert!(cursor.take(2, "c").is_err() && cursor.end().is_err());
        assert!(cursor.u8("d").is_ok() && cursor.end().is_ok());
    }
}
