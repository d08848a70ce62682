//! Lines of `bgpdump -m`: fields between vertical bars.
//!
//! `TABLE_DUMP2|time|B|peer address|peer AS|prefix|AS path|origin|next hop|…` is a route of a
//! table, `BGP4MP|time|A|…` an announcement with the same fields, `BGP4MP|time|W|peer
//! address|peer AS|prefix` a withdrawal. State changes say nothing about routes.

use std::net::IpAddr;

use longmatch::IpPrefix;

use super::line::{Line, Rules, shorten, target};
use crate::error::LineError;

/// A route that a peer announced or withdrew.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DumpLine<'a> {
    pub(crate) peer: IpAddr,
    pub(crate) asn: u32,
    pub(crate) prefix: IpPrefix,
    /// `None` for a withdrawal.
    pub(crate) next_hop: Option<&'a str>,
}

/// Parses a line that has at least one bar.
pub(crate) fn parse<'a>(line: &'a str, rules: Rules) -> Result<Line<'a>, LineError> {
    let mut fields = line.split('|');
    let mut next = || fields.next().unwrap_or("");
    let (table, _time, action) = (next(), next(), next());
    let announces = match (table, action) {
        ("TABLE_DUMP" | "TABLE_DUMP2", "A" | "B") | ("BGP4MP" | "BGP4MP_ET", "A") => true,
        ("BGP4MP" | "BGP4MP_ET", "W") => false,
        ("BGP4MP" | "BGP4MP_ET", "STATE") => return Ok(Line::Nothing),
        _ => {
            let text = shorten(&format!("{}|…|{}", shorten(table), shorten(action)));
            return Err(LineError::DumpKind { text });
        }
    };
    let peer = next().parse().map_err(|_| LineError::DumpPeer)?;
    let asn = next().parse().map_err(|_| LineError::DumpPeer)?;
    let prefix = match next() {
        "" => return Err(LineError::MissingPrefix),
        text => target(text, rules)?,
    };
    if !announces {
        return Ok(Line::Dump(DumpLine { peer, asn, prefix, next_hop: None }));
    }
    let (_path, _origin, next_hop) = (next(), next(), next().trim_ascii());
    if next_hop.is_empty() || next_hop.contains(|c: char| c.is_ascii_whitespace()) {
        return Err(LineError::MissingNextHop);
    }
    Ok(Line::Dump(DumpLine { peer, asn, prefix, next_hop: Some(next_hop) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Line<'_>, LineError> {
        super::super::line::parse(line, Rules::default())
    }

    fn dump<'a>(prefix: &str, next_hop: Option<&'a str>) -> Result<Line<'a>, LineError> {
        Ok(Line::Dump(DumpLine {
            peer: "192.0.2.9".parse().unwrap(),
            asn: 64500,
            prefix: prefix.parse().unwrap(),
            next_hop,
        }))
    }

    #[test]
    fn tables_updates_and_states() {
        let route = "|1|B|192.0.2.9|64500|10.0.0.0/8|1 2 {3,4}|IGP|192.0.2.1|0|0||NAG||";
        assert_eq!(parse(&format!("TABLE_DUMP2{route}")), dump("10.0.0.0/8", Some("192.0.2.1")));
        assert_eq!(parse(&format!("TABLE_DUMP{route}")), dump("10.0.0.0/8", Some("192.0.2.1")));
        let update = "BGP4MP|1|A|192.0.2.9|64500|::/0|1 2|IGP|fe80::1|0|0||NAG||";
        assert_eq!(parse(update), dump("::/0", Some("fe80::1")));
        assert_eq!(parse("BGP4MP|1|W|192.0.2.9|64500|10.0.0.0/8"), dump("10.0.0.0/8", None));
        assert_eq!(parse("BGP4MP|1|STATE|192.0.2.9|64500|3|2"), Ok(Line::Nothing));
    }

    #[test]
    fn lines_that_break_off() {
        let line = "TABLE_DUMP2|1|B|192.0.2.9|64500|10.0.0.0/8|1 2|IGP|192.0.2.1|0";
        for end in 0..line.rfind("192.0.2.1").unwrap() {
            assert!(parse(&line[..end]).is_err() || end == 0, "{:?}", &line[..end]);
        }
        assert!(matches!(parse("BGP4MP|1|X|a|b"), Err(LineError::DumpKind { .. })));
        assert!(matches!(parse("BGP4MP|1|A|a|1|::/0|||x"), Err(LineError::DumpPeer)));
        assert!(matches!(parse("BGP4MP|1|A|::1|x|::/0|||x"), Err(LineError::DumpPeer)));
    }
}
