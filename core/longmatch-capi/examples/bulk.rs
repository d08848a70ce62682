//! Batches through the shared library beside the same batches through the crate, in one process, in turn:
//! `cargo build --profile capi -p longmatch-capi --example bulk && target/capi/examples/bulk target/capi/liblongmatch_capi.so TABLE.lm`.
//!
//! It prints nanoseconds of processor time an address: medians of the passes with their spread, and the median of the ratios of each pass.
//! Answers are compared before.

use std::env;
use std::error::Error;
use std::ffi::{CString, c_char, c_int, c_void};
use std::hint::black_box;
use std::ptr::null_mut;

use longmatch::NextHopId;
use longmatch::file::FileTable;

unsafe extern "C" {
    fn dlopen(path: *const c_char, mode: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn clock_gettime(clock: c_int, time: *mut [i64; 2]) -> c_int;
}

const NOW: c_int = 2;
/// The processor time of this thread.
const THREAD: c_int = 3;
const ADDRESSES: usize = 1 << 20;
const PASSES: usize = 21;

type Open = unsafe extern "C" fn(*const c_char, u32, *mut *mut c_void) -> i32;
type Bulk = unsafe extern "C" fn(*const c_void, *const u32, usize, usize, *mut u32) -> i32;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().collect();
    let [_, library, path] = &arguments[..] else {
        return Err("usage: bulk LIBRARY.so TABLE.lm".into());
    };
    let table = FileTable::open(path)?;
    // SAFETY: a text with a NUL at its end.
    let handle = unsafe { dlopen(CString::new(library.as_str())?.as_ptr(), NOW) };
    if handle.is_null() {
        return Err(format!("{library} cannot be loaded").into());
    }
    // SAFETY: a library, and a text with a NUL at its end.
    let symbol = |name: &std::ffi::CStr| unsafe { dlsym(handle, name.as_ptr()) };
    // SAFETY: the header declares this type.
    let open: Open = unsafe { std::mem::transmute(symbol(c"lm_open_file")) };
    // SAFETY: the header declares this type.
    let bulk: Bulk = unsafe { std::mem::transmute(symbol(c"lm_lookup_bulk4")) };
    let mut opened = null_mut();
    // SAFETY: a path, and a place of this function.
    if unsafe { open(CString::new(path.as_str())?.as_ptr(), 2, &mut opened) } != 0 {
        return Err(format!("{path} cannot be opened").into());
    }
    let mut random = 1_u64;
    let addresses: Vec<u32> = (0..ADDRESSES)
        .map(|_| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
        })
        .collect();
    let through_c = |addresses: &[u32], ids: &mut [u32]| {
        let (from, to) = (addresses.as_ptr(), ids.as_mut_ptr());
        // SAFETY: a table, and arrays of this length.
        let status = unsafe { bulk(opened, from, 4, addresses.len(), to) };
        assert_eq!(black_box(status), 0);
    };
    let (mut c, mut rust) = (vec![0_u32; ADDRESSES], vec![None; ADDRESSES]);
    for batch in [8, 32, 256, ADDRESSES] {
        let mut times = [(0.0, 0.0); PASSES];
        for (pass, time) in times.iter_mut().enumerate() {
            // The order changes from pass to pass.
            for turn in [pass % 2, 1 - pass % 2] {
                let batches = addresses.chunks(batch);
                let start = processor_time();
                match turn {
                    0 => batches.zip(c.chunks_mut(batch)).for_each(|(a, ids)| through_c(a, ids)),
                    _ => batches
                        .zip(rust.chunks_mut(batch))
                        .for_each(|(a, ids)| table.ipv4().lookup_batch(a, ids)),
                }
                let each = (processor_time() - start) / ADDRESSES as f64;
                *(if turn == 0 { &mut time.0 } else { &mut time.1 }) = each;
            }
        }
        if !c.iter().copied().eq(rust.iter().map(|id| NextHopId::to_raw(*id))) {
            return Err("the answers differ".into());
        }
        print(batch, &times);
    }
    Ok(())
}

/// Medians and quartiles of the passes.
fn print(batch: usize, times: &[(f64, f64); PASSES]) {
    let each = |of: fn(&(f64, f64)) -> f64| {
        let mut all: Vec<f64> = times.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        (all[PASSES / 2], all[PASSES / 4], all[3 * PASSES / 4])
    };
    let (c, rust, ratio) = (each(|it| it.0), each(|it| it.1), each(|it| it.0 / it.1));
    println!(
        "batch {batch}: C {c:.2?} ns, Rust {rust:.2?} ns, C / Rust {ratio:.3?} (median, quartiles)"
    );
}

/// Other programs of a busy machine do not count.
fn processor_time() -> f64 {
    let mut time = [0; 2];
    // SAFETY: a place of this function, with the layout of `timespec` on 64-bit Linux.
    assert_eq!(unsafe { clock_gettime(THREAD, &mut time) }, 0);
    time[0] as f64 * 1e9 + time[1] as f64
}
