//! Why a filter cannot be started, found or changed, in words for the person who asks for it.

use std::fmt;
use std::io;
use std::path::PathBuf;

use longmatch_bpf::{BuildError, sys};

use crate::content::TooManyClasses;

/// The reason why a filter cannot do what it is asked for.
#[derive(Debug)]
#[non_exhaustive]
pub enum FilterError {
    /// There is no interface of this name.
    NoInterface {
        /// The name.
        interface: String,
    },
    /// Frames of the interface begin neither with an Ethernet header nor with that of IP.
    Frames {
        /// The interface.
        interface: String,
    },
    /// Another XDP program is attached to the interface.
    OtherProgram {
        /// The interface.
        interface: String,
    },
    /// The interface has a filter already.
    Running {
        /// The interface.
        interface: String,
        /// The pins of its filter.
        pins: PathBuf,
    },
    /// The interface has no filter.
    NotRunning {
        /// The interface and the hook.
        interface: String,
        /// Where its pins would be.
        pins: PathBuf,
        /// Whether that is in a file system of BPF.
        mounted: bool,
    },
    /// The pins belong to an interface of another network namespace.
    OtherNamespace {
        /// The interface.
        interface: String,
        /// The pins.
        pins: PathBuf,
    },
    /// A mark in a filter by XDP, where packets have none.
    MarkInXdp,
    /// The lists have too many different combinations.
    Classes(TooManyClasses),
    /// The addresses do not fit into the layout of tables in the kernel.
    Table(BuildError),
    /// The directory of the pins cannot be used.
    Pins {
        /// The directory or a pin.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The pins are those of another version of this program.
    Version {
        /// The pins.
        pins: PathBuf,
    },
    /// A call of bpf(2) failed.
    Bpf(sys::Error),
    /// The kernel does not tell its interfaces, addresses or routes.
    Netlink(io::Error),
    /// The program has a jump without a place: a bug.
    Program(longmatch_bpf::asm::JumpError),
}

impl From<sys::Error> for FilterError {
    fn from(error: sys::Error) -> Self {
        Self::Bpf(error)
    }
}

impl From<BuildError> for FilterError {
    fn from(error: BuildError) -> Self {
        Self::Table(error)
    }
}

impl From<TooManyClasses> for FilterError {
    fn from(error: TooManyClasses) -> Self {
        Self::Classes(error)
    }
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoInterface { interface } => write!(
                f,
                "there is no interface {interface}; `ip link` lists the interfaces of this machine"
            ),
            Self::Frames { interface } => write!(
                f,
                "{interface}: its frames begin neither with an Ethernet header nor with that of IP: filter at the \
                 interface that carries it"
            ),
            Self::OtherProgram { interface } => write!(
                f,
                "{interface}: another XDP program is attached. If a process holds it by a BPF link, end that process: \
                 `bpftool link list` names it. Any other is detached by `ip link set {interface} xdp off`, or `ip link \
                 set {interface} xdpgeneric off`. Or filter by tc: --hook ingress"
            ),
            Self::Running { interface, pins } => write!(
                f,
                "{interface}: there is a filter already, pinned in {}: change it with 'longmatch-filter replace', or \
                 remove it with 'longmatch-filter detach'",
                pins.display()
            ),
            Self::NotRunning { interface, pins, mounted } => {
                write!(f, "{interface}: there is no filter pinned in {}", pins.display())?;
                match mounted {
                    true => f.write_str("; 'longmatch-filter start' attaches one"),
                    false => f.write_str(
                        ", which is in no file system of BPF: `mount -t bpf bpf /sys/fs/bpf` mounts it",
                    ),
                }
            }
            Self::OtherNamespace { interface, pins } => write!(
                f,
                "{interface}: the pins in {} belong to another network namespace: enter it ('ip netns exec'), or use \
                 another directory with --pins",
                pins.display()
            ),
            Self::MarkInXdp => f.write_str(
                "--mark: packets have no mark before the network stack: use --hook ingress or egress",
            ),
            Self::Classes(TooManyClasses { limit }) => write!(
                f,
                "the addresses are in more than {limit} different combinations of lists, which is the limit since the \
                 start of a filter: join lists of equal action ('longmatch set union'), or start again"
            ),
            Self::Table(error) => error.fmt(f),
            Self::Pins { path, source } => write!(f, "{}: {source}", path.display()),
            Self::Version { pins } => write!(
                f,
                "{}: the pins are those of another version of longmatch-filter: remove the filter by that version, or \
                 by `rm -r {0}`",
                pins.display()
            ),
            Self::Bpf(error) => error.fmt(f),
            Self::Netlink(error) => {
                write!(f, "the kernel does not tell its interfaces and addresses: {error}")
            }
            Self::Program(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for FilterError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Bpf(error) => Some(error),
            Self::Pins { source, .. } | Self::Netlink(source) => Some(source),
            _ => None,
        }
    }
}
