//! Columnar formats, recognised by the first bytes of the input.

use std::path::Path;

/// Beginnings of Parquet and Arrow files, and of an Arrow stream.
const MAGIC: [(&[u8], Columnar); 3] = [
    (b"PAR1", Columnar::Parquet),
    (b"ARROW1", Columnar::ArrowFile),
    // What each message begins with. It is not UTF-8, so that no text does.
    (b"\xff\xff\xff\xff", Columnar::ArrowStream),
];

/// A columnar format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Columnar {
    /// Apache Parquet.
    Parquet,
    /// The file format of Arrow IPC, also called Feather.
    ArrowFile,
    /// The streaming format of Arrow IPC.
    ArrowStream,
}

impl Columnar {
    /// Recognises the format by the first bytes.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, format)| *format)
    }

    /// Whether more bytes are needed to know.
    pub fn is_open(bytes: &[u8]) -> bool {
        MAGIC.iter().any(|(magic, _)| bytes.len() < magic.len() && magic.starts_with(bytes))
    }

    /// Returns the format that the extension of an output's name means.
    pub fn of_name(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match &*extension {
            "parquet" => Some(Self::Parquet),
            "arrow" | "feather" | "ipc" => Some(Self::ArrowFile),
            "arrows" => Some(Self::ArrowStream),
            _ => None,
        }
    }

    /// The name of the format in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Parquet => "Parquet",
            Self::ArrowFile => "an Arrow file",
            Self::ArrowStream => "an Arrow stream",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Columnar;

    #[test]
    fn formats_are_recognised_by_as_few_bytes_as_possible() {
        assert_eq!(Columnar::of(b"PAR1\x15"), Some(Columnar::Parquet));
        assert_eq!(Columnar::of(b"ARROW1\0\0"), Some(Columnar::ArrowFile));
        assert_eq!(Columnar::of(b"\xff\xff\xff\xff\x10"), Some(Columnar::ArrowStream));
        assert_eq!(Columnar::of(b"PARIS,192.0.2.1"), None);
        for (bytes, open) in [(&b""[..], true), (b"PA", true), (b"ARROW", true), (b"PARI", false)] {
            assert_eq!(Columnar::is_open(bytes), open);
        }
        assert!(!Columnar::is_open(b"1"));
    }
}
