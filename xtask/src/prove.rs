//! `cargo xtask prove`: the full form of the slow tests of `cargo xtask test`, and verification on tables too large for
//! the repository.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cpu;
use crate::data_dir::{self, file};
use crate::foreign;
use crate::steps::{CommandResult, Steps};
use crate::toy;
use crate::workspace::{cargo, lab, target};

/// The tables. Each adds a property that the others lack: size, many next hops, long prefixes, a default route, IPv6.
const TABLES: [&str; 8] = [
    "ipv4-full",
    "ipv4-full-origin-asn",
    "ipv4-pch2015-truenh",
    "ipv4-wide2010-neighbour-as",
    "ipv4-linx2017-truenh",
    "ipv6-full",
    "ipv6-full-origin-asn",
    "ipv6-linx2017-truenh",
];

/// Races of readers with a writer, long churn, many schedules of the models, and all small tables: the tests marked
/// `ignore`.
const IGNORED: &str = "test --release --no-fail-fast --package longmatch --features file --lib --test file \
                       --test live --test live_routes --test shuttle --test small_universe \
                       -- --ignored --nocapture";

/// Many mutations of files with prefix data.
const DAMAGE: &str = "test --release --package longmatch-feed --test data -- --ignored --nocapture";

/// The library's tests without the standard library. `cargo xtask test` only compiles the library this way;
/// `--all` runs its tests on another architecture if possible.
const WITHOUT_STD: &str = "test --package longmatch --no-default-features --no-fail-fast";

/// The scanners on millions of texts, MaxMind DBs of random, embedded and full tables, and a stream of 10 GB through
/// `longmatch annotate`, with `LONGMATCH_PROVE` set. The tests of MaxMind DBs use the data directory too.
const STREAMS: [&str; 3] = [
    "test --release --package longmatch-feed --test scan",
    "test --release --package longmatch-feed --test mmdb -- --nocapture",
    "test --release --package longmatch-cli --test cli annotate",
];

/// The forwarder with full tables, and half an hour of steady change, with `LONGMATCH_PROVE` set. The tests use the data
/// directory too. Those that need root, namespaces or routing daemons say so and are skipped without.
const NETWORK: &str = "test --release --package longmatch-router --test cli network -- --nocapture";
const FILTER: &str = "test --release --package longmatch-filter --test reference --test network";
const BPF: &str = "test --release --package longmatch-bpf --test kernel -- --ignored --nocapture";
const CAPI: &str = "test --release --package longmatch-capi --test calls -- --ignored --nocapture";
const KERNEL: &str =
    "test --release --package longmatch-forward --test kernel -- --ignored --nocapture";

/// Real days of updates: the routes, the updates, the number of updates between two of eight comparisons of every
/// address (for IPv6, of addresses inside every range).
const DAYS: [[&str; 3]; 2] =
    [["ipv4-full", "ipv4-updates", "154825"], ["ipv6-full", "ipv6-updates", "137582"]];

/// Variants of Folio beside its own choice, which `all` has: codes of every width that all tables have, and the kinds of
/// blocks by force. A table of one family leaves out those of the other.
const VARIANTS: &str = "folio:codes=32,folio:codes=24:flat=yes,folio:s=14:lists=0,\
                        folio:lists=none:entries=0:ahead=yes,folio:s=20:lists=4:entries=4,\
                        folio:codes=8:leaves=lines,folio:codes=book,folio:codes=16:steps=1,\
                        folio:codes=list:steps=2:leaves=codes,folio:steps=3:leaves=lines";
/// A variant for `TABLES` only: it refuses a million IPv6 subscribers, because it cannot number their entries.
const OF_BGP: &str = "folio:codes=book:leaves=minis";

/// The program of the data directory that makes tables of other kinds. All engines are verified on those of `SHAPED`, and
/// the default engine on those of `GROWN`, for which some engines take gigabytes.
const SHAPES: &str = "shapes.py";
const SHAPED: [&str; 9] = [
    "ipv4-blocklist",
    "ipv4-hosts",
    "ipv4-bgp-and-hosts",
    "ipv4-subscribers",
    "ipv4-firewall-1000",
    "ipv6-hosts",
    "ipv6-subscribers-64",
    "ipv6-delegations-56",
    "ipv6-firewall-1000",
];
const GROWN: [&str; 2] = ["ipv4-ten-million", "ipv6-five-million"];

/// Synthetic tables from the first one, as in the Poptrie paper, to reach the limits of structures.
const SYNTHETIC: [&str; 2] = ["syn1", "syn2"];

/// The parts, in the order in which all are run.
pub const PARTS: [&str; 6] = ["library", "streams", "network", "foreign", "embedded", "tables"];

/// Runs the tests that take minutes and replays real days of updates; then verifies every engine on the embedded tables
/// and on each available table, every address at the best SIMD level and every range at the others. Returns whether all
/// agree. (`longmatch-lab verify --simd all` tests every address at each level, which takes hours.) With the name of a
/// part, runs this part only.
///
/// # Errors
/// If the named data directory does not exist, or has none of the tables; or if no part has the name.
pub fn run(part: Option<&str>) -> CommandResult {
    if let Some(part) = part.filter(|part| !PARTS.contains(part)) {
        return Err(format!("no part `{part}`; the parts are {}", PARTS.join(", ")).into());
    }
    let dir = data_dir()?;
    cpu::print_levels();
    let mut steps = Steps::default();
    for name in PARTS.into_iter().filter(|name| part.is_none_or(|part| part == *name)) {
        run_part(&mut steps, name, dir.as_deref());
    }
    Ok(steps.finish())
}

fn run_part(steps: &mut Steps, part: &str, dir: Option<&Path>) {
    // The tests that read large tables, or that have a longer form, are told so.
    let full = |arguments| {
        let mut command = cargo(arguments);
        command.env("LONGMATCH_PROVE", "1").envs(dir.map(|dir| (data_dir::VARIABLE, dir)));
        command
    };
    match part {
        "library" => {
            steps.command("live tables and small tables, full form", &mut cargo(IGNORED));
            steps.command("the C library under a writer, full form", &mut cargo(CAPI));
            steps.command("tests without default features", &mut cargo(WITHOUT_STD));
        }
        "streams" => {
            steps.command("damaged files with prefix data, full form", &mut cargo(DAMAGE));
            for arguments in STREAMS {
                steps.command(arguments, &mut full(arguments));
            }
        }
        "network" => {
            steps.command("forwarder in network namespaces, full form", &mut full(NETWORK));
            steps.command("the forwarder follows its kernel, full form", &mut cargo(KERNEL));
            steps.command("tables in the kernel, full form", &mut full(BPF));
            steps.command("packet filters in the kernel, full form", &mut full(FILTER));
        }
        "foreign" => foreign::run_steps(steps, foreign::Form::Full),
        "embedded" => {
            toy::run_steps(steps);
            let name = "all engines agree on both embedded tables, on every address";
            steps.command(name, &mut lab("verify"));
        }
        _ => match dir {
            Some(dir) => with_data(steps, dir),
            None => steps
                .skip("large tables", "no data directory (environment variable LONGMATCH_DATA)"),
        },
    }
}

/// The steps that need the data directory.
fn with_data(steps: &mut Steps, dir: &Path) {
    for [table, updates, every] in DAYS {
        let name = format!("engines that are patched follow {updates} over {table}");
        let (routes, updates) = (file(dir, table), file(dir, updates));
        if let Some(absent) = [&routes, &updates].into_iter().find(|path| !path.is_file()) {
            steps.skip(&name, &format!("absent: {}", absent.display()));
            continue;
        }
        // Without `--engine`: those that are patched, in forms that hold the table.
        let mut replay = lab("replay --full --readers 1 --verify-every");
        replay.args([every, "--routes"]).arg(&routes);
        steps.command(&name, replay.arg("--updates").arg(&updates));
    }
    let all = format!("all,{VARIANTS}");
    for table in TABLES {
        verify(steps, &format!("{all},{OF_BGP}"), table, &file(dir, table));
    }
    shapes(steps, &all, &dir.join(SHAPES));
    let first = file(dir, TABLES[0]);
    for split in SYNTHETIC.iter().filter(|_| first.is_file()) {
        let name = format!("all engines agree on {split} of {}", TABLES[0]);
        let mut verify = lab("verify --engine all --routes");
        steps.command(&name, verify.arg(&first).args(["--split", split]));
    }
}

/// Verifies engines on a table.
fn verify(steps: &mut Steps, engines: &str, table: &str, routes: &Path) {
    let name = format!("engines agree on {table}");
    if !routes.is_file() {
        steps.skip(&name, &format!("absent: {}", routes.display()));
        return;
    }
    let mut verify = lab("verify --engine");
    steps.command(&name, verify.args([engines, "--routes"]).arg(routes));
}

/// Makes the tables of other kinds, and verifies the engines on them.
fn shapes(steps: &mut Steps, all: &str, program: &Path) {
    let name = "tables of other kinds";
    if !program.is_file() {
        steps.skip(name, &format!("absent: {}", program.display()));
        return;
    }
    let made = target().join("shapes");
    steps.command(name, Command::new("python3").arg(program).arg(&made));
    let shaped = SHAPED.map(|table| (table, all));
    for (table, engines) in shaped.into_iter().chain(GROWN.map(|table| (table, "folio"))) {
        verify(steps, engines, table, &made.join(format!("{table}.txt")));
    }
}

/// Returns the directory with the large tables, if there is one.
///
/// # Errors
/// If the directory does not exist, or has none of the tables.
fn data_dir() -> Result<Option<PathBuf>, String> {
    let Some(dir) = data_dir::dir()? else { return Ok(None) };
    if TABLES.iter().any(|table| file(&dir, table).is_file()) {
        return Ok(Some(dir));
    }
    let first = file(&dir, TABLES[0]);
    Err(format!("none of the {} tables is there, such as {}", TABLES.len(), first.display()))
}
