//! Values that are rows of named columns: the values of files and of data read from files.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::hash::{Hash, Hasher};

use super::route_ids::renamed;
use super::{InsertError, Table};
use crate::net::{
    Family, IpPrefix, Ipv4, Ipv6, MAPPED_BITS, MAPPED_LEN, NextHopId, NextHops, Prefix, Route,
};
use crate::rib::Rib;

/// The type of a column's cells; any cell may be null.
///
/// ```
/// use longmatch::table::ColumnType;
/// assert_eq!(ColumnType::U64.to_string(), "u64");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ColumnType {
    /// UTF-8 text.
    String,
    /// Unsigned integers of 64 bits.
    U64,
    /// Signed integers of 64 bits.
    I64,
    /// Floating-point numbers of 64 bits.
    F64,
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::String => "string",
            Self::U64 => "u64",
            Self::I64 => "i64",
            Self::F64 => "f64",
        })
    }
}

/// A column of the rows of [`PrefixData`].
///
/// ```
/// use longmatch::table::{Column, ColumnType};
/// let column = Column::new("asn", ColumnType::U64);
/// assert_eq!((&*column.name, column.ty), ("asn", ColumnType::U64));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct Column {
    /// The column's name, unique in its table.
    pub name: Box<str>,
    /// The type of the column's cells.
    pub ty: ColumnType,
}

impl Column {
    /// A column of this name and type.
    #[must_use]
    pub fn new(name: impl Into<Box<str>>, ty: ColumnType) -> Self {
        Self { name: name.into(), ty }
    }
}

/// One column of a row. Text is `Box<str>` in a [`Row`] and `&str` in a cell that a file lends.
///
/// Floating-point numbers are equal if their bits are.
///
/// ```
/// use longmatch::table::Cell;
/// assert_eq!(Cell::<&str>::F64(f64::NAN), Cell::F64(f64::NAN));
/// assert_eq!(Cell::String("office").to_string(), "office");
/// assert_eq!(Cell::<&str>::Null.to_string(), "");
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Cell<S = Box<str>> {
    /// No value.
    Null,
    /// UTF-8 text.
    String(S),
    /// An unsigned integer.
    U64(u64),
    /// A signed integer.
    I64(i64),
    /// A floating-point number.
    F64(f64),
}

impl<S: AsRef<str>> Cell<S> {
    /// The same cell with borrowed text.
    ///
    /// ```
    /// use longmatch::table::Cell;
    /// let cell = Cell::String(Box::<str>::from("office"));
    /// assert_eq!(cell.borrowed(), Cell::String("office"));
    /// ```
    pub fn borrowed(&self) -> Cell<&str> {
        match self {
            Self::Null => Cell::Null,
            Self::String(text) => Cell::String(text.as_ref()),
            Self::U64(number) => Cell::U64(*number),
            Self::I64(number) => Cell::I64(*number),
            Self::F64(number) => Cell::F64(*number),
        }
    }

    /// The same cell with text of its own.
    pub fn to_owned(&self) -> Cell {
        match self.borrowed() {
            Cell::Null => Cell::Null,
            Cell::String(text) => Cell::String(text.into()),
            Cell::U64(number) => Cell::U64(number),
            Cell::I64(number) => Cell::I64(number),
            Cell::F64(number) => Cell::F64(number),
        }
    }

    /// The type of the columns that can hold this cell; `None` for null, which all can.
    pub fn ty(&self) -> Option<ColumnType> {
        match self {
            Self::Null => None,
            Self::String(_) => Some(ColumnType::String),
            Self::U64(_) => Some(ColumnType::U64),
            Self::I64(_) => Some(ColumnType::I64),
            Self::F64(_) => Some(ColumnType::F64),
        }
    }
}

impl<S: AsRef<str>> PartialEq for Cell<S> {
    fn eq(&self, other: &Self) -> bool {
        match (self.borrowed(), other.borrowed()) {
            (Cell::Null, Cell::Null) => true,
            (Cell::String(one), Cell::String(two)) => one == two,
            (Cell::U64(one), Cell::U64(two)) => one == two,
            (Cell::I64(one), Cell::I64(two)) => one == two,
            (Cell::F64(one), Cell::F64(two)) => one.to_bits() == two.to_bits(),
            _ => false,
        }
    }
}

impl<S: AsRef<str>> Eq for Cell<S> {}

impl<S: AsRef<str>> Hash for Cell<S> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        core::mem::discriminant(self).hash(state);
        match self.borrowed() {
            Cell::Null => {}
            Cell::String(text) => text.hash(state),
            Cell::U64(number) => number.hash(state),
            Cell::I64(number) => number.hash(state),
            Cell::F64(number) => number.to_bits().hash(state),
        }
    }
}

impl<S: AsRef<str>> fmt::Display for Cell<S> {
    /// Text as it is, numbers in decimal, null as nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.borrowed() {
            Cell::Null => Ok(()),
            Cell::String(text) => f.write_str(text),
            Cell::U64(number) => number.fmt(f),
            Cell::I64(number) => number.fmt(f),
            Cell::F64(number) => number.fmt(f),
        }
    }
}

/// The value of a prefix: a cell for each column.
///
/// ```
/// use longmatch::table::{Cell, Row};
/// let row: Row = [Cell::U64(64500), Cell::Null].into();
/// assert_eq!(row[0].to_string(), "64500");
/// ```
pub type Row = Box<[Cell]>;

/// Prefixes of both families with rows of named columns as their values.
///
/// Rows have a cell for each column, of the column's type or null; equal rows are stored once.
///
/// ```
/// use longmatch::IpPrefix;
/// use longmatch::table::{Cell, Column, ColumnType, PrefixData};
/// let columns = vec![Column::new("asn", ColumnType::U64), Column::new("site", ColumnType::String)];
/// let mut data = PrefixData::new(columns)?;
/// let row = [Cell::U64(64500), Cell::String("office".into())];
/// data.insert("192.0.2.0/24".parse::<IpPrefix>()?, row.into())?;
/// let row = data.table().lookup([192, 0, 2, 1]).unwrap();
/// assert_eq!(row[1].borrowed(), Cell::String("office"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct PrefixData {
    columns: Vec<Column>,
    table: Table<Row>,
}

impl PrefixData {
    /// No prefixes, with these columns; none is also allowed: a set of prefixes.
    ///
    /// # Errors
    /// When two columns have the same name.
    pub fn new(columns: Vec<Column>) -> Result<Self, ColumnError> {
        check_names(&columns)?;
        Ok(Self { columns, table: Table::new() })
    }

    /// Prefixes that share rows: the next hop with the id `n` is the `n`-th row, from 1 on.
    ///
    /// Takes the routes as they are, so it is faster than [`PrefixData::insert`] for each of them,
    /// and hashes each row once. As there, IPv4-mapped IPv6 prefixes become IPv4 ones. O(routes +
    /// cells), and for a time 4 bytes a row.
    ///
    /// # Errors
    /// When two columns have the same name, a row does not fit the columns, an id has no row, or an
    /// IPv4-mapped prefix exceeds the limit of `ipv4`.
    ///
    /// ```
    /// use longmatch::{NextHopId, Rib};
    /// use longmatch::table::{Cell, Column, ColumnType, PrefixData, Row};
    /// let office = NextHopId::new(1).unwrap();
    /// let mut ipv4 = Rib::new();
    /// ipv4.insert("192.0.2.0/24".parse()?, office)?;
    /// ipv4.insert("198.51.100.0/24".parse()?, office)?;
    /// let columns = vec![Column::new("site", ColumnType::String)];
    /// let rows: Vec<Row> = vec![[Cell::String("office".into())].into()];
    /// let data = PrefixData::from_routes(columns, rows, ipv4, Rib::new())?;
    /// assert_eq!(data.table().len(), 2);
    /// assert_eq!(data.table().lookup([192, 0, 2, 1]).unwrap()[0].to_string(), "office");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_routes(
        columns: Vec<Column>,
        rows: Vec<Row>,
        mut ipv4: Rib<Ipv4>,
        mut ipv6: Rib<Ipv6>,
    ) -> Result<Self, ColumnError> {
        check_names(&columns)?;
        let mut values = NextHops::new();
        values.reserve(rows.len());
        let mut ids = Vec::with_capacity(rows.len());
        for row in rows {
            check_row(&columns, &row)?;
            ids.push(values.acquire(row).map_err(InsertError::from)?);
        }
        unmap(&mut ipv4, &mut ipv6)?;
        retain(&mut values, &ipv4, &ids)?;
        retain(&mut values, &ipv6, &ids)?;
        // Equal rows have got one id.
        if !ids.iter().map(|id| id.get()).eq(1..=ids.len() as u32) {
            ipv4 = renamed(&ipv4, |route| ids[row_index(route)]);
            ipv6 = renamed(&ipv6, |route| ids[row_index(route)]);
        }
        ids.into_iter().for_each(|id| values.release(id));
        values.reclaim();
        let table = Table { ipv4, ipv6, values, keep_mapped: false, route_limit: usize::MAX };
        Ok(Self { columns, table })
    }

    /// No prefixes, with columns of different names; the table has a rule for IPv4-mapped addresses.
    #[cfg(feature = "file")]
    pub(super) fn with_table(columns: Vec<Column>, table: Table<Row>) -> Self {
        Self { columns, table }
    }

    /// The columns of every row, in order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The prefixes and their rows.
    pub fn table(&self) -> &Table<Row> {
        &self.table
    }

    /// Returns the prefixes and their rows.
    pub fn into_table(self) -> Table<Row> {
        self.table
    }

    /// Gives a prefix a row, in place of the one that it had.
    ///
    /// # Errors
    /// When the row does not fit the columns, or a limit of the table is reached; nothing changes
    /// then.
    pub fn insert(&mut self, prefix: impl Into<IpPrefix>, row: Row) -> Result<(), ColumnError> {
        check_row(&self.columns, &row)?;
        self.table.insert(prefix, row)?;
        Ok(())
    }
}

fn check_names(columns: &[Column]) -> Result<(), ColumnError> {
    for (i, column) in columns.iter().enumerate() {
        if columns[..i].iter().any(|before| before.name == column.name) {
            return Err(ColumnError::Name { name: column.name.clone().into() });
        }
    }
    Ok(())
}

/// Whether a row has a cell of the type of each column.
fn check_row(columns: &[Column], row: &[Cell]) -> Result<(), ColumnError> {
    if row.len() != columns.len() {
        return Err(ColumnError::Width { cells: row.len(), columns: columns.len() });
    }
    for (column, cell) in columns.iter().zip(row) {
        if cell.ty().is_some_and(|ty| ty != column.ty) {
            return Err(ColumnError::Type { column: column.clone(), cell: cell.clone() });
        }
    }
    Ok(())
}

/// The position of a route's row.
fn row_index<F: Family>(route: Route<F>) -> usize {
    route.next_hop.get() as usize - 1
}

/// Makes the IPv4-mapped prefixes IPv4 ones.
fn unmap(ipv4: &mut Rib<Ipv4>, ipv6: &mut Rib<Ipv6>) -> Result<(), InsertError> {
    let all = Prefix::from_bits_masked(MAPPED_BITS, MAPPED_LEN);
    let mapped: Vec<_> = ipv6.children(all).collect();
    for Route { prefix, next_hop } in mapped {
        if let IpPrefix::V4(unmapped) = IpPrefix::from(prefix).unmapped() {
            ipv6.remove(prefix);
            ipv4.insert(unmapped, next_hop)?;
        }
    }
    Ok(())
}

/// Adds a reference to a row's id for each route of the row.
fn retain<F: Family>(
    values: &mut NextHops<Row>,
    rib: &Rib<F>,
    ids: &[NextHopId],
) -> Result<(), ColumnError> {
    for route in rib {
        match ids.get(row_index(route)) {
            Some(id) => values.retain(*id),
            None => return Err(ColumnError::Row { id: route.next_hop, rows: ids.len() }),
        }
    }
    Ok(())
}

/// The reason why columns, or a row for them, are refused.
///
/// ```
/// use longmatch::IpPrefix;
/// use longmatch::table::{Cell, ColumnError, PrefixData};
/// let prefix: IpPrefix = "192.0.2.0/24".parse()?;
/// let refused = PrefixData::default().insert(prefix, [Cell::U64(1)].into());
/// assert_eq!(refused, Err(ColumnError::Width { cells: 1, columns: 0 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ColumnError {
    /// Two columns have the same name.
    Name {
        /// The name.
        name: String,
    },
    /// The row has another number of cells than there are columns.
    Width {
        /// The number of the row's cells.
        cells: usize,
        /// The number of columns.
        columns: usize,
    },
    /// The cell is not of the column's type.
    Type {
        /// The column.
        column: Column,
        /// The cell.
        cell: Cell,
    },
    /// A route's next hop has no row.
    Row {
        /// The id of the next hop.
        id: NextHopId,
        /// The number of rows.
        rows: usize,
    },
    /// The table refuses the prefix.
    Table(InsertError),
}

impl fmt::Display for ColumnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name { name } => write!(f, "two columns are named '{}'", name.escape_debug()),
            Self::Width { cells, columns } => {
                write!(f, "the row has {cells} cells for {columns} columns")
            }
            Self::Type { column, cell } => {
                let Column { name, ty } = column;
                let cell = alloc::format!("{cell}");
                let (name, cell) = (name.escape_debug(), cell.escape_debug());
                write!(f, "column '{name}' of type {ty} cannot hold '{cell}'")
            }
            Self::Row { id, rows } => {
                write!(f, "next hop {id} has no row: the number of rows is {rows}")
            }
            Self::Table(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ColumnError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Table(error) => Some(error),
            _ => None,
        }
    }
}

impl From<InsertError> for ColumnError {
    fn from(error: InsertError) -> Self {
        Self::Table(error)
    }
}
