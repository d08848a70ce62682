//! Compiled tables in files, behind frozen tables.

use std::net::IpAddr;
use std::path::Path;

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

    fn covering(&self, prefix: IpPrefix) -> Option<(IpPrefix, NextHopId)> {
        let (prefix, row) = self.0.cover(prefix).last()?;
        Some((prefix, code(row.number())?))
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

/// The exception for a file that cannot be opened or written.
pub fn file_error(error: &FileError) -> PyErr {
    let text = error.to_string();
    match error.kind() {
        FileErrorKind::Io { error, .. } => io_error(error, text),
        _ => PyValueError::new_err(text),
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
