//! The language, and each judge with every verdict.

use super::terms::Sign;
use super::*;
use crate::record::Value;

use ClaimResult::{DoesNotHold, Holds, NotComparable};

fn names() -> Names {
    [("A".to_owned(), "a".to_owned()), ("B".into(), "b".into())].into()
}

fn parsed<T: TryFrom<String, Error = String>>(text: &str) -> T {
    T::try_from(text.into()).unwrap()
}

#[test]
fn quantities_without_a_run_or_position_have_the_next_one() {
    let of = |engines: &[&str], run: &str, xs: &[f64]| {
        let engines = engines.iter().map(|it| (*it).to_owned()).collect();
        Quantity::Of(ValueRef { engines, run: run.into(), metric: "rate".into(), xs: xs.into() })
    };
    let [one, two] =
        ["/", "*"].map(|mark| move |a, b| Quantity::Op(mark.into(), Box::new(a), Box::new(b)));
    assert_eq!(
        parsed::<Quantity>("rate(A, sail) / rate(B) in 'just in time' at 4"),
        one(of(&["A", "sail"], "just in time", &[4.0]), of(&["B"], "just in time", &[4.0]))
    );
    assert_eq!(
        parsed::<Quantity>("rate(A) in x / rate() in y at 2..4"),
        one(of(&["A"], "x", &[2.0, 3.0, 4.0]), of(&[""], "y", &[2.0, 3.0, 4.0]))
    );
    assert_eq!(
        parsed::<Quantity>("2 * max(rate(A), fact(L3))"),
        two(
            Quantity::Number(2.0),
            Quantity::Max(Box::new(Quantity::List(vec![
                of(&["A"], "", &[]),
                Quantity::Fact("L3".into())
            ])))
        )
    );
    let relation: Relation = parsed("[rate(A), rate(B)] >= 1.5");
    assert_eq!((relation.sign, relation.right), (Sign::AtLeast, Quantity::Number(1.5)));
}

#[test]
fn errors_have_a_place() {
    let error = |text: &str| Relation::try_from(text.to_owned()).unwrap_err();
    for (text, wanted) in [
        ("rate(A)", "a sign: > < >= <= ~ is expected at character 8"),
        ("rate(A > 1", ") is expected at character 8"),
        ("rate(A) > ", "a quantity is expected at character 11"),
        ("rate(A) > 1 2", "the end is expected at character 13"),
        ("max rate(A) > 1", "( is expected at character 5"),
        ("rate(A) in 5 > 1", "a name is expected at character 12"),
        ("rate(A) at x > 1", "a number is expected at character 12"),
        ("rate('A) > 1", "a ' is not closed"),
        ("rate(A) > 1.2.3", "1.2.3 is not a number"),
        ("rate(A) ! 1", "! has no meaning"),
    ] {
        assert!(error(text).ends_with(wanted), "{text}: {}", error(text));
    }
    assert!(ValueRef::try_from("rate(A) / 2".to_owned()).is_err());
}

fn value(engine: &str, x: Option<f64>, value: f64) -> Value {
    let (engine, metric) = (engine.into(), "rate".into());
    Value { engine, metric, x, value: Some(value), routes: 600_000, ..Value::default() }
}

fn noisy(mut it: Value, q1: f64, q3: f64) -> Value {
    (it.spread.q1, it.spread.q3) = (Some(q1), Some(q3));
    it
}

fn refused(engine: &str, why: &str) -> Value {
    Value { value: None, refused: why.into(), ..value(engine, None, 0.0) }
}

fn claim(judge: Judge, paper: &[[f64; 2]]) -> Claim {
    let usual: Claim = toml::from_str("id = ''\ntext = ''\njudge.number = '1'").unwrap();
    Claim { routes: vec![100_000], judge, paper: paper.into(), ..usual }
}

fn judgement(claim: &Claim, tables: &[&[Value]]) -> Judgement {
    let facts = Facts::from([("cores".into(), 4.0)]);
    let names = names();
    let tables =
        tables.iter().map(|all| Values { all: all.iter().collect(), facts: &facts, names: &names });
    claim.judge(&tables.collect::<Vec<_>>()).remove(0).1
}

fn judged(judge: Judge, paper: &[[f64; 2]], values: &[Value]) -> ClaimResult {
    judgement(&claim(judge, paper), &[values]).verdict
}

fn direction(text: &str) -> Judge {
    Judge::Direction(parsed(text))
}

fn two(first: f64, second: f64) -> [Value; 2] {
    [value("a", None, first), value("b", None, second)]
}

#[test]
fn a_direction_holds_beyond_a_tie_however_far() {
    let of = |text: &str, first| judged(direction(text), &[[1.1, 1.2]], &two(first, 1.0));
    assert_eq!(["rate(A) > rate(B)"; 3].map(|it| of(it, 1.05)), [Holds; 3]);
    assert_eq!(of("rate(A) > rate(B)", 1000.0), Holds);
    assert_eq!([1.02, 0.99].map(|it| of("rate(A) > rate(B)", it)), [NotComparable; 2]);
    assert_eq!(of("rate(A) > rate(B)", 0.9), DoesNotHold);
    assert_eq!(
        [0.9, 1.0, 1.1].map(|it| of("rate(A) < rate(B)", it)),
        [Holds, NotComparable, DoesNotHold]
    );
    assert_eq!([1.0, 0.99].map(|it| of("rate(A) >= 1", it)), [Holds, DoesNotHold]);
    assert_eq!([1.0, 1.01].map(|it| of("rate(A) <= 1", it)), [Holds, DoesNotHold]);
    assert_eq!([0.95, 1.1, 1.2].map(|it| of("rate(A) ~ rate(B)", it)), [Holds, Holds, DoesNotHold]);
}

#[test]
fn noise_decides_no_direction() {
    let of = |sign: &str, value| {
        let values = [noisy(value, 80.0, 120.0), two(0.0, 100.0)[1].clone()];
        judged(direction(&format!("rate(A) {sign} rate(B)")), &[], &values)
    };
    let at = |rate| value("a", None, rate);
    assert_eq!(
        [130.0, 115.0, 90.0, 70.0].map(|it| of(">", at(it))),
        [Holds, NotComparable, NotComparable, DoesNotHold]
    );
    assert_eq!([100.0, 90.0, 70.0].map(|it| of(">=", at(it))), [Holds, NotComparable, DoesNotHold]);
    assert_eq!(of("~", at(100.0)), NotComparable);
}

#[test]
fn every_pair_counts() {
    let of = |a, b| judged(direction("[rate(A), rate(B)] > [1, 2]"), &[], &two(a, b));
    assert_eq!([of(3.0, 3.0), of(3.0, 1.5), of(3.0, 2.0)], [Holds, DoesNotHold, NotComparable]);
    assert_eq!(judged(direction("rate(A, B) / rate(B, A) > 1"), &[], &two(2.0, 1.0)), DoesNotHold);
}

#[test]
fn a_factor_has_no_upper_end() {
    let of = |paper, ratio| {
        judged(Judge::Factor(parsed("rate(A) / rate(B)")), &[paper], &two(ratio, 1.0))
    };
    assert_eq!([2.0, 3.0, 30.0].map(|it| of([2.7, 3.0], it)), [Holds; 3]);
    assert_eq!(of([2.7, 3.0], 1.7), DoesNotHold);
    // The lower end stays above 1.
    assert_eq!([1.05, 1.02, 0.9].map(|it| of([1.1, 1.2], it)), [Holds, NotComparable, DoesNotHold]);
}

#[test]
fn a_number_has_two_ends() {
    let of = |value| judged(Judge::Number(parsed("1 - rate(A)")), &[[0.3, 0.4]], &two(value, 0.0));
    assert_eq!([0.79, 0.65, 0.41].map(of), [Holds; 3]);
    assert_eq!([0.85, 0.35].map(of), [DoesNotHold; 2]);
}

#[test]
fn noise_decides_no_number() {
    let of = |rate, noise: f64| {
        let values = [noisy(value("a", None, rate), rate / noise, rate * noise)];
        judged(Judge::Number(parsed("rate(A)")), &[[90.0, 110.0]], &values)
    };
    assert_eq!(
        [of(100.0, 1.1), of(170.0, 1.1), of(190.0, 1.1)],
        [Holds, NotComparable, DoesNotHold]
    );
    assert_eq!([of(56.0, 1.1), of(50.0, 1.1)], [NotComparable, DoesNotHold]);
    assert_eq!(of(100.0, 1.8), NotComparable, "the noise is wider than half of the band");
}

#[test]
fn our_values_stand_beside_the_papers() {
    let it = claim(direction("rate(A) > rate(B)"), &[[1.04, 1.34]]);
    let of = |rate| judgement(&it, &[&two(rate, 100.0)]);
    assert_eq!(of(120.0).beside(), "a to b 1.20 (paper: 1.04 to 1.34)");
    assert_eq!(of(268.0).beside(), "a to b 2.68 (paper: 1.04 to 1.34, 2.00 times the paper's)");
    assert_eq!(of(52.0).compared[0].distance(), 0.5);
    let it = claim(direction("rate(A) > 900"), &[[914.0, 914.0]]);
    assert_eq!(judgement(&it, &[&two(1000.0, 1.0)]).compared[0].ours, 1000.0);
}

#[test]
fn missing_and_disturbed_values_are_not_comparable() {
    let of = |second: &[Value]| {
        let mut all = vec![value("a", None, 2.0)];
        all.extend_from_slice(second);
        judged(direction("rate(A) > rate(B)"), &[], &all)
    };
    let passes = |disturbed| Value { passes: 5, disturbed, ..value("b", None, 1.0) };
    assert_eq!([of(&[]), of(&[refused("b", "x")]), of(&[passes(5)])], [NotComparable; 3]);
    assert_eq!(of(&[passes(4)]), Holds);
}

#[test]
fn extremes_cover_measured_values_only() {
    let of = |text| judged(direction(text), &[], &two(1.0, 2.0));
    assert_eq!(of("max(rate(A, B, c)) >= 2"), Holds);
    assert_eq!(of("min(rate(A, B, c)) >= 2"), DoesNotHold);
    assert_eq!(of("max(rate(c)) >= 2"), NotComparable);
}

#[test]
fn claims_about_all_tables_need_tables() {
    let of = |least, share, tables: &[&[Value]]| {
        let share = Some(share);
        let it = Claim { tables: Some(least), share, ..claim(direction("rate(A) > rate(B)"), &[]) };
        judgement(&it, tables).verdict
    };
    let (good, bad, none) = (two(2.0, 1.0), two(1.0, 2.0), [value("a", None, 1.0)]);
    assert_eq!(of(2, [1.0; 2], &[&good, &good, &none]), Holds);
    assert_eq!(of(2, [1.0; 2], &[&good, &bad, &good]), DoesNotHold);
    assert_eq!(of(3, [1.0; 2], &[&good, &good, &none]), NotComparable);
    assert_eq!(of(2, [0.4, 0.6], &[&good, &bad]), Holds);
    assert_eq!(of(2, [0.1, 0.4], &[&good, &bad]), DoesNotHold);
}

#[test]
fn counts_are_exact_as_printed() {
    let of = |wanted, decimals, value| {
        let [own, other] = two(value, 0.0);
        let printed = Value { figure: "f".into(), paper: Some(wanted), ..own };
        judged(Judge::Exact("f".into(), "A".into(), decimals), &[], &[printed, other])
    };
    let holds = [(512_148.0, 0, 512_148.0), (9.1, 1, 9.163), (1.44, 2, 1.4391), (0.0, 5, 0.0)];
    let shares = [(0.93821, 0.938_211), (0.93821, 0.938_219), (0.93821, 0.938_205_1)];
    let small = [(4.8e-6, 4.768e-6), (4.7e-7, 4.768e-7)];
    let shares = shares.into_iter().chain(small).map(|(wanted, share)| (wanted, 5, share));
    for (wanted, decimals, value) in holds.into_iter().chain(shares) {
        assert_eq!(of(wanted, decimals, value), Holds, "{value}");
    }
    let fails = [(512_148.0, 0, 512_152.0), (9.1, 1, 9.21), (1.44, 2, 1.43), (0.0, 5, 1e-9)];
    let shares = [(0.93821, 5, 0.938_22), (0.93821, 5, 0.938_204), (4.8e-6, 5, 4.8e-7)];
    for (wanted, decimals, value) in fails.into_iter().chain(shares) {
        assert_eq!(of(wanted, decimals, value), DoesNotHold, "{value}");
    }
    let unprinted = judged(Judge::Exact("f".into(), "A".into(), 0), &[], &two(1.0, 1.0));
    assert_eq!(unprinted, NotComparable);
}

fn series(values: &[f64]) -> Vec<Value> {
    values.iter().zip(1..).map(|(it, x)| value("a", Some(f64::from(x)), *it)).collect()
}

#[test]
fn series_rise_and_scale() {
    let rising =
        |values: &[f64]| judged(Judge::Rising(parsed("rate(A)"), 0.03), &[], &series(values));
    assert_eq!([rising(&[1.0, 2.0, 2.5]), rising(&[1.0, 2.0, 1.95])], [Holds; 2]);
    assert_eq!([rising(&[1.0, 2.0, 1.9]), rising(&[1.0])], [DoesNotHold, NotComparable]);
    let linear =
        |values: &[f64]| judged(Judge::Linear(parsed("rate(A)"), 0.8), &[], &series(values));
    assert_eq!(linear(&[10.0, 20.0, 30.0, 36.0]), Holds);
    assert_eq!(linear(&[10.0, 15.0, 20.0, 24.0]), DoesNotHold);
    assert_eq!(linear(&[10.0, 22.0]), NotComparable, "more than linear is noise");
}

#[test]
fn crossovers_are_where_they_are_said_to_be() {
    let of = |values: &[f64]| {
        let mut all = series(values);
        all.push(value("b", None, 290.0));
        judged(Judge::Crossover(parsed("rate(A)"), parsed("rate(B)"), [2.0, 4.0]), &[], &all)
    };
    assert_eq!(of(&[100.0, 200.0, 300.0, 400.0]), Holds);
    assert_eq!(of(&[100.0, 200.0, 230.0, 260.0]), DoesNotHold);
    assert_eq!(of(&[100.0, 300.0, 310.0, 400.0]), DoesNotHold);
}

#[test]
fn refusals_have_their_reason() {
    let of =
        |values: &[Value]| judged(Judge::Refuses(parsed("rate(A)"), "chunks".into()), &[], values);
    assert_eq!(of(&[refused("a", "more than 32767 chunks")]), Holds);
    assert_eq!([of(&[refused("a", "not enough memory")]), of(&two(1.0, 1.0))], [DoesNotHold; 2]);
    assert_eq!(of(&[]), NotComparable);
}

#[test]
fn needs_that_are_not_met_are_not_comparable() {
    let fine = || claim(direction("rate(A) > rate(B)"), &[]);
    let of = |claim: Claim| judgement(&claim, &[&two(2.0, 1.0)]).verdict;
    let need = |text: &str| {
        let relation = parsed(text);
        of(Claim { needs: vec![Need { relation, reason: "x".into() }], ..fine() })
    };
    assert_eq!([need("fact(cores) >= 4"), need("rate(B) <= 1")], [Holds; 2]);
    assert_eq!(
        [need("fact(cores) >= 5"), need("fact(trace) >= 1"), need("rate(c) > 0")],
        [NotComparable; 3]
    );
    let routes = |routes: &[u64]| of(Claim { routes: routes.into(), ..fine() });
    assert_eq!([routes(&[600_000; 2]), routes(&[600_001])], [Holds, NotComparable]);
    let chosen = ["A", "leaf=32", "leaves"].map(String::from);
    let with = |variant: &str| {
        let mut values = two(2.0, 1.0);
        values[0].variant = variant.into();
        judgement(&Claim { without: Some(chosen.clone()), ..fine() }, &[&values]).verdict
    };
    assert_eq!([with("a:leaf=16"), with("a:leaf=32")], [Holds, NotComparable]);
}

#[test]
fn ids_of_claims_are_unique() {
    let mut ids: Vec<_> =
        crate::Experiment::all().flat_map(|it| &it.claims).map(|claim| &claim.id).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
}
