//! Tables in maps of the kernel: versions, their replacement, and small changes.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::asm::{Assembler, If, Label, MAP_LOOKUP, R0, R1, R2, Register, STACK, Width};
use crate::layout::{Search, Shape, Words};
use crate::sys::{Error, Map, MapKind, MapSpec, Memory};
use crate::{KernelTable, Patch};

/// The first kernel with arrays of this size that a process can map.
const SINCE: &str = "5.5 (6.0 for values above 4 MiB)";

/// One version of tables in the kernel: an array of one element.
///
/// ```no_run
/// use longmatch::{Ipv4, Ipv6, Rib};
/// use longmatch_bpf::{KernelTable, Version};
/// let table = KernelTable::build(&[(&Rib::<Ipv4>::new(), &Rib::<Ipv6>::new())])?;
/// let version = Version::load("blocklist", &table)?;
/// assert_eq!(version.lookup(0, "192.0.2.1".parse()?), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Version {
    map: Map,
    memory: Memory,
    shape: Shape,
}

impl Words for [AtomicU32] {
    fn word(&self, place: usize) -> u32 {
        self.get(place).map_or(0, |word| word.load(Ordering::Relaxed))
    }
}

impl Version {
    /// Makes a map of this name and writes the table into it.
    ///
    /// # Errors
    /// If the kernel refuses: missing rights, too old a kernel, no memory.
    pub fn load(name: &str, table: &KernelTable) -> Result<Self, Error> {
        let shape = table.shape();
        let version = Self::empty(name, shape)?;
        let (words, header) = table.words();
        let memory = version.memory.words();
        memory.iter().zip(words).for_each(|(to, from)| to.store(*from, Ordering::Relaxed));
        let tail = memory.iter().skip(shape.capacity() as usize / 4);
        tail.zip(header).for_each(|(to, from)| to.store(from, Ordering::Release));
        Ok(version)
    }

    /// A version in which nothing matches, but that no program may read: its words lead nowhere.
    fn empty(name: &str, shape: Shape) -> Result<Self, Error> {
        let map = Map::create(&MapSpec::new(MapKind::MappableArray, name, shape.value_size(), 1))?;
        let memory = map.memory()?;
        Ok(Self { map, memory, shape })
    }

    /// The tables, to change them: [`KernelTable::change`] and [`publish`](Self::publish). O(words in use).
    #[must_use]
    pub fn table(&self) -> KernelTable {
        let words = self.memory.words();
        let used = words.word(self.shape.used()).min(self.shape.capacity() / 4) as usize;
        let words = words.iter().take(used).map(|word| word.load(Ordering::Acquire));
        KernelTable::of_words(self.shape, words.collect())
    }

    /// The version that a map has, such as one that was pinned by another process.
    ///
    /// # Errors
    /// If the map has no table of this layout.
    pub fn open(map: Map) -> Result<Self, Error> {
        let info = map.info()?;
        let memory = map.memory()?;
        let words = memory.words();
        // The header is in the last 4 KiB.
        let header = (info.value_size as usize / 4).saturating_sub(1024);
        let header = std::array::from_fn(|word| words.word(header + word));
        match Shape::of_header(header) {
            Some(shape) if shape.value_size() == info.value_size => Ok(Self { map, memory, shape }),
            _ => {
                let text = "it has no table, or one of another version of longmatch";
                let error = io::Error::new(io::ErrorKind::InvalidData, text);
                Err(Error::at(format!("read the BPF map {}", info.name), SINCE)(error))
            }
        }
    }

    /// The map, for programs that use this version alone: [`Assembler::map_value`].
    #[must_use]
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// The shape.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The value of an address in a table, as programs find it: 0 for no match.
    #[must_use]
    pub fn lookup(&self, table: u32, addr: std::net::IpAddr) -> u32 {
        let search = Search { words: self.memory.words(), shape: self.shape };
        match addr {
            _ if table >= self.shape.tables() => 0,
            std::net::IpAddr::V4(addr) => search.lookup4(table, addr.to_bits()),
            std::net::IpAddr::V6(addr) => search.lookup6(table, addr.to_bits()),
        }
    }

    /// Stores a change of the table that this version was loaded from, or that [`table`](Self::table) returned; each change
    /// once, in their order. Other processes must not change the version meanwhile.
    ///
    /// A program that runs meanwhile finds the answer of before or after, for each lookup.
    pub fn publish(&self, patch: &Patch) {
        let words = self.memory.words();
        // First: a process that is killed below leaves words that are unused, never words that the next change overwrites.
        if let Some(used) = words.get(self.shape.used()) {
            used.store((patch.first_new + patch.new.len()) as u32, Ordering::SeqCst);
        }
        let new = words.iter().skip(patch.first_new).zip(&patch.new);
        new.for_each(|(to, from)| to.store(*from, Ordering::Relaxed));
        for (place, word) in &patch.roots {
            if let Some(root) = words.get(*place) {
                // After all that it leads to.
                root.store(*word, Ordering::Release);
            }
        }
    }
}

/// The version that an array of maps has.
fn current(map: &Map) -> Result<Version, Error> {
    let id = map.look_up(&[0; 4])?.and_then(|id| id.try_into().ok());
    Version::open(Map::open_id(id.map_or(0, u32::from_ne_bytes))?)
}

/// Versions that are replaced while programs run: an array of maps.
///
/// A program reads the pointer to the version once for a packet ([`Versions::emit`]), and uses that version to its end.
///
/// ```no_run
/// use longmatch::{Ipv4, Ipv6, Rib};
/// use longmatch_bpf::{KernelTable, Version, Versions};
/// let (v4, v6) = (Rib::<Ipv4>::new(), Rib::<Ipv6>::new());
/// let first = KernelTable::build(&[(&v4, &v6)])?;
/// let versions = Versions::new("lists", &Version::load("list", &first)?)?;
/// // Later:
/// let next = KernelTable::build_for(versions.shape(), &[(&v4, &v6)])?;
/// versions.replace(&Version::load("list", &next)?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Versions {
    map: Map,
    shape: Shape,
}

impl Versions {
    /// An array of maps of this name, with one version.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn new(name: &str, first: &Version) -> Result<Self, Error> {
        let spec = MapSpec::new(MapKind::ArrayOfMaps, name, 4, 1);
        let map = Map::create(&MapSpec { inner: Some(&first.map), ..spec })?;
        let versions = Self { map, shape: first.shape };
        versions.replace(first)?;
        Ok(versions)
    }

    /// The versions that a map has, such as one that was pinned by another process.
    ///
    /// # Errors
    /// If the map has no versions of this layout.
    pub fn open(map: Map) -> Result<Self, Error> {
        let shape = current(&map)?.shape;
        Ok(Self { map, shape })
    }

    /// Opens versions that are pinned in the BPF file system.
    ///
    /// # Errors
    /// If there is no such pin, or it has no versions of this layout.
    pub fn open_pinned(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open(Map::open_pinned(path)?)
    }

    /// The version that programs use now.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn current(&self) -> Result<Version, Error> {
        current(&self.map)
    }

    /// Puts a version of the same shape in the place of the one before.
    ///
    /// When the call returns, no program uses the old version any more: the kernel has waited for all that ran. The old one is
    /// freed when its descriptors are closed.
    ///
    /// # Errors
    /// If the shapes differ, or the kernel refuses.
    pub fn replace(&self, version: &Version) -> Result<(), Error> {
        if version.shape != self.shape {
            let text = "the shapes differ; load the program again with versions of the new shape";
            let error = io::Error::new(io::ErrorKind::InvalidInput, text);
            return Err(Error::at("replace tables in the kernel", SINCE)(error));
        }
        self.map.insert(&[0; 4], &version.map.descriptor().to_ne_bytes())
    }

    /// The map, to pin it.
    #[must_use]
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// The shape of all versions.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Emits the instructions that find the current version: `base`, one of r6 to r9, becomes a pointer to it, for
    /// [`emit_lookup4`](crate::emit_lookup4) and [`emit_lookup6`](crate::emit_lookup6). r0 to r5 are lost, and so are the 4
    /// bytes of the stack at `key`, which is at most -4 and a multiple of 4. Without a version, which never happens, the
    /// program jumps to `none`.
    pub fn emit(&self, asm: &mut Assembler, base: Register, key: i16, none: Label) {
        asm.store_immediate(STACK, key, 0, Width::Four);
        asm.look_up(self.map.descriptor(), key);
        asm.jump_by_null(If::Equal, none);
        asm.copy(R1, R0);
        asm.copy(R2, STACK);
        asm.add(R2, key.into());
        asm.call(MAP_LOOKUP);
        asm.jump_by_null(If::Equal, none);
        asm.copy(base, R0);
    }
}
