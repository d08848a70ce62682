//! Errors of opening ports.

use std::{error, fmt, io};

/// The reason why [`Dpdk::open`](super::Dpdk::open) failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum DpdkError {
    /// DPDK was opened before in this process, whether that succeeded or not.
    AlreadyOpened,
    /// An option has a value that no DPDK accepts.
    BadOption {
        /// The field of [`DpdkOptions`](super::DpdkOptions).
        option: &'static str,
        /// The defect.
        reason: String,
    },
    /// The environment of DPDK (EAL) did not start; it printed why.
    Environment(io::Error),
    /// A device cannot be used.
    Device {
        /// The device, as in [`DpdkOptions::devices`](super::DpdkOptions::devices).
        device: String,
        /// The operation, such as `find`.
        step: &'static str,
        /// The error of its driver.
        error: io::Error,
    },
    /// A device has fewer transmit queues than there are workers.
    Queues {
        /// The device, as in [`DpdkOptions::devices`](super::DpdkOptions::devices).
        device: String,
        /// Transmit queues that it has.
        queues: u16,
        /// Workers that each need one.
        workers: u16,
    },
    /// There is no memory for a worker's pool of buffers.
    Pool {
        /// Buffers in the pool, of about 2.4 KB each.
        buffers: u32,
        /// The error of the allocation.
        error: io::Error,
    },
}

impl fmt::Display for DpdkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AlreadyOpened => {
                write!(f, "DPDK was opened before; a process can open it only once")
            }
            Self::BadOption { option, reason } => write!(f, "option `{option}`: {reason}"),
            Self::Environment(error) => write!(
                f,
                "DPDK did not start: {error}; see its messages, and check the options `eal`, \
                 `memory_mib` and `huge_pages`"
            ),
            Self::Device { device, step, error } => write!(
                f,
                "cannot {step} the device `{device}`: {error}; check its name, its arguments and \
                 that its driver is installed"
            ),
            Self::Queues { device, queues, workers } => write!(
                f,
                "the device `{device}` has {queues} transmit queues for {workers} workers; use \
                 fewer workers, or give it more queues in its arguments"
            ),
            Self::Pool { buffers, error } => write!(
                f,
                "no memory for a pool of {buffers} buffers: {error}; raise `memory_mib` or lower \
                 `descriptors`"
            ),
        }
    }
}

impl error::Error for DpdkError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Environment(error) | Self::Device { error, .. } | Self::Pool { error, .. } => {
                Some(error)
            }
            Self::AlreadyOpened | Self::BadOption { .. } | Self::Queues { .. } => None,
        }
    }
}
