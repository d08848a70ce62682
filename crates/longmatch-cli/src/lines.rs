//! Cuts a stream into blocks of whole lines, in bounded memory.

use std::io::{self, Read};

use longmatch_feed::scan::csv::RowEnds;

/// Bytes read at a time, and the greatest length of a line.
pub const ROOFLINE: usize = 256 << 10;

/// A stream cut into blocks of lines or rows.
pub struct Blocks<R> {
    reader: R,
    ends: Ends,
    /// Bytes read at a time.
    size: usize,
    /// The greatest length of a line.
    limit: usize,
    /// Whether a block is filled before it is returned.
    fill: bool,
    /// What is read but not returned: the beginning of a line whose end has not been read.
    rest: Vec<u8>,
    /// The bytes of `rest` in which `ends` has looked.
    scanned: usize,
    ended: bool,
    /// An error after lines that were returned.
    failed: Option<io::Error>,
    /// The number of lines before `rest`.
    lines: u64,
}

/// Where blocks can be cut.
pub enum Ends {
    /// After each LF.
    Lines,
    /// After the rows of delimited text.
    Rows(RowEnds),
}

impl Ends {
    /// The last end in `bytes[from..]`.
    fn last(&mut self, bytes: &[u8], from: usize) -> Option<usize> {
        match self {
            Self::Lines => memchr::memrchr(b'\n', &bytes[from..]).map(|end| from + end + 1),
            Self::Rows(ends) => ends.last(bytes, from),
        }
    }
}

/// Lines that follow each other.
#[derive(Debug, Default)]
pub struct Block {
    bytes: Vec<u8>,
    /// The number of lines before this block.
    pub before: u64,
}

impl Block {
    /// The lines with their numbers, from 1, without line ends and surrounding spaces.
    pub fn lines(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let bytes = self.bytes.strip_suffix(b"\n").unwrap_or(&self.bytes);
        let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        (self.before + 1..).zip(lines)
    }
}

impl<R: Read> Blocks<R> {
    /// Creates the cutter; reads nothing yet.
    pub fn new(reader: R) -> Self {
        Self::with(reader, ROOFLINE, ROOFLINE, false)
    }

    /// Creates a cutter that reads `size` bytes at a time, refuses lines above `limit` bytes, and
    /// fills blocks before it returns them if `fill` is true.
    pub fn with(reader: R, size: usize, limit: usize, fill: bool) -> Self {
        let (rest, ends) = (Vec::new(), Ends::Lines);
        let (scanned, ended, failed, lines) = (0, false, None, 0);
        Self { reader, ends, size, limit, fill, rest, scanned, ended, failed, lines }
    }

    /// The number of the line that the next block begins with, from 1.
    pub fn number(&self) -> u64 {
        self.lines + 1
    }

    /// The reader.
    pub fn reader(&self) -> &R {
        &self.reader
    }

    /// Reads the first line, and returns everything read so far.
    ///
    /// # Errors
    /// As [`Blocks::next`].
    pub fn first_line(&mut self) -> io::Result<&[u8]> {
        self.first_bytes(|bytes| memchr::memchr(b'\n', bytes).is_some())
    }

    /// Reads until there is `enough`, or the end, and returns everything read so far.
    ///
    /// # Errors
    /// As [`Blocks::next`].
    pub fn first_bytes(&mut self, enough: impl Fn(&[u8]) -> bool) -> io::Result<&[u8]> {
        let mut bytes = std::mem::take(&mut self.rest);
        while !self.ended && !enough(&bytes) {
            self.read(&mut bytes)?;
        }
        self.rest = bytes;
        Ok(&self.rest)
    }

    /// Returns the reader, and what was read and not returned.
    #[cfg(feature = "columnar")]
    pub fn into_parts(self) -> (Vec<u8>, R) {
        (self.rest, self.reader)
    }

    /// Removes bytes that [`Blocks::first_line`] returned.
    pub fn remove_first(&mut self, count: usize) {
        self.rest.drain(..count);
    }

    /// Cuts at other ends from now on.
    pub fn cut_at(&mut self, ends: Ends) {
        (self.ends, self.scanned) = (ends, 0);
    }

    /// Reads until there is a whole line, and returns all whole lines; `None` at the end.
    ///
    /// A line is returned as soon as its end can be read.
    ///
    /// # Errors
    /// If reading fails, or a line is longer than the limit.
    pub fn next(&mut self) -> io::Result<Option<Block>> {
        let Some(bytes) = self.next_bytes()? else { return Ok(None) };
        let block = Block { bytes, before: self.lines };
        self.lines += block.lines().count() as u64;
        Ok(Some(block))
    }

    /// Returns whole lines as [`Blocks::next`] does, and does not count them.
    ///
    /// # Errors
    /// As [`Blocks::next`].
    pub fn next_bytes(&mut self) -> io::Result<Option<Vec<u8>>> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let mut bytes = std::mem::take(&mut self.rest);
        let mut whole = self.ends.last(&bytes, self.scanned);
        while !self.ended && (whole.is_none() || self.fill && bytes.len() < self.size) {
            let start = bytes.len();
            match self.read(&mut bytes) {
                Ok(()) => {}
                Err(error) if whole.is_some() => {
                    bytes.truncate(start);
                    self.failed = Some(error);
                    break;
                }
                Err(error) => return Err(error),
            }
            whole = self.ends.last(&bytes, start).or(whole);
        }
        if !self.ended {
            self.rest = bytes.split_off(whole.unwrap_or(0));
        }
        self.scanned = self.rest.len();
        Ok((!bytes.is_empty()).then_some(bytes))
    }

    /// Appends what one read returns.
    fn read(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        let start = bytes.len();
        if start >= self.limit {
            let limit = self.limit;
            return Err(io::Error::other(format!("the line is longer than {limit} bytes")));
        }
        // A line that does not fit doubles the buffer.
        let size = if start < self.size { self.size } else { (2 * start).min(self.limit) };
        bytes.resize(size, 0);
        let read = loop {
            match self.reader.read(&mut bytes[start..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        bytes.truncate(start + read);
        self.ended = read == 0;
        Ok(())
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

    fn all(mut blocks: Blocks<impl Read>) -> io::Result<Vec<(u64, Vec<u8>)>> {
        let mut all = Vec::new();
        while let Some(block) = blocks.next()? {
            all.extend(block.lines().map(|(number, line)| (number, line.to_vec())));
        }
        Ok(all)
    }

    #[test]
    fn lines_do_not_depend_on_the_size_of_reads() {
        for text in [&b" a \r\n\nbc\nlast"[..], b" a \r\n\nbc\nlast\n"] {
            let expected = [(1, &b"a"[..]), (2, b""), (3, b"bc"), (4, b"last")];
            let expected: Vec<_> = expected.map(|(n, line)| (n, line.to_vec())).into();
            assert_eq!(all(Blocks::new(text)).unwrap(), expected);
            assert_eq!(all(Blocks::new(OneByteReader(text))).unwrap(), expected);
        }
        assert!(all(Blocks::new(io::empty())).unwrap().is_empty());
    }

    #[test]
    fn long_lines_are_refused_and_short_ones_fill_the_buffer() {
        let endless = vec![b'x'; ROOFLINE + 1];
        assert!(all(Blocks::new(&endless[..])).is_err());
        let many = b"123\n".repeat(ROOFLINE / 2);
        assert_eq!(all(Blocks::new(&many[..])).unwrap().len(), ROOFLINE / 2);
    }
}
