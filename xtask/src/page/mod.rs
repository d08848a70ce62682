//! `cargo xtask page`: checks a report's page in a headless browser at several widths, and in print.
//!
//! The browser opens a page whose script (`check.js`) loads the report into frames, one for each width, and writes the
//! defects into that page. So no browser driver is needed. The report is printed separately, as scripts cannot observe
//! printing.

mod browser;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::steps::{CommandResult, StepResult, Steps};
use crate::workspace::{cargo_test, lab_of_tests, root};
use browser::Browser;

/// Experiments whose page is checked: together they have bars, lines, a grid, tables and claims.
const EXPERIMENTS: [&str; 6] =
    ["memory", "poptrie-fig7", "poptrie-table2", "poptrie-fig8", "poptrie-cycles", "dxr-chunks"];

/// The step that makes the checked report.
pub const REPORT: &str = "a report on the embedded tables";

/// The script that checks the frames.
const CHECK: &str = include_str!("check.js");

/// Minimum size of a printed page in bytes; even an empty page exceeds it.
const MIN_PDF_BYTES: u64 = 4_000;

/// Maximum number of defects that are printed.
const MAX_DEFECTS: usize = 40;

/// Checks a page, or the page of a report on the embedded tables; returns whether it has no defects.
pub fn run(page: Option<&str>) -> CommandResult {
    let mut steps = Steps::default();
    match page {
        Some(page) => {
            let page = fs::canonicalize(page).map_err(|error| format!("{page}: {error}"))?;
            run_steps(&mut steps, &page, "the page");
        }
        None => {
            build(&mut steps);
            if steps.passed() {
                embedded(&mut steps);
            }
        }
    }
    Ok(steps.finish())
}

/// Builds the command as the tests do: another build would compile the library again.
pub fn build(steps: &mut Steps) {
    steps.command("build of the command", &mut cargo_test("--no-run --test cli"));
}

/// Checks the page of a report on the embedded tables with a chart of each kind; skips the check without a browser.
pub fn embedded(steps: &mut Steps) {
    let out = root().join("target/page/report");
    // The command would keep values of an earlier run.
    let _ = fs::remove_dir_all(&out);
    let mut command = lab_of_tests("report");
    command.args(EXPERIMENTS.iter().flat_map(|name| ["--only", name])).arg("--out").arg(&out);
    steps.command(REPORT, &mut command);
    match steps.passed() {
        true => run_steps(steps, &out.join("report.html"), "that report's page"),
        false => steps.give_up("that report's page", "there is no report"),
    }
}

fn run_steps(steps: &mut Steps, page: &Path, name: &str) {
    let (shown, printed) = (&*format!("{name} in a browser"), &*format!("{name} in print"));
    match Browser::find() {
        Ok(browser) => {
            steps.step(shown, || verdict(show(&browser, page)));
            steps.step(printed, || verdict(print(&browser, page)));
        }
        Err(why) => {
            steps.skip(shown, &why);
            steps.skip(printed, &why);
        }
    }
}

/// Checks the page in frames of several widths; returns the defects.
fn show(browser: &Browser, page: &Path) -> io::Result<Vec<String>> {
    let html = fs::read_to_string(page)?;
    let dir = work_dir()?;
    let check = dir.join("check.html");
    fs::write(&check, harness(&html))?;
    // Virtual time advances as fast as the browser can, up to this limit in milliseconds.
    let output = browser.run(&["--dump-dom", "--virtual-time-budget=120000"], &check, &dir)?;
    let mut wrong = output.console;
    match verdict_lines(&output.output) {
        Some(lines) => {
            for line in lines {
                match line.strip_prefix("wrong: ") {
                    Some(defect) => wrong.push(defect.to_owned()),
                    None => println!("{line}"),
                }
            }
        }
        None => wrong.push("the check did not run to its end".into()),
    }
    Ok(wrong)
}

/// Prints the page; returns the defects.
fn print(browser: &Browser, page: &Path) -> io::Result<Vec<String>> {
    let dir = work_dir()?;
    let pdf = dir.join("page.pdf");
    // The file of an earlier run would look like success.
    let _ = fs::remove_file(&pdf);
    let to = format!("--print-to-pdf={}", pdf.display());
    let mut wrong = browser.run(&["--no-pdf-header-footer", &to], page, &dir)?.console;
    match fs::read(&pdf) {
        Ok(bytes) if bytes.starts_with(b"%PDF-") && bytes.len() as u64 > MIN_PDF_BYTES => {
            println!("{} has {} bytes", pdf.display(), bytes.len());
        }
        Ok(bytes) => wrong.push(format!("the printed file has only {} bytes", bytes.len())),
        Err(error) => wrong.push(format!("nothing was printed: {error}")),
    }
    Ok(wrong)
}

fn verdict(defects: io::Result<Vec<String>>) -> StepResult {
    let wrong = match defects {
        Ok(wrong) => wrong,
        Err(error) => return StepResult::Failed(error.to_string()),
    };
    for defect in wrong.iter().take(MAX_DEFECTS) {
        println!("wrong: {defect}");
    }
    if wrong.len() > MAX_DEFECTS {
        println!("and {} more", wrong.len() - MAX_DEFECTS);
    }
    match wrong.len() {
        0 => StepResult::Passed,
        n => StepResult::Failed(format!("{n} defect(s), listed above")),
    }
}

/// Returns the directory for files of the browser.
fn work_dir() -> io::Result<PathBuf> {
    let dir = root().join("target/page");
    fs::create_dir_all(&dir)?;
    Ok(dir)
}

/// Builds the page that checks a report; its script has the report's HTML as a string.
fn harness(html: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>check</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n<pre id=\"verdict\"></pre>\n\
         <script>\nconst PAGE = {};\n{CHECK}</script></html>\n",
        script_text(html)
    )
}

/// Quotes a text as a JavaScript string that cannot end a script element. Both languages have the same escapes.
fn script_text(text: &str) -> String {
    format!("{text:?}").replace('<', "\\u{3c}")
}

/// Returns the lines of the verdict in the dumped page, or `None` if they are incomplete.
fn verdict_lines(dom: &str) -> Option<Vec<String>> {
    let (_, rest) = dom.split_once("<pre id=\"verdict\">")?;
    let (text, _) = rest.split_once("</pre>")?;
    let text =
        text.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", " ").replace("&amp;", "&");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    (lines.pop()? == "end").then_some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_incomplete_verdict_is_none() {
        let dom = "<html><pre id=\"verdict\">wrong: a &lt;b&gt; &amp;amp;\nfine\nend</pre></html>";
        assert_eq!(
            verdict_lines(dom),
            Some(vec!["wrong: a <b> &amp;".to_owned(), "fine".to_owned()])
        );
        assert_eq!(verdict_lines("<pre id=\"verdict\">wrong: a</pre>"), None);
        assert_eq!(verdict_lines("<pre id=\"verdict\"></pre>"), None);
        assert_eq!(verdict_lines(""), None);
    }

    #[test]
    fn a_page_cannot_end_its_script() {
        let text = script_text("</script>\n\"\\é\u{2028}");
        assert_eq!(text, "\"\\u{3c}/script>\\n\\\"\\\\é\\u{2028}\"");
        assert!(harness("</script>").matches("</script>").count() == 1);
    }

    #[test]
    fn console_messages_fail() {
        assert_eq!(verdict(Ok(Vec::new())), StepResult::Passed);
        assert!(matches!(verdict(Ok(vec!["a".to_owned()])), StepResult::Failed(_)));
    }
}
