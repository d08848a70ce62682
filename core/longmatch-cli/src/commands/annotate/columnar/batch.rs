//! A record batch: its addresses looked up, and the added columns.

use std::fmt::Write;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, UInt32Array};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;
use arrow_select::take::take;
use longmatch::NextHopId;
use longmatch::file::FileTable;
use longmatch::table::{Cell, Column, ColumnType};
use longmatch_feed::printable;

use super::super::block::{Addresses, RowCounts};
use super::super::plan;
use super::super::tables::{AddedValue, AnnotationTables};
use super::address::{AddressColumn, Parsed};
use crate::args::AnnotateArgs;
use crate::cell_arrays;
use crate::error::CliError;

/// Options of one run, resolved: address columns, added columns, filters.
pub struct BatchPlan {
    columns: Vec<AddressColumn>,
    /// Names of the address columns in messages.
    pub sources: Vec<String>,
    tables: AnnotationTables,
    /// The values of each added column of a table, by the numbers of its rows; `None` for prefixes and
    /// flags.
    values: Vec<Option<ArrayRef>>,
    /// The schema with the added columns.
    pub schema: SchemaRef,
    /// The value of `--default`.
    default: Option<String>,
    only_matching: Option<bool>,
    strict: bool,
}

/// A batch with the added columns.
pub struct AnnotatedBatch {
    /// The rows that are written.
    pub batch: RecordBatch,
    /// The counts of the batch.
    pub counts: RowCounts,
    /// With `--strict`: the first row with a problem, from 0, and the problem.
    pub problem: Option<(u64, String)>,
}

impl BatchPlan {
    /// Makes the plan from the command line and the schema of the input.
    ///
    /// # Errors
    /// If a column does not exist or has no addresses, or an added name is taken.
    pub fn new(
        args: &AnnotateArgs,
        input: &Schema,
        tables: AnnotationTables,
    ) -> Result<Self, CliError> {
        let columns: Result<Vec<_>, _> =
            args.column.iter().map(|name| AddressColumn::find(input, name)).collect();
        let values = |column| values(column, args.default.as_deref());
        let values: Result<Vec<_>, _> =
            (0..tables.added.len()).map(|i| tables.column(i).map(values).transpose()).collect();
        let values = values?;
        let names = plan::names(args, &args.column, true, &tables)?;
        let mut fields: Vec<_> = input.fields().iter().cloned().collect();
        let types = values.iter().enumerate().cycle();
        for (name, (i, values)) in names.into_iter().zip(types) {
            if let Some(taken) = input.fields().iter().position(|field| *field.name() == name) {
                return Err(plan::taken_name(&name, taken, &tables.added[i]));
            }
            let data_type = match values {
                Some(values) => values.data_type().clone(),
                None if tables.is_flag(i) => DataType::Boolean,
                None => DataType::Utf8,
            };
            fields.push(Arc::new(Field::new(name, data_type, true)));
        }
        let source = |name: &String| format!("column '{}'", printable(name));
        Ok(Self {
            columns: columns?,
            sources: args.column.iter().map(source).collect(),
            tables,
            values,
            schema: Arc::new(Schema::new_with_metadata(fields, input.metadata().clone())),
            default: args.default.clone(),
            only_matching: args.filters().then_some(args.matching),
            strict: args.strict,
        })
    }

    /// Annotates a batch.
    ///
    /// # Errors
    /// If Arrow's kernels fail, for example by the size of the text.
    pub fn annotate(&self, batch: &RecordBatch) -> Result<AnnotatedBatch, ArrowError> {
        let rows = batch.num_rows();
        let mut counts = RowCounts { rows: rows as u64, ..RowCounts::default() };
        let mut matching = vec![false; rows];
        let mut arrays = batch.columns().to_vec();
        let mut problem: Option<(usize, String)> = None;
        for (column, source) in self.columns.iter().zip(&self.sources) {
            let cells = column.read(batch)?;
            let first_bad = cells.iter().position(|cell| !matches!(cell, Parsed::Address(_)));
            if let Some(row) = first_bad.filter(|_| self.strict)
                && problem.as_ref().is_none_or(|(before, _)| row < *before)
            {
                problem = Some((row, format!("{source}: {}", column.problem(batch, row))));
            }
            arrays.extend(self.look_up(&cells, &mut counts, &mut matching)?);
        }
        let mut batch = RecordBatch::try_new(self.schema.clone(), arrays)?;
        if let Some(wanted) = self.only_matching {
            let keep: BooleanArray = matching.iter().map(|found| Some(*found == wanted)).collect();
            batch = filter_record_batch(&batch, &keep)?;
        }
        counts.printed = batch.num_rows() as u64;
        let problem = problem.map(|(row, problem)| (row as u64, problem));
        Ok(AnnotatedBatch { batch, counts, problem })
    }

    /// Looks up the addresses of a column: the cells added for them, and the rows that match.
    fn look_up(
        &self,
        cells: &[Parsed],
        counts: &mut RowCounts,
        matching: &mut [bool],
    ) -> Result<Vec<ArrayRef>, ArrowError> {
        let mut addresses = Addresses::default();
        for cell in cells {
            let addr = match cell {
                Parsed::Address(addr) => Some(*addr),
                _ => None,
            };
            counts.missing += u64::from(*cell == Parsed::Missing);
            counts.bad += u64::from(*cell == Parsed::Bad);
            addresses.push(addr);
        }
        counts.addresses += (addresses.ipv4.len() + addresses.ipv6.len()) as u64;
        let ids = self.tables.lookup(&addresses.ipv4, &addresses.ipv6);
        let tables = self.tables.len();
        let mut matches: Vec<Option<NextHopId>> = vec![None; cells.len() * tables];
        let each = addresses.slots.iter().zip(matches.chunks_exact_mut(tables));
        for ((slot, matches), matching) in each.zip(matching) {
            slot.matches(&ids, matches);
            *matching |= matches.iter().any(Option::is_some);
        }
        let added = self.values.iter().enumerate().map(|(i, values)| match values {
            Some(values) => self.rows(i, values, &matches),
            None if self.tables.is_flag(i) => Ok(self.flags(&matches)),
            None => self.prefixes(i, &matches),
        });
        added.collect()
    }

    /// Whether a prefix matches.
    fn flags(&self, matches: &[Option<NextHopId>]) -> ArrayRef {
        let rows = matches.chunks_exact(self.tables.len());
        let flags = rows.map(|matches| Some(matches.iter().any(Option::is_some)));
        Arc::new(flags.collect::<BooleanArray>())
    }

    /// The values of the matched rows.
    fn rows(
        &self,
        i: usize,
        values: &ArrayRef,
        matches: &[Option<NextHopId>],
    ) -> Result<ArrayRef, ArrowError> {
        let numbers = matches.chunks_exact(self.tables.len());
        let numbers = numbers.map(|matches| match self.tables.value(i, matches) {
            AddedValue::Row(number) => Some(number),
            _ => self.default.is_some().then(|| values.len() as u32 - 1),
        });
        take(values, &numbers.collect::<UInt32Array>(), None)
    }

    /// The matched prefixes, or their states.
    fn prefixes(&self, i: usize, matches: &[Option<NextHopId>]) -> Result<ArrayRef, ArrowError> {
        let mut texts = StringBuilder::new();
        for matches in matches.chunks_exact(self.tables.len()) {
            match self.tables.value(i, matches) {
                // Writing to memory does not fail.
                AddedValue::Prefix(prefix) => {
                    let _ = write!(texts, "{prefix}");
                    texts.append_value("");
                }
                AddedValue::State(state) => {
                    let _ = write!(texts, "{state}");
                    texts.append_value("");
                }
                _ => texts.append_option(self.default.as_ref()),
            }
        }
        Ok(Arc::new(texts.finish()))
    }
}

/// The value of `--default` in a column.
///
/// # Errors
/// If it is not of the column's type.
fn default_cell<'a>(text: &'a str, column: &Column) -> Result<Cell<&'a str>, CliError> {
    let cell = match column.ty {
        ColumnType::U64 => text.parse().map(Cell::U64).ok(),
        ColumnType::I64 => text.parse().map(Cell::I64).ok(),
        ColumnType::F64 => text.parse().map(Cell::F64).ok(),
        _ => Some(Cell::String(text)),
    };
    cell.ok_or_else(|| {
        let (text, name, ty) = (printable(text), printable(&column.name), column.ty);
        let problem = format!(
            "'{text}' cannot stand in the column '{name}' of numbers ({ty}): give a number, or choose columns with --add"
        );
        CliError::input("--default", problem)
    })
}

/// The values of a table's column, by the numbers of its rows; a default value is the last one, in place of nulls.
fn values(
    (table, column): (&FileTable, usize),
    default: Option<&str>,
) -> Result<ArrayRef, CliError> {
    let info = &table.columns()[column];
    let default = default.map(|text| default_cell(text, info)).transpose()?;
    let numbers = 0..table.row_count() as u32;
    let cells =
        numbers.map(|number| table.row_at(number).map_or(Cell::Null, |row| row.get(column)));
    let cells = cells
        .map(|cell| match (cell, default) {
            (Cell::Null, Some(default)) => default,
            (cell, _) => cell,
        })
        .chain(default);
    cell_arrays::array(info, cells)
}
