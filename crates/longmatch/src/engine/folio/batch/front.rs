//! What the kernels of both forms of a table begin with: addresses in any layout, and the places of
//! their blocks in the root.

use super::super::root::{PLACES, REGION_BITS, Regions, Root, RootLayout};
use crate::engine::kit::KeyLayout;
use crate::net::Family;
use crate::simd::lanes::Lanes;
use crate::simd::prefetch_bytes;

/// [`KeyLayout`] as constants. IPv4 has no pairs.
pub(in super::super) const HOST: u8 = KeyLayout::Host as u8;
pub(in super::super) const PAIRS: u8 = KeyLayout::U64Pairs as u8;
pub(in super::super) const NETWORK: u8 = KeyLayout::Network as u8;

/// Whether integers have their lowest byte first in memory.
const LITTLE: bool = cfg!(target_endian = "little");

/// Prefetch distance of addresses, in bytes: the hardware's prefetching stops at the end of a
/// memory page.
const KEYS_AHEAD: usize = 4096;

/// Prefetches the addresses of vector `v` of a later group.
#[inline(always)]
pub(in super::super) fn prefetch_keys<L: Lanes, F: Family>(from: *const u8, v: usize) {
    let bytes = L::COUNT * usize::from(F::WIDTH / 8);
    let mut at = 0;
    while at < bytes {
        prefetch_bytes(from.wrapping_add(v * bytes + at + KEYS_AHEAD));
        at += 64;
    }
}

/// Reads a half of the addresses of vector `v`: the word first in network order, and the other.
///
/// IPv6 addresses are in the order of [`Lanes::load_records`].
///
/// # Safety
/// The addresses of vector `v` are readable, in the layout `IN`.
#[inline(always)]
pub(in super::super) unsafe fn half<L: Lanes, F: Family, const IN: u8>(
    l: L,
    from: *const u8,
    v: usize,
    half: usize,
) -> [L::V; 2] {
    let at = from.wrapping_add(v * L::COUNT * usize::from(F::WIDTH / 8));
    if F::WIDTH == 32 {
        // SAFETY: the addresses of vector `v` are readable, as the caller promises.
        let word = unsafe { l.load(at) };
        return [if IN == NETWORK && LITTLE { l.swap_bytes(word) } else { word }, l.splat(0)];
    }
    // A big-endian machine has all forms in network order.
    let upper = (half == 0) == (IN == HOST && LITTLE);
    let [even, odd] = match upper {
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

/// Replaces the first words of IPv6 addresses with what `entry` reads at the places of their blocks
/// in the root.
#[inline(always)]
pub(in super::super) fn replace_words<L: Lanes>(
    l: L,
    root: &Root,
    words: &mut [L::V],
    entry: impl Fn(L::V) -> L::V,
) {
    let shift = l.splat(32 - u32::from(root.bits));
    match &root.layout {
        RootLayout::Span { first, .. } => {
            let (first, last) = (l.splat(*first), l.splat(root.last));
            for word in words {
                *word = entry(l.min(l.sub(l.shr(*word, shift), first), last));
            }
        }
        RootLayout::Regions(regions) => {
            for word in words {
                let outside = l.splat(root.last);
                *word = entry(in_regions(l, regions, *word, l.shr(*word, shift), outside));
            }
        }
    }
}

/// Maps block numbers and the first words of addresses to places; to `outside` where they belong to
/// no region.
#[inline(always)]
fn in_regions<L: Lanes>(l: L, regions: &Regions, word: L::V, number: L::V, outside: L::V) -> L::V {
    let region_shift = l.splat((32 - REGION_BITS).into());
    let region = l.shr(word, region_shift);
    let hash = l.mul(region, l.splat(regions.multiplier));
    let place = l.look_up(&regions.places, l.shr(hash, l.splat(32 - PLACES.ilog2())));
    let stored = l.equal(l.shr(place, region_shift), region);
    let bits = u32::from(regions.block_bits);
    let start = l.shl(l.and(place, l.splat(PLACES as u32 - 1)), l.splat(bits));
    let index = l.or(start, l.and(number, l.splat((1 << bits) - 1)));
    l.select(stored, index, outside)
}
