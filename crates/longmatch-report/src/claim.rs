//! Claims of the papers: sentences with their own engines, family and traffic, and how they are judged.
//!
//! A claim holds inside a stated band around the paper's value or ordering, and does not hold outside. It is not
//! comparable where something is missing that it takes, or where the noise is wider than half of the band. Judging
//! takes nothing but records, so that verdicts can be made again without measuring again.

use core::fmt::Write as _;
use core::ops::{Div, Mul, Sub};
use std::collections::BTreeMap;

use crate::record::Value;

/// A sentence of a paper, and how it is judged.
pub(crate) struct Claim {
    /// A short name, unlike that of any other claim.
    pub id: &'static str,
    /// The section of the paper.
    pub section: &'static str,
    /// The sentence in our words, with the paper's values.
    pub text: &'static str,
    /// The family; every table of it is judged alone, unless the judge is about all tables.
    pub family: &'static str,
    /// What it takes.
    pub needs: Vec<Needs>,
    /// The judge.
    pub judge: Judge,
}

/// What a claim takes to be comparable.
#[derive(Clone, Debug)]
pub(crate) enum Needs {
    /// A fact of the machine or the inputs is at least this; the words say what is missing otherwise.
    Fact(&'static str, f64, &'static str),
    /// A number of routes in the table.
    Routes(u64, u64),
    /// A quantity is at least this; the words say why it matters.
    Least(Q, f64, &'static str),
    /// A quantity is at most this.
    Most(Q, f64, &'static str),
    /// The quantity is ten steps of the time stamp counter or more.
    FineClock(Q),
}

/// A value, selected by all that distinguishes it in its experiment, family and table.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Pick {
    /// The engine with its options.
    pub engine: &'static str,
    /// The run configuration.
    pub run: &'static str,
    /// The quantity.
    pub metric: &'static str,
    /// The place on the axis, if it has several.
    pub x: Option<f64>,
}

/// A quantity that is computed from values.
#[derive(Clone, Debug)]
pub(crate) enum Q {
    /// A value.
    Of(Pick),
    /// The first divided by the second.
    Ratio(Box<Q>, Box<Q>),
    /// The first less the second.
    Less(Box<Q>, Box<Q>),
    /// A multiple.
    Times(f64, Box<Q>),
    /// The sum of some.
    Sum(Vec<Q>),
    /// The greatest of those that were measured.
    Max(Vec<Q>),
    /// The least of those that were measured.
    Min(Vec<Q>),
    /// A fact of the machine or the inputs.
    Fact(&'static str),
}

/// The rate of an engine in a run configuration.
pub(crate) fn rate(engine: &'static str, run: &'static str) -> Q {
    Q::Of(Pick { engine, run, metric: "rate", x: None })
}

/// Another quantity of an engine.
pub(crate) fn of(engine: &'static str, metric: &'static str) -> Q {
    Q::Of(Pick { engine, run: "", metric, x: None })
}

impl Div for Q {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        Self::Ratio(Box::new(self), Box::new(other))
    }
}

impl Sub for Q {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self::Less(Box::new(self), Box::new(other))
    }
}

impl Mul<Q> for f64 {
    type Output = Q;

    fn mul(self, q: Q) -> Q {
        Q::Times(self, Box::new(q))
    }
}

impl Q {
    /// The same value at a place on the axis.
    pub fn at(self, x: f64) -> Self {
        match self {
            Self::Of(pick) => Self::Of(Pick { x: Some(x), ..pick }),
            other => other,
        }
    }

    /// Inside a band.
    pub fn within(self, low: f64, high: f64) -> Judge {
        Judge::Within(vec![(self, low, high)])
    }

    /// At least this.
    pub fn at_least(self, low: f64) -> Judge {
        self.within(low, f64::INFINITY)
    }

    /// At most this.
    pub fn at_most(self, high: f64) -> Judge {
        self.within(0.0, high)
    }
}

/// A series of values over an axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Over {
    /// The engine.
    pub engine: &'static str,
    /// The run configuration.
    pub run: &'static str,
    /// The quantity.
    pub metric: &'static str,
}

/// How a claim is judged.
#[derive(Clone, Debug)]
pub(crate) enum Judge {
    /// Each quantity is inside its band.
    Within(Vec<(Q, f64, f64)>),
    /// The first quantity of each pair is greater than the second.
    Greater(Vec<(Q, Q)>),
    /// The judge holds on every table; needs at least as many tables.
    AllTables(Box<Judge>, usize),
    /// The share of tables on which the judge holds is inside the band; needs at least as many tables.
    ShareOfTables(Box<Judge>, f64, f64, usize),
    /// Each quantity is as given, to as many decimals, cut or rounded as printed.
    Exact(Vec<(Q, f64, u8)>),
    /// No value of the series is less than the one before by more than this share.
    Monotone(Over, f64),
    /// The gain of each series from its first to its last place, as a share of the gain of the place, is at least this.
    Linear(Vec<Over>, f64),
    /// The series is less than all levels up to the first place, and greater than all of them from the second.
    Crossover(Over, Vec<Q>, f64, f64),
    /// An engine refuses the table of a run configuration for a reason with these words.
    Refuses(Pick, &'static str),
}

/// Whether a claim holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// Inside the band.
    Holds,
    /// Outside the band.
    DoesNotHold,
    /// There is nothing to judge.
    NotComparable,
}

/// A verdict with its reason.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// The values here, or the reason why there is nothing to judge.
    pub reason: String,
}

impl Judgement {
    fn of(holds: bool, reason: String) -> Self {
        Self { verdict: if holds { Verdict::Holds } else { Verdict::DoesNotHold }, reason }
    }

    fn not_comparable(reason: impl Into<String>) -> Self {
        Self { verdict: Verdict::NotComparable, reason: reason.into() }
    }
}

/// Differences up to this share count as none.
pub(crate) const TIE: f64 = 0.03;
/// The lower edge of a band whose sentence says "greater".
pub(crate) const ABOVE: f64 = 1.0 + TIE;
/// The upper edge of a band whose sentence says "less".
pub(crate) const BELOW: f64 = 1.0 - TIE;

/// Facts of the machine and the inputs, by name.
pub(crate) type Facts = BTreeMap<String, f64>;

/// The values of one experiment, family and table.
pub(crate) struct Values<'v> {
    /// The values.
    pub all: Vec<&'v Value>,
    /// The facts.
    pub facts: &'v Facts,
}

/// A number with the uncertainty of its logarithm.
#[derive(Clone, Copy, Debug)]
struct Number {
    value: f64,
    noise: f64,
}

impl Values<'_> {
    fn find(&self, pick: &Pick) -> Result<&Value, String> {
        let is = |value: &&&Value| {
            value.engine == pick.engine
                && value.run == pick.run
                && value.metric == pick.metric
                && (pick.x.is_none() || pick.x == value.x)
        };
        let found = self.all.iter().find(is).copied();
        found.ok_or_else(|| format!("{} was not measured", named(pick)))
    }

    fn number(&self, q: &Q) -> Result<Number, String> {
        Ok(match q {
            Q::Of(pick) => {
                let found = self.find(pick)?;
                let refused = || format!("{}: {}", named(pick), found.refused);
                let value = found.value.ok_or_else(refused)?;
                let noise = found.quartiles().map_or(0.0, |[q1, q3]| (q3 / q1).ln() / 2.0);
                Number { value, noise }
            }
            Q::Fact(name) => {
                let value = self.facts.get(*name).copied();
                Number { value: value.ok_or_else(|| format!("{name} is not known"))?, noise: 0.0 }
            }
            Q::Ratio(a, b) => {
                let (a, b) = (self.number(a)?, self.number(b)?);
                Number { value: a.value / b.value, noise: a.noise + b.noise }
            }
            Q::Less(a, b) => {
                let (a, b) = (self.number(a)?, self.number(b)?);
                Number { value: a.value - b.value, noise: a.noise + b.noise }
            }
            Q::Times(by, q) => {
                let it = self.number(q)?;
                Number { value: it.value * by, ..it }
            }
            Q::Sum(all) => {
                let all = all.iter().map(|q| self.number(q)).collect::<Result<Vec<_>, _>>()?;
                let noise = all.iter().map(|it| it.noise).fold(0.0, f64::max);
                Number { value: all.iter().map(|it| it.value).sum(), noise }
            }
            Q::Max(all) => self.extreme(all, |a, b| a > b)?,
            Q::Min(all) => self.extreme(all, |a, b| a < b)?,
        })
    }

    fn extreme(&self, all: &[Q], better: impl Fn(f64, f64) -> bool) -> Result<Number, String> {
        let mut best: Result<Number, String> = Err("none was measured".into());
        for it in all.iter().map(|q| self.number(q)) {
            best = match (best, it) {
                (Ok(best), Ok(it)) if better(it.value, best.value) => Ok(it),
                (Ok(best), _) => Ok(best),
                (Err(_), it) => it,
            };
        }
        best
    }

    /// All places of a series with their values, in the order of the places.
    fn series(&self, over: &Over) -> Result<Vec<(f64, Number)>, String> {
        let pick = Pick { engine: over.engine, run: over.run, metric: over.metric, x: None };
        let own = self.all.iter().filter(|it| {
            it.engine == over.engine && it.run == over.run && it.metric == over.metric
        });
        let mut xs: Vec<f64> = own.filter_map(|value| value.x).collect();
        xs.sort_by(f64::total_cmp);
        if xs.len() < 2 {
            return Err(format!("{} was not measured at two places", named(&pick)));
        }
        let at = |x| Ok((x, self.number(&Q::Of(Pick { x: Some(x), ..pick }))?));
        xs.into_iter().map(at).collect()
    }
}

fn named(pick: &Pick) -> String {
    let mut out = String::new();
    for part in [pick.metric, pick.engine, pick.run] {
        if !part.is_empty() {
            let _ = write!(out, "{}{part}", if out.is_empty() { "" } else { " of " });
        }
    }
    out
}

impl Claim {
    /// Judges the tables of the family: one judgement for each, with its place, or one for all.
    pub fn judge(&self, tables: &[Values<'_>]) -> Vec<(Option<usize>, Judgement)> {
        let about_all = matches!(self.judge, Judge::AllTables(..) | Judge::ShareOfTables(..));
        if about_all {
            return vec![(None, self.judge_all(tables))];
        }
        tables
            .iter()
            .enumerate()
            .map(|(i, values)| (Some(i), self.judge_one(&self.judge, values)))
            .collect()
    }

    fn judge_all(&self, tables: &[Values<'_>]) -> Judgement {
        let (inner, least) = match &self.judge {
            Judge::AllTables(inner, least) | Judge::ShareOfTables(inner, _, _, least) => {
                (inner, *least)
            }
            _ => return Judgement::not_comparable("about one table"),
        };
        let all: Vec<Judgement> =
            tables.iter().map(|values| self.judge_one(inner, values)).collect();
        let judged: Vec<_> = all.iter().filter(|it| it.verdict != Verdict::NotComparable).collect();
        let holds = judged.iter().filter(|it| it.verdict == Verdict::Holds).count();
        let reason = format!("on {holds} of {} tables", judged.len());
        match self.judge {
            Judge::AllTables(..) if holds < judged.len() => Judgement::of(false, reason),
            _ if judged.len() < least => Judgement::not_comparable(format!(
                "{reason}, where at least {least} must be comparable"
            )),
            Judge::ShareOfTables(_, low, high, _) => {
                Judgement::of((low..=high).contains(&(holds as f64 / judged.len() as f64)), reason)
            }
            _ => Judgement::of(true, reason),
        }
    }

    fn judge_one(&self, judge: &Judge, values: &Values<'_>) -> Judgement {
        let missing = self.needs.iter().find_map(|needs| missing(needs, values));
        if let Some(reason) = missing {
            return Judgement::not_comparable(reason);
        }
        let judged = match judge {
            Judge::Within(all) => within(values, all),
            Judge::Greater(pairs) => greater(values, pairs),
            Judge::Exact(all) => exact(values, all),
            Judge::Monotone(over, fall) => monotone(values, over, *fall),
            Judge::Linear(all, least) => linear(values, all, *least),
            Judge::Crossover(over, levels, below, above) => {
                crossover(values, over, levels, *below, *above)
            }
            Judge::Refuses(pick, words) => refuses(values, pick, words),
            Judge::AllTables(..) | Judge::ShareOfTables(..) => Err("about all tables".into()),
        };
        judged.unwrap_or_else(Judgement::not_comparable)
    }
}

/// What is missing for a claim, in words.
fn missing(needs: &Needs, values: &Values<'_>) -> Option<String> {
    match needs {
        Needs::Fact(name, least, words) => {
            let fact = values.facts.get(*name);
            (fact.is_none_or(|fact| fact < least)).then(|| (*words).into())
        }
        Needs::Routes(least, most) => {
            let routes = values.all.first().map_or(0, |value| value.routes);
            let fits = (*least..=*most).contains(&routes);
            (!fits).then(|| format!("a table of {routes} routes, not {least} to {most}"))
        }
        Needs::Least(q, least, words) => match values.number(q) {
            Err(reason) => Some(reason),
            Ok(it) => (it.value < *least).then(|| (*words).into()),
        },
        Needs::Most(q, most, words) => match values.number(q) {
            Err(reason) => Some(reason),
            Ok(it) => (it.value > *most).then(|| (*words).into()),
        },
        Needs::FineClock(q) => {
            let step = values.facts.get("clock step").copied().unwrap_or(f64::INFINITY);
            match values.number(q) {
                Err(reason) => Some(reason),
                Ok(it) => (it.value < 10.0 * step).then(|| {
                    format!("the clock has steps of {step:.0} cycles, the value is {:.0}", it.value)
                }),
            }
        }
    }
}

/// Joins the judgements of the parts of a claim: all must hold, one that does not decides.
fn joined(parts: Vec<Judgement>) -> Judgement {
    let reason = parts.iter().map(|it| it.reason.as_str()).collect::<Vec<_>>().join("; ");
    let any = |verdict| parts.iter().any(|it| it.verdict == verdict);
    let verdict = match () {
        () if any(Verdict::DoesNotHold) => Verdict::DoesNotHold,
        () if any(Verdict::NotComparable) => Verdict::NotComparable,
        () => Verdict::Holds,
    };
    Judgement { verdict, reason }
}

fn within(values: &Values<'_>, all: &[(Q, f64, f64)]) -> Result<Judgement, String> {
    let judged = |(q, low, high): &(Q, f64, f64)| {
        let it = values.number(q)?;
        let reason = format!("{}, band {}", short(it.value), band(*low, *high));
        // A band with an open end is as wide as noise can be.
        if it.noise > (high / low).ln() / 2.0 {
            return Ok(Judgement::not_comparable(format!(
                "{reason}: the noise is wider than half of the band"
            )));
        }
        let tie = |edge: f64, other: f64| {
            edge == ABOVE && other > 1.0 && (1.0 / ABOVE..ABOVE).contains(&it.value)
        };
        if tie(*low, *high) || (*high == BELOW && (BELOW..1.0 / BELOW).contains(&it.value)) {
            return Ok(Judgement::not_comparable(format!("{reason}: no difference")));
        }
        Ok(Judgement::of((*low..=*high).contains(&it.value), reason))
    };
    Ok(joined(all.iter().map(judged).collect::<Result<_, String>>()?))
}

fn band(low: f64, high: f64) -> String {
    match (low > 0.0, high.is_finite()) {
        (true, true) => format!("{} to {}", short(low), short(high)),
        (true, false) => format!("at least {}", short(low)),
        (false, _) => format!("at most {}", short(high)),
    }
}

/// A number with three digits or so.
fn short(value: f64) -> String {
    match value.abs() {
        it if it >= 100.0 => format!("{value:.0}"),
        it if it >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn greater(values: &Values<'_>, pairs: &[(Q, Q)]) -> Result<Judgement, String> {
    let judged = |(a, b): &(Q, Q)| {
        let (a, b) = (values.number(a)?, values.number(b)?);
        let (ratio, tie) = (a.value / b.value, TIE.max(a.noise + b.noise));
        let reason = format!("{} against {}", short(a.value), short(b.value));
        if ratio > 1.0 / (1.0 + tie) && ratio < 1.0 + tie {
            return Ok(Judgement::not_comparable(format!("{reason}: no difference")));
        }
        Ok(Judgement::of(ratio > 1.0, reason))
    };
    Ok(joined(pairs.iter().map(judged).collect::<Result<_, String>>()?))
}

fn exact(values: &Values<'_>, all: &[(Q, f64, u8)]) -> Result<Judgement, String> {
    let judged = |(q, wanted, decimals): &(Q, f64, u8)| {
        let it = values.number(q)?.value;
        let unit = 10f64.powi(-i32::from(*decimals));
        // Papers cut or round the last digit.
        let holds = (it - wanted).abs() <= unit / 2.0 || (0.0..unit).contains(&(it - wanted));
        Ok(Judgement::of(holds, format!("{it:.0$} for {wanted:.0$}", usize::from(*decimals))))
    };
    Ok(joined(all.iter().map(judged).collect::<Result<_, String>>()?))
}

fn monotone(values: &Values<'_>, over: &Over, fall: f64) -> Result<Judgement, String> {
    let series = values.series(over)?;
    let falls = |pair: &&[(f64, Number)]| pair[1].1.value < pair[0].1.value * (1.0 - fall);
    let places: Vec<_> = series.windows(2).filter(falls).map(|pair| short(pair[1].0)).collect();
    let reason = match places.is_empty() {
        true => format!("no fall of more than {} %", short(fall * 100.0)),
        false => format!("it falls at {}", places.join(", ")),
    };
    Ok(Judgement::of(places.is_empty(), reason))
}

/// More than linear by this share is noise.
const SUPERLINEAR: f64 = 1.05;

fn linear(values: &Values<'_>, all: &[Over], least: f64) -> Result<Judgement, String> {
    let judged = |over: &Over| {
        let series = values.series(over)?;
        let ((from, first), (to, last)) = (series[0], series[series.len() - 1]);
        let share = (last.value / first.value) / (to / from);
        let reason = format!("{}: {} of linear from {from} to {to}", over.engine, short(share));
        if share > SUPERLINEAR {
            return Ok(Judgement::not_comparable(format!("{reason}, which is noise")));
        }
        Ok(Judgement::of(share >= least, reason))
    };
    Ok(joined(all.iter().map(judged).collect::<Result<_, String>>()?))
}

fn crossover(
    values: &Values<'_>,
    over: &Over,
    levels: &[Q],
    below: f64,
    above: f64,
) -> Result<Judgement, String> {
    let series = values.series(over)?;
    let levels = levels.iter().map(|q| values.number(q)).collect::<Result<Vec<_>, _>>()?;
    let most = levels.iter().map(|it| it.value).fold(0.0, f64::max);
    let least = levels.iter().map(|it| it.value).fold(f64::INFINITY, f64::min);
    let early = series.iter().filter(|(x, it)| *x <= below && it.value > least * ABOVE);
    let late = series.iter().filter(|(x, it)| *x >= above && it.value < most * BELOW);
    let wrong: Vec<_> = early.chain(late).map(|(x, _)| short(*x)).collect();
    let first =
        series.iter().find(|(_, it)| it.value > most).map_or("none".into(), |(x, _)| short(*x));
    let reason = format!("the first place above all others: {first}");
    Ok(match wrong.is_empty() {
        true => Judgement::of(true, reason),
        false => Judgement::of(
            false,
            format!("{reason}; otherwise than claimed at {}", wrong.join(", ")),
        ),
    })
}

fn refuses(values: &Values<'_>, pick: &Pick, words: &str) -> Result<Judgement, String> {
    let found = values.find(pick)?;
    Ok(match found.value {
        Some(_) => Judgement::of(false, format!("{} compiles", pick.engine)),
        None => Judgement::of(found.refused.contains(words), found.refused.clone()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(engine: &str, x: Option<f64>, value: f64) -> Value {
        let (engine, metric) = (engine.into(), "rate".into());
        Value { engine, metric, x, value: Some(value), routes: 1000, ..Value::default() }
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
    fn extremes_are_of_those_measured() {
        let most = || Q::Max(vec![a(), b(), rate("c", "")]);
        assert_eq!(judged(most().within(2.0, 2.0), &two(1.0, 2.0)), Holds);
        assert_eq!(judged(Q::Min(vec![a(), b()]).within(2.0, 2.0), &two(1.0, 2.0)), DoesNotHold);
        assert_eq!(judged(Q::Sum(vec![a(), b()]).within(3.0, 3.0), &two(1.0, 2.0)), Holds);
        assert_eq!(
            judged(Q::Sum(vec![a(), rate("c", "")]).within(3.0, 3.0), &two(1.0, 2.0)),
            NotComparable
        );
        assert_eq!(
            judged(Q::Max(vec![rate("c", "")]).within(2.0, 2.0), &two(1.0, 2.0)),
            NotComparable
        );
    }

    #[test]
    fn all_tables_need_all_tables() {
        let judge = |least| Judge::AllTables(Box::new((a() / b()).at_least(1.1)), least);
        let (good, bad, none) = (two(2.0, 1.0), two(1.0, 1.0), [value("a", None, 1.0)]);
        assert_eq!(judged_with(judge(2), Vec::new(), &[&good, &good, &none]), Holds);
        assert_eq!(judged_with(judge(2), Vec::new(), &[&good, &bad, &good]), DoesNotHold);
        assert_eq!(judged_with(judge(3), Vec::new(), &[&good, &good, &none]), NotComparable);
        let share =
            |low, high| Judge::ShareOfTables(Box::new((a() / b()).at_least(1.1)), low, high, 2);
        assert_eq!(judged_with(share(0.4, 0.6), Vec::new(), &[&good, &bad]), Holds);
        assert_eq!(judged_with(share(0.1, 0.4), Vec::new(), &[&good, &bad]), DoesNotHold);
    }

    #[test]
    fn counts_are_exact_as_printed() {
        let of = |wanted, decimals, value| {
            judged(Judge::Exact(vec![(a(), wanted, decimals)]), &two(value, 0.0))
        };
        assert_eq!(
            [of(512_148.0, 0, 512_148.0), of(9.1, 1, 9.163), of(1.44, 2, 1.4391)],
            [Holds; 3]
        );
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
        let judge =
            || Judge::Refuses(Pick { engine: "a", run: "", metric: "rate", x: None }, "chunks");
        assert_eq!(judged(judge(), &[refused("a", "more than 32767 chunks")]), Holds);
        assert_eq!(judged(judge(), &[refused("a", "not enough memory")]), DoesNotHold);
        assert_eq!(judged(judge(), &two(1.0, 1.0)), DoesNotHold);
        assert_eq!(judged(judge(), &[]), NotComparable);
    }

    #[test]
    fn what_is_missing_is_not_comparable() {
        let of = |needs| judged_with(a().within(1.0, 2.0), vec![needs], &[&two(1.5, 70.0)]);
        let fine = [
            Needs::Fact("cores", 4.0, "cores"),
            Needs::Routes(1000, 1000),
            Needs::Least(b(), 70.0, "b"),
            Needs::Most(b(), 70.0, "b"),
            Needs::FineClock(b()),
        ];
        assert!(fine.into_iter().map(of).all(|it| it == Holds));
        let missing = [
            Needs::Fact("cores", 5.0, "cores"),
            Needs::Fact("trace", 1.0, "trace"),
            Needs::Routes(1001, 2000),
            Needs::Least(b(), 71.0, "b"),
            Needs::Most(b(), 69.0, "b"),
            Needs::FineClock(a()),
        ];
        assert!(missing.into_iter().map(of).all(|it| it == NotComparable));
    }

    /// Claims of the report have names of their own, and what they judge exists.
    #[test]
    fn claims_are_named_apart() {
        let mut ids: Vec<_> =
            crate::Experiment::all().flat_map(|it| &it.claims).map(|claim| claim.id).collect();
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all);
    }
}
