//! A packet filter on longmatch's tables inside the Linux kernel: lists of prefixes with actions, by XDP or tc.
//!
//! - [`Policy`] has the lists and their actions, and decides about a packet by the lists that have its addresses.
//! - [`Content`] has the addresses of the lists. They are merged into one table of classes for the source and one for the
//!   destination: a class is a set of lists. So the kernel makes one lookup for each address, whatever the number of lists.
//! - `Filter` (on 64-bit Linux) is a filter in the kernel. A pair of classes is a cell, with one count and one verdict: the
//!   program adds one count for a packet, and the counts of all lists are sums over cells.
#![deny(unsafe_code)]

mod content;
mod counts;
mod policy;

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod error;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod filter;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod layout;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod netlink;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod program;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod running;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod safety;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod state;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod tables;

pub use content::{Addresses, Classes, Content, End, Part, Parts, TooManyClasses};
pub use counts::{Counts, ListCounts, Total};
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub use error::FilterError;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub use filter::{Filter, Found, Hook, Setup};
pub use policy::{Action, Cause, Decision, List, MAX_LISTS, Mask, Match, Policy, SAFE, SCOPE};
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub use running::{About, Lock, Running, Start, XdpMode, is_bpf_file_system};
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub use safety::{Safety, safety};
