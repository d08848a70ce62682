//! The rows and prefixes that have been read: each distinct row once, as bytes.
//!
//! A row is a sequence of its cells other than null, by rising number of their columns. A cell is the
//! column's number (2 bytes), a tag (1) and the value: a number of 8 bytes, or text with its length
//! (4).

use std::collections::{BTreeMap, HashSet};
use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use longmatch::table::ColumnType;
use longmatch::{IpPrefix, Ipv4, Ipv6, NextHopId, Rib};

use super::key::Found;
use crate::entries::ListEntries;
use crate::error::{FeedError, Problem};
use crate::option_values::Duplicates;
use crate::options::Limits;
use crate::report::Report;
use crate::sink::Sink;

/// A cell while it is read; its text may still become a number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Raw<'a> {
    /// Text whose type is inferred from all cells of the column.
    Text(&'a str),
    /// A string.
    String(&'a str),
    U64(u64),
    I64(i64),
    F64(f64),
}

/// The text of a cell.
pub(crate) fn text(cell: Raw<'_>) -> String {
    match cell {
        Raw::Text(text) | Raw::String(text) => text.to_owned(),
        Raw::U64(number) => number.to_string(),
        Raw::I64(number) => number.to_string(),
        Raw::F64(number) => number.to_string(),
    }
}

const TEXT: u8 = 0;
const STRING: u8 = 1;
const U64: u8 = 2;
const I64: u8 = 3;
const F64: u8 = 4;

/// A column of the store.
#[derive(Debug)]
pub(crate) struct StoreColumn {
    pub(crate) name: String,
    /// The type that the options give it.
    pub(crate) ty: Option<ColumnType>,
}

/// All rows and prefixes that have been read.
#[derive(Default)]
pub(crate) struct Store {
    columns: Vec<StoreColumn>,
    /// The distinct rows in sequence, and their ends.
    bytes: Vec<u8>,
    ends: Vec<usize>,
    numbers: HashTable<Slot>,
    hasher: DefaultHashBuilder,
    /// The row being written.
    row: Vec<u8>,
    ipv4: Rib<Ipv4>,
    ipv6: Rib<Ipv6>,
    /// Which of several rows for a prefix counts.
    duplicates: Duplicates,
    /// Rows before the last one of a prefix, if all are wanted.
    earlier: Vec<(IpPrefix, NextHopId)>,
    /// The prefixes with a row of this input that does not count.
    repeated: HashSet<IpPrefix>,
    /// The addresses, if only their set is read: then there are no prefixes and no rows.
    set: Option<ListEntries>,
    /// Whether a prefix has lost its row, so that rows may be out of use.
    lost: bool,
}

/// A row in the hash table: its number, and its hash, so that the table grows without the rows.
#[derive(Clone, Copy)]
struct Slot {
    number: u32,
    hash: u32,
}

impl Slot {
    /// The hash table takes the place of a row from the low bits and its tag from the high ones.
    fn spread(hash: u32) -> u64 {
        u64::from(hash) << 32 | u64::from(hash)
    }
}

/// What became of an inserted prefix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Inserted {
    /// No row was lost.
    Kept,
    /// The prefix had a row with other cells, and one of the two does not count; whether that is the first such
    /// row of the prefix.
    Lost { first: bool },
}

impl Store {
    /// A store of a set of addresses.
    pub(crate) fn of_set(entries: ListEntries) -> Self {
        Self { set: Some(entries), ..Self::default() }
    }

    /// Whether only the set of addresses is read.
    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        self.set.is_some()
    }

    /// The set of addresses, to which a caller adds.
    #[inline]
    pub(crate) fn set(&mut self) -> Option<&mut ListEntries> {
        self.set.as_mut()
    }

    /// The set of addresses.
    pub(crate) fn into_set(self) -> ListEntries {
        self.set.unwrap_or_default()
    }

    /// Adds a key to the set.
    pub(crate) fn add(&mut self, found: Found) {
        if let Some(set) = &mut self.set {
            set.add(found);
        }
    }

    /// The number of the column of this name, which is new or has been seen.
    pub(crate) fn column(
        &mut self,
        name: &str,
        ty: Option<ColumnType>,
        limits: Limits,
    ) -> Result<u16, Problem> {
        if let Some(known) = self.columns.iter().position(|column| column.name == name) {
            self.columns[known].ty = self.columns[known].ty.or(ty);
            return Ok(known as u16);
        }
        let limit = limits.columns.min(usize::from(u16::MAX));
        if self.columns.len() >= limit {
            return Err(Problem::TooManyColumns { limit });
        }
        self.columns.push(StoreColumn { name: name.to_owned(), ty });
        Ok(self.columns.len() as u16 - 1)
    }

    pub(crate) fn columns(&self) -> &[StoreColumn] {
        &self.columns
    }

    /// Begins an input; `duplicates` decides which of its rows count.
    pub(crate) fn begin_input(&mut self, duplicates: Duplicates) {
        self.duplicates = duplicates;
        self.repeated.clear();
    }

    /// Begins a row.
    #[inline]
    pub(crate) fn begin(&mut self) {
        self.row.clear();
    }

    /// Adds a cell to the row. Columns come in rising order, nulls are left out.
    #[inline]
    pub(crate) fn cell(&mut self, column: u16, cell: Raw<'_>) {
        let (tag, bytes) = match cell {
            Raw::Text(text) => return self.text(column, TEXT, text),
            Raw::String(text) => return self.text(column, STRING, text),
            Raw::U64(number) => (U64, number.to_le_bytes()),
            Raw::I64(number) => (I64, number.to_le_bytes()),
            Raw::F64(number) => (F64, number.to_bits().to_le_bytes()),
        };
        let [low, high] = column.to_le_bytes();
        self.row.extend_from_slice(&[low, high, tag]);
        self.row.extend_from_slice(&bytes);
    }

    #[inline]
    fn text(&mut self, column: u16, tag: u8, text: &str) {
        let [low, high] = column.to_le_bytes();
        self.row.extend_from_slice(&[low, high, tag]);
        self.row.extend_from_slice(&(text.len() as u32).to_le_bytes());
        self.row.extend_from_slice(text.as_bytes());
    }

    /// Ends the row. Returns the id of equal rows.
    #[inline]
    pub(crate) fn end(&mut self, limits: Limits) -> Result<NextHopId, Problem> {
        let hash = self.hasher.hash_one(&*self.row) as u32;
        let (bytes, ends, row) = (&self.bytes, &self.ends, &*self.row);
        let is_row = |slot: &Slot| slot.hash == hash && slice(bytes, ends, slot.number) == row;
        if let Some(slot) = self.numbers.find(Slot::spread(hash), is_row) {
            return Ok(id(slot.number));
        }
        // The bytes, the end and the place in the hash table.
        let size = (self.bytes.len() + self.row.len() + 32 * (self.ends.len() + 1)) as u64;
        if size > limits.rows || self.ends.len() as u64 >= u64::from(u32::MAX) - 1 {
            return Err(Problem::TooManyRows { limit: limits.rows });
        }
        let number = self.ends.len() as u32;
        self.bytes.extend_from_slice(&self.row);
        self.ends.push(self.bytes.len());
        let slot = Slot { number, hash };
        self.numbers.insert_unique(Slot::spread(hash), slot, |slot| Slot::spread(slot.hash));
        Ok(id(number))
    }

    /// Gives a prefix a row. If it had another one, the options decide between them.
    #[inline]
    pub(crate) fn insert(
        &mut self,
        prefix: IpPrefix,
        row: NextHopId,
        limits: Limits,
    ) -> Result<Inserted, Problem> {
        let Some(old) = self.put(prefix, row)?.filter(|old| *old != row) else {
            return Ok(Inserted::Kept);
        };
        match self.duplicates {
            Duplicates::Last => self.lost = true,
            Duplicates::All => {
                self.earlier.push((prefix, old));
                return Ok(Inserted::Kept);
            }
            Duplicates::First => drop(self.put(prefix, old)?),
            Duplicates::Join => {
                let joined = self.join(old, row, limits)?;
                self.put(prefix, joined)?;
                self.lost = true;
                return Ok(Inserted::Kept);
            }
            Duplicates::Error => {
                self.put(prefix, old)?;
                return Err(Problem::Duplicate { text: prefix.to_string() });
            }
        }
        Ok(Inserted::Lost { first: self.repeated.insert(prefix.unmapped()) })
    }

    /// Gives a prefix a row in place of an earlier one.
    pub(crate) fn replace(&mut self, prefix: IpPrefix, row: NextHopId) -> Result<(), Problem> {
        self.lost |= self.put(prefix, row)?.is_some_and(|old| old != row);
        Ok(())
    }

    /// Gives a prefix a row. Returns its earlier one.
    #[inline]
    fn put(&mut self, prefix: IpPrefix, row: NextHopId) -> Result<Option<NextHopId>, Problem> {
        let old = match prefix.unmapped() {
            IpPrefix::V4(prefix) => self.ipv4.insert(prefix, row),
            IpPrefix::V6(prefix) => self.ipv6.insert(prefix, row),
        };
        old.map_err(|full| Problem::Column(longmatch::table::InsertError::from(full).into()))
    }

    /// The row whose cells have the texts of two rows.
    fn join(
        &mut self,
        one: NextHopId,
        two: NextHopId,
        limits: Limits,
    ) -> Result<NextHopId, Problem> {
        let texts = |row| self.cells(row).map(|(column, cell)| (column, text(cell)));
        let mut joined: BTreeMap<u16, String> = texts(one).collect();
        for (column, text) in texts(two) {
            let known = joined.entry(column).or_default();
            if known.is_empty() {
                *known = text;
                continue;
            }
            // A part may be the text of joined rows.
            for part in text.split(';') {
                if !known.split(';').any(|one| one == part) {
                    known.push(';');
                    known.push_str(part);
                }
            }
        }
        self.begin();
        for (column, text) in &joined {
            self.cell(*column, Raw::Text(text));
        }
        self.end(limits)
    }

    /// Removes a prefix, which may be absent.
    pub(crate) fn remove(&mut self, prefix: IpPrefix) {
        self.lost = true;
        match prefix.unmapped() {
            IpPrefix::V4(prefix) => self.ipv4.remove(prefix),
            IpPrefix::V6(prefix) => self.ipv6.remove(prefix),
        };
    }

    /// Removes the prefixes inside a prefix, except itself. Returns their number.
    #[inline]
    pub(crate) fn remove_inside(&mut self, prefix: IpPrefix) -> u64 {
        let removed = match prefix.unmapped() {
            IpPrefix::V4(prefix) => remove_inside(&mut self.ipv4, prefix),
            IpPrefix::V6(prefix) => remove_inside(&mut self.ipv6, prefix),
        };
        self.lost |= removed > 0;
        removed
    }

    /// The id of each row, in order; `None` for rows that no prefix has any more.
    pub(crate) fn used(&self) -> Vec<Option<NextHopId>> {
        let mut used: Vec<_> = (0..self.ends.len() as u32).map(|n| Some(id(n))).collect();
        if self.lost {
            used.fill(None);
            let ipv4 = self.ipv4.iter().map(|route| route.next_hop);
            let all = ipv4.chain(self.ipv6.iter().map(|route| route.next_hop));
            let all = all.chain(self.earlier.iter().map(|(_, row)| *row));
            all.for_each(|id| used[id.get() as usize - 1] = Some(id));
        }
        used
    }

    /// Sends the prefixes to a sink of routes, in order. The next hop is the text of the row's cells, separated by
    /// commas; without columns the prefix itself.
    pub(crate) fn announce(
        self,
        sink: &mut dyn Sink,
        report: &mut Report,
    ) -> Result<(), FeedError> {
        let texts: Vec<_> = self.used().iter().map(|id| id.map(|id| self.row_text(id))).collect();
        let is_list = self.columns.is_empty();
        let ipv4 = self.ipv4.iter().map(|route| (IpPrefix::from(route.prefix), route.next_hop));
        let ipv6 = self.ipv6.iter().map(|route| (IpPrefix::from(route.prefix), route.next_hop));
        for (prefix, id) in self.earlier.iter().copied().chain(ipv4).chain(ipv6) {
            report.count_announced(prefix);
            let announced = match texts.get(id.get() as usize - 1) {
                Some(Some(text)) if !is_list => sink.announce(prefix, text),
                _ => sink.announce(prefix, &prefix.to_string()),
            };
            announced.map_err(|error| FeedError::whole(Problem::Sink(error)))?;
        }
        Ok(())
    }

    /// The texts of a row's cells, separated by commas.
    fn row_text(&self, row: NextHopId) -> String {
        let mut cells = self.cells(row).peekable();
        let texts = (0..self.columns.len() as u16).map(|column| {
            let cell = cells.next_if(|(at, _)| *at == column);
            let text = cell.map_or_else(String::new, |(_, cell)| text(cell));
            // Otherwise `x,y` and `z` were the same as `x` and `y,z`.
            let is_unclear = self.columns.len() > 1 && text.contains([',', '"']);
            if is_unclear { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
        });
        texts.collect::<Vec<_>>().join(",")
    }

    /// The prefixes of each family.
    pub(crate) fn lens(&self) -> (usize, usize) {
        (self.ipv4.len(), self.ipv6.len())
    }

    /// The prefixes; their next hops are the ids of their rows.
    pub(crate) fn into_routes(self) -> (Rib<Ipv4>, Rib<Ipv6>) {
        (self.ipv4, self.ipv6)
    }

    /// The cells of a row other than null, by rising columns.
    pub(crate) fn cells(&self, row: NextHopId) -> RowCells<'_> {
        RowCells { rest: slice(&self.bytes, &self.ends, row.get() - 1) }
    }
}

fn id(number: u32) -> NextHopId {
    NextHopId::new(number + 1).expect("one more than a number is not zero")
}

#[inline]
fn slice<'a>(bytes: &'a [u8], ends: &[usize], number: u32) -> &'a [u8] {
    let number = number as usize;
    let start = if number == 0 { 0 } else { ends[number - 1] };
    &bytes[start..ends[number]]
}

fn remove_inside<F: longmatch::Family>(rib: &mut Rib<F>, prefix: longmatch::Prefix<F>) -> u64 {
    let mut inside = rib.children(prefix).map(|route| route.prefix).filter(|one| *one != prefix);
    let Some(first) = inside.next() else { return 0 };
    let mut all = vec![first];
    all.extend(inside);
    for one in &all {
        rib.remove(*one);
    }
    all.len() as u64
}

/// The cells of a row.
#[derive(Clone)]
pub(crate) struct RowCells<'a> {
    rest: &'a [u8],
}

impl<'a> RowCells<'a> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*taken)
    }

    fn text(&mut self) -> Option<&'a str> {
        let len = u32::from_le_bytes(self.take()?) as usize;
        let (text, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        // The bytes were written from a `str`.
        str::from_utf8(text).ok()
    }
}

impl<'a> Iterator for RowCells<'a> {
    type Item = (u16, Raw<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let [low, high, tag] = self.take()?;
        let cell = match tag {
            TEXT => Raw::Text(self.text()?),
            STRING => Raw::String(self.text()?),
            U64 => Raw::U64(u64::from_le_bytes(self.take()?)),
            I64 => Raw::I64(i64::from_le_bytes(self.take()?)),
            _ => Raw::F64(f64::from_bits(u64::from_le_bytes(self.take()?))),
        };
        Some((u16::from_le_bytes([low, high]), cell))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rows_are_stored_once() {
        let (mut store, limits) = (Store::default(), Limits::default());
        let mut row = |cells: &[(u16, Raw<'_>)]| {
            store.begin();
            cells.iter().for_each(|(column, cell)| store.cell(*column, *cell));
            store.end(limits).unwrap()
        };
        let one = [(0, Raw::Text("a")), (2, Raw::U64(u64::MAX))];
        let two = [(0, Raw::String("a")), (1, Raw::I64(-1)), (2, Raw::F64(0.5))];
        let ids = [row(&one), row(&two), row(&[]), row(&one), row(&two), row(&[])];
        assert_eq!(ids[..3], ids[3..]);
        assert_eq!(store.used().len(), 3);
        assert!(store.cells(ids[0]).eq(one) && store.cells(ids[1]).eq(two));
        assert_eq!(store.cells(ids[2]).count(), 0);
    }

    #[test]
    fn columns_and_rows_are_limited() {
        let mut store = Store::default();
        let limits = Limits { columns: 2, rows: 100, ..Limits::default() };
        assert_eq!(store.column("a", None, limits), Ok(0));
        assert_eq!(store.column("b", None, limits), Ok(1));
        assert_eq!(store.column("a", Some(ColumnType::U64), limits), Ok(0));
        assert_eq!(store.columns()[0].ty, Some(ColumnType::U64));
        assert_eq!(store.column("c", None, limits), Err(Problem::TooManyColumns { limit: 2 }));
        let full = (0..9).find(|n| {
            store.begin();
            store.cell(0, Raw::U64(*n));
            store.end(limits).is_err()
        });
        assert_eq!(full, Some(2), "43 bytes a row");
    }
}
