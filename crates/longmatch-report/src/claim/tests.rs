//! Each judge is tested with every verdict.

use super::*;
use crate::record::Value;

fn value(engine: &str, x: Option<f64>, value: f64) -> Value {
    let (engine, metric) = (engine.into(), "rate".into());
    Value { engine, metric, x, value: Some(value), routes: 600_000, ..Value::default() }
}

fn noisy(it: Value, q1: f64, q3: f64) -> Value {
    let mut it = it;
    (it.spread.q1, it.spread.q3) = (Some(q1), Some(q3));
    it
}

fn refused(engine: &str, why: &str) -> Value {
    Value { value: None, refused: why.into(), ..value(engine, None, 0.0) }
}

fn judged_with(judge: Judge, needs: Vec<Needs>, tables: &[&[Value]]) -> Verdict {
    let claim = Claim { id: "", section: "", text: "", family: "", needs, judge };
    let facts = Facts::from([("cores".into(), 4.0), ("clock step".into(), 5.0)]);
    let tables = tables.iter().map(|all| Values { all: all.iter().collect(), facts: &facts });
    let all = claim.judge(&tables.collect::<Vec<_>>());
    assert_eq!(all.len(), 1);
    all[0].1.verdict
}

fn judged(judge: Judge, values: &[Value]) -> Verdict {
    judged_with(judge, Vec::new(), &[values])
}

fn a() -> Q {
    rate("a", "")
}

fn b() -> Q {
    rate("b", "")
}

fn two(first: f64, second: f64) -> [Value; 2] {
    [value("a", None, first), value("b", None, second)]
}

use Verdict::{DoesNotHold, Holds, NotComparable};

#[test]
fn ratios_hold_inside_their_band_only() {
    let of = |first| judged((a() / b()).within(2.35, 10.2), &two(first, 100.0));
    assert_eq!([of(235.0), of(1020.0)], [Holds; 2]);
    assert_eq!([of(120.0), of(1030.0)], [DoesNotHold; 2]);
}

#[test]
fn noise_wider_than_half_of_the_band_is_not_comparable() {
    let judge = || (a() / b()).within(2.0, 3.0);
    let [first, second] = two(250.0, 100.0);
    let quiet = noisy(first.clone(), 240.0, 260.0);
    assert_eq!(judged(judge(), &[quiet, second.clone()]), Holds);
    assert_eq!(judged(judge(), &[noisy(first, 190.0, 300.0), second]), NotComparable);
}

#[test]
fn values_that_are_missing_are_not_comparable() {
    let judge = || (a() / b()).within(2.0, 3.0);
    assert_eq!(judged(judge(), &[value("a", None, 1.0)]), NotComparable);
    assert_eq!(judged(judge(), &[value("a", None, 1.0), refused("b", "x")]), NotComparable);
}

#[test]
fn greater_takes_more_than_a_tie() {
    let greater = || (a() / b()).within(ABOVE, 2.0);
    let less = || (a() / b()).within(0.5, BELOW);
    assert_eq!(judged(greater(), &two(1.05, 1.0)), Holds);
    assert_eq!(judged(greater(), &two(1.02, 1.0)), NotComparable);
    assert_eq!(judged(greater(), &two(0.9, 1.0)), DoesNotHold);
    assert_eq!(judged(less(), &two(0.9, 1.0)), Holds);
    assert_eq!(judged(less(), &two(1.0, 1.0)), NotComparable);
    assert_eq!(judged(less(), &two(1.1, 1.0)), DoesNotHold);
    let pairs = || Judge::Greater(vec![(a(), b())]);
    assert_eq!(judged(pairs(), &two(1.05, 1.0)), Holds);
    assert_eq!(judged(pairs(), &two(1.0, 1.01)), NotComparable);
    assert_eq!(judged(pairs(), &two(1.0, 1.05)), DoesNotHold);
}

#[test]
fn one_part_that_does_not_hold_decides() {
    let both = Judge::Within(vec![(a(), 1.0, 2.0), (b(), 1.0, 2.0)]);
    assert_eq!(judged(both.clone(), &two(1.5, 1.5)), Holds);
    assert_eq!(judged(both, &two(1.5, 2.5)), DoesNotHold);
}

#[test]
fn thresholds_have_one_edge() {
    assert_eq!(judged(a().at_least(100.0), &two(100.0, 0.0)), Holds);
    assert_eq!(judged(a().at_least(100.0), &two(93.0, 0.0)), DoesNotHold);
    assert_eq!(judged((a() - b()).at_most(1.0), &two(3.0, 2.0)), Holds);
    assert_eq!(judged((a() - b()).at_most(1.0), &two(3.3, 2.0)), DoesNotHold);
    assert_eq!(judged((2.0 * a()).at_least(3.0), &two(1.4, 0.0)), DoesNotHold);
}

#[test]
fn extremes_cover_measured_values_only() {
    let most = || Q::Max(vec![a(), b(), rate("c", "")]);
    assert_eq!(judged(most().within(2.0, 2.0), &two(1.0, 2.0)), Holds);
    assert_eq!(judged(Q::Min(vec![a(), b()]).within(2.0, 2.0), &two(1.0, 2.0)), DoesNotHold);
    assert_eq!(judged(Q::Sum(vec![a(), b()]).within(3.0, 3.0), &two(1.0, 2.0)), Holds);
    assert_eq!(
        judged(Q::Sum(vec![a(), rate("c", "")]).within(3.0, 3.0), &two(1.0, 2.0)),
        NotComparable
    );
    assert_eq!(judged(Q::Max(vec![rate("c", "")]).within(2.0, 2.0), &two(1.0, 2.0)), NotComparable);
}

#[test]
fn all_tables_need_all_tables() {
    let judge = |least| Judge::AllTables(Box::new((a() / b()).at_least(1.1)), least);
    let (good, bad, none) = (two(2.0, 1.0), two(1.0, 1.0), [value("a", None, 1.0)]);
    assert_eq!(judged_with(judge(2), Vec::new(), &[&good, &good, &none]), Holds);
    assert_eq!(judged_with(judge(2), Vec::new(), &[&good, &bad, &good]), DoesNotHold);
    assert_eq!(judged_with(judge(3), Vec::new(), &[&good, &good, &none]), NotComparable);
    let share = |low, high| Judge::ShareOfTables(Box::new((a() / b()).at_least(1.1)), low, high, 2);
    assert_eq!(judged_with(share(0.4, 0.6), Vec::new(), &[&good, &bad]), Holds);
    assert_eq!(judged_with(share(0.1, 0.4), Vec::new(), &[&good, &bad]), DoesNotHold);
}

#[test]
fn counts_are_exact_as_printed() {
    let of = |wanted, decimals, value| {
        judged(Judge::Exact(vec![(a(), wanted, decimals)]), &two(value, 0.0))
    };
    assert_eq!([of(512_148.0, 0, 512_148.0), of(9.1, 1, 9.163), of(1.44, 2, 1.4391)], [Holds; 3]);
    assert_eq!(
        [of(512_148.0, 0, 512_152.0), of(9.1, 1, 9.21), of(1.44, 2, 1.43)],
        [DoesNotHold; 3]
    );
}

fn series(values: &[f64]) -> Vec<Value> {
    values.iter().zip(1..).map(|(it, x)| value("a", Some(f64::from(x)), *it)).collect()
}

const OVER: Over = Over { engine: "a", run: "", metric: "rate" };

#[test]
fn a_fall_is_not_monotone() {
    let of = |values: &[f64]| judged(Judge::Monotone(OVER, 0.03), &series(values));
    assert_eq!([of(&[1.0, 2.0, 2.5]), of(&[1.0, 2.0, 1.95])], [Holds; 2]);
    assert_eq!(of(&[1.0, 2.0, 1.9]), DoesNotHold);
    assert_eq!(of(&[1.0]), NotComparable);
}

#[test]
fn more_than_linear_is_noise() {
    let of = |values: &[f64]| judged(Judge::Linear(vec![OVER], 0.8), &series(values));
    assert_eq!(of(&[10.0, 20.0, 30.0, 36.0]), Holds);
    assert_eq!(of(&[10.0, 15.0, 20.0, 24.0]), DoesNotHold);
    assert_eq!(of(&[10.0, 22.0]), NotComparable);
}

#[test]
fn crossovers_are_where_they_are_said_to_be() {
    let judge = || Judge::Crossover(OVER, vec![b()], 2.0, 4.0);
    let of = |values: &[f64]| {
        let mut all = series(values);
        all.push(value("b", None, 290.0));
        judged(judge(), &all)
    };
    assert_eq!(of(&[100.0, 200.0, 300.0, 400.0]), Holds);
    assert_eq!(of(&[100.0, 200.0, 230.0, 260.0]), DoesNotHold);
    assert_eq!(of(&[100.0, 300.0, 310.0, 400.0]), DoesNotHold);
}

#[test]
fn refusals_have_their_reason() {
    let judge = || Judge::Refuses(Pick { engine: "a", run: "", metric: "rate", x: None }, "chunks");
    assert_eq!(judged(judge(), &[refused("a", "more than 32767 chunks")]), Holds);
    assert_eq!(judged(judge(), &[refused("a", "not enough memory")]), DoesNotHold);
    assert_eq!(judged(judge(), &two(1.0, 1.0)), DoesNotHold);
    assert_eq!(judged(judge(), &[]), NotComparable);
}

#[test]
fn needs_that_are_not_met_are_not_comparable() {
    let of = |needs| judged_with(a().within(1.0, 2.0), vec![needs], &[&two(1.5, 70.0)]);
    let fine = [
        Needs::Fact("cores", 4.0, "cores"),
        Needs::Routes(600_000, 600_000),
        Needs::Least(b(), 70.0, "b"),
        Needs::Most(b(), 70.0, "b"),
        Needs::FineClock(b()),
        Needs::Without("a", "leaf=16", "leaves"),
    ];
    assert!(fine.into_iter().map(of).all(|it| it == Holds));
    let missing = [
        Needs::Fact("cores", 5.0, "cores"),
        Needs::Fact("trace", 1.0, "trace"),
        Needs::Routes(600_001, 700_000),
        Needs::Least(b(), 71.0, "b"),
        Needs::Most(b(), 69.0, "b"),
        Needs::FineClock(a()),
    ];
    assert!(missing.into_iter().map(of).all(|it| it == NotComparable));
}

#[test]
fn ids_of_claims_are_unique() {
    let mut ids: Vec<_> =
        crate::Experiment::all().flat_map(|it| &it.claims).map(|claim| claim.id).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
}
