//! Loading of rows of text.

use longmatch::NextHopId;
use longmatch::table::ColumnType;

use super::join::Joins;
use super::key::{self, Found, Key};
use super::layout::TextLayout;
use super::names;
use super::rows::{CellSyntax, RowError, Rows, check_width};
use super::store::{Inserted, Store};
use super::types;
use crate::decompress::explain;
use crate::error::{FeedError, Problem};
use crate::options::{Limits, Options};
use crate::report::Report;
use crate::source::Opened;

/// A cell to keep.
struct Kept {
    /// Position of the cell in the row.
    at: usize,
    /// Number of the column in the store.
    column: u16,
    name: String,
    ty: Option<ColumnType>,
}

/// Loads all rows of a text.
pub(crate) fn load(
    opened: Opened<'_>,
    layout: &TextLayout,
    options: &Options,
    store: &mut Store,
    report: &mut Report,
) -> Result<(), FeedError> {
    let limits = options.limits;
    let rows = Rows::new(opened.input, layout.cells, layout.semicolons, limits.row);
    let mut rows = rows.check_comments(layout.key.first());
    let mut load = Load::new(layout, options, store, report)?;
    let mut skip = layout.header;
    let end = loop {
        let result = match rows.next() {
            Ok(false) => break Ok(()),
            Ok(true) if std::mem::take(&mut skip) => continue,
            Ok(true) => load.row(&rows).map_err(|error| rows.error(error)),
            Err(RowError::Row(error)) => Err(error),
            Err(RowError::Io(error)) => {
                let error = explain(error, opened.codec);
                break Err(FeedError::byte(rows.lines().input().received(), error));
            }
        };
        match result {
            Err(error) if options.lenient && error.is_local() => {
                load.report.note_damage(error);
            }
            Err(error) => break Err(error),
            Ok(()) => {}
        }
    };
    load.end();
    report.left_out = rows.left_out();
    report.lines = rows.lines().number();
    report.bytes = rows.lines().input().received();
    report.input_bytes = opened.taken.get();
    end
}

/// The cells to keep, by rising columns of the store.
fn keep(
    layout: &TextLayout,
    all: &[String],
    options: &Options,
    store: &mut Store,
) -> Result<Vec<Kept>, Problem> {
    let free = |at| !layout.key.has(at);
    let mut kept = Vec::new();
    for (at, name) in names::keep(options.columns.as_deref(), all, free)? {
        let ty = options.type_of(&name);
        let column = store.column(&name, ty, options.limits)?;
        if kept.iter().any(|other: &Kept| other.column == column) {
            return Err(longmatch::table::ColumnError::Name { name }.into());
        }
        kept.push(Kept { at, column, name, ty });
    }
    kept.sort_unstable_by_key(|kept| kept.column);
    Ok(kept)
}

/// A row of cells.
pub(crate) trait Row {
    /// The number of the cells.
    fn len(&self) -> usize;

    /// A cell; empty if the row has fewer.
    fn cell(&self, at: usize) -> &str;
}

impl Row for Rows<'_> {
    #[inline]
    fn len(&self) -> usize {
        Rows::len(self)
    }

    #[inline]
    fn cell(&self, at: usize) -> &str {
        Rows::cell(self, at)
    }
}

/// A row with the cells of joined files after its own.
struct WithJoins<'a, R> {
    row: &'a R,
    joins: &'a Joins,
}

impl<R: Row> Row for WithJoins<'_, R> {
    fn len(&self) -> usize {
        self.row.len()
    }

    #[inline]
    fn cell(&self, at: usize) -> &str {
        if self.joins.is_joined(at) { self.joins.cell(at) } else { self.row.cell(at) }
    }
}

/// Loader of rows of one layout.
pub(crate) struct Load<'a> {
    layout: &'a TextLayout,
    joins: Joins,
    kept: Vec<Kept>,
    /// Positions and texts of the cells that rows must have.
    filters: Vec<(usize, String)>,
    mask: bool,
    /// Whether a netmask is not a host: unless the options name the column of the prefixes.
    refuses_masks: bool,
    limits: Limits,
    store: &'a mut Store,
    report: &'a mut Report,
}

impl<'a> Load<'a> {
    pub(crate) fn new(
        layout: &'a TextLayout,
        options: &Options,
        store: &'a mut Store,
        report: &'a mut Report,
    ) -> Result<Self, FeedError> {
        let whole = FeedError::whole;
        let mut names = layout.names.clone();
        let joins = Joins::new(options, &mut names)?;
        let kept = keep(layout, &names, options, store).map_err(whole)?;
        let filters = names::positions(&options.filters, &names).map_err(whole)?;
        let (mask, limits) = (options.mask_host_bits, options.limits);
        let refuses_masks =
            matches!(layout.cells, CellSyntax::Delimited(_)) && options.prefix.is_empty();
        Ok(Self { layout, joins, kept, filters, mask, refuses_masks, limits, store, report })
    }

    /// Ends the rows.
    pub(crate) fn end(self) {
        self.report.unjoined = self.joins.missing();
    }

    /// Records damage that does not stop a lenient load.
    pub(crate) fn note_damage(&mut self, error: Problem) {
        self.report.note_damage(FeedError::whole(error));
    }

    #[inline]
    pub(crate) fn row(&mut self, rows: &impl Row) -> Result<(), Problem> {
        check_width(rows.len(), self.layout.names.len(), |at| rows.cell(at))?;
        self.joins.find(|at| rows.cell(at));
        let row = WithJoins { row: rows, joins: &self.joins };
        if self.filters.iter().any(|(at, cell)| row.cell(*at) != cell) {
            return Ok(());
        }
        let found = self.key(rows)?;
        self.store.begin();
        for Kept { at, column, name, ty } in &self.kept {
            if let Some(cell) = types::cell(row.cell(*at), *ty, name)? {
                self.store.cell(*column, cell);
            }
        }
        let id = self.store.end(self.limits)?;
        insert(self.store, self.report, (found, id), self.limits)
    }

    /// Parses the prefix.
    #[inline]
    fn key(&self, rows: &impl Row) -> Result<Found, Problem> {
        let TextLayout { key, names, .. } = self.layout;
        if let Key::One(at) = *key {
            let cell = rows.cell(at);
            if self.refuses_masks && cell.starts_with("255.") && key::is_lone_mask(cell) {
                return Err(Problem::LoneNetmask { text: cell.to_owned() });
            }
        }
        key::find(*key, |at| rows.cell(at), names, self.mask)
    }
}

/// Gives all prefixes of a key a row. A range replaces everything inside it.
#[inline]
pub(crate) fn insert(
    store: &mut Store,
    report: &mut Report,
    (found, id): (Found, NextHopId),
    limits: Limits,
) -> Result<(), Problem> {
    let is_range = matches!(found, Found::Range(..));
    report.count_row(found);
    if store.is_set() {
        store.add(found);
        return Ok(());
    }
    for prefix in key::prefixes(found) {
        if is_range {
            report.overlapped += store.remove_inside(prefix);
        }
        if let Inserted::Lost { first } = store.insert(prefix, id, limits)? {
            report.replaced += 1;
            report.repeated += u64::from(first);
        }
    }
    Ok(())
}
