//! `longmatch-forward` as a router between two hosts, each machine a network namespace.
//!
//! The tests need root, `ip` and AF_XDP; without them they say `skipped` and succeed. They run one
//! after another.

mod addresses;
mod agreement;
mod answers;
mod bypass;
mod child;
mod churn;
mod daemons;
mod ends;
mod events;
mod flow;
mod identical;
mod net;
mod offload;
mod programs;
mod scenarios;
mod service;
mod stalls;
mod steady;
mod streams;
mod table;
#[path = "../../../../longmatch-forward/tests/network/wire.rs"]
mod wire;
