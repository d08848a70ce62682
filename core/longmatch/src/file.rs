//! Compiled tables as files that processes share.
//!
//! A file has the prefixes of both families, their rows of named columns, and the compiled engines. So
//! opening parses and compiles nothing. `docs/format.md` in the repository describes every byte.
//!
//! ```
//! use longmatch::IpPrefix;
//! use longmatch::file::{FileSpec, FileTable};
//! use longmatch::table::{Cell, Column, ColumnType, PrefixData};
//!
//! let mut data = PrefixData::new(vec![Column::new("site", ColumnType::String)])?;
//! let office: IpPrefix = "10.0.0.0/8".parse()?;
//! data.insert(office, [Cell::String("office".into())].into())?;
//!
//! let path = std::env::temp_dir().join(format!("longmatch-doc-{}.lm", std::process::id()));
//! FileSpec::default().write(&data, &path)?;
//! let table = FileTable::open(&path)?;
//! let (prefix, row) = table.get_lpm([10, 1, 2, 3]).unwrap();
//! assert_eq!((prefix, row.get(0)), (office, Cell::String("office")));
//! # std::fs::remove_file(path)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Reading and mapping
//!
//! | opened by | memory | checksums |
//! |---|---|---|
//! | [`FileTable::open`] | a copy of the file | verified |
//! | [`FileTable::open_trusted`] | a copy of the file | skipped |
//! | [`FileTable::map`], unsafe | the file's own, which all processes that map it share | verified |
//! | [`FileTable::map_trusted`], unsafe | the file's own | skipped |
//! | [`FileTable::from_bytes`] | a copy | verified |
//! | [`FileTable::from_static`] | the program's own | skipped |
//!
//! A copy is independent of the file, and reading takes some milliseconds for a full table. A mapped
//! file that is written into or shortened changes under the table: lookups then read outside of it,
//! and the process crashes or answers with bytes of other memory. So mapping is unsafe, and its caller
//! promises that files are only replaced.
//!
//! # Replacing a file
//!
//! [`FileSpec::write`] never changes a file: it writes another one and renames it. A process that has
//! the old file open keeps it until it calls [`FileTable::reload`]. Other programs do the same by `mv`;
//! `cp`, `rsync --inplace`, `curl -o` and `>` of a shell write into the file.
//!
//! # Damaged files
//!
//! Where checksums are verified, a damaged file is refused. Where they are skipped, which saves most of
//! the time, a damaged file may give wrong answers. In no case a lookup reads outside of the bytes that
//! were opened, whatever they are, and a text that is not UTF-8 is read as null.

#[doc(hidden)]
pub use crate::table::file::NewFile;
pub use crate::table::file::{FileError, FileErrorKind, FileReport, FileRow, FileSpec, FileTable};
