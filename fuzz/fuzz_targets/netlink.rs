//! Messages of rtnetlink through the decoder into the state.
#![no_main]

use libfuzzer_sys::fuzz_target;
use longmatch_forward::io::Null;
use longmatch_forward::kernel::{KernelState, decode};

fuzz_target!(|bytes: &[u8]| {
    let mut state = KernelState::new(&Null::ports(2));
    for event in decode(bytes, None).events {
        state.apply(event);
    }
    state.may_be_stale();
});
