//! Fields of JSON lines against `serde_json`, by the reference of the plain tests.
#![no_main]

#[allow(dead_code)]
#[path = "../../core/longmatch-feed/tests/scan/reference.rs"]
mod reference;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    reference::compare_ndjson(bytes);
});
