//! Virtual environments of Python with packages of pinned versions.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::interpreter;

/// A virtual environment.
pub struct Environment {
    dir: PathBuf,
}

/// The file in an environment that has the requirements which were installed.
const STAMP: &str = "installed.txt";

impl Environment {
    /// Makes an environment with the packages of a requirements file, or returns the one that is there.
    ///
    /// # Errors
    /// Why it cannot be had: no Python of a supported version, no module `venv`, or no registry with the packages.
    pub fn prepare(dir: &Path, requirements: &Path) -> Result<Self, String> {
        let environment = Self { dir: dir.to_path_buf() };
        let wanted = fs::read_to_string(requirements)
            .map_err(|error| format!("{}: {error}", requirements.display()))?;
        let stamp = dir.join(STAMP);
        if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
            return Ok(environment);
        }
        let supported = "import sys; sys.exit(sys.version_info < (3, 9))";
        run_quietly(interpreter().args(["-c", supported]))
            .map_err(|why| format!("no Python 3.9 or later (set PYTHON to name one, or Debian: `apt-get install python3-venv`): {why}"))?;
        run_quietly(interpreter().args(["-m", "venv", "--clear"]).arg(dir)).map_err(|why| {
            format!(
                "no virtual environment can be made (Debian: `apt-get install python3-venv`): {why}"
            )
        })?;
        let mut pip = environment.python();
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]);
        run_quietly(pip.arg(requirements)).map_err(|why| {
            format!("the packages of {} cannot be installed: {why}", requirements.display())
        })?;
        fs::write(&stamp, wanted).map_err(|error| format!("{}: {error}", stamp.display()))?;
        Ok(environment)
    }

    /// The environment's interpreter. Its output is not coloured and its modules leave no compiled files.
    pub fn python(&self) -> Command {
        self.tool("python")
    }

    /// A program of the environment.
    pub fn tool(&self, name: &str) -> Command {
        let bin = self.dir.join("bin");
        let mut command = Command::new(bin.join(name));
        // Its programs find each other by name: maturin runs `python -m ziglang`.
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::iter::once(bin).chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(path).unwrap_or_default());
        command.stdin(Stdio::null());
        command.env("PYTHONDONTWRITEBYTECODE", "1").env("VIRTUAL_ENV", &self.dir);
        // Of the cargo that runs this program: maturin starts its own.
        command.env_remove("CARGO").env_remove("CARGO_MANIFEST_DIR");
        command
    }

    /// Installs a wheel in place of an earlier version of it, without its requirements.
    pub fn install(&self, wheel: &Path) -> Result<(), String> {
        let mut pip = self.python();
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        run(pip.args(["--force-reinstall", "--no-deps"]).arg(wheel))
    }
}

/// Runs a command; its output goes to that of this program.
pub fn run(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{program} ended with {status}")),
        Err(error) => Err(format!("{program} could not be started: {error}")),
    }
}

/// The standard output of a measurement that succeeds.
pub fn output(command: &mut Command) -> Result<Vec<u8>, String> {
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(format!("a measurement ended with {}", output.status)),
    }
}

/// Runs a command; the last line that it prints is the reason of a failure.
pub fn run_quietly(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{program} could not be started: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no message");
    Err(format!("{program} ended with {}: {last}", output.status))
}

/// Makes a directory, or removes the files in it.
pub fn empty(dir: &Path) -> Result<(), String> {
    let failed = |error| format!("{}: {error}", dir.display());
    if dir.exists() {
        fs::remove_dir_all(dir).map_err(failed)?;
    }
    fs::create_dir_all(dir).map_err(failed)
}

/// The only file of a directory.
pub fn only_file(dir: &Path) -> Result<PathBuf, String> {
    let files: Vec<_> = files(dir)?;
    match <[PathBuf; 1]>::try_from(files) {
        Ok([file]) => Ok(file),
        Err(files) => Err(format!("{}: {} files, expected one", dir.display(), files.len())),
    }
}

/// The files of a directory in the order of their names.
pub fn files(dir: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    let mut files: Vec<_> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    files.sort();
    Ok(files)
}
