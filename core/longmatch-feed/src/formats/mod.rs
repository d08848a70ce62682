//! The formats of inputs: one table, from which the names of options, the helps and the documents are made.
//!
//! A format of lines that a tool prints is one file of this folder and one line of [`FORMATS`]: a parser of lines,
//! which keeps earlier lines' content such as the name of a set, and emits a row for each prefix.

mod cisco;
mod delegated;
mod first_match;
mod ipset;
mod iptables;
mod mikrotik;
mod netstat;
mod nft;
mod nginx;
mod ris_whois;
mod rpsl;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use crate::error::{Problem, shorten};
use crate::option_values::ParseOptionError;

/// Format of an input.
///
/// ```
/// use longmatch_feed::Format;
/// assert_eq!("tsv".parse(), Ok(Format::Csv));
/// assert_eq!(Format::Mmdb.to_string(), "mmdb");
/// assert!(Format::all().any(|info| info.names.contains(&"pfx2as")));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Format {
    /// Recognised from the content.
    #[default]
    Auto,
    /// Rows of text with cells between delimiters.
    Csv,
    /// One prefix, address or range a line.
    List,
    /// A prefix and a text with spaces a line.
    Text,
    /// The text of the Python package pyasn.
    PyAsn,
    /// CAIDA's prefix to AS mappings.
    Pfx2As,
    /// The output of `netstat -rn` or `route -n`.
    Netstat,
    /// The output of `ipset save` or `ipset list`.
    Ipset,
    /// The output of `iptables-save`, `ip6tables-save` or `iptables -S`.
    Iptables,
    /// The output of `nft list ruleset` or `nft list set`.
    Nft,
    /// A RIS whois dump.
    RisWhois,
    /// Statistics of the regional internet registries.
    Delegated,
    /// Objects of routing registries.
    Rpsl,
    /// Prefix lists and standard access lists of Cisco IOS, and networks of Cisco ASA.
    Cisco,
    /// Address lists of MikroTik RouterOS.
    MikroTik,
    /// Addresses in nginx's configuration.
    Nginx,
    /// JSON whose objects or arrays have prefixes.
    Json,
    /// Lines of routes.
    Routes,
    /// The JSON of `ip -json route`.
    IpJson,
    /// MRT (RFC 6396).
    Mrt,
    /// MaxMind DB.
    Mmdb,
    /// A compiled table of this library.
    Compiled,
}

/// Description of a [`Format`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FormatInfo {
    /// The format.
    pub format: Format,
    /// Its names in options; the first is the usual one.
    pub names: &'static [&'static str],
    /// The content in a few words.
    pub content: &'static str,
    /// The columns that its prefixes have.
    pub columns: &'static str,
    /// The parser of its lines, if each has prefixes among other text.
    listing: Option<Listing>,
}

/// A format whose lines a parser turns into rows.
#[derive(Clone, Copy)]
pub(crate) struct Listing {
    /// The names of the columns; the prefix is the first.
    pub(crate) columns: &'static [&'static str],
    /// Recognises the format by its first lines, which are neither blank nor comments.
    begins: fn(&[&str]) -> bool,
    /// A parser at the first line.
    pub(crate) parser: fn() -> Box<dyn Parser>,
}

impl fmt::Debug for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listing").field("columns", &self.columns).finish_non_exhaustive()
    }
}

/// All formats. Listings are recognised in this order.
#[rustfmt::skip]
const FORMATS: &[FormatInfo] = &[
    info(Format::Csv, &["csv", "tsv", "delimited"], "text with cells between commas, tabs, semicolons, bars or spaces", "those of the header, those of a geofeed (`country`, `region`, `city`, `postal_code`), else `column2` ..."),
    info(Format::List, &["list"], "a prefix, address or range a line", "none: a set"),
    info(Format::Text, &["text", "texts"], "a prefix and a text with spaces a line", "`value`: the rest of the line"),
    info(Format::PyAsn, &["pyasn"], "tables of pyasn", "`asn`"),
    info(Format::Pfx2As, &["pfx2as"], "CAIDA's prefix to AS mappings (pfx2as)", "`asn`"),
    listing(Format::Netstat, &["netstat"], "'netstat -rn' and 'route -n' of Linux, BSD and macOS", "`next_hop`: the gateway, the interface, or `unreachable`, `reject`, `blackhole`", netstat::LISTING),
    listing(Format::Ipset, &["ipset"], "`ipset save` and `ipset list`: sets of addresses and networks; other sets are left out", "`set`, `comment`", ipset::LISTING),
    listing(Format::Iptables, &["iptables"], "`iptables-save` and `iptables -S`: sources and destinations of rules, unless negated", "`chain`, `target`", iptables::LISTING),
    listing(Format::Nft, &["nft"], "'nft list': named sets and maps of addresses", "`set`, `value`, `comment`", nft::LISTING),
    listing(Format::RisWhois, &["ris-whois"], "RIS whois dumps", "`asn` (null for sets), `peers`", ris_whois::LISTING),
    listing(Format::Delegated, &["delegated"], "statistics of the registries of addresses: delegated and delegated-extended", "`registry`, `country`, `date`, `status`", delegated::LISTING),
    listing(Format::Rpsl, &["rpsl"], "objects of routing registries (RPSL): `route` and `route6`", "`origin_as`, `descr`", rpsl::LISTING),
    listing(Format::Cisco, &["cisco"], "Cisco: prefix lists; standard access lists, without entries that never match; ASA objects", "`list`, `action`, `ge`, `le`", cisco::LISTING),
    listing(Format::MikroTik, &["mikrotik"], "MikroTik: `/ip firewall address-list export`", "`list`, `comment`", mikrotik::LISTING),
    listing(Format::Nginx, &["nginx"], "nginx: `geo` blocks and files they include; `allow` and `deny`; `set_real_ip_from`", "`variable`, `value`", nginx::LISTING),
    info(Format::Json, &["json", "ndjson"], "JSON, or one JSON document a line: members of objects, elements of arrays; 'nft -j'", "the scalars of the object and of the objects around it; `list`: the name of the array"),
    info(Format::Routes, &["routes"], "'prefix next-hop', 'ip route', 'bgpdump -m', updates that begin with A or W", "`next_hop`, or `origin_as` of `bgpdump -m`"),
    info(Format::IpJson, &["ip-json"], "'ip -json route'", "`next_hop`"),
    info(Format::Mrt, &["mrt"], "MRT: TABLE_DUMP, TABLE_DUMP_V2, BGP4MP, with and without ADD-PATH", "`origin_as`, or the value that is asked for"),
    info(Format::Mmdb, &["mmdb"], "MaxMind DB", "`country.iso_code`: the path to each scalar"),
    info(Format::Compiled, &["lm"], "compiled tables of longmatch", "those of the table"),
];

const fn info(
    format: Format,
    names: &'static [&'static str],
    content: &'static str,
    columns: &'static str,
) -> FormatInfo {
    FormatInfo { format, names, content, columns, listing: None }
}

const fn listing(
    format: Format,
    names: &'static [&'static str],
    content: &'static str,
    columns: &'static str,
    listing: Listing,
) -> FormatInfo {
    FormatInfo { format, names, content, columns, listing: Some(listing) }
}

impl Format {
    /// The descriptions of all formats.
    pub fn all() -> impl Iterator<Item = &'static FormatInfo> {
        FORMATS.iter()
    }

    fn info(self) -> Option<&'static FormatInfo> {
        FORMATS.iter().find(|info| info.format == self)
    }

    /// The parser of lines of a listing.
    pub(crate) fn listing(self) -> Option<Listing> {
        self.info()?.listing
    }

    /// Recognises a listing by its first lines, which are neither blank nor comments.
    pub(crate) fn of_listing(lines: &[&str]) -> Option<Self> {
        let begins = |info: &&FormatInfo| info.listing.is_some_and(|it| (it.begins)(lines));
        FORMATS.iter().find(begins).map(|info| info.format)
    }

    /// Whether the prefixes are routes, which come one after the other and may be withdrawn.
    pub fn has_routes(self) -> bool {
        matches!(self, Self::Routes | Self::IpJson | Self::Mrt)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.info().map_or("auto", |info| info.names[0]))
    }
}

impl FromStr for Format {
    type Err = ParseOptionError;

    fn from_str(text: &str) -> Result<Self, ParseOptionError> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let known = FORMATS.iter().find(|info| info.names.contains(&text));
        known.map(|info| info.format).ok_or_else(|| {
            let names: Vec<_> = FORMATS.iter().map(|info| info.names[0]).collect();
            ParseOptionError::new(text, format!("auto, {}", names.join(", ")))
        })
    }
}

/// Parser of the lines of a listing.
pub(crate) trait Parser {
    /// Parses a line that is neither blank nor a comment.
    fn line(&mut self, line: &str, rows: &mut Emitted) -> Result<(), Problem>;

    /// Notes a blank line.
    fn blank(&mut self, _rows: &mut Emitted) {}

    /// Emits the last rows, and checks that the listing may end here.
    fn end(&mut self, _rows: &mut Emitted) -> Result<(), Problem> {
        Ok(())
    }

    /// The entries that were left out, by the name of their kind or set.
    fn left_out(&mut self) -> BTreeMap<String, u64> {
        BTreeMap::new()
    }
}

/// The rows that a line emits.
#[derive(Default)]
pub(crate) struct Emitted {
    /// The cells in sequence, and the start and end of each.
    pub(crate) text: String,
    pub(crate) bounds: Vec<(u32, u32)>,
}

impl Emitted {
    /// Adds a row: a cell for each of the format's columns, empty for null.
    fn row(&mut self, cells: &[&str]) {
        for cell in cells {
            let start = self.text.len() as u32;
            self.text.push_str(cell);
            self.bounds.push((start, self.text.len() as u32));
        }
    }
}

/// The error of a line that the format does not have.
fn unexpected(line: &str, expected: &'static str) -> Problem {
    Problem::Listing { text: shorten(line.trim_ascii()), expected }
}

/// Splits a text after its first word, or after the closing quotation mark of a quoted one, which may
/// contain quotation marks after backslashes. Returns the word without its quotation marks.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim_ascii_start();
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(|c: char| c.is_ascii_whitespace()).unwrap_or(text.len());
        return text.split_at(end);
    };
    let mut escaped = false;
    for (at, byte) in quoted.bytes().enumerate() {
        match byte {
            b'"' if !escaped => return (&quoted[..at], &quoted[at + 1..]),
            _ => escaped = byte == b'\\' && !escaped,
        }
    }
    (quoted, "")
}

/// The words of a text.
fn words(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        text = text.trim_ascii_start();
        if text.is_empty() {
            return None;
        }
        let (first, rest) = word(text);
        text = rest;
        Some(first)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `LONGMATCH_WRITE=1` writes the document.
    #[test]
    fn the_document_has_the_table() {
        let mut text = "| name | content | columns |\n|---|---|---|\n".to_owned();
        for FormatInfo { names, content, columns, .. } in FORMATS {
            text += &format!("| `{}` | {content} | {columns} |\n", names[0]);
        }
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/FORMATS.md");
        if std::env::var_os("LONGMATCH_WRITE").is_some() {
            std::fs::write(path, &text).unwrap();
        }
        assert_eq!(std::fs::read_to_string(path).unwrap(), text);
    }

    #[test]
    fn names_are_distinct_and_short() {
        let mut seen = std::collections::HashSet::new();
        for info in FORMATS {
            assert!(
                info.names.iter().all(|name| seen.insert(*name) && name.parse() == Ok(info.format))
            );
            let width = info.names[0].len() + info.content.len();
            assert!(info.names[0].len() <= 10 && width <= 96, "{}", info.content);
        }
    }
}
