//! The Python package: `cargo xtask python` builds its wheel into a virtual environment below `target/python` and runs
//! its tests; `cargo xtask wheels` builds what is published.

mod compare;
pub mod environment;
mod wheels;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::steps::{CommandResult, StepResult, Steps};
use crate::workspace::{root, target};
use environment::Environment;

pub use compare::{run as compare, spark};
pub use wheels::run as wheels;

/// Runs the tests of the Python package, and returns whether all passed.
pub fn run() -> CommandResult {
    let mut steps = Steps::default();
    run_steps(&mut steps);
    Ok(steps.finish())
}

/// The tests of the Python package as steps; skipped without Python or its packages.
fn run_steps(steps: &mut Steps) {
    let requirements = package().join("requirements-test.txt");
    let environment = match Environment::prepare(&directory().join("venv"), &requirements) {
        Ok(environment) => environment,
        Err(why) => return steps.skip("Python package", &why),
    };
    let built = directory().join("wheels");
    steps.step("Python package: the wheel", || {
        let wheel = build(&environment, &built, Purpose::Tests);
        verdict(wheel.and_then(|wheel| environment.install(&wheel)))
    });
    let is_installed = steps.passed();
    let cache = directory().join("mypy").display().to_string();
    let config = package().join("tests/mypy.ini").display().to_string();
    let tools: [(&str, &[&str], PathBuf); 3] = [
        ("pytest", &["pytest", "-q", "-p", "no:cacheprovider", "--durations=5"], package()),
        ("types", &["mypy", "--strict", "--cache-dir", &cache, "tests/typed.py"], package()),
        // In a directory without the sources, so that the installed package is compared.
        ("stubs", &["mypy.stubtest", "longmatch", "--mypy-config-file", &config], directory()),
    ];
    for (step, words, dir) in tools {
        let name = format!("Python package: {step}");
        match is_installed {
            true => {
                let mut python = environment.python();
                // A test installs it by other programs.
                let wheel = environment::only_file(&built).unwrap_or_default();
                python.env("LONGMATCH_WHEEL", wheel);
                steps.command(&name, python.arg("-m").args(words).current_dir(dir));
            }
            false => steps.give_up(&name, "the wheel could not be built or installed"),
        }
    }
    for (name, tests) in OTHER_VERSIONS {
        let step = format!("Python package: {name} versions");
        match is_installed {
            true => other_versions(steps, &step, (name, tests), &built),
            false => steps.give_up(&step, "the wheel could not be built or installed"),
        }
    }
}

/// Environments beside that of the newest versions, by the names of their requirements, and their tests: the oldest versions
/// that the package claims to work with, and the engines of the recipes.
const OTHER_VERSIONS: [(&str, &[&str]); 2] = [
    ("oldest", &["test_types.py", "test_frames.py", "test_mapping.py", "test_lookup_many.py"]),
    ("recipes", &["test_recipes.py", "test_compatibility.py"]),
];

/// Tests of the wheel in another environment; skipped without its packages.
fn other_versions(steps: &mut Steps, step: &str, (name, tests): (&str, &[&str]), built: &Path) {
    let requirements = package().join(format!("requirements-{name}.txt"));
    let environment = match Environment::prepare(&directory().join(name), &requirements) {
        Ok(environment) => environment,
        Err(why) => return steps.skip(step, &why),
    };
    let installed = environment::only_file(built).and_then(|wheel| environment.install(&wheel));
    if let Err(why) = installed {
        return steps.step(step, || StepResult::Failed(why));
    }
    let mut pytest = environment.python();
    // Tests that are skipped, for a module that is not installed, are listed.
    pytest.args(["-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider"]);
    pytest.args(tests.iter().map(|test| format!("tests/{test}")));
    steps.command(step, pytest.current_dir(package()));
}

/// The verdict of a step that has no output of its own.
fn verdict(result: Result<(), String>) -> StepResult {
    result.map_or_else(StepResult::Failed, |()| StepResult::Passed)
}

/// What a wheel is built for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Purpose {
    /// With the profile and the features of the workspace's tests, so that the library is not compiled once more, and with
    /// their checks of overflows and debug assertions.
    Tests,
    /// As it is published.
    Rates,
}

/// Builds a wheel for this machine into an empty directory; returns its path.
fn build(environment: &Environment, out: &Path, purpose: Purpose) -> Result<PathBuf, String> {
    environment::empty(out)?;
    let mut maturin = environment.tool("maturin");
    maturin.args(["build", "--auditwheel", "skip", "--out"]).arg(out);
    match purpose {
        Purpose::Tests => maturin.args(["--profile", "dev", "--features", "as-tested"]),
        Purpose::Rates => maturin.arg("--release"),
    };
    environment::run(maturin.current_dir(package()))?;
    environment::only_file(out)
}

/// The package's sources.
fn package() -> PathBuf {
    root().join("core/longmatch-python")
}

/// What the commands of this module write.
fn directory() -> PathBuf {
    target().join("python")
}

/// The Python interpreter: that of the environment variable `PYTHON`, or `python3`.
fn interpreter() -> Command {
    Command::new(std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into()))
}
