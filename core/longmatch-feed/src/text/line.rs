//! Vocabulary of the line parsers: meanings, words and prefixes of lines.

use std::borrow::Cow;
use std::net::IpAddr;

use longmatch::{IpPrefix, ParsePrefixError};

use super::linux::{Hops, IpRoute};
use crate::address_text::parse_ip;
use crate::error::{Problem, shorten};
use crate::options::IpFamily;
use crate::prefix_text::parse_prefix;
use crate::route_value::RouteValue;

/// Meaning of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RouteLine<'a> {
    /// No route: a blank line, a comment, or a message without routes.
    Nothing,
    /// A prefix and its next hop.
    Announce(IpPrefix, &'a str),
    /// A prefix that is its own next hop.
    Own(IpPrefix),
    /// A withdrawn prefix.
    Withdraw(IpPrefix),
    /// A line of `ip route`; its next hops may be on the following lines.
    Route(IpRoute<&'a str>),
    /// Next hops of the previous route.
    NextHops(Hops<&'a str>),
    /// A line of `bgpdump -m`.
    Dump(DumpLine<'a>),
}

/// Options for parsing a line.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rules {
    pub(crate) mask_host_bits: bool,
    pub(crate) default_family: Option<IpFamily>,
}

/// A route that a peer announced or withdrew.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DumpLine<'a> {
    pub(crate) peer: IpAddr,
    pub(crate) asn: u32,
    pub(crate) prefix: IpPrefix,
    /// `None` for a withdrawal.
    pub(crate) next_hop: Option<&'a str>,
    /// The AS path and the communities; empty for a withdrawal.
    pub(crate) as_path: &'a str,
    pub(crate) communities: &'a str,
    /// ADD-PATH path identifier.
    pub(crate) path: Option<u32>,
    /// Whether the line is a route of a table instead of an update.
    pub(crate) is_table: bool,
}

impl<'a> DumpLine<'a> {
    /// The autonomous system in which the path ends; empty if the path is empty or damaged, or ends
    /// in a set (`{64500,64501}`) or a confederation.
    fn origin(&self) -> &'a str {
        let last = self.as_path.split_ascii_whitespace().next_back();
        last.filter(|last| last.parse::<u32>().is_ok()).unwrap_or("")
    }

    /// A value of the route; `None` for a withdrawal.
    pub(crate) fn value(&self, value: RouteValue) -> Option<Cow<'a, str>> {
        let next_hop = self.next_hop?;
        Some(match value {
            RouteValue::NextHop => next_hop.into(),
            RouteValue::OriginAs => self.origin().into(),
            RouteValue::AsPath => self.as_path.trim_ascii().into(),
            RouteValue::Communities => self.communities.trim_ascii().into(),
            RouteValue::Peer => self.peer.to_string().into(),
        })
    }
}

/// Checks that only a comment follows.
#[inline]
pub(crate) fn end(tail: &str) -> Result<(), Problem> {
    match word(tail).0 {
        "" => Ok(()),
        comment if comment.starts_with('#') => Ok(()),
        text => Err(Problem::Trailing { text: shorten(text) }),
    }
}

/// Splits a text after its first word.
#[inline]
pub(crate) fn word(text: &str) -> (&str, &str) {
    let text = text.trim_ascii_start();
    match text.bytes().position(|byte| byte.is_ascii_whitespace()) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    }
}

/// Parses a prefix, or an address as its host prefix.
#[inline]
pub(crate) fn target(text: &str, rules: Rules) -> Result<IpPrefix, Problem> {
    if let Some(prefix) = canonical(text.as_bytes()) {
        return Ok(prefix);
    }
    let parsed = if !text.contains('/') {
        let addr = text.parse::<IpAddr>();
        addr.map(IpPrefix::host).map_err(|_| ParsePrefixError::Address)
    } else {
        parse_prefix(text, rules.mask_host_bits)
    };
    parsed.map_err(|error| Problem::Prefix { text: shorten(text), error })
}

/// A prefix with a length, as most texts have it; `None` for any other form, valid or not.
#[inline]
fn canonical(text: &[u8]) -> Option<IpPrefix> {
    let (addr, len) = text.split_at(text.iter().rposition(|byte| *byte == b'/')?);
    let len = match *len {
        [_, one @ b'0'..=b'9'] => one - b'0',
        [_, ten @ b'1'..=b'9', one @ b'0'..=b'9'] => (ten - b'0') * 10 + one - b'0',
        _ => return None,
    };
    IpPrefix::new(parse_ip(addr)?, len).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_canonical_form_is_that_of_the_parser_of_prefixes() {
        let addrs = [
            "0.0.0.0",
            "10.0.0.0",
            "192.0.2.1",
            "010.0.0.0",
            "::",
            "2001:db8::",
            "::ffff:10.0.0.0",
            "x",
            "",
        ];
        let lens = ["0", "7", "8", "08", "24", "32", "33", "99", "128", "", "-1", "+8", "8 ", "x"];
        for (addr, len) in addrs.iter().flat_map(|addr| lens.map(|len| (*addr, len))) {
            let text = format!("{addr}/{len}");
            if let Some(prefix) = canonical(text.as_bytes()) {
                assert_eq!(text.parse(), Ok(prefix), "{text}");
            }
        }
        assert!(canonical(b"10.0.0.0/8").is_some() && canonical(b"2001:db8::/32").is_some());
        assert!(canonical(b"10.0.0.0").is_none() && canonical(b"10.0.0.0/8/8").is_none());
    }
}
