//! Rows of delimited text against the crate `csv`, by the reference of the plain tests.
#![no_main]

#[allow(dead_code)]
#[path = "../../core/longmatch-feed/tests/scan/reference.rs"]
mod reference;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // The first byte chooses the delimiter.
    let Some((&first, bytes)) = bytes.split_first() else { return };
    reference::check_words(bytes);
    reference::compare_csv(bytes, b",\t;|"[usize::from(first) % 4]);
});
