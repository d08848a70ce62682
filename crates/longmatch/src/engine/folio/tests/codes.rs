//! Codes: next hops that exceed a form of codes in value or in number.

use super::*;

/// `count` /24 that take their next hops from `hops` in turn.
fn in_turn(hops: impl Iterator<Item = u32> + Clone, count: usize) -> Rib<Ipv4> {
    let route = |(i, n): (usize, u32)| {
        let prefix = Prefix::from_bits_masked(0x0a00_0000 | (i as u32) << 8, 24);
        Route { prefix, next_hop: hop(n) }
    };
    hops.cycle().take(count).enumerate().map(route).collect()
}

fn chosen(rib: &Rib<Ipv4>, options: &[&str]) -> Result<String, CompileError> {
    let spec = [&[NAME, PAGES], options].concat().join(":");
    built(&spec, rib).map(|folio| folio.variant().split(':').nth(1).unwrap().into())
}

/// A codebook holds 256 next hops, one of which is "no route".
///
/// One more next hop needs a branch page at its start, and is answered correctly.
#[test]
fn codebooks_of_255_to_257() {
    for (hops, with_none, branch_pages) in
        [(254, true, 0), (255, true, 0), (256, true, 1), (256, false, 0), (257, false, 1)]
    {
        let mut rib = in_turn(1000..1000 + hops, 2 * hops as usize);
        // The rarest next hop is the one beyond the codebook.
        rib.insert("20.0.1.0/24".parse().unwrap(), hop(1000 + hops / 2)).unwrap();
        rib.insert("10.0.0.0/24".parse().unwrap(), hop(1001)).unwrap();
        rib.insert("0.0.0.0/1".parse().unwrap(), hop(1002)).unwrap();
        if !with_none {
            rib.insert("128.0.0.0/1".parse().unwrap(), hop(1003)).unwrap();
        }
        let folio = agree::<Ipv4, Coded>(&rib, &cuts(&[16, 24]));
        assert_eq!(kinds(&folio).1[0], branch_pages, "{hops}, {with_none}");
        let mut known: Vec<u16> = (0..=255).map(|code| folio.fixed.book.value(code)).collect();
        known.sort_unstable();
        known.dedup();
        let values = hops as usize + usize::from(with_none);
        assert_eq!(known.len() - usize::from(!with_none && known[0] == 0), values.min(256));
    }
}

/// Ids up to 255 are their own codes. Up to four greater ones take free or rare codes.
#[test]
fn patches_stand_for_rare_codes() {
    // 1 to 255 have two starts each, those above three.
    for (above, patches) in [(0, 0), (1, 1), (4, 4), (5, 4)] {
        let (own, others) = (|| 1..256, || 300..300 + above);
        let all = others().chain(own()).chain(others()).chain(own()).chain(others());
        let all: Vec<u32> = all.collect();
        let rib = in_turn(all.iter().copied(), all.len());
        let folio = agree::<Ipv4, Byte>(&rib, &cuts(&[16, 24]));
        assert_eq!(folio.fixed.patches.len(), patches);
        let (_, branch_pages) = kinds(&folio);
        assert_eq!(branch_pages[0] > 0, above > 0, "some next hop has no code");
    }
    // A code that no next hop of the table uses costs nothing.
    let folio =
        agree::<Ipv4, Byte>(&in_turn([65_535, 65_534, 256, 257].into_iter(), 64), &cuts(&[16]));
    assert_eq!((folio.fixed.patches.len(), kinds(&folio).1.iter().sum::<usize>()), (4, 0));
    // The rarest next hop does not deserve a patch.
    let all: Vec<u32> = (1..256).chain(1..256).chain([256]).collect();
    let folio = agree::<Ipv4, Byte>(&in_turn(all.iter().copied(), all.len()), &cuts(&[16]));
    assert_eq!(folio.fixed.patches, []);
}

/// "No route" may be the code that a patch takes.
#[test]
fn a_patch_for_no_route() {
    let mut rib = in_turn((1..256).chain([256, 256, 256]), 600);
    rib.insert("0.0.0.0/0".parse().unwrap(), hop(256)).unwrap();
    let folio = agree::<Ipv4, Byte>(&rib, &cuts(&[16]));
    assert_eq!(folio.fixed.patches, [(0, 256)]);
    rib.remove("0.0.0.0/0".parse().unwrap());
    agree::<Ipv4, Byte>(&rib, &cuts(&[16]));
    agree::<Ipv4, Coded>(&rib, &cuts(&[16]));
}

/// The narrowest codes that suit the table are chosen.
#[test]
fn the_table_chooses_its_codes() {
    let in_turn = |hops: &[u32], count| in_turn(hops.iter().copied(), count);
    let up_to = |last: u32| (1..=last).collect::<Vec<u32>>();
    let of = |rib: Rib<Ipv4>| chosen(&rib, &[]).unwrap();
    assert_eq!(of(Rib::new()), "codes=8");
    assert_eq!(of(in_turn(&up_to(255), 255)), "codes=8");
    assert_eq!(of(in_turn(&[256, 257, 258, 65_535], 40)), "codes=8");
    assert_eq!(of(in_turn(&[256, 257, 258, 259, 65_535], 40)), "codes=book");
    assert_eq!(
        of(in_turn(&up_to(256), 2560)),
        "codes=8",
        "none begins twice, the others ten times"
    );
    assert_eq!(of(in_turn(&up_to(300), 3000)), "codes=16");
    assert_eq!(of(in_turn(&[65_536], 1)), "codes=32");
    assert_eq!(of(in_turn(&[(1 << 31) - 1], 1)), "codes=32");
}

/// A next hop beyond a form of codes is an error that names the limit.
#[test]
fn ids_beyond_the_codes() {
    let last = (1 << 31) - 1;
    for (codes, limit) in [("8", 65_535), ("book", 65_535), ("16", 65_535), ("32", last)] {
        let option = &[&*format!("codes={codes}")];
        // In the root, in a page of codes and in a branch page.
        for prefix in ["10.0.0.0/8", "10.0.0.0/20", "10.0.0.1/32"] {
            let held = rib::<Ipv4>(&[(prefix, limit), ("20.0.0.0/8", 255), ("20.0.0.0/9", 256)]);
            assert_eq!(chosen(&held, option).unwrap(), option[0]);
            let id = limit + 1;
            let error = CompileError::NextHopTooLarge { engine: NAME, id, limit };
            assert_eq!(chosen(&rib(&[(prefix, id)]), option).unwrap_err(), error);
        }
    }
    assert!(chosen(&rib(&[("10.0.0.0/8", last + 1)]), &[]).is_err());
}

/// Ids on both sides of each limit, everywhere in the structure.
#[test]
fn ids_at_the_limits() {
    fn at<F: Family, C: Code>(id: u32) {
        for first in [8, 16, 20] {
            let stem = F::Bits::from_u128(0x2a55_aa55 << (F::WIDTH - 32));
            let route = |len: u8, n| {
                let prefix = Prefix::from_bits_masked(stem, len);
                Route { prefix, next_hop: hop(n) }
            };
            let lens = [4, 13, 19, 24, 27, 32];
            let rib: Rib<F> =
                lens.map(|len| route(len, id - u32::from(len % 2))).into_iter().collect();
            agree::<F, C>(&rib, &cuts(&[first]));
        }
    }
    fn at_all<F: Family>() {
        for id in [255, 256, 257, 32_768, 65_535] {
            at::<F, Byte>(id);
            at::<F, Coded>(id);
            at::<F, u16>(id);
        }
        // Bits 24, 30 and 31 have a meaning in entries and in the registers of a batch.
        for id in [255, 65_535, 65_536, 1 << 24, 1 << 30, (1 << 30) + 7, (1 << 31) - 1] {
            at::<F, u32>(id);
        }
    }
    at_all::<Ipv4>();
    at_all::<Ipv6>();
}
