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
//! store. Folio, Poptrie, DXR, DIR-24-8 and Tree Bitmap are patched so. Any other engine is compiled again,
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
//! 5. Readers take no lock, try nothing twice and allocate nothing. A call reads the epoch and where
//!    the table is; then each address reads at most as many words as in a table that does not change:
//!
//!    | engine | words an address at most | IPv4 | IPv6 |
//!    |---|---|---|---|
//!    | Folio | one a cut, one for a next hop without a code of its own | 4 (`cuts=17-24-32`) | 1 + cuts |
//!    | Poptrie | a direct entry, a node for each 6 bits below, a leaf | 5 (`s=18`) | 21 (`s=18`) |
//!    | DXR | a direct entry or two, one for each halving of its chunk | 14 | 16 and more (`xl`) |
//!    | DIR-24-8 | an entry, one more for each 8 bits below | 2 | 14 |
//!    | Tree Bitmap | where the root is, a node for each stride, a result | 8 (`stride=6`) | 24 |
//!    | SAIL | | 4 | |
//!    | Spider | an entry, one more for each 8 bits below | 3 | 15 |
//! 6. A commit that fails leaves routes and table as after the last one that did not.
//! 7. When no reader holds anything, all retired memory can be used again: [`Writer::reclaim`]
//!    returns 0.
//! 8. A reader that panics, is leaked with its guard, or outlives the writer does no harm, but for
//!    this: a reader that is leaked while it holds a guard, or holds one for ever, keeps what is
//!    retired from being used again.
//!
//! An engine that is compiled again takes its time. `Batcher` (with the feature `std`) commits in a
//! thread of its own, a batch at a time, no sooner than an interval after the one before; what
//! arrives meanwhile is in the next one.
//!
//! For users with values, [`Table::live`](crate::Table::live) makes a [`TableWriter`]: both families,
//! and values of any type, which a reader's guard keeps alive. The id of a value that no route has
//! any more is another value's only after every reader of that time has ended or reported, and the
//! value is dropped, by the writer, after another such time. So a [`TableView`] never finds another
//! value than that of the route, and no id, from wherever it is, leads to one that is gone.
//!
//! Retired memory has a limit ([`Writer::set_retired_limit`]). Until it is reached the writer
//! neither waits for readers nor fails because of them; then commits are refused.

#[cfg(feature = "std")]
mod batcher;
mod error;
mod reader;
pub(crate) mod reclaim;
pub(crate) mod shared;
#[cfg(test)]
mod tests;
mod writer;

#[cfg(feature = "std")]
pub use batcher::{Batcher, BatcherError};
pub use error::UpdateError;
pub use reader::{Guard, Reader, Resident};
pub(crate) use writer::RETIRED_LIMIT;
pub use writer::{Commit, Writer};

pub use crate::engine::Replaced;
