//! MaxMind DB files, which `FrozenTable.save` writes for a path that ends with `.mmdb`.

use std::collections::BTreeMap;
use std::path::Path;

use longmatch::table::PrefixData;
use longmatch_feed::mmdb::{MmdbError, MmdbField, MmdbOptions, write_path};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::file::{file_error, io_error};

/// Whether the path is that of a MaxMind DB.
pub fn is_mmdb(path: &Path) -> bool {
    path.extension().is_some_and(|suffix| suffix.eq_ignore_ascii_case("mmdb"))
}

/// A description in English, or descriptions by their languages.
#[derive(FromPyObject)]
pub enum Description {
    Text(String),
    ByLanguage(BTreeMap<String, String>),
}

/// The keywords of `save` that only a MaxMind DB has.
pub struct Given {
    pub database_type: Option<String>,
    pub languages: Option<Vec<String>>,
    pub description: Option<Description>,
    pub fields: Option<BTreeMap<String, String>>,
    pub build_time: Option<u64>,
    pub aliases: bool,
    pub drop_compatible: bool,
}

impl Given {
    /// Refuses keywords for another file than a MaxMind DB.
    pub fn refuse(&self) -> PyResult<()> {
        let given = [
            (self.database_type.is_some(), "database_type"),
            (self.languages.is_some(), "languages"),
            (self.description.is_some(), "description"),
            (self.fields.is_some(), "fields"),
            (self.build_time.is_some(), "build_time"),
            (self.aliases, "aliases"),
            (self.drop_compatible, "drop_compatible"),
        ];
        match given.iter().find(|(is_given, _)| *is_given) {
            None => Ok(()),
            Some((_, keyword)) => Err(PyTypeError::new_err(format!(
                "{keyword}=: only a MaxMind DB has it: give a path that ends with .mmdb"
            ))),
        }
    }

    /// The options of the writer.
    pub fn options(self) -> PyResult<MmdbOptions> {
        let mut options = MmdbOptions::default();
        if let Some(name) = self.database_type {
            options.database_type = name;
        }
        options.languages = self.languages.unwrap_or_default();
        options.descriptions = match self.description {
            None => Vec::new(),
            Some(Description::Text(text)) => vec![("en".to_owned(), text)],
            Some(Description::ByLanguage(texts)) => texts.into_iter().collect(),
        };
        let fields = self.fields.unwrap_or_default().into_iter();
        options.fields =
            fields.map(|(column, place)| field(column, &place)).collect::<PyResult<_>>()?;
        options.build_time = self.build_time;
        options.aliases = self.aliases;
        options.drop_compatible = self.drop_compatible;
        Ok(options)
    }
}

/// The place of a column: `path` or `path:type`.
fn field(column: String, place: &str) -> PyResult<MmdbField> {
    let (path, ty) = match place.rsplit_once(':') {
        None => (place, None),
        Some((path, name)) => {
            let ty = name.parse().map_err(|()| {
                PyValueError::new_err(format!(
                    "fields={{{column:?}: {place:?}}}: {name:?} is not a type: the types are string, double, bytes, \
                     uint16, uint32, uint64, uint128, int32 and boolean"
                ))
            })?;
            (path, Some(ty))
        }
    };
    Ok(MmdbField { column, path: path.to_owned(), ty })
}

/// Writes a MaxMind DB.
pub fn write(
    py: Python<'_>,
    data: &PrefixData,
    path: &Path,
    options: &MmdbOptions,
) -> PyResult<()> {
    let written = py.detach(|| write_path(data, options, path));
    written.map(drop).map_err(|error| match &error {
        MmdbError::File(error) => file_error(error),
        MmdbError::Write(cause) => io_error(cause, format!("{}: {error}", path.display())),
        _ => {
            let advice = match &error {
                MmdbError::Compatible { .. } => " (drop_compatible=True leaves out all of them)",
                MmdbError::Cell { .. } | MmdbError::Path { .. } | MmdbError::Collision { .. } => {
                    " (fields={\"column\": \"path:type\"})"
                }
                _ => "",
            };
            PyValueError::new_err(format!("{}: {error}{advice}", path.display()))
        }
    })
}
