//! The formats of compression and of archives.

use std::fmt;

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
    pub(crate) fn name(self) -> &'static str {
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

/// Recognises an archive by its first bytes.
pub(crate) fn archive(head: &[u8]) -> Option<Codec> {
    match head {
        // A member, an empty archive, or the first part of a divided one.
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] | [b'P', b'K', 7, 8, ..] => {
            Some(Codec::Zip)
        }
        _ if head.get(257..262) == Some(b"ustar") => Some(Codec::Tar),
        _ => None,
    }
}

/// The name of an archive where only streams are read, with advice.
fn archive_name(kind: Codec) -> &'static str {
    match kind {
        Codec::Zip => {
            "a zip archive: unpack it, or write a file of it to standard input (unzip -p)"
        }
        _ => "a tar archive: unpack it, or write a file of it to standard input (tar -xOf)",
    }
}

/// Recognises by the first bytes an input that is UTF-16 or an archive. Returns its name with advice.
///
/// ```
/// let name = longmatch_feed::other_encoding(b"\xff\xfe1\0").unwrap();
/// assert!(name.starts_with("UTF-16 text: convert it"));
/// ```
#[must_use]
pub fn other_encoding(head: &[u8]) -> Option<&'static str> {
    match head {
        // A byte order mark, or characters of ASCII, each with a zero byte.
        [0xff, 0xfe, ..]
        | [0xfe, 0xff, ..]
        | [0, b'\t'..=b'~', 0, b'\t'..=b'~', ..]
        | [b'\t'..=b'~', 0, b'\t'..=b'~', 0, ..] => {
            Some("UTF-16 text: convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)")
        }
        _ => archive(head).map(archive_name),
    }
}
