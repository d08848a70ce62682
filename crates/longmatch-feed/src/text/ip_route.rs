//! Lines of `ip route` and `ip -6 route`.
//!
//! The next hop is the address after `via`, else the device after `dev`. Routes that go nowhere
//! (`blackhole`, `unreachable`, `prohibit`, `throw`) have that word as their next hop. Of several
//! next hops, on one line or on `nexthop` lines that follow, the first is taken.

use longmatch::IpPrefix;

use super::line::{Line, Rules, target, word};
use crate::error::LineError;

/// What may follow the prefix.
const KEYWORDS: [&str; 16] = [
    "via", "dev", "proto", "scope", "metric", "src", "nhid", "table", "nexthop", "onlink", "mtu",
    "pref", "encap", "tos", "from", "realm",
];

/// Whether the word after a prefix makes the line one of `ip route`.
#[inline]
pub(crate) fn is_keyword(word: &str) -> bool {
    // Next hops of other files are mostly addresses and numbers: settle those by one byte.
    word.as_bytes().first().is_some_and(u8::is_ascii_lowercase) && KEYWORDS.contains(&word)
}

/// Parses a line by its first word; `None` when that word is none of `ip route`.
pub(crate) fn parse_by_first_word<'a>(
    first: &'a str,
    rest: &'a str,
    rules: Rules,
) -> Result<Option<Line<'a>>, LineError> {
    let line = match first {
        "default" => parse_default(rest, rules)?,
        "nexthop" => Line::NextHop(next_hop(rest)?.ok_or(LineError::MissingNextHop)?),
        "blackhole" | "unreachable" | "prohibit" | "throw" => {
            let (prefix, _) = typed_target(rest, rules)?;
            Line::Announce(prefix, first)
        }
        "unicast" | "local" | "broadcast" | "anycast" | "multicast" => {
            if word(rest).0 == "default" {
                parse_default(word(rest).1, rules)?
            } else {
                let (prefix, rest) = typed_target(rest, rules)?;
                parse_route(prefix, rest)?
            }
        }
        _ => return Ok(None),
    };
    Ok(Some(line))
}

/// Parses what follows the prefix.
pub(crate) fn parse_route(prefix: IpPrefix, rest: &str) -> Result<Line<'_>, LineError> {
    match next_hop(rest)? {
        Some(next_hop) => Ok(Line::Announce(prefix, next_hop)),
        None => Ok(Line::Multipath(prefix)),
    }
}

/// The target after a route type.
fn typed_target(rest: &str, rules: Rules) -> Result<(IpPrefix, &str), LineError> {
    match word(rest) {
        ("", _) => Err(LineError::MissingPrefix),
        ("default", rest) => Ok((default_prefix(rest, rules), rest)),
        (text, rest) => Ok((target(text, rules)?, rest)),
    }
}

fn parse_default(rest: &str, rules: Rules) -> Result<Line<'_>, LineError> {
    if word(rest).0.is_empty() {
        return Err(LineError::MissingNextHop);
    }
    // `default next-hop` without any keyword is a plain line.
    if let (only, tail) = word(rest)
        && (word(tail).0.is_empty() || !is_keyword(only))
    {
        return match word(tail).0 {
            "" => Ok(Line::Announce(default_prefix(rest, rules), only)),
            text => Err(LineError::Trailing { text: super::line::shorten(text) }),
        };
    }
    parse_route(default_prefix(rest, rules), rest)
}

/// Which family's default route a line means.
///
/// `ip` writes the family before a gateway (`via inet6 fe80::1`) exactly when it is not the
/// route's own.
fn default_prefix(rest: &str, rules: Rules) -> IpPrefix {
    let mut words = rest.split_ascii_whitespace();
    let gateway = match words.clone().next() {
        Some(word) if !is_keyword(word) => Some(word),
        _ => words.find(|word| *word == "via").and_then(|_| words.next()),
    };
    let ipv6 = match gateway {
        _ if rules.default_is_ipv6 => true,
        Some("inet") => true,
        Some("inet6") => false,
        Some(gateway) => gateway.contains(':'),
        None => false,
    };
    if ipv6 {
        IpPrefix::V6(longmatch::Prefix::DEFAULT)
    } else {
        IpPrefix::V4(longmatch::Prefix::DEFAULT)
    }
}

/// The first gateway of a line, else its device. Every word but these two is passed over, whether
/// it is an attribute or an attribute's value.
fn next_hop(rest: &str) -> Result<Option<&str>, LineError> {
    let mut device = None;
    let mut words = rest.split_ascii_whitespace();
    while let Some(word) = words.next() {
        match word {
            "via" => {
                let family = |word: &&str| matches!(*word, "inet" | "inet6");
                let gateway = words.next();
                let gateway =
                    if gateway.as_ref().is_some_and(family) { words.next() } else { gateway };
                return gateway.map(Some).ok_or(LineError::MissingNextHop);
            }
            "dev" if device.is_none() => {
                device = Some(words.next().ok_or(LineError::MissingNextHop)?);
            }
            "from" => return Err(LineError::SourceRoute),
            // The first next hop of a multipath route in one line ends at the second.
            "nexthop" if device.is_some() => break,
            _ => {}
        }
    }
    Ok(device)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, prefix: &str, next_hop: &str) {
        let parsed = super::super::line::parse(line, Rules::default());
        assert_eq!(parsed, Ok(Line::Announce(prefix.parse().unwrap(), next_hop)), "{line:?}");
    }

    #[test]
    fn routes_with_gateway_or_device() {
        check("default via 192.0.2.1 dev eth0 proto dhcp metric 100", "0.0.0.0/0", "192.0.2.1");
        check("default via fe80::1 dev eth0", "::/0", "fe80::1");
        check("default via inet6 fe80::1 dev eth0", "0.0.0.0/0", "fe80::1");
        check("default via inet 192.0.2.1 dev eth0", "::/0", "192.0.2.1");
        check("default dev wg0 scope link", "0.0.0.0/0", "wg0");
        check("default 10.0.0.1", "0.0.0.0/0", "10.0.0.1");
        check("default ::1", "::/0", "::1");
        check("10.0.0.0/8 via 192.0.2.1 dev eth0", "10.0.0.0/8", "192.0.2.1");
        check("10.1.1.1 via 192.0.2.1 dev eth0", "10.1.1.1/32", "192.0.2.1");
        check(
            "172.17.0.0/16 dev docker0 proto kernel scope link src 172.17.0.1 linkdown",
            "172.17.0.0/16",
            "docker0",
        );
        check("10.0.0.0/8 via inet6 2001:db8::1 dev eth0", "10.0.0.0/8", "2001:db8::1");
        check("2001:db8::/64 dev eth0 proto ra metric 100 pref medium", "2001:db8::/64", "eth0");
        check("10.0.0.0/8 nhid 12 via 192.0.2.1 dev eth0 proto bgp", "10.0.0.0/8", "192.0.2.1");
    }

    #[test]
    fn route_types() {
        check("blackhole 10.0.0.0/8 proto static", "10.0.0.0/8", "blackhole");
        check(
            "unreachable default dev lo metric 4294967295 error -101",
            "0.0.0.0/0",
            "unreachable",
        );
        check("prohibit 2001:db8::/32", "2001:db8::/32", "prohibit");
        check("throw 10.0.0.0/8", "10.0.0.0/8", "throw");
        check("local 127.0.0.1 dev lo table local proto kernel", "127.0.0.1/32", "lo");
        check("broadcast 10.0.0.255 dev eth0", "10.0.0.255/32", "eth0");
        check("anycast fe80:: dev eth0", "fe80::/128", "eth0");
        check("multicast ff00::/8 dev eth0 table local", "ff00::/8", "eth0");
        check("unicast default via 10.0.0.1 dev eth0", "0.0.0.0/0", "10.0.0.1");
    }

    #[test]
    fn several_next_hops_the_first_wins() {
        let parse = |line| super::super::line::parse(line, Rules::default());
        let prefix = "10.0.0.0/8".parse().unwrap();
        assert_eq!(parse("10.0.0.0/8 proto bird metric 32"), Ok(Line::Multipath(prefix)));
        assert_eq!(
            parse("\tnexthop via 192.0.2.1 dev eth0 weight 1"),
            Ok(Line::NextHop("192.0.2.1"))
        );
        assert_eq!(parse("\tnexthop dev ppp0 weight 1"), Ok(Line::NextHop("ppp0")));
        check(
            r"10.0.0.0/8 proto x \ nexthop via 192.0.2.1 dev a \ nexthop via 192.0.2.2 dev b",
            "10.0.0.0/8",
            "192.0.2.1",
        );
        check(
            r"10.0.0.0/8 proto x \ nexthop dev a \ nexthop via 192.0.2.2 dev b",
            "10.0.0.0/8",
            "a",
        );
    }

    #[test]
    fn incomplete_or_unusable_lines() {
        let parse = |line| super::super::line::parse(line, Rules::default());
        assert_eq!(parse("default"), Err(LineError::MissingNextHop));
        assert_eq!(
            parse("default via 10.0.0.1 dev"),
            Ok(Line::Announce("0.0.0.0/0".parse().unwrap(), "10.0.0.1"))
        );
        assert_eq!(parse("10.0.0.0/8 dev eth0 via"), Err(LineError::MissingNextHop));
        assert_eq!(parse("10.0.0.0/8 proto x dev"), Err(LineError::MissingNextHop));
        assert_eq!(parse("nexthop weight 1"), Err(LineError::MissingNextHop));
        assert_eq!(parse("blackhole"), Err(LineError::MissingPrefix));
        assert_eq!(parse("local"), Err(LineError::MissingPrefix));
        assert_eq!(
            parse("::/0 from 2001:db8::/32 via fe80::1 dev eth0"),
            Err(LineError::SourceRoute)
        );
    }

    #[test]
    fn the_caller_can_say_ipv6() {
        let rules = Rules { default_is_ipv6: true, ..Rules::default() };
        let line = super::super::line::parse("default dev eth0 metric 1024", rules);
        assert_eq!(line, Ok(Line::Announce("::/0".parse().unwrap(), "eth0")));
    }
}
