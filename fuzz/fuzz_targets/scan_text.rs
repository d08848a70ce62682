//! The first address on a line against an expression and the standard library, by the reference of the plain tests.
#![no_main]

#[allow(dead_code)]
#[path = "../../core/longmatch-feed/tests/scan/reference.rs"]
mod reference;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    reference::compare_text(bytes);
});
