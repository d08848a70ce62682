//! Entries of access lists: the first one that matches an address decides.

use std::collections::{BTreeMap, HashMap, HashSet};

use longmatch::IpPrefix;

use super::Emitted;
use crate::data::key::{self, Found};

/// The entries of access lists so far.
///
/// An entry that an earlier one of its list covers decides nothing, and is left out. Of two of the other entries that
/// overlap, the longer stands first; so the longest entry is the first that matches.
#[derive(Default)]
pub(super) struct FirstMatch {
    lists: HashMap<String, HashSet<IpPrefix>>,
    covered: u64,
}

impl FirstMatch {
    /// Emits the row of an entry, unless an earlier entry covers it.
    pub(super) fn entry(&mut self, list: &str, cells: &[&str], rows: &mut Emitted) {
        // The reader of rows reports a text that is not a prefix.
        if let Ok(Found::Prefix(prefix)) = key::one(cells[0], true, "") {
            let earlier = self.lists.entry(list.to_owned()).or_default();
            let mut covering = std::iter::successors(Some(prefix), |it| it.parent());
            if covering.any(|prefix| earlier.contains(&prefix)) {
                self.covered += 1;
                return;
            }
            earlier.insert(prefix);
        }
        rows.row(cells);
    }

    /// The number of entries that were left out, with their description.
    pub(super) fn left_out(&self) -> BTreeMap<String, u64> {
        let covered =
            (self.covered > 0).then(|| ("covered by an earlier one".to_owned(), self.covered));
        covered.into_iter().collect()
    }
}
