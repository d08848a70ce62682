//! Sequences of calls of the C library, compared with a linear scan as in the plain tests.
#![no_main]

#[path = "../../core/longmatch-capi/tests/calls/sequence.rs"]
mod sequence;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    sequence::run(bytes);
});
