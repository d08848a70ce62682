//! The packages as cargo would publish them, their public items against those of the last release, and the crates of
//! others that they need.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::steps::{StepResult, Steps};
use crate::workspace::{cargo, root};

/// The published crates; a crate comes after those that it depends on.
const PUBLISHED: [&str; 2] = ["longmatch", "longmatch-feed"];
/// The files that every package has.
const FILES: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", "README.md"];

/// Adds the steps to a report.
pub fn steps(steps: &mut Steps) {
    steps.step("core depends on nothing of lab and router", core_alone);
    for package in PUBLISHED {
        steps.step(&format!("package {package}: licences and README"), || complete(package));
    }
    let packages: String = PUBLISHED.iter().map(|it| format!(" --package {it}")).collect();
    let words = format!("package --quiet --no-verify --allow-dirty --offline{packages}");
    steps.command("packages", &mut cargo(&words));
    let name = "licences, sources and versions of other crates";
    match runs("cargo-deny") {
        // The step does not check advisories, which need a network: see RELEASING.md.
        Ok(()) => steps.command(name, &mut cargo("deny --offline check bans licenses sources")),
        Err(why) => steps.skip(name, &why),
    }
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

/// Checks that packages of core need no package of another product.
fn core_alone() -> StepResult {
    let words = "metadata --format-version 1 --no-deps --offline";
    let metadata = output(&mut cargo(words))
        .and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()));
    match metadata.map(|metadata| wrong_needs(&metadata, &root())) {
        Ok(wrong) if wrong.is_empty() => StepResult::Passed,
        Ok(wrong) => StepResult::Failed(wrong.join("; ")),
        Err(why) => StepResult::Failed(why),
    }
}

/// The packages below `core` that need another directory's package of the workspace, except in tests.
fn wrong_needs(metadata: &Value, root: &Path) -> Vec<String> {
    let array = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let core = root.join("core");
    let in_core =
        |path: &Value| path.as_str().is_some_and(|path| Path::new(path).starts_with(&core));
    let mut wrong = Vec::new();
    for package in array(&metadata["packages"]) {
        let needs = array(&package["dependencies"])
            .into_iter()
            .filter(|it| it["kind"] != "dev" && it["path"].is_string() && !in_core(&it["path"]));
        for needed in needs.filter(|_| in_core(&package["manifest_path"])) {
            wrong.push(format!("{} depends on {}", package["name"], needed["name"]));
        }
    }
    wrong
}

/// Checks a package's files.
fn complete(package: &str) -> StepResult {
    let words = format!("package --list --package {package} --allow-dirty --offline");
    match output(&mut cargo(&words)).map(|files| missing(&files)) {
        Ok(missing) if missing.is_empty() => StepResult::Passed,
        Ok(missing) => StepResult::Failed(format!("the package lacks {}", missing.join(", "))),
        Err(why) => StepResult::Failed(why),
    }
}

/// The files that a list of a package lacks.
fn missing(files: &str) -> Vec<&'static str> {
    FILES.into_iter().filter(|name| !files.lines().any(|line| line == *name)).collect()
}

/// Returns the tag of the last release, or why a tool cannot compare with it.
fn last_release(tool: &str) -> Result<String, String> {
    runs(tool)?;
    let words = ["describe", "--tags", "--abbrev=0", "--match", "v*"];
    let tag = output(Command::new("git").args(words).current_dir(root()));
    tag.map(|tag| tag.trim().to_owned()).map_err(|_| "no release yet: no tag `v*`".into())
}

/// Returns how to install a program of cargo that does not run.
fn runs(tool: &str) -> Result<(), String> {
    let version = output(Command::new(tool).arg("--version"));
    version.map(drop).map_err(|_| format!("no {tool} (`cargo install --locked {tool}`)"))
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
    use serde_json::json;

    #[test]
    fn missing_files_are_named() {
        assert!(missing(&FILES.join("\n")).is_empty());
        assert_eq!(missing("LICENSE-MIT\nengine/README.md"), ["LICENSE-APACHE", "README.md"]);
    }

    #[test]
    fn dependencies_of_core_on_other_products_are_found() {
        let needed = |name: &str, dir: &str, kind: Option<&str>| json!({ "name": name, "path": format!("/r/{dir}/{name}"), "kind": kind });
        let package = |name: &str, dir: &str, needs: Value| json!({ "name": name, "manifest_path": format!("/r/{dir}/{name}/Cargo.toml"), "dependencies": needs });
        let outside = json!({ "name": "clap", "kind": null, "path": null });
        let metadata = json!({ "packages": [
            package("cli", "core", json!([
                needed("lib", "core", None), needed("bench", "lab", None), needed("route", "router", Some("build")),
                needed("report", "lab", Some("dev")), outside,
            ])),
            package("lab", "lab", json!([needed("route", "router", None), needed("cli", "core", None)])),
        ]});
        let expected = [r#""cli" depends on "bench""#, r#""cli" depends on "route""#];
        assert_eq!(wrong_needs(&metadata, Path::new("/r")), expected);
    }

    #[test]
    fn absent_tools_are_no_comparison() {
        assert!(last_release("./no-such-tool").unwrap_err().contains("cargo install"));
    }
}
