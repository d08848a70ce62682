//! Helpers of the tests of the three programs. Each of them names its program, `crate::PROGRAM`.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use longmatch::IpPrefix;
use longmatch_feed::{Event, Options, RouteValue, load_path};

/// A directory that is removed with the value.
pub struct Dir(PathBuf);

static NEXT: AtomicU32 = AtomicU32::new(0);

impl Dir {
    /// A new, empty directory.
    pub fn new() -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("longmatch-test-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Writes a file in the directory and returns its path.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.0.join(name);
        fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Returns the path of a file that may not exist.
    pub fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all::<&Path>(&self.0);
    }
}

/// Command of the program with these arguments, without environment variables that change its
/// output.
pub fn program(args: &[&str]) -> Command {
    let mut command = Command::new(crate::PROGRAM);
    command.args(args).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").stdin(Stdio::null());
    command
}

/// Exit code and output of a run.
#[derive(Debug, PartialEq)]
pub struct Ended {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().expect("ended by itself, not by a signal"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Runs the program.
pub fn run(args: &[&str]) -> Ended {
    program(args).output().unwrap().into()
}

/// Runs the program with a standard input.
pub fn run_with(args: &[&str], stdin: impl AsRef<[u8]>) -> Ended {
    let mut command = program(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let bytes = stdin.as_ref().to_vec();
    // Written from another thread: the binary may answer before it has read everything, or read
    // nothing.
    let writer = std::thread::spawn(move || {
        let _ = pipe.write_all(&bytes);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output.into()
}

/// Files with prefixes.
pub fn corpus() -> Vec<PathBuf> {
    let testdata = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata"));
    let folders = ["formats", "feed", "lists"].map(|folder| fs::read_dir(testdata.join(folder)));
    let files =
        folders.into_iter().flat_map(|files| files.unwrap().map(|file| file.unwrap().path()));
    let is_input = |path: &PathBuf| path.extension().is_none_or(|it| it != "md" && it != "py");
    let mut all: Vec<_> = files.filter(is_input).collect();
    all.sort();
    assert!(all.len() > 25, "the corpus is there");
    all
}

/// The message of an error without the program's name and the advice of the command.
pub fn error(ended: &Ended) -> String {
    assert_eq!(ended.code, 2, "{ended:?}");
    let last = ended.stderr.lines().last().unwrap_or_default();
    let message = last.split_once(": ").map_or(last, |(_, message)| message);
    let advice = message.rfind(" (--").unwrap_or(message.len());
    message[..advice].to_owned()
}

/// The prefixes of a file, as the library reads its routes.
pub fn prefixes(file: &str) -> Result<BTreeSet<IpPrefix>, String> {
    let mut options = Options::default();
    options.value = Some(RouteValue::NextHop);
    let mut found = BTreeSet::new();
    let mut sink = |event: Event<'_>| {
        match event {
            Event::Announce(prefix, _) => found.insert(prefix.unmapped()),
            Event::Withdraw(prefix) => found.remove(&prefix.unmapped()),
        };
        Ok(())
    };
    let read = load_path(file, &options, &mut sink);
    read.map(|_| found).map_err(|error| error.to_string())
}
