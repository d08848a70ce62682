//! Longest-prefix match crates as peers of longmatch: `rust prefix-trie|ip_network_table|poptrie-crate`.

mod counting;
mod protocol;
mod tables;

use std::process::ExitCode;

use protocol::serve;
use tables::{IpNetworkTable, Poptrie, PrefixTrie};

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

fn main() -> ExitCode {
    let name = std::env::args().nth(1);
    let served = match name.as_deref() {
        Some("prefix-trie") => serve::<PrefixTrie>("prefix-trie 0.10.1, keys are ipnet's"),
        Some("ip_network_table") => serve::<IpNetworkTable>("ip_network_table 0.2.0"),
        Some("poptrie-crate") => serve::<Poptrie>("poptrie 0.2.1 of crates.io, keys are integers"),
        _ => {
            eprintln!("usage: rust prefix-trie|ip_network_table|poptrie-crate");
            return ExitCode::from(2);
        }
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("standard input or output: {error}");
            ExitCode::FAILURE
        }
    }
}
