//! The report of reading a list.

use crate::decompress::Codec;
use crate::error::FeedError;
use crate::report::{Report, damage_warnings};

/// Counts of one list's lines and entries, and its damage.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ListReport {
    /// Compression of the input.
    pub codec: Option<Codec>,
    /// Bytes of the input.
    pub input_bytes: u64,
    /// Bytes of the input after decompression.
    pub bytes: u64,
    /// Lines.
    pub lines: u64,
    /// IPv4 entries.
    pub ipv4: u64,
    /// IPv6 entries.
    pub ipv6: u64,
    /// Whether the first line that is no comment names columns.
    pub header: bool,
    /// Lines that are no entries, which a lenient reader skipped.
    pub damaged: u64,
    /// The first of them.
    pub first_damage: Option<FeedError>,
    /// Whether a lenient reader stopped before the end of the input.
    pub cut_off: bool,
    /// The report of the routes, if the input is a table of routes.
    pub routes: Option<Report>,
}

impl ListReport {
    /// The report of a table of routes.
    pub(super) fn of_routes(routes: Report) -> Self {
        Self {
            codec: routes.codec,
            input_bytes: routes.input_bytes,
            bytes: routes.bytes,
            lines: routes.lines,
            ipv4: routes.announced - routes.announced_ipv6,
            ipv6: routes.announced_ipv6,
            routes: Some(routes),
            ..Self::default()
        }
    }

    /// Whether only blank lines and comments have been read.
    pub(super) fn has_no_content(&self) -> bool {
        self.ipv4 + self.ipv6 + self.damaged == 0 && !self.header
    }

    /// Records damage that does not stop a lenient reader.
    pub(super) fn note_damage(&mut self, error: FeedError) {
        self.damaged += 1;
        self.first_damage.get_or_insert(error);
    }

    /// Returns the error, or records it if the reader is lenient.
    pub(super) fn refuse(&mut self, error: FeedError, lenient: bool) -> Result<(), FeedError> {
        if !lenient {
            return Err(error);
        }
        self.note_damage(error);
        Ok(())
    }

    /// Returns an error if the input has damage and not one entry.
    pub(super) fn refuse_damage_alone(&mut self) -> Result<(), FeedError> {
        if self.ipv4 + self.ipv6 > 0 {
            return Ok(());
        }
        let first = self.first_damage.take();
        first.map_or(Ok(()), |first| Err(FeedError::nothing_read(self.damaged, first)))
    }

    /// Returns warnings for the user, one sentence each.
    pub fn warnings(&self) -> Vec<String> {
        let mut all = Vec::new();
        // An empty file is a list without entries; one with comments only may be the wrong file.
        if self.lines > 0 && self.ipv4 + self.ipv6 == 0 && self.routes.is_none() {
            all.push("the list has no entries".to_owned());
        }
        let words = ["line that is no entry", "lines that are no entries"];
        all.extend(damage_warnings(self.damaged, words, self.cut_off));
        all
    }
}
