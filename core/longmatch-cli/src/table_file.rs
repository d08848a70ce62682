//! Table files of `--table`: their values as text, and their compiled form as an engine.

use std::io::Read;
use std::path::Path;

use longmatch::file::{FileErrorKind, FileRow, FileTable};
use longmatch::simd::Simd;
use longmatch::{
    Answers, CompileError, Corrupt, Engine, Lookup, MemoryUsage, NextHopId, Rib, Structure, Table,
};
use longmatch_feed::{Limits, Problem, Stream, open_file};

use crate::args::FileOption;
use crate::error::CliError;
use crate::families::{CliFamily, Families};
use crate::paths::is_stdin;

/// The table of `--table`.
const MAPPED: &str = "a compiled table";

/// Opens the file of `--table`.
///
/// # Errors
/// If it cannot be opened, is not a table or is damaged, or if there are options of files to be read.
pub fn open(
    path: &Path,
    trust: bool,
    options: impl Iterator<Item = FileOption>,
) -> Result<FileTable, CliError> {
    require_routes(options, MAPPED)?;
    if is_stdin(path) {
        return Err(CliError::new("--table does not accept '-': it maps a file into memory"));
    }
    #[cfg(unix)]
    crate::bus_error::name_file(path);
    let opened = match trust {
        // SAFETY: the help and the guide of `--table` state that a file in use is only replaced.
        true => unsafe { FileTable::map_trusted(path) },
        // SAFETY: the same.
        false => unsafe { FileTable::map(path) },
    };
    match opened {
        Err(error) if matches!(error.kind(), FileErrorKind::NotLongmatch) => decompressed(path),
        opened => opened.map_err(|error| CliError::file(&error)),
    }
}

/// Opens a compressed table, decompressed into memory.
fn decompressed(path: &Path) -> Result<FileTable, CliError> {
    let failed = |problem: Problem| CliError::input(path.display(), problem);
    let file = open_file(path).map_err(|error| failed(Problem::Open(error)))?;
    let other = "not a table of 'longmatch compile': --routes reads files of prefixes";
    let wrong = || CliError::input(path.display(), other);
    let mut stream = Stream::new(Box::new(file)).map_err(|_| wrong())?;
    if stream.codec().is_none() {
        return Err(wrong());
    }
    let limit = Limits::default().spool;
    let mut bytes = Vec::new();
    let read = stream.by_ref().take(limit + 1).read_to_end(&mut bytes);
    read.map_err(|error| failed(stream.explain(error)))?;
    if bytes.len() as u64 > limit {
        return Err(CliError::input(
            path.display(),
            "a compressed table of more than 1 GiB: decompress the file first",
        ));
    }
    FileTable::from_bytes(bytes).map_err(|error| match error.kind() {
        FileErrorKind::NotLongmatch => wrong(),
        _ => CliError::input(path.display(), error),
    })
}

/// Refuses options of files to be read, which do not apply to a table, called `table`.
///
/// # Errors
/// If there is one.
pub fn require_routes(
    mut options: impl Iterator<Item = FileOption>,
    table: &str,
) -> Result<(), CliError> {
    match options.next() {
        Some((option @ ("--where" | "--join"), _)) if table == MAPPED => {
            let reason = "which reads a compiled table too; --table maps it as it is";
            Err(CliError::new(format!("{option} needs --routes, {reason}")))
        }
        Some((option, noun)) => {
            Err(CliError::new(format!("{option} needs --routes: {table} has no {noun}")))
        }
        None => Ok(()),
    }
}

/// The cells of a row, separated by commas: the text of a next hop.
fn text(row: FileRow<'_>) -> Box<str> {
    let cells: Vec<_> = row.iter().map(|cell| cell.to_string()).collect();
    cells.join(",").into()
}

/// The routes of a file with the texts of their rows.
///
/// # Errors
/// If the table does not hold the routes.
pub fn texts(file: &FileTable, families: Families) -> Result<Table<Box<str>>, CliError> {
    let mut table = Table::<Box<str>>::new().keep_mapped();
    // Each row is made into text once.
    let mut texts = vec![None::<Box<str>>; file.row_count()];
    for (prefix, row) in file.iter().filter(|(prefix, _)| families.keep(*prefix)) {
        let added = match texts.get_mut(row.number() as usize) {
            Some(known) => table.insert_borrowed(prefix, &**known.get_or_insert_with(|| text(row))),
            None => table.insert(prefix, text(row)),
        };
        added.map_err(|error| CliError::input("--table", error))?;
    }
    Ok(table)
}

/// The routes of a family with the ids that the file's compiled form gives them.
pub fn ids<F: CliFamily>(file: &FileTable) -> Result<Rib<F>, CliError> {
    let mut rib = Rib::new();
    let failed = |error| CliError::input("--table", error);
    let mut add = |prefix, next_hop| match F::prefix(prefix) {
        Some(prefix) => rib.insert(prefix, next_hop).map(drop).map_err(failed),
        None => Ok(()),
    };
    match file.answers() {
        Answers::Routes => {
            let ids = (1..=file.len() as u32).filter_map(NextHopId::new);
            for (id, (prefix, _)) in ids.filter_map(|id| Some((id, file.route(id)?))) {
                add(prefix, id)?;
            }
        }
        _ => {
            for (prefix, row) in file.iter() {
                if let Some(id) = NextHopId::new(row.number() + 1) {
                    add(prefix, id)?;
                }
            }
        }
    }
    Ok(rib)
}

/// The text of an id of a file's compiled form.
pub fn next_hop(file: &FileTable, id: NextHopId) -> String {
    match file.row(id) {
        Some(row) => text(row).into(),
        None => "?".to_owned(),
    }
}

/// The compiled form of a family in a file, as an engine to measure and verify.
pub struct FileEngine {
    file: FileTable,
}

impl FileEngine {
    /// The compiled form of a file.
    pub fn new(file: FileTable) -> Self {
        Self { file }
    }
}

impl<F: CliFamily> Lookup<F> for FileEngine {
    fn lookup_bits(&self, addr: F::Bits) -> Option<NextHopId> {
        F::fib(&self.file).lookup_bits(addr)
    }

    fn lookup_batch_with(&self, simd: Simd, addrs: &[F::Bits], out: &mut [Option<NextHopId>]) {
        F::fib(&self.file).lookup_batch_with(simd, addrs, out);
    }

    fn memory_usage(&self) -> MemoryUsage {
        F::fib(&self.file).memory_usage()
    }
}

impl<F: CliFamily> Structure<F> for FileEngine {
    const NAME: &'static str = "file";
    const BATCHES: bool = true;

    fn variant(&self) -> String {
        let fib = F::fib(&self.file);
        format!("{} {}", fib.name(), fib.variant()).trim_end().to_owned()
    }
}

impl<F: CliFamily> Engine<F> for FileEngine {
    type Config = ();

    fn compile(rib: &Rib<F>, (): &()) -> Result<Self, CompileError> {
        let _ = rib;
        Err(CompileError::Family { engine: "file", family: F::NAME })
    }

    fn check(&self, rib: &Rib<F>) -> Result<(), Corrupt> {
        F::fib(&self.file).check(rib)
    }
}
