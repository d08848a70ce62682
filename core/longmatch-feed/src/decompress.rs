//! Transparent decompression of streams.
//!
//! The magic number determines the codec; [`crate::archive`] reads archives. A stream whose output is out of proportion to its input
//! is refused.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use lzma_rust2::XzReader;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use crate::codec::{Codec, MAGIC_LEN, Magic, archive, magic};
use crate::error::Problem;
use crate::options::Limits;

/// Memory limit of an xz decoder in KiB: twice the dictionary of `xz -9`. The decoder reserves its
/// dictionary of the size that the file states, before it reads the data.
const XZ_MEMORY: u32 = 128 << 10;

/// The decompressor of a codec, which reads all parts of the source.
macro_rules! decompressor {
    ($codec:expr, $source:expr) => {
        match $codec {
            Codec::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new($source)),
            Codec::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new($source)),
            Codec::Zstd => Box::new($crate::decompress::ZstdFrames::new($source)),
            Codec::Xz => Box::new($crate::decompress::xz_reader($source)),
            // Members of archives are not streams from the first byte.
            Codec::Zip | Codec::Tar => Box::new($source),
        }
    };
}
pub(crate) use decompressor;

/// A reader of xz streams.
pub(crate) fn xz_reader<R: Read>(source: R) -> XzReader<R> {
    XzReader::new_mem_limit(source, true, XZ_MEMORY)
}

/// A decompressed input.
pub(crate) struct Decoded<'a> {
    pub(crate) reader: Box<dyn Read + 'a>,
    pub(crate) codec: Option<Codec>,
    /// Bytes read from the compressed input so far.
    pub(crate) taken: Rc<Cell<u64>>,
}

/// Detects the codec of `raw` and wraps it in the decompressor.
pub(crate) fn decode<'a>(raw: Box<dyn Read + 'a>, limits: Limits) -> Result<Decoded<'a>, Problem> {
    let taken = Rc::new(Cell::new(0));
    let counted = Counted { inner: raw, count: Rc::clone(&taken) };
    let mut source = BufReader::with_capacity(64 << 10, counted);
    let head = source.fill_buf().map_err(Problem::Read)?;
    let codec = match magic(head) {
        None => None,
        Some(Magic::Known(codec)) => Some(codec),
        Some(Magic::Unknown(name)) => return Err(Problem::UnknownCodec { name }),
    };
    let Some(codec) = codec else {
        return Ok(Decoded { reader: Box::new(source), codec: None, taken });
    };
    let inner: Box<dyn Read + 'a> = decompressor!(codec, source);
    let guard = Guard::new(inner, Rc::clone(&taken), limits);
    Ok(Decoded { reader: Box::new(guard), codec: Some(codec), taken })
}

/// Refuses compressed data and zip files inside compressed data or an archive; `head` is the start of the decompressed stream.
pub(crate) fn refuse_nested(outer: Codec, head: &[u8]) -> Result<(), Problem> {
    let inner = match magic(&head[..head.len().min(MAGIC_LEN)]) {
        None if archive(head) == Some(Codec::Zip) => Codec::Zip.name(),
        None => return Ok(()),
        Some(Magic::Known(codec)) => codec.name(),
        Some(Magic::Unknown(name)) => name,
    };
    Err(Problem::Nested { outer, inner })
}

/// Converts an I/O error of a [`Decoded`] reader.
pub(crate) fn explain(error: io::Error, codec: Option<Codec>) -> Problem {
    match (error.downcast(), codec) {
        (Ok(problem), _) => problem,
        (Err(error), Some(codec)) => Problem::Compressed { codec, error },
        (Err(error), None) => Problem::Read(error),
    }
}

/// Reader that counts its bytes.
pub(crate) struct Counted<R> {
    pub(crate) inner: R,
    pub(crate) count: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.count.set(self.count.get() + n as u64);
        Ok(n)
    }
}

/// Reader that fails when the output is out of proportion to the input.
///
/// The decompressors validate their input; if one of them panics nevertheless, the panic becomes an
/// error. [`crate::input::Input`] does not call a reader again after an error.
pub(crate) struct Guard<'a> {
    inner: Box<dyn Read + 'a>,
    taken: Rc<Cell<u64>>,
    given: u64,
    limits: Limits,
}

impl<'a> Guard<'a> {
    pub(crate) fn new(inner: Box<dyn Read + 'a>, taken: Rc<Cell<u64>>, limits: Limits) -> Self {
        Self { inner, taken, given: 0, limits }
    }
}

impl Read for Guard<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let inner = &mut self.inner;
        let n = catch_unwind(AssertUnwindSafe(|| inner.read(buf)))
            .unwrap_or_else(|_| Err(io::Error::other("the decompressor panicked")))?;
        self.given += n as u64;
        let allowed = self.taken.get().saturating_mul(self.limits.ratio);
        if self.given > self.limits.ratio_after && self.given > allowed {
            return Err(io::Error::other(Problem::Bomb { ratio: self.limits.ratio }));
        }
        Ok(n)
    }
}

/// Reader of consecutive Zstandard frames.
pub(crate) struct ZstdFrames<R> {
    source: R,
    decoder: FrameDecoder,
    inside: bool,
}

impl<R: BufRead> ZstdFrames<R> {
    pub(crate) fn new(source: R) -> Self {
        Self { source, decoder: FrameDecoder::new(), inside: false }
    }

    /// Starts the next frame. Returns false at the end of the input.
    fn next_frame(&mut self) -> io::Result<bool> {
        loop {
            if self.source.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.decoder.reset(&mut self.source) {
                Ok(()) => {
                    self.inside = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => self.skip(length.into())?,
                Err(error) => return Err(io::Error::other(error)),
            }
        }
    }

    fn skip(&mut self, length: u64) -> io::Result<()> {
        let skipped = io::copy(&mut self.source.by_ref().take(length), &mut io::sink())?;
        if skipped < length { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }

    /// Ends the current frame and compares its checksum.
    fn end_frame(&mut self) -> io::Result<()> {
        self.inside = false;
        match self.decoder.get_checksum_from_data() {
            Some(sum) if self.decoder.get_calculated_checksum() != Some(sum) => {
                Err(io::Error::new(io::ErrorKind::InvalidData, "the checksum does not match"))
            }
            _ => Ok(()),
        }
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.inside && !self.next_frame()? {
                return Ok(0);
            }
            // Decoding one block at a time bounds the memory to the window plus one block.
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                self.decoder
                    .decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1))
                    .map_err(io::Error::other)?;
            }
            match self.decoder.read(buf)? {
                0 => self.end_frame()?,
                n => return Ok(n),
            }
        }
    }
}
