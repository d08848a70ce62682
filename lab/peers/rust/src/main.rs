//! Longest-prefix match crates as peers of longmatch: `rust PEER`.

mod counting;
mod protocol;
mod tables;

use std::process::ExitCode;

use protocol::serve;
use tables::{IpNetworkTable, Poptrie, PrefixTrie, TsBart};

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

fn main() -> ExitCode {
    let name = std::env::args().nth(1);
    let served = match name.as_deref() {
        Some("prefix-trie") => serve::<PrefixTrie>("prefix-trie 0.10.1, keys are ipnet's"),
        Some("ip_network_table") => serve::<IpNetworkTable>("ip_network_table 0.2.0"),
        Some("poptrie-crate") => serve::<Poptrie>("poptrie 0.2.1 of crates.io, keys are integers"),
        Some("ts_bart") => serve::<TsBart>("ts_bart 0.6.1, table of both families"),
        _ => {
            eprintln!("usage: rust prefix-trie|ip_network_table|poptrie-crate|ts_bart");
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
