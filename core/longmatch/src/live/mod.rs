//! Tables that change while readers look up: one writer and many readers that never wait.
//!
//! ```
//! use longmatch::{EngineKind, IpPrefix, Table};
//! let mut writer = Table::new().live(EngineKind::Folio)?;
//! let mut reader = writer.reader();
//! let looking = std::thread::spawn(move || reader.pin().lookup([192, 0, 2, 9]).copied());
//!
//! writer.insert("192.0.2.0/24".parse::<IpPrefix>()?, "office")?;
//! writer.commit()?;
//! // The reader thread sees the table before or after the commit.
//! assert!([None, Some("office")].contains(&looking.join().unwrap()));
//! assert_eq!(writer.reader().pin().lookup([192, 0, 2, 1]), Some(&"office"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Table::live`](crate::Table::live) makes the writer, of both families and values of any type. A table whose
//! values are numbers of next hops is a `Table<u32>`.
//!
//! # How it works
//!
//! The [`TableWriter`] owns the routes and each engine's write side: its allocator and its accounts.
//! Readers hold the arrays that lookups read. A commit builds new parts in memory that no entry
//! leads to yet, then replaces the entries that lead to the old parts, each with one store. Folio,
//! Poptrie, DXR, DIR-24-8 and Tree Bitmap are patched in this way. Any other engine is compiled
//! again, and the pointer to it is replaced. A patched engine is also compiled again after as many
//! changes as it has routes, because its plan may no longer fit the table.
//!
//! The old parts are retired: their memory is reused when every reader that was online at the time
//! has gone offline or announced a quiescent state. Each reader records this in its own slot, which only the writer
//! reads (`reclaim.rs` has the argument).
//!
//! A [`TableReader`] is used in one of two ways. [`TableReader::pin`] is for occasional lookups: it costs a
//! fence. [`TableReader::online`] is for threads that mostly look up: between
//! batches they announce a quiescent state ([`OnlineTableReader::quiescent`]), at the cost of a load and a
//! store.
//!
//! # Guarantees
//!
//! A call is the time from pinning, or from [`OnlineTableReader::table`], to the end of the lookups.
//!
//! 1. Every lookup, and every address of a batch, gets its answer from a version of the table that was
//!    current at some moment of the call. A version is the result of a commit.
//! 2. An answer is one that was stored, never a mixture.
//! 3. Under one guard, a table that is compiled again for each commit keeps its version. In a
//!    patched table, an address is never answered by an older version than before.
//! 4. A call that begins after [`TableWriter::commit`] has returned sees the commit.
//! 5. Readers take no lock, retry nothing and allocate nothing. A call reads the epoch and the
//!    pointer to the table; then each address reads at most as many words as in a frozen table, which
//!    the page of [its engine](crate::EngineKind) bounds.
//! 6. A failed commit leaves routes and table as they were after the last successful one.
//! 7. When no reader is online, all retired memory can be reused: [`TableWriter::reclaim`] returns 0.
//! 8. A reader may panic or outlive the writer. A guard that is leaked, or held for ever, blocks the
//!    reuse of retired memory.
//!
//! A reader's guard keeps values alive. When no route has a value any more, its id is reused only
//! after every reader online at that time has gone offline or announced a quiescent state, and the writer drops the value after a second such grace period. So a
//! [`TableView`](crate::TableView) always finds the value of the route, and an id from any
//! source never leads to a dropped value. With [`Answers::Routes`](crate::Answers::Routes) an id
//! identifies a route, with its prefix and value, in the same way; a route that gets another value gets
//! another id.
//!
//! Retired memory has a limit ([`TableWriter::set_retired_limit`]). Below it the writer neither waits
//! for readers nor fails because of them; above it commits are refused.
//!
//! [`TableWriter`]: crate::TableWriter
//! [`TableReader`]: crate::TableReader
//! [`TableReader::pin`]: crate::TableReader::pin
//! [`TableReader::online`]: crate::TableReader::online
//! [`OnlineTableReader::quiescent`]: crate::OnlineTableReader::quiescent
//! [`OnlineTableReader::table`]: crate::OnlineTableReader::table
//! [`TableWriter::commit`]: crate::TableWriter::commit
//! [`TableWriter::reclaim`]: crate::TableWriter::reclaim
//! [`TableWriter::set_retired_limit`]: crate::TableWriter::set_retired_limit

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
#[doc(hidden)]
pub use batcher::{Batcher, BatcherError};
pub use error::UpdateError;
#[doc(hidden)]
pub use reader::{Guard, OnlineReader, Reader};
pub(crate) use writer::RETIRED_LIMIT;
#[doc(hidden)]
pub use writer::{Commit, Writer};

#[doc(hidden)]
pub use crate::engine::Replaced;
