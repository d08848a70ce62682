//! `longmatch compile`: prefixes and their columns into a table file, a MaxMind DB or disjoint ranges.

mod ranges;

use std::io::Write;
use std::time::Instant;

use longmatch::IpPrefix;
use longmatch::file::{FileReport, FileSpec};
use longmatch::table::PrefixData;
use longmatch_feed::mmdb::{self, MmdbError, MmdbReport};
use longmatch_feed::{DataLoader, printable};
use serde::Serialize;

use crate::args::{AnswersArg, ColumnArgs, CompileArgs};
use crate::error::{Advice, CliError, Outcome, Status};
use crate::families::Families;
use crate::output::{Align, Grid, Out, bytes, plural, thousands};
use crate::paths::{display_name, is_stdin};
use crate::progress::Progress;
use crate::target;
use crate::{default_table, lists, prefix_data};

/// Runs the command.
///
/// # Errors
/// If an input cannot be read, is damaged (unless `--lenient`) or does not fit the options; if there
/// is not a prefix; if the file cannot be written.
pub fn run(args: &CompileArgs) -> Outcome {
    if is_stdin(&args.output) {
        return Err(CliError::new("--output does not accept '-': the table is mapped from a file"));
    }
    target::refuse_suffix(
        &args.output,
        &target::COMPRESSED,
        "a table is mapped, so that it is never compressed: leave out the last part of the name",
    )?;
    let inputs = args.files.iter().map(|path| &**path).chain(args.read.rows.joined());
    target::refuse_inputs(&args.output, inputs)?;
    let kind = Kind::of(args)?;
    let started = Instant::now();
    let data = of_families(load(args)?, args.families.into())?;
    let load_seconds = started.elapsed().as_secs_f64();
    let (ipv4, ipv6) = (data.table().ipv4().len(), data.table().ipv6().len());
    if ipv4 + ipv6 == 0 {
        return Err(CliError::new("no prefixes to compile: give others with --routes"));
    }
    let started = Instant::now();
    let progress = Progress::new("compiling".to_owned(), None, "routes");
    let is_output = target::is_output(&args.output);
    let written = kind.write(&data, args)?;
    drop(progress);
    let columns = data.columns().iter();
    let columns = columns.map(|it| Column { name: &it.name, r#type: it.ty.to_string() }).collect();
    let file = display_name(&args.output);
    let write_seconds = started.elapsed().as_secs_f64();
    let Counts { rows, answers, mmdb, ranges, bytes } = written;
    let summary = Written {
        file: &file,
        ipv4_routes: ipv4,
        ipv6_routes: ipv6,
        rows,
        columns,
        answers,
        mmdb,
        ranges,
        bytes,
        load_seconds,
        write_seconds,
    };
    // The table may be in a pipe.
    let mut out = if is_output { Out::stderr() } else { Out::new() };
    match args.json {
        true => out.json(&summary)?,
        false => summary.print(&mut out)?,
    }
    out.flush()?;
    Ok(Status::Ok)
}

/// The form of the output.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A table file.
    Table,
    /// A MaxMind DB.
    Mmdb,
    /// Disjoint ranges.
    Ranges,
}

impl Kind {
    /// The form that the name of the output and the options ask for.
    fn of(args: &CompileArgs) -> Result<Self, CliError> {
        let suffix = args.output.extension().and_then(|suffix| suffix.to_str()).unwrap_or_default();
        let kind = match (&*suffix.to_ascii_lowercase(), args.ranges.ranges) {
            ("csv", true) => Self::Ranges,
            ("parquet", true) if cfg!(feature = "columnar") => Self::Ranges,
            ("parquet", true) => {
                let problem = "this longmatch was built without the feature columnar, which Parquet needs; build with `cargo install --path core/longmatch-cli --features columnar`, or name the output .csv";
                return Err(CliError::input("--ranges", problem));
            }
            (_, true) => {
                let problem =
                    "ranges are CSV or Parquet: give --output a name that ends in .csv or .parquet";
                return Err(CliError::input("--ranges", problem));
            }
            ("csv" | "parquet", false) => {
                let problem =
                    "a table is not a text or a columnar file: name it .lm, or give --ranges";
                return Err(CliError::input(args.output.display(), problem));
            }
            ("mmdb", false) => Self::Mmdb,
            _ => Self::Table,
        };
        if let Some(option) = args.mmdb.first().filter(|_| kind != Self::Mmdb) {
            let problem = "only a MaxMind DB has it: give --output a name that ends in .mmdb";
            return Err(CliError::input(option, problem));
        }
        if kind != Self::Table && args.answers == AnswersArg::Values {
            return Err(CliError::input("--answers", "only tables have it: leave it out"));
        }
        Ok(kind)
    }

    /// Writes the output.
    fn write(self, data: &PrefixData, args: &CompileArgs) -> Result<Counts, CliError> {
        let none = Counts { rows: data.table().next_hops().len(), ..Counts::default() };
        match self {
            Self::Table => {
                let spec = FileSpec::default().answers(args.answers.into());
                let written = spec.write(data, &args.output);
                // The library's message has the path.
                let FileReport { bytes, rows, .. } =
                    written.map_err(|error| CliError::file(&error))?;
                let answers = match args.answers {
                    AnswersArg::Routes => "routes",
                    AnswersArg::Values => "values",
                };
                Ok(Counts { bytes, rows, answers: Some(answers), ..none })
            }
            Self::Mmdb => {
                let written = mmdb::write_path(data, &args.mmdb.options(), &args.output);
                let report = written.map_err(|error| of_mmdb(&error, args))?;
                let MmdbReport { ip_version, nodes, record_size, dropped, bytes, .. } = report;
                let counts = MmdbCounts { ip_version, nodes, record_size, dropped };
                Ok(Counts { rows: report.records, mmdb: Some(counts), bytes, ..none })
            }
            Self::Ranges => {
                let (ranges, bytes) = ranges::write(data, args.ranges.buckets, &args.output)?;
                Ok(Counts { ranges: Some(ranges), bytes, ..none })
            }
        }
    }
}

/// The error of a MaxMind DB, with the option that helps.
fn of_mmdb(error: &MmdbError, args: &CompileArgs) -> CliError {
    let advice = match error {
        MmdbError::File(error) => return CliError::file(error),
        MmdbError::Compatible { .. } => " (--drop-compatible leaves out all of them)",
        MmdbError::Cell { .. } | MmdbError::Path { .. } | MmdbError::Collision { .. } => {
            " (--as column=path:type)"
        }
        _ => "",
    };
    CliError::input(display_name(&args.output), format_args!("{error}{advice}"))
}

/// The numbers of an output.
#[derive(Default)]
struct Counts {
    rows: usize,
    answers: Option<&'static str>,
    mmdb: Option<MmdbCounts>,
    ranges: Option<u64>,
    bytes: u64,
}

/// The tree of a MaxMind DB.
#[derive(Serialize)]
struct MmdbCounts {
    ip_version: u16,
    nodes: usize,
    record_size: u16,
    /// Prefixes left out.
    dropped: usize,
}

/// The written table.
#[derive(Serialize)]
struct Written<'a> {
    file: &'a str,
    ipv4_routes: usize,
    ipv6_routes: usize,
    /// Distinct rows.
    rows: usize,
    columns: Vec<Column<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answers: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mmdb: Option<MmdbCounts>,
    /// Rows of disjoint ranges.
    #[serde(skip_serializing_if = "Option::is_none")]
    ranges: Option<u64>,
    bytes: u64,
    load_seconds: f64,
    /// Compiling and writing.
    write_seconds: f64,
}

/// A column and its type.
#[derive(Serialize)]
struct Column<'a> {
    name: &'a str,
    r#type: String,
}

impl Written<'_> {
    fn print(&self, out: &mut Out) -> Result<(), CliError> {
        let counts = [
            plural(self.ipv4_routes as u64, "IPv4 route"),
            plural(self.ipv6_routes as u64, "IPv6 route"),
            plural(self.rows as u64, "distinct row"),
        ];
        writeln!(out, "{}: {}", printable(self.file), counts.join(", "))?;
        let Self { load_seconds, write_seconds, .. } = self;
        let size = bytes(self.bytes);
        writeln!(out, "{size}, loaded in {load_seconds:.1} s, written in {write_seconds:.1} s")?;
        if let Some(MmdbCounts { ip_version, nodes, record_size, dropped }) = &self.mmdb {
            let nodes = plural(*nodes as u64, "node");
            write!(out, "MaxMind DB, IP version {ip_version}: {nodes} of {record_size} bits")?;
            match dropped {
                0 => writeln!(out)?,
                _ => writeln!(
                    out,
                    "; prefixes inside ::/96 left out: {}",
                    thousands(*dropped as u64)
                )?,
            }
        }
        if let Some(ranges) = self.ranges {
            writeln!(out, "{}", plural(ranges, "disjoint range"))?;
        }
        if self.columns.is_empty() {
            return Ok(writeln!(out, "no columns: a set of prefixes")?);
        }
        let mut grid = Grid::new([("column", Align::Left), ("type", Align::Left)]);
        for column in &self.columns {
            grid.row([printable(column.name).into_owned(), column.r#type.clone()]);
        }
        grid.print(out)
    }
}

/// Loads the files of the command line, or the default table.
fn load(args: &CompileArgs) -> Result<PrefixData, CliError> {
    let options = args.columns.options(&args.read, args.families);
    if let Some(lists) = lists::of(&args.files)? {
        let ColumnArgs { columns, types } = &args.columns;
        if columns.is_some() || !types.is_empty() {
            return Err(CliError::new(
                "--columns and --types do not apply to NAME=FILE: the only column is 'list'",
            ));
        }
        return lists::load(&lists, &options);
    }
    if !args.files.is_empty() {
        return prefix_data::load_all(&args.files, options);
    }
    let advice = Advice { lenient: !options.lenient, families: true };
    let mut loader = DataLoader::new(options);
    default_table::notice();
    let loaded = loader.bytes(default_table::bytes(), Some(default_table::NAME));
    loaded.map_err(|error| CliError::load(&error, advice))?;
    prefix_data::finish(loader, advice)
}

/// Drops the prefixes of other families.
fn of_families(data: PrefixData, families: Families) -> Result<PrefixData, CliError> {
    if families == Families::BOTH {
        return Ok(data);
    }
    let failed = |error| CliError::input("compile", error);
    let mut kept = PrefixData::new(data.columns().to_vec()).map_err(failed)?;
    for (prefix, row) in data.table() {
        if matches!(prefix, IpPrefix::V4(_)) && families.ipv4
            || matches!(prefix, IpPrefix::V6(_)) && families.ipv6
        {
            kept.insert(prefix, row.clone()).map_err(failed)?;
        }
    }
    Ok(kept)
}
