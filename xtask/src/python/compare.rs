//! The Python package beside other packages, and the recipe for Spark.

use std::fs;
use std::process::{Command, Stdio};

use super::environment::{self, Environment};
use super::{Purpose, build, directory, package};
use crate::Outcome;
use crate::report::{Report, Verdict};
use crate::workspace::{root, target};

/// The records of the comparison.
const RECORDS: &str = "docs/results/published/python.ndjson";

/// Runs the tests of the recipe for Spark, and returns whether all passed.
pub fn spark() -> Outcome {
    let mut report = Report::default();
    spark_steps(&mut report);
    Ok(report.finish())
}

/// The tests of the recipe for Spark as steps of a report; skipped where Java or pyspark is not to be had.
pub fn spark_steps(report: &mut Report) {
    const NAME: &str = "Python package: Spark";
    let java = Command::new("java").arg("-version").stderr(Stdio::null()).status();
    if !java.is_ok_and(|status| status.success()) {
        return report.skip(NAME, "no `java`, which Spark needs");
    }
    let environment = match installed("spark", "recipes/requirements.txt", Purpose::Tests) {
        Ok(environment) => environment,
        Err(Missing::Packages(why)) => return report.skip(NAME, &why),
        Err(Missing::Wheel(why)) => return report.step(NAME, || Verdict::Failed(why)),
    };
    let mut pytest = environment.python();
    pytest.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "recipes"]);
    report.command(NAME, local(pytest.current_dir(package())));
}

/// Measures the Python package beside other packages, and the recipe for Spark, and writes the records.
///
/// # Errors
/// If an environment cannot be made, a program cannot be built, or a measurement fails.
pub fn run() -> Outcome {
    let compare = installed("compare", "compare/requirements.txt", Purpose::Rates);
    let compare = compare.map_err(Missing::reason)?;
    let spark = installed("spark", "recipes/requirements.txt", Purpose::Rates);
    let spark = spark.map_err(Missing::reason)?;
    let mut cargo = Command::new("cargo");
    environment::run(cargo.args(["build", "--release", "--package", "longmatch-cli"]))?;
    let commit = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output()?;
    let commit = String::from_utf8(commit.stdout)?;
    let mut records = Vec::new();
    let mut python = compare.python();
    python.arg(package().join("compare/compare.py")).args(["--commit", commit.trim()]);
    python.arg("--longmatch").arg(target().join("release/longmatch"));
    records.extend(output(&mut python)?);
    let mut python = spark.python();
    records.extend(output(local(python.arg(package().join("compare/spark.py"))))?);
    fs::write(root().join(RECORDS), records)?;
    println!("wrote {RECORDS}; `cargo xtask docs` writes the tables");
    Ok(true)
}

/// Keeps Spark's traffic on this machine, and its workers in the environment of `command`.
fn local(command: &mut Command) -> &mut Command {
    let python = command.get_program().to_owned();
    command.env("SPARK_LOCAL_IP", "127.0.0.1").env("PYSPARK_PYTHON", python)
}

/// Why an environment with the package is missing.
enum Missing {
    /// The packages of others, which may be out of reach.
    Packages(String),
    /// The package itself.
    Wheel(String),
}

impl Missing {
    fn reason(self) -> String {
        match self {
            Self::Packages(why) | Self::Wheel(why) => why,
        }
    }
}

/// An environment of its own with the packages of a file, and the package as it is now.
fn installed(name: &str, requirements: &str, purpose: Purpose) -> Result<Environment, Missing> {
    let environment = Environment::prepare(&directory().join(name), &package().join(requirements))
        .map_err(Missing::Packages)?;
    let built = build(&environment, &directory().join(format!("{name}-wheels")), purpose);
    built.and_then(|wheel| environment.install(&wheel)).map_err(Missing::Wheel)?;
    Ok(environment)
}

/// The standard output of a program that succeeds.
fn output(command: &mut Command) -> Result<Vec<u8>, String> {
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(format!("a measurement ended with {}", output.status)),
    }
}
