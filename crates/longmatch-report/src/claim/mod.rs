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

use judges::{crossover, direction, exact, factor, linear, number, refuses, rising};
pub(crate) use parser::{Names, pick, quantity, relation};
pub(crate) use terms::{Facts, Judgement, Pick, Q, Relation, TIE, Values, Verdict};

/// A sentence of a paper with the rule that judges it.
#[derive(Debug)]
pub(crate) struct Claim {
    /// A short, unique name.
    pub id: String,
    /// The section of the paper.
    pub section: String,
    /// The sentence in our words, with the paper's values.
    pub text: String,
    /// The family. Each of its tables is judged alone, unless the claim is about all tables.
    pub family: String,
    /// The least and the greatest number of routes in the table.
    pub routes: [u64; 2],
    /// The conditions without which the claim is not comparable.
    pub needs: Vec<Need>,
    /// An engine and an option that it must not have chosen for the table, and the reason.
    pub without: Option<[String; 3]>,
    /// The rule.
    pub judge: Judge,
    /// The paper's least and greatest values: one pair for each element of the quantity, or one for all.
    pub paper: Vec<[f64; 2]>,
    /// The factor by which the paper's range is widened.
    pub band: f64,
    /// The tables about which the claim speaks at once, if it does.
    pub tables: Option<AllTables>,
}

/// A condition, and the reason why a claim is not comparable without it.
#[derive(Clone, Debug)]
pub(crate) struct Need {
    /// The condition.
    pub relation: Relation,
    /// The reason.
    pub reason: String,
}

/// The tables of a claim about all tables.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct AllTables {
    /// The number of tables that must be comparable.
    pub least: usize,
    /// The least and the greatest share of tables on which the sentence holds.
    pub share: [f64; 2],
}

/// The rule that judges a claim.
#[derive(Clone, Debug)]
pub(crate) enum Judge {
    /// The order of the relation, in every element.
    Direction(Relation),
    /// At least the paper's factor, in every element.
    Factor(Q),
    /// The paper's number, in every element.
    Number(Q),
    /// The printed numbers to their last decimal.
    Exact(Vec<(Q, f64, u8)>),
    /// No value of a series falls below its predecessor by more than this share.
    Rising(Pick, f64),
    /// From its first to its last position, each series grows by at least this share of the position's growth.
    Linear(Pick, f64),
    /// The series is below the levels up to the first position, and above them from the second on.
    Crossover(Pick, Q, [f64; 2]),
    /// The engine refuses the table; its reason contains these words.
    Refuses(Pick, String),
}

impl Claim {
    /// Judges the tables of the family.
    ///
    /// Returns one judgement per table with the table's index, or one for all tables.
    pub fn judge(&self, tables: &[Values<'_>]) -> Vec<(Option<usize>, Judgement)> {
        let all: Vec<_> = tables.iter().map(|values| self.judge_one(values)).collect();
        match self.tables {
            Some(wanted) => vec![(None, over_tables(wanted, &all))],
            None => all.into_iter().enumerate().map(|(i, it)| (Some(i), it)).collect(),
        }
    }

    fn judge_one(&self, values: &Values<'_>) -> Judgement {
        if let Some(reason) = self.missing(values) {
            return Judgement::not_comparable(reason);
        }
        let judged = match &self.judge {
            Judge::Direction(relation) => direction(values, relation, &self.paper),
            Judge::Factor(q) => factor(values, q, &self.paper, self.band),
            Judge::Number(q) => number(values, q, &self.paper, self.band),
            Judge::Exact(all) => exact(values, all),
            Judge::Rising(pick, fall) => rising(values, pick, *fall),
            Judge::Linear(pick, least) => linear(values, pick, *least),
            Judge::Crossover(pick, levels, ends) => crossover(values, pick, levels, *ends),
            Judge::Refuses(pick, words) => refuses(values, pick, words),
        };
        judged.unwrap_or_else(Judgement::not_comparable)
    }

    /// Returns the reason why the claim is not comparable with these values.
    fn missing(&self, values: &Values<'_>) -> Option<String> {
        let needs = self.needs.iter().find_map(|need| {
            let judged = direction(values, &need.relation, &[]);
            match judged {
                Ok(it) => (it.verdict != Verdict::Holds).then(|| need.reason.clone()),
                Err(reason) => Some(format!("{} ({reason})", need.reason)),
            }
        });
        let [least, most] = self.routes;
        let routes = values.all.first().map_or(0, |value| value.routes);
        let wanted = if most == u64::MAX {
            format!("at least {least}")
        } else {
            format!("{least} to {most}")
        };
        let size = (!(least..=most).contains(&routes))
            .then(|| format!("the table has {routes} routes, the claim needs {wanted}"));
        let without = self.without.as_ref().and_then(|[engine, option, reason]| {
            let mut own = values.all.iter().filter(|it| it.engine == *engine);
            own.any(|it| it.variant.split(':').any(|own| own == option)).then(|| reason.clone())
        });
        needs.or(size).or(without)
    }
}

fn over_tables(AllTables { least, share: [low, high] }: AllTables, all: &[Judgement]) -> Judgement {
    let count = |verdict| all.iter().filter(|it| it.verdict == verdict).count();
    let (holds, fails) = (count(Verdict::Holds), count(Verdict::DoesNotHold));
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
