//! Names of the directories of peers, and the removal of those that a killed run has left.

use std::fs;
use std::path::{Path, PathBuf};

use longmatch::{Family, Ipv4, Ipv6};

use super::files::file_names;

/// The name of the directory of a report's peer: `peer-0-ipv4-4711` for the first one in process
/// 4711.
pub fn directory_name(number: usize, family: &str) -> String {
    format!("peer-{number}-{family}-{}", std::process::id())
}

/// The process that a directory of this name belongs to; nothing where it is no such name.
fn owner(name: &str) -> Option<u32> {
    let (number, rest) = name.strip_prefix("peer-")?.split_once('-')?;
    let (family, process) = rest.split_once('-')?;
    number.parse::<usize>().ok()?;
    [Ipv4::NAME, Ipv6::NAME].contains(&family).then(|| process.parse().ok())?
}

/// Whether another process has this number. Systems without `/proc` do not tell: none has, there.
fn is_another_process(id: u32) -> bool {
    id != std::process::id() && Path::new("/proc").join(id.to_string()).exists()
}

/// Removes the directories in `folder` that [`directory_name`] has named in processes that have
/// ended, so it is to be called before this process makes its own. Returns those that are still
/// there, as when they hold files that are not ours.
pub fn remove_abandoned(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let abandoned = entries.flatten().filter(|entry| {
        let ended = entry.file_name().to_str().and_then(owner).map(|id| !is_another_process(id));
        // Links to directories are none of ours.
        ended == Some(true) && entry.file_type().is_ok_and(|kind| kind.is_dir())
    });
    abandoned.map(|entry| entry.path()).filter(|dir| !remove(dir)).collect()
}

/// Removes a directory with the files of a peer, and returns whether it is gone.
fn remove(dir: &Path) -> bool {
    for file in file_names() {
        // Most runs end before all of them exist.
        let _ = fs::remove_file(dir.join(file));
    }
    fs::remove_dir(dir).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_their_process() {
        assert_eq!(owner(&directory_name(12, "ipv6")), Some(std::process::id()));
        assert_eq!(owner("peer-0-ipv4-4711"), Some(4711));
        for other in ["peer-ipv4-4711", "peer-0-ipv5-4711", "peer-0-ipv4-", "peer-x-ipv4-1", "p"] {
            assert_eq!(owner(other), None, "{other}");
        }
    }
}
