//! `cargo xtask pipes`: `longmatch annotate`, `lookup` and `set` beside other programs for the same jobs.

use std::fs;
use std::process::Command;

use crate::data_dir;
use crate::python::environment::{Environment, output, run as succeed};
use crate::steps::CommandResult;
use crate::workspace::{cargo, longmatch_of_release, root, target};

/// The records of the comparison.
const RECORDS: &str = "docs/results/published/pipes.ndjson";

/// Measures the jobs and writes the records. Arguments go to `compare.py`.
///
/// # Errors
/// If the environment of Python cannot be made, the command cannot be built, or a measurement fails.
pub fn run(words: &[&str]) -> CommandResult {
    let compare = root().join("core/longmatch-cli/compare");
    let environment =
        Environment::prepare(&target().join("python/pipes"), &compare.join("requirements.txt"))?;
    succeed(&mut cargo("build --release --package longmatch-cli --features columnar"))?;
    let commit = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output()?;
    let mut python = environment.python();
    python.arg(compare.join("compare.py")).args(["--columnar", "--commit"]);
    python.arg(String::from_utf8(commit.stdout)?.trim());
    python.arg("--longmatch").arg(longmatch_of_release());
    if let Some(dir) = data_dir::dir()? {
        python.arg("--data").arg(dir);
    }
    fs::write(root().join(RECORDS), output(python.args(words))?)?;
    println!("wrote {RECORDS}; `cargo xtask docs` writes the tables");
    Ok(true)
}
