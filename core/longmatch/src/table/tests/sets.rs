//! Tests of set operations against sets of the standard library.

use alloc::collections::BTreeMap;

use super::model::{Random, prefix};
use super::*;

type Model = BTreeMap<IpPrefix, u32>;

fn pair(random: &mut Random, lens: [u64; 2]) -> ([Table<u32>; 2], [Model; 2]) {
    let models = lens.map(|len| -> Model {
        (0..len).map(|_| (prefix(random), random.below(4) as u32)).collect()
    });
    (models.clone().map(|model| model.into_iter().collect()), models)
}

fn check(tables: &[Table<u32>; 2], models: &[Model; 2]) {
    let ([left, right], [l, r]) = (tables, models);
    let mut keys: Vec<_> = l.keys().chain(r.keys()).copied().collect();
    keys.sort();
    keys.dedup();
    let union = keys.iter().map(|key| match (l.get(key), r.get(key)) {
        (Some(l), Some(r)) => (*key, UnionItem::Both(l, r)),
        (Some(l), None) => (*key, UnionItem::Left(l)),
        (None, r) => (*key, UnionItem::Right(r.unwrap())),
    });
    let items: Vec<_> = left.union(right).collect();
    assert!(items.iter().copied().eq(union));
    for (key, item) in &items {
        assert_eq!((item.left(), item.right()), (l.get(key), r.get(key)));
    }
    let (least, most) = left.union(right).size_hint();
    assert!((least..=most.unwrap()).contains(&items.len()));

    let both = l.iter().filter_map(|(key, value)| Some((*key, (value, r.get(key)?))));
    assert!(left.intersection(right).eq(both.clone()));
    assert!(left.intersection(right).size_hint().1.unwrap() >= both.count());
    let only = l.iter().filter(|(key, _)| !r.contains_key(key)).map(|(key, value)| (*key, value));
    assert!(left.difference(right).eq(only.clone()));
    let covered = |key: &IpPrefix| r.keys().any(|other| other.covers(*key));
    let bare = only.filter(|(key, _)| !covered(key));
    assert!(left.covering_difference(right).eq(bare));
    let overlap = l.keys().any(|key| r.keys().any(|other| other.overlaps(*key)));
    assert_eq!((left.overlaps(right), right.overlaps(left)), (overlap, overlap));

    let mut joined = left.clone();
    joined.extend(right);
    let mut model = l.clone();
    model.extend(r);
    assert!(joined.iter().eq(model.iter().map(|(key, value)| (*key, value))));
}

/// Sizes for which prefixes of one table are looked up in the other, and for which both are merged.
#[test]
fn operations_agree_with_sorted_sets() {
    let mut random = Random(0x5e75);
    let rounds = if cfg!(miri) { 2 } else { 200 };
    for lens in [[0, 0], [0, 9], [1, 1], [3, 90], [90, 3], [40, 40], [9, 12], [1, 1000]] {
        for _ in 0..rounds.min(20_000 / (lens[0] * lens[1] + 1)) {
            let (tables, models) = pair(&mut random, lens);
            check(&tables, &models);
        }
    }
}

#[test]
fn iterators_are_lazy_and_can_be_cloned() {
    let [a, b] = ["10.0.0.0/8", "10.9.0.0/16"].map(p);
    let (left, right) = (Table::from([(a, 1), (b, 2)]), Table::from([(b, "two")]));
    let mut union = left.union(&right);
    assert_eq!(union.next(), Some((a, UnionItem::Left(&1))));
    assert!(union.clone().eq([(b, UnionItem::Both(&2, &"two"))]));
    assert!(left.difference(&right).clone().eq([(a, &1)]));
    assert_eq!(right.covering_difference(&left).clone().next(), None);
    assert_eq!(left.intersection(&right).clone().count(), 1);
}
