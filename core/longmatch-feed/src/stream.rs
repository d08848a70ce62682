//! Streams of any length, compressed or not, which are read once from the first byte to the last.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::codec::{Codec, Magic, magic, other_encoding};
use crate::decompress::{decompressor, explain};
use crate::error::Problem;

/// A stream, decompressed while it is read. Its memory does not depend on its length.
///
/// A magic number determines the compression. Unlike the loaders of this crate, a stream has no limit on
/// its decompressed size: use it if the output is processed at once, not kept.
///
/// ```
/// use std::io::Read;
/// use longmatch_feed::{Codec, Stream, compress};
/// let file = compress(Codec::Gzip, b"192.0.2.1\n")?;
/// let mut stream = Stream::new(Box::new(std::io::Cursor::new(file)))?;
/// let mut text = String::new();
/// stream.read_to_string(&mut text)?;
/// assert_eq!((stream.codec(), &*text), (Some(Codec::Gzip), "192.0.2.1\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Stream {
    reader: Box<dyn Read + Send>,
    codec: Option<Codec>,
}

impl Stream {
    /// Reads the first bytes and chooses the decompressor.
    ///
    /// # Errors
    /// If the first bytes cannot be read, or show a compression that is not supported or an archive.
    pub fn new(raw: Box<dyn Read + Send>) -> Result<Self, Problem> {
        let mut source = BufReader::with_capacity(64 << 10, raw);
        let head = source.fill_buf().map_err(Problem::Read)?;
        let codec = match magic(head) {
            None => match other_encoding(head) {
                Some(name) => return Err(Problem::OtherFormat { name }),
                None => return Ok(Self { reader: Box::new(source), codec: None }),
            },
            Some(Magic::Known(codec)) => codec,
            Some(Magic::Unknown(name)) => return Err(Problem::UnknownCodec { name }),
        };
        let reader: Box<dyn Read + Send> = decompressor!(codec, source);
        Ok(Self { reader, codec: Some(codec) })
    }

    /// The compression; `None` for plain input.
    #[must_use]
    pub fn codec(&self) -> Option<Codec> {
        self.codec
    }

    /// Converts an error of reading this stream, which may be one of decompression.
    #[must_use]
    pub fn explain(&self, error: io::Error) -> Problem {
        explain(error, self.codec)
    }
}

impl Read for Stream {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.codec.is_none() {
            return self.reader.read(buf);
        }
        // Decompressors validate their input; if one panics nevertheless, the panic is an error.
        let reader = &mut self.reader;
        catch_unwind(AssertUnwindSafe(|| reader.read(buf)))
            .unwrap_or_else(|_| Err(io::Error::other("the decompressor panicked")))
    }
}

/// Compresses a part of a stream by itself: a member of gzip, a stream of bzip2 or xz, or a
/// frame of zstd.
///
/// Parts that follow each other are a stream that every decompressor of the format reads, so that
/// threads can compress parts of it.
///
/// ```
/// use longmatch_feed::{Codec, compress};
/// assert!(compress(Codec::Zstd, b"192.0.2.1\n")?.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// If the codec is an archive. No compressor that writes to memory fails.
pub fn compress(codec: Codec, bytes: &[u8]) -> io::Result<Vec<u8>> {
    match codec {
        Codec::Gzip => {
            let level = flate2::Compression::default();
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
            encoder.write_all(bytes)?;
            encoder.finish()
        }
        Codec::Bzip2 => {
            let level = bzip2::Compression::default();
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), level);
            encoder.write_all(bytes)?;
            encoder.finish()
        }
        Codec::Zstd => {
            let level = ruzstd::encoding::CompressionLevel::Fastest;
            Ok(ruzstd::encoding::compress_to_vec(bytes, level))
        }
        Codec::Xz => {
            let options = lzma_rust2::XzOptions::with_preset(6);
            let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options)?;
            encoder.write_all(bytes)?;
            encoder.finish()
        }
        Codec::Zip | Codec::Tar => {
            Err(io::Error::new(io::ErrorKind::Unsupported, "archives are only read"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_one_stream() {
        let parts = [&b"first line\n"[..], b"", &b"x".repeat(300_000), b"\n"];
        for codec in [Codec::Gzip, Codec::Bzip2, Codec::Zstd, Codec::Xz] {
            let file: Vec<u8> =
                parts.iter().flat_map(|part| compress(codec, part).unwrap()).collect();
            let mut stream = Stream::new(Box::new(io::Cursor::new(file.clone()))).unwrap();
            let mut read = Vec::new();
            stream.read_to_end(&mut read).unwrap();
            assert!(read == parts.concat(), "{codec}");
            let mut cut = Stream::new(Box::new(io::Cursor::new(file[..20].to_vec()))).unwrap();
            let error = cut.read_to_end(&mut Vec::new()).unwrap_err();
            assert!(cut.explain(error).to_string().contains(&codec.to_string()));
        }
    }

    #[test]
    fn other_compressions_are_named() {
        let lz4 = io::Cursor::new(b"\x04\x22\x4d\x18rest".to_vec());
        let error = Stream::new(Box::new(lz4)).err().unwrap();
        assert!(error.to_string().starts_with("lz4 is not supported"));
    }
}
