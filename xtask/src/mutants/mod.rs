//! `cargo xtask mutants`: mutation tests: applies one mutant after the other to a copy of the sources, and checks that
//! the tests fail.
//!
//! The copy is in `target/mutants` and is built there with a separate target directory, so that neither the sources
//! nor other builds change. Models are built without the library, in their own package, which takes two seconds
//! for each mutant instead of a minute.

pub mod tree;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::steps::CommandResult;
use crate::workspace::{cargo, root};

/// A mutant: a text of a file, its replacement, and the arguments of `cargo test` for the tests that must fail.
struct Mutant {
    name: String,
    /// Relative to the repository's root.
    file: String,
    /// The file has it exactly once.
    find: String,
    replace: String,
    tests: String,
}

/// Time limit of tests without a mutant: longer runs hang.
const TIME_LIMIT: Duration = Duration::from_secs(900);

/// Tests of a mutant hang if they take this many times as long as without it, and a minute more. With a fixed
/// limit, tests on a busy machine would end early and count as a catch.
const SLOWER: u32 = 5;

/// Result of a run of tests.
enum TestsEnd {
    Passed,
    /// The failed tests, or the exit status of the program.
    Failed(String),
    /// The last lines of the compiler's output.
    NotCompiled(String),
}

/// Returns the mutants of `xtask/mutants.toml`.
///
/// # Errors
/// If the file does not have its form.
fn all() -> Result<Vec<Mutant>, String> {
    let parsed: Result<Value, _> = toml::from_str(include_str!("../../mutants.toml"));
    let parsed = parsed.map_err(|error| error.to_string())?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let mutant = |group: &Value, mutant: &Value| {
        let [name, find, replace] = [0, 1, 2].map(|i| text(&mutant[i]));
        let (file, tests) = (text(&group["file"])?, text(&group["tests"])?);
        Some(Mutant { name: name?, file, find: find?, replace: replace?, tests })
    };
    let groups = parsed["in"].as_array().into_iter().flatten();
    let mutants = groups.flat_map(|group| {
        let own = group["mutants"].as_array().into_iter().flatten();
        own.map(move |it| mutant(group, it).ok_or_else(|| format!("{it} in {}", group["file"])))
    });
    mutants
        .collect::<Result<_, _>>()
        .map_err(|it| format!("xtask/mutants.toml: not a mutant: {it}"))
}

/// Tests the mutants with one of these words in their names or files, or all without words; returns whether each was
/// caught.
///
/// # Errors
/// If the copy cannot be made, or if its tests fail without a mutant, which would make the result meaningless.
pub fn run(words: &[&str]) -> CommandResult {
    let has =
        |mutant: &Mutant, word: &str| mutant.name.contains(word) || mutant.file.contains(word);
    let mut chosen = all()?;
    chosen.retain(|mutant| words.is_empty() || words.iter().any(|word| has(mutant, word)));
    if chosen.is_empty() {
        return Err("no mutant has one of these words; xtask/mutants.toml lists them".into());
    }
    let copy = SourceCopy::make(&root())?;
    let mut sound: Vec<(&str, Duration)> = Vec::new();
    for tests in chosen.iter().map(|mutant| &mutant.tests[..]) {
        if !sound.iter().any(|(own, _)| *own == tests) {
            sound.push((tests, copy.must_pass(tests)?));
        }
    }
    let mut rows = Vec::new();
    for mutant in &chosen {
        let start = Instant::now();
        let usual = sound.iter().find(|(tests, _)| *tests == mutant.tests);
        let limit = usual.map_or(TIME_LIMIT, |(_, took)| SLOWER * *took + Duration::from_secs(60));
        let verdict = copy.try_out(mutant, limit)?;
        let seconds = start.elapsed().as_secs();
        let result = match &verdict {
            Ok(by) => format!("caught by {by}"),
            Err(why) => format!("NOT CAUGHT: {why}"),
        };
        println!("{} ({seconds} s): {result}", mutant.name);
        rows.push((mutant, verdict));
    }
    Ok(print_table(&rows))
}

/// Prints the result of each mutant, and returns whether all were caught.
fn print_table(rows: &[(&Mutant, Result<String, String>)]) -> bool {
    let width = rows.iter().map(|(mutant, _)| mutant.name.len()).max().unwrap_or(0);
    let short = |mutant: &Mutant| mutant.file.trim_start_matches("core/longmatch/").to_owned();
    let files = rows.iter().map(|(mutant, _)| short(mutant).len()).max().unwrap_or(0);
    println!();
    for (mutant, verdict) in rows {
        let by = match verdict {
            Ok(by) => by.clone(),
            Err(why) => format!("NOT CAUGHT: {why}"),
        };
        println!("{:width$}  {:files$}  {by}", mutant.name, short(mutant));
    }
    let missed = rows.iter().filter(|(_, verdict)| verdict.is_err()).count();
    println!("{} mutants, {} caught, {missed} not", rows.len(), rows.len() - missed);
    missed == 0
}

/// A copy of the sources.
struct SourceCopy {
    /// The copied workspace.
    tree: PathBuf,
    /// The package of models.
    models: PathBuf,
    target: PathBuf,
    logs: PathBuf,
}

impl SourceCopy {
    fn make(from: &Path) -> io::Result<Self> {
        let base = from.join("target/mutants");
        let [tree, models, target, logs] =
            ["tree", "models", "build", "logs"].map(|name| base.join(name));
        tree::mirror(from, &tree)?;
        fs::create_dir_all(models.join("src"))?;
        fs::create_dir_all(&logs)?;
        let manifest = fs::read_to_string(tree.join("core/longmatch/Cargo.toml"))?;
        tree::write(&models.join("Cargo.toml"), manifest_of_models(&manifest).as_bytes())?;
        tree::write(&models.join("src/lib.rs"), b"")?;
        fs::copy(tree.join("Cargo.lock"), models.join("Cargo.lock"))?;
        Ok(Self { tree, models, target, logs })
    }

    /// Returns how long tests take without a mutant.
    ///
    /// # Errors
    /// If they fail.
    fn must_pass(&self, tests: &str) -> Result<Duration, String> {
        println!("without a mutant: {tests}");
        let ran = self.test(tests, "unchanged", TIME_LIMIT).map_err(|error| error.to_string())?;
        match ran.0 {
            TestsEnd::Passed => Ok(ran.1),
            TestsEnd::Failed(why) => Err(format!("`{tests}` fails without a mutant: {why}")),
            TestsEnd::NotCompiled(why) => Err(format!("the copy does not compile:\n{why}")),
        }
    }

    /// Applies a mutant, runs its tests, and reverts it. Returns the tests that caught it, or why none could.
    fn try_out(&self, mutant: &Mutant, limit: Duration) -> io::Result<Result<String, String>> {
        let path = self.tree.join(&mutant.file);
        let text = fs::read_to_string(&path)?;
        let changed = match change(&text, mutant) {
            Ok(changed) => changed,
            Err(why) => return Ok(Err(why)),
        };
        fs::write(&path, changed)?;
        let run = self.test(&mutant.tests, &mutant.name.replace([' ', ','], "-"), limit);
        fs::write(&path, text)?;
        Ok(match run?.0 {
            TestsEnd::Passed => Err(format!("`{}` passes", mutant.tests)),
            TestsEnd::Failed(by) => Ok(by),
            TestsEnd::NotCompiled(why) => Err(format!("does not compile:\n{why}")),
        })
    }

    /// Builds tests and runs them. Returns the result, and how long they ran.
    fn test(&self, tests: &str, log: &str, limit: Duration) -> io::Result<(TestsEnd, Duration)> {
        let log = self.logs.join(format!("{log}.txt"));
        let (build, run) = tests.split_once(" -- ").unwrap_or((tests, ""));
        // Tests of models do not need the library.
        let of_models = tests.starts_with("--test ");
        let package = if of_models { &self.models } else { &self.tree };
        let mut cargo = cargo(&format!("test {build} --no-run"));
        cargo.current_dir(package).env("CARGO_TARGET_DIR", &self.target);
        // Each program runs once, so a fast build matters most.
        cargo.env("CARGO_PROFILE_DEV_DEBUG", "0");
        if !of_models {
            cargo.env("CARGO_PROFILE_DEV_OPT_LEVEL", "0");
        }
        let built = to_file(&mut cargo, &log)?.status()?;
        let output = fs::read_to_string(&log)?;
        let program = output.lines().rev().find_map(program);
        let (true, Some(program)) = (built.success(), program) else {
            return Ok((TestsEnd::NotCompiled(last_lines(&output, 12)), Duration::ZERO));
        };
        let mut tests = Command::new(package.join(program));
        tests.args(run.split_whitespace()).current_dir(package).stdin(Stdio::null());
        tests.env("LONGMATCH_FEW_ENGINES", "1");
        // Tests of this program would otherwise compile the workspace that started it.
        tests
            .env("CARGO_MANIFEST_DIR", package.join("xtask"))
            .env("CARGO_TARGET_DIR", &self.target);
        let mut child = to_file(&mut tests, &log)?.spawn()?;
        let start = Instant::now();
        let ended = wait(&mut child, &log, limit)?;
        let took = start.elapsed();
        let output = fs::read_to_string(&log)?;
        let failed = failed_tests(&output);
        let run = match ended {
            _ if !failed.is_empty() => TestsEnd::Failed(few(&failed)),
            Some(status) if status.success() => TestsEnd::Passed,
            Some(status) => TestsEnd::Failed(status.to_string()),
            None => TestsEnd::Failed(format!("no end after {} s", limit.as_secs())),
        };
        Ok((run, took))
    }
}

/// Redirects all output of a program to a file.
fn to_file<'a>(command: &'a mut Command, file: &Path) -> io::Result<&'a mut Command> {
    let file = fs::File::create(file)?;
    Ok(command.stdout(file.try_clone()?).stderr(file))
}

/// Formats the first names of a list, and the number of the others.
fn few(names: &[&str]) -> String {
    let shown = names.len().min(2);
    let more = match names.len() - shown {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    names[..shown].join(", ") + &more
}

/// Waits for a program. Returns `None` if it was stopped: because a test failed, which suffices, or because of the time
/// limit.
fn wait(child: &mut Child, log: &Path, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let failed = !failed_tests(&fs::read_to_string(log)?).is_empty();
        if failed || start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        sleep(Duration::from_millis(50));
    }
}

/// Returns the built program that a line of cargo's output names.
fn program(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("Executable ")?.split_once('(')?.1.strip_suffix(')')
}

/// Returns the names of the failed tests.
fn failed_tests(output: &str) -> Vec<&str> {
    output
        .lines()
        .filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"))
        .collect()
}

fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

/// Returns the text of a file with a mutant, or why the mutant cannot be applied.
fn change(text: &str, mutant: &Mutant) -> Result<String, String> {
    match text.matches(&mutant.find).count() {
        1 => Ok(text.replacen(&mutant.find, &mutant.replace, 1)),
        count => Err(format!("{} has its text {count} times, not once", mutant.file)),
    }
}

/// Returns the manifest of a package of models only, with what they need of the library's manifest.
fn manifest_of_models(library: &str) -> String {
    let needed = ["hashbrown = ", "loom = ", "shuttle = "];
    let wanted = |line: &&str| needed.iter().any(|needed| line.starts_with(needed));
    let needed: Vec<&str> = library.lines().filter(wanted).collect();
    let needed = needed.join("\n");
    let tests = ["loom", "shuttle"].map(|name| {
        format!("[[test]]\nname = \"{name}\"\npath = \"../tree/core/longmatch/tests/{name}.rs\"\n")
    });
    format!(
        "[package]\nname = \"models\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dev-dependencies]\n{needed}\n\n{}\n\
         [profile.dev]\nopt-level = 1\ndebug = \"line-tables-only\"\n\n\
         [profile.dev.package.\"*\"]\nopt-level = 2\n",
        tests.join("\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A change of a line that a mutant replaces must also change the mutant.
    #[test]
    fn each_mutant_can_be_applied() {
        for mutant in &all().expect("the file has its form") {
            let text = fs::read_to_string(root().join(&mutant.file)).expect(&mutant.file);
            let changed =
                change(&text, mutant).unwrap_or_else(|why| panic!("{}: {why}", mutant.name));
            assert_ne!(changed, text, "{} changes nothing", mutant.name);
        }
    }

    #[test]
    fn output_of_tests_is_parsed() {
        let output = "running 2 tests\ntest a::b ... ok\ntest a::c ... FAILED\n\nfailures:\n";
        assert_eq!(failed_tests(output), ["a::c"]);
        assert_eq!(program("  Executable tests/a.rs (/b/c-1)"), Some("/b/c-1"));
        assert_eq!(program("  Executable unittests src/lib.rs (d/e)"), Some("d/e"));
        assert_eq!(program("    Finished `test` profile (a)"), None);
        assert_eq!(last_lines("a\nb\nc", 2), "b\nc");
        assert_eq!((few(&["a"]), few(&["a", "b", "c"])), ("a".into(), "a, b and 1 more".into()));
    }

    #[test]
    fn texts_that_do_not_occur_once_are_errors() {
        let mutant = &all().expect("the file has its form")[0];
        assert!(change("", mutant).is_err() && change(&mutant.find.repeat(2), mutant).is_err());
        assert_eq!(change(&mutant.find, mutant), Ok(mutant.replace.clone()));
    }
}
