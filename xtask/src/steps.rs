//! Runs steps one after the other and prints a summary at the end.
//!
//! A failed step does not stop later ones: one run shows all failures.

use std::error::Error;
use std::process::Command;
use std::time::Instant;

/// Result of a command: `Ok(true)` when every step passed, `Ok(false)` when one failed.
pub type CommandResult = Result<bool, Box<dyn Error>>;

/// Use of what a command makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputMode {
    /// Compare it with the file that is there.
    Check,
    /// Write the file.
    Write,
}

/// Heading of the summary.
const SUMMARY: &str = "\n==> summary\n";

/// Result of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepResult {
    /// The step succeeded.
    Passed,
    /// The step failed, with the reason.
    Failed(String),
    /// The step was not run, with the reason.
    Skipped(String),
}

/// The steps so far, each as its line of the summary.
#[derive(Debug, Default)]
pub struct Steps {
    lines: Vec<String>,
}

impl Steps {
    /// Runs a step that is a function of this program.
    pub fn step(&mut self, name: &str, work: impl FnOnce() -> StepResult) {
        println!("\n==> {name}");
        let start = Instant::now();
        let verdict = work();
        let seconds = start.elapsed().as_secs_f64();
        self.lines.push(match verdict {
            StepResult::Passed => format!("passed   {name} ({seconds:.1} s)"),
            StepResult::Failed(why) => {
                println!("FAILED: {name}: {why}");
                format!("failed   {name} ({seconds:.1} s): {why}")
            }
            StepResult::Skipped(why) => {
                println!("skipped: {why}");
                format!("skipped  {name}: {why}")
            }
        });
    }

    /// Runs a step that is another program; it passes when the program exits with 0.
    pub fn command(&mut self, name: &str, command: &mut Command) {
        self.step(name, || match command.status() {
            Ok(status) if status.success() => StepResult::Passed,
            Ok(status) => StepResult::Failed(status.to_string()),
            Err(error) => StepResult::Failed(format!("could not be started: {error}")),
        })
    }

    /// Records a step as failed because it needs what a failed one makes, which `why` names. Other steps are run.
    pub fn give_up(&mut self, name: &str, why: &str) {
        self.step(name, || StepResult::Failed(why.to_owned()));
    }

    /// Records a step that cannot be run here, and why.
    pub fn skip(&mut self, name: &str, why: &str) {
        self.step(name, || StepResult::Skipped(why.to_owned()));
    }

    /// Adds the steps of another run from its printed text. Returns `false` if the text has no summary.
    pub fn append(&mut self, text: &str) -> bool {
        let Some((_, summary)) = text.rsplit_once(SUMMARY) else { return false };
        let lines: Vec<_> = summary.lines().collect();
        let counts = lines.iter().rposition(|line| line.contains(" passed, "));
        self.lines.extend(lines[..counts.unwrap_or(0)].iter().map(ToString::to_string));
        counts.is_some()
    }

    /// Returns whether the last step passed: for the steps that need what it makes, and for no others.
    pub fn passed(&self) -> bool {
        self.lines.last().is_some_and(|line| line.starts_with("passed "))
    }

    /// Returns whether a step has failed so far.
    pub fn has_failed(&self) -> bool {
        self.count("failed ") > 0
    }

    fn count(&self, kind: &str) -> usize {
        self.lines.iter().filter(|line| line.starts_with(kind)).count()
    }

    /// Prints the summary and returns whether no step failed.
    pub fn finish(self) -> bool {
        print!("{SUMMARY}{}", self.summary());
        !self.has_failed()
    }

    /// Returns one line for each step, then the line of counts. Other programs read this line, so its form is fixed.
    fn summary(&self) -> String {
        let [passed, failed, skipped] =
            ["passed ", "failed ", "skipped "].map(|kind| self.count(kind));
        let counts = format!("{passed} passed, {failed} failed, {skipped} skipped\n");
        self.lines.iter().map(|line| format!("{line}\n")).chain([counts]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_stops_nothing_and_is_counted() {
        let mut steps = Steps::default();
        steps.step("first", || StepResult::Failed("broken".to_owned()));
        assert!(!steps.passed());
        steps.step("second", || StepResult::Passed);
        assert!(steps.passed());
        steps.skip("third", "no such target");
        let summary = steps.summary();
        let lines: Vec<&str> = summary.lines().collect();
        assert_eq!(lines.len(), 4);
        assert!(
            lines[0].starts_with("failed   first") && lines[0].ends_with(": broken"),
            "{}",
            lines[0]
        );
        assert!(lines[1].starts_with("passed   second"), "{}", lines[1]);
        assert_eq!(lines[2], "skipped  third: no such target");
        assert_eq!(lines[3], "1 passed, 1 failed, 1 skipped");
        assert!(!steps.finish());
    }

    #[test]
    fn another_runs_text_keeps_its_steps() {
        let mut other = Steps::default();
        other.step("a (b), c: d", || StepResult::Failed("exit status: 1".to_owned()));
        other.step("e: f (s390x)", || StepResult::Passed);
        other.skip("g", "no h (`rustup`): install it");
        let text = format!("output\n{SUMMARY}{}", other.summary());
        let mut steps = Steps::default();
        assert!(steps.append(&text) && steps.has_failed());
        assert_eq!(steps.summary(), other.summary());
        assert!(!steps.append("thread 'main' panicked"));
        assert!(!steps.append(SUMMARY));
    }

    #[test]
    fn skipping_is_not_failing() {
        let mut steps = Steps::default();
        steps.skip("only", "not here");
        assert!(!steps.has_failed() && steps.finish());
    }

    #[test]
    fn steps_that_do_not_run_fail() {
        let mut steps = Steps::default();
        steps.give_up("tests", "they do not build");
        assert!(steps.has_failed() && steps.summary().starts_with("failed   tests"));
        let mut steps = Steps::default();
        steps.command("absent", &mut Command::new("./no-such-program"));
        assert!(steps.summary().contains("could not be started") && !steps.finish());
    }
}
