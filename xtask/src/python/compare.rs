//! The Python package beside other packages, and the recipe for Spark.

use std::fs;
use std::process::{Command, Stdio};

use super::environment::{self, Environment, output};
use super::{Purpose, build, directory, package};
use crate::steps::{CommandResult, StepResult, Steps};
use crate::workspace::{longmatch_of_release, root, target};

/// The records of the comparison, and those of the recipe for Spark.
const RECORDS: [&str; 2] =
    ["docs/results/published/python.ndjson", "docs/results/published/spark.ndjson"];

/// Runs the tests of the recipe for Spark, and returns whether all passed.
pub fn spark() -> CommandResult {
    let mut steps = Steps::default();
    spark_steps(&mut steps);
    Ok(steps.finish())
}

/// The tests of the recipe for Spark as steps; skipped without Java or pyspark.
fn spark_steps(steps: &mut Steps) {
    const NAME: &str = "Python package: Spark";
    let java = Command::new("java").arg("-version").stderr(Stdio::null()).status();
    if !java.is_ok_and(|status| status.success()) {
        return steps.skip(
            NAME,
            "no `java`, which Spark needs (Debian: `apt-get install default-jre-headless`)",
        );
    }
    let environment = match installed("spark", "recipes/requirements.txt", Purpose::Tests) {
        Ok(environment) => environment,
        Err(missing) => return steps.step(NAME, || missing),
    };
    let mut pytest = environment.python();
    pytest.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "recipes"]);
    steps.command(NAME, local(pytest.current_dir(package())));
}

/// Measures the Python package beside other packages, and the recipe for Spark, and writes the records.
///
/// # Errors
/// If an environment cannot be made, a program cannot be built, or a measurement fails.
pub fn run() -> CommandResult {
    let compare = installed("compare", "compare/requirements.txt", Purpose::Rates);
    let compare = compare.map_err(reason)?;
    let spark = installed("spark", "recipes/requirements.txt", Purpose::Rates);
    let spark = spark.map_err(reason)?;
    let mut cargo = Command::new("cargo");
    environment::run(cargo.args([
        "build",
        "--release",
        "--package",
        "longmatch-cli",
        "--package",
        "longmatch-lab",
    ]))?;
    let commit = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output()?;
    let commit = String::from_utf8(commit.stdout)?;
    let mut records = Vec::new();
    let mut python = compare.python();
    python.arg(package().join("compare/compare.py")).args(["--commit", commit.trim()]);
    python.arg("--lab").arg(target().join("release/longmatch-lab"));
    records.extend(output(&mut python)?);
    for program in ["mmdb.py", "warehouses.py"] {
        let mut python = compare.python();
        python.arg(package().join("compare").join(program));
        records.extend(output(python.arg("--longmatch").arg(longmatch_of_release()))?);
    }
    let mut python = spark.python();
    python.arg(package().join("compare/spark.py")).args(["--commit", commit.trim()]);
    python.arg("--longmatch").arg(longmatch_of_release());
    for (path, records) in RECORDS.into_iter().zip([records, output(local(&mut python))?]) {
        fs::write(root().join(path), records)?;
        println!("wrote {path}");
    }
    println!("`cargo xtask docs` writes the tables");
    Ok(true)
}

/// Keeps Spark's traffic on this machine, and its workers in the environment of `command`.
fn local(command: &mut Command) -> &mut Command {
    let python = command.get_program().to_owned();
    command.env("SPARK_LOCAL_IP", "127.0.0.1").env("PYSPARK_PYTHON", python)
}

/// The reason why an environment is missing.
fn reason(missing: StepResult) -> String {
    match missing {
        StepResult::Skipped(why) | StepResult::Failed(why) => why,
        StepResult::Passed => unreachable!("an environment that passes is not missing"),
    }
}

/// An environment of its own with the packages of a file, and the package as it is now. The packages of others may be
/// out of reach, which skips a step.
fn installed(name: &str, requirements: &str, purpose: Purpose) -> Result<Environment, StepResult> {
    let environment = Environment::prepare(&directory().join(name), &package().join(requirements))
        .map_err(StepResult::Skipped)?;
    let built = build(&environment, &directory().join(format!("{name}-wheels")), purpose);
    built.and_then(|wheel| environment.install(&wheel)).map_err(StepResult::Failed)?;
    Ok(environment)
}
