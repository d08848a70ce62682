//! Longest-prefix match for IPv4 and IPv6: which of a million prefixes is the longest one that
//! covers this address?
//!
//! ```
//! use longmatch::{EngineKind, IpPrefix, Table};
//!
//! let mut table = Table::new();
//! table.insert("10.0.0.0/8".parse::<IpPrefix>()?, "office")?;
//! table.insert("10.9.0.0/16".parse::<IpPrefix>()?, "lab")?;
//! assert_eq!(table.lookup([10, 9, 1, 1]), Some(&"lab"));
//!
//! let fast = table.freeze(EngineKind::Auto)?; // compiled for lookups by the million
//! assert_eq!(fast.lookup([10, 1, 2, 3]), Some(&"office"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to start
//!
//! | you want | use |
//! |---|---|
//! | prefixes of both families to values of your own | [`Table`], then [`Table::freeze`]; [`table`] has its iterators |
//! | one family, next hops as numbers, any engine | [`Rib`] and [`Fib`] |
//! | the engine that suits the table best, or with little memory | [`EngineKind::Auto`], [`engine::auto`] |
//! | one engine, no indirection | [`engine::folio::Folio`] and its neighbours, through [`Engine`] and [`Lookup`] |
//! | many addresses at once | `lookup_batch` of any of these |
//! | the matched prefix from a compiled table, also in batches | [`Answers::Routes`] |
//! | many addresses in network order, or IPv6 as pairs of `u64` | `lookup_keys` of any of these, and [`Keys`] |
//! | the routes themselves: covers, subtrees, ranges, aggregation | [`Rib`] |
//!
//! The same name means the same in every type: `get` an exact match, `get_lpm` the longest match with
//! its prefix, `lookup` its value alone, `cover` all matches, `children` a subtree. A `_batch` looks up
//! many addresses, and `lookup_bits` one that is an integer.
//!
//! Routes live in a [`Rib`], which is the truth; engines are compiled from it and can be verified
//! against it ([`Engine::check`]). A table that exceeds an engine's limits is a [`CompileError`],
//! never a wrong answer.
//!
//! # When not to use it
//!
//! For a handful of prefixes that change with every packet, scan them. For exact matches use a hash
//! map. A compiled engine does not follow its RIB: after a change compile again (one million routes
//! take some tens of milliseconds), or use an engine that a writer updates under its readers
//! ([`live`]).
//!
//! # Features
//!
//! - `std` (default): without it the crate is `no_std` and needs `alloc`.
//! - `folio` (default), `dir24-8`, `dxr`, `poptrie`, `radix`, `sail`, `spider`, `tree-bitmap`: a
//!   lookup engine each. [`EngineKind::Auto`] chooses among those that are compiled in; to compile
//!   another is [`CompileError::NotCompiled`]. Folio suits nearly every table best. Where memory is
//!   limited, add `poptrie` or `dxr`.
//! - `all-engines`: all of them.
//! - `ipnet`: conversions from and to the types of the `ipnet` crate.
//! - `serde`: serialization of [`Prefix`], [`IpPrefix`], [`NextHopId`] and [`Table`].
//!
//! A program that depends on one engine compiles in a fraction of the time:
//!
//! ```toml
//! longmatch = { version = "0.1", default-features = false, features = ["std", "poptrie"] }
//! ```

#![cfg_attr(not(any(feature = "std", test)), no_std)]
// Each of the tools that engines share is used by some engine: with all of them nothing may be unused.
#![cfg_attr(not(feature = "all-engines"), allow(dead_code, unused_imports))]

extern crate alloc;

pub mod engine;
mod fib;
pub mod live;
mod mem;
mod net;
mod rib;
pub mod simd;
pub mod table;

pub use engine::{
    CompileError, Corrupt, Engine, EngineKind, EngineSpec, EngineVisitor, Engines, KeyLayout, Keys,
    Lookup, NamedEngines, OptionError, Structure, UnknownEngine,
};
pub use fib::{Fib, LiveFib};
pub use live::UpdateError;
pub use mem::{MemoryPart, MemoryUsage, parse_bytes};
pub use net::{
    Bits, Change, Family, IpPrefix, Ipv4, Ipv6, NextHopId, NextHops, NextHopsFull, Outcome,
    ParsePrefixError, Prefix, PrefixError, Route,
};
pub use rib::{Block, Coalesced, Cover, Iter, Range, Ranges, Rib, RibFull, Slots};
pub use simd::Unsupported;
pub use table::{
    Addresses, Answers, FrozenTable, InsertError, OnlineTableReader, Refused, Table, TableGuard,
    TableReader, TableSpec, TableView, TableWriter,
};
