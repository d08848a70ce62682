//! A child process that answers lines with lines, within limits of time and memory.
//!
//! Two threads listen to it, so that waiting can end. They end when the other side closes; if a
//! child of the child holds its output open, that can be later than here, so nobody waits for them.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::command::PeerCommand;
use super::error::{PeerFault, shown, shown_end};
use crate::threads::builder;

/// The longest line that is read.
const MAX_LINE: usize = 4096;
/// How much of the end of standard error is kept.
const TAIL: usize = 4096;
/// How long a peer that was told to quit, or has closed its output, has to end by itself.
const GRACE: Duration = Duration::from_millis(500);
/// How often it is looked whether something has ended.
const NAP: Duration = Duration::from_millis(5);

/// What came from standard output.
enum Said {
    Line(String),
    /// A line that goes on beyond the limit; its beginning.
    TooLong(String),
    /// The end, and a line that was not finished.
    End,
}

/// A running peer, as long as it behaves.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    /// Nothing when the child was ended.
    stdin: Option<ChildStdin>,
    said: Receiver<Said>,
    stderr: Listener,
    limit: Duration,
}

#[derive(Debug)]
struct Listener {
    tail: Arc<Mutex<Vec<u8>>>,
    thread: JoinHandle<()>,
}

impl Process {
    pub fn start(command: &PeerCommand, limit: Duration) -> Result<Self, PeerFault> {
        let Some((program, arguments)) = command.command.split_first() else {
            return Err(PeerFault::Start("no program is named".to_owned()));
        };
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| PeerFault::Start(format!("{}: {error}", program.display())))?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(PeerFault::Start("it has no pipes".to_owned()));
        };
        // One line waits at most: whoever says more is stopped by the pipe.
        let (sender, said) = sync_channel(1);
        let listening = builder(0).spawn(move || listen(stdout, &sender));
        match listening.and_then(|_| Listener::new(stderr)) {
            Ok(stderr) => Ok(Self { child, stdin: Some(stdin), said, stderr, limit }),
            Err(error) => {
                // It fails if the child has ended by itself, which is just as well.
                let _ = child.kill();
                let _ = child.wait();
                Err(PeerFault::Start(format!("no thread that listens to it was started: {error}")))
            }
        }
    }

    /// Sends a line and takes the answer apart. After every fault but a refusal the child is ended.
    pub fn ask<T>(
        &mut self,
        line: &[u8],
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<T, PeerFault> {
        let asked = self.send(line).and_then(|()| self.hear());
        let answer = asked.and_then(|line| match refusal(&line) {
            Some(why) => Err(PeerFault::Refused(shown(why))),
            None => parse(&line)
                .map_err(|problem| PeerFault::Unexpected { problem, came: shown(&line) }),
        });
        if answer.as_ref().is_err_and(PeerFault::is_final) {
            self.end(Duration::ZERO);
        }
        answer
    }

    fn send(&mut self, line: &[u8]) -> Result<(), PeerFault> {
        if self.stdin.is_none() {
            return Err(PeerFault::Gone);
        }
        // A peer that talks without being asked would have its words taken for answers later, and
        // one that reads nothing could block what is written here.
        match self.said.try_recv() {
            Err(TryRecvError::Empty) => {}
            Ok(Said::Line(came) | Said::TooLong(came)) => {
                let problem = "it spoke before it was asked".to_owned();
                return Err(PeerFault::Unexpected { problem, came: shown(&came) });
            }
            Ok(Said::End) | Err(TryRecvError::Disconnected) => return Err(self.ended()),
        }
        let stdin = self.stdin.as_mut().ok_or(PeerFault::Gone)?;
        let sent = stdin.write_all(&[line, b"\n"].concat()).and_then(|()| stdin.flush());
        // Whatever is wrong with the pipe: nobody reads it any more.
        sent.map_err(|_| self.ended())
    }

    fn hear(&mut self) -> Result<String, PeerFault> {
        match self.said.recv_timeout(self.limit) {
            Ok(Said::Line(line)) => Ok(line),
            Ok(Said::TooLong(came)) => {
                let problem = format!("the line does not end within {MAX_LINE} bytes");
                Err(PeerFault::Unexpected { problem, came: shown(&came) })
            }
            Ok(Said::End) | Err(RecvTimeoutError::Disconnected) => Err(self.ended()),
            Err(RecvTimeoutError::Timeout) => Err(PeerFault::TimedOut(self.limit)),
        }
    }

    /// Why nothing can be heard or said any more.
    fn ended(&mut self) -> PeerFault {
        // Who closes its output usually ends; what it says then is worth waiting for a moment.
        let status = self.end(GRACE);
        PeerFault::Ended { status, stderr: self.stderr.end() }
    }

    /// Ends the child by force.
    pub fn end_now(&mut self) {
        self.end(Duration::ZERO);
    }

    /// Ends the child, by force after `grace`. How it ended.
    fn end(&mut self, grace: Duration) -> String {
        self.stdin = None;
        let ended = within(grace, || !matches!(self.child.try_wait(), Ok(None)));
        if !ended {
            // It fails if the child has ended by itself, which is just as well.
            let _ = self.child.kill();
        }
        match self.child.wait() {
            Ok(_) if !ended => "it closed its output, or did not answer, and was ended".to_owned(),
            Ok(status) => status.to_string(),
            Err(error) => format!("its status is not known: {error}"),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let quit = self.stdin.as_mut().map(|stdin| stdin.write_all(b"quit\n"));
        self.end(if quit.is_some_and(|it| it.is_ok()) { GRACE } else { Duration::ZERO });
    }
}

/// Why a peer refuses, if the line says so.
fn refusal(line: &str) -> Option<&str> {
    let why = line.strip_prefix("error")?;
    (why.is_empty() || why.starts_with(' ')).then(|| why.trim())
}

/// Waits for something to happen, for a time; whether it did.
fn within(limit: Duration, happened: impl FnMut() -> bool) -> bool {
    let mut happened = happened;
    let until = Instant::now() + limit;
    loop {
        if happened() {
            return true;
        }
        if Instant::now() >= until {
            return false;
        }
        thread::sleep(NAP);
    }
}

/// Reads lines until the end, or until nobody wants them.
fn listen(stdout: ChildStdout, to: &SyncSender<Said>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let said = next_line(&mut stdout);
        let last = !matches!(said, Said::Line(_));
        if to.send(said).is_err() || last {
            return;
        }
    }
}

fn next_line(from: &mut impl BufRead) -> Said {
    let mut line = Vec::new();
    // An error of reading is an end as well.
    let read = from.take(MAX_LINE as u64).read_until(b'\n', &mut line);
    let text = |line: &[u8]| String::from_utf8_lossy(line).into_owned();
    match read {
        Ok(_) if line.ends_with(b"\n") => Said::Line(text(line.trim_ascii_end())),
        Ok(MAX_LINE..) => Said::TooLong(text(&line)),
        _ => Said::End,
    }
}

impl Listener {
    fn new(mut stderr: ChildStderr) -> io::Result<Self> {
        let tail = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&tail);
        let thread = builder(1).spawn(move || {
            let mut part = [0; 1024];
            loop {
                match stderr.read(&mut part) {
                    Ok(0) => return,
                    Ok(count) => keep(&kept, &part[..count]),
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(_) => return,
                }
            }
        })?;
        Ok(Self { tail, thread })
    }

    /// The last words, once the child has ended.
    fn end(&self) -> String {
        within(GRACE, || self.thread.is_finished());
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        shown_end(&String::from_utf8_lossy(&tail))
    }
}

fn keep(tail: &Mutex<Vec<u8>>, part: &[u8]) {
    let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
    tail.extend_from_slice(part);
    let excess = tail.len().saturating_sub(TAIL);
    tail.drain(..excess);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::testing::refusing;

    fn lines(bytes: &[u8]) -> Vec<String> {
        let mut from = bytes;
        let mut lines = Vec::new();
        loop {
            match next_line(&mut from) {
                Said::Line(line) => lines.push(line),
                Said::TooLong(line) => {
                    lines.push(format!("{} too long", line.len()));
                    return lines;
                }
                Said::End => return lines,
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_peer_that_no_thread_listens_to_does_not_start() {
        let command = PeerCommand { name: "cat".into(), command: vec!["cat".into()] };
        for refused in 0..2 {
            let start = || Process::start(&command, Duration::from_secs(10));
            let Err(PeerFault::Start(why)) = refusing(refused, start) else { panic!("it started") };
            assert!(why.starts_with("no thread that listens to it was started: "), "{why}");
        }
        assert!(Process::start(&command, Duration::from_secs(10)).is_ok());
    }

    #[test]
    fn lines_are_whole_and_short() {
        assert_eq!(lines(b"a b\r\n\nlast\n"), ["a b", "", "last"]);
        assert_eq!(lines(b"keys 1\nkeys 12"), ["keys 1"], "no end, no line");
        let line = [vec![b'x'; MAX_LINE - 1], b"\n".to_vec()].concat();
        assert_eq!(lines(&line), ["x".repeat(MAX_LINE - 1)]);
        assert_eq!(lines(&[b'x'; MAX_LINE * 2]), [format!("{MAX_LINE} too long")]);
    }

    #[test]
    fn the_end_of_standard_error_is_kept() {
        let tail = Mutex::new(Vec::new());
        (0..100).for_each(|i| keep(&tail, &[i; 100]));
        let tail = tail.into_inner().unwrap();
        assert_eq!((tail.len(), tail[TAIL - 1], tail[0]), (TAIL, 99, 59));
    }

    #[test]
    fn refusals_are_told_from_other_words() {
        assert_eq!(refusal("error too large"), Some("too large"));
        assert_eq!(refusal("error"), Some(""));
        assert_eq!(refusal("errors 1"), None);
    }
}
