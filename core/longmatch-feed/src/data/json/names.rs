//! The members of objects: which hold the prefix of a row, which are its columns, and which leave its prefix unclear.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::super::key::{self, CellKind, Found};
use super::super::layout::resembles_key;
use super::super::names::{Known, has_word, is_aside, known};
use crate::error::Problem;

/// The members of an object that are columns: their names and values.
pub(super) type Object = [(String, String)];

/// The members of an object that are arrays with addresses.
pub(super) type Lists = [(String, Array)];

/// An array without a prefix.
#[derive(Clone)]
pub(super) struct Array {
    /// The scalars; `None` if there are objects between them.
    pub(super) text: Option<String>,
    /// The addresses, and elements that are meant to be prefixes.
    pub(super) hosts: Vec<String>,
    /// The number of the other scalars.
    pub(super) others: u64,
    /// Whether the values in it are those of a row, or of several.
    pub(super) is_row: bool,
}

impl Default for Array {
    fn default() -> Self {
        Self { text: Some(String::new()), hosts: Vec::new(), others: 0, is_row: false }
    }
}

impl Array {
    pub(super) fn push(&mut self, one: &str) {
        if let Some(text) = &mut self.text {
            text.push_str(if text.is_empty() { "" } else { " " });
            text.push_str(one);
        }
    }

    /// Adds an array that is an element of this one.
    pub(super) fn append(&mut self, inner: Self) {
        match inner.text {
            Some(text) => self.push(&text),
            None => self.text = None,
        }
        self.hosts.extend(inner.hosts);
        self.others += inner.others;
        self.is_row |= inner.is_row;
    }
}

/// The number of names in an error of a document without a prefix.
const MAX_OTHERS: usize = 40;

/// Words in the names of members with an end of a range.
const ENDS: &[&str] = &[
    "first",
    "last",
    "start",
    "end",
    "min",
    "max",
    "begin",
    "broadcast",
    "low",
    "high",
    "from",
    "to",
];
/// Words in the names of members with the number of addresses.
const COUNTS: &[&str] = &["count", "size", "addresses", "hosts", "ips"];
/// Names of members with next hops, which are not rows.
const HOPS: &[&str] = &["nexthop", "nexthops", "next_hop", "next_hops", "hops"];

/// The names of the members of rows, and those of the members with prefixes.
#[derive(Clone, Default)]
pub(super) struct Names {
    /// The members that the options name for the prefix.
    pub(super) fixed: Vec<String>,
    pub(super) columns: Vec<String>,
    pub(super) seen: HashSet<String>,
    pub(super) keys: HashSet<String>,
    /// Arrays with addresses, by their names.
    pub(super) lists: BTreeMap<String, List>,
    /// Members of objects that are not rows, for an error.
    pub(super) others: BTreeSet<String>,
}

/// Arrays of one name.
#[derive(Clone, Default)]
pub(super) struct List {
    /// The addresses of those without a prefix.
    pub(super) addresses: u64,
    pub(super) has_prefixes: bool,
    /// Whether other values are beside the addresses.
    pub(super) is_mixed: bool,
}

/// The members that hold the prefix of a row, and the prefix.
pub(super) struct Key {
    pub(super) at: usize,
    two: Option<usize>,
    pub(super) text: String,
}

impl Key {
    fn one(object: &Object, at: usize) -> Self {
        Self { at, two: None, text: object[at].1.clone() }
    }

    /// An address with its length or netmask.
    fn length(object: &Object, at: usize, two: usize) -> Self {
        let length = object[two].1.trim_start_matches('/');
        Self { at, two: Some(two), text: format!("{}/{length}", object[at].1) }
    }

    /// The first and the last address of a range, also as integers.
    fn range(object: &Object, at: usize, two: usize) -> Self {
        let (first, last) = (&object[at].1, &object[two].1);
        let text = match key::range(first, last) {
            Ok(Found::Range(first, last)) => format!("{first}-{last}"),
            _ => format!("{first}-{last}"),
        };
        Self { at, two: Some(two), text }
    }

    /// Two members that the options name.
    fn pair(object: &Object, at: usize, two: usize) -> Self {
        let (one, (name, value)) = (&object[at].1, &object[two]);
        let is_length = match known(name) {
            Some(Known::Length) => true,
            Some(Known::Last) => false,
            _ => match CellKind::of(value) {
                CellKind::Integer => CellKind::of(one) == CellKind::Address,
                _ => key::is_lone_mask(value),
            },
        };
        if is_length { Self::length(object, at, two) } else { Self::range(object, at, two) }
    }

    /// Whether the key has a length, or is in a member that is called a prefix.
    pub(super) fn is_certain(&self, object: &Object) -> bool {
        let (name, value) = &object[self.at];
        matches!(CellKind::of(value), CellKind::Prefix | CellKind::Range) || is_named(name)
    }
}

impl Names {
    /// The arrays whose addresses are rows: those of a name that has prefixes too; without any row the only ones.
    pub(super) fn taken(&self, has_no_rows: bool) -> HashSet<String> {
        let all = self.lists.iter().filter(|(_, list)| list.addresses > 0);
        let is_only = has_no_rows && self.fixed.is_empty() && all.clone().count() == 1;
        let taken = all.filter(|(_, list)| list.has_prefixes || (is_only && !list.is_mixed));
        taken.map(|(name, _)| name.clone()).collect()
    }

    /// Adds the members of a row.
    pub(super) fn add(&mut self, object: &Object, key: &Key) {
        self.keys.insert(object[key.at].0.clone());
        let is_column = |at: usize| at != key.at && key.two != Some(at);
        for (_, (name, _)) in object.iter().enumerate().filter(|(at, _)| is_column(*at)) {
            self.add_column(name);
        }
    }

    pub(super) fn add_columns(&mut self, object: &Object) {
        object.iter().for_each(|(name, _)| self.add_column(name));
    }

    fn add_column(&mut self, name: &str) {
        if self.seen.insert(name.to_owned()) {
            self.columns.push(name.to_owned());
        }
    }

    /// Adds a member of an object that is not a row.
    pub(super) fn add_other(&mut self, name: &str) {
        if self.others.len() < MAX_OTHERS && !self.others.contains(name) {
            self.others.insert(name.to_owned());
        }
    }

    /// The key of an object. It depends on the names of other keys only if a value is not a prefix, or if several members
    /// have prefixes.
    pub(super) fn key(&self, object: &Object, lists: &Lists) -> Option<Key> {
        let position = |name: &String| {
            object.iter().position(|(member, _)| member == name && !has_list(lists, name))
        };
        match &*self.fixed {
            [] => {}
            [one] => return Some(Key::one(object, position(one)?)),
            [one, two, ..] => return Some(Key::pair(object, position(one)?, position(two)?)),
        }
        let is_candidate =
            |at: &usize| !has_list(lists, &object[*at].0) && self.is_key(&object[*at]);
        let best =
            (0..object.len()).filter(is_candidate).min_by_key(|at| self.rank(object, *at))?;
        if CellKind::of(&object[best].1) != CellKind::Address {
            return Some(Key::one(object, best));
        }
        let bound = |kind| {
            let is = |(name, value): &(String, String)| {
                CellKind::of(value) == CellKind::Address && known(name) == Some(kind)
            };
            object.iter().position(is)
        };
        if let Some((first, last)) = bound(Known::First).zip(bound(Known::Last)) {
            return Some(Key::range(object, first, last));
        }
        let is_length = |(at, (name, value)): (usize, &(String, String))| {
            let fits = || key::with_length((&object[best].1, ""), (value, ""), true).is_ok();
            at != best
                && match (known(name), CellKind::of(value)) {
                    (Some(Known::Length), CellKind::Address) => true,
                    (Some(Known::Length | Known::Prefix), CellKind::Integer) => fits(),
                    _ => false,
                }
        };
        let length = object.iter().enumerate().position(is_length);
        Some(
            length
                .map_or_else(|| Key::one(object, best), |length| Key::length(object, best, length)),
        )
    }

    /// Whether a member may hold the prefix of a row. A wrong one is an error of the row.
    fn is_key(&self, (name, value): &(String, String)) -> bool {
        match CellKind::of(value) {
            _ if CellKind::of(name).is_key() => false,
            CellKind::Address => !(value.starts_with("255.") && key::is_lone_mask(value)),
            kind if kind.is_key() || self.keys.contains(name) => true,
            CellKind::Integer => is_address_as_integer(value) && is_named(name),
            _ => is_wrong_key(value) && is_named(name),
        }
    }

    /// The order of the members that may hold the prefix.
    fn rank(&self, object: &Object, at: usize) -> (bool, bool, bool, bool, usize) {
        let (name, value) = &object[at];
        let is_other = is_aside(name) || matches!(known(name), Some(Known::Length | Known::Last));
        (!is_named(name), is_other, value.is_empty(), !self.keys.contains(name), at)
    }

    /// Refuses a row whose prefix is not certain.
    pub(super) fn check(&self, object: &Object, key: &Key) -> Result<(), Problem> {
        if !self.fixed.is_empty() {
            return Ok(());
        }
        let (name, value) = &object[key.at];
        if CellKind::of(value) == CellKind::Integer {
            return Err(Problem::IntegerAddress { column: name.clone(), text: value.clone() });
        }
        for (at, (other, cell)) in object.iter().enumerate() {
            if at == key.at || key.two == Some(at) {
                continue;
            }
            let columns = || format!("{name},{other}");
            if key.two.is_none()
                && CellKind::of(value) == CellKind::Address
                && is_partner(value, (other, cell), at == key.at + 1)
            {
                return Err(Problem::TwoMembers {
                    text: format!("{value} {cell}"),
                    columns: columns(),
                });
            }
            let is_other_family = cell.contains(':') != value.contains(':');
            if CellKind::of(value).is_key()
                && CellKind::of(cell).is_key()
                && (is_other_family || self.keys.contains(other))
                && !is_aside(other)
            {
                return Err(Problem::TwoPrefixes { columns: columns() });
            }
        }
        Ok(())
    }
}

/// Whether a member may be the length, the mask, the end or the size of a network with this address.
fn is_partner(addr: &str, (name, value): (&str, &str), is_next: bool) -> bool {
    let is_aside = is_aside(name);
    match CellKind::of(value) {
        CellKind::Address => {
            let ends = [(addr, value), (value, addr)];
            let is_mask = key::is_lone_mask(value) && (!is_aside || value.starts_with("255."));
            let is_range = |first: &str, last: &str| {
                first != last
                    && key::range(first, last).is_ok_and(|found| {
                        (is_next && first == addr)
                            || has_word(name, ENDS)
                            || key::prefixes(found).nth(1).is_none()
                    })
            };
            is_mask
                || ends.iter().any(|(one, two)| key::is_wildcard(one, two))
                || (!is_aside && ends.iter().any(|(one, two)| is_range(one, two)))
        }
        CellKind::Integer if !is_aside => {
            let is_network = addr.ends_with(".0") || addr.ends_with("::") || value.starts_with('/');
            (is_network && key::with_length((addr, ""), (value, ""), false).is_ok())
                || value.starts_with('/')
                || (has_word(name, COUNTS) && key::is_count(addr, value))
        }
        _ => false,
    }
}

/// Whether an integer is too large for anything but an address.
fn is_address_as_integer(text: &str) -> bool {
    text.parse::<u128>().is_ok_and(|number| number >= 1 << 24)
}

/// Whether a text is an address, a prefix or a range, or several of them.
pub(super) fn has_keys(text: &str) -> bool {
    CellKind::of(text).is_key()
        || (text.contains(['.', ':'])
            && text
                .split([',', ';', ' ', '\n'])
                .filter(|part| !part.is_empty())
                .all(|part| CellKind::of(part).is_key()))
}

/// Whether a member has addresses, also as integers.
pub(super) fn has_addresses(name: &str, value: &str) -> bool {
    has_keys(value) || (is_address_as_integer(value) && known(name) == Some(Known::Prefix))
}

/// Whether a text is a prefix or an address with an error, or several of them.
pub(super) fn is_wrong_key(text: &str) -> bool {
    let plain = text.split('%').next().unwrap_or(text);
    let is_like = plain.matches('.').count() == 3 || plain.contains("::") || plain.contains('/');
    (is_like && resembles_key(plain)) || (text.contains([',', ';', ' ']) && has_keys(text))
}

/// Whether a member is called a prefix.
pub(super) fn is_named(name: &str) -> bool {
    known(name) == Some(Known::Prefix) || name.to_ascii_lowercase().contains("prefix")
}

/// Whether a member has next hops.
pub(super) fn is_hop(name: &str) -> bool {
    HOPS.iter().any(|hop| name.eq_ignore_ascii_case(hop))
}

/// Whether a member is an array with addresses.
fn has_list(lists: &Lists, name: &str) -> bool {
    lists.iter().any(|(list, _)| list == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_with_addresses() {
        for text in ["10.0.0.0/33", "10.0.0.256", "2001:db8::/129", "fe80::1%eth0", "1.1.1.1, ::1"]
        {
            assert!(is_wrong_key(text), "{text}");
        }
        for text in ["1.2.3", "52:54:00:12:34:56", "a, b", "", "12:30:45", "see 1.1.1.1"] {
            assert!(!is_wrong_key(text), "{text}");
        }
    }
}
