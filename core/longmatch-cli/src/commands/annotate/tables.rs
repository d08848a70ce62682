//! The tables that addresses are looked up in, and the text of what they add.

use std::path::Path;

use longmatch::file::{FileSpec, FileTable};
use longmatch::rov::Validity;
use longmatch::table::{Cell, Column, ColumnType, PrefixData};
use longmatch::{Answers, IpPrefix, NextHopId};
use longmatch_feed::{DataLoader, printable};

use super::origins::{self, Origins};
use crate::args::AnnotateArgs;
use crate::cells::{Style, write_cell, write_prefix};
use crate::error::{Advice, CliError};
use crate::families::Families;
use crate::paths::display_name;
use crate::reports::print_report;
use crate::{default_table, lists, prefix_data, table_file};

/// A column that is added.
pub struct Added {
    /// Its name in the prefix data, or that of `--prefix-as` or `--flag`.
    pub name: String,
    from: From,
    /// The text of a cell without a value.
    nothing: Vec<u8>,
}

enum From {
    /// A column of a table, with the texts of its rows by the rows' numbers.
    Rows { table: usize, column: usize, texts: Texts, ty: ColumnType },
    /// The longest matching prefix of all tables.
    Prefix,
    /// The state of the matched route of a table.
    State { table: usize, origins: Box<Origins> },
    /// Whether a prefix matches.
    Flag,
}

impl Added {
    /// Whether it is a column of the prefix data.
    pub fn is_column(&self) -> bool {
        matches!(self.from, From::Rows { .. })
    }

    /// The option that names it.
    pub fn option(&self) -> &'static str {
        match self.from {
            From::Rows { .. } => "--as",
            From::Prefix => "--prefix-as",
            From::State { .. } => "--rov-as",
            From::Flag => "--flag",
        }
    }

    /// Its type in the header of a log of Zeek.
    pub fn zeek_type(&self) -> &'static str {
        match self.from {
            From::Rows { ty: ColumnType::U64, .. } => "count",
            From::Rows { ty: ColumnType::I64, .. } => "int",
            From::Rows { ty: ColumnType::F64, .. } => "double",
            From::Prefix => "subnet",
            _ => "string",
        }
    }
}

/// The value that is added for one address.
pub enum AddedValue {
    /// Nothing: no prefix matches.
    Nothing,
    /// The row with this number, of the table of [`AnnotationTables::column`].
    Row(u32),
    /// The longest matching prefix.
    Prefix(IpPrefix),
    /// The state of the matched route.
    State(Validity),
    /// Whether a prefix matches.
    Flag(bool),
}

/// Texts one after the other, and where each ends.
#[derive(Default)]
struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Texts {
    /// Writes the cells of a column; `nothing` is the text of an empty one.
    fn new(table: &FileTable, column: usize, style: Style, nothing: &[u8]) -> Self {
        let mut texts = Self::default();
        #[cfg(feature = "columnar")]
        if style == Style::Typed {
            return texts;
        }
        for number in 0..table.row_count() as u32 {
            let cell = table.row_at(number).map_or(Cell::Null, |row| row.get(column));
            match cell {
                Cell::Null => texts.bytes.extend_from_slice(nothing),
                cell => write_cell(cell, style, &mut texts.bytes),
            }
            texts.ends.push(texts.bytes.len());
        }
        texts
    }

    fn get(&self, number: u32) -> &[u8] {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[number]]
    }
}

/// The compiled tables.
pub struct AnnotationTables {
    tables: Vec<FileTable>,
    /// The columns added for each address, in order.
    pub added: Vec<Added>,
    style: Style,
}

/// The matches of one address: an id of each table.
pub type Matches<'a> = &'a [Option<NextHopId>];

impl AnnotationTables {
    /// Loads the tables of the command line and chooses the columns to add; `empty` is the text of a cell
    /// without a value.
    ///
    /// # Errors
    /// If a file cannot be loaded, or a column does not exist or is in two tables.
    pub fn load(args: &AnnotateArgs, style: Style, empty: &[u8]) -> Result<Self, CliError> {
        let prefixes = args.prefix_as.is_some() || !args.vrps.is_empty();
        let tables = compiled(args, prefixes)?;
        let mut added = Vec::new();
        let filters = args.filters();
        if !filters || !args.add.is_empty() || !args.names.is_empty() {
            added = choose(args, &tables, style, empty)?;
        }
        let state = match args.vrps.is_empty() {
            true => None,
            false => Some((args.rov_as.clone(), state(args, &tables)?)),
        };
        let prefix = args.prefix_as.clone().map(|name| (name, From::Prefix));
        let flag = args.flag.clone().map(|name| (name, From::Flag));
        for (name, from) in prefix.into_iter().chain(state).chain(flag) {
            let nothing = nothing(args, style, empty, ColumnType::String);
            added.push(Added { name, from, nothing });
        }
        if added.is_empty() && !filters {
            return Err(CliError::new(
                "the prefix data have no columns to add: add the prefix with --prefix-as or a flag with --flag, or filter lines with --match",
            ));
        }
        Ok(Self { tables, added, style })
    }

    /// Number of tables.
    pub fn len(&self) -> usize {
        self.tables.len()
    }

    /// Looks up addresses of both families; appends the ids of table after table.
    pub fn lookup(&self, ipv4: &[u32], ipv6: &[u128]) -> Vec<[Vec<Option<NextHopId>>; 2]> {
        let each = self.tables.iter().map(|table| {
            let mut ids = [vec![None; ipv4.len()], vec![None; ipv6.len()]];
            table.ipv4().lookup_batch(ipv4, &mut ids[0]);
            table.ipv6().lookup_batch(ipv6, &mut ids[1]);
            ids
        });
        each.collect()
    }

    /// The table and the number of the column of added column `i`; `None` for the prefix, the state and the flag.
    #[cfg(feature = "columnar")]
    pub fn column(&self, i: usize) -> Option<(&FileTable, usize)> {
        match self.added[i].from {
            From::Rows { table, column, .. } => Some((&self.tables[table], column)),
            From::Prefix | From::State { .. } | From::Flag => None,
        }
    }

    /// Whether added column `i` is the flag.
    #[cfg(feature = "columnar")]
    pub fn is_flag(&self, i: usize) -> bool {
        matches!(self.added[i].from, From::Flag)
    }

    /// The value of added column `i` for one address.
    #[inline]
    pub fn value(&self, i: usize, matches: Matches<'_>) -> AddedValue {
        match &self.added[i].from {
            From::Rows { table, .. } => {
                let number = matches[*table].and_then(|id| self.tables[*table].row_number(id));
                number.map_or(AddedValue::Nothing, AddedValue::Row)
            }
            From::Prefix => {
                let prefixes = self.tables.iter().zip(matches);
                let prefixes = prefixes.filter_map(|(table, id)| table.route((*id)?));
                let longest = prefixes.map(|(prefix, _)| prefix).max_by_key(|prefix| prefix.len());
                longest.map_or(AddedValue::Nothing, AddedValue::Prefix)
            }
            From::State { table, origins } => {
                let state = matches[*table].and_then(|id| origins.state(&self.tables[*table], id));
                state.map_or(AddedValue::Nothing, AddedValue::State)
            }
            From::Flag => AddedValue::Flag(matches.iter().any(Option::is_some)),
        }
    }

    /// Writes added column `i` for one address.
    #[inline]
    pub fn write(&self, i: usize, matches: Matches<'_>, out: &mut Vec<u8>) {
        let added = &self.added[i];
        match (self.value(i, matches), &added.from) {
            (AddedValue::Row(number), From::Rows { texts, .. }) => {
                out.extend_from_slice(texts.get(number));
            }
            (AddedValue::Prefix(prefix), _) => write_prefix(prefix, self.style, out),
            (AddedValue::State(state), _) => {
                write_cell(Cell::String(&state.to_string()), self.style, out);
            }
            (AddedValue::Flag(flag), _) => {
                out.extend_from_slice(if flag { b"true" } else { b"false" })
            }
            _ => out.extend_from_slice(&added.nothing),
        }
    }

    /// Writes added column `i` for one address without the delimited text's quotes, as a part of a cell.
    pub fn write_bare(&self, i: usize, matches: Matches<'_>, out: &mut Vec<u8>) {
        match (self.value(i, matches), &self.added[i].from) {
            (AddedValue::Row(number), From::Rows { table, column, .. }) => {
                let row = self.tables[*table].row_at(number);
                let cell = row.as_ref().map_or(Cell::Null, |row| row.get(*column));
                write_cell(cell, Style::Printable, out);
            }
            _ => self.write(i, matches, out),
        }
    }

    /// Writes a text as a cell.
    pub fn write_text(&self, text: &str, out: &mut Vec<u8>) {
        write_cell(Cell::String(text), self.style, out);
    }

    /// Whether other tables add the same columns.
    pub fn adds_as(&self, other: &Self) -> bool {
        let names = |tables: &Self| -> Vec<_> {
            tables.added.iter().map(|added| added.name.clone()).collect()
        };
        names(self) == names(other)
    }
}

/// The text of a cell without a value: that of `--default`, as a number where the column has numbers, else
/// the format's.
fn nothing(args: &AnnotateArgs, style: Style, empty: &[u8], ty: ColumnType) -> Vec<u8> {
    let mut text = Vec::new();
    match (&args.default, style) {
        (None, _) => text.extend_from_slice(empty),
        (Some(number), Style::Json)
            if ty != ColumnType::String && number.parse::<serde_json::Number>().is_ok() =>
        {
            text.extend_from_slice(number.as_bytes());
        }
        (Some(value), _) => write_cell(Cell::String(value), style, &mut text),
    }
    text
}

/// The state of the matched route, of the table with the column of the origins.
fn state(args: &AnnotateArgs, tables: &[FileTable]) -> Result<From, CliError> {
    let (table, column) = origins::column(args, tables)?;
    let origins = Origins::load(args, &tables[table], column)?;
    Ok(From::State { table, origins: Box::new(origins) })
}

/// The columns named, or all, with the texts of their rows.
fn choose(
    args: &AnnotateArgs,
    tables: &[FileTable],
    style: Style,
    empty: &[u8],
) -> Result<Vec<Added>, CliError> {
    let names = &args.add;
    let all = || tables.iter().flat_map(|table| table.columns()).map(|column| &*column.name);
    let wanted: Vec<&str> = match names.is_empty() {
        true => all().collect(),
        false => names.iter().map(String::as_str).collect(),
    };
    let mut added = Vec::new();
    for name in wanted {
        let having = |column: &Column| &*column.name == name;
        let mut places = tables.iter().enumerate().filter_map(|(table, file)| {
            file.columns().iter().position(having).map(|column| (table, column))
        });
        let shown = printable(name);
        let Some((table, column)) = places.next() else {
            return Err(prefix_data::no_column(name, all()));
        };
        if places.next().is_some() {
            return Err(CliError::input(
                "--routes",
                format_args!(
                    "two tables have a column '{shown}', but their other columns differ: name it otherwise in one of them (longmatch compile -r FILE --columns {shown}=NAME -o TABLE) and give that one with --table"
                ),
            ));
        }
        let ty = tables[table].columns()[column].ty;
        let nothing = nothing(args, style, empty, ty);
        let texts = Texts::new(&tables[table], column, style, &nothing);
        let from = From::Rows { table, column, texts, ty };
        added.push(Added { name: name.to_owned(), from, nothing });
    }
    Ok(added)
}

/// Loads and compiles the tables.
fn compiled(args: &AnnotateArgs, prefixes: bool) -> Result<Vec<FileTable>, CliError> {
    if args.tables.len() == 1 && args.routes.is_empty() {
        let path = &args.tables[0];
        let table = table_file::open(path, args.trust, args.read.of_files())?;
        if prefixes && table.answers() == Answers::Values {
            let problem = "the table does not know its prefixes: compile it again without --answers values, or leave out --prefix-as and --vrps";
            return Err(CliError::input(path.display(), problem));
        }
        return Ok(vec![table]);
    }
    if args.routes.is_empty() && args.tables.is_empty() {
        table_file::require_routes(args.read.of_files(), default_table::NAME)?;
        default_table::notice();
        return Ok(vec![default_table::open()?]);
    }
    let mut groups: Vec<PrefixData> = Vec::new();
    let mut routes = &args.routes[..];
    if let Some(lists) = lists::of(routes)? {
        groups.push(lists::load(&lists, &args.read.options())?);
        routes = &[];
    }
    for path in routes.iter().chain(&args.tables) {
        let data = load(args, path)?;
        let names = |data: &PrefixData| -> Vec<_> {
            data.columns().iter().map(|column| column.name.clone()).collect()
        };
        match groups.iter_mut().find(|group| names(group) == names(&data)) {
            None => groups.push(data),
            Some(group) => {
                merge(group, &data).map_err(|error| CliError::input(display_name(path), error))?
            }
        }
    }
    let answers = if prefixes { Answers::Routes } else { Answers::Values };
    let spec = FileSpec::default().answers(answers);
    let compile = |data: PrefixData| {
        let bytes = spec.to_bytes(&data)?;
        drop(data);
        FileTable::from_bytes(bytes)
    };
    let tables: Result<Vec<_>, _> = groups.into_iter().map(compile).collect();
    tables.map_err(|error| CliError::file(&error))
}

/// Adds the rows of data with the same columns. Columns of different types become text.
fn merge(group: &mut PrefixData, data: &PrefixData) -> Result<(), longmatch::table::ColumnError> {
    let same = group.columns() == data.columns();
    let types = group.columns().iter().zip(data.columns());
    let columns: Vec<Column> = types
        .map(|(one, two)| match one.ty == two.ty {
            true => one.clone(),
            false => Column::new(one.name.clone(), ColumnType::String),
        })
        .collect();
    let fitting = |row: &[Cell]| -> Box<[Cell]> {
        let cells = row.iter().zip(&columns).map(|(cell, column)| match cell.ty() {
            Some(ty) if ty != column.ty => Cell::String(cell.to_string().into()),
            _ => cell.clone(),
        });
        cells.collect()
    };
    if !same {
        let mut wider = PrefixData::new(columns.clone())?;
        for (prefix, row) in group.table() {
            wider.insert(prefix, fitting(row))?;
        }
        *group = wider;
    }
    for (prefix, row) in data.table() {
        group.insert(prefix, fitting(row))?;
    }
    Ok(())
}

/// Loads a file of prefix data, in any format.
fn load(args: &AnnotateArgs, path: &Path) -> Result<PrefixData, CliError> {
    let options = args.read.options();
    let advice = Advice { lenient: !options.lenient, families: false };
    let mut loader = DataLoader::new(options);
    let report = prefix_data::load(&mut loader, path, advice)?;
    print_report(&display_name(path), &report, Families::BOTH);
    prefix_data::finish(loader, advice)
}
