use alloc::vec;
use alloc::vec::Vec;

use super::batch::lookup_batch_in_words;
use super::*;
use crate::engine::testing::{Test, built, edges_of_ipv6, ends, hop, rib};
use crate::net::{Bits, Family, Prefix, Route};

mod changes;
mod damage;

/// Compiles, checks, and looks up both ends of each of the RIB's ranges.
///
/// One by one and in batches, at every level and in every layout. `check` has compared all
/// addresses, but reads the arrays in its own way.
fn agree(rib: &Rib<Ipv6>, config: &Config) -> Folio6 {
    let table = Folio6::compile(rib, config).unwrap();
    let variant = Structure::variant(&table);
    Engine::check(&table, rib).unwrap_or_else(|corrupt| panic!("{variant}: {corrupt}"));
    let (keys, right) = ends(rib);
    for (key, hop) in keys.iter().zip(&right) {
        assert_eq!(table.lookup_bits(*key), *hop, "{variant}: {}", Ipv6::addr(*key));
    }
    let pairs: Vec<[u64; 2]> = keys.iter().map(|key| [key.half(0), key.half(1)]).collect();
    let network: Vec<[u8; 16]> = keys.iter().map(|key| key.to_be_bytes()).collect();
    for simd in Simd::available() {
        let mut out = vec![None; keys.len()];
        table.lookup_each(simd, &keys, &mut out);
        assert!(out == right, "{variant} one by one at {}", simd.level());
        for size in [1, 21, 64, 150, keys.len()] {
            for (keys, right) in keys.chunks(size).zip(right.chunks(size)) {
                let mut out = vec![None; keys.len()];
                table.lookup_batch_with(simd, keys, &mut out);
                assert!(out == right, "{variant} at {}, {size}", simd.level());
            }
        }
        for keys in [Keys::from(&pairs[..]), Keys::from(&network[..])] {
            out.fill(None);
            table.lookup_keys(simd, keys, &mut out);
            assert!(out == right, "{variant} at {}, {:?}", simd.level(), keys.layout());
        }
    }
    // The kernel in vectors gathers entries as little-endian words: all CPUs with its vectors are little-endian.
    let sizes: &[usize] = if cfg!(target_endian = "little") { &[16, 37, 256] } else { &[] };
    for &size in sizes {
        for (keys, right) in keys.chunks(size).zip(right.chunks(size)) {
            if keys.len() >= 16 {
                let mut out = vec![None; keys.len()];
                lookup_batch_in_words(table.view().shared(), Keys::host(keys), &mut out);
                assert!(out == right, "{variant} in vectors of words, {size}");
            }
        }
    }
    table
}

/// Compiles with the codes and steps that the table suggests, and with all others.
fn all_agree(rib: &Rib<Ipv6>) -> Folio6 {
    for (i, form) in FORMS.into_iter().enumerate() {
        let steps = Some(1 + i as u8 % MAX_STEPS);
        agree(rib, &Config { codes: Some(form.name), steps, leaves: Some(Costs::ALL[i % 3].0) });
    }
    agree(rib, &Config::default())
}

/// Pseudo-random bits.
fn noise(i: u128) -> u128 {
    let bits = i.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(i << 64 | 1);
    (bits ^ bits >> 67).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
}

/// Routes given by their addresses and lengths, with next hops that repeat after `hops`.
fn routes(at: impl Iterator<Item = (u128, u8)>, hops: u32) -> Rib<Ipv6> {
    let route = |((bits, len), i): ((u128, u8), u32)| Route {
        prefix: Prefix::from_bits_masked(bits, len),
        next_hop: hop(1 + i % hops),
    };
    at.zip(0..).map(route).collect()
}

const STEM: u128 = 0x2001_0db8 << 96;

/// Tables of all shapes, each with its name.
fn shapes() -> Vec<(&'static str, Rib<Ipv6>)> {
    let bgp = (0..3000u128).map(|i| {
        let len = [20, 29, 32, 36, 40, 44, 46, 47, 48, 48, 48, 48][i as usize % 12];
        ((0x2001 + i % 7 * 0x1fd) << 112 | noise(i) >> (20 + i % 40), len)
    });
    let hosts = (0..3000u128).map(|i| {
        let host = if i % 2 == 0 { noise(i) >> 64 } else { noise(i) & 0x1fff };
        (STEM | noise(i % 11) >> 112 << 64 | host, 128)
    });
    let delegations = (0..3000u128).map(|i| (STEM | (noise(i) & 0xffff) << 72, 56));
    let subscribers = (0..3000u128).map(|i| (STEM | (noise(i) & 0xf_ffff) << 64, 64));
    let mixed = (0..3000u128).map(|i| {
        let len = [65, 72, 80, 96, 112, 120, 126, 127, 128, 128, 128][i as usize % 11];
        (STEM | (i % 5) << 64 | noise(i) >> (70 + i % 50), len)
    });
    let many = (0..4000u128).map(|i| (STEM | (noise(i) & 0xf_ffff) << 76, 40 + (i % 12) as u8));
    // A sample of this table has no routes of most lengths.
    let uneven = (0..6000u128).map(|i| match i % 60 {
        0 => (noise(i), 1 + (i / 60 % 128) as u8),
        _ => (STEM | (noise(i) & 0xffff) << 80, 48),
    });
    let list = (0..40u128).map(|i| (noise(i), [19, 32, 48, 64, 127][i as usize % 5]));
    vec![
        ("bgp", routes(bgp, 200)),
        ("hosts", routes(hosts, 8)),
        ("delegations", routes(delegations, 256)),
        ("subscribers", routes(subscribers, 2048)),
        ("mixed", routes(mixed, 7)),
        ("many next hops", routes(many, 4000)),
        ("uneven", routes(uneven, 100)),
        ("list", routes(list, 2)),
    ]
}

#[test]
fn all_shapes_agree() {
    for (name, rib) in shapes() {
        let table = all_agree(&rib);
        std::println!("{name}: {} {}", Structure::variant(&table), table.memory_usage());
    }
}

/// D9: both ends of the address space, no routes, and one route for all addresses.
#[test]
fn ends_of_the_addresses() {
    fn variants(rib: &Rib<Ipv6>, test: Test<'_, Ipv6>) {
        test(&agree(rib, &Config::default()));
    }
    edges_of_ipv6(variants);
    for routes in [&[][..], &[("::/0", 5)], &[("::/0", 5), ("8000::/1", 0x3fff_ffff)]] {
        all_agree(&rib(routes));
    }
    let table = rib(&[("2001:db8::/32", 1 << 30)]);
    let limit = CompileError::NextHopTooLarge { engine: NAME, id: 1 << 30, limit: (1 << 30) - 1 };
    assert_eq!(Folio6::compile(&table, &Config::default()).unwrap_err(), limit);
}

/// The options of a variant make the same variant again.
#[test]
fn variants_are_options() {
    for (_, rib) in shapes() {
        let variant = Structure::variant(&Folio6::compile(&rib, &Config::default()).unwrap());
        let again = built(&alloc::format!("folio:{variant}"), &rib).unwrap();
        assert_eq!(again.variant(), variant);
    }
    assert!(built::<Ipv6>("folio:steps=4", &Rib::new()).is_err());
}
