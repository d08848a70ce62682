//! Splitting of a stream into lines, in bounded memory.

use std::io;

use memchr::{memchr, memchr_iter};

use crate::error::Problem;
use crate::input::Input;

/// Byte-order mark of UTF-8.
pub(crate) const BOM: &[u8] = b"\xef\xbb\xbf";

/// Error of reading a line.
pub(crate) enum LinesError {
    /// The line is invalid; the next line can still be read.
    Line(Problem),
    /// The stream failed.
    Io(io::Error),
}

/// The lines of a stream, without line ends.
pub(crate) struct Lines<'a> {
    input: Input<'a>,
    limit: usize,
    number: u64,
    /// Bytes of the window that the last line fills.
    taken: usize,
    /// Lines that come again before the next one, and the bytes of them that are read.
    again: String,
    at: usize,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(input: Input<'a>, limit: usize) -> Self {
        Self { input, limit, number: 0, taken: 0, again: String::new(), at: 0 }
    }

    /// The number of the last line, counted from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn input(&self) -> &Input<'a> {
        &self.input
    }

    /// Has the last lines that were read come again: they are a text of lines without the last line end.
    pub(crate) fn again(&mut self, lines: &str) {
        let rest = self.again.split_off(self.at);
        self.again = format!("{lines}\n{rest}");
        self.at = 0;
        self.number -= 1 + memchr_iter(b'\n', lines.as_bytes()).count() as u64;
    }

    #[cold]
    fn next_again(&mut self) -> &str {
        let start = self.at;
        let rest = &self.again[start..];
        let len = memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
        self.at = (start + len + 1).min(self.again.len());
        self.number += 1;
        &self.again[start..start + len]
    }

    /// Returns the next line, `None` after the last.
    #[inline]
    pub(crate) fn next_line(&mut self) -> Result<Option<&str>, LinesError> {
        if self.at < self.again.len() {
            return Ok(Some(self.next_again()));
        }
        self.input.consume(self.taken);
        self.taken = 0;
        let Some(len) = self.find_end()? else { return Ok(None) };
        let mut line = &self.input.window()[..len];
        if self.number == 1 {
            line = line.strip_prefix(BOM).unwrap_or(line);
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if memchr(0, line).is_some() {
            return Err(LinesError::Line(Problem::Nul));
        }
        match str::from_utf8(line) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(LinesError::Line(Problem::NotUtf8)),
        }
    }

    /// Fills the window up to the end of a line. Returns the length of the line.
    #[inline]
    fn find_end(&mut self) -> Result<Option<usize>, LinesError> {
        let mut scanned = 0;
        loop {
            let window = self.input.window();
            let found = memchr(b'\n', &window[scanned..]).map(|at| scanned + at);
            scanned = window.len();
            if found.unwrap_or(scanned) > self.limit {
                self.number += 1;
                self.skip_line();
                return Err(LinesError::Line(Problem::LineTooLong { limit: self.limit }));
            }
            if let Some(len) = found {
                self.number += 1;
                self.taken = len + 1;
                return Ok(Some(len));
            }
            if self.input.fill(scanned + 1) == scanned {
                return self.last_line(scanned);
            }
        }
    }

    /// Returns the length of the last line, which has no line end, or `None` for an empty rest. After
    /// a read error the rest is not a line.
    fn last_line(&mut self, len: usize) -> Result<Option<usize>, LinesError> {
        if let Some(error) = self.input.take_error() {
            self.taken = len;
            return Err(LinesError::Io(error));
        }
        if len == 0 {
            return Ok(None);
        }
        self.number += 1;
        self.taken = len;
        Ok(Some(len))
    }

    /// Drops the rest of a line of any length.
    fn skip_line(&mut self) {
        loop {
            let window = self.input.window();
            let (n, last) = match memchr(b'\n', window) {
                Some(at) => (at + 1, true),
                None => (window.len(), false),
            };
            self.input.consume(n);
            if last || self.input.fill(1) == 0 {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All lines, or `!` for a bad one.
    fn read(data: &[u8], limit: usize) -> Vec<(u64, String)> {
        let mut lines = Lines::new(Input::new(Box::new(data)), limit);
        let mut all = Vec::new();
        loop {
            let line = match lines.next_line() {
                Ok(Some(line)) => line.to_owned(),
                Ok(None) => return all,
                Err(LinesError::Line(_)) => "!".to_owned(),
                Err(LinesError::Io(error)) => panic!("{error}"),
            };
            all.push((lines.number(), line));
        }
    }

    fn texts(data: &[u8], limit: usize) -> Vec<String> {
        read(data, limit).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn line_ends_of_every_kind() {
        assert_eq!(texts(b"", 9), [""; 0]);
        assert_eq!(texts(b"a\nb\r\n\r\nc", 9), ["a", "b", "", "c"]);
        assert_eq!(texts(b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", 9), ["a", "\u{feff}b"]);
        assert_eq!(texts(b"a\n\n", 9), ["a", ""]);
    }

    #[test]
    fn bad_lines_do_not_hide_good_ones() {
        let data = b"ok\n0123456789\na\0b\n\xff\nok";
        let expected = [(1, "ok"), (2, "!"), (3, "!"), (4, "!"), (5, "ok")];
        assert_eq!(read(data, 9), expected.map(|(n, text)| (n, text.to_owned())));
        assert_eq!(texts(b"012345678\n", 9), ["012345678"]);
        assert_eq!(texts(b"0123456789", 9), ["!"]);
    }

    /// The case "a 1 GiB line", scaled down: the window stays within a few steps.
    #[test]
    fn an_endless_line_is_skipped_in_bounded_memory() {
        use std::io::Read;
        let endless = std::io::repeat(b'x').take(64 << 20).chain(&b"\nok\n"[..]);
        let mut lines = Lines::new(Input::new(Box::new(endless)), 4096);
        assert!(matches!(lines.next_line(), Err(LinesError::Line(Problem::LineTooLong { .. }))));
        assert!(matches!(lines.next_line(), Ok(Some("ok"))));
    }
}
