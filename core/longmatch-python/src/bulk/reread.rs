//! The cells without a match once more: the state of each, and other ways to write an address.

use std::net::IpAddr;
use std::ops::Range;

use longmatch::{IpPrefix, NextHopId};
use longmatch_feed::parse_ip;

use super::column::{Column, Raw};
use super::{Bad, Compiled, Id, Missing};

/// The states of addresses; `None` stands for null.
pub const MATCH: NextHopId = state(1);
pub const NO_MATCH: NextHopId = state(2);
pub const NOT_AN_ADDRESS: NextHopId = state(3);

const fn state(number: u32) -> NextHopId {
    match NextHopId::new(number) {
        Some(state) => state,
        None => panic!("a state has a number from 1"),
    }
}

/// How cells without a match are read once more.
pub struct Reread<'a> {
    /// Whether spaces, ports, brackets, zones, host lengths and the bits of negative integers are read.
    pub lenient: bool,
    /// The id of the longest prefix that covers a prefix, if cells may be prefixes.
    pub covering: Option<&'a (dyn Fn(IpPrefix) -> Id + Sync)>,
    /// Whether prefixes with host bits are refused.
    pub strict: bool,
}

impl Reread<'_> {
    /// Reads the cells of a range that have no answer; fills in answers, and states where they are asked for.
    pub fn run(
        &self,
        table: &dyn Compiled,
        column: &Column<'_>,
        range: Range<usize>,
        out: &mut [Id],
        mut states: Option<&mut [Id]>,
    ) -> Bad {
        let mut bad = Bad::default();
        for (at, i) in range.enumerate() {
            let state = if out[at].is_some() {
                Some(MATCH)
            } else {
                match column.get(i) {
                    Ok(_) => Some(NO_MATCH),
                    Err(Missing::Null) => None,
                    Err(Missing::Bad) => match self.answer(table, column.raw(i)) {
                        Some(id) => {
                            out[at] = id;
                            Some(if id.is_some() { MATCH } else { NO_MATCH })
                        }
                        None => {
                            bad.note(i);
                            Some(NOT_AN_ADDRESS)
                        }
                    },
                }
            };
            if let Some(states) = &mut states {
                states[at] = state;
            }
        }
        bad
    }

    /// The answer to a cell; `None` if it is not an address even so.
    fn answer(&self, table: &dyn Compiled, raw: Raw<'_>) -> Option<Id> {
        match raw {
            Raw::Other => None,
            Raw::Bits(bits) => self.lenient.then(|| table.id(IpAddr::V4(bits.into()))),
            Raw::Prefix(prefix) => self.covering.map(|covering| covering(prefix)),
            Raw::Text(text) => {
                let text = if self.lenient { text.trim_ascii() } else { &text };
                if let Some(covering) = self.covering
                    && let Some(prefix) = prefix(text, self.strict)
                {
                    return Some(covering(prefix));
                }
                self.lenient.then(|| lenient_address(text)).flatten().map(|addr| table.id(addr))
            }
        }
    }
}

/// Reads a prefix.
fn prefix(text: &[u8], strict: bool) -> Option<IpPrefix> {
    let slash = text.iter().position(|byte| *byte == b'/')?;
    let (addr, len) = (parse_ip(&text[..slash])?, length(&text[slash + 1..])?);
    if strict { IpPrefix::new(addr, len).ok() } else { IpPrefix::masked(addr, len).ok() }
}

/// Reads a plain decimal number of at most three digits.
fn length(text: &[u8]) -> Option<u8> {
    let plain = matches!(text, [b'0'] | [b'1'..=b'9', ..]) && text.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(text).ok().filter(|_| plain)?.parse().ok()
}

/// Reads an address with a port, brackets, a zone or the length of a host prefix.
fn lenient_address(text: &[u8]) -> Option<IpAddr> {
    let (text, port) = match text {
        [b'[', rest @ ..] => {
            let end = rest.iter().position(|byte| *byte == b']')?;
            (&rest[..end], &rest[end + 1..])
        }
        _ => match (text.iter().position(|byte| *byte == b':'), text.contains(&b'.')) {
            // The only colon of an IPv4 address is before its port.
            (Some(colon), true) if !text[colon + 1..].contains(&b':') => text.split_at(colon),
            _ => (text, &[][..]),
        },
    };
    let is_port =
        |port: &[u8]| std::str::from_utf8(port).is_ok_and(|port| port.parse::<u16>().is_ok());
    if !matches!(port, [] | [b':', ..]) || (port.len() > 1 && !is_port(&port[1..])) || port == b":"
    {
        return None;
    }
    let (text, host) = match text.iter().position(|byte| *byte == b'/') {
        Some(slash) => (&text[..slash], Some(length(&text[slash + 1..])?)),
        None => (text, None),
    };
    let (text, zone) = match text.iter().position(|byte| *byte == b'%') {
        Some(percent) => (&text[..percent], Some(&text[percent + 1..])),
        None => (text, None),
    };
    let addr = parse_ip(text.trim_ascii())?;
    let width = if addr.is_ipv4() { 32 } else { 128 };
    let fits = zone.is_none_or(|zone| addr.is_ipv6() && !zone.is_empty());
    (fits && host.is_none_or(|len| len == width)).then_some(addr)
}
