//! Sections on disk, so that a report that was interrupted goes on where it was.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::experiment::Experiment;
use super::model::Section;
use super::page::FILES;

/// A folder with a file for each experiment that has ended.
pub(crate) struct Store {
    folder: PathBuf,
}

/// What a file holds.
#[derive(Serialize, Deserialize)]
struct Part {
    /// Everything that the section depends on: program, machine, inputs, effort.
    settings: String,
    section: Section,
}

impl Store {
    /// In that folder, which is made if need be.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new(folder: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&folder).map_err(|error| {
            io::Error::new(error.kind(), format!("{} is not made: {error}", folder.display()))
        })?;
        Ok(Self { folder })
    }

    fn file(&self, experiment: &str) -> PathBuf {
        self.folder.join(section_file(experiment))
    }

    /// What an earlier run with the same settings has left of an experiment. A file that is
    /// damaged, or of other settings, is as good as none.
    pub fn load(&self, experiment: &str, settings: &str) -> Option<Section> {
        let text = fs::read_to_string(self.file(experiment)).ok()?;
        let part: Part = serde_json::from_str(&text).ok()?;
        (part.settings == settings && part.section.experiment == experiment).then_some(part.section)
    }

    /// Keeps a section that depends on these settings.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self, section: &Section, settings: &str) -> io::Result<()> {
        let part = Part { settings: settings.to_owned(), section: section.clone() };
        let text = serde_json::to_string(&part).map_err(io::Error::from)?;
        replace(&self.file(&section.experiment), &text)
    }
}

/// The temporary file that becomes `path` once it is complete.
fn unfinished(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".unfinished");
    name.into()
}

/// Replaces a file as a whole: a reader gets the old text or the new one, never a part.
///
/// # Errors
/// When it cannot be written: the error names it. The old file, if any, stays, and nothing else.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let unfinished = unfinished(path);
    let write = || {
        let mut file = File::create(&unfinished)?;
        file.write_all(text.as_bytes())?;
        // Some file systems report a full disk only here.
        file.sync_all()?;
        fs::rename(&unfinished, path)
    };
    write().map_err(|error| {
        // It may not exist, as when the folder is gone.
        let _ = fs::remove_file(&unfinished);
        io::Error::new(error.kind(), format!("{} is not written: {error}", path.display()))
    })
}

/// Removes what an interrupted run has left in a folder: incomplete files of a report, and the
/// directories of peers whose process has ended. Returns the directories that it cannot remove, as
/// when there are files of others in them.
pub fn remove_leftovers(folder: &Path) -> Vec<PathBuf> {
    let sections = Experiment::all().map(|it| section_file(it.name));
    for file in FILES.map(str::to_owned).into_iter().chain(sections) {
        // Mostly there is none.
        let _ = fs::remove_file(unfinished(&folder.join(file)));
    }
    longmatch_bench::remove_stale_directories(folder)
}

/// The file that keeps the section of an experiment.
fn section_file(experiment: &str) -> String {
    format!("{experiment}.json")
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
        replace(&page, "old").expect("written");
        replace(&page, "new").expect("written");
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
        let error = replace(&page, "new").expect_err("there is no space");
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
        assert!(replace(&page, "new").is_err());
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
        for file in ["report.html.unfinished", "memory.json.unfinished", "mine.unfinished"] {
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
