//! Runs steps one after the other and prints a summary at the end.
//!
//! A failed step does not stop later ones: one run shows all failures.

use std::fmt::Write as _;
use std::process::Command;
use std::time::{Duration, Instant};

/// Heading of the summary.
const SUMMARY: &str = "\n==> summary\n";
/// Column of the steps' names in the summary.
const COLUMN: usize = 9;

/// Result of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The step succeeded.
    Passed,
    /// The step failed, with the reason.
    Failed(String),
    /// The step was not run, with the reason.
    Skipped(String),
}

/// The steps so far.
#[derive(Debug, Default)]
pub struct Report {
    steps: Vec<Step>,
}

#[derive(Debug)]
struct Step {
    name: String,
    verdict: Verdict,
    took: Duration,
}

impl Report {
    /// Runs a step that is a function of this program.
    pub fn step(&mut self, name: &str, work: impl FnOnce() -> Verdict) {
        announce(name);
        let start = Instant::now();
        let verdict = work();
        if let Verdict::Failed(why) = &verdict {
            println!("FAILED: {name}: {why}");
        }
        self.steps.push(Step { name: name.to_owned(), verdict, took: start.elapsed() });
    }

    /// Runs a step that is another program; it passes when the program exits with 0.
    pub fn command(&mut self, name: &str, command: &mut Command) {
        self.step(name, || match command.status() {
            Ok(status) if status.success() => Verdict::Passed,
            Ok(status) => Verdict::Failed(status.to_string()),
            Err(error) => Verdict::Failed(format!("could not be started: {error}")),
        })
    }

    /// Records a step as failed because it depends on a failed one and is not run.
    pub fn give_up(&mut self, name: &str, why: &str) {
        self.step(name, || Verdict::Failed(why.to_owned()));
    }

    /// Records a step that cannot be run here, and why.
    pub fn skip(&mut self, name: &str, why: &str) {
        announce(name);
        println!("skipped: {why}");
        let verdict = Verdict::Skipped(why.to_owned());
        self.steps.push(Step { name: name.to_owned(), verdict, took: Duration::ZERO });
    }

    /// Adds the steps of another report from its printed text. Returns `false` if the text has no summary.
    pub fn append(&mut self, text: &str) -> bool {
        let Some((_, summary)) = text.rsplit_once(SUMMARY) else { return false };
        let steps: Vec<_> = summary.lines().filter_map(Step::parse).collect();
        self.steps.extend(steps);
        summary.contains(" passed, ")
    }

    /// Returns whether a step has failed so far.
    pub fn has_failed(&self) -> bool {
        self.steps.iter().any(|step| matches!(step.verdict, Verdict::Failed(_)))
    }

    /// Prints the summary and returns whether no step failed.
    pub fn finish(self) -> bool {
        print!("{SUMMARY}{}", self.summary());
        !self.has_failed()
    }

    /// Returns one line for each step, then the line of counts, whose form is fixed because other programs read it.
    fn summary(&self) -> String {
        let (mut passed, mut failed, mut skipped) = (0, 0, 0);
        let mut text = String::new();
        for Step { name, verdict, took } in &self.steps {
            let seconds = took.as_secs_f64();
            let line = match verdict {
                Verdict::Passed => {
                    passed += 1;
                    format!("passed   {name} ({seconds:.1} s)")
                }
                Verdict::Failed(why) => {
                    failed += 1;
                    format!("failed   {name} ({seconds:.1} s): {why}")
                }
                Verdict::Skipped(why) => {
                    skipped += 1;
                    format!("skipped  {name}: {why}")
                }
            };
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{line}");
        }
        let _ = writeln!(text, "{passed} passed, {failed} failed, {skipped} skipped");
        text
    }
}

impl Step {
    /// Parses a line of a summary; `None` for the line of counts.
    fn parse(line: &str) -> Option<Self> {
        let (kind, rest) = line.split_at_checked(COLUMN)?;
        let timed = |rest: &str, end: &str| {
            let (name, seconds) = rest.strip_suffix(end)?.rsplit_once(" (")?;
            let took = Duration::try_from_secs_f64(seconds.parse().ok()?).ok()?;
            Some((name.to_owned(), took))
        };
        let (name, took, verdict) = match kind.trim_end() {
            "passed" => {
                let (name, took) = timed(rest, " s)")?;
                (name, took, Verdict::Passed)
            }
            "failed" => {
                let (step, why) = rest.split_once(" s): ")?;
                let (name, took) = timed(step, "")?;
                (name, took, Verdict::Failed(why.to_owned()))
            }
            "skipped" => {
                let (name, why) = rest.split_once(": ")?;
                (name.to_owned(), Duration::ZERO, Verdict::Skipped(why.to_owned()))
            }
            _ => return None,
        };
        Some(Self { name, verdict, took })
    }
}

fn announce(name: &str) {
    println!("\n==> {name}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_stops_nothing_and_is_counted() {
        let mut report = Report::default();
        report.step("first", || Verdict::Failed("broken".to_owned()));
        report.step("second", || Verdict::Passed);
        report.skip("third", "no such target");
        let summary = report.summary();
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
        assert!(!report.finish());
    }

    #[test]
    fn another_reports_text_keeps_its_steps() {
        let mut other = Report::default();
        other.step("a (b), c: d", || Verdict::Failed("exit status: 1".to_owned()));
        other.step("e: f (s390x)", || Verdict::Passed);
        other.skip("g", "no h (`rustup`): install it");
        let text = format!("output\n{SUMMARY}{}", other.summary());
        let mut report = Report::default();
        assert!(report.append(&text) && report.has_failed());
        assert_eq!(report.summary(), other.summary());
        assert!(!report.append("thread 'main' panicked"));
        assert!(!report.append(SUMMARY));
    }

    #[test]
    fn skipping_is_not_failing() {
        let mut report = Report::default();
        report.skip("only", "not here");
        assert!(!report.has_failed() && report.finish());
    }

    #[test]
    fn a_step_that_is_given_up_fails() {
        let mut report = Report::default();
        report.give_up("tests", "they do not build");
        assert!(report.has_failed());
        assert!(report.summary().starts_with("failed   tests"));
    }

    #[test]
    fn a_missing_program_fails_its_step() {
        let mut report = Report::default();
        report.command("absent", &mut Command::new("./no-such-program"));
        assert!(report.summary().contains("could not be started"));
        assert!(!report.finish());
    }
}
