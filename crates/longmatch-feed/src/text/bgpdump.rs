//! Parser of `bgpdump -m` lines: fields between vertical bars.
//!
//! `TABLE_DUMP2|time|B|peer address|peer AS|prefix|AS path|origin|next hop|…` is a route of a
//! table, `BGP4MP|time|A|…` an announcement with the same fields, `BGP4MP|time|W|peer
//! address|peer AS|prefix` a withdrawal. State changes and messages sent by the collector itself
//! (`LOCAL`) have no routes of a peer. With ADD-PATH, the first field ends with `_AP` and the path
//! identifier follows the prefix.

use super::line::{DumpLine, Line, Rules, target};
use crate::error::{Problem, shorten};

/// Parses a line that has at least one bar.
pub(crate) fn parse<'a>(line: &'a str, rules: Rules) -> Result<Line<'a>, Problem> {
    let mut fields = line.split('|');
    let mut next = || fields.next().unwrap_or("");
    let (table, _time, action) = (next(), next(), next());
    let (kind, add_path) = match table.strip_suffix("_AP") {
        Some(kind) => (kind, true),
        None => (table, false),
    };
    let is_table = matches!(kind, "TABLE_DUMP" | "TABLE_DUMP2");
    let announces = match (kind, action) {
        (_, "A" | "B") if is_table => true,
        ("BGP4MP" | "BGP4MP_ET", "A") => true,
        ("BGP4MP" | "BGP4MP_ET", "W") => false,
        ("BGP4MP" | "BGP4MP_ET", "STATE") => return Ok(Line::Nothing),
        ("BGP4MP_LOCAL" | "BGP4MP_ET_LOCAL", "A" | "W" | "STATE") => return Ok(Line::Nothing),
        _ => {
            let text = shorten(&format!("{}|…|{}", shorten(table), shorten(action)));
            return Err(Problem::DumpKind { text });
        }
    };
    let peer = next().parse().map_err(|_| Problem::DumpPeer)?;
    let asn = next().parse().map_err(|_| Problem::DumpPeer)?;
    let prefix = match next() {
        "" => return Err(Problem::MissingPrefix),
        text => target(text, rules)?,
    };
    let path = match add_path {
        true => Some(next().trim_ascii().parse().map_err(|_| Problem::DumpPath)?),
        false => None,
    };
    let dump = DumpLine {
        peer,
        asn,
        prefix,
        next_hop: None,
        as_path: "",
        communities: "",
        path,
        is_table,
    };
    if !announces {
        return Ok(Line::Dump(dump));
    }
    let (as_path, _origin, next_hop) = (next(), next(), next().trim_ascii());
    if next_hop.is_empty() || next_hop.contains(|c: char| c.is_ascii_whitespace()) {
        return Err(Problem::MissingNextHop);
    }
    let (_preference, _metric, communities) = (next(), next(), next());
    Ok(Line::Dump(DumpLine { next_hop: Some(next_hop), as_path, communities, ..dump }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route_value::RouteValue;

    fn parse(line: &str) -> Result<Line<'_>, Problem> {
        super::super::parse::parse(line, Rules::default())
    }

    fn dump<'a>(prefix: &str, next_hop: Option<&'a str>) -> DumpLine<'a> {
        DumpLine {
            peer: "192.0.2.9".parse().unwrap(),
            asn: 64500,
            prefix: prefix.parse().unwrap(),
            next_hop,
            as_path: "",
            communities: "",
            path: None,
            is_table: false,
        }
    }

    #[test]
    fn tables_updates_and_states() {
        let route = "|1|B|192.0.2.9|64500|10.0.0.0/8|1 2 {3,4}|IGP|192.0.2.1|0|0||NAG||";
        let as_path = "1 2 {3,4}";
        let table = DumpLine { is_table: true, as_path, ..dump("10.0.0.0/8", Some("192.0.2.1")) };
        assert_eq!(table.value(RouteValue::OriginAs).as_deref(), Some(""));
        assert_eq!(parse(&format!("TABLE_DUMP2{route}")), Ok(Line::Dump(table)));
        assert_eq!(parse(&format!("TABLE_DUMP{route}")), Ok(Line::Dump(table)));
        let update = "BGP4MP|1|A|192.0.2.9|64500|::/0|1 2|IGP|fe80::1|0|0||NAG||";
        let announced = DumpLine { as_path: "1 2", ..dump("::/0", Some("fe80::1")) };
        assert_eq!(announced.value(RouteValue::OriginAs).as_deref(), Some("2"));
        assert_eq!(parse(update), Ok(Line::Dump(announced)));
        let withdrawal = "BGP4MP|1|W|192.0.2.9|64500|10.0.0.0/8";
        assert_eq!(parse(withdrawal), Ok(Line::Dump(dump("10.0.0.0/8", None))));
        assert_eq!(parse("BGP4MP|1|STATE|192.0.2.9|64500|3|2"), Ok(Line::Nothing));
        assert_eq!(parse("BGP4MP_LOCAL|1|W|192.0.2.9|64500|10.0.0.0/8"), Ok(Line::Nothing));
    }

    #[test]
    fn path_identifiers_follow_the_prefix() {
        let with_path = |line| match parse(line) {
            Ok(Line::Dump(dump)) => (dump.path, dump.next_hop, dump.is_table),
            other => panic!("{line:?}: {other:?}"),
        };
        let table = "TABLE_DUMP2_AP|1|B|192.0.2.9|64500|10.0.0.0/8|42|1 2|IGP|192.0.2.1|0|0||NAG||";
        assert_eq!(with_path(table), (Some(42), Some("192.0.2.1"), true));
        for kind in ["BGP4MP_AP", "BGP4MP_ET_AP"] {
            let update = format!("{kind}|1|A|192.0.2.9|64500|::/0|7|1 2|IGP|fe80::1|0|0||NAG||");
            match parse(&update) {
                Ok(Line::Dump(dump)) => {
                    assert_eq!((dump.path, dump.next_hop), (Some(7), Some("fe80::1")))
                }
                other => panic!("{update:?}: {other:?}"),
            }
        }
        let withdrawal = "BGP4MP_AP|1|W|192.0.2.9|64500|10.0.0.0/8|4294967295";
        assert_eq!(with_path(withdrawal), (Some(u32::MAX), None, false));
        for line in ["BGP4MP_AP|1|W|192.0.2.9|64500|::/0", "BGP4MP_AP|1|W|192.0.2.9|64500|::/0|x"] {
            assert_eq!(parse(line), Err(Problem::DumpPath), "{line}");
        }
        assert!(matches!(parse("X_AP|1|W|a|b"), Err(Problem::Prefix { .. })));
        assert!(matches!(parse("BGP4MP_AP_AP|1|W|a|b"), Err(Problem::DumpKind { .. })));
    }

    #[test]
    fn truncated_lines() {
        let line = "TABLE_DUMP2|1|B|192.0.2.9|64500|10.0.0.0/8|1 2|IGP|192.0.2.1|0";
        for end in 0..line.rfind("192.0.2.1").unwrap() {
            assert!(parse(&line[..end]).is_err() || end == 0, "{:?}", &line[..end]);
        }
        assert!(matches!(parse("BGP4MP|1|X|a|b"), Err(Problem::DumpKind { .. })));
        assert!(matches!(parse("BGP4MP|1|A|a|1|::/0|||x"), Err(Problem::DumpPeer)));
        assert!(matches!(parse("BGP4MP|1|A|::1|x|::/0|||x"), Err(Problem::DumpPeer)));
    }
}
