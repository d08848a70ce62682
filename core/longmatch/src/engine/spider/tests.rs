use alloc::string::ToString;
use core::array::from_fn;

use super::layout::FIRST_ROW;
use super::*;
use crate::engine::Engines;
use crate::engine::testing::{
    Test, batches_agree, built, check_finds, edges_of_ipv4, edges_of_ipv6, ends, hop, rib4, spread,
};
use crate::net::{Bits, Ipv4, Ipv6, Prefix, Route};

/// The routes of the paper's Figure 5.
fn figure5() -> Rib<Ipv4> {
    let mut rib = rib4(&[("10.64.128.192/26", 1), ("192.168.0.0/16", 2), ("192.168.10.10/32", 2)]);
    for host in 0..256 {
        rib.insert(Prefix::from_bits_masked(0xc0a8_4000 | host, 32), hop(3)).unwrap();
    }
    rib
}

fn direct(first: usize, second: usize) -> usize {
    DIRECT + (first << 8 | second)
}

/// The README's example: the table of the paper's Figure 4, from the routes of its Figure 5.
#[test]
fn the_readme_example() {
    let rib = figure5();
    let spider = Spider::<Ipv4>::compile(&rib, &Config::default()).unwrap();
    let (row_10_64_128, row_10_64, row_192_168) = (FIRST_ROW, FIRST_ROW + 1, FIRST_ROW + 2);
    assert_eq!(spider.rows(), 3, "the nodes of 192.168.10/24 and 192.168.64/24 are aggregated");
    let mut expected = alloc::vec![u32::EOL; 260 * ROW];
    expected[direct(10, 64)] = u32::new(0, row_10_64);
    expected[direct(192, 168)] = u32::new(2, row_192_168);
    expected[row_10_64 * ROW + 128] = u32::new(0, row_10_64_128);
    expected[row_10_64_128 * ROW..][192..256].fill(u32::new(1, 0));
    expected[row_192_168 * ROW + 64] = u32::new(3, 0);
    assert_eq!(*spider.fib, expected);
    spider.check(&rib).unwrap();
    let lookup = |text: &str| spider.lookup_bits(Ipv4::bits(text.parse().unwrap()));
    assert_eq!(lookup("192.168.64.1"), Some(hop(3)));
    assert_eq!(lookup("192.168.10.10"), Some(hop(2)));
    assert_eq!(lookup("10.64.128.191"), None);
}

/// Every kernel.
fn kernels() -> impl Iterator<Item = Kernel> {
    Kernel::WAYS.map(Kernel::Lanes).chain([Kernel::Flight4, Kernel::Ahead])
}

/// Calls `each` with every kernel and both widths of entries.
fn variants<F: Engines>(rib: &Rib<F>, each: Test<'_, F>) {
    for kernel in kernels() {
        for entry in ["entry=32", "entry=64"] {
            each(&*built(&format!("{NAME}:{}:{entry}", kernel.name()), rib).unwrap());
        }
    }
}

#[test]
fn edges_of_the_address() {
    edges_of_ipv4(variants);
    edges_of_ipv6(variants);
}

/// Compiling the RIB equals compiling the aggregated RIB: two independent ways.
#[test]
fn aggregation_is_that_of_the_rib() {
    let rib = spread::<Ipv4>(8..=32, 3);
    let spider = Spider::<Ipv4>::compile(&rib, &Config::default()).unwrap();
    let other = Spider::<Ipv4>::compile(&rib.aggregated(), &Config::default()).unwrap();
    assert!(spider == other);
}

/// A table with `count` state-jump rows: a /24 in each of `count` /16.
fn with_rows(count: u32) -> Rib<Ipv4> {
    (0..count)
        .map(|i| Route { prefix: Prefix::from_bits_masked(i << 16, 24), next_hop: hop(1) })
        .collect()
}

/// D5: all n rows are usable, and the error for one more names the option that helps. Routes of /24
/// need direct pointing and one jump; the extra jump of one host route is not counted.
#[test]
fn reads_cover_most_routes() {
    let empty = Spider::<Ipv4>::compile(&Rib::new(), &Config::default()).unwrap();
    assert_eq!(Engine::reads(&empty), [4 << 16]);
    let routes = [("10.1.0.0/24", 1), ("10.1.1.0/24", 2), ("10.2.0.0/24", 1), ("10.2.0.1/32", 3)];
    let spider = Spider::<Ipv4, u32>::compile(&rib4(&routes), &Config::default()).unwrap();
    assert_eq!((spider.rows(), spider.rows_by_octet()), (3, [2, 1].into()));
    assert_eq!(Engine::reads(&spider), [4 << 16, 2 << 10]);
    let wide = Spider::<Ipv4, u64>::compile(&rib4(&routes), &Config::default()).unwrap();
    assert_eq!(Engine::reads(&wide), [8 << 16, 4 << 10]);
}

#[test]
fn limits_are_errors() {
    let config = Config::default();
    let rib = rib4(&[("10.0.0.0/8", 65_536), ("10.0.0.0/30", 65_535)]);
    let error = Spider::<Ipv4, u32>::compile(&rib, &config).unwrap_err();
    let expected = CompileError::NextHopTooLarge { engine: NAME, id: 65_536, limit: 65_535 };
    assert_eq!(error, expected);
    Spider::<Ipv4, u64>::compile(&rib, &config).unwrap().check(&rib).unwrap();
    let rib = rib4(&[("10.0.0.0/8", u32::MAX), ("10.0.0.0/30", 65_535)]);
    Spider::<Ipv4, u64>::compile(&rib, &config).unwrap().check(&rib).unwrap();
    let rib = rib4(&[("10.0.0.0/8", 65_535), ("10.0.0.0/30", 65_534)]);
    Spider::<Ipv4, u32>::compile(&rib, &config).unwrap().check(&rib).unwrap();

    let limit = 65_535 - 256;
    let rib = with_rows(limit);
    let spider = Spider::<Ipv4, u32>::compile(&rib, &config).unwrap();
    assert_eq!(spider.rows(), limit as usize);
    spider.check(&rib).unwrap();
    let rib = with_rows(limit + 1);
    let error = Spider::<Ipv4, u32>::compile(&rib, &config).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("65279") && text.contains("entry=64"), "{text}");
    Spider::<Ipv4, u64>::compile(&rib, &config).unwrap().check(&rib).unwrap();
}

#[test]
fn options_are_shown_as_they_are_given() {
    let rib = rib4(&[]);
    for kernel in kernels() {
        for options in [kernel.name(), format!("{}:entry=64", kernel.name())] {
            assert_eq!(built(&format!("{NAME}:{options}"), &rib).unwrap().variant(), options);
        }
    }
    let variant = built(NAME, &rib).unwrap().variant();
    assert_eq!(variant, "flight=4", "small tables need no prefetching");
    for bad in ["lanes=", "lanes=x", "lanes=256", "flight=2", "entry=16", "", "ahead=1"] {
        assert!(built(&format!("{NAME}:{bad}"), &rib).is_err(), "{bad}");
    }
    assert_eq!(Kernel::best(CACHED + 1), Kernel::Ahead);
}

/// A number of ways that the paper does not have is refused, as text and as a number.
#[test]
fn ways_are_1_to_16() {
    let rib = rib4(&[]);
    for ways in [0, 17] {
        let config = Config { kernel: Some(Kernel::Lanes(ways)) };
        let typed = Spider::<Ipv4>::compile(&rib, &config).unwrap_err();
        let Err(text) = built(&format!("{NAME}:lanes={ways}"), &rib) else { panic!("{ways}") };
        assert_eq!(typed, text);
        let expected = "lanes=1 to lanes=16, flight=4, ahead, entry=32 or entry=64";
        let message = format!("spider: no option 'lanes={ways}'; expected {expected}");
        assert_eq!(text.to_string(), message);
    }
}

/// `check` detects damage.
#[test]
fn check_finds_damage() {
    let rib = rib4(&[("10.64.128.192/26", 1), ("11.0.0.0/8", 4), ("11.64.128.192/26", 2)]);
    let good = Spider::<Ipv4>::compile(&rib, &Config::default()).unwrap();
    assert_eq!(good.rows(), 4, "10.64.128, 10.64, 11.64.128, 11.64");
    const R: usize = FIRST_ROW;
    let damage: &[fn(&mut Spider<Ipv4>)] = &[
        |s| s.fib[5] = u32::new(1, 0),
        |s| s.fib[5] = u32::new(0, R),
        |s| s.fib = s.fib[..s.fib.len() - 1].into(),
        |s| s.fib = s.fib[..ROW * (R - 1)].into(),
        |s| s.fib = s.fib[..s.fib.len() - ROW].into(),
        |s| s.fib = [&s.fib[..], &[u32::EOL; ROW]].concat().into(),
        |s| s.fib[direct(10, 64)] = u32::new(7, R + 1),
        |s| s.fib[direct(10, 64)] = u32::new(0, 0),
        |s| s.fib[direct(10, 64)] = u32::new(0, R - 1),
        |s| s.fib[direct(10, 64)] = u32::new(0, R + 4),
        |s| s.fib[direct(10, 65)] = u32::new(0, R + 1),
        |s| s.fib[(R + 1) * ROW + 3] = u32::new(0, R + 1),
        |s| s.fib[(R + 2) * ROW + 3] = u32::new(0, R),
        |s| s.fib[R * ROW + 200] = u32::new(0, 0),
    ];
    check_finds(&good, &rib, damage);
    assert!(good.check(&rib4(&[("10.0.0.0/8", 1)])).is_err(), "another RIB");
}

/// Every kernel at every level, on batches of its largest groups and a rest.
#[test]
fn levels_agree() {
    fn agree<F: Engines>() {
        let rib = spread::<F>(8..=32, 30);
        variants(&rib, &mut |engine| batches_agree(engine, &rib));
    }
    agree::<Ipv4>();
    agree::<Ipv6>();
}

/// Every kernel at every level, on batches of every size up to three iterations of the paper's
/// widest and beyond one of `flight=4`: all remainders of all numbers of ways.
#[test]
fn batches_of_every_size() {
    fn agree<F: Engines>() {
        let rib: Rib<F> = spread::<F>(8..=F::WIDTH, 30).iter().take(100).collect();
        let (keys, right) = ends(&rib);
        variants(&rib, &mut |engine| {
            for simd in Simd::available() {
                for size in 0..=48 {
                    let mut out = [Some(hop(99)); 48];
                    let out = &mut out[..size];
                    engine.lookup_batch_with(simd, &keys[size..][..size], out);
                    let right = &right[size..][..size];
                    assert!(out == right, "{} of {size} at {}", engine.variant(), simd.level());
                }
            }
        });
    }
    agree::<Ipv4>();
    agree::<Ipv6>();
}

/// Iterations answer generated keys as single lookups do, at every level.
#[test]
fn generated_keys_are_looked_up() {
    fn agree<F: Family, E: Entry>(rib: &Rib<F>) {
        let addrs: Vec<_> = rib.iter().map(|route| route.prefix.bits()).collect();
        let addr = |i: usize| addrs[i % addrs.len()];
        for ways in Kernel::WAYS {
            let config = Config { kernel: Some(Kernel::Lanes(ways)) };
            let spider = Spider::<F, E>::compile(rib, &config).unwrap();
            let ways = usize::from(ways);
            let step = ways.next_multiple_of(8);
            // Two full iterations and one of a single key.
            let last = [ways - 1, step + ways - 1, 2 * step];
            let right = last.map(|i| NextHopId::to_raw(spider.lookup_bits(addr(i))));
            for simd in Simd::available() {
                let mut made = 0;
                let generate = || {
                    made += 8;
                    let left = |i| addr(made - 8 + i).to_u128() << (128 - F::WIDTH);
                    from_fn(|word| from_fn(|i| (left(i) >> (96 - 32 * word)) as u32))
                };
                let sum = spider.iterate(simd, ways, 2 * ways + 1, generate);
                assert_eq!(sum, Some(right[0] ^ right[1] ^ right[2]), "{ways} ways");
                assert_eq!(spider.iterate(simd, ways + 1, 1, || [[0; 8]; 4]), None);
            }
        }
    }
    agree::<Ipv4, u32>(&spread(8..=32, 3));
    agree::<Ipv4, u64>(&spread(8..=32, 3));
    agree::<Ipv6, u32>(&spread(16..=64, 3));
    agree::<Ipv6, u64>(&spread(16..=64, 3));
}
