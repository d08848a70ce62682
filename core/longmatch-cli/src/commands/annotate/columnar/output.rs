//! The output: format, compression, and record batches written in it.

use std::mem::take;
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::basic::{Compression as Codec, GzipLevel, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;

use super::super::recognise::Columnar;
use super::input::Source;
use crate::args::{AnnotateArgs, Compression};
use crate::error::CliError;

/// The greatest size of the arrays of a row group, about.
const GROUP_BYTES: usize = 32 << 20;

/// Returns the format of the output: by its name, else that of the input.
///
/// # Errors
/// If the name is that of a compressed file.
pub fn format(path: Option<&Path>, input: Columnar) -> Result<Columnar, CliError> {
    let extension = path.and_then(Path::extension).and_then(|extension| extension.to_str());
    if let Some(extension @ ("gz" | "bz2" | "zst" | "zstd" | "xz")) = extension {
        return Err(CliError::input(
            "--output",
            format_args!(
                "Parquet and Arrow are compressed inside: leave out .{extension}, and use --compress"
            ),
        ));
    }
    Ok(path.and_then(Columnar::of_name).unwrap_or(input))
}

/// The encoder of row groups, which threads share.
pub struct RowGroups {
    factory: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
    /// The greatest number of rows.
    rows: usize,
}

impl RowGroups {
    /// Whether batches are enough for a row group: another like these would be too many.
    pub fn is_full(&self, batches: &[RecordBatch]) -> bool {
        let rows = batches.iter().map(RecordBatch::num_rows);
        rows.clone().sum::<usize>() + rows.max().unwrap_or(0) > self.rows
            || batches.iter().map(RecordBatch::get_array_memory_size).sum::<usize>() >= GROUP_BYTES
    }

    /// Encodes and compresses a row group.
    ///
    /// # Errors
    /// If Parquet cannot hold a value.
    pub fn encode(&self, batches: &[RecordBatch]) -> Result<Vec<ArrowColumnChunk>, ParquetError> {
        let mut columns = self.factory.create_column_writers(0)?;
        for batch in batches {
            let mut writers = columns.iter_mut();
            for (field, array) in self.schema.fields().iter().zip(batch.columns()) {
                // A nested column has a writer for each of its leaves.
                for (leaf, writer) in compute_leaves(field, array)?.iter().zip(&mut writers) {
                    writer.write(leaf)?;
                }
            }
        }
        columns.into_iter().map(|column| column.close()).collect()
    }
}

/// Batches that are annotated.
pub enum Encoded {
    /// As they are.
    Batches(Vec<RecordBatch>),
    /// Encoded as a row group.
    RowGroup(Vec<ArrowColumnChunk>),
}

/// Writes batches in a format, into memory.
pub enum Writer {
    /// An Arrow stream.
    Stream(StreamWriter<Vec<u8>>),
    /// An Arrow file.
    File(FileWriter<Vec<u8>>),
    /// Parquet.
    Parquet {
        /// Writes row groups.
        writer: SerializedFileWriter<Vec<u8>>,
        /// Encodes them.
        groups: Arc<RowGroups>,
        /// Batches that wait until they are enough for a row group.
        pending: Vec<RecordBatch>,
    },
}

impl Writer {
    /// Writes the beginning.
    ///
    /// # Errors
    /// If the format has no such compression, or cannot hold a type of the schema.
    pub fn new(
        args: &AnnotateArgs,
        format: Columnar,
        source: &Source,
        schema: &SchemaRef,
    ) -> Result<Self, CliError> {
        let out = Vec::new();
        let writer = match format {
            Columnar::Parquet => Self::parquet(parquet_codec(args, source)?, source, schema),
            Columnar::ArrowFile => {
                let writer = FileWriter::try_new_with_options(out, schema, ipc_options(args)?);
                writer.map(Self::File)
            }
            Columnar::ArrowStream => {
                let writer = StreamWriter::try_new_with_options(out, schema, ipc_options(args)?);
                writer.map(Self::Stream)
            }
        };
        writer.map_err(|error| failed(format, &error))
    }

    fn parquet(codec: Codec, source: &Source, schema: &SchemaRef) -> Result<Self, ArrowError> {
        let properties = WriterProperties::builder()
            .set_compression(codec)
            .set_key_value_metadata(key_values(schema))
            .build();
        let writer = ArrowWriter::try_new(Vec::new(), schema.clone(), Some(properties))?;
        let (writer, factory) = writer.into_serialized_writer()?;
        let groups = RowGroups { factory, schema: schema.clone(), rows: source.group_rows };
        let groups = Arc::new(groups);
        Ok(Self::Parquet { writer, groups, pending: Vec::new() })
    }

    /// The encoder of row groups of Parquet.
    pub fn groups(&self) -> Option<Arc<RowGroups>> {
        match self {
            Self::Parquet { groups, .. } => Some(groups.clone()),
            _ => None,
        }
    }

    /// Appends batches and returns the bytes to write.
    ///
    /// # Errors
    /// If the format cannot hold a value.
    pub fn write(&mut self, encoded: Encoded) -> Result<Vec<u8>, CliError> {
        let format = self.format();
        let batches = match encoded {
            Encoded::Batches(batches) => batches,
            Encoded::RowGroup(chunks) => {
                return self.append(chunks).map_err(|error| failed(format, &error));
            }
        };
        for batch in batches.into_iter().filter(|batch| batch.num_rows() > 0) {
            match self {
                Self::Stream(writer) => writer.write(&batch),
                Self::File(writer) => writer.write(&batch),
                Self::Parquet { pending, .. } => {
                    pending.push(batch);
                    Ok(())
                }
            }
            .map_err(|error| failed(format, &error))?;
        }
        self.flush(false).map_err(|error| failed(format, &error))
    }

    /// Writes the end, and returns the bytes to write.
    ///
    /// # Errors
    /// As [`Writer::write`].
    pub fn finish(mut self) -> Result<Vec<u8>, CliError> {
        let format = self.format();
        let mut bytes = self.flush(true).map_err(|error| failed(format, &error))?;
        let end = match self {
            Self::Stream(mut writer) => writer.finish().map(|()| take(writer.get_mut())),
            Self::File(mut writer) => writer.finish().map(|()| take(writer.get_mut())),
            Self::Parquet { writer, .. } => writer.into_inner().map_err(ArrowError::from),
        };
        bytes.extend(end.map_err(|error| failed(format, &error))?);
        Ok(bytes)
    }

    fn format(&self) -> Columnar {
        match self {
            Self::Stream(_) => Columnar::ArrowStream,
            Self::File(_) => Columnar::ArrowFile,
            Self::Parquet { .. } => Columnar::Parquet,
        }
    }

    /// Encodes pending batches if they are enough, or `all`; returns the bytes written so far.
    fn flush(&mut self, all: bool) -> Result<Vec<u8>, ArrowError> {
        match self {
            Self::Stream(writer) => Ok(take(writer.get_mut())),
            Self::File(writer) => {
                writer.flush()?;
                Ok(take(writer.get_mut()))
            }
            Self::Parquet { groups, pending, .. } => {
                let is_full = groups.is_full(pending) || all && !pending.is_empty();
                let chunks = if is_full { groups.encode(&take(pending))? } else { Vec::new() };
                self.append(chunks)
            }
        }
    }

    /// Appends a row group, if it has columns, and returns the bytes written so far.
    fn append(&mut self, chunks: Vec<ArrowColumnChunk>) -> Result<Vec<u8>, ArrowError> {
        let Self::Parquet { writer, .. } = self else { return Ok(Vec::new()) };
        if !chunks.is_empty() {
            let mut group = writer.next_row_group()?;
            for chunk in chunks {
                chunk.append_to_row_group(&mut group)?;
            }
            group.close()?;
        }
        writer.flush()?;
        Ok(take(writer.inner_mut()))
    }
}

/// The error of data that a format cannot hold.
pub fn failed(format: Columnar, error: &ArrowError) -> CliError {
    let problem = error.to_string().replace('\n', " ");
    let advice = match (format, error) {
        (Columnar::ArrowFile, ArrowError::InvalidArgumentError(problem))
            if problem.contains("Dictionary replacement") =>
        {
            "; the dictionaries of the input change, which only a stream can hold: name the output .arrows"
        }
        _ => "",
    };
    CliError::new(format!("cannot be written as {}: {problem}{advice}", format.name()))
}

/// The metadata of the file: that of the schema.
fn key_values(schema: &Schema) -> Option<Vec<KeyValue>> {
    let mut pairs: Vec<_> = schema.metadata().iter().collect();
    pairs.sort_unstable();
    let pairs = pairs.into_iter().map(|(key, value)| KeyValue::new(key.clone(), value.clone()));
    Some(pairs.collect())
}

/// The compression of Parquet: of the option, else of the input, else the one that all readers have.
fn parquet_codec(args: &AnnotateArgs, source: &Source) -> Result<Codec, CliError> {
    Ok(match args.compress {
        None => source.compression.unwrap_or(Codec::SNAPPY),
        Some(Compression::None) => Codec::UNCOMPRESSED,
        Some(Compression::Gzip) => Codec::GZIP(GzipLevel::default()),
        Some(Compression::Zstd) => Codec::ZSTD(ZstdLevel::default()),
        Some(Compression::Bzip2 | Compression::Xz) => {
            let problem = "Parquet has neither bzip2 nor xz: choose none, gzip or zstd";
            return Err(CliError::input("--compress", problem));
        }
    })
}

/// The compression of Arrow: of the option, else none.
fn ipc_options(args: &AnnotateArgs) -> Result<IpcWriteOptions, CliError> {
    let codec = match args.compress {
        None | Some(Compression::None) => None,
        Some(Compression::Zstd) => Some(arrow_ipc::CompressionType::ZSTD),
        Some(_) => {
            let problem = "Arrow has neither gzip, bzip2 nor xz: choose none or zstd";
            return Err(CliError::input("--compress", problem));
        }
    };
    let options = IpcWriteOptions::default().try_with_compression(codec);
    options.map_err(|error| CliError::input("--compress", error))
}
