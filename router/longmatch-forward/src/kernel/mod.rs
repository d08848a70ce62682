//! The kernel's routes, next hops and neighbours as a live table of [`Target`](crate::Target)s.
//!
//! A [`Follower`] reads the state of the kernel by rtnetlink, compiles it into a table, and keeps
//! the table equal to it while other threads look up in it. So `ip route`, FRR and BIRD configure
//! the forwarder as they configure the kernel.
//!
//! ```no_run
//! use std::time::Duration;
//! use longmatch::TableSpec;
//! use longmatch_forward::kernel::{Follower, ports};
//!
//! let ports = ports(&["eth0".into(), "eth1".into()])?;
//! let mut follower = Follower::new(&ports, TableSpec::default())?;
//! let mut reader = follower.reader();
//! std::thread::spawn(move || {
//!     println!("{:?}", reader.pin().lookup([192, 0, 2, 1]));
//! });
//! loop {
//!     follower.follow(Duration::from_secs(1))?;
//! }
//! # #[allow(unreachable_code)]
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Targets
//!
//! | route of the kernel | target |
//! |---|---|
//! | by routers on the links of ports | [`Group`](crate::Target::Group) of them |
//! | to the link of a port | [`OnLink`](crate::Target::OnLink); a known neighbour on it has a host route to it |
//! | `local` | [`Local`](crate::Target::Local) |
//! | `blackhole`, or by a blackhole next-hop object | [`Blackhole`](crate::Target::Blackhole) |
//! | any other: by other interfaces, by tunnels, with an MTU, `unreachable`, `broadcast`... | [`Kernel`](crate::Target::Kernel) |
//!
//! Where the kernel's choice depends on more than the destination, packets are the kernel's:
//! routes for a type of service or for some sources, and several IPv6 routes of equal metric that
//! are not hops of one route.
//!
//! Three routing tables count: `local`, `main` and `default`, in the kernel's order. A route in an
//! earlier table hides longer ones in later tables, as in the kernel.
//!
//! # Never out of step for long
//!
//! One socket receives changes and is open before the first dump begins, so that no change is
//! missed; those that arrive during a dump are applied after it. The kernel does not report every
//! change: messages are lost when the socket's buffer is full, IPv4 routes vanish silently with
//! their interface or address, and routes vanish silently with their next-hop object. Then all is
//! read again, and the differences become one commit: a route that existed before and after is
//! there for readers all the time. Such a resync is repeated at growing intervals, from 200 ms to
//! 5 s, if it is needed again and again; changes are applied meanwhile.
//!
//! # Limits
//!
//! - Policy routing is not followed: rules of `ip rule` and tables other than those three, which
//!   VRFs use. [`bypassed`] finds them, and what else the kernel does with forwarded packets.
//! - Ports are fixed. An interface that is removed and made again is another one, even with the same
//!   name.

mod bypass;
mod decode;
mod event;
mod follower;
mod found;
mod neighbours;
mod ports;
mod routes;
mod socket;
mod state;
mod targets;
#[cfg(test)]
mod tests;

pub use bypass::{Bypass, bypassed, flow_fields};
pub use decode::{Decoded, End, decode};
pub use event::{
    Address, Event, Link, LinkAddress, NeighbourKey, NextHop, NextHopKind, Path, Placing, Route,
    RouteHop, RouteKind,
};
pub use follower::{Followed, Follower, StateCounts};
pub use found::{FoundHop, FoundRoute};
pub use ports::{index, ports};
pub use state::KernelState;

use std::{fmt, io};

use longmatch::{CompileError, InsertError, UpdateError};

/// The reason why the kernel's state cannot be followed.
#[derive(Debug)]
#[non_exhaustive]
pub enum KernelError {
    /// The kernel refused an operation.
    Io {
        /// The operation, such as `list the IPv4 routes`.
        what: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },
    /// There is no interface with this name.
    NoInterface(String),
    /// An interface cannot be a port.
    Unfit {
        /// Its name.
        name: String,
        /// The reason, and what to do.
        why: String,
    },
    /// An interface was named twice, or there are more than 65536.
    Ports(String),
    /// The kernel's state changed so often that no dump of it was complete.
    Interrupted,
    /// The table cannot be compiled.
    Compile(CompileError),
    /// The table does not take a route.
    Insert(InsertError),
    /// The table does not take the changes; readers see its last state. Later calls try again.
    Refused(UpdateError),
}

impl KernelError {
    fn io(what: &'static str, error: rustix::io::Errno) -> Self {
        Self::Io { what, source: error.into() }
    }
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { what, source } if source.kind() == io::ErrorKind::PermissionDenied => {
                write!(
                    f,
                    "cannot {what}: {source}: run as root, or with the capability CAP_NET_ADMIN"
                )
            }
            Self::Io { what, source } => write!(f, "cannot {what}: {source}"),
            Self::NoInterface(name) => {
                write!(f, "{name}: no such interface; `ip link` lists the interfaces")
            }
            Self::Unfit { name, why } => write!(f, "{name}: {why}"),
            Self::Ports(why) => f.write_str(why),
            Self::Interrupted => f.write_str(
                "the routing state changed during every dump; retry when fewer routes change",
            ),
            Self::Compile(error) => write!(f, "the kernel's routes do not compile: {error}"),
            Self::Insert(error) => write!(f, "the table does not take a kernel's route: {error}"),
            Self::Refused(error) => write!(f, "the table does not take the changes: {error}"),
        }
    }
}

impl std::error::Error for KernelError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Compile(error) => Some(error),
            Self::Insert(error) => Some(error),
            Self::Refused(error) => Some(error),
            Self::NoInterface(_) | Self::Unfit { .. } | Self::Ports(_) | Self::Interrupted => None,
        }
    }
}

impl From<CompileError> for KernelError {
    fn from(error: CompileError) -> Self {
        Self::Compile(error)
    }
}

impl From<InsertError> for KernelError {
    fn from(error: InsertError) -> Self {
        Self::Insert(error)
    }
}
