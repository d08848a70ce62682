//! Files that readers in other languages read: MaxMind's for Python, in C and in Python, `mmdblookup` of libmaxminddb, and
//! Go's. A reader that is not installed is skipped. The pure Python reader answers every 50th question of a large table.

use std::ffi::OsStr;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use longmatch::table::PrefixData;
use longmatch_feed::mmdb::{MmdbOptions, write_path};
use longmatch_feed::{DataLoader, Options};

use crate::common::{Random, data_dir};
use crate::oracle::Oracle;
use crate::random::{check, nested, table};
use crate::written;

const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mmdb");
const EMBEDDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data");

/// A table with so many questions is large.
const LARGE: usize = 100_000;
/// A slow reader answers one of so many questions of a large table.
const SAMPLE: usize = 50;

/// A directory with a file and its questions, removed at the end.
struct Asked(PathBuf);

impl Asked {
    fn new(name: &str, data: &PrefixData, options: &MmdbOptions) -> Self {
        let dir =
            std::env::temp_dir().join(format!("longmatch-mmdb-{name}-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        write_path(data, options, dir.join("x.mmdb")).unwrap();
        let oracle = Oracle::new(data, options.aliases);
        let mut text = String::new();
        for addr in oracle.ends() {
            let record = nested(oracle.record(addr)).unwrap_or_default();
            writeln!(text, "{addr}\t{record}").unwrap();
        }
        fs::write(dir.join("questions"), text).unwrap();
        Self(dir)
    }

    fn file(&self) -> PathBuf {
        self.0.join("x.mmdb")
    }

    fn questions(&self) -> PathBuf {
        self.0.join("questions")
    }

    /// Every 50th question of a large table, for a slow reader.
    fn sample(&self) -> PathBuf {
        let all = fs::read_to_string(self.questions()).unwrap();
        let count = all.lines().count();
        if count < LARGE {
            return self.questions();
        }
        eprintln!("SAMPLED: every {SAMPLE}th of {count} addresses for the slow reader");
        let some: Vec<_> = all.lines().step_by(SAMPLE).collect();
        let path = self.0.join("sample");
        fs::write(&path, some.join("\n") + "\n").unwrap();
        path
    }

    /// Runs a reader, which prints the number of questions.
    fn ask(&self, command: &mut Command, questions: &Path) {
        let output = command.arg(self.file()).arg(questions).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        let count = fs::read_to_string(questions).unwrap().lines().count();
        assert_eq!(text(&output.stdout).trim(), count.to_string());
        eprintln!("{command:?}: {count} addresses");
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The output of a command that succeeds.
fn succeeds(command: &mut Command) -> Option<Output> {
    command.output().ok().filter(|output| output.status.success())
}

fn skipped(reader: &str, install: &str) {
    eprintln!("SKIPPED: {reader} is not installed: {install}");
}

fn python(asked: &Asked) {
    let python = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    if succeeds(Command::new(&python).args(["-c", "import maxminddb"])).is_none() {
        return skipped(
            "the Python package maxminddb",
            "pip install maxminddb (PYTHON names the interpreter)",
        );
    }
    let has_c =
        succeeds(Command::new(&python).args(["-c", "import maxminddb.extension"])).is_some();
    let check = |mode, questions: &Path| {
        let mut command = Command::new(&python);
        asked.ask(command.arg(Path::new(TESTS).join("check.py")).arg(mode), questions);
    };
    check("python", &asked.sample());
    if has_c {
        check("c", &asked.questions());
    } else {
        skipped("the extension in C of the Python package maxminddb", "pip install maxminddb");
    }
}

/// `LONGMATCH_GO` is a directory with a Go module that has the reader.
fn go(asked: &Asked) {
    let install = "set LONGMATCH_GO to a directory of a Go module that requires \
                   github.com/oschwald/maxminddb-golang/v2";
    let Some(module) = std::env::var_os("LONGMATCH_GO") else {
        return skipped("Go's reader", install);
    };
    let program = asked.0.join("check");
    let mut build = Command::new("go");
    build.current_dir(module).args([OsStr::new("build"), "-o".as_ref(), program.as_ref()]);
    let built = build.arg(Path::new(TESTS).join("check.go")).output().unwrap();
    assert!(built.status.success(), "{}", text(&built.stderr));
    asked.ask(&mut Command::new(program), &asked.questions());
}

/// `mmdblookup` answers one address a process: a few of them.
fn mmdblookup(asked: &Asked, data: &PrefixData) {
    if succeeds(Command::new("mmdblookup").arg("--version")).is_none() {
        return skipped("mmdblookup", "Debian: apt-get install mmdb-bin");
    }
    let oracle = Oracle::new(data, false);
    let ends = oracle.ends();
    for addr in ends.iter().step_by(ends.len().div_ceil(60)) {
        let mut lookup = Command::new("mmdblookup");
        let output = lookup
            .arg("--file")
            .arg(asked.file())
            .args(["--ip", &addr.to_string()])
            .output()
            .unwrap();
        let expected = oracle
            .record(*addr)
            .filter(|record| record.as_object().is_some_and(|it| !it.is_empty()));
        let found = text(&output.stdout);
        match expected {
            None => assert!(!found.contains('"'), "{addr}: {found}"),
            Some(record) => {
                for (path, value) in record.as_object().unwrap() {
                    let key = path.rsplit('.').next().unwrap_or(path);
                    // Floating-point numbers have six decimals there.
                    let value = value
                        .as_f64()
                        .filter(|_| value.is_f64())
                        .map_or_else(|| value.to_string(), |it| format!("{it:.6}"));
                    assert!(
                        found.contains(&format!("\"{key}\"")) && found.contains(&value),
                        "{addr}: {found}"
                    );
                }
            }
        }
    }
}

fn load(paths: &[PathBuf]) -> PrefixData {
    let mut loader = DataLoader::new(Options::default());
    for path in paths {
        loader.path(path).unwrap();
    }
    loader.finish().unwrap()
}

#[test]
fn other_readers_answer_the_same() {
    let mut options = MmdbOptions::default();
    options.drop_compatible = true;
    for seed in [7, 8, 9, 10] {
        let data = table(&mut Random(seed));
        let asked = Asked::new(&format!("random{seed}"), &data, &options);
        python(&asked);
        go(&asked);
        mmdblookup(&asked, &data);
    }
    let embedded = ["ipv4.txt.zst", "ipv6.txt.zst"].map(|name| Path::new(EMBEDDED).join(name));
    let data = load(&embedded);
    let (file, _) = written(&data, &options);
    let oracle = Oracle::new(&data, false);
    check(&data, &oracle, &file, false);
    // All ranges of an embedded table in Python take a minute.
    if std::env::var_os("LONGMATCH_PROVE").is_some() {
        let asked = Asked::new("embedded", &data, &options);
        python(&asked);
        go(&asked);
        mmdblookup(&asked, &data);
    }
}

#[test]
fn full_tables() {
    let Some(dir) = data_dir("mmdb full_tables") else { return };
    if std::env::var_os("LONGMATCH_PROVE").is_none() {
        return eprintln!("SKIPPED: full tables as MaxMind DBs: set LONGMATCH_PROVE");
    }
    let names = ["ipv4-full-origin-asn.txt.zst", "ipv6-full-origin-asn.txt.zst"];
    let data = load(&names.map(|name| dir.join(name)));
    let mut options = MmdbOptions::default();
    options.drop_compatible = true;
    let (file, report) = written(&data, &options);
    assert!(report.bytes < 8_300_000, "{report:?}");
    check(&data, &Oracle::new(&data, false), &file, false);
    let asked = Asked::new("full", &data, &options);
    python(&asked);
    go(&asked);
    mmdblookup(&asked, &data);
}
