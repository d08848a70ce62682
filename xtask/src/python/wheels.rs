//! `cargo xtask wheels`: the sdist and the wheels that are published, in `target/wheels`.
//!
//! All tools come from the package index into a virtual environment below `target/python`. zig links against the glibc
//! of the manylinux tag, for this architecture and for the other, so no container is needed.

use std::path::Path;
use std::process::Command;

use super::environment::{self, Environment};
use super::{directory, package, verdict};
use crate::steps::{CommandResult, StepResult, Steps};
use crate::targets::{has, installed};
use crate::workspace::target;

/// The oldest glibc of the wheels: that of the tag manylinux2014.
const COMPATIBILITY: &str = "manylinux2014";

/// The targets of wheels, with the tag that each wheel must have.
const TARGETS: [(&str, &str); 2] = [
    ("x86_64-unknown-linux-gnu", "manylinux_2_17_x86_64"),
    ("aarch64-unknown-linux-gnu", "manylinux_2_17_aarch64"),
];

/// Interpreters without the global lock. Their wheels are not of the stable ABI, so each needs its own.
const FREE_THREADED: [&str; 2] = ["python3.13t", "python3.14t"];

/// Builds the sdist and all wheels, and returns whether none failed.
pub fn run() -> CommandResult {
    let mut steps = Steps::default();
    let requirements = package().join("requirements-wheels.txt");
    let environment = Environment::prepare(&directory().join("wheels-venv"), &requirements)?;
    let out = target().join("wheels");
    environment::empty(&out)?;
    let sources = directory().join("sdist");
    steps.step("sdist", || verdict(sdist(&environment, &out, &sources)));
    if !steps.passed() {
        steps.give_up("wheels", "there is no sdist, from which they are built");
        return Ok(steps.finish());
    }
    for (triple, tag) in TARGETS {
        steps.step(&format!("wheel, {triple}"), || match has(&installed("target"), triple) {
            Ok(()) => verdict(wheel(&environment, &sources, (triple, tag), &out)),
            Err(why) => StepResult::Skipped(format!("{why} (`rustup target add {triple}`)")),
        });
    }
    for interpreter in FREE_THREADED {
        let name = format!("wheel, {interpreter}");
        if environment::run_quietly(Command::new(interpreter).args(["-c", ""])).is_err() {
            steps.skip(&name, "this interpreter is not installed");
            continue;
        }
        steps.step(&name, || verdict(free_threaded(&environment, &sources, interpreter, &out)));
    }
    for file in environment::files(&out)? {
        println!("{}", file.display());
    }
    Ok(steps.finish())
}

/// Builds the sdist and unpacks it, so that the wheels show that it is complete.
fn sdist(environment: &Environment, out: &Path, unpacked: &Path) -> Result<(), String> {
    let mut maturin = environment.tool("maturin");
    maturin.args(["sdist", "--out"]).arg(out);
    environment::run(maturin.current_dir(package()))?;
    environment::empty(unpacked)?;
    let mut tar = environment.python();
    tar.args(["-c", UNPACK]).arg(environment::only_file(out)?).arg(unpacked);
    environment::run(&mut tar)
}

/// Unpacks an archive with the present time for all files. Its own is of 2006, before every earlier build, so cargo would find
/// nothing to compile again.
const UNPACK: &str = "
import sys, tarfile, time
with tarfile.open(sys.argv[1]) as archive:
    for member in archive.getmembers():
        member.mtime = time.time()
    archive.extractall(sys.argv[2])
";

/// Builds a wheel from the unpacked sdist, and has auditwheel confirm its tag.
fn wheel(
    environment: &Environment,
    sources: &Path,
    (triple, tag): (&str, &str),
    out: &Path,
) -> Result<(), String> {
    let mut maturin = environment.tool("maturin");
    maturin.args(["build", "--release", "--zig", "--target", triple]);
    maturin.args(["--compatibility", COMPATIBILITY, "--out"]).arg(out);
    maturin.current_dir(environment::only_file(sources)?).env("CARGO_TARGET_DIR", target());
    environment::run(&mut maturin)?;
    let wheels = environment::files(out)?;
    let name = |file: &Path| file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let wheel = wheels.iter().find(|file| name(file).contains(tag));
    let wheel = wheel.ok_or_else(|| format!("no wheel has the tag {tag}"))?;
    let mut audit = environment.tool("auditwheel");
    let shown = audit.arg("show").arg(wheel).output();
    let shown = shown.map_err(|error| format!("auditwheel could not be started: {error}"))?;
    let text = String::from_utf8_lossy(&shown.stdout).replace('\n', " ");
    println!("{}: {}", name(wheel), text.split_whitespace().collect::<Vec<_>>().join(" "));
    if shown.status.success() && text.contains(tag) {
        Ok(())
    } else {
        Err(format!("auditwheel does not confirm the tag {tag}"))
    }
}

/// Builds a wheel for a free-threaded interpreter of this machine.
fn free_threaded(
    environment: &Environment,
    sources: &Path,
    interpreter: &str,
    out: &Path,
) -> Result<(), String> {
    let mut maturin = environment.tool("maturin");
    maturin.args(["build", "--release", "--zig", "--interpreter", interpreter]);
    maturin.args(["--compatibility", COMPATIBILITY, "--out"]).arg(out);
    maturin.current_dir(environment::only_file(sources)?).env("CARGO_TARGET_DIR", target());
    environment::run(&mut maturin)
}
