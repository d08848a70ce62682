//! Compiled tables as files; [`crate::file`] documents them.
//!
//! ```text
//! checksum  XXH64                        layout   the header and the table of sections
//! writer    data to sections             spec     FileSpec: data to a file
//! disk      files replaced as a whole    memory   files that are read or mapped
//! open      sections to a table, verified         table, lookups  FileTable
//! routes    sorted prefixes              values   FileRow: columns of cells
//! packed    arrays of numbers in few bits
//! ```

mod checksum;
mod disk;
mod error;
mod layout;
mod lookups;
mod memory;
mod open;
mod packed;
mod routes;
mod spec;
mod table;
#[cfg(test)]
mod tests;
mod values;
mod writer;

pub use disk::NewFile;
pub use error::{FileError, FileErrorKind};
pub use spec::{FileReport, FileSpec};
pub use table::FileTable;
pub use values::FileRow;
