//! What a load did.

use std::collections::BTreeMap;

use crate::decompress::Codec;
use crate::error::FeedError;
use crate::mrt::kind;
use crate::options::Format;
use crate::peers::{Chosen, Peer};

/// What was read from one input, and what was left out and why.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// The format that was read, never [`Format::Auto`].
    pub format: Format,
    /// How the input was compressed.
    pub codec: Option<Codec>,
    /// Bytes of the input.
    pub input_bytes: u64,
    /// The same bytes decompressed.
    pub bytes: u64,
    /// Lines of text.
    pub lines: u64,
    /// MRT records.
    pub records: u64,
    /// Routes of all peers in MRT tables, ADD-PATH's several ones of a peer included.
    pub rib_entries: u64,
    /// Calls of [`crate::Sink::announce`].
    pub announced: u64,
    /// Calls of [`crate::Sink::withdraw`].
    pub withdrawn: u64,
    /// Routes and withdrawals of peers that were not chosen.
    pub other_peers: u64,
    /// Routes of MRT tables that have no next hop, such as the collector's own: left out.
    pub no_next_hop: u64,
    /// Next hops of multipath routes after the first, which is the one that was taken.
    pub extra_next_hops: u64,
    /// Well-formed MRT records that say nothing about unicast routes, by type and subtype.
    pub skipped_records: BTreeMap<(u16, u16), u64>,
    /// Announcements and withdrawals of families other than IPv4 and IPv6 unicast: one for each
    /// BGP attribute that has them.
    pub skipped_families: u64,
    /// The peers in the input, in order of appearance; empty when it does not name any.
    pub peers: Vec<Peer>,
    /// Which of them were taken.
    pub chosen: Chosen,
    /// Damaged lines or records that a lenient load left out.
    pub damaged: u64,
    /// The first damage that a lenient load met.
    pub first_damage: Option<FeedError>,
    /// Whether a lenient load could not read the input to its end.
    pub cut_off: bool,
}

impl Report {
    /// Notes damage that does not stop a lenient load.
    pub(crate) fn note_damage(&mut self, error: FeedError) {
        self.damaged += 1;
        self.first_damage.get_or_insert(error);
    }

    /// What a user should be told: one sentence each.
    pub fn warnings(&self) -> Vec<String> {
        let mut all = Vec::new();
        if self.announced == 0 && self.withdrawn == 0 {
            all.push("no routes were read".to_owned());
        }
        if self.extra_next_hops > 0 {
            let n = self.extra_next_hops;
            all.push(format!("{n} further next hops of multipath routes were left out"));
        }
        if let (Some(ipv4), Some(ipv6)) = (self.chosen.ipv4, self.chosen.ipv6)
            && ipv4 != ipv6
        {
            all.push("IPv4 and IPv6 routes come from different peers".to_owned());
        }
        if self.no_next_hop > 0 {
            all.push(format!("{} routes without a next hop were left out", self.no_next_hop));
        }
        if self.skipped_families > 0 {
            let n = self.skipped_families;
            all.push(format!("{n} times routes other than unicast were left out"));
        }
        let unknown = self.skipped_records.iter().filter(|((kind, _), _)| !kind::is_known(*kind));
        let unknown: u64 = unknown.map(|(_, count)| count).sum();
        if unknown > 0 {
            all.push(format!(
                "{unknown} records of unknown types were left out: the file may be damaged"
            ));
        }
        if self.damaged > 0 {
            all.push(format!("{} damaged lines or records were left out", self.damaged));
        }
        if self.cut_off {
            all.push("the input could not be read to its end".to_owned());
        }
        all
    }
}
