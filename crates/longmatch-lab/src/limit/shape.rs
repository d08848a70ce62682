//! The forms of keys as the vector kernels see them, which read them in place.

use longmatch::{Family, KeyLayout, Keys};

use super::Limit;

/// A form of a family's keys on x86-64: 32-bit words, the lowest byte first.
pub(super) trait Shape {
    /// Words of a key: 1 or 4.
    const WORDS: usize;
    /// Which word holds its first 32 bits.
    const FIRST: usize;
    /// Which word holds the 32 bits after these; unused where there are none.
    const SECOND: usize;
    /// Whether the bytes of a word are in network order.
    const SWAP: bool;
}

macro_rules! shapes {
    ($($name:ident: $words:expr, $first:expr, $second:expr, $swap:expr;)*) => {$(
        struct $name;
        impl Shape for $name {
            const WORDS: usize = $words;
            const FIRST: usize = $first;
            const SECOND: usize = $second;
            const SWAP: bool = $swap;
        }
    )*};
}

shapes! {
    Host4: 1, 0, 0, false;
    Network4: 1, 0, 0, true;
    Host6: 4, 3, 2, false;
    Halves6: 4, 1, 0, false;
    Network6: 4, 0, 1, true;
}

/// The loop for one level.
pub(super) trait Kernel: Copy {
    /// Keys in a vector.
    const LANES: usize;

    /// Answers keys of that shape into `out`, whose length is a multiple of [`Kernel::LANES`].
    ///
    /// # Safety
    /// As many keys as `out` has places begin at `keys`.
    unsafe fn read<S: Shape>(self, limit: &Limit, keys: *const u8, out: &mut [u32]);
}

/// Answers keys in vectors, and those that fill none one by one.
pub(super) fn read<F: Family, K: Kernel>(
    kernel: K,
    limit: &Limit,
    keys: Keys<'_, F>,
    out: &mut [u32],
) {
    let (vectors, rest) = out.split_at_mut(out.len() / K::LANES * K::LANES);
    let first_of_rest = vectors.len();
    assert!(keys.len() >= first_of_rest, "a key for each answer");
    let at = keys.as_ptr();
    match (F::WIDTH, keys.layout()) {
        // SAFETY: there are as many keys, checked above, and the shape is that of their form.
        (32, KeyLayout::Host) => unsafe { kernel.read::<Host4>(limit, at, vectors) },
        // SAFETY: as above.
        (32, _) => unsafe { kernel.read::<Network4>(limit, at, vectors) },
        // SAFETY: as above.
        (_, KeyLayout::Host) => unsafe { kernel.read::<Host6>(limit, at, vectors) },
        // SAFETY: as above.
        (_, KeyLayout::U64Pairs) => unsafe { kernel.read::<Halves6>(limit, at, vectors) },
        // SAFETY: as above.
        (_, KeyLayout::Network) => unsafe { kernel.read::<Network6>(limit, at, vectors) },
    }
    for (i, out) in rest.iter_mut().enumerate() {
        *out = limit.answer::<F>(keys.get(first_of_rest + i));
    }
}
