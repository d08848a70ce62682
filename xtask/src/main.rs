//! Developer commands of the workspace, run as `cargo xtask COMMAND`.
//!
//! This file only dispatches. Each command has its own module and returns whether all of its steps passed; an `Err`
//! means that the command could not do its work.

mod api;
mod asm;
mod background;
mod cpu;
mod data;
mod data_dir;
mod dist;
mod docs;
mod features;
mod foreign;
mod layers;
mod lint;
mod mutants;
mod packages;
mod page;
mod peers;
mod pipes;
mod prove;
mod python;
mod sanitize;
mod steps;
mod targets;
mod test;
mod toy;
mod workspace;

use std::process::ExitCode;

use steps::OutputMode;

const HELP: &str = "\
Usage: cargo xtask COMMAND; CONTRIBUTING.md describes what each needs

Checks:
  lint                formatting, clippy, documentation, layers, lengths of files, packages; warnings are errors
  test                every test in its quick form, with features, WebAssembly, asm, sanitize, foreign --quick, python
                      and python spark
  test --quick        those of them that need no build but this machine's
  test ENGINE         the tests of one engine, such as poptrie
  prove               the full forms of the tests, and every engine on every address of the embedded tables and of the
                      tables of the data directory (environment variable LONGMATCH_DATA, or ../shared/data)
  prove PART          one part of them: library, streams, network, foreign, embedded, tables
  api [--bless]       the library's public items against testdata/api, and those without an example
  asm [--bless]       the machine code of the kernels' loops against testdata/asm (x86-64 Linux)
  mutants [WORD...]   mutation tests, all or those with a WORD in their names or files
  sanitize            live tables under ThreadSanitizer and in Miri (nightly toolchain)
  foreign [--quick]   tests of the library on other architectures, in an emulator (qemu-user)
  page [FILE]         a report's page, or the page FILE, in a browser and in print (Chromium)
  python              the Python package, built into a virtual environment, and its tests (fetches packages)
  python spark        the recipe for Spark on a cluster on this machine (Java; fetches packages)
  peers --check [NAME...]
                      the answers of the built adapters against the oracle

What is built and written:
  peers [NAME...]     the adapters of all or the named peers, into target/peers (fetches packages)
  docs [--check]      the published numbers, from the records in docs/results/published
  dist [TARGET]       the archive and the Debian package of a release, into target/dist; TARGET: this machine's, or another
  wheels              the sdist and the wheels of the Python package, into target/wheels (fetches packages)
  data [--check]      the embedded tables (a network, a C compiler, Go)
  data default-table [VERSION | --check]
                      the default table of `lookup` and `annotate` (a network, a C compiler, npm)
  python compare      measures the Python package beside others (fetches packages; half an hour, on an idle machine)
  pipes [ARGUMENT...] measures `annotate`, `lookup` and `set` beside other programs (fetches packages; ten minutes)

Exit code: 0 if all passed, 1 if a step failed, 2 if the command line was wrong or the work could not start.
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match args.as_slice() {
        ["lint"] => lint::run(),
        ["test"] => test::run(test::Form::Full),
        ["test", "--quick"] => test::run(test::Form::Quick),
        ["test", engine] => test::run_engine(engine),
        ["api"] => api::run(OutputMode::Check),
        ["api", "--bless"] => api::run(OutputMode::Write),
        ["asm"] => asm::run(OutputMode::Check),
        ["asm", "--bless"] => asm::run(OutputMode::Write),
        ["prove"] => prove::run(None),
        ["prove", part] => prove::run(Some(part)),
        ["sanitize"] => sanitize::run(),
        ["foreign"] => foreign::run(foreign::Form::Full),
        ["foreign", "--quick"] => foreign::run(foreign::Form::Quick),
        ["mutants", words @ ..] => mutants::run(words),
        ["page"] => page::run(None),
        ["page", file] => page::run(Some(file)),
        ["python"] => python::run(),
        ["python", "spark"] => python::spark(),
        ["python", "compare"] => python::compare(),
        ["pipes", words @ ..] => pipes::run(words),
        ["wheels"] => python::wheels(),
        ["peers", words @ ..] => peers::run(words),
        ["data"] => data::run(data::RebuiltTables::Routes, OutputMode::Write),
        ["data", "--check"] => data::run(data::RebuiltTables::Routes, OutputMode::Check),
        ["data", "default-table"] => {
            data::run(data::RebuiltTables::Default(None), OutputMode::Write)
        }
        ["data", "default-table", "--check"] => {
            data::run(data::RebuiltTables::Default(None), OutputMode::Check)
        }
        ["data", "default-table", version] => {
            data::run(data::RebuiltTables::Default(Some(version)), OutputMode::Write)
        }
        ["dist"] => dist::run(None),
        ["dist", target] => dist::run(Some(target)),
        ["docs"] => docs::run(false),
        ["docs", "--check"] => docs::run(true),
        ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            Ok(true)
        }
        [] => Err("no command given; `cargo xtask help` lists them".into()),
        other => {
            Err(format!("unknown command `{}`; `cargo xtask help` lists them", other.join(" "))
                .into())
        }
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::from(2)
        }
    }
}
