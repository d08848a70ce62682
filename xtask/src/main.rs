//! Developer commands of the workspace, run as `cargo xtask COMMAND`.
//!
//! This file only dispatches. Each command has its own module and returns whether all of its steps passed; an `Err`
//! means that the command could not do its work.

mod api;
mod asm;
mod beside;
mod columnar;
mod cpu;
mod data;
mod dist;
mod docs;
mod dpdk;
mod foreign;
mod large;
mod layers;
mod lint;
mod mutants;
mod packages;
mod page;
mod peers;
mod pipes;
mod prove;
mod python;
mod report;
mod sanitize;
mod targets;
mod test;
mod toy;
mod workspace;

use std::process::ExitCode;

const HELP: &str = "\
Usage: cargo xtask COMMAND

Commands:
  lint           formatting, clippy, documentation, layers, file lengths and packages, with warnings as errors
  test           every test in its quick form, the targets and the least compiler, the quick verification of all engines, page, asm,
                 sanitize, foreign --quick, python and python spark
  python         build the Python package into a virtual environment below target/python, and run its tests (fetches packages)
  python spark   test the recipe for Spark on a cluster of two workers on this machine (needs Java; fetches packages)
  python compare measure the Python package beside other packages, and the recipe for Spark, and write
                 docs/results/published/python.ndjson (fetches packages; half an hour, on an idle machine)
  pipes [ARGUMENT...]
                 measure `longmatch annotate`, `lookup` and `set` beside other programs for the same jobs, and write
                 docs/results/published/pipes.ndjson (fetches packages; ten minutes, on an idle machine; needs the data
                 directory, as below, for `set`; compares with grepcidr where it is installed). Arguments go to
                 core/longmatch-cli/compare/compare.py
  wheels         build the sdist and the manylinux wheels of the Python package, into target/wheels (fetches packages)
  test ENGINE    the tests of one engine, such as poptrie: its own, the suite, key layouts, small tables and guard pages
  api            compare the library's public items with testdata/api/longmatch.txt, and find items without an example
  api --bless    rewrite testdata/api/longmatch.txt with the current items
  asm            compare the machine code of the kernels' loops with testdata/asm (x86-64 Linux)
  asm --bless    rewrite testdata/asm with the current counts
  prove          the full forms of the tests, and the full verification: every engine on every address of the embedded tables
                 and of each table of the data directory (environment variable LONGMATCH_DATA, or ../shared/data
                 beside the repository)
  sanitize       tests of live tables under ThreadSanitizer and in Miri, if the nightly toolchain has them
  foreign        tests of the library on other architectures, one of them big-endian, in an emulator (qemu-user)
  foreign --quick
                 the same without the library's own tests, as in `test`
  mutants [WORD...]
                 mutation tests of the RIB and of live tables: apply each mutant of xtask/src/mutants, or those with a WORD in their
                 names or files, to a copy of the sources, and fail if the tests pass with it
  page           make a report on the embedded tables, and check its page in a browser (Chromium), at the widths of
                 phones and screens and in print
  page FILE      the same for another page
  peers [NAME...]
                 build the adapters of the named peers, or all that can be built here, into target/peers, where
                 `longmatch report` looks for them (fetches packages)
  peers --check [NAME...]
                 compare the answers of the built adapters with the oracle; LONGMATCH_DATA as above adds large tables
  data           rebuild the embedded tables data/ipv4.txt.zst and data/ipv6.txt.zst (needs a network, a C
                 compiler and Go)
  data --check   rebuild the tables in memory only and compare them with the files in data/
  data default-table [VERSION]
                 rebuild the default table of `lookup` and `annotate`, data/asn.lm.zst, from the version of its source that
                 it has, or from VERSION, and write its date and data/PROVENANCE.md (needs a network, a C compiler and npm)
  data default-table --check
                 the same, but compare with the files in data/
  dist           build the release for this machine's target, and write its archive, with manual pages, completion scripts and
                 licences, and its checksum into target/dist; the same files give the same bytes
  docs           write the published numbers, from the records in docs/results/published: the generated blocks of README.md, of
                 the guides in docs and of the engines' READMEs, and the picture in docs/pictures
  docs --check   write nothing, and name each file that differs
  help           print this text

Exit code: 0 if all passed, 1 if a step failed, 2 if the command line was wrong or the work could not start.
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match args.as_slice() {
        ["lint"] => lint::run(),
        ["test"] => test::run(),
        ["test", engine] => test::run_engine(engine),
        ["api"] => api::run(api::Mode::Check),
        ["api", "--bless"] => api::run(api::Mode::Bless),
        ["asm"] => asm::run(asm::Mode::Check),
        ["asm", "--bless"] => asm::run(asm::Mode::Bless),
        ["prove"] => prove::run(),
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
        ["data"] => data::run(data::Tables::Routes, data::Mode::Write),
        ["data", "--check"] => data::run(data::Tables::Routes, data::Mode::Check),
        ["data", "default-table"] => data::run(data::Tables::Default(None), data::Mode::Write),
        ["data", "default-table", "--check"] => {
            data::run(data::Tables::Default(None), data::Mode::Check)
        }
        ["data", "default-table", version] => {
            data::run(data::Tables::Default(Some(version)), data::Mode::Write)
        }
        ["dist"] => dist::run(),
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
