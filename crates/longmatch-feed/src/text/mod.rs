//! Routes as lines of text.
//!
//! Each line is classified on its own, so one file may mix the kinds:
//!
//! | line | meaning |
//! |---|---|
//! | `192.0.2.0/24 next-hop` | a route; a bare address is a host route |
//! | `A 192.0.2.0/24 next-hop` | an announcement, the same as the line above |
//! | `W 192.0.2.0/24` | a withdrawal |
//! | `default via 192.0.2.1 dev eth0 …` | `ip route` output, see [`ip_route`] |
//! | `TABLE_DUMP2\|…`, `BGP4MP\|…` | `bgpdump -m` output, see [`bgpdump`] |
//! | empty, `# …` | nothing |

mod address;
mod bgpdump;
mod ip_route;
mod line;
mod lines;
mod load;

pub use address::parse_address;
pub(crate) use lines::{Lines, LinesError};
pub(crate) use load::load;
