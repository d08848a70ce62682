//! Parser of one line of any kind.

use std::net::IpAddr;

use longmatch::IpPrefix;

use super::line::{Line, Rules, end, target, word};
use super::linux::{IpRoute, Target};
use super::{bgpdump, ip_route};
use crate::error::Problem;

/// Parses one line.
#[inline]
pub(crate) fn parse<'a>(line: &'a str, rules: Rules) -> Result<Line<'a>, Problem> {
    let (first, rest) = word(line);
    let first = if first.len() == 1 { ip_route::type_name(first) } else { first };
    match first.as_bytes() {
        [] | [b'#', ..] => return Ok(Line::Nothing),
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
        [] | [b'#', ..] => Ok(Line::Route(IpRoute::new(Target::Prefix(prefix)))),
        b"via" | b"dev" if tail.trim_ascii().is_empty() => Err(Problem::MissingNextHop),
        _ if ip_route::is_keyword(second) && !tail.trim_ascii().is_empty() => {
            ip_route::parse_route(Target::Prefix(prefix), rest)
        }
        _ => columns((first, prefix), second, tail, rules),
    }
}

/// Parses `prefix next-hop`; or, if the second word is a netmask, `network netmask next-hop` or
/// `network netmask`.
#[inline]
fn columns<'a>(
    (first, prefix): (&str, IpPrefix),
    second: &'a str,
    tail: &'a str,
    rules: Rules,
) -> Result<Line<'a>, Problem> {
    // Most prefixes have a length: these need no test for a netmask.
    if !first.contains('/')
        && let Some(prefix) = masked(prefix.addr(), second, rules)?
    {
        return match word(tail) {
            ("", _) => Ok(Line::Own(prefix)),
            (comment, _) if comment.starts_with('#') => Ok(Line::Own(prefix)),
            (next_hop, tail) => end(tail).map(|()| Line::Announce(prefix, next_hop)),
        };
    }
    end(tail).map(|()| Line::Announce(prefix, second))
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

fn announce(rest: &str, rules: Rules) -> Result<Line<'_>, Problem> {
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

fn withdraw(rest: &str, rules: Rules) -> Result<Line<'_>, Problem> {
    let (first, tail) = word(rest);
    if first.is_empty() {
        return Err(Problem::MissingPrefix);
    }
    let prefix = target(first, rules)?;
    end(tail).map(|()| Line::Withdraw(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn announce(prefix: &str, next_hop: &'static str) -> Result<Line<'static>, Problem> {
        Ok(Line::Announce(prefix.parse().unwrap(), next_hop))
    }

    fn parse(line: &str) -> Result<Line<'_>, Problem> {
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
    fn ipv4_mapped_prefixes_stay_ipv6() {
        assert_eq!(parse("::ffff:10.0.0.0/104 a"), announce("::ffff:a00:0/104", "a"));
    }

    #[test]
    fn invalid_prefixes() {
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
                    Err(Problem::Prefix { .. }) => {}
                    // These words are route types, so the next word, `a`, is the target.
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
    fn missing_and_extra_words() {
        let open = || Ok(Line::Route(IpRoute::new(Target::Prefix("10.0.0.0/8".parse().unwrap()))));
        assert_eq!((parse("10.0.0.0/8"), parse("10.0.0.0/8 # x")), (open(), open()));
        assert_eq!(parse("A 10.0.0.0/8"), Err(Problem::MissingNextHop));
        assert_eq!(parse("10.0.0.0/8 via "), Err(Problem::MissingNextHop));
        assert_eq!(parse("10.0.0.0/8 dev"), Err(Problem::MissingNextHop));
        assert_eq!(parse("A"), Err(Problem::MissingPrefix));
        assert_eq!(parse("W "), Err(Problem::MissingPrefix));
        assert!(matches!(parse("10.0.0.0/8 a b"), Err(Problem::Trailing { .. })));
        assert!(matches!(parse("W 10.0.0.0/8 a"), Err(Problem::Trailing { .. })));
    }

    #[test]
    fn columns_of_network_and_netmask() {
        assert_eq!(parse("10.0.0.0 255.0.0.0 a"), announce("10.0.0.0/8", "a"));
        assert_eq!(parse("A 10.0.0.0 255.255.0.0 a # b"), announce("10.0.0.0/16", "a"));
        assert_eq!(parse("0.0.0.0 0.0.0.0 a"), announce("0.0.0.0/0", "a"));
        assert_eq!(parse("10.0.0.1 255.255.255.255 a"), announce("10.0.0.1/32", "a"));
        assert_eq!(parse("2001:db8:: ffff:ffff:: a"), announce("2001:db8::/32", "a"));
        let own = |prefix: &str| Ok(Line::Own(prefix.parse().unwrap()));
        assert_eq!(parse("10.0.0.0 255.0.0.0"), own("10.0.0.0/8"));
        assert_eq!(parse("A 10.0.0.0 255.0.0.0 # b"), own("10.0.0.0/8"));
        assert_eq!(parse("10.128.0.0 255.128.0.0"), own("10.128.0.0/9"));
        assert_eq!(parse("192.0.0.0 192.0.0.0"), own("192.0.0.0/2"));
        for mask in ["255.0.255.0", "0.0.0.255", "0.255.255.255", "255.255.255.253"] {
            for tail in ["", " a"] {
                let line = format!("10.0.0.0 {mask}{tail}");
                assert!(matches!(parse(&line), Err(Problem::Netmask { .. })), "{line}");
            }
        }
        for line in ["10.0.0.1 255.0.0.0", "10.0.0.1 0.0.0.0 a", "2001:db8::1 ffff:: a"] {
            assert!(matches!(parse(line), Err(Problem::NetworkBits { .. })), "{line}");
        }
        let rules = Rules { mask_host_bits: true, ..Rules::default() };
        assert_eq!(super::parse("10.0.0.1 255.0.0.0", rules), own("10.0.0.0/8"));
        assert!(super::parse("10.0.0.1 0.0.0.0", rules).is_err());
    }

    #[test]
    fn addresses_other_than_netmasks_are_next_hops() {
        assert_eq!(parse("10.0.0.1 192.0.2.1"), announce("10.0.0.1/32", "192.0.2.1"));
        assert_eq!(parse("10.0.0.0/8 255.0.0.0"), announce("10.0.0.0/8", "255.0.0.0"));
        assert_eq!(parse("10.0.0.1 2001:db8::1"), announce("10.0.0.1/32", "2001:db8::1"));
        assert_eq!(parse("2001:db8::1 fe80::1"), announce("2001:db8::1/128", "fe80::1"));
        assert_eq!(parse("10.0.0.1 255"), announce("10.0.0.1/32", "255"));
        assert!(matches!(parse("10.0.0.1 192.0.2.1 a"), Err(Problem::Trailing { .. })));
    }
}
