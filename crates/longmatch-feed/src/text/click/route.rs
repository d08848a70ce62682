//! Parser of one route: `ADDR/MASK [GATEWAY] OUT`.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};

use longmatch::{IpPrefix, ParsePrefixError};

use crate::text::error::LineError;
use crate::text::line::{Rules, shorten};

/// Next hop of a route: the gateway, if there is one, and the output port.
///
/// Both together name it, since Click's tables give a next hop of their own to each pair. `192.0.2.1%7`
/// is the gateway 192.0.2.1 through port 7, as `fe80::1%eth0` is an address through an interface;
/// without a gateway, the next hop is the port alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PortHop {
    /// `None` for the gateways `-` and 0.0.0.0 too.
    gateway: Option<Ipv4Addr>,
    port: u32,
}

impl PortHop {
    /// Parses the words of a route after its prefix, if they are a gateway and a port.
    pub(crate) fn parse(gateway: &str, port: &str) -> Option<Self> {
        let port = number(port).filter(|port| *port <= i32::MAX as u32)?;
        let gateway = match gateway {
            "-" => Ipv4Addr::UNSPECIFIED,
            text => text.parse().ok()?,
        };
        Some(Self { gateway: Some(gateway).filter(|it| !it.is_unspecified()), port })
    }
}

impl fmt::Display for PortHop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(gateway) = self.gateway {
            write!(f, "{gateway}%")?;
        }
        self.port.fmt(f)
    }
}

/// Parses an argument of a routing table.
pub(super) fn parse(text: &str, rules: Rules) -> Result<(IpPrefix, PortHop), LineError> {
    let wrong = || LineError::ClickRoute { text: shorten(text.trim_ascii()) };
    let mut words = text.split_ascii_whitespace();
    let network = words.next().ok_or_else(wrong)?;
    let (gateway, port) = match [words.next(), words.next(), words.next()] {
        [Some(port), None, _] => ("-", port),
        [Some(gateway), Some(port), None] => (gateway, port),
        _ => return Err(wrong()),
    };
    let prefix = prefix(network, rules)?;
    Ok((prefix, PortHop::parse(gateway, port).ok_or_else(wrong)?))
}

/// Parses `address/length`, `address/netmask` or an address, which may lack its last numbers if the
/// mask does not reach them: `10.1/16`.
fn prefix(text: &str, rules: Rules) -> Result<IpPrefix, LineError> {
    let wrong = |error| LineError::Prefix { text: shorten(text), error };
    let (network, mask) = text.rsplit_once('/').unwrap_or((text, "32"));
    let (network, given) = address(network).ok_or_else(|| wrong(ParsePrefixError::Address))?;
    let len = match mask.parse::<Ipv4Addr>() {
        Ok(mask) if mask.to_bits().leading_ones() + mask.to_bits().trailing_zeros() < 32 => {
            return Err(LineError::Netmask { mask: mask.into() });
        }
        Ok(mask) => mask.to_bits().leading_ones() as u8,
        Err(_) => {
            let len = number(mask).and_then(|len| u8::try_from(len).ok());
            len.ok_or_else(|| wrong(ParsePrefixError::Length))?
        }
    };
    if given < 32 && len > given {
        return Err(wrong(ParsePrefixError::Address));
    }
    let network = IpAddr::V4(network);
    let parsed = match rules.mask_host_bits {
        true => IpPrefix::masked(network, len),
        false => IpPrefix::new(network, len),
    };
    parsed.map_err(|error| wrong(error.into()))
}

/// Parses one to four numbers with dots. Returns the address, with zeros for missing numbers, and
/// the bits of the given ones.
fn address(text: &str) -> Option<(Ipv4Addr, u8)> {
    let missing = 3usize.checked_sub(text.bytes().filter(|byte| *byte == b'.').count())?;
    let network = match missing {
        0 => text.parse(),
        _ => [text, &".0".repeat(missing)].concat().parse(),
    };
    Some((network.ok()?, 32 - 8 * missing as u8))
}

/// Parses a decimal number without sign and leading zeros.
fn number(text: &str) -> Option<u32> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    (plain && (text == "0" || !text.starts_with('0'))).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `prefix next-hop` of a route, or its error.
    fn parse(text: &str) -> String {
        parse_with(text, Rules::default())
    }

    fn parse_with(text: &str, rules: Rules) -> String {
        match super::parse(text, rules) {
            Ok((prefix, hop)) => format!("{prefix} {hop}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn networks_and_their_masks() {
        for (text, prefix) in [
            ("18.26.4.0/24", "18.26.4.0/24"),
            ("18.26.4.0/255.255.255.0", "18.26.4.0/24"),
            ("18.26.4/24", "18.26.4.0/24"),
            ("18.26/255.255.0.0", "18.26.0.0/16"),
            ("18/8", "18.0.0.0/8"),
            ("0/0", "0.0.0.0/0"),
            ("0.0.0.0/0.0.0.0", "0.0.0.0/0"),
            ("18.26.4.24", "18.26.4.24/32"),
            ("18.26.4.24/32", "18.26.4.24/32"),
        ] {
            assert_eq!(parse(&format!("{text} 0")), format!("{prefix} 0"));
        }
        for text in [
            "18.26/24",
            "18.26",
            "18",
            "x",
            "/8",
            "18.26.4.0/",
            "18.26.4.0/x",
            "18.26.4.0/-1",
            "18.26.4.0/024",
            "018.26.4.0/24",
            "18.26.4.0.0/24",
            ".0.0.0/0",
            "18.26.4./24",
            "18.26.4.0/256",
            "18.26.4.0/99999999999",
            "2001:db8::/32",
            "2001:db8::1",
            "$net/24",
        ] {
            let error = parse(&format!("{text} 0"));
            assert!(error.starts_with(&format!("'{text}' is not a prefix: ")), "{error}");
        }
        assert!(parse("18.0.0.0/33 0").contains("prefix length 33 is greater than 32"));
        assert!(parse("18.0.0.0/255.0.255.0 0").contains("is not a netmask"));
    }

    #[test]
    fn host_bits_are_errors_or_cleared() {
        let masking = Rules { mask_host_bits: true, ..Rules::default() };
        for text in ["18.26.4.1/24 1", "18.26.4.1/255.255.255.0 1", "18.26.4.1/24 192.0.2.1 1"] {
            assert!(parse(text).contains("host bits are set after /24"), "{}", parse(text));
            assert!(parse_with(text, masking).starts_with("18.26.4.0/24 "), "{text}");
        }
    }

    #[test]
    fn next_hops() {
        for (words, hop) in [
            ("0", "0"),
            ("7", "7"),
            ("192.0.2.1 7", "192.0.2.1%7"),
            ("- 7", "7"),
            ("0.0.0.0 7", "7"),
            ("192.0.2.1 2147483647", "192.0.2.1%2147483647"),
        ] {
            assert_eq!(parse(&format!(" 10.0.0.0/8\t{words} ")), format!("10.0.0.0/8 {hop}"));
        }
        for words in [
            "",
            "x",
            "-1",
            "+1",
            "01",
            "0x1",
            "-",
            "192.0.2.1",
            "192.0.2.1 x",
            "192.0.2 1",
            "192.0.2.1 2147483648",
            "2001:db8::1 1",
            "192.0.2.1 1 2",
            "1 192.0.2.1",
            "1 1",
        ] {
            let text = format!("10.0.0.0/8 {words}");
            let error = parse(&text);
            assert!(error.starts_with(&format!("'{}' is not a route", text.trim())), "{error}");
        }
        assert!(parse("").starts_with("'' is not a route"));
    }
}
