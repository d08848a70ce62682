//! `ipset save` and `ipset list`: the entries of sets of addresses and prefixes.

use super::{Emitted, Listing, Parser, unexpected, word, words};
use crate::data::error::DataError;

/// The format.
pub(super) const LISTING: Listing = Listing {
    columns: &["prefix", "set", "comment"],
    begins,
    parser: || Box::new(Ipset::default()),
};

/// Types of sets whose entries are addresses, prefixes or ranges.
const TYPES: [&str; 3] = ["hash:ip", "hash:net", "bitmap:ip"];

/// Whether the lines begin as one of the two forms.
fn begins(lines: &[&str]) -> bool {
    let Some(first) = lines.first() else { return false };
    let (command, rest) = word(first);
    match command {
        "create" => words(rest).nth(1).is_some_and(|kind| kind.contains(':')),
        "add" => words(rest).nth(1).is_some_and(|entry| entry.contains(['.', ':'])),
        "Name:" => lines.iter().any(|line| line.starts_with("Type:")),
        _ => false,
    }
}

#[derive(Default)]
struct Ipset {
    /// The set that `ipset list` names, and whether its members follow.
    set: String,
    members: bool,
}

impl Parser for Ipset {
    fn line(&mut self, line: &str, rows: &mut Emitted) -> Result<(), DataError> {
        let (first, rest) = word(line);
        match first {
            "create" => return is_known(line, words(rest).nth(1).unwrap_or("")),
            "add" => {
                let (set, rest) = word(rest);
                entry(line, rest, set, rows)
            }
            "Name:" => {
                self.set = rest.trim_ascii().to_owned();
                self.members = false;
                Ok(())
            }
            "Type:" => is_known(line, rest.trim_ascii()),
            "Members:" => {
                self.members = true;
                Ok(())
            }
            _ if self.members => entry(line, line, &self.set, rows),
            "Revision:" | "Header:" | "Size" | "References:" | "Number" => Ok(()),
            _ => Err(unexpected(line, "'create SET TYPE', 'add SET ENTRY' or the output of list")),
        }
    }
}

/// Refuses sets whose entries are more than addresses.
fn is_known(line: &str, kind: &str) -> Result<(), DataError> {
    match TYPES.contains(&kind) {
        true => Ok(()),
        false => Err(unexpected(line, "a set of type hash:ip, hash:net or bitmap:ip")),
    }
}

/// An entry and its options.
fn entry(line: &str, text: &str, set: &str, rows: &mut Emitted) -> Result<(), DataError> {
    let (prefix, options) = word(text);
    if prefix.is_empty() {
        return Err(unexpected(line, "'add SET ENTRY'"));
    }
    let mut options = words(options);
    let mut comment = "";
    while let Some(option) = options.next() {
        match option {
            "comment" => comment = options.next().unwrap_or(""),
            // As a prefix of its own it would match the addresses that the set excludes.
            "nomatch" => return Err(unexpected(line, "no exceptions (nomatch): remove the entry")),
            _ => {}
        }
    }
    rows.row(&[prefix, set, comment]);
    Ok(())
}
