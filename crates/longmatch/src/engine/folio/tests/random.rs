//! Random tables from proptest: deep routes close together, next hops around the limits of codes,
//! and arbitrary cuts.

use proptest::prelude::*;

use super::*;

/// Routes near few stems, most of them longer than the usual cuts.
fn routes<F: Family>() -> impl Strategy<Value = Vec<(Prefix<F>, u32)>> {
    let len = prop_oneof![
        2 => 0..=F::WIDTH,
        1 => Just(F::WIDTH),
        4 => F::WIDTH / 8 * 3..=F::WIDTH,
        2 => 14u8..=26,
    ];
    let next_hop = prop_oneof![
        4 => 1u32..6,
        1 => prop::sample::select(vec![254, 255, 256, 257, 300, 1000, 65_534, 65_535]),
    ];
    let route = (0u128..4, 0u128..4, any::<u128>(), 0u8..128, len, next_hop).prop_map(
        |(stem, place, noise, below, len, next_hop)| {
            let stem =
                stem.wrapping_mul(0x5555_0000_0000_0001_0000_0000_0000_0001) << (F::WIDTH - 2);
            let place =
                place << (F::WIDTH / 2) | (noise & (u128::MAX >> (below % F::WIDTH)) & 0xff);
            let bits = F::Bits::from_u128(stem | place);
            (Prefix::from_bits_masked(bits, len), next_hop)
        },
    );
    proptest::collection::vec(route, 0..60)
}

/// Cuts with a valid plan: some of them, or all to the address's end.
fn random_cuts<F: Family>() -> impl Strategy<Value = Vec<u8>> {
    let widths = proptest::collection::vec(prop_oneof![1u8..=14, 6u8..=9], 0..20);
    (8u8..=20, widths, any::<bool>()).prop_map(|(root, widths, none)| {
        let mut cuts = vec![root];
        for width in widths {
            let last = cuts[cuts.len() - 1];
            let end = (last + width).min(F::WIDTH);
            let end = if last < 64 { end.min(64) } else { end };
            if end > last {
                cuts.push(end);
            }
        }
        if none { Vec::new() } else { cuts }
    })
}

fn all_codes_agree<F: Family>(routes: &[(Prefix<F>, u32)], cuts: Vec<u8>, root: Option<RootForm>) {
    let route = |(prefix, n): &(Prefix<F>, u32)| Route { prefix: *prefix, next_hop: hop(*n) };
    let rib: Rib<F> = routes.iter().map(route).collect();
    let config = Config { cuts, root, huge: false };
    agree::<F, Byte>(&rib, &config);
    agree::<F, Coded>(&rib, &config);
    agree::<F, u16>(&rib, &config);
    agree::<F, u32>(&rib, &config);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn ipv4_tables_agree(routes in routes::<Ipv4>(), cuts in random_cuts::<Ipv4>()) {
        all_codes_agree(&routes, cuts, None);
    }

    #[test]
    fn ipv6_tables_agree(
        routes in routes::<Ipv6>(),
        cuts in random_cuts::<Ipv6>(),
        root in proptest::option::of(proptest::sample::select(&[RootForm::Dense, RootForm::Sparse][..])),
    ) {
        all_codes_agree(&routes, cuts, root);
    }
}

/// Random next hops in every slot: pages without equal parts, and all 65,535 ids of a form.
#[test]
fn every_slot_has_a_random_next_hop() {
    let route = |i: u32| {
        let prefix = Prefix::<Ipv4>::from_bits_masked(0x0a00_0000 + (i << 3), 29);
        Route { prefix, next_hop: hop(1 + i.wrapping_mul(40_503) % 65_535) }
    };
    let rib: Rib<Ipv4> = (0..65_535).map(route).collect();
    agree::<Ipv4, u16>(&rib, &cuts(&[16, 24]));
    agree::<Ipv4, u32>(&rib, &cuts(&[16, 24]));
    agree::<Ipv4, Coded>(&rib, &cuts(&[16, 30]));
    agree::<Ipv4, Byte>(&rib, &cuts(&[18]));
}
