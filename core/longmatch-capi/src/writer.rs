//! Tables that one writer changes while readers look up.

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, Ordering};

use longmatch::{Answers, EngineKind, IpPrefix, NextHopId, Table, TableSpec, TableWriter};

use crate::handle::{Handle, Kind, Tagged, handle, lm_table};
use crate::live::{LiveTable, OFFLINE};
use crate::lookup::{LM_IPV4, LM_IPV6};
use crate::memory::{Read, misuse, out};
use crate::open::{LM_KEEP_MAPPED, LM_MASK, each_route, give, id_of, known, lm_routes, prefix};
use crate::status::{
    Failure, LM_E_FAMILY, LM_E_NULL, LM_E_THREAD, LM_NO_MATCH, LM_OK, Misuse, guarded, lm_status,
};

/// Flag of `lm_writer_new`: readers know the prefixes of answers, at the cost of memory for each route.
pub const LM_PREFIXES: u32 = 32;

/// The writer of a live table.
pub struct lm_writer {
    tagged: Tagged<Changes>,
}

/// A reader of a live table: one for each thread that looks up.
pub struct lm_reader {
    tagged: Tagged<lm_table>,
}

handle!(lm_writer, Changes, b"lm_write", "the writer is NULL");
handle!(lm_reader, lm_table, b"lm_readr", "the reader is NULL");

/// The state of a writer.
pub(crate) struct Changes {
    busy: AtomicBool,
    flags: u32,
    writer: UnsafeCell<TableWriter<NextHopId>>,
}

/// Compiles a table that changes while readers look up. The arrays of its first routes are those of `lm_build`; NULL
/// is none.
///
/// Flags: `LM_MASK`, `LM_KEEP_MAPPED`, `LM_PREFIXES`. On success `*writer` is the handle, else NULL.
///
/// Threads: any, at the same time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_writer_new(
    ipv4: *const lm_routes,
    ipv6: *const lm_routes,
    size: usize,
    flags: u32,
    writer: *mut *mut lm_writer,
) -> lm_status {
    let open = || {
        known(flags, LM_MASK | LM_KEEP_MAPPED | LM_PREFIXES)?;
        let mut table = Table::new();
        if flags & LM_KEEP_MAPPED != 0 {
            table = table.keep_mapped();
        }
        let mut insert = |prefix, id| match table.insert(prefix, id) {
            Ok(_) => Ok(()),
            Err(error) => Err(Failure::of(error.code(), error)),
        };
        // SAFETY: the caller's memory, by the header.
        unsafe { each_route((ipv4, ipv6), size, flags, &mut insert) }?;
        let answers = if flags & LM_PREFIXES != 0 { Answers::Routes } else { Answers::Values };
        let spec = TableSpec::new(EngineKind::Folio).answers(answers);
        let live = table.live(spec).map_err(|error| Failure::of(error.code(), error))?;
        let (busy, writer) = (AtomicBool::new(false), UnsafeCell::new(live));
        Ok(lm_writer::new(Changes { busy, flags, writer }))
    };
    // SAFETY: the caller's memory, by the header.
    unsafe { give(writer, open) }
}

impl lm_writer {
    /// Runs a change. Refuses a second one at the same time.
    ///
    /// # Safety
    /// A handle, by the header.
    unsafe fn run(
        handle: *mut Self,
        call: impl FnOnce(&mut TableWriter<NextHopId>, u32) -> Result<lm_status, Failure>,
    ) -> lm_status {
        guarded(|| {
            // SAFETY: the caller promises it.
            let own = &unsafe { Self::borrow(handle) }?.tagged.value;
            if own.busy.swap(true, Ordering::Acquire) {
                let text =
                    "another thread uses the writer now: let one thread write, or hold a lock";
                return Err(Failure::new(LM_E_THREAD, text));
            }
            // Stays set after a panic: the state of the writer is unknown then.
            // SAFETY: `busy` was not set, so nobody else uses the writer.
            let result = call(unsafe { &mut *own.writer.get() }, own.flags);
            own.busy.store(false, Ordering::Release);
            result
        })
    }
}

/// The prefix of a change.
///
/// # Safety
/// The memory is the caller's: 4 or 16 bytes, by the family.
unsafe fn changed(
    family: u8,
    bytes: *const c_void,
    length: u8,
    flags: u32,
) -> Result<IpPrefix, Failure> {
    if bytes.is_null() {
        return Err(misuse!(LM_E_NULL, "the prefix is NULL").into());
    }
    let address: IpAddr = match family {
        // SAFETY: not NULL, and the caller promises the rest.
        LM_IPV4 => Ipv4Addr::from(unsafe { bytes.cast::<[u8; 4]>().read() }).into(),
        // SAFETY: not NULL, and the caller promises the rest.
        LM_IPV6 => Ipv6Addr::from(unsafe { bytes.cast::<[u8; 16]>().read() }).into(),
        other => {
            let text = format!("the family {other} is neither LM_IPV4 (4) nor LM_IPV6 (6)");
            return Err(Failure::new(LM_E_FAMILY, text));
        }
    };
    prefix(address, length, flags)
}

/// Adds a route, or gives it another id. `prefix` has 4 or 16 bytes in network order. Readers see it after
/// `lm_writer_commit`.
///
/// Threads: one at a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_writer_add(
    writer: *mut lm_writer,
    family: u8,
    prefix: *const c_void,
    length: u8,
    id: u32,
) -> lm_status {
    let call = |writer: &mut TableWriter<NextHopId>, flags| {
        // SAFETY: the caller's memory, by the header.
        let prefix = unsafe { changed(family, prefix, length, flags) }?;
        writer.insert(prefix, id_of(id)?).map_err(|error| Failure::of(error.code(), error))?;
        Ok(LM_OK)
    };
    // SAFETY: a handle, by the header.
    unsafe { lm_writer::run(writer, call) }
}

/// Removes the route of exactly this prefix: `LM_OK`, or `LM_NO_MATCH` where there is none.
///
/// Threads: one at a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_writer_remove(
    writer: *mut lm_writer,
    family: u8,
    prefix: *const c_void,
    length: u8,
) -> lm_status {
    let call = |writer: &mut TableWriter<NextHopId>, flags| {
        // SAFETY: the caller's memory, by the header.
        let prefix = unsafe { changed(family, prefix, length, flags) }?;
        Ok(writer.remove(prefix).map_or(LM_NO_MATCH, |_| LM_OK))
    };
    // SAFETY: a handle, by the header.
    unsafe { lm_writer::run(writer, call) }
}

/// Makes all changes since the last commit visible to lookups that begin later. On an error the changes of the refused
/// family are undone.
///
/// Threads: one at a time. It does not wait for readers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_writer_commit(writer: *mut lm_writer) -> lm_status {
    let call = |writer: &mut TableWriter<NextHopId>, _| {
        writer.commit().map_err(|error| Failure::of(error.code(), error))?;
        Ok(LM_OK)
    };
    // SAFETY: a handle, by the header.
    unsafe { lm_writer::run(writer, call) }
}

/// Undoes all changes since the last commit.
///
/// Threads: one at a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_writer_roll_back(writer: *mut lm_writer) -> lm_status {
    let call = |writer: &mut TableWriter<NextHopId>, _| {
        writer.roll_back();
        Ok(LM_OK)
    };
    // SAFETY: a handle, by the header.
    unsafe { lm_writer::run(writer, call) }
}

/// Reuses memory that no reader can reach any more, as each commit does. `*bytes`, if `bytes` is not NULL, is what
/// readers may still be reading.
///
/// Threads: one at a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_writer_reclaim(writer: *mut lm_writer, bytes: *mut usize) -> lm_status {
    let call = |writer: &mut TableWriter<NextHopId>, _| {
        let retired = writer.reclaim();
        if !bytes.is_null() {
            // SAFETY: the caller's memory, by the header.
            *unsafe { out(bytes) }? = retired;
        }
        Ok(LM_OK)
    };
    // SAFETY: a handle, by the header.
    unsafe { lm_writer::run(writer, call) }
}

/// Sets the retired bytes above which commits are refused with `LM_E_RETIRED`; 256 MiB by default.
///
/// Threads: one at a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_writer_limit(writer: *mut lm_writer, bytes: usize) -> lm_status {
    let call = |writer: &mut TableWriter<NextHopId>, _| {
        writer.set_retired_limit(bytes);
        Ok(LM_OK)
    };
    // SAFETY: a handle, by the header.
    unsafe { lm_writer::run(writer, call) }
}

/// Frees a writer. NULL is none. Its readers keep the table as it is.
///
/// Threads: one, when no other uses the writer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_writer_free(writer: *mut lm_writer) -> lm_status {
    guarded(|| {
        // SAFETY: a handle that nobody uses any more, by the header.
        unsafe { lm_writer::free(writer) }?;
        Ok(LM_OK)
    })
}

/// Makes a reader, which is offline. It may outlive the writer. On success `*reader` is the handle, else NULL.
///
/// Threads: one at a time, together with the changes of the writer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_reader_new(
    writer: *mut lm_writer,
    reader: *mut *mut lm_reader,
) -> lm_status {
    let call = |writer: &mut TableWriter<NextHopId>, flags| {
        // SAFETY: the caller's memory, by the header.
        let place = unsafe { out(reader) }?;
        let live = LiveTable::new(writer.reader(), flags & LM_PREFIXES != 0);
        let table = lm_table::new(Kind::Live(live));
        *place = lm_reader::new(table).into_handle();
        Ok(LM_OK)
    };
    // SAFETY: the caller's memory, by the header.
    if let Ok(place) = unsafe { out(reader) } {
        *place = std::ptr::null_mut();
    }
    // SAFETY: a handle, by the header.
    unsafe { lm_writer::run(writer, call) }
}

impl lm_reader {
    /// # Safety
    /// A handle, by the header.
    #[inline(always)]
    unsafe fn live<'a>(reader: *mut Self) -> Read<&'a LiveTable> {
        // SAFETY: the caller promises it.
        match unsafe { Self::borrow(reader) }?.tagged.value.kind() {
            Kind::Live(live) => Ok(live),
            _ => Err(OFFLINE),
        }
    }
}

#[inline(always)]
fn end(result: Read<()>) -> lm_status {
    result.map_or_else(Misuse::status, |()| LM_OK)
}

/// Brings a reader online in this thread, until `lm_reader_offline`. From now on no memory that lookups reach is reused.
///
/// Threads: any; the reader then belongs to this one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_reader_online(reader: *mut lm_reader) -> lm_status {
    // SAFETY: a handle, by the header.
    end(unsafe { lm_reader::live(reader) }.and_then(LiveTable::go_online))
}

/// Announces that this thread holds no answers of earlier lookups, so that the writer can reuse memory: a load and a
/// store. Call it between batches.
///
/// Threads: the one in which the reader is online.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_reader_quiescent(reader: *mut lm_reader) -> lm_status {
    // SAFETY: a handle, by the header.
    end(unsafe { lm_reader::live(reader) }.and_then(LiveTable::quiescent))
}

/// Takes a reader offline, for a pause or for another thread.
///
/// Threads: the one in which the reader is online.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_reader_offline(reader: *mut lm_reader) -> lm_status {
    // SAFETY: a handle, by the header.
    end(unsafe { lm_reader::live(reader) }.and_then(LiveTable::go_offline))
}

/// Returns the table of a reader, for all lookups while the reader is online. The pointer lives as long as the reader. NULL
/// where the reader is none.
///
/// Threads: any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_reader_table(reader: *const lm_reader) -> *const lm_table {
    // SAFETY: a handle, by the header.
    match unsafe { lm_reader::borrow(reader) } {
        Ok(reader) => &raw const reader.tagged.value,
        Err(misuse) => {
            misuse.status();
            std::ptr::null()
        }
    }
}

/// Frees a reader, online or not. NULL is none.
///
/// Threads: one, when no other uses the reader or its table.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lm_reader_free(reader: *mut lm_reader) -> lm_status {
    guarded(|| {
        // SAFETY: a handle that nobody uses any more, by the header.
        unsafe { lm_reader::free(reader) }?;
        Ok(LM_OK)
    })
}
