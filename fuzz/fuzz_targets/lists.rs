//! Lists of prefixes through the scanner, compared with the reference of the plain tests.
//!
//! Begin with the plain tests' corpus: `cargo +nightly fuzz run lists testdata/lists`.
#![no_main]

#[path = "../../crates/longmatch-feed/tests/reference/mod.rs"]
mod reference;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // The first byte chooses the options.
    let Some((&options, list)) = bytes.split_first() else { return };
    reference::compare(list, options & 1 == 1, options & 2 == 2);
});
