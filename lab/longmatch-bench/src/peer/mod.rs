//! Peers: other implementations, measured in processes of their own.
//!
//! A [`Peer`] is a child process that follows the protocol of `docs/peers.md`: it reads commands
//! from standard input, answers each with one line on standard output, and exchanges tables,
//! addresses and answers in files. Every answer is limited in time and size and is validated.

mod client;
mod command;
mod error;
mod files;
mod known;
mod process;
mod reply;
mod target;

pub use client::{PEER_LIMIT, Peer};
pub use command::PeerCommand;
pub use error::{PeerError, PeerFault};
pub use files::{peer_directory_name, remove_stale_directories};
pub use known::{KnownPeer, known_peers};
pub use reply::{PeerHello, PeerLoaded};
pub use target::PeerEngine;
