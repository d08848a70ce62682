//! The memory that this process may still allocate.

use std::fs;

/// Bytes that this process can still allocate without swapping.
///
/// This is the minimum of the system's available memory, the rest of the control group's limit, and
/// the limit on address space; `None` if the system reports none of them.
pub fn available_memory() -> Option<u64> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let group = fs::read_to_string("/proc/self/cgroup").ok().and_then(|text| group_of(&text));
    let group = format!("/sys/fs/cgroup{}", group.unwrap_or_default());
    [
        in_meminfo(&read("/proc/meminfo")),
        remaining(&read(&format!("{group}/memory.max")), &read(&format!("{group}/memory.current"))),
        address_space(&read("/proc/self/limits")),
    ]
    .into_iter()
    .flatten()
    .min()
}

/// `MemAvailable` of `/proc/meminfo`.
fn in_meminfo(text: &str) -> Option<u64> {
    let kib = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = kib.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// The path of the control group in `/proc/self/cgroup` (cgroup v2).
fn group_of(text: &str) -> Option<String> {
    let path = text.lines().find_map(|line| line.strip_prefix("0::"))?;
    Some(path.trim_end_matches('/').to_owned())
}

/// The unused part of a limit; `None` if there is no limit (`max`).
fn remaining(limit: &str, used: &str) -> Option<u64> {
    let limit: u64 = limit.trim().parse().ok()?;
    Some(limit.saturating_sub(used.trim().parse().unwrap_or(0)))
}

/// The soft limit on address space in `/proc/self/limits`.
fn address_space(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_files_are_parsed() {
        let meminfo = "MemTotal:       24000 kB\nMemAvailable:   12000 kB\n";
        assert_eq!(in_meminfo(meminfo), Some(12_288_000));
        assert_eq!(in_meminfo("MemTotal: 1 kB\n"), None);
        assert_eq!(group_of("1:name=x:/a\n0::/user/b\n").as_deref(), Some("/user/b"));
        assert_eq!(group_of("0::/\n").as_deref(), Some(""));
        assert_eq!(remaining("1000\n", "300\n"), Some(700));
        assert_eq!(remaining("1000", "3000"), Some(0));
        assert_eq!((remaining("max\n", "3"), remaining("", "")), (None, None));
        let limits = "Limit  Soft Limit\nMax address space         4096   unlimited  bytes\n";
        assert_eq!(address_space(limits), Some(4096));
        let unlimited = "Max address space         unlimited            unlimited  bytes\n";
        assert_eq!(address_space(unlimited), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn some_memory_is_available() {
        assert!(available_memory().is_some_and(|bytes| bytes > 1 << 20));
    }
}
