//! Cuts a stream into blocks of whole lines, in bounded memory.

use std::io::{self, Read};

use longmatch_feed::scan::csv::RowEnds;
use memchr::memchr;

/// The greatest length of a line or row of a stream.
pub const MAX_LINE: usize = 64 << 20;
/// The mark of UTF-8 at the beginning of a file.
pub const BOM: &[u8] = b"\xef\xbb\xbf";

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
    /// Read but not returned: the beginning of a line whose end has not been read.
    rest: Vec<u8>,
    /// The bytes of `rest` in which `ends` has looked.
    scanned: usize,
    ended: bool,
    /// An error after lines that were returned.
    failed: Option<io::Error>,
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

/// The lines of a block: beginning, end without CR and LF, and beginning of the next.
pub fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, usize, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at;
        if start == bytes.len() {
            return None;
        }
        at = memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |i| start + i + 1);
        let line = &bytes[start..at];
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        Some((start, start + line.len(), at))
    })
}

impl<R: Read> Blocks<R> {
    /// Creates a cutter that reads `size` bytes at a time, refuses lines above `limit` bytes, and
    /// fills blocks before it returns them if `fill` is true. It reads nothing yet.
    pub fn with(reader: R, size: usize, limit: usize, fill: bool) -> Self {
        let (rest, ends) = (Vec::new(), Ends::Lines);
        let (scanned, ended, failed) = (0, false, None);
        Self { reader, ends, size, limit, fill, rest, scanned, ended, failed }
    }

    /// The reader.
    pub fn reader(&self) -> &R {
        &self.reader
    }

    /// Reads until there is `enough`, or the end, and returns everything read so far.
    ///
    /// # Errors
    /// As [`Blocks::next_bytes`].
    pub fn first_bytes(&mut self, enough: impl Fn(&[u8]) -> bool) -> io::Result<&[u8]> {
        let mut bytes = std::mem::take(&mut self.rest);
        while !self.ended && !enough(&bytes) {
            self.read(&mut bytes)?;
        }
        self.rest = bytes;
        Ok(&self.rest)
    }

    /// Returns the bytes that were read and not returned, and the reader.
    pub fn into_parts(self) -> (Vec<u8>, R) {
        (self.rest, self.reader)
    }

    /// Removes bytes that [`Blocks::first_bytes`] returned.
    pub fn remove_first(&mut self, count: usize) {
        self.rest.drain(..count);
    }

    /// Cuts at other ends from now on.
    pub fn cut_at(&mut self, ends: Ends) {
        (self.ends, self.scanned) = (ends, 0);
    }

    /// Reads until there is a whole line, and returns all whole lines; `None` at the end.
    ///
    /// Unless blocks are filled, a line is returned as soon as its end can be read.
    ///
    /// # Errors
    /// If reading fails, or a line is longer than the limit.
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
            let problem = match self.ends {
                Ends::Lines => format!("the line is longer than {limit} bytes"),
                Ends::Rows(_) => format!(
                    "the row is longer than {limit} bytes: look for a quotation mark without a counterpart"
                ),
            };
            return Err(io::Error::other(problem));
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

    const SIZE: usize = 256;

    fn blocks<R: Read>(reader: R) -> Blocks<R> {
        Blocks::with(reader, SIZE, 2 * SIZE, false)
    }

    fn all(mut blocks: Blocks<impl Read>) -> io::Result<Vec<Vec<u8>>> {
        let mut all = Vec::new();
        while let Some(block) = blocks.next_bytes()? {
            all.extend(lines(&block).map(|(start, end, _)| block[start..end].to_vec()));
        }
        Ok(all)
    }

    #[test]
    fn lines_do_not_depend_on_the_size_of_reads() {
        for text in [&b" a \r\n\nbc\nlast"[..], b" a \r\n\nbc\nlast\n"] {
            let expected = [&b" a "[..], b"", b"bc", b"last"];
            assert_eq!(all(blocks(text)).unwrap(), expected);
            assert_eq!(all(blocks(OneByteReader(text))).unwrap(), expected);
        }
        assert!(all(blocks(io::empty())).unwrap().is_empty());
    }

    #[test]
    fn long_lines_are_refused_and_short_ones_fill_the_buffer() {
        let endless = vec![b'x'; 2 * SIZE + 1];
        assert!(all(blocks(&endless[..])).is_err());
        assert_eq!(all(blocks(&endless[2..])).unwrap().len(), 1);
        let many = b"123\n".repeat(SIZE / 2);
        assert_eq!(all(blocks(&many[..])).unwrap().len(), SIZE / 2);
    }
}
