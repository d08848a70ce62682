//! Chunks that move into gaps of the range table.

use super::changes::{Changing, changing};
use super::*;
use crate::engine::testing::changes::Random;

/// Moves chunks until nothing moves any more; readers have left the old words each time.
fn close_gaps<E: Format>(table: &mut Changing<E>) {
    for _ in 0..4 {
        table.patcher.credit = 1 << 20;
        table.patcher.close_gaps();
        table.check();
    }
}

/// A chunk moves with every direct entry that leads to it, in blocks of their own or shared.
#[test]
fn shared_chunks_move() {
    fn moves<T: FrozenDirect>(d: u8, x: u8) {
        let rib = rib4(&[
            ("10.0.0.0/32", 1),
            ("10.0.0.2/32", 1),
            ("10.1.0.0/32", 1),
            // Two chunks with equal words in one block, the same again in two equal blocks.
            ("10.2.0.4/32", 1),
            ("10.3.0.4/32", 1),
            ("11.2.0.4/32", 1),
            ("12.2.0.4/32", 1),
        ]);
        let mut table = changing::<Original, T>(rib, Config { x, ..config(d) }, 100);
        assert_eq!(table.in_use()[0], 4 + 2 + 3);
        table.set(&[("10.0.0.0/32", 0), ("10.0.0.2/32", 0)]).unwrap();
        table.check();
        table.patcher.credit = 0;
        table.patcher.close_gaps();
        assert_eq!(table.patcher.ranges.len(), 9, "no credit, no moves");
        close_gaps(&mut table);
        // The chunk of 3 words is in the gap of 4, and 2 words fit no gap of 1.
        assert_eq!((table.in_use()[0], table.patcher.ranges.len()), (5, 6), "d = {d}, x = {x}");
        assert_eq!((table.answer("10.3.0.4/32"), table.answer("12.2.0.4/32")), (1, 1));
    }
    moves::<Single>(16, 0);
    moves::<Split>(12, 4);
}

/// Chunks of many sizes that change all the time leave few gaps.
#[test]
fn sizes_that_differ_leave_few_gaps() {
    let place = |chunk: u64, i: u64| {
        let bits = u128::from(chunk) << 112 | u128::from(2 * i + 1);
        Prefix::<Ipv6>::from_bits_masked(bits, 128)
    };
    let sizes = [150, 200, 250, 300, 400, 500, 600, 800, 1000, 1200, 1500, 2000, 2500, 3500];
    let routes = (0..).zip(sizes).flat_map(|(chunk, size)| {
        (0..size).map(move |i| Route { prefix: place(chunk, i), next_hop: hop(7) })
    });
    let table = changing::<Xl, Single>(routes.collect(), config(16), 1 << 20);
    let mut table = table.without_checks();
    let mut random = Random::default();
    let (mut most, mut sum) = (0, 0);
    for _ in 0..1000 {
        let chunk = random.below(sizes.len() as u64);
        let i = random.below(sizes[chunk as usize]);
        table.set(&[(place(chunk, i), random.below(3) as u32)]).unwrap();
        table.reclaim();
        let percent = table.patcher.ranges.len() * 100 / table.in_use()[0];
        (most, sum) = (most.max(percent), sum + percent);
    }
    table.check();
    // The greatest chunk has 23 % of the words, and so has a gap for its copy. The same placement
    // without moves takes 152 % on average; with neighbours joined late, as in `FreeRuns`, 207 %.
    assert!(most < 200 && sum / 1000 < 140, "at most {most} %, {} % on average", sum / 1000);
}
