//! Compiled tables as files that processes share.
//!
//! A file has the prefixes of both families, their rows of named columns, and the compiled engines.
//! Opening maps it into memory: nothing is parsed or compiled, and all processes that have the same
//! file open share its memory. `docs/format.md` in the repository describes every byte.
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
//! # Replacing a file
//!
//! [`FileSpec::write`] never changes a file: it writes another one and renames it. A process that has
//! the old file open keeps it until it calls [`FileTable::reload`]. Replace files only so: a program
//! that changes or shortens a file in place changes the memory of all processes that have it open,
//! and they may crash.
//!
//! # Damaged files
//!
//! [`FileTable::open`] verifies a checksum of every section and refuses a damaged file.
//! [`FileTable::open_trusted`] skips this, which saves most of the time. In either case no lookup
//! reads outside of the file, whatever its bytes are.

pub use crate::table::file::{
    FileError, FileErrorKind, FileReport, FileRow, FileSpec, FileTable, NewFile,
};
