//! `longmatch compile`: prefixes and their columns into a table file.

use std::io::Write;
use std::time::Instant;

use longmatch::IpPrefix;
use longmatch::file::{FileReport, FileSpec};
use longmatch::table::PrefixData;
use longmatch_feed::{DataLoader, printable};
use serde::Serialize;

use crate::args::{ColumnArgs, CompileArgs};
use crate::error::{Advice, CliError, Outcome, Status};
use crate::families::Families;
use crate::output::{Align, Grid, Out, bytes, plural};
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
    let spec = FileSpec::default().answers(args.answers.into());
    let written = spec.write(&data, &args.output);
    drop(progress);
    // The library's message has the path.
    let FileReport { bytes, rows, .. } = written.map_err(|error| CliError::file(&error))?;
    let columns = data.columns().iter();
    let columns = columns.map(|it| Column { name: &it.name, r#type: it.ty.to_string() }).collect();
    let file = display_name(&args.output);
    let write_seconds = started.elapsed().as_secs_f64();
    let answers = match args.answers {
        crate::args::AnswersArg::Routes => "routes",
        crate::args::AnswersArg::Values => "values",
    };
    let summary = Written {
        file: &file,
        ipv4_routes: ipv4,
        ipv6_routes: ipv6,
        rows,
        columns,
        answers,
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

/// The written table.
#[derive(Serialize)]
struct Written<'a> {
    file: &'a str,
    ipv4_routes: usize,
    ipv6_routes: usize,
    /// Distinct rows.
    rows: usize,
    columns: Vec<Column<'a>>,
    answers: &'static str,
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
