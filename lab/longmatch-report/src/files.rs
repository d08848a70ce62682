//! Atomic replacement of files, and removal of leftovers.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::records::FILES;

/// Returns the temporary file that is renamed to `path` once it is complete.
fn unfinished(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".unfinished");
    name.into()
}

/// Replaces a file atomically: a reader gets the old content or the new one, never a part.
///
/// # Errors
/// If the file cannot be written; the error names it, and the old file stays.
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let unfinished = unfinished(path);
    let write = || {
        let mut file = File::create(&unfinished)?;
        file.write_all(content)?;
        // Some file systems report a full disk only here.
        file.sync_all()?;
        fs::rename(&unfinished, path)
    };
    write().map_err(|error| {
        // Best effort: the temporary file may not exist.
        let _ = fs::remove_file(&unfinished);
        io::Error::new(error.kind(), format!("{} is not written: {error}", path.display()))
    })
}

/// Removes the leftovers of an interrupted run: incomplete files, and peers' directories of ended processes.
///
/// Returns the directories that stay because they contain other files.
pub fn remove_leftovers(dir: &Path) -> Vec<PathBuf> {
    for file in FILES {
        // Usually there is none.
        let _ = fs::remove_file(unfinished(&dir.join(file)));
    }
    longmatch_bench::remove_stale_directories(dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).expect("a directory");
        let name = |it: io::Result<fs::DirEntry>| it.expect("an entry").file_name();
        let mut names: Vec<_> =
            entries.map(|it| name(it).into_string().expect("a name of ours")).collect();
        names.sort();
        names
    }

    #[test]
    fn files_are_replaced_as_a_whole() {
        let temp = tempfile::tempdir().expect("a directory");
        let page = temp.path().join("page");
        replace(&page, b"old").expect("written");
        replace(&page, b"new").expect("written");
        assert_eq!(fs::read_to_string(&page).expect("there"), "new");
        assert_eq!(names(temp.path()), ["page"]);
    }

    /// `/dev/full` simulates a full disk.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_leaves_the_old_file_and_nothing_else() {
        let temp = tempfile::tempdir().expect("a directory");
        let page = temp.path().join("page");
        fs::write(&page, "old").expect("written");
        std::os::unix::fs::symlink("/dev/full", unfinished(&page)).expect("a link");
        let error = replace(&page, b"new").expect_err("no space");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        let message = error.to_string();
        assert!(message.starts_with(&format!("{} is not written: ", page.display())), "{message}");
        assert_eq!(fs::read_to_string(&page).expect("there"), "old");
        assert_eq!(names(temp.path()), ["page"]);
    }

    /// The temporary file cannot be renamed to an existing directory.
    #[test]
    fn a_file_that_cannot_be_renamed_is_removed() {
        let temp = tempfile::tempdir().expect("a directory");
        let page = temp.path().join("page");
        fs::create_dir(&page).expect("a directory");
        assert!(replace(&page, b"new").is_err());
        assert_eq!(names(temp.path()), ["page"]);
    }

    #[test]
    fn leftovers_are_removed_and_nothing_else() {
        let temp = tempfile::tempdir().expect("a directory");
        // No process has this number: Linux counts to 2^22.
        let gone = 0x7fff_ffff;
        let mine = std::process::id();
        let dirs = [
            format!("peer-0-ipv4-{gone}"),
            format!("peer-1-ipv6-{gone}"),
            // This process has not yet created a directory, so this one is stale.
            format!("peer-2-ipv4-{mine}"),
            "peer-0-ipv4-notes".to_owned(),
            "peer-results".to_owned(),
        ];
        for dir in &dirs {
            fs::create_dir(temp.path().join(dir)).expect("a directory");
            fs::write(temp.path().join(dir).join("routes-ipv4.txt"), "x").expect("written");
        }
        let foreign = temp.path().join(&dirs[1]);
        fs::write(foreign.join("notes.txt"), "x").expect("written");
        for file in ["report.html.unfinished", "records.ndjson.unfinished", "mine.unfinished"] {
            fs::write(temp.path().join(file), "x").expect("written");
        }
        assert_eq!(remove_leftovers(temp.path()), [&*foreign]);
        let left = [&dirs[3], &dirs[1], &dirs[4]].map(String::as_str);
        assert_eq!(names(temp.path()), [&["mine.unfinished"], &left[..]].concat());
        assert_eq!(names(&foreign), ["notes.txt"]);
    }

    /// The directory of another process that is running stays.
    #[cfg(target_os = "linux")]
    #[test]
    fn running_reports_keep_their_directories() {
        let temp = tempfile::tempdir().expect("a directory");
        let other = std::os::unix::process::parent_id();
        let dir = format!("peer-0-ipv4-{other}");
        fs::create_dir(temp.path().join(&dir)).expect("a directory");
        assert!(remove_leftovers(temp.path()).is_empty());
        assert_eq!(names(temp.path()), [dir]);
    }
}
