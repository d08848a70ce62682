//! Parser of `bgpdump -m` lines: fields between vertical bars.
//!
//! `TABLE_DUMP2|time|B|peer address|peer AS|prefix|AS path|origin|next hop|…` is a route of a
//! table, `BGP4MP|time|A|…` an announcement with the same fields, `BGP4MP|time|W|peer
//! address|peer AS|prefix` a withdrawal. State changes and messages sent by the collector itself
//! (`LOCAL`) have no routes of a peer. With ADD-PATH, the first field ends with `_AP` and the path
//! identifier follows the prefix.

use super::line::{DumpLine, RouteLine, Rules, target};
use crate::error::{Problem, shorten};

/// Parses a line that has at least one bar.
pub(crate) fn parse<'a>(line: &'a str, rules: Rules) -> Result<RouteLine<'a>, Problem> {
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
        ("BGP4MP" | "BGP4MP_ET", "STATE") => return Ok(RouteLine::Nothing),
        ("BGP4MP_LOCAL" | "BGP4MP_ET_LOCAL", "A" | "W" | "STATE") => return Ok(RouteLine::Nothing),
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
        return Ok(RouteLine::Dump(dump));
    }
    let (as_path, _origin, next_hop) = (next(), next(), next().trim_ascii());
    if next_hop.is_empty() || next_hop.contains(|c: char| c.is_ascii_whitespace()) {
        return Err(Problem::MissingNextHop);
    }
    let (_preference, _metric, communities) = (next(), next(), next());
    Ok(RouteLine::Dump(DumpLine { next_hop: Some(next_hop), as_path, communities, ..dump }))
}
