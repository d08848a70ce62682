//! Tables of compiled files and of arrays; reload.

use std::ffi::{CStr, c_char, c_void};
use std::fmt::Display;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicPtr, Ordering};

use longmatch::file::FileTable;
use longmatch::simd::{Level, Simd};
use longmatch::{Answers, EngineKind, Fib, IpPrefix, Ipv4, Ipv6, NextHopId, Rib};

use crate::handle::{Arrays, Handle, Kind, lm_table};
use crate::memory::{Read, array, misuse, out, put, text};
use crate::status::{
    Failure, LM_E_ALIGN, LM_E_CALLBACK, LM_E_FLAGS, LM_E_ID, LM_E_MEMORY, LM_E_NULL,
    LM_E_UNSUPPORTED, LM_OK, LM_UNCHANGED, guarded, lm_status,
};

/// Flag of opening: trust the content instead of verifying its checksums. Opening is faster then; damaged content may
/// give wrong answers, but no lookup reads outside of it.
pub const LM_TRUST: u32 = 1;
/// Flag of `lm_open_file`: read the file into memory instead of mapping it. The file may change afterwards.
pub const LM_COPY: u32 = 2;
/// Flag of `lm_open_memory`: use the memory where it lies, which must begin at a multiple of 64 and stay unchanged as
/// long as the table. Needs `LM_TRUST`.
pub const LM_BORROW: u32 = 4;
/// Flag of `lm_build` and `lm_writer_new`: set bits after the length of a prefix are cleared instead of refused.
pub const LM_MASK: u32 = 8;
/// Flag of `lm_build` and `lm_writer_new`: IPv4-mapped IPv6 addresses (`::ffff:0:0/96`) are looked up among IPv6 routes.
/// Without it they are IPv4 addresses.
pub const LM_KEEP_MAPPED: u32 = 16;

/// The greatest id of a value in arrays and live tables. 0 is no id.
pub const LM_MAX_ID: u32 = (1 << 30) - 1;

/// Ids are those of rows, plus one: `LM_ANSWERS` of `lm_table_info`.
pub const LM_ANSWERS_ROWS: u32 = 1;
/// Ids are those of routes, in order from 1 on.
pub const LM_ANSWERS_ROUTES: u32 = 2;
/// Ids are those that the caller gave.
pub const LM_ANSWERS_IDS: u32 = 3;

/// The numbers of a table.
#[repr(C)]
pub struct lm_info {
    /// The meaning of ids: `LM_ANSWERS_ROWS`, `LM_ANSWERS_ROUTES` or `LM_ANSWERS_IDS`.
    pub answers: u32,
    /// Columns of rows.
    pub columns: u32,
    /// Distinct rows.
    pub rows: u64,
    /// Routes of both families; 0 for a live table, whose writer knows them.
    pub routes: u64,
    /// Bytes that lookups read.
    pub bytes: u64,
}

/// Routes of one family as arrays of `count` items.
#[repr(C)]
pub struct lm_routes {
    /// The prefixes in network order: 4 bytes each for IPv4, 16 for IPv6.
    pub prefixes: *const c_void,
    /// The lengths in bits.
    pub lengths: *const u8,
    /// The ids: 1 to `LM_MAX_ID`. The last of equal prefixes counts.
    pub ids: *const u32,
    /// Number of routes.
    pub count: usize,
}

/// Reads the next bytes of a table into `buffer`: returns their number, at most `size`, 0 at the end, or a negative
/// number on an error. It must return: no exception and no `longjmp` leaves it.
pub type lm_read_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, buffer: *mut c_void, size: usize) -> i64>;

/// Returns the version of the library, such as "0.1.0".
///
/// Threads: any, at the same time.
#[unsafe(no_mangle)]
pub extern "C" fn lm_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// Returns the instructions that batches use on this CPU: "portable", "scalar", "avx2" or "avx512".
///
/// Threads: any, at the same time.
#[unsafe(no_mangle)]
pub extern "C" fn lm_instructions() -> *const c_char {
    let name: &CStr = match Simd::best().level() {
        Level::Avx512 => c"avx512",
        Level::Avx2 => c"avx2",
        Level::Scalar => c"scalar",
        _ => c"portable",
    };
    name.as_ptr()
}

/// Opens a compiled table. By default the file is mapped, so that all processes share its memory, and verified.
///
/// To replace a file that is open, write another one and rename it to its name, as `longmatch compile` does. A program
/// that writes into a mapped file or shortens it may crash this process. Verifying more than 2 MiB uses a second
/// thread, which has ended when the call returns.
///
/// Flags: `LM_TRUST`, `LM_COPY`. On success `*table` is the handle, else NULL.
///
/// Threads: any, at the same time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_open_file(
    path: *const c_char,
    flags: u32,
    table: *mut *mut lm_table,
) -> lm_status {
    // SAFETY: the caller's memory, by the header.
    let open = || unsafe { text(path) }.map_err(Failure::from).and_then(|path| file(path, flags));
    // SAFETY: the caller's memory, by the header.
    unsafe { give(table, open) }
}

fn file(path: &CStr, flags: u32) -> Result<lm_table, Failure> {
    known(flags, LM_TRUST | LM_COPY)?;
    let path = path_of(path)?;
    let opened = match (flags & LM_COPY != 0, flags & LM_TRUST != 0) {
        (true, false) => FileTable::open(&path),
        (true, true) => FileTable::open_trusted(&path),
        // SAFETY: the header asks the caller to replace files only.
        (false, false) => unsafe { FileTable::map(&path) },
        // SAFETY: as above.
        (false, true) => unsafe { FileTable::map_trusted(&path) },
    };
    let table = opened.map_err(|error| Failure::of(error.code(), error))?;
    Ok(lm_table::new(Kind::File { table, has_path: true }))
}

#[cfg(unix)]
fn path_of(path: &CStr) -> Result<PathBuf, Failure> {
    use std::os::unix::ffi::OsStrExt;
    Ok(std::ffi::OsStr::from_bytes(path.to_bytes()).into())
}

#[cfg(not(unix))]
fn path_of(path: &CStr) -> Result<PathBuf, Failure> {
    path.to_str()
        .map(PathBuf::from)
        .map_err(|error| Failure::new(crate::status::LM_E_IO, error.to_string()))
}

/// Opens a compiled table in memory, which is copied and verified. With `LM_BORROW | LM_TRUST` it is used where it lies,
/// and not verified.
///
/// On success `*table` is the handle, else NULL.
///
/// Threads: any, at the same time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_open_memory(
    bytes: *const c_void,
    size: usize,
    flags: u32,
    table: *mut *mut lm_table,
) -> lm_status {
    let open = || {
        known(flags, LM_TRUST | LM_BORROW)?;
        // SAFETY: the caller's memory, by the header; for ever only with `LM_BORROW`, which asks for it.
        let bytes: &'static [u8] = unsafe { array(bytes.cast::<u8>(), size) }?;
        match flags & LM_BORROW != 0 {
            false => copied(bytes),
            true => borrowed(bytes, flags),
        }
    };
    // SAFETY: the caller's memory, by the header.
    unsafe { give(table, open) }
}

fn copied(bytes: &[u8]) -> Result<lm_table, Failure> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(bytes.len()).map_err(no_memory)?;
    copy.extend_from_slice(bytes);
    of_file(FileTable::from_bytes(copy))
}

fn borrowed(bytes: &'static [u8], flags: u32) -> Result<lm_table, Failure> {
    if flags & LM_TRUST == 0 {
        let text = "LM_BORROW needs LM_TRUST: memory of the caller is not verified";
        return Err(Failure::new(LM_E_FLAGS, text));
    }
    if !bytes.as_ptr().addr().is_multiple_of(64) {
        let text = "LM_BORROW needs memory that begins at a multiple of 64: align it, or leave out LM_BORROW";
        return Err(Failure::new(LM_E_ALIGN, text));
    }
    of_file(FileTable::from_static(bytes))
}

fn of_file(opened: Result<FileTable, longmatch::file::FileError>) -> Result<lm_table, Failure> {
    let table = opened.map_err(|error| Failure::of(error.code(), error))?;
    Ok(lm_table::new(Kind::File { table, has_path: false }))
}

fn no_memory(error: impl Display) -> Failure {
    Failure::new(LM_E_MEMORY, format!("the table cannot be held: {error}"))
}

/// Opens a compiled table that a callback reads from its beginning to its end, and verifies it.
///
/// No flag exists yet: pass 0. On success `*table` is the handle, else NULL.
///
/// Threads: any, at the same time; the callback runs in the caller's thread before the call returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_open_callback(
    read: lm_read_fn,
    user: *mut c_void,
    flags: u32,
    table: *mut *mut lm_table,
) -> lm_status {
    let open = || {
        known(flags, 0)?;
        let read = read.ok_or(misuse!(LM_E_NULL, "the callback is NULL"))?;
        // SAFETY: the memory and the callback of the caller, by the header.
        let all =
            collect(|buffer| unsafe { read(user, buffer.as_mut_ptr().cast(), buffer.len()) })?;
        of_file(FileTable::from_bytes(all))
    };
    // SAFETY: the caller's memory, by the header.
    unsafe { give(table, open) }
}

/// All that a callback reads.
fn collect(mut read: impl FnMut(&mut [u8]) -> i64) -> Result<Vec<u8>, Failure> {
    const PART: usize = 1 << 16;
    let (mut all, mut buffer) = (Vec::new(), vec![0; PART]);
    loop {
        match read(&mut buffer) {
            0 => return Ok(all),
            count => match usize::try_from(count).ok().and_then(|count| buffer.get(..count)) {
                Some(bytes) => {
                    all.try_reserve(bytes.len()).map_err(no_memory)?;
                    all.extend_from_slice(bytes);
                }
                None => {
                    let text =
                        format!("the callback returned {count} for a buffer of {PART} bytes");
                    return Err(Failure::new(LM_E_CALLBACK, text));
                }
            },
        }
    }
}

/// Compiles routes of arrays. Lookups return the ids of the arrays; small ids make a small table.
///
/// A family without routes is NULL. `size` is `sizeof(lm_routes)`. Flags: `LM_MASK`, `LM_KEEP_MAPPED`. On success
/// `*table` is the handle, else NULL.
///
/// Threads: any, at the same time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_build(
    ipv4: *const lm_routes,
    ipv6: *const lm_routes,
    size: usize,
    flags: u32,
    table: *mut *mut lm_table,
) -> lm_status {
    let open = || {
        known(flags, LM_MASK | LM_KEEP_MAPPED)?;
        let mut built = Arrays::empty(flags & LM_KEEP_MAPPED != 0);
        // SAFETY: the caller's memory, by the header.
        unsafe {
            each_route((ipv4, ipv6), size, flags, &mut |prefix, id| built.insert(prefix, id))
        }?;
        built.compile()?;
        Ok(lm_table::new(Kind::Arrays(built)))
    };
    // SAFETY: the caller's memory, by the header.
    unsafe { give(table, open) }
}

impl Arrays {
    fn empty(keep_mapped: bool) -> Self {
        let routes = Box::new((Rib::new(), Rib::new()));
        let empty = "a table without routes can be compiled";
        let ipv4 = Fib::<Ipv4>::compile(&routes.0, EngineKind::Folio).expect(empty);
        let ipv6 = Fib::<Ipv6>::compile(&routes.1, EngineKind::Folio).expect(empty);
        Self { ipv4, ipv6, routes, keep_mapped }
    }

    fn insert(&mut self, prefix: IpPrefix, id: NextHopId) -> Result<(), Failure> {
        let prefix = if self.keep_mapped { prefix } else { prefix.unmapped() };
        let full = |error: longmatch::RibFull| Failure::of(error.code(), error);
        match prefix {
            IpPrefix::V4(prefix) => self.routes.0.insert(prefix, id).map(drop).map_err(full),
            IpPrefix::V6(prefix) => self.routes.1.insert(prefix, id).map(drop).map_err(full),
        }
    }

    fn compile(&mut self) -> Result<(), Failure> {
        let failed = |error: longmatch::CompileError| Failure::of(error.code(), error);
        self.ipv4 = Fib::compile(&self.routes.0, EngineKind::Folio).map_err(failed)?;
        self.ipv6 = Fib::compile(&self.routes.1, EngineKind::Folio).map_err(failed)?;
        Ok(())
    }
}

/// Calls `insert` with each route of both families.
///
/// # Safety
/// The arrays are the caller's, valid for reads.
pub(crate) unsafe fn each_route(
    (ipv4, ipv6): (*const lm_routes, *const lm_routes),
    size: usize,
    flags: u32,
    insert: &mut dyn FnMut(IpPrefix, NextHopId) -> Result<(), Failure>,
) -> Result<(), Failure> {
    // SAFETY: the caller promises it.
    if let Some(routes) = unsafe { given(ipv4, size) }? {
        // SAFETY: as above.
        unsafe { routes.each::<4>("IPv4", flags, |it| Ipv4Addr::from(it).into(), insert) }?;
    }
    // SAFETY: the caller promises it.
    if let Some(routes) = unsafe { given(ipv6, size) }? {
        // SAFETY: as above.
        unsafe { routes.each::<16>("IPv6", flags, |it| Ipv6Addr::from(it).into(), insert) }?;
    }
    Ok(())
}

/// The routes of a family, if there are any.
///
/// # Safety
/// The pointer is NULL or valid for reads.
unsafe fn given<'a>(routes: *const lm_routes, size: usize) -> Read<Option<&'a lm_routes>> {
    if routes.is_null() {
        return Ok(None);
    }
    if size != size_of::<lm_routes>() {
        return Err(misuse!(
            crate::status::LM_E_SIZE,
            "the size of lm_routes is none of a known version: pass sizeof(lm_routes)"
        ));
    }
    // SAFETY: the caller promises it.
    Ok(Some(unsafe { &array(routes, 1)?[0] }))
}

impl lm_routes {
    /// # Safety
    /// The arrays are valid for reads.
    unsafe fn each<const N: usize>(
        &self,
        family: &str,
        flags: u32,
        address: impl Fn([u8; N]) -> IpAddr,
        insert: &mut dyn FnMut(IpPrefix, NextHopId) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        // SAFETY: the caller promises it.
        let prefixes = unsafe { array(self.prefixes.cast::<[u8; N]>(), self.count) }?;
        // SAFETY: the caller promises it.
        let lengths = unsafe { array(self.lengths, self.count) }?;
        // SAFETY: the caller promises it.
        let ids = unsafe { array(self.ids, self.count) }?;
        for (i, ((bytes, length), id)) in prefixes.iter().zip(lengths).zip(ids).enumerate() {
            let failed = |failure: Failure| {
                Failure::new(failure.status, format!("{family} route {i}: {}", failure.text))
            };
            let prefix = prefix(address(*bytes), *length, flags).map_err(failed)?;
            insert(prefix, id_of(*id).map_err(failed)?).map_err(failed)?;
        }
        Ok(())
    }
}

/// A prefix of the caller.
pub(crate) fn prefix(address: IpAddr, length: u8, flags: u32) -> Result<IpPrefix, Failure> {
    let prefix = match flags & LM_MASK != 0 {
        true => IpPrefix::masked(address, length),
        false => IpPrefix::new(address, length),
    };
    prefix.map_err(|error| Failure::of(error.code(), format!("{address}/{length}: {error}")))
}

/// An id of the caller.
pub(crate) fn id_of(id: u32) -> Result<NextHopId, Failure> {
    let known = NextHopId::new(id).filter(|id| id.get() <= LM_MAX_ID);
    known.ok_or_else(|| {
        Failure::new(LM_E_ID, format!("the id {id} is not between 1 and {LM_MAX_ID}"))
    })
}

/// Refuses flags that a call does not have.
pub(crate) fn known(flags: u32, possible: u32) -> Result<(), Failure> {
    match flags & !possible {
        0 => Ok(()),
        wrong => Err(Failure::new(LM_E_FLAGS, format!("the call has no flag {wrong:#x}"))),
    }
}

/// Opens a table and gives its handle to the caller.
///
/// # Safety
/// The place is the caller's: NULL, or valid for writes.
pub(crate) unsafe fn give<T: Handle>(
    place: *mut *mut T,
    open: impl FnOnce() -> Result<T, Failure>,
) -> lm_status {
    guarded(|| {
        // SAFETY: the caller promises it.
        let place = unsafe { out(place) }?;
        *place = std::ptr::null_mut();
        // Detects the CPU's instructions now, so that no lookup has to.
        let _ = Simd::best();
        *place = open()?.into_handle();
        Ok(LM_OK)
    })
}

/// Opens the file of a table again, if another one has its name now: `LM_OK` and a new handle, or `LM_UNCHANGED` and
/// NULL. The old handle stays valid, so that lookups go on until the caller has freed it.
///
/// Threads: any, at the same time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_reopen(table: *const lm_table, fresh: *mut *mut lm_table) -> lm_status {
    guarded(|| {
        // SAFETY: the caller's memory, by the header.
        let fresh = unsafe { out(fresh) }?;
        *fresh = std::ptr::null_mut();
        // SAFETY: a handle, by the header.
        let table = unsafe { lm_table::borrow(table) }?;
        let Kind::File { table, has_path: true } = table.kind() else {
            return Err(Failure::new(
                LM_E_UNSUPPORTED,
                "the table does not come from lm_open_file",
            ));
        };
        let mut table = table.clone();
        match table.reload().map_err(|error| Failure::of(error.code(), error))? {
            false => Ok(LM_UNCHANGED),
            true => {
                *fresh = lm_table::new(Kind::File { table, has_path: true }).into_handle();
                Ok(LM_OK)
            }
        }
    })
}

/// Stores a handle at a place that threads share, and returns the one that was there: an atomic exchange. The caller
/// frees the old handle after a grace period, when no thread uses it any more. NULL where the place is NULL.
///
/// Threads: any, at the same time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_swap(place: *mut *mut lm_table, table: *mut lm_table) -> *mut lm_table {
    // SAFETY: the caller's memory, by the header.
    match unsafe { out(place) } {
        // SAFETY: valid and aligned; all threads use it through this library or atomically.
        Ok(place) => unsafe { AtomicPtr::from_ptr(place) }.swap(table, Ordering::AcqRel),
        Err(misuse) => {
            misuse.status();
            std::ptr::null_mut()
        }
    }
}

/// Loads the handle at a place that threads share, for lookups until the thread's next quiescent state. NULL where the
/// place is NULL.
///
/// Threads: any, at the same time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_load(place: *mut *mut lm_table) -> *mut lm_table {
    // SAFETY: the caller's memory, by the header.
    match unsafe { out(place) } {
        // SAFETY: valid and aligned; all threads use it through this library or atomically.
        Ok(place) => unsafe { AtomicPtr::from_ptr(place) }.load(Ordering::Acquire),
        Err(misuse) => {
            misuse.status();
            std::ptr::null_mut()
        }
    }
}

/// Frees a table. NULL is none. The table of a reader is freed with the reader: `LM_E_HANDLE`.
///
/// Threads: one, when no other uses the table any more. Texts of the table's cells end with it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_free(table: *mut lm_table) -> lm_status {
    guarded(|| {
        // SAFETY: a handle, by the header.
        if !table.is_null() && matches!(unsafe { lm_table::borrow(table) }?.kind(), Kind::Live(_)) {
            let text = "the table of a reader is not freed: free the reader";
            return Err(Failure::new(crate::status::LM_E_HANDLE, text));
        }
        // SAFETY: a handle that nobody uses any more, by the header.
        unsafe { lm_table::free(table) }?;
        Ok(LM_OK)
    })
}

/// Describes a table. `size` is `sizeof(lm_info)`.
///
/// Threads: those that may look up in the table, at the same time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_table_info(
    table: *const lm_table,
    info: *mut lm_info,
    size: usize,
) -> lm_status {
    guarded(|| {
        // SAFETY: a handle, by the header.
        let table = unsafe { lm_table::borrow(table) }?;
        // SAFETY: the caller's memory, by the header.
        Ok(unsafe { put(info, size, table.info()?) }?)
    })
}

impl lm_table {
    fn info(&self) -> Read<lm_info> {
        Ok(match self.kind() {
            Kind::File { table, .. } => lm_info {
                answers: match table.answers() {
                    Answers::Routes => LM_ANSWERS_ROUTES,
                    Answers::Values => LM_ANSWERS_ROWS,
                },
                columns: table.columns().len() as u32,
                rows: table.row_count() as u64,
                routes: table.len() as u64,
                bytes: bytes(table.ipv4(), table.ipv6()),
            },
            Kind::Arrays(arrays) => lm_info {
                answers: LM_ANSWERS_IDS,
                columns: 0,
                rows: 0,
                routes: (arrays.routes.0.len() + arrays.routes.1.len()) as u64,
                bytes: bytes(&arrays.ipv4, &arrays.ipv6),
            },
            Kind::Live(live) => {
                let view = live.view()?;
                let bytes = view.ipv4().memory_usage().bytes() + view.ipv6().memory_usage().bytes();
                let (answers, bytes) = (LM_ANSWERS_IDS, bytes as u64);
                lm_info { answers, columns: 0, rows: 0, routes: 0, bytes }
            }
        })
    }
}

fn bytes(ipv4: &Fib<Ipv4>, ipv6: &Fib<Ipv6>) -> u64 {
    (ipv4.memory_usage().bytes() + ipv6.memory_usage().bytes()) as u64
}
