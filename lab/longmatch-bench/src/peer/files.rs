//! Directories of peers: files that pass tables, addresses and answers between this process and a peer.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use longmatch::{Bits, Family, Ipv4, Ipv6, NextHopId, Rib};

use super::error::PeerFault;

/// Bytes of an answer: the next-hop id in little endian, or 0 for no route.
const ANSWER: usize = 4;

const ANSWERS: &str = "answers.bin";

fn routes_file(family: &str) -> String {
    format!("routes-{family}.txt")
}

fn keys_file(family: &str) -> String {
    format!("keys-{family}.bin")
}

/// Names of all files that a peer's directory may contain.
fn file_names() -> [String; 5] {
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

/// Name of a peer's directory, such as `peer-0-ipv4-4711` in process 4711.
pub fn peer_directory_name(number: usize, family: &str) -> String {
    format!("peer-{number}-{family}-{}", std::process::id())
}

/// Process id in the name of a peer's directory; `None` for other names.
fn owner(name: &str) -> Option<u32> {
    let (number, rest) = name.strip_prefix("peer-")?.split_once('-')?;
    let (family, process) = rest.split_once('-')?;
    number.parse::<usize>().ok()?;
    [Ipv4::NAME, Ipv6::NAME].contains(&family).then(|| process.parse().ok())?
}

/// Whether another running process has this id; false on systems without `/proc`.
fn is_another_process(id: u32) -> bool {
    id != std::process::id() && Path::new("/proc").join(id.to_string()).exists()
}

/// Removes the peers' directories in `folder` whose process has ended.
///
/// Directories with the id of this process count as such, so call it before starting peers. Returns
/// the directories that could not be removed, for example because they contain other files.
pub fn remove_stale_directories(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let stale = entries.flatten().filter(|entry| {
        let ended = entry.file_name().to_str().and_then(owner).map(|id| !is_another_process(id));
        // This excludes links to directories, which peers do not create.
        ended == Some(true) && entry.file_type().is_ok_and(|kind| kind.is_dir())
    });
    stale.map(|entry| entry.path()).filter(|dir| !remove(dir)).collect()
}

/// Removes a directory with the files of a peer; returns whether it succeeded.
fn remove(dir: &Path) -> bool {
    for file in file_names() {
        // Files that do not exist are not an error.
        let _ = fs::remove_file(dir.join(file));
    }
    fs::remove_dir(dir).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_contain_the_process_id() {
        assert_eq!(owner(&peer_directory_name(12, "ipv6")), Some(std::process::id()));
        assert_eq!(owner("peer-0-ipv4-4711"), Some(4711));
        for other in ["peer-ipv4-4711", "peer-0-ipv5-4711", "peer-0-ipv4-", "peer-x-ipv4-1", "p"] {
            assert_eq!(owner(other), None, "{other}");
        }
    }
}
