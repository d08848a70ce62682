//! Changes under readers, from the writer's side.

use super::super::update::Patcher;
use super::*;
use crate::engine::kit::{CannotPatch, Patch, Replaced};
use crate::engine::testing::changes::{self, Random, TestedPatch};
use crate::engine::testing::prefix;

pub(super) type Changing<E> = changes::Changing<<E as Format>::Family, Patcher<E>>;

impl<E: Format> TestedPatch<E::Family> for Patcher<E> {
    /// Words, and entries of the second level.
    fn in_use(&self) -> [usize; 2] {
        let [free_words, free_blocks] = self.unused();
        let direct = self.direct.levels();
        let [words, entries] = items(direct, &self.ranges);
        [words - free_words, entries - (free_blocks << direct.x())]
    }

    fn lookup(&self, addr: E::Word) -> Option<NextHopId> {
        self.readers.lookup_bits(addr)
    }
}

/// Builds a table with capacity for `spare` more words.
pub(super) fn changing<E: Format, T: FrozenDirect>(
    rib: Rib<E::Family>,
    config: Config,
    spare: usize,
) -> Changing<E> {
    let dxr = Dxr::<E, T>::compile(&rib, &config).unwrap();
    Changing::<E>::new(rib, Patcher::new(&dxr, dxr.ranges.len() + spare).unwrap())
}

/// Words and entries of the second level.
fn items<W>(direct: Levels<'_>, ranges: &[W]) -> [usize; 2] {
    let entries = match direct {
        Levels::Single(_) => 0,
        Levels::Split { entries, .. } => entries.len(),
    };
    [ranges.len(), entries]
}

fn replaced(entries: u64, nodes: u64, leaves: u64) -> Result<Replaced, CannotPatch> {
    Ok(Replaced { entries, nodes, leaves })
}

/// The update table of the README holds.
#[test]
fn only_what_a_change_affects_is_replaced() {
    let mut table = changing::<Original, Single>(example(), config(16), 1000);
    assert_eq!(table.in_use(), [6, 0]);
    // 10.1 shared its chunk with 10.0, and shares it again.
    assert_eq!(table.set(&[("10.1.64.0/20", 4)]), replaced(1, 0, 3));
    assert_eq!(table.in_use(), [8, 0]);
    assert_eq!(table.set(&[("10.1.64.0/20", 2)]), replaced(1, 0, 0));
    assert_eq!(table.in_use(), [6, 0]);
    // A long chunk becomes a next hop.
    assert_eq!(table.set(&[("10.3.0.128/25", 0)]), replaced(1, 0, 0));
    assert_eq!(table.in_use(), [3, 0]);
    // Builds the chunks of a /8; two of them are equal.
    assert_eq!(table.set(&[("10.0.0.0/8", 9)]), replaced(256, 0, 5));
    assert_eq!(table.set(&[("10.0.0.0/8", 9)]), replaced(0, 0, 0));
    // Chunks that a longer route covers are unchanged.
    assert_eq!(table.set(&[("0.0.0.0/0", 5)]), replaced(65_536 - 256, 0, 0));
    // Two changes in one commit that cancel out.
    let back = [("10.2.0.0/24", 9), ("10.2.0.0/24", 3)];
    assert_eq!(table.set(&back), replaced(0, 0, 0));
    // Two chunks become equal in one commit; one of them was stored before.
    let equal = [("10.2.0.0/24", 0), ("10.2.64.0/20", 2)];
    assert_eq!(table.set(&equal), replaced(1, 0, 0));
    assert_eq!(table.in_use(), [2, 0]);
}

/// In two levels a block is built once for all changes of its entries.
#[test]
fn blocks_are_shared() {
    let two_levels = Config { x: 4, ..config(12) };
    let mut table = changing::<Original, Split>(example(), two_levels, 1000);
    let [words, entries] = table.in_use();
    let several = [("10.17.64.0/20", 2), ("10.18.0.0/24", 3), ("10.16.64.0/20", 2)];
    assert_eq!(table.set(&several), replaced(1, 1, 0));
    assert_eq!(table.in_use(), [words, entries + 16]);
    // With this change the block equals that of 10.0 to 10.15.
    assert_eq!(table.set(&[("10.19.0.128/25", 3)]), replaced(1, 0, 0));
    assert_eq!(table.in_use(), [words, entries]);
    // One store for each block.
    assert_eq!(table.set(&[("10.0.0.0/8", 9)]), replaced(16, 2, 3 + 2 + 3));
    assert_eq!(table.in_use(), [words, entries]);
}

/// A change that exceeds the capacity has no effect.
#[test]
fn no_room_is_no_change() {
    let mut table = changing::<Original, Single>(example(), config(16), 3);
    for changes in [
        // The first change alone fits.
        &[("10.1.64.0/20", 4), ("10.2.0.0/24", 4), ("10.3.0.128/25", 4)][..],
        &[("10.1.64.0/20", 4), ("10.1.64.0/20", 65_536)],
        &[("10.0.72.0/24", 65_536)],
    ] {
        table.refuse(changes);
        assert_eq!(table.in_use(), [6, 0]);
    }
    assert_eq!(table.set(&[("10.1.64.0/20", 4)]), replaced(1, 0, 3));
    // More chunks than are patched in place.
    let mut table = changing::<Wide, Split>(example(), Config { x: 9, ..config(9) }, 99);
    table.refuse(&[("0.0.0.0/1", 5)]);
    table.set(&[("0.0.0.0/2", 5)]).unwrap();
}

/// Blocks do not exceed their capacity.
#[test]
fn refused_blocks_change_nothing() {
    let mut table = changing::<Wide, Split>(Rib::new(), Config { x: 2, ..config(14) }, 99);
    let place = |i: u32| Prefix::from_bits_masked(i << 18, 16);
    let too_many: Vec<_> = (0..40).map(|i| (place(i), 1 + i)).collect();
    table.refuse(&too_many);
    assert_eq!(table.in_use(), [0, 4]);
    table.set(&too_many[..10]).unwrap();
    assert_eq!(table.in_use(), [0, 44]);
}

/// A chunk must begin within reach of the base; capacity beyond is not used.
#[test]
fn no_chunk_begins_beyond_the_base() {
    let mut table = changing::<Original, Single>(example(), config(16), 1 << 20);
    let ranges = &mut table.patcher.ranges;
    ranges.extend((1 << 19) - ranges.len() - 1).unwrap();
    let changed = prefix("10.3.0.128/25");
    table.rib.insert(changed, hop(4)).unwrap();
    assert_eq!(table.patcher.patch(&table.rib, &[changed]), replaced(1, 0, 3));
    assert_eq!(table.patcher.ranges.len(), (1 << 19) + 2);
    table.rib.insert(changed, hop(5)).unwrap();
    assert_eq!(table.patcher.patch(&table.rib, &[changed]), Err(CannotPatch));
    assert_eq!(table.patcher.readers.lookup_bits(0x0a03_0080), Some(hop(4)));
    assert_eq!(table.patcher.ranges.len(), (1 << 19) + 2, "words out of reach are given up");
}

/// Chunks with their size in front change. Too long ones are not built, but their words are reused.
#[test]
fn long_chunks_change() {
    let place = |i: u128| Prefix::<Ipv6>::from_bits_masked(1 + 2 * i, 128);
    let rib = |count| (0..count).map(|i| Route { prefix: place(i), next_hop: hop(7) }).collect();
    let mut table = changing::<Xl, Single>(rib(5000), config(16), 1 << 20);
    assert_eq!(table.in_use(), [10_002, 0]);
    assert_eq!(table.set(&[(place(3), 8)]), replaced(1, 0, 10_001));
    assert_eq!(table.set(&[(place(5000), 8)]), replaced(1, 0, 10_003));
    assert_eq!(table.in_use(), [10_004, 0]);
    let fewer: Vec<_> = (4000..5001).map(|i| (place(i), 0)).collect();
    assert_eq!(table.set(&fewer), replaced(1, 0, 8001));
    assert_eq!(table.in_use(), [8001, 0]);
    let mut table = changing::<Xl, Single>(rib(20_000), config(16), 1 << 20);
    table.refuse(&[(place(3), 8)]);
    let fewer: Vec<_> = (100..20_000).map(|i| (place(i), 0)).collect();
    assert_eq!(table.set(&fewer), replaced(1, 0, 201));
    assert_eq!(table.in_use(), [201, 0]);
    let many: Vec<_> = (0..10_000).map(|i| (place(i), 9)).collect();
    assert_eq!(table.set(&many), replaced(1, 0, 20_001));
    assert_eq!(table.patcher.ranges.len(), 20_002, "in reused words; the end is given up");
}

/// After many changes the table equals a compiled one. Positions may differ; drained, it is empty.
#[test]
fn accounts_are_exact() {
    fn follow<E: Format, T: FrozenDirect>(d: u8, x: u8, hops_k: bool, base: u128) {
        let config = Config { x, hops_k, ..config(d) };
        let width = E::Family::WIDTH;
        let mut table = changing::<E, T>(Rib::new(), config, 1 << 18);
        let empty = table.in_use()[0];
        let prefixes = |random: &mut Random| {
            let len = width - random.below(u64::from(width - d.max(8)) + 4) as u8;
            let high = u128::from(random.below(64)) << (width - 20);
            let low = u128::from(random.below(1 << 12)) << (width - 32);
            Prefix::from_bits_masked(Bits::from_u128(high | low | base), len)
        };
        let is_like_a_fresh_one = |table: &mut Changing<E>| {
            table.patcher.credit = 1 << 20;
            table.patcher.close_gaps();
            table.check();
            let fresh = Dxr::<E, T>::compile(&table.rib, &config).unwrap();
            let fresh = items(fresh.direct.levels(), &fresh.ranges);
            assert_eq!(table.in_use(), fresh, "d = {d}, x = {x}");
        };
        let hops = [0, 1, 2, 3, 255, 256];
        let most = changes::random_changes(&mut table, 100, &hops, prefixes, is_like_a_fresh_one);
        assert!(most > empty + 10, "d = {d}, x = {x}");
    }
    use crate::net::Bits;
    follow::<Original, Single>(16, 0, false, 0x0a00_0000);
    follow::<Original, Split>(12, 4, true, 0x0a00_0000);
    follow::<Wide, Single>(17, 0, true, 0x0a00_0000);
    follow::<Wide, Split>(4, 12, false, 0x0a00_0000);
    follow::<Long, Single>(16, 0, false, 0x2001 << 112 | 0xffff << 64);
    follow::<Long, Split>(14, 2, true, 0x2001 << 112 | 0xffff << 64);
    follow::<Xl, Single>(17, 0, true, 0x2001 << 112 | 0xffff << 64);
    follow::<Xl, Split>(8, 9, false, 0x2001 << 112 | 0xffff << 64);
}

#[test]
fn covers_spare_their_specifics() {
    let table = changing::<Original, Single>(Rib::new(), config(16), 100);
    changes::covers_spare_their_specifics(table, Some("0.0.0.0/0"));
}

#[test]
fn withdrawals_show_the_right_cover() {
    let two_levels = Config { x: 4, ..config(12) };
    changes::withdrawals_show_the_right_cover(|rib| changing::<Wide, Split>(rib, two_levels, 100));
}
