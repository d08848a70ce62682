//! Claims of the papers: sentences with their own engines, family and traffic, and how they are judged.
//!
//! A claim holds inside a stated band around the paper's value or ordering, and does not hold outside. It is not
//! comparable where something is missing that it takes, or where the noise is wider than half of the band. Judging
//! takes nothing but records, so that verdicts can be made again without measuring again.

mod judges;
#[cfg(test)]
mod tests;

use core::fmt::Write as _;
use core::ops::{Div, Mul, Sub};
use std::collections::BTreeMap;

use crate::record::Value;
use judges::{crossover, exact, greater, linear, monotone, refuses, within};

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

    /// Nothing to judge, and the reason.
    pub fn not_comparable(reason: impl Into<String>) -> Self {
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
