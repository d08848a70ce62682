//! Any bytes through the recogniser and the readers of every format: no panic, bounded memory, and one answer of routes,
//! prefix data and sets.
//!
//! Begin with the corpus: `cargo +nightly fuzz run recognise testdata/formats testdata/feed testdata/lists`.
#![no_main]

#[path = "../../core/longmatch-feed/tests/same/compare.rs"]
mod compare;

use libfuzzer_sys::fuzz_target;
use longmatch_feed::Options;

fuzz_target!(|bytes: &[u8]| {
    // The first byte chooses the options.
    let Some((&choice, input)) = bytes.split_first() else { return };
    let mut options = Options::default();
    options.lenient = choice & 1 == 1;
    options.mask_host_bits = choice & 2 == 2;
    compare::compare(input, &options);
});
