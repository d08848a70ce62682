//! The files of the archive of a release.

use std::collections::BTreeSet;
use std::env;
use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::archive::{File, Files};

/// Documents and licences, by their paths in the repository, which they keep.
const DOCUMENTS: [&str; 11] = [
    "README.md",
    "CHANGELOG.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "data/LICENSE-bart",
    "data/LICENSE-ip-location-db",
    "data/LICENSE-rotonda-store",
    "data/PROVENANCE.md",
    "docs/filter.md",
    "docs/forward.md",
    "docs/longmatch-forward.service",
];

/// The programs.
const PROGRAMS: [&str; 4] = ["longmatch", "longmatch-lab", "longmatch-forward", "longmatch-filter"];

/// Shells, and what they look for before and after a command's name in the names of scripts.
const COMPLETIONS: [(&str, &str, &str); 5] = [
    ("bash", "", ".bash"),
    ("elvish", "", ".elv"),
    ("fish", "", ".fish"),
    ("powershell", "_", ".ps1"),
    ("zsh", "_", ""),
];

/// Collects the release builds in `target`, their manual pages and completion scripts, which they print themselves, and
/// the documents in `root`.
///
/// # Errors
/// If a file cannot be read, or a program fails.
pub fn collect(root: &Path, target: &Path) -> Result<Files, Box<dyn Error>> {
    let mut files = Files::new();
    for path in DOCUMENTS {
        files.insert(path.into(), File::plain(read(&root.join(path))?));
    }
    // A new directory: that of an earlier version may have pages of commands that no longer exist.
    let pages = target.join("dist/man1");
    if pages.exists() {
        fs::remove_dir_all(&pages)?;
    }
    for name in PROGRAMS {
        let program = format!("{name}{}", env::consts::EXE_SUFFIX);
        let built = target.join("release").join(&program);
        files.insert(program, File { bytes: read(&built)?, executable: true });
        for (shell, before, after) in COMPLETIONS {
            let script = printed(&built, &["completions".as_ref(), shell.as_ref()])?;
            files.insert(format!("completions/{before}{name}{after}"), File::plain(script));
        }
        printed(&built, &["man".as_ref(), "--out".as_ref(), pages.as_os_str()])?;
    }
    let names: Result<BTreeSet<_>, _> =
        fs::read_dir(&pages)?.map(|entry| entry.map(|entry| entry.file_name())).collect();
    for name in names? {
        let page = File::plain(read(&pages.join(&name))?);
        files.insert(format!("man/man1/{}", name.to_string_lossy()), page);
    }
    Ok(files)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

/// Runs the program and returns its output.
fn printed(program: &Path, args: &[&OsStr]) -> Result<Vec<u8>, Box<dyn Error>> {
    let output = Command::new(program)
        .args(args)
        .output()
        .map_err(|error| format!("cannot start {}: {error}", program.display()))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let name = program.display();
        return Err(format!("{name} {args:?} ended with {}: {stderr}", output.status).into());
    }
    Ok(output.stdout)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// A program of a few lines in place of each release build.
    const PROGRAM: &str = "#!/bin/sh\n\
        case \"$1\" in\n\
        completions) echo \"script of $2\";;\n\
        man) mkdir -p \"$3\" && echo top > \"$3/${0##*/}.1\" && echo set > \"$3/longmatch-set.1\";;\n\
        esac\n";

    /// The files of the archive.
    const EXPECTED: &[&str] = &[
        "CHANGELOG.md",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "README.md",
        "completions/_longmatch",
        "completions/_longmatch-filter",
        "completions/_longmatch-filter.ps1",
        "completions/_longmatch-forward",
        "completions/_longmatch-forward.ps1",
        "completions/_longmatch-lab",
        "completions/_longmatch-lab.ps1",
        "completions/_longmatch.ps1",
        "completions/longmatch-filter.bash",
        "completions/longmatch-filter.elv",
        "completions/longmatch-filter.fish",
        "completions/longmatch-forward.bash",
        "completions/longmatch-forward.elv",
        "completions/longmatch-forward.fish",
        "completions/longmatch-lab.bash",
        "completions/longmatch-lab.elv",
        "completions/longmatch-lab.fish",
        "completions/longmatch.bash",
        "completions/longmatch.elv",
        "completions/longmatch.fish",
        "data/LICENSE-bart",
        "data/LICENSE-ip-location-db",
        "data/LICENSE-rotonda-store",
        "data/PROVENANCE.md",
        "docs/filter.md",
        "docs/forward.md",
        "docs/longmatch-forward.service",
        "longmatch",
        "longmatch-filter",
        "longmatch-forward",
        "longmatch-lab",
        "man/man1/longmatch-filter.1",
        "man/man1/longmatch-forward.1",
        "man/man1/longmatch-lab.1",
        "man/man1/longmatch-set.1",
        "man/man1/longmatch.1",
    ];

    fn write_programs(target: &Path) {
        for name in PROGRAMS {
            let program = target.join("release").join(name);
            fs::write(&program, PROGRAM).expect("writable");
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("ours");
        }
    }

    #[test]
    fn the_archive_has_the_programs_what_they_print_documents_and_licences() {
        let target = env::temp_dir().join(format!("xtask-dist-{}", std::process::id()));
        let old = target.join("dist/man1");
        fs::create_dir_all(target.join("release")).expect("writable");
        fs::create_dir_all(&old).expect("writable");
        fs::write(old.join("longmatch-old.1"), "").expect("writable");
        write_programs(&target);

        let files = collect(&crate::workspace::root(), &target).expect("all files are there");
        let names: Vec<_> = files.keys().map(String::as_str).collect();
        assert_eq!(names, EXPECTED);
        assert_eq!(files["longmatch"], File { bytes: PROGRAM.into(), executable: true });
        assert_eq!(files["completions/_longmatch"], File::plain("script of zsh\n"));
        assert_eq!(files["man/man1/longmatch-set.1"], File::plain("set\n"));

        let program = target.join("release/longmatch");
        fs::write(&program, "#!/bin/sh\necho full >&2; exit 2\n").expect("writable");
        let error = collect(&crate::workspace::root(), &target).expect_err("the program fails");
        assert!(error.to_string().contains("full"), "{error}");
        fs::remove_file(&program).expect("ours");
        let error = collect(&crate::workspace::root(), &target).expect_err("there is no program");
        assert!(error.to_string().contains("release/longmatch"), "{error}");
        // Best effort: a left-over directory harms no later run.
        let _ = fs::remove_dir_all(target);
    }
}
