//! `longmatch`: longest-prefix match on the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    longmatch_cli::main()
}
