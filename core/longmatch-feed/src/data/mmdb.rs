//! Loading of MaxMind DB files.
//!
//! A record becomes a row: its scalars are cells, in columns named by the path to them, with dots
//! between the keys of maps. Of an array the first element counts. Booleans are 1 and 0, bytes are
//! hexadecimal text, and integers beyond 64 bits are decimal text.
//!
//! The parser of the crate `maxminddb` checks every offset. The search tree it only walks: a hostile
//! tree, whose nodes have many parents, would have far more paths than nodes. So the nodes are checked
//! before.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;

use longmatch::table::{ColumnError, ColumnType};
use longmatch::{IpPrefix, NextHopId, Prefix};
use maxminddb::{Reader, WithinOptions};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::join::Joins;
use super::key::Found;
use super::store::{Raw, Store, text};
use super::text::insert;
use super::types;
use crate::error::{FeedError, Problem};
use crate::mmdb::MARKER;
use crate::options::Options;
use crate::report::Report;

/// Bytes at the end of a file that may have the metadata.
pub(crate) const METADATA: usize = 128 << 10;

/// Whether a file is a MaxMind DB.
pub(crate) fn looks_like(bytes: &[u8]) -> bool {
    let end = &bytes[bytes.len().saturating_sub(METADATA)..];
    memchr::memmem::rfind(end, MARKER).is_some()
}

/// Loads all networks of a database.
pub(crate) fn load(
    bytes: &[u8],
    options: &Options,
    store: &mut Store,
    report: &mut Report,
) -> Result<(), FeedError> {
    let whole = FeedError::whole;
    if !options.prefix.is_empty() {
        return Err(whole(Problem::FixedPrefix));
    }
    // The columns with keys, and those of the joined files. The others are known once all records were read.
    let mut names: Vec<_> = options.joins.iter().map(|join| join.column.clone()).collect();
    names.sort();
    names.dedup();
    let joins = Joins::new(options, &mut names)?;
    networks(bytes, Columns::new(options, names, joins), store, report).map_err(whole)
}

fn networks(
    bytes: &[u8],
    mut columns: Columns<'_>,
    store: &mut Store,
    report: &mut Report,
) -> Result<(), Problem> {
    let options = columns.options;
    let reader = Reader::from_source(bytes).map_err(wrong)?;
    check_tree(&reader, bytes)?;
    report.read_as = format!("MaxMind DB {}", reader.metadata().database_type);
    // So that the columns have the order of the options.
    for kept in options.columns.iter().flatten() {
        let name = kept.name.as_ref().unwrap_or(&kept.column);
        store.column(name, options.type_of(name), options.limits)?;
    }
    // Networks share records: each is decoded once.
    let mut rows = HashMap::<usize, Option<NextHopId>>::new();
    let ipv4 = IpPrefix::V6(Prefix::from_bits_masked(0, 96));
    for network in reader.networks(WithinOptions::default()).map_err(wrong)? {
        let network = network.map_err(wrong)?;
        let Some(offset) = network.offset() else { continue };
        let prefix = network.network().map_err(wrong)?;
        let prefix = IpPrefix::masked(prefix.ip(), prefix.prefix())
            .map_err(|error| Problem::Mmdb { text: error.to_string() })?;
        let id = match rows.entry(offset) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                let record = network.decode().map_err(wrong)?.unwrap_or(MmdbValue::Nothing);
                *new.insert(columns.row(&record, store)?)
            }
        };
        let Some(id) = id else { continue };
        // A record at or above the tree of IPv4 is that of all IPv4 addresses.
        if prefix.covers(ipv4) {
            let all = IpPrefix::V4(Prefix::DEFAULT);
            insert(store, report, (Found::Prefix(all), id), options.limits)?;
        }
        if prefix != ipv4 {
            insert(store, report, (Found::Prefix(prefix), id), options.limits)?;
        }
    }
    report.unjoined = columns.joins.missing();
    columns.end()
}

fn wrong(error: impl fmt::Display) -> Problem {
    Problem::Mmdb { text: error.to_string() }
}

/// Refuses a search tree in which a node has several parents, other than the root of the IPv4 tree, to
/// which the aliases of IPv4 lead.
fn check_tree(reader: &Reader<&[u8]>, bytes: &[u8]) -> Result<(), Problem> {
    let metadata = reader.metadata();
    let (nodes, size) = (metadata.node_count as usize, usize::from(metadata.record_size));
    let width = size / 4;
    let child = |node: usize, side: usize| -> Option<usize> {
        let at = bytes.get(node.checked_mul(width)?..)?.get(..width)?;
        Some(match (size, side) {
            (28, 0) => usize::from(at[3] >> 4) << 24 | number(&at[..3]),
            (28, _) => usize::from(at[3] & 15) << 24 | number(&at[4..]),
            // 24 or 32 bits, checked by the reader.
            _ => number(&at[width / 2 * side..][..width / 2]),
        })
    };
    let mut ipv4 = 0;
    if metadata.ip_version == 6 {
        for _ in 0..96 {
            if ipv4 < nodes {
                ipv4 = child(ipv4, 0).unwrap_or(nodes);
            }
        }
    }
    let mut parents = vec![false; nodes];
    for node in 0..nodes {
        for side in 0..2 {
            let Some(next) = child(node, side).filter(|next| *next < nodes) else { continue };
            let again = std::mem::replace(&mut parents[next], true);
            if next == 0 || (again && next != ipv4) {
                return Err(wrong("a node of the search tree has several parents"));
            }
        }
    }
    Ok(())
}

fn number(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |n, byte| n << 8 | usize::from(*byte))
}

/// A column that has been seen.
#[derive(Clone, Copy)]
enum Seen {
    /// It is left out.
    Other,
    /// It is kept, with this number in the store and the type that the options give it.
    Kept(u16, Option<ColumnType>),
}

/// The columns of a database, as its records show them.
struct Columns<'a> {
    options: &'a Options,
    known: HashMap<String, Seen>,
    /// All names, in order of appearance.
    names: Vec<String>,
    /// The path to the cell that is being stored.
    path: String,
    /// The columns with keys, and those of joined files.
    joined: Vec<String>,
    joins: Joins,
}

impl<'a> Columns<'a> {
    fn new(options: &'a Options, joined: Vec<String>, joins: Joins) -> Self {
        let (known, names, path) = (HashMap::new(), Vec::new(), String::new());
        Self { options, known, names, path, joined, joins }
    }

    /// Stores a record as a row, if it has the cells that the options ask for.
    fn row(
        &mut self,
        record: &MmdbValue<'_>,
        store: &mut Store,
    ) -> Result<Option<NextHopId>, Problem> {
        self.joins.find(|at| record.text(&self.joined[at]));
        let has = |(name, cell): &(String, String)| match self.joined_at(name) {
            Some(at) => self.joins.cell(at) == cell,
            None => record.text(name) == *cell,
        };
        if !self.options.filters.iter().all(has) {
            return Ok(None);
        }
        let mut cells = Vec::new();
        self.path.clear();
        self.flatten(record, store, &mut cells)?;
        let (joins, joined) = (&self.joins, &self.joined);
        for (at, name) in joined.iter().enumerate().filter(|(at, _)| joins.is_joined(*at)) {
            let Some((name, ty)) = self.kept(name) else { continue };
            let column = store.column(name, ty, self.options.limits)?;
            if let Some(cell) = types::cell(joins.cell(at), ty, name)? {
                cells.push((column, Leaf::Joined(cell)));
            }
        }
        // A key twice in one map: the first counts.
        cells.sort_by_key(|(column, _)| *column);
        cells.dedup_by_key(|(column, _)| *column);
        store.begin();
        for (column, text) in &cells {
            store.cell(*column, text.raw());
        }
        store.end(self.options.limits).map(Some)
    }

    /// The position of a joined file's column.
    fn joined_at(&self, name: &str) -> Option<usize> {
        let at = self.joined.iter().rposition(|joined| joined == name)?;
        self.joins.is_joined(at).then_some(at)
    }

    /// The name in the result and the type of a column, if it is kept.
    fn kept<'n>(&self, path: &'n str) -> Option<(&'n str, Option<ColumnType>)>
    where
        'a: 'n,
    {
        let name = match self.options.columns.as_deref() {
            None => path,
            Some(kept) => {
                let kept = kept.iter().find(|kept| kept.column == path)?;
                kept.name.as_deref().unwrap_or(path)
            }
        };
        Some((name, self.options.type_of(name)))
    }

    /// Collects the scalars of the value at `self.path`.
    fn flatten<'r>(
        &mut self,
        value: &'r MmdbValue<'_>,
        store: &mut Store,
        cells: &mut Vec<(u16, Leaf<'r>)>,
    ) -> Result<(), Problem> {
        let len = self.path.len();
        match value {
            MmdbValue::Nothing => {}
            MmdbValue::Map(entries) => {
                for (key, value) in entries {
                    if len > 0 {
                        self.path.push('.');
                    }
                    self.path.push_str(key);
                    self.flatten(value, store, cells)?;
                    self.path.truncate(len);
                }
            }
            MmdbValue::Leaf(leaf) => {
                let Seen::Kept(column, ty) = self.column(store)? else { return Ok(()) };
                let stated = ty.unwrap_or(ColumnType::String);
                let wrong = || Problem::of_type(&self.path, &leaf.text(), stated);
                cells.push((column, leaf.of_type(ty).ok_or_else(wrong)?));
            }
        }
        Ok(())
    }

    /// The column of the current path.
    fn column(&mut self, store: &mut Store) -> Result<Seen, Problem> {
        // A record that is a scalar itself.
        let path = if self.path.is_empty() { "value" } else { &self.path };
        if let Some(known) = self.known.get(path) {
            return Ok(*known);
        }
        let limits = self.options.limits;
        if self.names.len() >= limits.columns {
            return Err(Problem::TooManyColumns { limit: limits.columns });
        }
        if self.joined_at(path).is_some() {
            return Err(ColumnError::Name { name: path.to_owned() }.into());
        }
        let seen = match self.kept(path) {
            None => Seen::Other,
            Some((name, ty)) => Seen::Kept(store.column(name, ty, limits)?, ty),
        };
        self.names.push(path.to_owned());
        self.known.insert(path.to_owned(), seen);
        Ok(seen)
    }

    /// Checks that all columns to keep have been seen.
    fn end(self) -> Result<(), Problem> {
        let kept = self.options.columns.iter().flatten().map(|kept| &kept.column);
        let keys = self.options.joins.iter().map(|join| &join.column);
        let is_known =
            |name: &&String| self.known.contains_key(*name) || self.joined_at(name).is_some();
        match kept.chain(keys).find(|name| !is_known(name)) {
            Some(name) => Err(Problem::NoSuchColumn { name: name.clone(), columns: self.names }),
            None => Ok(()),
        }
    }
}

/// A record, or a part of one.
enum MmdbValue<'a> {
    /// An empty array.
    Nothing,
    Map(Vec<(&'a str, MmdbValue<'a>)>),
    Leaf(Leaf<'a>),
}

impl MmdbValue<'_> {
    /// The text of the scalar at a path; empty without one.
    fn text(&self, path: &str) -> String {
        match self.at(path) {
            Some(Self::Leaf(leaf)) => leaf.text(),
            _ => String::new(),
        }
    }

    /// The value at a path.
    fn at(&self, path: &str) -> Option<&Self> {
        let Self::Map(entries) = self else { return (path == "value").then_some(self) };
        entries.iter().find_map(|(key, value)| match path.strip_prefix(key)? {
            "" => Some(value),
            rest => value.at(rest.strip_prefix('.')?),
        })
    }
}

/// A scalar.
#[derive(Clone)]
enum Leaf<'a> {
    Text(Cow<'a, str>),
    U64(u64),
    I64(i64),
    F64(f64),
    /// A cell of a joined file.
    Joined(Raw<'a>),
}

impl Leaf<'_> {
    fn raw(&self) -> Raw<'_> {
        match self {
            Self::Text(text) => Raw::String(text),
            Self::U64(number) => Raw::U64(*number),
            Self::I64(number) => Raw::I64(*number),
            Self::F64(number) => Raw::F64(*number),
            Self::Joined(cell) => *cell,
        }
    }

    fn text(&self) -> String {
        text(self.raw())
    }

    /// The cell as one of this type, if its value allows that.
    fn of_type(&self, ty: Option<ColumnType>) -> Option<Leaf<'_>> {
        let Some(ty) = ty else { return Some(self.clone()) };
        Some(match types::convert(self.raw(), ty)? {
            Raw::Text(text) | Raw::String(text) => Leaf::Text(text.into()),
            number if ty == ColumnType::String => Leaf::Text(text(number).into()),
            Raw::U64(number) => Leaf::U64(number),
            Raw::I64(number) => Leaf::I64(number),
            Raw::F64(number) => Leaf::F64(number),
        })
    }
}

impl<'de> Deserialize<'de> for MmdbValue<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = MmdbValue<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of a record")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(MmdbValue::Leaf(Leaf::U64(value.into())))
    }

    fn visit_i32<E>(self, value: i32) -> Result<Self::Value, E> {
        Ok(MmdbValue::Leaf(match u64::try_from(value) {
            Ok(value) => Leaf::U64(value),
            Err(_) => Leaf::I64(value.into()),
        }))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(MmdbValue::Leaf(Leaf::U64(value)))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Self::Value, E> {
        Ok(MmdbValue::Leaf(match u64::try_from(value) {
            Ok(value) => Leaf::U64(value),
            Err(_) => Leaf::Text(value.to_string().into()),
        }))
    }

    fn visit_f32<E>(self, value: f32) -> Result<Self::Value, E> {
        // The shortest decimal of the narrow number, not its long expansion.
        let exact = f64::from(value);
        Ok(MmdbValue::Leaf(Leaf::F64(value.to_string().parse().unwrap_or(exact))))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(MmdbValue::Leaf(Leaf::F64(value)))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
        Ok(MmdbValue::Leaf(Leaf::Text(value.into())))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(MmdbValue::Leaf(Leaf::Text(value.to_owned().into())))
    }

    fn visit_bytes<E>(self, value: &[u8]) -> Result<Self::Value, E> {
        let hex = value.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        Ok(MmdbValue::Leaf(Leaf::Text(hex.into())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let first = seq.next_element()?;
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(first.unwrap_or(MmdbValue::Nothing))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry::<&'de str, MmdbValue<'de>>()? {
            entries.push(entry);
        }
        Ok(MmdbValue::Map(entries))
    }
}
