use super::*;
use crate::engine::testing::changes::Random;

/// A table of a random shape.
fn table(random: &mut Random) -> Rib<Ipv4> {
    let shapes: [&[u8]; 5] =
        [&[32], &[8, 16, 20, 24], &[24, 25, 28, 30, 32], &[0, 1, 9, 22, 31], &[12, 24, 32]];
    let lengths = shapes[random.below(shapes.len() as u64) as usize];
    let hops = [2, 200, 258, 5_000, 70_000, u64::from(u32::MAX) - 1][random.below(6) as usize];
    let area = [32, 24, 16, 12][random.below(4) as usize];
    let routes = [3, 100, 2_000][random.below(3) as usize];
    (0..routes)
        .map(|_| {
            let bits = 0x0a00_0000 ^ random.below(1 << area) as u32;
            let len = lengths[random.below(lengths.len() as u64) as usize];
            Route {
                prefix: Prefix::from_bits_masked(bits, len),
                next_hop: hop(1 + random.below(hops) as u32),
            }
        })
        .collect()
}

#[test]
fn tables_of_all_shapes() {
    let mut random = Random::default();
    for _ in 0..60 {
        let rib = table(&mut random);
        let pick = |random: &mut Random, all: &[u32]| all[random.below(all.len() as u64) as usize];
        let lists = pick(&mut random, &[0, 8, 1_000_000]);
        let entries = pick(&mut random, &[0, 4, 16, 1_000_000]);
        let root = pick(&mut random, &[8, 12, 16, 18, 21]) as u8;
        let chosen = Config {
            lists: Some(lists),
            entries: Some(entries),
            root_bits: Some(root),
            ..Config::default()
        };
        let planned = Config { root_bits: None, lists: None, ..chosen.clone() };
        agree(&rib, if random.below(2) == 0 { &chosen } else { &planned });
        agree(&rib, &Config::default());
    }
}
