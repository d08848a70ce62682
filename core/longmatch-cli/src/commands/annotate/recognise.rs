//! Formats that are recognised by the first bytes of the input.

use std::path::Path;

/// Beginnings of Parquet and Arrow files, of an Arrow stream, and of captures in both byte orders.
const MAGIC: [(&[u8], Binary); 8] = [
    (b"PAR1", Binary::Columnar(Columnar::Parquet)),
    (b"ARROW1", Binary::Columnar(Columnar::ArrowFile)),
    // What each message begins with. It is not UTF-8, so that no text does.
    (b"\xff\xff\xff\xff", Binary::Columnar(Columnar::ArrowStream)),
    (b"\xa1\xb2\xc3\xd4", Binary::Capture),
    (b"\xd4\xc3\xb2\xa1", Binary::Capture),
    (b"\xa1\xb2\x3c\x4d", Binary::Capture),
    (b"\x4d\x3c\xb2\xa1", Binary::Capture),
    (b"\x0a\x0d\x0d\x0a", Binary::Capture),
];

/// A format without lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binary {
    /// Rows in columns.
    Columnar(Columnar),
    /// A packet capture: pcap or pcapng.
    Capture,
}

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

impl Binary {
    /// Recognises the format by the first bytes.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, format)| *format)
    }

    /// Whether more bytes are needed to know.
    pub fn is_open(bytes: &[u8]) -> bool {
        MAGIC.iter().any(|(magic, _)| bytes.len() < magic.len() && magic.starts_with(bytes))
    }
}

impl Columnar {
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
    use super::*;

    #[test]
    fn formats_are_recognised_by_as_few_bytes_as_possible() {
        let columnar = [
            (&b"PAR1\x15"[..], Columnar::Parquet),
            (b"ARROW1\0\0", Columnar::ArrowFile),
            (b"\xff\xff\xff\xff\x10", Columnar::ArrowStream),
        ];
        for (bytes, format) in columnar {
            assert_eq!(Binary::of(bytes), Some(Binary::Columnar(format)));
        }
        assert_eq!(Binary::of(b"\n\r\r\n\0"), Some(Binary::Capture));
        assert_eq!(Binary::of(b"PARIS,192.0.2.1"), None);
        let open = [
            (&b""[..], true),
            (b"PA", true),
            (b"ARROW", true),
            (b"\n", true),
            (b"PARI", false),
            (b"1", false),
        ];
        for (bytes, open) in open {
            assert_eq!(Binary::is_open(bytes), open);
        }
    }
}
