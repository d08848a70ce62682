//! `longmatch annotate`: columns of prefix data added to lines with addresses.
//!
//! One thread cuts the input into blocks of whole lines ([`crate::lines`]), others annotate them
//! ([`block`], [`write`]) and the caller writes them in order ([`crate::ordered`]). Compressed output is
//! compressed block by block, in the same threads. Parquet and Arrow ([`recognise`]) have no lines: the module
//! `columnar`, a feature, annotates their record batches in the same way. Captures become CSV ([`capture`]).

mod block;
mod capture;
#[cfg(feature = "columnar")]
mod columnar;
mod csv;
mod hints;
mod input;
mod origins;
mod output;
mod plan;
mod recognise;
mod signals;
mod source;
mod tables;
mod write;

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use longmatch_feed::scan::csv::RowEnds;
use longmatch_feed::{compress, printable};

use self::block::{Position, RowCounts};
use self::csv::Csv;
use self::input::Input;
use self::output::{Output, rate};
use self::plan::{Format, Plan};
use self::recognise::{Binary, Columnar};
use self::signals::Signals;
use self::source::{Block, Source};
use self::tables::AnnotationTables;
use self::write::{Annotated, annotate};
use crate::args::AnnotateArgs;
use crate::error::{CliError, Outcome, Status};
use crate::lines::{BOM, Ends};
use crate::ordered::{self, Step};
use crate::output::{Out, plural};
use crate::paths::one_stdin;
use crate::progress::Progress;

/// Runs the command.
///
/// # Errors
/// If an input or the prefix data cannot be read, the output not be written, a column does not exist, no
/// cell is an address, or with `--strict` an address is missing or bad.
pub fn run(args: &AnnotateArgs) -> Outcome {
    check(args)?;
    let signals = Signals::new(args)?;
    let mut run = AnnotateRun {
        args: args.clone(),
        signals: signals.clone(),
        started: None,
        is_open: false,
        counts: RowCounts::default(),
    };
    let last = args.inputs().len() - 1;
    for (number, path) in args.inputs().iter().enumerate() {
        let mut input = Input::open(args, path, &signals)?;
        let first = input.blocks.first_bytes(|bytes| !Binary::is_open(bytes)).map(Binary::of);
        match first.map_err(|error| run.failed(&input, error))? {
            Some(Binary::Columnar(format)) if last > 0 => {
                let format = format.name();
                let problem = format!("the input is {format}: annotate it by itself");
                return Err(CliError::input(input.name, problem));
            }
            Some(Binary::Columnar(format)) => return columnar(args, input, format, &signals),
            Some(Binary::Capture) => run.capture(input)?,
            None => run.text(input, number == last)?,
        }
    }
    run.finish()
}

/// Refuses options that exclude each other.
fn check(args: &AnnotateArgs) -> Result<(), CliError> {
    let inputs = args.inputs();
    one_stdin(inputs.iter().chain(&args.routes).chain(&args.tables).chain(&args.vrps))?;
    if args.count && !args.filters() {
        return Err(CliError::new("--count needs --match or --no-match: it counts their lines"));
    }
    let names = [
        ("--prefix-as", args.prefix_as.as_ref()),
        ("--rov-as", Some(&args.rov_as)),
        ("--flag", args.flag.as_ref()),
    ];
    for (option, name) in names {
        if let Some(name) = name.filter(|name| name.contains(',')) {
            let problem = "give one name without a comma; with more than one column of addresses it follows their names, as in src_net";
            let shown = printable(name);
            return Err(CliError::input(option, format_args!("'{shown}': {problem}")));
        }
    }
    output::check(args)
}

/// Annotates columnar input.
#[cfg(feature = "columnar")]
use self::columnar::run as columnar;

/// Refuses columnar input.
#[cfg(not(feature = "columnar"))]
fn columnar(_: &AnnotateArgs, input: Input, format: Columnar, _: &Signals) -> Outcome {
    let format = format.name();
    Err(CliError::input(
        input.name,
        format_args!(
            "the input is {format}: this longmatch was built without the feature columnar; build with `cargo install --path core/longmatch-cli --features columnar`"
        ),
    ))
}

/// The inputs one after the other, into one output.
struct AnnotateRun {
    args: AnnotateArgs,
    signals: Signals,
    /// From the first input on that has bytes.
    started: Option<Started>,
    /// Whether the last line of the output has no line end.
    is_open: bool,
    counts: RowCounts,
}

/// The plan, the output, and the name of the input from which the plan was made.
struct Started {
    plan: Arc<Plan>,
    output: Output,
    first: String,
}

/// How far the reading of a file is.
struct Progressed {
    /// The size of the file.
    size: Option<u64>,
    /// The bytes that were read.
    read: Arc<AtomicU64>,
}

impl AnnotateRun {
    /// Annotates the packets of a capture.
    fn capture(&mut self, input: Input) -> Result<(), CliError> {
        let Self { args, .. } = self;
        if !args.field.is_empty() || !args.regex.is_empty() {
            let problem = "the input is a packet capture: its columns are time, source and destination (--column)";
            return Err(CliError::input(input.name, problem));
        }
        if args.column.is_empty() {
            args.column = vec![capture::COLUMN.to_owned()];
        }
        let input = input.capture(args)?;
        self.text(input, true)
    }

    /// Annotates lines.
    fn text(&mut self, mut input: Input, is_last: bool) -> Result<(), CliError> {
        let mut format = plan::format(&self.args)?;
        let bytes = input.blocks.first_bytes(csv::is_enough).map(<[u8]>::to_vec);
        let bytes = bytes.map_err(|error| self.failed(&input, error))?;
        if let Some(name) = longmatch_feed::other_encoding(&bytes) {
            return Err(CliError::input(&input.name, format_args!("this is {name}")));
        }
        let text = bytes.strip_prefix(BOM).unwrap_or(&bytes);
        let is_csv = matches!(format, Format::Csv(_));
        let (separator, separates) = csv::separator(text).filter(|_| is_csv).unzip();
        let text = &text[separator.unwrap_or(0)..];
        if text.is_empty() && (!is_last || self.started.is_some()) {
            return Ok(());
        }
        // What comes before the first row of the output, and only once.
        let head = &bytes[..bytes.len() - text.len()];
        input.blocks.remove_first(head.len());
        hints::check(&self.args, &input.name, &format, text)?;
        let mut block = None;
        if let Format::Csv(csv) = &mut format {
            let (delimiter, comments) = csv::shape(&self.args, &input.path, text, separates);
            if !matches!(delimiter, b'\t' | b' ') {
                input.blocks.cut_at(Ends::Rows(RowEnds::new(delimiter)));
            }
            block = input.blocks.next_bytes().map_err(|error| self.failed(&input, error))?;
            let first = block.as_deref().unwrap_or_default();
            *csv = Csv::new(&self.args, delimiter, comments, first)?;
        }
        let (position, layout) = match &self.started {
            None => {
                self.start(&input, format, head)?;
                (Position::First, None)
            }
            Some(started) => {
                started.plan.check(&format, &input.name, &started.first)?;
                (Position::FirstOfNext, Some(Arc::new(format)))
            }
        };
        let Some(Started { plan, .. }) = &self.started else { return Ok(()) };
        let (args, plan) = (self.args.clone(), plan.clone());
        let Input { blocks, name, size, read, .. } = input;
        let source = Source { args, plan, blocks, block, position, layout };
        let before = u64::from(separates.is_some());
        self.stream(source, &name, before, Progressed { size, read })
    }

    /// Loads the tables and opens the output.
    fn start(&mut self, input: &Input, format: Format, head: &[u8]) -> Result<(), CliError> {
        let args = &self.args;
        if let Some(format) = args.output.as_deref().and_then(Columnar::of_name) {
            let format = format.name();
            return Err(CliError::input(
                "--output",
                format_args!(
                    "the name is that of {format}, but the input is text: name it otherwise"
                ),
            ));
        }
        let tables = AnnotationTables::load(args, format.style(), format.empty_cell())?;
        let plan = Arc::new(Plan::new(args, format, tables)?);
        let is_pipe = |path: &PathBuf| path.metadata().is_ok_and(|data| !data.is_file());
        // The opening of a pipe waits for its reader. The temporary file of another output is removed.
        let waits = args.output.as_ref().is_some_and(is_pipe);
        if !waits {
            self.signals.catch()?;
        }
        let mut output = Output::open(args)?;
        if waits {
            self.signals.catch()?;
        }
        if !head.is_empty() && !args.count {
            output.write(&self.encoded(head)?)?;
        }
        self.started = Some(Started { plan, output, first: input.name.clone() });
        Ok(())
    }

    /// Compresses bytes as the output is.
    fn encoded(&self, bytes: &[u8]) -> Result<Vec<u8>, CliError> {
        Ok(match self.args.codec() {
            None => bytes.to_vec(),
            Some(codec) => compress(codec, bytes)?,
        })
    }

    /// Annotates the blocks of an input, before which `lines` were read.
    fn stream(
        &mut self,
        source: Source,
        name: &str,
        mut lines: u64,
        file: Progressed,
    ) -> Result<(), CliError> {
        let line_end = if self.is_open { self.encoded(b"\n")? } else { Vec::new() };
        let Self { args, signals, started, is_open, counts: total } = self;
        let Some(Started { plan, output, .. }) = started else { return Ok(()) };
        output.write(&line_end)?;
        *is_open = false;
        let mut source = Some(source);
        let blocks = move || match source.as_mut()?.next_block() {
            Ok(block) => block.map(Ok),
            // An error takes the place of a block, and ends the reading.
            Err(error) => Some(Err(source.take()?.blocks.reader().explain(error).to_string())),
        };
        let shared = plan.clone();
        let work = move |block: Result<Block, String>| match block {
            Ok(block) => annotate(&shared, &block),
            Err(error) => Annotated { error: Some(error), ..Annotated::default() },
        };
        let on_terminal = io::stdout().is_terminal() && args.output.is_none();
        let mut progress = (!on_terminal).then(|| Progress::new("annotating", file.size, "bytes"));
        let started = Instant::now();
        let mut counts = RowCounts::default();
        let sink = |step| {
            let mut stopped = None;
            if let Step::Result(annotated) = step {
                let Annotated { output: bytes, is_open: open, problem, error, .. } = annotated;
                output.write(&bytes)?;
                *is_open = open || *is_open && bytes.is_empty();
                counts.add(annotated.counts);
                if let Some((before, problem)) = problem {
                    let place = format!("{name}, line {}", lines + before + 1);
                    stopped = Some(CliError::input(place, problem));
                }
                stopped = stopped.or(error.map(|error| match signals.interrupted() {
                    true => interrupted(total.rows + counts.rows, output.replaces()),
                    false => CliError::input(format_args!("{name}, line {}", lines + 1), error),
                }));
                lines += annotated.lines;
            }
            if let Some(progress) = &mut progress {
                progress.describe(&rate(counts.rows, started));
                progress.set(file.read.load(Ordering::Relaxed));
            }
            signals.reload(args, plan);
            stopped.map_or(Ok(true), Err)
        };
        let threads = args.threads.unwrap_or_else(ordered::default_threads);
        ordered::run("annotate", threads, blocks, work, sink)?;
        drop(progress);
        hints::counts(args, name, &plan.sources, counts)?;
        total.add(counts);
        Ok(())
    }

    /// Ends the output.
    fn finish(self) -> Outcome {
        if let Some(Started { output, .. }) = self.started {
            output.finish()?;
        }
        if self.args.count {
            let mut out = Out::new();
            writeln!(out, "{}", self.counts.printed)?;
            out.flush()?;
        }
        Ok(Status::ok_if(!self.args.filters() || self.counts.printed > 0))
    }

    /// The error of reading an input.
    fn failed(&self, input: &Input, error: io::Error) -> CliError {
        match (self.signals.interrupted(), &self.started) {
            (true, Some(started)) => interrupted(self.counts.rows, started.output.replaces()),
            _ => input.failed(error),
        }
    }
}

/// The error of a signal after some rows.
fn interrupted(rows: u64, replaces: bool) -> CliError {
    let rows = plural(rows, "row");
    let result = match replaces {
        true => "nothing is written",
        false => "the output is not complete; its last line is whole",
    };
    CliError::new(format!("interrupted after {rows}: {result}"))
}
