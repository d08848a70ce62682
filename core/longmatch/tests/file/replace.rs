//! Files that are replaced while threads and processes read them, and writers that fail.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use longmatch::file::{FileSpec, FileTable};
use longmatch::table::{Cell, Column, ColumnType, PrefixData};
use longmatch::{EngineSpec, Ipv4, Prefix};

use crate::common::quick;
use crate::same::tempdir;

/// The environment variable that gives a process of this program its part, and its file.
const PART: &str = "LONGMATCH_FILE_PART";
const FILE: &str = "LONGMATCH_FILE_PATH";

/// Routes of a file.
const ROUTES: u32 = 300;

/// Data of a version: every answer is its number.
fn version(number: u64) -> PrefixData {
    let mut data = PrefixData::new(vec![Column::new("version", ColumnType::U64)]).unwrap();
    // Some routes are in some versions only.
    for i in (0..ROUTES).filter(|i| !u64::from(*i).wrapping_add(number).is_multiple_of(3)) {
        let prefix = Prefix::<Ipv4>::from_bits_masked(i << 24 ^ i << 9, 8 + (i % 25) as u8);
        data.insert(prefix, [Cell::U64(number)].into()).unwrap();
    }
    let all = Prefix::<Ipv4>::from_bits_masked(0, 0);
    data.insert(all, [Cell::U64(number)].into()).unwrap();
    data
}

fn write(number: u64, path: &Path) {
    let root: EngineSpec = "folio:s=10".parse().unwrap();
    FileSpec::default().ipv4(root).write(&version(number), path).unwrap();
}

/// The version of all answers of a table.
fn version_of(table: &FileTable) -> u64 {
    let addrs: Vec<u32> = (0..4096).map(|i| i << 20 ^ i << 9).collect();
    let mut rows = vec![None; addrs.len()];
    table.lookup_batch(&addrs[..], &mut rows);
    let version = |row: longmatch::file::FileRow<'_>| match row.get(0) {
        Cell::U64(version) => version,
        other => panic!("{other:?} is no version"),
    };
    let versions: Vec<u64> = rows.iter().map(|row| version(row.unwrap())).collect();
    assert!(versions.iter().all(|it| *it == versions[0]), "answers of two versions");
    let routes = self::version(versions[0]);
    assert_eq!(table.len(), routes.table().len());
    versions[0]
}

/// Reads until the version is the last one; returns the number of versions that it saw.
fn read_until(last: u64, path: &Path) -> usize {
    let mut table = FileTable::open(path).unwrap();
    let (mut before, mut seen) = (version_of(&table), 1);
    let start = Instant::now();
    while before < last {
        assert!(start.elapsed() < Duration::from_secs(100), "version {before} of {last}");
        let old = table.clone();
        let reloaded = table.reload().unwrap();
        let now = version_of(&table);
        assert!(if reloaded { now >= before } else { now == before }, "{before}, then {now}");
        assert_eq!(version_of(&old), before);
        seen += usize::from(now > before);
        before = now;
    }
    assert!(!table.reload().unwrap());
    seen
}

/// A process of this program that plays a part.
fn process(part: &str, path: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "replace::part_of_another_test", "--ignored", "--nocapture"]);
    command.env(PART, part).env(FILE, path).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Replacements by one writer.
fn last_version() -> u64 {
    if quick() { 20 } else { 150 }
}

#[test]
#[ignore = "runs in processes that other tests start"]
fn part_of_another_test() {
    let (Ok(part), Some(path)) = (std::env::var(PART), std::env::var_os(FILE)) else {
        return eprintln!("skipped: part_of_another_test: no other test has started this process");
    };
    let path = PathBuf::from(path);
    match &*part {
        "read" => println!("saw {} versions", read_until(last_version(), &path)),
        // Until the process is killed.
        "write" => (1..u64::MAX).for_each(|number| write(number, &path)),
        "fail" => fail_to_write(&path),
        other => panic!("no part is called {other}"),
    }
}

/// Four processes and two threads have answers of one version at a time.
#[test]
fn readers_see_one_version_at_a_time() {
    let dir = tempdir("replaced");
    let path = dir.join("table.lm");
    write(0, &path);
    let readers: Vec<Child> = (0..4).map(|_| process("read", &path)).collect();
    thread::scope(|scope| {
        let threads = [0, 1].map(|_| scope.spawn(|| read_until(last_version(), &path)));
        for number in 1..=last_version() {
            write(number, &path);
        }
        for thread in threads {
            assert!(thread.join().unwrap() > 1);
        }
    });
    for reader in readers {
        let output = reader.wait_with_output().unwrap();
        let (out, err) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && out.contains("saw "), "{out}{err}");
    }
    only(&dir, &["table.lm"]);
    fs::remove_dir_all(dir).unwrap();
}

/// Verifies the names in a directory.
fn only(dir: &Path, names: &[&str]) {
    let mut found: Vec<_> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    found.sort();
    assert_eq!(found, names);
}

/// Whole files stay open while another thread replaces them; an error leaves a table as it is.
#[test]
fn a_table_stays_where_reloading_fails() {
    let dir = tempdir("stays");
    let path = dir.join("table.lm");
    write(5, &path);
    let mut table = FileTable::open(&path).unwrap();
    fs::remove_file(&path).unwrap();
    assert!(table.reload().is_err());
    assert_eq!(version_of(&table), 5);
    fs::write(&path, "nonsense").unwrap();
    assert!(table.reload().is_err());
    assert_eq!(version_of(&table), 5);
    write(6, &path);
    assert!(table.reload().unwrap());
    assert_eq!(version_of(&table), 6);
    let mut copy = FileTable::from_bytes(fs::read(&path).unwrap()).unwrap();
    assert!(!copy.reload().unwrap());
    fs::remove_dir_all(dir).unwrap();
}

/// A writer that is killed at any time leaves a whole file.
#[test]
fn killed_writers_leave_whole_files() {
    let dir = tempdir("killed");
    let path = dir.join("table.lm");
    write(0, &path);
    let running = AtomicBool::new(true);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut table = FileTable::open(&path).unwrap();
            while running.load(Relaxed) {
                table.reload().unwrap();
                version_of(&table);
            }
        });
        for round in 0..if quick() { 3 } else { 12 } {
            let mut writer = process("write", &path);
            // Until it writes: its first version replaces the last of the writer before.
            let start = Instant::now();
            let before = version_of(&FileTable::open(&path).unwrap());
            while version_of(&FileTable::open(&path).unwrap()) == before {
                assert!(start.elapsed() < Duration::from_secs(60), "the writer does not write");
                thread::sleep(Duration::from_millis(1));
            }
            thread::sleep(Duration::from_micros(1700 * round));
            writer.kill().unwrap();
            writer.wait().unwrap();
            version_of(&FileTable::open(&path).unwrap());
        }
        running.store(false, Relaxed);
    });
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn failed_writers_leave_the_old_file() {
    let dir = tempdir("failed");
    let missing = dir.join("nowhere").join("table.lm");
    let error = FileSpec::default().write(&version(1), &missing).unwrap_err().to_string();
    assert!(error.contains("nowhere") && error.contains("cannot make a file beside it"), "{error}");
    // A directory has the name.
    fs::create_dir_all(dir.join("table.lm").join("inside")).unwrap();
    let error = FileSpec::default().write(&version(1), dir.join("table.lm")).unwrap_err();
    assert!(error.to_string().contains("cannot open it: Is a directory"), "{error}");
    only(&dir, &["table.lm"]);
    for path in ["/", ""] {
        assert!(FileSpec::default().write(&version(1), path).is_err());
    }
    fs::remove_dir_all(dir).unwrap();
}

/// The system refuses to write more than a part of the file.
#[cfg(target_os = "linux")]
#[test]
fn full_disks_leave_the_old_file() {
    let dir = tempdir("disk");
    let path = dir.join("table.lm");
    write(3, &path);
    let output = process("fail", &path).wait_with_output().unwrap();
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.contains("cannot write the new file"), "{out}{err}");
    assert_eq!(version_of(&FileTable::open(&path).unwrap()), 3);
    only(&dir, &["table.lm"]);
    fs::remove_dir_all(dir).unwrap();
}

/// Writes with a limit on the lengths of files, which acts as a full disk.
#[cfg(target_os = "linux")]
fn fail_to_write(path: &Path) {
    let limit = libc::rlimit { rlim_cur: 5000, rlim_max: 5000 };
    // SAFETY: the disposition has no handler.
    let ignored = unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    assert_ne!(ignored, libc::SIG_ERR);
    // SAFETY: the limit is valid during the call.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) }, 0);
    println!("{}", FileSpec::default().write(&version(4), path).unwrap_err());
}

#[cfg(not(target_os = "linux"))]
fn fail_to_write(_: &Path) {
    println!("skipped: limits of files are implemented for Linux only");
}

/// A link to a file stays a link, and permissions stay.
#[cfg(unix)]
#[test]
fn links_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let dir = tempdir("links");
    let (path, link) = (dir.join("table.lm"), dir.join("link.lm"));
    write(1, &path);
    symlink("table.lm", &link).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    write(2, &link);
    assert_eq!(version_of(&FileTable::open(&path).unwrap()), 2);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    fs::remove_dir_all(dir).unwrap();
}
