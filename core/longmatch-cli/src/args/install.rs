//! Arguments of `longmatch completions` and `longmatch man`: what is installed beside the program.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

/// `longmatch completions`.
#[derive(Args, Debug)]
pub struct CompletionsArgs {
    /// The shell whose script is printed
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// `longmatch man`.
#[derive(Args, Debug)]
pub struct ManArgs {
    /// Print the page of this command, such as 'set aggregate' [default: longmatch]
    #[arg(value_name = "COMMAND")]
    pub command: Vec<String>,

    /// Write the pages of all commands into DIR, which need not exist
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub out: Option<PathBuf>,
}
