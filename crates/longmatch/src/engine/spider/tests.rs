use alloc::string::ToString;
use alloc::vec::Vec;

use super::layout::FIRST_ROW;
use super::*;
use crate::engine::Engines;
use crate::engine::testing::built;
use crate::net::{Bits, Ipv4, Ipv6, Prefix, Route};

fn hop(n: u32) -> NextHopId {
    NextHopId::new(n).unwrap()
}

fn rib4(routes: &[(&str, u32)]) -> Rib<Ipv4> {
    routes.iter().map(|(p, n)| Route { prefix: p.parse().unwrap(), next_hop: hop(*n) }).collect()
}

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
    let lookup = |text: &str| spider.lookup(Ipv4::bits(text.parse().unwrap()));
    assert_eq!(lookup("192.168.64.1"), Some(hop(3)));
    assert_eq!(lookup("192.168.10.10"), Some(hop(2)));
    assert_eq!(lookup("10.64.128.191"), None);
}

/// Calls `each` with every kernel and both widths of entries.
fn variants<F: Engines>(rib: &Rib<F>, each: &mut dyn FnMut(&dyn crate::engine::Checked<F>)) {
    for kernel in Kernel::ALL {
        for entry in ["entry=32", "entry=64"] {
            each(&*built(&format!("{NAME}:{}:{entry}", kernel.name()), rib).unwrap());
        }
    }
}

/// D17, D16: /128 and /32 at both ends of the address space, for every variant.
#[test]
fn edges_of_the_address() {
    let mut rib = Rib::<Ipv6>::new();
    for (n, text) in (1..).zip(["::/0", "::/128", "::/127", "8000::/1"]) {
        rib.insert(text.parse().unwrap(), hop(n)).unwrap();
    }
    rib.insert(Prefix::from_bits_masked(u128::MAX, 128), hop(9)).unwrap();
    variants(&rib, &mut |engine| {
        engine.check(&rib).unwrap();
        assert_eq!(engine.lookup(u128::MAX), Some(hop(9)));
    });
    let rib = rib4(&[("0.0.0.0/32", 1), ("255.255.255.255/32", 2), ("255.255.255.254/31", 3)]);
    variants(&rib, &mut |engine| {
        engine.check(&rib).unwrap();
        assert_eq!(engine.lookup(u32::MAX), Some(hop(2)));
    });
    let empty = Rib::<Ipv4>::new();
    variants(&empty, &mut |engine| engine.check(&empty).unwrap());
}

/// Compiling the RIB equals compiling the aggregated RIB: two independent ways.
#[test]
fn aggregation_is_that_of_the_rib() {
    let rib = spread::<Ipv4>(4000, 3);
    let spider = Spider::<Ipv4>::compile(&rib, &Config::default()).unwrap();
    let other = Spider::<Ipv4>::compile(&rib.aggregated(), &Config::default()).unwrap();
    assert!(spider == other);
}

fn spread<F: Family>(count: u32, hops: u32) -> Rib<F> {
    let route = |i: u32| {
        let high = u128::from(i.wrapping_mul(0x9e37_79b9)) << (F::WIDTH - 32);
        let low = u128::from(i.wrapping_mul(0x85eb_ca6b));
        let prefix = Prefix::from_bits_masked(F::Bits::from_u128(high | low), 8 + (i % 25) as u8);
        Route { prefix, next_hop: hop(1 + i % hops) }
    };
    (0..count).map(route).collect()
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
    for options in ["lanes=1", "lanes=16", "flight=4", "ahead", "ahead:entry=64"] {
        assert_eq!(built(&format!("{NAME}:{options}"), &rib).unwrap().variant(), options);
    }
    let variant = built(NAME, &rib).unwrap().variant();
    assert_eq!(variant, "flight=4", "small tables need no prefetching");
    for bad in ["lanes=3", "lanes=", "lanes=32", "flight=2", "entry=16", "", "ahead=1"] {
        assert!(built(&format!("{NAME}:{bad}"), &rib).is_err(), "{bad}");
    }
    assert_eq!(Kernel::best(CACHED + 1), Kernel::Ahead);
}

/// `check` detects damage.
#[test]
fn check_finds_damage() {
    let rib = rib4(&[("10.64.128.192/26", 1), ("11.0.0.0/8", 4), ("11.64.128.192/26", 2)]);
    let good = Spider::<Ipv4>::compile(&rib, &Config::default()).unwrap();
    good.check(&rib).unwrap();
    assert_eq!(good.rows(), 4, "10.64.128, 10.64, 11.64.128, 11.64");
    const R: usize = FIRST_ROW;
    let damage: [fn(&mut Spider<Ipv4>); 14] = [
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
    for (i, damage) in damage.into_iter().enumerate() {
        let mut bad = good.clone();
        damage(&mut bad);
        // `check` must detect damaged indices before it reads through them.
        assert!(bad.check(&rib).is_err(), "damage {i}");
    }
    assert!(good.check(&rib4(&[("10.0.0.0/8", 1)])).is_err(), "another RIB");
}

/// Every kernel at every level, on batches of its largest groups and a rest.
fn agree_with_the_ranges<F: Engines>(rib: &Rib<F>) {
    let keys: Vec<F::Bits> = rib.ranges().flat_map(|range| [range.first, range.last]).collect();
    let expected: Vec<_> =
        rib.ranges().flat_map(|range| [range.next_hop(), range.next_hop()]).collect();
    assert!(keys.len() > 2000);
    variants(rib, &mut |engine| {
        for simd in Simd::available() {
            let mut out = alloc::vec![None; keys.len()];
            engine.lookup_batch_with(simd, &keys, &mut out);
            assert!(out == expected, "{} at {}", engine.variant(), simd.level());
        }
    });
}

#[test]
fn levels_agree() {
    agree_with_the_ranges(&spread::<Ipv4>(3000, 30));
    agree_with_the_ranges(&spread::<Ipv6>(3000, 30));
}
