//! The distribution of chunk lengths, and what the structures are made of.

use longmatch::engine::dxr::{
    ChunkLengths, Config, Dxr, MAX_K, MIN_K, Original, Single, Statistics, Wide, chunk_lengths,
};
use longmatch::{Engine, Ipv4, Rib};

use super::PAPER_TABLE;
use crate::desk::{Desk, row_about};
use crate::experiment::{Absence, Experiment};
use crate::inputs::Named;
use crate::model::{Cell, Figure, Finding, Point, Row, Series};
use crate::show::{claim, column, condition, lines, log_axis, paper_column, remark, table, text};

pub(super) const CHUNKS: Experiment = Experiment {
    name: "dxr-chunks",
    aliases: &["dxr-statistics"],
    source: "DXR page, chunk lengths and rt.stat",
    title: "What DXR makes of the tables",
    about: "How many ranges (fragments) the 2^K chunks of the address space have for each K, and \
            the sizes of the structures from D16R to D22R. Chunks of one range end in the direct \
            table; the others are searched by halving.",
    peers: false,
    seconds: |inputs, _| 1.2 * inputs.ipv4().len() as f64,
    run,
};

/// Ranges of a chunk, as the page divides them; it has no chunk of more than 256.
const BUCKETS: [&str; 10] =
    ["1", "2", "3-4", "5-8", "9-16", "17-32", "33-64", "65-128", "129-256", "more"];

/// The page's shares of chunks, for K from 16 on.
const PAPER: [[f64; 9]; 7] = [
    [0.75318, 0.02029, 0.04551, 0.04385, 0.04750, 0.04628, 0.03082, 0.01167, 0.00087],
    [0.80845, 0.01961, 0.04394, 0.04278, 0.03985, 0.02984, 0.01428, 0.00121, 0.00003],
    [0.85712, 0.02175, 0.04058, 0.03472, 0.02792, 0.01578, 0.00209, 0.00003, 3.8e-6],
    [0.90347, 0.01829, 0.03194, 0.02596, 0.01699, 0.00330, 0.00005, 0.0, 1.9e-6],
    [0.93821, 0.01400, 0.02545, 0.01732, 0.00494, 0.00006, 4.8e-6, 0.0, 9.5e-7],
    [0.96177, 0.01289, 0.01826, 0.00697, 0.00008, 8.5e-6, 1.9e-6, 4.7e-7, 0.0],
    [0.97907, 0.01073, 0.01004, 0.00013, 0.00001, 2.6e-6, 1.2e-6, 2.3e-7, 0.0],
];

/// What is counted in a structure, with the page's number for D20R.
const STATISTICS: [(&str, &str, f64); 13] = [
    ("direct table", "B", 4_194_304.0),
    ("range table", "B", 512_148.0),
    ("bytes a prefix", "B", 9.1),
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

fn run(desk: &mut Desk<'_>) -> Result<Vec<Figure>, Absence> {
    let tables = desk.inputs.some_ipv4()?;
    let mut figures = Vec::new();
    for named in tables {
        figures.push(lengths_figure(desk, named));
        desk.step(0.3);
        figures.push(statistics_figure(desk, named));
        desk.step(0.9);
    }
    desk.cite(PAPER_TABLE);
    Ok(figures)
}

fn lengths_figure(desk: &mut Desk<'_>, named: Named<'_, Ipv4>) -> Figure {
    let id = format!("dxr-chunks-{}", named.name);
    let all: Vec<_> = (MIN_K..=MAX_K).map(|k| chunk_lengths(named.rib, k)).collect();
    let mut rows = Vec::new();
    for (lengths, paper) in all.iter().zip(&PAPER) {
        for (i, (chunks, share)) in lengths.chunks.iter().zip(lengths.shares()).enumerate() {
            let paper = paper.get(i).copied();
            desk.note(Row {
                figure: id.clone(),
                at: format!("k={} fragments={}", lengths.k, BUCKETS[i]),
                metric: "share of chunks".into(),
                value: Some(share),
                paper,
                ..row_about(named.name, named.rib)
            });
            rows.push(vec![
                text(lengths.k.to_string()),
                text(BUCKETS[i]),
                Cell::Count(*chunks as u64),
                Cell::Number(share, 7),
                paper.map_or(Cell::Empty, |paper| Cell::Number(paper, 7)),
            ]);
        }
    }
    let columns = vec![
        column("K", "bits"),
        column("ranges", ""),
        column("chunks", ""),
        column("share", ""),
        paper_column("share, paper", ""),
    ];
    Figure {
        title: format!("Chunk lengths, {}", named.name),
        caption: "Counted for each K from 16 to 22, whatever the formats can hold. In the picture \
                  a chunk length stands for all from half of it (not included) on; dashed lines \
                  are the page's. Lengths that no chunk has are left out."
            .into(),
        conditions: vec![condition("table", named.name), condition("the paper's", PAPER_TABLE)],
        chart: Some(lines(
            log_axis("ranges of a chunk, up to", ""),
            log_axis("share of all chunks", ""),
            all.iter().zip(&PAPER).flat_map(|(own, paper)| series(own, paper)).collect(),
        )),
        table: table(columns, rows),
        findings: lengths_findings(&all),
        id,
    }
}

/// Ours and the page's, for every other K.
fn series(lengths: &ChunkLengths, paper: &[f64; 9]) -> Vec<Series> {
    if !lengths.k.is_multiple_of(2) {
        return Vec::new();
    }
    let line = |name, dashed, shares: &[f64]| {
        let points = shares.iter().enumerate().filter(|(_, share)| **share > 0.0);
        let point =
            |(i, share): (usize, &f64)| Point { x: (1u64 << i) as f64, y: *share, spread: None };
        Series { name, dashed, points: points.map(point).collect() }
    };
    vec![
        line(format!("K = {}", lengths.k), false, &lengths.shares()),
        line(format!("K = {}, paper", lengths.k), true, paper),
    ]
}

fn lengths_findings(all: &[ChunkLengths]) -> Vec<Finding> {
    let longest = all.iter().map(|it| it.longest).max().unwrap_or(0);
    let text = format!(
        "The longest chunk of any K has {longest} ranges; on the page's table none has more than \
         256."
    );
    let resolved = |k: u8| {
        let found = all.iter().find(|it| it.k == k);
        found.map_or(0.0, |it| it.shares()[0] * 100.0)
    };
    vec![
        claim(longest <= 256, text),
        remark(format!(
            "The direct table resolves {:.1} % of the chunks with K = 16, {:.1} % with 20 and \
             {:.1} % with 22; on the page's table 75.3, 93.8 and 97.9 %.",
            resolved(16),
            resolved(20),
            resolved(22)
        )),
    ]
}

/// A structure that holds the table: its name, what it is made of, and why the narrower one does
/// not hold it.
struct Held {
    spec: String,
    statistics: Option<Statistics>,
    refusal: Option<String>,
}

/// The narrowest variant with that K that holds a table: the page's, 16 bits of start and K of next
/// hop in a range, a wider base, or both.
fn narrowest(rib: &Rib<Ipv4>, k: u8) -> Held {
    let plain = Config { d: k, ..Config::default() };
    let hops_k = Config { hops_k: true, ..plain };
    let original =
        |config: &Config| Dxr::<Original, Single>::compile(rib, config).map(|dxr| dxr.statistics());
    let wide =
        |config: &Config| Dxr::<Wide, Single>::compile(rib, config).map(|dxr| dxr.statistics());
    let own = format!("dxr:d={k}");
    let refusal = match original(&plain) {
        Ok(statistics) => {
            return Held { spec: own, statistics: Some(statistics), refusal: None };
        }
        Err(why) => Some(why.to_string()),
    };
    let wider =
        [(":hops=k", original(&hops_k)), (":wide", wide(&plain)), (":hops=k:wide", wide(&hops_k))];
    let found = wider.into_iter().find_map(|(option, made)| Some((option, made.ok()?)));
    match found {
        Some((option, statistics)) => {
            Held { spec: own + option, statistics: Some(statistics), refusal }
        }
        None => Held { spec: own, statistics: None, refusal },
    }
}

/// In the order of [`STATISTICS`].
fn numbers(statistics: &Statistics, prefixes: usize) -> [f64; 13] {
    let Statistics { physical, aggregated, .. } = statistics;
    let bytes = (statistics.direct_bytes + statistics.range_bytes) as f64;
    let counts = [
        physical.short_chunks,
        physical.long_chunks,
        physical.short_fragments,
        physical.long_fragments,
        aggregated.short_chunks,
        aggregated.long_chunks,
        aggregated.short_fragments,
        aggregated.long_fragments,
    ];
    let [a, b, c, d, e, f, g, h] = counts.map(|count| count as f64);
    [
        statistics.direct_bytes as f64,
        statistics.range_bytes as f64,
        bytes / prefixes.max(1) as f64,
        100.0 * statistics.resolved as f64 / 2f64.powi(statistics.k.into()),
        statistics.longest as f64,
        a,
        b,
        c,
        d,
        e,
        f,
        g,
        h,
    ]
}

fn statistics_figure(desk: &mut Desk<'_>, named: Named<'_, Ipv4>) -> Figure {
    let id = format!("dxr-statistics-{}", named.name);
    let all: Vec<_> = (MIN_K..=MAX_K).map(|k| narrowest(named.rib, k)).collect();
    let counted: Vec<_> = all
        .iter()
        .map(|held| held.statistics.as_ref().map(|it| numbers(it, named.rib.len())))
        .collect();
    let mut columns = vec![column("", "")];
    for (held, numbers) in all.iter().zip(&counted) {
        columns.push(column(&held.spec, ""));
        for ((metric, unit, paper), number) in STATISTICS.iter().zip(numbers.iter().flatten()) {
            let paper = (held.spec == "dxr:d=20").then_some(*paper);
            desk.count(&id, named, &held.spec, (metric, unit), *number, paper);
        }
    }
    columns.push(paper_column("D20R, paper", ""));
    let rows = STATISTICS.iter().enumerate().map(|(i, (metric, unit, paper))| {
        let name = if unit.is_empty() { (*metric).into() } else { format!("{metric} ({unit})") };
        let cell = |number: f64| match *unit {
            "%" => Cell::Number(number, 1),
            _ if *metric == "bytes a prefix" => Cell::Number(number, 1),
            _ => Cell::Count(number as u64),
        };
        let own = all.iter().zip(&counted).map(|(held, numbers)| match numbers {
            Some(numbers) => cell(numbers[i]),
            None => Cell::Refused(held.refusal.clone().unwrap_or_default()),
        });
        core::iter::once(text(name)).chain(own).chain([cell(*paper)]).collect()
    });
    Figure {
        title: format!("D16R to D22R, {}", named.name),
        caption: "Counted in the compiled structures. Short chunks have ranges of two bytes, long \
                  ones of four; of physical ones each content counts once, of aggregated ones each \
                  place that refers to it."
            .into(),
        conditions: vec![condition("table", named.name), condition("the paper's", PAPER_TABLE)],
        chart: None,
        table: table(columns, rows.collect()),
        findings: statistics_findings(&all, &counted),
        id,
    }
}

fn statistics_findings(all: &[Held], counted: &[Option<[f64; 13]>]) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(Some([direct, range, bytes, ..])) = counted.first() {
        let text = format!(
            "{} takes {:.0} KiB, {bytes:.2} bytes a prefix; the page has 932 Kbytes, less than 2 \
             bytes a prefix, for D16R.",
            all[0].spec,
            (direct + range) / 1024.0
        );
        findings.push(claim(*bytes < 2.0, text));
    }
    for held in all {
        let Some(refusal) = &held.refusal else { continue };
        let k = held.spec.split(':').nth(1).unwrap_or_default();
        let instead = match held.statistics {
            Some(_) => format!("; {} is shown in its place", held.spec),
            None => String::new(),
        };
        findings.push(remark(format!("dxr:{k} refuses this table: {refusal}{instead}.")));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number that was copied wrongly would show.
    #[test]
    fn the_pages_shares_are_shares() {
        for shares in PAPER {
            let sum: f64 = shares.iter().sum();
            assert!((sum - 1.0).abs() < 1e-4, "{sum}");
        }
    }
}
