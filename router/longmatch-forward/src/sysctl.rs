//! Settings below `/proc/sys/net`, with the values of the calling thread's network namespace.

use std::{fs, io};

/// A setting's text.
pub(crate) fn setting(path: &str) -> io::Result<String> {
    Ok(fs::read_to_string(format!("/proc/sys/net/{path}"))?.trim().to_owned())
}

/// A setting's number; `None` if there is no such setting, or no number.
pub(crate) fn number(path: &str) -> Option<u32> {
    setting(path).ok()?.parse().ok()
}

/// Writes a setting, unless it has the value.
#[cfg(target_pointer_width = "64")]
pub(crate) fn change(path: &str, value: &str) -> io::Result<()> {
    if setting(path)? == value {
        return Ok(());
    }
    fs::write(format!("/proc/sys/net/{path}"), value)
}
