//! Names of peers' directories, and removal of those that a killed run left behind.

use std::fs;
use std::path::{Path, PathBuf};

use longmatch::{Family, Ipv4, Ipv6};

use super::files::file_names;

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
