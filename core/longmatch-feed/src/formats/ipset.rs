//! `ipset save` and `ipset list`: the entries of sets of addresses and prefixes.

use std::collections::{BTreeMap, HashMap};

use super::{Emitted, Listing, Parser, unexpected, word, words};
use crate::error::Problem;

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
    /// The name and type of each set of another type, and its number of entries.
    others: HashMap<String, (String, u64)>,
    /// The lengths of the networks that sets make of their addresses.
    lengths: HashMap<String, String>,
    /// Whether there are sets of addresses.
    known: bool,
}

impl Parser for Ipset {
    fn line(&mut self, line: &str, rows: &mut Emitted) -> Result<(), Problem> {
        let (first, rest) = word(line);
        match first {
            "create" => {
                let (set, rest) = word(rest);
                self.create(set, word(rest).0);
                self.length(set, rest);
                Ok(())
            }
            "add" => {
                let (set, rest) = word(rest);
                self.entry(line, rest, set, rows)
            }
            "Name:" => {
                self.set = rest.trim_ascii().to_owned();
                self.members = false;
                Ok(())
            }
            "Type:" => {
                let set = std::mem::take(&mut self.set);
                self.create(&set, rest.trim_ascii());
                self.set = set;
                Ok(())
            }
            "Members:" => {
                self.members = true;
                Ok(())
            }
            _ if self.members => {
                let set = std::mem::take(&mut self.set);
                let entry = self.entry(line, line, &set, rows);
                self.set = set;
                entry
            }
            "Header:" => {
                let set = std::mem::take(&mut self.set);
                self.length(&set, rest);
                self.set = set;
                Ok(())
            }
            "Revision:" | "Size" | "References:" | "Number" => Ok(()),
            _ => Err(unexpected(line, "'create SET TYPE', 'add SET ENTRY' or the output of list")),
        }
    }

    fn end(&mut self, _rows: &mut Emitted) -> Result<(), Problem> {
        let other = self.others.iter().next().filter(|_| !self.known);
        other.map_or(Ok(()), |(name, (kind, _))| {
            Err(unexpected(
                &format!("{name} {kind}"),
                "a set of type hash:ip, hash:net or bitmap:ip",
            ))
        })
    }

    fn left_out(&mut self) -> BTreeMap<String, u64> {
        let others = std::mem::take(&mut self.others).into_iter().filter(|(_, (_, n))| *n > 0);
        others.map(|(set, (kind, n))| (format!("{kind} {set}"), n)).collect()
    }
}

impl Ipset {
    fn create(&mut self, set: &str, kind: &str) {
        match TYPES.contains(&kind) {
            true => self.known = true,
            false => drop(self.others.insert(set.to_owned(), (kind.to_owned(), 0))),
        }
    }

    /// Keeps the length after `netmask` in the options of a set.
    fn length(&mut self, set: &str, options: &str) {
        let length = words(options).skip_while(|option| *option != "netmask").nth(1);
        self.lengths.extend(length.map(|length| (set.to_owned(), length.to_owned())));
    }

    /// An entry and its options.
    fn entry(
        &mut self,
        line: &str,
        text: &str,
        set: &str,
        rows: &mut Emitted,
    ) -> Result<(), Problem> {
        if let Some((_, left_out)) = self.others.get_mut(set) {
            *left_out += 1;
            return Ok(());
        }
        self.known = true;
        let (prefix, options) = word(text);
        if prefix.is_empty() {
            return Err(unexpected(line, "'add SET ENTRY'"));
        }
        let mut options = words(options);
        let mut comment = "";
        while let Some(option) = options.next() {
            match option {
                "comment" => comment = options.next().unwrap_or(""),
                // As a separate prefix it would match the addresses that the set excludes.
                "nomatch" => {
                    return Err(unexpected(line, "no exceptions (nomatch): remove the entry"));
                }
                _ => {}
            }
        }
        match self.lengths.get(set) {
            Some(length) => rows.row(&[&format!("{prefix}/{length}"), set, comment]),
            None => rows.row(&[prefix, set, comment]),
        }
        Ok(())
    }
}
