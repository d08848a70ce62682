//! The packages as cargo would publish them, and their public items against those of the last release.

use std::process::{Command, Stdio};

use crate::report::{Report, Verdict};
use crate::workspace::{cargo, root};

/// The published crates; a crate comes after those that it depends on.
const PUBLISHED: [&str; 2] = ["longmatch", "longmatch-feed"];
/// The files that every package has.
const FILES: [&str; 4] = ["Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md"];
/// The fields of every manifest, beside those without which cargo refuses to publish.
const FIELDS: [&str; 4] = ["categories", "documentation", "keywords", "readme"];

/// Adds the steps to a report.
pub fn steps(report: &mut Report) {
    for package in PUBLISHED {
        report.step(&format!("package {package}: licences, README, fields"), || complete(package));
    }
    let packages: String = PUBLISHED.iter().map(|it| format!(" --package {it}")).collect();
    let words = format!("package --quiet --no-verify --allow-dirty --offline{packages}");
    report.command("packages", &mut cargo(&words));
    for (tool, words) in [
        ("cargo-semver-checks", "semver-checks --package longmatch --all-features --baseline-rev"),
        ("cargo-public-api", "public-api --package longmatch --all-features diff"),
    ] {
        let name = format!("{tool} against the last release");
        match last_release(tool) {
            Ok(tag) => report.command(&name, &mut cargo(&format!("{words} {tag}"))),
            Err(why) => report.skip(&name, &why),
        }
    }
}

/// Checks a package's files and fields.
fn complete(package: &str) -> Verdict {
    let words = format!("package --list --package {package} --allow-dirty --offline");
    let files = match output(&mut cargo(&words)) {
        Ok(files) => files,
        Err(why) => return Verdict::Failed(why),
    };
    let manifest = root().join("crates").join(package).join("Cargo.toml");
    match std::fs::read_to_string(&manifest) {
        Ok(manifest) => verdict(&missing(&files, &manifest)),
        Err(error) => Verdict::Failed(format!("{}: {error}", manifest.display())),
    }
}

fn verdict(missing: &[&str]) -> Verdict {
    match missing {
        [] => Verdict::Passed,
        _ => Verdict::Failed(format!("the package or its manifest lacks {}", missing.join(", "))),
    }
}

/// The files that a list of a package lacks, and the fields that its manifest lacks.
fn missing(files: &str, manifest: &str) -> Vec<&'static str> {
    let has_file = |name: &str| files.lines().any(|line| line == name);
    let has_field =
        |name: &str| manifest.lines().any(|line| line.starts_with(&format!("{name} = ")));
    let files = FILES.into_iter().filter(|name| !has_file(name));
    files.chain(FIELDS.into_iter().filter(|name| !has_field(name))).collect()
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
    fn missing_parts_are_named() {
        let manifest = FIELDS.map(|field| format!("{field} = \"\"\n")).concat();
        assert_eq!(verdict(&missing(&FILES.join("\n"), &manifest)), Verdict::Passed);
        let files = "Cargo.toml\nLICENSE-MIT\nengine/README.md";
        let fields = manifest.replace("readme", "[readme]");
        assert_eq!(missing(files, &fields), ["LICENSE-APACHE", "README.md", "readme"]);
    }

    #[test]
    fn absent_tools_are_no_comparison() {
        assert!(last_release("./no-such-tool").unwrap_err().contains("cargo install"));
    }
}
