//! The report of a load.

use std::collections::BTreeMap;
use std::net::IpAddr;

use longmatch::{IpPrefix, Ipv6, Prefix};

use crate::codec::Codec;
use crate::data::key::Found;
use crate::error::FeedError;
use crate::formats::Format;
use crate::mrt::record::kind;
use crate::peers::{Chosen, Peer};
use crate::printable::printable;

/// Counts of the rows, routes, records and damage of one input.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Format of the input, never [`Format::Auto`].
    pub format: Format,
    /// The format in words, with the delimiter and whether there is a header.
    pub read_as: String,
    /// Whether the prefixes have no columns: the input is a list.
    pub is_list: bool,
    /// The names of the columns whose cells are the next hops of a [`crate::Sink`], in their order.
    pub columns: Vec<String>,
    /// Whether rows without the cells of [`crate::Options::filters`] are left out.
    pub is_filtered: bool,
    /// Compression of the input.
    pub codec: Option<Codec>,
    /// Bytes of the input.
    pub input_bytes: u64,
    /// Bytes of the input after decompression.
    pub bytes: u64,
    /// Lines of text.
    pub lines: u64,
    /// MRT records.
    pub records: u64,
    /// Routes of all peers in MRT tables, including every ADD-PATH path.
    pub rib_entries: u64,
    /// Rows with a prefix, networks of a MaxMind DB, or announced routes.
    pub rows: u64,
    /// Those of IPv6.
    pub rows_ipv6: u64,
    /// Rows with a range of addresses.
    pub ranges: u64,
    /// Rows that do not count, as the prefix has another row with other cells; of formats other than routes.
    pub replaced: u64,
    /// The prefixes of these rows.
    pub repeated: u64,
    /// Distinct keys that a joined file does not have, so that its cells are null.
    pub unjoined: u64,
    /// Earlier prefixes that ranges replaced, because they lie inside.
    pub overlapped: u64,
    /// Rows of `::ffff:0:0/96`, which stays an IPv6 prefix: it does not mean all IPv4 addresses.
    pub mapped: u64,
    /// Calls of [`crate::Sink::announce`].
    pub announced: u64,
    /// Calls of [`crate::Sink::announce`] with an IPv6 prefix.
    pub announced_ipv6: u64,
    /// Calls of [`crate::Sink::withdraw`].
    pub withdrawn: u64,
    /// Skipped routes and withdrawals of peers that were not chosen.
    pub other_peers: u64,
    /// Skipped routes of MRT tables without a next hop, such as the collector's own routes.
    pub no_next_hop: u64,
    /// Skipped next hops of multipath routes.
    pub extra_next_hops: u64,
    /// Skipped routes of `ip route`: Linux prefers another route to the same prefix.
    pub less_preferred: u64,
    /// Skipped next hops of `ip route` with the mark `dead`: Linux does not use them.
    pub dead_next_hops: u64,
    /// Skipped routes of `ip route` for one type of service: they do not apply to all packets.
    pub type_of_service: u64,
    /// Skipped routes of `ip route` in routing tables other than [`crate::Options::ip_table`], by
    /// table name. Beyond a bound on the number of tables, one last name counts all others.
    pub other_tables: BTreeMap<String, u64>,
    /// Entries of listings that are not prefixes, such as those of other types of sets, by name.
    pub left_out: BTreeMap<String, u64>,
    /// Skipped well-formed MRT records without unicast routes, by type and subtype.
    pub skipped_records: BTreeMap<(u16, u16), u64>,
    /// Skipped BGP attributes with announcements or withdrawals of families other than IPv4 and
    /// IPv6 unicast.
    pub skipped_families: u64,
    /// Peers of the input, in order of appearance; empty for formats without peers.
    pub peers: Vec<Peer>,
    /// The peers whose routes were loaded.
    pub chosen: Chosen,
    /// Damaged lines or records that a lenient load skipped.
    pub damaged: u64,
    /// The first damage in a lenient load.
    pub first_damage: Option<FeedError>,
    /// Whether a lenient load stopped before the end of the input.
    pub cut_off: bool,
}

impl Report {
    /// Records damage that does not stop a lenient load.
    pub(crate) fn note_damage(&mut self, error: FeedError) {
        self.damaged += 1;
        self.first_damage.get_or_insert(error);
    }

    /// Counts a call of [`crate::Sink::announce`].
    #[inline]
    pub(crate) fn count_announced(&mut self, prefix: IpPrefix) {
        self.announced += 1;
        if let IpPrefix::V6(prefix) = prefix {
            self.announced_ipv6 += 1;
            self.count_mapped(prefix);
        }
    }

    /// Counts a row with this key.
    #[inline]
    pub(crate) fn count_row(&mut self, found: Found) {
        self.rows += 1;
        let first = match found {
            Found::Prefix(prefix) => {
                if let IpPrefix::V6(prefix) = prefix {
                    self.count_mapped(prefix);
                }
                prefix.unmapped().addr()
            }
            Found::Range(first, last) => {
                self.ranges += 1;
                let is_mapped = |addr: IpAddr| addr.is_ipv6() && addr.to_canonical().is_ipv4();
                self.mapped += u64::from(is_mapped(first) || is_mapped(last));
                first
            }
        };
        self.rows_ipv6 += u64::from(first.is_ipv6());
    }

    /// Counts the IPv6 prefix of all IPv4-mapped addresses.
    #[inline]
    fn count_mapped(&mut self, prefix: Prefix<Ipv6>) {
        const MAPPED: u128 = 0xffff << 32;
        self.mapped += u64::from(prefix.len() == 96 && prefix.bits() == MAPPED);
    }

    /// Counts a route of another routing table.
    pub(crate) fn count_other_table(&mut self, name: &str) {
        let full = self.other_tables.len() >= MAX_TABLES && !self.other_tables.contains_key(name);
        let name = if full { REST } else { name };
        match self.other_tables.get_mut(name) {
            Some(count) => *count += 1,
            None => drop(self.other_tables.insert(name.to_owned(), 1)),
        }
    }

    /// Returns an error if the input has damage and not one readable row.
    pub(crate) fn refuse_damage_alone(&mut self) -> Result<(), FeedError> {
        let understood = self.rows
            + self.announced
            + self.withdrawn
            + self.other_peers
            + self.no_next_hop
            + self.dead_next_hops
            + self.type_of_service;
        if self.damaged == 0 || understood > 0 || !self.other_tables.is_empty() {
            return Ok(());
        }
        let first = self.first_damage.take();
        first.map_or(Ok(()), |first| Err(FeedError::nothing_read(self.damaged, first)))
    }

    /// Returns warnings for the user, one sentence each.
    pub fn warnings(&self) -> Vec<String> {
        let mut all = Vec::new();
        if self.rows + self.announced + self.withdrawn == 0 {
            all.push(self.nothing());
        }
        if self.mapped > 0 {
            let prefix =
                "::ffff:0:0/96 stays an IPv6 prefix: it covers IPv4-mapped addresses, not IPv4";
            all.push(prefix.to_owned());
        }
        if self.replaced > 0 {
            let prefixes = plural(self.repeated, "prefix has", "prefixes have");
            let rows = plural(self.replaced, "row does", "rows do");
            all.push(format!("{prefixes} several different rows: {rows} not count (duplicates)"));
        }
        if self.unjoined > 0 {
            let keys = plural(self.unjoined, "key has", "keys have");
            all.push(format!("{keys} no row in the joined file: the cells are empty (join)"));
        }
        all.extend(self.kinds_left_out());
        let words = ["route of another table", "routes of other tables"];
        all.extend(by_name(&self.other_tables, words));
        let words = ["entry", "entries"];
        all.extend(by_name(&self.left_out, words));
        if self.overlapped > 0 {
            let prefixes = plural(self.overlapped, "prefix is", "prefixes are");
            all.push(format!("ranges overlap: {prefixes} replaced by a later range"));
        }
        if let (Some(ipv4), Some(ipv6)) = (self.chosen.ipv4, self.chosen.ipv6)
            && ipv4 != ipv6
        {
            all.push("IPv4 and IPv6 routes come from different peers".to_owned());
        }
        let unknown = self.skipped_records.iter().filter(|((kind, _), _)| !kind::is_known(*kind));
        let unknown: u64 = unknown.map(|(_, count)| count).sum();
        if unknown > 0 {
            let skipped =
                were_left_out(unknown, "record of an unknown type", "records of unknown types");
            all.push(format!("{skipped}: the file may be damaged"));
        }
        let words = ["damaged line or record", "damaged lines or records"];
        all.extend(damage_warnings(self.damaged, words, self.cut_off));
        all
    }

    /// Warnings of the kinds of routes that a table has no place for.
    fn kinds_left_out(&self) -> impl Iterator<Item = String> {
        let counts = [
            (
                self.extra_next_hops,
                "further next hop of multipath routes",
                "further next hops of multipath routes",
            ),
            (
                self.less_preferred,
                "route with a better one to the same prefix",
                "routes with a better one to the same prefix",
            ),
            (self.dead_next_hops, "dead next hop", "dead next hops"),
            (self.type_of_service, "route for a type of service", "routes for a type of service"),
            (self.no_next_hop, "route without a next hop", "routes without a next hop"),
            (
                self.skipped_families,
                "attribute with routes other than unicast",
                "attributes with routes other than unicast",
            ),
        ];
        let counts = counts.into_iter().filter(|(n, ..)| *n > 0);
        counts.map(|(n, one, many)| were_left_out(n, one, many))
    }

    /// Warning that the input has no routes, with the reason if it is known.
    fn nothing(&self) -> String {
        let known = self.skipped_records.iter().filter(|((kind, _), _)| kind::is_known(*kind));
        match known.max_by_key(|(_, count)| **count) {
            Some(((kind, _), _)) => format!(
                "no routes were read: records of type {kind} ({}) hold no supported routes",
                kind::name(*kind)
            ),
            None if self.is_filtered => {
                "no row has the cells that are asked for (filters)".to_owned()
            }
            None if self.format.has_routes() => "no routes were read".to_owned(),
            None => "no prefixes were read".to_owned(),
        }
    }
}

/// Warning that lists counts by name.
fn by_name(counts: &BTreeMap<String, u64>, [one, many]: [&str; 2]) -> Option<String> {
    let total: u64 = counts.values().sum();
    let each = |(name, count): (&String, &u64)| format!("{}: {count}", printable(name));
    let each: Vec<_> = counts.iter().take(MAX_TABLES + 1).map(each).collect();
    let skipped = were_left_out(total, one, many);
    (total > 0).then(|| format!("{skipped} ({})", each.join(", ")))
}

/// Greatest number of routing tables that a report counts separately.
const MAX_TABLES: usize = 64;
/// Name that counts all other routing tables.
const REST: &str = "further tables";

/// Warnings of damage, for which there are words in the singular and the plural, and of a missing end.
pub(crate) fn damage_warnings(
    damaged: u64,
    [one, many]: [&str; 2],
    cut_off: bool,
) -> impl Iterator<Item = String> {
    let damaged = (damaged > 0).then(|| were_left_out(damaged, one, many));
    let cut_off = cut_off.then(|| "the input could not be read to its end".to_owned());
    damaged.into_iter().chain(cut_off)
}

/// Formats `1 route was left out` or `2 routes were left out`.
pub(crate) fn were_left_out(n: u64, one: &str, many: &str) -> String {
    format!("{} left out", plural(n, &format!("{one} was"), &format!("{many} were")))
}

fn plural(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_use_singular_and_plural() {
        let mut report =
            Report { announced: 1, damaged: 1, extra_next_hops: 1, ..Report::default() };
        report.skipped_records.insert((999, 0), 1);
        report.count_other_table("local");
        assert_eq!(
            report.warnings(),
            [
                "1 further next hop of multipath routes was left out",
                "1 route of another table was left out (local: 1)",
                "1 record of an unknown type was left out: the file may be damaged",
                "1 damaged line or record was left out",
            ]
        );
        report.damaged = 2;
        report.count_other_table("\u{1b}x");
        let warnings = report.warnings();
        assert!(warnings.contains(&"2 damaged lines or records were left out".to_owned()));
        let tables = r"2 routes of other tables were left out (\u{1b}x: 1, local: 1)";
        assert!(warnings.contains(&tables.to_owned()), "{warnings:?}");
    }

    #[test]
    fn memory_is_bounded_for_any_number_of_tables() {
        let mut report = Report::default();
        (0..10_000).for_each(|n| report.count_other_table(&n.to_string()));
        assert_eq!(report.other_tables.len(), MAX_TABLES + 1);
        assert_eq!(report.other_tables[REST], 10_000 - MAX_TABLES as u64);
    }
}
