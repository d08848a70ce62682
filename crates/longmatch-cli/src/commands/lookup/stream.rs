//! Answers of standard input: a thread reads blocks of lines, others answer them, and the caller
//! writes the answers in order.
//!
//! Whatever can be read is answered and flushed before the next input arrives, so that a program at
//! the other end of the pipe can alternate queries and answers. The threads are not joined: after
//! an error the reader may wait for input that never comes.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use super::answer::{Answered, Answerer};
use crate::error::CliError;
use crate::lines::{Block, Blocks};
use crate::output::Out;
use crate::progress::Progress;

/// A block with its place in the input.
type Job = (u64, Block);

/// The end of a block: its place and number of lines, or the line at which reading failed.
struct Done {
    place: u64,
    lines: u64,
    answered: Answered,
}

/// Answers every line of standard input; returns the number of addresses without a match.
///
/// # Errors
/// If a line is no address of the wanted families, or too long; if standard input cannot be read
/// or standard output not be written; if the system does not start a thread. Earlier lines have
/// been answered.
pub fn answer(answerer: &Arc<Answerer>, out: &mut Out) -> Result<u64, CliError> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let (jobs, queue) = sync_channel::<Job>(2 * threads);
    let (done, results) = sync_channel::<Done>(2 * threads);
    let queue = Arc::new(Mutex::new(queue));
    for _ in 0..threads {
        let (answerer, queue, done) = (answerer.clone(), queue.clone(), done.clone());
        start(move || work(&answerer, &queue, &done))?;
    }
    start(move || read(&jobs, &done))?;
    write(&results, out)
}

fn start(work: impl FnOnce() + Send + 'static) -> Result<(), CliError> {
    match thread::Builder::new().spawn(work) {
        Ok(_) => Ok(()),
        Err(error) => {
            Err(CliError::input("lookup", format_args!("a thread did not start: {error}")))
        }
    }
}

/// Hands out the blocks of standard input. An error takes the place of a block.
fn read(jobs: &SyncSender<Job>, done: &SyncSender<Done>) {
    let mut blocks = Blocks::new(io::stdin().lock());
    for place in 0.. {
        match blocks.next() {
            Ok(Some(block)) => {
                if jobs.send((place, block)).is_err() {
                    return;
                }
            }
            Ok(None) => return,
            Err(error) => {
                let problem = Some((blocks.number(), error.to_string()));
                let answered = Answered { problem, ..Answered::default() };
                // Without a receiver the command has ended.
                let _ = done.send(Done { place, lines: 0, answered });
                return;
            }
        }
    }
}

/// Answers blocks until there are no more.
fn work(answerer: &Answerer, queue: &Mutex<Receiver<Job>>, done: &SyncSender<Done>) {
    loop {
        let job = match queue.lock() {
            Ok(queue) => queue.recv(),
            Err(_) => return,
        };
        let Ok((place, block)) = job else { return };
        let answered = answerer.block(&block);
        let lines = block.lines().count() as u64;
        if done.send(Done { place, lines, answered }).is_err() {
            return;
        }
    }
}

/// Writes the answers in the order of the blocks.
fn write(results: &Receiver<Done>, out: &mut Out) -> Result<u64, CliError> {
    // On a terminal the answers themselves show the progress.
    let quiet = io::stdout().is_terminal() || io::stdin().is_terminal();
    let mut progress = (!quiet).then(|| Progress::new("looking up", None, "addresses"));
    let (mut next, mut lines, mut unmatched) = (0, 0, 0);
    let mut early = BTreeMap::new();
    loop {
        let done = match results.try_recv() {
            Ok(done) => done,
            Err(TryRecvError::Disconnected) => return Ok(unmatched),
            Err(TryRecvError::Empty) => {
                out.flush()?;
                match results.recv() {
                    Ok(done) => done,
                    Err(_) => return Ok(unmatched),
                }
            }
        };
        early.insert(done.place, done);
        while let Some(Done { lines: count, answered, .. }) = early.remove(&next) {
            next += 1;
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
        }
    }
}
