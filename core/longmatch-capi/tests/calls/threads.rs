//! Lookups in threads under a writer.
#![allow(
    clippy::undocumented_unsafe_blocks,
    clippy::multiple_unsafe_ops_per_block,
    reason = "each block is a call by the rules of the header, with handles and memory of the test"
)]

use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use longmatch_capi::*;

use crate::Numbers;

const THREADS: u64 = 8;
const BATCH: usize = 32;

/// A handle for a thread.
struct Own<T>(*mut T);

// SAFETY: handles may move to another thread, as the header says.
unsafe impl<T> Send for Own<T> {}

impl<T> Own<T> {
    fn get(self) -> *mut T {
        self.0
    }
}

/// The 2^12 /16 of 0.0.0.0/4 have the id of their number plus one. The writer adds and removes a /24 in the middle of
/// each, whose id is that plus 2^20.
fn base(address: u32) -> u32 {
    (address >> 16) + 1
}

fn is_right(address: u32, id: u32) -> bool {
    let inside = address >> 8 & 0xff == 0x80;
    id == base(address) || inside && id == base(address) + (1 << 20)
}

fn writer(flags: u32) -> *mut lm_writer {
    let prefixes: Vec<[u8; 4]> = (0..1_u32 << 12).map(|i| (i << 16).to_be_bytes()).collect();
    let (lengths, ids) = (vec![16_u8; 1 << 12], (1..=1 << 12).collect::<Vec<u32>>());
    let (first, count) = (prefixes.as_ptr().cast(), ids.len());
    let routes = lm_routes { prefixes: first, lengths: lengths.as_ptr(), ids: ids.as_ptr(), count };
    let mut writer = null_mut();
    let made =
        unsafe { lm_writer_new(&routes, null(), size_of::<lm_routes>(), flags, &mut writer) };
    assert_eq!(made, LM_OK);
    writer
}

/// Looks up in batches; returns the number of wrong answers.
fn look_up(reader: Own<lm_reader>, lookups: u64, seed: u64) -> u64 {
    let reader = reader.get();
    let (mut numbers, mut wrong) = (Numbers::new(seed), 0);
    let mut ids = [0_u32; BATCH];
    let table = unsafe { lm_reader_table(reader) };
    assert_eq!(unsafe { lm_reader_online(reader) }, LM_OK);
    for _ in 0..lookups / BATCH as u64 {
        let addresses: [u32; BATCH] = std::array::from_fn(|i| {
            let random = (numbers.next() >> 36) as u32;
            if i % 2 == 0 { random } else { random & 0x0fff_00ff | 0x8000 }
        });
        let status =
            unsafe { lm_lookup_bulk4(table, addresses.as_ptr(), 4, BATCH, ids.as_mut_ptr()) };
        assert_eq!(status, LM_OK);
        wrong += addresses.iter().zip(ids).filter(|(address, id)| !is_right(**address, *id)).count()
            as u64;
        assert_eq!(unsafe { lm_reader_quiescent(reader) }, LM_OK);
    }
    assert_eq!(unsafe { lm_reader_free(reader) }, LM_OK);
    wrong
}

/// Changes routes until the readers have ended; returns the number of commits.
fn change(writer: *mut lm_writer, ended: &AtomicBool) -> u64 {
    let (mut numbers, mut commits) = (Numbers::new(9), 0);
    while !ended.load(Ordering::Relaxed) {
        for _ in 0..16 {
            let number = (numbers.next() >> 52) as u32;
            let prefix = (number << 16 | 0x8000).to_be_bytes();
            let at = prefix.as_ptr().cast();
            let status = match numbers.next() & 1 == 0 {
                true => unsafe { lm_writer_add(writer, LM_IPV4, at, 24, number + 1 + (1 << 20)) },
                false => unsafe { lm_writer_remove(writer, LM_IPV4, at, 24) },
            };
            assert!(status == LM_OK || status == LM_NO_MATCH, "{status}");
        }
        assert_eq!(unsafe { lm_writer_commit(writer) }, LM_OK);
        commits += 1;
    }
    commits
}

fn under_a_writer(lookups: u64, flags: u32) {
    let writer = writer(flags);
    let (ended, wrong) = (AtomicBool::new(false), AtomicU64::new(0));
    let commits = thread::scope(|scope| {
        let readers: Vec<_> = (0..THREADS)
            .map(|seed| {
                let mut reader = null_mut();
                assert_eq!(unsafe { lm_reader_new(writer, &mut reader) }, LM_OK);
                let reader = Own(reader);
                let wrong = &wrong;
                scope.spawn(move || {
                    let own = look_up(reader, lookups / THREADS, seed + 1);
                    wrong.fetch_add(own, Ordering::Relaxed);
                })
            })
            .collect();
        let (own, ended) = (Own(writer), &ended);
        let changes = scope.spawn(move || change(own.get(), ended));
        let results: Vec<_> = readers.into_iter().map(|reader| reader.join()).collect();
        ended.store(true, Ordering::Relaxed);
        results.into_iter().for_each(|result| result.expect("a reader ends"));
        changes.join().expect("the writer ends")
    });
    println!("{lookups} lookups in {THREADS} threads, {commits} commits");
    assert_eq!(wrong.into_inner(), 0);
    assert!(commits > 0);
    assert_eq!(unsafe { lm_writer_free(writer) }, LM_OK);
}

#[test]
fn lookups_in_threads_are_right_under_a_writer() {
    under_a_writer(1_000_000, 0);
    under_a_writer(1_000_000, LM_PREFIXES);
}

#[test]
#[ignore = "the long form"]
fn a_hundred_million_lookups_in_threads_are_right_under_a_writer() {
    under_a_writer(100_000_000, 0);
}
