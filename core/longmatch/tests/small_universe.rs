//! Every table of a small universe: up to three routes, with equal and different next hops, whose
//! prefixes differ in few bits near both ends of the address. Defects that occur with a million
//! routes tend to occur with three.
//!
//! By default all tables of up to two routes are checked, and some of three, each with a third of
//! the engines. All of three with all engines take minutes: they are ignored by default, and
//! `cargo xtask prove` runs them.

mod common;

use common::Answers;
use longmatch::{Bits, EngineKind, EngineSpec, Engines, Fib, Ipv4, Ipv6, NextHopId, Prefix, Rib};

/// Lengths at both ends and at the borders of engines' strides and first tables.
fn universe<F: Engines>() -> Vec<Prefix<F>> {
    let width = F::WIDTH;
    let lens = [0, 1, 2, 16, 18, 23, 24, 25, width - 2, width - 1, width];
    let mut prefixes = Vec::new();
    for len in lens {
        for high in 0..2u128 {
            for low in 0..4u128 {
                let bits = F::Bits::from_u128(high << (width - 1) | low);
                prefixes.push(Prefix::from_bits_masked(bits, len));
            }
        }
    }
    prefixes.sort();
    prefixes.dedup();
    prefixes
}

/// The routes of a table that share a next hop.
const NEXT_HOPS: [[u32; 3]; 3] = [[1, 1, 1], [1, 2, 3], [1, 2, 1]];

/// The orders in which three routes can be inserted.
const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// All ways to take up to three prefixes.
///
/// A prefix taken twice makes a smaller table.
fn choices(count: usize) -> impl Iterator<Item = [usize; 3]> {
    (0..count).flat_map(move |a| (a..count).flat_map(move |b| (b..count).map(move |c| [a, b, c])))
}

fn rib<F: Engines>(prefixes: [Prefix<F>; 3], hops: [u32; 3], order: [usize; 3]) -> Rib<F> {
    let mut rib = Rib::new();
    for i in order {
        // For a prefix taken twice the first next hop counts, in any order.
        if prefixes[..i].contains(&prefixes[i]) {
            continue;
        }
        rib.insert(prefixes[i], NextHopId::new(hops[i]).unwrap()).unwrap();
    }
    rib
}

/// The quick form tries one choice of three different prefixes in this many.
const SAMPLED: usize = 41;

/// Tries the tables of every choice, or the quick form.
fn tables_agree<F: Engines>(quick: bool) {
    let universe = universe::<F>();
    let mut keys: Vec<F::Bits> = Vec::new();
    for prefix in &universe {
        let (first, last) = (prefix.first(), prefix.last());
        keys.extend(
            [Some(first), first.predecessor(), Some(last), last.successor()].iter().flatten(),
        );
    }
    keys.sort();
    keys.dedup();
    let specs = specs_by_weight::<F>();
    let mut tables = 0usize;
    let is_tried = |(number, [a, b, c]): &(usize, [usize; 3])| {
        !quick || a == b || b == c || number.is_multiple_of(SAMPLED)
    };
    for (_, chosen) in choices(universe.len()).enumerate().filter(is_tried) {
        let prefixes = chosen.map(|i| universe[i]);
        for hops in NEXT_HOPS {
            let table = rib(prefixes, hops, ORDERS[0]);
            for order in ORDERS {
                assert!(
                    rib(prefixes, hops, order).iter().eq(table.iter()),
                    "{prefixes:?} {order:?}"
                );
            }
            let oracle = Fib::compile(&table, EngineKind::Linear).unwrap();
            let answers: Answers<F> =
                keys.iter().map(|key| (*key, oracle.lookup(F::addr(*key)))).collect();
            for (place, (spec, every)) in specs.iter().enumerate() {
                // In the quick form each engine has its turn at every third table of its own.
                let (number, every) =
                    if quick { (tables + place, 3 * every) } else { (tables, *every) };
                if number.is_multiple_of(every) {
                    agrees(&table, spec, &answers);
                }
            }
            tables += 1;
        }
    }
    println!("{}: {tables} tables of up to 3 of {} prefixes", F::NAME, universe.len());
}

/// The engines, each with the distance between the tables that it is tried on.
///
/// An engine with megabytes of structure even for small tables would take minutes.
fn specs_by_weight<F: Engines>() -> Vec<(EngineSpec, usize)> {
    // Half the space, and a route at either end.
    let prefixes = [(F::Bits::MAX, 1), (F::Bits::ZERO, F::WIDTH), (F::Bits::MAX, F::WIDTH)];
    let prefixes = prefixes.map(|(bits, len)| Prefix::from_bits_masked(bits, len));
    let table = rib::<F>(prefixes, [1, 2, 3], ORDERS[0]);
    let weigh = |spec: EngineSpec| {
        let bytes = Fib::compile(&table, spec.clone()).unwrap().memory_usage().bytes();
        let every = match bytes >> 16 {
            0..8 => 1,
            8..64 => 23,
            _ => 401,
        };
        (spec, every)
    };
    common::specs::<F>().into_iter().map(weigh).collect()
}

fn agrees<F: Engines>(table: &Rib<F>, spec: &EngineSpec, answers: &Answers<F>) {
    let fib = Fib::compile(table, spec.clone()).unwrap();
    let keys: Vec<F::Bits> = answers.iter().map(|(key, _)| *key).collect();
    let mut out = vec![None; keys.len()];
    fib.lookup_batch(&keys, &mut out);
    for ((key, hop), batched) in answers.iter().zip(out) {
        let addr = F::addr(*key);
        assert_eq!(fib.lookup(addr), *hop, "{spec} at {addr} of {table:?}");
        assert_eq!(batched, *hop, "{spec} in a batch at {addr} of {table:?}");
    }
}

#[test]
fn small_ipv4_tables_agree() {
    tables_agree::<Ipv4>(true);
}

#[test]
fn small_ipv6_tables_agree() {
    tables_agree::<Ipv6>(true);
}

#[test]
#[ignore = "minutes; run by `cargo xtask prove`"]
fn every_ipv4_table_agrees() {
    tables_agree::<Ipv4>(false);
}

#[test]
#[ignore = "minutes; run by `cargo xtask prove`"]
fn every_ipv6_table_agrees() {
    tables_agree::<Ipv6>(false);
}
