//! Vocabulary of the line parsers: meanings, words and prefixes of lines.

use std::borrow::Cow;
use std::net::IpAddr;

use longmatch::{IpPrefix, ParsePrefixError};

use super::click::PortHop;
use super::error::LineError;
use super::linux::{Hops, IpRoute};
use crate::options::IpFamily;
use crate::route_value::RouteValue;

/// Meaning of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Line<'a> {
    /// No route: a blank line, a comment, or a message without routes.
    Nothing,
    /// A prefix and its next hop.
    Announce(IpPrefix, &'a str),
    /// A prefix, its gateway and its output port.
    Port(IpPrefix, PortHop),
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
pub(crate) fn end(tail: &str) -> Result<(), LineError> {
    match word(tail).0 {
        "" => Ok(()),
        comment if comment.starts_with('#') => Ok(()),
        text => Err(LineError::Trailing { text: shorten(text) }),
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
pub(crate) fn target(text: &str, rules: Rules) -> Result<IpPrefix, LineError> {
    let parsed = if !text.contains('/') {
        let addr = text.parse::<IpAddr>();
        addr.map(IpPrefix::host).map_err(|_| ParsePrefixError::Address)
    } else if rules.mask_host_bits {
        IpPrefix::parse_masked(text)
    } else {
        text.parse()
    };
    parsed.map_err(|error| LineError::Prefix { text: shorten(text), error })
}

/// The first characters of a word, for an error message.
pub(crate) fn shorten(text: &str) -> String {
    text.chars().take(64).collect()
}
