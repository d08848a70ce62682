//! The threads that DPDK knows.

use std::cell::Cell;

use super::ffi;

/// Makes this thread one of DPDK's until it ends, if it is none yet.
///
/// Pools of buffers keep some for each thread of DPDK's; any other thread takes each batch from a
/// ring that all share, which is only slower. Therefore a failure, which means that
/// there are too many threads, is ignored.
#[inline]
pub(super) fn register() {
    // An error means that the thread ends: nothing is worth doing.
    let _ = REGISTRATION.try_with(|registration| {
        if !registration.tried.get() {
            registration.register();
        }
    });
}

thread_local! {
    static REGISTRATION: Registration =
        const { Registration { tried: Cell::new(false), done: Cell::new(false) } };
}

struct Registration {
    tried: Cell<bool>,
    /// Whether DPDK took the thread.
    done: Cell<bool>,
}

impl Registration {
    #[cold]
    fn register(&self) {
        self.tried.set(true);
        // SAFETY: DPDK was initialised, since only workers call this function.
        let result = unsafe { ffi::lm_dpdk_thread_register() };
        self.done.set(result != 0);
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        if self.done.get() {
            // SAFETY: this thread was registered by `register`, and DPDK is never shut down.
            unsafe { ffi::lm_dpdk_thread_unregister() };
        }
    }
}
