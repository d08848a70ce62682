//! Figure 6: the rate by the number of ways, and where Spider passes the others.

use longmatch::{Ipv4, Ipv6};

use super::{ISP_A, PAPER_CPU, PAPER_TABLES};
use crate::contestant::Mode;
use crate::family::LabFamily;
use crate::made::spider_random;
use crate::report::compare::merged;
use crate::report::desk::{Desk, Entrant, Field, Measured, SEED, rate_cell};
use crate::report::experiment::{Absence, Experiment};
use crate::report::experiments::engines::entrant;
use crate::report::inputs::Named;
use crate::report::model::{Figure, Finding, Point, Series};
use crate::report::show::{
    about_rates, axis, claim, column, condition, level, like, lines, number, paper_column,
    rate_axis, rate_point, remark, table, text,
};

pub(super) const FIGURE_6: Experiment = Experiment {
    name: "spider-fig6",
    aliases: &["spider-parallelism"],
    source: "Spider paper, Figure 6",
    title: "Spider's rate by parallelism",
    about: "How the rate of Spider grows with its ways, the addresses that are looked up at the \
            same time in the lanes of vectors, from 1 to 16, with random traffic; and at how many \
            ways it passes engines that look up one address after the other.",
    peers: false,
    seconds: |inputs, effort| {
        let brief = |rivals: &[_]| effort.brief(MOST + OURS.len() + rivals.len()) + 2.0;
        inputs.ipv4().len() as f64 * brief(rivals::<Ipv4>())
            + inputs.ipv6().len() as f64 * brief(rivals::<Ipv6>())
    },
    run,
};

/// The most ways.
const MOST: usize = 16;
/// Ways of one vector: one more needs a second vector.
const VECTOR: usize = 8;
/// Engines of ours, in batches as Spider.
const OURS: [&str; 1] = ["folio"];
/// The paper's other engines, with its names. Their papers look up one address after the other.
const RIVALS: [(&str, &str); 5] = [
    ("poptrie:s=18", "Poptrie18"),
    ("poptrie:s=16", "Poptrie16"),
    ("dir24_8:entry=32", "DIR-24-8"),
    ("dxr:d=18", "D18R"),
    ("dxr:d=16", "D16R"),
];
/// A claim of a ratio holds up to this factor above and below the paper's value.
const BAND: f64 = 1.5;

/// Those that the paper has for a family: no DXR for IPv6.
fn rivals<F: LabFamily>() -> &'static [(&'static str, &'static str)] {
    if F::WIDTH == 32 { &RIVALS } else { &RIVALS[..3] }
}

/// What the paper's text says of ISP-A.
struct Paper {
    /// Mlps with 16 ways.
    most: f64,
    /// Times the rate with one way.
    times: f64,
    /// The ways from which on Spider outperforms all others.
    above: usize,
    /// The ways up to which it falls below the others.
    below: Option<usize>,
}

fn paper<F: LabFamily>() -> Paper {
    match F::WIDTH {
        32 => Paper { most: 516.0, times: 6.9, above: 8, below: Some(6) },
        _ => Paper { most: 188.0, times: 8.2, above: 7, below: None },
    }
}

fn run(desk: &mut Desk<'_>) -> Result<Vec<Figure>, Absence> {
    let (four, six) = (desk.inputs.ipv4(), desk.inputs.ipv6());
    let mut figures: Vec<_> = four.into_iter().map(|named| figure(desk, named)).collect();
    figures.extend(six.into_iter().map(|named| figure(desk, named)));
    if figures.is_empty() {
        return Err(Absence("needs a table of routes".into()));
    }
    desk.cite(&format!("{ISP_A}; {PAPER_CPU}"));
    Ok(figures)
}

fn spec(ways: usize) -> String {
    format!("spider:lanes={ways}")
}

fn figure<F: LabFamily>(desk: &mut Desk<'_>, named: Named<'_, F>) -> Figure {
    let id = format!("spider-fig6-{}-{}", F::NAME, named.name);
    let paper_rate = |ways: usize| (ways == MOST).then_some(paper::<F>().most);
    let spider = |ways| Entrant { paper: paper_rate(ways), ..Entrant::new(spec(ways), "") };
    let mut in_batches: Vec<_> = (1..=MOST).map(spider).collect();
    in_batches.extend(Entrant::all(&OURS));
    let one_by_one: Vec<_> = rivals::<F>().iter().copied().map(entrant).collect();
    let fields = [Field::apart(named, &in_batches), Field::apart(named, &one_by_one)];
    desk.step(2.0);
    let traffic = spider_random(named.rib, desk.keys::<F>(), SEED);
    let heat = desk.heat(&fields[0].race, &traffic).expect("as many keys as were made");
    let (mut measured, mut conditions) = (Vec::new(), Vec::new());
    for (field, mode) in fields.iter().zip([Mode::Batch, Mode::One]) {
        let setup = desk.brief(mode);
        measured.push(desk.measure(&id, field, &heat, &setup, ""));
        let name = if mode == Mode::Batch { "in batches" } else { "one by one" };
        conditions.push((name.into(), about_rates(named.name, &field.race, &heat, &setup)));
    }
    let mut conditions = merged(conditions);
    conditions.push(condition("the paper's", format!("{PAPER_TABLES}; {PAPER_CPU}")));
    let rows = ["batch", "one by one"].into_iter().zip(&measured).flat_map(|(how, all)| {
        all.iter().map(move |it| {
            let paper = number(it.entrant.paper, 0);
            vec![text(&it.entrant.spec), text(&it.entrant.alias), text(how), rate_cell(it), paper]
        })
    });
    let columns = vec![
        column("engine", ""),
        column("the paper's name", ""),
        column("lookups", ""),
        column("rate", "Mlps"),
        paper_column("ISP-A, paper", "Mlps"),
    ];
    let [spiders, others] = &measured[..] else { unreachable!("two fields") };
    Figure {
        title: format!("Rate by ways, {}, {}", F::NAME, named.name),
        caption: CAPTION.into(),
        conditions,
        chart: Some(lines(axis("ways", ""), rate_axis(), series::<F>(spiders, others))),
        table: table(columns, rows.collect()),
        findings: findings(&paper::<F>(), &Rates::of(spiders, others, rivals::<F>())),
        id,
    }
}

const CAPTION: &str = "Up to eight ways are lanes of one vector; with nine or more the loops of two \
                       vectors are one. The lanes that a number of ways does not use stand at EoL. \
                       The others look up one address after the other, as in the paper; Folio, \
                       ours, in batches. All keys come from an array. The paper makes them just in \
                       time, a vector of eight at once: the load of that is in its rates, and \
                       doubles from eight ways to nine. IPv4 addresses are uniformly random; those \
                       of IPv6 are the paper's: the first 32 bits of a random route, 32 random \
                       bits, ::1. Dashed: the others, which have no ways to vary, and the paper's \
                       Spider with 16 ways, the one point that its text gives.";

fn series<F: LabFamily>(spiders: &[Measured], others: &[Measured]) -> Vec<Series> {
    let point = |ways| rate_point(ways as f64, like(spiders, &spec(ways))?);
    let points = (1..=MOST).filter_map(point).collect();
    let spider = Series { name: "spider".into(), dashed: false, points };
    let ours = spiders.iter().filter(|it| OURS.contains(&&it.entrant.spec[..]));
    let levels = ours
        .chain(others)
        .filter_map(|it| Some(level(&it.entrant.spec, it.rate()?, [1.0, MOST as f64])));
    let paper = Series {
        name: format!("{}, paper", spec(MOST)),
        dashed: true,
        points: vec![Point { x: MOST as f64, y: paper::<F>().most, spread: None }],
    };
    core::iter::once(spider).chain(levels).chain([paper]).collect()
}

/// The rates that findings are about, in Mlps.
struct Rates {
    /// By the number of ways, from one; none where some number has no rate.
    ways: Option<Vec<f64>>,
    /// The paper's other engines, by its names; no rate where one cannot hold the table.
    rivals: Vec<(&'static str, Option<f64>)>,
}

impl Rates {
    fn of(
        spiders: &[Measured],
        others: &[Measured],
        rivals: &[(&'static str, &'static str)],
    ) -> Self {
        // The wider variant of an engine is not the paper's.
        let rate = |all: &[Measured], spec: &str| {
            all.iter().find(|it| it.entrant.spec == spec).and_then(Measured::rate)
        };
        let ways = (1..=MOST).map(|ways| rate(spiders, &spec(ways))).collect();
        let rivals = rivals.iter().map(|(spec, name)| (*name, rate(others, spec))).collect();
        Self { ways, rivals }
    }
}

/// The number of ways from which on Spider is faster, if there is one.
fn passes(ways: &[f64], rival: f64) -> Option<usize> {
    let slower = ways.iter().rposition(|rate| *rate <= rival);
    Some(slower.map_or(1, |last| last + 2)).filter(|first| *first <= ways.len())
}

fn findings(paper: &Paper, rates: &Rates) -> Vec<Finding> {
    let Some(ways) = &rates.ways else {
        return vec![remark("Not comparable: Spider with the paper's entry has no rate.")];
    };
    let mut findings = vec![growth(paper, ways), step(ways), crossings(ways, &rates.rivals)];
    let missing: Vec<_> =
        rates.rivals.iter().filter(|(_, rate)| rate.is_none()).map(|(name, _)| *name).collect();
    if missing.is_empty() {
        findings.extend(order(paper, ways, &rates.rivals));
    } else {
        let text = format!(
            "From how many ways on Spider outperforms all others is not comparable: {} cannot hold \
             the table.",
            missing.join(", ")
        );
        findings.push(remark(text));
    }
    findings
}

/// How much faster all ways are than one.
fn growth(paper: &Paper, ways: &[f64]) -> Finding {
    let times = ways[MOST - 1] / ways[0];
    let text = format!(
        "16 ways look up {times:.1} times as fast as one; in the paper {} times (ISP-A), to which \
         a factor of {BAND} is allowed.",
        paper.times
    );
    claim((paper.times / BAND..=paper.times * BAND).contains(&times), text)
}

/// The step where the second vector begins.
fn step(ways: &[f64]) -> Finding {
    let change = ways[VECTOR] / ways[VECTOR - 1];
    let linear = (VECTOR + 1) as f64 / VECTOR as f64;
    let text = format!(
        "From 8 to 9 ways the rate changes by {:+.1} %; growth in proportion is {:+.1} %. The \
         paper: sublinear there, since a second vector of addresses is generated; here none is, \
         and what is left is the second vector's lookup.",
        100.0 * (change - 1.0),
        100.0 * (linear - 1.0)
    );
    claim(change < linear, text)
}

/// At how many ways Spider passes each of the others.
fn crossings(ways: &[f64], rivals: &[(&str, Option<f64>)]) -> Finding {
    let crossing = |(name, rate): &(&str, Option<f64>)| {
        let rival = (*rate)?;
        Some(match passes(ways, rival) {
            Some(1) => format!("{name} ({rival:.0} Mlps) with one way already"),
            Some(first) => format!("{name} ({rival:.0} Mlps) at {first} ways"),
            None => format!("{name} ({rival:.0} Mlps) with no number of ways"),
        })
    };
    let all: Vec<_> = rivals.iter().filter_map(crossing).collect();
    remark(format!("Spider passes {}.", all.join(", ")))
}

/// From how many ways on Spider outperforms all others, and up to how many it falls below them.
fn order(paper: &Paper, ways: &[f64], rivals: &[(&str, Option<f64>)]) -> Vec<Finding> {
    let all = || rivals.iter().filter_map(|(_, rate)| *rate);
    let (slowest, fastest) = (all().fold(f64::MAX, f64::min), all().fold(0.0, f64::max));
    let first = match passes(ways, fastest) {
        Some(first) => format!("Spider outperforms all others from {first} ways on"),
        None => "Spider outperforms all others with no number of ways".into(),
    };
    let Paper { above, below, .. } = *paper;
    let text = format!("{first}; in the paper with {above} or more.");
    let mut findings = vec![claim(passes(ways, fastest).is_some_and(|it| it <= above), text)];
    if let Some(below) = below {
        let last = ways.iter().take_while(|rate| **rate < slowest).count();
        let text = format!(
            "Spider falls below all others up to {last} ways; in the paper with no more than \
             {below}."
        );
        findings.push(claim(last >= below, text));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rates that grow evenly, from 75 Mlps with one way to so many times that with 16.
    fn ways(times: f64) -> Vec<f64> {
        (0..MOST).map(|i| 75.0 * (1.0 + (times - 1.0) * i as f64 / 15.0)).collect()
    }

    fn judged(paper: &Paper, ways: Vec<f64>, rivals: &[f64]) -> Vec<(Option<bool>, String)> {
        let rivals = RIVALS.iter().zip(rivals).map(|((_, name), rate)| (*name, Some(*rate)));
        let rates = Rates { ways: Some(ways), rivals: rivals.collect() };
        findings(paper, &rates).into_iter().map(|it| (it.holds, it.text)).collect()
    }

    /// One way has 75 Mlps and each further one 29.5 more: 6 ways have 222.5, 7 have 252, 8 281.5.
    #[test]
    fn the_papers_own_values_hold() {
        let all = judged(&paper::<Ipv4>(), ways(6.9), &[280.0, 240.0, 250.0]);
        let holds: Vec<_> = all.iter().map(|(holds, _)| *holds).collect();
        let yes = Some(true);
        assert_eq!(holds, [yes, yes, None, yes, yes], "{all:#?}");
        assert!(all[0].1.starts_with("16 ways look up 6.9 times as fast as one; in the paper 6.9"));
        assert!(
            all[1].1.starts_with("From 8 to 9 ways the rate changes by +10.5 %; growth in prop")
        );
        let passed = "Spider passes Poptrie18 (280 Mlps) at 8 ways, Poptrie16 (240 Mlps) at 7 ways, \
                      DIR-24-8 (250 Mlps) at 7 ways.";
        assert_eq!(all[2].1, passed);
        assert!(all[3].1.starts_with("Spider outperforms all others from 8 ways on; in the paper"));
        assert!(all[4].1.starts_with("Spider falls below all others up to 6 ways; in the paper"));
    }

    /// For IPv6 the paper has Spider above all others from 7 ways on, and says nothing of fewer.
    #[test]
    fn every_judge_can_say_no() {
        let (four, six) = (paper::<Ipv4>(), paper::<Ipv6>());
        let holds = |paper, ways, rivals: &[f64]| -> Vec<_> {
            judged(paper, ways, rivals).into_iter().map(|(holds, _)| holds).collect()
        };
        let (yes, no) = (Some(true), Some(false));
        let spider = || ways(6.9);
        assert_eq!(holds(&four, ways(4.5), &[150.0])[0], no, "below the band");
        assert_eq!(holds(&four, ways(10.5), &[150.0])[0], no, "above the band");
        let mut jump = spider();
        jump[8] = jump[7] * 1.13;
        assert_eq!(holds(&four, jump, &[150.0])[1], no, "more than in proportion");
        assert_eq!(holds(&four, spider(), &[282.0])[3..], [no, yes], "8 ways are slower");
        assert_eq!(holds(&four, spider(), &[282.0, 222.0])[3..], [no, no], "6 ways pass one");
        assert_eq!(holds(&six, spider(), &[253.0])[3..], [no], "7 ways are slower");
        assert_eq!(holds(&six, spider(), &[251.0])[3..], [yes]);
        assert_eq!(holds(&six, spider(), &[600.0])[3..], [no], "none passes it");
    }

    #[test]
    fn crossings_are_for_good() {
        let rates = [1.0, 5.0, 3.0, 4.0];
        assert_eq!(passes(&rates, 0.5), Some(1));
        assert_eq!(passes(&rates, 1.0), Some(2));
        assert_eq!(passes(&rates, 3.5), Some(4), "2 ways pass it too, but 3 do not");
        assert_eq!(passes(&rates, 4.0), None);
    }

    #[test]
    fn what_has_no_rate_is_not_judged() {
        let refused = Rates { ways: None, rivals: vec![("Poptrie18", Some(1.0))] };
        let all = findings(&paper::<Ipv4>(), &refused);
        assert!(all.len() == 1 && all[0].holds.is_none() && all[0].text.contains("ot comparable"));
        let rivals = vec![("Poptrie18", Some(1.0)), ("D18R", None)];
        let all = findings(&paper::<Ipv4>(), &Rates { ways: Some(ways(6.9)), rivals });
        assert_eq!(all.len(), 4);
        assert!(all[3].holds.is_none() && all[3].text.contains("D18R cannot hold the table"));
    }
}
