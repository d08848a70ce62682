//! Answers of standard input, block by block in threads.
//!
//! Whatever can be read is answered and flushed before the next input arrives, so that a program at
//! the other end of the pipe can alternate queries and answers.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;

use super::answer::{Answered, Answerer};
use crate::error::CliError;
use crate::lines::{Block, Blocks};
use crate::ordered::{self, Step};
use crate::output::Out;
use crate::progress::Progress;

/// Answers every line of standard input; returns the number of addresses without a match.
///
/// # Errors
/// If a line is no address of the wanted families, or too long; if standard input cannot be read
/// or standard output not be written; if the system does not start a thread. Earlier lines have
/// been answered.
pub fn answer(answerer: &Arc<Answerer>, out: &mut Out) -> Result<u64, CliError> {
    let mut blocks = Some(Blocks::new(io::stdin()));
    // An error takes the place of a block, and ends the reading.
    let source = move || match blocks.as_mut()?.next() {
        Ok(block) => block.map(Ok),
        Err(error) => {
            let number = blocks.take()?.number();
            Some(Err((number, error.to_string())))
        }
    };
    let answerer = answerer.clone();
    let work = move |block: Result<Block, (u64, String)>| match block {
        Ok(block) => (answerer.block(&block), block.lines().count() as u64),
        Err(problem) => (Answered { problem: Some(problem), ..Answered::default() }, 0),
    };
    // On a terminal the answers themselves show the progress.
    let quiet = io::stdout().is_terminal() || io::stdin().is_terminal();
    let mut progress = (!quiet).then(|| Progress::new("looking up", None, "addresses"));
    let (mut lines, mut unmatched) = (0, 0);
    let sink = |step: Step<(Answered, u64)>| {
        let Step::Result((answered, count)) = step else {
            out.flush()?;
            return Ok(true);
        };
        lines += count;
        unmatched += answered.unmatched;
        out.write_all(&answered.text)?;
        if let Some((number, problem)) = answered.problem {
            let place = format_args!("standard input, line {number}");
            return Err(CliError::input(place, problem));
        }
        if let Some(progress) = &mut progress {
            progress.set(lines);
        }
        Ok(true)
    };
    ordered::run("lookup", ordered::default_threads(), source, work, sink)?;
    Ok(unmatched)
}
