use alloc::vec;

use super::layout::Fixed;
use super::*;
use crate::engine::testing::{ends, hop, rib4, spread};
use crate::net::{Prefix, Route};
use crate::simd::{Cpu, Level, Microarch, Simd};

mod changes;
mod damage;
mod random;

/// Compiles, checks, and looks up both ends of each of the RIB's ranges.
///
/// One by one, and in batches of several sizes and layouts at every level.
fn agree(rib: &Rib<Ipv4>, config: &Config) -> Folio4 {
    let cpu = Cpu::typical(Microarch::Zen4);
    let machine = Machine::of(cpu, Level::Avx512);
    let folio = compile::compile(&machine, rib, config, &|_| Ok(()));
    let mut folio = folio.unwrap_or_else(|e| panic!("{config:?}: {e}"));
    let variant = Structure::variant(&folio);
    Engine::check(&folio, rib).unwrap_or_else(|corrupt| panic!("{variant}: {corrupt}"));
    let (keys, right) = ends(rib);
    for (key, hop) in keys.iter().zip(&right) {
        assert_eq!(folio.lookup_bits(*key), *hop, "{variant}: {key:x}");
    }
    let network: Vec<[u8; 4]> = keys.iter().map(|key| key.to_be_bytes()).collect();
    let single = folio.fixed.single;
    let singles = match single {
        Single::Plain => &[Single::Plain, Single::Branches, Single::Flat][..],
        _ => &[Single::Branches, Single::Flat],
    };
    for simd in Simd::available() {
        for single in singles {
            folio = forced(folio, |fixed| fixed.single = *single);
            let mut out = vec![Some(hop(7)); keys.len()];
            folio.lookup_each(simd, &keys, &mut out);
            assert!(out == right, "{variant}, {:?} {single:?}", simd.level());
        }
        for ahead in [false, true] {
            folio = forced(folio, |fixed| fixed.ahead = ahead);
            for size in [1, 8, 17, 33, 64, 100, 1024, 1030, 2050, keys.len()] {
                for start in (0..keys.len()).step_by(size) {
                    let range = start..keys.len().min(start + size);
                    let mut out = vec![None; range.len()];
                    folio.lookup_batch_with(simd, &keys[range.clone()], &mut out);
                    let about = (simd.level(), size, ahead);
                    assert!(out == right[range.clone()], "{variant}, {about:?}");
                    out.fill(Some(hop(7)));
                    folio.lookup_keys(simd, Keys::from(&network[range.clone()]), &mut out);
                    assert!(out == right[range], "{variant}, {about:?}, network order");
                }
            }
        }
    }
    forced(folio, |fixed| fixed.single = single)
}

/// The same table with a choice of kernels.
fn forced(folio: Folio4, choose: impl Fn(&mut Fixed)) -> Folio4 {
    let mut fixed = Fixed::clone(&folio.fixed);
    choose(&mut fixed);
    let Folio4 { root, words, codes, plan, .. } = folio;
    Folio4::new(root, words, codes, fixed.into(), plan)
}

#[test]
fn a_small_table() {
    let routes = [("10.0.0.0/8", 1), ("10.0.64.0/20", 2), ("10.1.1.128/25", 3), ("11.0.0.0/16", 4)];
    for root_bits in [None, Some(8), Some(16), Some(22)] {
        agree(&rib4(&routes), &Config { root_bits, ..Config::default() });
    }
    for (spare, most) in [(0, 2 << 10), (4 << 10, 8 << 10)] {
        let config = Config { spare: Some(spare), ..Config::default() };
        let bytes = agree(&rib4(&routes), &config).memory_usage().bytes();
        assert!(bytes <= most, "{spare}: {bytes}");
    }
}

#[test]
fn hosts() {
    let hosts: Rib<Ipv4> = (0..3000u32)
        .map(|i| Route {
            prefix: Prefix::from_bits_masked(i.wrapping_mul(0x9e37_79b9) >> 3 | 0x0100_0000, 32),
            next_hop: hop(1 + i % 300),
        })
        .collect();
    for code_bytes in [None, Some(2), Some(3), Some(4)] {
        for (lists, entries) in [(0, 4), (1_000_000, 4), (8, 8)] {
            let config = Config {
                code_bytes,
                lists: Some(lists),
                entries: Some(entries),
                ..Config::default()
            };
            agree(&hosts, &config);
        }
    }
}

/// A block that the plan's sample does not have needs a form that no block of the sample needs.
#[test]
fn a_rare_block() {
    let nets = (0..60_000u32).map(|i| (0x0100_0000 + (i << 15), 24, 1 + i % 100));
    for host in 0..6u32 {
        let host = (0xc000_0001 + host * 0x0123_4500, 32, 7);
        let routes = nets.clone().chain([host]).map(|(bits, len, raw)| Route {
            prefix: Prefix::<Ipv4>::from_bits_masked(bits, len),
            next_hop: hop(raw),
        });
        let rib = routes.collect();
        let never = Some(plan::NONE);
        let config =
            Config { root_bits: Some(16), lists: never, entries: never, ..Config::default() };
        let folio = Folio4::compile(&rib, &config).unwrap();
        Engine::check(&folio, &rib).unwrap();
        assert_eq!(folio.lookup_bits(host.0), Some(hop(7)));
    }
}

/// Routes of all lengths; their blocks of 2^24 addresses have lists.
#[test]
fn blocks_of_all_sizes() {
    let rib = spread::<Ipv4>(1..=32, 17);
    for root_bits in [8, 9, 10, 11, 13, 15, 17, 22] {
        for (lists, entries) in [(0, plan::NONE), (0, 0), (plan::NONE, 0), (4, 4)] {
            let (lists, entries) = (Some(lists), Some(entries));
            agree(
                &rib,
                &Config { root_bits: Some(root_bits), lists, entries, ..Config::default() },
            );
        }
    }
}
