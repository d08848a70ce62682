//! The peers that have an adapter in `lab/peers/`, which `cargo xtask peers` builds.

use std::ffi::OsString;
use std::path::Path;
use std::sync::LazyLock;

use super::command::PeerCommand;

/// Lines of an adapter's file, a peer that it serves, and the peer's families.
const LIST: &str = include_str!("../../../peers/list.txt");

/// An implementation with an adapter in this repository.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KnownPeer {
    /// Name in reports and for `cargo xtask peers NAME`.
    pub name: &'static str,
    /// Names of the supported families.
    pub families: Vec<&'static str>,
    /// The last file of a complete build, in the directory of the adapters: the program, or a script in a virtual
    /// environment named after the peer. Its argument is the name of the peer.
    file: &'static str,
}

/// Every peer that has an adapter in `lab/peers/`.
pub fn known_peers() -> &'static [KnownPeer] {
    static KNOWN: LazyLock<Vec<KnownPeer>> = LazyLock::new(|| {
        let peer = |line: &'static str| {
            let mut words = line.split_whitespace();
            let (file, name, families) = (words.next()?, words.next()?, words.next()?);
            Some(KnownPeer { name, families: families.split(',').collect(), file })
        };
        LIST.lines().filter_map(peer).collect()
    });
    &KNOWN
}

impl KnownPeer {
    /// Returns the command that starts the adapter in `dir`, the output directory of `cargo xtask peers`.
    ///
    /// # Errors
    /// One line of instructions to build the adapter, if it is missing.
    pub fn find(&self, dir: &Path) -> Result<PeerCommand, String> {
        let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.to_path_buf());
        let mut files = vec![dir.join(self.file)];
        if self.file.ends_with(".py") {
            files.insert(0, dir.join(self.name).join("bin/python"));
        }
        if !files.iter().all(|file| file.is_file()) {
            return Err(self.instructions());
        }
        let mut command: Vec<OsString> = files.into_iter().map(OsString::from).collect();
        command.push(self.name.into());
        Ok(PeerCommand { name: self.name.to_owned(), command })
    }

    fn instructions(&self) -> String {
        let needs = match self.file {
            "dpdk" => {
                "a C compiler, pkg-config and DPDK's development files \
                 (Debian: apt-get install gcc pkg-config libdpdk-dev)"
            }
            "kernel" => "Linux and a C compiler (Debian: apt-get install gcc libc6-dev)",
            "rust" => "network access, once, for cargo to fetch the crate",
            "go" => "Go 1.24 or newer, and network access, once, for Go to fetch the module",
            _ => {
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

    #[test]
    fn adapters_are_found_if_all_files_exist() {
        let dir = std::env::temp_dir().join(format!("longmatch-known-{}", std::process::id()));
        let write = |name: &str| {
            let path = dir.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        };
        assert_eq!(known_peers().len(), LIST.lines().count(), "a line is not complete");
        let peer = |name| known_peers().iter().find(|peer| peer.name == name).unwrap();
        let text = peer("bart").find(&dir).unwrap_err();
        assert!(text.starts_with("not installed: `cargo xtask peers bart`; it needs Go"), "{text}");
        write("go");
        let command = peer("bart").find(&dir).unwrap();
        assert_eq!(command.name, "bart");
        assert_eq!(command.command, [dir.join("go").into_os_string(), "bart".into()]);
        assert!(peer("rte_lpm").find(&dir).is_err());
        write("pytricia/bin/python");
        assert!(peer("pytricia").find(&dir).is_err());
        write("pytricia/adapter.py");
        assert!(peer("pytricia").find(&dir).is_ok());
        assert!(peer("py-radix").find(&dir).is_err());
        fs::remove_dir_all(&dir).unwrap();
    }
}
