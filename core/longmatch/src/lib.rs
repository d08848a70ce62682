//! Longest-prefix match for IPv4 and IPv6: which of a million prefixes is the longest one that
//! covers this address?
//!
//! Routers, firewalls and log pipelines ask this for every packet or line. This crate has an ordered
//! map of prefixes, and the lookup structures of the field's papers behind one interface.
//!
//! ```
//! use longmatch::{EngineKind, IpPrefix, Table};
//!
//! let mut table = Table::new();
//! table.insert("10.0.0.0/8".parse::<IpPrefix>()?, "office")?;
//! table.insert("10.9.0.0/16".parse::<IpPrefix>()?, "lab")?;
//! assert_eq!(table.lookup([10, 9, 1, 1]), Some(&"lab"));
//!
//! let fast = table.freeze(EngineKind::Auto)?; // compiled for millions of lookups
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
//! | the engine for nearly every table, or one for little memory | [`EngineKind::Auto`], [`engine::auto`] |
//! | one engine, no indirection | [`engine::folio::v4::Folio4`], [`engine::folio::v6::Folio6`] and their neighbours, through [`Engine`] and [`Lookup`] |
//! | many addresses at once | `lookup_batch` of any of these |
//! | the matched prefix from a compiled table, also in batches | [`Answers::Routes`] |
//! | many addresses in network order, or IPv6 as pairs of `u64` | `lookup_keys` of any of these, and [`Keys`] |
//! | the routes themselves: covers, subtrees, ranges, aggregation | [`Rib`] |
//! | addresses without values: union, difference, fewest prefixes of lists | [`set`] |
//! | a table that changes while threads look up | [`Table::live`], [`live`] |
//! | many tables, such as VRFs, with mostly the same prefixes | [`table::TableSet`] |
//! | a compiled table as a file that processes share | the module `file`, with the feature `file` |
//!
//! A name has the same meaning in every type: `get` returns an exact match, `get_lpm` the longest match
//! with its prefix, `lookup` its value alone, `cover` all matches, `children` a subtree. Methods with
//! `_batch` look up many addresses, and `lookup_bits` looks up an address that is an integer.
//!
//! Routes live in a [`Rib`], which is the truth; engines are compiled from it and can be verified
//! against it ([`Engine::check`]). A table that exceeds an engine's limits is a [`CompileError`],
//! never a wrong answer.
//!
//! # A map of prefixes
//!
//! [`Table`] holds values of any type under prefixes of both families; [`Rib`] holds ids
//! ([`NextHopId`]) under prefixes of one family; a `Table` consists of two of them. Neither needs
//! compiling, and both answer more than the longest match:
//!
//! ```
//! use longmatch::{Ipv4, NextHopId, Prefix, Rib};
//!
//! let mut rib = Rib::<Ipv4>::new();
//! for (prefix, id) in [("0.0.0.0/0", 1), ("10.0.0.0/8", 2), ("10.9.0.0/16", 3)] {
//!     rib.insert(prefix.parse()?, NextHopId::new(id).unwrap())?;
//! }
//! let office: Prefix<Ipv4> = "10.0.0.0/8".parse()?;
//! assert_eq!(rib.get(office), NextHopId::new(2)); // exactly this prefix
//! assert_eq!(rib.get_lpm("10.9.1.1".parse()?).unwrap().prefix.len(), 16); // the longest match
//! assert_eq!(rib.cover(office).count(), 2); // the prefixes that cover it, its own included
//! assert_eq!(rib.children(office).count(), 2); // the prefixes inside, its own included
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Compiled tables
//!
//! A [`Fib`] is a [`Rib`] compiled for lookups by one of the engines: several times as fast for one
//! address, and faster still in batches, where many addresses wait for memory together. It answers
//! with ids. [`Table::freeze`] compiles one for each family and keeps the values.
//!
//! ```
//! use longmatch::{EngineSpec, Fib, Ipv4, NextHopId, Rib};
//!
//! let mut rib = Rib::<Ipv4>::new();
//! rib.insert("10.0.0.0/8".parse()?, NextHopId::new(1).unwrap())?;
//! let engine: EngineSpec = "auto:memory=4M".parse()?;
//! let fib = Fib::compile(&rib, engine)?;
//!
//! let packets = [[10, 1, 2, 3], [192, 0, 2, 1]]; // as on the wire
//! let mut ids = [None; 2];
//! fib.lookup_keys(&packets, &mut ids);
//! assert_eq!(ids, [NextHopId::new(1), None]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The matched prefix
//!
//! [`Table::get_lpm`] and [`Rib::get_lpm`] return it. An engine merges routes with equal ids, so it
//! answers with the id alone. In a table compiled with [`Answers::Routes`] an id identifies a route:
//!
//! ```
//! use longmatch::{Answers, EngineKind, IpPrefix, Table, TableSpec};
//! use std::net::Ipv4Addr;
//!
//! let office: IpPrefix = "10.0.0.0/8".parse()?;
//! let table = Table::from([(office, "office")]);
//! let fast = table.freeze(TableSpec::new(EngineKind::Auto).answers(Answers::Routes))?;
//! assert_eq!(fast.get_lpm([10, 1, 2, 3]), Some((office, &"office")));
//!
//! let addrs = [Ipv4Addr::new(10, 1, 2, 3), Ipv4Addr::LOCALHOST];
//! let mut found = [None; 2];
//! fast.get_lpm_batch(&addrs, &mut found);
//! assert_eq!(found.map(|it| it.is_some()), [true, false]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Tables that change under readers
//!
//! A compiled table does not follow its routes. A [`TableWriter`] keeps both in step: it changes
//! the routes and commits, while any number of readers look up without locks or waiting. [`live`]
//! states which changes readers see.
//!
//! ```
//! use longmatch::{EngineKind, IpPrefix, Table};
//!
//! let mut writer = Table::new().live(EngineKind::Poptrie)?;
//! let mut reader = writer.reader(); // one for each reading thread
//! writer.insert("10.0.0.0/8".parse::<IpPrefix>()?, "office")?;
//! writer.commit()?;
//! assert_eq!(reader.pin().lookup([10, 1, 2, 3]), Some(&"office"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # RPKI
//!
//! [`rov`] validates the origins of routes against the payloads of the RPKI (RFC 6811).
//!
//! # The engines
//!
#![doc = include_str!("engine/engines.md")]
//!
//! [`EngineKind::Auto`] is Folio, unless a memory limit excludes it; then it is the smallest engine that
//! fits. Prefer it unless a measurement favours another engine. An [`EngineSpec`] names an engine with
//! options, such as `poptrie:s=16` or `auto:memory=4M`. All engines give the same answers.
//!
//! # What to compile with
//!
//! Batches ([`Fib::lookup_batch`], [`FrozenTable::lookup_batch`]), [`Fib::lookup`] and
//! [`Lookup::lookup_each`] detect the CPU's instructions when the program runs ([`simd`]); they need
//! no build flags.
//!
//! [`Lookup::lookup_bits`] of an engine's own type is inlined into the caller's loop and compiled
//! with the caller's instructions. A build for the x86-64 baseline has no population count, and
//! takes a dozen instructions instead: an engine that counts bits loses a third or more. Compile
//! such a loop with `RUSTFLAGS="-C target-cpu=x86-64-v3"` (CPUs since about 2015) or
//! `-C target-cpu=native`, or look up batches.
//!
//! Million single lookups a second, baseline / `x86-64-v3`, of addresses inside random routes of full
//! tables (1,042,325 IPv4 and 246,175 IPv6 routes), on one core of an AMD EPYC (Zen 5, virtual), rustc
//! 1.95, 2026-11-24, medians of two or three runs of the example `single_lookups`. The rates of
//! `dir24_8`, `sail` and `spider` vary by half from run to run: their arrays exceed the L2.
//!
//! | engine | IPv4 | IPv6 |
//! |---|---|---|
//! | `folio` | 445 / 468 | 98 / 98 |
//! | `poptrie` | 136 / 226 | 35 / 61 |
//! | `tree_bitmap` | 27 / 43 | 15 / 21 |
//! | `dxr` | 100 / 101 | 12 / 12 |
//! | `dir24_8` | 318 / 503 | 44 / 43 |
//! | `sail` | 429 / 225 | |
//! | `spider` | 128 / 97 | 27 / 25 |
//! | `radix` | 4.4 / 4.2 | 4.8 / 4.8 |
//!
//! # When not to use it
//!
//! For a handful of prefixes that change with every packet, scan them. For exact matches use a hash
//! map. A compiled engine does not follow its RIB: after a change compile again (one million routes
//! take some tens of milliseconds), or use an engine that a writer updates under its readers
//! ([`live`]).
//!
//! # Errors and limits
//!
//! | failure | error | consequence |
//! |---|---|---|
//! | text that is not a prefix, a prefix with host bits | [`ParsePrefixError`], [`PrefixError`] | |
//! | a route or a value beyond a table's limit | [`RibFull`], [`NextHopsFull`], [`InsertError`] | the table is unchanged |
//! | a table beyond a limit of an engine, an option that it lacks | [`CompileError`] | [`EngineSpec::wider`] lists variants with wider limits |
//! | a change of a live table | [`UpdateError`] | the table answers as before |
//!
//! Every error has a stable number for bindings to other languages, an [`ErrorCode`].
//!
//! A table holds up to 500 million routes of a family; engines document their own limits. Lookups
//! have no errors, never allocate, and panic only if the slice for the answers is shorter than the
//! addresses.
//!
//! # Without the standard library
//!
//! Without the feature `std` the crate is `no_std` and needs `alloc`. It then lacks the trials of
//! [`engine::auto`], which need a clock. CPU features are still detected.
//!
//! | target | checks on each change |
//! |---|---|
//! | `x86_64-unknown-linux-gnu` | all tests, at every SIMD level of the CPU; the oldest supported compiler |
//! | `aarch64-unknown-linux-gnu`, `s390x-unknown-linux-gnu` | tests, emulated, without SIMD |
//! | `i686-unknown-linux-gnu` | tests, without SIMD |
//! | `wasm32-unknown-unknown` | every engine and a live table in Node.js; with `std` too, where threads, mapped files and trials are errors |
//! | `x86_64-unknown-none`, `thumbv7em-none-eabihf`, `riscv32imac-unknown-none-elf` | builds without `std` |
//!
//! Where the CPU has no 64-bit atomics (the last two), a [live](crate::live) table reuses memory for
//! its first four billion changes only; then commits are refused when the limit of retired memory is
//! reached, and a new writer is needed.
//!
//! # Where the numbers come from
//!
//! From the repository's command line tool. `longmatch-lab verify` compares every engine with an oracle
//! that shares no code with it, on all 2^32 IPv4 addresses and on every range of IPv6.
//! `longmatch-lab bench` measures rates on your tables and your CPU, and checks the answers before it
//! prints any; `docs/engines.md` has rates and memory of all engines, written from records.
//!
//! # Features
//!
//! - `std` (default): without it the crate is `no_std` and needs `alloc`.
//! - `folio` (default), and the name of each other [engine](EngineKind) but the oracle, with `-` for
//!   `_`: a lookup engine each. [`EngineKind::Auto`] chooses among those that are compiled in; any
//!   other engine is [`CompileError::NotCompiled`]. Folio suits most tables best. Where memory is
//!   limited, add `poptrie` or `dxr`.
//! - `all-engines`: all of them.
//! - `file`: compiled tables as files, mapped into memory.
//! - `ipnet`: conversions from and to the types of the `ipnet` crate.
//! - `serde`: serialization of [`Prefix`], [`IpPrefix`], [`NextHopId`] and [`Table`].
//!
//! A program that depends on one engine compiles in a fraction of the time:
//!
//! ```toml
//! longmatch = { version = "0.1", default-features = false, features = ["std", "poptrie"] }
//! ```
#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
// Each of the tools that engines share is used by some engine, by files, or by kernels for vectors, which only x86-64 has:
// with all of them nothing may be unused.
#![cfg_attr(
    not(all(feature = "all-engines", feature = "file", target_arch = "x86_64")),
    allow(dead_code, unused_imports)
)]

extern crate alloc;

pub mod engine;
mod error_code;
mod fib;
#[cfg(feature = "file")]
pub mod file;
pub mod live;
mod mem;
mod net;
mod rib;
pub mod rov;
pub mod set;
pub mod simd;
pub mod table;

pub use engine::{
    CompileError, Corrupt, Engine, EngineKind, EngineSpec, Engines, Keys, Lookup, OptionError,
    ParseSpecError, Structure, UnknownEngine,
};
#[doc(hidden)]
pub use engine::{EngineVisitor, KeyLayout, NamedEngines};
pub use error_code::ErrorCode;
pub use fib::{Fib, LiveFib};
pub use live::UpdateError;
pub use mem::{MemoryPart, MemoryUsage, parse_bytes};
pub use net::{
    Bits, Change, Family, IpPrefix, Ipv4, Ipv6, NextHopId, NextHops, NextHopsFull, Outcome,
    ParsePrefixError, Prefix, PrefixError, PrefixTextError, Route,
};
#[doc(hidden)]
pub use rib::{Block, Slots};
pub use rib::{Iter, Range, Ranges, Rib, RibFull};
pub use simd::Unsupported;
pub use table::{
    Addresses, Answers, FrozenTable, InsertError, OnlineTableReader, OwnedTableReader, Refused,
    Table, TableGuard, TableReader, TableSpec, TableView, TableWriter,
};
