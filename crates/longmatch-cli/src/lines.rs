//! Cuts a stream into blocks of whole lines, in bounded memory.

use std::io::{self, Read};

/// Bytes read at a time, and the greatest length of a line.
pub const ROOFLINE: usize = 256 << 10;

/// A stream cut into blocks of lines.
pub struct Blocks<R> {
    reader: R,
    /// The beginning of a line whose end has not been read.
    rest: Vec<u8>,
    ended: bool,
    /// The number of lines before `rest`.
    lines: u64,
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
        Self { reader, rest: Vec::new(), ended: false, lines: 0 }
    }

    /// The number of the line that the next block begins with, from 1.
    pub fn number(&self) -> u64 {
        self.lines + 1
    }

    /// Reads until there is a whole line, and returns all whole lines; `None` at the end.
    ///
    /// A line is returned as soon as its end can be read.
    ///
    /// # Errors
    /// If reading fails, or a line is longer than [`ROOFLINE`].
    pub fn next(&mut self) -> io::Result<Option<Block>> {
        let mut bytes = std::mem::take(&mut self.rest);
        let mut whole = 0;
        while whole == 0 && !self.ended {
            let start = bytes.len();
            if start >= ROOFLINE {
                return Err(io::Error::other(format!("the line is longer than {ROOFLINE} bytes")));
            }
            bytes.resize(ROOFLINE, 0);
            let read = loop {
                match self.reader.read(&mut bytes[start..]) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    read => break read?,
                }
            };
            bytes.truncate(start + read);
            self.ended = read == 0;
            whole = memchr::memrchr(b'\n', &bytes).map_or(0, |end| end + 1);
        }
        if !self.ended {
            self.rest = bytes.split_off(whole);
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        let block = Block { bytes, before: self.lines };
        self.lines += block.lines().count() as u64;
        Ok(Some(block))
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
