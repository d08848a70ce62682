//! Prefixes and netmasks as text.

use std::net::IpAddr;

use longmatch::{IpPrefix, ParsePrefixError};

/// Parses an address with a length or a netmask after a slash.
pub(crate) fn parse_prefix(text: &str, mask_host_bits: bool) -> Result<IpPrefix, ParsePrefixError> {
    let parsed = if mask_host_bits { IpPrefix::parse_masked(text) } else { text.parse() };
    let Err(ParsePrefixError::Length) = parsed else { return parsed };
    let netmask = |(addr, netmask): (&str, &str)| {
        let addr: IpAddr = addr.parse().ok()?;
        netmask_length(addr, netmask.parse().ok()?).map(|len| (addr, len))
    };
    let (addr, len) = text.split_once('/').and_then(netmask).ok_or(ParsePrefixError::Length)?;
    Ok(if mask_host_bits { IpPrefix::masked(addr, len)? } else { IpPrefix::new(addr, len)? })
}

/// The length of a netmask of the address's family.
pub(crate) fn netmask_length(addr: IpAddr, netmask: IpAddr) -> Option<u8> {
    let (bits, width) = match (addr, netmask) {
        (IpAddr::V4(_), IpAddr::V4(mask)) => (u128::from(mask.to_bits()) << 96, 32),
        (IpAddr::V6(_), IpAddr::V6(mask)) => (mask.to_bits(), 128),
        _ => return None,
    };
    let len = bits.leading_ones();
    (len + bits.trailing_zeros() >= 128).then_some(len.min(width) as u8)
}
