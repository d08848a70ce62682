//! The upper halves of addresses in any layout, with which the kernels begin.

use crate::engine::kit::KeyLayout;
use crate::simd::lanes::Lanes;
use crate::simd::prefetch_bytes;

/// [`KeyLayout`] as constants.
pub(super) const HOST: u8 = KeyLayout::Host as u8;
pub(super) const PAIRS: u8 = KeyLayout::U64Pairs as u8;
pub(super) const NETWORK: u8 = KeyLayout::Network as u8;

/// Whether integers have their lowest byte first in memory.
const LITTLE: bool = cfg!(target_endian = "little");

/// Prefetch distance of addresses, in bytes: the hardware's prefetching stops at the end of a
/// memory page.
const KEYS_AHEAD: usize = 4096;

/// Bytes of a vector of addresses.
const fn bytes<L: Lanes>() -> usize {
    L::COUNT * size_of::<u128>()
}

/// Prefetches the addresses of vector `v` of a later group.
#[inline(always)]
pub(super) fn prefetch_keys<L: Lanes>(from: *const u8, v: usize) {
    let mut at = 0;
    while at < const { bytes::<L>() } {
        prefetch_bytes(from.wrapping_add(v * bytes::<L>() + at + KEYS_AHEAD));
        at += 64;
    }
}

/// Reads the upper halves of the addresses of vector `v`: the first word in network order, and the
/// second, in the order of [`Lanes::load_records`].
///
/// # Safety
/// The addresses of vector `v` are readable, in the layout `IN`.
#[inline(always)]
pub(super) unsafe fn upper<L: Lanes, const IN: u8>(l: L, from: *const u8, v: usize) -> [L::V; 2] {
    let at = from.wrapping_add(v * bytes::<L>());
    // A big-endian machine has all layouts in network order.
    let [even, odd] = match IN == HOST && LITTLE {
        // SAFETY: the addresses of vector `v` are readable, as the caller promises.
        true => unsafe { l.load_records::<true>(at) },
        // SAFETY: the addresses of vector `v` are readable, as the caller promises.
        false => unsafe { l.load_records::<false>(at) },
    };
    match IN {
        _ if !LITTLE => [even, odd],
        NETWORK => [l.swap_bytes(even), l.swap_bytes(odd)],
        _ => [odd, even],
    }
}
