//! The functions of the C shim, as `dpdk/shim.h` declares and documents them.

use std::ffi::{c_char, c_int};
use std::io;

/// DPDK's `rte_mbuf`: a buffer with a received frame.
#[repr(C)]
pub(super) struct Mbuf {
    _opaque: [u8; 0],
}

/// DPDK's `rte_mempool`: a pool of buffers.
#[repr(C)]
pub(super) struct Mempool {
    _opaque: [u8; 0],
}

/// The known properties of a port.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Info {
    pub(super) mac: [u8; 6],
    pub(super) mtu: u16,
    pub(super) if_index: u32,
    pub(super) max_rx_queues: u16,
    pub(super) max_tx_queues: u16,
}

// The layout in C: without padding.
const _: () = assert!(size_of::<Info>() == 16);

unsafe extern "C" {
    pub(super) fn lm_dpdk_init(argc: c_int, argv: *mut *mut c_char) -> c_int;
    pub(super) safe fn lm_dpdk_cpu() -> c_int;
    pub(super) fn lm_dpdk_probe(
        device: *const c_char,
        name: *const c_char,
        port: *mut u16,
    ) -> c_int;
    pub(super) fn lm_dpdk_info(port: u16, info: *mut Info) -> c_int;
    pub(super) fn lm_dpdk_set_mac(port: u16, mac: *const u8) -> c_int;
    pub(super) fn lm_dpdk_pool_create(
        name: *const c_char,
        buffers: u32,
        error: *mut c_int,
    ) -> *mut Mempool;
    pub(super) fn lm_dpdk_pool_free(pool: *mut Mempool);
    pub(super) fn lm_dpdk_adjust(
        port: u16,
        rx_descriptors: *mut u16,
        tx_descriptors: *mut u16,
    ) -> c_int;
    pub(super) fn lm_dpdk_start(
        port: u16,
        rx_queues: u16,
        rx_descriptors: u16,
        tx_queues: u16,
        tx_descriptors: u16,
        pools: *const *mut Mempool,
    ) -> c_int;
    pub(super) fn lm_dpdk_close(port: u16);
    pub(super) fn lm_dpdk_receive(
        port: u16,
        queue: u16,
        pool: *mut Mempool,
        buffers: *mut *mut Mbuf,
        bytes: *mut *mut u8,
        lengths: *mut u16,
        max: u16,
        dropped: *mut u64,
    ) -> u16;
    pub(super) fn lm_dpdk_transmit(
        port: u16,
        queue: u16,
        buffers: *mut *mut Mbuf,
        lengths: *const u16,
        count: u16,
    ) -> u16;
    pub(super) fn lm_dpdk_free(buffers: *mut *mut Mbuf, count: u16);
    pub(super) fn lm_dpdk_thread_register() -> c_int;
    pub(super) fn lm_dpdk_thread_unregister();
}

/// A result of the shim: not negative, or a negative errno.
pub(super) fn check(result: c_int) -> io::Result<c_int> {
    if result < 0 { Err(io::Error::from_raw_os_error(-result)) } else { Ok(result) }
}
