//! The peers that have an adapter in `peers/`, which `cargo xtask peers` builds.

use std::ffi::OsString;
use std::path::Path;

use super::command::PeerCommand;

/// An implementation with an adapter in this repository.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KnownPeer {
    /// Name in reports and for `cargo xtask peers NAME`.
    pub name: &'static str,
    /// Names of the supported families.
    pub families: &'static [&'static str],
    adapter: Adapter,
}

/// A program in the directory of the adapters; its argument is the name of the peer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Adapter {
    Dpdk,
    Kernel,
    Rust,
    Go,
    /// A script in a virtual environment named after the peer.
    Python,
}

/// Result of looking for the adapter of a peer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Availability {
    /// The adapter exists, with the command that starts it.
    Found(PeerCommand),
    /// The adapter is missing, with one line of instructions.
    Missing(String),
}

const fn peer(
    name: &'static str,
    adapter: Adapter,
    families: &'static [&'static str],
) -> KnownPeer {
    KnownPeer { name, families, adapter }
}

const BOTH: &[&str] = &["ipv4", "ipv6"];

static KNOWN: [KnownPeer; 13] = [
    peer("rte_lpm", Adapter::Dpdk, &["ipv4"]),
    peer("rte_fib", Adapter::Dpdk, &["ipv4"]),
    peer("rte_fib6", Adapter::Dpdk, &["ipv6"]),
    peer("linux-route", Adapter::Kernel, BOTH),
    peer("linux-lpm-trie", Adapter::Kernel, BOTH),
    peer("prefix-trie", Adapter::Rust, BOTH),
    peer("ip_network_table", Adapter::Rust, BOTH),
    peer("poptrie-crate", Adapter::Rust, BOTH),
    peer("ts_bart", Adapter::Rust, BOTH),
    peer("bart", Adapter::Go, BOTH),
    peer("bart-fast", Adapter::Go, BOTH),
    peer("pytricia", Adapter::Python, BOTH),
    peer("py-radix", Adapter::Python, BOTH),
];

/// Every peer that has an adapter in `peers/`.
pub fn known_peers() -> &'static [KnownPeer] {
    &KNOWN
}

impl KnownPeer {
    /// Looks for the adapter in `dir`, the output directory of `cargo xtask peers`.
    pub fn find(&self, dir: &Path) -> Availability {
        let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.to_path_buf());
        let files = match self.adapter {
            Adapter::Dpdk => vec![dir.join("dpdk")],
            Adapter::Kernel => vec![dir.join("kernel")],
            Adapter::Rust => vec![dir.join("rust")],
            Adapter::Go => vec![dir.join("go")],
            Adapter::Python => {
                let dir = dir.join(self.name);
                vec![dir.join("bin/python"), dir.join("adapter.py")]
            }
        };
        if !files.iter().all(|file| file.is_file()) {
            return Availability::Missing(self.instructions());
        }
        let mut command: Vec<OsString> = files.into_iter().map(OsString::from).collect();
        command.push(self.name.into());
        Availability::Found(PeerCommand { name: self.name.to_owned(), command })
    }

    fn instructions(&self) -> String {
        let needs = match self.adapter {
            Adapter::Dpdk => {
                "a C compiler, pkg-config and DPDK's development files \
                 (Debian: apt-get install gcc pkg-config libdpdk-dev)"
            }
            Adapter::Kernel => "Linux and a C compiler (Debian: apt-get install gcc libc6-dev)",
            Adapter::Rust => "network access, once, for cargo to fetch the crate",
            Adapter::Go => "Go 1.24 or newer, and network access, once, for Go to fetch the module",
            Adapter::Python => {
                "Python 3 with venv and its C headers, a C compiler, and network access, once, for \
                 pip (Debian: apt-get install python3-venv python3-dev gcc)"
            }
        };
        format!("not installed: `cargo xtask peers {}`; it needs {needs}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    /// A temporary directory, removed when dropped.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let dir = std::env::temp_dir().join(format!("longmatch-{name}-{}", std::process::id()));
            fs::create_dir(&dir).unwrap();
            Self(dir)
        }

        fn path(&self) -> &Path {
            &self.0
        }

        fn write(&self, name: &str) {
            let path = self.0.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn adapters_are_found_if_all_files_exist() {
        let scratch = Scratch::new("known");
        let peer = |name| KNOWN.iter().find(|peer| peer.name == name).unwrap();
        let Availability::Missing(text) = peer("bart").find(scratch.path()) else { panic!() };
        assert!(text.starts_with("not installed: `cargo xtask peers bart`; it needs Go"), "{text}");
        scratch.write("go");
        let Availability::Found(command) = peer("bart").find(scratch.path()) else { panic!() };
        assert_eq!(command.name, "bart");
        assert_eq!(command.command, [scratch.path().join("go").into_os_string(), "bart".into()]);
        assert!(matches!(peer("rte_lpm").find(scratch.path()), Availability::Missing(_)));
        scratch.write("pytricia/bin/python");
        assert!(matches!(peer("pytricia").find(scratch.path()), Availability::Missing(_)));
        scratch.write("pytricia/adapter.py");
        assert!(matches!(peer("pytricia").find(scratch.path()), Availability::Found(_)));
        assert!(matches!(peer("py-radix").find(scratch.path()), Availability::Missing(_)));
    }
}
