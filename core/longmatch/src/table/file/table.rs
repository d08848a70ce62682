//! A table over a file.

use alloc::sync::Arc;
use core::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};

use super::disk::Identity;
use super::error::FileError;
use super::memory::{self, Unchanged};
use super::open::{Opened, open};
use super::routes::Sorted;
use super::values::FileRow;
use crate::fib::Fib;
use crate::mem::Lender;
use crate::net::{Family, IpPrefix, Ipv4, Ipv6, NextHopId, Prefix};
use crate::table::lookups::canonical;
use crate::table::{Answers, Cell, Column, PrefixData, Row, Table};

/// A compiled table in a file, ready when it is open.
///
/// [`open`](Self::open) reads the file into memory of its own. [`map`](Self::map) maps it: all processes that map the
/// file share its memory. Clones share the memory in both cases.
/// Lookups are those of a [`FrozenTable`](crate::FrozenTable); a value is a [`FileRow`].
///
/// ```
/// use longmatch::IpPrefix;
/// use longmatch::file::{FileSpec, FileTable};
/// use longmatch::table::{Cell, Column, ColumnType, PrefixData};
/// let mut data = PrefixData::new(vec![Column::new("asn", ColumnType::U64)])?;
/// data.insert("10.0.0.0/8".parse::<IpPrefix>()?, [Cell::U64(64500)].into())?;
/// data.insert("10.9.0.0/16".parse::<IpPrefix>()?, [Cell::U64(64501)].into())?;
/// let table = FileTable::from_bytes(FileSpec::default().to_bytes(&data)?)?;
///
/// assert_eq!(table.lookup([10, 9, 1, 1]).map(|row| row.get(0)), Some(Cell::U64(64501)));
/// let mut rows = [None; 2];
/// table.lookup_batch(&[0x0a01_0203_u32, 0x7f00_0001], &mut rows);
/// assert_eq!(rows.map(|row| row?.by_name("asn")), [Some(Cell::U64(64500)), None]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct FileTable {
    pub(super) opened: Arc<Opened>,
    /// Where the file is and how it was opened; `None` for a table in memory.
    origin: Option<Arc<Origin>>,
}

struct Origin {
    path: PathBuf,
    identity: Option<Identity>,
    way: Way,
}

/// A way of opening a file.
#[derive(Clone, Copy)]
struct Way {
    /// The file is mapped with this proof, or read without one.
    mapped: Option<Unchanged>,
    /// Whether its checksums are verified.
    check: bool,
}

impl FileTable {
    /// Reads a file and verifies all of it: the checksums, and that no index leaves its array.
    ///
    /// The table has a copy of the file: changes of the file do not reach it. O(length of the file).
    ///
    /// ```
    /// use longmatch::file::{FileSpec, FileTable};
    /// use longmatch::table::PrefixData;
    /// # let path = std::env::temp_dir().join(format!("longmatch-open-{}.lm", std::process::id()));
    /// FileSpec::default().write(&PrefixData::default(), &path)?;
    /// assert!(FileTable::open(&path)?.is_empty());
    /// # std::fs::remove_file(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the file cannot be read, is damaged, or is of another version or engine.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, FileError> {
        Self::open_path(path.as_ref(), Way { mapped: None, check: true })
    }

    /// Reads a file without verifying its checksums.
    ///
    /// A damaged file may give wrong answers. It is still verified that no lookup can read outside of
    /// the file.
    ///
    /// ```
    /// use longmatch::file::{FileSpec, FileTable};
    /// use longmatch::table::PrefixData;
    /// # let path = std::env::temp_dir().join(format!("longmatch-trust-{}.lm", std::process::id()));
    /// FileSpec::default().write(&PrefixData::default(), &path)?;
    /// assert!(FileTable::open_trusted(&path)?.is_empty());
    /// # std::fs::remove_file(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the file cannot be read, a lookup could leave it, or it is of another version or engine.
    pub fn open_trusted(path: impl AsRef<Path>) -> Result<Self, FileError> {
        Self::open_path(path.as_ref(), Way { mapped: None, check: false })
    }

    /// Maps a file into memory and verifies all of it.
    ///
    /// All processes that map the file share its memory, and a page that nothing reads takes none.
    ///
    /// ```
    /// use longmatch::file::{FileSpec, FileTable};
    /// use longmatch::table::PrefixData;
    /// # let path = std::env::temp_dir().join(format!("longmatch-map-{}.lm", std::process::id()));
    /// FileSpec::default().write(&PrefixData::default(), &path)?;
    /// // SAFETY: only `FileSpec::write` writes files at this path, and it replaces them.
    /// let table = unsafe { FileTable::map(&path) }?;
    /// assert!(table.is_empty());
    /// # std::fs::remove_file(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Safety
    /// As long as the table or a clone of it exists, nobody, in any process, writes into the file that the path names, or
    /// shortens it, or does so to another file that [`FileTable::reload`] finds at the path. To replace a file, write
    /// another one and rename it, as [`FileSpec::write`](super::FileSpec::write) does; `cp` and `rsync --inplace` write
    /// into the file.
    ///
    /// # Errors
    /// Those of [`FileTable::open`]; also when the system cannot map files.
    pub unsafe fn map(path: impl AsRef<Path>) -> Result<Self, FileError> {
        // SAFETY: the caller promises it.
        let mapped = Some(unsafe { Unchanged::promised() });
        Self::open_path(path.as_ref(), Way { mapped, check: true })
    }

    /// Maps a file into memory without verifying its checksums.
    ///
    /// A damaged file may give wrong answers, as with [`FileTable::open_trusted`].
    ///
    /// # Safety
    /// That of [`FileTable::map`].
    ///
    /// # Errors
    /// Those of [`FileTable::open_trusted`]; also when the system cannot map files.
    pub unsafe fn map_trusted(path: impl AsRef<Path>) -> Result<Self, FileError> {
        // SAFETY: the caller promises it.
        let mapped = Some(unsafe { Unchanged::promised() });
        Self::open_path(path.as_ref(), Way { mapped, check: false })
    }

    /// Opens a table in memory and verifies all of it. The bytes are copied.
    ///
    /// ```
    /// use longmatch::file::{FileSpec, FileTable};
    /// use longmatch::table::PrefixData;
    /// let mut bytes = FileSpec::default().to_bytes(&PrefixData::default())?;
    /// assert!(FileTable::from_bytes(&*bytes)?.is_empty());
    /// bytes[100] ^= 1;
    /// assert!(FileTable::from_bytes(bytes).is_err());
    /// # Ok::<(), longmatch::file::FileError>(())
    /// ```
    ///
    /// # Errors
    /// When the bytes are damaged, or of another version or engine.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Result<Self, FileError> {
        Self::over(&memory::copied(&bytes.into())?, true)
    }

    /// Opens a table that is part of the program, such as one of `include_bytes!`, without verifying its checksums.
    ///
    /// Nothing is copied if the bytes begin at a multiple of 64. It is still verified that no lookup can
    /// read outside of them.
    ///
    /// ```
    /// use longmatch::file::{FileSpec, FileTable};
    /// use longmatch::table::PrefixData;
    /// let bytes = FileSpec::default().to_bytes(&PrefixData::default())?;
    /// assert!(FileTable::from_static(bytes.leak())?.is_empty());
    /// # Ok::<(), longmatch::file::FileError>(())
    /// ```
    ///
    /// # Errors
    /// When a lookup could leave the bytes, or they are of another version or engine.
    pub fn from_static(bytes: &'static [u8]) -> Result<Self, FileError> {
        Self::over(&memory::of_program(bytes)?, false)
    }

    pub(super) fn over(lender: &Arc<dyn Lender>, check: bool) -> Result<Self, FileError> {
        Ok(Self { opened: Arc::new(open(lender, check)?), origin: None })
    }

    fn open_path(path: &Path, way: Way) -> Result<Self, FileError> {
        let file = File::open(path).map_err(|error| FileError::io("open the file", path, error))?;
        Self::open_file(&file, path, way)
    }

    fn open_file(file: &File, path: &Path, way: Way) -> Result<Self, FileError> {
        let metadata =
            file.metadata().map_err(|error| FileError::io("read its length", path, error))?;
        let memory = match (way.mapped, metadata.len()) {
            // An empty file cannot be mapped.
            (Some(unchanged), 1..) => memory::mapped(file, way.check, unchanged)
                .map_err(|error| FileError::io("map it", path, error)),
            (_, len) => memory::read(file, len),
        };
        let table = memory.and_then(|memory| Self::over(&memory, way.check));
        let table = table.map_err(|error| error.at(path))?;
        let identity = Some(Identity::of(&metadata));
        let origin = Origin { path: path.into(), identity, way };
        Ok(Self { origin: Some(Arc::new(origin)), ..table })
    }

    /// Opens the file that the path names now, if it is another; returns whether it is.
    ///
    /// It is read or mapped, and verified or trusted, as the first one was. Clones keep the old file; so does this table on an error.
    /// A table in memory has no path, and never another file.
    ///
    /// ```
    /// use longmatch::IpPrefix;
    /// use longmatch::file::{FileSpec, FileTable};
    /// use longmatch::table::PrefixData;
    /// # let path = std::env::temp_dir().join(format!("longmatch-reload-{}.lm", std::process::id()));
    /// let mut data = PrefixData::default();
    /// FileSpec::default().write(&data, &path)?;
    /// let mut table = FileTable::open(&path)?;
    /// assert!(!table.reload()?);
    ///
    /// data.insert("10.0.0.0/8".parse::<IpPrefix>()?, [].into())?;
    /// FileSpec::default().write(&data, &path)?;
    /// assert!(table.is_empty() && table.reload()? && table.len() == 1);
    /// # std::fs::remove_file(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of opening.
    pub fn reload(&mut self) -> Result<bool, FileError> {
        let Some(Origin { path, identity, way }) = self.origin.as_deref() else {
            return Ok(false);
        };
        let failed = |error| FileError::io("open the file", path, error);
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if *identity == Some(Identity::of(&metadata)) {
            return Ok(false);
        }
        *self = Self::open_file(&file, path, *way)?;
        Ok(true)
    }

    /// The columns of every row, in order.
    pub fn columns(&self) -> &[Column] {
        &self.opened.values.columns
    }

    /// Number of routes of both families.
    pub fn len(&self) -> usize {
        self.opened.routes.len()
    }

    /// Whether there is no route.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The meaning of ids: routes, or rows.
    pub fn answers(&self) -> Answers {
        if self.opened.header.routes { Answers::Routes } else { Answers::Values }
    }

    /// The compiled IPv4 routes; [`FileTable::value`] takes their ids.
    pub fn ipv4(&self) -> &Fib<Ipv4> {
        &self.opened.ipv4
    }

    /// The compiled IPv6 routes; [`FileTable::value`] takes their ids.
    pub fn ipv6(&self) -> &Fib<Ipv6> {
        &self.opened.ipv6
    }

    /// The route that an id identifies; `None` where ids identify rows.
    ///
    /// ```
    /// use longmatch::IpPrefix;
    /// use longmatch::file::{FileSpec, FileTable};
    /// use longmatch::table::PrefixData;
    /// let mut set = PrefixData::default();
    /// set.insert("10.0.0.0/8".parse::<IpPrefix>()?, [].into())?;
    /// let table = FileTable::from_bytes(FileSpec::default().to_bytes(&set)?)?;
    /// let id = table.lookup_id([10, 1, 2, 3]).unwrap();
    /// assert_eq!(table.route(id).unwrap().0, "10.0.0.0/8".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn route(&self, id: NextHopId) -> Option<(IpPrefix, FileRow<'_>)> {
        match self.answers() {
            Answers::Routes => self.route_at(id.get() as usize - 1),
            Answers::Values => None,
        }
    }

    /// The route with a number, from 0 on: those of IPv4 in order, then IPv6.
    pub(super) fn route_at(&self, number: usize) -> Option<(IpPrefix, FileRow<'_>)> {
        let routes = &self.opened.routes;
        let ipv4 = routes.ipv4();
        let prefix = match number.checked_sub(ipv4.len()) {
            None => ipv4.prefix(number)?.into(),
            Some(number) => routes.ipv6().prefix(number)?.into(),
        };
        Some((prefix, self.row_at(routes.row(number)?)?))
    }

    /// The row that an id leads to.
    ///
    /// ```
    /// use longmatch::IpPrefix;
    /// use longmatch::file::{FileSpec, FileTable};
    /// use longmatch::table::PrefixData;
    /// let mut set = PrefixData::default();
    /// set.insert("10.0.0.0/8".parse::<IpPrefix>()?, [].into())?;
    /// let table = FileTable::from_bytes(FileSpec::default().to_bytes(&set)?)?;
    /// let id = table.lookup_id([10, 1, 2, 3]).unwrap();
    /// assert_eq!(table.row(id), table.value(id));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn row(&self, id: NextHopId) -> Option<FileRow<'_>> {
        self.row_at(self.row_number(id)?)
    }

    /// The number of the row that an id leads to: equal rows have one number.
    ///
    /// ```
    /// use longmatch::IpPrefix;
    /// use longmatch::file::{FileSpec, FileTable};
    /// use longmatch::table::PrefixData;
    /// let mut set = PrefixData::default();
    /// set.insert("10.0.0.0/8".parse::<IpPrefix>()?, [].into())?;
    /// set.insert("10.9.0.0/16".parse::<IpPrefix>()?, [].into())?;
    /// let table = FileTable::from_bytes(FileSpec::default().to_bytes(&set)?)?;
    /// let id = table.lookup_id([10, 9, 2, 3]).unwrap();
    /// assert_eq!((id.get(), table.row_number(id)), (2, Some(0)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn row_number(&self, id: NextHopId) -> Option<u32> {
        let number = match self.answers() {
            Answers::Routes => self.opened.routes.row(id.get() as usize - 1)?,
            Answers::Values => id.get() - 1,
        };
        (number < self.opened.values.rows).then_some(number)
    }

    /// Number of distinct rows.
    ///
    /// ```
    /// use longmatch::file::{FileSpec, FileTable};
    /// use longmatch::table::PrefixData;
    /// let bytes = FileSpec::default().to_bytes(&PrefixData::default())?;
    /// assert_eq!(FileTable::from_bytes(bytes)?.row_count(), 0);
    /// # Ok::<(), longmatch::file::FileError>(())
    /// ```
    pub fn row_count(&self) -> usize {
        self.opened.values.rows as usize
    }

    /// The row with a number, from 0 on.
    ///
    /// ```
    /// use longmatch::file::{FileSpec, FileTable};
    /// use longmatch::table::PrefixData;
    /// let bytes = FileSpec::default().to_bytes(&PrefixData::default())?;
    /// assert_eq!(FileTable::from_bytes(bytes)?.row_at(0), None);
    /// # Ok::<(), longmatch::file::FileError>(())
    /// ```
    #[inline]
    pub fn row_at(&self, number: u32) -> Option<FileRow<'_>> {
        self.opened.values.row(number)
    }

    /// Every prefix with its row, in order, IPv4 first.
    ///
    /// ```
    /// use longmatch::IpPrefix;
    /// use longmatch::file::{FileSpec, FileTable};
    /// use longmatch::table::PrefixData;
    /// let office: IpPrefix = "10.0.0.0/8".parse()?;
    /// let mut set = PrefixData::default();
    /// set.insert(office, [].into())?;
    /// let table = FileTable::from_bytes(FileSpec::default().to_bytes(&set)?)?;
    /// assert!(table.iter().map(|(prefix, _)| prefix).eq([office]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = (IpPrefix, FileRow<'_>)> {
        (0..self.len()).filter_map(|number| self.route_at(number))
    }

    /// The row of exactly this prefix. O(log routes).
    ///
    /// ```
    /// use longmatch::IpPrefix;
    /// use longmatch::file::{FileSpec, FileTable};
    /// use longmatch::table::PrefixData;
    /// let office: IpPrefix = "10.0.0.0/8".parse()?;
    /// let mut set = PrefixData::default();
    /// set.insert(office, [].into())?;
    /// let table = FileTable::from_bytes(FileSpec::default().to_bytes(&set)?)?;
    /// assert!(table.get(office).is_some());
    /// assert!(table.get("10.0.0.0/9".parse::<IpPrefix>()?).is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn get(&self, prefix: impl Into<IpPrefix>) -> Option<FileRow<'_>> {
        fn find<F: Family>(routes: Sorted<'_, F>, prefix: Prefix<F>) -> Option<usize> {
            Some(routes.number(routes.find(prefix)?))
        }
        let routes = &self.opened.routes;
        let number = match canonical(prefix.into(), self.opened.header.keep_mapped) {
            IpPrefix::V4(prefix) => find(routes.ipv4(), prefix)?,
            IpPrefix::V6(prefix) => find(routes.ipv6(), prefix)?,
        };
        self.row_at(routes.row(number)?)
    }

    /// Every prefix that covers an address or a prefix, its own included, with its row.
    ///
    /// Shortest first.
    ///
    /// ```
    /// use longmatch::IpPrefix;
    /// use longmatch::file::{FileSpec, FileTable};
    /// use longmatch::table::PrefixData;
    /// let office: IpPrefix = "10.0.0.0/8".parse()?;
    /// let mut set = PrefixData::default();
    /// set.insert(office, [].into())?;
    /// let table = FileTable::from_bytes(FileSpec::default().to_bytes(&set)?)?;
    /// let lab: IpPrefix = "10.9.0.0/16".parse()?;
    /// assert!(table.cover(lab).map(|(prefix, _)| prefix).eq([office]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cover(
        &self,
        prefix: impl Into<IpPrefix>,
    ) -> impl Iterator<Item = (IpPrefix, FileRow<'_>)> {
        fn all<F: Family>(routes: Sorted<'_, F>, prefix: Prefix<F>) -> Vec<usize> {
            let mut found = Vec::new();
            let mut next = Some(prefix);
            while let Some(at) = next.and_then(|prefix| routes.longest(prefix)) {
                found.push(routes.number(at));
                next = routes.prefix(at).and_then(Prefix::parent);
            }
            found
        }
        let routes = &self.opened.routes;
        let found = match canonical(prefix.into(), self.opened.header.keep_mapped) {
            IpPrefix::V4(prefix) => all(routes.ipv4(), prefix),
            IpPrefix::V6(prefix) => all(routes.ipv6(), prefix),
        };
        found.into_iter().rev().filter_map(|number| self.route_at(number))
    }

    /// Every prefix that `prefix` covers, its own included, with its row, in order.
    ///
    /// ```
    /// use longmatch::IpPrefix;
    /// use longmatch::file::{FileSpec, FileTable};
    /// use longmatch::table::PrefixData;
    /// let office: IpPrefix = "10.0.0.0/8".parse()?;
    /// let mut set = PrefixData::default();
    /// set.insert(office, [].into())?;
    /// let table = FileTable::from_bytes(FileSpec::default().to_bytes(&set)?)?;
    /// let all: IpPrefix = "0.0.0.0/0".parse()?;
    /// assert!(table.children(all).map(|(prefix, _)| prefix).eq([office]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn children(
        &self,
        prefix: impl Into<IpPrefix>,
    ) -> impl Iterator<Item = (IpPrefix, FileRow<'_>)> {
        fn all<F: Family>(routes: Sorted<'_, F>, prefix: Prefix<F>) -> core::ops::Range<usize> {
            let found = routes.children(prefix);
            routes.number(found.start)..routes.number(found.end)
        }
        let routes = &self.opened.routes;
        let found = match canonical(prefix.into(), self.opened.header.keep_mapped) {
            IpPrefix::V4(prefix) => all(routes.ipv4(), prefix),
            IpPrefix::V6(prefix) => all(routes.ipv6(), prefix),
        };
        found.filter_map(|number| self.route_at(number))
    }

    /// Copies the data that the file was compiled from.
    ///
    /// ```
    /// use longmatch::IpPrefix;
    /// use longmatch::file::{FileSpec, FileTable};
    /// use longmatch::table::PrefixData;
    /// let mut set = PrefixData::default();
    /// set.insert("10.0.0.0/8".parse::<IpPrefix>()?, [].into())?;
    /// let table = FileTable::from_bytes(FileSpec::default().to_bytes(&set)?)?;
    /// assert_eq!(table.to_data().table().len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_data(&self) -> PrefixData {
        let mut table: Table<Row> = match self.opened.header.keep_mapped {
            true => Table::new().keep_mapped(),
            false => Table::new(),
        };
        for (prefix, row) in self.iter() {
            let row: Row = row.iter().map(|cell: Cell<&str>| cell.to_owned()).collect();
            // A table holds as many routes and rows as a file.
            let inserted = table.insert(prefix, row);
            debug_assert!(inserted.is_ok(), "{inserted:?}");
        }
        PrefixData::with_table(self.columns().into(), table)
    }
}

impl fmt::Debug for FileTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.origin.as_ref().map(|origin| &origin.path);
        f.debug_struct("FileTable")
            .field("path", &path)
            .field("routes", &self.len())
            .field("rows", &self.row_count())
            .field("columns", &self.columns())
            .field("ipv4", self.ipv4())
            .field("ipv6", self.ipv6())
            .finish()
    }
}
