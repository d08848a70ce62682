//! The parts that lines of text are made of: words, prefixes, and what a line says.

use std::net::IpAddr;

use longmatch::{IpPrefix, ParsePrefixError};

use super::error::LineError;
use super::linux::{Hops, IpRoute};
use crate::options::IpFamily;

/// What a line says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Line<'a> {
    /// Nothing: blank, a comment, or a line without a route.
    Nothing,
    Announce(IpPrefix, &'a str),
    /// A prefix that is its own next hop.
    Own(IpPrefix),
    Withdraw(IpPrefix),
    /// A line of `ip route`, whose next hops may be on the lines that follow.
    Route(IpRoute<&'a str>),
    /// Next hops of the route before.
    NextHops(Hops<&'a str>),
    /// A line of `bgpdump -m`.
    Dump(DumpLine<'a>),
}

/// How to read what a line leaves open.
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
    /// Of a session with ADD-PATH: which of the prefix's paths this is.
    pub(crate) path: Option<u32>,
    /// Whether this is a route of a table, and not an update.
    pub(crate) is_table: bool,
}

/// Nothing or a comment may follow.
#[inline]
pub(crate) fn end(tail: &str) -> Result<(), LineError> {
    match word(tail).0 {
        "" => Ok(()),
        comment if comment.starts_with('#') => Ok(()),
        text => Err(LineError::Trailing { text: shorten(text) }),
    }
}

/// The first word of a text, and what follows it.
#[inline]
pub(crate) fn word(text: &str) -> (&str, &str) {
    let text = text.trim_ascii_start();
    match text.bytes().position(|byte| byte.is_ascii_whitespace()) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    }
}

/// A prefix, or an address that stands for its host prefix.
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

/// The start of a word, for an error message.
pub(crate) fn shorten(text: &str) -> String {
    text.chars().take(64).collect()
}
