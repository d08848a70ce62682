//! Tables that change while they answer: one writer, many readers, who never wait.
//!
//! ```
//! use longmatch::live::Writer;
//! use longmatch::{Change, EngineKind, Ipv4, NextHopId, Rib, Route};
//! let mut writer = Writer::<Ipv4>::new(Rib::new(), EngineKind::Folio)?;
//! let mut reader = writer.reader();
//! let looking = std::thread::spawn(move || reader.pin().lookup("192.0.2.9".parse().unwrap()));
//!
//! let prefix = "192.0.2.0/24".parse()?;
//! let next_hop = NextHopId::new(5).unwrap();
//! writer.apply(Change::Announce(Route { prefix, next_hop }))?;
//! writer.commit()?;
//! // The thread looked before or after: it saw no route, or this one.
//! assert!([None, Some(next_hop)].contains(&looking.join().unwrap()));
//! assert_eq!(writer.reader().pin().lookup("192.0.2.1".parse()?), Some(next_hop));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How it works
//!
//! The [`Writer`] owns the routes and the write side of the engine: its allocator and its accounts.
//! Readers see the arrays that lookups read. A commit builds what is new aside, where no entry
//! leads yet, and then replaces the entries that lead to what was there before, each with one
//! store. An engine that cannot be changed so (today all but Folio and Poptrie) is compiled again,
//! and the pointer to it is replaced. So is a patched one after as many changes as it has routes, as
//! it may be another table than its plan was made for.
//!
//! What the entries led to before is retired: it is used again when every reader that was reading
//! then has ended or reported. Readers say so in words of their own, which only the writer looks
//! at (`reclaim.rs` has the argument).
//!
//! A [`Reader`] is used in one of two ways. [`Reader::pin`] is for lookups now and then: it costs a
//! fence. [`Reader::stay`] is for threads that do nothing else: they report between batches, with a
//! load and a store.
//!
//! # What is promised
//!
//! A call is what a reader does from pinning on, or from taking the table of a [`Resident`].
//!
//! 1. Every lookup, and every address of a batch, is answered by a version of the table that was
//!    current at some moment of the call. A version is what a commit has made.
//! 2. An answer is one that was stored, never a mixture.
//! 3. Under one guard, a table that is compiled again for each commit stays the same version. In
//!    one that is patched, an address is never answered by an older version than before.
//! 4. A call that begins after [`Writer::commit`] has returned sees the commit.
//! 5. Readers take no lock, try nothing twice and allocate nothing; they read as much as in a table
//!    that does not change.
//! 6. A commit that fails leaves routes and table as after the last one that did not.
//! 7. When no reader holds anything, all retired memory can be used again: [`Writer::reclaim`]
//!    returns 0.
//! 8. A reader that panics, is leaked with its guard, or outlives the writer does no harm, but for
//!    this: a reader that is leaked while it holds a guard, or holds one for ever, keeps what is
//!    retired from being used again.
//!
//! Retired memory has a limit ([`Writer::set_retired_limit`]). Until it is reached the writer
//! neither waits for readers nor fails because of them; then commits are refused.

mod limbo;
mod patch;
mod reader;
mod reclaim;
mod shared;
mod sync;
#[cfg(test)]
mod tests;
pub(crate) mod word;
mod writer;

pub(crate) use limbo::Limbo;
pub(crate) use patch::{CannotPatch, Patch};
pub use patch::{LiveEngine, Replaced};
pub use reader::{Guard, Reader, Resident};
pub use writer::{Commit, Writer};
