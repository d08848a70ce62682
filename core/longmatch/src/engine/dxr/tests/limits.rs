//! Limits of the formats: the last value fits, the next one is an error.

use alloc::format;

use super::*;
use crate::{EngineSpec, Fib};

/// A chunk takes 4096 ranges, 8192 of IPv6, any number with `xl`.
#[test]
fn chunk_sizes_are_limited() {
    let hosts = |n: u32| -> Rib<Ipv4> {
        (0..n / 2)
            .map(|i| Prefix::from_bits_masked(0x0a00_0001 + 2 * i, 32))
            .map(|prefix| Route { prefix, next_hop: hop(7) })
            .collect()
    };
    let too_many =
        |limit| Err(CompileError::TooMany { engine: NAME, what: "ranges in one chunk", limit });
    // Every other address: one range each; the last range reaches the end of the chunk.
    let fits = hosts(4094);
    let dxr = Dxr::<Original>::compile(&fits, &config(16)).unwrap();
    assert_eq!(dxr.statistics().longest, 4095);
    let mut full = fits.clone();
    full.insert("10.0.255.255/32".parse().unwrap(), hop(7)).unwrap();
    let dxr = Dxr::<Original>::compile(&full, &config(16)).unwrap();
    assert_eq!(dxr.statistics().longest, 4096);
    dxr.check(&full).unwrap();
    let over = hosts(4096);
    assert_eq!(Dxr::<Original>::compile(&over, &config(16)).map(|_| ()), too_many(4096));
    assert_eq!(Dxr::<Wide>::compile(&over, &config(16)).map(|_| ()), too_many(4096));

    let over: Rib<Ipv6> = (0..4096u128)
        .map(|i| Prefix::from_bits_masked(1 + 2 * i, 128))
        .map(|prefix| Route { prefix, next_hop: hop(7) })
        .collect();
    assert_eq!(Dxr::<Long>::compile(&over, &config(16)).map(|_| ()), too_many(8192));
    let dxr = Dxr::<Xl>::compile(&over, &config(16)).unwrap();
    assert_eq!((dxr.ranges.len(), dxr.ranges[0]), (8193 + 1, 8193));
    assert_eq!(dxr.direct.entries[0], Xl::XL_MARK);
    dxr.check(&over).unwrap();
    assert_eq!(dxr.lookup_bits(8191), NextHopId::new(7));
    assert_eq!(dxr.lookup_bits(8192), None);
}

/// A table whose chunks fill the range table: all long, all different, `chunks` of 11 ranges each.
fn filling(chunks: u32) -> Rib<Ipv4> {
    let mut rib = Rib::new();
    for i in 0..chunks {
        for j in 0..5 {
            let bits = i << 12 | (2 * j + 1) << 7;
            let next_hop = hop(1 + (i >> (4 * j)) % 16 + 16 * j);
            rib.insert(Prefix::from_bits_masked(bits, 25), next_hop).unwrap();
        }
    }
    rib
}

/// A chunk's base has 19 bits, 20 with `wide`.
///
/// 2^19 / 11 chunks of 11 ranges begin below the limit; one more does not.
#[test]
fn the_base_limits_the_range_table() {
    let fits = (1u32 << 19).div_ceil(11);
    let rib = filling(fits);
    let dxr = Dxr::<Original>::compile(&rib, &config(20)).unwrap();
    assert_eq!(dxr.statistics().longest, 11);
    assert_eq!(dxr.ranges.len(), fits as usize * 11);
    dxr.check(&rib).unwrap();
    let over = filling(fits + 1);
    let error = Dxr::<Original>::compile(&over, &config(20)).unwrap_err();
    let what = "words in the range table";
    assert_eq!(error, CompileError::TooMany { engine: NAME, what, limit: 1 << 19 });
    Dxr::<Wide>::compile(&over, &config(20)).unwrap().check(&over).unwrap();
}

/// 65,535 next hops, or as many as `hops=k` and the direct entry hold.
#[test]
fn next_hops_have_a_limit() {
    let rib = |id| rib4(&[("10.0.0.0/8", id), ("10.0.0.0/30", 1), ("10.0.1.0/24", id)]);
    let compile = |id, config| {
        Dxr::<Original>::compile(&rib(id), &config).map(|dxr| {
            dxr.check(&rib(id)).unwrap();
            dxr.lookup_bits(0x0a00_0101)
        })
    };
    let hops_k = |d| Config { hops_k: true, ..config(d) };
    let refused = |id, limit| Err(CompileError::NextHopTooLarge { engine: NAME, id, limit });
    assert_eq!(compile(65_535, config(18)), Ok(Some(hop(65_535))));
    assert_eq!(compile(65_536, config(18)), refused(65_536, 65_535));
    assert_eq!(compile(262_143, hops_k(18)), Ok(Some(hop(262_143))));
    assert_eq!(compile(262_144, hops_k(18)), refused(262_144, 262_143));
    assert_eq!(compile(524_287, hops_k(22)), Ok(Some(hop(524_287))));
    assert_eq!(compile(524_288, hops_k(22)), refused(524_288, 524_287));
    let wide = Dxr::<Wide>::compile(&rib(1 << 19), &hops_k(22)).unwrap();
    wide.check(&rib(1 << 19)).unwrap();
}

/// `search=paper` has one level and no kernels of batches; wider variants keep it.
#[test]
fn the_papers_search_refuses_what_it_lacks() {
    let rib = rib4(&[("10.0.0.0/8", 70_000), ("10.1.2.0/24", 1)]);
    let build = |spec: &EngineSpec| Fib::compile(&rib, spec.clone()).map(|fib| fib.variant());
    for (options, refused) in [("d=15:x=5", "x=5"), ("batch=gather", "batch=gather")] {
        let spec = unread_spec(&format!("dxr:hops=k:search=paper:{options}"));
        let error = OptionError { engine: NAME, option: refused.into(), expected: PAPER_EXPECTED };
        assert_eq!(build(&spec), Err(error.into()));
    }
    let spec: EngineSpec = "dxr:search=paper".parse().unwrap();
    assert!(matches!(build(&spec), Err(CompileError::NextHopTooLarge { .. })));
    let wider = spec.wider().into_iter().find_map(|spec| build(&spec).ok());
    assert_eq!(wider.as_deref(), Some("d=18:hops=k:search=paper"));
}
