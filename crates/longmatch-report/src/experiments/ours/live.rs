//! Updates per second against the rate of a reader.

use core::time::Duration;

use longmatch::EngineSpec;

use crate::desk::{Desk, SEED, WRONG, row_about};
use crate::experiment::{Absence, Experiment};
use crate::experiments::updates::{Stream, stream};
use crate::inputs::{Effort, Inputs, Named};
use crate::model::{Cell, Chart, Figure, Finding, Lines, Point, Row, Series};
use crate::show::{column, condition, log_axis, number, plural, rate_axis, remark, table, text};
use longmatch_bench::BenchFamily;
use longmatch_bench::{Replay, ReplayRecord, reader_keys};

pub(super) const LIVE: Experiment = Experiment {
    name: "live",
    aliases: &["updates-against-lookups"],
    source: "ours",
    title: "Updates per second against lookups per second",
    about: "One thread looks up as fast as it can while another changes the table: never, a \
            thousand times a second and more, and as fast as it can. Each change is visible to \
            the reader before the next.",
    peers: false,
    seconds,
    run,
};

const ENGINES: [&str; 5] = ["folio", "poptrie:s=18", "dxr:d=18", "dir24_8", "tree_bitmap"];
/// How many of them a quick report has.
const QUICK_ENGINES: usize = 3;
/// Updates a second; 0 stands for as many as there can be.
const RATES: [u32; 4] = [1_000, 10_000, 100_000, 0];
/// Those of a quick report.
const QUICK_RATES: [u32; 2] = [10_000, 0];
/// Seconds of each, if there are so many updates.
const FULL: f64 = 1.5;
const QUICK: f64 = 0.3;

/// The engines, and the updates a second.
fn series(effort: &Effort) -> (&'static [&'static str], &'static [u32]) {
    match effort.full {
        true => (&ENGINES, &RATES),
        false => (&ENGINES[..QUICK_ENGINES], &QUICK_RATES),
    }
}

fn seconds(inputs: &Inputs, effort: &Effort) -> f64 {
    let (engines, rates) = series(effort);
    let each = if effort.full { 2.0 * FULL } else { 2.0 * QUICK } + 1.2;
    let tables = inputs.ipv4().len().min(1) + inputs.ipv6().len().min(1);
    tables as f64 * (engines.len() * rates.len()) as f64 * each
}

fn run(desk: &mut Desk<'_>) -> Result<Vec<Figure>, Absence> {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        let why = "needs two CPUs: a reader and a writer that share one say little";
        return Err(Absence(why.into()));
    }
    let inputs = desk.inputs;
    let mut figures = Vec::new();
    if let Some(named) = inputs.ipv4().first() {
        let given = inputs.updates.as_ref().map(|it| (&it.name[..], &it.ipv4[..]));
        let stream = stream(named.rib, given, desk.effort.updates);
        figures.push(figure(desk, *named, &stream));
    }
    if let Some(named) = inputs.ipv6().first() {
        let given = inputs.updates.as_ref().map(|it| (&it.name[..], &it.ipv6[..]));
        let stream = stream(named.rib, given, desk.effort.updates);
        figures.push(figure(desk, *named, &stream));
    }
    Ok(figures)
}

/// What was measured at one rate of updates.
struct Measured {
    spec: &'static str,
    asked: u32,
    result: Result<ReplayRecord, String>,
}

impl Measured {
    /// Updates a second that there really were: what was asked for, or the time that each took.
    fn updates(&self) -> Option<f64> {
        let record = self.result.as_ref().ok()?;
        Some(match self.asked {
            0 => 1e6 / record.mean_us,
            asked => f64::from(asked).min(1e6 / record.mean_us),
        })
    }

    fn rates(&self) -> Option<(f64, f64)> {
        let record = self.result.as_ref().ok()?;
        record.reader_mlps_idle.zip(record.reader_mlps_churn)
    }
}

fn figure<F: BenchFamily>(desk: &mut Desk<'_>, named: Named<'_, F>, stream: &Stream<F>) -> Figure {
    let id = format!("live-{}-{}", F::NAME, named.name);
    let keys = reader_keys(named.rib, SEED);
    let seconds = if desk.effort.full { FULL } else { QUICK };
    let mut all = Vec::new();
    let (engines, rates) = series(&desk.effort);
    for spec in engines {
        for asked in rates.iter().copied() {
            let result = replay(spec, named, stream, &keys, asked, seconds);
            let measured = Measured { spec, asked, result };
            note(desk, &id, named, &measured);
            all.push(measured);
            desk.step(2.0 * seconds + 1.2);
        }
    }
    let conditions = vec![
        condition("table", format!("{}: {}", named.name, plural(named.rib.len(), "route"))),
        condition("updates", &stream.name[..]),
        condition("lookups", "batches of 256 random routed addresses, a report after each"),
        condition("threads", "one reader and the writer"),
        condition("time", format!("{seconds} s at each rate, and as long without updates before")),
    ];
    Figure {
        title: format!("A reader under updates, {}, {}", named.name, F::NAME),
        caption: "The rate of the reader by the number of updates a second, one commit each. The \
                  last point of each line is a writer that does nothing else; the lookups without \
                  updates, measured before each, are in the table. Afterwards the table is \
                  compared with its routes."
            .into(),
        conditions,
        chart: Some(Chart::Lines(Lines {
            x: log_axis("updates a second", ""),
            y: rate_axis(),
            series: lines(&all),
            steps: false,
        })),
        table: table(
            vec![
                column("engine", ""),
                column("updates a second", ""),
                column("reader", "Mlps"),
                column("without updates", "Mlps"),
                column("share", "%"),
                column("99.99th percentile of a batch", "ns"),
                column("without updates", "ns"),
            ],
            all.iter().map(row).collect(),
        ),
        findings: findings(&all),
        id,
    }
}

fn replay<F: BenchFamily>(
    spec: &str,
    named: Named<'_, F>,
    stream: &Stream<F>,
    keys: &[F::Bits],
    asked: u32,
    seconds: f64,
) -> Result<ReplayRecord, String> {
    let spec: EngineSpec = spec.parse().expect("the name of an engine");
    let most = match asked {
        0 => stream.changes.len(),
        asked => (f64::from(asked) * seconds) as usize,
    };
    let replay = Replay {
        rib: named.rib,
        changes: &stream.changes[..most.min(stream.changes.len())],
        batch: 1,
        pace: (asked > 0).then(|| Duration::from_secs(1) / asked),
        readers: 1,
        keys,
        idle: Duration::from_secs_f64(seconds),
        idle_after: false,
        verify_every: None,
        full: false,
    };
    let writer = replay.writer(&spec).map_err(|error| error.to_string())?;
    let record = replay.run(writer, &spec, &mut |_| {}).map_err(|error| error.to_string())?;
    match record.is_right() {
        true => Ok(record),
        false => Err(format!("{} {WRONG}", record.mismatches)),
    }
}

fn lines(all: &[Measured]) -> Vec<Series> {
    let line = |spec: &&'static str| {
        let own = all.iter().filter(|it| it.spec == *spec);
        let points: Vec<_> = own
            .filter_map(|it| Some(Point { x: it.updates()?, y: it.rates()?.1, spread: None }))
            .collect();
        Series { name: (*spec).into(), dashed: false, points }
    };
    ENGINES.iter().map(line).collect()
}

fn row(it: &Measured) -> Vec<Cell> {
    let (idle, churn) = it.rates().unzip();
    let share = churn.zip(idle).map(|(churn, idle)| 100.0 * churn / idle);
    let record = it.result.as_ref().ok();
    let nanoseconds = |ns: Option<u64>| ns.map_or(Cell::Empty, Cell::Count);
    let rate = match &it.result {
        Ok(_) => number(churn, 1),
        Err(why) => Cell::Refused(why.clone()),
    };
    vec![
        text(it.spec),
        number(it.updates(), 0),
        rate,
        number(idle, 1),
        number(share, 0),
        nanoseconds(record.and_then(|it| it.reader_p9999_ns_churn)),
        nanoseconds(record.and_then(|it| it.reader_p9999_ns_idle)),
    ]
}

fn note<F: BenchFamily>(desk: &mut Desk<'_>, figure: &str, named: Named<'_, F>, it: &Measured) {
    let about = Row {
        figure: figure.into(),
        engine: it.spec.into(),
        traffic: "routed".into(),
        keys: "array".into(),
        mode: "batch".into(),
        batch: 256,
        threads: 1,
        at: match it.asked {
            0 => "updates=as fast as it can".into(),
            asked => format!("updates={asked}"),
        },
        ..row_about(named.name, named.rib)
    };
    if let Err(why) = &it.result {
        return desk.note(Row { metric: "rate".into(), refused: why.clone(), ..about });
    }
    let (idle, churn) = it.rates().unzip();
    let values = [
        ("rate", "Mlps", churn),
        ("rate without updates", "Mlps", idle),
        ("updates", "1/s", it.updates()),
    ];
    for (metric, unit, value) in values {
        desk.note(Row { metric: metric.into(), unit: unit.into(), value, ..about.clone() });
    }
}

fn findings(all: &[Measured]) -> Vec<Finding> {
    let full_speed = all.iter().filter(|it| it.asked == 0);
    let finding = |it: &Measured| {
        let ((idle, churn), updates) = (it.rates()?, it.updates()?);
        Some(remark(format!(
            "{}: {:.2} million updates a second leave the reader {:.0} % of its rate.",
            it.spec,
            updates / 1e6,
            100.0 * churn / idle
        )))
    };
    full_speed.filter_map(finding).collect()
}
