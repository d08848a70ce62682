//! Names of columns: those of a header, those that are known, and the columns to keep.

use crate::error::Problem;
use crate::option_values::KeptColumn;

/// Names of the column of prefixes, in lower case without punctuation.
const PREFIX: &[&str] = &[
    "prefix",
    "network",
    "cidr",
    "net",
    "subnet",
    "ip",
    "ipaddress",
    "address",
    "range",
    "iprange",
    "ipprefix",
    "block",
    "netblock",
    "ipblock",
    "route",
];
/// Names of the first address of a range.
const FIRST: &[&str] = &[
    "start",
    "startip",
    "ipstart",
    "rangestart",
    "startrange",
    "startaddress",
    "startipnum",
    "startinteger",
    "startnum",
    "iprangestart",
    "networkstartip",
    "networkstartinteger",
    "first",
    "firstip",
    "firstaddress",
    "from",
    "ipfrom",
    "fromip",
    "begin",
    "beginip",
    "beginaddress",
    "low",
    "lower",
];
/// Names of the last address of a range.
const LAST: &[&str] = &[
    "end",
    "endip",
    "ipend",
    "rangeend",
    "endrange",
    "endaddress",
    "endipnum",
    "endinteger",
    "endnum",
    "iprangeend",
    "networkendip",
    "networklastip",
    "networklastinteger",
    "last",
    "lastip",
    "lastaddress",
    "to",
    "ipto",
    "toip",
    "lastinteger",
    "finish",
    "finiship",
    "stop",
    "stopip",
    "high",
    "upper",
];
/// Names of prefix lengths and netmasks.
const LENGTH: &[&str] = &[
    "length",
    "len",
    "prefixlength",
    "prefixlen",
    "plen",
    "masklen",
    "masklength",
    "netmask",
    "mask",
    "subnetmask",
    "bits",
    "genmask",
    "maskbits",
    "networkmask",
    "netmasklength",
    "networklength",
    "subnetlength",
    "cidrlength",
];

/// Names of another address than the prefix.
const NEXT_HOP: &[&str] =
    &["nexthop", "gateway", "gatewayip", "gw", "via", "router", "peer", "hop", "dns", "nameserver"];

/// Words in the names of columns with other addresses or numbers than those of the prefix.
const ASIDE: &[&str] = &[
    "age",
    "as",
    "asn",
    "code",
    "collector",
    "confidence",
    "days",
    "destination",
    "dns",
    "dst",
    "gateway",
    "gw",
    "hits",
    "hop",
    "hops",
    "id",
    "index",
    "level",
    "line",
    "metric",
    "mtu",
    "nameserver",
    "neighbor",
    "neighbour",
    "nexthop",
    "ns",
    "originator",
    "peer",
    "port",
    "priority",
    "rank",
    "reporter",
    "reports",
    "requests",
    "resolver",
    "risk",
    "router",
    "score",
    "server",
    "severity",
    "source",
    "src",
    "target",
    "threat",
    "time",
    "timestamp",
    "ttl",
    "version",
    "via",
    "vlan",
    "vrf",
    "weight",
    "year",
];

/// Whether the name of a column shows that it has another address or number than that of the prefix.
pub(crate) fn is_aside(name: &str) -> bool {
    known(name) == Some(Known::NextHop) || has_word(name, ASIDE)
}

/// Whether a name has one of these words: `peer_ip`, `peer-ip` and `peerIp` have `peer`.
pub(crate) fn has_word(name: &str, words: &[&str]) -> bool {
    let mut start = true;
    let mut word = String::new();
    let is_word = |word: &mut String| {
        let found = words.contains(&word.as_str());
        word.clear();
        found
    };
    for c in name.chars() {
        if (!c.is_ascii_alphabetic() || (c.is_ascii_uppercase() && !start)) && is_word(&mut word) {
            return true;
        }
        start = !c.is_ascii_lowercase();
        if c.is_ascii_alphabetic() {
            word.push(c.to_ascii_lowercase());
        }
    }
    is_word(&mut word)
}

/// A kind of column that its name shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Known {
    Prefix,
    First,
    Last,
    Length,
    NextHop,
}

/// A name in lower case without punctuation.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// The kind of the column of this name.
pub(crate) fn known(name: &str) -> Option<Known> {
    let plain = plain(name);
    let is_in = |names: &[&str]| names.contains(&&*plain);
    match () {
        () if is_in(PREFIX) => Some(Known::Prefix),
        () if is_in(FIRST) => Some(Known::First),
        () if is_in(LAST) => Some(Known::Last),
        () if is_in(LENGTH) => Some(Known::Length),
        () if is_in(NEXT_HOP) => Some(Known::NextHop),
        () => None,
    }
}

/// The names of a header's cells, made distinct: the second `name` is `name_2`. A column without a
/// name is `columnN`, as in files without a header.
pub(crate) fn of_header(header: &[String]) -> Vec<String> {
    let mut names = Vec::<String>::with_capacity(header.len());
    let mut taken = std::collections::HashSet::new();
    for (at, cell) in header.iter().enumerate() {
        let base = if cell.is_empty() { numbered(at) } else { cell.clone() };
        let mut name = base.clone();
        let mut n = 2;
        while !taken.insert(name.clone()) {
            name = format!("{base}_{n}");
            n += 1;
        }
        names.push(name);
    }
    names
}

/// The name of a column without a name.
pub(crate) fn numbered(at: usize) -> String {
    format!("column{}", at + 1)
}

/// The position of a column by its name or its number from 1.
pub(crate) fn resolve(name: &str, names: &[String]) -> Result<usize, Problem> {
    if let Some(at) = names.iter().position(|known| known == name) {
        return Ok(at);
    }
    let number = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    number
        .filter(|at| *at < names.len())
        .ok_or_else(|| Problem::NoSuchColumn { name: name.to_owned(), columns: names.to_vec() })
}

/// The positions of the columns that filters name, and the cells that they ask for.
pub(crate) fn positions(
    filters: &[(String, String)],
    names: &[String],
) -> Result<Vec<(usize, String)>, Problem> {
    let position = |(name, cell): &(String, String)| Ok((resolve(name, names)?, cell.clone()));
    filters.iter().map(position).collect()
}

/// The positions and new names of the columns to keep: those of the options, else all that `free`
/// says are not part of the prefix.
pub(crate) fn keep(
    kept: Option<&[KeptColumn]>,
    names: &[String],
    free: impl Fn(usize) -> bool,
) -> Result<Vec<(usize, String)>, Problem> {
    match kept {
        None => {
            let all = names.iter().cloned().enumerate();
            Ok(all.filter(|(at, _)| free(*at)).collect())
        }
        Some(kept) => kept
            .iter()
            .map(|KeptColumn { column, name }| {
                let at = resolve(column, names)?;
                Ok((at, name.clone().unwrap_or_else(|| names[at].clone())))
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_names() {
        for name in ["asn", "as2", "AS", "peer_ip", "peerIp", "ip-of-peer", "IPOf2Peer", "srcASN"] {
            assert!(has_word(name, ASIDE), "{name}");
        }
        for name in ["", "mask", "asset", "peers", "length", "speer"] {
            assert!(!has_word(name, ASIDE), "{name}");
        }
    }

    #[test]
    fn headers_become_distinct_names() {
        let header = ["a", "", "a", "a_2", "a", ""].map(str::to_owned);
        assert_eq!(of_header(&header), ["a", "column2", "a_2", "a_2_2", "a_3", "column6"]);
    }

    #[test]
    fn names_come_before_numbers() {
        let names = ["2", "b"].map(str::to_owned);
        assert_eq!(resolve("2", &names), Ok(0));
        assert_eq!(resolve("1", &names), Ok(0));
        assert_eq!(resolve("b", &names), Ok(1));
        for wrong in ["0", "3", "c", ""] {
            assert!(resolve(wrong, &names).is_err(), "{wrong}");
        }
    }

    #[test]
    fn known_names_have_any_case_and_punctuation() {
        assert_eq!(known("IP_From"), Some(Known::First));
        assert_eq!(known("network last-ip"), Some(Known::Last));
        assert_eq!(known("CIDR"), Some(Known::Prefix));
        assert_eq!(known("asn"), None);
    }
}
