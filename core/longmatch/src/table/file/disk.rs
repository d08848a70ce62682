//! Files that are replaced as a whole.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{SystemTime, UNIX_EPOCH};

use super::error::FileError;

/// A new file that takes the place of the one at a path when it is complete.
///
/// It is written beside it, and renamed by [`NewFile::finish`] once the disk has it. So the path names the
/// old file or the new one at every time, also after a failure of the power; without `finish` the old one
/// stays. A symbolic link stays, and its target is replaced, or made. A path that names no regular file (a device, a
/// pipe) is written in place.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    /// The path in messages.
    path: PathBuf,
    /// The file beside it and the path that it gets; `None` if the path is written in place.
    replacement: Option<(Temporary, PathBuf)>,
}

impl NewFile {
    /// Makes the file beside the one at the path.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let path = path.as_ref();
        let failed = |doing| move |error| FileError::io(doing, path, error);
        let old = fs::metadata(path).ok();
        if old.as_ref().is_some_and(|old| !old.is_file()) {
            let file = OpenOptions::new().write(true).open(path).map_err(failed("open it"))?;
            return Ok(Self { file, path: path.into(), replacement: None });
        }
        let target = fs::canonicalize(path).unwrap_or_else(|_| end_of_links(path));
        let temporary = Temporary::beside(&target)?;
        let file = match temporary.create() {
            Ok(file) => file,
            Err(error) => {
                // The name may be another writer's file.
                temporary.keep();
                return Err(FileError::io("make a file beside it", path, error));
            }
        };
        // The old file's readers may read the new one too.
        if let Some(old) = old {
            file.set_permissions(old.permissions())
                .map_err(failed("set the new file's permissions"))?;
        }
        Ok(Self { file, path: path.into(), replacement: Some((temporary, target)) })
    }

    /// Whether the path stays as it is until [`NewFile::finish`].
    #[must_use]
    pub fn replaces(&self) -> bool {
        self.replacement.is_some()
    }

    /// Gives the new file the path, once the disk has it.
    ///
    /// # Errors
    /// When the system refuses; the old file is unchanged then, and the new one removed.
    pub fn finish(self) -> Result<(), FileError> {
        let Some((temporary, target)) = self.replacement else { return Ok(()) };
        let path = &self.path;
        let failed = |doing| move |error| FileError::io(doing, path, error);
        self.file.sync_all().map_err(failed("flush the new file to the disk"))?;
        drop(self.file);
        fs::rename(&temporary.path, &target).map_err(failed("rename the new file"))?;
        temporary.keep();
        sync_directory(&target).map_err(failed("flush the directory to the disk"))
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The path at the end of links, where there is no file yet.
fn end_of_links(path: &Path) -> PathBuf {
    let mut target = path.to_path_buf();
    // As many as Linux follows.
    for _ in 0..40 {
        let Ok(link) = fs::read_link(&target) else { break };
        target = target.with_file_name(link);
    }
    target
}

/// Replaces the file at a path, as [`NewFile`] does, or makes it.
///
/// # Errors
/// When the system refuses a step; the old file is unchanged then, and the new one removed.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let mut file = NewFile::create(path)?;
    let failed = |error| FileError::io("write the new file", path, error);
    file.write_all(bytes).map_err(failed)?;
    file.finish()
}

/// A file that is removed unless it is kept.
#[derive(Debug)]
struct Temporary {
    path: PathBuf,
}

impl Temporary {
    /// A name that no other writer uses at the same time.
    fn beside(target: &Path) -> Result<Self, FileError> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let Some(name) = target.file_name() else {
            let error = io::Error::new(io::ErrorKind::InvalidInput, "the path names no file");
            return Err(FileError::io("write", target, error));
        };
        let mut temporary = OsString::from(".");
        temporary.push(name);
        let (process, number) = (std::process::id(), NUMBER.fetch_add(1, Relaxed));
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        temporary.push(format!(".{process}-{number}-{now}.tmp"));
        Ok(Self { path: target.with_file_name(temporary) })
    }

    fn create(&self) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).open(&self.path)
    }

    fn keep(mut self) {
        // The path is freed; only the removal is left out.
        drop(core::mem::take(&mut self.path));
        core::mem::forget(self);
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // Nothing else can be done; the error that led here is reported.
        let _ = fs::remove_file(&self.path);
    }
}

/// Makes the disk keep a renaming.
#[cfg(unix)]
fn sync_directory(target: &Path) -> io::Result<()> {
    let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
}

/// Other systems cannot open directories.
#[cfg(not(unix))]
fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}

/// The properties of a file that differ from those of its replacement.
///
/// An open file keeps its number, so no other file has it meanwhile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Identity {
    len: u64,
    modified: Option<SystemTime>,
    #[cfg(unix)]
    inode: (u64, u64),
}

impl Identity {
    pub fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        use std::os::unix::fs::MetadataExt;
        Self {
            len: metadata.len(),
            modified: metadata.modified().ok(),
            #[cfg(unix)]
            inode: (metadata.dev(), metadata.ino()),
        }
    }
}
