//! Transparent decompression of streams.
//!
//! The magic number determines the codec; [`crate::archive`] reads archives. A stream whose output is out of proportion to its input
//! is refused.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use lzma_rust2::XzReader;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use crate::archive;
use crate::options::Limits;

/// Compression or archive format of an input.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Codec {
    /// gzip, any number of members.
    Gzip,
    /// bzip2, any number of streams.
    Bzip2,
    /// Zstandard, any number of frames.
    Zstd,
    /// xz, any number of streams.
    Xz,
    /// A member of a zip file.
    Zip,
    /// A member of a tar archive that is not compressed.
    Tar,
}

impl Codec {
    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Bzip2 => "bzip2",
            Self::Zstd => "zstd",
            Self::Xz => "xz",
            Self::Zip => "zip",
            Self::Tar => "tar",
        }
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Memory limit of an xz decoder in KiB: twice the dictionary of `xz -9`. The decoder reserves its
/// dictionary, whose size the file names, before it reads the data.
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

/// Error of the stream that an input is read from.
#[derive(Debug)]
#[non_exhaustive]
pub enum StreamError {
    /// Reading failed.
    Read(io::Error),
    /// The compressed data is damaged or cut off.
    Compressed {
        /// The compression.
        codec: Codec,
        /// The error of the decompressor.
        error: io::Error,
    },
    /// The data is compressed in a way that is not supported.
    UnknownCodec {
        /// The format's name.
        name: &'static str,
    },
    /// The stream is of a format that is not read here.
    OtherFormat {
        /// The format, and a way to a supported one.
        name: &'static str,
    },
    /// The decompressed data is itself compressed.
    Nested {
        /// The outer compression.
        outer: Codec,
        /// The name of the inner one.
        inner: &'static str,
    },
    /// The decompressed data is implausibly long.
    Bomb {
        /// Bytes of output per byte of input, at least.
        ratio: u64,
    },
}

impl StreamError {
    /// Whether the stream is damaged. A lenient load keeps the routes before the damage.
    pub(crate) fn is_damage(&self) -> bool {
        matches!(self, Self::Read(_) | Self::Compressed { .. } | Self::Bomb { .. })
    }
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => write!(f, "cannot be read: {error}"),
            Self::Compressed { codec, error } => {
                write!(f, "the {codec} data is damaged or cut off: {error}")
            }
            Self::UnknownCodec { name } => write!(
                f,
                "{name} is not supported: decompress the file first, or use gzip, bzip2, zstd or xz"
            ),
            Self::OtherFormat { name } => write!(f, "the input is {name}"),
            Self::Nested { outer, inner } => {
                write!(f, "{inner} data inside {outer} data: decompress the file once")
            }
            Self::Bomb { ratio } => write!(
                f,
                "the data decompresses to more than {ratio} times its size: \
                 if it is genuine, decompress the file first"
            ),
        }
    }
}

impl std::error::Error for StreamError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read(error) | Self::Compressed { error, .. } => Some(error),
            Self::UnknownCodec { .. }
            | Self::OtherFormat { .. }
            | Self::Nested { .. }
            | Self::Bomb { .. } => None,
        }
    }
}

/// Compression format that the first bytes of an input indicate.
pub(crate) enum Magic {
    Known(Codec),
    Unknown(&'static str),
}

/// The length of the longest magic number that [`magic`] knows.
pub(crate) const MAGIC_LEN: usize = 6;

pub(crate) fn magic(head: &[u8]) -> Option<Magic> {
    match head {
        [0x1f, 0x8b, ..] => Some(Magic::Known(Codec::Gzip)),
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some(Magic::Known(Codec::Bzip2)),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Magic::Known(Codec::Zstd)),
        // A skippable frame (RFC 8878, 3.1.2) may come first.
        [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Magic::Known(Codec::Zstd)),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Magic::Known(Codec::Xz)),
        [0x04, 0x22, 0x4d, 0x18, ..] => Some(Magic::Unknown("lz4")),
        [0x1f, 0x9d, ..] => Some(Magic::Unknown("compress (.Z)")),
        _ => None,
    }
}

/// A decompressed input.
pub(crate) struct Decoded<'a> {
    pub(crate) reader: Box<dyn Read + 'a>,
    pub(crate) codec: Option<Codec>,
    /// Bytes read from the compressed input so far.
    pub(crate) taken: Rc<Cell<u64>>,
}

/// Detects the codec of `raw` and wraps it in the decompressor.
pub(crate) fn decode<'a>(
    raw: Box<dyn Read + 'a>,
    limits: Limits,
) -> Result<Decoded<'a>, StreamError> {
    let taken = Rc::new(Cell::new(0));
    let counted = Counted { inner: raw, count: Rc::clone(&taken) };
    let mut source = BufReader::with_capacity(64 << 10, counted);
    let head = source.fill_buf().map_err(StreamError::Read)?;
    let codec = match magic(head) {
        None => None,
        Some(Magic::Known(codec)) => Some(codec),
        Some(Magic::Unknown(name)) => return Err(StreamError::UnknownCodec { name }),
    };
    let Some(codec) = codec else {
        return Ok(Decoded { reader: Box::new(source), codec: None, taken });
    };
    let inner: Box<dyn Read + 'a> = decompressor!(codec, source);
    let guard = Guard::new(inner, Rc::clone(&taken), limits);
    Ok(Decoded { reader: Box::new(guard), codec: Some(codec), taken })
}

/// Refuses compressed data and zip files inside compressed data or an archive; `head` is the start of the decompressed stream.
pub(crate) fn refuse_nested(outer: Codec, head: &[u8]) -> Result<(), StreamError> {
    let inner = match magic(&head[..head.len().min(MAGIC_LEN)]) {
        None if archive::kind(head) == Some(Codec::Zip) => Codec::Zip.name(),
        None => return Ok(()),
        Some(Magic::Known(codec)) => codec.name(),
        Some(Magic::Unknown(name)) => name,
    };
    Err(StreamError::Nested { outer, inner })
}

/// Converts an I/O error of a [`Decoded`] reader.
pub(crate) fn explain(error: io::Error, codec: Option<Codec>) -> StreamError {
    let bomb = error.get_ref().and_then(|inner| inner.downcast_ref::<Bomb>()).map(|bomb| bomb.0);
    match (bomb, codec) {
        (Some(ratio), _) => StreamError::Bomb { ratio },
        (None, Some(codec)) => StreamError::Compressed { codec, error },
        (None, None) => StreamError::Read(error),
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

/// The error inside the [`io::Error`] of a [`Guard`].
#[derive(Debug)]
struct Bomb(u64);

impl fmt::Display for Bomb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "decompresses to more than {} times its size", self.0)
    }
}

impl std::error::Error for Bomb {}

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
            return Err(io::Error::other(Bomb(self.limits.ratio)));
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
