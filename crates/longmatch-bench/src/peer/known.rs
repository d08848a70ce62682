//! The peers that have an adapter in `peers/`, which `cargo xtask peers` builds.

use std::ffi::OsString;
use std::path::Path;

use super::command::PeerCommand;

/// An implementation with an adapter in this repository.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KnownPeer {
    /// Name in reports and for `cargo xtask peers NAME`.
    pub name: &'static str,
    /// Description in a few words.
    pub description: &'static str,
    /// Package of the implementation.
    pub package: &'static str,
    /// Licence of the package, as an SPDX expression.
    pub licence: &'static str,
    /// Names of the supported families.
    pub families: &'static [&'static str],
    /// Requirements of `cargo xtask peers` for building the adapter.
    pub needs: &'static str,
    adapter: Adapter,
}

/// Kind of an adapter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Adapter {
    /// A program in the directory; its argument is the name of the peer.
    Program(&'static str),
    /// A script in a virtual environment named after the peer, with the same argument.
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

const BOTH: &[&str] = &["ipv4", "ipv6"];

const DPDK: KnownPeer = KnownPeer {
    name: "",
    description: "",
    package: "DPDK 22.11 (Debian: libdpdk-dev)",
    licence: "BSD-3-Clause",
    families: &["ipv4"],
    needs: "a C compiler, pkg-config and DPDK's development files \
            (Debian: apt-get install gcc pkg-config libdpdk-dev)",
    adapter: Adapter::Program("dpdk"),
};

const RUST: KnownPeer = KnownPeer {
    name: "",
    description: "",
    package: "",
    licence: "MIT OR Apache-2.0",
    families: BOTH,
    needs: "network access, once, for cargo to fetch the crate",
    adapter: Adapter::Program("rust"),
};

const GO: KnownPeer = KnownPeer {
    name: "",
    description: "",
    package: "Go module github.com/gaissmai/bart 0.30.0",
    licence: "MIT",
    families: BOTH,
    needs: "Go 1.24 or newer, and network access, once, for Go to fetch the module",
    adapter: Adapter::Program("go"),
};

const PYTHON: KnownPeer = KnownPeer {
    name: "",
    description: "",
    package: "",
    licence: "",
    families: BOTH,
    needs: "Python 3 with venv and its C headers, a C compiler, and network access, once, for pip \
            (Debian: apt-get install python3-venv python3-dev gcc)",
    adapter: Adapter::Python,
};

static KNOWN: [KnownPeer; 10] = [
    KnownPeer { name: "rte_lpm", description: "DPDK's LPM library, DIR-24-8", ..DPDK },
    KnownPeer { name: "rte_fib", description: "DPDK's FIB library, DIR-24-8", ..DPDK },
    KnownPeer {
        name: "rte_fib6",
        description: "DPDK's FIB library, a trie of 24 and then 8 bits",
        families: &["ipv6"],
        ..DPDK
    },
    KnownPeer {
        name: "prefix-trie",
        description: "a Rust map of prefixes, a tree with bitmaps",
        package: "crate prefix-trie 0.10.1",
        ..RUST
    },
    KnownPeer {
        name: "ip_network_table",
        description: "a Rust map of networks, a tree bitmap",
        package: "crate ip_network_table 0.2.0",
        licence: "BSD-2-Clause",
        ..RUST
    },
    KnownPeer {
        name: "poptrie-crate",
        description: "a Rust Poptrie",
        package: "crate poptrie 0.2.1",
        ..RUST
    },
    KnownPeer { name: "bart", description: "Go's balanced routing table, compressed", ..GO },
    KnownPeer { name: "bart-fast", description: "Go's balanced routing table, faster", ..GO },
    KnownPeer {
        name: "pytricia",
        description: "a Patricia trie in C for Python",
        package: "Python package pytricia 1.3.0",
        licence: "LGPL-3.0-or-later",
        ..PYTHON
    },
    KnownPeer {
        name: "py-radix",
        description: "a radix tree in C for Python",
        package: "Python package py-radix 1.1.0",
        licence: "ISC AND BSD-4-Clause",
        ..PYTHON
    },
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
            Adapter::Program(program) => vec![dir.join(program)],
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
        format!("not installed: `cargo xtask peers {}`; it needs {}", self.name, self.needs)
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
    fn names_are_unique_and_texts_complete() {
        for (i, peer) in KNOWN.iter().enumerate() {
            assert!(KNOWN[..i].iter().all(|other| other.name != peer.name), "{}", peer.name);
            assert!(!peer.families.is_empty() && !peer.needs.is_empty(), "{}", peer.name);
            for text in [peer.name, peer.description, peer.package, peer.licence] {
                assert!(!text.is_empty() && !text.contains('\n'), "{}", peer.name);
            }
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
