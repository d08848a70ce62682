//! Sections on disk, so that a report that was interrupted goes on where it was.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::model::Section;

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
        fs::create_dir_all(&folder)?;
        Ok(Self { folder })
    }

    fn file(&self, experiment: &str) -> PathBuf {
        self.folder.join(format!("{experiment}.json"))
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

/// Writes a file so that whoever reads it meets the old text or the new one, never a part.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".unfinished");
    fs::write(&unfinished, text)?;
    fs::rename(&unfinished, path)
}
