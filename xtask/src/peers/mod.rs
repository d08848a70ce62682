//! `cargo xtask peers`: builds the adapters of `lab/peers/` into `target/peers`, where `longmatch-lab report` looks for them.
//!
//! Nothing outside that directory changes, except the package caches of cargo, go and pip. Everything is built for this
//! CPU, so that other implementations can use its best instructions.

mod build;

use std::path::{Path, PathBuf};

use crate::steps::{CommandResult, StepResult, Steps};
use crate::workspace::{cargo_test, root};

/// Lines of an adapter's file, a peer that it serves, and the peer's families.
const LIST: &str = include_str!("../../../lab/peers/list.txt");

/// One adapter.
struct Adapter {
    title: &'static str,
    /// The file whose presence means that the build is complete, as [`LIST`] names it.
    file: &'static str,
    build: fn(&Path) -> StepResult,
}

const ADAPTERS: [Adapter; 6] = [
    Adapter { title: "DPDK", file: "dpdk", build: build::dpdk },
    Adapter { title: "Linux", file: "kernel", build: build::kernel },
    Adapter { title: "Rust crates", file: "rust", build: build::rust },
    Adapter { title: "Go module", file: "go", build: build::go },
    Adapter {
        title: "Python package pytricia",
        file: "pytricia/adapter.py",
        build: |dir| build::python(dir, "pytricia", "1.3.0"),
    },
    Adapter {
        title: "Python package py-radix",
        file: "py-radix/adapter.py",
        build: |dir| build::python(dir, "py-radix", "1.1.0"),
    },
];

impl Adapter {
    /// Returns the names of the peers that it serves.
    fn peers(&self) -> Vec<&'static str> {
        peers().filter(|(file, _)| *file == self.file).map(|(_, peer)| peer).collect()
    }
}

/// Returns the file of the adapter and the name of each peer.
fn peers() -> impl Iterator<Item = (&'static str, &'static str)> {
    LIST.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        Some((words.next()?, words.next()?))
    })
}

/// Builds the adapters of these peers, or all; returns whether none failed. An adapter that cannot be built here is
/// skipped, with a list of the missing packages, unless it is named.
///
/// # Errors
/// If a name is unknown, or the directory cannot be created.
pub fn run(words: &[&str]) -> CommandResult {
    if let ["--check", names @ ..] = words {
        return check(names);
    }
    let dir = dir();
    std::fs::create_dir_all(&dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    let mut steps = Steps::default();
    for adapter in chosen(words)? {
        let name = format!("{}: {}", adapter.title, adapter.peers().join(", "));
        steps.step(&name, || match (adapter.build)(&dir) {
            StepResult::Skipped(why) if !words.is_empty() => StepResult::Failed(why),
            verdict => verdict,
        });
    }
    Ok(steps.finish())
}

/// Compares the answers of the named adapters, or of all built ones, with the oracle.
///
/// # Errors
/// If a name is unknown, or its adapter is not built.
fn check(names: &[&str]) -> CommandResult {
    for adapter in chosen(names)? {
        if !names.is_empty() && !is_built(adapter) {
            let name = adapter.peers().join(" or ");
            return Err(format!("{name} is not built: `cargo xtask peers` gives the reason").into());
        }
    }
    let mut steps = Steps::default();
    run_steps(&mut steps, names);
    Ok(steps.finish())
}

/// Runs the comparison as a step, for all peers if none is named; skipped if nothing is built.
pub fn run_steps(steps: &mut Steps, names: &[&str]) {
    let name = "peers answer as the oracle does";
    if !ADAPTERS.iter().any(is_built) {
        return steps.skip(name, "no adapter is built (`cargo xtask peers`)");
    }
    let mut test = cargo_test("--test adapters -- --include-ignored --nocapture");
    test.env("LONGMATCH_PEERS", dir()).env("LONGMATCH_PEER_NAMES", names.join(" "));
    steps.command(name, &mut test);
}

/// Returns the directory of the adapters.
fn dir() -> PathBuf {
    root().join("target/peers")
}

fn is_built(adapter: &Adapter) -> bool {
    dir().join(adapter.file).is_file()
}

/// Returns the adapters of these peers, each once; all if none is named.
fn chosen(names: &[&str]) -> Result<Vec<&'static Adapter>, String> {
    let known: Vec<_> = peers().map(|(_, peer)| peer).collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(name)) {
        return Err(format!("unknown peer `{unknown}`; the peers are {}", known.join(", ")));
    }
    let is_named = |adapter: &&Adapter| {
        names.is_empty() || adapter.peers().iter().any(|peer| names.contains(peer))
    };
    Ok(ADAPTERS.iter().filter(is_named).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_choose_adapters() {
        let titles = |names: &[&str]| -> Vec<_> {
            chosen(names).unwrap().iter().map(|adapter| adapter.title).collect()
        };
        assert_eq!(titles(&[]).len(), ADAPTERS.len());
        assert_eq!(titles(&["rte_fib", "bart", "rte_lpm"]), ["DPDK", "Go module"]);
        let unknown = chosen(&["bart", "bird"]).err().unwrap();
        assert!(unknown.contains("`bird`") && unknown.contains("rte_fib6"), "{unknown}");
    }

    #[test]
    fn every_listed_file_has_an_adapter_and_every_peer_is_documented() {
        let built: usize = ADAPTERS.iter().map(|adapter| adapter.peers().len()).sum();
        assert_eq!(built, LIST.lines().count());
        let text = std::fs::read_to_string(root().join("docs/peers.md")).unwrap();
        let (_, list) = text.split_once("| `cargo xtask peers` |").unwrap();
        let (list, _) = list.split_once("\n\n").unwrap();
        let names = list.split("\n| `").skip(1).filter_map(|rest| rest.split('`').next());
        assert!(names.eq(peers().map(|(_, peer)| peer)), "{list}");
    }
}
