//! Ranges as Parquet. Their types are those that DuckDB, Spark and BigQuery read: signed integers, and 16 bytes that
//! compare as the IPv6 addresses do.

use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::FixedSizeBinaryBuilder;
use arrow_array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use longmatch::file::NewFile;
use longmatch::table::{Cell, ColumnType, PrefixData};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::{NAMES, Range, Rows, failed};
use crate::cell_arrays;
use crate::error::CliError;

/// The greatest number of ranges that wait for a batch.
const BATCH_ROWS: usize = 16_384;
/// Bytes of text with which they are a batch.
const BATCH_TEXT: usize = 8 << 20;
/// The greatest size of a compressed row group, about.
const GROUP_BYTES: usize = 16 << 20;

/// Row groups that are written.
pub struct Groups<'a> {
    writer: ArrowWriter<BufWriter<&'a mut NewFile>>,
    schema: SchemaRef,
    data: &'a PrefixData,
    path: &'a Path,
    pending: Vec<Range<'a>>,
    /// Bytes of text of the pending ranges.
    text: usize,
}

impl<'a> Groups<'a> {
    /// Writes the beginning.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn new(
        data: &'a PrefixData,
        has_buckets: bool,
        path: &'a Path,
        file: &'a mut NewFile,
    ) -> Result<Self, CliError> {
        let [family, prefix, start, end, start16, end16, bucket] = NAMES;
        let bytes = DataType::FixedSizeBinary(16);
        let mut fields = vec![
            Field::new(family, DataType::Int32, false),
            Field::new(prefix, DataType::Utf8, false),
            Field::new(start, DataType::Int64, true),
            Field::new(end, DataType::Int64, true),
            Field::new(start16, bytes.clone(), true),
            Field::new(end16, bytes, true),
        ];
        if has_buckets {
            fields.push(Field::new(bucket, DataType::Int64, false));
        }
        for column in data.columns() {
            let data_type = match column.ty {
                ColumnType::U64 => DataType::UInt64,
                ColumnType::I64 => DataType::Int64,
                ColumnType::F64 => DataType::Float64,
                _ => DataType::Utf8,
            };
            fields.push(Field::new(&*column.name, data_type, true));
        }
        let schema = Arc::new(Schema::new(fields));
        let codec = Compression::ZSTD(ZstdLevel::default());
        let properties = WriterProperties::builder()
            .set_compression(codec)
            .set_max_row_group_bytes(Some(GROUP_BYTES))
            .build();
        let writer = ArrowWriter::try_new(BufWriter::new(file), schema.clone(), Some(properties));
        let writer = writer.map_err(|error| failed(path, error))?;
        Ok(Self { writer, schema, data, path, pending: Vec::new(), text: 0 })
    }

    /// Writes the pending ranges.
    fn flush(&mut self) -> Result<(), CliError> {
        let columns = self.columns()?;
        let batch = RecordBatch::try_new(self.schema.clone(), columns);
        self.pending.clear();
        self.text = 0;
        let written = batch.map_err(Into::into).and_then(|batch| self.writer.write(&batch));
        written.map_err(|error| failed(self.path, error))
    }

    /// The columns of the pending ranges.
    fn columns(&self) -> Result<Vec<ArrayRef>, CliError> {
        let rows = &self.pending;
        let family = rows.iter().map(|row| if row.is_ipv4() { 4 } else { 6 });
        let ipv4 = |addr: fn(&Range<'_>) -> u128| -> ArrayRef {
            let of = |row: &Range<'_>| row.is_ipv4().then(|| addr(row) as i64);
            Arc::new(rows.iter().map(of).collect::<Int64Array>())
        };
        let ipv6 = |addr: fn(&Range<'_>) -> u128| -> Result<ArrayRef, ArrowError> {
            let mut bytes = FixedSizeBinaryBuilder::with_capacity(rows.len(), 16);
            for row in rows {
                match row.is_ipv4() {
                    true => bytes.append_null(),
                    false => bytes.append_value(addr(row).to_be_bytes())?,
                }
            }
            Ok(Arc::new(bytes.finish()))
        };
        let ipv6 = |addr| ipv6(addr).map_err(|error| failed(self.path, error));
        let prefixes = rows.iter().map(|row| Some(row.prefix.to_string()));
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(Int32Array::from_iter_values(family)),
            Arc::new(prefixes.collect::<StringArray>()),
            ipv4(|row| row.first),
            ipv4(|row| row.last),
            ipv6(|row| row.first)?,
            ipv6(|row| row.last)?,
        ];
        if self.schema.fields().len() > columns.len() + self.data.columns().len() {
            let buckets = rows.iter().map(|row| row.bucket.map(u64::cast_signed));
            columns.push(Arc::new(buckets.collect::<Int64Array>()));
        }
        for (at, column) in self.data.columns().iter().enumerate() {
            columns
                .push(cell_arrays::array(column, rows.iter().map(|row| row.cells[at].borrowed()))?);
        }
        Ok(columns)
    }
}

impl<'d> Rows<'d> for Groups<'d> {
    fn add(&mut self, range: Range<'d>) -> Result<(), CliError> {
        let text =
            |cell: &Cell<_>| if let Cell::String(text) = cell.borrowed() { text.len() } else { 0 };
        self.text += range.cells.iter().map(text).sum::<usize>();
        self.pending.push(range);
        match self.pending.len() >= BATCH_ROWS || self.text >= BATCH_TEXT {
            true => self.flush(),
            false => Ok(()),
        }
    }

    fn finish(mut self: Box<Self>) -> Result<u64, CliError> {
        self.flush()?;
        self.writer.finish().map_err(|error| failed(self.path, error))?;
        Ok(self.writer.bytes_written() as u64)
    }
}
