//! One line of text, classified and parsed.

use std::net::IpAddr;

use longmatch::{IpPrefix, ParsePrefixError};

use super::bgpdump::{self, DumpLine};
use super::ip_route;
use crate::error::LineError;

/// What a line says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Line<'a> {
    /// Nothing: blank, a comment, or a line without a route.
    Nothing,
    Announce(IpPrefix, &'a str),
    Withdraw(IpPrefix),
    /// An `ip route` line whose next hops are on the lines that follow.
    Multipath(IpPrefix),
    /// One of those next hops.
    NextHop(&'a str),
    /// A line of `bgpdump -m`.
    Dump(DumpLine<'a>),
}

/// How to read what a line leaves open.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rules {
    pub(crate) mask_host_bits: bool,
    pub(crate) default_is_ipv6: bool,
}

/// Parses one line.
#[inline]
pub(crate) fn parse<'a>(line: &'a str, rules: Rules) -> Result<Line<'a>, LineError> {
    let (first, rest) = word(line);
    match first.as_bytes() {
        [] | [b'#', ..] => return Ok(Line::Nothing),
        b"A" => return announce(rest, rules),
        b"W" => return withdraw(rest, rules),
        [b'T' | b'B', ..] if line.contains('|') => return bgpdump::parse(line.trim_ascii(), rules),
        // Every other word that may start a line is lower case and longer than an IPv6 group.
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
        [] | [b'#', ..] => Err(LineError::MissingNextHop),
        b"via" | b"dev" if tail.trim_ascii().is_empty() => Err(LineError::MissingNextHop),
        _ if ip_route::is_keyword(second) && !tail.trim_ascii().is_empty() => {
            ip_route::parse_route(prefix, rest)
        }
        _ => end(tail).map(|()| Line::Announce(prefix, second)),
    }
}

fn announce(rest: &str, rules: Rules) -> Result<Line<'_>, LineError> {
    let (first, rest) = word(rest);
    let (second, tail) = word(rest);
    if first.is_empty() {
        return Err(LineError::MissingPrefix);
    }
    let prefix = target(first, rules)?;
    if second.is_empty() || second.starts_with('#') {
        return Err(LineError::MissingNextHop);
    }
    end(tail).map(|()| Line::Announce(prefix, second))
}

fn withdraw(rest: &str, rules: Rules) -> Result<Line<'_>, LineError> {
    let (first, tail) = word(rest);
    if first.is_empty() {
        return Err(LineError::MissingPrefix);
    }
    let prefix = target(first, rules)?;
    end(tail).map(|()| Line::Withdraw(prefix))
}

/// Nothing or a comment may follow.
#[inline]
fn end(tail: &str) -> Result<(), LineError> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn announce(prefix: &str, next_hop: &'static str) -> Result<Line<'static>, LineError> {
        Ok(Line::Announce(prefix.parse().unwrap(), next_hop))
    }

    fn parse(line: &str) -> Result<Line<'_>, LineError> {
        super::parse(line, Rules::default())
    }

    #[test]
    fn plain_lines() {
        assert_eq!(parse("192.0.2.0/24 a"), announce("192.0.2.0/24", "a"));
        assert_eq!(parse(" \t192.0.2.0/24\t10.0.0.1  # why"), announce("192.0.2.0/24", "10.0.0.1"));
        assert_eq!(parse("192.0.2.1 a"), announce("192.0.2.1/32", "a"));
        assert_eq!(parse("2001:db8::1 a"), announce("2001:db8::1/128", "a"));
        assert_eq!(parse("A 2001:db8::/32 7"), announce("2001:db8::/32", "7"));
        assert_eq!(parse("dead:beef::/32 x"), announce("dead:beef::/32", "x"));
        assert_eq!(parse("W ::/0"), Ok(Line::Withdraw("::/0".parse().unwrap())));
        assert_eq!(parse("10.0.0.0/8 table"), announce("10.0.0.0/8", "table"));
        for nothing in ["", "  ", "# x", "#", "\t#\t"] {
            assert_eq!(parse(nothing), Ok(Line::Nothing), "{nothing:?}");
        }
    }

    #[test]
    fn ipv4_mapped_prefixes_stay_as_they_are() {
        assert_eq!(parse("::ffff:10.0.0.0/104 a"), announce("::ffff:a00:0/104", "a"));
    }

    #[test]
    fn prefixes_that_are_none() {
        let bad = [
            "10.0.0.0/33",
            "10.0.0.0/-1",
            "10.0.0.0/",
            "/",
            "/8",
            "010.1.1.1",
            "010.1.1.0/24",
            "10.0.0.1/8",
            "fe80::1%eth0",
            "fe80::%eth0/64",
            "::/129",
            "10.1.1",
            "x",
            "é/8",
            "|",
            "unicast",
            "anycast",
            "defaul",
            "defaultt",
            "nexthopp",
        ];
        for text in bad {
            for line in [format!("{text} a"), format!("A {text} a"), format!("W {text}")] {
                match parse(&line) {
                    Err(LineError::Prefix { .. }) => {}
                    // Here the next word, `a`, is the target.
                    other if line.ends_with("cast a") => assert!(other.is_err(), "{line:?}"),
                    other => panic!("{line:?}: {other:?}"),
                }
            }
        }
        assert_eq!(
            super::parse("10.0.0.1/8 a", Rules { mask_host_bits: true, ..Rules::default() }),
            announce("10.0.0.0/8", "a")
        );
    }

    #[test]
    fn words_that_are_missing_or_too_many() {
        assert_eq!(parse("10.0.0.0/8"), Err(LineError::MissingNextHop));
        assert_eq!(parse("10.0.0.0/8 # x"), Err(LineError::MissingNextHop));
        assert_eq!(parse("A 10.0.0.0/8"), Err(LineError::MissingNextHop));
        assert_eq!(parse("10.0.0.0/8 via "), Err(LineError::MissingNextHop));
        assert_eq!(parse("10.0.0.0/8 dev"), Err(LineError::MissingNextHop));
        assert_eq!(parse("A"), Err(LineError::MissingPrefix));
        assert_eq!(parse("W "), Err(LineError::MissingPrefix));
        assert!(matches!(parse("10.0.0.0/8 a b"), Err(LineError::Trailing { .. })));
        assert!(matches!(parse("W 10.0.0.0/8 a"), Err(LineError::Trailing { .. })));
    }
}
