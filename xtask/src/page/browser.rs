//! Running Chromium without a window.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Names of the program in different packages.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// Options of every run. The sandbox does not work for root, and the opened pages are our own.
const OPTIONS: &str = "--headless=new --disable-gpu --hide-scrollbars --enable-logging=stderr --no-sandbox \
                       --no-first-run --disable-background-networking --disable-component-update";

/// Time limit of a run.
const TIME_LIMIT: Duration = Duration::from_secs(180);

/// A browser that can be started.
#[derive(Debug)]
pub struct Browser {
    program: OsString,
}

/// Output of a run of the browser.
#[derive(Debug)]
pub struct BrowserOutput {
    /// The standard output.
    pub output: String,
    /// Console messages: errors of the page, and blocked loads.
    pub console: Vec<String>,
}

impl Browser {
    /// Finds the browser in the environment variable CHROME, or the first installed one that starts.
    ///
    /// # Errors
    /// If no browser starts; the message says how to install one.
    pub fn find() -> Result<Self, String> {
        let found = match env::var_os("CHROME") {
            Some(program) if starts(&program) => Some(program),
            Some(program) => {
                return Err(format!("CHROME names {}, which does not start", program.display()));
            }
            None => NAMES.iter().map(OsString::from).find(starts),
        };
        found.map(|program| Self { program }).ok_or_else(|| {
            "no browser: install Chromium (Debian: `apt-get install chromium`), or name one in the environment \
             variable CHROME"
                .into()
        })
    }

    /// Opens a file with these options, without a window or network.
    pub fn run(&self, options: &[&str], page: &Path, dir: &Path) -> io::Result<BrowserOutput> {
        let (output, errors) = (dir.join("output"), dir.join("errors"));
        let mut command = Command::new(&self.program);
        command
            .args(OPTIONS.split_whitespace())
            .arg("--host-resolver-rules=MAP * ~NOTFOUND")
            .arg(format!("--user-data-dir={}", dir.join("profile").display()))
            .args(options)
            .arg(address(page))
            .stdin(Stdio::null())
            .stdout(File::create(&output)?)
            .stderr(File::create(&errors)?);
        wait(&mut command)?;
        let read =
            |path: &Path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Ok(BrowserOutput { output: read(&output)?, console: console(&read(&errors)?) })
    }
}

/// Returns the URL of a file.
fn address(file: &Path) -> String {
    let byte = |byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
            char::from(*byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    let path: String = file.as_os_str().as_encoded_bytes().iter().map(byte).collect();
    format!("file://{path}")
}

/// Returns whether a program starts and prints its version.
fn starts(program: &OsString) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Waits for the program to end; kills it after the time limit.
fn wait(command: &mut Command) -> io::Result<()> {
    let mut child = command.spawn()?;
    let start = Instant::now();
    while start.elapsed() < TIME_LIMIT {
        match child.try_wait()? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => {
                return Err(io::Error::other(format!("the browser ended with {status}")));
            }
            None => thread::sleep(Duration::from_millis(50)),
        }
    }
    child.kill()?;
    child.wait()?;
    Err(io::Error::other(format!("the browser did not end within {} s", TIME_LIMIT.as_secs())))
}

/// Returns the lines of a log that come from the console of a page.
fn console(log: &str) -> Vec<String> {
    log.lines().filter(|line| line.contains(":CONSOLE")).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_console_lines_are_kept() {
        let log = "[1:2:ERROR:dbus/bus.cc:408] Failed to connect\n[1:2:INFO:CONSOLE(3)] \"no\", source: x (3)\n";
        assert_eq!(console(log), ["[1:2:INFO:CONSOLE(3)] \"no\", source: x (3)"]);
    }

    #[test]
    fn addresses_of_files_hold_any_name() {
        assert_eq!(address(Path::new("/a b/c#?.html")), "file:///a%20b/c%23%3F.html");
    }

    #[test]
    fn missing_browsers_do_not_start() {
        assert!(!starts(&"./no-such-browser".into()));
    }
}
