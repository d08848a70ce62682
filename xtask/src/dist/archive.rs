//! A compressed archive whose bytes depend on its files alone: not on the time, the user or the order of a directory.

use std::collections::BTreeMap;
use std::io;

use flate2::{Compression, GzBuilder};
use sha2::{Digest, Sha256};

/// The time of every file: 2006-07-24, as in the packages of cargo. Some programs refuse 1970.
const MTIME: u64 = 1_153_704_088;

/// The files of an archive, by their paths, which `/` separates.
pub type Files = BTreeMap<String, File>;

/// One file of an archive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct File {
    pub bytes: Vec<u8>,
    pub executable: bool,
}

impl File {
    /// Returns a file that is not executable.
    pub fn plain(bytes: impl Into<Vec<u8>>) -> Self {
        Self { bytes: bytes.into(), executable: false }
    }
}

/// Packs files below the directory `top` into a `.tar.gz`, in the order of their paths.
///
/// # Errors
/// If a path does not fit into the format.
pub fn pack(top: &str, files: &Files) -> io::Result<Vec<u8>> {
    // The header of gzip has a time too, zero unless it is set.
    let gzip = GzBuilder::new().write(Vec::new(), Compression::best());
    let mut tar = tar::Builder::new(gzip);
    for (path, file) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(file.bytes.len() as u64);
        header.set_mode(if file.executable { 0o755 } else { 0o644 });
        header.set_mtime(MTIME);
        header.set_uid(0);
        header.set_gid(0);
        tar.append_data(&mut header, format!("{top}/{path}"), &file.bytes[..])?;
    }
    tar.into_inner()?.finish()
}

/// Returns the line that `sha256sum --check` reads.
pub fn checksum(name: &str, bytes: &[u8]) -> String {
    let hash: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{hash}  {name}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn an_archive_has_its_files_and_nothing_of_its_maker() {
        let long = format!("man/{}.1", "a".repeat(200));
        let files = Files::from([
            ("b".into(), File::plain("text")),
            ("longmatch".into(), File { bytes: vec![0x7f; 70_000], executable: true }),
            (long, File::plain("")),
        ]);
        let bytes = pack("top", &files).expect("packed");
        assert_eq!(bytes, pack("top", &files).expect("packed"));

        let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(&bytes[..]));
        let mut paths = Vec::new();
        let mut unpacked = Files::new();
        for entry in tar.entries().expect("a tar archive") {
            let mut entry = entry.expect("an entry");
            let path = entry.path().expect("a path").to_str().expect("UTF-8").to_owned();
            let header = entry.header();
            assert_eq!(header.mtime().expect("a time"), MTIME);
            assert_eq!((header.uid().expect("a user"), header.gid().expect("a group")), (0, 0));
            assert_eq!(header.username().expect("UTF-8"), Some(""));
            let executable = header.mode().expect("a mode") == 0o755;
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).expect("readable");
            let name = path.strip_prefix("top/").expect("below the directory").to_owned();
            unpacked.insert(name, File { bytes, executable });
            paths.push(path);
        }
        assert_eq!(unpacked, files);
        assert!(paths.is_sorted(), "{paths:?}");
    }

    #[test]
    fn the_checksum_is_that_of_sha256sum() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a.tar.gz\n";
        assert_eq!(checksum("a.tar.gz", b""), empty);
    }
}
