//! Prefix lists and standard access lists of Cisco IOS.

use std::collections::{BTreeMap, HashSet};
use std::net::Ipv4Addr;

use super::first_match::FirstMatch;
use super::{Emitted, Listing, Parser, unexpected, words};
use crate::error::Problem;

/// The format.
pub(super) const LISTING: Listing = Listing {
    columns: &["prefix", "list", "action", "ge", "le"],
    begins,
    parser: || Box::new(Cisco::default()),
};

const STANDARD: &str = "an entry of a prefix list or of a standard access list";
const ANY: &str = "0.0.0.0/0";

/// Whether the first line, comments aside, is an entry or the head of a list.
fn begins(lines: &[&str]) -> bool {
    let mut lines = lines.iter().filter(|line| !line.starts_with('!'));
    let Some(first) = lines.next() else { return false };
    let words: Vec<_> = words(first).take(3).collect();
    matches!(
        *words.as_slice(),
        ["ip" | "ipv6", "prefix-list", _] | ["ip", "access-list", _] | ["access-list", _, _]
    )
}

#[derive(Default)]
struct Cisco {
    /// The access list whose entries follow.
    list: String,
    /// The entries of access lists.
    entries: FirstMatch,
    /// The entries of prefix lists without their action: the first decides.
    seen: HashSet<[String; 4]>,
}

impl Parser for Cisco {
    fn line(&mut self, line: &str, rows: &mut Emitted) -> Result<(), Problem> {
        let cells: Vec<_> = words(line).collect();
        let wrong = || unexpected(line, STANDARD);
        match cells.as_slice() {
            [first, ..] if first.starts_with('!') => Ok(()),
            ["exit" | "end" | "remark", ..] | ["access-list", _, "remark", ..] => Ok(()),
            ["ip" | "ipv6", "prefix-list", _, "description", ..] => Ok(()),
            ["ip" | "ipv6", "prefix-list", list, "seq", _, entry @ ..]
            | ["ip" | "ipv6", "prefix-list", list, entry @ ..] => {
                self.prefix(list, entry, rows).ok_or_else(wrong)
            }
            ["ip", "access-list", "standard", list] => {
                self.list = (*list).to_owned();
                Ok(())
            }
            ["access-list", list, entry @ ..] if is_standard(list) => {
                self.network(list, entry, rows).ok_or_else(wrong)
            }
            [number, "remark", ..] if is_number(number) => Ok(()),
            [number, entry @ ..] if is_number(number) && !self.list.is_empty() => {
                self.network(&self.list.clone(), entry, rows).ok_or_else(wrong)
            }
            entry if !self.list.is_empty() => {
                self.network(&self.list.clone(), entry, rows).ok_or_else(wrong)
            }
            _ => Err(wrong()),
        }
    }

    fn left_out(&mut self) -> BTreeMap<String, u64> {
        self.entries.left_out()
    }
}

fn is_number(text: &str) -> bool {
    text.parse::<u32>().is_ok()
}

/// Whether the number of an access list is that of a standard one; others have two addresses an entry.
fn is_standard(list: &str) -> bool {
    list.parse::<u32>().is_ok_and(|number| matches!(number, 1..=99 | 1300..=1999))
}

impl Cisco {
    /// `permit|deny PREFIX [ge N] [le N]`.
    fn prefix(&mut self, list: &str, entry: &[&str], rows: &mut Emitted) -> Option<()> {
        let [action @ ("permit" | "deny"), prefix, lengths @ ..] = entry else { return None };
        let (ge, le) = match lengths {
            [] => ("", ""),
            ["ge", ge] => (*ge, ""),
            ["le", le] => ("", *le),
            ["ge", ge, "le", le] | ["le", le, "ge", ge] => (*ge, *le),
            _ => return None,
        };
        if self.seen.insert([list, prefix, ge, le].map(str::to_owned)) {
            rows.row(&[prefix, list, action, ge, le]);
        }
        Some(())
    }

    /// `permit|deny any|host ADDRESS|ADDRESS [WILDCARD] [log]`.
    fn network(&mut self, list: &str, entry: &[&str], rows: &mut Emitted) -> Option<()> {
        let [action @ ("permit" | "deny"), source @ ..] = entry else { return None };
        let source = match source {
            [source @ .., "log"] => source,
            source => source,
        };
        let prefix = match *source {
            ["any"] => ANY.to_owned(),
            ["host", addr] | [addr] => addr.parse::<Ipv4Addr>().ok()?.to_string(),
            [addr, wildcard] => {
                let (addr, wildcard): (Ipv4Addr, Ipv4Addr) =
                    (addr.parse().ok()?, wildcard.parse().ok()?);
                let free = wildcard.to_bits();
                // The free bits must be the last ones.
                (free & free.wrapping_add(1) == 0)
                    .then(|| format!("{addr}/{}", free.leading_zeros()))?
            }
            _ => return None,
        };
        self.entries.entry(list, &[&prefix, list, action, "", ""], rows);
        Some(())
    }
}
