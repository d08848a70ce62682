//! Quantities, relations and verdicts, and the computation of quantities from values.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::record::Value;

/// The values of engines within one experiment, family and table.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct ValueRef {
    /// The engines by the paper's names; the empty name means the table itself.
    pub engines: Vec<String>,
    /// The run configuration.
    pub run: String,
    /// The quantity.
    pub metric: String,
    /// The positions on the axis; without any, the position does not matter.
    pub xs: Vec<f64>,
}

/// A quantity computed from values: one number, or several.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum Quantity {
    /// A constant.
    Number(f64),
    /// Values: a number for each engine and position.
    Of(ValueRef),
    /// A fact of the machine or the inputs.
    Fact(String),
    /// An arithmetic operation on each pair of elements.
    Op(String, Box<Quantity>, Box<Quantity>),
    /// The greatest measured element.
    Max(Box<Quantity>),
    /// The least measured element.
    Min(Box<Quantity>),
    /// The elements of all quantities.
    List(Vec<Quantity>),
}

/// The comparison of a relation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sign {
    /// Greater, by more than a tie.
    Greater,
    /// Less, by more than a tie.
    Less,
    /// Greater or equal.
    AtLeast,
    /// Less or equal.
    AtMost,
    /// Differs insignificantly.
    Same,
}

/// Two quantities in an order. Each element of the left one stands against each of the right one.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Relation {
    /// The left side.
    pub left: Quantity,
    /// The order.
    pub sign: Sign,
    /// The right side.
    pub right: Quantity,
}

/// Whether the sentence of a claim holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ClaimResult {
    /// It is true here.
    Holds,
    /// It is false here.
    DoesNotHold,
    /// There is nothing to judge.
    NotComparable,
}

/// A quantity that was measured here, beside the paper's figures.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Compared {
    /// The engines; may be empty.
    pub name: String,
    /// The value here.
    pub ours: f64,
    /// The paper's least and greatest value.
    pub paper: [f64; 2],
}

impl Compared {
    /// Returns the factor between our value and the paper's range; 1 inside the range.
    pub fn distance(&self) -> f64 {
        let [low, high] = self.paper;
        self.ours / self.ours.clamp(low, high)
    }
}

/// A verdict with its reason.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Judgement {
    /// Whether the sentence holds.
    pub verdict: ClaimResult,
    /// The measured values, or the reason why there is nothing to judge.
    pub reason: String,
    /// The quantities of the sentence for which the paper has figures.
    pub compared: Vec<Compared>,
}

impl Judgement {
    pub(super) fn of(holds: bool, reason: String) -> Self {
        let verdict = if holds { ClaimResult::Holds } else { ClaimResult::DoesNotHold };
        Self { verdict, reason, compared: Vec::new() }
    }

    /// Returns our values beside the paper's, in words; empty if the paper has none.
    pub fn beside(&self) -> String {
        let one = |it: &Compared| {
            let [low, high] = it.paper.map(short);
            let paper = if low == high { low } else { format!("{low} to {high}") };
            let distance = match it.distance() {
                1.0 => String::new(),
                distance => format!(", {} times the paper's", short(distance)),
            };
            format!("{} {} (paper: {paper}{distance})", it.name, short(it.ours)).trim().to_owned()
        };
        self.compared.iter().map(one).collect::<Vec<_>>().join("; ")
    }

    /// Returns the verdict "not comparable" with its reason.
    pub fn not_comparable(reason: impl Into<String>) -> Self {
        Self { verdict: ClaimResult::NotComparable, reason: reason.into(), compared: Vec::new() }
    }
}

/// The largest relative difference that counts as no difference.
pub(crate) const TIE: f64 = 0.03;

/// Facts of the machine and the inputs, by name.
pub(crate) type Facts = BTreeMap<String, f64>;

/// The engines' names in records, by the paper's names.
pub(crate) type Names = BTreeMap<String, String>;

/// The values of one experiment, family and table.
#[derive(Clone)]
pub(crate) struct Values<'v> {
    /// The values.
    pub all: Vec<&'v Value>,
    pub facts: &'v Facts,
    /// The names of the engines.
    pub names: &'v Names,
}

/// A number with the uncertainty of its logarithm.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number {
    pub value: f64,
    /// Half the logarithm of the ratio of its quartiles.
    pub noise: f64,
}

impl Number {
    fn exact(value: f64) -> Self {
        Self { value, noise: 0.0 }
    }
}

/// An element of a quantity: the engines, and the number or the reason why there is none.
pub(super) type Element = (String, Result<Number, String>);

impl Values<'_> {
    /// Returns the name of an engine in records; other names are those of records.
    pub(super) fn name<'n>(&'n self, engine: &'n str) -> &'n str {
        self.names.get(engine).map_or(engine, String::as_str)
    }

    fn one(&self, wanted: &ValueRef, engine: &str, x: Option<f64>) -> Result<Number, String> {
        let found = self.find(wanted, engine, x)?;
        let named = named(wanted, self.name(engine));
        let value = found.value.ok_or_else(|| format!("{named}: {}", found.refused))?;
        if found.passes > 0 && found.disturbed >= found.passes {
            return Err(format!("{named}: every pass was disturbed"));
        }
        let noise = found.quartiles().map_or(0.0, |[q1, q3]| (q3 / q1).ln() / 2.0);
        Ok(Number { value, noise })
    }

    /// Returns the value of an engine; at any position if `x` is `None`.
    pub(super) fn find(
        &self,
        wanted: &ValueRef,
        engine: &str,
        x: Option<f64>,
    ) -> Result<&Value, String> {
        let engine = self.name(engine);
        let is = |value: &&&Value| {
            value.engine == engine
                && value.run == wanted.run
                && value.metric == wanted.metric
                && (x.is_none() || x == value.x)
        };
        self.all.iter().find(is).copied().ok_or_else(|| {
            let mut own = self.all.iter().filter(|it| it.engine == engine);
            match own.find(|it| !it.refused.is_empty()) {
                Some(refused) => refused.refused.clone(),
                None => format!("{} was not measured", named(wanted, engine)),
            }
        })
    }

    /// Computes the elements of a quantity.
    pub(super) fn elements(&self, quantity: &Quantity) -> Vec<Element> {
        match quantity {
            Quantity::Number(number) => vec![(String::new(), Ok(Number::exact(*number)))],
            Quantity::Of(wanted) => {
                let xs = wanted.xs.iter().copied().map(Some);
                let xs: Vec<_> = if wanted.xs.is_empty() { vec![None] } else { xs.collect() };
                let all = wanted.engines.iter().flat_map(|it| xs.iter().map(move |x| (it, *x)));
                let one = |(engine, x): (&String, Option<f64>)| {
                    (self.name(engine).to_owned(), self.one(wanted, engine, x))
                };
                all.map(one).collect()
            }
            Quantity::Fact(name) => {
                let fact = self.facts.get(name).copied().map(Number::exact);
                vec![(String::new(), fact.ok_or_else(|| format!("{name} is unknown")))]
            }
            Quantity::Op(mark, left, right) => {
                let (left, right) = (self.elements(left), self.elements(right));
                let count = left.len().max(right.len());
                let pairs = (0..count).map(|i| (&left[i % left.len()], &right[i % right.len()]));
                pairs.map(|(left, right)| operation(mark, left, right)).collect()
            }
            Quantity::Max(all) => vec![self.extreme(all, |a, b| a > b)],
            Quantity::Min(all) => vec![self.extreme(all, |a, b| a < b)],
            Quantity::List(all) => all.iter().flat_map(|it| self.elements(it)).collect(),
        }
    }

    fn extreme(&self, all: &Quantity, better: impl Fn(f64, f64) -> bool) -> Element {
        let mut best: Element = (String::new(), Err("no value was measured".into()));
        for it in self.elements(all) {
            match (&best.1, &it.1) {
                (Ok(found), Ok(new)) if !better(new.value, found.value) => {}
                (_, Ok(_)) => best = it,
                _ => {}
            }
        }
        best
    }

    /// Returns the values of an engine with their positions, in the order of the positions.
    pub(super) fn series(
        &self,
        wanted: &ValueRef,
        engine: &str,
    ) -> Result<Vec<(f64, Number)>, String> {
        let engine = self.name(engine);
        let own = self
            .all
            .iter()
            .filter(|it| it.engine == engine && it.run == wanted.run && it.metric == wanted.metric);
        let mut xs: Vec<f64> = own.filter_map(|value| value.x).collect();
        xs.sort_by(f64::total_cmp);
        if xs.len() < 2 {
            return Err(format!("{} was not measured at two points", named(wanted, engine)));
        }
        xs.into_iter().map(|x| Ok((x, self.one(wanted, engine, Some(x))?))).collect()
    }
}

fn operation(mark: &str, (a, left): &Element, (b, right): &Element) -> Element {
    let number = left.clone().and_then(|left| {
        let right = right.clone()?;
        let value = match mark {
            "+" => left.value + right.value,
            "-" => left.value - right.value,
            "*" => left.value * right.value,
            _ => left.value / right.value,
        };
        Ok(Number { value, noise: left.noise + right.noise })
    });
    let name = match (a.is_empty(), b.is_empty() || a == b) {
        (false, true) => a.clone(),
        (true, _) => b.clone(),
        (false, false) => format!("{a} to {b}"),
    };
    (name, number)
}

fn named(wanted: &ValueRef, engine: &str) -> String {
    let parts = [wanted.metric.as_str(), engine, wanted.run.as_str()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" of ")
}

/// Formats a number with about three digits.
pub(super) fn short(value: f64) -> String {
    match value.abs() {
        it if it >= 100.0 => format!("{value:.0}"),
        it if it >= 10.0 => format!("{value:.1}"),
        it if it >= 0.1 || it == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}
