//! The peers whose adapters are in `peers/`, built by `cargo xtask peers`.

use std::ffi::OsString;
use std::path::Path;

use super::command::PeerCommand;

/// An implementation that this repository has an adapter for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KnownPeer {
    /// Its name, in reports and for `cargo xtask peers NAME`.
    pub name: &'static str,
    /// What it is.
    pub what: &'static str,
    /// The package that it comes from.
    pub package: &'static str,
    /// Its licence, as an SPDX expression.
    pub licence: &'static str,
    /// Names of the families that it has tables for.
    pub families: &'static [&'static str],
    /// What has to be there before `cargo xtask peers` can build its adapter.
    pub needs: &'static str,
    adapter: Adapter,
}

/// How the adapter of a known peer is started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Adapter {
    /// A program in the directory, which is told which peer it is to be.
    Program(&'static str),
    /// A script in a virtual environment with the peer's name, told the same.
    Python,
}

/// Whether a known peer's adapter is there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Availability {
    /// It is, and this starts it. Whether it works is seen when it is started.
    Found(PeerCommand),
    /// It is not; in one line, how to get it.
    Missing(String),
}

const BOTH: &[&str] = &["ipv4", "ipv6"];

const DPDK: KnownPeer = KnownPeer {
    name: "",
    what: "",
    package: "DPDK 22.11 (Debian: libdpdk-dev)",
    licence: "BSD-3-Clause",
    families: &["ipv4"],
    needs: "a C compiler, pkg-config and DPDK's development files \
            (Debian: apt-get install gcc pkg-config libdpdk-dev)",
    adapter: Adapter::Program("dpdk"),
};

const RUST: KnownPeer = KnownPeer {
    name: "",
    what: "",
    package: "",
    licence: "MIT OR Apache-2.0",
    families: BOTH,
    needs: "a network, once, for cargo to fetch the crate",
    adapter: Adapter::Program("rust"),
};

const GO: KnownPeer = KnownPeer {
    name: "",
    what: "",
    package: "Go module github.com/gaissmai/bart 0.30.0",
    licence: "MIT",
    families: BOTH,
    needs: "Go 1.24 or newer, and a network, once, for it to fetch the module",
    adapter: Adapter::Program("go"),
};

const PYTHON: KnownPeer = KnownPeer {
    name: "",
    what: "",
    package: "",
    licence: "",
    families: BOTH,
    needs: "Python 3 with venv and its C headers, a C compiler, and a network, once, for pip \
            (Debian: apt-get install python3-venv python3-dev gcc)",
    adapter: Adapter::Python,
};

static KNOWN: [KnownPeer; 10] = [
    KnownPeer { name: "rte_lpm", what: "DPDK's LPM library, DIR-24-8", ..DPDK },
    KnownPeer { name: "rte_fib", what: "DPDK's FIB library, DIR-24-8", ..DPDK },
    KnownPeer {
        name: "rte_fib6",
        what: "DPDK's FIB library, a trie of 24 and then 8 bits",
        families: &["ipv6"],
        ..DPDK
    },
    KnownPeer {
        name: "prefix-trie",
        what: "a Rust map of prefixes, a tree with bitmaps",
        package: "crate prefix-trie 0.10.1",
        ..RUST
    },
    KnownPeer {
        name: "ip_network_table",
        what: "a Rust map of networks, a tree bitmap",
        package: "crate ip_network_table 0.2.0",
        licence: "BSD-2-Clause",
        ..RUST
    },
    KnownPeer {
        name: "poptrie-crate",
        what: "a Rust Poptrie",
        package: "crate poptrie 0.2.1",
        ..RUST
    },
    KnownPeer { name: "bart", what: "Go's balanced routing table, compressed", ..GO },
    KnownPeer { name: "bart-fast", what: "Go's balanced routing table, the faster form", ..GO },
    KnownPeer {
        name: "pytricia",
        what: "a Patricia trie in C for Python",
        package: "Python package pytricia 1.3.0",
        licence: "LGPL-3.0-or-later",
        ..PYTHON
    },
    KnownPeer {
        name: "py-radix",
        what: "a radix tree in C for Python",
        package: "Python package py-radix 1.1.0",
        licence: "ISC AND BSD-4-Clause",
        ..PYTHON
    },
];

/// Every peer that has an adapter here.
pub fn known_peers() -> &'static [KnownPeer] {
    &KNOWN
}

impl KnownPeer {
    /// Looks for the adapter in a directory that `cargo xtask peers` has filled.
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
            return Availability::Missing(self.how_to_get());
        }
        let mut command: Vec<OsString> = files.into_iter().map(OsString::from).collect();
        command.push(self.name.into());
        Availability::Found(PeerCommand { name: self.name.to_owned(), command })
    }

    fn how_to_get(&self) -> String {
        format!("not installed: `cargo xtask peers {}`; it needs {}", self.name, self.needs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    /// A directory that is removed at the end.
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
    fn each_is_told_apart_and_described() {
        for (i, peer) in KNOWN.iter().enumerate() {
            assert!(KNOWN[..i].iter().all(|other| other.name != peer.name), "{}", peer.name);
            assert!(!peer.families.is_empty() && !peer.needs.is_empty(), "{}", peer.name);
            for text in [peer.name, peer.what, peer.package, peer.licence] {
                assert!(!text.is_empty() && !text.contains('\n'), "{}", peer.name);
            }
        }
    }

    #[test]
    fn adapters_are_found_where_they_are() {
        let scratch = Scratch::new("known");
        let peer = |name| KNOWN.iter().find(|peer| peer.name == name).unwrap();
        let Availability::Missing(how) = peer("bart").find(scratch.path()) else { panic!() };
        assert!(how.starts_with("not installed: `cargo xtask peers bart`; it needs Go"), "{how}");
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
