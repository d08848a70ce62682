//! Files that pass tables, addresses and answers between this process and a peer.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use longmatch::{Bits, Family, Ipv4, Ipv6, NextHopId, Rib};

use super::error::PeerFault;

/// Bytes of an answer: the next-hop id in little endian, or 0 for no route.
const ANSWER: usize = 4;

/// Name of the file of answers.
const ANSWERS: &str = "answers.bin";

/// Name of the file of routes of a family.
fn routes_file(family: &str) -> String {
    format!("routes-{family}.txt")
}

/// Name of the file of addresses of a family.
fn keys_file(family: &str) -> String {
    format!("keys-{family}.bin")
}

/// Names of all files that a peer's directory may contain.
pub(super) fn file_names() -> [String; 5] {
    let [four, six] = [Ipv4::NAME, Ipv6::NAME];
    [routes_file(four), routes_file(six), keys_file(four), keys_file(six), ANSWERS.into()]
}

/// The directory of one peer. Dropping it removes the directory with its content.
#[derive(Debug)]
pub(super) struct Files {
    dir: PathBuf,
}

impl Files {
    /// Creates the directory.
    ///
    /// It must not exist, so that only files of the peer are removed later.
    pub fn new(dir: &Path) -> Result<Self, PeerFault> {
        // The path is absolute, because peers may change their working directory.
        let dir = std::path::absolute(dir).map_err(|error| fault(dir, &error))?;
        if dir.as_os_str().as_encoded_bytes().iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
            return Err(PeerFault::File(format!(
                "{}: the path contains a line break",
                dir.display()
            )));
        }
        fs::create_dir(&dir).map_err(|error| fault(&dir, &error))?;
        Ok(Self { dir })
    }

    /// Writes the routes in their order, one `prefix id` a line.
    pub fn routes<F: Family>(&self, rib: &Rib<F>) -> Result<PathBuf, PeerFault> {
        self.write(&routes_file(F::NAME), |out| {
            rib.iter().try_for_each(|route| writeln!(out, "{} {}", route.prefix, route.next_hop))
        })
    }

    /// Writes addresses in network byte order, without separators.
    pub fn keys<F: Family>(&self, keys: &[F::Bits]) -> Result<PathBuf, PeerFault> {
        let unused = size_of::<u128>() - usize::from(F::WIDTH / 8);
        self.write(&keys_file(F::NAME), |out| {
            keys.iter().try_for_each(|key| out.write_all(&key.to_u128().to_be_bytes()[unused..]))
        })
    }

    /// Path of the file of answers.
    pub fn answers(&self) -> PathBuf {
        self.dir.join(ANSWERS)
    }

    /// Reads a file of exactly `count` answers.
    pub fn read_answers(
        &self,
        path: &Path,
        count: usize,
    ) -> Result<Vec<Option<NextHopId>>, PeerFault> {
        let mut bytes = Vec::new();
        let wanted = count * ANSWER;
        let file = File::open(path).map_err(|error| fault(path, &error))?;
        let read = file.take(wanted as u64 + 1).read_to_end(&mut bytes);
        read.map_err(|error| fault(path, &error))?;
        if bytes.len() != wanted {
            let found = if bytes.len() > wanted { "more".into() } else { bytes.len().to_string() };
            let why = format!("{count} answers need {wanted} bytes, but the file has {found}");
            return Err(PeerFault::File(format!("{}: {why}", path.display())));
        }
        let answers = bytes.as_chunks::<ANSWER>().0.iter();
        Ok(answers.map(|answer| NextHopId::new(u32::from_le_bytes(*answer))).collect())
    }

    /// Removes a file if it exists.
    pub fn remove(&self, path: &Path) {
        // An error is ignored, because the directory is removed later.
        let _ = fs::remove_file(path);
    }

    fn write(
        &self,
        name: &str,
        fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<PathBuf, PeerFault> {
        let path = self.dir.join(name);
        let written = File::create(&path).and_then(|file| {
            let mut out = BufWriter::new(file);
            fill(&mut out)?;
            out.flush()
        });
        written.map_err(|error| fault(&path, &error))?;
        Ok(path)
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        // An error is ignored: `remove_stale_directories` tries again in a later run.
        let _ = fs::remove_dir_all(&self.dir);
    }
}

fn fault(path: &Path, error: &io::Error) -> PeerFault {
    PeerFault::File(format!("{}: {error}", path.display()))
}
