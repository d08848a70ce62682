//! Parser of one line of any kind.

use std::net::IpAddr;

use longmatch::IpPrefix;

use super::line::{RouteLine, Rules, end, target, word};
use super::linux::{IpRoute, Target};
use super::{bgpdump, ip_route};
use crate::error::Problem;

/// Parses one line.
#[inline]
pub(crate) fn parse<'a>(line: &'a str, rules: Rules) -> Result<RouteLine<'a>, Problem> {
    let (first, rest) = word(line);
    let first = if first.len() == 1 { ip_route::type_name(first) } else { first };
    match first.as_bytes() {
        [] | [b'#', ..] => return Ok(RouteLine::Nothing),
        b"A" => return announce(rest, rules),
        b"W" => return withdraw(rest, rules),
        [b'T' | b'B', ..] if line.contains('|') => return bgpdump::parse(line.trim_ascii(), rules),
        // All other keywords at the start of a line are lower case and longer than an IPv6 group.
        [b'a'..=b'z', _, _, _, b'a'..=b'z', ..] => {
            if let Some(line) = ip_route::parse_by_first_word(first, rest, rules)? {
                return Ok(line);
            }
        }
        _ => {}
    }
    let prefix = target(first, rules)?;
    let (second, tail) = word(rest);
    match second.as_bytes() {
        // The next hops may be on the following lines.
        [] | [b'#', ..] => Ok(RouteLine::Route(IpRoute::new(Target::Prefix(prefix)))),
        b"via" | b"dev" if tail.trim_ascii().is_empty() => Err(Problem::MissingNextHop),
        _ if ip_route::is_keyword(second) && !tail.trim_ascii().is_empty() => {
            ip_route::parse_route(Target::Prefix(prefix), rest)
        }
        _ => columns((first, prefix), second, tail, rules),
    }
}

/// Parses `prefix next-hop`; or, if the second word is a netmask, `network netmask next-hop` or
/// `network netmask`; or `network /length`.
#[inline]
fn columns<'a>(
    (first, prefix): (&str, IpPrefix),
    second: &'a str,
    tail: &'a str,
    rules: Rules,
) -> Result<RouteLine<'a>, Problem> {
    // Most prefixes have a length: these need no test for a netmask.
    if first.contains('/') {
        return end(tail).map(|()| RouteLine::Announce(prefix, second));
    }
    if is_length(second) {
        let prefix = target(&format!("{first}{second}"), rules)?;
        return end(tail).map(|()| RouteLine::Own(prefix));
    }
    if let Some(prefix) = masked(prefix.addr(), second, rules)? {
        return match word(tail) {
            ("", _) => Ok(RouteLine::Own(prefix)),
            (comment, _) if comment.starts_with('#') => Ok(RouteLine::Own(prefix)),
            (next_hop, tail) => end(tail).map(|()| RouteLine::Announce(prefix, next_hop)),
        };
    }
    end(tail).map(|()| RouteLine::Announce(prefix, second))
}

/// Whether a word is the length of a prefix, or its netmask, after a slash.
pub(crate) fn is_length(word: &str) -> bool {
    word.strip_prefix('/').is_some_and(|length| length.starts_with(|c: char| c.is_ascii_digit()))
}

/// The prefix of an address and a netmask; `None` if the second word is a next hop instead.
///
/// An IPv4 address that begins with the byte 0 or 255 cannot be a next hop, and neither can an IPv6
/// address that begins with 16 ones. Such an address counts as a netmask, valid or not.
fn masked(network: IpAddr, second: &str, rules: Rules) -> Result<Option<IpPrefix>, Problem> {
    let Ok(mask) = second.parse::<IpAddr>() else { return Ok(None) };
    let (bits, width, meant) = match (network, mask) {
        (IpAddr::V4(_), IpAddr::V4(mask)) => {
            (u128::from(mask.to_bits()) << 96, 32, matches!(mask.octets()[0], 0 | 255))
        }
        (IpAddr::V6(_), IpAddr::V6(mask)) => (mask.to_bits(), 128, mask.segments()[0] == 0xffff),
        _ => return Ok(None),
    };
    let len = bits.leading_ones();
    if len + bits.trailing_zeros() < 128 {
        return if meant { Err(Problem::Netmask { mask }) } else { Ok(None) };
    }
    // IPv4 bits fill the upper 32 bits only.
    let len = len.min(width) as u8;
    // A netmask of length 0 would clear the whole address, which is never intended.
    let parsed = match rules.mask_host_bits && len > 0 {
        true => IpPrefix::masked(network, len),
        false => IpPrefix::new(network, len),
    };
    parsed.map(Some).map_err(|_| Problem::NetworkBits { network, mask })
}

fn announce(rest: &str, rules: Rules) -> Result<RouteLine<'_>, Problem> {
    let (first, rest) = word(rest);
    let (second, tail) = word(rest);
    if first.is_empty() {
        return Err(Problem::MissingPrefix);
    }
    let prefix = target(first, rules)?;
    if second.is_empty() || second.starts_with('#') {
        return Err(Problem::MissingNextHop);
    }
    columns((first, prefix), second, tail, rules)
}

fn withdraw(rest: &str, rules: Rules) -> Result<RouteLine<'_>, Problem> {
    let (first, tail) = word(rest);
    if first.is_empty() {
        return Err(Problem::MissingPrefix);
    }
    let prefix = target(first, rules)?;
    end(tail).map(|()| RouteLine::Withdraw(prefix))
}
