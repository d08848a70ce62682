//! Why a call of bpf(2) failed, in words for the person who started the program.

use std::fmt;
use std::io;

/// A call of bpf(2) that failed.
///
/// ```
/// use longmatch_bpf::sys::Map;
/// let error = Map::open_pinned("/sys/fs/bpf/no-such-pin").unwrap_err();
/// assert!(error.to_string().starts_with("cannot open the pin /sys/fs/bpf/no-such-pin: "));
/// ```
#[derive(Debug)]
pub struct Error {
    /// The intended operation.
    action: String,
    /// The first kernel with all parts of the operation.
    since: &'static str,
    source: io::Error,
    log: String,
}

impl Error {
    /// An error of the kernel, for the caller of [`Result::map_err`].
    pub(crate) fn at(
        action: impl Into<String>,
        since: &'static str,
    ) -> impl FnOnce(io::Error) -> Self {
        let action = action.into();
        move |source| Self { action, since, source, log: String::new() }
    }

    /// Adds the log of the verifier.
    pub(super) fn with_log(mut self, log: String) -> Self {
        self.log = log;
        self
    }

    /// The kernel's error.
    #[must_use]
    pub fn kind(&self) -> io::ErrorKind {
        self.source.kind()
    }

    /// The number of the kernel's error, such as `EINVAL`.
    #[must_use]
    pub fn number(&self) -> Option<i32> {
        self.source.raw_os_error()
    }

    /// Whether the process lacks a right. The verifier's refusal of a program is not such an error.
    #[must_use]
    pub fn is_permission(&self) -> bool {
        self.number() == Some(libc::EPERM)
            || self.kind() == io::ErrorKind::PermissionDenied && self.log.is_empty()
    }

    /// What the verifier writes about the program; empty for other errors.
    #[must_use]
    pub fn log(&self) -> &str {
        &self.log
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { action, since, source, log } = self;
        write!(f, "cannot {action}: {source}")?;
        match source.raw_os_error() {
            _ if !log.is_empty() => write!(f, "\n{log}"),
            Some(libc::EPERM) => write!(
                f,
                "; it needs root, or the capabilities CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON"
            ),
            Some(libc::ENOSYS) => write!(f, "; the kernel is built without bpf(2)"),
            Some(libc::EINVAL | libc::EOPNOTSUPP | libc::E2BIG) => {
                write!(f, "; it needs Linux {since} or later")
            }
            Some(libc::ENOMEM) => {
                write!(f, "; before Linux 5.11 `ulimit -l` limits the memory of maps")
            }
            _ => Ok(()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// The kernel's error, without the words.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        error.source
    }
}
