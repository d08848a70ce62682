//! The report of a load.

use std::collections::BTreeMap;

use longmatch::IpPrefix;

use crate::decompress::Codec;
use crate::error::FeedError;
use crate::mrt::record::kind;
use crate::options::Format;
use crate::peers::{Chosen, Peer};
use crate::printable::printable;

/// Counts of the routes, records and damage of one loaded input.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Format of the input, never [`Format::Auto`].
    pub format: Format,
    /// The format of prefix data in words; empty for routes.
    pub read_as: String,
    /// Whether the input is a list: its prefixes have no values, and each is its own next hop.
    pub is_list: bool,
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
    /// Skipped well-formed MRT records without unicast routes, by type and subtype.
    pub skipped_records: BTreeMap<(u16, u16), u64>,
    /// Skipped BGP attributes with announcements or withdrawals of families other than IPv4 and
    /// IPv6 unicast.
    pub skipped_families: u64,
    /// Peers of the input, in order of appearance; empty for formats without peers.
    pub peers: Vec<Peer>,
    /// The peers whose routes were loaded.
    pub chosen: Chosen,
    /// Earlier prefixes that ranges of prefix data replaced, because they lie inside.
    pub overlapped: u64,
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
        self.announced_ipv6 += u64::from(matches!(prefix, IpPrefix::V6(_)));
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

    /// Returns an error if the input has damage and not one readable route.
    pub(crate) fn refuse_damage_without_routes(&mut self) -> Result<(), FeedError> {
        let understood = self.announced
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
        if self.announced == 0 && self.withdrawn == 0 {
            all.push(self.nothing());
        }
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
        all.extend(counts.map(|(n, one, many)| were_left_out(n, one, many)));
        all.extend(self.tables());
        all.extend(ranges_overlap(self.overlapped));
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

    /// Warning that the input has no routes, with the reason if it is known.
    fn nothing(&self) -> String {
        let known = self.skipped_records.iter().filter(|((kind, _), _)| kind::is_known(*kind));
        match known.max_by_key(|(_, count)| **count) {
            Some(((kind, _), _)) => format!(
                "no routes were read: records of type {kind} ({}) hold no supported routes",
                kind::name(*kind)
            ),
            None => "no routes were read".to_owned(),
        }
    }

    /// Warning that lists the skipped routing tables.
    fn tables(&self) -> Option<String> {
        let total: u64 = self.other_tables.values().sum();
        let each = |(name, count): (&String, &u64)| format!("{}: {count}", printable(name));
        let each: Vec<_> = self.other_tables.iter().map(each).collect();
        let skipped = were_left_out(total, "route of another table", "routes of other tables");
        (total > 0).then(|| format!("{skipped} ({})", each.join(", ")))
    }
}

/// Warning that ranges replaced earlier prefixes.
pub(crate) fn ranges_overlap(overlapped: u64) -> Option<String> {
    let prefixes = match overlapped {
        0 => return None,
        1 => "1 prefix is",
        n => &format!("{n} prefixes are"),
    };
    Some(format!("ranges overlap: {prefixes} replaced by a later range"))
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
    if n == 1 { format!("1 {one} was left out") } else { format!("{n} {many} were left out") }
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
