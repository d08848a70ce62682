//! The terms of claims (quantities, judges, needs, verdicts) and the computation of quantities from values.

use core::fmt::Write as _;
use core::ops::{Div, Mul, Sub};
use std::collections::BTreeMap;

use crate::record::Value;

/// A condition without which a claim is not comparable.
#[derive(Clone, Debug)]
pub(crate) enum Needs {
    /// A fact of the machine or the inputs is at least this; the text is the reason otherwise.
    Fact(&'static str, f64, &'static str),
    /// The number of routes in the table, least and most.
    Routes(u64, u64),
    /// The engine did not choose this option for the table; the text is the reason otherwise.
    Without(&'static str, &'static str, &'static str),
    /// A quantity is at least this; the text is the reason otherwise.
    Least(Q, f64, &'static str),
    /// A quantity is at most this; the text is the reason otherwise.
    Most(Q, f64, &'static str),
    /// The quantity is at least ten steps of the time stamp counter.
    FineClock(Q),
}

/// The key of a value within one experiment, family and table.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Pick {
    /// The engine with its options.
    pub engine: &'static str,
    /// The run configuration.
    pub run: &'static str,
    /// The quantity.
    pub metric: &'static str,
    /// The position on the axis, if there are several.
    pub x: Option<f64>,
}

/// A quantity computed from values.
#[derive(Clone, Debug)]
pub(crate) enum Q {
    /// A value.
    Of(Pick),
    /// The quotient of two quantities.
    Ratio(Box<Q>, Box<Q>),
    /// The difference of two quantities.
    Less(Box<Q>, Box<Q>),
    /// A multiple of a quantity.
    Times(f64, Box<Q>),
    /// A sum of quantities.
    Sum(Vec<Q>),
    /// The greatest measured quantity.
    Max(Vec<Q>),
    /// The least measured quantity.
    Min(Vec<Q>),
    /// A fact of the machine or the inputs.
    Fact(&'static str),
}

/// Returns the rate of an engine in a run configuration.
pub(crate) fn rate(engine: &'static str, run: &'static str) -> Q {
    Q::Of(Pick { engine, run, metric: "rate", x: None })
}

/// Returns a quantity of an engine that belongs to no run configuration.
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
    /// Selects the value at position `x` of the axis.
    pub fn at(self, x: f64) -> Self {
        match self {
            Self::Of(pick) => Self::Of(Pick { x: Some(x), ..pick }),
            other => other,
        }
    }

    /// Returns the judge "inside a band".
    pub fn within(self, low: f64, high: f64) -> Judge {
        Judge::Within(vec![(self, low, high)])
    }

    /// Returns the judge "at least".
    pub fn at_least(self, low: f64) -> Judge {
        self.within(low, f64::INFINITY)
    }

    /// Returns the judge "at most".
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

/// The rule that judges a claim.
#[derive(Clone, Debug)]
pub(crate) enum Judge {
    /// Each quantity is inside its band.
    Within(Vec<(Q, f64, f64)>),
    /// The first quantity of each pair is greater than the second.
    Greater(Vec<(Q, Q)>),
    /// The judge holds on every table, of which at least this many must be comparable.
    AllTables(Box<Judge>, usize),
    /// The share of tables on which the judge holds is inside the band; at least this many tables must be comparable.
    ShareOfTables(Box<Judge>, f64, f64, usize),
    /// Each quantity equals the printed number to its last decimal, cut or rounded.
    Exact(Vec<(Q, f64, u8)>),
    /// No value of the series falls below its predecessor by more than this share.
    Monotone(Over, f64),
    /// From its first to its last position, each series grows by at least this share of the position's growth.
    Linear(Vec<Over>, f64),
    /// The series is below all levels up to the first position, and above all of them from the second on.
    Crossover(Over, Vec<Q>, f64, f64),
    /// An engine refuses the table of a run configuration; its reason contains these words.
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
    /// The measured values, or the reason why there is nothing to judge.
    pub reason: String,
}

impl Judgement {
    pub(super) fn of(holds: bool, reason: String) -> Self {
        Self { verdict: if holds { Verdict::Holds } else { Verdict::DoesNotHold }, reason }
    }

    /// Returns the verdict "not comparable" with its reason.
    pub fn not_comparable(reason: impl Into<String>) -> Self {
        Self { verdict: Verdict::NotComparable, reason: reason.into() }
    }
}

/// The largest relative difference that counts as no difference.
pub(crate) const TIE: f64 = 0.03;
/// The lower edge of the band of a claim that says "greater" or "faster".
pub(crate) const ABOVE: f64 = 1.0 + TIE;
/// The upper edge of the band of a claim that says "less" or "slower".
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
pub(super) struct Number {
    /// The value.
    pub value: f64,
    /// Half the logarithm of the ratio of its quartiles.
    pub noise: f64,
}

impl Values<'_> {
    pub(super) fn find(&self, pick: &Pick) -> Result<&Value, String> {
        let is = |value: &&&Value| {
            value.engine == pick.engine
                && value.run == pick.run
                && value.metric == pick.metric
                && (pick.x.is_none() || pick.x == value.x)
        };
        let found = self.all.iter().find(is).copied();
        found.ok_or_else(|| {
            let mut own = self.all.iter().filter(|it| it.engine == pick.engine);
            match own.find(|it| !it.refused.is_empty()) {
                Some(refused) => refused.refused.clone(),
                None => format!("{} was not measured", named(pick)),
            }
        })
    }

    pub(super) fn number(&self, q: &Q) -> Result<Number, String> {
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
                Number { value: value.ok_or_else(|| format!("{name} is unknown"))?, noise: 0.0 }
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
        let mut best: Result<Number, String> = Err("no value was measured".into());
        for it in all.iter().map(|q| self.number(q)) {
            best = match (best, it) {
                (Ok(best), Ok(it)) if better(it.value, best.value) => Ok(it),
                (Ok(best), _) => Ok(best),
                (Err(_), it) => it,
            };
        }
        best
    }

    /// Returns the values of a series with their positions, in the order of the positions.
    pub(super) fn series(&self, over: &Over) -> Result<Vec<(f64, Number)>, String> {
        let pick = Pick { engine: over.engine, run: over.run, metric: over.metric, x: None };
        let own = self.all.iter().filter(|it| {
            it.engine == over.engine && it.run == over.run && it.metric == over.metric
        });
        let mut xs: Vec<f64> = own.filter_map(|value| value.x).collect();
        xs.sort_by(f64::total_cmp);
        if xs.len() < 2 {
            return Err(format!("{} was not measured at two points", named(&pick)));
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
