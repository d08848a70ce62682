//! M. Zec, L. Rizzo, M. Mikuc, the page of DXR (2014 and later).

use core::hint::black_box;
use std::time::Instant;

use longmatch::engine::dxr::{
    Config, Dxr, Original, Single, Statistics, Wide, chunk_lengths, published_statistics,
};
use longmatch::{CompileError, Engine as _, Ipv4, Rib};
use longmatch_bench::{Mode, Stats};

use crate::claim::{ABOVE, Claim, Judge, Needs, Over, Pick, Q, of, rate};
use crate::context::{ExperimentContext, Place, at};
use crate::declaration::{
    Absence, Axis, ChartKind, Figure, Papers, Rates, Rows, RunSpec, Tables, TrafficKind,
};
use crate::experiment::{Experiment, Work};
use crate::inputs::Named;
use crate::record::Value;

/// The experiments, in the order of the page.
pub(super) fn all() -> Vec<Experiment> {
    vec![chunks(), throughput(), bandwidth()]
}

/// The row of D20R, counted as on the page.
const PUBLISHED: &str = "dxr:d=20, as the page counts";
/// Compilations of D20R for the median time.
const COMPILATIONS: usize = 3;

const SOURCE: &str = "DXR page";
const SETTING: &str = "LINX, 22 April 2014: 513,644 prefixes, 239 next hops; Core i7-4771; the ranges in the claims \
                       also cover a Xeon E5-1650, an FX-8350 and a Core i5-3210M";

/// Classes of chunks by their number of ranges.
const BUCKETS: [&str; 10] =
    ["1", "2", "3-4", "5-8", "9-16", "17-32", "33-64", "65-128", "129-256", "more"];
const MIN_K: u8 = 16;

/// The page's shares of chunks, for K from 16 to 22.
const SHARES: [[f64; 9]; 7] = [
    [0.75318, 0.02029, 0.04551, 0.04385, 0.04750, 0.04628, 0.03082, 0.01167, 0.00087],
    [0.80845, 0.01961, 0.04394, 0.04278, 0.03985, 0.02984, 0.01428, 0.00121, 0.00003],
    [0.85712, 0.02175, 0.04058, 0.03472, 0.02792, 0.01578, 0.00209, 0.00003, 3.8e-6],
    [0.90347, 0.01829, 0.03194, 0.02596, 0.01699, 0.00330, 0.00005, 0.0, 1.9e-6],
    [0.93821, 0.01400, 0.02545, 0.01732, 0.00494, 0.00006, 4.8e-6, 0.0, 9.5e-7],
    [0.96177, 0.01289, 0.01826, 0.00697, 0.00008, 8.5e-6, 1.9e-6, 4.7e-7, 0.0],
    [0.97907, 0.01073, 0.01004, 0.00013, 0.00001, 2.6e-6, 1.2e-6, 2.3e-7, 0.0],
];

/// The counts of a structure, with their units and the page's numbers for D20R (rt.stat).
const STATISTICS: [(&str, &str, f64); 13] = [
    ("direct table", "B", 4_194_304.0),
    ("range table", "B", 512_148.0),
    ("bytes a prefix", "", 9.1),
    ("resolved directly", "%", 93.8),
    ("longest chunk", "", 176.0),
    ("physical short chunks", "", 40_247.0),
    ("physical long chunks", "", 1_416.0),
    ("physical short fragments", "", 237_728.0),
    ("physical long fragments", "", 9_173.0),
    ("aggregated short chunks", "", 63_313.0),
    ("aggregated long chunks", "", 1_477.0),
    ("aggregated short fragments", "", 306_484.0),
    ("aggregated long fragments", "", 9_354.0),
];

const LENGTHS: &str = "dxr-lengths";
const RT_STAT: &str = "dxr-statistics";

fn chunks() -> Experiment {
    let share = |(k, i, value): (u8, usize, f64)| Papers {
        figure: LENGTHS,
        family: "ipv4",
        run: BUCKETS[i],
        metric: "share of chunks",
        x: Some(f64::from(k)),
        values: vec![("", value)],
    };
    let shares = SHARES.into_iter().zip(MIN_K..).flat_map(|(shares, k)| {
        shares.into_iter().enumerate().map(move |(i, value)| (k, i, value))
    });
    let statistic = |(metric, _, value): (&'static str, &str, f64)| Papers {
        figure: RT_STAT,
        family: "ipv4",
        run: "",
        metric,
        x: None,
        values: vec![(PUBLISHED, value)],
    };
    let last_update = Papers {
        figure: RT_STAT,
        family: "ipv4",
        run: "",
        metric: "update",
        x: None,
        values: vec![("dxr:d=20", 909.6)],
    };
    Experiment {
        name: "dxr-chunks",
        aliases: &["dxr-rt.stat"],
        source: SOURCE,
        title: "Chunks and memory",
        about: "The shares of the 2^K chunks by their number of ranges, for K from 16 to 22, without the limits of the \
                formats; and the compiled structures.",
        setting: SETTING,
        work: Work::Own(count, |inputs, _| 1.2 * inputs.ipv4().len() as f64),
        figures: vec![
            Figure {
                id: LENGTHS,
                title: "Chunk lengths",
                caption: "The share of chunks by their number of ranges. The direct table resolves chunks of one \
                          range.",
                chart: ChartKind::Lines("share of chunks", ("K", "bits"), [false, true]),
                rows: Rows::Runs,
            },
            Figure {
                id: RT_STAT,
                title: "D16R to D22R",
                caption: "Counted in the compiled structures. A short range has two bytes, a long range four. Physical \
                          counts include equal chunks once, aggregated counts once per reference. The page counts \
                          differently: a short chunk with an odd number of ranges stores its last range twice, and a \
                          route longer than /24 makes a chunk long even if no answer changes. Update: the time to \
                          compile the table again; the page does not say what its 909.6 ms include.",
                chart: ChartKind::None,
                rows: Rows::Engines,
            },
        ],
        papers: shares.map(share).chain(STATISTICS.map(statistic)).chain([last_update]).collect(),
        claims: chunk_claims(),
    }
}

fn chunk_claims() -> Vec<Claim> {
    let own_table = || Needs::Routes(513_643, 513_644);
    let alike = || {
        let beyond = of("", "beyond the formats of 2014");
        Needs::Most(
            beyond,
            0.0,
            "the table has prefixes longer than /24 or more than 256 next hops",
        )
    };
    let share = |k: u8, bucket| {
        let pick =
            Pick { engine: "", run: bucket, metric: "share of chunks", x: Some(f64::from(k)) };
        Q::Of(pick)
    };
    let every = SHARES.into_iter().zip(MIN_K..).flat_map(|(shares, k)| {
        shares.into_iter().zip(BUCKETS).map(move |(wanted, bucket)| {
            (share(k, bucket), wanted, if wanted < 1e-5 { 7 } else { 5 })
        })
    });
    let first = SHARES
        .into_iter()
        .zip(MIN_K..)
        .map(|(shares, k)| (share(k, "1"), shares[0] - 0.08, shares[0] + 0.08));
    let rt_stat = STATISTICS.map(|(metric, unit, value)| {
        let decimals = u8::from(unit == "%" || metric == "bytes a prefix");
        (of(PUBLISHED, metric), value, decimals)
    });
    let with =
        |needs, id, text, judge| Claim { id, section: "", text, family: "ipv4", needs, judge };
    vec![
        with(
            vec![alike()],
            "D1.1",
            "No chunk has more than 256 ranges for any K.",
            of("", "longest chunk of any K").at_most(256.0),
        ),
        with(
            vec![Needs::Routes(300_000, u64::MAX)],
            "D1.2",
            "The direct table resolves 75 % of the chunks with K = 16 and 98 % with K = 22.",
            Judge::Within(first.collect()),
        ),
        with(
            vec![own_table()],
            "D1.3",
            "The shares of chunks by their number of ranges are those of the page.",
            Judge::Exact(every.collect()),
        ),
        with(
            vec![own_table()],
            "D1.4",
            "D20R has the counts of rt.stat.",
            Judge::Exact(rt_stat.to_vec()),
        ),
        with(
            Vec::new(),
            "D1.5",
            "The range table has 2 bytes per short range, 4 bytes per long range, and nothing else.",
            Judge::Exact(vec![(
                of(PUBLISHED, "range table")
                    - 2.0 * of(PUBLISHED, "physical short fragments")
                    - 4.0 * of(PUBLISHED, "physical long fragments"),
                0.0,
                0,
            )]),
        ),
        with(
            vec![alike()],
            "D1.6",
            "D16R takes less than 2 bytes per prefix.",
            of("dxr:d=16", "bytes a prefix").at_most(2.0),
        ),
    ]
}

fn count(context: &mut ExperimentContext<'_>) -> Result<(), Absence> {
    for named in context.inputs.some_ipv4()? {
        lengths(context, named);
        context.step(0.3);
        for k in MIN_K..MIN_K + SHARES.len() as u8 {
            structure(context, named, k);
        }
        statistics(context, named, PUBLISHED, &published_statistics(named.rib, 20));
        context.step(0.9);
    }
    Ok(())
}

fn lengths(context: &mut ExperimentContext<'_>, named: Named<'_, Ipv4>) {
    let mut longest = 0;
    for k in MIN_K..MIN_K + SHARES.len() as u8 {
        let lengths = chunk_lengths(named.rib, k);
        longest = longest.max(lengths.longest);
        for (run, share) in BUCKETS.into_iter().zip(lengths.shares()) {
            let place = Place { figure: LENGTHS, run, x: Some(f64::from(k)), ..Place::default() };
            context.count(place, named, "", ("share of chunks", ""), share);
        }
    }
    let place = Place { figure: RT_STAT, ..Place::default() };
    let mut hops: Vec<_> = named.rib.iter().map(|route| route.next_hop).collect();
    hops.sort_unstable();
    hops.dedup();
    let long = named.rib.iter().filter(|route| route.prefix.len() > 24).count();
    let beyond = long + hops.len().saturating_sub(256);
    context.count(place, named, "", ("longest chunk of any K", ""), longest as f64);
    context.count(place, named, "", ("beyond the formats of 2014", ""), beyond as f64);
}

/// Counts the narrowest variant with this K that holds the table; if the page's variant refuses, notes its reason.
fn structure(context: &mut ExperimentContext<'_>, named: Named<'_, Ipv4>, k: u8) {
    let plain = Config { d: k, ..Config::default() };
    let hops_k = Config { hops_k: true, ..plain };
    let original = |rib: &Rib<Ipv4>, config: &Config| {
        Ok(Dxr::<Original, Single>::compile(rib, config)?.statistics())
    };
    let wide = |rib: &Rib<Ipv4>, config: &Config| {
        Ok(Dxr::<Wide, Single>::compile(rib, config)?.statistics())
    };
    type Compile<'c> = &'c dyn Fn(&Rib<Ipv4>, &Config) -> Result<Statistics, CompileError>;
    let variants: [(&str, Compile<'_>, &Config); 4] = [
        ("", &original, &plain),
        (":hops=k", &original, &hops_k),
        (":wide", &wide, &plain),
        (":hops=k:wide", &wide, &hops_k),
    ];
    let place = Place { figure: RT_STAT, ..Place::default() };
    for (option, compile, config) in variants {
        let spec = format!("dxr:d={k}{option}");
        match compile(named.rib, config) {
            Ok(own) => {
                statistics(context, named, &spec, &own);
                if k == 20 {
                    let times = (0..COMPILATIONS).map(|_| {
                        let started = Instant::now();
                        black_box(compile(named.rib, config).is_ok());
                        started.elapsed().as_secs_f64() * 1e3
                    });
                    let median = Stats::of(&times.collect::<Vec<_>>()).map_or(0.0, |it| it.median);
                    context.count(place, named, &spec, ("update", "ms"), median);
                }
                return;
            }
            Err(error) if option.is_empty() => {
                let value = Value {
                    engine: spec,
                    refused: error.to_string(),
                    metric: STATISTICS[0].0.into(),
                    unit: STATISTICS[0].1.into(),
                    ..Value::default()
                };
                context.note(at(place, named, value));
            }
            Err(_) => {}
        }
    }
}

fn statistics(
    context: &mut ExperimentContext<'_>,
    named: Named<'_, Ipv4>,
    engine: &str,
    own: &Statistics,
) {
    let place = Place { figure: RT_STAT, ..Place::default() };
    for ((metric, unit, _), value) in STATISTICS.into_iter().zip(numbers(own, named.rib.len())) {
        context.count(place, named, engine, (metric, unit), value);
    }
}

/// Returns the numbers of a structure, in the order of [`STATISTICS`].
fn numbers(statistics: &Statistics, prefixes: usize) -> [f64; 13] {
    let Statistics { physical, aggregated, .. } = statistics;
    let [direct, range] = [statistics.direct_bytes, statistics.range_bytes].map(|it| it as f64);
    let resolved = 100.0 * statistics.resolved as f64 / 2f64.powi(statistics.k.into());
    let counts = [physical, aggregated].map(|it| {
        [it.short_chunks, it.long_chunks, it.short_fragments, it.long_fragments]
            .map(|count| count as f64)
    });
    let [[a, b, c, d], [e, f, g, h]] = counts;
    let a_prefix = (direct + range) / prefixes.max(1) as f64;
    [direct, range, a_prefix, resolved, statistics.longest as f64, a, b, c, d, e, f, g, h]
}

/// Mlps of SEQ, RND and REP on the Core i7-4771.
const THROUGHPUT: [(&str, &str, [f64; 3]); 7] = [
    ("radix:path-compressed", "BSD", [4.9, 4.9, 8.8]),
    ("dir24_8", "DIR-24-8", [19.9, 137.8, 307.8]),
    ("dxr:d=16", "D16R", [88.5, 123.5, 172.0]),
    ("dxr:d=18", "D18R", [79.3, 179.1, 294.6]),
    ("dxr:d=20", "D20R", [79.3, 273.3, 465.2]),
    ("dxr:d=21", "D21R", [76.5, 308.5, 490.7]),
    ("dxr:d=22", "D22R", [37.8, 141.6, 206.9]),
];

const SEQ: RunSpec = RunSpec {
    name: "SEQ",
    traffic: TrafficKind::Random,
    mode: Mode::Dependent,
    batch: 256,
    just_in_time: false,
    axis: Axis::None,
    brief: false,
};
const RND: RunSpec = RunSpec { name: "RND", mode: Mode::One, ..SEQ };
const REP: RunSpec = RunSpec { name: "REP", traffic: TrafficKind::DxrRepeated, ..RND };
const CORES: RunSpec = RunSpec { name: "all cores", axis: Axis::Threads, ..RND };

fn throughput() -> Experiment {
    let figure = "dxr-throughput";
    let cores = "dxr-cores";
    let paper = |(i, run): (usize, &'static str)| Papers {
        figure,
        family: "ipv4",
        run,
        metric: "rate",
        x: None,
        values: THROUGHPUT.map(|(engine, _, values)| (engine, values[i])).to_vec(),
    };
    let mut engines: Vec<_> = THROUGHPUT.map(|(engine, alias, _)| (engine, alias)).to_vec();
    engines.push(("folio", ""));
    Experiment {
        name: figure,
        aliases: &["dxr-seq", "dxr-rnd", "dxr-rep"],
        source: SOURCE,
        title: "SEQ, RND and REP",
        about: "Uniformly random keys on one thread: each depends on the previous answer (SEQ), all are independent \
                (RND), each key is looked up eight times in a row (REP); and RND on all cores.",
        setting: SETTING,
        work: Work::Rates(vec![
            Rates { figure, tables: Tables::Ipv4, engines, runs: vec![SEQ, RND, REP], parts: &[] },
            Rates {
                figure: cores,
                tables: Tables::Ipv4,
                engines: vec![("dir24_8", "DIR-24-8"), ("dxr:d=16", "D16R"), ("dxr:d=20", "D20R")],
                runs: vec![CORES],
                parts: &[],
            },
        ]),
        figures: vec![
            Figure {
                id: figure,
                title: "SEQ, RND and REP",
                caption: "Keys come from an array. BSD is the historic radix tree. The page's values are those of the \
                          Core i7-4771.",
                chart: ChartKind::Bars("rate"),
                rows: Rows::Engines,
            },
            Figure {
                id: cores,
                title: "RND by threads",
                caption: "The total rate of all threads.",
                chart: ChartKind::Lines("rate", ("threads", ""), [false, false]),
                rows: Rows::Places,
            },
        ],
        papers: ["SEQ", "RND", "REP"].into_iter().enumerate().map(paper).collect(),
        claims: throughput_claims(),
    }
}

/// The page's memory bandwidth, for which there is no portable counter.
fn bandwidth() -> Experiment {
    Experiment {
        name: "dxr-bandwidth",
        aliases: &[],
        source: SOURCE,
        title: "Memory bandwidth",
        about: "Bytes that a lookup reads from memory, for DXR and DIR-24-8. The page says that DXR needs less \
                bandwidth and gives no number.",
        setting: SETTING,
        work: Work::Own(
            |_| {
                Err(Absence(
                    "cannot be measured: the counters of the memory controller differ between CPUs, need root and are \
                     absent in virtual machines; this program does not read them"
                        .into(),
                ))
            },
            |_, _| 0.1,
        ),
        figures: Vec::new(),
        papers: Vec::new(),
        claims: Vec::new(),
    }
}

fn throughput_claims() -> Vec<Claim> {
    let best = |run| {
        Q::Max(
            ["dxr:d=18", "dxr:d=20", "dxr:d=21", "dxr:d=22"]
                .map(|engine| rate(engine, run))
                .to_vec(),
        )
    };
    let any = |run| Q::Max(vec![best(run), rate("dxr:d=16", run)]);
    let fast = || Needs::Fact("GHz", 2.5, "the clock is below 2.5 GHz");
    let cores = |least| Needs::Fact("cores", least, "the machine has too few cores");
    let with =
        |needs, id, text, judge| Claim { id, section: "", text, family: "ipv4", needs, judge };
    let gains = [
        ("dxr:d=16", 1.03, 2.15),
        ("dxr:d=18", 1.33, 3.55),
        ("dxr:d=20", 1.47, 5.2),
        ("dxr:d=21", 1.85, 6.05),
        ("dir24_8", 1.5, 13.9),
    ];
    let repeated = ["dir24_8", "dxr:d=16", "dxr:d=18", "dxr:d=20", "dxr:d=21", "dxr:d=22"];
    let over = |engine| Over { engine, run: CORES.name, metric: "rate" };
    let gain = |engine| rate(engine, CORES.name).at(4.0) / rate(engine, CORES.name).at(1.0);
    vec![
        with(
            vec![fast()],
            "D2.1",
            "D16R looks up more than 100 million keys a second on one core (93.7 to 123.5).",
            rate("dxr:d=16", "RND").at_least(100.0),
        ),
        with(
            vec![fast()],
            "D2.2",
            "Another configuration exceeds 200 million keys a second (190.5 to 308.5).",
            best("RND").at_least(200.0),
        ),
        with(
            Vec::new(),
            "D2.3",
            "DXR clearly outperforms DIR-24-8 in SEQ (2.44 to 5.12 times).",
            (any("SEQ") / rate("dir24_8", "SEQ")).within(1.2, 10.3),
        ),
        with(
            Vec::new(),
            "D2.4",
            "DXR clearly outperforms DIR-24-8 in RND (1.84 to 2.53 times).",
            (any("RND") / rate("dir24_8", "RND")).within(ABOVE, 5.1),
        ),
        with(
            Vec::new(),
            "D2.5",
            "DXR clearly outperforms DIR-24-8 in REP (1.59 to 2.01 times).",
            (any("REP") / rate("dir24_8", "REP")).within(ABOVE, 4.0),
        ),
        with(
            Vec::new(),
            "D2.6",
            "Throughput is significantly higher without dependencies between lookups (1.3 to 6.9 times).",
            Judge::Within(
                gains
                    .map(|(it, low, high)| (rate(it, "RND") / rate(it, "SEQ"), low, high))
                    .to_vec(),
            ),
        ),
        with(
            Vec::new(),
            "D2.7",
            "Throughput is higher if each key repeats eight times (1.17 to 2.23 times).",
            Judge::Within(
                repeated.map(|it| (rate(it, "REP") / rate(it, "RND"), ABOVE, 3.4)).to_vec(),
            ),
        ),
        with(
            vec![cores(3.0)],
            "D2.8",
            "Throughput scales almost linearly with the cores.",
            Judge::Linear(vec![over("dxr:d=16"), over("dxr:d=20")], 0.8),
        ),
        with(
            vec![cores(4.0)],
            "D2.9",
            "DXR scales better than DIR-24-8 (no number; here: D20R from one core to four).",
            Judge::Greater(vec![(gain("dxr:d=20"), gain("dir24_8"))]),
        ),
        with(
            vec![cores(8.0)],
            "D2.10",
            "All cores together make more than two billion lookups a second (number of cores not given).",
            Q::Max(vec![rate("dxr:d=16", CORES.name), rate("dxr:d=20", CORES.name)])
                .at_least(2000.0),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Detects a number that was copied wrongly.
    #[test]
    fn the_pages_shares_are_shares() {
        for shares in SHARES {
            let sum: f64 = shares.iter().sum();
            assert!((sum - 1.0).abs() < 1e-4, "{sum}");
        }
    }

    /// The page's bytes are those of its fragments.
    #[test]
    fn ranges_have_no_padding() {
        let of = |metric| STATISTICS.iter().find(|it| it.0 == metric).unwrap().2;
        let bytes = 2.0 * of("physical short fragments") + 4.0 * of("physical long fragments");
        assert_eq!(bytes, of("range table"));
    }
}
