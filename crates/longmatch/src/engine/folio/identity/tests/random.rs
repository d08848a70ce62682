//! Random tables from proptest: long routes close together, next hops around the limits of codes.

use proptest::prelude::*;

use super::*;

/// Routes near few stems, most of them longer than a usual root.
fn routes() -> impl Strategy<Value = Vec<(Prefix<Ipv4>, u32)>> {
    let len = prop_oneof![2 => 0u8..=32, 1 => Just(32u8), 4 => 12u8..=32, 2 => 14u8..=26];
    let next_hop = prop_oneof![
        4 => 1u32..6,
        1 => prop::sample::select(vec![253, 254, 255, 256, 300, 65_534, 65_535, 65_536, 1 << 30]),
    ];
    let route = (0u32..4, 0u32..4, any::<u32>(), 0u32..32, len, next_hop).prop_map(
        |(stem, place, noise, below, len, next_hop)| {
            let stem = stem.wrapping_mul(0x5500_0001) << 6;
            let bits = stem | place << 16 | (noise & (u32::MAX >> below) & 0xff);
            (Prefix::from_bits_masked(bits, len), next_hop)
        },
    );
    proptest::collection::vec(route, 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 2 } else { 60 }, ..Default::default() })]

    #[test]
    fn random_tables_agree(routes in routes(), s in 8u8..=18) {
        let route = |(prefix, n): &(Prefix<Ipv4>, u32)| Route { prefix: *prefix, next_hop: hop(*n) };
        let rib: Rib<Ipv4> = routes.iter().map(route).collect();
        for form in CodeForm::ALL {
            agree(&rib, &config(form, s, Batch::Auto));
        }
    }
}
