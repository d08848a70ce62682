//! Files that are replaced as a whole.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::records::FILES;

/// The temporary file that becomes `path` once it is complete.
fn unfinished(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".unfinished");
    name.into()
}

/// Replaces a file as a whole: a reader gets the old content or the new one, never a part.
///
/// # Errors
/// If it cannot be written: the error names it. The old file stays.
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
        // It may not exist, as when the directory is gone.
        let _ = fs::remove_file(&unfinished);
        io::Error::new(error.kind(), format!("{} is not written: {error}", path.display()))
    })
}

/// Removes the remains of an interrupted run from a directory: incomplete files, and directories of peers whose
/// process has ended. Returns the directories that cannot be removed because they have other files.
pub fn remove_leftovers(dir: &Path) -> Vec<PathBuf> {
    for file in FILES {
        // Mostly there is none.
        let _ = fs::remove_file(unfinished(&dir.join(file)));
    }
    longmatch_bench::remove_stale_directories(dir)
}
#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let name = |it: io::Result<fs::DirEntry>| it.expect("an entry").file_name();
        let mut names: Vec<_> =
            entries.map(|it| name(it).into_string().expect("a name of ours")).collect();
        names.sort();
        names
    }

    #[test]
    fn files_are_replaced_as_a_whole() {
        let folder = Folder::new("replace");
        let page = folder.0.join("page");
        replace(&page, b"old").expect("written");
        replace(&page, b"new").expect("written");
        assert_eq!(fs::read_to_string(&page).expect("there"), "new");
        assert_eq!(names(&folder.0), ["page"]);
    }

    /// `/dev/full` stands for a full disk: it takes no byte.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_leaves_the_old_file_and_nothing_else() {
        let folder = Folder::new("full");
        let page = folder.0.join("page");
        fs::write(&page, "old").expect("written");
        std::os::unix::fs::symlink("/dev/full", unfinished(&page)).expect("a link");
        let error = replace(&page, b"new").expect_err("there is no space");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        let said = error.to_string();
        assert!(said.starts_with(&format!("{} is not written: ", page.display())), "{said}");
        assert_eq!(fs::read_to_string(&page).expect("there"), "old");
        assert_eq!(names(&folder.0), ["page"]);
    }

    /// The text is written, but cannot take its place, where a directory is.
    #[test]
    fn a_file_that_cannot_take_its_place_is_removed() {
        let folder = Folder::new("place");
        let page = folder.0.join("page");
        fs::create_dir(&page).expect("a directory");
        assert!(replace(&page, b"new").is_err());
        assert_eq!(names(&folder.0), ["page"]);
    }

    #[test]
    fn leftovers_are_removed_and_nothing_else() {
        let folder = Folder::new("leftovers");
        // No process has this number: Linux counts to 2^22.
        let gone = 0x7fff_ffff;
        let mine = std::process::id();
        let dirs = [
            format!("peer-0-ipv4-{gone}"),
            format!("peer-1-ipv6-{gone}"),
            // The number of this process, which has only just begun.
            format!("peer-2-ipv4-{mine}"),
            "peer-0-ipv4-notes".to_owned(),
            "peer-results".to_owned(),
        ];
        for dir in &dirs {
            fs::create_dir(folder.0.join(dir)).expect("a directory");
            fs::write(folder.0.join(dir).join("routes-ipv4.txt"), "x").expect("written");
        }
        let foreign = folder.0.join(&dirs[1]);
        fs::write(foreign.join("notes.txt"), "x").expect("written");
        for file in ["report.html.unfinished", "records.ndjson.unfinished", "mine.unfinished"] {
            fs::write(folder.0.join(file), "x").expect("written");
        }
        assert_eq!(remove_leftovers(&folder.0), [&*foreign]);
        let left = [&dirs[3], &dirs[1], &dirs[4]].map(String::as_str);
        assert_eq!(names(&folder.0), [&["mine.unfinished"], &left[..]].concat());
        assert_eq!(names(&foreign), ["notes.txt"]);
    }

    /// The directory of a report that is running in another process stays.
    #[cfg(target_os = "linux")]
    #[test]
    fn running_reports_keep_their_directories() {
        let folder = Folder::new("running");
        let other = std::os::unix::process::parent_id();
        let dir = format!("peer-0-ipv4-{other}");
        fs::create_dir(folder.0.join(&dir)).expect("a directory");
        assert!(remove_leftovers(&folder.0).is_empty());
        assert_eq!(names(&folder.0), [dir]);
    }

    /// A directory of its own for each test, removed at the end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let name = format!("longmatch-store-{name}-{}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            fs::create_dir_all(&folder).expect("the temporary directory is writable");
            Self(folder)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            // A directory that is left over harms no later run.
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}
