//! The claims of Section V-C.

use super::super::common::{POPTRIE18, SPIDER, claim, with_vectors};
use super::{BATCHES, CARD, ONE_DEFAULT, ONE_FULL, TWO_DEFAULT, TWO_FULL};
use crate::claim::{Claim, Judge, Needs, Q, rate};

/// The band of rates that differ insignificantly.
const SAME: (f64, f64) = (0.9, 1.0 / 0.9);

pub(super) fn claims() -> Vec<Claim> {
    let mut all = about_batches();
    all.extend(about_engines());
    all.extend(about_tables());
    let card = Needs::Fact(
        "network card",
        1.0,
        "no card limits the rate here: the packets come from memory and leave into nothing",
    );
    all.push(Claim {
        needs: vec![card],
        ..of(
            "S8.8",
            "The rate saturates around 30 million packets a second, the limit of the card.",
            rate(POPTRIE18, TWO_FULL).at(32.0).within(CARD / 1.2, CARD * 1.2),
        )
    });
    all
}

fn of(id: &'static str, text: &'static str, judge: Judge) -> Claim {
    claim(id, "V-C", "ipv4", text, judge)
}

fn two_cores() -> Vec<Needs> {
    vec![Needs::Fact("cores", 2.0, "the paper's second core is missing on this machine")]
}

/// Returns the judge "the quantities of each pair differ insignificantly".
fn same(pairs: impl IntoIterator<Item = (Q, Q)>) -> Judge {
    Judge::Within(pairs.into_iter().map(|(a, b)| (a / b, SAME.0, SAME.1)).collect())
}

fn about_batches() -> Vec<Claim> {
    let at = |batch| rate(POPTRIE18, ONE_FULL).at(batch);
    vec![
        of(
            "S8.1",
            "With one core Poptrie18 reaches its highest rate at a batch of 32.",
            limit(POPTRIE18, ONE_FULL, 32),
        ),
        of(
            "S8.2",
            "With one core the increase from a batch of 16 to one of 32 is insignificant.",
            same([(at(32.0), at(16.0))]),
        ),
        Claim {
            needs: two_cores(),
            ..of(
                "S8.3",
                "With two cores Poptrie18 reaches its highest rate at a batch of 16.",
                limit(POPTRIE18, TWO_FULL, 16),
            )
        },
    ]
}

fn about_engines() -> Vec<Claim> {
    let engines = |runs: [&'static str; 2]| {
        let pair = |run, x| (rate(SPIDER, run).at(x), rate(POPTRIE18, run).at(x));
        same(runs.into_iter().flat_map(|run| [16.0, 32.0].map(|x| pair(run, x))))
    };
    vec![
        with_vectors(of(
            "S8.4",
            "With one core the rates of Spider are mostly those of Poptrie18.",
            engines([ONE_FULL, ONE_DEFAULT]),
        )),
        with_vectors(Claim {
            needs: two_cores(),
            ..of(
                "S8.5",
                "With two cores the rates of Spider are mostly those of Poptrie18.",
                engines([TWO_FULL, TWO_DEFAULT]),
            )
        }),
    ]
}

fn about_tables() -> Vec<Claim> {
    let tables = |engine| {
        let pair = |x| (rate(engine, ONE_DEFAULT).at(x), rate(engine, ONE_FULL).at(x));
        same([16.0, 32.0].map(pair))
    };
    vec![
        of(
            "S8.6",
            "The rates of Poptrie18 with a default route alone and with a full table differ insignificantly: lookups \
             are not the bottleneck.",
            tables(POPTRIE18),
        ),
        with_vectors(of(
            "S8.7",
            "The rates of Spider with a default route alone and with a full table differ insignificantly.",
            tables(SPIDER),
        )),
    ]
}

/// Returns the judge "the rate at this batch is nearly the highest of all batches".
fn limit(engine: &'static str, run: &'static str, batch: usize) -> Judge {
    let at = |batch: usize| rate(engine, run).at(batch as f64);
    (at(batch) / Q::Max(BATCHES.map(at).to_vec())).within(SAME.0, 1.0)
}
