//! Child process that answers lines with lines, within limits of time and memory.
//!
//! Two threads read its output, so that a wait for an answer can time out. They end when the pipes
//! are closed. A grandchild can keep the pipes open for longer, so the threads are not joined.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::command::PeerCommand;
use super::error::{PeerFault, printable, printable_end};
use crate::threads::builder;

/// Maximum length of a line, in bytes.
const MAX_LINE: usize = 4096;
/// Bytes of the end of standard error that are kept.
const TAIL: usize = 4096;
/// Time in which a peer must end after `quit`, or after it has closed its output.
const GRACE: Duration = Duration::from_millis(500);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A line of standard output, or the beginning of one that exceeds [`MAX_LINE`].
type OutputLine = Result<String, String>;

/// The process of a peer, which is ended after the first fatal fault.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    /// `None` after the child was ended.
    stdin: Option<ChildStdin>,
    /// Closed at the end of the output.
    output: Receiver<OutputLine>,
    stderr: StderrTail,
    limit: Duration,
}

/// The thread that reads standard error, with the end of the text.
#[derive(Debug)]
struct StderrTail {
    tail: Arc<Mutex<Vec<u8>>>,
    thread: JoinHandle<()>,
}

impl Process {
    pub fn start(command: &PeerCommand, limit: Duration) -> Result<Self, PeerFault> {
        let Some((program, arguments)) = command.command.split_first() else {
            return Err(PeerFault::Start("the command is empty".to_owned()));
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
            return Err(PeerFault::Start("its pipes are missing".to_owned()));
        };
        // The channel holds one line, so a peer that writes more blocks on its pipe.
        let (sender, output) = sync_channel(1);
        let started = builder(0).spawn(move || read_lines(stdout, &sender));
        match started.and_then(|_| StderrTail::new(stderr)) {
            Ok(stderr) => Ok(Self { child, stdin: Some(stdin), output, stderr, limit }),
            Err(error) => {
                // This fails if the child has already ended.
                let _ = child.kill();
                let _ = child.wait();
                Err(PeerFault::Start(format!("no thread to read its output: {error}")))
            }
        }
    }

    /// Sends a line and parses the answer. Every fault except a refusal ends the child.
    pub fn command<T>(
        &mut self,
        line: &[u8],
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<T, PeerFault> {
        let received = self.send(line).and_then(|()| self.receive());
        let answer = received.and_then(|line| match refusal(&line) {
            Some(reason) => Err(PeerFault::Refused(printable(reason))),
            None => parse(&line).map_err(|problem| PeerFault::unexpected(&problem, &line)),
        });
        if answer.as_ref().is_err_and(PeerFault::is_final) {
            self.end(Duration::ZERO);
        }
        answer
    }

    fn send(&mut self, line: &[u8]) -> Result<(), PeerFault> {
        if self.stdin.is_none() {
            return Err(PeerFault::AlreadyEnded);
        }
        // An unsolicited line would pass for the next answer. A peer that writes instead of reading
        // could also block the write below.
        match self.output.try_recv() {
            Err(TryRecvError::Empty) => {}
            Ok(Ok(line) | Err(line)) => {
                return Err(PeerFault::unexpected("it wrote an unsolicited line", &line));
            }
            Err(TryRecvError::Disconnected) => return Err(self.ended()),
        }
        let stdin = self.stdin.as_mut().ok_or(PeerFault::AlreadyEnded)?;
        let sent = stdin.write_all(&[line, b"\n"].concat()).and_then(|()| stdin.flush());
        // An error of the pipe means that the peer does not read it any more.
        sent.map_err(|_| self.ended())
    }

    fn receive(&mut self) -> Result<String, PeerFault> {
        match self.output.recv_timeout(self.limit) {
            Ok(line) => line.map_err(|line| {
                PeerFault::unexpected(&format!("its line is longer than {MAX_LINE} bytes"), &line)
            }),
            Err(RecvTimeoutError::Disconnected) => Err(self.ended()),
            Err(RecvTimeoutError::Timeout) => Err(PeerFault::TimedOut(self.limit)),
        }
    }

    /// The fault of a peer that has closed a pipe.
    fn ended(&mut self) -> PeerFault {
        // A peer that has closed its output usually ends soon, with a status and a message.
        let status = self.end(GRACE);
        PeerFault::Ended(match &self.stderr.text()[..] {
            "" => format!("({status})"),
            text => format!("({status}); on standard error: {text}"),
        })
    }

    /// Ends the child, by force after `grace`, and returns its exit status as text.
    pub fn end(&mut self, grace: Duration) -> String {
        self.stdin = None;
        let ended = within(grace, || !matches!(self.child.try_wait(), Ok(None)));
        if !ended {
            // This fails if the child has already ended.
            let _ = self.child.kill();
        }
        match self.child.wait() {
            Ok(_) if !ended => "it closed its output or did not answer, and was killed".to_owned(),
            Ok(status) => status.to_string(),
            Err(error) => format!("its exit status is unknown: {error}"),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let quit = self.stdin.as_mut().map(|stdin| stdin.write_all(b"quit\n"));
        self.end(if quit.is_some_and(|sent| sent.is_ok()) { GRACE } else { Duration::ZERO });
    }
}

/// The reason of a refusal, if the line is one.
fn refusal(line: &str) -> Option<&str> {
    let reason = line.strip_prefix("error")?;
    (reason.is_empty() || reason.starts_with(' ')).then(|| reason.trim())
}

/// Waits until a condition is true or the limit has passed; returns the condition.
fn within(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + limit;
    while !condition() {
        if Instant::now() >= until {
            return false;
        }
        thread::sleep(POLL_INTERVAL);
    }
    true
}

/// Sends lines of standard output until its end or until the receiver is dropped.
fn read_lines(stdout: ChildStdout, sender: &SyncSender<OutputLine>) {
    let mut stdout = BufReader::new(stdout);
    while let Some(line) = next_line(&mut stdout) {
        let too_long = line.is_err();
        if sender.send(line).is_err() || too_long {
            return;
        }
    }
}

/// The next line; `None` at the end, possibly after an incomplete line.
fn next_line(from: &mut impl BufRead) -> Option<OutputLine> {
    let mut line = Vec::new();
    // A read error counts as the end.
    let read = from.take(MAX_LINE as u64).read_until(b'\n', &mut line);
    let text = |line: &[u8]| String::from_utf8_lossy(line).into_owned();
    match read {
        Ok(_) if line.ends_with(b"\n") => Some(Ok(text(line.trim_ascii_end()))),
        Ok(MAX_LINE..) => Some(Err(text(&line))),
        _ => None,
    }
}

impl StderrTail {
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

    /// The end of standard error, after the child has ended.
    fn text(&self) -> String {
        within(GRACE, || self.thread.is_finished());
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        printable_end(&String::from_utf8_lossy(&tail))
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
        while let Some(line) = next_line(&mut from) {
            let too_long = line.is_err();
            lines.push(line.unwrap_or_else(|line| format!("{} too long", line.len())));
            if too_long {
                break;
            }
        }
        lines
    }

    #[cfg(unix)]
    #[test]
    fn a_peer_without_reading_threads_does_not_start() {
        let command = PeerCommand { name: "cat".into(), command: vec!["cat".into()] };
        for refused in 0..2 {
            let start = || Process::start(&command, Duration::from_secs(10));
            let Err(PeerFault::Start(text)) = refusing(refused, start) else {
                panic!("it started")
            };
            assert!(text.starts_with("no thread to read its output: "), "{text}");
        }
        assert!(Process::start(&command, Duration::from_secs(10)).is_ok());
    }

    #[test]
    fn lines_are_complete_and_limited() {
        assert_eq!(lines(b"a b\r\n\nlast\n"), ["a b", "", "last"]);
        assert_eq!(lines(b"keys 1\nkeys 12"), ["keys 1"], "an incomplete line is not a line");
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
    fn refusals_are_distinguished_from_other_lines() {
        assert_eq!(refusal("error too large"), Some("too large"));
        assert_eq!(refusal("error"), Some(""));
        assert_eq!(refusal("errors 1"), None);
    }
}
