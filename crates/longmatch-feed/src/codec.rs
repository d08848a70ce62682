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
