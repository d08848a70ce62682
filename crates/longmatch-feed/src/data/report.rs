//! The report of a load of prefix data.

use super::options::DataFormat;
use crate::decompress::Codec;
use crate::error::FeedError;
use crate::report::{Report, damage_warnings, ranges_overlap};

/// Counts of the rows, prefixes and damage of one input.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct DataReport {
    /// Format of the input, never [`DataFormat::Auto`].
    pub format: DataFormat,
    /// The format in words, with the delimiter and whether there is a header.
    pub read_as: String,
    /// Compression of the input.
    pub codec: Option<Codec>,
    /// Bytes of the input.
    pub input_bytes: u64,
    /// Bytes of the input after decompression.
    pub bytes: u64,
    /// Lines of text.
    pub lines: u64,
    /// Rows with a prefix, networks of a MaxMind DB, or announced routes.
    pub rows: u64,
    /// Prefixes of the rows: ranges are several.
    pub prefixes: u64,
    /// Prefixes that had a row before.
    pub replaced: u64,
    /// Rows with a range of addresses.
    pub ranges: u64,
    /// Earlier prefixes that ranges replaced, because they lie inside.
    pub overlapped: u64,
    /// Damaged lines or records that a lenient load skipped.
    pub damaged: u64,
    /// The first damage in a lenient load.
    pub first_damage: Option<FeedError>,
    /// Whether a lenient load stopped before the end of the input.
    pub cut_off: bool,
    /// The report of a format with routes.
    pub routes: Option<Report>,
}

impl DataReport {
    /// Records damage that does not stop a lenient load.
    pub(crate) fn note_damage(&mut self, error: FeedError) {
        self.damaged += 1;
        self.first_damage.get_or_insert(error);
    }

    /// Returns an error if the input has damage and not one readable row.
    pub(crate) fn refuse_damage_without_rows(&mut self) -> Result<(), FeedError> {
        if self.damaged == 0 || self.rows > 0 {
            return Ok(());
        }
        let first = self.first_damage.take();
        first.map_or(Ok(()), |first| Err(FeedError::nothing_read(self.damaged, first)))
    }

    /// Returns warnings for the user, one sentence each.
    pub fn warnings(&self) -> Vec<String> {
        if let Some(routes) = &self.routes {
            return routes.warnings();
        }
        let mut all = Vec::new();
        if self.rows == 0 {
            all.push("no prefixes were read".to_owned());
        }
        all.extend(ranges_overlap(self.overlapped));
        let words = ["damaged line or record", "damaged lines or records"];
        all.extend(damage_warnings(self.damaged, words, self.cut_off));
        all
    }
}
