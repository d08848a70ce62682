//! `longmatch forward` from end to end.

mod captures;
mod counts;
// The tests of captures, which other systems have too, need a part of it.
#[cfg_attr(not(all(target_os = "linux", target_pointer_width = "64")), allow(dead_code))]
mod frames;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod network;
