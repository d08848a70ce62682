//! Random tables from proptest: routes of all lengths close together, and next hops around the
//! limits of codes.

use proptest::prelude::*;

use super::*;

/// Routes near few stems, so that they nest and make dense clusters.
pub(super) fn some_routes() -> impl Strategy<Value = Vec<(Prefix<Ipv6>, u32)>> {
    let len = prop_oneof![
        2 => 0u8..=128,
        3 => 20u8..=48,
        1 => Just(48u8),
        1 => Just(64u8),
        2 => 49u8..=128,
        1 => Just(128u8),
    ];
    let next_hop = prop_oneof![
        4 => 1u32..6,
        1 => prop::sample::select(vec![254, 255, 256, 65_534, 65_535, 70_000]),
    ];
    let route = (0u128..3, any::<u128>(), 0u8..128, len, next_hop).prop_map(
        |(stem, noise, below, len, next_hop)| {
            let stem = (0x2001_0db8 << 96 | 0x0003_0004_0005) ^ stem << 124 ^ stem << 70;
            (Prefix::from_bits_masked(stem ^ (noise & 0x1f) << (below % 124), len), next_hop)
        },
    );
    proptest::collection::vec(route, 0..300)
}

pub(super) fn table(routes: &[(Prefix<Ipv6>, u32)]) -> Rib<Ipv6> {
    let route = |(prefix, n): &(Prefix<Ipv6>, u32)| Route { prefix: *prefix, next_hop: hop(*n) };
    routes.iter().map(route).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn tables_agree(routes in some_routes()) {
        all_codes_agree(&table(&routes));
    }
}
