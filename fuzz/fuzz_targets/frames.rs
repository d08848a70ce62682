//! Frames through the parser and the forwarding of captures, compared with the reference of the
//! plain tests.
#![no_main]

#[allow(dead_code)]
#[path = "../../router/longmatch-forward/tests/reference/mod.rs"]
mod reference;

use std::cell::LazyCell;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use longmatch::{EngineKind, TableWriter};
use longmatch_forward::{Port, Target};

thread_local! {
    static ROUTER: LazyCell<(Vec<Arc<Port>>, TableWriter<Target>)> = LazyCell::new(|| {
        let ports = reference::ports();
        let table = reference::table(&ports, EngineKind::Folio);
        (ports, table)
    });
}

fuzz_target!(|bytes: &[u8]| {
    // The first byte is the frames' length in words, so that one input has several.
    let Some((&length, rest)) = bytes.split_first() else { return };
    let mut frames: Vec<_> =
        rest.chunks(usize::from(length).max(8) * 4).map(<[u8]>::to_vec).collect();
    // Nearly all frames would be dropped for a wrong checksum alone.
    for frame in &mut frames {
        if frame.len() >= 34 && length % 2 == 0 {
            reference::set_checksum(&mut frame[14..]);
        }
    }
    ROUTER.with(|router| reference::compare(&frames, &router.1, &router.0, 256));
});
