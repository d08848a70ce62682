//! Comparison of every adapter that `cargo xtask peers` has built with the oracle.

mod common;

use std::env;
use std::path::PathBuf;
use std::time::Duration;

use common::{all_lengths, compare_answers, fresh_dir, in_repository, keys};
use longmatch::{Bits, Ipv4, Ipv6, NextHopId, Prefix, Rib, Table};
use longmatch_bench::{BenchFamily, KnownPeer, Peer, PeerCommand, known_peers};
use longmatch_feed::{Options, load_path};

/// Limit for an answer, which only a hanging peer exceeds.
const LIMIT: Duration = Duration::from_secs(1800);

/// Tables that are included if `LONGMATCH_DATA` names their directory.
const LARGE: [&str; 4] = ["ipv4-full", "ipv4-pch2015-truenh", "ipv6-full", "ipv6-linx2017-truenh"];

/// The name of a table, the table, and the number of keys of each kind.
type Case<F> = (&'static str, Rib<F>, usize);

/// Next-hop ids above this one exceed the limits of some implementations, which may refuse them.
const SMALL_ID: u32 = 1 << 24;

/// Small tables with every kind of edge.
fn edges<F: BenchFamily>(each: usize) -> Vec<Case<F>> {
    let hop = |id| NextHopId::new(id).unwrap();
    let mut default = Rib::new();
    default.insert(Prefix::DEFAULT, hop(9)).unwrap();
    let mut halves = default.clone();
    halves.insert(Prefix::from_bits_masked(F::Bits::MAX, 1), hop(4)).unwrap();
    let mut ends = Rib::new();
    ends.insert(Prefix::from_bits_masked(F::Bits::ZERO, F::WIDTH), hop(2)).unwrap();
    ends.insert(Prefix::from_bits_masked(F::Bits::MAX, F::WIDTH), hop(3)).unwrap();
    let random = all_lengths::<F>(each, 5000, 3);
    let mut without_default = random.clone();
    without_default.remove(Prefix::DEFAULT);
    vec![
        ("empty", Rib::new(), 1000),
        ("default route", default, 1000),
        ("default route and half", halves, 1000),
        ("first and last host", ends, 1000),
        ("all lengths", random, 20_000),
        ("all lengths but 0", without_default, 20_000),
        ("ids of 32 bits", all_lengths(2, u32::MAX, 4), 1000),
    ]
}

fn load(path: PathBuf) -> Table<Box<str>> {
    let mut table = Table::new();
    load_path(&path, &Options::default(), &mut table)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    table
}

/// The cases of both families.
fn cases() -> (Vec<Case<Ipv4>>, Vec<Case<Ipv6>>) {
    let (mut ipv4, mut ipv6) = (edges(300), edges(40));
    let mut files = ["ipv4", "ipv6"].map(|name| (in_repository("data"), name, 100_000)).to_vec();
    if let Some(dir) = env::var_os("LONGMATCH_DATA") {
        files.extend(LARGE.map(|name| (PathBuf::from(&dir), name, 1_000_000)));
    }
    for (dir, name, keys) in files {
        let path = dir.join(format!("{name}.txt.zst"));
        if !path.is_file() {
            println!("SKIPPED: {} does not exist", path.display());
            continue;
        }
        let table = load(path);
        if name.starts_with("ipv4") {
            ipv4.push((name, table.ipv4().clone(), keys));
        } else {
            ipv6.push((name, table.ipv6().clone(), keys));
        }
    }
    (ipv4, ipv6)
}

/// Whether the kernel's peers have refused, for lack of a permission or of a lookup for such addresses.
fn is_kernels(problem: &str) -> bool {
    problem.contains("refused: linux-")
        && (problem.contains("(needs ") || problem.contains("are never forwarded"))
}

/// Compares the answers of a peer for all cases and prints a line for each.
///
/// # Errors
/// A text with all wrong answers and failures.
fn answer<F: BenchFamily>(command: &PeerCommand, cases: &[Case<F>]) -> Result<(), String> {
    let start = || Peer::start(command, &fresh_dir(), LIMIT).map_err(|error| error.to_string());
    let mut peer = start()?;
    if !peer.has_family::<F>() {
        return Ok(());
    }
    println!("{}: {}", command.name, peer.hello().about);
    let mut wrong = Vec::new();
    for (name, rib, count) in cases {
        let title = format!("{}, {} {name}", command.name, F::NAME);
        let result = match peer.load(rib) {
            Ok(loaded) => {
                let keys = keys(rib, *count);
                let bytes = loaded.bytes.map_or("-".into(), |bytes| bytes.to_string());
                let seconds = loaded.build_ns as f64 / 1e9;
                compare_answers(&mut peer, rib, &keys).map(|()| {
                    format!("{} routes in {seconds:.3} s and {bytes} bytes: right", rib.len())
                })
            }
            Err(error) if rib.max_next_hop() > SMALL_ID && error.is_refusal() => {
                Ok(error.fault.to_string())
            }
            Err(error) => Err(error.to_string()),
        };
        match result {
            Ok(text) => println!("    {title}: {text}"),
            Err(problem) if is_kernels(&problem) => println!("    {title}: SKIPPED: {problem}"),
            Err(problem) => {
                println!("    {title}: WRONG: {problem}");
                wrong.push(format!("{title}: {problem}"));
                peer = start()?;
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// Whether `LONGMATCH_PEER_NAMES` contains the peer or is empty.
fn is_selected(peer: &KnownPeer) -> bool {
    let names = env::var("LONGMATCH_PEER_NAMES").unwrap_or_default();
    names.trim().is_empty() || names.split_whitespace().any(|name| name == peer.name)
}

#[test]
#[ignore = "needs adapters: `cargo xtask peers` builds them, and `cargo xtask peers --check` runs this"]
fn adapters_answer_like_the_oracle() {
    let dir = env::var_os("LONGMATCH_PEERS").map_or(in_repository("target/peers"), PathBuf::from);
    let (ipv4, ipv6) = cases();
    let mut wrong = Vec::new();
    for peer in known_peers().iter().filter(|peer| is_selected(peer)) {
        match peer.find(&dir) {
            Ok(command) => {
                wrong.extend(answer(&command, &ipv4).err());
                wrong.extend(answer(&command, &ipv6).err());
            }
            Err(text) => println!("SKIPPED: {}: {text}", peer.name),
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
