//! Address lists of MikroTik RouterOS: `/ip firewall address-list export`.

use std::collections::BTreeMap;

use super::{Emitted, Listing, Parser, unexpected, word};
use crate::data::key::CellKind;
use crate::error::Problem;

/// The format.
pub(super) const LISTING: Listing = Listing {
    columns: &["prefix", "list", "comment"],
    begins,
    parser: || Box::new(MikroTik::default()),
};

/// The sections of address lists.
const SECTIONS: [&str; 2] = ["/ip firewall address-list", "/ipv6 firewall address-list"];
/// Greatest length of an entry on several lines in bytes.
const MAX_ENTRY: usize = 4 << 10;

/// Whether a section of address lists is among the first lines, or entries without their section.
fn begins(lines: &[&str]) -> bool {
    let is_section = |line: &&str| SECTIONS.iter().any(|section| line.starts_with(section));
    let is_entry = |line: &&&str| {
        line.starts_with("add ") && line.contains("address=") && line.contains("list=")
    };
    lines.first().is_some_and(|line| line.starts_with('/')) && lines.iter().any(is_section)
        || lines.first().as_ref().is_some_and(is_entry)
}

#[derive(Default)]
struct MikroTik {
    /// Whether the section has other entries.
    elsewhere: bool,
    /// The beginning of an entry whose line ends with a backslash.
    entry: String,
    /// Entries with names of hosts, and disabled ones.
    left_out: BTreeMap<String, u64>,
}

impl Parser for MikroTik {
    fn line(&mut self, line: &str, rows: &mut Emitted) -> Result<(), Problem> {
        let part = line.trim_ascii();
        if self.entry.len() + part.len() > MAX_ENTRY {
            return Err(unexpected(
                &std::mem::take(&mut self.entry),
                "entries of at most 4096 bytes",
            ));
        }
        if let Some(part) = part.strip_suffix('\\') {
            self.entry.push_str(part);
            return Ok(());
        }
        let entry = std::mem::take(&mut self.entry) + part;
        let mut rest = &*entry;
        if rest.starts_with('/') {
            let section = SECTIONS.iter().find_map(|section| rest.strip_prefix(section));
            self.elsewhere = section.is_none();
            rest = section.unwrap_or("").trim_ascii_start();
        }
        // Scripts remove the list that they then add, and go on after an error.
        if self.elsewhere || rest.is_empty() || rest.starts_with("remove ") {
            return Ok(());
        }
        let rest =
            rest.strip_prefix(":do {").and_then(|it| it.split_once('}')).map_or(rest, |it| it.0);
        let options = rest
            .trim_ascii_start()
            .strip_prefix("add ")
            .ok_or_else(|| unexpected(&entry, EXPECTED))?;
        self.add(options, rows).ok_or_else(|| unexpected(&entry, EXPECTED))
    }

    fn end(&mut self, _rows: &mut Emitted) -> Result<(), Problem> {
        match self.entry.is_empty() {
            true => Ok(()),
            false => Err(unexpected(&self.entry, "more after the backslash: the text is cut off")),
        }
    }

    fn left_out(&mut self) -> BTreeMap<String, u64> {
        std::mem::take(&mut self.left_out)
    }
}

const EXPECTED: &str = "'add address=PREFIX list=NAME'";

impl MikroTik {
    /// `NAME=VALUE` in any order; values may be quoted.
    fn add(&mut self, mut rest: &str, rows: &mut Emitted) -> Option<()> {
        let (mut prefix, mut list, mut comment, mut disabled) = ("", "", "", false);
        while !rest.trim_ascii().is_empty() {
            let (name, after) = rest.trim_ascii_start().split_once('=')?;
            let value;
            (value, rest) = if after.starts_with(' ') { ("", after) } else { word(after) };
            match name {
                "address" => prefix = value,
                "list" => list = value,
                "comment" => comment = value,
                "disabled" => disabled = value == "yes",
                _ => {}
            }
        }
        if prefix.is_empty() {
            return None;
        }
        let is_host = CellKind::of(prefix) == CellKind::Other
            && prefix.contains('.')
            && !prefix.contains(['/', ':'])
            && prefix.bytes().next_back().is_some_and(|last| last.is_ascii_alphabetic());
        match () {
            () if disabled => *self.left_out.entry("disabled".to_owned()).or_default() += 1,
            () if is_host => *self.left_out.entry("names of hosts".to_owned()).or_default() += 1,
            () => rows.row(&[prefix, list, comment]),
        }
        Some(())
    }
}
