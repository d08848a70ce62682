//! Feeds every claim a record in which its sentence is true, and one in which it is false.
//!
//! The records are made from the claim: values start at 100 and are scaled one after the other until each relation, or
//! each number, is where it has to be.

use std::collections::BTreeMap;

use super::terms::Sign;
use super::*;
use crate::record::Value;

/// The facts that a report notes.
const FACTS: [&str; 9] = [
    "cores",
    "L2",
    "L3",
    "GHz",
    "AVX2",
    "clock step",
    "ipv4 packets",
    "ipv6 packets",
    "real updates",
];

/// Values that one expression names: the metric, the engine, the run, the positions. A fact has only a metric.
type Key = (String, String, String, Vec<u64>);

/// A relation or a number, and where it has to be.
enum Aim<'c> {
    /// The relation is true, or false in every pair.
    Relation(&'c Relation, bool),
    /// The elements have these values.
    Values(&'c Quantity, Vec<f64>),
}

#[derive(Default)]
struct Example {
    scales: BTreeMap<Key, f64>,
    /// Values that are not scaled.
    fixed: Vec<Value>,
    routes: u64,
}

impl Example {
    fn add(&mut self, quantity: &Quantity) {
        match quantity {
            Quantity::Number(_) => {}
            Quantity::Of(wanted) => {
                let xs: Vec<u64> = wanted.xs.iter().map(|x| *x as u64).collect();
                for engine in &wanted.engines {
                    let key =
                        (wanted.metric.clone(), engine.clone(), wanted.run.clone(), xs.clone());
                    self.scales.insert(key, 100.0);
                }
            }
            Quantity::Fact(name) => {
                assert!(FACTS.contains(&name.as_str()), "no report notes {name}");
                self.scales.insert((name.clone(), "fact".into(), String::new(), vec![]), 100.0);
            }
            Quantity::Op(_, left, right) => [left, right].into_iter().for_each(|it| self.add(it)),
            Quantity::Max(all) | Quantity::Min(all) => self.add(all),
            Quantity::List(all) => all.iter().for_each(|it| self.add(it)),
        }
    }

    fn with<T>(&self, use_it: impl FnOnce(&Values<'_>) -> T) -> T {
        let (facts, values): (Vec<_>, Vec<_>) = self.scales.iter().partition(|it| it.0.1 == "fact");
        let facts = facts.into_iter().map(|(key, value)| (key.0.clone(), *value)).collect();
        let mut all = self.fixed.clone();
        // A value of one position precedes those of a range, which has the position too.
        let (one, many): (Vec<_>, Vec<_>) = values.into_iter().partition(|it| it.0.3.len() < 2);
        for ((metric, engine, run, xs), value) in one.into_iter().chain(many) {
            let xs = xs.iter().map(|x| Some(*x as f64));
            let xs: Vec<_> = if xs.len() == 0 { vec![None] } else { xs.collect() };
            all.extend(xs.into_iter().map(|x| Value {
                metric: metric.clone(),
                engine: engine.clone(),
                run: run.clone(),
                x,
                value: Some(*value),
                ..Value::default()
            }));
        }
        all.iter_mut().for_each(|it| it.routes = self.routes);
        use_it(&Values { all: all.iter().collect(), facts: &facts, names: &Names::new() })
    }

    /// Returns how far the aims are; 0 if all are met.
    fn cost(&self, aims: &[Aim<'_>]) -> f64 {
        self.with(|values| aims.iter().map(|aim| cost(values, aim)).sum())
    }

    /// Scales one value after the other, and all of them, in ever smaller steps, as long as the cost falls.
    fn solve(&mut self, aims: &[Aim<'_>]) {
        let all: Vec<Key> = self.scales.keys().cloned().collect();
        let groups: Vec<&[Key]> = std::iter::once(&all[..]).chain(all.chunks(1)).collect();
        for round in 0..10 {
            for group in &groups {
                let before = self.scales.clone();
                let mut best = (self.cost(aims), 1.0);
                for step in -32..=32 {
                    let factor = 2f64.powf(f64::from(step) / f64::from(1 << round));
                    for key in *group {
                        self.scales.insert(key.clone(), before[key] * factor);
                    }
                    let cost = self.cost(aims);
                    if cost < best.0 - 1e-9 {
                        best = (cost, factor);
                    }
                    if cost == 0.0 {
                        break;
                    }
                }
                for key in *group {
                    self.scales.insert(key.clone(), before[key] * best.1);
                }
                if best.0 == 0.0 {
                    return;
                }
            }
        }
    }
}

fn cost(values: &Values<'_>, aim: &Aim<'_>) -> f64 {
    let number = |it: &terms::Element| it.1.as_ref().map_or(f64::NAN, |it| it.value);
    let distance = |ratio: f64| match ratio.ln().abs() {
        it if it.is_nan() => 1e3,
        it => it.min(1e3),
    };
    match aim {
        Aim::Values(quantity, wanted) => {
            let elements = values.elements(quantity);
            let pairs =
                elements.iter().enumerate().map(|(i, it)| (number(it), wanted[i % wanted.len()]));
            pairs.map(|(it, wanted)| distance(it / wanted)).sum()
        }
        Aim::Relation(relation, holds) => {
            let (left, right) = (values.elements(&relation.left), values.elements(&relation.right));
            let pairs = left.iter().flat_map(|a| right.iter().map(move |b| (a, b)));
            let one = |(a, b): (&terms::Element, &terms::Element)| {
                let ratio = number(a) / number(b);
                let ratio = match relation.sign {
                    Sign::Less | Sign::AtMost => 1.0 / ratio,
                    _ => ratio,
                };
                match (relation.sign, holds) {
                    (Sign::Same, true) => distance(ratio),
                    (Sign::Same, false) => distance(ratio / 2.0),
                    (_, true) if ratio >= 1.05 => 0.0,
                    (_, true) => distance(ratio / 1.05),
                    (_, false) if ratio <= 0.9 => 0.0,
                    (_, false) => distance(ratio / 0.9),
                }
            };
            pairs.map(one).sum()
        }
    }
}

/// Returns values of a series of an engine.
fn series(wanted: &ValueRef, value: impl Fn(f64) -> f64) -> Vec<Value> {
    let xs = (1..=16).map(f64::from);
    let all = wanted.engines.iter().flat_map(|engine| xs.clone().map(move |x| (engine, x)));
    let one = |(engine, x): (&String, f64)| Value {
        metric: wanted.metric.clone(),
        engine: engine.clone(),
        run: wanted.run.clone(),
        x: Some(x),
        value: Some(value(x)),
        ..Value::default()
    };
    all.map(one).collect()
}

/// Makes a record in which the sentence of the claim is true or false.
fn example(claim: &Claim, holds: bool) -> Example {
    let mut it = Example { routes: claim.routes[0], ..Example::default() };
    let mut aims: Vec<Aim<'_>> =
        claim.needs.iter().map(|need| Aim::Relation(&need.relation, true)).collect();
    match &claim.judge {
        Judge::Direction(relation) => aims.push(Aim::Relation(relation, holds)),
        Judge::Factor(quantity) | Judge::Number(quantity) => {
            let wanted = |[low, high]: &[f64; 2]| match holds {
                true => (low * high).sqrt(),
                false => low / claim.band * 0.7,
            };
            assert!(!claim.paper.is_empty(), "{}: no figure of the paper", claim.id);
            aims.push(Aim::Values(quantity, claim.paper.iter().map(wanted).collect()));
        }
        Judge::Exact(figure, engine, _) => it.fixed.push(Value {
            figure: figure.clone(),
            engine: engine.clone(),
            paper: Some(1.5),
            value: Some(if holds { 1.5 } else { 2.5 }),
            ..Value::default()
        }),
        Judge::Rising(wanted, _) => {
            it.fixed = series(wanted, |x| if holds || x < 9.0 { 10.0 * x } else { 15.0 });
        }
        Judge::Linear(wanted, _) => {
            it.fixed = series(wanted, |x| if holds { 10.0 * x } else { 10.0 })
        }
        Judge::Crossover(wanted, levels, [_, above]) => {
            it.fixed = series(wanted, |x| if holds && x >= *above { 150.0 } else { 50.0 });
            it.add(levels);
        }
        Judge::Refuses(wanted, words) => {
            let value = Value { x: None, ..series(wanted, |_| 1.0).remove(0) };
            it.fixed = vec![match holds {
                true => Value { value: None, refused: format!("too many {words}"), ..value },
                false => value,
            }];
        }
    }
    for aim in &aims {
        match aim {
            Aim::Relation(relation, _) => {
                [&relation.left, &relation.right].map(|quantity| it.add(quantity))
            }
            Aim::Values(quantity, _) => [it.add(quantity), ()],
        };
    }
    it.solve(&aims);
    it
}

/// Judges records: this number of them are true, the others false.
fn judged(claim: &Claim, [holds, fails]: [usize; 2]) -> Judgement {
    let [good, bad] = [true, false].map(|holds| example(claim, holds));
    good.with(|good| {
        bad.with(|bad| {
            let good = (0..holds).map(|_| good.clone());
            let tables: Vec<_> = good.chain((0..fails).map(|_| bad.clone())).collect();
            claim.judge(&tables).remove(0).1
        })
    })
}

#[test]
fn every_claim_can_hold_and_can_fail() {
    for claim in crate::Experiment::all().flat_map(|it| &it.claims) {
        let counts = match (claim.tables, claim.share) {
            (None, _) => [[1, 0], [0, 1]],
            (Some(least), None) => [[least, 0], [least, 1]],
            (Some(least), Some(_)) => [[least / 5, least - least / 5], [least, 0]],
        };
        for (counts, wanted) in
            counts.into_iter().zip([ClaimResult::Holds, ClaimResult::DoesNotHold])
        {
            let judgement = judged(claim, counts);
            assert_eq!(judgement.verdict, wanted, "{}: {}", claim.id, judgement.reason);
        }
    }
}

/// A claim of a direction or of a factor stays true however far the values are.
#[test]
fn no_claim_fails_because_it_is_more_than_true() {
    for claim in crate::Experiment::all().flat_map(|it| &it.claims) {
        let Judge::Factor(quantity) = &claim.judge else { continue };
        let mut it = example(claim, true);
        let aims = claim.needs.iter().map(|need| Aim::Relation(&need.relation, true));
        let far = claim.paper.iter().map(|[_, high]| 20.0 * high).collect();
        it.solve(&aims.chain([Aim::Values(quantity, far)]).collect::<Vec<_>>());
        let judgement = it.with(|values| claim.judge(std::slice::from_ref(values)));
        assert_eq!(
            judgement[0].1.verdict,
            ClaimResult::Holds,
            "{}: {}",
            claim.id,
            judgement[0].1.reason
        );
        assert!(judgement[0].1.compared.iter().all(|it| it.distance() > 10.0), "{}", claim.id);
    }
}
