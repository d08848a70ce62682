//! The kernels whose machine code `cargo xtask asm` counts.
//!
//! The engines are generic, so their machine code is generated where they are used. Each line of the table below uses
//! an engine with both methods for many addresses, at every SIMD level. Nothing calls these functions: they are only
//! compiled, and `cargo xtask asm` follows their calls and lists each under its name in the table.

use longmatch::engine::dir24_8::Dir24_8;
use longmatch::engine::dxr::{Dxr, Long, Original};
use longmatch::engine::folio::v4::Folio4;
use longmatch::engine::folio::v6::Folio6;
use longmatch::engine::poptrie::Poptrie;
use longmatch::engine::sail::Sail;
use longmatch::engine::spider::Spider;
use longmatch::engine::tree_bitmap::TreeBitmap;
use longmatch::simd::Simd;
use longmatch::{Family, Ipv4, Ipv6, Lookup, NextHopId};

/// Makes a function of each line: its name, the family, and the engine's type.
macro_rules! kernels {
    ($($name:ident: $family:ty, $engine:ty;)*) => {$(
        #[doc = concat!("All kernels of `", stringify!($engine), "` for `", stringify!($family), "`.")]
        ///
        /// # Panics
        /// If `out` is shorter than `addrs`.
        #[inline(never)]
        pub fn $name(
            engine: &$engine,
            simd: Simd,
            addrs: &[<$family as Family>::Bits],
            out: &mut [Option<NextHopId>],
        ) {
            Lookup::<$family>::lookup_each(engine, simd, addrs, out);
            Lookup::<$family>::lookup_batch_with(engine, simd, addrs, out);
        }
    )*};
}

kernels! {
    dir24_8_ipv4: Ipv4, Dir24_8<Ipv4, u16>;
    dir24_8_ipv6: Ipv6, Dir24_8<Ipv6, u32>;
    dxr_ipv4: Ipv4, Dxr<Original>;
    dxr_ipv6: Ipv6, Dxr<Long>;
    folio_ipv4: Ipv4, Folio4;
    folio_ipv6: Ipv6, Folio6;
    poptrie_ipv4: Ipv4, Poptrie<Ipv4>;
    poptrie_ipv6: Ipv6, Poptrie<Ipv6>;
    sail_ipv4: Ipv4, Sail;
    spider_ipv4: Ipv4, Spider<Ipv4>;
    spider_ipv6: Ipv6, Spider<Ipv6>;
    tree_bitmap_ipv4: Ipv4, TreeBitmap<Ipv4>;
    tree_bitmap_ipv6: Ipv6, TreeBitmap<Ipv6>;
}
