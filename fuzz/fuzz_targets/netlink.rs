//! Messages of rtnetlink through the decoder and the facts.
#![no_main]

use libfuzzer_sys::fuzz_target;
use longmatch_forward::io::Null;
use longmatch_forward::kernel::{Facts, decode};

fuzz_target!(|bytes: &[u8]| {
    let mut facts = Facts::new(&Null::ports(2));
    for event in decode(bytes, None).events {
        facts.apply(event);
    }
    facts.is_unsure();
});
