//! Maps.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;

use super::object::{self, field, number};
use super::{Error, address, bpf, name, own, text};

const MAP_CREATE: libc::c_int = 0;
const MAP_LOOKUP: libc::c_int = 1;
const MAP_UPDATE: libc::c_int = 2;
const MAP_DELETE: libc::c_int = 3;
const MAP_NEXT_KEY: libc::c_int = 4;
const MAP_FREEZE: libc::c_int = 22;
/// Memory of a map grows with its entries.
const NO_PREALLOC: u32 = 1;
const MAPPABLE: u32 = 1 << 10;

/// The arguments of `BPF_MAP_CREATE`.
#[repr(C)]
struct MapCreate {
    kind: u32,
    key_size: u32,
    value_size: u32,
    max_entries: u32,
    flags: u32,
    inner: u32,
    numa_node: u32,
    name: [u8; 16],
}

/// The arguments of the commands about an element of a map.
#[repr(C)]
struct MapElement {
    map: u32,
    _padding: u32,
    key: u64,
    /// The value, or the next key.
    value: u64,
    flags: u64,
}

/// The kind of a map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum MapKind {
    /// A hash map, whose memory grows with its entries.
    Hash,
    /// An array; its keys are numbers of 4 bytes. All values exist and are 0 at first.
    Array,
    /// An array whose memory a process can map: [`Map::memory`].
    MappableArray,
    /// An array for each CPU.
    PerCpuArray,
    /// The kernel's own longest-prefix match: keys are the length as a number of 4 bytes, then the address.
    LpmTrie,
    /// An array of maps; its values are descriptors of 4 bytes, and a program looks up a map.
    ArrayOfMaps,
    /// AF_XDP sockets by queue.
    XskMap,
}

impl MapKind {
    /// The number of `linux/bpf.h`, the flags, the kernel that has it, and its name in messages.
    fn parts(self) -> (u32, u32, &'static str, &'static str) {
        match self {
            Self::Hash => (1, NO_PREALLOC, "5.2", "hash map"),
            Self::Array => (2, 0, "5.2 (6.0 for values above 4 MiB)", "array"),
            Self::MappableArray => {
                (2, MAPPABLE, "5.5 (6.0 for values above 4 MiB)", "array that can be mapped")
            }
            Self::PerCpuArray => (6, 0, "5.2", "array for each CPU"),
            Self::LpmTrie => (11, NO_PREALLOC, "5.2", "LPM trie"),
            Self::ArrayOfMaps => (12, 0, "5.2", "array of maps"),
            Self::XskMap => (17, 0, "5.2", "map of AF_XDP sockets"),
        }
    }
}

/// The properties of a map to create.
#[derive(Clone, Copy, Debug)]
pub struct MapSpec<'a> {
    /// The kind.
    pub kind: MapKind,
    /// Its name for `bpftool`: up to 15 letters, digits, `_` and `.`.
    pub name: &'a str,
    /// Bytes of a key; 4 for arrays.
    pub key_size: u32,
    /// Bytes of a value; 4 for arrays of maps.
    pub value_size: u32,
    /// The number of elements of an array, the limit of other maps.
    pub max_entries: u32,
    /// For an array of maps: one of its maps. The others have the same kind and sizes.
    pub inner: Option<&'a Map>,
}

impl<'a> MapSpec<'a> {
    /// A map with keys of 4 bytes and without inner maps.
    #[must_use]
    pub fn new(kind: MapKind, name: &'a str, value_size: u32, max_entries: u32) -> Self {
        Self { kind, name, key_size: 4, value_size, max_entries, inner: None }
    }
}

/// The information of the kernel about a map.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct MapInfo {
    /// The number of its kind in `linux/bpf.h`.
    pub kind: u32,
    /// The kernel's number of the map.
    pub id: u32,
    /// Bytes of a key.
    pub key_size: u32,
    /// Bytes of a value.
    pub value_size: u32,
    /// The number of elements, or the limit.
    pub max_entries: u32,
    /// The flags of `linux/bpf.h`.
    pub flags: u32,
    /// The name.
    pub name: String,
}

/// A map of the kernel.
///
/// ```no_run
/// use longmatch_bpf::sys::{Map, MapKind, MapSpec};
/// let map = Map::create(&MapSpec::new(MapKind::Array, "example", 8, 16))?;
/// map.insert(&3_u32.to_ne_bytes(), &[7; 8])?;
/// assert_eq!(map.look_up(&3_u32.to_ne_bytes())?, Some(vec![7; 8]));
/// # Ok::<(), longmatch_bpf::sys::Error>(())
/// ```
#[derive(Debug)]
pub struct Map {
    descriptor: OwnedFd,
    key_size: usize,
    /// Bytes that a look-up writes: for all CPUs of an array for each CPU.
    value_size: usize,
    per_cpu: bool,
}

impl Map {
    /// Creates a map.
    ///
    /// # Errors
    /// If the kernel refuses: missing rights, too old a kernel, no memory.
    pub fn create(spec: &MapSpec<'_>) -> Result<Self, Error> {
        let (kind, flags, since, words) = spec.kind.parts();
        let mut arguments = MapCreate {
            kind,
            key_size: spec.key_size,
            value_size: spec.value_size,
            max_entries: spec.max_entries,
            flags,
            inner: spec.inner.map_or(0, |map| map.descriptor() as u32),
            numa_node: 0,
            name: name(spec.name),
        };
        // SAFETY: the structure is that of the command, and has no pointers.
        let descriptor = unsafe { bpf(MAP_CREATE, &mut arguments) };
        let (name, size) = (spec.name, spec.value_size);
        let action = format!("create the BPF map {name} ({words}, values of {size} bytes)");
        let descriptor = descriptor.map_err(Error::at(action, since))?;
        // SAFETY: the descriptor is new.
        Ok(Self::of(unsafe { own(descriptor) }, kind, [spec.key_size, size]))
    }

    fn of(descriptor: OwnedFd, kind: u32, [key_size, value_size]: [u32; 2]) -> Self {
        let per_cpu = kind == MapKind::PerCpuArray.parts().0;
        let one = value_size as usize;
        let value_size = if per_cpu { one.next_multiple_of(8) * possible_cpus() } else { one };
        Self { descriptor, key_size: key_size as usize, value_size, per_cpu }
    }

    /// A map from a descriptor of it, such as one from another process.
    ///
    /// # Errors
    /// If the descriptor is not that of a map.
    pub fn from_descriptor(descriptor: OwnedFd) -> Result<Self, Error> {
        let info = map_info(descriptor.as_fd())?;
        Ok(Self::of(descriptor, info.kind, [info.key_size, info.value_size]))
    }

    /// Opens a map that is pinned in the BPF file system.
    ///
    /// # Errors
    /// If there is no such pin, or another object is pinned there.
    pub fn open_pinned(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::from_descriptor(object::open(path.as_ref())?)
    }

    /// Opens the map with this number of the kernel's, as programs and arrays of maps name their maps.
    ///
    /// # Errors
    /// If there is no such map.
    pub fn open_id(id: u32) -> Result<Self, Error> {
        Self::from_descriptor(object::by_id(object::MAP_BY_ID, id)?)
    }

    /// Pins the map in the BPF file system: it stays after the process.
    ///
    /// # Errors
    /// If the path exists, or is not in the BPF file system.
    pub fn pin(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        object::pin(self.descriptor.as_fd(), path.as_ref())
    }

    /// The information of the kernel about the map.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn info(&self) -> Result<MapInfo, Error> {
        map_info(self.descriptor.as_fd())
    }

    /// The descriptor, for programs that use the map.
    #[must_use]
    pub fn descriptor(&self) -> RawFd {
        self.descriptor.as_raw_fd()
    }

    /// The arguments for an element, if the key and the value have the sizes of the map.
    fn element(&self, key: &[u8], value: (u64, usize)) -> io::Result<MapElement> {
        if key.len() != self.key_size || value.1 != self.value_size {
            let text = format!(
                "a key of {} and a value of {} bytes, in a map with {} and {}",
                key.len(),
                value.1,
                self.key_size,
                self.value_size
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let map = self.descriptor() as u32;
        Ok(MapElement { map, _padding: 0, key: address(key), value: value.0, flags: 0 })
    }

    /// Inserts or replaces an element; the value of an array for each CPU has those of all CPUs, each a multiple of 8 bytes.
    ///
    /// In an array of maps the value is a descriptor, and the call waits until no program uses the old map any more.
    ///
    /// # Errors
    /// If the sizes are not those of the map, or the kernel refuses.
    pub fn insert(&self, key: &[u8], value: &[u8]) -> Result<(), Error> {
        let inserted = self.element(key, (address(value), value.len())).and_then(|mut element| {
            // SAFETY: the key and the value have the sizes of the map, and live until the call ends.
            unsafe { bpf(MAP_UPDATE, &mut element) }
        });
        inserted.map(drop).map_err(Error::at("store an element of a BPF map", "5.2"))
    }

    /// Removes an element; returns whether it was there.
    ///
    /// # Errors
    /// If the size of the key is not that of the map, or the kernel refuses.
    pub fn remove(&self, key: &[u8]) -> Result<bool, Error> {
        let removed = self.element(key, (0, self.value_size)).and_then(|mut element| {
            // SAFETY: the key has the size of the map, and lives until the call ends.
            unsafe { bpf(MAP_DELETE, &mut element) }
        });
        match removed {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            other => {
                other.map(|_| true).map_err(Error::at("remove an element of a BPF map", "5.2"))
            }
        }
    }

    /// The value of a key; for an array for each CPU those of all CPUs, each a multiple of 8 bytes.
    ///
    /// # Errors
    /// If the size of the key is not that of the map, or the kernel refuses.
    pub fn look_up(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        let mut value = vec![0; self.value_size];
        let place = address(value.as_mut_ptr());
        let found = self.element(key, (place, value.len())).and_then(|mut element| {
            // SAFETY: the key has the size of the map, the kernel writes no more than the value's size, and both live until
            // the call ends.
            unsafe { bpf(MAP_LOOKUP, &mut element) }
        });
        match found {
            Ok(_) => Ok(Some(value)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::at("read an element of a BPF map", "5.2")(error)),
        }
    }

    /// The keys, in the order of the map. A hash map that changes meanwhile may give keys twice, or not all.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn keys(&self) -> Result<Vec<Vec<u8>>, Error> {
        let mut keys: Vec<Vec<u8>> = Vec::new();
        loop {
            let mut next = vec![0; self.key_size];
            let key = keys.last().map_or(0, |key| address(key.as_ptr()));
            let map = self.descriptor() as u32;
            let value = address(next.as_mut_ptr());
            let mut element = MapElement { map, _padding: 0, key, value, flags: 0 };
            // SAFETY: both keys have the size of the map, and live until the call ends; the first may be null.
            match unsafe { bpf(MAP_NEXT_KEY, &mut element) } {
                Ok(_) => keys.push(next),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(keys),
                Err(error) => return Err(Error::at("read the keys of a BPF map", "5.2")(error)),
            }
        }
    }

    /// Forbids changes by processes. Programs may still change the map.
    ///
    /// # Errors
    /// If a process has mapped its memory, or the kernel refuses.
    pub fn freeze(&self) -> Result<(), Error> {
        let mut descriptor = self.descriptor() as u32;
        // SAFETY: the command reads the number of a descriptor and no pointers.
        let frozen = unsafe { bpf(MAP_FREEZE, &mut descriptor) };
        frozen.map(drop).map_err(Error::at("freeze a BPF map", "5.2"))
    }

    /// The memory of a [`MapKind::MappableArray`], which programs read at the same time.
    ///
    /// # Errors
    /// If the map is of another kind, is frozen, or the kernel refuses.
    pub fn memory(&self) -> Result<Memory, Error> {
        let info = self.info()?;
        let bytes = info.value_size.next_multiple_of(8) as usize * info.max_entries as usize;
        let error = Error::at("map the memory of a BPF map", "5.5");
        if self.per_cpu || info.flags & MAPPABLE == 0 {
            return Err(error(io::Error::from_raw_os_error(libc::EINVAL)));
        }
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let (null, descriptor) = (std::ptr::null_mut(), self.descriptor());
        // SAFETY: the kernel chooses the address, so no memory of the process is replaced.
        let start = unsafe { libc::mmap(null, bytes, protection, libc::MAP_SHARED, descriptor, 0) };
        match NonNull::new(start.cast::<AtomicU32>()) {
            Some(words) if start != libc::MAP_FAILED => Ok(Memory { start: words, bytes }),
            _ => Err(error(io::Error::last_os_error())),
        }
    }
}

impl AsFd for Map {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

fn map_info(map: BorrowedFd<'_>) -> Result<MapInfo, Error> {
    let mut info = [0; 256];
    object::info(map, &mut info)?;
    Ok(MapInfo {
        kind: number(&info, 0),
        id: number(&info, 4),
        key_size: number(&info, 8),
        value_size: number(&info, 12),
        max_entries: number(&info, 16),
        flags: number(&info, 20),
        name: text(&field::<16>(&info, 24)),
    })
}

/// The memory of an array, shared with the kernel and its programs.
#[derive(Debug)]
pub struct Memory {
    start: NonNull<AtomicU32>,
    bytes: usize,
}

// SAFETY: the memory belongs to no thread, and is read and written by atomic operations alone.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// The memory as words. Programs see each store at once and whole.
    #[must_use]
    pub fn words(&self) -> &[AtomicU32] {
        // SAFETY: the mapping has this many bytes, begins at a page, and lives as long as `self`. Others change it, which
        // atomic types permit.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.bytes / 4) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and its slices have ended.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

/// The number of CPUs that the kernel has values for in an array for each CPU.
#[must_use]
pub fn possible_cpus() -> usize {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/possible").unwrap_or_default();
    let last = text.trim().rsplit([',', '-']).next().and_then(|last| last.parse::<usize>().ok());
    last.map_or(1, |last| last + 1)
}
