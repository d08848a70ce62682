//! Commands of this program that run in the background of other steps.
//!
//! Many steps keep one core busy, such as Miri and compilation in one codegen unit. Two rows of steps at once use both
//! cores of a small machine.

use std::env;
use std::io::{self, Read as _};
use std::process::{Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};

use crate::steps::Steps;

/// Commands that run in a thread, one after the other. Their output is held back.
pub struct Background(JoinHandle<Vec<Done>>);

/// A command that has ended.
struct Done {
    words: &'static str,
    output: io::Result<(String, ExitStatus)>,
}

impl Background {
    /// Starts the commands, each with its arguments split at blanks.
    pub fn start(commands: &'static [&'static str]) -> Self {
        let run = |words: &&'static str| Done { words, output: output(words) };
        Self(thread::spawn(move || commands.iter().map(run).collect()))
    }

    /// Waits for the end, prints the output, and adds the commands' steps. A command without a summary
    /// is a failed step.
    pub fn finish(self, steps: &mut Steps) {
        let done = self.0.join().expect("the thread does not panic");
        for Done { words, output } in done {
            let name = format!("cargo xtask {words}");
            match output {
                Err(error) => steps.give_up(&name, &format!("could not be run: {error}")),
                Ok((text, status)) => {
                    print!("{text}");
                    if !steps.append(&text) {
                        steps.give_up(&name, &format!("ended without a summary: {status}"));
                    }
                }
            }
        }
    }
}

/// Runs a command of this program and returns all its output.
fn output(words: &str) -> io::Result<(String, ExitStatus)> {
    let (mut reader, writer) = io::pipe()?;
    let mut command = Command::new(env::current_exe()?);
    command.args(words.split_whitespace()).stdin(Stdio::null());
    command.stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn()?;
    // The command holds write ends of the pipe; reading ends only after all of them are closed.
    drop(command);
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes)?;
    Ok((String::from_utf8_lossy(&bytes).into_owned(), child.wait()?))
}
