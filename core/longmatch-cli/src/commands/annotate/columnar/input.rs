//! The input as record batches.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};
use longmatch_feed::open_file;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::basic::Compression;
use parquet::file::metadata::ParquetMetaData;

use super::super::input::{Counted, Input};
use super::super::recognise::Columnar;
use crate::error::CliError;
use crate::paths::is_stdin;

/// The greatest number of rows of a batch.
const MAX_BATCH: usize = 64 << 10;
/// The greatest number of rows of a row group of the output.
const GROUP_ROWS: usize = 2 * MAX_BATCH;
/// The memory of a batch that is decoded from Parquet, about.
const BATCH_BYTES: u64 = 16 << 20;

/// Batches in order, until the first error.
pub type Batches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

/// The opened input.
pub struct Source {
    /// The schema of all batches.
    pub schema: SchemaRef,
    /// The batches.
    pub batches: Batches,
    /// The compression of the first column of Parquet.
    pub compression: Option<Compression>,
    /// The greatest number of rows of a row group of the output.
    pub group_rows: usize,
    /// The number of rows of Parquet.
    pub rows: Option<u64>,
}

impl Source {
    /// Reads the schema.
    ///
    /// # Errors
    /// If the input is damaged or cannot be read.
    pub fn open(input: Input, format: Columnar) -> Result<Self, CliError> {
        let name = input.name.clone();
        // The readers check what they read; if one panics nevertheless, the panic is an error.
        let opened = catch_unwind(AssertUnwindSafe(|| match format {
            Columnar::Parquet => Self::parquet(seekable(input)?),
            Columnar::ArrowFile => Self::arrow_file(input),
            Columnar::ArrowStream => {
                let (first, rest) = input.blocks.into_parts();
                let reader =
                    StreamReader::try_new(Cursor::new(first).chain(BufReader::new(rest)), None)?;
                Ok(Self::arrow(reader.schema(), reader))
            }
        }));
        let opened = opened.unwrap_or_else(|_| Err(panicked()));
        opened.map_err(|error| damaged(&name, format, &error))
    }

    fn parquet(file: File) -> Result<Self, ArrowError> {
        let options = ArrowReaderOptions::new();
        let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options)?;
        let (schema, metadata) = (builder.schema().clone(), builder.metadata().clone());
        let groups = metadata.row_groups();
        let first = groups.first().and_then(|group| group.columns().first());
        let compression = first.map(|column| column.compression());
        let rows = groups.iter().map(|group| usize::try_from(group.num_rows()).unwrap_or(0));
        let group_rows = rows.clone().max().unwrap_or(0).clamp(1, GROUP_ROWS);
        let batch = group_rows / group_rows.div_ceil(batch_rows(&metadata));
        let batches = builder.with_batch_size(batch).build()?;
        Ok(Self {
            schema,
            batches: Box::new(batches),
            compression,
            group_rows,
            rows: Some(rows.sum::<usize>() as u64),
        })
    }

    fn arrow_file(input: Input) -> Result<Self, ArrowError> {
        let count = input.read.clone();
        let file = seekable(input)?;
        count.store(0, std::sync::atomic::Ordering::Relaxed);
        let reader = FileReader::try_new(BufReader::new(Counted { inner: file, count }), None)?;
        Ok(Self::arrow(reader.schema(), reader))
    }

    fn arrow(
        schema: SchemaRef,
        batches: impl Iterator<Item = Result<RecordBatch, ArrowError>> + Send + 'static,
    ) -> Self {
        let batches: Batches = match has_views(&schema) {
            // A part of an array of views is written with all bytes of the whole array.
            true => Box::new(batches),
            false => Box::new(Parts { batches, rest: None }),
        };
        Self { schema, batches, compression: None, group_rows: GROUP_ROWS, rows: None }
    }

    /// Returns the next batch. A panic of the reader is an error.
    pub fn next(batches: &mut Batches) -> Option<Result<RecordBatch, ArrowError>> {
        catch_unwind(AssertUnwindSafe(|| batches.next())).unwrap_or_else(|_| Some(Err(panicked())))
    }
}

fn panicked() -> ArrowError {
    ArrowError::ParseError("the reader panicked".to_owned())
}

/// The error of an input that cannot be read.
pub fn damaged(name: &str, format: Columnar, error: &ArrowError) -> CliError {
    let problem = error.to_string().replace('\n', " ");
    let format = format.name();
    CliError::input(
        name,
        format_args!("the input is {format}, but is damaged or not supported: {problem}"),
    )
}

fn has_views(schema: &Schema) -> bool {
    let is_view = |ty: &DataType| matches!(ty, DataType::Utf8View | DataType::BinaryView);
    schema.flattened_fields().iter().any(|field| match field.data_type() {
        DataType::Dictionary(_, values) => is_view(values),
        ty => is_view(ty),
    })
}

/// The rows that are decoded at a time: fewer where they are large.
fn batch_rows(metadata: &ParquetMetaData) -> usize {
    let bytes = |group: &parquet::file::metadata::RowGroupMetaData| {
        let rows = u64::try_from(group.num_rows()).unwrap_or(0).max(1);
        u64::try_from(group.total_byte_size()).unwrap_or(0) / rows
    };
    let bytes = metadata.row_groups().iter().map(bytes).max().unwrap_or(0).max(1);
    usize::try_from(BATCH_BYTES / bytes).unwrap_or(MAX_BATCH).clamp(1, MAX_BATCH)
}

/// The input as a file that can be read anywhere: itself, or a temporary file with its bytes.
fn seekable(input: Input) -> Result<File, ArrowError> {
    let is_plain = input.size.is_some() && input.blocks.reader().codec().is_none();
    if is_plain && !is_stdin(&input.path) {
        return Ok(open_file(&input.path)?);
    }
    #[cfg(unix)]
    if is_plain {
        return Ok(crate::stdin::open()?);
    }
    let mut file = tempfile::tempfile()?;
    let (first, rest) = input.blocks.into_parts();
    io::copy(&mut Cursor::new(first).chain(rest), &mut file)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(file)
}

impl<R: Seek> Seek for Counted<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

/// Batches cut into parts of at most [`MAX_BATCH`] rows, so that threads share the work on a large one.
struct Parts<I> {
    batches: I,
    rest: Option<RecordBatch>,
}

impl<I: Iterator<Item = Result<RecordBatch, ArrowError>>> Iterator for Parts<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = match self.rest.take() {
            Some(batch) => batch,
            None => match self.batches.next()? {
                Ok(batch) => batch,
                failed => return Some(failed),
            },
        };
        let rows = batch.num_rows();
        if rows <= MAX_BATCH {
            return Some(Ok(batch));
        }
        self.rest = Some(batch.slice(MAX_BATCH, rows - MAX_BATCH));
        Some(Ok(batch.slice(0, MAX_BATCH)))
    }
}
