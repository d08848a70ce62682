//! Loading of compiled tables (`docs/format.md`).

use longmatch::file::FileTable;
use longmatch::table::{Cell, ColumnError, ColumnType};

use super::key::Found;
use super::names;
use super::store::{Raw, Store, text};
use super::text::insert;
use super::types;
use crate::error::Problem;
use crate::options::Options;
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
) -> Result<(), Problem> {
    if !options.prefix.is_empty() {
        return Err(Problem::FixedPrefix);
    }
    report.read_as = "a compiled table".to_owned();
    let limits = options.limits;
    let table = FileTable::from_bytes(bytes)
        .map_err(|error| Problem::Compiled { text: error.to_string() })?;
    let known: Vec<_> = table.columns().iter().map(|column| column.name.to_string()).collect();
    let mut kept: Vec<(u16, usize, ColumnType)> = Vec::new();
    for (at, name) in names::keep(options.columns.as_deref(), &known, |_| true)? {
        let ty = options.type_of(&name).unwrap_or(table.columns()[at].ty);
        let column = store.column(&name, Some(ty), limits)?;
        if kept.iter().any(|(other, ..)| *other == column) {
            return Err(ColumnError::Name { name }.into());
        }
        kept.push((column, at, ty));
    }
    kept.sort_unstable_by_key(|(column, ..)| *column);
    let filters = names::positions(&options.filters, &known)?;
    // Prefixes share rows: each is read once.
    let mut ids = vec![None; table.row_count()];
    for (prefix, row) in table.iter() {
        if filters.iter().any(|(at, cell)| row.get(*at).to_string() != *cell) {
            continue;
        }
        let number = row.number() as usize;
        let id = match ids.get(number).copied().flatten() {
            Some(id) => id,
            None => {
                store.begin();
                for (column, at, ty) in &kept {
                    let cell = match row.get(*at) {
                        Cell::Null => continue,
                        Cell::String(text) => Raw::String(text),
                        Cell::U64(number) => Raw::U64(number),
                        Cell::I64(number) => Raw::I64(number),
                        Cell::F64(number) => Raw::F64(number),
                    };
                    let wrong = || Problem::of_type(&known[*at], &text(cell), *ty);
                    store.cell(*column, types::convert(cell, *ty).ok_or_else(wrong)?);
                }
                let id = store.end(limits)?;
                if let Some(slot) = ids.get_mut(number) {
                    *slot = Some(id);
                }
                id
            }
        };
        insert(store, report, (Found::Prefix(prefix), id), limits)?;
    }
    Ok(())
}
