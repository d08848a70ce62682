//! Compilers, the library under its installed names, and directories of tests.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Warnings are errors, and defects end the program.
pub const SANITIZE: &[&str] = &[
    "-Wall",
    "-Wextra",
    "-Werror",
    "-pedantic",
    "-g",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
];

/// A path from the crate's root.
pub fn source(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A directory with the library under the names by which programs link and load it.
pub struct Dir(PathBuf);

impl Dir {
    pub fn new(name: &str) -> Self {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("c-{name}"));
        // Left by an earlier run.
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).expect("the directory of tests is writable");
        let own = Self(dir);
        let library = library();
        for name in ["liblongmatch.so.0", "liblongmatch.so"] {
            fs::copy(&library, own.path(name)).expect("cargo has built the shared library");
        }
        own
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

/// A file that cargo has built beside the tests.
pub fn built(name: &str) -> PathBuf {
    let program = env::current_exe().expect("the test has a path");
    program.with_file_name(name)
}

/// The shared library.
pub fn library() -> PathBuf {
    built("liblongmatch_capi.so")
}

/// The line that says that a test is skipped.
pub fn skipped(test: &str, tool: &str, package: &str) -> String {
    let line = format!("skipped: {test}: no {tool} (Debian: `apt-get install {package}`)");
    eprintln!("{line}");
    line
}

/// Whether a program can be started.
pub fn has(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The compiler, if it has sanitizers here.
pub fn compiler(name: &'static str, test: &str) -> Option<&'static str> {
    if cfg!(not(all(target_os = "linux", target_env = "gnu"))) {
        eprintln!("skipped: {test}: programs in C are tested on Linux with glibc");
        return None;
    }
    if !has(name) {
        skipped(test, name, "g++");
        return None;
    }
    Some(name)
}

/// Compiles a program against the library of a directory.
pub fn compile(dir: &Dir, compiler: &str, source: &Path, flags: &[&str]) -> PathBuf {
    let program = dir.path(source.file_stem().and_then(|name| name.to_str()).expect("a name"));
    let mut command = Command::new(compiler);
    command
        .args(flags)
        .arg("-I")
        .arg(self::source("include"))
        .arg("-I")
        .arg(self::source("tests/c"));
    command
        .arg("-o")
        .arg(&program)
        .arg(source)
        .arg("-L")
        .arg(&dir.0)
        .args(["-llongmatch", "-pthread"]);
    succeed(&mut command);
    program
}

/// Runs a program with the library of a directory.
pub fn run(dir: &Dir, program: &Path, arguments: &[PathBuf]) -> String {
    let mut command = Command::new(program);
    command.args(arguments).env("LD_LIBRARY_PATH", &dir.0).current_dir(&dir.0);
    String::from_utf8(succeed(&mut command).stdout).expect("UTF-8")
}

/// Runs a command that must succeed.
pub fn succeed(command: &mut Command) -> Output {
    let output = command.stdin(Stdio::null()).output().expect("the program can be started");
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{out}{err}", output.status);
    output
}
