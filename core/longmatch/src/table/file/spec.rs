//! How a file is compiled.

use std::path::Path;

use super::disk;
use super::error::FileError;
use super::layout::Header;
use super::writer::{self, RowNumbers};
use crate::engine::images::Images;
use crate::engine::{EngineKind, EngineSpec};
use crate::table::route_ids::{numbered, renamed};
use crate::table::{Answers, PrefixData};

/// How prefix data are compiled to a file.
///
/// By default ids identify routes, so that lookups return the matched prefix, and the engine is
/// Folio.
///
/// ```
/// use longmatch::Answers;
/// use longmatch::file::{FileSpec, FileTable};
/// use longmatch::table::PrefixData;
/// let spec = FileSpec::default().answers(Answers::Values);
/// let table = FileTable::from_bytes(spec.to_bytes(&PrefixData::default())?)?;
/// assert_eq!(table.answers(), Answers::Values);
/// # Ok::<(), longmatch::file::FileError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileSpec {
    ipv4: EngineSpec,
    ipv6: EngineSpec,
    answers: Answers,
}

/// What [`FileSpec::write`] has written.
///
/// ```
/// use longmatch::file::FileSpec;
/// use longmatch::table::PrefixData;
/// # let path = std::env::temp_dir().join(format!("longmatch-report-{}.lm", std::process::id()));
/// let report = FileSpec::default().write(&PrefixData::default(), &path)?;
/// assert_eq!((report.routes, report.rows), (0, 0));
/// assert_eq!(report.bytes, std::fs::metadata(&path)?.len());
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct FileReport {
    /// Length of the file.
    pub bytes: u64,
    /// Number of routes of both families.
    pub routes: usize,
    /// Number of distinct rows.
    pub rows: usize,
}

impl Default for FileSpec {
    /// Folio for both families; ids identify routes.
    fn default() -> Self {
        let folio = EngineSpec::from(EngineKind::Folio);
        Self { ipv4: folio.clone(), ipv6: folio, answers: Answers::Routes }
    }
}

impl FileSpec {
    /// The same with other answers.
    ///
    /// Ids of [`Answers::Values`] are those of rows: lookups are faster, but do not know the prefix.
    #[must_use]
    pub fn answers(self, answers: Answers) -> Self {
        Self { answers, ..self }
    }

    /// The same with another engine for both families.
    ///
    /// [`EngineKind::Auto`] means one that files can hold.
    ///
    /// ```
    /// use longmatch::EngineKind;
    /// use longmatch::file::FileSpec;
    /// use longmatch::table::PrefixData;
    /// let refused = FileSpec::default().engine(EngineKind::Linear).to_bytes(&PrefixData::default());
    /// assert!(refused.unwrap_err().to_string().contains("use 'folio'"));
    /// ```
    #[must_use]
    pub fn engine(self, engine: impl Into<EngineSpec>) -> Self {
        let engine = engine.into();
        Self { ipv4: engine.clone(), ipv6: engine, ..self }
    }

    /// The same with another engine for IPv4.
    #[must_use]
    pub fn ipv4(self, engine: impl Into<EngineSpec>) -> Self {
        Self { ipv4: engine.into(), ..self }
    }

    /// The same with another engine for IPv6.
    #[must_use]
    pub fn ipv6(self, engine: impl Into<EngineSpec>) -> Self {
        Self { ipv6: engine.into(), ..self }
    }

    /// Compiles data to the bytes of a file. Equal data and specs give equal bytes on every machine.
    ///
    /// ```
    /// use longmatch::file::{FileSpec, FileTable};
    /// use longmatch::table::PrefixData;
    /// let bytes = FileSpec::default().to_bytes(&PrefixData::default())?;
    /// assert!(FileTable::from_bytes(bytes)?.is_empty());
    /// # Ok::<(), longmatch::file::FileError>(())
    /// ```
    ///
    /// # Errors
    /// When a file cannot hold the engine, the engine does not hold the routes, or the data exceed a
    /// limit of the format.
    pub fn to_bytes(&self, data: &PrefixData) -> Result<Vec<u8>, FileError> {
        self.compile(data).map(|(bytes, _)| bytes)
    }

    /// Compiles data to a file, which replaces the one at the path.
    ///
    /// The file is written beside it and renamed once the disk has it.
    /// A process that has the old file open keeps it. A process that is killed meanwhile may leave
    /// the new file, with a name that begins with a dot and ends with `.tmp`. A device or a pipe is
    /// written in place.
    ///
    /// ```
    /// use longmatch::file::{FileSpec, FileTable};
    /// use longmatch::table::PrefixData;
    /// # let path = std::env::temp_dir().join(format!("longmatch-write-{}.lm", std::process::id()));
    /// FileSpec::default().write(&PrefixData::default(), &path)?;
    /// assert!(FileTable::open(&path)?.is_empty());
    /// # std::fs::remove_file(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`FileSpec::to_bytes`], and when the system refuses to write. The old file is
    /// unchanged then.
    pub fn write(
        &self,
        data: &PrefixData,
        path: impl AsRef<Path>,
    ) -> Result<FileReport, FileError> {
        let path = path.as_ref();
        let (bytes, report) = self.compile(data).map_err(|error| error.at(path))?;
        disk::replace(path, &bytes)?;
        Ok(report)
    }

    fn compile(&self, data: &PrefixData) -> Result<(Vec<u8>, FileReport), FileError> {
        let table = data.table();
        let numbers = RowNumbers::of(data);
        let (ipv4, ipv6) = match self.answers {
            Answers::Routes => numbered(&table.ipv4, &table.ipv6),
            Answers::Values => (
                renamed(&table.ipv4, |route| numbers.number(route.next_hop)),
                renamed(&table.ipv6, |route| numbers.number(route.next_hop)),
            ),
        };
        let mut pieces: Vec<_> = writer::image(b'4', Images::image(&self.ipv4, &ipv4)?).collect();
        pieces.extend(writer::image(b'6', Images::image(&self.ipv6, &ipv6)?));
        pieces.extend(writer::routes(data, &numbers));
        let (values, strings) = writer::values(data.columns(), &numbers.rows)?;
        pieces.extend(values);
        let header = Header {
            routes: self.answers == Answers::Routes,
            keep_mapped: table.keep_mapped,
            rows: numbers.rows.len() as u32,
            ipv4: ipv4.len() as u32,
            ipv6: ipv6.len() as u32,
            columns: data.columns().len() as u32,
            strings,
        };
        let bytes = writer::file(header, &pieces);
        let (routes, rows) = (table.len(), numbers.rows.len());
        let report = FileReport { bytes: bytes.len() as u64, routes, rows };
        Ok((bytes, report))
    }
}
