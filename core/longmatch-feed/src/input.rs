//! A window over a stream: the bytes that are read but not consumed.

use std::io::{self, Read};

/// Bytes by which the window grows. The buffer never exceeds the received bytes by more than this.
const STEP: usize = 64 << 10;

/// A stream with a window that grows on demand.
///
/// A read error does not lose the bytes before it: the window keeps them, and
/// [`Input::take_error`] returns the error to a caller that finds the window too short.
pub(crate) struct Input<'a> {
    reader: Box<dyn Read + 'a>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// The position of `start` in the stream.
    offset: u64,
    ended: bool,
    error: Option<io::Error>,
}

impl<'a> Input<'a> {
    pub(crate) fn new(reader: Box<dyn Read + 'a>) -> Self {
        Self { reader, buffer: Vec::new(), start: 0, end: 0, offset: 0, ended: false, error: None }
    }

    /// The window.
    #[inline]
    pub(crate) fn window(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// The position of the window in the stream.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// The number of bytes received from the stream.
    pub(crate) fn received(&self) -> u64 {
        self.offset + (self.end - self.start) as u64
    }

    /// Drops the first `n` bytes of the window, or all of it if it is shorter.
    #[inline]
    pub(crate) fn consume(&mut self, n: usize) {
        let n = n.min(self.end - self.start);
        self.start += n;
        self.offset += n as u64;
    }

    /// Drops the next `n` bytes of the stream, in the window or after it. Returns the number of
    /// bytes dropped, which is less than `n` at the end of the stream.
    pub(crate) fn skip(&mut self, n: usize) -> usize {
        let mut left = n;
        while left > 0 && self.fill(1) > 0 {
            let step = left.min(self.window().len());
            self.consume(step);
            left -= step;
        }
        n - left
    }

    /// Reads until the window has at least `min` bytes or the stream ends. Returns its length.
    pub(crate) fn fill(&mut self, min: usize) -> usize {
        while self.end - self.start < min && !self.ended {
            self.reserve_after_window(min);
            match self.reader.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(n) => self.end += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.ended = true;
                    self.error = Some(error);
                }
            }
        }
        self.end - self.start
    }

    /// Returns the error that ended the stream, once.
    pub(crate) fn take_error(&mut self) -> Option<io::Error> {
        self.error.take()
    }

    /// Whether an error ended the stream and is still to be taken.
    pub(crate) fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    /// Makes free space after the window. Moves the window to the front first, so that the buffer
    /// grows only if the window itself does.
    fn reserve_after_window(&mut self, min: usize) {
        if self.start > 0 && self.buffer.len() - self.start < min.max(STEP) {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            self.buffer.reserve_exact(STEP);
            self.buffer.resize(self.end + STEP, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns one byte at a time and fails after five.
    struct OneByteReader(u8);

    impl Read for OneByteReader {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            if self.0 == 5 {
                return Err(io::Error::other("no more"));
            }
            self.0 += 1;
            buf[0] = self.0;
            Ok(1)
        }
    }

    #[test]
    fn bytes_before_an_error_are_kept() {
        let mut input = Input::new(Box::new(OneByteReader(0)));
        assert_eq!(input.fill(3), 3);
        input.consume(2);
        assert_eq!((input.window(), input.offset()), (&[3][..], 2));
        assert_eq!(input.fill(9), 3);
        assert_eq!(input.window(), [3, 4, 5]);
        assert_eq!(input.take_error().unwrap().to_string(), "no more");
        assert!(input.take_error().is_none());
        assert_eq!(input.received(), 5);
        assert_eq!((input.skip(1), input.skip(9), input.offset()), (1, 2, 5));
    }

    #[test]
    fn grows_by_steps() {
        let data = vec![7; 5 * STEP];
        let mut input = Input::new(Box::new(&data[..]));
        assert_eq!(input.fill(STEP + 1), 2 * STEP);
        assert!(input.buffer.capacity() <= 3 * STEP);
        input.consume(STEP);
        assert_eq!(input.fill(4 * STEP), 4 * STEP);
        assert_eq!(input.fill(usize::MAX), 4 * STEP);
        assert!(input.buffer.capacity() <= 6 * STEP);
    }
}
