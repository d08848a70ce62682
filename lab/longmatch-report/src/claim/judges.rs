//! The judges. Each takes values and returns a verdict, or the reason why there is none.

use super::terms::{
    ClaimResult, Compared, Element, Judgement, Number, Quantity, Relation, Sign, TIE, ValueRef,
    Values, short,
};

type Judged = Result<Judgement, String>;

/// The lower edge of what counts as greater.
const ABOVE: f64 = 1.0 + TIE;
/// The largest factor between rates that differ insignificantly.
const SAME: f64 = 1.0 / 0.9;
/// Scaling above this multiple of linear scaling is noise.
const SUPERLINEAR: f64 = 1.05;

/// Joins the judgements of a claim's parts.
///
/// A claim holds only if every part holds; one part that does not hold decides.
fn joined(parts: impl Iterator<Item = Judged>) -> Judged {
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    let reason = parts.iter().map(|it| it.reason.as_str()).collect::<Vec<_>>().join("; ");
    let any = |verdict| parts.iter().any(|it| it.verdict == verdict);
    let verdict = match () {
        () if any(ClaimResult::DoesNotHold) => ClaimResult::DoesNotHold,
        () if any(ClaimResult::NotComparable) => ClaimResult::NotComparable,
        () => ClaimResult::Holds,
    };
    let compared = parts.into_iter().flat_map(|it| it.compared).collect();
    Ok(Judgement { verdict, reason, compared })
}

/// Judges a sentence of direction: each element on the left against each on the right, apart from how far.
///
/// `paper` has the paper's quotients of the pairs, one for each or none.
pub(super) fn direction(values: &Values<'_>, relation: &Relation, paper: &[[f64; 2]]) -> Judged {
    let (left, right) = (values.elements(&relation.left), values.elements(&relation.right));
    let pairs: Vec<_> =
        left.iter().flat_map(|left| right.iter().map(move |right| (left, right))).collect();
    joined(pairs.into_iter().enumerate().map(|(i, (left, right))| {
        let (a, b) = (left.1.clone()?, right.1.clone()?);
        let mut judgement = one_direction(relation.sign, left, right, a, b);
        if let Some(paper) = of_part(paper, i) {
            // A threshold is not a quantity of the paper.
            let constant = matches!(relation.right, Quantity::Number(_));
            let ours = if constant { a.value } else { a.value / b.value };
            judgement.compared.push(Compared { name: names(left, right), ours, paper });
        }
        Ok(judgement)
    }))
}

fn one_direction(sign: Sign, left: &Element, right: &Element, a: Number, b: Number) -> Judgement {
    let side = |(name, _): &Element, it: Number| format!("{name} {}", short(it.value));
    let reason = format!("{} against {}", side(left, a).trim(), side(right, b).trim());
    let (ratio, noise) = (a.value / b.value, a.noise + b.noise);
    let ratio = if matches!(sign, Sign::Less | Sign::AtMost) { 1.0 / ratio } else { ratio };
    let none = |tie: f64| (1.0 / (1.0 + tie)..1.0 + tie).contains(&ratio);
    match sign {
        Sign::Same => of_range(ratio, noise, [1.0 / SAME, SAME], reason),
        Sign::Greater | Sign::Less if none(TIE.max(noise)) => {
            Judgement::not_comparable(format!("{reason}: no difference beyond the noise"))
        }
        Sign::AtLeast | Sign::AtMost if ratio < 1.0 && none(noise) => {
            Judgement::not_comparable(format!("{reason}: within the noise of the threshold"))
        }
        _ => Judgement::of(ratio >= 1.0, reason),
    }
}

/// Judges a number against a range with the noise of the number: close to an edge, noise decides nothing.
fn of_range(value: f64, noise: f64, [low, high]: [f64; 2], reason: String) -> Judgement {
    if noise > (high / low).ln() / 2.0 {
        return Judgement::not_comparable(format!(
            "{reason}: the noise is wider than half of the band"
        ));
    }
    let inside = (low..=high).contains(&value);
    let margin = noise.exp();
    if !inside && (low / margin..=high * margin).contains(&value) {
        return Judgement::not_comparable(format!("{reason}: within the noise of the edge"));
    }
    Judgement::of(inside, reason)
}

/// Judges a sentence of a factor, such as "1.8 times as fast": the paper's range, widened by `band`.
///
/// The upper end is open: a factor that is exceeded makes the sentence no less true. The lower end is above 1 if the
/// paper's range is.
pub(super) fn factor(
    values: &Values<'_>,
    quantity: &Quantity,
    paper: &[[f64; 2]],
    band: f64,
) -> Judged {
    compared(values, quantity, paper, |it, [low, _]| {
        let tied = low > 1.0 && low / band < ABOVE;
        let least = if tied { ABOVE } else { low / band };
        let reason = format!("at least {} expected", short(least));
        if tied && (1.0 / ABOVE..ABOVE).contains(&it.value) {
            return Judgement::not_comparable(format!("{reason}: no difference"));
        }
        of_range(it.value, it.noise, [least, f64::INFINITY], reason)
    })
}

/// Judges a sentence whose point is a number: the paper's range, widened by `band` on both sides.
pub(super) fn number(
    values: &Values<'_>,
    quantity: &Quantity,
    paper: &[[f64; 2]],
    band: f64,
) -> Judged {
    compared(values, quantity, paper, |it, [low, high]| {
        let range = [low / band, high * band];
        let reason = format!("{} to {} expected", short(range[0]), short(range[1]));
        of_range(it.value, it.noise, range, reason)
    })
}

fn compared(
    values: &Values<'_>,
    quantity: &Quantity,
    paper: &[[f64; 2]],
    judge: impl Fn(Number, [f64; 2]) -> Judgement,
) -> Judged {
    joined(values.elements(quantity).into_iter().enumerate().map(|(i, (name, number))| {
        let paper = of_part(paper, i).ok_or("the paper has no figure")?;
        let number = number?;
        let it = judge(number, paper);
        let ours = number.value;
        let reason = format!("{} {}, {}", name, short(ours), it.reason).trim().to_owned();
        Ok(Judgement { reason, compared: vec![Compared { name, ours, paper }], ..it })
    }))
}

/// Returns the paper's range for a part; one range is that of all parts.
fn of_part(paper: &[[f64; 2]], part: usize) -> Option<[f64; 2]> {
    if paper.len() == 1 { paper.first() } else { paper.get(part) }.copied()
}

fn names((a, _): &Element, (b, _): &Element) -> String {
    [a, b]
        .into_iter()
        .filter(|it| !it.is_empty())
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(" to ")
}

/// Judges whether an engine's values in a figure equal those that the paper prints, to the last decimal, cut or rounded.
/// A printed 0 is exact.
pub(super) fn exact(values: &Values<'_>, figure: &str, engine: &str, decimals: u8) -> Judged {
    let engine = values.name(engine);
    let own = values.all.iter().filter(|it| it.figure == figure && it.engine == engine);
    let printed: Vec<_> = own.filter_map(|it| Some((it, it.paper?))).collect();
    if printed.is_empty() {
        return Err(format!("no number of {figure} was counted"));
    }
    joined(printed.into_iter().map(|(value, wanted)| {
        let it = value.value.ok_or_else(|| value.refused.clone())?;
        // The shortest text of a number has the printed digits, except for zeros at the end.
        let digits = wanted.to_string().split_once('.').map_or(0, |(_, digits)| digits.len());
        let decimals = digits.max(usize::from(decimals));
        let unit = if wanted == 0.0 { 0.0 } else { 10f64.powi(-(decimals as i32)) };
        let holds = (it - wanted).abs() <= unit / 2.0 || (0.0..unit).contains(&(it - wanted));
        let reason = format!("{engine} {it:.decimals$}, expected {wanted:.decimals$}");
        Ok(Judgement::of(holds, reason.trim().to_owned()))
    }))
}

/// Judges whether no value of a series falls below its predecessor by more than the share `fall`.
pub(super) fn rising(values: &Values<'_>, wanted: &ValueRef, fall: f64) -> Judged {
    joined(wanted.engines.iter().map(|engine| {
        let series = values.series(wanted, engine)?;
        let falls = |pair: &&[(f64, Number)]| pair[1].1.value < pair[0].1.value * (1.0 - fall);
        let places: Vec<_> =
            series.windows(2).filter(falls).map(|pair| pair[1].0.to_string()).collect();
        let reason = match places.is_empty() {
            true => format!("no fall of more than {} %", short(fall * 100.0)),
            false => format!("falls at {}", places.join(", ")),
        };
        Ok(Judgement::of(places.is_empty(), reason))
    }))
}

/// Judges whether each series grows by at least the share `least` of the growth of its position.
pub(super) fn linear(values: &Values<'_>, wanted: &ValueRef, least: f64) -> Judged {
    joined(wanted.engines.iter().map(|engine| {
        let series = values.series(wanted, engine)?;
        let ((from, first), (to, last)) = (series[0], series[series.len() - 1]);
        let share = (last.value / first.value) / (to / from);
        let engine = values.name(engine);
        let reason = format!("{engine}: {} of linear scaling from {from} to {to}", short(share));
        if share > SUPERLINEAR {
            return Ok(Judgement::not_comparable(format!("{reason}: more than linear is noise")));
        }
        Ok(Judgement::of(share >= least, reason))
    }))
}

/// Judges whether a series is below every level up to the first position, and above every level from the second on.
pub(super) fn crossover(
    values: &Values<'_>,
    wanted: &ValueRef,
    levels: &Quantity,
    [below, above]: [f64; 2],
) -> Judged {
    let series = values.series(wanted, &wanted.engines[0])?;
    let levels = values.elements(levels).into_iter().map(|(_, it)| Ok(it?.value));
    let levels = levels.collect::<Result<Vec<f64>, String>>()?;
    let most = levels.iter().copied().fold(0.0, f64::max);
    let least = levels.iter().copied().fold(f64::INFINITY, f64::min);
    let early = series.iter().filter(|(x, it)| *x <= below && it.value > least * ABOVE);
    let late = series.iter().filter(|(x, it)| *x >= above && it.value * ABOVE < most);
    let wrong: Vec<_> = early.chain(late).map(|(x, _)| x.to_string()).collect();
    let first =
        series.iter().find(|(_, it)| it.value > most).map_or("none".into(), |(x, _)| x.to_string());
    let contrary = match wrong.is_empty() {
        true => String::new(),
        false => format!("; contrary to the claim at {}", wrong.join(", ")),
    };
    Ok(Judgement::of(wrong.is_empty(), format!("first point above all others: {first}{contrary}")))
}

/// Judges whether an engine refuses the table for a reason that contains `words`.
pub(super) fn refuses(values: &Values<'_>, wanted: &ValueRef, words: &str) -> Judged {
    let engine = &wanted.engines[0];
    let found = values.find(wanted, engine, None)?;
    Ok(match found.value {
        Some(_) => Judgement::of(false, format!("{} compiles the table", values.name(engine))),
        None => Judgement::of(found.refused.contains(words), found.refused.clone()),
    })
}
