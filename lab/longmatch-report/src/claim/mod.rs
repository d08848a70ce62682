//! Claims of the papers and their judgement.
//!
//! A claim is one sentence of a paper with the expression that says the same about our values. Two questions are
//! answered apart: whether the sentence holds here, and how far our value is from the paper's.
//!
//! - A sentence of *direction* ("faster", "more") holds by its order alone, however great the difference.
//! - A sentence of a *factor* ("1.8 times as fast") holds from the paper's range, widened by a band, upwards.
//! - A sentence whose point is a *number* holds inside the paper's range, widened by a band on both sides.
//!
//! A claim is not comparable if a need is not met, if a value is missing or every pass of it was disturbed, or if the
//! noise decides. Judging reads records only, so that new verdicts need no new measurement.

#[cfg(test)]
mod examples;
mod judges;
mod parser;
mod terms;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Deserializer};

use judges::{crossover, direction, exact, factor, linear, number, refuses, rising};
pub(crate) use terms::{
    ClaimResult, Facts, Judgement, Names, Quantity, Relation, TIE, ValueRef, Values,
};

/// A sentence of a paper with the rule that judges it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    /// A short, unique name.
    pub id: String,
    /// The section of the paper.
    #[serde(default)]
    pub section: String,
    /// The sentence in our words, with the paper's values.
    pub text: String,
    /// The family. Each of its tables is judged alone, unless the claim is about all tables.
    #[serde(default = "ipv4")]
    pub family: String,
    /// The least number of routes in the table, and the greatest, if there is one.
    #[serde(default)]
    pub routes: Vec<u64>,
    /// The names of the needs.
    #[serde(default, rename = "needs")]
    pub need_names: Vec<String>,
    /// The conditions without which the claim is not comparable.
    #[serde(skip)]
    pub needs: Vec<Need>,
    /// An engine and an option that it must not have chosen for the table, and the reason.
    pub without: Option<[String; 3]>,
    /// The rule.
    pub judge: Judge,
    /// The paper's least and greatest values: one pair for each element of the quantity, or one for all.
    #[serde(default, deserialize_with = "ranges")]
    pub paper: Vec<[f64; 2]>,
    /// The factor by which the paper's range is widened.
    #[serde(default = "usual_band")]
    pub band: f64,
    /// The reason for a wide band.
    #[serde(default)]
    pub because: String,
    /// The number of tables that must be comparable, for a claim about all tables at once.
    pub tables: Option<usize>,
    /// The least and the greatest share of these tables on which the sentence holds, if not all.
    pub share: Option<[f64; 2]>,
}

pub(crate) fn ipv4() -> String {
    "ipv4".into()
}

fn usual_band() -> f64 {
    1.5
}

/// Reads a value, a range, or a range for each element.
fn ranges<'de, D: Deserializer<'de>>(paper: D) -> Result<Vec<[f64; 2]>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Ranges {
        One(f64),
        Ends([f64; 2]),
        Each(Vec<[f64; 2]>),
    }
    Ok(match Ranges::deserialize(paper)? {
        Ranges::One(value) => vec![[value; 2]],
        Ranges::Ends(ends) => vec![ends],
        Ranges::Each(all) => all,
    })
}

/// A condition, and the reason why a claim is not comparable without it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Need {
    /// The condition.
    pub relation: Relation,
    pub reason: String,
}

/// The rule that judges a claim.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Judge {
    /// The order of the relation, in every element.
    Direction(Relation),
    /// At least the paper's factor, in every element.
    Factor(Quantity),
    /// The paper's number, in every element.
    Number(Quantity),
    /// The numbers that the paper prints in a figure for an engine, to at least this number of decimals.
    Exact(String, String, u8),
    /// No value of a series falls below its predecessor by more than this share.
    Rising(ValueRef, f64),
    /// From its first to its last position, each series grows by at least this share of the position's growth.
    Linear(ValueRef, f64),
    /// The series is below the levels up to the first position, and above them from the second on.
    Crossover(ValueRef, Quantity, [f64; 2]),
    /// The engine refuses the table; its reason contains these words.
    Refuses(ValueRef, String),
}

impl Claim {
    /// Judges the tables of the family.
    ///
    /// Returns one judgement per table with the table's index, or one for all tables.
    pub fn judge(&self, tables: &[Values<'_>]) -> Vec<(Option<usize>, Judgement)> {
        let all: Vec<_> = tables.iter().map(|values| self.judge_one(values)).collect();
        match self.tables {
            Some(least) => vec![(None, over_tables(least, self.share.unwrap_or([1.0; 2]), &all))],
            None => all.into_iter().enumerate().map(|(i, it)| (Some(i), it)).collect(),
        }
    }

    fn judge_one(&self, values: &Values<'_>) -> Judgement {
        if let Some(reason) = self.missing(values) {
            return Judgement::not_comparable(reason);
        }
        let judged = match &self.judge {
            Judge::Direction(relation) => direction(values, relation, &self.paper),
            Judge::Factor(quantity) => factor(values, quantity, &self.paper, self.band),
            Judge::Number(quantity) => number(values, quantity, &self.paper, self.band),
            Judge::Exact(figure, engine, decimals) => exact(values, figure, engine, *decimals),
            Judge::Rising(wanted, fall) => rising(values, wanted, *fall),
            Judge::Linear(wanted, least) => linear(values, wanted, *least),
            Judge::Crossover(wanted, levels, ends) => crossover(values, wanted, levels, *ends),
            Judge::Refuses(wanted, words) => refuses(values, wanted, words),
        };
        judged.unwrap_or_else(Judgement::not_comparable)
    }

    /// Returns the reason why the claim is not comparable with these values.
    fn missing(&self, values: &Values<'_>) -> Option<String> {
        let needs = self.needs.iter().find_map(|need| {
            let judged = direction(values, &need.relation, &[]);
            match judged {
                Ok(it) => (it.verdict != ClaimResult::Holds).then(|| need.reason.clone()),
                Err(reason) => Some(format!("{} ({reason})", need.reason)),
            }
        });
        let routes = values.all.first().map_or(0, |value| value.routes);
        let (fits, wanted) = match self.routes[..] {
            [least, most, ..] => ((least..=most).contains(&routes), format!("{least} to {most}")),
            [least] => (routes >= least, format!("at least {least}")),
            [] => (true, String::new()),
        };
        let size =
            (!fits).then(|| format!("the table has {routes} routes, the claim needs {wanted}"));
        let without = self.without.as_ref().and_then(|[engine, option, reason]| {
            let engine = values.name(engine);
            let mut own = values.all.iter().filter(|it| it.engine == engine);
            own.any(|it| it.variant.split(':').any(|own| own == option)).then(|| reason.clone())
        });
        needs.or(size).or(without)
    }
}

fn over_tables(least: usize, [low, high]: [f64; 2], all: &[Judgement]) -> Judgement {
    let count = |verdict| all.iter().filter(|it| it.verdict == verdict).count();
    let (holds, fails) = (count(ClaimResult::Holds), count(ClaimResult::DoesNotHold));
    let judged = holds + fails;
    let reason = format!("holds on {holds} of {judged} tables");
    if low == 1.0 && fails > 0 {
        return Judgement::of(false, reason);
    }
    if judged < least {
        return Judgement::not_comparable(format!(
            "{reason}; at least {least} tables must be comparable"
        ));
    }
    Judgement::of((low..=high).contains(&(holds as f64 / judged as f64)), reason)
}
