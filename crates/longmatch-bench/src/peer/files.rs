//! The files that pass tables, addresses and answers.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use longmatch::{Bits, Family, Ipv4, Ipv6, NextHopId, Rib};

use super::error::PeerFault;

/// Bytes of an answer: the next-hop id, little endian, 0 for none.
const ANSWER: usize = 4;

/// The file of the answers.
const ANSWERS: &str = "answers.bin";

/// The file of the routes of a family.
fn routes_file(family: &str) -> String {
    format!("routes-{family}.txt")
}

/// The file of the addresses of a family.
fn keys_file(family: &str) -> String {
    format!("keys-{family}.bin")
}

/// The names of all files that a peer's directory may hold.
pub(super) fn file_names() -> [String; 5] {
    let [four, six] = [Ipv4::NAME, Ipv6::NAME];
    [routes_file(four), routes_file(six), keys_file(four), keys_file(six), ANSWERS.into()]
}

/// A directory for one peer, removed with all that is in it.
#[derive(Debug)]
pub(super) struct Files {
    dir: PathBuf,
}

impl Files {
    /// Makes the directory; it must not exist, so that nothing is removed that is not ours.
    pub fn new(dir: &Path) -> Result<Self, PeerFault> {
        // Peers may change their directory, and a line ends at its end.
        let dir = std::path::absolute(dir).map_err(|error| fault(dir, &error))?;
        if dir.as_os_str().as_encoded_bytes().iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
            return Err(PeerFault::File(format!("{}: a line ends inside the name", dir.display())));
        }
        fs::create_dir(&dir).map_err(|error| fault(&dir, &error))?;
        Ok(Self { dir })
    }

    /// Writes the routes, one `prefix id` a line, in order.
    pub fn routes<F: Family>(&self, rib: &Rib<F>) -> Result<PathBuf, PeerFault> {
        self.write(&routes_file(F::NAME), |out| {
            rib.iter().try_for_each(|route| writeln!(out, "{} {}", route.prefix, route.next_hop))
        })
    }

    /// Writes addresses as they are on the wire, without anything between them.
    pub fn keys<F: Family>(&self, keys: &[F::Bits]) -> Result<PathBuf, PeerFault> {
        let unused = size_of::<u128>() - usize::from(F::WIDTH / 8);
        self.write(&keys_file(F::NAME), |out| {
            keys.iter().try_for_each(|key| out.write_all(&key.to_u128().to_be_bytes()[unused..]))
        })
    }

    /// Where answers go.
    pub fn answers(&self) -> PathBuf {
        self.dir.join(ANSWERS)
    }

    /// Reads so many answers, and never more.
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
            let why = format!("{count} answers are {wanted} bytes, and there are {found}");
            return Err(PeerFault::File(format!("{}: {why}", path.display())));
        }
        let answers = bytes.as_chunks::<ANSWER>().0.iter();
        Ok(answers.map(|answer| NextHopId::new(u32::from_le_bytes(*answer))).collect())
    }

    /// Removes a file if it is there.
    pub fn remove(&self, path: &Path) {
        // What cannot be removed now is removed with the directory.
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
        // A directory that is left over harms no later run.
        let _ = fs::remove_dir_all(&self.dir);
    }
}

fn fault(path: &Path, error: &io::Error) -> PeerFault {
    PeerFault::File(format!("{}: {error}", path.display()))
}
