//! Builds of the adapters; a [`StepResult::Skipped`] names the missing packages and how to install them.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::python::environment;
use crate::steps::StepResult;
use crate::workspace::{cargo, root};

/// Result of a build.
type Built = Result<(), StepResult>;

const INSTALL_C: &str = "Debian: apt-get install gcc pkg-config libdpdk-dev";

/// Builds the adapter of DPDK; pkg-config finds the system's libraries.
pub fn dpdk(dir: &Path) -> StepResult {
    verdict(|| {
        needs(Command::new("pkg-config").arg("--version"), "pkg-config", INSTALL_C)?;
        let exists = ["--exists", "--print-errors", "libdpdk >= 22.11"];
        let requirement = "DPDK 22.11 or newer, with its development files,";
        needs(Command::new("pkg-config").args(exists), requirement, INSTALL_C)?;
        let sources = ["main.c", "lpm.c", "fib.c", "fib6.c"];
        compile(dir, "dpdk", &sources, flags("--cflags")?, flags("--libs")?)
    })
}

/// Builds the adapter of the kernel's lookups.
pub fn kernel(dir: &Path) -> StepResult {
    verdict(|| {
        if !cfg!(target_os = "linux") {
            return Err(StepResult::Skipped("it needs Linux".to_owned()));
        }
        compile(dir, "kernel", &["main.c", "program.c", "route.c"], Vec::new(), Vec::new())
    })
}

/// Compiles an adapter in C, with the protocol of all of them.
fn compile(
    dir: &Path,
    name: &str,
    sources: &[&str],
    flags: Vec<String>,
    libraries: Vec<String>,
) -> Built {
    let compiler = env::var_os("CC").unwrap_or_else(|| "cc".into());
    needs(Command::new(&compiler).arg("--version"), "a C compiler", INSTALL_C)?;
    let mut command = Command::new(compiler);
    command.args(["-std=gnu11", "-O3", "-Wall", "-Wextra", "-Wno-unused-parameter"]);
    // Placed after the flags of pkg-config, which name the oldest CPU that DPDK supports.
    command.args(flags).arg("-march=native").args(sources).arg("../c/protocol.c");
    command.arg("-o").arg(fresh(dir, name)?).args(libraries);
    run(command.current_dir(root().join("lab/peers").join(name)))
}

/// Returns pkg-config's compiler flags for DPDK.
fn flags(option: &str) -> Result<Vec<String>, StepResult> {
    let output = Command::new("pkg-config").args([option, "libdpdk"]).output().map_err(failed)?;
    match output.status.success() {
        true => {
            let words = String::from_utf8_lossy(&output.stdout);
            Ok(words.split_whitespace().map(str::to_owned).collect())
        }
        false => {
            Err(StepResult::Failed(format!("`pkg-config {option} libdpdk`: {}", output.status)))
        }
    }
}

/// Builds the adapter of Rust crates, a package outside the workspace with its own lock file.
pub fn rust(dir: &Path) -> StepResult {
    verdict(|| {
        let program = fresh(dir, "rust")?;
        let build = dir.join("build");
        let mut command =
            cargo("build --release --locked --manifest-path lab/peers/rust/Cargo.toml");
        command.env("CARGO_TARGET_DIR", &build).env("RUSTFLAGS", "-C target-cpu=native");
        run(&mut command)?;
        fs::copy(build.join("release/rust"), program).map(drop).map_err(failed)
    })
}

/// Builds the adapter of the Go module, which Go fetches according to `go.sum`.
pub fn go(dir: &Path) -> StepResult {
    verdict(|| {
        let install = "Debian: apt-get install golang, or the archive of the Go project";
        needs(Command::new("go").arg("version"), "Go 1.24 or newer", install)?;
        let program = fresh(dir, "go")?;
        let mut command = Command::new("go");
        command
            .args(["build", "-o"])
            .arg(program)
            .arg(".")
            .current_dir(root().join("lab/peers/go"));
        if let Some(level) = go_level() {
            command.env("GOAMD64", level);
        }
        run(&mut command)
    })
}

/// Returns the instruction level for Go, if this CPU has more than the baseline.
#[cfg(target_arch = "x86_64")]
fn go_level() -> Option<&'static str> {
    let has = std::is_x86_feature_detected!("avx2")
        && std::is_x86_feature_detected!("bmi2")
        && std::is_x86_feature_detected!("fma");
    has.then_some("v3")
}

#[cfg(not(target_arch = "x86_64"))]
fn go_level() -> Option<&'static str> {
    None
}

/// Builds a virtual environment for one Python package, with the adapter's scripts.
pub fn python(dir: &Path, package: &str, version: &str) -> StepResult {
    verdict(|| {
        let requirement = "Python 3 with the modules venv and ensurepip";
        let install = "Debian: apt-get install python3-venv python3-dev gcc";
        needs(
            Command::new("python3").args(["-c", "import venv, ensurepip"]),
            requirement,
            install,
        )?;
        let home = dir.join(package);
        if home.exists() {
            fs::remove_dir_all(&home).map_err(failed)?;
        }
        run(Command::new("python3").args(["-m", "venv"]).arg(&home))?;
        let mut pip = Command::new(home.join("bin/python"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        run(pip.arg(format!("{package}=={version}")))?;
        // The adapter comes last: its presence means that the build is complete.
        for script in ["lab/peers/reference.py", "lab/peers/python/adapter.py"] {
            let from = root().join(script);
            let to = home.join(from.file_name().unwrap_or(OsStr::new("")));
            fs::copy(from, to).map_err(failed)?;
        }
        Ok(())
    })
}

fn verdict(build: impl FnOnce() -> Built) -> StepResult {
    build().err().unwrap_or(StepResult::Passed)
}

fn failed(error: impl ToString) -> StepResult {
    StepResult::Failed(error.to_string())
}

/// Skips the build unless a program runs and exits with 0.
fn needs(command: &mut Command, requirement: &str, install: &str) -> Built {
    let runs = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    match runs.is_ok_and(|status| status.success()) {
        true => Ok(()),
        false => Err(StepResult::Skipped(format!("{requirement} is missing ({install})"))),
    }
}

/// Returns a program's path in the directory. Removes an old file, so that a failed build does not look complete.
fn fresh(dir: &Path, name: &str) -> Result<PathBuf, StepResult> {
    let program = dir.join(name);
    if program.exists() {
        fs::remove_file(&program).map_err(failed)?;
    }
    Ok(program)
}

fn run(command: &mut Command) -> Built {
    environment::run(command.stdin(Stdio::null())).map_err(StepResult::Failed)
}
