//! Tables from files, and the embedded one.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use longmatch::file::{FileErrorKind, FileTable};
use longmatch::table::{ColumnType, PrefixData};
use longmatch_feed::{
    DataLoader, Duplicates, FeedError, Join, KeptColumn, Options, Problem, Report,
};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

use crate::file::{file_spec, io_error, open_table, write};
use crate::frame::{frame_data, is_frame};
use crate::frozen::FrozenTable;
use crate::mmdb::is_mmdb;

/// The table in the package: the autonomous system that originates each prefix, its number and its name.
///
/// It is the default table of the command line: both families, columns ``asn`` and ``name``, without special-purpose
/// addresses. data/PROVENANCE.md has its date, its sources and their licences. Loaded once, in about a second.
///
/// >>> longmatch.asn().lookup("1.1.1.1")
/// {'asn': 13335, 'name': 'Cloudflare, Inc.'}
#[pyfunction]
pub fn asn(py: Python<'_>) -> PyResult<Py<FrozenTable>> {
    static TABLE: PyOnceLock<Py<FrozenTable>> = PyOnceLock::new();
    let table = TABLE.get_or_try_init(py, || {
        let read = || {
            let mut loader = DataLoader::new(Options::default());
            loader.bytes(longmatch_cli::default_table(), Some("asn.lm"))?;
            loader.finish()
        };
        let data = py.detach(read).map_err(|error| {
            PyRuntimeError::new_err(format!("the table in the package cannot be read: {error}"))
        })?;
        Py::new(py, FrozenTable::of_data(py, data, "auto", true)?)
    })?;
    Ok(table.clone_ref(py))
}

/// The options of ``load`` and ``compile``.
#[derive(Default)]
pub struct LoadOptions {
    options: Options,
    /// The names of the given options.
    given: Vec<String>,
}

impl<'a, 'py> FromPyObject<'a, 'py> for LoadOptions {
    type Error = PyErr;

    /// Reads the keyword arguments.
    fn extract(options: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let mut read = Self { options: Options::default(), given: Vec::new() };
        for (name, value) in options.cast::<PyDict>()?.iter() {
            if !value.is_none() {
                let name: String = name.extract()?;
                set(&mut read.options, &name, &value)?;
                read.given.push(name);
            }
        }
        Ok(read)
    }
}

/// Sets an option of ``load``.
fn set(options: &mut Options, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    match name {
        "format" => options.format = parsed(name, value)?,
        "delimiter" => options.delimiter = Some(parsed(name, value)?),
        "header" => options.header = Some(value.extract()?),
        "prefix" => options.prefix = names(value)?,
        "columns" => options.columns = Some(kept_columns(value)?),
        "types" => {
            for (column, ty) in value.cast::<PyDict>()?.iter() {
                options.types.push((column.extract()?, column_type(&ty)?));
            }
        }
        "value" => options.value = Some(parsed(name, value)?),
        "join" => {
            for (column, path) in value.cast::<PyDict>()?.iter() {
                let path: PathBuf = path.extract()?;
                let text = format!("{}=", column.str()?.to_string_lossy());
                let mut join: Join = (text + "FILE")
                    .parse()
                    .map_err(|error| PyValueError::new_err(format!("{name}: {error}")))?;
                join.path = path;
                options.joins.push(join);
            }
        }
        "where" => {
            for (column, cell) in value.cast::<PyDict>()?.iter() {
                options.filters.push((column.str()?.to_string(), cell.str()?.to_string()));
            }
        }
        "duplicates" => options.duplicates = parsed(name, value)?,
        "peer" => options.peer = Some(parsed(name, value)?),
        "lenient" => options.lenient = value.extract()?,
        "strict" => options.mask_host_bits = !value.extract::<bool>()?,
        _ => {
            return Err(PyTypeError::new_err(format!(
                "unknown option {name:?}: the options are format, delimiter, header, prefix, columns, types, join, where, value, duplicates, peer, lenient, strict"
            )));
        }
    }
    Ok(())
}

/// An option from its text.
fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(
    name: &str,
    value: &Bound<'_, PyAny>,
) -> PyResult<T> {
    let text = value.str()?.to_string_lossy().into_owned();
    text.parse().map_err(|error| PyValueError::new_err(format!("{name}: {error}")))
}

/// One name or number of a column, or several.
fn names(value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        return value.try_iter()?.map(|name| Ok(name?.str()?.to_string_lossy().into())).collect();
    }
    Ok(vec![value.str()?.to_string_lossy().into_owned()])
}

/// The columns to keep: names, or a dict of names to new names.
fn kept_columns(value: &Bound<'_, PyAny>) -> PyResult<Vec<KeptColumn>> {
    let infallible = |text: String| text.parse::<KeptColumn>().map_err(|never| match never {});
    if let Ok(renamed) = value.cast::<PyDict>() {
        let pair = |(old, new): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            infallible(format!("{}={}", old.str()?.to_string_lossy(), new.str()?.to_string_lossy()))
        };
        return renamed.iter().map(pair).collect();
    }
    names(value)?.into_iter().map(infallible).collect()
}

fn column_type(ty: &Bound<'_, PyAny>) -> PyResult<ColumnType> {
    let name = match ty.getattr("__name__") {
        Ok(name) => name.str()?,
        Err(_) => ty.str()?,
    };
    match &*name.to_string_lossy() {
        "str" | "string" => Ok(ColumnType::String),
        "int" | "i64" | "int64" => Ok(ColumnType::I64),
        "u64" | "uint64" => Ok(ColumnType::U64),
        "float" | "f64" | "float64" => Ok(ColumnType::F64),
        other => Err(PyValueError::new_err(format!(
            "types: {other:?} is not a type of a column: expected str, int, float, 'u64' or 'i64'"
        ))),
    }
}

/// What ``load`` reads.
enum Input {
    Path(PathBuf),
    Bytes(Vec<u8>),
}

impl Input {
    fn new(source: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = source.cast::<PyBytes>() {
            return Ok(Self::Bytes(bytes.as_bytes().to_vec()));
        }
        if source.hasattr("read")? {
            let read = source.call_method0("read")?;
            let Ok(bytes) = read.cast::<PyBytes>() else {
                let text = "a file that was opened as text: open it with mode 'rb'";
                return Err(PyTypeError::new_err(text));
            };
            return Ok(Self::Bytes(bytes.as_bytes().to_vec()));
        }
        source.extract().map(Self::Path).map_err(|_| {
            let ty = source.get_type();
            let name = ty.name().map_or_else(|_| "object".into(), |name| name.to_string());
            PyTypeError::new_err(format!(
                "a source of type {name}: expected a path, bytes, a file opened as 'rb', a DataFrame, a table of Arrow, or a list of these"
            ))
        })
    }

    /// One input or a list of several.
    fn all(source: &Bound<'_, PyAny>) -> PyResult<Vec<Self>> {
        if source.is_instance_of::<PyList>() || source.is_instance_of::<PyTuple>() {
            return source.try_iter()?.map(|input| Self::new(&input?)).collect();
        }
        Ok(vec![Self::new(source)?])
    }
}

/// The routes of a source that is a frame; `None` for others.
fn frame(
    source: &Bound<'_, PyAny>,
    options: &Options,
    given: &[String],
) -> PyResult<Option<PrefixData>> {
    if !is_frame(source)? {
        return Ok(None);
    }
    if let Some(other) = given
        .iter()
        .find(|name| !matches!(&***name, "prefix" | "columns" | "duplicates" | "strict"))
    {
        return Err(PyTypeError::new_err(format!(
            "{other}: a frame takes the options prefix, columns, duplicates and strict; cast and filter its columns before"
        )));
    }
    if options.duplicates == Duplicates::Join {
        return Err(PyValueError::new_err("duplicates: a frame takes 'last', 'first' or 'error'"));
    }
    frame_data(source, options).map(Some)
}

fn feed_error(error: &FeedError) -> PyErr {
    match &error.problem {
        Problem::Open(cause) => io_error(cause, error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// Reads inputs into one table; warns of skipped parts.
fn read(py: Python<'_>, inputs: &[Input], options: Options) -> PyResult<PrefixData> {
    let (data, reports) = py
        .detach(|| {
            let mut loader = DataLoader::new(options);
            let reports = inputs.iter().map(|input| match input {
                Input::Path(path) => loader.path(path),
                Input::Bytes(bytes) => loader.bytes(bytes, None),
            });
            let reports = reports.collect::<Result<Vec<Report>, FeedError>>()?;
            Ok((loader.finish()?, reports))
        })
        .map_err(|error| feed_error(&error))?;
    let category = py.get_type::<PyUserWarning>();
    for warning in reports.iter().flat_map(Report::warnings) {
        let warning = std::ffi::CString::new(warning.replace('\0', " "))?;
        PyErr::warn(py, &category, &warning, 1)?;
    }
    Ok(data)
}

/// Reads prefix data of any format and compiles it.
///
/// ``source`` is a path, bytes, a file opened as ``"rb"``, or a list of these, which make one table; or a frame: a DataFrame of
/// pandas or polars, a table of Arrow, a relation of DuckDB, the path of a Parquet file. A frame takes the options ``prefix``
/// (the name of the column of prefixes; by default the first whose first cell is one), ``columns``, ``duplicates`` and ``strict``. The
/// format is
/// recognised from the content, also if it is compressed (gzip, bzip2, zstd, xz); of a zip or tar archive the only file of
/// data is read, or ``"FILE:MEMBER"``: text with any columns (CSV, TSV, with
/// or without a header), JSON, lists of prefixes, address ranges (start, end, ...), pyasn .dat, CAIDA pfx2as, sets of
/// ipset and nft, MRT and other routing tables, MaxMind .mmdb, compiled tables (.lm). A compiled table alone, without options, is
/// mapped as by ``open``: while the table is in use its file is only replaced, never written into.
///
/// The options, all by name: ``format`` (``"auto"`` or a name of docs/formats.md, such as ``"csv"``), ``delimiter``, ``header``, ``prefix`` (name or number of the column of prefixes, or two for
/// ranges), ``columns`` (names to keep, or a dict with new names), ``types`` (a dict of names to ``str``, ``int``,
/// ``float``), ``join`` (a dict of columns, ``"column"`` or ``"column:key"``, to files of text whose columns are added, such as
/// GeoLite2's Locations), ``where`` (a dict of columns to the cells that rows must have), ``value`` (of MRT and ``bgpdump -m``: ``"origin-as"``, ``"next-hop"``,
/// ``"as-path"``, ``"peer"`` or ``"communities"``), ``duplicates`` (which of several rows with one prefix counts: ``"last"``,
/// ``"first"``, ``"join"`` of their texts, or ``"error"``), ``peer``, ``lenient`` (leaves out what is
/// damaged, with a warning), ``strict`` (``False`` clears host bits).
///
/// The value of a prefix is the cell of its only column, a dict where there are several, ``True`` where there is none.
///
/// >>> table = longmatch.load(b"network,asn,site\n192.0.2.0/24,64500,office\n")
/// >>> table.lookup("192.0.2.1")
/// {'asn': 64500, 'site': 'office'}
#[pyfunction]
#[pyo3(signature = (source, /, *, engine="auto", **options))]
pub fn load(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    engine: &str,
    options: Option<LoadOptions>,
) -> PyResult<FrozenTable> {
    let plain = options.is_none() && engine == "auto";
    let LoadOptions { options, given } = options.unwrap_or_default();
    let strict = !options.mask_host_bits;
    if let Some(data) = frame(source, &options, &given)? {
        return FrozenTable::of_data(py, data, engine, strict);
    }
    let inputs = Input::all(source)?;
    if let ([Input::Path(path)], true) = (&*inputs, plain)
        && is_compiled(path)
    {
        return open(py, path.clone(), false, true);
    }
    FrozenTable::of_data(py, read(py, &inputs, options)?, engine, strict)
}

/// Whether the file begins as a compiled table; `false` if it cannot be read.
fn is_compiled(path: &Path) -> bool {
    let mut head = [0; 64];
    let read = File::open(path).and_then(|mut file| file.read(&mut head));
    let Ok(len) = read else { return false };
    // Of bytes without the magic ones, too few get the error of a length, others that of the magic bytes.
    let error = FileTable::from_bytes(&head[..len]).err();
    len == head.len()
        && !error.is_some_and(|error| matches!(error.kind(), FileErrorKind::NotLongmatch))
}

/// Reads prefix data as ``load`` does and writes it as a compiled table, which ``open`` opens in milliseconds.
///
/// The file is replaced in one step; processes that have the old one open keep it. ``answers`` is ``"routes"``, or ``"values"``
/// for a smaller file that finds values faster and prefixes slower.
#[pyfunction]
#[pyo3(signature = (source, path, /, *, answers="routes", **options))]
pub fn compile(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    path: PathBuf,
    answers: &str,
    options: Option<LoadOptions>,
) -> PyResult<()> {
    let spec = file_spec(answers)?;
    if is_mmdb(&path) {
        return Err(PyValueError::new_err(format!(
            "{}: compile writes compiled tables (.lm): FrozenTable.save writes a MaxMind DB",
            path.display()
        )));
    }
    if let Ok(table) = source.cast::<FrozenTable>() {
        return match options {
            None => table.get().write(py, &path, &spec),
            Some(_) => Err(PyTypeError::new_err("a table was loaded already: it takes no options")),
        };
    }
    if let Ok(table) = source.cast::<crate::table::Table>() {
        let table = table.get().freeze(py, "linear")?;
        return table.write(py, &path, &spec);
    }
    let LoadOptions { options, given } = options.unwrap_or_default();
    let data = match frame(source, &options, &given)? {
        Some(data) => data,
        None => read(py, &Input::all(source)?, options)?,
    };
    write(py, &data, &path, &spec)
}

/// Opens a compiled table (.lm): in milliseconds, shared with all processes that have it open.
///
/// With ``trust=True`` the checksums are not verified, which is faster; a damaged file may then give wrong answers, but
/// nothing outside of it is read. A table whose file is replaced stays as it is; ``table.reload()`` returns the new one.
///
/// The file is mapped into memory. To change it while it is open, rename another file to its name (``os.replace``), as
/// ``compile`` and ``save`` do: a program that writes into it, as ``shutil.copy`` does, may crash all processes that have it
/// open. With ``mmap=False`` the table keeps a copy of the content, which nobody can change and no process shares.
#[pyfunction]
#[pyo3(signature = (path, /, *, trust=false, mmap=true))]
pub fn open(py: Python<'_>, path: PathBuf, trust: bool, mmap: bool) -> PyResult<FrozenTable> {
    let (table, opened) = open_table(py, &path, trust, mmap)?;
    Ok(FrozenTable::of_file(table, opened))
}
