//! Writes the generated blocks of the repository's documents, or with `--check` names the files that differ.
//!
//! `cargo xtask docs` starts it.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let check = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => false,
        ["--check"] => true,
        _ => {
            eprintln!("usage: documents [--check]");
            return ExitCode::from(2);
        }
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    match longmatch_report::documents(&root, !check) {
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
        Ok(stale) if check && !stale.is_empty() => {
            eprintln!(
                "differs from the published records: {}; run `cargo xtask docs`",
                stale.join(", ")
            );
            ExitCode::FAILURE
        }
        Ok(stale) => {
            stale.iter().for_each(|path| println!("wrote {path}"));
            ExitCode::SUCCESS
        }
    }
}
