//! Splits a stream into lines, in bounded memory.

use std::io::{self, Read};

/// Bytes read at a time, and the greatest length of a line.
pub const LIMIT: usize = 256 << 10;

/// A stream cut into lines.
pub struct Lines<R> {
    reader: R,
    buffer: Box<[u8]>,
    /// Start of the bytes that were read and not returned yet.
    start: usize,
    end: usize,
    ended: bool,
    number: u64,
}

/// Next item of a stream of lines.
pub enum Next<'a> {
    /// A line without its line end and surrounding spaces.
    Line(&'a [u8]),
    /// The buffer has no further line. Reading may block, so flush pending output, then call
    /// [`Lines::fill`].
    NeedsInput,
    /// The stream has ended.
    End,
}

impl<R: Read> Lines<R> {
    /// Creates the splitter; reads nothing yet.
    pub fn new(reader: R) -> Self {
        let buffer = vec![0; LIMIT].into_boxed_slice();
        Self { reader, buffer, start: 0, end: 0, ended: false, number: 0 }
    }

    /// Returns the number of the line returned last, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns the next item, without reading.
    #[inline]
    pub fn next(&mut self) -> Next<'_> {
        let window = &self.buffer[self.start..self.end];
        let len = match memchr::memchr(b'\n', window) {
            Some(len) => len,
            None if !self.ended => return Next::NeedsInput,
            None if window.is_empty() => return Next::End,
            None => window.len(),
        };
        let line = &self.buffer[self.start..self.start + len];
        self.start = (self.start + len + 1).min(self.end);
        self.number += 1;
        Next::Line(line.trim_ascii())
    }

    /// Reads once, as much as is available.
    ///
    /// # Errors
    /// If reading fails, or a line is longer than [`LIMIT`].
    pub fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        if self.end == self.buffer.len() {
            return Err(io::Error::other(format!("the line is longer than {LIMIT} bytes")));
        }
        loop {
            match self.reader.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(n) => self.end += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reader that yields one byte at a time.
    struct OneByteReader<'a>(&'a [u8]);

    impl Read for OneByteReader<'_> {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            let n = self.0.len().min(buf.len()).min(1);
            self.0.read(&mut buf[..n])
        }
    }

    fn all(mut lines: Lines<impl Read>) -> io::Result<Vec<(u64, Vec<u8>)>> {
        let mut all = Vec::new();
        loop {
            match lines.next() {
                Next::End => return Ok(all),
                Next::NeedsInput => lines.fill()?,
                Next::Line(line) => {
                    let line = line.to_vec();
                    all.push((lines.number(), line));
                }
            }
        }
    }

    #[test]
    fn lines_do_not_depend_on_the_size_of_reads() {
        let text = b" a \r\n\nbc\nlast";
        let expected = [(1, &b"a"[..]), (2, b""), (3, b"bc"), (4, b"last")];
        let expected: Vec<_> = expected.map(|(n, line)| (n, line.to_vec())).into();
        assert_eq!(all(Lines::new(&text[..])).unwrap(), expected);
        assert_eq!(all(Lines::new(OneByteReader(text))).unwrap(), expected);
        assert!(all(Lines::new(io::empty())).unwrap().is_empty());
    }

    #[test]
    fn long_lines_are_refused_and_short_ones_fill_the_buffer() {
        let endless = vec![b'x'; LIMIT + 1];
        assert!(all(Lines::new(&endless[..])).is_err());
        let many = b"123\n".repeat(LIMIT / 2);
        assert_eq!(all(Lines::new(&many[..])).unwrap().len(), LIMIT / 2);
    }
}
