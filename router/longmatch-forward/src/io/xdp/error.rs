//! Why packet I/O by AF_XDP cannot start, in words for the person who starts it.

use std::fmt;
use std::io;

use super::XdpMode;

/// The reason why interfaces cannot be opened.
#[derive(Debug)]
#[non_exhaustive]
pub enum XdpError {
    /// The process lacks a right.
    Permission {
        /// The operation that the kernel refused.
        action: String,
    },
    /// An option has a value that it cannot have.
    Option {
        /// The field of [`XdpOptions`](super::XdpOptions).
        name: &'static str,
        /// Its value.
        value: String,
        /// The possible values.
        expected: &'static str,
    },
    /// There is no interface of this name.
    NoInterface {
        /// The name.
        interface: String,
    },
    /// Another XDP program is attached to the interface.
    OtherProgram {
        /// The interface.
        interface: String,
    },
    /// The interface has fewer queues than there are threads.
    TooFewQueues {
        /// The interface.
        interface: String,
        /// Its queues.
        queues: usize,
        /// Threads that were asked for.
        threads: usize,
    },
    /// Packets of the interface may be larger than frames.
    TooLargeMtu {
        /// The interface.
        interface: String,
        /// Its MTU in bytes.
        mtu: u32,
        /// The largest MTU for frames of the chosen size.
        largest: u32,
        /// The size of frames, in bytes.
        frame_size: u32,
    },
    /// Another AF_XDP socket has the queue.
    QueueInUse {
        /// The interface.
        interface: String,
        /// The queue.
        queue: u32,
    },
    /// The program cannot be attached to the interface.
    Attach {
        /// The interface.
        interface: String,
        /// The mode that was asked for.
        mode: XdpMode,
        /// The kernel's error.
        source: io::Error,
    },
    /// The kernel refuses the program.
    Program {
        /// What its verifier says.
        log: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// Another call failed.
    System {
        /// The intended operation.
        action: String,
        /// The kernel's error.
        source: io::Error,
    },
}

impl XdpError {
    /// An error of the kernel, for the caller of [`Result::map_err`].
    pub(super) fn at<E: Into<io::Error>>(action: impl Into<String>) -> impl FnOnce(E) -> Self {
        let action = action.into();
        move |source| match source.into() {
            denied if denied.kind() == io::ErrorKind::PermissionDenied => {
                Self::Permission { action }
            }
            source => Self::System { action, source },
        }
    }
}

impl fmt::Display for XdpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Permission { action } => write!(
                f,
                "the kernel does not permit this process to {action}: AF_XDP needs root, or the \
                 capabilities CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF"
            ),
            Self::Option { name, value, expected } => {
                write!(f, "{name} is {value}, but must be {expected}")
            }
            Self::NoInterface { interface } => write!(
                f,
                "there is no interface {interface}; `ip link` lists the interfaces of this machine"
            ),
            Self::OtherProgram { interface } => write!(
                f,
                "{interface}: another XDP program is attached. If it is that of a running `longmatch-forward`, start this \
                 one with --take-over. If a process holds it by a BPF link, end that process: `bpftool link list` names it. \
                 Any other is detached by `ip link set {interface} xdp off`, or `ip link set {interface} xdpgeneric off`"
            ),
            Self::TooFewQueues { interface, queues, threads } => write!(
                f,
                "{interface}: {queues} queue{} for {threads} threads, but each thread needs one of \
                 its own; use --threads {queues}, or add queues by \
                 `ethtool -L {interface} combined {threads}`",
                if *queues == 1 { "" } else { "s" }
            ),
            Self::TooLargeMtu { interface, mtu, largest, frame_size } => {
                write!(
                    f,
                    "{interface}: its MTU of {mtu} bytes is too large for frames of {frame_size} \
                     bytes; lower it by `ip link set {interface} mtu {largest}`"
                )?;
                if *frame_size < 4096 {
                    f.write_str(", or use frames of 4096 bytes")
                } else {
                    Ok(())
                }
            }
            Self::QueueInUse { interface, queue } => write!(
                f,
                "{interface}: another AF_XDP socket has queue {queue}; end the process that it \
                 belongs to"
            ),
            Self::Attach { interface, mode, source } => write!(
                f,
                "{interface}: the XDP program cannot be attached in {mode} mode: {source}{}",
                match mode {
                    XdpMode::Native => "; its driver may not support it: use the generic mode",
                    _ => "; AF_XDP needs Linux 5.9 or later with CONFIG_XDP_SOCKETS",
                }
            ),
            Self::Program { log, source } => {
                write!(f, "the kernel refuses the XDP program: {source}")?;
                if log.is_empty() { Ok(()) } else { write!(f, "\n{log}") }
            }
            Self::System { action, source } => write!(f, "cannot {action}: {source}"),
        }
    }
}

impl std::error::Error for XdpError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Attach { source, .. }
            | Self::Program { source, .. }
            | Self::System { source, .. } => Some(source),
            _ => None,
        }
    }
}
