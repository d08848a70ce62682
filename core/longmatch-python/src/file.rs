//! Compiled tables in files, behind frozen tables.

use std::fs::File;
use std::io::Read;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use longmatch::file::{FileError, FileErrorKind, FileSpec, FileTable};
use longmatch::table::{Cell, Column, PrefixData};
use longmatch::{Answers, IpPrefix, Ipv4, Ipv6, Keys, NextHopId};
use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyPermissionError, PyValueError};
use pyo3::prelude::*;

use crate::bulk::{Compiled, Id};
use crate::store::{CellSource, CompileRoutes, Store};

/// A table in a file. Codes are the numbers of rows, from 1.
pub struct FileStore(pub FileTable);

/// The code of a row.
fn code(number: u32) -> Option<NextHopId> {
    NextHopId::new(number.checked_add(1)?)
}

impl FileStore {
    /// Replaces ids, which may identify routes, by codes.
    pub fn to_codes(&self, ids: &mut [Id]) {
        for id in ids {
            *id = id.and_then(|id| code(self.0.row_number(id)?));
        }
    }
}

impl Compiled for FileStore {
    fn id(&self, addr: IpAddr) -> Id {
        code(self.0.row_number(self.0.lookup_id(addr)?)?)
    }

    fn ids_ipv4(&self, keys: Keys<'_, Ipv4>, out: &mut [Id]) {
        self.0.lookup_ids(keys, out);
        self.to_codes(&mut out[..keys.len()]);
    }

    fn ids_ipv6(&self, keys: Keys<'_, Ipv6>, out: &mut [Id]) {
        self.0.lookup_ids(keys, out);
        self.to_codes(&mut out[..keys.len()]);
    }
}

/// The ids of a file in which they identify routes.
struct FileRoutes(FileTable);

impl Compiled for FileRoutes {
    fn id(&self, addr: IpAddr) -> Id {
        self.0.lookup_id(addr)
    }

    fn ids_ipv4(&self, keys: Keys<'_, Ipv4>, out: &mut [Id]) {
        self.0.lookup_ids(keys, out);
    }

    fn ids_ipv6(&self, keys: Keys<'_, Ipv6>, out: &mut [Id]) {
        self.0.lookup_ids(keys, out);
    }
}

impl Store for FileStore {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn max_code(&self) -> usize {
        self.0.row_count()
    }

    fn exact(&self, prefix: IpPrefix) -> Option<NextHopId> {
        code(self.0.get(prefix)?.number())
    }

    fn longest(&self, addr: IpAddr) -> Option<(IpPrefix, NextHopId)> {
        let (prefix, row) = self.0.get_lpm(addr)?;
        Some((prefix, code(row.number())?))
    }

    fn cover(&self, prefix: IpPrefix) -> Vec<(IpPrefix, NextHopId)> {
        let cover = self.0.cover(prefix);
        cover.filter_map(|(prefix, row)| Some((prefix, code(row.number())?))).collect()
    }

    fn children(&self, prefix: IpPrefix) -> Vec<(IpPrefix, NextHopId)> {
        let children = self.0.children(prefix);
        children.filter_map(|(prefix, row)| Some((prefix, code(row.number())?))).collect()
    }

    fn routes(&self) -> Vec<(IpPrefix, NextHopId)> {
        let routes = self.0.iter();
        routes.filter_map(|(prefix, row)| Some((prefix, code(row.number())?))).collect()
    }

    fn compile_routes(&self) -> CompileRoutes {
        let table = self.0.clone();
        Box::new(move |spec| {
            if table.answers() == Answers::Routes {
                return Ok(Box::new(FileRoutes(table)));
            }
            let table = table.to_data().into_table();
            Ok(Box::new(table.freeze(spec.answers(Answers::Routes))?))
        })
    }

    fn engines(&self) -> (String, String) {
        (self.0.ipv4().variant(), self.0.ipv6().variant())
    }
}

/// The rows of a file, by their codes.
pub struct FileCells(pub FileTable);

impl CellSource for FileCells {
    fn columns(&self) -> &[Column] {
        self.0.columns()
    }

    fn cell(&self, code: usize, column: usize) -> Cell<&str> {
        let number = code.checked_sub(1).and_then(|number| u32::try_from(number).ok());
        number.and_then(|number| self.0.row_at(number)).map_or(Cell::Null, |row| row.get(column))
    }
}

/// How a file was opened, and which content it had.
#[derive(Clone)]
pub struct Opened {
    /// Absolute, so that it names the file in every directory and process.
    pub path: PathBuf,
    pub trust: bool,
    /// Whether the file is mapped, or its content copied.
    pub mmap: bool,
    /// The checksum of the file's header, which has the checksums of all parts.
    pub identity: u64,
}

/// Opens a compiled table.
///
/// # Errors
/// When the file cannot be read, or is no compiled table.
pub fn open_table(
    py: Python<'_>,
    path: &Path,
    trust: bool,
    mmap: bool,
) -> PyResult<(FileTable, Opened)> {
    let path = std::path::absolute(path)
        .map_err(|error| io_error(&error, format!("{}: {error}", path.display())))?;
    let open = || {
        // Once more if the file was replaced between the reads.
        loop {
            let identity = identity(&path);
            let table = match (mmap, trust) {
                // SAFETY: the documentation of `open` and of `load` states that an open file is only replaced.
                (true, true) => unsafe { FileTable::map_trusted(&path) },
                // SAFETY: the same.
                (true, false) => unsafe { FileTable::map(&path) },
                (false, true) => FileTable::open_trusted(&path),
                (false, false) => FileTable::open(&path),
            }?;
            if let Some(identity) = identity.filter(|it| self::identity(&path) == Some(*it)) {
                return Ok((table, identity));
            }
        }
    };
    let (table, identity) = py.detach(open).map_err(|error: FileError| file_error(&error))?;
    Ok((table, Opened { path, trust, mmap, identity }))
}

/// The checksum of a file's header.
fn identity(path: &Path) -> Option<u64> {
    let mut header = [0; 64];
    File::open(path).and_then(|mut file| file.read_exact(&mut header)).ok()?;
    header.last_chunk().copied().map(u64::from_le_bytes)
}

/// The exception for a file that cannot be opened or written.
pub fn file_error(error: &FileError) -> PyErr {
    let text = error.to_string();
    match error.kind() {
        FileErrorKind::Io { error, .. } => io_error(error, text),
        // The function of this package, not that of the library.
        _ => PyValueError::new_err(text.replace("`FileSpec`", "`longmatch.compile`")),
    }
}

/// The exception for an error of the system.
pub fn io_error(error: &std::io::Error, text: String) -> PyErr {
    match error.kind() {
        std::io::ErrorKind::NotFound => PyFileNotFoundError::new_err(text),
        std::io::ErrorKind::PermissionDenied => PyPermissionError::new_err(text),
        _ => PyOSError::new_err(text),
    }
}

/// The form of a compiled file.
pub fn file_spec(answers: &str) -> PyResult<FileSpec> {
    match answers {
        "routes" => Ok(FileSpec::default().answers(Answers::Routes)),
        "values" => Ok(FileSpec::default().answers(Answers::Values)),
        other => {
            Err(PyValueError::new_err(format!("answers={other:?}: expected 'routes' or 'values'")))
        }
    }
}

/// Writes a compiled table.
pub fn write(py: Python<'_>, data: &PrefixData, path: &Path, spec: &FileSpec) -> PyResult<()> {
    py.detach(|| spec.write(data, path)).map(drop).map_err(|error| file_error(&error))
}
