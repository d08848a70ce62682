//! Claims of the papers and their judgement.
//!
//! A claim names its engines, family and traffic. It holds if the values lie in a band around the paper's value, or
//! if the engines are in the paper's order. It is not comparable if one of its needs is not met, or if the noise is
//! wider than half of the band. Judging reads records only, so that new verdicts need no new measurement.

mod judges;
mod terms;
#[cfg(test)]
mod tests;

use judges::{crossover, exact, greater, linear, monotone, refuses, within};
pub(crate) use terms::{
    ABOVE, BELOW, Facts, Judge, Judgement, Needs, Over, Pick, Q, Values, Verdict, of, rate,
};

/// A sentence of a paper with the rule that judges it.
pub(crate) struct Claim {
    /// A short, unique name.
    pub id: &'static str,
    /// The section of the paper.
    pub section: &'static str,
    /// The sentence in our words, with the paper's values.
    pub text: &'static str,
    /// The family. Each of its tables is judged alone, unless the judge covers all tables.
    pub family: &'static str,
    /// The conditions without which the claim is not comparable.
    pub needs: Vec<Needs>,
    /// The rule.
    pub judge: Judge,
}

impl Claim {
    /// Judges the tables of the family.
    ///
    /// Returns one judgement per table with the table's index, or one for all tables.
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
            _ => return Judgement::not_comparable("the judge covers one table only"),
        };
        let all: Vec<Judgement> =
            tables.iter().map(|values| self.judge_one(inner, values)).collect();
        let judged: Vec<_> = all.iter().filter(|it| it.verdict != Verdict::NotComparable).collect();
        let holds = judged.iter().filter(|it| it.verdict == Verdict::Holds).count();
        let reason = format!("holds on {holds} of {} tables", judged.len());
        match self.judge {
            Judge::AllTables(..) if holds < judged.len() => Judgement::of(false, reason),
            _ if judged.len() < least => Judgement::not_comparable(format!(
                "{reason}; at least {least} tables must be comparable"
            )),
            Judge::ShareOfTables(_, low, high, _) => {
                Judgement::of((low..=high).contains(&(holds as f64 / judged.len() as f64)), reason)
            }
            _ => Judgement::of(true, reason),
        }
    }

    fn judge_one(&self, judge: &Judge, values: &Values<'_>) -> Judgement {
        let full = if self.family == "ipv6" { 10_000 } else { 100_000 };
        let missing = self.needs.iter().find_map(|needs| missing(needs, values));
        if let Some(reason) = missing.or_else(|| missing_routes(full, values)) {
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
            Judge::AllTables(..) | Judge::ShareOfTables(..) => {
                Err("the judge covers all tables".into())
            }
        };
        judged.unwrap_or_else(Judgement::not_comparable)
    }
}

/// Requires a full table, as the papers have.
fn missing_routes(full: u64, values: &Values<'_>) -> Option<String> {
    missing(&Needs::Routes(full, u64::MAX), values)
}

/// Returns the reason why a need is not met.
fn missing(needs: &Needs, values: &Values<'_>) -> Option<String> {
    match needs {
        Needs::Fact(name, least, words) => {
            let fact = values.facts.get(*name);
            (fact.is_none_or(|fact| fact < least)).then(|| (*words).into())
        }
        Needs::Routes(least, most) => {
            let routes = values.all.first().map_or(0, |value| value.routes);
            let fits = (*least..=*most).contains(&routes);
            let wanted = match *most {
                u64::MAX => format!("at least {least}"),
                most => format!("{least} to {most}"),
            };
            (!fits).then(|| format!("the table has {routes} routes, the claim needs {wanted}"))
        }
        Needs::Without(engine, option, words) => {
            let mut own = values.all.iter().filter(|it| it.engine == *engine);
            own.any(|it| it.variant.split(':').any(|own| own == *option)).then(|| (*words).into())
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
                    format!("the clock step is {step:.0} cycles, the value only {:.0}", it.value)
                }),
            }
        }
    }
}
