//! The judges. Each takes values and returns a verdict, or the reason why there is none.

use super::terms::{ABOVE, BELOW, Judgement, Number, Over, Pick, Q, TIE, Values, Verdict};

/// Joins the judgements of a claim's parts.
///
/// A claim holds only if every part holds; one part that does not hold decides.
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

pub(super) fn within(values: &Values<'_>, all: &[(Q, f64, f64)]) -> Result<Judgement, String> {
    let judged = |(q, low, high): &(Q, f64, f64)| {
        let it = values.number(q)?;
        let name = if all.len() > 1 { engines(q) } else { String::new() };
        let reason = format!("{name}{}, band {}", short(it.value), band(*low, *high));
        // A band with an open end is infinitely wide.
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

/// Returns the engines of a quantity, each once, as the prefix of a reason.
fn engines(q: &Q) -> String {
    fn add(q: &Q, names: &mut Vec<&'static str>) {
        match q {
            Q::Of(pick) if !pick.engine.is_empty() && !names.contains(&pick.engine) => {
                names.push(pick.engine);
            }
            Q::Of(_) | Q::Fact(_) => {}
            Q::Ratio(a, b) | Q::Less(a, b) => [a, b].into_iter().for_each(|q| add(q, names)),
            Q::Times(_, q) => add(q, names),
            Q::Sum(all) | Q::Max(all) | Q::Min(all) => all.iter().for_each(|q| add(q, names)),
        }
    }
    let mut names = Vec::new();
    add(q, &mut names);
    if names.is_empty() { String::new() } else { format!("{}: ", names.join(" to ")) }
}

fn band(low: f64, high: f64) -> String {
    match (low > 0.0, high.is_finite()) {
        (true, true) => format!("{} to {}", short(low), short(high)),
        (true, false) => format!("at least {}", short(low)),
        (false, _) => format!("at most {}", short(high)),
    }
}

/// Formats a number with about three digits.
fn short(value: f64) -> String {
    match value.abs() {
        it if it >= 100.0 => format!("{value:.0}"),
        it if it >= 10.0 => format!("{value:.1}"),
        it if it >= 0.1 || it == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

pub(super) fn greater(values: &Values<'_>, pairs: &[(Q, Q)]) -> Result<Judgement, String> {
    let judged = |(q, other): &(Q, Q)| {
        let (a, b) = (values.number(q)?, values.number(other)?);
        let (ratio, tie) = (a.value / b.value, TIE.max(a.noise + b.noise));
        let names = [engines(q), engines(other)];
        let [first, second] = names.map(|it| it.trim_end_matches(": ").to_owned());
        let reason = format!("{first} {} against {second} {}", short(a.value), short(b.value));
        if ratio > 1.0 / (1.0 + tie) && ratio < 1.0 + tie {
            return Ok(Judgement::not_comparable(format!("{reason}: no difference")));
        }
        Ok(Judgement::of(ratio > 1.0, reason))
    };
    Ok(joined(pairs.iter().map(judged).collect::<Result<_, String>>()?))
}

pub(super) fn exact(values: &Values<'_>, all: &[(Q, f64, u8)]) -> Result<Judgement, String> {
    let judged = |(q, wanted, decimals): &(Q, f64, u8)| {
        let it = values.number(q)?.value;
        let unit = 10f64.powi(-i32::from(*decimals));
        // Papers cut or round the last digit.
        let holds = (it - wanted).abs() <= unit / 2.0 || (0.0..unit).contains(&(it - wanted));
        let name = if all.len() > 1 { engines(q) } else { String::new() };
        let decimals = usize::from(*decimals);
        Ok(Judgement::of(holds, format!("{name}{it:.decimals$}, expected {wanted:.decimals$}")))
    };
    Ok(joined(all.iter().map(judged).collect::<Result<_, String>>()?))
}

pub(super) fn monotone(values: &Values<'_>, over: &Over, fall: f64) -> Result<Judgement, String> {
    let series = values.series(over)?;
    let falls = |pair: &&[(f64, Number)]| pair[1].1.value < pair[0].1.value * (1.0 - fall);
    let places: Vec<_> =
        series.windows(2).filter(falls).map(|pair| pair[1].0.to_string()).collect();
    let reason = match places.is_empty() {
        true => format!("no fall of more than {} %", short(fall * 100.0)),
        false => format!("falls at {}", places.join(", ")),
    };
    Ok(Judgement::of(places.is_empty(), reason))
}

/// Scaling above this multiple of linear scaling is noise.
const SUPERLINEAR: f64 = 1.05;

pub(super) fn linear(values: &Values<'_>, all: &[Over], least: f64) -> Result<Judgement, String> {
    let judged = |over: &Over| {
        let series = values.series(over)?;
        let ((from, first), (to, last)) = (series[0], series[series.len() - 1]);
        let share = (last.value / first.value) / (to / from);
        let reason =
            format!("{}: {} of linear scaling from {from} to {to}", over.engine, short(share));
        if share > SUPERLINEAR {
            return Ok(Judgement::not_comparable(format!("{reason}: more than linear is noise")));
        }
        Ok(Judgement::of(share >= least, reason))
    };
    Ok(joined(all.iter().map(judged).collect::<Result<_, String>>()?))
}

pub(super) fn crossover(
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
    let wrong: Vec<_> = early.chain(late).map(|(x, _)| x.to_string()).collect();
    let first =
        series.iter().find(|(_, it)| it.value > most).map_or("none".into(), |(x, _)| x.to_string());
    let reason = format!("first point above all others: {first}");
    Ok(match wrong.is_empty() {
        true => Judgement::of(true, reason),
        false => {
            Judgement::of(false, format!("{reason}; contrary to the claim at {}", wrong.join(", ")))
        }
    })
}

pub(super) fn refuses(values: &Values<'_>, pick: &Pick, words: &str) -> Result<Judgement, String> {
    let found = values.find(pick)?;
    Ok(match found.value {
        Some(_) => Judgement::of(false, format!("{} compiles the table", pick.engine)),
        None => Judgement::of(found.refused.contains(words), found.refused.clone()),
    })
}
