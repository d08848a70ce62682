//! Prefix lists and standard access lists of Cisco IOS, and objects with networks of Cisco ASA.

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

const STANDARD: &str =
    "an entry of a prefix list, of a standard access list or of an object with networks";
const ANY: &str = "0.0.0.0/0";

/// Whether the first line, comments aside, is an entry or the head of a list.
fn begins(lines: &[&str]) -> bool {
    let mut lines = lines.iter().filter(|line| !line.starts_with('!'));
    let Some(first) = lines.next() else { return false };
    let words: Vec<_> = words(first).take(3).collect();
    matches!(
        *words.as_slice(),
        ["ip" | "ipv6", "prefix-list", _]
            | ["ip", "access-list", _]
            | ["access-list", _, _]
            | ["object" | "object-group", "network", _]
    )
}

#[derive(Default)]
struct Cisco {
    /// The access list whose entries follow.
    list: String,
    /// The object whose networks follow.
    object: String,
    /// The objects that networks name, and names of hosts, which are left out.
    left_out: BTreeMap<String, u64>,
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
            ["object" | "object-group", "network", name] => {
                (self.object, self.list) = ((*name).to_owned(), String::new());
                Ok(())
            }
            ["description" | "nat", ..] if !self.object.is_empty() => Ok(()),
            [
                word @ ("host" | "subnet" | "range" | "fqdn" | "network-object" | "group-object"),
                network @ ..,
            ] if !self.object.is_empty() => {
                self.network_of_object(word, network, rows).ok_or_else(wrong)
            }
            ["exit" | "end" | "remark", ..] | ["access-list", _, "remark", ..] => Ok(()),
            ["ip" | "ipv6", "prefix-list", _, "description", ..] => Ok(()),
            ["ip" | "ipv6", "prefix-list", list, "seq", _, entry @ ..]
            | ["ip" | "ipv6", "prefix-list", list, entry @ ..] => {
                self.prefix(list, entry, rows).ok_or_else(wrong)
            }
            ["ip", "access-list", "standard", list] => {
                (self.object, self.list) = (String::new(), (*list).to_owned());
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
        let mut all = self.entries.left_out();
        all.append(&mut self.left_out);
        all
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

    /// `host ADDRESS`, `subnet NETWORK NETMASK`, `subnet PREFIX`, `range FIRST LAST`, `network-object` before one of these or
    /// before a network; other objects and names are left out.
    fn network_of_object(
        &mut self,
        word: &str,
        network: &[&str],
        rows: &mut Emitted,
    ) -> Option<()> {
        let prefix = match (word, network) {
            ("group-object", [_]) | ("network-object", ["object", _]) | ("fqdn", [.., _]) => {
                *self.left_out.entry(self.object.clone()).or_default() += 1;
                return Some(());
            }
            ("host", [addr]) | ("network-object", ["host", addr]) => (*addr).to_owned(),
            ("range", [first, last]) => format!("{first}-{last}"),
            ("subnet" | "network-object", [prefix]) if prefix.contains('/') => (*prefix).to_owned(),
            ("subnet" | "network-object", [network, mask]) => {
                mask.parse::<Ipv4Addr>().ok()?;
                format!("{network}/{mask}")
            }
            _ => return None,
        };
        rows.row(&[&prefix, &self.object, "", "", ""]);
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
