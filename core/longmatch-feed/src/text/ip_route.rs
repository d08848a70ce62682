//! Parser of `ip route` and `ip -6 route` lines.
//!
//! The next hop is the address after `via`, else the device after `dev`. A route without a
//! destination (`blackhole`, `unreachable`, `prohibit`, `throw`) has this word as its next hop: it
//! is a lookup result and hides shorter prefixes, as in the kernel. Next hops are on the line of
//! the route or on the following `nexthop` lines; [`super::linux`] chooses among next hops and
//! among routes.

use std::net::IpAddr;

use super::line::{RouteLine, Rules, end, target, word};
use super::linux::{Hop, Hops, IpRoute, Preference, Target};
use crate::error::{Problem, shorten};
use crate::options::IpFamily;

/// Words that may follow the prefix.
const KEYWORDS: [&str; 19] = [
    "via", "dev", "proto", "scope", "metric", "src", "nhid", "table", "nexthop", "onlink", "mtu",
    "pref", "encap", "tos", "dsfield", "from", "realm", "expires", "error",
];

/// Whether the word after a prefix shows that the line is from `ip route`.
#[inline]
pub(crate) fn is_keyword(word: &str) -> bool {
    // Next hops of other files are mostly addresses and numbers: one byte rules those out.
    match word.as_bytes() {
        [b'a'..=b'z', ..] => KEYWORDS.contains(&word),
        // `ip -oneline` writes a backslash in place of a line end.
        word => word == b"\\",
    }
}

/// Whether routes of this type have no destination, so that the type is the next hop.
pub(crate) fn is_final(kind: &str) -> bool {
    matches!(kind, "blackhole" | "unreachable" | "prohibit" | "throw")
}

/// The name of a route type that `ip -N` prints as its number (`linux/rtnetlink.h`); other words stay.
pub(crate) fn type_name(kind: &str) -> &str {
    match kind {
        "1" => "unicast",
        "2" => "local",
        "3" => "broadcast",
        "4" => "anycast",
        "5" => "multicast",
        "6" => "blackhole",
        "7" => "unreachable",
        "8" => "prohibit",
        "9" => "throw",
        other => other,
    }
}

/// Parses a line by its first word. Returns `None` if `ip route` does not print that word.
pub(crate) fn parse_by_first_word<'a>(
    first: &'a str,
    rest: &'a str,
    rules: Rules,
) -> Result<Option<RouteLine<'a>>, Problem> {
    let line = match first {
        "default" => parse_default(rest, rules)?,
        "nexthop" => next_hop(rest)?,
        // `ip -d` repeats the next hop of the route before.
        "nh_info" => RouteLine::Nothing,
        "blackhole" | "unreachable" | "prohibit" | "throw" => {
            let (target, rest) = typed_target(rest, rules)?;
            let mut route = IpRoute::new(target);
            attributes(rest, &mut route)?;
            route.hops = Hops::one(first, route.hops.family);
            RouteLine::Route(route)
        }
        "unicast" | "local" | "broadcast" | "anycast" | "multicast" => {
            let (target, rest) = typed_target(rest, rules)?;
            parse_route(target, rest)?
        }
        _ => return Ok(None),
    };
    Ok(Some(line))
}

/// Parses the words after the prefix.
pub(crate) fn parse_route(target: Target, rest: &str) -> Result<RouteLine<'_>, Problem> {
    let mut route = IpRoute::new(target);
    attributes(rest, &mut route)?;
    Ok(RouteLine::Route(route))
}

/// The target after a route type.
fn typed_target(rest: &str, rules: Rules) -> Result<(Target, &str), Problem> {
    match word(rest) {
        ("", _) => Err(Problem::MissingPrefix),
        ("default", rest) => Ok((Target::Default, rest)),
        (text, rest) => Ok((Target::Prefix(target(text, rules)?), rest)),
    }
}

fn parse_default(rest: &str, rules: Rules) -> Result<RouteLine<'_>, Problem> {
    let (first, tail) = word(rest);
    if first.is_empty() || first.starts_with('#') {
        // The next hops may be on the following lines.
        return Ok(RouteLine::Route(IpRoute::new(Target::Default)));
    }
    if is_keyword(first) && !word(tail).0.is_empty() {
        return parse_route(Target::Default, rest);
    }
    // `default next-hop` without any keyword is a plain line. Neighbouring lines do not show its
    // family: only the output of `ip` lists the families separately.
    end(tail)?;
    let family = family_of(first).or(rules.default_family).ok_or(Problem::DefaultFamily)?;
    Ok(RouteLine::Announce(family.default_prefix(), first))
}

/// Parses the words after `nexthop`.
fn next_hop(rest: &str) -> Result<RouteLine<'_>, Problem> {
    let mut route = IpRoute::new(Target::Default);
    attributes(rest, &mut route)?;
    match route.hops.all {
        0 => Err(Problem::MissingNextHop),
        _ => Ok(RouteLine::NextHops(route.hops)),
    }
}

/// The family of an address with or without a zone.
pub(crate) fn family_of(text: &str) -> Option<IpFamily> {
    let addr = text.split_once('%').map_or(text, |(addr, _)| addr);
    addr.parse().ok().map(|addr| match addr {
        IpAddr::V4(_) => IpFamily::V4,
        IpAddr::V6(_) => IpFamily::V6,
    })
}

/// The family that an attribute shows. The kernel prints router preferences, lifetimes and errors
/// only for IPv6 routes, and scopes other than `global` only for IPv4 routes.
pub(crate) fn family_by_attribute(name: &str, value: &str) -> Option<IpFamily> {
    match (name, value) {
        ("pref" | "expires" | "error", _) | ("proto", "ra" | "9") => Some(IpFamily::V6),
        // The numbers are those that `ip -N` prints.
        ("scope", "link" | "host" | "site" | "nowhere" | "253" | "254" | "200" | "255") => {
            Some(IpFamily::V4)
        }
        ("src", addr) => family_of(addr),
        _ => None,
    }
}

/// Whether a type of service applies to all packets.
pub(crate) fn is_any_service(value: &str) -> bool {
    matches!(value, "0" | "0x0" | "0x00" | "default")
}

/// Parses the attributes of a route or of a next hop. Ignores unknown attributes and their values.
fn attributes<'a>(rest: &'a str, route: &mut IpRoute<&'a str>) -> Result<(), Problem> {
    let mut hop = Hop::default();
    // Attributes of an encapsulation have the same names as attributes of a route.
    let mut encap = false;
    let mut words = rest.split_ascii_whitespace();
    while let Some(word) = words.next() {
        match word {
            "via" => {
                encap = false;
                gateway(&mut words, &mut hop, route)?;
            }
            "dev" => {
                encap = false;
                hop.device = Some(words.next().ok_or(Problem::MissingNextHop)?);
            }
            "nexthop" => {
                encap = false;
                route.hops.add(std::mem::take(&mut hop));
            }
            "nh_info" => break,
            "encap" => encap = true,
            _ if encap => {}
            "dead" => hop.dead = true,
            "from" => return Err(Problem::SourceRoute),
            "metric" => route.metric = Some(number("metric", words.next())?),
            "weight" => hop.weight = number("weight", words.next())?,
            "table" => route.table = Some(value("table", words.next())?),
            "tos" | "dsfield" => route.service = !is_any_service(value("tos", words.next())?),
            "pref" | "expires" | "error" | "proto" | "scope" | "src" => {
                let value = words.next().unwrap_or("");
                if word == "pref" {
                    route.preference = Preference::parse(value);
                }
                let shown = family_by_attribute(word, value);
                route.hops.family = route.hops.family.or(shown);
            }
            "nhid" | "realm" | "realms" => drop(words.next()),
            _ => {}
        }
    }
    route.hops.add(hop);
    Ok(())
}

/// Parses the words after `via`. `ip` writes the family before a gateway (`via inet6 fe80::1`) only
/// if it differs from the family of the route.
fn gateway<'a>(
    words: &mut impl Iterator<Item = &'a str>,
    hop: &mut Hop<&'a str>,
    route: &mut IpRoute<&'a str>,
) -> Result<(), Problem> {
    let first = words.next().ok_or(Problem::MissingNextHop)?;
    let (gateway, family) = match first {
        "inet" => (words.next(), Some(IpFamily::V6)),
        "inet6" => (words.next(), Some(IpFamily::V4)),
        addr => (Some(addr), family_of(addr)),
    };
    hop.gateway = Some(gateway.ok_or(Problem::MissingNextHop)?);
    // A gateway shows the family more reliably than any other attribute.
    route.hops.family = family.or(route.hops.family);
    Ok(())
}

fn value<'a>(name: &'static str, value: Option<&'a str>) -> Result<&'a str, Problem> {
    value.ok_or(Problem::NoValue { name })
}

fn number(name: &'static str, text: Option<&str>) -> Result<u32, Problem> {
    let text = value(name, text)?;
    text.parse().map_err(|_| Problem::Attribute { name, value: shorten(text) })
}
