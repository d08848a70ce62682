//! The packages as cargo would publish them, and their public items against those of the last release.

use std::process::{Command, Stdio};

use crate::steps::{Steps, Verdict};
use crate::workspace::{cargo, root};

/// The published crates; a crate comes after those that it depends on.
const PUBLISHED: [&str; 2] = ["longmatch", "longmatch-feed"];
/// The files that every package has.
const FILES: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", "README.md"];

/// Adds the steps.
pub fn run_steps(steps: &mut Steps) {
    for package in PUBLISHED {
        steps.step(&format!("package {package}: licences and README"), || complete(package));
    }
    let packages: String = PUBLISHED.iter().map(|it| format!(" --package {it}")).collect();
    let words = format!("package --quiet --no-verify --allow-dirty --offline{packages}");
    steps.command("packages", &mut cargo(&words));
    for (tool, words) in [
        ("cargo-semver-checks", "semver-checks --package longmatch --all-features --baseline-rev"),
        ("cargo-public-api", "public-api --package longmatch --all-features diff"),
    ] {
        let name = format!("{tool} against the last release");
        match last_release(tool) {
            Ok(tag) => steps.command(&name, &mut cargo(&format!("{words} {tag}"))),
            Err(why) => steps.skip(&name, &why),
        }
    }
}

/// Checks a package's files.
fn complete(package: &str) -> Verdict {
    let words = format!("package --list --package {package} --allow-dirty --offline");
    match output(&mut cargo(&words)).map(|files| missing(&files)) {
        Ok(missing) if missing.is_empty() => Verdict::Passed,
        Ok(missing) => Verdict::Failed(format!("the package lacks {}", missing.join(", "))),
        Err(why) => Verdict::Failed(why),
    }
}

/// The files that a list of a package lacks.
fn missing(files: &str) -> Vec<&'static str> {
    FILES.into_iter().filter(|name| !files.lines().any(|line| line == *name)).collect()
}

/// Returns the tag of the last release, or why a tool cannot compare with it.
fn last_release(tool: &str) -> Result<String, String> {
    output(Command::new(tool).arg("--version"))
        .map_err(|_| format!("no {tool} (`cargo install --locked {tool}`)"))?;
    let words = ["describe", "--tags", "--abbrev=0", "--match", "v*"];
    let tag = output(Command::new("git").args(words).current_dir(root()));
    tag.map(|tag| tag.trim().to_owned()).map_err(|_| "no release yet: no tag `v*`".into())
}

/// Returns the output of a program that succeeds, or how it ended.
fn output(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{program} does not run: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_files_are_named() {
        assert!(missing(&FILES.join("\n")).is_empty());
        assert_eq!(missing("LICENSE-MIT\nengine/README.md"), ["LICENSE-APACHE", "README.md"]);
    }

    #[test]
    fn absent_tools_are_no_comparison() {
        assert!(last_release("./no-such-tool").unwrap_err().contains("cargo install"));
    }
}
