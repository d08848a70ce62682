//! Synchronizes a copy of the sources.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

/// Makes one directory equal to another, except for hidden files and build directories. An equal file is not written,
/// so that cargo does not rebuild it.
pub fn mirror(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    let mut names = BTreeSet::<OsString>::new();
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == "target" || name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let (from, to) = (entry.path(), to.join(&name));
        if entry.file_type()?.is_dir() {
            mirror(&from, &to)?;
        } else {
            write(&to, &fs::read(&from)?)?;
        }
        names.insert(name);
    }
    for entry in fs::read_dir(to)? {
        let entry = entry?;
        if !names.contains(&entry.file_name()) {
            match entry.file_type()?.is_dir() {
                true => fs::remove_dir_all(entry.path())?,
                false => fs::remove_file(entry.path())?,
            }
        }
    }
    Ok(())
}

/// Writes a file, unless it already has this content.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match fs::read(path) {
        Ok(before) if before == bytes => Ok(()),
        _ => fs::write(path, bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_brought_up_to_date() {
        let dir = std::env::temp_dir().join(format!("xtask-mirror-{}", std::process::id()));
        let [from, to] = ["from", "to"].map(|name| dir.join(name));
        for path in ["from/a/b", "from/target/c", "from/.git/d", "to/gone/e"] {
            let path = dir.join(path);
            fs::create_dir_all(path.parent().expect("has one")).expect("writable");
            fs::write(path, "text").expect("writable");
        }
        mirror(&from, &to).expect("writable");
        let written = |path: &str| fs::metadata(to.join(path)).and_then(|data| data.modified());
        let before = written("a/b").expect("was copied");
        assert!(["target", ".git", "gone"].iter().all(|name| !to.join(name).exists()));
        mirror(&from, &to).expect("writable");
        assert_eq!(written("a/b").expect("is there"), before);
        fs::remove_dir_all(dir).expect("writable");
    }
}
