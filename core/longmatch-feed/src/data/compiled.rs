//! Loading of compiled tables (`docs/format.md`).

use longmatch::NextHopId;
use longmatch::file::{FileRow, FileTable};
use longmatch::table::{Cell, ColumnError, ColumnType};

use super::join::Joins;
use super::key::Found;
use super::names;
use super::store::{Raw, Store, text};
use super::text::insert;
use super::types;
use crate::error::{FeedError, Problem};
use crate::options::{Limits, Options};
use crate::report::Report;

/// The first bytes of a compiled table.
const MAGIC: &[u8] = b"\x89LMT\r\n\x1a\n";

/// Whether an input with these first bytes is a compiled table.
pub(crate) fn looks_like(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// Loads all prefixes of a compiled table. Its columns keep their types.
pub(crate) fn load(
    bytes: Vec<u8>,
    options: &Options,
    store: &mut Store,
    report: &mut Report,
) -> Result<(), FeedError> {
    let whole = FeedError::whole;
    if !options.prefix.is_empty() {
        return Err(whole(Problem::FixedPrefix));
    }
    report.read_as = "a compiled table".to_owned();
    let table = FileTable::from_bytes(bytes)
        .map_err(|error| whole(Problem::Compiled { text: error.to_string() }))?;
    let mut known = table.columns().iter().map(|column| column.name.to_string()).collect();
    let mut joins = Joins::new(options, &mut known)?;
    rows(&table, (&known, &mut joins), options, store, report).map_err(whole)?;
    report.unjoined = joins.missing();
    Ok(())
}

/// Loads the prefixes of a table, with the columns of joined files after its own.
fn rows(
    table: &FileTable,
    (known, joins): (&[String], &mut Joins),
    options: &Options,
    store: &mut Store,
    report: &mut Report,
) -> Result<(), Problem> {
    let mut kept: Vec<Kept> = Vec::new();
    for (at, name) in names::keep(options.columns.as_deref(), known, |_| true)? {
        let own = table.columns().get(at).map(|column| column.ty);
        let ty = options.type_of(&name).or(own);
        let column = store.column(&name, ty, options.limits)?;
        if kept.iter().any(|other| other.column == column) {
            return Err(ColumnError::Name { name }.into());
        }
        kept.push(Kept { column, at, ty });
    }
    kept.sort_unstable_by_key(|kept| kept.column);
    let filters = names::positions(&options.filters, known)?;
    // Prefixes share rows: each is read once.
    let mut ids = vec![None; table.row_count()];
    for (prefix, row) in table.iter() {
        let number = row.number() as usize;
        let id = match ids.get(number).copied().flatten() {
            Some(id) => id,
            None => {
                joins.find(|at| row.get(at).to_string());
                let has = |(at, cell): &(usize, String)| match joins.is_joined(*at) {
                    true => joins.cell(*at) == cell,
                    false => row.get(*at).to_string() == *cell,
                };
                let id = match filters.iter().all(has) {
                    true => Some(self::row(row, &kept, (known, joins), store, options.limits)?),
                    false => None,
                };
                if let Some(slot) = ids.get_mut(number) {
                    *slot = Some(id);
                }
                id
            }
        };
        if let Some(id) = id {
            insert(store, report, (Found::Prefix(prefix), id), options.limits)?;
        }
    }
    Ok(())
}

/// A column to keep: its number in the store, its position and its type.
struct Kept {
    column: u16,
    at: usize,
    ty: Option<ColumnType>,
}

/// Stores a row; its rows of joined files have been found.
fn row(
    row: FileRow<'_>,
    kept: &[Kept],
    (known, joins): (&[String], &Joins),
    store: &mut Store,
    limits: Limits,
) -> Result<NextHopId, Problem> {
    store.begin();
    for Kept { column, at, ty } in kept {
        let cell = match row.get(*at) {
            _ if joins.is_joined(*at) => {
                if let Some(cell) = types::cell(joins.cell(*at), *ty, &known[*at])? {
                    store.cell(*column, cell);
                }
                continue;
            }
            Cell::Null => continue,
            Cell::String(text) => Raw::String(text),
            Cell::U64(number) => Raw::U64(number),
            Cell::I64(number) => Raw::I64(number),
            Cell::F64(number) => Raw::F64(number),
        };
        let Some(ty) = *ty else { continue };
        let typed = types::convert(cell, ty).ok_or_else(|| Problem::Type {
            column: known[*at].clone(),
            text: text(cell),
            ty,
        })?;
        store.cell(*column, typed);
    }
    store.end(limits)
}
