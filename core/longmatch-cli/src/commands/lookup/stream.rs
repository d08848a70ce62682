//! Answers of standard input, block by block in threads.
//!
//! Whatever can be read is answered and flushed before the next input arrives, so that a program at
//! the other end of the pipe can alternate queries and answers.

use std::convert::Infallible;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;

use longmatch_feed::Stream;

use super::answer::{Answered, Answerer, QueryCounts};
use crate::error::CliError;
use crate::lines::{Blocks, MAX_LINE};
use crate::ordered::{self, Step};
use crate::output::Out;
use crate::progress::Progress;
use crate::stdin;

/// Bytes read at a time.
const BLOCK: usize = 256 << 10;

/// Answers every line of standard input, which may be compressed; returns the counts of its lines.
///
/// # Errors
/// If a line has no address of the wanted families (and invalid lines are not skipped), or is too
/// long; if standard input cannot be read or decompressed or standard output not be written; if the
/// system does not start a thread. Earlier lines have been answered.
pub fn answer(answerer: &Arc<Answerer>, out: &mut Out) -> Result<QueryCounts, CliError> {
    if answerer.is_large() {
        return one_by_one(answerer, out);
    }
    let (mut blocks, mut ended, mut first) = (None, false, true);
    let source = move || {
        if ended {
            return None;
        }
        let block = next(&mut blocks).map(|bytes| Some((bytes?, std::mem::take(&mut first))));
        // An error takes the place of a block, and ends the reading.
        ended = block.is_err();
        block.transpose()
    };
    let answerer = answerer.clone();
    let work = move |block: Result<(Vec<u8>, bool), String>| match block {
        Ok((bytes, first)) => {
            let Ok(answered) = answerer.block(&bytes, first, |_| Ok::<_, Infallible>(()));
            answered
        }
        Err(problem) => Answered { problem: Some((1, problem)), ..Answered::default() },
    };
    // On a terminal the answers themselves show the progress.
    let quiet = io::stdout().is_terminal() || io::stdin().is_terminal();
    let mut progress = (!quiet).then(|| Progress::new("looking up", None, "addresses"));
    let mut counts = QueryCounts::default();
    let sink = |step: Step<Answered>| {
        let Step::Result(answered) = step else {
            out.flush()?;
            return Ok(true);
        };
        write(answered, out, &mut counts)?;
        if let Some(progress) = &mut progress {
            progress.set(counts.lines);
        }
        Ok(true)
    };
    ordered::run("lookup", ordered::default_threads(), source, work, sink)?;
    Ok(counts)
}

/// Answers as [`answer`], and writes each answer before the next is made: together they could be larger
/// than the memory.
fn one_by_one(answerer: &Answerer, out: &mut Out) -> Result<QueryCounts, CliError> {
    let (mut blocks, mut first) = (None, true);
    let mut counts = QueryCounts::default();
    loop {
        let block = match next(&mut blocks) {
            Ok(Some(bytes)) => answerer.block(&bytes, std::mem::take(&mut first), |text| {
                out.write_all(text)?;
                text.clear();
                Ok::<_, CliError>(())
            })?,
            Ok(None) => return Ok(counts),
            Err(problem) => Answered { problem: Some((1, problem)), ..Answered::default() },
        };
        write(block, out, &mut counts)?;
        out.flush()?;
    }
}

/// Writes the answers of a block, and adds them to those before.
fn write(answered: Answered, out: &mut Out, counts: &mut QueryCounts) -> Result<(), CliError> {
    out.write_all(&answered.text)?;
    if let Some((line, problem)) = answered.problem {
        let place = format_args!("standard input, line {}", counts.lines + line);
        return Err(CliError::input(place, problem));
    }
    counts.add(answered.counts);
    Ok(())
}

/// Reads the next block; `None` at the end. Standard input is opened at the first call.
fn next(blocks: &mut Option<Blocks<Stream>>) -> Result<Option<Vec<u8>>, String> {
    let blocks = match blocks {
        Some(blocks) => blocks,
        None => blocks.insert(open()?),
    };
    blocks.next_bytes().map_err(|error| blocks.reader().explain(error).to_string())
}

/// Opens standard input. Flush partial blocks only for live, uncompressed input.
fn open() -> Result<Blocks<Stream>, String> {
    let raw = stdin::open().map_err(|error| error.to_string())?;
    let stream = Stream::new(Box::new(raw)).map_err(|error| error.to_string())?;
    let fill = stdin::size().is_some();
    Ok(Blocks::with(stream, BLOCK, MAX_LINE, fill))
}
