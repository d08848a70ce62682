//! `longmatch annotate`: columns of prefix data added to lines with addresses.
//!
//! One thread cuts the input into blocks of whole lines ([`crate::lines`]), others annotate them
//! ([`block`]) and the caller writes them in order ([`crate::ordered`]). Compressed output is compressed
//! block by block, in the same threads. Parquet and Arrow ([`recognise`]) have no lines: the module
//! `columnar`, a feature, annotates their record batches in the same way.

mod block;
#[cfg(feature = "columnar")]
mod columnar;
mod output;
mod plan;
mod recognise;
mod tables;

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use longmatch_feed::scan::csv::RowEnds;
use longmatch_feed::{Stream, printable};

use self::block::{Annotated, Counts, annotate};
use self::output::Output;
use self::plan::{Csv, Format, Plan};
use self::recognise::Columnar;
use self::tables::Tables;
use crate::args::AnnotateArgs;
use crate::cells::Style;
use crate::error::{CliError, Outcome, Status};
use crate::input::{display_name, is_stdin};
use crate::lines::{BOM, Blocks, Ends, MAX_LINE};
use crate::ordered::{self, Step};
use crate::output::{plural, short, warn};
use crate::progress::Progress;
use crate::stdin;

/// Runs the command.
///
/// # Errors
/// If the input or the prefix data cannot be read, the output not be written, a column does not exist, or
/// with `--strict` an address is missing or bad.
pub fn run(args: &AnnotateArgs) -> Outcome {
    let given = args.routes.iter().filter(|path| is_stdin(path)).count();
    if given + usize::from(is_stdin(&args.input)) > 1 {
        return Err(CliError::new("'-' was given twice: standard input is read once"));
    }
    let (mut format, mut style) = plan::format(args)?;
    let interrupted = interrupts()?;
    let mut input = Input::open(args)?;
    let first = input.blocks.first_bytes(|bytes| !Columnar::is_open(bytes)).map(Columnar::of);
    if let Some(format) = first.map_err(|error| input.failed(error))? {
        return columnar(args, input, format, &interrupted);
    }
    if let Some(format) = args.output.as_deref().and_then(Columnar::of_name) {
        let format = format.name();
        return Err(CliError::input(
            "--output",
            format_args!("the name is that of {format}, but the input is text: name it otherwise"),
        ));
    }
    let has_bom = input.blocks.first_line().map(|first| first.starts_with(BOM));
    let has_bom = has_bom.map_err(|error| input.failed(error))?;
    if has_bom {
        input.blocks.remove_first(BOM.len());
    }
    let mut block = None;
    if let Format::Csv(csv) = &mut format {
        let first = input.blocks.first_line().map_err(|error| CliError::input(&input.name, error));
        let delimiter = plan::delimiter(args, first?)?;
        input.blocks.cut_at(Ends::Rows(RowEnds::new(delimiter)));
        let next = input.blocks.next_bytes();
        block = next.map_err(|error| input.failed(error))?;
        *csv = Csv::new(args, delimiter, block.as_deref().unwrap_or_default())?;
        style = Style::Csv(delimiter);
    }
    let plan = Plan::new(args, format, Tables::load(args, style)?)?;
    let mut output = Output::open(args.output.as_deref(), &args.input)?;
    if has_bom {
        match plan.codec {
            None => output.write(BOM)?,
            Some(codec) => output.write(&longmatch_feed::compress(codec, BOM)?)?,
        }
    }
    let counts = stream(args, plan, input, block, &mut output, &interrupted)?;
    summary(args, counts);
    Ok(Status::ok_if(!(args.matching || args.no_match) || counts.printed > 0))
}

/// Annotates columnar input.
#[cfg(feature = "columnar")]
use self::columnar::run as columnar;

/// Refuses columnar input.
#[cfg(not(feature = "columnar"))]
fn columnar(_: &AnnotateArgs, input: Input, format: Columnar, _: &AtomicBool) -> Outcome {
    let format = format.name();
    Err(CliError::input(
        input.name,
        format_args!(
            "the input is {format}: this longmatch was built without the feature columnar; build with `cargo install --path crates/longmatch-cli --features columnar`"
        ),
    ))
}

/// The input, and what is known about it.
struct Input {
    blocks: Blocks<Stream>,
    name: String,
    /// The size of the file, for the time left.
    size: Option<u64>,
    /// Bytes read from the file.
    read: Arc<AtomicU64>,
}

impl Input {
    fn open(args: &AnnotateArgs) -> Result<Self, CliError> {
        let name = display_name(&args.input);
        let read = Arc::new(AtomicU64::new(0));
        let failed = |error: &dyn std::fmt::Display| CliError::input(&name, error);
        let (raw, size): (Box<dyn Read + Send>, _) = if is_stdin(&args.input) {
            (Box::new(stdin::open().map_err(|error| failed(&error))?), stdin::size())
        } else {
            let file = open_file(&args.input).map_err(|error| failed(&error))?;
            let size = file.metadata().ok().filter(|data| data.is_file()).map(|data| data.len());
            (Box::new(file), size)
        };
        let counted = Counted { inner: raw, count: read.clone() };
        let stream = Stream::new(Box::new(counted)).map_err(|error| failed(&error))?;
        // Only what comes as it is written is passed on at once.
        let fill = size.is_some() || stream.codec().is_some() || args.codec().is_some();
        let blocks = Blocks::with(stream, args.block.max(1), MAX_LINE, fill);
        Ok(Self { blocks, name, size, read })
    }

    fn failed(&self, error: io::Error) -> CliError {
        CliError::input(&self.name, self.blocks.reader().explain(error))
    }
}

/// Opens a file and refuses a directory, which the system opens without an error.
fn open_file(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::other("it is a directory: name a file in it"));
    }
    Ok(file)
}

/// A reader that counts its bytes.
struct Counted<R> {
    inner: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.count.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

/// A flag that the first SIGINT or SIGTERM sets; the second one ends the program.
fn interrupts() -> Result<Arc<AtomicBool>, CliError> {
    let flag = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        let failed = |error| CliError::input("signals", error);
        signal_hook::flag::register_conditional_default(signal, flag.clone()).map_err(failed)?;
        signal_hook::flag::register(signal, flag.clone()).map_err(failed)?;
    }
    Ok(flag)
}

/// Annotates the whole input.
fn stream(
    args: &AnnotateArgs,
    plan: Plan,
    input: Input,
    block: Option<Vec<u8>>,
    output: &mut Output,
    interrupted: &AtomicBool,
) -> Result<Counts, CliError> {
    let Input { blocks, name, size, read } = input;
    let mut blocks = Some(blocks);
    let mut block = block;
    let mut first = true;
    let source = move || {
        let next = match block.take() {
            Some(bytes) => Ok(Some(bytes)),
            None => blocks.as_mut()?.next_bytes(),
        };
        match next {
            Ok(bytes) => bytes.map(|bytes| Ok((bytes, std::mem::take(&mut first)))),
            // An error takes the place of a block, and ends the reading.
            Err(error) => Some(Err(blocks.take()?.reader().explain(error).to_string())),
        }
    };
    let work = move |block: Result<(Vec<u8>, bool), String>| match block {
        Ok((bytes, first)) => annotate(&plan, &bytes, first),
        Err(error) => Annotated { error: Some(error), ..Annotated::default() },
    };
    let on_terminal = io::stdout().is_terminal() && args.output.is_none();
    let mut progress = (!on_terminal).then(|| Progress::new("annotating", size, "bytes"));
    let started = Instant::now();
    let (mut counts, mut lines) = (Counts::default(), 0);
    let sink = |step| {
        let mut stopped = None;
        if let Step::Result(annotated) = step {
            let Annotated { output: bytes, counts: more, lines: ends, problem, error } = annotated;
            output.write(&bytes)?;
            counts.add(more);
            if let Some((before, problem)) = problem {
                let place = format!("{name}, line {}", lines + before + 1);
                stopped = Some(CliError::input(place, problem));
            }
            lines += ends;
            stopped = stopped.or(error.map(|error| CliError::input(&name, error)));
        }
        if let Some(progress) = &mut progress {
            progress.describe(&rate(counts.rows, started));
            progress.set(read.load(Ordering::Relaxed));
        }
        match stopped {
            Some(error) => Err(error),
            None if interrupted.load(Ordering::Relaxed) => {
                let rows = plural(counts.rows, "row");
                Err(CliError::new(format!(
                    "interrupted after {rows}: the output ends with a whole line, but is not complete"
                )))
            }
            None => Ok(true),
        }
    };
    let threads = args.threads.unwrap_or_else(ordered::default_threads);
    ordered::run("annotate", threads, source, work, sink)?;
    Ok(counts)
}

/// The label of the progress.
fn rate(rows: u64, started: Instant) -> String {
    let rate = rows as f64 / started.elapsed().as_secs_f64().max(1e-9) / 1e6;
    format!("annotating: {}, {} M rows/s", plural(rows, "row"), short(rate))
}

/// Prints on standard error what could not be annotated.
fn summary(args: &AnnotateArgs, counts: Counts) {
    let filters = args.matching || args.no_match;
    let is_text = args.column.is_empty() && args.field.is_empty();
    let name = display_name(&args.input);
    let name = printable(&name);
    let Counts { rows, missing, bad, ragged, .. } = counts;
    if missing + bad > 0 && !(filters && is_text) {
        let rows = plural(rows, "row");
        let missing = plural(missing, "missing address").replace("addresss", "addresses");
        warn(format_args!(
            "{name}: {missing}, {bad} bad, in {rows}: nothing was added for them (--strict stops at the first)"
        ));
    }
    if ragged > 0 {
        let ragged = plural(ragged, "row");
        warn(format_args!("{name}: {ragged} with more or fewer cells than the first row"));
    }
}
